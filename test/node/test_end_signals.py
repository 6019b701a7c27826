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
"""Each signal that ends a process and is no crash lets the node brake the arm before it ends."""

from contextlib import closing
import os
from pathlib import Path
import pty
import select
import signal
from signal import Signals
import subprocess
import sys

from arm_driver import arm_driver, ArmDriver
from default_signals import default_signals
from patience import PATIENCE, until
import pytest
from rclpy.node import Node
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.node.process import EndSignals
from sensor_msgs.msg import JointState
from small_robots import ARM

pytestmark = pytest.mark.ros

GRAVITY = list(Robot.from_urdf(ARM).gravity([0.3, 0.1]))
PARAMETERS = {
    'robot_description': repr(ARM), 'joints': '[shoulder, elbow]', 'start_from': 'zero',
    'blend_time': 0.1, 'state_timeout': 10.0, 'longest_braking': 60.0,
    'plausible_speed_factor': 0.0}
ENDING = [
    Signals.SIGHUP, Signals.SIGINT, Signals.SIGQUIT, Signals.SIGUSR1, Signals.SIGUSR2,
    Signals.SIGALRM, Signals.SIGTERM, Signals.SIGSTKFLT, Signals.SIGXCPU, Signals.SIGVTALRM,
    Signals.SIGPROF, Signals.SIGIO, Signals.SIGPWR, *range(signal.SIGRTMIN, signal.SIGRTMAX + 1)]
"""Whose default is to end a process; SIGPIPE and SIGXFSZ are ignored by Python."""

TRIES = 5
"""A busy machine may cut a fade short, which the node says; but not each time."""

CUT_SHORT = 'the final fade was cut short'
MORE = 20
"""Number of commands after a signal that show that it has not ended the node."""


class Started:
    """The node as a process, whose output goes to a file."""

    def __init__(self, log: Path, command: list[str]) -> None:
        self._log = log
        with log.open('wb') as file:
            self.process = subprocess.Popen(
                command, stdout=file, stderr=subprocess.STDOUT, preexec_fn=default_signals)

    @property
    def log(self) -> str:
        """Return what it has written until now."""
        return self._log.read_text(errors='replace')


class MovingDriver(ArmDriver):
    """A driver of an arm whose elbow moves, and never comes to rest."""

    def turn(self) -> None:
        """Publish a state, which is no repetition, and receive what has come."""
        self._count = getattr(self, '_count', 0) + 1
        self._states.publish(JointState(
            name=['shoulder', 'elbow'], position=[0.3, 0.1 + 1e-9 * (self._count % 1000)],
            velocity=[0.0, 1.9]))
        self._executor.spin_once(timeout_sec=0.01)


