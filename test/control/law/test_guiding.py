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
"""What is added to gravity while an arm is guided by hand, and the dead-man switch."""

from dataclasses import replace
from math import inf

from hypothesis import given, strategies as st
import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.law.guiding import Guiding
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.output.start_effort import Evidence, Receiver
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import (
    BeyondLimits,
    LARGEST_ASSISTANCE,
    Mode,
    OnStop,
    Settings,
    StartFrom,
)
from ros2_rnea.errors import ArgumentError, MessageError
from ros2_rnea.robots.sent_terms import Arm
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM
from unchecked import UNCHECKED

JOINTS = ('elbow', 'shoulder')  # another order than that of the robot
ROUGH = AdjustableRobot.of(Robot.from_urdf(ARM))
ROUGH.set_joint_parameters('damping', {'shoulder': 0.5, 'elbow': 0.1})
ROUGH.set_joint_parameters('friction', {'shoulder': 2.0, 'elbow': 1.0})
AT_ONCE = {'blend_time': 0.0, 'effort_rate_limit': inf, **UNCHECKED}
REST = np.zeros(2)

velocities = st.tuples(*[st.floats(-3.0, 3.0)] * 2).map(np.array)


def at(seconds):
    return Instant(50.0 + seconds, RosTime.from_seconds(1000.0 + seconds))


def guided(robot=ROUGH, **settings):
    """Return the aids of both joints for the settings."""
    chosen = Settings(mode=Mode.GRAVITY_COMPENSATION, **settings)
    described = np.array(
        [robot.tree.bodies[robot.tree.joints[name]].limits.bounds for name in JOINTS])
    bounds = JointBounds(described, chosen.position_limit_margin, 1.0, 0.1)
    return Guiding(robot, JOINTS, np.array([1, 0]), bounds.lower, bounds.upper, chosen)


def test_without_settings_nothing_is_added():
    assert guided().effort(np.array([[9.0, 9.0], [9.0, 9.0]])) is None


def test_damping_is_opposed_to_the_velocity():
    effort = guided(guiding_damping={'shoulder': 3.0}).effort(np.array([REST, [1.0, -2.0]]))
    assert effort.tolist() == [0.0, 6.0]


@pytest.mark.parametrize('position, expected', [
    (0.0, 0.0), (2.8, 0.0), (2.9, -5.0), (3.1, -15.0), (-2.8, 0.0), (-3.0, 10.0)])
def test_an_end_stop_is_a_spring_with_a_margin(position, expected):
    stops = guided(end_stop_stiffness={'elbow': 50.0}, position_limit_margin=0.2)
    effort = stops.effort(np.array([[position, 3.1], REST]))
    assert effort == pytest.approx([expected, 0.0])


@given(velocities)
def test_friction_is_helped_over_by_its_share_and_never_more(qd):
    share, deadband = 0.6, 0.1
    added = guided(
        friction_assistance=share, friction_assistance_deadband=deadband,
        ).effort(np.array([REST, qd]))
    friction = ROUGH.friction(qd[::-1])[::-1]
    assert np.all(added * qd >= 0.0)
    assert np.all(np.abs(added) <= share * np.abs(friction) * (1.0 + 1e-12))
    assert np.all(added[np.abs(qd) <= deadband] == 0.0)
    fast = np.abs(qd) >= 2.0 * deadband * (1.0 + 1e-12)
    assert added[fast] == pytest.approx(share * friction[fast], rel=1e-12)


@given(velocities)
def test_the_offset_of_friction_is_not_assisted(qd):
    skewed = AdjustableRobot.of(ROUGH, optional_parameters=['friction_offset'])
    skewed.set_joint_parameters('friction_offset', {'shoulder': 0.8, 'elbow': -0.5})
    settings = {'friction_assistance': 0.6, 'friction_assistance_deadband': 0.1}
    added = guided(skewed, **settings).effort(np.array([REST, qd]))
    assert added == pytest.approx(guided(**settings).effort(np.array([REST, qd])), abs=1e-12)


