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
"""The node as a process of its own: how it ends, and how it lives without the interfaces."""

from __future__ import annotations

from pathlib import Path
import signal
import subprocess
import sys

from arm_driver import arm_driver
from patience import PATIENCE, until
import pytest
import rclpy
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.node import inverse_dynamics_node
from ros2_rnea.node.process import SWITCH_INTERVAL
from small_robots import ARM

pytestmark = pytest.mark.ros

AS_USERS_START_IT = ['-m', 'ros2_rnea.node.inverse_dynamics_node']
WITHOUT_INTERFACES = ['-c', """
import sys
sys.modules['ros2_rnea_interfaces'] = None  # importing it fails, as where it is not installed
from ros2_rnea.node.inverse_dynamics_node import main
main()
"""]


TRIES = 5
"""A busy machine may cut a fade short, which the node says; but not each time."""


class Started:
    """A node process, whose output goes to a file."""

    def __init__(self, log: Path, command: list[str]) -> None:
        self._log = log
        with log.open('wb') as file:
            self._process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)

    @property
    def log(self) -> str:
        """Return what it has written until now."""
        return self._log.read_text(errors='replace')

    def has_said(self, words: str) -> bool:
        """Return whether it has written these words, which it must do before it ends."""
        has_ended = self._process.poll() is not None
        log = self.log
        assert words in log or not has_ended, f'it ended and never said {words!r}: {log}'
        return words in log

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        """Wait for its end, and return its exit code."""
        return self._process.wait(timeout=PATIENCE)

    def kill(self) -> None:
        self._process.kill()
        self.end()


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a node process; it is gone after the test."""
    processes = []

    def start(program, *arguments) -> Started:
        processes.append(Started(
            tmp_path / f'{len(processes)}.log',
            [sys.executable, *program, '--ros-args', *arguments]))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()


def wait_for_line(process: Started, words: str) -> None:
    """Wait until a process has said something."""
    until(lambda: process.has_said(words))


def test_it_starts_with_the_shipped_parameters(start):
    process = start(
        AS_USERS_START_IT, '--params-file', str(ROOT / 'config' / 'inverse_dynamics.yaml'))
    wait_for_line(process, 'waiting for a usable robot_description')


@pytest.mark.parametrize('parameter, said', [
    ('mode:=fast', "mode is 'fast'; it needs feedforward or gravity_compensation"),
    ('executor:=quick', "executor is 'quick'; it needs automatic or events or single_threaded"),
    ('state_timeout:=-1.0', 'state_timeout out of range'),
])
def test_a_bad_parameter_ends_it_without_a_traceback(start, parameter, said):
    process = start(AS_USERS_START_IT, '-p', parameter)
    assert process.end() == 1
    assert said in process.log
    assert 'Traceback' not in process.log


def test_without_the_interfaces_it_says_what_is_missing_and_publishes(start):
    process = start(
        WITHOUT_INTERFACES, '-p', f'robot_description:={ARM!r}', '-p',
        'joints:=[shoulder, elbow]', '-p', 'start_from:=zero', '-r', '__ns:=/bare')
    wait_for_line(process, 'the package ros2_rnea_interfaces is not installed')
    with arm_driver('/bare') as driver:
        until(lambda: driver.commands, driver.turn)
        services = [name for name, _ in driver.node.get_service_names_and_types()]
    assert rclpy.ok()
    assert len(driver.commands[0].data) == 2
    assert '/bare/inverse_dynamics/enable' in services
    assert '/bare/inverse_dynamics/zero_wrench' in services
    for missing in ('compute_gravity', 'set_payload', 'set_gravity'):
        assert f'/bare/inverse_dynamics/{missing}' not in services


BUILDING_WITHOUT_END = """
from ros2_rnea.node.inverse_dynamics_node import main
from ros2_rnea.node.worker import worker_program

worker_program.__file__ = {program!r}
main()
"""

WITHOUT_END = """
import os
from pathlib import Path
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
unfinished = Path({pid!r} + '.unfinished')
unfinished.write_text(str(os.getpid()))
unfinished.rename({pid!r})
while True:
    pass
