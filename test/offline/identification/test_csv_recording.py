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
"""Recordings from text files: columns by pattern and number, units, and what is wrong where."""

from codecs import BOM_UTF8
from math import pi

import numpy as np
import pytest
from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.csv_recording import CsvColumns, read_csv

PLAIN = """\
time,a.position,b.position,a.velocity,b.velocity,a.effort,b.effort
0.0,1,2,3,4,5,6
0.1,1.5,2.5,3.5,4.5,5.5,6.5
"""


@pytest.fixture
def write(tmp_path):
    def make(text):
        path = tmp_path / 'run.csv'
        path.write_text(text, encoding='utf-8')
        return path
    return make


def test_columns_have_the_titles_that_fill_efforts_writes(write):
    recording = read_csv(write(PLAIN))
    assert recording.name == 'run.csv'
    assert recording.joints == ('a', 'b')
    np.testing.assert_array_equal(recording.times, [0.0, 0.1])
    np.testing.assert_array_equal(recording.positions, [[1.0, 2.0], [1.5, 2.5]])
    np.testing.assert_array_equal(recording.velocities, [[3.0, 4.0], [3.5, 4.5]])
    np.testing.assert_array_equal(recording.efforts, [[5.0, 6.0], [5.5, 6.5]])


@pytest.mark.parametrize('separator', [',', ';', '\t', ', '])
def test_patterns_find_the_joints_in_any_order_of_columns(write, separator):
    text = ('b_i,t,a_q,note,b_q,a_i\n'
            '1,0.0,2,7,3,4\n10,0.5,20,70,30,40\n').replace(',', separator)
    recording = read_csv(write(text), CsvColumns('t', '{joint}_q', '{joint}_w', '{joint}_i'))
    assert recording.joints == ('a', 'b')
    assert recording.velocities is None
    np.testing.assert_array_equal(recording.positions, [[2, 3], [20, 30]])
    np.testing.assert_array_equal(recording.efforts, [[4, 1], [40, 10]])
    chosen = read_csv(write(text), CsvColumns('t', '{joint}_q', '', '{joint}_i', ('b',)))
    np.testing.assert_array_equal(chosen.efforts, [[1], [10]])


def test_a_file_without_titles_is_read_by_numbers(write):
    text = '0,1,2,3,4,5,6\n10,11,12,13,14,15,16\n'
    recording = read_csv(write(text), CsvColumns('1', '2-3', '', '7,4', ('a', 'b')))
    np.testing.assert_array_equal(recording.times, [0, 10])
    np.testing.assert_array_equal(recording.positions, [[1, 2], [11, 12]])
    np.testing.assert_array_equal(recording.efforts, [[6, 3], [16, 13]])


def test_units_are_converted_and_currents_become_efforts(write):
    units = {'time': 'ms', 'position': 'deg', 'velocity': 'rpm', 'effort': 'A'}
    recording = read_csv(write(PLAIN), CsvColumns(units=units, gains={'b': -10.0, 'a': 2.0}))
    np.testing.assert_allclose(recording.times, [0.0, 1e-4])
    np.testing.assert_allclose(recording.positions[0], np.array([1, 2]) * pi / 180)
    np.testing.assert_allclose(recording.velocities[0], np.array([3, 4]) * 2 * pi / 60)
    np.testing.assert_allclose(recording.efforts[0], [10.0, -60.0])


def test_empty_cells_are_not_numbers(write):
    recording = read_csv(write(PLAIN + '\n0.2,,2,NaN,3,-,1\n'))
    np.testing.assert_array_equal(recording.positions[2], [np.nan, 2.0])
    np.testing.assert_array_equal(recording.velocities[2], [np.nan, 3.0])
    np.testing.assert_array_equal(recording.efforts[2], [np.nan, 1.0])
    assert np.isfinite(recording.positions[:2]).all()


