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
"""What a recording has to be made of, and what is said where it is not."""

from dataclasses import replace

import numpy as np
import pytest
from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.recording import Recording

GOOD = Recording('run', [0, 1, 2], ['a', 'b'], np.zeros((3, 2)), [[1, 2], [3, 4], [5, 6]])


def test_lists_become_arrays_and_arrays_are_not_copied():
    assert GOOD.efforts.dtype == np.float64
    assert GOOD.joints == ('a', 'b')
    efforts = np.ones((3, 2))
    assert replace(GOOD, efforts=efforts).efforts is efforts


def test_what_is_not_finite_is_left_to_the_preparation():
    positions = np.full((3, 2), np.nan)
    assert np.isnan(replace(GOOD, positions=positions, times=[0.0, 0.0, np.inf]).positions).all()


@pytest.mark.parametrize(('fields', 'message'), [
    ({'joints': []}, "recording 'run' has no joints"),
    ({'joints': ['a', 'a']}, "recording 'run' has joint 'a' twice"),
    ({'joints': ['a', 3]}, "joint 1 of recording 'run' is 3; it needs a name"),
    ({'times': [0.0]}, "recording 'run' has 1 samples; it needs at least 2"),
    ({'times': [[0.0, 1.0]]}, r"times of recording 'run' have shape \(1, 2\); they need \(2,\)"),
    ({'positions': np.zeros((3, 3))},
     r"positions of recording 'run' have shape \(3, 3\); they need \(3, 2\) for the joints a, b"),
    ({'velocities': np.zeros((2, 2))}, r'velocities of .* they need \(3, 2\)'),
    ({'efforts': None}, "recording 'run': efforts is not an array of real numbers"),
    ({'efforts': [['x', 'y']] * 3}, 'efforts is not an array of real numbers, but of texts')])
def test_wrong_shapes_and_names_are_named(fields, message):
    with pytest.raises(RecordingError, match=message):
        replace(GOOD, **fields)


@pytest.fixture
def recording():
    """Return ten seconds of two joints, with all that a recording can have."""
    times = 5.0 + 0.01 * np.arange(1000)
    two = np.random.default_rng(0).normal(size=(1000, 2))
    return Recording('swing', times, ('a', 'b'), two, 2.0 * two, 3.0 * two)


def test_a_part_has_the_samples_of_its_times(recording):
    for begin, end, rows in ((0.0, 2.0, slice(0, 200)), (3.0, 4.5, slice(300, 450)),
                             (8.0, np.inf, slice(800, 1000))):
        part = recording.between(max(begin - 1e-6, 0.0), end - 1e-6)
        for name in ('times', 'positions', 'velocities', 'efforts'):
            np.testing.assert_array_equal(getattr(part, name), getattr(recording, name)[rows])
        assert part.begin == pytest.approx(begin)
    assert part.name == 'swing from 8 s on'
    assert recording.between(0.0, np.inf) is recording
    np.testing.assert_array_equal(
        recording.between(2.0, np.inf).between(3.0, 4.0).times, recording.between(3.0, 4.0).times)
    with pytest.raises(RecordingError, match="'swing from 20 s to 30 s' has 0 samples"):
        recording.between(20.0, 30.0)


def test_a_sample_is_in_the_part_of_its_own_time_also_where_times_go_back():
    four = np.arange(1.0, 5.0)[:, None]
    recording = Recording('swing', [5.0, 1e9, 6.0, 7.0], ('a',), four, four)
    np.testing.assert_array_equal(recording.between(0.0, 3.0).times, [5.0, 6.0, 7.0])
    np.testing.assert_array_equal(recording.between(1.0, 2.5).times, [6.0, 7.0])


@pytest.mark.parametrize('part', [(-1.0, 2.0), (2.0, 2.0), (np.nan, 1.0)])
def test_parts_that_mean_nothing_are_refused(recording, part):
    with pytest.raises(RecordingError, match='needs a begin that is not negative, and a later'):
        recording.between(*part)


@pytest.mark.parametrize('wrong', [0.0, 1e9, np.nan])
def test_a_part_is_counted_from_the_first_time_that_is_near_the_others(recording, wrong):
    times = recording.times + 1e6
    times[:2] = wrong
    part = replace(recording, times=times).between(1.0, 3.0)
    np.testing.assert_array_equal(part.times, times[102:302])
    assert part.begin == pytest.approx(1.0)


def test_a_piece_before_a_long_pause_is_the_begin(recording):
    times = recording.times.copy()
    times[50:] += 3600.0
    np.testing.assert_array_equal(
        replace(recording, times=times).between(0.0, 1.0).times, recording.times[:50])


def test_a_wrong_time_is_no_begin_of_a_part(recording):
    times = recording.times.copy()
    times[50] = 1e9
    assert replace(recording, times=times).between(1.0, np.inf).begin == pytest.approx(1.0)
