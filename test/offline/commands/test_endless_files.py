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
"""Only regular files of a bounded size are read; what is read for ever is refused at once."""

from contextlib import suppress
import os
from pathlib import Path
from threading import Thread

import pytest
from ros2_rnea.errors import RneaError
from ros2_rnea.model.regular_file import (
    check_regular_file,
    MIB,
    read_regular_file,
)
from ros2_rnea.offline.commands.check_model import source
from ros2_rnea.offline.commands.check_model.__main__ import main as check_model
from ros2_rnea.offline.commands.compile.parameter_file import read_parameters
from ros2_rnea.offline.commands.fill_efforts import csv_file, yaml_file
from ros2_rnea.offline.commands.fill_efforts.files import read_trajectory
from ros2_rnea.offline.commands.fill_efforts.limits_file import read_limits
from ros2_rnea.offline.identification.csv_recording import read_csv
from ros2_rnea.robots.robot import Robot
from small_robots import ARM

HUGE = 1 << 40
NO_FILE = 'it is no regular file, but a pipe, a device or a socket'


@pytest.fixture(params=['fifo', 'zero'])
def endless(request, tmp_path):
    """Return a function that gives a path with a suffix to what is never read to its end."""
    def make(suffix: str) -> Path:
        path = tmp_path / f'endless{suffix}'
        if request.param == 'fifo':
            os.mkfifo(path)
        else:
            path.symlink_to('/dev/zero')
        return path

    return make


def huge(path: Path) -> Path:
    """Return a path at which there is a file that no memory holds, and that takes no room."""
    with path.open('wb') as file:
        file.truncate(HUGE)
    return path


def test_a_file_is_read(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'content')
    assert read_regular_file(path) == read_regular_file(str(path), 7) == b'content'
    check_regular_file(path)
    with pytest.raises(OSError, match='it has 7 bytes or more; at most 6 are read'):
        read_regular_file(path, 6)
    with pytest.raises(FileNotFoundError):
        read_regular_file(tmp_path / 'no')
    with pytest.raises(IsADirectoryError):
        read_regular_file(tmp_path)


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = huge(tmp_path / 'file')
    small = os.stat(__file__)
    monkeypatch.setattr(os, 'fstat', lambda _: small)
    with pytest.raises(OSError, match=f'at most {MIB} are read'):
        read_regular_file(path, MIB)


READERS = {
    '.urdf': lambda path: source.read_source(str(path)),
    '.csv': read_trajectory,
    '.yaml': read_trajectory,
    '.limits': lambda path: read_limits(path, Robot.from_urdf(ARM)),
    '.params': lambda path: read_parameters(path, '/inverse_dynamics'),
    '.recording': read_csv}
"""What reads files that users name, by a suffix that fits."""


@pytest.mark.parametrize('suffix', READERS)
def test_what_has_no_end_is_refused(endless, suffix):
    with pytest.raises(RneaError, match=NO_FILE):
        READERS[suffix](endless(suffix))


@pytest.mark.parametrize('suffix', [suffix for suffix in READERS if suffix != '.recording'])
def test_what_is_too_large_is_refused_before_it_is_read(tmp_path, suffix):
    path = huge(tmp_path / f'file{suffix}')
    with pytest.raises(RneaError, match=f'it has {HUGE} bytes or more'):
        READERS[suffix](path)


def test_the_standard_input_has_the_same_bound(monkeypatch):
    with open('/dev/zero', encoding='ascii') as zeros:
        monkeypatch.setattr('sys.stdin', zeros)
        monkeypatch.setattr(source, 'LARGEST_TEXT', MIB)
        with pytest.raises(RneaError, match=f'at most {MIB} are read'):
            source.read_source('-')


@pytest.fixture
def piped():
    """Return a function that gives the path, as a shell writes it, of a pipe with a content."""
    ends = []

    def make(content: bytes, folder: str) -> str:
        reader, writer = os.pipe()
        ends.append(reader)
        Thread(target=pour, args=(content, writer), daemon=True).start()
        return f'{folder}/{reader}'

    yield make
    for reader in ends:
        os.close(reader)


def pour(content: bytes, writer: int) -> None:
    with suppress(BrokenPipeError), open(writer, 'wb') as file:
        file.write(content)


@pytest.mark.parametrize('folder', ['/dev/fd', '/proc/self/fd'])
def test_a_pipe_of_a_shell_is_read_to_its_end(piped, folder):
    text = ARM + ' ' * (1 << 18)  # more than a pipe holds
    assert source.read_source(piped(text.encode(), folder)) == text


def test_the_standard_input_may_have_its_name(piped):
    number = int(piped(ARM.encode(), '/dev/fd').rpartition('/')[2])
    before = os.dup(0)
    try:
        os.dup2(number, 0)
        assert source.read_source('/dev/stdin') == ARM
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_a_pipe_of_a_shell_has_the_same_bound(piped, monkeypatch):
    monkeypatch.setattr(source, 'LARGEST_TEXT', MIB)
    with pytest.raises(RneaError, match=f'at most {MIB} are read'):
        source.read_source(piped(bytes(2 * MIB), '/dev/fd'))


def test_what_else_a_process_has_open_is_no_pipe():
    with open('/dev/zero', 'rb') as zeros, pytest.raises(RneaError, match=NO_FILE):
        source.read_source(f'/dev/fd/{zeros.fileno()}')
    with pytest.raises(RneaError, match='cannot be read'):
        source.read_source('/dev/fd/987654')


def test_a_chain_of_too_many_links_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(source, 'MOST_LINKS', 2)
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM, encoding='utf-8')
    assert check_model([str(path)]) not in (0, 1)
    number = ARM.count('<link')
    assert f'has {number} links; at most 2 are read' in capsys.readouterr().err


@pytest.mark.parametrize('text, parse', [
    ('joint_names: [a]\npoints:\n' + 3 * '- {time_from_start: {sec: 1}, positions: [0.0]}\n',
     yaml_file.parse),
    ('time,a.position\n' + ''.join(f'{i},0\n' for i in range(3)), csv_file.parse)])
def test_a_trajectory_of_too_many_points_is_refused_before_it_is_parsed(monkeypatch, text, parse):
    found = 'ros2_rnea.offline.commands.fill_efforts.found.MAX_FILLED_POINTS'
    monkeypatch.setattr(found, 3)
    parse(text, 'name')
    monkeypatch.setattr(found, 2)
    monkeypatch.setattr(yaml_file, 'read_yaml', lambda *_: pytest.fail('it is parsed'))
    with pytest.raises(RneaError, match='name has 3 points; at most 2 are filled'):
        parse(text, 'name')
