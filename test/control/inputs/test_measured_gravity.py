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
"""Gravity from an accelerometer: its direction, its low-pass, and what is none of it."""

from __future__ import annotations

from math import exp, inf, nan, pi

import numpy as np
import pytest
from ros2_rnea.control.inputs.measured_gravity import (
    GravityMemory,
    LARGEST_NORM_ERROR,
    LONGEST_GAP,
    MeasuredGravity,
)
from ros2_rnea.errors import MessageError
from rotations import rotation_from_rpy

T = 0.5
NOW = 30.0
UP = (0.0, 0.0, 9.81)
LEVEL = np.eye(3)
DOWN = (0.0, 0.0, -9.81)
TURNED = rotation_from_rpy((0.3, -1.2, 2.0))

pytestmark = pytest.mark.filterwarnings('error')


def after(*readings, rotation=LEVEL, time_constant=T, initial=DOWN):
    """Return gravity after readings (time, acceleration)."""
    gravity = MeasuredGravity(time_constant, initial)
    for time, acceleration in readings:
        gravity.update(acceleration, rotation, time)
    return gravity.vector


@pytest.fixture
def gravity():
    """Return gravity that is down, after a first reading at NOW."""
    one = MeasuredGravity(T, DOWN)
    one.update(UP, LEVEL, NOW)
    return one


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, atol=1e-13)


def test_the_first_reading_leaves_gravity_what_it_was():
    assert MeasuredGravity(T, DOWN).vector.tolist() == list(DOWN)
    near(after((NOW, (39.0, 0.0, 0.0))), DOWN)


@pytest.mark.parametrize('rotation', [LEVEL, TURNED])
@pytest.mark.parametrize('down', [(0.0, 0.0, -9.81), (3.0, -4.0, 0.0), (0.0, 0.0, 1.62)])
def test_things_fall_away_from_what_a_resting_accelerometer_shows(rotation, down):
    reading, initial = (NOW, -rotation.T @ down), (0.0, 0.0, -np.linalg.norm(down))
    for known in (initial, (0.0, 0.0, 0.0)):
        near(after(reading, rotation=rotation, time_constant=0.0, initial=known), down)


@pytest.mark.parametrize('gap, share', [
    (0.0, 0.0), (0.05, 1.0 - exp(-0.1)), (0.1, 1.0 - exp(-0.2)), (5.0, 1.0 - exp(-0.2)),
    (1e9, 1.0 - exp(-0.2)), (-1e-3, 0.0)])
def test_a_reading_counts_for_its_time_without_gaps(gap, share):
    readings = (NOW, UP), (NOW + gap, (9.81, 0.0, 0.0))
    near(after(*readings), tilted(share))
    near(after(*readings, initial=(0.0, 0.0, 0.0)), [-9.81 * share, 0.0, 0.0])


def test_it_is_smoothed_in_the_axes_that_stand_still():
    gravity = MeasuredGravity(T, DOWN)
    for step in range(20):
        rotation = rotation_from_rpy((0.0, 0.3 * step, 0.1))
        gravity.update(rotation.T @ UP, rotation, NOW + 0.1 * step)
        near(gravity.vector, [0.0, 0.0, -9.81])


@pytest.mark.parametrize('acceleration, size', [
    ((0.0, 0.0, 0.0), '0 m/s'),       # broken, without gravity, or in free fall
    ((0.0, 0.0, 1.0), '1 m/s'),       # in g
    ((0.0, 0.0, 1.49), '1.49 m/s'),
    ((0.0, 0.0, 40.1), '40.1 m/s'),   # a shock
    ((0.0, 981.0, 0.0), '981 m/s'),   # in cm/s^2
    ((1e308, 1e308, 0.0), '1.41e.308 m/s'),
    ((nan, 0.0, 9.81), 'nan m/s'),
    ((0.0, -inf, 9.81), 'inf m/s'),
    ((9.81, 0.0), '9.81 m/s'),
    ((0.0, 0.0, 0.0, 9.81), '9.81 m/s'),
])
def test_what_cannot_be_gravity_changes_nothing(gravity, acceleration, size):
    with pytest.raises(MessageError, match=rf'reads \[.*\], which is {size}.*1.5 to 40 m/s'):
        gravity.update(acceleration, LEVEL, NOW + 1.0)
    near(gravity.vector, [0.0, 0.0, -9.81])
    assert gravity.received == NOW