def test_a_joint_with_most_assistance_comes_to_rest():
    """With the share below 1, what is left of friction brakes, in a simulation of one joint."""
    aids = guided(friction_assistance=LARGEST_ASSISTANCE, friction_assistance_deadband=0.05)
    inertia, dt, qd = 0.5, 1e-3, np.array([2.0, 0.0])
    for _ in range(20000):
        needed = ROUGH.friction(qd[::-1])[::-1]
        qd[0] += dt * (aids.effort(np.array([REST, qd])) - needed)[0] / inertia
    assert abs(qd[0]) < 0.01


@pytest.mark.parametrize('settings, message', [
    ({'friction_assistance': 0.71}, 'friction_assistance is 0.71; .* from 0 to 0.7'),
    ({'friction_assistance': -0.1}, 'friction_assistance is -0.1'),
    ({'friction_assistance': float('nan')}, 'friction_assistance is nan'),
    ({'friction_assistance_deadband': 0.0}, 'friction_assistance_deadband is 0.0'),
    ({'friction_assistance': 0.5, 'arm': Arm.FRANKA}, 'compensates it by itself .arm: franka.'),
    ({'guiding_damping': {'elbow': -1.0}}, 'guiding_damping.elbow is -1.0'),
    ({'end_stop_stiffness': {'elbow': float('inf')}}, 'end_stop_stiffness.elbow is inf'),
    ({'command_scale': {'elbow': 0.0}}, 'command_scale.elbow is 0.0; .* other than 0'),
    ({'dead_man_timeout': float('inf')}, 'dead_man_timeout is inf')])
def test_a_setting_out_of_range_is_refused(settings, message):
    with pytest.raises(ArgumentError, match=message):
        Settings(**settings)


def test_a_joint_without_a_range_has_no_end_stop():
    endless = Robot.from_urdf(
        ARM.replace('name="elbow" type="revolute"', 'name="elbow" type="continuous"'))
    with pytest.raises(ArgumentError, match='end_stop_stiffness.elbow: .* has no range'):
        Policy(endless, Settings(end_stop_stiffness={'elbow': 1.0}))


# ---- in the policy ------------------------------------------------------------------------------


def policy(**settings):
    return Policy(Robot.from_urdf(ARM), Settings(
        joints=JOINTS, **{'mode': Mode.GRAVITY_COMPENSATION, **AT_ONCE, **settings}))


def measure(arm, now, qd=(0.0, 0.0), q=(0.3, -0.2)):
    arm.take_joint_state(MeasuredJoints(JOINTS, q, qd), now)


def test_the_aids_are_feedback_in_the_terms():
    damping = {'shoulder': 3.0, 'elbow': 1.0}
    arm, plain = policy(guiding_damping=damping), policy()
    for each in (arm, plain):
        measure(each, at(0.0), qd=(0.5, -1.0))
    decision = arm.decide(at(0.0))
    added = decision.effort - plain.decide(at(0.0)).effort
    assert added == pytest.approx([-0.5, 3.0], rel=1e-12)
    terms = arm.terms(decision)
    assert terms.feedback == pytest.approx([-0.5, 3.0], rel=1e-12)
    assert terms.total == pytest.approx(decision.effort, rel=1e-12)


def test_while_a_motion_is_wanted_nothing_is_added():
    arm = policy(mode=Mode.FEEDFORWARD, guiding_damping={'shoulder': 3.0})
    plain = policy(mode=Mode.FEEDFORWARD)
    for each in (arm, plain):
        measure(each, at(0.0), qd=(0.5, -1.0))
    assert arm.decide(at(0.0)).effort.tolist() == plain.decide(at(0.0)).effort.tolist()


