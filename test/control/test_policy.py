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
"""What is sent, and when nothing is: the policy's rules with an explicit clock."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan, pi

from decisions import limited_joints
import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, State, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import ExertedBy, Mode, OnStop, Settings
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import ArgumentError, MessageError, TrajectoryError, UnsafeChangeError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Arm
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import (
    ARM,
    ARM_WITH_GRIPPER,
    BALANCED,
    FREE_FLYER,
    joint,
    link,
    robot,
    ROVER,
)
from unchecked import UNCHECKED
from wrench_settings import COMPENSATED_AT_ONCE

ARM_ROBOT = Robot.from_urdf(ARM)
GRIPPER_ROBOT = Robot.from_urdf(ARM_WITH_GRIPPER)
JOINTS = ('elbow', 'shoulder')  # not the order of the description
STILL = np.zeros(2)
MEASURED = np.array([-0.8, 0.3])  # in the order of JOINTS
AT_ONCE = {'blend_time': 0.0, 'effort_rate_limit': inf, 'wrench_fade_time': 0.0, **UNCHECKED}
HELD = {'held_by_others': frozenset(JOINTS)}  # a controller of positions executes motions
GAINS = {'position_gains': (4.0,), 'velocity_gains': (4.0,)}
LARGE, TOO_LARGE = 9e99, 1.7e308  # the largest that is accepted from others, and of floats
PUSH = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
SENDING = {Status.GRAVITY, Status.NO_TRAJECTORY, Status.FOLLOWING, Status.HOLDING_END,
           Status.GOAL_DEVIATION}
SILENT = {Status.DISABLED, Status.WAITING, Status.UNKNOWN_POSITION, Status.NO_EFFORT_LIMIT,
          Status.OVERLOADED}


def at(seconds):
    """Return a moment; the two clocks differ, so that to take the wrong one shows."""
    return Instant(steady=50.0 + seconds, ros=RosTime.from_seconds(1000.0 + seconds))


def both_clocks(seconds):
    """Return an instant at which both clocks are the same, as in a simulation."""
    return Instant(seconds, RosTime.from_seconds(seconds))


def stamped(seconds):
    """Return the stamp of a trajectory; 0: none."""
    return RosTime.from_seconds(seconds) if seconds else None


def policy_of(whose=ARM_ROBOT, joints=JOINTS, **settings):
    """Return a policy whose efforts are what is needed, at once."""
    return Policy(whose, Settings(joints=joints, **{**AT_ONCE, **settings}))


def measure(policy, positions=MEASURED, names=JOINTS, velocities=(), stamp=0.0, time=0.0):
    return policy.take_joint_state(
        MeasuredJoints(names, positions, velocities, stamp=stamp), at(time))


def measured(*arguments, **settings):
    """Return a policy that has just heard where its joints are."""
    policy = policy_of(*arguments, **settings)
    measure(policy)
    return policy


def decided(policy, status, time=0.0):
    """Return a decision, which must be of this status, and have an effort or none."""
    decision = policy.decide(at(time))
    assert decision.status is status, decision
    if status in SENDING or status in SILENT:
        assert (decision.effort is not None) is (status in SENDING)
    return decision


def in_order(q=MEASURED, qd=STILL, qdd=STILL, **arguments):
    """Return the arm's effort; vectors here and there are in the order of JOINTS."""
    return ARM_ROBOT.inverse_dynamics(q[::-1], qd[::-1], qdd[::-1], **arguments)[::-1]


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


# ---- when nothing is sent ---------------------------------------------------------------------


def test_it_waits_for_controlled_joints_that_were_never_measured():
    policy = policy_of()
    assert decided(policy, Status.WAITING).joints == JOINTS
    assert not measure(policy, [0.1], ['shoulder'])
    assert decided(policy, Status.WAITING).joints == ('elbow',)
    assert decided(policy, Status.WAITING, time=9.0).joints == ('elbow',)


@pytest.mark.parametrize('settings, time, status', [
    ({}, 0.0, Status.NO_TRAJECTORY), ({}, 0.099, Status.NO_TRAJECTORY), ({}, 0.101, Status.STALE),
    ({'state_timeout': 5.0}, 4.9, Status.NO_TRAJECTORY)])
def test_a_state_counts_for_as_long_as_the_timeout(settings, time, status):
    decided(measured(**settings), status, time)


def test_a_stale_joint_is_named_until_it_is_measured():
    policy = measured()
    measure(policy, [0.3], ['shoulder'], time=0.08)
    assert decided(policy, Status.STALE, time=0.12).joints == ('elbow',)
    measure(policy, time=0.12)
    decided(policy, Status.NO_TRAJECTORY, time=0.12)


def test_while_disabled_nothing_is_sent():
    for policy in (policy_of(enabled=False), measured(enabled=False)):
        decided(policy, Status.DISABLED)


def accelerated(policy, acceleration):
    """Return the decision where a controller asks for an acceleration of both joints."""
    policy.take_controller_state(ControllerReference(
        JOINTS, MEASURED, STILL, (acceleration, acceleration), 0.0, 1.0), at(0.0))
    return policy.decide(at(0.0))


def with_load(mass):
    """Return a policy in free space, where no load is too heavy to be held."""
    load = Inertial(mass, Pose((0.1, 0.0, 0.0)))
    return measured(ARM_ROBOT.with_payload('load', 'tool', load), gravity=(0.0, 0.0, 0.0))


@pytest.mark.filterwarnings('ignore:overflow')
def test_where_no_effort_is_finite_the_arm_is_held():
    decision = accelerated(with_load(1e200), LARGE)  # 1e300 Nm
    assert limited_joints(decision, 'saturated') == JOINTS
    assert np.isfinite(decision.effort).all()
    policy = with_load(1e250)
    measure(policy, velocities=STILL)
    decision = accelerated(policy, LARGE)
    assert (decision.status, decision.state) == (Status.NOT_FINITE, State.BRAKING)
    assert decision.joints
    assert decision.effort.tolist() == [0.0, 0.0]  # what holds the arm
    measure(policy, velocities=STILL, time=0.06)
    decision = decided(policy, Status.NOT_FINITE, time=0.06)
    assert (decision.state, decision.effort.tolist()) == (State.FAULT, [0.0, 0.0])


@pytest.mark.parametrize('acceleration', [1e100, 1e300, -TOO_LARGE])
def test_too_large_a_reference_is_refused(acceleration):
    policy = measured()
    with pytest.raises(MessageError, match=r"'elbow'.*1e\+100"):
        accelerated(policy, acceleration)
    near(decided(policy, Status.NO_TRAJECTORY).effort, in_order())


