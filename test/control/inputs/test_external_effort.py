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
"""The external effort as the policy observes it: contacts, wrenches, and what follows."""

from __future__ import annotations

from dataclasses import replace
from math import exp, inf, nan

from example_robots import example_urdf
import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import ContactReaction, Mode, Settings
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial
from ros2_rnea.robots.sent_terms import Arm
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM

pytestmark = pytest.mark.usefixtures('fastest_engine')

JOINTS = ('shoulder', 'elbow')
STEP = 0.001
PUSH = np.array([3.0, -2.0])
PRESSED = (5.0, 0.0)


# ---- with another engine's arm ------------------------------------------------------------------


@pytest.mark.parametrize('path, link', [
    ('panda_description/urdf/panda.urdf', 'panda_hand'),
    ('ur_description/urdf/ur5_robot.urdf', 'tool0')])
def test_a_push_in_mujoco_is_seen_and_its_force_found(path, link):
    mujoco_oracle = pytest.importorskip('mujoco_oracle')
    text = example_urdf(path)
    arm, engine = Robot.from_urdf(text), mujoco_oracle.MujocoOracle(text)
    nv, count = arm.nv, 7 if 'panda' in path else 6
    policy = Policy(AdjustableRobot.of(arm), Settings(
        joints=arm.joint_names[:count], observe_external_effort=True, external_wrench_link=link,
        external_effort_threshold=dict.fromkeys(arm.joint_names, 1.0), state_timeout=1.0,
        assumed_positions=dict.fromkeys(arm.joint_names[count:], (0.0,))))
    q, qd, step = np.zeros(nv), np.zeros(nv), 5e-4
    q[:count] = [0.2, -0.9, 0.5, -2.0, 0.7, 1.6, 0.4][:count]
    at, began, force = q.copy(), 0.1, np.array([10.0, -15.0, 20.0])
    pushed = np.concatenate((np.cross([0.0, 0.0, 0.0], force), force))
    seen_after = None
    for turn in range(round(0.25 / step)):
        t = turn * step
        push = np.zeros(nv)
        if t >= began:
            push = arm.jacobian(q, link).T @ pushed
        effort = engine.bias(q, qd) + 80.0 * (at - q) - 20.0 * qd
        if turn % 2 == 0:
            now = Instant(t + step, RosTime(0))
            policy.take_joint_state(MeasuredJoints(
                arm.joint_names[:count], q[:count], qd[:count], effort[:count], t + step, 0.0),
                now)
            policy.observe(now, t)
            if policy.external.contacts and seen_after is None:
                seen_after = t - began
        qdd = engine.forward_dynamics(q, qd, effort + push)
        qdd[count:] = 0.0
        qd = qd + step * qdd
        q = q + step * qd
    assert 0.0 < seen_after < 0.02
    wrench = policy.external.wrench()
    assert np.linalg.norm(wrench[3:] - force) < 0.1 * np.linalg.norm(force)


# ---- in the policy ------------------------------------------------------------------------------

OBSERVING = Settings(
    joints=JOINTS, observe_external_effort=True, external_wrench_link='tool', state_timeout=0.1,
    external_effort_threshold={'shoulder': 1.0, 'elbow': 1.0}, blend_time=0.0)
HOLDING = replace(OBSERVING, contact_reaction=ContactReaction.HOLD)
Q = np.array([0.3, -0.8])
NEAR, FAR = (Q, (0.0, 0.0)), (Q + 1.2, (0.0, 0.0))
FORCE = np.array([0.0, 0.0, 0.0, 30.0, 0.0, 10.0])


