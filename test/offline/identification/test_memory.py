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
"""Recordings that do not fit into memory, and parts of recordings that do."""

from codecs import BOM_UTF8
from functools import partial
import re
import subprocess
import sys
import tracemalloc

from bytes_read import bytes_read
import numpy as np
from parts_read import kept_at_each_part, read_all
import pytest
from ros2_rnea.errors import NothingUsableError, RecordingError
from ros2_rnea.offline.identification import memory
from ros2_rnea.offline.identification.csv_recording import csv_parts, read_csv
from ros2_rnea.offline.identification.memory import Part, parts_of
from ros2_rnea.offline.identification.preparation import prepare
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.models import MODELS

GIGABYTE = 10**9


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(MODELS['ur5']().urdf)


def write_recording(path, robot, rows, joints=6):
    times = np.arange(rows) / 100.0
    q = 0.3 * np.sin(0.7 * times[:, None] * np.arange(1.0, robot.nv + 1.0))
    titles = ['time', *(f'{name}.{what}' for what in ('position', 'velocity', 'effort')
                        for name in robot.joint_names[:joints])]
    fields = (each[:, :joints] for each in (q, np.gradient(q, 0.01, axis=0), robot.gravity(q)))
    np.savetxt(path, np.column_stack([times, *fields]),
               delimiter=',', header=','.join(titles), comments='', fmt='%.9g')
    return path


@pytest.fixture(scope='module')
def huge(tmp_path_factory, robot):
    """Return a file of 10 GB, of which the disk holds the first rows only."""
    path = write_recording(tmp_path_factory.mktemp('huge') / 'huge.csv', robot, 2000)
    with path.open('r+b') as file:
        file.truncate(10 * GIGABYTE)
    return path


def test_ten_gigabytes_are_refused_with_size_and_remedy(huge, monkeypatch):
    monkeypatch.setattr(memory, 'available_memory', lambda: 4.0 * GIGABYTE)
    with pytest.raises(RecordingError, match=(
            r"'huge\.csv' has about [\d.]+e\+07 samples of 6 joints; preparing them takes up to "
            r'[\d.]+ GB, and 4 GB of memory are available: use parts of at most [\d.]+ % ')):
        read_csv(huge)
    assert len(read_csv(huge, part=Part(0.0, 5.0)).times) == 500


def test_short_first_lines_do_not_make_a_recording_too_large(tmp_path, monkeypatch):
    path = tmp_path / 'a.csv'
    numbers = np.random.default_rng(0).normal(size=(20_000, 2))
    numbers[:3000] = 0.0
    path.write_text('time,a.position,a.effort\n' + ''.join(
        f'{k},{q!r},{tau!r}\n' for k, (q, tau) in enumerate(numbers.tolist())))
    monkeypatch.setattr(memory, 'available_memory', lambda: 1.5 * 2 * memory.BYTES * 20_000)
    assert len(read_csv(path).times) == 20_000
    monkeypatch.setattr(memory, 'available_memory', lambda: 0.7 * 2 * memory.BYTES * 20_000)
    with pytest.raises(RecordingError, match="'a.csv' has about"):
        read_csv(path)


def test_the_limit_of_a_process_counts(huge):
    program = f"""\
import pathlib, resource
from ros2_rnea.offline.identification.csv_recording import read_csv
taken = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, 2 * (taken + {GIGABYTE},))
read_csv(pathlib.Path({str(huge)!r}))
"""
    found = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    error = found.stderr.splitlines()[-1]
    assert 'ros2_rnea.errors.RecordingError' in error
    available = float(error.partition(' GB of memory are available')[0].rpartition(' ')[2])
    assert 0.8 <= available <= 1.0  # of the gigabyte that is left


@pytest.mark.parametrize('files, available', [
    ({'memory.max': '3000\n', 'memory.current': '2500\n',
      'memory.stat': 'anon 100\ninactive_file 400\n'}, 900.0),
    ({'memory.max': 'max\n', 'memory.current': '2500\n'}, np.inf),
    ({}, np.inf)], ids=['limited', 'not limited', 'no container'])
def test_the_limit_of_a_container_counts(tmp_path, files, available):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert memory.available_in_container(tmp_path) == available


@pytest.mark.parametrize('joints', [6, 2])
def test_no_more_memory_is_taken_than_is_checked(tmp_path, robot, joints, monkeypatch):
    rows = 60_000
    path = write_recording(tmp_path / 'long.csv', robot, rows, joints)
    with monkeypatch.context() as full:
        full.setattr(memory, 'available_memory', lambda: 0.0)
        with pytest.raises(RecordingError) as error:
            read_csv(path)
    checked = 1e9 * float(re.search(r'takes up to ([\d.]+) GB', str(error.value))[1])
    tracemalloc.start()
    try:
        prepare(read_csv(path), robot)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.3 < peak / checked < 1.0


def test_a_part_of_a_file_is_read(tmp_path, robot):
    path = write_recording(tmp_path / 'swing.csv', robot, 1000)
    whole = read_csv(path)
    for begin, end, rows in ((0.0, 2.0, slice(0, 200)), (3.0, 4.5, slice(300, 450)),
                             (8.0, np.inf, slice(800, 1000))):
        part = read_csv(path, part=Part(begin, end))
        np.testing.assert_array_equal(part.times, whole.times[rows])
        np.testing.assert_array_equal(part.efforts, whole.efforts[rows])
        assert (whole.part_of, part.part_of) == ('', str(path))
        assert part.begin == pytest.approx(part.times[0] - whole.times[0])
    with pytest.raises(RecordingError, match=r'swing\.csv has no rows from 20 s to 30 s'):
        read_csv(path, part=Part(20.0, 30.0))


