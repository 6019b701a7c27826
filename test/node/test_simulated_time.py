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
"""The node under use_sim_time: ages and trajectories go by /clock, and a reset is a new start."""

import pytest
from rosgraph_msgs.msg import Clock
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']


@pytest.fixture
def arm(bench):
    """Return an arm in simulated time, which stands still until the test sets it."""
    arm = bench(joints=JOINTS, use_sim_time=True)
    clock = arm.peer.create_publisher(Clock, '/clock', 10)

    def set_time(seconds: int) -> None:
        message = Clock()
        message.clock.sec = seconds

        def has_come() -> bool:
            clock.publish(message)
            return arm.node.get_clock().now().nanoseconds == seconds * 10**9

        arm.until(has_come)

    arm.set_time = set_time
    arm.set_time(100)
    arm.describe(ARM)
    return arm


def status(arm) -> str:
    return arm.node._diagnostics._decision.status.name


def test_a_state_ages_by_simulated_time(arm):
    arm.answer(JOINTS, [0.0, 0.0])
    arm.settle(0.3)
    assert arm.node._policy.states.is_fresh(arm.node._steady_time())
    arm.set_time(101)
    assert not arm.node._policy.states.is_fresh(arm.node._steady_time())


def test_after_a_reset_states_are_taken_again_and_the_trajectory_is_forgotten(arm):
    arm.answer(JOINTS, [0.0, 0.0], stamp=100.0)
    arm.send_trajectory(JOINTS, [(60.0, [0.3, 0.3])])
    arm.until(lambda: arm.answer(JOINTS, [0.0, 0.0]) and status(arm) == 'FOLLOWING')
    arm.set_time(1)
    arm.answer(JOINTS, [0.0, 0.0], stamp=1.0)
    assert status(arm) == 'NO_TRAJECTORY'
