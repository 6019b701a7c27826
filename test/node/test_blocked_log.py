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
"""The output of the log stands still, as a terminal after Ctrl-S or a pipe that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import fcntl
import os
import pty
import signal
import subprocess
import sys

from arm_driver import arm_driver
from patience import PATIENCE, until
import pytest
from ros2_rnea.node.log_output import PIPE_SIZE
from small_robots import ARM

pytestmark = pytest.mark.ros

NODE = [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args']
SENDING = [
    '-p', f'robot_description:={ARM!r}', '-p', 'joints:=[shoulder, elbow]',
    '-p', 'start_from:=zero']

WRITING = """
import os
from ros2_rnea.node.log_output import unblocked_log

with unblocked_log():
    {statement}
"""


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """Give both ends of a pipe whose next writer waits until somebody reads."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(writing, b'.')
        os.set_blocking(writing, True)
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize('executor', ['automatic', 'single_threaded'])
def test_the_node_sends_and_ends_while_nobody_reads_its_log(executor):
    namespace = f'/unread_{executor}'
    with full_pipe() as (_, output):
        process = subprocess.Popen(
            [*NODE, *SENDING, '-p', f'executor:={executor}', '-r', f'__ns:={namespace}'],
            stdout=output, stderr=output)
        try:
            with arm_driver(namespace) as driver:
                until(lambda: driver.commands, driver.turn)
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.wait(PATIENCE)


def run(statement: str, **streams) -> subprocess.CompletedProcess:
    """Run a statement within the context, in a process of its own."""
    return subprocess.run(
        [sys.executable, '-c', WRITING.format(statement=statement)], timeout=PATIENCE,
        **streams)


@pytest.mark.parametrize('end', ['pass', 'os.abort()', 'os._exit(3)'])
def test_every_line_is_written_in_order_however_the_process_ends(end):
    lines = [f'line {number}' for number in range(20_000)]
    result = run(
        'for number in range(20_000): os.write(2, b"line %d\\n" % number)\n    ' + end,
        stderr=subprocess.PIPE, text=True)
    assert result.stderr.splitlines()[:len(lines)] == lines


def test_lines_that_nobody_reads_do_not_block():
    with full_pipe() as (reading, writing):
        result = run(
            'for _ in range(400):\n'
            '        try: os.write(2, b"x" * 4096)\n'
            '        except BlockingIOError: pass', stderr=writing)
        assert result.returncode == 0
        os.set_blocking(reading, False)
        received = b''

        def read() -> None:
            nonlocal received
            try:
                received += os.read(reading, 1 << 20)
            except BlockingIOError:
                pass

        until(lambda: received.count(b'x') >= PIPE_SIZE, read)
        assert received.lstrip(b'.').strip(b'x') == b''
        assert received.count(b'x') < 400 * 4096


def test_without_the_copying_process_the_log_is_written_as_before(tmp_path):
    result = run('os.write(2, b"a line")', stderr=subprocess.PIPE, env={'PATH': str(tmp_path)})
    assert (result.returncode, result.stderr) == (0, b'a line')


SIGNALED = """
import os
from ros2_rnea.node.log_output import unblocked_log

def children(process):
    with open(f'/proc/{process}/task/{process}/children') as file:
        return [int(child) for child in file.read().split()]

def is_cat(process):
    with open(f'/proc/{process}/comm') as file:
        return file.read() == 'cat\\n'

with unblocked_log():
    cats = []
    while not cats:
        started = children(os.getpid())
        cats = [*filter(is_cat, started + [each for child in started for each in children(child)])]
    os.kill(cats[0], NUMBER)
    while NUMBER == 9 and os.path.exists(f'/proc/{cats[0]}'):
        pass
    os.write(2, b'a line')
"""


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_copying_process_loses_no_lines(number):
    """Systemd sends SIGTERM to all processes of a service; a full disk ends cat, as SIGKILL."""
    result = subprocess.run(
        [sys.executable, '-c', SIGNALED.replace('NUMBER', str(int(number)))], timeout=PATIENCE,
        stderr=subprocess.PIPE)
    assert result.returncode == 0
    assert b'a line' in result.stderr


def test_the_process_ends_with_an_error_that_nobody_reads():
    with full_pipe() as (_, writing):
        assert run('raise SystemExit("an error")', stderr=writing).returncode == 1


def test_without_an_output_it_runs():
    statement = 'from pathlib import Path; Path("/dev/stdout").write_text("it runs")'
    result = run(statement, stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2))
    assert (result.returncode, result.stdout) == (0, b'it runs')


@pytest.mark.parametrize('choice, is_colored', [(None, '1'), ('0', '0')])
def test_the_log_has_colors_on_a_terminal_unless_unwanted(choice, is_colored):
    terminal, output = pty.openpty()
    environment = {name: value for name, value in os.environ.items()
                   if name != 'RCUTILS_COLORIZED_OUTPUT'}
    if choice is not None:
        environment['RCUTILS_COLORIZED_OUTPUT'] = choice
    try:
        result = run('print(os.environ["RCUTILS_COLORIZED_OUTPUT"])', stderr=output,
                     stdout=subprocess.PIPE, text=True, env=environment)
    finally:
        os.close(terminal)
        os.close(output)
    assert result.stdout.strip() == is_colored


def test_a_log_on_stdout_goes_the_same_way():
    with full_pipe() as (_, writing):
        result = run('os.write(1, b"a line")', stdout=writing,
                     env={**os.environ, 'RCUTILS_LOGGING_USE_STDOUT': '1'})
    assert result.returncode == 0