@pytest.mark.filterwarnings('ignore:overflow')
def test_a_gravity_without_a_finite_effort_starts_nothing():
    policy = measured(gravity=(0.0, 0.0, -TOO_LARGE))
    assert decided(policy, Status.NOT_FINITE).effort is None


@pytest.mark.parametrize('joints', [JOINTS, JOINTS[::-1]])
def test_the_next_decision_changes_none_before(joints):
    policy = policy_of(joints=joints)
    measure(policy)
    first = decided(policy, Status.NO_TRAJECTORY)
    effort = first.effort.copy()
    measure(policy, [1.1, -1.2], time=0.01)
    assert not np.allclose(decided(policy, Status.NO_TRAJECTORY, time=0.01).effort, effort)
    assert first.effort.tolist() == effort.tolist()


# ---- joint states -----------------------------------------------------------------------------


@pytest.mark.parametrize('names, due', [
    (('shoulder', 'elbow'), True), (('elbow', 'grip'), True), (('grip',), False),
    (('wheel',), False), ((), False)])
def test_a_command_is_due_for_a_message_with_controlled_joints(names, due):
    policy = policy_of(GRIPPER_ROBOT)
    for state in (JOINTS, names):  # of one publisher, although their names differ
        is_due = policy.take_joint_state(
            MeasuredJoints(state, [0.01] * len(state), source='driver'), at(0.0))
    assert is_due is due


def test_a_command_is_due_once_every_controlled_joint_is_fresh():
    policy = policy_of()
    assert not measure(policy, [0.3], ['shoulder'])
    assert measure(policy, [-0.8], ['elbow'], time=0.05)
    assert not measure(policy, [-0.8], ['elbow'], time=0.2)
    assert measure(policy, [0.3], ['shoulder'], time=0.25)


@pytest.mark.parametrize('names, positions', [
    (('elbow', 'shoulder'), (nan, 0.0)), (('elbow', 'shoulder'), (0.0,)),
    (('elbow', 'elbow'), (0.0, 0.0))])
def test_a_bad_message_is_refused_and_the_state_before_counts(names, positions):
    policy = measured()
    with pytest.raises(MessageError):
        measure(policy, positions, names, time=0.05)
    near(decided(policy, Status.NO_TRAJECTORY, time=0.05).effort, in_order())
    decided(policy, Status.STOPPING, time=0.12)
    decided(policy, Status.STALE, time=0.25)


def test_an_older_message_is_refused_until_the_state_is_stale():
    policy = policy_of()
    measure(policy, stamp=100.0)
    with pytest.raises(MessageError, match='older'):
        measure(policy, stamp=99.9, time=0.05)
    assert measure(policy, stamp=1.0, time=0.2)  # the driver was started again


def test_stamps_need_not_be_of_any_clock_here():
    for stamp in (0.0, 1e-9, 1e12):
        assert measure(policy_of(), stamp=stamp)


@pytest.mark.parametrize('now, status', [
    (Instant(steady=at(0.05).steady, ros=RosTime(0)), Status.NO_TRAJECTORY),
    (Instant(steady=at(1.0).steady, ros=at(0.0).ros), Status.STALE)])
def test_ages_are_measured_by_the_steady_clock(now, status):
    assert measured().decide(now).status is status


def test_after_a_reset_of_simulated_time_states_are_taken_again():
    policy = policy_of()
    policy.take_joint_state(MeasuredJoints(JOINTS, MEASURED, stamp=100.0), both_clocks(100.0))
    assert policy.decide(both_clocks(0.01)).status is Status.STALE
    assert policy.take_joint_state(
        MeasuredJoints(JOINTS, MEASURED, stamp=0.01), both_clocks(0.01))


# ---- joints that are not controlled -----------------------------------------------------------


def with_gripper(**settings):
    return measured(GRIPPER_ROBOT, **settings)


def gripper_gravity(grip):
    return GRIPPER_ROBOT.gravity([MEASURED[1], MEASURED[0], grip])[[1, 0]]


def test_an_unknown_joint_stops_it_with_the_line_to_add():
    decision = decided(with_gripper(), Status.UNKNOWN_POSITION)
    assert decision.joints == ('grip',)
    assert 'assumed_positions.grip' in decision.detail


def test_another_joint_counts_where_it_is_assumed():
    policy = with_gripper(assumed_positions={'grip': (0.5,)})
    near(decided(policy, Status.NO_TRAJECTORY).effort, gripper_gravity(0.5))


def test_settings_without_a_finite_effort_are_refused():
    policy = measured()
    with pytest.raises(ArgumentError, match="holds joint 'shoulder' is no finite number"):
        policy.check_change(replace(policy.settings, gravity=(0.0, 0.0, -1e308)))
    near(decided(policy, Status.NO_TRAJECTORY).effort, in_order())


@pytest.mark.parametrize('limit, expected', [('40.0', {'elbow': 80.0}), ('0', {})])
def test_the_acceleration_of_a_rotor_alone_is_known(limit, expected):
    whose = AdjustableRobot.of(
        Robot.from_urdf(ARM.replace('effort="40.0"', f'effort="{limit}"')),
        optional_parameters=['armature'])
    whose.set_joint_parameters('armature', {'elbow': 0.5})
    assert policy_of(whose).rotor_accelerations() == expected


def test_an_early_check_leaves_another_joint_where_assumed():
    """The worker that builds the model makes such a check; then the node fades out."""
    policy = policy_of(GRIPPER_ROBOT, assumed_positions={'grip': (0.5,)})
    policy.check_held()
    measure(policy)
    decided(policy, Status.NO_TRAJECTORY)
    held = policy.effort_after_stop()
    near([held[name] for name in JOINTS], gripper_gravity(0.5))


@pytest.mark.parametrize('assumed', [{}, {'grip': (0.5,)}])
def test_another_joint_counts_where_it_is_measured(assumed):
    policy = with_gripper(assumed_positions=assumed)
    measure(policy, [0.9], ['grip'])
    near(decided(policy, Status.NO_TRAJECTORY).effort, gripper_gravity(0.9))


def test_an_old_position_of_another_joint_counts():
    policy = with_gripper()
    measure(policy, [0.9], ['grip'])
    measure(policy, time=60.0)
    near(decided(policy, Status.NO_TRAJECTORY, time=60.0).effort, gripper_gravity(0.9))


@pytest.mark.parametrize('position', [nan, inf])
def test_another_joint_that_is_not_finite_counts_as_not_measured(position):
    policy = with_gripper(assumed_positions={'grip': (0.5,)})
    measure(policy, [*MEASURED, position], [*JOINTS, 'grip'])
    near(decided(policy, Status.NO_TRAJECTORY).effort, gripper_gravity(0.5))