def test_a_part_with_empty_cells_and_lines_is_read(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('time,a.position,a.effort\n\n5,1,1\n6,,2\n\n7,3,3\n8,4,4\n', encoding='utf-8')
    part = read_csv(path, part=Part(1.0, 3.0))
    np.testing.assert_array_equal(part.times, [6.0, 7.0])
    np.testing.assert_array_equal(part.positions[:, 0], [np.nan, 3.0])


def test_a_file_of_many_parts_is_read_three_times(tmp_path, robot):
    path = write_recording(tmp_path / 'long.csv', robot, 20_000)
    size = path.stat().st_size
    for parts in (2, 40):
        found = []
        read = bytes_read(lambda longest=200.0 / parts, found=found: found.extend(
            read_all(csv_parts(path, None, {}, Part(), longest))[0]))
        assert len(found) == parts
        assert 2.9 * size < read < 3.5 * size


@pytest.mark.parametrize('end_of_line', ['\n', '\r\n', '\r'])
@pytest.mark.parametrize('begin_of_file', ['', BOM_UTF8.decode(), '\n'])
def test_all_parts_are_those_that_are_read_one_by_one(tmp_path, end_of_line, begin_of_file):
    titles = '"time",größe.position,größe.effort\n'
    rows = [f'{0.1 * k:.1f},{k},{-k}\n' for k in range(5, 100)]
    rows[20] = rows[20].replace(',25,', ',"25",')
    rows[30] = rows[30].replace(',35,', ',,')
    rows[40] = '\n,,\n' + rows[40]
    del rows[50:70]
    path = tmp_path / 'a.csv'
    path.write_bytes(
        (begin_of_file + titles + ''.join(rows)).replace('\n', end_of_line).encode())
    for begin, end, longest in ((0.0, np.inf, 1.0), (0.75, 8.1, 0.33), (0.0, np.inf, 100.0)):
        part = Part(begin, end)
        found, reasons = read_all(csv_parts(path, None, {}, part, longest))
        one_by_one, expected = read_all(
            partial(read_csv, path, part=each) for each in parts_of(part, 9.4, longest))
        assert reasons == expected
        for one, other in zip(found, one_by_one, strict=True):
            assert (one.name, one.part_of) == (other.name, other.part_of)
            for name in ('times', 'positions', 'efforts'):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        if part == Part():
            assert sum(len(one.times) for one in found) == len(rows)


def test_a_part_is_not_kept_while_the_next_is_read(tmp_path, monkeypatch):
    rows = [f'{0.1 * k:.1f},{k},{-k}\n' for k in range(100) if not 20 < k < 40]
    path = tmp_path / 'a.csv'
    path.write_text('time,a.position,a.effort\n' + ''.join(rows), encoding='utf-8')

    def read_one_by_one():
        reasons = 0
        for read in csv_parts(path, None, {}, Part(), 1.0):
            try:
                read()
            except NothingUsableError:
                reasons += 1
        assert reasons == 2

    assert kept_at_each_part(monkeypatch, read_one_by_one) == [0] * 9


@pytest.mark.parametrize(('row', 'message'), [
    ('7.0,1', r'line 64 of a\.csv has 2 values; it needs 3'),
    ('x,1,1', r"line 64 of a\.csv has 'x' in column 'time'"),
    ('6.1,1,x', r"line 64 of a\.csv has 'x' in column 'a.effort'"),
    ('5.0,1,1', r'the time goes back from 6 s to 5 s in line 64, so that the part from 4.95 s ')])
def test_an_error_in_a_later_part_has_its_line(tmp_path, row, message):
    rows = [f'{0.1 * k:.1f},{k},{-k}' for k in range(100)]
    rows[61] = row
    path = tmp_path / 'a.csv'
    path.write_text('\n'.join(['time,a.position,a.effort', '', *rows]), encoding='utf-8')
    with pytest.raises(RecordingError, match=message):
        read_all(csv_parts(path, None, {}, Part(), 1.0))


def test_a_later_line_that_is_no_text_is_no_crash(tmp_path, robot):
    path = write_recording(tmp_path / 'swing.csv', robot, 1000)
    with path.open('ab') as file:
        file.write(b'\xff\n')
    with pytest.raises(RecordingError, match=r'swing\.csv cannot be read: .*0xff'):
        read_all(csv_parts(path, None, {}, Part(), 2.0))


@pytest.mark.parametrize('part', [Part(0.0, 3.0), Part(1.0, 2.0)])
def test_a_part_is_not_read_where_times_go_back(tmp_path, part):
    path = tmp_path / 'a.csv'
    path.write_text('time,a.position,a.effort\n5,1,1\n1e9,2,2\n6,3,3\n7,4,4\n', encoding='utf-8')
    with pytest.raises(RecordingError, match='the time goes back from 1e.09 s to 1 s in line 4'):
        read_csv(path, part=part)


@pytest.mark.parametrize('part', [Part(-1.0, 2.0), Part(2.0, 2.0), Part(np.nan, 1.0)])
def test_parts_that_mean_nothing_are_refused(tmp_path, part):
    with pytest.raises(RecordingError, match='needs a begin that is not negative, and a later'):
        read_csv(tmp_path / 'a.csv', part=part)


def test_a_recording_without_times_has_no_parts():
    with pytest.raises(RecordingError, match='without times cannot be read in parts'):
        memory.parts_of(Part(), np.nan, 20.0)