class Ride:
    """A policy whose robot stands still under an external effort."""

    def __init__(self, settings=OBSERVING, robot=None):
        self.policy = Policy(
            robot or AdjustableRobot.of(Robot.from_urdf(ARM)), settings)
        self.time = 0.0
        self.stamp = None  # of all joint states; None: the time

    @property
    def now(self):
        return Instant(self.time, RosTime(round(1e9 * self.time)))

    def swap(self, settings=None):
        """Continue with another model, as after the first value of armature."""
        other = Policy(
            AdjustableRobot.of(Robot.from_urdf(ARM)), settings or self.policy.settings)
        other.resume(self.policy.memory)
        self.policy = other

    def leave(self):
        """End the reaction to a contact, when nothing touches the arm any more."""
        self.go(0.1)
        assert self.policy.acknowledge(self.now) == ''

    def silence(self, seconds):
        for _ in range(round(seconds / STEP)):
            self.time += STEP
            self.decision = self.policy.decide(self.now)

    def go(self, seconds, external=(0.0, 0.0), velocities=(0.0, 0.0), efforts=True,
           reference=None, wrench=None):
        """
        Take a joint state in each step.

        :param reference: the controller's positions and accelerations, which crawl on.
        :param wrench: at the tool.
        """
        for turn in range(round(seconds / STEP)):
            self.time += STEP
            now = self.now
            positions = np.array(Q) + 1e-12 * (turn % 2)  # as of a sensor: never quite the same
            if reference is not None:
                desired, accelerations = reference
                self.policy.take_controller_state(ControllerReference(
                    JOINTS, desired + 1e-6 * self.time, (0.0, 0.0), accelerations), now)
            if wrench is not None:
                self.policy.take_wrench('tool', wrench, now)
            measured = self.policy.robot.gravity(Q) - external
            self.policy.take_joint_state(MeasuredJoints(
                JOINTS, positions, velocities, measured if efforts else None, self.time, 0.0), now)
            self.policy.observe(now, self.time if self.stamp is None else self.stamp)
            self.decision = self.policy.decide(now)
        return self.policy.external


def contact_ride(robot=None, **changes):
    """Return a ride that something presses on since a moment, and that has therefore stopped."""
    ride = Ride(replace(HOLDING, **changes), robot)
    ride.go(0.2)
    ride.go(0.1, PRESSED)
    assert ride.decision.status is Status.CONTACT
    return ride


def test_the_wrench_at_a_link_explains_the_external_effort():
    ride = Ride()
    force = np.array([0.0, 0.0, 0.0, 2.0, 0.0, 1.0])
    robot = ride.policy.robot
    rest = np.zeros(2)
    external = robot.gravity(Q) - robot.inverse_dynamics(Q, rest, rest, {'tool': force})
    wrench = ride.go(0.5, external).wrench()
    explained = robot.gravity(Q) - robot.inverse_dynamics(Q, rest, rest, {'tool': wrench})
    assert explained == pytest.approx(external, rel=1e-3)
    assert np.linalg.norm(wrench) <= np.linalg.norm(force) + 1e-9


def test_a_joint_above_its_threshold_is_soon_in_contact():
    ride = Ride()
    assert ride.go(0.2, (0.9, 0.0)).contacts == {}
    assert [*ride.go(0.02, (3.0, 0.0)).contacts] == ['shoulder']
    assert ride.go(0.2).contacts == {}


def test_what_joint_states_lack_is_said_and_nothing_is_observed():
    ride = Ride()
    external = ride.go(0.01, efforts=False)
    assert external.effort is None and 'efforts of shoulder, elbow' in external.missing
    external = ride.go(0.01, velocities=(nan, 0.0))
    assert external.effort is None and 'velocity of shoulder' in external.missing
    assert ride.go(0.1).missing == '' and ride.policy.external.effort is not None
    lacking = Ride(replace(OBSERVING, measured_lacks=('all',)))
    assert 'measured_lacks' in lacking.go(0.01).missing


def test_a_joint_without_effort_is_named_and_others_are_observed():
    external = Ride().go(0.2, (nan, 5.0))
    assert external.missing == 'joint_states lack the efforts of shoulder'
    assert [*external.contacts] == ['elbow']


def test_stamps_that_go_back_again_and_again_are_reported():
    ride = Ride()
    for _ in range(10):
        ride.go(0.002)
        ride.time -= 0.003
        ride.go(0.001)
        ride.time += 0.004
    assert 'stamps of joint_states go back' in ride.policy.external.missing
    assert ride.go(0.2).missing == ''


def test_stamps_in_order_are_used_again_soon_after_disorder():
    ride = Ride()
    for count in range(2000):
        ride.stamp = ride.time - 0.01 * (count % 2)
        ride.go(STEP)
    assert 'stamps of joint_states go back' in ride.policy.external.missing
    ride.stamp = None
    assert ride.go(0.05).missing == ''