@pytest.mark.parametrize('whose, joint_name, position', [
    (ROVER, 'drive', (1.0, 2.0, 0.5)),
    (FREE_FLYER, 'flight', (1.0, 2.0, 3.0, 0.6, 0.0, 0.0, 0.8))])
def test_a_joint_of_several_coordinates_is_where_assumed(whose, joint_name, position):
    whose = Robot.from_urdf(whose)
    (turning,) = set(whose.joint_names) - {joint_name}
    lost = policy_of(whose, (turning,))
    measure(lost, [0.7], [turning])
    assert decided(lost, Status.UNKNOWN_POSITION).joints == (joint_name,)
    tilted = (3.0, 1.0, -9.0)
    held = policy_of(
        whose, (turning,), assumed_positions={joint_name: position}, gravity=tilted)
    measure(held, [0.7], [turning])
    near(decided(held, Status.NO_TRAJECTORY).effort,
         whose.gravity([*position, 0.7], tilted)[-1:])


def test_a_quaternion_of_zeros_is_refused():
    """It is what somebody writes who wants the joint at zero."""
    with pytest.raises(ArgumentError, match="quaternion .* of joint 'flight' has length 0"):
        policy_of(
            Robot.from_urdf(FREE_FLYER), ('camera',), assumed_positions={'flight': (0.0,) * 7})


def test_the_advice_can_be_followed():
    cart = policy_of(Robot.from_urdf(ROVER), ('pan',))
    measure(cart, [0.7], ['pan'])
    assert 'publish' not in decided(cart, Status.UNKNOWN_POSITION).detail


# ---- without a trajectory ---------------------------------------------------------------------


def test_before_a_trajectory_it_is_gravity_where_measured():
    policy = policy_of()
    measure(policy, velocities=[5.0, 6.0])
    near(decided(policy, Status.NO_TRAJECTORY).effort, in_order())


def test_in_gravity_compensation_no_trajectory_counts():
    policy = policy_of(mode=Mode.GRAVITY_COMPENSATION)
    measure(policy, velocities=[5.0, 6.0])
    policy.take_trajectory(TrajectoryCommand(JOINTS, RAMP), at(0.0))
    for time in (0.0, 0.05):
        near(decided(policy, Status.GRAVITY, time).effort, in_order())


@pytest.mark.parametrize('mode', Mode)
def test_gravity_is_a_setting(mode):
    tilted = (3.0, 4.0, -5.0)
    policy = measured(mode=mode, gravity=tilted, **GAINS)
    measure(policy, velocities=STILL)
    near(policy.decide(at(0.0)).effort, in_order(gravity=tilted))


@pytest.mark.parametrize('joints, expected', [
    (('elbow', 'shoulder'), [1, 0]), (('shoulder', 'elbow'), [0, 1]), (('elbow',), [1])])
def test_the_command_is_in_the_order_of_the_setting(joints, expected):
    policy = policy_of(joints=joints, assumed_positions={'shoulder': (9.0,)})
    measure(policy)
    assert policy.controlled == joints
    near(decided(policy, Status.NO_TRAJECTORY).effort,
         ARM_ROBOT.gravity(MEASURED[::-1])[expected])


def test_without_the_setting_joints_that_are_not_assumed_are_controlled():
    assert policy_of(GRIPPER_ROBOT, ()).controlled == ('shoulder', 'elbow', 'grip')
    assert policy_of(GRIPPER_ROBOT, (), assumed_positions={'elbow': (0.0,)}).controlled == (
        'shoulder', 'grip')
    assert policy_of(Robot.from_urdf(ROVER), ()).controlled == ('pan',)


# ---- with a trajectory ------------------------------------------------------------------------

# A quintic from rest to rest in 1 s, the shoulder twice as far; at 0.25 s it is here.
REST = (0.0, 0.0)
RAMP = (Waypoint(0.0, REST, REST, REST), Waypoint(1.0, (1.0, 2.0), REST, REST))
END = np.array([1.0, 2.0])
QUARTER = (0.103515625 * END, 1.0546875 * END, 5.625 * END)


@pytest.mark.parametrize('factor, limit', [(0.5, 1), (2.0, 4)])
def test_a_trajectory_may_be_as_fast_as_the_factor_allows(factor, limit):
    """A quintic polynomial has 15/8 of its mean velocity on its way, and the limits are 2."""
    policy = measured(velocity_limit_factor=factor)
    for speed, is_refused in ((0.9 * limit, False), (1.1 * limit, True)):
        way = np.array([0.0, speed * 8.0 / 15.0])
        command = TrajectoryCommand(JOINTS, [
            Waypoint(0.0, MEASURED, REST, REST), Waypoint(1.0, MEASURED + way, REST, REST)])
        if is_refused:
            with pytest.raises(TrajectoryError, match=f'velocity .*, and its limit is {limit}:'):
                policy.take_trajectory(command, at(0.0))
        else:
            policy.take_trajectory(command, at(0.0))


def following(whose=ARM_ROBOT, time=0.25, **settings):
    """
    Return a policy that follows RAMP since 0 s and was last measured at a time.

    RAMP is faster than the joints may be, so that another controller has to execute it.
    """
    policy = measured(whose, **{**HELD, **settings})
    policy.take_trajectory(TrajectoryCommand(JOINTS, RAMP), at(0.0))
    measure(policy, time=time)
    return policy


def test_a_trajectory_is_followed_with_its_positions_velocities_and_accelerations():
    near(decided(following(), Status.FOLLOWING, 0.25).effort, in_order(*QUARTER))


def test_a_motion_beyond_the_limits_is_refused_without_a_controller():
    policy = measured(held_by_others=frozenset({'elbow'}))
    with pytest.raises(TrajectoryError, match="s after its begin, joint 'shoulder' has the velo"):
        policy.take_trajectory(TrajectoryCommand(JOINTS, RAMP), at(0.0))
    decided(policy, Status.NO_TRAJECTORY)
    slow = [replace(point, time=2.0 * point.time) for point in RAMP]
    policy.take_trajectory(TrajectoryCommand(JOINTS, slow), at(0.0))
    q, qd, qdd = QUARTER
    measure(policy, time=0.5)
    near(decided(policy, Status.FOLLOWING, 0.5).effort, in_order(q, 0.5 * qd, 0.25 * qdd))


@pytest.mark.parametrize('stamp, time', [(0.0, 0.25), (1000.0, 0.25), (1002.0, 2.25),
                                         (999.9, 0.15)])