@pytest.mark.parametrize('end_of_line', ['\n', '\r\n', '\r'])
@pytest.mark.parametrize('begin_of_file', ['', BOM_UTF8.decode(), '\n'])
def test_all_kinds_of_text_are_read(tmp_path, end_of_line, begin_of_file):
    titles = '"time",größe.position,größe.effort\n'
    rows = [f'{0.1 * k:.1f},{k},{-k}\n' for k in range(100)]
    rows[20] = rows[20].replace(',20,', ',"20",')
    rows[30] = rows[30].replace(',30,', ',,')
    rows[40] = '\n,,\n' + rows[40]
    path = tmp_path / 'a.csv'
    path.write_bytes(
        (begin_of_file + titles + ''.join(rows)).replace('\n', end_of_line).encode())
    recording = read_csv(path)
    assert recording.joints == ('größe',)
    np.testing.assert_array_equal(recording.efforts[:, 0], -np.arange(100.0))
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(recording.positions)), [30])


@pytest.mark.parametrize(('row', 'message'), [
    ('7.0,1', r'line 64 of a\.csv has 2 values; it needs 3'),
    ('x,1,1', r"line 64 of a\.csv has 'x' in column 'time'"),
    ('6.1,1,x', r"line 64 of a\.csv has 'x' in column 'a.effort'")])
def test_an_error_has_its_line_after_empty_ones(tmp_path, row, message):
    rows = [f'{0.1 * k:.1f},{k},{-k}' for k in range(100)]
    rows[61] = row
    path = tmp_path / 'a.csv'
    path.write_text('\n'.join(['time,a.position,a.effort', '', *rows]), encoding='utf-8')
    with pytest.raises(RecordingError, match=message):
        read_csv(path)


@pytest.mark.parametrize(('more', 'message'), [
    ('0.2,1,2,3,x,5,6', "line 4 of run.csv has 'x' in column 'b.velocity'; it needs a number"),
    ('0.2,1,2,3', 'line 4 of run.csv has 4 values; it needs 7: was its end cut off'),
    ('0.2,1,5,2,3,4,5,6', 'line 4 of run.csv has 8 values; it needs 7: do its numbers have')])
def test_cells_that_are_no_numbers_and_cut_rows_are_named(write, more, message):
    with pytest.raises(RecordingError, match=message):
        read_csv(write(PLAIN + more))


def test_quotes_hold_commas_also_in_columns_that_are_not_read(write):
    text = 'time,note,a.position,a.effort\n0,ok,1,2\n0.1,"7,8,9",3,4\n'
    np.testing.assert_array_equal(read_csv(write(text)).positions, [[1], [3]])


def test_a_row_whose_end_is_cut_off_in_columns_that_are_not_read_is_named(write):
    """Its last number may be cut off, too."""
    with pytest.raises(RecordingError, match='line 3 of run.csv has 3 values; it needs 4'):
        read_csv(write('time,a.position,a.effort,state\n0,1,2.5,0\n0.1,3,4.'))


@pytest.mark.parametrize(('text', 'place'), [
    ('t;a.position;a.effort\n0,5;1,5;2,5\n', r"line 2 of run.csv has '0,5' in column 't'"),
    ('0,4;1;2\n0,5;1;2\n', r"line 1 of run.csv has '0,4' in column 1"),
    ('t\ta.position\ta.effort\n1\t2\t-,5\n', "line 2 of run.csv has '-,5' in column 'a.effort'")])
def test_decimal_commas_are_named(write, text, place):
    named = CsvColumns('t') if text[0] == 't' else CsvColumns('1', '2', '', '3', ('a',))
    with pytest.raises(RecordingError, match=f'{place}; it needs a number with a decimal point'):
        read_csv(write(text), named)


def test_a_later_decimal_comma_is_named_with_its_place(write):
    with pytest.raises(RecordingError, match=(
            "line 4 of run.csv has '0,2' in column 'time'; it needs a number with a decimal poi")):
        read_csv(write(PLAIN.replace(',', ';') + '0,2;1;2;3;4;5;6\n'))


def test_what_the_file_calls_the_joints_is_told(write):
    text = 'time,Position1,Position2,Torque1,Torque2\n0,1,2,3,4\n1,2,3,4,5\n'
    columns = {'position': 'Position{joint}', 'effort': 'Torque{joint}'}
    recording = read_csv(write(text), CsvColumns(**columns, joints={'joint_2': '2'}))
    assert recording.joints == ('joint_2',)
    np.testing.assert_array_equal(recording.efforts, [[4.0], [5.0]])
    assert read_csv(write(text), CsvColumns(**columns)).joints == ('1', '2')
    with pytest.raises(RecordingError, match='and none for that of joint_3'):
        read_csv(write(text), CsvColumns(**columns, joints={'joint_1': '1', 'joint_3': '3'}))


