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
"""The command that compiles a robot beforehand, and the worker that then compiles nothing."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
import subprocess
import sys

from patience import until
import pytest
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import cache, compiled, machine
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.model.description import Inertial
from ros2_rnea.node.models.model_building import ModelParameters, Source
from ros2_rnea.node.worker.model_worker import Built, model_request, ModelWorker, Request
from ros2_rnea.node.worker.worker_process import WorkerProcess
from ros2_rnea.offline.commands.compile.__main__ import main
from ros2_rnea.offline.commands.compile.parameter_file import names_in, read_parameters
from small_robots import ARM, joint, link, robot

needs_llvmlite = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')

MASSLESS = robot('<link name="base"/>', '<link name="ghost"/>', link('arm'),
                 joint('first', 'base', 'ghost'), joint('second', 'ghost', 'arm'))


def refuse():
    raise AssertionError('the cache of this process is used')


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Give each test an empty cache folder; return it."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'home'))
    monkeypatch.delenv(cache.SHIPPED, raising=False)
    monkeypatch.delenv('ROS2_RNEA_ENGINE', raising=False)
    monkeypatch.setattr(compiled, 'cache', refuse)  # what the tool stores, it stores where it says
    return tmp_path / 'home' / 'ros2_rnea'


@pytest.fixture
def compile_robot(tmp_path, capsys):
    """Return a function that compiles a text, and returns exit code, output and error output."""
    def run(text, *options, name='robot.urdf'):
        path = tmp_path / name
        path.write_text(text, encoding='utf-8')
        code = main([str(path), *map(str, options)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err
    return run


@pytest.fixture
def parameter_file(tmp_path):
    """Return a function that writes a parameter file and returns its path."""
    def write(text):
        path = tmp_path / 'parameters.yaml'
        path.write_text(text, encoding='utf-8')
        return path
    return write


def compiled_by_worker(text=ARM, **more):
    """Return how many kernels a node's worker compiles for a description."""
    source = Source(text, **{'massless_links': (), 'strict': False, **more})
    reports = []
    process = WorkerProcess(pytest.fail)
    try:
        process.ask(model_request(source, Engine.COMPILED), lambda: False, reports.append)
    finally:
        process.close()
    assert all(total == len(reports) for _, _, total in reports)
    return len(reports)


@contextmanager
def node_worker(source):
    """Run the worker of a node; return it and what it has built of a description."""
    worker, answers = ModelWorker(pytest.fail), []
    try:
        worker.request(Request(source, ModelParameters(), Settings()))
        until(lambda: answers or answers.extend(filter(None, [worker.take()])))
        assert isinstance(answers[0].result, Built), answers[0].result
        yield worker, answers[0].result
    finally:
        worker.close()


# ---- the node compiles nothing afterwards -------------------------------------------------------


@needs_llvmlite
def test_what_is_compiled_is_what_the_node_needs(compile_robot, home):
    code, out, error = compile_robot(ARM)
    assert (code, error) == (0, '')
    assert out.startswith("9 kernels of 'arm': 9 compiled, 0 already stored")
    assert str(home) in out and len([*home.glob('*.object')]) == 9  # the audit needs none
    assert compiled_by_worker() == 0
    assert compiled_by_worker(has_friction=False) == 0  # friction is an input of kernels
    assert compile_robot(ARM)[1].startswith("9 kernels of 'arm': 0 compiled, 9 already stored")
    assert compiled_by_worker(payload_links=('tool',)) > 0


@needs_llvmlite
def test_the_node_itself_compiles_nothing_either(compile_robot, monkeypatch):
    assert compile_robot(ARM, '--payload-link', 'tool')[0] == 0
    monkeypatch.setattr(machine, 'compile_object', lambda *_: pytest.fail('compiled'))
    with node_worker(Source(ARM, (), False, payload_links=('tool',))) as (worker, built):
        assert worker.progress is None
        robot = built.model.robot
        robot.set_payload('box', 'tool', Inertial(1.0))
        still = [0.0, 0.0]
        for wrenches in (None, [[0.0] * 6] * 2):
            robot.inverse_dynamics(still, still, still, wrenches)
            robot.effort_terms(still, still, still, wrenches)
        robot.gravity(still)


@needs_llvmlite
def test_links_for_payloads_are_prepared(compile_robot, parameter_file):
    path = parameter_file('/**: {ros__parameters: {payload_links: [tool, nowhere]}}')
    assert compile_robot(ARM, '--parameters', path)[0] == 0
    assert compiled_by_worker(payload_links=('nowhere', 'tool')) == 0
    assert compile_robot(ARM, '--payload-link', 'upper')[0] == 0
    assert compiled_by_worker(payload_links=('upper',)) == 0


@needs_llvmlite
@pytest.mark.parametrize('name, text', [
    ('friction_offset', 'friction_offset: {elbow: 0.5}, stribeck_velocity: {elbow: 0.0}'),
    ('friction_offset', 'friction_offset.elbow: 0.5'), ('armature', 'armature: {elbow: 0.5}')])
