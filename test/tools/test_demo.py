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
"""The demo as a whole: it passes, says what failed, and leaves no process behind."""

from dataclasses import replace
from io import StringIO
import json
import os
from pathlib import Path
import signal
import subprocess
from types import SimpleNamespace

from judged_demo import DEMO, judged
from patience import PATIENCE, until
import pytest
from rich.console import Console

from ros2_rnea.tools.demo.judge import LIMITS, NOT_JUDGED
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea.tools.simulated_driver.description import Balanced

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('ros2_rnea_interfaces')
pytest.importorskip('mujoco')


def children_of(pid):
    """Return the processes that a process has started and that still run, with their commands."""
    children = {}
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            state, parent = stat.read_text().rpartition(')')[2].split()[:2]
            if int(parent) == pid and state != 'Z':
                children[int(stat.parent.name)] = stat.with_name('cmdline').read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # It ended while we looked.
    return children


def processes_of(demo):
    """Return the driver and the node of a demo, as far as they run their programs already."""
    return [pid for name in ('simulated_driver', 'inverse_dynamics_node')
            for pid, command in children_of(demo.pid).items() if name in command]


def end(demo, processes):
    """End a demo, and what it has left."""
    demo.kill()
    for pid in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # as it should be


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.ros
def test_the_demo_passes(tmp_path):
    figures = judged(tmp_path)
    assert figures['phases']['pd']['timing']['commands_accepted'] == 0
    followed = figures['phases']['feedforward']
    assert followed['samples'] > 6.0 * followed['rate_hz']  # of 7 s, and at most 500 Hz
    assert list(figures['scenes']) == [
        'push', 'payload', 'tilt', 'restart', 'crash', 'stop', 'disable']
    assert len(figures['checks']) == 20
    for name in ('tracking', 'timeline'):
        assert (tmp_path / f'{name}.png').stat().st_size > 50_000


@pytest.mark.ros
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_demo_and_its_processes(tmp_path, number):
    children = []
    with subprocess.Popen([*DEMO, '--out', tmp_path], stdout=subprocess.DEVNULL) as demo:
        try:
            until(lambda: len(processes_of(demo)) == 2)
            children = children_of(demo.pid)
            demo.send_signal(number)
            assert demo.wait(PATIENCE) == 128 + number
            assert not [pid for pid in children if Path(f'/proc/{pid}').exists()]
        finally:
            end(demo, children)


@pytest.mark.ros
def test_a_process_that_dies_ends_the_demo_which_names_it(tmp_path):
    children = []
    with subprocess.Popen([*DEMO, '--out', tmp_path], stdout=subprocess.PIPE, text=True) as demo:
        try:
            until(lambda: len(processes_of(demo)) == 2)
            children = driver, node = processes_of(demo)
            os.kill(driver, signal.SIGKILL)
            output, _ = demo.communicate(timeout=PATIENCE)
            assert demo.returncode == 2
            assert 'the driver ended by itself with exit code -9' in ' '.join(output.split())
            assert not Path(f'/proc/{node}').exists()
        finally:
            end(demo, children)


@pytest.mark.parametrize(('changes', 'code', 'verdict', 'said'), [
    ({}, 0, 'passed', 'passed'),
    ({'gravity_errors': (1.0,)}, 1, 'failed', 'failed: gravity service against the engine'),
    ({'timing': {'older_than_20_ms': 10}}, 0, 'passed', 'passed'),
    ({'timing': {'older_than_20_ms': 10}, 'gravity_errors': (1.0,)},
     1, 'failed', 'failed: gravity service against the engine'),
    ({'timing': {'older_than_20_ms': 3000}, 'gravity_errors': (1.0,)},
     3, NOT_JUDGED, f'{NOT_JUDGED}: '),
])
def test_the_exit_code_says_what_came_of_it(make_results, tmp_path, changes, code, verdict, said):
    from ros2_rnea.tools.demo.__main__ import present
    output = StringIO()
    assert present(make_results(**changes), tmp_path, Console(width=100, file=output),
                   LIMITS['panda']) == code
    assert said in output.getvalue().splitlines()[-2 if code == 3 else -1]
    assert json.loads((tmp_path / 'summary.json').read_text())['verdict'] == verdict
    headline = (tmp_path / 'tracking.svg').read_text(encoding='utf-8')
    assert ('closer than PD' in headline) == (code != 3)
    assert ('Not judged: the machine was too slow.' in headline) == (code == 3)
    above_the_tables = f'{NOT_JUDGED}; the figures below say nothing about the node'
    assert output.getvalue().startswith(f'\n{above_the_tables}\n') == (code == 3)