def test_time_counts_from_the_stamp_or_from_reception(stamp, time):
    policy = measured(**HELD)
    policy.take_trajectory(TrajectoryCommand(JOINTS, RAMP, stamped(stamp)), at(0.0))
    measure(policy, time=time)
    near(decided(policy, Status.FOLLOWING, time).effort, in_order(*QUARTER))


def test_the_lookahead_reads_the_desired_motion_ahead_of_now():
    policy = following(lookahead=0.2, time=0.05)
    near(decided(policy, Status.FOLLOWING, 0.05).effort, in_order(*QUARTER))


def test_other_joints_move_as_measured_while_that_is_fresh():
    policy = following(GRIPPER_ROBOT)
    measure(policy, [0.4], ['grip'], [2.0], time=0.2)
    for time, rate in ((0.25, 2.0), (0.35, 0.0)):
        measure(policy, time=time)
        u = time
        desired = [p * END[::-1] for p in (
            10 * u**3 - 15 * u**4 + 6 * u**5, 30 * u**2 - 60 * u**3 + 30 * u**4,
            60 * u - 180 * u**2 + 120 * u**3)]
        tau = GRIPPER_ROBOT.inverse_dynamics(*(
            [*both, last] for both, last in zip(desired, (0.4, rate, 0.0))))
        near(decided(policy, Status.FOLLOWING, time).effort, tau[[1, 0]])


def test_at_the_end_measured_velocities_do_not_count():
    policy = following(GRIPPER_ROBOT)
    measure(policy, [*(END + 0.09), 0.4], [*JOINTS, 'grip'], [1.0, 1.5, 3.0], time=1.5)
    near(decided(policy, Status.HOLDING_END, 1.5).effort,
         GRIPPER_ROBOT.gravity([*END[::-1], 0.4])[[1, 0]])


def test_off_the_end_it_is_gravity_where_measured():
    policy = following()
    away = END + [0.0, 0.11]
    measure(policy, away, time=1.5)
    decision = decided(policy, Status.GOAL_DEVIATION, 1.5)
    near(decision.effort, in_order(away))
    assert 'shoulder by +0.110' in decision.detail
    assert 'elbow' not in decision.detail


@pytest.mark.parametrize('kind, status', [
    ('continuous', Status.HOLDING_END), ('revolute', Status.GOAL_DEVIATION)])
def test_a_continuous_joint_is_at_the_end_after_whole_turns(kind, status):
    wheel = Robot.from_urdf(robot(link('a'), link('b'), joint('turn', 'a', 'b', kind)))
    policy = policy_of(wheel, ('turn',), held_by_others=frozenset({'turn'}))
    measure(policy, [0.0], ['turn'])
    policy.take_trajectory(TrajectoryCommand(['turn'], [Waypoint(0.01, [1.0])]), at(0.0))
    measure(policy, [1.0 + 4 * pi], ['turn'], time=0.05)
    decided(policy, status, 0.05)


def test_the_lead_in_starts_as_the_robot_moves():
    """The cubic from there to rest at 0 in 1 s begins with this acceleration."""
    policy, velocities = policy_of(), np.array([3.0, 4.0])
    measure(policy, velocities=velocities)
    policy.take_trajectory(TrajectoryCommand(JOINTS, [Waypoint(1.0, REST, REST)]), at(0.0))
    near(decided(policy, Status.FOLLOWING).effort,
         in_order(MEASURED, velocities, -6.0 * MEASURED - 4.0 * velocities))


@pytest.mark.parametrize('made, time', [(policy_of, 0.0), (measured, 0.2)])
def test_no_trajectory_is_accepted_without_a_fresh_state(made, time):
    policy = made()
    with pytest.raises(TrajectoryError, match='starts from the measured state'):
        policy.take_trajectory(TrajectoryCommand(JOINTS, RAMP), at(time))
    measure(policy, time=time)
    decided(policy, Status.NO_TRAJECTORY, time)


def test_a_bad_trajectory_is_refused_and_another_one_goes_on():
    policy = following(time=0.0)
    with pytest.raises(TrajectoryError, match='ended 9.000 s ago'):
        policy.take_trajectory(TrajectoryCommand(JOINTS, RAMP, stamped(990.0)), at(0.0))
    measure(policy, time=0.25)
    near(decided(policy, Status.FOLLOWING, 0.25).effort, in_order(*QUARTER))


def test_a_trajectory_of_another_joint_is_refused():
    policy = with_gripper(assumed_positions={'grip': (0.0,)})
    with pytest.raises(TrajectoryError, match="'grip'"):
        policy.take_trajectory(TrajectoryCommand(['grip'], [Waypoint(1.0, [0.1])]), at(0.0))


# ---- wrenches ---------------------------------------------------------------------------------


def pushed(frames=('tool',), **settings):
    policy = measured(**{**COMPENSATED_AT_ONCE, **settings})
    for frame in frames:
        policy.take_wrench(frame, PUSH, at(0.0))
    return policy


@pytest.mark.parametrize('settings, sign', [
    ({}, 1.0),
    ({'wrench_exerted_by': ExertedBy.ROBOT}, -1.0),
    ({'wrench_in_gravity_compensation': False}, 0.0),
    ({'mode': Mode.GRAVITY_COMPENSATION, 'wrench_in_gravity_compensation': False}, 0.0),
    ({'mode': Mode.GRAVITY_COMPENSATION}, 1.0),
    ({'mode': Mode.GRAVITY_COMPENSATION, 'wrench_exerted_by': ExertedBy.ROBOT}, -1.0),
    ({'wrench_gain': 0.25}, 0.25),
    ({'wrench_gain': 0.0}, 0.0),
])
def test_a_wrench_is_balanced_unless_a_hand_guides_the_arm(settings, sign):
    near(pushed(**settings).decide(at(0.0)).effort,
         in_order(f_ext={'tool': sign * np.array(PUSH)}))


def test_wrenches_in_several_frames_add():
    frames = ('tool', 'upper', 'lower')
    near(pushed(frames, wrench_frames=frames).decide(at(0.0)).effort,
         in_order(f_ext=dict.fromkeys(frames, PUSH)))


def test_a_wrench_counts_while_a_trajectory_is_followed():
    policy = following(**{**COMPENSATED_AT_ONCE, 'wrench_in_gravity_compensation': False})
    policy.take_wrench('tool', PUSH, at(0.25))
    near(decided(policy, Status.FOLLOWING, 0.25).effort, in_order(*QUARTER, f_ext={'tool': PUSH}))


