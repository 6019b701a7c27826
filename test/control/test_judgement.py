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
"""Whether an arm is held with a payload whose model is still to be built."""

import numpy as np
import pytest
from random_robots import random_states, random_tree
from ros2_rnea import Robot
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.judgement import effort_of_payloads, lost_bound
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.robot_joints import RobotJoints
from ros2_rnea.control.settings import Settings, StartFrom
from ros2_rnea.errors import UnsafeChangeError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.sent_terms import Arm
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM

KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating')
DOWN = (0.0, 0.0, -9.81)
LIMITS = np.array([100.0, 40.0])


@pytest.mark.parametrize('seed', range(10))
def test_the_effort_of_payloads_is_what_they_add(seed):
    rng = np.random.default_rng(seed)
    data = random_tree(seed, kinds=KINDS, mimics=1)
    robot = Robot.from_urdf(data.urdf())
    q, _, _ = random_states(seed, data.columns())
    gravity = rng.normal(0.0, 10.0, 3)
    links = rng.choice(robot.link_names, 3).tolist()
    payloads = {f'{at} {link}': (link, Inertial(
        rng.uniform(0.1, 5.0), Pose(tuple(rng.normal(0.0, 0.3, 3)), tuple(rng.normal(size=3))),
        (0.1, 0.01, 0.0, 0.1, 0.0, 0.1))) for at, link in enumerate((*links, links[0]))}
    carrying = robot
    for name, payload in payloads.items():
        carrying = carrying.with_payload(name, *payload)
    expected = carrying.gravity(q, gravity) - robot.gravity(q, gravity)
    found = effort_of_payloads(robot, payloads, gravity, q)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize('settings, sent', [
    ({}, DOWN), ({'arm': Arm.FRANKA}, (0.0, 0.0, 0.0)),
    ({'gravity': (9.81, 0.0, 0.0), 'arm': Arm.FRANKA, 'arm_gravity': DOWN}, (9.81, 0.0, 9.81))])
def test_of_a_coming_payload_only_what_is_sent_counts(settings, sent):
    joints, q = ['shoulder', 'elbow'], [0.3, -0.8]
    policy = Policy(AdjustableRobot.of(Robot.from_urdf(ARM)), Settings(
        joints=tuple(joints), blend_time=0.0, start_from=StartFrom.ZERO, **settings))
    now = Instant(1.0, RosTime(1))
    policy.take_joint_state(MeasuredJoints(joints, q, (0.0, 0.0)), now)
    policy.decide(now)
    assert policy.is_sending
    held = policy.robot.gravity(q, sent)  # linear in gravity, as is what is left out of it
    of_a_kilogram = effort_of_payloads(
        policy.robot, {'box': ('tool', Inertial(1.0))}, np.array(sent), np.array(q))
    if not of_a_kilogram.any():
        policy.check_held(coming={'box': ('tool', Inertial(1e6))})
        return
    most = ((LIMITS - np.sign(of_a_kilogram) * held) / np.abs(of_a_kilogram)).min()
    policy.check_held(coming={'box': ('tool', Inertial(0.999 * most))})
    with pytest.raises(UnsafeChangeError, match='needs'):
        policy.check_held(coming={'box': ('tool', Inertial(1.001 * most))})


@pytest.mark.parametrize('limits, lost', [
    ('lower="-3" upper="3" velocity="2"', ''),
    ('lower="-9" upper="2.9" velocity="0.1"', ''),
    ('lower="3" upper="-3" velocity="2"', 'the range -3 to 3'),
    ('lower="1" upper="1" velocity="2"', 'the range -3 to 3'),
    ('lower="-3" velocity="2"', 'the range -3 to 3'),
    ('lower="-inf" upper="3" velocity="2"', 'the range -3 to 3'),
    ('lower="-3" upper="3" velocity="-1"', 'the velocity limit 2'),
    ('lower="-3" upper="3" velocity="0"', 'the velocity limit 2'),
    ('lower="-3" upper="3" velocity="inf"', 'the velocity limit 2')])
def test_a_bound_is_lost_where_none_is_left_of_it(limits, lost):
    before, after = (RobotJoints(AdjustableRobot.of(Robot.from_urdf(urdf)), (), {}) for urdf in (
        ARM, ARM.replace('lower="-3" upper="3" effort="40.0" velocity="2"',
                         f'effort="40.0" {limits}')))
    assert lost_bound(after, before) == ('elbow' if lost else '', lost)
    assert lost_bound(before, after) == ('', '')