def test_a_constant_stamp_is_reported_and_gives_no_estimate():
    ride = Ride()
    assert ride.go(0.2, PUSH).effort == pytest.approx(PUSH, rel=1e-3)
    ride.stamp = ride.time
    ride.go(0.04)
    assert ride.policy.external.missing == ''  # as of publishers that share a clock
    ride.go(0.04)
    assert 'does not change' in ride.policy.external.missing
    assert ride.policy.external.effort is None
    ride.stamp = None
    assert ride.go(0.2, PUSH).missing == ''
    assert ride.policy.external.effort == pytest.approx(PUSH, rel=1e-3)


def test_another_payload_rotor_or_model_is_no_push():
    moving = {'velocities': (0.5, 0.5), 'external': (0.5, 0.0)}
    ride = Ride(robot=AdjustableRobot.of(Robot.from_urdf(ARM), ['tool'], ['armature']))
    before = ride.go(0.2, **moving).effort
    ride.policy.robot.set_payload('box', 'tool', Inertial(5.0))  # p changes by more than 1 Nms
    loaded = ride.go(0.002, **moving).effort
    assert np.max(np.abs(loaded - before)) < 0.2
    ride.policy.robot.set_joint_parameters('armature', {'shoulder': 4.0})  # likewise
    geared = ride.go(0.002, **moving).effort
    assert np.max(np.abs(geared - loaded)) < 0.2
    ride.swap()
    assert np.max(np.abs(ride.go(0.002, **moving).effort - loaded)) < 0.2


def test_without_a_reaction_a_contact_changes_no_effort():
    ride = Ride()
    ride.go(0.3, PRESSED)
    assert ride.decision.status is Status.NO_TRAJECTORY


def test_the_reaction_holds_gravity_until_it_is_ended():
    ride = contact_ride()
    assert ride.decision.joints == ('shoulder',) and 'at shoulder' in ride.decision.detail
    assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q))
    ride.go(0.3)
    assert ride.decision.status is Status.CONTACT
    ride.swap()
    ride.go(0.05)
    assert ride.decision.status is Status.CONTACT
    ride.leave()
    ride.go(0.05)
    assert ride.decision.status is Status.NO_TRAJECTORY


def test_a_contact_is_acknowledged_only_at_rest_and_untouched():
    ride = Ride(HOLDING)
    ride.policy.take_joint_state(MeasuredJoints(JOINTS, Q, (0.0, 0.0), None, 0.0, 0.0), ride.now)
    ride.policy.take_trajectory(
        TrajectoryCommand(JOINTS, [Waypoint(0.0, Q), Waypoint(9.0, Q)]), ride.now)
    ride.go(0.2)
    assert ride.decision.status is Status.FOLLOWING
    ride.go(0.1, PRESSED)
    assert 'shoulder is still in contact' in ride.policy.acknowledge(ride.now)
    ride.go(0.1, velocities=(0.0, 0.5))
    assert "joint 'elbow' still moves" in ride.policy.acknowledge(ride.now)
    ride.go(0.1)
    ride.time += 0.11
    assert 'no fresh joint state' in ride.policy.acknowledge(ride.now)
    ride.go(0.12)
    assert ride.decision.status is Status.CONTACT
    assert ride.policy.acknowledge(ride.now) == ''
    ride.go(0.1)
    assert ride.decision.status is Status.NO_TRAJECTORY  # it is not taken up again


def test_a_contact_is_not_acknowledged_before_it_is_sought_again():
    ride = contact_ride()
    ride.silence(0.15)
    ride.go(3 * STEP)
    assert 's only; ask again' in ride.policy.acknowledge(ride.now)
    ride.go(0.08, PRESSED)
    assert 'still in contact' in ride.policy.acknowledge(ride.now)
    ride.leave()


def test_a_contact_stays_with_another_model():
    ride = contact_ride()
    ride.swap()
    ride.go(STEP, PRESSED)
    assert 'still in contact' in ride.policy.acknowledge(ride.now)