"""


@pytest.mark.parametrize('executor', ['automatic', 'single_threaded'])
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_while_a_model_is_built(start, tmp_path, number, executor):
    """The process that builds it is killed; this one would compute for ever."""
    program, pid = tmp_path / 'worker.py', tmp_path / 'pid'
    program.write_text(WITHOUT_END.format(pid=str(pid)))
    process = start(
        ['-c', BUILDING_WITHOUT_END.format(program=str(program))],
        '-p', f'robot_description:={ARM!r}', '-p', f'executor:={executor}')
    until(pid.exists)
    process.send_signal(number)
    assert process.end() == 0, process.log
    assert 'Traceback' not in process.log
    until(lambda: not Path('/proc', pid.read_text()).exists())


CUT_SHORT = 'the final fade was cut short'

FAILING = ['-c', """
import os
from ros2_rnea.control.decision import State
from ros2_rnea.control.policy import Policy
from ros2_rnea.node import inverse_dynamics_node as node

decide = Policy.decide

def fail_once_blended(policy, now):
    decision = decide(policy, now)
    if policy.state is State.GRAVITY:
        raise RuntimeError('a defect in the cycle')
    return decision

Policy.decide = fail_once_blended
node.main()
"""]


@pytest.mark.parametrize('program, end, namespace', [
    (AS_USERS_START_IT, signal.SIGINT, '/interrupted'),
    (AS_USERS_START_IT, signal.SIGTERM, '/terminated'),
    (FAILING, signal.SIGINT, '/failed'),  # which is interrupted while the arm is held
])
@pytest.mark.parametrize('how', ['gravity', 'zero'])
def test_however_it_ends_on_stop_gives_the_last_command(start, program, end, namespace, how):
    gravity = Robot.from_urdf(ARM).gravity([0.3, 0.1])
    expected = gravity if how == 'gravity' else 0.0 * gravity

    def has_faded(attempt) -> bool:
        """Let it end, and return whether it had the time to approach what is wanted."""
        here = f'{namespace}_{how}_{attempt}'
        process = start(
            program, '-p', f'robot_description:={ARM!r}', '-p', 'joints:=[shoulder, elbow]',
            '-p', 'start_from:=zero', '-p', f'on_stop:={how}', '-p', 'blend_time:=0.1',
            '-p', 'state_timeout:=10.0', '-r', f'__ns:={here}')
        with arm_driver(here) as driver:
            until(lambda: len(driver.commands) >= 5, driver.turn)
            if program is FAILING:
                until(lambda: process.has_said('a defect in the cycle'), driver.turn)
                until(lambda: list(driver.commands[-1].data) == pytest.approx(gravity, abs=1e-9),
                      driver.turn)
            process.send_signal(end)
            until(lambda: CUT_SHORT in process.log
                  or list(driver.commands[-1].data) == pytest.approx(expected, abs=1e-12),
                  driver.turn)
        assert process.end() == 0, process.log
        return CUT_SHORT not in process.log

    assert any(has_faded(attempt) for attempt in range(TRIES))


@pytest.mark.parametrize('executor', ['automatic', 'single_threaded'])
@pytest.mark.parametrize('second', [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_it_at_once_while_it_brakes(start, executor, second):
    here = f'/hurried_{executor}_{second.name.lower()}'
    process = start(
        AS_USERS_START_IT, '-p', f'robot_description:={ARM!r}', '-p', 'joints:=[shoulder, elbow]',
        '-p', 'start_from:=zero', '-p', 'blend_time:=0.0', '-p', 'state_timeout:=10.0',
        '-p', 'longest_braking:=60.0', '-p', 'plausible_speed_factor:=0.0',
        '-p', f'executor:={executor}', '-r', f'__ns:={here}')
    gravity = Robot.from_urdf(ARM).gravity([0.3, 0.1])
    with arm_driver(here) as driver:
        driver.velocity = [0.0, 1.9]  # it never rests
        until(lambda: len(driver.commands) >= 5, driver.turn)
        process.send_signal(signal.SIGINT)
        # It brakes: gravity alone is exact.  A pause of 10 s between the first states, on a busy
        # machine, counts as the period of the cycle; then only 4e-3 Nm of damping are stable.
        until(lambda: driver.commands[-1].data[1] < gravity[1] - 1e-3, driver.turn)
        process.send_signal(second)
        until(lambda: process.has_said('ended at once, before the arm was braked'), driver.turn)
    assert process.end() == 0, process.log


def test_the_cycle_does_not_wait_long_for_another_thread(monkeypatch):
    def stop():
        raise InterruptedError

    monkeypatch.setattr(inverse_dynamics_node, 'EndSignals', stop)
    monkeypatch.setattr(sys, 'setswitchinterval', (intervals := []).append)
    with pytest.raises(InterruptedError):
        inverse_dynamics_node.run(inverse_dynamics_node.InverseDynamicsNode)
    assert intervals == [SWITCH_INTERVAL]