def test_a_wrench_fades_in_and_out_with_the_motion():
    known = {**COMPENSATED_AT_ONCE, 'wrench_in_gravity_compensation': False}
    policy = measured(**{**known, 'wrench_fade_time': 0.2, 'wrench_timeout': 9.0})
    policy.take_wrench('tool', PUSH, at(0.0))
    near(decided(policy, Status.NO_TRAJECTORY).effort, in_order())
    policy.take_trajectory(
        TrajectoryCommand(JOINTS, [Waypoint(0.0, MEASURED, STILL, STILL)]), at(0.0))
    whole = in_order(f_ext={'tool': PUSH}) - in_order()
    for time, share in ((0.0, 0.0), (0.05, 0.15625), (0.1, 0.5), (0.2, 1.0), (0.3, 1.0)):
        measure(policy, time=time)
        near(decided(policy, Status.HOLDING_END, time).effort - in_order(), share * whole)
    away = MEASURED + [0.3, 0.0]
    whole = in_order(away, f_ext={'tool': PUSH}) - in_order(away)
    for time, share in ((0.4, 0.5), (0.5, 0.0), (0.6, 0.0)):
        measure(policy, away, time=time)
        near(decided(policy, Status.GOAL_DEVIATION, time).effort - in_order(away), share * whole)


@pytest.mark.parametrize('factor', [1.0, 0.5])
@pytest.mark.parametrize('share', [0.0, 0.02, 0.2])
def test_wrenches_use_no_more_than_their_share_of_limits(share, factor):
    policy = measured(**{
        **COMPENSATED_AT_ONCE, 'wrench_effort_share': share, 'effort_limit_factor': factor})
    assert policy.joints_limiting_wrenches() == ()
    policy.take_wrench('tool', 100.0 * np.array(PUSH), at(0.0))
    decision = policy.decide(at(0.0))
    external = in_order(f_ext={'tool': 100.0 * np.array(PUSH)}) - in_order()
    allowed = share * factor * np.array([40.0, 100.0])
    scaling = (allowed / np.abs(external)).min()
    assert scaling < 1.0
    near(decision.effort, in_order() + scaling * external)
    near(policy.terms(decision).external, scaling * external)
    beyond = [name for name, one, most in zip(JOINTS, np.abs(external), allowed) if one > most]
    assert policy.joints_limiting_wrenches() == tuple(beyond)
    policy.take_wrench('tool', 1e-3 * np.array(PUSH), at(0.0))
    decided(policy, Status.NO_TRAJECTORY)
    assert policy.joints_limiting_wrenches() == (() if share else JOINTS)


@pytest.mark.parametrize('timeout, counts', [(0.05, False), (0.07, True)])
def test_a_wrench_counts_for_as_long_as_its_timeout(timeout, counts):
    policy = pushed(wrench_timeout=timeout)
    near(decided(policy, Status.NO_TRAJECTORY, 0.06).effort,
         in_order(f_ext={'tool': PUSH} if counts else {}))


@pytest.mark.parametrize('frame, values', [('moon', PUSH), ('tool', (nan,) * 6)])
def test_a_bad_wrench_is_refused(frame, values):
    policy = measured()
    with pytest.raises(MessageError):
        policy.take_wrench(frame, values, at(0.0))
    near(decided(policy, Status.NO_TRAJECTORY).effort, in_order())


# ---- limits -----------------------------------------------------------------------------------


def sending(whose=ARM_ROBOT, **settings):
    """Return a policy that has started where gravity needs no effort, and has moved since."""
    policy = policy_of(whose, **settings)
    measure(policy, BALANCED[::-1], velocities=STILL)
    assert policy.decide(at(0.0)).effort is not None
    measure(policy)
    return policy


@pytest.mark.parametrize('factor', [1.0, 0.5])
@pytest.mark.parametrize('mode', Mode)
def test_every_effort_is_cut_to_the_limit_times_factor(mode, factor):
    """The limits of the description are 40 N m at the elbow and 100 N m at the shoulder."""
    policy = sending(
        mode=mode, gravity=(0.0, 0.0, -9.81e4), effort_limit_factor=factor, **GAINS)
    measure(policy, velocities=STILL)
    decision = policy.decide(at(0.0))
    near(np.abs(decision.effort), [40.0 * factor, 100.0 * factor])
    near(np.sign(decision.effort), np.sign(in_order()))
    assert limited_joints(decision, 'saturated') == JOINTS


def test_only_what_exceeds_its_limit_is_cut():
    decision = sending(effort_limit_factor=0.04).decide(at(0.0))
    free = in_order()
    assert abs(free[0]) > 1.6 and abs(free[1]) < 4.0
    near(decision.effort, [np.sign(free[0]) * 1.6, free[1]])
    assert limited_joints(decision, 'saturated') == ('elbow',)


@pytest.mark.parametrize('limit, defect', [
    ('', 'missing'), ('effort="0"', '0'), ('effort="1e30"', '1e+30'), ('effort="10001"', '10001')])
def test_nothing_is_sent_with_a_limit_of_no_motor(limit, defect):
    whose = Robot.from_urdf(ARM.replace('effort="100.0"', limit))
    policy = measured(whose)
    decision = decided(policy, Status.NO_EFFORT_LIMIT)
    assert decision.joints == ('shoulder',)
    assert f'limit {defect}' in decision.detail
    assert 'effort_limits: {shoulder: ...}' in decision.detail
    policy.change_settings(Settings(joints=JOINTS, effort_limits={'shoulder': 20.0}, **AT_ONCE))
    near(decided(policy, Status.NO_TRAJECTORY).effort, in_order())


@pytest.mark.parametrize('limit', ['1', '330', '2000', '10000'])
def test_a_limit_that_a_motor_may_have_is_used(limit):
    whose = Robot.from_urdf(ARM.replace('effort="100.0"', f'effort="{limit}"'))
    policy = measured(whose, gravity=(0.0, 0.0, -1.0))
    assert abs(accelerated(policy, LARGE).effort[1]) == float(limit)


@pytest.mark.parametrize('kind, limit, is_used', [
    ('prismatic', 999e3, True), ('prismatic', 1.1e6, False),
    ('revolute', 9999.0, True), ('revolute', 10001.0, False), ('continuous', 10001.0, False)])
def test_a_force_may_be_larger_than_a_torque(kind, limit, is_used):
    """A hydraulic cylinder has a limit that would be a placeholder of a joint that turns."""
    text = robot(link('a'), link('b'), joint('slide', 'a', 'b', kind, effort=limit))
    policy = policy_of(Robot.from_urdf(text), ('slide',))
    measure(policy, [0.0], ['slide'])
    assert policy.decide(at(0.0)).status is (
        Status.NO_TRAJECTORY if is_used else Status.NO_EFFORT_LIMIT)
    weak = Robot.from_urdf(text.replace(f'effort="{limit}"', 'effort="50"'))
    if is_used:
        policy_of(weak, ('slide',), effort_limits={'slide': limit})
    else:
        with pytest.raises(ArgumentError, match='effort_limits.slide is .*at most'):
            policy_of(weak, ('slide',), effort_limits={'slide': limit})


