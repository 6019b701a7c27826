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

"""Joint states with gaps, or with positions that cannot be: which efforts are sent for them."""

from math import inf

import numpy as np
import pytest
from ride import ARM_ROBOT, GRAVITY, in_motion, JOINTS, PERIOD, Q, Ride
from ros2_rnea.control.decision import Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.errors import MessageError


# ---- positions that cannot be -------------------------------------------------------------------


def test_a_glitch_changes_nothing_a_new_place_is_blended_in():
    ride = Ride(plausible_speed_factor=3.0, effort_rate_limit=inf).go(1.0)
    far = (Q[0], Q[1] + 1.0)
    for count in range(200):
        ride.time += PERIOD
        q = far if count % 50 == 0 else Q
        try:
            ride.policy.take_joint_state(MeasuredJoints(JOINTS, q), ride.now)
        except MessageError:
            assert q is far
        ride.sent.append(ride.policy.decide(ride.now).effort)
    np.testing.assert_allclose(ride.sent[-200:], np.tile(GRAVITY, (200, 1)))
    for believed in (False, False, True):
        ride.time += PERIOD
        message = MeasuredJoints(JOINTS, far)
        if believed:
            ride.policy.take_joint_state(message, ride.now)
        else:
            with pytest.raises(MessageError, match='elbow'):
                ride.policy.take_joint_state(message, ride.now)
    ride.go(PERIOD, far)
    ride.is_at(GRAVITY)
    ride.go(0.6, far).is_at(ARM_ROBOT.gravity(far))


def test_refused_positions_do_not_keep_the_state_fresh():
    ride = Ride(plausible_speed_factor=3.0).go(1.0)
    for count in range(200):
        ride.time += PERIOD
        with pytest.raises(MessageError):
            ride.policy.take_joint_state(
                MeasuredJoints(JOINTS, (Q[0] - 9.0 * (-1.0)**count, Q[1])), ride.now)
        decision = ride.policy.decide(ride.now)
    assert decision.status is Status.STALE


# ---- gaps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize('plausible_speed_factor', [0.0, 3.0])
@pytest.mark.parametrize('gap', [0.055, 0.09])
def test_after_a_gap_gravity_is_that_of_the_new_place(gap, plausible_speed_factor):
    """It has its full weight in every cycle: another one would be wrong for longer."""
    ride = Ride(plausible_speed_factor=plausible_speed_factor).go(2.0)
    for place in (Q[1] + 0.3, Q[1]):
        ride.time += gap - PERIOD
        there = (Q[0], place)
        ride.go(PERIOD, there).is_at(ARM_ROBOT.gravity(there))


def test_after_a_noticed_gap_the_effort_is_handed_over():
    """The arm was braked meanwhile, with what it held at its last state."""
    ride = Ride(effort_rate_limit=inf).go(2.0).go(0.12, measured=False)
    assert ride.decision.status is Status.STOPPING
    there = (Q[0], Q[1] + 0.3)
    ride.go(PERIOD, there).is_at(GRAVITY)
    ride.go(0.6, there).is_at(ARM_ROBOT.gravity(there))


@pytest.mark.parametrize('order', [JOINTS, JOINTS[::-1]])
def test_after_a_gap_either_publisher_may_be_first(order):
    ride = Ride(effort_rate_limit=inf, plausible_speed_factor=3.0).go(2.0)
    ride.time += 0.09
    there = dict(zip(JOINTS, (Q[0], Q[1] + 0.3)))
    for name in order:
        ride.policy.take_joint_state(MeasuredJoints([name], [there[name]]), ride.now)
    np.testing.assert_allclose(
        ride.policy.decide(ride.now).effort, ARM_ROBOT.gravity([*there.values()]), rtol=1e-12)


@pytest.mark.parametrize('gap, distance', [(0.04, 0.2), (0.09, 0.05)])
def test_a_short_gap_or_way_delays_no_effort(gap, distance):
    ride = Ride(effort_rate_limit=inf, plausible_speed_factor=3.0).go(2.0)
    ride.time += gap
    there = (Q[0], Q[1] + distance)
    ride.go(PERIOD, there).is_at(ARM_ROBOT.gravity(there))


@pytest.mark.parametrize('regular', [0, 50])
def test_slow_states_with_many_gaps_delay_no_effort(regular):
    """A blend for each of them would never let an effort be reached."""
    ride = Ride(effort_rate_limit=inf, plausible_speed_factor=3.0).go(2.0)
    for step in range(20):
        ride.time += 0.068
        there = (Q[0], Q[1] + 0.3 * (step % 2))
        ride.go(PERIOD, there)
        ride.go(PERIOD * regular, there)
        if step > 10:
            ride.is_at(ARM_ROBOT.gravity(there))


def test_a_gap_is_told_with_length_and_parameter():
    ride = in_motion().go(0.35, measured=False)
    assert ride.decision.status is Status.STALE
    assert 'none for 0.35 s, and state_timeout is 0.1 s' in ride.decision.detail


def test_the_return_of_joint_states_is_blended():
    ride = Ride().go(1.0).go(1.0, measured=False)
    assert ride.decision.status is Status.STALE
    ride.go(PERIOD, q=(1.0, 1.0)).is_at(GRAVITY)
    ride.go(0.6, q=(1.0, 1.0)).is_at(ARM_ROBOT.gravity([1.0, 1.0]))


def test_after_a_jump_of_time_the_state_is_stale():
    ride = in_motion()
    ride.time = 1.0
    assert ride.go(0.1, measured=False).decision.status is Status.STALE
