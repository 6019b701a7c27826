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

from ros2_rnea.tools.simulated_driver.servo import JointServo

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