@pytest.mark.parametrize('name, words', [
    ('sholder', ("did you mean 'shoulder'", 'joints are shoulder, elbow, grip')),
    ('thumb_joint', ("follows 'grip'",))])
def test_nothing_is_sent_while_a_limit_names_no_joint(name, words):
    policy = with_gripper(assumed_positions={'grip': (0.02,)}, effort_limits={name: 5.0})
    decision = decided(policy, Status.NO_EFFORT_LIMIT)
    assert decision.joints == (name,)
    assert all(word in decision.detail for word in (f'effort_limits.{name}', *words))
    policy.change_settings(replace(policy.settings, effort_limits={'shoulder': 5.0}))
    decided(policy, Status.NO_TRAJECTORY)


def test_a_joint_that_is_not_controlled_needs_no_limit():
    whose = Robot.from_urdf(ARM_WITH_GRIPPER.replace(
        'upper="3" effort="100.0" velocity="2"/></joint><joint name="thumb_joint"',
        'upper="3" effort="0" velocity="2"/></joint><joint name="thumb_joint"'))
    assert whose.effort_limits.tolist() == [100.0, 100.0, 0.0]
    policy = measured(whose, assumed_positions={'grip': (0.02,)})
    assert policy.decide(at(0.0)).effort is not None


def test_a_limit_of_the_settings_replaces_that_of_the_description():
    policy = sending(effort_limits={'elbow': 2.0}, effort_limit_factor=0.5)
    decision = policy.decide(at(0.0))
    assert decision.effort[0] == np.sign(in_order()[0]) * 1.0
    assert limited_joints(decision, 'saturated') == ('elbow',)


@pytest.mark.parametrize('limit', [0.0, -1.0, nan, inf])
def test_a_limit_that_is_not_above_zero_is_refused(limit):
    with pytest.raises(ArgumentError, match='effort_limits.elbow'):
        Settings(effort_limits={'elbow': limit})


def test_a_joint_of_several_coordinates_has_no_effort_limit():
    with pytest.raises(ArgumentError, match='effort_limits.drive.*planar'):
        policy_of(Robot.from_urdf(ROVER), ('pan',), effort_limits={'drive': 3.0},
                  assumed_positions={'drive': (0.0, 0.0, 0.0)})


def test_an_arm_that_cannot_hold_itself_is_not_started():
    policy = measured(effort_limits={'elbow': 1.0, 'shoulder': 1.0})
    decision = decided(policy, Status.OVERLOADED)
    assert decision.joints == JOINTS
    assert f'elbow needs {abs(in_order()[0]):.4g}, and its limit is 1 [Nm or N]' in decision.detail
    policy.change_settings(
        Settings(joints=JOINTS, effort_limits={'elbow': 4.0, 'shoulder': 4.0}, **AT_ONCE))
    near(decided(policy, Status.NO_TRAJECTORY).effort, in_order())


@pytest.mark.parametrize('settings', [{'arm': Arm.UR}, {'gravity': (0.0, 0.0, -1e-3)}])
def test_an_arm_that_stands_by_itself_may_have_weak_motors(settings):
    policy = measured(effort_limits={'elbow': 1.0, 'shoulder': 1.0}, **settings)
    decided(policy, Status.NO_TRAJECTORY)


def test_an_arm_in_motion_is_clamped_where_motors_are_weak():
    decision = decided(sending(effort_limits={'elbow': 1.0}), Status.NO_TRAJECTORY)
    assert abs(decision.effort[0]) == 1.0


WEAKER = {
    'effort_limits': {'shoulder': 0.5}, 'effort_limit_factor': 0.0,
    'gravity': (0.0, 0.0, -981.0)}


def faded_out(policy):
    """Return the last effort of a policy that has just been disabled."""
    effort = decided(policy, Status.STOPPING).effort
    for time in (0.09, 0.12, 0.13):
        measure(policy, time=time)
        decision = policy.decide(at(time))
        effort = effort if decision.effort is None else decision.effort
    assert decision.status is Status.DISABLED
    return effort


@pytest.mark.parametrize('name', ['effort_limits', 'effort_limit_factor', 'gravity'])
def test_settings_that_would_let_the_arm_fall_are_refused(name):
    policy = measured()
    before = policy.decide(at(0.0)).effort
    weaker = replace(policy.settings, **{name: WEAKER[name]})
    with pytest.raises(UnsafeChangeError, match='shoulder needs .*, and its limit is .*enabled'):
        policy.change_settings(weaker)
    assert policy.settings.effort_limits == {}
    near(decided(policy, Status.NO_TRAJECTORY).effort, before)
    near(policy.gravity, policy.settings.gravity)
    policy.change_settings(replace(policy.settings, enabled=False))
    near(faded_out(policy), before)
    policy.change_settings(weaker)
    decided(policy, Status.OVERLOADED, 0.13)


@pytest.mark.parametrize('changes', [
    *({name: value} for name, value in WEAKER.items()), {'effort_limits': {'no joint': 1.0}}])
def test_a_stop_with_weaker_settings_is_refused_alone_it_fades(changes):
    """The node therefore applies a stop alone, and all else once nothing is sent."""
    policy = measured()
    before = policy.decide(at(0.0)).effort
    disabled = replace(policy.settings, **changes, enabled=False)
    with pytest.raises(UnsafeChangeError):
        policy.change_settings(disabled)
    assert policy.settings.enabled
    near(decided(policy, Status.NO_TRAJECTORY).effort, before)
    for on_stop in (OnStop.ZERO, OnStop.GRAVITY):  # the last one counts
        policy.change_settings(replace(policy.settings, enabled=False, on_stop=on_stop))
    with pytest.raises(UnsafeChangeError):  # the arm is not yet at rest
        policy.change_settings(disabled)
    near(faded_out(policy), before)
    policy.change_settings(disabled)
    policy.change_settings(replace(disabled, enabled=True))
    assert policy.decide(at(0.13)).status in (Status.OVERLOADED, Status.NO_EFFORT_LIMIT)


def test_an_arm_enabled_during_the_final_fade_is_held():
    policy = measured()
    before = policy.decide(at(0.0)).effort
    enabled = policy.settings
    policy.change_settings(replace(enabled, enabled=False))
    decided(policy, Status.STOPPING)
    with pytest.raises(UnsafeChangeError, match='shoulder needs'):
        policy.change_settings(replace(enabled, effort_limits={'shoulder': 0.5}))
    policy.change_settings(enabled)
    near(decided(policy, Status.NO_TRAJECTORY, 0.01).effort, before)
    assert policy.settings == enabled


