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
"""What is remembered when a policy goes on with another model or other joints."""

from dataclasses import fields

import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.control.decision import Cause, State, Status
from ros2_rnea.control.inputs.dead_man_switch import DeadManMemory
from ros2_rnea.control.inputs.external_effort import ExternalMemory
from ros2_rnea.control.inputs.joint_states import JointMemory
from ros2_rnea.control.inputs.measured_gravity import GravityMemory
from ros2_rnea.control.inputs.plausibility import PlausibilityMemory
from ros2_rnea.control.inputs.wrenches import WrenchesMemory
from ros2_rnea.control.memory import Memory, Rest
from ros2_rnea.control.output.start_effort import Evidence, Receiver
from ros2_rnea.control.robot_joints import RobotJoints
from ros2_rnea.control.settings import Settings
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER

COPIED = ('gravity', 'wrenches', 'dead_man', 'external', 'instability')
"""Parts of which each policy has its own, also for the same joints."""

NAMES = 'root', 'robot'
"""Parts that are those of the new model."""


def joints_of(names=('shoulder', 'elbow'), urdf=ARM):
    return RobotJoints(AdjustableRobot.of(Robot.from_urdf(urdf)), names, {})


def remembered(joints):
    """Return the memory of an arm that moves, of which each part differs from the first one."""
    memory, names = Memory.of(joints), joints.measured
    n = len(joints.controlled)
    memory.joints, memory.plausibility = JointMemory.of(names), PlausibilityMemory.of(names)
    memory.joints.recent[:] = 1.0 + np.arange(len(names))
    memory.joints.efforts[:] = 7.0
    memory.plausibility.agreeing[:] = 1 + np.arange(len(names))
    memory.external = ExternalMemory.of(joints.controlled)
    memory.external.observer.estimate.value = 0.1 * (1.0 + np.arange(n))
    memory.gravity, memory.wrenches = GravityMemory(norm=9.7), WrenchesMemory()
    memory.wrenches.lost_biases = frozenset({'tool'})
    memory.dead_man, memory.settings = DeadManMemory(1, 3.0), Settings()
    sent = memory.sent
    sent.effort, sent.has_start, sent.is_sending = 10.0 * (1.0 + np.arange(n)), True, True
    sent.at, sent.since = 3.0, 1.0
    memory.hand_over.difference, memory.rest.velocities = np.ones(n), np.ones(n)
    memory.supervisor.state, memory.supervisor.latch = State.FAULT, Cause(Status.CONTACT)
    memory.period.value = 0.004
    memory.motion.awaits_reference, memory.motion.changes = True, 4
    memory.trips.fast, memory.pending.hand_over = 2, 0.3
    memory.wrench_fade.share, memory.gains.used = 0.5, np.ones((2, n))
    memory.ramp_since, memory.lacked_at = 1.5, 2.5
    memory.behind_since, memory.behind_by, memory.instability.period = 1.5, np.ones(n), 0.01
    memory.releases = memory.has_sent_stop_effort = memory.starts_anew = memory.has_driven = True
    memory.evidence = Evidence(Receiver.SAME, {'elbow': 1.0})
    memory.start_reason, memory.cut_short = 'why', 'what'
    return memory


def test_a_new_memory_knows_nothing_and_sends_nothing():
    memory = Memory.of(joints_of())
    assert memory.supervisor.state is State.OFF and not memory.sent.has_start
    assert memory.joints is None and memory.motion.path is None
    assert memory.root == 'base'


@pytest.mark.parametrize('name', [field.name for field in fields(Memory)])
def test_for_the_same_joints_nothing_is_forgotten(name):
    """Another model of the same robot goes on with the same parts; no new part is left out."""
    before, first = remembered(joints_of()), Memory.of(joints_of())
    after = before.for_joints(joints_of())
    if name in COPIED:
        assert getattr(after, name) is not getattr(before, name)
        assert (getattr(after, name) is None) is (getattr(before, name) is None)
    elif name not in NAMES:
        assert getattr(after, name) is getattr(before, name)
    assert repr(getattr(after, name)) == repr(getattr(before, name)) or name == 'external'
    assert repr(getattr(before, name)) != repr(getattr(first, name)) or name in NAMES


