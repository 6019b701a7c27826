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
"""The command identify: from a bag of a robot that differs from its URDF to the files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
import json
from math import inf
from pathlib import Path
import re

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.adjustable_robot import AdjustableRobot

for library in ('rich', 'rosbags', 'scipy', 'yaml'):
    pytest.importorskip(library)
from identified_robot import identified  # noqa: E402, I100
from rich.console import Console  # noqa: E402
from ros2_rnea.offline.commands.identify.__main__ import ExitCode, main, with_gains  # noqa: E402
from ros2_rnea.offline.commands.identify.doubts import doubts, wrong_efforts  # noqa: E402
from ros2_rnea.offline.commands.identify.output import (  # noqa: E402
    effort_table,
    parameter_table,
    sentences,
)
from ros2_rnea.offline.commands.identify.unknown_list import unknowns_from  # noqa: E402
from ros2_rnea.offline.identification.conclusions import (  # noqa: E402
    Burst,
    Conclusion,
    Diagnosis,
    Estimate,
    Kind,
)
from ros2_rnea.offline.identification.recording import PreparedRecording, Saturation  # noqa: E402
from ros2_rnea.offline.identification.results import Parameter  # noqa: E402
from rosbags.rosbag2 import Writer  # noqa: E402
from rosbags.typesys import get_typestore, Stores  # noqa: E402
import yaml  # noqa: E402

URDF = """<?xml version="1.0"?>
<robot name="arm">  <!-- three joints, and a tool on the last link -->
  <link name="base"/>
  <link name="shoulder"><inertial><origin xyz="0 0 0.1"/><mass value="4"/>
    <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.01"/></inertial></link>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="3"/>
    <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.01"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0 0 0.15"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.005"/></inertial></link>
  <link name="tool"><inertial><mass value="0.3"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="pan" type="revolute"><parent link="base"/><child link="shoulder"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="4" effort="100"/></joint>
  <joint name="lift" type="revolute"><parent link="shoulder"/><child link="upper"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="4" effort="100"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="4" effort="100"/></joint>
  <joint name="mount" type="fixed"><parent link="fore"/><child link="tool"/>
    <origin xyz="0 0 0.3"/></joint>
