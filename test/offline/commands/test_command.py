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
"""What all commands do: errors, and output that is cut, as in ``check_model arm.urdf | head``."""

import os
from pathlib import Path
import signal
import subprocess
import sys

from default_signals import default_signals
from patience import until
import pytest
from ros2_rnea.command_line.command import command, ends_with_its_reader, INTERNAL_ERROR
from ros2_rnea.errors import RneaError
from small_robots import ARM


@pytest.mark.parametrize('arguments', [
    ['ros2_rnea.offline.commands.check_model', 'arm.urdf'],
    ['ros2_rnea.offline.commands.check_model', '--json', '-', 'arm.urdf'],
    ['ros2_rnea.offline.commands.fill_efforts', 'swing.csv', '--urdf', 'arm.urdf', '--dry-run']])
def test_nobody_complains_when_the_reader_is_gone(tmp_path: Path, arguments: list[str]):
    pytest.importorskip('rich')
    (tmp_path / 'arm.urdf').write_text(ARM, encoding='utf-8')
    (tmp_path / 'swing.csv').write_text(
        'time,shoulder.position,elbow.position\n0,0,0.5\n1,1,0\n', encoding='utf-8')
    reader, writer = os.pipe()
    os.close(reader)  # as `head` does when it has enough
    try:
        result = subprocess.run(
            [sys.executable, '-m', *arguments], cwd=tmp_path, stdout=writer,
            stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert result.stderr == ''
    assert result.returncode != 0


def test_exit_code_and_arguments_are_passed_on(capsys: pytest.CaptureFixture):
    @ends_with_its_reader
    def program(arguments=None):
        print(*arguments)
        return 7
    assert program(['a', 'b']) == 7
    assert capsys.readouterr().out == 'a b\n'


def test_a_defect_of_the_program_has_an_exit_code_of_its_own(capsys: pytest.CaptureFixture):
    @command('try', 2)
    def program(arguments=None):
        raise ZeroDivisionError('division by zero')
    assert program([]) == INTERNAL_ERROR == 3
    said = capsys.readouterr().err
    assert said.startswith('try: internal error, a defect of this program: ZeroDivisionError: ')
    assert 'test_command.py, line ' in said and said.count('\n') == 1


def test_ctrl_c_is_one_line_and_the_exit_code_of_a_shell(capsys: pytest.CaptureFixture):
    @command('try', 2)
    def program(arguments=None):
        raise KeyboardInterrupt
    assert program([]) == 128 + signal.SIGINT
    assert capsys.readouterr().err == '\ntry: interrupted\n'


@pytest.mark.parametrize('name', ['compile', 'excite', 'identify'])
def test_a_command_that_is_interrupted_shows_no_traceback(name: str):
    """It is waiting for its description when Ctrl-C comes: it has read more than a pipe holds."""
    pytest.importorskip('rich')
    arguments = {'compile': ['-'], 'excite': ['--urdf', '-'],
                 'identify': ['none.csv', '--urdf', '-']}[name]
    process = subprocess.Popen(
        [sys.executable, '-m', f'ros2_rnea.offline.commands.{name}', *arguments],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_signals)
    process.stdin.write(b' ' * (1 << 20))
    process.stdin.flush()
    state = Path(f'/proc/{process.pid}/stat')
    until(lambda: state.read_text().rpartition(')')[2].split()[0] == 'S')  # it sleeps in read()
    process.send_signal(signal.SIGINT)
    assert process.stderr.read().decode() == f'\n{name}: interrupted\n'
    assert process.wait() == 130
    process.stdin.close()


def test_a_full_disk_is_no_defect(capsys: pytest.CaptureFixture):
    @command('try', 2)
    def program(arguments=None):
        raise OSError(28, 'No space left on device', 'identified.urdf')
    assert program([]) == 2
    assert 'No space left on device' in capsys.readouterr().err


def test_an_error_is_one_line_and_an_exit_code(capsys: pytest.CaptureFixture):
    @command('try', 3)
    def program(arguments=None):
        raise RneaError('it is too heavy')
    assert program([]) == 3
    assert capsys.readouterr().err == 'try: it is too heavy\n'