def test_no_contact_is_acknowledged_while_states_lack_something():
    ride = contact_ride()
    ride.stamp = ride.time
    ride.go(0.2)
    assert 'has ended is not known, because ' in ride.policy.acknowledge(ride.now)


@pytest.mark.parametrize('is_observed', [False, True])
def test_a_contact_without_reaction_can_be_acknowledged(is_observed):
    """Otherwise the last observed one would keep the fault for ever."""
    ride = contact_ride()
    ride.policy.change_settings(
        replace(ride.policy.settings, observe_external_effort=is_observed,
                contact_reaction=ContactReaction.NONE))
    ride.go(0.01, PRESSED)
    assert ride.decision.status is Status.CONTACT
    assert ride.policy.acknowledge(ride.now) == ''


def test_during_a_contact_the_arm_is_braked_and_not_guided():
    ride = contact_ride(mode=Mode.FEEDFORWARD)
    ride.policy.change_settings(replace(
        ride.policy.settings, mode=Mode.GRAVITY_COMPENSATION, guiding_damping={'elbow': 3.0}))
    ride.go(0.3, velocities=(0.0, 0.4))
    assert ride.decision.status is Status.CONTACT
    braking = ride.policy.robot.mass_matrix(Q) @ [0.0, -0.4 / ride.policy.settings.braking_time]
    assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q) + braking)


def pressing_ride(**changes):
    """Return a ride in contact that accelerates against it, and the effort that presses."""
    ride = Ride(replace(HOLDING, blend_time=0.5, **changes))
    ride.go(1.1, reference=(Q, (8.0, 0.0)))
    pressing = ride.decision.effort - ride.policy.robot.gravity(Q)
    assert ride.decision.status is Status.FOLLOWING_CONTROLLER and np.max(pressing) > 1.0
    while ride.decision.status is not Status.CONTACT:
        ride.go(STEP, PRESSED, reference=(Q, (8.0, 0.0)))
    return ride, pressing


def test_what_presses_is_gone_within_50_ms_of_a_contact():
    ride, pressing = pressing_ride(effort_rate_limit=np.inf)
    holding = ride.policy.robot.gravity(Q)
    assert ride.decision.effort - holding == pytest.approx(pressing, rel=1e-2)  # no step
    ride.go(0.025, PRESSED)
    half = 0.5 * exp(-1.0)  # of (1 - s) exp(-2 s)
    assert ride.decision.effort - holding == pytest.approx(half * pressing, rel=0.1)
    ride.go(0.027, PRESSED)
    assert ride.decision.effort == pytest.approx(holding)


def test_what_presses_fades_as_fast_with_the_rate_limit():
    ride, pressing = pressing_ride()
    ride.go(0.052, PRESSED)
    assert np.abs(ride.decision.effort - ride.policy.robot.gravity(Q)) == pytest.approx(
        0.0, abs=0.01 * np.max(pressing))


@pytest.mark.parametrize('change', [
    lambda ride: ride.policy.change_settings(ride.policy.settings),
    lambda ride: ride.policy.hand_over(of_model=False),
], ids=['settings', 'blend'])
def test_a_change_in_contact_does_not_lengthen_the_fade(change):
    ride, pressing = pressing_ride(effort_rate_limit=np.inf)
    for _ in range(4):
        ride.go(0.01)
        change(ride)
    ride.go(0.016)
    assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q), abs=1e-3)
    ride.policy.change_settings(replace(ride.policy.settings, gravity=(0.0, 0.0, -5.0)))
    before = ride.decision.effort
    ride.go(0.25)
    after = ride.policy.robot.gravity(Q)
    half = 0.5 * exp(-1.0)
    assert ride.decision.effort == pytest.approx(
        half * before + (1.0 - half) * after, rel=0.05)  # as usual


def test_another_model_in_contact_does_not_lengthen_the_fade():
    ride, _ = pressing_ride(effort_rate_limit=np.inf)
    ride.go(0.01, PRESSED)
    ride.swap()
    ride.go(0.043, PRESSED)
    assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q), abs=1e-3)


