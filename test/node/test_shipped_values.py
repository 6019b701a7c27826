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
"""A node with the values that it is shipped with, from its start to a hand that moves the arm."""

from itertools import pairwise

from node_bench import AT_ONCE
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.output.rate_limit import effort_rate_limits
from ros2_rnea.node.parameters import BY_NAME
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
ROBOT = Robot.from_urdf(ARM)
SHIPPED = {name: BY_NAME[name].initial for name in AT_ONCE}


class Arm:
    """An arm that is where it is put, however it is driven."""

    def __init__(self, bench) -> None:
        self.bench, self.q = bench, np.array([0.4, 0.3])
        self.sent: list[tuple[float, np.ndarray]] = []  # with the time of each [s]

    @property
    def status(self) -> str:
        return self.bench.status().name

    def effort(self) -> np.ndarray:
        """Tell the node where the arm is, and return what it answers."""
        effort = np.array(self.bench.answer(JOINTS, self.q.tolist(), [0.0, 0.0]))
        self.sent.append((self.bench.node.policy.memory.sent.at, effort))
        return effort

    def streams(self, offset: float) -> None:
        """Send one of the points of a stream."""
        goal = (self.q[0] + offset, self.q[1])
        self.bench.send_trajectory(JOINTS, [(0.1, goal, (0.0, 0.0))])

    def until(self, *statuses: str, stream: float | None = None) -> None:
        """Go on, maybe with a stream of points, until it is held in one of some statuses."""
        def is_held() -> bool:
            if stream is not None:
                self.streams(stream)
            return np.allclose(self.effort(), ROBOT.gravity(self.q), atol=1e-3) and (
                self.status in statuses)

        self.bench.until(is_held)


def test_start_streaming_and_guiding_make_no_step(bench):
    arm = Arm(bench(joints=JOINTS, state_timeout=5.0, position_loop='present', **SHIPPED))
    arm.bench.describe(ARM)
    assert np.abs(arm.effort()).max() < 0.1
    arm.until('NO_TRAJECTORY')
    arm.until('FOLLOWING', 'HOLDING_END', stream=0.0)
    deviations = ('PATH_DEVIATION', 'GOAL_DEVIATION')
    arm.until(*deviations, stream=1.2)  # farther than path_tolerance from an arm that is blocked
    for _ in range(50):
        arm.q += (0.02, -0.02)
        arm.effort()
        assert arm.status in deviations
    arm.until(*deviations)
    assert not arm.bench.refused('joint_states')
    there, arm.q = arm.q, arm.q - (0.0, 1.0)  # a disturbance on the bus
    arm.bench.state(JOINTS, arm.q.tolist(), [0.0, 0.0])
    arm.bench.until(lambda: arm.bench.refused('joint_states') == 1)
    arm.q = there
    arm.until(*deviations)
    rates = effort_rate_limits(ROBOT.effort_limits)
    for (before, one), (after, other) in pairwise(arm.sent):
        assert (np.abs(other - one) <= rates * (after - before) + 1e-9).all()