@pytest.mark.parametrize('acceleration', [(0.0, 0.0, 1.51), (0.0, -1.62, 0.0), (39.9, 0.0, 0.0)])
def test_weaker_and_stronger_gravity_than_on_earth_is_possible(acceleration):
    reading = NOW, acceleration
    for size in (0.0, np.linalg.norm(acceleration)):
        near(after(reading, time_constant=0.0, initial=(0.0, 0.0, -size)),
             -np.array(acceleration))


@pytest.mark.parametrize('rotation', [nan * LEVEL, np.full((3, 3), 1e308)])
def test_axes_that_are_not_finite_are_refused(rotation):
    with pytest.raises(MessageError, match='axes of the accelerometer are .*finite'):
        after((NOW, (9.0, 9.0, 9.0)), rotation=rotation)


def test_gravity_stays_as_it_is_when_the_next_reading_comes(gravity):
    first = gravity.vector
    gravity.update((5.0, 0.0, 5.0), LEVEL, NOW + 1.0)
    near(first, [0.0, 0.0, -9.81])


def tilted(share, size=9.81):
    """Return gravity between straight down and along −x, filtered by this share."""
    vector = np.array([-share, 0.0, share - 1.0])
    return vector * (size / np.linalg.norm(vector))


def test_a_successor_goes_on_from_there(gravity):
    newer = MeasuredGravity(2.0 * T, DOWN, memory=gravity.memory)
    near(newer.vector, [0.0, 0.0, -9.81])
    newer.update((9.81, 0.0, 0.0), LEVEL, NOW + 0.1)
    near(newer.vector, tilted(1.0 - exp(-0.1)))


def test_without_a_reading_a_successor_begins_with_its_own_gravity():
    older = MeasuredGravity(T, DOWN)
    newer = MeasuredGravity(T, UP, memory=older.memory)
    assert newer.vector.tolist() == [*UP]


def test_a_successor_with_gravity_of_another_size_has_its_size():
    older = MeasuredGravity(0.0, DOWN)
    older.update((9.81, 0.0, 0.0), LEVEL, NOW)
    newer = MeasuredGravity(T, (0.0, 0.0, -1.62), memory=older.memory)
    near(newer.vector, [-1.62, 0.0, 0.0])
    assert newer.received == NOW and not newer.is_lost(NOW, 0.5)


@pytest.mark.parametrize('scale', [0.97, 1.0, 1.03])
def test_the_direction_alone_is_measured(scale):
    gravity = MeasuredGravity(0.2, DOWN)
    for step in range(2000):
        gravity.update(scale * np.array((6.0, 0.0, 7.76)), LEVEL, NOW + 0.005 * step)
        assert np.linalg.norm(gravity.vector) == pytest.approx(9.81)
        assert not gravity.is_accelerated
    np.testing.assert_allclose(gravity.vector, np.array((-6.0, 0.0, -7.76)), rtol=2e-4)


@pytest.mark.parametrize('acceleration', [
    (0.0, 0.0, 1.01 * LARGEST_NORM_ERROR * 9.81), (0.0, 0.0, -1.01 * LARGEST_NORM_ERROR * 9.81),
    (3.2, 0.0, 0.0), (0.0, -15.0, 0.0)])
def test_an_acceleration_of_the_base_is_no_tilt(acceleration):
    gravity = MeasuredGravity(T, DOWN, tolerance=0.2)
    gravity.update(UP, LEVEL, NOW)
    for step in range(1, 40):
        gravity.update(np.array(UP) + acceleration, LEVEL, NOW + 0.01 * step)
        assert gravity.is_accelerated
        assert gravity.vector.tolist() == [*DOWN]
        assert gravity.received == NOW + 0.01 * step
    assert gravity.memory.taken_at == NOW


def test_after_an_acceleration_only_the_time_of_a_reading_counts(gravity):
    for step in range(1, 11):
        gravity.update((0.0, 0.0, 15.0), LEVEL, NOW + 0.01 * step)
    gravity.update((9.81, 0.0, 0.0), LEVEL, NOW + 0.11)
    near(gravity.vector, tilted(1.0 - exp(-0.02)))