def test_a_rate_that_was_lowered_is_said(make_results, tmp_path):
    from ros2_rnea.tools.demo.__main__ import present
    output = StringIO()
    present(replace(make_results(), rate=250.0), tmp_path, Console(width=120, file=output),
            LIMITS['panda'])
    assert ('This machine is too slow for 500 Hz: no phase was played at more than 250 Hz'
            in output.getvalue())
    phases = json.loads((tmp_path / 'summary.json').read_text())['phases']
    assert {phase['rate_hz'] for phase in phases.values()} == {240.0, 250.0}
    assert 'at 250 Hz' in (tmp_path / 'tracking.svg').read_text(encoding='utf-8')


@pytest.mark.parametrize('late, rate', [
    ({}, 500.0), ({500.0: 30}, 250.0), ({500.0: 30, 250.0: 20}, 125.0),
    ({500.0: 30, 250.0: 20, 125.0: 20}, 125.0)])
def test_the_rate_is_lowered_until_the_machine_keeps_up(late, rate):
    from ros2_rnea.tools.demo.play import sustainable_rate
    tried = []
    commander = SimpleNamespace(
        spin_for=lambda seconds: None,
        driver_report=lambda: {
            'states_published': 750, 'states_answered': 750, 'engine_ticks': 1500,
            'older_than_20_ms': late.get(tried[-1], 0), 'engine_20_ms_late': 0})
    stage = SimpleNamespace(settle=lambda rate: tried.append(rate), commander=commander)
    assert sustainable_rate(stage) == rate
    assert tried == [other for other in (500.0, 250.0, 125.0) if other >= rate]


@pytest.mark.parametrize(('argument', 'said'), [
    (['--help'], 'exit codes:'), (['--seconds', '5.9'], 'not from 6 to 60 seconds')])
def test_the_command_line_explains_itself(capsys, argument, said):
    from ros2_rnea.tools.demo.__main__ import main
    with pytest.raises(SystemExit):
        main(argument)
    assert said in ''.join(capsys.readouterr())


@pytest.fixture
def has_ros():
    """Let ROS run, as for other tests of this process; return what tells whether it does."""
    started = not rclpy.ok()
    if started:
        rclpy.init()
    yield rclpy.ok
    if started:
        rclpy.try_shutdown()


@pytest.mark.parametrize(('text', 'said'), [
    (None, 'No such file'),
    ('<robot/>', 'could not run'),
    (seven_dof_arm().replace('effort="87"', 'effort="5"'), 'cannot hold it'),
])
def test_a_robot_that_cannot_be_shown_is_refused_at_once(tmp_path, capsys, has_ros, text, said):
    from ros2_rnea.tools.demo.__main__ import main
    urdf = tmp_path / 'robot.urdf'
    if text is not None:
        urdf.write_text(text)
    domain = os.environ['ROS_DOMAIN_ID']
    assert main(['--urdf', str(urdf), '--out', str(tmp_path / 'out'), '--domain', domain]) == 2
    assert has_ros()  # the demo has not started it, and does not end it
    assert said in ' '.join(capsys.readouterr().out.split())


def test_the_introduction_says_what_is_simulated(arm):
    from ros2_rnea.tools.demo.__main__ import introduction
    assert introduction(arm) == (
        'seven_dof_arm: 7 joints; motion at 100% of its size, push of 25 N and payload of 2 kg '
        "at 'tool'")
    with_fingers = replace(arm, still=('left_finger', 'right_finger'))
    assert '\nFixed: left_finger, right_finger (mimic joints ' in introduction(with_fingers)
    impossible = replace(arm, balanced=(Balanced('rod', (0.01, 0.01, 0.05), (0.02, 0.02, 0.04)),))
    assert introduction(impossible).splitlines()[1] == (
        "No rigid body has the inertia of link 'rod': the largest of the principal moments 0.01, "
        '0.01, 0.05 kg m^2 exceeds the sum of the others. The physics engine alone uses 0.02, '
        '0.02, 0.04 (changed by 20.0% of the largest).')
