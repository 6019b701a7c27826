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
"""The node's commands, through real messages."""

from math import nan

import numpy as np
import pytest
from ros2_rnea import Robot
from small_robots import ARM, ARM_WITH_GRIPPER, BALANCED, ROVER
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS = ['elbow', 'shoulder']  # not the order of the description
Q = {'shoulder': 0.3, 'elbow': -0.8}


def gravity(q=Q):
    """Return the arm's gravity effort in the order of JOINTS."""
    tau = Robot.from_urdf(ARM).gravity([q['shoulder'], q['elbow']])
    return [tau[1], tau[0]]


def test_joint_states_are_answered_in_the_order_of_the_parameter(bench):
    arm = bench(joints=JOINTS, mode='gravity_compensation')
    arm.describe(ARM)
    for _ in range(5):
        arm.answer(['shoulder', 'elbow'], [Q['shoulder'], Q['elbow']])
    arm.until(lambda: len(arm.commands) == 5)
    np.testing.assert_allclose(arm.commands, [gravity()] * 5, rtol=1e-12)
    assert list(arm.efforts[0].name) == JOINTS


def test_order_and_extra_names_of_joint_states_do_not_matter(bench):
    arm = bench(joints=JOINTS, mode='gravity_compensation')
    arm.describe(ARM)
    effort = arm.answer(['wheel', 'elbow', 'shoulder'], [9.0, Q['elbow'], Q['shoulder']])
    np.testing.assert_allclose(effort, gravity(), rtol=1e-12)


def test_effort_carries_the_stamp_of_the_state_it_answers(bench):
    arm = bench(joints=JOINTS)
    arm.describe(ARM)
    arm.answer(['shoulder', 'elbow'], [0.0, 0.0], stamp=12.25)
    stamp = arm.efforts[-1].header.stamp
    assert (stamp.sec, stamp.nanosec) == (12, 250000000)


def test_partial_states_are_merged_and_wait_for_every_controlled_joint(bench):
    arm = bench(joints=JOINTS, mode='gravity_compensation', state_timeout=9.0)
    arm.describe(ARM)
    arm.state(['shoulder'], [Q['shoulder']])
    arm.settle()
    assert not arm.efforts
    assert 'WAITING' in str(arm.status())
    effort = arm.answer(['elbow'], [Q['elbow']])
    np.testing.assert_allclose(effort, gravity(), rtol=1e-12)


def test_a_grippers_message_triggers_no_command(bench):
    arm = bench(joints=['shoulder', 'elbow'], state_timeout=9.0, state_depth=10)
    arm.describe(ARM_WITH_GRIPPER)
    arm.state(['grip'], [0.02])
    arm.answer(['shoulder', 'elbow'], [0.1, 0.2])
    count = len(arm.efforts)
    arm.state(['grip'], [0.03])
    arm.settle()
    assert len(arm.efforts) == count


def test_an_unmeasured_gripper_needs_an_assumed_position(bench):
    arm = bench(joints=['shoulder', 'elbow'], state_timeout=9.0)
    arm.describe(ARM_WITH_GRIPPER)
    arm.state(['shoulder', 'elbow'], [0.1, 0.2])
    arm.until(lambda: ' (grip); ' in arm.report().message)
    assert not arm.efforts
    assert 'assumed_positions.grip' in arm.report().message

    assert arm.set_parameter('assumed_positions.grip', 0.04).successful
    effort = arm.answer(['shoulder', 'elbow'], [0.1, 0.2])
    expected = Robot.from_urdf(ARM_WITH_GRIPPER).gravity([0.1, 0.2, 0.04])[:2]
    np.testing.assert_allclose(effort, expected, rtol=1e-12)


def test_an_assumed_position_from_the_parameter_file_counts(bench):
    rover = bench(joints=['pan'], assumed_positions__drive=[1.0, 2.0, 0.5])
    rover.describe(ROVER)
    effort = rover.answer(['pan'], [0.7])
    expected = Robot.from_urdf(ROVER).gravity([1.0, 2.0, 0.5, 0.7])[3]
    np.testing.assert_allclose(effort, [expected], rtol=1e-12)


