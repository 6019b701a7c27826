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
"""Parts of recordings: which samples they have, and what is read for them."""

from codecs import BOM_UTF8

import numpy as np
import pytest
from ros2_rnea.errors import NothingUsableError, RecordingError
from ros2_rnea.offline.identification.csv_recording import read_csv
from ros2_rnea.offline.identification.parts import cut, Part, parts_of
from ros2_rnea.offline.identification.recording import Recording

ARRAYS = ('times', 'positions', 'velocities', 'efforts', 'wrenches')


@pytest.fixture
def recording():
    """Return ten seconds of two joints, with all that a recording can have."""
    times = 5.0 + 0.01 * np.arange(1000)
    two, six = (np.random.default_rng(0).normal(size=(1000, count)) for count in (2, 6))
    return Recording('swing', times, ('a', 'b'), two, 2.0 * two, 3.0 * two, six, 'tool')


def test_a_part_has_the_samples_of_its_times(recording, tmp_path):
    path = tmp_path / 'swing'
    for begin, end, rows in ((0.0, 2.0, slice(0, 200)), (3.0, 4.5, slice(300, 450)),
                             (8.0, np.inf, slice(800, 1000))):
        part = cut(recording, Part(begin - 1e-6, end - 1e-6), path)
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(part, name), getattr(recording, name)[rows])
        assert (recording.part_of, part.part_of) == ('', str(path))
        assert part.begin == pytest.approx(begin)
    assert part.name == 'swing from 8 s on'
    assert cut(recording, Part(), path) is recording
    with pytest.raises(NothingUsableError, match="'swing from 20 s to 30 s' has 0 samples"):
        cut(recording, Part(20.0, 30.0), path)


def test_a_part_of_a_part_has_the_same_begin(recording, tmp_path):
    later = cut(recording, Part(2.0), tmp_path / 'swing')
    np.testing.assert_array_equal(
        cut(later, Part(3.0, 4.0), tmp_path / 'swing').times,
        cut(recording, Part(3.0, 4.0), tmp_path / 'swing').times)


def test_a_part_of_a_file_is_read(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('time,a.position,a.effort\n\n5,1,1\n6,,2\n\n7,3,3\n8,4,4\n', encoding='utf-8')
    part = read_csv(path, part=Part(1.0, 3.0))
    assert (part.name, part.part_of, part.begin) == ('a.csv from 1 s to 3 s', str(path), 1.0)
    np.testing.assert_array_equal(part.times, [6.0, 7.0])
    np.testing.assert_array_equal(part.positions[:, 0], [np.nan, 3.0])


@pytest.mark.parametrize('end_of_line', ['\n', '\r\n', '\r'])
@pytest.mark.parametrize('begin_of_file', ['', BOM_UTF8.decode(), '\n'])
def test_all_parts_together_are_the_recording(tmp_path, end_of_line, begin_of_file):
    titles = '"time",größe.position,größe.effort\n'
    rows = [f'{0.1 * k:.1f},{k},{-k}\n' for k in range(5, 100)]
    rows[20] = rows[20].replace(',25,', ',"25",')
    rows[30] = rows[30].replace(',35,', ',,')
    rows[40] = '\n,,\n' + rows[40]
    del rows[50:70]
    path = tmp_path / 'a.csv'
    path.write_bytes(
        (begin_of_file + titles + ''.join(rows)).replace('\n', end_of_line).encode())
    whole = read_csv(path)
    assert whole.joints == ('größe',) and len(whole.times) == len(rows)
    for part, longest, first in ((Part(), 1.0, 0), (Part(0.75), 0.33, 8), (Part(), 100.0, 0)):
        found, empty = [], 0
        later = cut(whole, part, path)
        for each in parts_of(part, later, longest):
            assert min(each.end, 9.4) - each.begin <= longest + 1e-9
            try:
                found.append(cut(later, each, path))
            except NothingUsableError:
                empty += 1
        assert empty == {1.0: 1, 0.33: 6, 100.0: 0}[longest]
        for name in ('times', 'positions', 'efforts'):
            together = np.concatenate([getattr(one, name) for one in found])
            np.testing.assert_array_equal(together, getattr(whole, name)[first:])


def test_the_last_part_has_no_end(recording, tmp_path):
    *_, last = parts_of(Part(), recording, 2.0)
    assert last.end == np.inf
    part = Part(1.0, 4.0)
    assert parts_of(part, cut(recording, part, tmp_path), 2.0) == pytest.approx(
        np.array([Part(1.0, 2.495), Part(2.495, 4.0)]))


def test_a_sample_is_in_the_part_of_its_own_time_also_where_times_go_back(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('time,a.position,a.effort\n5,1,1\n1e9,2,2\n6,3,3\n7,4,4\n', encoding='utf-8')
    np.testing.assert_array_equal(read_csv(path, part=Part(0.0, 3.0)).times, [5.0, 6.0, 7.0])
    np.testing.assert_array_equal(read_csv(path, part=Part(1.0, 2.5)).times, [6.0, 7.0])


@pytest.mark.parametrize(('row', 'message'), [
    ('7.0,1', r'line 64 of a\.csv has 2 values; it needs 3'),
    ('x,1,1', r"line 64 of a\.csv has 'x' in column 'time'"),
    ('6.1,1,x', r"line 64 of a\.csv has 'x' in column 'a.effort'")])
def test_an_error_in_another_part_has_its_line(tmp_path, row, message):
    rows = [f'{0.1 * k:.1f},{k},{-k}' for k in range(100)]
    rows[61] = row
    path = tmp_path / 'a.csv'
    path.write_text('\n'.join(['time,a.position,a.effort', '', *rows]), encoding='utf-8')
    with pytest.raises(RecordingError, match=message):
        read_csv(path, part=Part(1.0, 2.0))


@pytest.mark.parametrize('part', [Part(-1.0, 2.0), Part(2.0, 2.0), Part(np.nan, 1.0)])
def test_parts_that_mean_nothing_are_refused(tmp_path, part):
    with pytest.raises(RecordingError, match='needs a begin that is not negative, and a later'):
        read_csv(tmp_path / 'a.csv', part=part)


def test_parts_need_times_and_a_length(recording):
    nothing = Recording('x', [np.nan] * 2, ('a',), [[0.0]] * 2, [[0.0]] * 2)
    with pytest.raises(RecordingError, match="'x' has no times to divide it by"):
        parts_of(Part(), nothing, 20.0)
    for length in (0.0, np.nan):
        with pytest.raises(RecordingError, match='are asked for; they need a positive length'):
            parts_of(Part(), recording, length)