@pytest.mark.parametrize('in_gravity_compensation', [False, True])
def test_no_wrench_is_compensated_in_contact(in_gravity_compensation):
    ride = Ride(replace(
        HOLDING, effort_rate_limit=np.inf, wrench_timeout=1.0,
        wrench_in_gravity_compensation=in_gravity_compensation))
    ride.go(0.5, reference=NEAR, wrench=FORCE)
    holding = ride.policy.robot.gravity(Q)
    assert np.max(np.abs(ride.decision.effort - holding)) > 1.0
    ride.go(0.05, PRESSED, reference=NEAR, wrench=FORCE)
    assert ride.decision.status is Status.CONTACT
    ride.go(0.05, PRESSED, wrench=2.0 * FORCE)
    assert ride.decision.effort == pytest.approx(holding)
    ride.go(0.5, wrench=FORCE)
    ride.leave()
    ride.go(0.8, reference=NEAR, wrench=FORCE)
    assert ride.decision.status is Status.FOLLOWING_CONTROLLER
    assert np.max(np.abs(ride.decision.effort - holding)) > 1.0  # it fades in again


def loaded_ride(blend_time, asked=None):
    """Return a ride whose robot has just got a payload, which it carries."""
    ride = Ride(replace(HOLDING, blend_time=blend_time),
                AdjustableRobot.of(Robot.from_urdf(ARM), ['tool']))
    ride.go(0.8)
    ride.policy.robot.set_payload('box', 'tool', Inertial(5.0))
    ride.policy.hand_over(asked)
    return ride


@pytest.mark.parametrize('asked', [2.0, None])
def test_a_payload_that_is_blended_in_is_no_contact(asked):
    ride = loaded_ride(0.5, asked)
    weight = ride.policy.robot.gravity(Q)
    assert np.max(np.abs(weight - ride.decision.effort)) > 5.0
    for _ in range(2500):
        ride.go(STEP, weight - ride.decision.effort)  # it measures what it is sent
        assert ride.decision.status is Status.NO_TRAJECTORY
    assert ride.decision.effort == pytest.approx(weight)
    ride.go(0.1, PRESSED)
    assert ride.decision.status is Status.CONTACT


@pytest.mark.parametrize('change, is_contact', [
    ({'gravity': (0.0, 0.0, -5.0)}, False), ({'gravity': (0.0, 0.0, -9.7)}, True),
    ({'hold_tolerance': 0.2}, True), ('the same model', True)])
def test_only_the_blend_of_another_model_is_no_contact(change, is_contact):
    ride = Ride(replace(HOLDING, blend_time=0.5))
    ride.go(0.8)
    settings = ride.policy.settings
    if change == 'the same model':
        ride.swap()
    else:
        ride.policy.change_settings(replace(settings, **change))
    ride.go(0.2, PRESSED)
    assert (ride.decision.status is Status.CONTACT) is is_contact


def test_the_end_of_its_blend_ends_what_another_model_suppresses():
    """Also where other blends begin again and again, as at each end of a streamed point."""
    ride = loaded_ride(0.5)
    for _ in range(40):
        ride.policy.hand_over(of_model=False)
        ride.go(0.01, PRESSED)
        assert ride.decision.status is Status.NO_TRAJECTORY
    for _ in range(20):
        ride.policy.hand_over(of_model=False)
        ride.go(0.01, PRESSED)
    assert ride.decision.status is Status.CONTACT


def test_without_blend_the_observer_first_forgets_the_older_model():
    ride = loaded_ride(0.0)
    ride.go(0.095, PRESSED)
    assert ride.decision.status is Status.NO_TRAJECTORY
    ride.go(0.02, PRESSED)
    assert ride.decision.status is Status.CONTACT


def test_small_changes_of_gravity_that_add_up_are_no_contact():
    ride = loaded_ride(0.5)
    ride.go(1.0)
    x = 0.0
    for _ in range(20):
        x += 0.2
        ride.policy.change_settings(
            replace(ride.policy.settings, gravity=(x, 0.0, -9.81)), 3.0)
        before = ride.decision.effort  # which the arm measures, as nothing touches it
        ride.go(0.1, ride.policy.robot.gravity(Q) - before)
        assert ride.decision.status is Status.NO_TRAJECTORY


