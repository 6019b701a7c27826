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
"""The joint PD loop of the simulated arm."""

import numpy as np
import pytest

from ros2_rnea.tools.simulated_driver.servo import FASTEST, gains, JointServo, RETURN, SLOWEST

SERVO = JointServo(np.array([100.0, 10.0]), np.array([5.0, 1.0]), np.array([50.0, 20.0]))
REST = np.zeros(2), np.zeros(2)


@pytest.mark.parametrize(('desired', 'feedforward', 'effort'), [
    (([0.0, 0.0], [0.0, 0.0]), [0.0, 0.0], [0.0, 0.0]),
    (([0.1, 0.0], [0.0, 0.0]), [0.0, 0.0], [10.0, 0.0]),
    (([0.0, 0.0], [1.0, -2.0]), [0.0, 0.0], [5.0, -2.0]),
    (([0.1, 0.0], [0.0, 0.0]), [7.0, 8.0], [17.0, 8.0]),
    (([1.0, -9.0], [0.0, 0.0]), [0.0, 0.0], [50.0, -20.0]),
])
def test_effort_is_feedback_plus_feedforward_within_the_limits(desired, feedforward, effort):
    desired = tuple(map(np.array, desired))
    assert SERVO.effort(REST, desired, np.array(feedforward)) == pytest.approx(np.array(effort))


def test_feedback_pulls_the_arm_back():
    measured = np.array([0.1, 0.0]), np.array([0.0, 3.0])
    assert SERVO.effort(measured, REST, np.zeros(2)) == pytest.approx(np.array([-10.0, -3.0]))


def frequencies(inertia, stiffness):
    """Return natural frequencies [rad/s]."""
    return np.sqrt(stiffness / np.array(inertia))


def test_the_lighter_a_joint_the_faster_up_to_a_limit():
    inertia = [2.0, 2.0 / 16.0, 1e-6]
    stiffness, damping = gains(np.diag(inertia), np.diag(inertia)[None], np.zeros(3))
    assert frequencies(inertia, stiffness) == pytest.approx([SLOWEST, 2.0 * SLOWEST, FASTEST])
    assert damping == pytest.approx(1.4 * np.sqrt(stiffness * inertia))


def test_gains_hold_back_where_joints_give_way_to_each_other():
    apart, in_line = np.eye(2), np.array([[1.0, 0.99], [0.99, 1.0]])
    easy, _ = gains(apart, apart[None], np.zeros(2))
    careful, damping = gains(apart, np.array([apart, in_line]), np.zeros(2))
    assert np.all(careful < 0.2 * easy)
    # What a loop that is sampled once a millisecond bears.
    assert np.linalg.eigvals(np.linalg.solve(in_line, np.diag(damping))).real.max() < 1000.0


def test_a_strongly_damped_joint_is_stiff_enough_to_return():
    inertia = np.diag([2.0, 1e-4])
    free, damping = gains(inertia, inertia[None], np.zeros(2))
    damped, the_same = gains(inertia, inertia[None], np.array([1.0, 1.0]))
    assert damped.tolist() == [free[0], RETURN * 1.0]
    assert the_same.tolist() == damping.tolist()