def test_a_part_that_is_copied_changes_alone():
    """The policy that was in use goes on where another one is refused."""
    before = remembered(joints_of())
    after = before.for_joints(joints_of())
    after.dead_man.pressed_at, after.gravity.norm = 8.0, 1.0
    after.external.missing = 'efforts'
    assert before.dead_man.pressed_at == 3.0 and before.gravity.norm == 9.7
    assert before.external.missing == ''


def test_joints_in_another_order_are_found_by_name():
    after = remembered(joints_of()).for_joints(joints_of(('elbow', 'shoulder')))
    assert after.sent.joints == after.joints.names == ('elbow', 'shoulder')
    assert after.sent.effort.tolist() == [20.0, 10.0] and after.sent.has_sent
    assert after.joints.recent[-1].tolist() == [[2.0, 1.0]] * 3
    assert after.plausibility.agreeing.tolist() == [2, 1]
    assert after.external.observer.estimate.value.tolist() == [0.2, 0.1]
    assert np.isnan(after.joints.efforts).all()  # these may be older than the rest


def test_of_a_joint_that_was_not_known_nothing_is_remembered():
    after = remembered(joints_of()).for_joints(
        joints_of(('grip', 'elbow'), ARM_WITH_GRIPPER))
    assert after.joints.names == ('grip', 'elbow', 'shoulder', 'thumb_joint')
    position, velocity, at = after.joints.recent[-1]
    assert np.isnan(position[[0, 3]]).all() and velocity[[0, 3]].tolist() == [0.0, 0.0]
    assert at.tolist() == [-np.inf, 2.0, 1.0, -np.inf]
    assert position[[1, 2]].tolist() == [2.0, 1.0]
    assert after.plausibility.agreeing.tolist() == [0, 2, 1, 0]
    assert after.external.observer.estimate.value.tolist() == [0.0, 0.2]
    assert after.sent.effort.tolist() == [0.0, 20.0] and not after.sent.has_start


def test_a_joint_that_returns_is_sent_what_it_holds():
    one = remembered(joints_of()).for_joints(joints_of(('elbow',)))
    assert one.sent.effort.tolist() == [20.0] and one.sent.has_start
    one.sent.effort = np.array([25.0])
    both = one.for_joints(joints_of())
    assert both.sent.effort.tolist() == [10.0, 25.0] and both.sent.has_start


@pytest.mark.parametrize('names', [('elbow', 'shoulder'), ('elbow',)])
def test_for_other_joints_no_array_of_the_former_ones_stays(names):
    before = remembered(joints_of())
    before.trips.restart(2)
    after = before.for_joints(joints_of(names))
    zero = [0.0] * len(names)
    assert after.hand_over.difference.tolist() == after.rest.velocities.tolist() == zero
    assert not after.hand_over.is_active
    assert after.trips.fast == 0 and len(after.trips.saturated_since) == 0
    assert after.supervisor is before.supervisor  # a fault stays
    assert after.pending is before.pending and after.period is before.period


def test_the_motion_is_kept_only_for_the_same_joints():
    before = remembered(joints_of())
    before.motion.path = Trajectory(('shoulder', 'elbow'), [Waypoint(0.0, np.zeros(2))])
    assert before.for_joints(joints_of()).motion.path is before.motion.path
    for names in (('elbow', 'shoulder'), ('elbow',)):
        motion = before.for_joints(joints_of(names)).motion
        assert motion.joints == names and motion.path is None and motion.reference is None
        assert motion.changes == 5  # a motion that is being planned is not followed
        assert motion.awaits_reference  # as after a contact


def test_measured_gravity_is_kept_only_for_the_same_root():
    before = remembered(joints_of())
    assert before.for_joints(joints_of(('elbow',))).gravity.norm == 9.7
    moved = before.for_joints(joints_of(urdf=ARM.replace('"base"', '"stand"')))
    assert moved.gravity is None and moved.root == 'stand'
    assert moved.sent is before.sent


def test_rest_is_judged_by_velocities_without_their_noise():
    rest, random = Rest(np.zeros(2)), np.random.default_rng(3)
    for cycle in range(1000):
        rest.update(np.array([0.4, -0.3]) + random.normal(0.0, 0.05, 2), 1e-3 * cycle)
    np.testing.assert_allclose(rest.velocities, [0.4, -0.3], atol=0.02)
    assert rest.moving_joint() == 0