def test_gravity_is_lost_before_and_after_readings():
    gravity = MeasuredGravity(T, DOWN)
    assert gravity.is_lost(NOW, 0.5) and 'no reading yet' in gravity.explain_loss(NOW, 0.5)
    gravity.update(UP, LEVEL, NOW)
    for age in (0.0, 0.25, 0.5):
        assert not gravity.is_lost(NOW + age, 0.5)
        assert gravity.explain_loss(NOW + age, 0.5) == ''
    assert gravity.is_lost(NOW + 0.51, 0.5) and gravity.is_lost(NOW - 0.01, 0.5)
    assert 'for 0.51 s, and imu_timeout is 0.5 s' in gravity.explain_loss(NOW + 0.51, 0.5)
    near(gravity.vector, DOWN)
    with pytest.raises(MessageError):
        gravity.update((0.0, 0.0, 0.0), LEVEL, NOW + 0.6)
    assert gravity.is_lost(NOW + 0.6, 0.5)
    gravity.update(UP, LEVEL, NOW + 0.7)
    assert gravity.is_lost(NOW + 0.7, 0.5)
    gravity.update(UP, LEVEL, NOW + 0.8)
    assert not gravity.is_lost(NOW + 0.8, 0.5)


def test_readings_a_little_too_rare_do_not_flicker():
    gravity = MeasuredGravity(T, DOWN)
    for turn in range(1, 5):
        gravity.update(UP, LEVEL, NOW + 0.52 * turn)
        is_first = turn == 1
        assert gravity.is_lost(NOW + 0.52 * turn, 0.5) is not is_first
        assert bool(gravity.explain_loss(NOW + 0.52 * turn, 0.5)) is not is_first


def test_gravity_is_lost_where_all_readings_are_accelerated(gravity):
    for step in range(1, 61):
        now = NOW + 0.01 * step
        gravity.update((0.0, 0.0, 11.0), LEVEL, now)
        assert gravity.is_lost(now, 0.5) is (step > 50)
    assert 'reads 11 m/s^2, and gravity has 9.81' in gravity.explain_loss(now, 0.5)
    assert 'no reading for' in gravity.explain_loss(now + 1.0, 0.5)


def test_a_base_that_turns_over_leaves_no_short_vector():
    gravity = MeasuredGravity(LONGEST_GAP / np.log(2.0), DOWN)
    gravity.update(UP, LEVEL, NOW)
    gravity.update(DOWN, LEVEL, NOW + LONGEST_GAP)  # half of each
    near(gravity.vector, DOWN)


def test_the_shortest_vector_is_a_share_of_gravity():
    gravity = MeasuredGravity(LONGEST_GAP / np.log(2.0), DOWN)
    gravity.update(UP, LEVEL, NOW)
    gravity.update((0.001, 0.0, -9.81), LEVEL, NOW + LONGEST_GAP)
    near(gravity.vector, DOWN)  # half of each is 0.0005 m/s^2 along x
    gravity.update((0.1, 0.0, -9.81), LEVEL, NOW + 2.0 * LONGEST_GAP)
    assert np.linalg.norm(gravity.vector) == pytest.approx(9.81)
    assert gravity.vector[0] < -9.0


def test_a_new_memory_knows_nothing():
    memory = MeasuredGravity(T, DOWN).memory
    assert memory.filtered is None and memory.taken_at == -inf
    assert MeasuredGravity(T, DOWN, memory=GravityMemory()).received == -inf


@pytest.mark.parametrize('rotation', [LEVEL, TURNED])
@pytest.mark.parametrize('down, degrees', [
    ((0.0, 0.0, 9.81), 180), ((9.81, 0.0, 0.0), 90), ((8.58, 0.0, -4.76), 61)])
def test_a_direction_far_from_the_known_one_is_refused(rotation, down, degrees):
    gravity = MeasuredGravity(0.0, DOWN, tolerance=1.05)
    with pytest.raises(MessageError) as refusal:
        gravity.update(-rotation.T @ down, rotation, NOW, 'imu_link')
    for word in ("'imu_link'", str([*down]), str([*DOWN]), f'{degrees} degrees apart', 'allows 60',
                 'URDF', 'sign', 'parameter gravity', 'gravity_tolerance'):
        assert word in str(refusal.value)
    near(gravity.vector, DOWN)
    assert gravity.received == -inf
    gravity.update(-rotation.T @ (8.0, 0.0, -5.0), rotation, NOW)
    near(gravity.vector, np.array([8.0, 0.0, -5.0]) * 9.81 / np.hypot(8.0, 5.0))


def test_every_direction_may_be_allowed():
    near(after((NOW, DOWN), time_constant=0.0), UP)
    for initial, tolerance in ((DOWN, pi), ((0.0, 0.0, 0.0), 0.1)):
        gravity = MeasuredGravity(0.0, initial, tolerance)
        gravity.update(DOWN, LEVEL, NOW)
        near(gravity.vector, UP)