def test_after_a_change_of_mode_nothing_is_left_of_it():
    arm = policy(guiding_damping={'shoulder': 3.0})
    measure(arm, at(0.0), qd=(0.5, -1.0))
    arm.decide(at(0.0))
    arm.change_settings(Settings(joints=JOINTS, **AT_ONCE))
    decision = arm.decide(at(0.0))
    assert arm.terms(decision).feedback.tolist() == [0.0, 0.0]


def test_without_velocity_the_status_names_missing_damping():
    arm = policy(guiding_damping={'shoulder': 3.0})
    measure(arm, at(0.0), qd=())
    decision = arm.decide(at(0.0))
    assert decision.status is Status.GRAVITY and decision.effort is not None
    assert 'no damping nor friction assistance of shoulder, whose velocity' in decision.detail


# ---- the unit of the drives -----------------------------------------------------------------


def test_a_command_is_in_the_units_of_the_drives():
    arm = policy(command_scale={'shoulder': -0.5})
    assert arm.in_drive_units(np.array([2.0, 3.0])).tolist() == [2.0, -1.5]
    assert policy().in_drive_units(np.array([2.0, 3.0])).tolist() == [2.0, 3.0]


@pytest.mark.parametrize('enabled', [True, False])
def test_the_scale_never_changes_at_run_time(enabled):
    """What a drive holds would count in another unit, also after a pause."""
    arm = policy(enabled=enabled)
    with pytest.raises(ArgumentError, match='command_scale cannot change at run time'):
        arm.change_settings(Settings(joints=JOINTS, command_scale={'elbow': 2.0}, **AT_ONCE))
    assert arm.in_drive_units(np.ones(2)).tolist() == [1.0, 1.0]


def test_a_scale_for_an_unknown_joint_is_refused():
    with pytest.raises(ArgumentError, match="command_scale.elbo: .*did you mean 'elbow'"):
        policy(command_scale={'elbo': 2.0})


def test_after_a_restart_the_held_command_is_first():
    """The record of commands is in the units of the drives, whatever the scale was then."""
    arm = policy(command_scale={'shoulder': -0.5}, blend_time=1.0)
    held = {'elbow': 1.5, 'shoulder': -2.0}
    arm.evidence = Evidence(Receiver.SAME, held)
    measure(arm, at(0.0))
    first = arm.in_drive_units(arm.decide(at(0.0)).effort)
    assert first == pytest.approx(list(held.values()), rel=1e-12)


@pytest.mark.parametrize('lacks', [('all',), ('gravity',)])
def test_no_start_is_taken_from_incomplete_efforts(lacks):
    arm = policy(measured_lacks=lacks)
    arm.evidence = Evidence(Receiver.UNKNOWN)
    arm.take_joint_state(MeasuredJoints(JOINTS, (0.3, -0.2), (0.0, 0.0), (-1.0, -0.5)), at(0.0))
    decision = arm.decide(at(0.0))
    assert decision.status is Status.UNKNOWN_START and 'measured_lacks' in decision.detail


def test_what_helps_one_joint_takes_no_gravity_from_another():
    stops = {'end_stop_stiffness': {'shoulder': 2e4}, 'position_limit_margin': 3.0}
    arm = policy(**stops, beyond_limits=BeyondLimits.SCALE)
    measure(arm, at(0.0))
    plain = policy(beyond_limits=BeyondLimits.SCALE)
    measure(plain, at(0.0))
    decision, gravity = arm.decide(at(0.0)), plain.decide(at(0.0)).effort
    assert decision.effort == pytest.approx([gravity[0], 100.0], rel=1e-12)
    assert arm.terms(decision).total == pytest.approx(decision.effort, rel=1e-12)


def braked(damping, stop):
    """Return the feedback among the terms of an arm that is stopped in motion."""
    arm = policy(guiding_damping={'shoulder': damping}, blend_time=0.5)
    measure(arm, at(0.0), qd=(0.5, -1.0))
    arm.decide(at(0.0))
    decision = stop(arm)
    assert decision.status is Status.STOPPING
    return arm.terms(decision).feedback


