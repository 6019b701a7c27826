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
from ros2_rnea.control.inputs.measured_gravity import MeasuredGravity
from ros2_rnea.errors import MessageError
from rotations import rotation_from_rpy

T = 0.5
NOW = 30.0
UP = (0.0, 0.0, 9.81)
LEVEL = np.eye(3)
DOWN = (0.0, 0.0, -9.81)
TURNED = rotation_from_rpy((0.3, -1.2, 2.0))

pytestmark = pytest.mark.filterwarnings('error')


def after(*readings, rotation=LEVEL, time_constant=T):
    """Return gravity after readings (time, acceleration)."""
    gravity = MeasuredGravity(time_constant, DOWN)
    for time, acceleration in readings:
        gravity.update(acceleration, rotation, time)
    return gravity.vector


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, atol=1e-13)


def test_before_the_first_reading_and_with_it_gravity_is_what_it_was():
    assert MeasuredGravity(T, DOWN).vector.tolist() == list(DOWN)
    near(after((NOW, (39.0, 0.0, 0.0))), DOWN)


@pytest.mark.parametrize('rotation', [LEVEL, TURNED])
@pytest.mark.parametrize('down', [(0.0, 0.0, -9.81), (3.0, -4.0, 0.0), (0.0, 0.0, 1.62)])
def test_things_fall_away_from_what_a_resting_accelerometer_shows(rotation, down):
    reading = (NOW, -rotation.T @ down)
    near(after(reading, rotation=rotation, time_constant=0.0), down)


@pytest.mark.parametrize('gap, share', [
    (0.0, 0.0), (0.05, 1.0 - exp(-0.1)), (0.1, 1.0 - exp(-0.2)), (5.0, 1.0 - exp(-0.2)),
    (1e9, 1.0 - exp(-0.2)), (-1e-3, 0.0)])
def test_a_reading_counts_for_the_time_since_the_one_before_but_not_for_a_gap(gap, share):
    near(after((NOW, UP), (NOW + gap, (9.81, 0.0, 0.0))),
         [-9.81 * share, 0.0, -9.81 * (1.0 - share)])


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
def test_what_cannot_be_gravity_is_refused_and_what_was_known_stays(acceleration, size):
    gravity = MeasuredGravity(T, DOWN)
    gravity.update(UP, LEVEL, NOW)
    with pytest.raises(MessageError, match=rf'reads \[.*\], which is {size}.*1.5 to 40 m/s'):
        gravity.update(acceleration, LEVEL, NOW + 1.0)
    near(gravity.vector, [0.0, 0.0, -9.81])
    assert gravity.received == NOW


@pytest.mark.parametrize('acceleration', [(0.0, 0.0, 1.51), (0.0, -1.62, 0.0), (39.9, 0.0, 0.0)])
def test_weaker_and_stronger_gravity_than_on_earth_is_possible(acceleration):
    near(after((NOW, acceleration), time_constant=0.0), -np.array(acceleration))


@pytest.mark.parametrize('rotation', [nan * LEVEL, np.full((3, 3), 1e308)])
def test_axes_that_are_not_finite_are_refused(rotation):
    with pytest.raises(MessageError, match='axes of the accelerometer are .*finite'):
        after((NOW, (9.0, 9.0, 9.0)), rotation=rotation)


def test_gravity_stays_as_it_is_when_the_next_reading_comes():
    gravity = MeasuredGravity(T, DOWN)
    gravity.update(UP, LEVEL, NOW)
    first = gravity.vector
    gravity.update((5.0, 0.0, 5.0), LEVEL, NOW + 1.0)
    near(first, [0.0, 0.0, -9.81])


def test_a_successor_goes_on_from_there():
    older, newer = MeasuredGravity(T, DOWN), MeasuredGravity(2.0 * T, DOWN)
    older.update(UP, LEVEL, NOW)
    newer.adopt(older)
    near(newer.vector, [0.0, 0.0, -9.81])
    newer.update((9.81, 0.0, 0.0), LEVEL, NOW + 0.1)
    near(newer.vector, [-9.81 * (1.0 - exp(-0.1)), 0.0, -9.81 * exp(-0.1)])


@pytest.mark.parametrize('rotation', [LEVEL, TURNED])
@pytest.mark.parametrize('down, degrees', [
    ((0.0, 0.0, 9.81), 180), ((9.81, 0.0, 0.0), 90), ((9.0, 0.0, -5.0), 61)])
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
    near(gravity.vector, [8.0, 0.0, -5.0])


def test_every_direction_may_be_allowed_and_without_a_known_one_all_are():
    near(after((NOW, DOWN), time_constant=0.0), UP)
    for initial, tolerance in ((DOWN, pi), ((0.0, 0.0, 0.0), 0.1)):
        gravity = MeasuredGravity(0.0, initial, tolerance)
        gravity.update(DOWN, LEVEL, NOW)
        near(gravity.vector, UP)