@pytest.mark.parametrize(('columns', 'message'), [
    ({'time': 'tim'}, "run.csv has no column 'tim' for the time; did you mean 'time'"),
    ({'time': 'stamp'}, "no column 'stamp' for the time; its columns are time, a.position"),
    ({'position': '{joint}_q'}, "no columns '{joint}_q' for the position of joints; its columns"),
    ({'effort': ''}, "no columns '' for the effort of joints"),
    ({'position': '2-9', 'joints': ('a', 'b')}, '8 columns are given for the position .* 2 names'),
    ({'position': '7-8', 'joints': ('a', 'b')}, "no column '8' for the position; its columns"),
    ({'position': 'q'}, "columns for the position are 'q'; they need a pattern with {joint}"),
    ({'joints': ('a', 'c')}, 'and none for that of c')])
def test_columns_that_are_not_there_are_named(write, columns, message):
    with pytest.raises(RecordingError, match=message):
        read_csv(write(PLAIN), CsvColumns(**columns))


def test_a_column_for_some_joints_only_is_named(write):
    text = 'time,a.position,b.position,a.effort\n0,1,2,3\n1,2,3,4\n'
    with pytest.raises(RecordingError, match='for the effort of a, and none for that of b'):
        read_csv(write(text))
    with pytest.raises(RecordingError, match=(
            'for the effort of elbwo, and none for that of elbow: .*; did you mean .elbwo')):
        read_csv(write('time,elbow.position,elbwo.effort\n0,1,2\n1,2,3\n'))
    with pytest.raises(RecordingError, match="has column 'a.position' twice"):
        read_csv(write('time,a.position,a.position,a.effort\n0,1,2,3\n1,2,3,4\n'))


@pytest.mark.parametrize(('columns', 'message'), [
    ({'units': {'positions': 'deg'}}, "unit is given for 'positions'; did you mean 'position'"),
    ({'units': {'position': 'degree'}}, "unit of position is 'degree'; it needs rad, deg"),
    ({'gains': {'a': 1.0}}, "the unit of effort is not 'A'"),
    ({'units': {'effort': 'A'}, 'gains': {'a': 0.0}}, r"gain \[Nm/A\] of joint 'a' is 0.0")])
def test_units_that_mean_nothing_are_refused(columns, message):
    with pytest.raises(RecordingError, match=message):
        CsvColumns(**columns)


def test_currents_need_the_effort_for_an_ampere_of_each_joint(write):
    units = {'effort': 'A'}
    with pytest.raises(RecordingError, match=r'no gain \[Nm/A\] is given for b'):
        read_csv(write(PLAIN), CsvColumns(units=units, gains={'a': 1.0}))
    with pytest.raises(RecordingError, match="for joint 'c', which run.csv does not have"):
        read_csv(write(PLAIN), CsvColumns(units=units, gains={'a': 1.0, 'b': 1.0, 'c': 1.0}))


@pytest.mark.parametrize(('text', 'message'), [
    ('', 'is empty'), (';;\n', 'it has no titles, but 0 columns'),
    ('time\n1\n2\n', 'has one column'),
    ('1,2,3\n4,5,6\n', 'no column .time. for the time; it has no titles, but 3 columns'),
    (PLAIN.splitlines()[0] + '\n', 'has titles of columns, and no rows'),
    ('\n'.join(PLAIN.splitlines()[:2]), 'has 1 samples; it needs at least 2')])
def test_files_with_too_little_are_refused(write, text, message):
    with pytest.raises(RecordingError, match=message):
        read_csv(write(text))


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(RecordingError, match='nowhere.csv cannot be read'):
        read_csv(tmp_path / 'nowhere.csv')
    (tmp_path / 'binary.csv').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(RecordingError, match='binary.csv cannot be read'):
        read_csv(tmp_path / 'binary.csv')


def test_a_later_line_that_is_no_text_is_no_crash(write):
    path = write(PLAIN)
    with path.open('ab') as file:
        file.write(b'0.2,1,2,3,4,5,6\n' * 1000 + b'\xff\n')
    with pytest.raises(RecordingError, match=r'run\.csv cannot be read: .*0xff'):
        read_csv(path)