def test_numbers_of_joints_in_the_parameters_are_prepared(
        compile_robot, parameter_file, name, text):
    path = parameter_file('/**: {ros__parameters: {' + text + '}}')
    assert compile_robot(ARM, '--parameters', path)[0] == 0
    assert compiled_by_worker(optional_parameters=(name,)) == 0
    assert compiled_by_worker() > 0


@needs_llvmlite
def test_massless_links_come_from_parameters_and_options(
        compile_robot, parameter_file):
    code, _, error = compile_robot(MASSLESS)
    assert code == 2 and 'ghost' in error
    assert compile_robot(MASSLESS, '--massless', 'ghost')[0] == 0
    path = parameter_file('inverse_dynamics: {ros__parameters: {massless_links: [ghost]}}')
    assert ' 0 compiled' in compile_robot(MASSLESS, '--parameters', path)[1]
    assert compiled_by_worker(MASSLESS, massless_links=('ghost',)) == 0


@needs_llvmlite
def test_kernels_that_are_shipped_are_found_by_another_user(
        compile_robot, tmp_path, home, monkeypatch):
    shipped = tmp_path / 'shipped'
    code, out, _ = compile_robot(ARM, '--out', shipped)
    assert code == 0
    assert f'set ROS2_RNEA_KERNEL_PATH={shipped}' in out
    assert not home.exists()
    assert compiled_by_worker() == 9
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'of another user'))
    monkeypatch.setenv(cache.SHIPPED, str(shipped))
    assert compiled_by_worker() == 0
    assert not (tmp_path / 'of another user').exists()


@needs_llvmlite
@pytest.mark.parametrize('options, cpu', [
    ((), 'host'), (('--cpu', 'portable'), 'portable'), (('--out', 'shipped'), 'portable'),
    (('--out', 'shipped', '--cpu', 'host'), 'host')])
def test_kernels_to_ship_are_for_many_cpus(
        compile_robot, monkeypatch, tmp_path, options, cpu):
    monkeypatch.chdir(tmp_path)
    host = machine.host()
    targets = set()
    compile_object = machine.compile_object

    def note(text, target):
        targets.add(target)
        return compile_object(text, target)

    monkeypatch.setattr(machine, 'compile_object', note)
    assert compile_robot(ARM, *options)[0] == 0
    assert targets == {host if cpu == 'host' else machine.portable(host)[0]}


@needs_llvmlite
def test_the_description_may_be_in_the_parameter_file(parameter_file, capsys):
    path = parameter_file(f"/**: {{ros__parameters: {{robot_description: '{ARM}'}}}}")
    assert main(['--parameters', str(path)]) == 0
    assert "9 kernels of 'arm'" in capsys.readouterr().out
    assert compiled_by_worker() == 0


# ---- what cannot be compiled or stored ----------------------------------------------------------


@needs_llvmlite
def test_a_folder_that_others_may_write_to_is_no_place(compile_robot, tmp_path):
    folder = tmp_path / 'shared'
    folder.mkdir()
    folder.chmod(0o777)
    code, out, error = compile_robot(ARM, '--out', folder)
    assert (code, out) == (1, '')
    assert 'cannot be stored' in error and 'others may write to it' in error
    assert error.count('\n') == 1


@needs_llvmlite
@pytest.mark.parametrize('what', ['folder', 'file'])
def test_kernels_that_others_cannot_read_are_not_shipped(compile_robot, tmp_path, what):
    folder = tmp_path / 'shipped'
    assert compile_robot(ARM, '--out', folder)[0] == 0
    entry = folder if what == 'folder' else sorted(folder.iterdir())[0]
    entry.chmod(0o700)
    code, out, error = compile_robot(ARM, '--out', folder)
    assert (code, out) == (1, '')
    assert f'others cannot read {entry}' in error and error.count('\n') == 1


@needs_llvmlite
def test_a_folder_that_others_cannot_enter_is_said(compile_robot, tmp_path):
    above = tmp_path / 'home'
    above.mkdir(mode=0o750)
    code, out, error = compile_robot(ARM, '--out', above / 'build' / 'kernels')
    assert code == 0 and '9 kernels' in out  # they may be installed elsewhere later
    assert 'for this user only: others cannot enter' in error and error.count('\n') == 1


@needs_llvmlite
def test_the_node_says_which_shipped_kernels_are_refused(
        compile_robot, tmp_path, monkeypatch, caplog):
    shipped = tmp_path / 'shipped'
    assert compile_robot(ARM, '--out', shipped)[0] == 0
    for file in shipped.iterdir():
        file.chmod(0o666)
    compiled.say_once.cache_clear()
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'of another user'))
    monkeypatch.setenv(cache.SHIPPED, str(shipped))
    with node_worker(Source(ARM, (), False)):
        pass
    assert caplog.text.count('is refused and compiled again: others may write') == 1