def test_in_contact_no_wrench_acts_in_gravity_compensation():
    ride = contact_ride(
        effort_rate_limit=np.inf, wrench_in_gravity_compensation=True, wrench_timeout=1.0)
    ride.policy.change_settings(replace(ride.policy.settings, mode=Mode.GRAVITY_COMPENSATION))
    ride.go(0.5, PRESSED, wrench=FORCE)
    assert ride.decision.status is Status.CONTACT  # until it is acknowledged
    assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q))


def test_after_a_contact_a_far_reference_is_damped_only():
    ride = contact_ride(
        mode=Mode.COMPUTED_TORQUE, position_gains=(100.0,), velocity_gains=(20.0,))
    ride.leave()
    ride.go(0.1, reference=FAR, velocities=(0.5, -0.25))
    assert ride.decision.status is Status.MOTION_TOO_FAR
    mass = ride.policy.robot.mass_matrix(Q)
    assert ride.policy.terms(ride.decision).feedback == pytest.approx(
        mass @ [-20.0 * 0.5, 20.0 * 0.25])


def test_what_another_gravity_leaves_out_is_no_external_effort():
    wall, upright = (9.81, 0.0, 0.0), (0.0, 0.0, -9.81)
    ride = Ride(replace(
        OBSERVING, gravity=wall, arm_gravity=upright, arm=Arm.FRANKA,
        measured_lacks=('gravity',)))
    true, own = (ride.policy.robot.gravity(Q, gravity) for gravity in (wall, upright))
    assert np.max(np.abs(true - own)) > 1.0
    ride.go(0.5, own)  # it measures what it is sent
    assert ride.policy.external.effort == pytest.approx([0.0, 0.0], abs=1e-9)
    terms = ride.policy.terms(ride.decision)
    assert terms.measured == pytest.approx(true - own)
    assert terms.residual == pytest.approx([0.0, 0.0], abs=1e-9)


def test_efforts_settle_anew_after_a_gap_with_a_final_fade():
    ride = Ride(replace(HOLDING, blend_time=0.3))
    ride.go(0.6)
    ride.silence(0.13)
    assert ride.decision.status is Status.STOPPING
    off = ride.policy.robot.gravity(Q)  # motors that have been off: they measure no effort
    ride.go(0.29, off)
    assert ride.decision.status is Status.NO_TRAJECTORY
    ride.go(0.05, off)
    assert ride.decision.status is Status.CONTACT


def test_an_arm_that_moves_in_contact_is_braked():
    ride = contact_ride(braking_time=0.2)
    ride.go(0.1, velocities=(0.5, -0.25))
    assert ride.decision.status is Status.CONTACT
    mass = ride.policy.robot.mass_matrix(Q)
    assert ride.policy.terms(ride.decision).feedback == pytest.approx(
        mass @ [-0.5 / 0.2, 0.25 / 0.2])


def test_without_reaction_no_far_reference_is_followed_after_a_contact():
    ride = contact_ride()
    ride.policy.change_settings(OBSERVING)
    ride.go(0.1, reference=NEAR)
    assert ride.decision.status is Status.CONTACT  # until it is acknowledged
    ride.leave()
    for distance, status in ((1.2, Status.MOTION_TOO_FAR), (0.05, Status.FOLLOWING_CONTROLLER)):
        ride.go(0.01, reference=(Q + distance, (0.0, 0.0)))
        assert ride.decision.status is status


@pytest.mark.parametrize('changes', [
    {'contact_reaction': ContactReaction.NONE},
    {'contact_reaction': ContactReaction.NONE, 'observe_external_effort': False}])
@pytest.mark.parametrize('is_set_first', [True, False])
def test_nor_with_another_model(changes, is_set_first):
    """The reaction is switched off before the model is replaced, or by the same change."""
    ride = contact_ride()
    settings = replace(ride.policy.settings, **changes)
    if is_set_first:
        ride.policy.change_settings(settings)
        ride.go(0.05, reference=FAR)
    ride.swap(settings)
    ride.go(0.05, reference=FAR)
    assert ride.decision.status is Status.CONTACT  # until it is acknowledged
    ride.leave()
    ride.go(0.05, reference=FAR)
    assert ride.decision.status is Status.MOTION_TOO_FAR
    assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q))
    ride.go(0.05, reference=NEAR)
    assert ride.decision.status is Status.FOLLOWING_CONTROLLER