</robot>
"""
DAMPING = {'pan': 1.5, 'lift': 2.0, 'elbow': 0.8}
MASSES = [0.8, 1.3, 1.2]
"""As factors on those of the file."""
COULOMB = {'pan': 2.0, 'lift': 1.0, 'elbow': 0.6}


def true_robot() -> Robot:
    """
    Return a robot whose masses are not those of the file, and which has friction.

    They differ by link, since the same factor on all would as well be one on the efforts.
    """
    robot = Robot.from_urdf(URDF)
    robot = AdjustableRobot.of(robot.with_inertial_parameters(
        np.repeat(MASSES, 10) * robot.inertial_parameters))
    robot.set_joint_parameters('damping', DAMPING)
    robot.set_joint_parameters('friction', COULOMB)
    return robot


def write_bag(folder: Path, robot: Robot, seconds: float = 40.0, rate: float = 200.0,
              factors: Sequence[float] = (1.0, 1.0, 1.0), bound: float = inf) -> Path:
    """Write joint states of a motion that excites the robot, with noise and wrong efforts."""
    rng = np.random.default_rng(5)
    times = np.arange(0.0, seconds, 1.0 / rate)
    q, qd, qdd = (np.zeros((len(times), robot.nv)) for _ in range(3))
    for joint in range(robot.nv):
        for harmonic in range(1, 6):
            omega = 2.0 * np.pi * 0.1 * harmonic
            phase, size = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.2, 0.4) / harmonic**0.5
            q[:, joint] += size * np.sin(omega * times + phase)
            qd[:, joint] += size * omega * np.cos(omega * times + phase)
            qdd[:, joint] -= size * omega**2 * np.sin(omega * times + phase)
    tau = factors * (robot.inverse_dynamics(q, qd, qdd) + rng.normal(0.0, 0.1, q.shape))
    tau = np.clip(tau, -bound, bound)
    store = get_typestore(Stores.ROS2_JAZZY)
    kinds = store.types
    kind = 'sensor_msgs/msg/JointState'
    with Writer(folder, version=9) as bag:
        connection = bag.add_connection('/joint_states', kind, typestore=store)
        for row, time in enumerate(times):
            sec, nanosec = divmod(round(time * 1e9), 1_000_000_000)
            header = kinds['std_msgs/msg/Header'](
                kinds['builtin_interfaces/msg/Time'](sec, nanosec), '')
            message = kinds[kind](header, list(robot.joint_names), q[row], qd[row], tau[row])
            bag.write(connection, round(time * 1e9), store.serialize_cdr(message, kind))
    return folder


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    """Return the exit code and the folder of results of the command."""
    folder = tmp_path_factory.mktemp('identify')
    (folder / 'arm.urdf').write_text(URDF, encoding='utf-8')
    bag = write_bag(folder / 'swing', true_robot())
    terminal = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(terminal):
        patch.setenv('COLUMNS', '80')
        code = main([str(bag), '--urdf', str(folder / 'arm.urdf'), '--out', str(folder / 'out'),
                     '--unknown', 'friction,inertia'])
    (folder / 'terminal.txt').write_text(terminal.getvalue(), encoding='utf-8')
    return code, folder / 'out'


def test_the_urdf_that_is_written_is_nearer_to_the_truth(finished):
    code, out = finished
    assert code == ExitCode.BETTER
    before, truth = Robot.from_urdf(URDF), true_robot()
    after = Robot.from_urdf((out / 'identified.urdf').read_text(encoding='utf-8'))
    rng = np.random.default_rng(8)
    q, qd, qdd = rng.uniform(-1.5, 1.5, (3, 200, 3))
    expected = truth.inverse_dynamics(q, qd, qdd)
    errors = [np.sqrt(np.mean((robot.inverse_dynamics(q, qd, qdd) - expected)**2, axis=0))
              for robot in (before, after)]
    assert (errors[1] < 0.1 * errors[0]).all(), errors
    for name, index in after.tree.joints.items():
        body = after.tree.bodies[index]
        assert body.damping == pytest.approx(DAMPING[name], rel=0.1)
        assert body.friction == pytest.approx(COULOMB[name], rel=0.1)
    text = (out / 'identified.urdf').read_text(encoding='utf-8')
    assert '<!-- three joints, and a tool on the last link -->' in text


def test_the_summary_says_that_the_error_fell_to_the_noise(finished):
    found = json.loads((finished[1] / 'summary.json').read_text(encoding='utf-8'))
    assert found['joints'] == ['pan', 'lift', 'elbow']
    assert found['physically_consistent'] is True
    for before, after in zip(found['urdf_rms'], found['identified_rms']):
        assert after < 0.2 < before
    assert {'name', 'value', 'standard_error', 'urdf_value'} <= set(found['parameters'][0])
    assert found['urdf']['joints'] == ['pan', 'lift', 'elbow']


def test_the_summary_says_which_delay_was_taken_out(finished):
    recording, = json.loads((finished[1] / 'summary.json').read_text(encoding='utf-8'))[
        'recordings']
    assert recording['name'] == 'swing'
    assert recording['delay'] == 0.0
    assert 1.0 < recording['cutoff'] < 10.0


def test_the_parameters_are_those_of_the_node(finished):
    values = yaml.safe_load((finished[1] / 'parameters.yaml').read_text(encoding='utf-8'))
    found = values['/**']['ros__parameters']
    assert found['damping'] == pytest.approx(DAMPING, rel=0.1)
    assert found['friction'] == pytest.approx(COULOMB, rel=0.1)


def test_urdf_and_parameters_together_are_the_robot_with_rotors(tmp_path, capsys):
    armature = {'pan': 1.5, 'lift': 1.0, 'elbow': 0.4}
    truth = AdjustableRobot.of(true_robot(), optional_parameters=['armature'])
    truth.set_joint_parameters('armature', armature)
    (tmp_path / 'arm.urdf').write_text(URDF, encoding='utf-8')
    bag = write_bag(tmp_path / 'swing', truth)
    assert main([str(bag), '--urdf', str(tmp_path / 'arm.urdf'), '--out', str(tmp_path),
                 '--unknown', 'friction,rotor,inertia']) == ExitCode.BETTER
    assert 'rotor among its unknowns' in ' '.join(capsys.readouterr().out.split())
    found = yaml.safe_load((tmp_path / 'parameters.yaml').read_text(encoding='utf-8'))[
        '/**']['ros__parameters']
    assert all(found['external_effort_threshold'][name] > COULOMB[name] for name in COULOMB)
    urdf = Robot.from_urdf((tmp_path / 'identified.urdf').read_text(encoding='utf-8'))
    both = AdjustableRobot.of(urdf, optional_parameters=['friction_offset', 'armature'])
    assert set(found['friction_offset'].values()) == {0.0}  # the truth has none
    for name in ('damping', 'friction', 'armature'):
        both.set_joint_parameters(name, found[name])
    q, qd, qdd = np.random.default_rng(8).uniform(-1.5, 1.5, (3, 200, 3))
    expected = truth.inverse_dynamics(q, qd, qdd)
    without, left = (np.sqrt(np.mean((robot.inverse_dynamics(q, qd, qdd) - expected)**2, axis=0))
                     for robot in (urdf, both))
    assert (left < 0.2).all(), left
    assert (left < 0.3 * without).all(), (left, without)


def test_the_report_has_before_and_after(finished):
    page = (finished[1] / 'report.html').read_text(encoding='utf-8')
    assert 'What the recordings say: before' in page and 'What the recordings say: after' in page
    assert 'src="http' not in page


def test_the_terminal_tells_the_preparation_then_the_result(finished):
    text = (finished[1].parent / 'terminal.txt').read_text(encoding='utf-8')
    assert max(map(len, text.splitlines())) <= 80
    said = ' '.join(text.split())
    assert said.index('swing, low-pass') < said.index('residual, identified')
    assert said.index('identified ± standard error') < said.index('residual, identified')
    untold, *others = json.loads((finished[1] / 'summary.json').read_text(encoding='utf-8'))[
        'not_identifiable']
    assert sum('no motion tells' in each for each in (untold, *others)) == 1  # for all bodies
    assert said.index(untold) < said.index('residual, identified') < said.index('independent ones')
    assert 'on the last 30 % of each recording' in said
    assert 'swing, low-pass' in (finished[1] / 'report.html').read_text(encoding='utf-8')
    shown = [line for line in text.splitlines()
             if ' ± ' in line and 'Estimates by joint' not in line]
    found = json.loads((finished[1] / 'summary.json').read_text(encoding='utf-8'))['parameters']
    determined = [one for one in found if one['standard_error'] is not None]
    assert 0 < len(determined) < len(found)
    assert len(shown) == len(determined) + 1  # the titles of the columns
    assert f'{len(found) - len(determined)} more are in summary.json' in said


def test_no_number_of_the_urdf_has_more_digits_than_count(finished):
    text = (finished[1] / 'identified.urdf').read_text(encoding='utf-8')
    tags = re.findall(r'<(?:mass|inertia|origin|dynamics) [^>]*>', text)
    numbers = [number for tag in tags for number in re.findall(r'[-+.\de]*\d[-+.\de]*', tag)]
    assert len(numbers) > 30
    for number in numbers:
        assert len(re.sub(r'e.*|[-+.]', '', number).lstrip('0')) <= 9, number
        assert float(number) == 0.0 or abs(float(number)) > 1e-12, number


def test_gains_are_those_of_the_measured_efforts():
    tau = np.ones((3, 2))
    recording = PreparedRecording(
        'r', np.arange(3.0), tau, tau, tau, tau, tau > 0.0, (slice(0, 3),))
    recording = replace(recording, saturations={'elbow': Saturation((-4.0, 8.0), 0.1, 2.0)})
    scaled, = with_gains([recording], identified())
    np.testing.assert_array_equal(scaled.tau, np.tile([1.0, 1.75], (3, 1)))
    assert scaled.saturations == {'elbow': Saturation((-7.0, 14.0), 0.1, 3.5)}


# ---- what is unknown ----------------------------------------------------------------------------


def test_what_is_unknown_is_read_by_kind_and_name():
    found = unknowns_from('friction:pan:lift, direction,stribeck,inertia:fore,payload:tool')
    assert (found.friction, found.by_direction, found.stribeck) == (['pan', 'lift'], True, True)
    assert (found.links, found.payload, found.gravity) == (['fore'], 'tool', False)
    found = unknowns_from('rotor,gains:elbow,gravity')
    assert (found.friction, found.links, found.payload) == ((), (), None)
    assert (found.rotor_inertia, found.gains, found.gravity) == ('all', ['elbow'], True)


@pytest.mark.parametrize('text, named', [
    ('frictoin', "'frictoin'; did you mean 'friction'"), ('', "''"),
    ('friction,friction', "'friction' twice"), ('payload', 'on one link'),
    ('payload:a:b', 'on one link'), ('inertia:', 'a name is empty'),
    ('gravity:x', 'takes no names'), ('stribeck', 'without friction')])
def test_what_is_not_understood_is_refused_by_name(text, named):
    with pytest.raises(ArgumentError, match=named):
        unknowns_from(text)


# ---- what is printed ----------------------------------------------------------------------------


def printed(*parts, width: int = 200) -> str:
    console = Console(width=width, record=True, file=open('/dev/null', 'w', encoding='utf-8'))
    for part in parts:
        console.print(part)
    return console.export_text()


def test_tables_have_the_figures_and_dashes_where_there_are_none():
    text = printed(effort_table(identified()), parameter_table(identified()))
    shoulder = next(line for line in text.splitlines() if 'shoulder' in line)
    assert [cell for cell in shoulder.split() if cell[0].isdigit()] == ['5', '2', '0.5', '4.0']
    assert 'viscous friction of elbow' in text and '0.500 ± 0.010 Nm s/rad' in text
    assert 'multiplied by the identified gains' in text
    assert 'gains' not in printed(effort_table(identified(gains={})))
    # what the data does not determine is in the summary alone
    assert 'm of fore' not in text and '1 more are in summary.json' in text


def test_slow_joints_are_told_with_what_the_node_sends():
    told = [each for each in sentences(identified(slow_joints=('elbow', 'wrist')), ())
            if each.startswith('Some samples in which elbow, wrist move are slower than 0.03 rad')]
    assert len(told) == 1 and 'half of it at 0.006' in told[0]
    assert not any('slower than' in each for each in sentences(identified(), ()))


def test_long_names_stay_different_in_a_narrow_terminal():
    names = ('left_arm_of_the_robot_in_the_second_cell_shoulder_pan_joint',
             'left_arm_of_the_robot_in_the_second_cell_shoulder_lift_joint')
    parameters = tuple(
        Parameter(f'viscous friction of {name}', 'viscous', name, 'Nm s/rad', 0.5, 0.01, -1e-32)
        for name in names)
    for part in (effort_table(identified(joints=names)),
                 parameter_table(identified(parameters=parameters))):
        lines = printed(part, width=80).splitlines()
        assert max(map(len, lines)) <= 80
        joined = ''.join(line.split('  ')[0].strip() for line in lines).replace(' ', '')
        for name in names:
            assert name in joined
        assert 'e-32' not in ''.join(lines)


def test_what_still_has_a_cause_is_a_warning():
    def after(count):
        cause = Conclusion(
            Kind.ROTOR, "joint 'elbow'", 'A rotor is missing.', 'Add it.', (), 9.0)
        return doubts(identified(), FINE, replace(FINE, conclusions=(cause,) * count), ())

    assert after(0) == ()
    doubt, = after(1)
    assert doubt.sentence.endswith('A rotor is missing.') and doubt.joints == ('elbow',)
    assert after(5)[0].sentence.endswith('2 more are in report.html.')


FINE = Diagnosis((), (), np.ones(2), np.ones(2))


def test_what_no_single_cause_explains_is_a_warning():
    after = replace(FINE, is_explained=False)
    for left, said in ((0.02, 0), (0.2, 1)):
        found = [each for each in doubts(
            identified(), FINE, after, (), [recording_with((0.0, left))])
            if 'that no single cause explains' in each.sentence]
        assert len(found) == said
        assert all('(0.2 of 2.2 for elbow; RMS, Nm or N)' in each.sentence
                   and each.joints == ('elbow',) for each in found)


def factor(value, joint='all joints', kind=Kind.GAIN):
    return Conclusion(
        kind, joint, f'The effort is {value} times that of the model.', 'Look at it.',
        (Estimate('factor', value, 0.01),), 99.0)


def test_an_effort_factor_is_no_fault_where_gain_is_unknown():
    joints = ('shoulder', 'elbow')
    before = replace(FINE, wrong_efforts=(
        factor(9.0, "joint 'elbow'"), factor(-1.0, "joint 'shoulder'", Kind.SIGN)))
    assert [each.joints for each in wrong_efforts(before, joints, ())] == [
        ('elbow',), ('shoulder',)]
    for gains in ('all', ['elbow']):
        assert [each.joints for each in wrong_efforts(before, joints, gains)] == [('shoulder',)]
    assert len(wrong_efforts(before, joints, ['shoulder'])) == 2


def test_what_is_wrong_in_the_same_way_is_told_with_its_advice_once():
    before = replace(FINE, wrong_efforts=(
        factor(9.0, "joint 'elbow'"), factor(8.0, "joint 'shoulder'")))
    doubt, = wrong_efforts(before, ('shoulder', 'elbow'), ())
    assert doubt.sentence == ('The effort is 9.0 times that of the model. The effort is 8.0 times '
                              'that of the model. Look at it.')
    assert doubt.joints == ('shoulder', 'elbow')


def test_a_factor_near_one_and_unjudged_efforts_are_doubts():
    near = factor(1.3)
    before = replace(FINE, conclusions=(near,), noise=np.array([np.nan, 1.0]))
    unjudged, gain = doubts(identified(), before, FINE, ())
    assert 'too short to check the sign' in unjudged.sentence and unjudged.joints == ('shoulder',)
    assert near.sentence in gain.sentence and gain.joints == ('shoulder', 'elbow')
    assert doubts(identified(), replace(FINE, conclusions=(near,)), FINE, 'all') == ()


def test_a_model_that_explains_little_is_a_doubt():
    little = identified(measured_rms=np.array([0.6, np.nan]))
    doubt, = doubts(little, FINE, FINE, ())
    assert 'leaves nearly all of the measured effort' in doubt.sentence
    assert '0.5 of 0.6 for shoulder' in doubt.sentence and doubt.joints == ('shoulder',)


def recording_with(left, name='r'):
    """Return a recording of which the robot of :func:`identified` leaves these efforts."""
    zeros, qdd = np.zeros((100, 2)), np.full((100, 2), 10.0)
    tau = identified().robot.inverse_dynamics(zeros, zeros, qdd)
    return PreparedRecording(
        name, np.arange(100.0), zeros, zeros, qdd, tau + left, zeros == 0.0, (slice(0, 100),))


def test_a_mount_that_no_masses_stand_for_is_told_where_a_fit_fails():
    tilt = Conclusion(Kind.GRAVITY, 'the base', 'Gravity points elsewhere.', 'Set it.', (), 9.0)
    before = replace(FINE, conclusions=(tilt,))
    fine = identified(gravity=None)
    assert doubts(fine, before, FINE, ()) == doubts(fine, FINE, FINE, ())
    fails = replace(fine, identified_rms=0.9 * fine.measured_rms)
    first, *others = (each.sentence for each in doubts(fails, before, FINE, ()))
    assert first == 'Gravity points elsewhere. No masses stand for that. Set it.'
    assert others == [each.sentence for each in doubts(fails, FINE, FINE, ())] != []


def test_recordings_that_contradict_each_other_are_a_doubt():
    ones = [recording_with((0.0, 0.0), 'monday'), recording_with((0.3, 0.3), 'tuesday')]
    fine = identified(apart=np.array([[1.1, np.nan], [1.9, 1.0]]))
    assert doubts(fine, FINE, FINE, (), ones) == doubts(identified(), FINE, FINE, (), ones)
    wrong = identified(apart=np.array([[1.1, np.nan], [1.0, 3.5]]))
    doubt = doubts(wrong, FINE, FINE, (), ones)[0]
    assert doubt.sentence.startswith("recording 'tuesday' contradicts the others: ")
    assert '3.5 times' in doubt.sentence and doubt.joints == ('elbow',)
    assert '0.3 of 2.16 for elbow (RMS' in doubt.sentence
    ones[1] = recording_with((0.3, 0.03), 'tuesday')
    assert doubts(wrong, FINE, FINE, (), ones) == doubts(identified(), FINE, FINE, (), ones)


def test_no_doubt_is_about_an_effort_that_is_small():
    """What is certain, but changes an effort by 1 %, does not matter; 10 % do, and are told."""
    cause = Conclusion(Kind.ROTOR, "joint 'elbow'", 'A rotor is missing.', 'Add it.', (), 543.0)
    after = replace(FINE, conclusions=(cause,))
    before = replace(FINE, bursts=(Burst('r', 10.0, 20.0, ('elbow',)),))
    for left, said in ((0.02, ''), (0.2, '0.2 of 2.2 for elbow')):
        recordings = [recording_with((0.0, left))]
        for parts in ((FINE, after), (before, FINE)):
            found = [each for each in doubts(identified(), *parts, (), recordings)
                     if each.joints == ('elbow',) and 'nothing says' not in each.sentence]
            assert len(found) == bool(said) and all(said in each.sentence for each in found)


def test_a_burst_is_looked_at_in_seconds_of_the_whole_recording():
    left = np.zeros((100, 2))
    left[10:21, 1] = 3.0  # of a recording from 500 s on
    before = replace(FINE, bursts=(Burst('r', 510.0, 520.0, ('elbow',)),))
    recording = replace(recording_with(left), begin=500.0)
    doubt, = (each for each in doubts(identified(), before, FINE, (), [recording])
              if 'Between' in each.sentence)
    assert 'leaves there 3 of ' in doubt.sentence and doubt.joints == ('elbow',)


def test_a_mass_that_differs_by_little_of_the_arm_is_no_doubt():
    for value, is_doubtful in ((0.04, False), (0.4, True)):
        mass = Parameter('m of fore', 'm', 'fore', 'kg', value, None, 0.01)
        found = doubts(identified(parameters=(mass,)), FINE, FINE, ())
        assert len(found) == is_doubtful
        assert all('the m of fore' in each.sentence for each in found)


@pytest.mark.parametrize('identified_rms, is_worse', [(2.002, False), (2.1, True)])
def test_a_model_that_is_hardly_worse_than_the_urdf_is_no_doubt(identified_rms, is_worse):
    result = identified(identified_rms=np.array([identified_rms, np.nan]))
    found = [each.sentence for each in doubts(result, FINE, FINE, ())]
    assert len(found) == is_worse
    assert all('URDF for shoulder (by 0.64 of 5 for shoulder' in each for each in found)


def test_a_doubtful_result_is_said():
    worse = identified(identified_rms=np.array([3.0, np.nan]), physically_consistent=False)
    text = '\n'.join(sentences(worse, doubts(worse, FINE, FINE, ())))
    assert 'cannot exist' in text and 'worse than the URDF for shoulder' in text
    fine = '\n'.join(sentences(identified(), doubts(identified(), FINE, FINE, ())))
    assert 'WARNING' not in fine
    assert 'shoulder count as 50 independent ones' in fine and 'condition number' not in fine
    assert replace(identified()).physically_consistent


@pytest.mark.parametrize('moves, effort, samples, said', [
    (True, 1.0, 100, 'until the end of the recording'), (False, 1.0, 0, 'it rests'),
    (True, np.nan, 0, 'effort was not recorded, or is constant'),
    (False, np.nan, 0, '')])
def test_a_joint_that_was_not_judged_is_a_doubt(moves, effort, samples, said):
    zeros = np.zeros((3, 2))
    recording = PreparedRecording(
        'r', np.arange(3.0), zeros, zeros, zeros, np.full((3, 2), [1.0, effort]),
        np.full((3, 2), [True, moves]), (slice(0, 3),))
    result = identified(samples=np.array([100, samples]))
    found = doubts(result, FINE, FINE, (), [recording])
    assert [each.joints for each in found] == [('elbow',)][:bool(said)]
    assert all('for elbow: ' in each.sentence and said in each.sentence for each in found)


@pytest.mark.parametrize('value, error, is_doubtful', [
    (2.9, None, False), (3.1, None, True), (0.3, None, True), (9.0, 0.1, False)])
def test_an_undetermined_mass_far_from_the_urdf_is_doubtful(value, error, is_doubtful):
    mass = Parameter('m of fore', 'm', 'fore', 'kg', value, error, 1.0)

    def warned(**other):
        result = identified(parameters=(mass,), **other)
        return '\n'.join(sentences(result, doubts(result, FINE, FINE, ())))

    text = warned(rotor_inertias={})
    assert ('WARNING: the m of fore is' in text and 'add rotor' in text) == is_doubtful
    text = warned()  # with rotors
    assert ('WARNING: the m of fore is' in text) == is_doubtful and 'add rotor' not in text


# ---- what goes wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize('factors, said', [
    ((1.0, -1.0, 1.0), 'has the opposite sign'), ((0.1, 0.1, 0.1), 'times that of the model')])
def test_wrong_efforts_are_refused_before_anything_is_written(tmp_path, capsys, factors, said):
    (tmp_path / 'arm.urdf').write_text(URDF, encoding='utf-8')
    bag = write_bag(tmp_path / 'swing', Robot.from_urdf(URDF), factors=factors)
    assert main([str(bag), '--urdf', str(tmp_path / 'arm.urdf'), '--out',
                 str(tmp_path / 'out')]) == ExitCode.NOT_IDENTIFIED
    error = capsys.readouterr().err
    assert said in error.splitlines()[0] and '--anyway' in error
    assert not (tmp_path / 'out').exists()


def test_efforts_that_are_cut_off_are_refused_by_joint(tmp_path, capsys):
    (tmp_path / 'arm.urdf').write_text(URDF, encoding='utf-8')
    bag, out = write_bag(tmp_path / 'swing', true_robot(), bound=6.0), tmp_path / 'out'
    arguments = [str(bag), '--urdf', str(tmp_path / 'arm.urdf'), '--out', str(out)]
    assert main(arguments) == ExitCode.NOT_IDENTIFIED
    error = capsys.readouterr().err
    assert "'lift' is cut off at -6 and 6 Nm" in error and '--anyway' in error
    assert "'pan'" not in error and not out.exists()
    assert main([*arguments, '--anyway']) == ExitCode.DOUBTFUL
    found = json.loads((out / 'summary.json').read_text(encoding='utf-8'))['doubts']
    assert sum('is cut off' in each for each in found) == 1
    assert not any('too short to check' in each for each in found)


def test_files_written_anyway_begin_with_the_doubt(tmp_path):
    (tmp_path / 'arm.urdf').write_text(URDF, encoding='utf-8')
    bag, out = write_bag(
        tmp_path / 'swing', Robot.from_urdf(URDF), factors=(1.0, -1.0, 1.0)), tmp_path / 'out'
    assert main([str(bag), '--urdf', str(tmp_path / 'arm.urdf'), '--out', str(out),
                 '--anyway']) == ExitCode.DOUBTFUL
    text = {name: (out / name).read_text(encoding='utf-8') for name in (
        'identified.urdf', 'parameters.yaml', 'summary.json')}
    for content in text.values():
        assert ' '.join(content.split()).index('has the opposite sign') < 400
    assert 'param load' not in text['parameters.yaml']
    assert "effort of joint 'lift' has the opposite sign" in json.loads(
        text['summary.json'])['doubts'][0]
    assert Robot.from_urdf(text['identified.urdf']).joint_names == ('pan', 'lift', 'elbow')
    found = yaml.safe_load(text['parameters.yaml'])['/**']['ros__parameters']
    assert 'lift' not in found.get('external_effort_threshold', {})
    assert 'has the opposite sign' in (out / 'report.html').read_text(encoding='utf-8')


def test_gains_need_the_centre_of_the_payload(tmp_path, capsys):
    arguments = [str(tmp_path), '--urdf', str(tmp_path / 'none.urdf'), '--unknown']
    assert main([*arguments, 'friction,gains', '--payload', 'tool:2.5']) == (
        ExitCode.NOT_IDENTIFIED)
    assert '--payload tool:2.5 has no centre of mass' in capsys.readouterr().err
    for others in (['friction,gains', '--payload', 'tool:2.5:0,0,0'],
                   ['friction', '--payload', 'tool:2.5']):
        main([*arguments, *others])
        assert 'none.urdf cannot be read' in capsys.readouterr().err


def test_a_urdf_that_does_not_exist_is_said(tmp_path, capsys):
    assert main([str(tmp_path), '--urdf', str(tmp_path / 'none.urdf')]) == ExitCode.NOT_IDENTIFIED
    assert 'none.urdf cannot be read' in capsys.readouterr().err


def test_help_teaches(capsys):
    with pytest.raises(SystemExit):
        main(['--help'])
    text = capsys.readouterr().out
    for word in ('payload:LINK', 'summary.json', 'exit codes', 'examples'):
        assert word in text