def command(namespace: str, **parameters) -> list[str]:
    """Return the command that starts the node in a namespace."""
    given = [word for name, value in {**PARAMETERS, **parameters}.items()
             for word in ('-p', f'{name}:={value}')]
    return [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args', *given,
            '-r', f'__ns:={namespace}']


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the node, by a program or by itself; it is gone afterwards."""
    started = []

    def start(namespace: str, *by: str, **parameters) -> Started:
        started.append(Started(
            tmp_path / f'{len(started)}.log', [*by, *command(namespace, **parameters)]))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait(timeout=PATIENCE)


def last(driver: ArmDriver) -> list[float]:
    return list(driver.commands[-1].data)


def wait_for_gravity(driver: ArmDriver) -> None:
    until(lambda: driver.commands and last(driver) == pytest.approx(GRAVITY), driver.turn)


def wait_for_more(driver: ArmDriver) -> None:
    count = len(driver.commands)
    until(lambda: len(driver.commands) > count + MORE, driver.turn)


@pytest.mark.parametrize('number', ENDING, ids=lambda number: f'{int(number)}')
def test_each_signal_that_ends_a_process_is_noted(number):
    before = {each: signal.getsignal(each) for each in signal.valid_signals()}
    signal.signal(number, signal.SIG_DFL)
    try:
        signals = EndSignals()
        signals.handle()
        signal.raise_signal(number)
        assert signals.have_come()
        signals.forget()
        assert not signals.have_come()
        signal.raise_signal(number)
        assert signals.are_repeated() is (number in (signal.SIGINT, signal.SIGTERM))
    finally:
        for each, handler in before.items():
            if handler is not signal.getsignal(each):
                signal.signal(each, handler)


def test_no_other_signal_is_handled():
    others = signal.valid_signals() - {*ENDING}
    before = {each: signal.getsignal(each) for each in signal.valid_signals()}
    try:
        EndSignals().handle()
        assert {each for each in others if signal.getsignal(each) is not before[each]} == set()
    finally:
        for each, handler in before.items():
            if handler is not signal.getsignal(each):
                signal.signal(each, handler)


@pytest.mark.parametrize('end', [
    Signals.SIGHUP, Signals.SIGQUIT, Signals.SIGUSR1, Signals.SIGUSR2, Signals.SIGALRM,
    Signals.SIGPWR], ids=lambda end: end.name)
def test_it_ends_the_node_as_sigterm_does(start, end):
    def has_faded(attempt: int) -> bool:
        """Let it end, and return whether it had the time to approach the effort of on_stop."""
        here = f'/ended_by_{end.name.lower()}_{attempt}'
        node = start(here, on_stop='zero')
        with arm_driver(here) as driver:
            wait_for_gravity(driver)
            node.process.send_signal(end)
            until(lambda: node.process.poll() is not None, driver.turn)
            assert node.process.poll() == 0, node.log
            until(lambda: CUT_SHORT in node.log or last(driver) == pytest.approx([0.0, 0.0]),
                  driver.turn)
        return CUT_SHORT not in node.log

    assert any(has_faded(attempt) for attempt in range(TRIES))


def test_a_terminal_that_closes_ends_it_so_too():
    """Its log has nowhere to go then, and the processes that it has started get a signal, too."""
    here, ended = '/in_a_terminal', []
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, command(here, on_stop='zero'))

    def has_ended() -> bool:
        if not ended and os.waitpid(pid, os.WNOHANG) != (0, 0):
            ended.append(pid)
        return bool(ended)

    with arm_driver(here) as driver:
        def turn() -> None:
            driver.turn()
            while select.select([terminal], [], [], 0.0)[0]:
                os.read(terminal, 4096)

        try:
            until(lambda: driver.commands and last(driver) == pytest.approx(GRAVITY), turn)
            os.close(terminal)
            until(has_ended, driver.turn)
            assert last(driver) != pytest.approx(GRAVITY)
        finally:
            if not has_ended():
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


@pytest.mark.parametrize('end', [Signals.SIGKILL, Signals.SIGSEGV, Signals.SIGABRT],
                         ids=lambda end: end.name)
def test_a_crash_leaves_the_last_effort_as_the_documentation_says(start, end):
    here = f'/crashed_by_{end.name.lower()}'
    node = start(here, on_stop='zero')
    with arm_driver(here) as driver:
        wait_for_gravity(driver)
        node.process.send_signal(end)
        until(lambda: node.process.poll() is not None, driver.turn)
        assert node.process.poll() == -end
        driver.turn()
        assert last(driver) == pytest.approx(GRAVITY)
    page = ROOT / 'docs' / 'node' / 'process.rst'
    table, _ = page.read_text(encoding='utf-8').split('.. _shared-memory:')
    row, = (row for row in table.split('   * - ') if end.name in row)
    assert row.rstrip().endswith('- the last effort, also that of a motion')


def test_after_nohup_a_closed_terminal_does_not_end_it(start):
    here = '/nohup'
    node = start(here, 'nohup')
    with arm_driver(here) as driver:
        wait_for_gravity(driver)
        node.process.send_signal(signal.SIGHUP)
        wait_for_more(driver)
        assert last(driver) == pytest.approx(GRAVITY)
        node.process.send_signal(signal.SIGTERM)
        until(lambda: node.process.poll() is not None, driver.turn)
    assert node.process.poll() == 0, node.log


@pytest.mark.parametrize('executor', ['automatic', 'single_threaded'])
def test_a_second_hangup_does_not_cut_the_braking_short(start, executor):
    """A shell sends one to its jobs, and Linux one to those in the foreground."""
    here = f'/hung_up_{executor}'
    node = start(here, blend_time=0.0, executor=executor)
    with closing(MovingDriver(Node('driver', namespace=here))) as driver:
        wait_for_gravity(driver)
        node.process.send_signal(signal.SIGHUP)
        until(lambda: last(driver) != pytest.approx(GRAVITY, abs=1e-4), driver.turn)
        node.process.send_signal(signal.SIGHUP)
        wait_for_more(driver)
        assert node.process.poll() is None, node.log
        node.process.send_signal(signal.SIGTERM)
        until(lambda: 'ended at once, before the arm was braked' in node.log, driver.turn)
    assert node.process.wait(timeout=PATIENCE) == 0, node.log


@pytest.mark.parametrize('closed', ['2>&-', '<&- >&- 2>&-'])
def test_it_runs_with_its_outputs_closed_from_the_start(start, closed):
    """Another file would get the number of one, and the log would be written into that."""
    here = f'/closed_{len(closed)}'
    node = start(here, 'sh', '-c', f'exec "$@" {closed}', 'sh')
    with arm_driver(here) as driver:
        wait_for_gravity(driver)
        outputs = [Path(f'/proc/{node.process.pid}/fd/{number}') for number in (0, 1, 2)]
        assert all(output.exists() for output in outputs)
        assert not any('socket' in str(output.readlink()) for output in outputs)
        node.process.send_signal(signal.SIGTERM)
        until(lambda: node.process.poll() is not None, driver.turn)
    assert node.process.poll() == 0
