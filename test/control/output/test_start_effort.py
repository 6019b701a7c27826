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
"""
Where efforts start: at the effort that the actuators hold already, so that no arm drops.

Each rule by itself, and the policy that starts by them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.output.start_effort import (
    AT_REST,
    Evidence,
    HANDING_OVER,
    Receiver,
    StartRule,
)
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings, StartFrom
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Arm
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM

JOINTS = ('shoulder', 'elbow')
ROBOT = Robot.from_urdf(ARM)
Q = (0.3, -0.8)
GRAVITY = ROBOT.gravity(Q)
REST = np.zeros(2)
UNMEASURED = np.full(2, np.nan)
LAST = {'shoulder': 3.0, 'elbow': -4.0}
HELD = Evidence(Receiver.SAME, LAST)
UNKNOWN = Evidence(Receiver.UNKNOWN)
OWN = HELD._replace(is_own=True)
NEW = Evidence(Receiver.NEW, LAST)
ON_A_WALL = {'arm': Arm.UR, 'assumes_other_gravity': True}


def start(
        evidence, start_from=StartFrom.AUTOMATIC, arm=Arm.GENERIC, velocities=REST,
        measured=UNMEASURED, holding=GRAVITY, assumes_other_gravity=False):
    rule = StartRule(start_from, arm, JOINTS, assumes_other_gravity=assumes_other_gravity)
    return rule.start(evidence, np.asarray(velocities), np.asarray(measured), lambda: holding)


@pytest.mark.parametrize('receiver', Receiver)
def test_the_first_command_is_whole_only_in_a_hand_over(receiver):
    found = start(Evidence(receiver, {}), arm=Arm.FRANKA).effort
    is_whole = found is not None and found.tolist() == GRAVITY.tolist()
    assert is_whole is (receiver in HANDING_OVER)


@pytest.mark.parametrize('evidence, choices, expected', [
    # What automatic makes of the evidence.
    (HELD, {}, [3.0, -4.0]),
    (HELD, {'arm': Arm.FRANKA}, [3.0, -4.0]),
    (HELD, {'measured': GRAVITY}, [3.0, -4.0]),
    # What this process has sent itself is no first command, whatever start_from says.
    (OWN, {}, [3.0, -4.0]),
    (OWN, {'start_from': StartFrom.ZERO}, [3.0, -4.0]),
    (OWN, {'start_from': StartFrom.GRAVITY}, [3.0, -4.0]),
    (OWN._replace(receiver=Receiver.NEW), {'start_from': StartFrom.ZERO}, [0.0, 0.0]),
    (OWN._replace(receiver=Receiver.UNKNOWN), {'start_from': StartFrom.GRAVITY}, GRAVITY),
    (NEW, {}, [0.0, 0.0]),
    (NEW, {'measured': GRAVITY}, [0.0, 0.0]),
    (Evidence(Receiver.ZEROED, LAST), {'measured': GRAVITY}, [0.0, 0.0]),
    (Evidence(Receiver.HANDED_OVER, LAST), {'velocities': [9.0, 9.0]}, GRAVITY),
    (Evidence(Receiver.HANDED_OVER, LAST), {'arm': Arm.FRANKA, 'holding': REST}, REST),
    (Evidence(Receiver.HANDED_OVER, LAST), {'start_from': StartFrom.ZERO}, REST),
    (Evidence(Receiver.ARM_HOLDS_ITSELF, LAST), {'arm': Arm.FRANKA}, GRAVITY),
    (Evidence(Receiver.ARM_HOLDS_ITSELF, LAST), {'start_from': StartFrom.ZERO}, REST),
    (UNKNOWN, {'arm': Arm.UR, 'measured': GRAVITY}, [0.0, 0.0]),
    (UNKNOWN, {**ON_A_WALL, 'start_from': StartFrom.ZERO}, [0.0, 0.0]),
    (UNKNOWN, {**ON_A_WALL, 'start_from': StartFrom.GRAVITY}, GRAVITY),
    (UNKNOWN, {'measured': GRAVITY}, GRAVITY),
    # What the user says counts, whatever else is known.
    (HELD, {'start_from': StartFrom.ZERO}, [0.0, 0.0]),
    (HELD, {'start_from': StartFrom.GRAVITY}, GRAVITY),
    (NEW, {'start_from': StartFrom.LAST}, [3.0, -4.0]),
    (NEW, {'start_from': StartFrom.MEASURED, 'measured': GRAVITY}, GRAVITY),
    (UNKNOWN, {'start_from': StartFrom.GRAVITY, 'velocities': [9.0, 9.0]}, GRAVITY),
])
def test_start_follows_the_evidence_and_what_the_user_says(evidence, choices, expected):
    effort, reason = start(evidence, **choices)
    np.testing.assert_array_equal(effort, expected)
    assert reason


@pytest.mark.parametrize('evidence, choices, reason', [
    (UNKNOWN, {}, "no effort of joint 'shoulder'"),
    (UNKNOWN, {'measured': [1.0, np.nan]}, "no effort of joint 'elbow'"),
    (UNKNOWN, {'measured': GRAVITY, 'velocities': [0.0, np.nan]}, "no velocity of joint 'elbow'"),
    (UNKNOWN, {'measured': GRAVITY, 'velocities': [-1.1 * AT_REST, 0.0]}, "'shoulder' moves"),
    (Evidence(Receiver.SAME, {'shoulder': 3.0}), {}, "no effort of joint 'shoulder'"),
    (UNKNOWN, {'start_from': StartFrom.LAST}, 'no last command'),
    (UNKNOWN, {**ON_A_WALL, 'measured': GRAVITY}, 'another gravity'),
    (HELD, {'start_from': StartFrom.MEASURED}, "no effort of joint 'shoulder'"),
])
def test_without_evidence_the_reason_is_said(evidence, choices, reason):
    effort, said = start(evidence, **choices)
    assert effort is None and reason in said


@pytest.mark.parametrize('measured', [
    [0.0, 0.0],    # somebody supports the arm
    [2.0, -2.0],   # and here a part of it
    [7.0, -9.0],   # it carries what the model lacks, or friction adds to gravity
    [-3.0, 3.0]])  # or friction is against gravity
def test_the_measured_effort_is_taken_as_it_is(measured):
    effort, _ = start(UNKNOWN, measured=measured, holding=np.array([5.0, -5.0]))
    assert effort.tolist() == measured


class Ride:
    """A policy in a cycle of 2 ms with measured efforts, and all that it sent."""

    def __init__(self, evidence, **settings):
        self.policy = Policy(ROBOT, Settings(
            joints=JOINTS, mode=Mode.GRAVITY_COMPENSATION, **settings))
        self.policy.evidence = evidence
        self.time, self.sent = 10.0, []

    def go(self, cycles, qd=(0.0, 0.0), efforts=()):
        for _ in range(cycles):
            self.time += 0.002
            now = Instant(self.time, RosTime.from_seconds(self.time))
            self.policy.take_joint_state(MeasuredJoints(JOINTS, Q, qd, efforts), now)
            self.decision = self.policy.decide(now)
            if self.decision.effort is not None:
                self.sent.append(self.decision.effort)
        return self


@pytest.mark.parametrize('evidence, settings, efforts, first', [
    (Evidence(Receiver.SAME, dict(zip(JOINTS, GRAVITY.tolist()))), {}, (), GRAVITY),
    (UNKNOWN, {}, GRAVITY + [0.3, -0.3], GRAVITY + [0.3, -0.3]),
    (UNKNOWN, {'arm': Arm.FRANKA}, GRAVITY, REST),  # what it measures has its own gravity in it
    (UNKNOWN, {'start_from': StartFrom.ZERO}, (), REST),
    (Evidence(), {}, (), REST),
])
def test_the_held_effort_leads_to_the_wanted_one(evidence, settings, efforts, first):
    ride = Ride(evidence, **settings).go(400, efforts=efforts)
    np.testing.assert_allclose(ride.sent[0], first, atol=1e-12)
    wanted = REST if 'arm' in settings else GRAVITY
    np.testing.assert_allclose(ride.sent[-1], wanted, atol=1e-12)
    steps = np.abs(np.diff(ride.sent, axis=0)).max()
    assert steps <= 3.01 * np.abs(GRAVITY).max() * 0.002 / 0.5
    assert ride.policy.start_reason


@pytest.mark.parametrize('arm_gravity', [(), (0.0, 0.0, -9.81), (9.81, 0.0, 0.0)])
def test_with_another_gravity_the_held_effort_may_be_unknown(arm_gravity):
    """Zero would be a step of the whole difference between both gravities."""
    ride = Ride(UNKNOWN, arm=Arm.FRANKA, arm_gravity=arm_gravity)
    ride.go(1, efforts=GRAVITY)
    if arm_gravity and arm_gravity[0]:
        assert ride.decision.status is Status.UNKNOWN_START
        assert 'set start_from' in ride.decision.detail
    else:
        np.testing.assert_array_equal(ride.sent[0], [0.0, 0.0])


def test_nothing_is_sent_before_rest_or_a_chosen_start():
    ride = Ride(UNKNOWN).go(5, qd=(0.0, 0.3), efforts=GRAVITY)
    assert ride.sent == [] and ride.decision.status is Status.UNKNOWN_START
    assert "'elbow' moves" in ride.decision.detail and 'start_from' in ride.decision.detail
    ride.go(1, efforts=GRAVITY)
    np.testing.assert_allclose(ride.sent[0], GRAVITY, atol=1e-12)

    ride = Ride(UNKNOWN).go(5)
    assert ride.sent == [] and 'no effort' in ride.decision.detail
    ride.policy.change_settings(Settings(
        joints=JOINTS, mode=Mode.GRAVITY_COMPENSATION, start_from=StartFrom.GRAVITY))
    np.testing.assert_allclose(ride.go(1).sent[0], GRAVITY, atol=1e-12)


def test_unmeasured_velocity_is_no_rest():
    ride = Ride(UNKNOWN).go(5, qd=(), efforts=GRAVITY)
    assert ride.sent == [] and 'no velocity' in ride.decision.detail


def test_restart_follows_the_evidence_of_that_moment():
    ride = Ride(Evidence()).go(400)
    ride.policy.restart()
    assert not ride.policy.has_start
    np.testing.assert_allclose(ride.go(1).sent[-1], REST, atol=1e-12)
    ride.go(400)
    ride.policy.evidence = Evidence(Receiver.SAME, LAST)
    ride.policy.restart()
    np.testing.assert_allclose(ride.go(1).sent[-1], [3.0, -4.0], atol=1e-12)
    ride.policy.evidence = UNKNOWN
    ride.policy.restart()
    count = len(ride.sent)
    assert ride.go(3).decision.status is Status.UNKNOWN_START and len(ride.sent) == count


def test_efforts_that_were_measured_before_a_restart_do_not_count():
    ride = Ride(Evidence(), start_from=StartFrom.MEASURED).go(1, efforts=GRAVITY)
    np.testing.assert_allclose(ride.sent[0], GRAVITY, atol=1e-12)
    ride.policy.restart()
    ride.policy.decide(Instant(ride.time, RosTime.from_seconds(ride.time)))
    assert not ride.policy.has_start


@pytest.mark.parametrize('start_from, kept', [
    (StartFrom.GRAVITY, False), (StartFrom.MEASURED, False), (StartFrom.AUTOMATIC, True)])
def test_a_start_from_the_state_is_found_anew(start_from, kept):
    ride = Ride(HELD, start_from=start_from).go(3, efforts=GRAVITY)
    settings = ride.policy.settings
    ride.policy.change_settings(replace(settings, enabled=False))
    ride.go(400, efforts=GRAVITY)
    assert ride.decision.status is Status.DISABLED and ride.policy.has_start is kept


def test_start_from_which_nothing_was_sent_is_void():
    ride = Ride(HELD)
    ride.policy.memory.sent.start_at(np.ones(2))
    assert ride.policy.has_start
    ride.policy.memory.sent.pause()
    assert not ride.policy.has_start


def test_only_the_same_joints_keep_their_start():
    ride = Ride(HELD).go(3)
    same, other = (Policy(ROBOT, Settings(joints=joints))
                   for joints in (JOINTS[::-1], JOINTS[:1]))
    for policy in (same, other):
        policy.resume(ride.policy.memory)
        assert policy.has_start and policy.evidence is ride.policy.evidence
    more = Policy(ROBOT, Settings(joints=JOINTS))
    more.resume(Policy(ROBOT, Settings(joints=('shoulder',))).memory)
    assert not more.has_start