def test_without_joints_effort_is_named_and_commands_stay_silent(bench):
    arm = bench(mode='gravity_compensation')
    arm.describe(ARM)
    arm.answer(['shoulder', 'elbow'], [Q['shoulder'], Q['elbow']])
    arm.settle()
    assert list(arm.efforts[-1].name) == ['shoulder', 'elbow']
    assert not arm.commands


def test_commands_stop_with_the_joint_states_and_come_back(bench):
    arm = bench(joints=JOINTS, state_timeout=0.05)
    arm.describe(ARM)
    arm.answer(['shoulder', 'elbow'], [0.0, 0.0])
    arm.until(lambda: any(b'\x03' == d.level for d in arm.diagnostics))
    count = len(arm.efforts)
    arm.state(['shoulder'], [0.0])  # one of two joints is not enough
    arm.settle()
    assert len(arm.efforts) == count
    arm.answer(['shoulder', 'elbow'], [0.0, 0.0])


@pytest.mark.parametrize('names, positions, velocities', [
    (['shoulder', 'elbow'], [nan, 0.0], []),
    (['shoulder', 'elbow'], [0.0], []),
    (['shoulder', 'elbow'], [0.0, 0.0], [1.0]),
    (['shoulder', 'shoulder'], [0.0, 0.0], []),
])
def test_a_bad_state_is_refused_and_counted(bench, names, positions, velocities):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.answer(['shoulder', 'elbow'], [0.0, 0.0])
    count = len(arm.efforts)
    arm.state(names, positions, velocities)
    arm.until(lambda: arm.refused('joint_states') == 1)
    arm.until(lambda: any('joint_states' == v.key for d in arm.diagnostics for v in d.values))
    assert len(arm.efforts) == count
    arm.answer(['shoulder', 'elbow'], [0.0, 0.0])


def test_an_effort_is_cut_to_the_limit_times_the_factor(bench):
    arm = bench(joints=JOINTS)
    arm.describe(ARM)
    arm.answer(['shoulder', 'elbow'], BALANCED)  # an arm that cannot be held is not started
    assert arm.set_parameter('effort_limit_factor', 0.01).successful
    effort = arm.answer(['shoulder', 'elbow'], [2.5, 0.0])
    np.testing.assert_allclose(np.abs(effort), [0.4, 1.0])
    arm.until(lambda: any('effort' == v.key for d in arm.diagnostics for v in d.values))


def test_gravity_can_be_tilted(bench):
    arm = bench(joints=JOINTS, gravity=[9.81, 0.0, 0.0])
    arm.describe(ARM)
    effort = arm.answer(['elbow', 'shoulder'], [0.2, 0.4])
    tau = Robot.from_urdf(ARM).gravity([0.4, 0.2], gravity=[9.81, 0.0, 0.0])
    np.testing.assert_allclose(effort, tau[::-1], rtol=1e-12)


def test_enable_stops_and_starts_the_commands(bench):
    arm = bench(joints=JOINTS)
    arm.describe(ARM)
    arm.answer(['shoulder', 'elbow'], [0.0, 0.0])
    reply = arm.call(SetBool, 'enable', data=False)
    held = ', '.join(f'{joint} {effort:.3f}' for joint, effort in zip(
        JOINTS, arm.efforts[-1].effort))
    assert reply.success and held in reply.message and 'without a timeout' in reply.message
    arm.settle(0.3)
    count = len(arm.efforts)
    arm.state(['shoulder', 'elbow'], [0.0, 0.0])
    arm.settle()
    assert len(arm.efforts) == count
    assert arm.call(SetBool, 'enable', data=True).success
    arm.answer(['shoulder', 'elbow'], [0.0, 0.0])


def test_with_a_rate_commands_come_at_that_rate(bench):
    arm = bench(joints=JOINTS, rate=100.0, state_timeout=5.0)
    arm.describe(ARM)
    arm.state(['shoulder', 'elbow'], [0.0, 0.0])
    arm.until(lambda: len(arm.commands) >= 20)
    assert len(arm.efforts) >= 19


def test_namespaces_keep_two_robots_apart(bench):
    left, right = (
        bench(namespace=f'/{side}', joints=JOINTS) for side in ('left', 'right'))
    left.describe(ARM)
    right.describe(ARM)
    left.answer(['shoulder', 'elbow'], [0.3, 0.2])
    right.settle()
    assert not right.efforts