def test_an_overloaded_arm_may_have_no_weaker_settings():
    policy = sending(effort_limits={'elbow': 1.0})
    decided(policy, Status.NO_TRAJECTORY)
    for settings in ({'mimic_tolerance': 1.0}, {'effort_limits': {'elbow': 1.5}},
                     {'enabled': False}, {'enabled': True}):
        policy.change_settings(replace(policy.settings, **settings))
    with pytest.raises(UnsafeChangeError, match='elbow needs'):
        policy.change_settings(replace(policy.settings, effort_limits={'elbow': 1.4}))


def test_an_arm_that_holds_itself_may_get_weaker_motors():
    policy = measured(arm=Arm.UR)
    decided(policy, Status.NO_TRAJECTORY)
    policy.change_settings(replace(policy.settings, effort_limits={'shoulder': 0.5}))
    with pytest.raises(UnsafeChangeError, match='shoulder needs'):
        policy.change_settings(replace(policy.settings, arm=Arm.GENERIC))


@pytest.mark.parametrize('change, words', [
    (('effort="100.0"', 'effort="0"'), r'effort_limits: \{shoulder: ...\}'),
    (('effort="100.0"', ''), 'limit missing'),
    (('effort="100.0"', 'effort="0.5"'), 'shoulder needs'),
    (('mass value="1.0"', 'mass value="1000"'), 'shoulder needs')])
def test_a_robot_that_cannot_be_driven_takes_nothing_over(change, words):
    policy = measured()
    before = policy.decide(at(0.0)).effort
    other = Robot.from_urdf(ARM.replace(*change))
    with pytest.raises(UnsafeChangeError, match=words):
        succeeded_by(policy, other)
    with pytest.raises(UnsafeChangeError, match=words):
        succeeded_by(policy, other, enabled=False)  # nor does it decide what is held
    policy.change_settings(replace(policy.settings, enabled=False))
    near(faded_out(policy), before)
    assert succeeded_by(policy, other).decide(at(0.13)).effort is None


@pytest.mark.parametrize('limits', [{'shoulder': 0.5}, {'no joint': 1.0}])
def test_after_a_refusal_the_robot_has_its_former_gravity(limits):
    policy = measured(AdjustableRobot.of(ARM_ROBOT))
    before = decided(policy, Status.NO_TRAJECTORY).effort
    with pytest.raises(UnsafeChangeError):
        succeeded_by(
            policy, policy.robot, JOINTS[::-1], gravity=(9.81, 0.0, 0.0), effort_limits=limits)
    policy.robot.set_gravity(policy.gravity)  # as the node does, which made the other policy
    near(decided(policy, Status.NO_TRAJECTORY).effort, before)
    near(policy.robot.gravity(MEASURED[::-1])[::-1], before)


@pytest.mark.parametrize('limits, is_used', [({'shoulder': 0.5}, False), ({}, True)])
def test_other_threads_see_a_gravity_only_in_use(limits, is_used, monkeypatch):
    policy = measured(AdjustableRobot.of(ARM_ROBOT))
    decided(policy, Status.NO_TRAJECTORY)
    before, seen = list(policy.snapshot.gravity), []
    set_gravity = policy.robot.set_gravity

    def observed(gravity):
        set_gravity(gravity)
        seen.append((list(gravity), list(policy.snapshot.gravity)))

    monkeypatch.setattr(policy.robot, 'set_gravity', observed)
    changed = replace(policy.settings, gravity=(9.81, 0.0, 0.0), effort_limits=limits)
    if is_used:
        policy.change_settings(changed)
    else:
        with pytest.raises(UnsafeChangeError):
            policy.change_settings(changed)
    assert ([9.81, 0.0, 0.0] in [gravity for gravity, _ in seen]) is is_used
    assert all(snapshot == before for _, snapshot in seen)
    assert list(policy.snapshot.gravity) == ([9.81, 0.0, 0.0] if is_used else before)


ACROSS = (0.0, -9.81, 0.0)  # along the axes of the joints, which then need no effort


@pytest.mark.parametrize('of_settings, of_imu, is_held', [
    ((0.0, 0.0, -9.81), ACROSS, True), (ACROSS, (0.0, 0.0, -9.81), False)])
def test_another_policy_is_judged_by_the_measured_gravity(of_settings, of_imu, is_held):
    settings = {'gravity': of_settings, 'gravity_from_imu': True, 'gravity_time_constant': 0.0,
                'gravity_tolerance': pi}
    policy = measured(**settings)
    policy.take_imu('base', [-number for number in of_imu], at(0.0))
    sent = decided(policy, Status.NO_TRAJECTORY).effort
    near(sent, in_order(gravity=of_imu))
    weak = {**settings, 'effort_limits': {'shoulder': 0.5, 'elbow': 0.3}}
    if is_held:
        near(decided(succeeded_by(policy, **weak), Status.NO_TRAJECTORY).effort, sent)
    else:
        with pytest.raises(UnsafeChangeError, match='shoulder needs'):
            succeeded_by(policy, **weak)
    near(decided(policy, Status.NO_TRAJECTORY).effort, sent)


def test_a_robot_with_an_unknown_joint_waits_for_it():
    policy = measured()
    policy.decide(at(0.0))
    with pytest.raises(UnsafeChangeError, match="joint 'grip' is unknown.*assumed_positions.grip"):
        succeeded_by(policy, GRIPPER_ROBOT)
    follower = policy_of(GRIPPER_ROBOT)
    measure(follower, [0.02], ['grip'])
    follower.resume(policy.memory)
    near(decided(follower, Status.NO_TRAJECTORY).effort, gripper_gravity(0.02))


def test_with_a_factor_of_0_an_arm_must_hold_itself():
    policy = measured(effort_limit_factor=0.0, arm=Arm.UR)
    near(decided(policy, Status.NO_TRAJECTORY).effort, STILL)
    decided(measured(effort_limit_factor=0.0), Status.OVERLOADED)


# ---- friction ---------------------------------------------------------------------------------


@pytest.mark.parametrize('settings, shares', [
    ({}, [12.0 / 40.0, 6.5 / 100.0]),  # 0.5 Nm s/rad of the shoulder, at half of 2 rad/s
    ({'effort_limits': {'elbow': 30.0}}, [12.0 / 30.0, 6.5 / 100.0]),
    ({'arm': Arm.FRANKA}, [])])
def test_friction_is_known_as_a_share_of_the_limits(settings, shares):
    whose = AdjustableRobot.of(ARM_ROBOT)
    whose.set_joint_parameters('friction', {'shoulder': 6.0, 'elbow': 12.0})
    found = policy_of(whose, **settings).friction_shares()
    assert list(found.values()) == pytest.approx(shares, rel=1e-3)


