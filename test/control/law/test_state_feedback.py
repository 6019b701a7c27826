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
"""The acceleration that corrects an error, and the oscillator that it makes of a joint."""

from math import exp, pi, tau

import numpy as np
import pytest
from ros2_rnea.control.law.state_feedback import GainMemory, StateFeedback
from ros2_rnea.errors import ArgumentError

JOINTS = ('shoulder', 'elbow')
NONE = np.zeros(2)


def feedback(position_gains=(100.0, 25.0), velocity_gains=(20.0, 10.0), continuous=(False, False)):
    return StateFeedback(JOINTS, position_gains, velocity_gains, continuous)


@pytest.mark.parametrize('desired, measured, acceleration', [
    (((0.0, 0.0), (0.0, 0.0)), ((0.0, 0.0), (0.0, 0.0)), (0.0, 0.0)),
    (((0.2, 0.0), (0.0, 0.0)), ((0.1, 0.0), (0.0, 0.0)), (10.0, 0.0)),
    (((0.0, 0.0), (0.0, 0.5)), ((0.0, 0.0), (0.0, 0.1)), (0.0, 4.0)),
    (((0.0, 7.0), (1.0, 0.0)), ((0.0, 0.0), (0.0, 1.0)), (20.0, 165.0)),
])
def test_errors_times_gains(desired, measured, acceleration):
    found = feedback().acceleration(*np.array(desired), *np.array(measured))
    np.testing.assert_allclose(found, acceleration, rtol=1e-12)


def test_one_gain_serves_all_joints():
    one, each = feedback((4.0,), (3.0,)), feedback((4.0, 4.0), (3.0, 3.0))
    errors = np.random.default_rng(1).standard_normal((4, 2))
    assert one.acceleration(*errors).tolist() == each.acceleration(*errors).tolist()


def test_a_joint_that_turns_without_end_goes_the_shorter_way():
    turned = feedback(continuous=(True, False)).acceleration(
        np.array([pi - 0.1, 0.0]), NONE, np.array([0.1 - pi, 0.0]) + tau * 3, NONE)
    np.testing.assert_allclose(turned, [-20.0, -25.0 * tau * 3], rtol=1e-9)


def test_gains_of_k_squared_and_twice_k_damp_critically():
    """The step response of q̈ = k² (1 − q) − 2 k q̇ is 1 − (1 + k t) exp(−k t)."""
    one, q, qd, step = feedback((25.0,), (10.0,)), np.zeros(2), np.zeros(2), 2e-4
    for _ in range(2000):
        qd = qd + step * one.acceleration(np.ones(2), NONE, q, qd)
        q = q + step * qd
    assert q[0] == pytest.approx(1.0 - 3.0 * exp(-2.0), abs=1e-3)


@pytest.mark.parametrize('duration, share', [(0.0, 0.0), (0.5, 1.0)])
def test_other_gains_come_gradually_in_a_hand_over(duration, share):
    memory, before, after = GainMemory(), feedback(), feedback((50.0, 25.0), (4.0, 10.0))
    before.gains(memory, 1.0, duration)
    at_once = after.gains(memory, 1.0, duration)
    later = after.gains(memory, 9.0, duration)
    np.testing.assert_allclose(later, [[50.0, 25.0], [4.0, 10.0]], rtol=1e-3)
    np.testing.assert_allclose(at_once - later, share * np.array([[50.0, 0.0], [16.0, 0.0]]),
                               rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize('gains', [(), (1.0, 2.0, 3.0)])
@pytest.mark.parametrize('which', ['position_gains', 'velocity_gains'])
def test_another_number_of_gains_is_refused_with_the_joints(which, gains):
    with pytest.raises(ArgumentError, match=rf'^{which} has {len(gains)} .* 2, .*shoulder, elbow'):
        feedback(**{which: gains})
