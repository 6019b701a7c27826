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

"""Measured wrenches that end: by a timeout, by zeroing them, or with the time that is reset."""

from math import inf

import numpy as np
import pytest
from ride import ARM_ROBOT, GRAVITY, PERIOD, Q, Ride
from wrench_settings import COMPENSATED_AT_ONCE

PUSH = np.array([0.0, 2.0, 0.0, 3.0, 0.0, 1.0])


@pytest.mark.parametrize('age, share', [
    (0.09, 1.0), (0.11, 0.99275), (0.2, 0.5), (0.29, 0.00725), (0.32, 0.0), (2.0, 0.0)])
def test_a_wrench_that_stops_fades(age, share):
    """It counts for 0.1 s and fades in another 0.2 s."""
    ride = Ride(blend_time=0.0, effort_rate_limit=inf, **COMPENSATED_AT_ONCE)
    ride.policy.take_wrench('tool', PUSH, ride.now)
    ride.go(age)
    still = np.zeros(2)
    full = ARM_ROBOT.inverse_dynamics(Q, still, still, f_ext={'tool': PUSH}) - GRAVITY
    np.testing.assert_allclose(ride.sent[-1] - GRAVITY, share * full, atol=1e-3 * abs(full).max())


def test_zeroing_a_wrench_makes_no_step():
    ride = Ride(effort_rate_limit=inf, wrench_timeout=60.0, **COMPENSATED_AT_ONCE)
    ride.policy.take_wrench('tool', PUSH, ride.now)
    before = ride.go(1.0).sent[-1]
    assert ride.policy.zero_wrench(ride.now) == ('tool',)
    ride.go(PERIOD).is_at(before)
    ride.go(0.6).is_at(GRAVITY)


def test_a_wrench_from_before_a_time_reset_does_not_count():
    ride = Ride(wrench_timeout=60.0, **COMPENSATED_AT_ONCE).go(1.0)
    ride.policy.take_wrench('tool', PUSH, ride.now)
    came = ride.time
    assert np.abs(ride.go(1.0).sent[-1] - GRAVITY).max() > 0.1
    ride.policy.reset_after_time_jump()
    ride.time = came - 1.0
    ride.go(2.0).is_at(GRAVITY)
