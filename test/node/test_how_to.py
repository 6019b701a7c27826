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
"""The example that the page on MoveIt shows: trajectories are filled by a real node."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from rclpy.node import Node
from repository import script
from ros2_rnea import Robot
from small_robots import ARM
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytest.importorskip('ros2_rnea_interfaces.srv')

JOINTS = ['shoulder', 'elbow']


class MoveGroup:
    """Stands for the action client: it keeps the goal, and says that it was reached."""

    def __init__(self, node, action_type, name) -> None:
        self.goals = []
        MoveGroup.last = self
        self.name = name

    def wait_for_server(self, timeout_sec: float) -> bool:
        return timeout_sec > 0.0

    def send_goal_async(self, goal):
        self.goals.append(goal)
        result = SimpleNamespace(result=SimpleNamespace(error_code=SimpleNamespace(val=1)))
        return SimpleNamespace(get_result_async=lambda: result)


@pytest.fixture
def example(monkeypatch):
    """Load the example, with stand-ins for MoveIt's messages."""
    messages = SimpleNamespace(
        ExecuteTrajectory=SimpleNamespace(Goal=SimpleNamespace), RobotTrajectory=SimpleNamespace)
    for name in ('moveit_msgs', 'moveit_msgs.action', 'moveit_msgs.msg'):
        monkeypatch.setitem(sys.modules, name, messages)
    return script('docs/how-to/plan_fill_execute.py')


@pytest.fixture
def user():
    """Give a node of a user's own."""
    node = Node('user', namespace='/robot')
    yield node
    node.destroy_node()


def motion(seconds: int) -> JointTrajectory:
    """Return a motion from rest to rest, as planners time it."""
    rest = [0.0, 0.0]
    ends = [(0, [0.0, 0.0]), (seconds, [0.4, -0.3])]
    trajectory = JointTrajectory(joint_names=JOINTS)
    for at, positions in ends:
        point = JointTrajectoryPoint(positions=positions, velocities=rest, accelerations=rest)
        point.time_from_start.sec = at
        trajectory.points.append(point)
    return trajectory


def test_a_planned_motion_comes_back_with_efforts(bench, example, user, monkeypatch):
    monkeypatch.setattr(example, 'FILL', '/robot/inverse_dynamics/fill_trajectory_efforts')
    node = bench(joints=JOINTS)
    node.describe(ARM)
    whole = example.filled(user, motion(2))
    assert [len(point.effort) for point in whole.points] == [2] * len(whole.points)
    assert list(whole.points[-1].effort) == pytest.approx(
        list(Robot.from_urdf(ARM).gravity([0.4, -0.3])))


def test_a_motion_beyond_the_limits_is_not_returned(bench, example, user, monkeypatch):
    monkeypatch.setattr(example, 'FILL', '/robot/inverse_dynamics/fill_trajectory_efforts')
    node = bench(joints=JOINTS, effort_limit_factor=0.01)
    node.describe(ARM)
    with pytest.raises(RuntimeError, match='the effort of shoulder would be .* at no speed'):
        example.filled(user, motion(2))


def test_the_filled_trajectory_itself_is_executed(example, user, monkeypatch):
    monkeypatch.setattr(example, 'ActionClient', MoveGroup)
    monkeypatch.setattr(example, '_awaited', lambda node, future: future)
    trajectory = motion(2)
    assert example.execute(user, trajectory) == 1
    assert MoveGroup.last.name == '/execute_trajectory'
    assert MoveGroup.last.goals[0].trajectory.joint_trajectory is trajectory