@pytest.mark.parametrize('numbers, largest', [
    ({'friction_negative': 60.0}, 60.0),
    ({'damping_negative': 30.0}, 30.0),  # at half of 2 rad/s
    ({'breakaway_friction': 60.0, 'stribeck_velocity': 0.05}, 46.64),  # at 0.018 rad/s
    ({'friction': 30.0, 'friction_offset': -30.0}, 60.0),
    ({'friction': 30.0, 'friction_offset': -35.0}, 65.0),
    ({'friction_offset': 35.0}, 35.0)])
def test_the_largest_friction_of_all_speeds_and_directions_counts(numbers, largest):
    whose = AdjustableRobot.of(ARM_ROBOT, optional_parameters=numbers.keys() - {'friction'})
    for name, value in {'damping': 0.0, 'friction': 0.0, **numbers}.items():
        whose.set_joint_parameters(name, {'shoulder': value})
    share = policy_of(whose).friction_shares()['shoulder']
    assert share == pytest.approx(largest / 100.0, rel=0.02)


def test_friction_is_compared_with_a_limit_of_the_settings():
    whose = Robot.from_urdf(ARM.replace('effort="40.0"', 'effort="0"'))
    assert policy_of(whose).friction_shares() == {}
    assert policy_of(whose, effort_limits={'elbow': 30.0}).friction_shares() == {
        'elbow': 0.0, 'shoulder': pytest.approx(0.005)}


# ---- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize('whose, settings, message', [
    (ARM_ROBOT, Settings(joints=('elbo',)), "^joints names 'elbo'.*'elbow'"),
    (ARM_ROBOT, Settings(joints=('elbow', 'elbow')), 'twice'),
    (GRIPPER_ROBOT, Settings(joints=('thumb_joint',)), "mimics 'grip'"),
    (GRIPPER_ROBOT, Settings(assumed_positions={'grip': (1.0, 2.0)}), 'assumed_positions.grip'),
])
def test_settings_that_do_not_fit_the_robot_are_refused(whose, settings, message):
    with pytest.raises(ArgumentError, match=message):
        Policy(whose, settings)


def succeeded_by(older, whose=ARM_ROBOT, joints=JOINTS, **settings):
    policy = policy_of(whose, joints, **settings)
    policy.resume(older.memory)
    return policy


def test_a_successor_goes_on_with_states_trajectory_and_wrenches():
    older = following(**COMPENSATED_AT_ONCE)
    older.take_wrench('tool', PUSH, at(0.25))
    policy = succeeded_by(older, gravity=(0.0, 0.0, -1.6), **COMPENSATED_AT_ONCE)
    near(decided(policy, Status.FOLLOWING, 0.25).effort,
         in_order(*QUARTER, f_ext={'tool': PUSH}, gravity=(0.0, 0.0, -1.6)))


def test_a_trajectory_survives_a_time_of_gravity_compensation():
    between = succeeded_by(following(), mode=Mode.GRAVITY_COMPENSATION)
    decided(between, Status.GRAVITY, 0.25)
    near(decided(succeeded_by(between), Status.FOLLOWING, 0.25).effort, in_order(*QUARTER))


def test_a_successor_s_own_settings_count():
    older = following()
    measure(older, END + [0.3, 0.0], time=1.5)
    decided(older, Status.GOAL_DEVIATION, 1.5)
    decided(succeeded_by(older, hold_tolerance=0.5), Status.GOAL_DEVIATION, 1.5)
    decided(succeeded_by(older, hold_tolerance=0.7), Status.HOLDING_END, 1.5)  # within half of it
    decided(succeeded_by(older, state_timeout=9.0), Status.GOAL_DEVIATION, 5.0)
    decided(succeeded_by(older, enabled=False), Status.STOPPING, 1.5)
    decided(succeeded_by(older, enabled=False, may_send_last=False), Status.DISABLED, 1.5)


@pytest.mark.parametrize('joints', [('shoulder', 'elbow'), ('elbow',)])
def test_other_controlled_joints_have_no_trajectory_but_their_state(joints):
    decided(succeeded_by(following(), joints=joints), Status.NO_TRAJECTORY, 0.25)


def test_a_new_robot_knows_joints_and_links_by_name():
    older = following()
    older.take_wrench('tool', PUSH, at(0.25))
    policy = succeeded_by(older, GRIPPER_ROBOT, assumed_positions={'grip': (0.2,)})
    tau = GRIPPER_ROBOT.inverse_dynamics(*(
        [*vector[::-1], last] for vector, last in zip(QUARTER, (0.2, 0.0, 0.0))))
    near(decided(policy, Status.FOLLOWING, 0.25).effort, tau[[1, 0]])


def test_a_successor_of_one_that_knew_nothing_knows_nothing():
    assert decided(succeeded_by(policy_of()), Status.WAITING).joints == JOINTS


# ---- mimic joints -----------------------------------------------------------------------------


@pytest.mark.parametrize('thumb, deviations', [
    (0.06, {}), (0.079, {}), (0.041, {}), (0.09, {'thumb_joint': 0.03}),
    (0.02, {'thumb_joint': -0.04}), (nan, {})])
def test_a_mimic_joint_is_compared_with_what_it_follows(thumb, deviations):
    """It follows −grip + 0.1, and is expected within 0.02."""
    policy = with_gripper()
    measure(policy, [0.04, thumb], ['grip', 'thumb_joint'])
    assert policy.mimic_deviations() == pytest.approx(deviations)


def test_a_mimic_joint_at_its_tolerance_is_still_within_it():
    policy = with_gripper(mimic_tolerance=0.125)
    for deviation, said in ((0.125, {}), (-0.125, {}), (0.25, {'thumb_joint': 0.25})):
        measure(policy, [0.1, deviation], ['grip', 'thumb_joint'])  # it follows to 0
        assert policy.mimic_deviations() == pytest.approx(said)


def test_a_mimic_joint_is_no_reason_to_stop():
    policy = with_gripper()
    measure(policy, [0.04], ['grip'])
    assert policy.mimic_deviations() == {}
    decided(policy, Status.NO_TRAJECTORY)
    measure(policy, [5.0], ['thumb_joint'])
    assert policy.mimic_deviations()
    near(decided(policy, Status.NO_TRAJECTORY).effort, gripper_gravity(0.04))


def test_a_mimic_joint_of_an_unknown_leader_is_not_compared():
    policy = with_gripper()
    measure(policy, [0.05], ['thumb_joint'])
    assert policy.mimic_deviations() == {}
