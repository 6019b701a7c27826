# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The command that writes a robot's model: what it takes, what it writes, what it says."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.export.model_file import decoded
from ros2_rnea.kernels.tape import evaluate
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.commands.export.__main__ import main
from small_robots import ARM, joint, link, robot

PARAMETERS = """
/**:
  ros__parameters:
    damping: {shoulder: 3.0}
    friction_offset.elbow: 0.25
    gravity: [0.0, 3.0, -9.0]
    payload_links: [tool]
"""
FRICTIONLESS = Robot.from_description(parse_urdf(ARM).without_friction())
STATE = {'q': [0.3, -0.4], 'qd': [0.5, 0.6], 'qdd': [0.7, 0.8]}


@pytest.fixture
def export(tmp_path, monkeypatch, capsys):
    """Return a function that exports ARM in an empty folder: exit code, output, error output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'arm.urdf').write_text(ARM, encoding='utf-8')
    for name, text in {
            'node': PARAMETERS,
            'imu': PARAMETERS.replace(
                'gravity: [0.0, 3.0, -9.0]', 'gravity_from_imu: true\n    terms: no_gravity'),
            'typing_error': f'{PARAMETERS}    arm: frank\n'}.items():
        (tmp_path / f'{name}.yaml').write_text(text, encoding='utf-8')

    def run(*options, file='arm.urdf'):
        code = main([file, *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def effort_of(path, quantity='inverse_dynamics', **inputs):
    """Return what the tape of a file says of a quantity."""
    model = decoded(path.read_bytes())
    tape = next(tape for tape in model.tapes if tape.name == quantity)
    return evaluate(tape, {**STATE, 'parameters': model.values, **inputs})


def test_file_is_named_after_the_robot_and_computes_its_effort(export, tmp_path):
    code, output, _ = export()
    assert code == 0
    assert 'arm.rnea written' in output
    assert [path.name for path in tmp_path.iterdir() if path.suffix not in ('.urdf', '.yaml')] == [
        'arm.rnea']
    expected = FRICTIONLESS.inverse_dynamics(*STATE.values())
    np.testing.assert_allclose(effort_of(tmp_path / 'arm.rnea'), expected, rtol=1e-12)


def test_a_loop_that_is_left_open_is_said(export, tmp_path):
    closing = '<loop_joint name="pin"><link1 link="base"/><link2 link="forearm"/></loop_joint>'
    (tmp_path / 'loop.urdf').write_text(
        ARM.replace('</robot>', f'{closing}</robot>'), encoding='utf-8')
    assert export()[2] == ''
    code, _, said = export(file='loop.urdf')
    assert code == 0
    assert said.startswith("warning: <loop_joint> 'pin' between 'base' and 'forearm' closes")
    assert len(said.splitlines()) == 1


def test_table_says_what_each_quantity_costs_and_fits_a_terminal(export, tmp_path):
    _, output, _ = export('--quantities', 'gravity,mass_matrix', '--jacobian', 'tool')
    header, *rows = output.splitlines()
    assert header.split() == ['quantity', 'operations', 'runs', 'in', 'the', 'file', 'registers']
    assert [row.split()[0] for row in rows] == ['gravity', 'mass_matrix', 'jacobian', 'arm.rnea']
    assert max(map(len, output.splitlines())) <= 80
    tapes = decoded((tmp_path / 'arm.rnea').read_bytes()).tapes
    assert [tape.name for tape in tapes] == ['gravity', 'mass_matrix', 'jacobian of tool']
    assert rows[0].split()[1:3] == [str(tapes[0].operations), str(len(tapes[0].runs))]
    assert rows[0].split()[-2:] == [str(8 * tapes[0].registers), 'B']


def test_robot_is_as_the_options_say(export, tmp_path):
    code, _, _ = export(
        '--gravity', '1', '2', '-9', '--payload', 'tool:1.5:0,0.1,0.2', '--payload-link', 'upper',
        '--out', 'it.rnea')
    assert code == 0
    loaded = FRICTIONLESS.with_gravity((1.0, 2.0, -9.0)).with_payload(
        'load', 'tool', Inertial(1.5, Pose((0.0, 0.1, 0.2))))
    np.testing.assert_allclose(
        effort_of(tmp_path / 'it.rnea'), loaded.inverse_dynamics(*STATE.values()), rtol=1e-12)
    model = decoded((tmp_path / 'it.rnea').read_bytes())
    assert [body.takes_payload for body in model.bodies] == [True, True]
    moved = AdjustableRobot.of(loaded, ['upper'])
    moved.set_payload('other', 'upper', Inertial(0.5))
    np.testing.assert_allclose(
        effort_of(tmp_path / 'it.rnea', parameters=moved.parameter_values.tolist()),
        moved.inverse_dynamics(*STATE.values()), rtol=1e-12)


@pytest.mark.parametrize('options', [
    ('--friction-from', 'description'), ('--parameters', 'description.yaml')])
def test_friction_of_the_description_is_used_only_when_asked_for(export, tmp_path, options):
    (tmp_path / 'description.yaml').write_text(
        '/**: {ros__parameters: {friction_from: description}}', encoding='utf-8')
    export('--out', 'without.rnea')
    export('--out', 'with.rnea', *options)
    friction = Robot.from_urdf(ARM).friction(STATE['qd'])
    assert friction[0] == pytest.approx(0.25)
    np.testing.assert_allclose(effort_of(tmp_path / 'without.rnea', 'friction'), 0.0)
    np.testing.assert_allclose(effort_of(tmp_path / 'with.rnea', 'friction'), friction)


def test_robot_has_the_numbers_of_a_parameter_file(export, tmp_path):
    code, _, _ = export('--parameters', 'node.yaml')
    assert code == 0
    expected = AdjustableRobot.of(
        FRICTIONLESS.with_gravity((0.0, 3.0, -9.0)), (), ['friction_offset'])
    expected.set_joint_parameters('damping', {'shoulder': 3.0})
    expected.set_joint_parameters('friction_offset', {'elbow': 0.25})
    np.testing.assert_allclose(
        effort_of(tmp_path / 'arm.rnea'), expected.inverse_dynamics(*STATE.values()), rtol=1e-12)
    bodies = decoded((tmp_path / 'arm.rnea').read_bytes()).bodies
    assert [body.takes_payload for body in bodies] == [False, True]


def test_quantities_of_a_file_are_those_that_a_controller_needs(export, tmp_path):
    export('--out', 'it.rnea')
    model = decoded((tmp_path / 'it.rnea').read_bytes())
    assert [tape.name for tape in model.tapes] == [
        'inverse_dynamics', 'gravity', 'coriolis_effort', 'friction', 'joint_momentum']
    export('--c', 'src', '--out', 'it.rnea')
    model = decoded((tmp_path / 'it.rnea').read_bytes())
    assert [tape.name for tape in model.tapes] == ['inverse_dynamics', 'gravity']


HARDWARE = {
    (): ((), ()),
    ('--arm', 'ur'): (('gravity',), ()),
    ('--arm', 'franka'): (('gravity', 'friction'), ()),
    ('--terms', 'no_gravity_no_coriolis'): (('gravity', 'coriolis'), ()),
    ('--arm', 'ur', '--terms', 'no_gravity_no_friction'): (('gravity', 'friction'), ()),
    ('--arm', 'franka', '--gravity', '0', '3', '-9', '--arm-gravity', '0', '0', '-9.81'): (
        ('gravity', 'friction'), (0.0, 0.0, -9.81)),
    ('--parameters', 'franka.yaml'): (('gravity', 'friction'), (0.0, 0.0, -9.81)),
    ('--parameters', 'ur.yaml', '--terms', 'no_gravity_no_friction'): (
        ('gravity', 'friction'), ()),
    ('--parameters', 'ur.yaml', '--c', 'src', '--out', 'arm.rnea'): (('gravity',), ()),
}


@pytest.mark.parametrize('options', HARDWARE, ids=' '.join)
def test_file_says_what_the_hardware_adds(options, export, tmp_path):
    (tmp_path / 'franka.yaml').write_text(
        '/**:\n  ros__parameters:\n    arm: franka\n    terms: automatic\n'
        '    gravity: [0.0, 3, -9]\n    arm_gravity: [0, 0.0, -9.81]\n    mode: nothing\n',
        encoding='utf-8')
    (tmp_path / 'ur.yaml').write_text(
        '/**:\n  ros__parameters:\n    arm: ur\n', encoding='utf-8')
    code, _, error = export(*options)
    assert code == 0, error
    model = decoded((tmp_path / 'arm.rnea').read_bytes())
    assert (model.left_out, model.arm_gravity) == HARDWARE[options]


def test_floating_base_and_massless_links(export, tmp_path):
    text = robot('<link name="base"/>', '<link name="ghost"/>', link('arm'),
                 joint('first', 'base', 'ghost'), joint('second', 'ghost', 'arm'))
    (tmp_path / 'ghost.urdf').write_text(text, encoding='utf-8')
    code, _, error = export(file='ghost.urdf')
    assert (code, 'massless' in error) == (2, True)
    assert export('--massless', 'ghost', '--massless', 'base', '--floating-base',
                  file='ghost.urdf')[0] == 0
    model = decoded((tmp_path / 'small.rnea').read_bytes())
    assert [joint.name for joint in model.joints] == ['floating_base', 'first', 'second']


def test_wrenches_are_an_input_where_they_are_wanted(export, tmp_path):
    export('--wrenches')
    wrenches = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, -1.0, 2.0, 0.0, 7.0, 0.0]
    expected = FRICTIONLESS.inverse_dynamics(
        *STATE.values(), f_ext=np.reshape(wrenches, (2, 6)))
    np.testing.assert_allclose(
        effort_of(tmp_path / 'arm.rnea', f_ext=wrenches), expected, rtol=1e-12)


def test_c_is_written_in_place_of_the_file(export, tmp_path):
    code, output, _ = export('--c', 'src')
    assert code == 0
    assert 'src/arm.h and src/arm.c written' in output
    assert {path.name for path in (tmp_path / 'src').iterdir()} == {'arm.h', 'arm.c'}
    assert not (tmp_path / 'arm.rnea').exists()
    assert 'double' in (tmp_path / 'src' / 'arm.c').read_text(encoding='utf-8')


def test_an_example_that_is_there_stays(export, tmp_path):
    (tmp_path / 'src').mkdir()
    own = tmp_path / 'src' / 'arm_example.c'
    own.write_text('mine', encoding='utf-8')
    code, _, _ = export('--c', 'src', '--prefix', 'arm', '--example')
    assert code == 0 and own.read_text(encoding='utf-8') == 'mine'


@pytest.mark.parametrize('prefix', ['math', 'tape'])
def test_a_prefix_that_hides_another_header_is_refused(export, prefix):
    code, _, said = export('--c', 'src', '--prefix', prefix)
    assert code == 2 and f'{prefix}.h would hide' in said


def test_options_of_c(export, tmp_path):
    code, _, _ = export(
        '--c', 'src', '--float', '--prefix', 'left', '--example', '--out', 'l.rnea')
    assert code == 0
    assert {path.name for path in (tmp_path / 'src').iterdir()} == {
        'left.h', 'left.c', 'left_example.c'}
    assert (tmp_path / 'l.rnea').exists()
    assert 'double' not in (tmp_path / 'src' / 'left.c').read_text(encoding='utf-8')


WRONG = {
    ('--quantities', 'graviti'):
        "the quantity 'graviti' cannot be exported; did you mean 'gravity'?; there are "
        'inverse_dynamics,',
    ('--jacobian', 'tol'): "did you mean 'tool'?",
    ('--payload-link', 'tol'): "did you mean 'tool'?",
    ('--float',): '--float, --prefix and --example are about C; they need --c FOLDER',
    ('--c', '.', '--prefix', 'Ä'): "--prefix is 'Ä'; it needs small letters, digits and _",
    ('--out', 'none/arm.rnea'): 'none/arm.rnea cannot be written: ',
    ('--gravity', 'nan', '0', '0'): 'gravity',
    ('--arm', 'franka', '--gravity', '0', '3', '-9'):
        'arm is franka, which compensates gravity as if it stood upright; it needs arm_gravity',
    ('--arm', 'franka', '--parameters', 'imu.yaml'): 'gravity is taken from the imu, and arm is',
    ('--arm', 'ur', '--terms', 'full'): 'terms is full, which has gravity, and arm is ur',
    ('--arm-gravity', '0', '0', '-9.81'): 'but the whole gravity is sent',
    ('--arm', 'ur', '--arm-gravity', '0', '0', 'nan'): 'it needs 3 finite numbers',
    ('--arm', 'ur', '--parameters', 'imu.yaml', '--terms', 'automatic'):
        'imu.yaml has terms, no_gravity; leave out the option --terms, or the parameter',
    ('--parameters', 'typing_error.yaml'): "arm is 'frank'; it needs generic or franka or ur",
    ('--c', 'src', '--arm', 'ur'): 'with --c they need --out FILE',
    ('--gravity', '0', '0', '1', '--parameters', 'node.yaml'): 'leave out the option --gravity',
}


@pytest.mark.parametrize('options', WRONG, ids=' '.join)
def test_what_is_wrong_is_said_in_one_sentence(options, export, tmp_path):
    code, output, error = export(*options)
    assert code == 2
    assert error.startswith('export: ')
    assert WRONG[options] in error
    assert error.count('\n') == 1
    assert not output
    assert not (tmp_path / 'arm.rnea').exists()


def test_file_that_is_not_there(export):
    assert export(file='nothing.urdf')[2].startswith('export: nothing.urdf cannot be read')


def test_help_has_examples_that_work(export, monkeypatch, capsys, tmp_path):
    with pytest.raises(SystemExit):
        main(['--help'])
    lines = [line.partition('#')[0].split() for line in capsys.readouterr().out.splitlines()
             if line.startswith('  ros2_rnea export ')]
    text = ARM.replace('"tool"', '"panda_hand"')
    for name in ('panda.urdf', 'ur.urdf'):
        (tmp_path / name).write_text(text, encoding='utf-8')
    (tmp_path / 'my_robot.yaml').write_text(
        PARAMETERS.replace('tool', 'panda_hand'), encoding='utf-8')
    assert len(lines) == 4
    for _, _, file, *options in lines:
        options = [option for option in options if ':=' not in option]
        monkeypatch.setattr(sys, 'argv', ['export', file.removesuffix('.xacro'), *options])
        assert main() == 0, capsys.readouterr().err