def disabled(arm):
    arm.change_settings(replace(arm.settings, enabled=False))
    return arm.decide(at(0.01))


def ended(arm):
    return arm.decide_last(at(0.01))


@pytest.mark.parametrize('stop', [disabled, ended])
def test_a_stop_brakes_and_does_not_guide(stop):
    feedback = braked(3.0, stop)
    assert feedback == pytest.approx(braked(0.0, stop), rel=1e-12)
    assert feedback @ (0.5, -1.0) < 0.0  # takes energy out


# ---- the dead-man switch ------------------------------------------------------------------------


def decided(arm, seconds, buttons=None):
    measure(arm, at(seconds))
    if buttons is not None:
        arm.take_buttons(buttons, at(seconds))
    return arm.decide(at(seconds)).status


def test_efforts_are_sent_only_while_the_button_is_pressed():
    arm = policy(dead_man_button=1, dead_man_timeout=0.5)
    assert decided(arm, 0.0) is Status.RELEASED
    assert decided(arm, 0.1, (1, 0)) is Status.RELEASED
    assert decided(arm, 0.2, (0, 1)) is Status.GRAVITY
    assert decided(arm, 0.69) is Status.GRAVITY
    for step in range(40):
        last = decided(arm, 0.71 + 0.01 * step)
    assert last is Status.RELEASED
    assert decided(arm, 1.2, (0, 1)) is Status.GRAVITY
    assert decided(arm, 1.21, (0, 0)) is Status.STOPPING


def test_a_press_does_not_count_again_once_it_is_over():
    """A later timeout or an earlier time must not bring it back."""
    arm = policy(dead_man_button=0, dead_man_timeout=0.1)
    assert decided(arm, 5.0, (1,)) is Status.GRAVITY
    for step in range(40):
        last = decided(arm, 5.2 + 0.01 * step)
    assert last is Status.RELEASED
    arm.change_settings(replace(arm.settings, dead_man_timeout=9.0))
    assert decided(arm, 5.7) is Status.RELEASED
    assert decided(arm, 5.8, (1,)) is Status.GRAVITY
    for now in (1.0, 5.8):
        assert decided(arm, now) is not Status.GRAVITY


def test_a_press_of_another_button_does_not_count():
    arm = policy(dead_man_button=0)
    assert decided(arm, 0.0, (1, 0)) is Status.GRAVITY
    arm.change_settings(replace(arm.settings, dead_man_button=1))
    assert decided(arm, 0.01) is not Status.GRAVITY


@pytest.mark.parametrize('start_from', StartFrom)
def test_pressed_again_it_continues_from_what_is_held(start_from):
    arm = policy(dead_man_button=0, start_from=start_from, on_stop=OnStop.ZERO, blend_time=0.5,
                 state_timeout=0.1)
    arm.evidence = Evidence(Receiver.SAME, dict.fromkeys(JOINTS, 0.0))
    arm.take_joint_state(MeasuredJoints(JOINTS, (0.3, -0.2), (0.0, 0.0), (0.0, 0.0)), at(0.0))
    for step in range(100):
        decided(arm, 0.01 * step, (1,))
    for step in range(100):
        last = decided(arm, 1.0 + 0.01 * step, (0,))
    assert last is Status.RELEASED
    measure(arm, at(2.0))
    arm.take_buttons((1,), at(2.0))
    assert arm.decide(at(2.0)).effort.tolist() == [0.0, 0.0]


def test_a_button_that_does_not_exist_is_named():
    with pytest.raises(MessageError, match='dead_man_button is 3, and the message has 2 buttons'):
        policy(dead_man_button=3).take_buttons((0, 0), at(0.0))


def test_without_a_dead_man_button_none_is_needed():
    arm = policy()
    arm.take_buttons((), at(0.0))
    assert decided(arm, 0.0) is Status.GRAVITY
