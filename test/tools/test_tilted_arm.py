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
"""An arm on a wall in MuJoCo whose own controller compensates gravity as if it stood upright."""

from __future__ import annotations

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.output.start_effort import Evidence, Receiver
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.robots.sent_terms import Arm
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea.trajectories.ros_time import RosTime

mujoco = pytest.importorskip('mujoco')

POSE = np.array([0.1, -0.4, 0.2, -1.8, 0.1, 1.6, 0.3])
ON_THE_WALL, UPRIGHT = (9.81, 0.0, 0.0), (0.0, 0.0, -9.81)
SECONDS = 0.5


def moved(settings: Settings, receiver: Receiver = Receiver.NONE) -> float:
    """Return how far a joint is from where it started, after some time in gravity compensation."""
    robot = Robot.from_urdf(seven_dof_arm())
    policy = Policy(robot, settings)
    policy.evidence = Evidence(receiver)
    model = mujoco.MjModel.from_xml_string(seven_dof_arm())
    model.opt.gravity[:] = ON_THE_WALL
    model.opt.timestep = 0.001
    model.dof_frictionloss[:] = 0.0  # which would hold an arm that is nearly balanced
    model.dof_damping[:] = 0.0
    data = mujoco.MjData(model)
    data.qpos[:] = POSE
    while data.time < SECONDS:
        now = Instant(data.time, RosTime.from_seconds(data.time))
        q = data.qpos.copy()
        policy.take_joint_state(MeasuredJoints(settings.joints, q, data.qvel.copy()), now)
        by_the_arm = robot.gravity(q, UPRIGHT)
        data.qfrc_applied[:] = policy.decide(now).effort + by_the_arm
        mujoco.mj_step(model, data)
    return float(np.abs(data.qpos - POSE).max())


@pytest.mark.parametrize('settings, least, most', [
    ({'arm': Arm.FRANKA, 'arm_gravity': UPRIGHT}, 0.0, 1e-6),
    ({'arm': Arm.UR}, 0.1, np.inf)], ids=['sent the difference', 'sent nothing'])
def test_only_with_the_difference_in_gravity_the_arm_stays(settings, least, most):
    joints = Robot.from_urdf(seven_dof_arm()).joint_names
    way = moved(Settings(
        joints=joints, mode=Mode.GRAVITY_COMPENSATION, gravity=ON_THE_WALL, blend_time=0.0,
        effort_rate_limit=np.inf, state_timeout=9.0, **settings))
    assert least <= way <= most


@pytest.mark.parametrize('receiver, least, most', [
    (Receiver.ARM_HOLDS_ITSELF, 0.0, 1e-6), (Receiver.NEW, 0.1, np.inf)],
    ids=['the whole difference at first', 'blended from zero'])
def test_an_arm_stays_only_with_the_whole_difference_at_first(receiver, least, most):
    joints = Robot.from_urdf(seven_dof_arm()).joint_names
    way = moved(Settings(
        joints=joints, mode=Mode.GRAVITY_COMPENSATION, gravity=ON_THE_WALL, blend_time=SECONDS,
        state_timeout=9.0, arm=Arm.FRANKA, arm_gravity=UPRIGHT), receiver)
    assert least <= way <= most