def test_without_llvmlite_there_is_nothing_to_compile(compile_robot, monkeypatch):
    monkeypatch.setattr(machine, 'llvm', None)
    code, _, error = compile_robot(ARM)
    assert code == 2
    assert error.startswith('compile: llvmlite is not installed')


@pytest.mark.parametrize('text, options, said', [
    ('<robot/>', (), 'compile: '),
    (ARM, ('--payload-link', 'tol'), "no link 'tol'; did you mean 'tool'"),
    (ARM, ('--parameters', '/nowhere.yaml'), '/nowhere.yaml cannot be read'),
    (ARM, ('name:=x',), 'is not a .xacro file'),
])
def test_mistakes_are_one_line(compile_robot, text, options, said):
    code, out, error = compile_robot(text, *options)
    assert (code, out) == (2, '')
    assert said in error and error.count('\n') == 1


def test_an_impossible_inertia_is_refused_as_the_node_refuses_it(compile_robot, parameter_file):
    path = parameter_file('/**: {ros__parameters: {strict_model: true}}')
    impossible = ARM.replace('izz="0.02"', 'izz="0.2"')
    code, _, error = compile_robot(impossible, '--parameters', path)
    assert code == 2 and 'strict_model refuses' in error


def test_no_robot_at_all_is_a_mistake(capsys):
    assert main([]) == 2
    assert 'name a URDF file' in capsys.readouterr().err


def test_it_explains_itself_without_ros():
    program = (
        "import sys; sys.modules['rclpy'] = None\n"
        'from ros2_rnea.offline.commands.compile.__main__ import main\nmain(["--help"])')
    result = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    for word in ('--parameters', '--payload-link', '--out', 'exit codes', cache.SHIPPED):
        assert word in result.stdout


# ---- parameter files ----------------------------------------------------------------------------

TWO_ARMS = """
/**: {ros__parameters: {massless_links: [shared], strict_model: true}}
/left/inverse_dynamics: {ros__parameters: {payload_links: [left_hand]}}
right:
  inverse_dynamics: {ros__parameters: {payload_links: [right_hand], massless_links: [own]}}
/*/other: {ros__parameters: {payload_links: [none]}}
"""


@pytest.mark.parametrize('node, expected', [
    ('/left/inverse_dynamics', (['shared'], ['left_hand'])),
    ('/right/inverse_dynamics', (['own'], ['right_hand'])),
    ('/inverse_dynamics', (['shared'], None)),
    ('/any/other', (['shared'], ['none'])),
    ('/a/b/other', (['shared'], None)),
])
def test_the_parameters_of_the_node_count(parameter_file, node, expected):
    values = read_parameters(parameter_file(TWO_ARMS), node)
    assert (values.get('massless_links'), values.get('payload_links')) == expected
    assert values['strict_model'] is True


@pytest.mark.parametrize('text, said', [
    ('', 'is not a parameter file'),
    ('payload_links: [tool]', 'is not a parameter file'),
    ('{', 'cannot be read'),
    ('/left/inverse_dynamics: {ros__parameters: {}}',
     "no parameters of the node '/inverse_dynamics'; did you mean '/left/inverse_dynamics'"),
])
def test_a_file_without_its_parameters_is_refused(parameter_file, text, said):
    with pytest.raises(ArgumentError, match=said):
        read_parameters(parameter_file(text), '/inverse_dynamics')


@pytest.mark.parametrize('value', ['tool', [1], {'tool': 1}, None])
def test_links_have_to_be_a_list_of_names(value):
    with pytest.raises(ArgumentError, match='payload_links is .*a list of names'):
        names_in({'payload_links': value}, 'payload_links')


@pytest.mark.ros
@pytest.mark.parametrize('node', ['/left/inverse_dynamics', '/right/inverse_dynamics',
                                  '/inverse_dynamics', '/any/other', '/a/b/other'])
def test_parameter_files_are_read_as_ros_does(parameter_file, node):
    rclpy = pytest.importorskip('rclpy')
    from rclpy.context import Context
    from rclpy.node import Node

    path = parameter_file(TWO_ARMS)
    namespace, _, name = node.rpartition('/')
    context = Context()
    rclpy.init(args=['--ros-args', '--params-file', str(path)], context=context)
    made = Node(name, namespace=namespace, context=context,
                automatically_declare_parameters_from_overrides=True)
    overrides = {key: parameter.value for key, parameter in made.get_parameters_by_prefix(
        '').items() if key not in ('use_sim_time', 'start_type_description_service')}
    made.destroy_node()
    rclpy.shutdown(context=context)
    assert overrides == read_parameters(path, node)


def test_the_configurations_of_this_package_can_be_read():
    from repository import ROOT

    for path in [*Path(ROOT).glob('config/*.yaml')]:
        if 'controllers' not in path.name:
            assert 'joints' in read_parameters(path, '/inverse_dynamics'), path