def test_a_far_reference_that_comes_back_is_not_followed():
    ride = contact_ride(controller_state_timeout=0.05)
    ride.leave()
    ride.go(0.05, reference=FAR)
    for reference in (None, FAR):
        for _ in range(150):
            ride.go(STEP, reference=reference)
            assert ride.decision.status is Status.MOTION_TOO_FAR
            assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q))
    ride.go(0.05, reference=NEAR)
    assert ride.decision.status is Status.FOLLOWING_CONTROLLER


def test_nor_after_a_motion_for_which_nothing_is_sent():
    """After a contact, a trajectory comes while gravity exceeds the limits of the joints."""
    ride = contact_ride()
    ride.leave()
    ride.policy.change_settings(replace(HOLDING, enabled=False))
    ride.go(1.0)
    ride.policy.change_settings(replace(HOLDING, effort_limit_factor=1e-3))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, [Waypoint(0.0, Q)]), ride.now)
    ride.go(0.1)
    assert ride.decision.status is Status.OVERLOADED
    ride.policy.change_settings(HOLDING)
    ride.go(0.1, reference=FAR)
    assert ride.decision.status is Status.MOTION_TOO_FAR
    ride.go(0.1, reference=NEAR)
    assert ride.decision.status is Status.FOLLOWING_CONTROLLER
    ride.go(0.1, reference=FAR)
    assert ride.decision.status is Status.FOLLOWING_CONTROLLER


def test_a_reference_a_whole_turn_away_is_near():
    text = ARM.replace('name="shoulder" type="revolute"', 'name="shoulder" type="continuous"')
    ride = contact_ride(AdjustableRobot.of(Robot.from_urdf(text)))
    ride.leave()
    ride.go(0.05, reference=(Q + [2.0 * np.pi, 0.0], (0.0, 0.0)))
    assert ride.decision.status is Status.FOLLOWING_CONTROLLER


def test_an_arm_that_is_sent_nothing_is_not_in_contact():
    ride = Ride(replace(HOLDING, enabled=False))
    assert [*ride.go(0.2, PRESSED).contacts] == ['shoulder']
    ride.policy.change_settings(HOLDING)
    ride.go(0.2)
    assert ride.decision.status is Status.NO_TRAJECTORY


def test_after_a_contact_a_near_reference_is_followed():
    ride = Ride(HOLDING)

    def follow(distance):
        ride.go(0.01, reference=(Q + distance, (0.0, 0.0)))
        return ride.decision.status

    assert follow(0.0) is Status.FOLLOWING_CONTROLLER
    ride.go(0.2)
    ride.go(0.05, PRESSED)
    ride.go(0.2)
    assert follow(1.2) is Status.CONTACT
    ride.leave()
    ride.go(0.2)
    assert follow(1.2) is Status.MOTION_TOO_FAR
    assert 'farther from the arm than path_tolerance' in ride.decision.detail
    assert ride.decision.effort == pytest.approx(ride.policy.robot.gravity(Q))
    assert follow(0.05) is Status.FOLLOWING_CONTROLLER
    assert follow(1.2) is Status.FOLLOWING_CONTROLLER


@pytest.mark.parametrize('changes, said', [
    ({'external_effort_gain': 0.0}, 'external_effort_gain is 0.0'),
    ({'external_effort_gain': inf}, 'external_effort_gain is inf'),
    ({'external_effort_threshold': {'elbow': -1.0}}, 'external_effort_threshold.elbow is -1.0'),
    ({'external_effort_threshold': {'elbow': 0.0}}, 'external_effort_threshold.elbow is 0.0'),
    ({'contact_reaction': ContactReaction.HOLD, 'observe_external_effort': False},
     'needs observe_external_effort'),
    ({'external_wrench_link': 'tol'}, "external_wrench_link is 'tol'.*did you mean 'tool'"),
])
def test_settings_that_cannot_be_are_refused(changes, said):
    with pytest.raises(ArgumentError, match=said):
        Ride(replace(OBSERVING, **changes))
