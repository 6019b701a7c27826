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
"""What is sent by mode and by arm, and the terms that it consists of."""

from dataclasses import replace
from math import exp, inf, nan, pi

import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, State, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import ArgumentError, MessageError
from ros2_rnea.model.description import Inertial
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Arm, Terms
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER
from unchecked import UNCHECKED
from wrench_settings import COMPENSATED_AT_ONCE

ROBOT = Robot.from_urdf(ARM)
JOINTS = ('elbow', 'shoulder')  # not the order of the description
Q, QD = np.array([-0.8, 0.3]), np.array([0.4, -0.7])
GOAL = np.array([1.0, 0.5])
AT_ONCE = {'blend_time': 0.0, 'effort_rate_limit': inf, **UNCHECKED}
GAINS = {'mode': Mode.COMPUTED_TORQUE, 'position_gains': (64.0, 25.0), 'velocity_gains': (12.0,)}
FAR_GAINS = {**GAINS, 'hold_tolerance': 9.0}  # for a motion that begins far from the arm
STIFFNESS = np.array(GAINS['position_gains'])
ZEROS = np.zeros(2)
PUSH = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


def at(seconds):
    return Instant(50.0 + seconds, RosTime.from_seconds(1000.0 + seconds))


def measured(robot=ROBOT, q=Q, qd=QD, **settings):
    """Return a policy that has just heard where its joints are and how they move."""
    policy = Policy(robot, Settings(joints=JOINTS, **{**AT_ONCE, **settings}))
    policy.take_joint_state(MeasuredJoints(JOINTS, q, qd), at(0.0))
    return policy


def along(policy):
    """Send a policy along a trajectory of a second, and return its motion a while later."""
    still = ((0.0, 0.0), (0.0, 0.0))
    points = [Waypoint(0.0, (0.0, 0.0), *still), Waypoint(1.0, tuple(GOAL), *still)]
    policy.take_trajectory(TrajectoryCommand(JOINTS, points), at(0.0))
    return motion_at(policy, 0.05)


def along_from_arm(policy):
    """
    Send a policy along a motion that begins at the arm, which is pushed off it at once.

    Return the motion 50 ms later, and the state that was measured then.
    """
    policy.take_trajectory(
        TrajectoryCommand(JOINTS, [Waypoint(1.0, tuple(Q + 0.2), (0.0, 0.0))]), at(0.0))
    q, qd = Q + [0.07, -0.04], QD + [0.5, -0.3]
    policy.take_joint_state(MeasuredJoints(JOINTS, q, qd), at(0.05))
    return motion_at(policy, 0.05), q, qd


def motion_at(policy, seconds):
    """Return positions, velocities and accelerations of the motion of a policy, as followed."""
    target = policy.motion.target(at(seconds), Q, State.TRACKING, Status.FOLLOWING)
    return target.positions, target.velocities, target.accelerations


def efforts(q, qd, qdd, robot=ROBOT, **arguments):
    """Return the arm's effort; vectors are in the order of JOINTS."""
    return robot.inverse_dynamics(q[::-1], qd[::-1], qdd[::-1], **arguments)[::-1]


def corrected(q, qd, qdd, desired_qd, robot=ROBOT):
    """Return the effort at a measured state whose friction is that of the desired velocity."""
    friction = robot.friction(desired_qd[::-1]) - robot.friction(qd[::-1])
    return efforts(q, qd, qdd, robot) + friction[::-1]


def left(share):
    """Return what is left of the difference after a share of the duration of a hand-over."""
    return (1.0 - share) * exp(-2.0 * share)


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


# ---- gravity compensation ---------------------------------------------------------------------


@pytest.mark.parametrize('settings', [
    {'mode': Mode.GRAVITY_COMPENSATION}, {'terms': Terms.GRAVITY_ONLY}, {}], ids=str)
def test_springs_count_in_what_holds_a_resting_arm(settings):
    """The springs carry all of the weight here: any other effort than none would move the arm."""
    weight = ROBOT.gravity(Q[::-1])
    springs = ''.join(
        f'<gazebo reference="{name}"><springStiffness>50</springStiffness>'
        f'<springReference>{q + effort / 50.0!r}</springReference></gazebo>'
        for name, q, effort in zip(ROBOT.joint_names, Q[::-1].tolist(), weight.tolist()))
    balanced = Robot.from_urdf(ARM.replace('</robot>', springs + '</robot>'))
    decision = measured(balanced, qd=0.0 * QD, **settings).decide(at(0.05))
    np.testing.assert_allclose(decision.effort, [0.0, 0.0], atol=1e-12)


# ---- computed torque --------------------------------------------------------------------------


def test_errors_are_corrected_inside_the_mass_matrix_where_measured():
    policy = measured(**GAINS)
    (q, qd, qdd), measured_q, measured_qd = along_from_arm(policy)
    correction = STIFFNESS * (q - measured_q) + 12.0 * (qd - measured_qd)
    decision = policy.decide(at(0.05))
    assert decision.status is Status.FOLLOWING
    near(decision.effort, corrected(measured_q, measured_qd, qdd + correction, qd))
    mass = ROBOT.mass_matrix(measured_q[::-1])[::-1, ::-1]
    near(decision.effort, corrected(measured_q, measured_qd, qdd, qd) + mass @ correction)


def test_a_motion_that_begins_elsewhere_is_caught_up_with_slowly():
    """At a constant velocity, the bounded error is that of a joint 0.15 rad/s faster."""
    policy = measured(**FAR_GAINS)
    q, qd, qdd = along(policy)
    bound = 0.15 * 12.0 / STIFFNESS
    assert (np.abs(q - Q) > bound).all()
    correction = STIFFNESS * np.clip(q - Q, -bound, bound) + 12.0 * (qd - QD)
    near(policy.decide(at(0.05)).effort, corrected(Q, QD, qdd + correction, qd))


def test_at_the_end_it_holds_the_last_point():
    policy = measured(**GAINS)
    along(policy)
    policy.take_joint_state(MeasuredJoints(JOINTS, GOAL + 0.01, QD), at(2.0))
    decision = policy.decide(at(2.0))
    assert decision.status is Status.HOLDING_END
    correction = -0.01 * np.array([64.0, 25.0]) - 12.0 * QD
    near(decision.effort, corrected(GOAL + 0.01, QD, correction, np.zeros(2)))


@pytest.mark.parametrize('q', [Q, GOAL + 0.2])
def test_without_a_goal_it_brakes(q):
    """Nothing else stands behind the node that would."""
    policy = measured(**GAINS)
    if q is not Q:
        along(policy)
    policy.take_joint_state(MeasuredJoints(JOINTS, q, QD), at(2.0))
    decision = policy.decide(at(2.0))
    assert decision.status in (Status.NO_TRAJECTORY, Status.MOTION_TOO_FAR)
    near(decision.effort, corrected(q, QD, -12.0 * QD, np.zeros(2)))


def test_errors_are_those_of_now_with_any_lookahead():
    policy = measured(**GAINS, lookahead=0.02)
    (*_, ahead), measured_q, measured_qd = along_from_arm(policy)
    q, qd, _ = motion_at(policy, 0.03)
    correction = STIFFNESS * (q - measured_q) + 12.0 * (qd - measured_qd)
    found = policy.terms(policy.decide(at(0.05)))
    mass = ROBOT.mass_matrix(measured_q[::-1])[::-1, ::-1]
    near(found.inertia, mass @ ahead)
    near(found.feedback, mass @ correction)


@pytest.mark.parametrize('real', [0.7, 1.0])
def test_friction_unlike_the_model_does_not_shake_the_arm(real):
    """Compensated at the measured velocity, it drives a resting joint to and fro."""
    rough = Robot.from_urdf(ARM.replace('damping="0.5"', 'damping="0.5" friction="3.0"'))
    plant = Robot.from_urdf(
        ARM.replace('damping="0.5"', f'damping="0.5" friction="{3.0 * real}"'))
    policy = measured(rough, q=GOAL, qd=(0.0, 0.0), mode=Mode.COMPUTED_TORQUE,
                      position_gains=(100.0,), velocity_gains=(20.0,))
    policy.take_trajectory(TrajectoryCommand(JOINTS, [Waypoint(0.0, tuple(GOAL))]), at(0.0))
    q, qd, step, late = GOAL + [0.0, 0.02], np.zeros(2), 5e-4, []
    fastest = 0.0
    for k in range(1500):
        late.append((q.copy(), qd.copy()))
        policy.take_joint_state(MeasuredJoints(JOINTS, *late[max(k - 4, 0)]), at(k * step))
        tau = policy.decide(at(k * step)).effort
        qd = qd + step * plant.forward_dynamics(q[::-1], qd[::-1], tau[::-1])[::-1]
        q = q + step * qd
        fastest = max(fastest, np.abs(qd).max()) if k > 800 else 0.0
    assert fastest < 0.01


@pytest.mark.parametrize('velocities, blind', [
    ((), JOINTS), ((0.1, nan), ('shoulder',)), ((nan, nan), JOINTS)])
def test_without_a_measured_velocity_nothing_is_sent(velocities, blind):
    policy = measured(**GAINS)
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, velocities), at(0.01))
    decision = policy.decide(at(0.01))
    assert (decision.status, decision.joints) == (Status.UNKNOWN_VELOCITY, blind)
    assert decision.effort is None
    newer = Policy(ROBOT, policy.settings)
    newer.resume(policy.memory)
    assert newer.decide(at(0.01)).joints == blind
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, QD), at(0.02))
    assert policy.decide(at(0.02)).status is Status.NO_TRAJECTORY
    without = measured(qd=velocities)
    assert without.decide(at(0.0)).status is Status.NO_TRAJECTORY


def test_errors_decay_as_those_of_the_oscillator():
    """The errors of both joints decay as the gains say, although the arm couples them."""
    smooth = Robot.from_urdf(ARM.replace('damping="0.5"', 'damping="0"'))
    policy = measured(smooth, GOAL, ZEROS, mode=Mode.COMPUTED_TORQUE, position_gains=(100.0,),
                      velocity_gains=(20.0,), state_timeout=10.0, hold_tolerance=10.0)
    policy.take_trajectory(TrajectoryCommand(JOINTS, [Waypoint(0.0, tuple(GOAL))]), at(0.0))
    policy.decide(at(0.0))
    q, qd, step = GOAL + [0.1, -0.15], np.zeros(2), 4e-4  # pushed off at once
    for k in range(1, 751):
        policy.take_joint_state(MeasuredJoints(JOINTS, q, qd), at(k * step))
        tau = policy.decide(at(k * step)).effort
        qd = qd + step * smooth.forward_dynamics(q[::-1], qd[::-1], tau[::-1])[::-1]
        q = q + step * qd
    decay = (1.0 + 10.0 * 0.3) * np.exp(-10.0 * 0.3)
    np.testing.assert_allclose((q - GOAL) / [0.1, -0.15], decay, rtol=1e-2)


@pytest.mark.parametrize('gains, message', [
    ({'velocity_gains': ()}, 'velocity_gains is empty'),
    ({'position_gains': ()}, 'position_gains is empty'),
    ({'position_gains': (1.0, 2.0, 3.0)}, 'position_gains has 3 numbers'),
    ({'velocity_gains': (-1.0,)}, r'velocity_gains is \[-1.0\]'),
    ({'velocity_gains': (nan,)}, r'velocity_gains is \[nan\]'),
    ({'position_gains': (1e308,)}, r'position_gains is .* to 1e\+06'),
    ({'terms': Terms.GRAVITY_ONLY}, 'feedback would not be sent')])
def test_computed_torque_needs_its_gains(gains, message):
    with pytest.raises(ArgumentError, match=message):
        measured(**{**GAINS, **gains})


@pytest.mark.parametrize('name', ['position_gains', 'velocity_gains'])
def test_gains_for_another_number_of_joints_are_refused(name):
    policy = measured(**GAINS)
    with pytest.raises(ArgumentError, match=f'{name} has 3 numbers'):
        policy.check_change(replace(policy.settings, **{name: (1.0, 2.0, 3.0)}))


# ---- which terms are sent ---------------------------------------------------------------------


@pytest.mark.parametrize('settings, sent', [
    ({}, Terms.FULL),
    ({'arm': Arm.FRANKA}, Terms.NO_GRAVITY_NO_FRICTION),
    ({'arm': Arm.UR}, Terms.NO_GRAVITY),
    ({'arm': Arm.FRANKA, 'terms': Terms.NO_GRAVITY}, Terms.NO_GRAVITY),
    ({'terms': Terms.NO_GRAVITY_NO_CORIOLIS}, Terms.NO_GRAVITY_NO_CORIOLIS),
    ({'terms': Terms.GRAVITY_ONLY}, Terms.GRAVITY_ONLY)])
def test_what_the_arm_adds_is_not_sent_unless_asked_for(settings, sent):
    policy = measured(**settings)
    desired = along(policy)
    terms = ROBOT.effort_terms(*(vector[::-1] for vector in desired))
    rest = terms.inertia + terms.friction
    expected = {
        Terms.FULL: terms.gravity + terms.coriolis + rest,
        Terms.NO_GRAVITY: terms.coriolis + rest,
        Terms.NO_GRAVITY_NO_FRICTION: terms.coriolis + terms.inertia,
        Terms.NO_GRAVITY_NO_CORIOLIS: rest,
        Terms.GRAVITY_ONLY: terms.gravity}[sent]
    near(policy.decide(at(0.05)).effort, expected[::-1])


@pytest.mark.parametrize('arm', [Arm.FRANKA, Arm.UR])
@pytest.mark.parametrize('terms', [Terms.FULL, Terms.GRAVITY_ONLY])
def test_gravity_is_not_sent_to_an_arm_that_adds_it(arm, terms):
    with pytest.raises(ArgumentError, match=f'terms is {terms.value}.*arm is {arm.value}'):
        Settings(arm=arm, terms=terms)


@pytest.mark.parametrize('arm', [Arm.FRANKA, Arm.UR])
def test_no_rest_adds_gravity_where_the_arm_adds_it(arm):
    """At rest, when joint states stop, at a bound and at the end it would be double."""
    for way in ({'mode': Mode.GRAVITY_COMPENSATION}, {}):
        policy = measured(arm=arm, **way)
        for now in (at(0.0), at(0.05), at(0.15), at(0.5)):
            decision = policy.decide(now)
            assert decision.effort is None or decision.effort.tolist() == [0.0, 0.0]
    policy = measured(arm=arm, qd=ZEROS)
    policy.decide(at(0.0))
    for time in (0.001, 0.1):
        assert policy.decide_last(at(time)).effort.tolist() == [0.0, 0.0]
    policy = measured(arm=arm, q=np.array([3.0, 3.0]), qd=ZEROS)
    assert policy.decide(at(0.0)).effort.tolist() == [0.0, 0.0]


# ---- an arm that compensates another gravity than the true one --------------------------------

ON_A_WALL = {'gravity': (9.81, 0.0, 0.0), 'arm': Arm.FRANKA, 'arm_gravity': (0.0, 0.0, -9.81)}
DIFFERENCE = (efforts(Q, ZEROS, ZEROS, gravity=(9.81, 0.0, 0.0))
              - efforts(Q, ZEROS, ZEROS, gravity=(0.0, 0.0, -9.81)))


def test_a_tilted_arm_is_sent_the_gravity_that_it_lacks():
    assert np.abs(DIFFERENCE).min() > 1.0
    near(measured(**ON_A_WALL, mode=Mode.GRAVITY_COMPENSATION).decide(at(0.0)).effort, DIFFERENCE)
    without = measured(
        **{**ON_A_WALL, 'arm': Arm.UR, 'arm_gravity': ()}, mode=Mode.GRAVITY_COMPENSATION)
    near(without.decide(at(0.0)).effort, ZEROS)  # as for an arm that was told how it stands


def test_every_other_term_stays_in_a_tilted_arm():
    policy = measured(**ON_A_WALL)
    desired = along(policy)
    terms = ROBOT.effort_terms(*(vector[::-1] for vector in desired))
    shift = [ROBOT.gravity(desired[0][::-1], gravity=ON_A_WALL[name])
             for name in ('gravity', 'arm_gravity')]
    near(policy.decide(at(0.05)).effort,
         (terms.coriolis + terms.inertia + shift[0] - shift[1])[::-1])


@pytest.mark.parametrize('way', [{}, {'mode': Mode.GRAVITY_COMPENSATION}])
def test_a_tilted_arm_is_held_when_states_or_node_end(way):
    policy = measured(qd=ZEROS, **ON_A_WALL, **way)
    policy.decide(at(0.0))
    near(policy.decide_last(at(0.001)).effort, DIFFERENCE)
    policy.decide(at(0.02))
    near(policy.decide(at(0.11)).effort, DIFFERENCE)
    near(policy.decide(at(0.19)).effort, DIFFERENCE)


def test_gravity_may_turn_while_that_of_the_arm_stays():
    policy = measured(**ON_A_WALL, mode=Mode.GRAVITY_COMPENSATION)
    policy.change_settings(Settings(**{**vars(policy.settings), 'gravity': (0.0, 0.0, -9.81)}))
    near(policy.decide(at(0.0)).effort, ZEROS)


def test_a_tilted_arm_is_led_to_the_difference_and_back():
    policy = measured(
        qd=ZEROS, **{**ON_A_WALL, 'blend_time': 0.5}, mode=Mode.GRAVITY_COMPENSATION,
        state_timeout=9.0)
    near(policy.decide(at(0.0)).effort, ZEROS)
    shares = [policy.decide(at(0.05 * i)).effort / DIFFERENCE for i in range(1, 11)]
    near(shares[0], np.full(2, 1.0 - left(0.1)))
    assert (np.diff(shares, axis=0) > 0.0).all()
    near(shares[-1], np.ones(2))
    policy.change_settings(
        Settings(**{**vars(policy.settings), 'arm_gravity': policy.settings.gravity}))
    near(policy.decide(at(0.5)).effort, DIFFERENCE)
    near(policy.decide(at(1.0)).effort, ZEROS)


@pytest.mark.parametrize('settings, message', [
    ({'arm': Arm.UR, 'arm_gravity': (0.0, -9.81)}, r'arm_gravity is \[0.0, -9.81\]; it needs 3'),
    ({'arm': Arm.UR, 'arm_gravity': (0.0, 0.0, nan)}, 'arm_gravity is .*nan.* finite'),
    ({'arm_gravity': (0.0, 0.0, -9.81)}, 'arm_gravity is .* the whole gravity is sent'),
    ({'arm': Arm.FRANKA, 'gravity': (0.0, 1.0, -9.75)}, 'arm is franka.*needs arm_gravity'),
    ({'arm': Arm.FRANKA, 'gravity_from_imu': True}, 'from the imu.*needs arm_gravity')])
def test_a_gravity_of_the_arm_that_cannot_be_is_refused(settings, message):
    with pytest.raises(ArgumentError, match=message):
        Settings(**settings)


def test_the_gravity_of_another_place_is_no_tilt():
    assert Settings(arm=Arm.FRANKA, gravity=(0.0, 0.0, -9.78)).arm_gravity == ()


# ---- the terms of a decision ------------------------------------------------------------------


def test_terms_are_those_of_the_desired_motion_by_joint():
    policy = measured(wrench_timeout=1.0, **COMPENSATED_AT_ONCE)
    desired = along(policy)
    policy.take_wrench('tool', PUSH, at(0.0))
    decision = policy.decide(at(0.05))
    found = policy.terms(decision)
    terms = ROBOT.effort_terms(*(v[::-1] for v in desired), {'tool': np.array(PUSH)})
    for name, value in terms._asdict().items():
        near(getattr(found, name), value[::-1])
    near(found.total, decision.effort)
    assert found.sent is decision.effort
    assert found.feedback.tolist() == [0.0, 0.0]


def test_the_sum_of_terms_with_feedback_is_the_total():
    policy = measured(**FAR_GAINS, arm=Arm.FRANKA)
    along(policy)
    found = policy.terms(policy.decide(at(0.05)))
    near(sum(found[:found._fields.index('total')]), found.total)
    near(found.coriolis + found.inertia + found.feedback, found.sent)
    assert np.abs(found.friction).max() > 0.01
    assert np.abs(found.feedback).min() > 0.1


@pytest.mark.parametrize('settings, lacking', [
    ({}, ()),
    ({'terms': Terms.NO_GRAVITY}, ()),  # whatever is sent
    ({'arm': Arm.FRANKA}, ('friction',)),
    ({'arm': Arm.FRANKA, 'measured_lacks': ('none',)}, ()),
    ({'arm': Arm.UR, 'measured_lacks': ('none',)}, ()),
    ({'arm': Arm.UR, 'measured_lacks': ('gravity', 'friction')}, ('gravity', 'friction')),
    ({'measured_lacks': ('inertia',)}, ('inertia',))])
def test_the_residual_lacks_what_the_measured_effort_lacks(settings, lacking):
    policy = measured(**settings)
    along(policy)
    terms = ROBOT.effort_terms(*(vector[::-1] for vector in motion_at(policy, 0.05)))
    reading = (terms.total - sum(getattr(terms, name) for name in lacking))[::-1]
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, QD, tuple(reading)), at(0.05))
    found = policy.terms(policy.decide(at(0.05)))
    np.testing.assert_allclose(found.residual, ZEROS, atol=1e-12)
    near(found.total, terms.total[::-1])  # which has all terms whatever is measured
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, QD, (reading[0] + 2.5, nan)), at(0.05))
    found = policy.terms(policy.decide(at(0.05)))
    assert found.residual[0] == pytest.approx(2.5, abs=1e-12)
    assert np.isnan(found.residual[1])


@pytest.mark.parametrize('settings', [
    {'arm': Arm.UR},
    {'measured_lacks': ('all',)},
    {'arm': Arm.FRANKA, 'measured_lacks': ('all',)}])
def test_a_possible_motor_current_has_no_residual(settings):
    policy = measured(**settings)
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, efforts=(3.0, 4.0)), at(0.01))
    found = policy.terms(policy.decide(at(0.01)))
    assert found.measured.tolist() == [3.0, 4.0]
    assert np.isnan(found.residual).all()


@pytest.mark.parametrize('given', [
    (), ('gravitation',), ('gravity', 'all'), ('automatic', 'none'), ('feedback',)])
def test_what_a_measured_effort_cannot_lack_is_refused(given):
    with pytest.raises(ArgumentError, match=r'measured_lacks is .*automatic, none, all.*gravity'):
        Settings(measured_lacks=given)


@pytest.mark.parametrize('later', [(), (1.0,)])
def test_an_effort_that_no_message_gives_is_not_a_number(later):
    policy = measured()
    assert np.isnan(policy.terms(policy.decide(at(0.0))).measured).all()
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, efforts=(3.0, 4.0)), at(0.01))
    assert policy.terms(policy.decide(at(0.01))).measured.tolist() == [3.0, 4.0]
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, efforts=later), at(0.02))
    assert np.isnan(policy.terms(policy.decide(at(0.02))).measured).all()


def test_what_was_done_to_an_effort_is_flagged_by_joint():
    policy = measured(effort_rate_limit=1e-3)
    policy.take_controller_state(
        ControllerReference(JOINTS, (-0.8, 0.3), (0.0, 0.0), (1e6, 1e6), 0.0, 1.0), at(0.0))
    found = policy.terms(policy.decide(at(0.0)))
    assert found.saturated.tolist() == [True, True]
    assert found.rate_limited.tolist() == [True, True]
    assert found.restrained.tolist() == [False, False]
    policy = measured(q=np.array([-0.8, 3.0]), qd=(0.0, 0.0), **COMPENSATED_AT_ONCE)
    policy.take_wrench('tool', (0.0, -60.0, 0.0, 0.0, 0.0, 0.0), at(0.0))
    found = policy.terms(policy.decide(at(0.0)))
    assert found.restrained.tolist() == [False, True]
    assert found.total[1] > found.sent[1] + 10.0


def test_without_an_effort_there_are_no_terms():
    policy = measured()
    assert policy.terms(policy.decide(at(5.0))) is None


# ---- gravity and payload ----------------------------------------------------------------------


def test_a_new_payload_is_blended_within_its_own_time():
    policy = measured(state_timeout=10.0)
    before = policy.decide(at(0.0)).effort
    loaded = ROBOT.with_payload('box', 'tool', Inertial(mass=2.0))
    newer = Policy(loaded, policy.settings)
    newer.resume(policy.memory, 2.0)
    near(newer.decide(at(0.001)).effort, before)
    after = efforts(Q, np.zeros(2), np.zeros(2), loaded)
    near(newer.decide(at(1.001)).effort, after + left(0.5) * (before - after))
    near(newer.decide(at(2.1)).effort, after)


def test_an_accelerometer_on_any_link_tells_gravity():
    policy = measured(gravity_from_imu=True, gravity_time_constant=0.0)
    g = np.array([1.0, 2.0, -9.5])
    g *= 9.81 / np.linalg.norm(g)  # the size is known
    in_tool = ROBOT.link_poses(Q[::-1])['tool'].rotation.T @ g
    policy.take_imu('tool', -in_tool, at(0.0))
    near(policy.decide(at(0.0)).effort, efforts(Q, np.zeros(2), np.zeros(2), gravity=g))
    newer = Policy(ROBOT, policy.settings)
    newer.resume(policy.memory)
    near(newer.robot.gravity(Q), ROBOT.gravity(Q, g))
    without = Policy(ROBOT, Settings(joints=JOINTS))
    without.resume(newer.memory)
    near(without.robot.gravity(Q), ROBOT.gravity(Q))
    again = Policy(ROBOT, policy.settings)
    again.resume(without.memory)
    near(again.robot.gravity(Q), ROBOT.gravity(Q))


def test_nothing_starts_before_the_first_reading_of_gravity():
    policy = measured(gravity_from_imu=True)
    decision = policy.decide(at(0.0))
    assert (decision.status, decision.effort) == (Status.IMU_LOST, None)
    assert decision.detail == 'the imu has sent no reading yet'
    policy.take_imu('base', (0.0, 0.0, 9.81), at(0.0))
    near(policy.decide(at(0.0)).effort, efforts(Q, ZEROS, ZEROS))


def test_the_first_reading_of_gravity_makes_no_step():
    policy = measured(
        qd=ZEROS, gravity_time_constant=0.0, gravity_tolerance=pi, blend_time=0.5)
    for k in range(1000):
        policy.take_joint_state(MeasuredJoints(JOINTS, Q, ZEROS), at(0.001 * k))
        if k == 900:  # the parameter's gravity stays in use until then
            policy.change_settings(replace(policy.settings, gravity_from_imu=True))
        before = policy.decide(at(0.001 * k)).effort
    near(before, efforts(Q, ZEROS, ZEROS))
    policy.take_imu('base', (9.81, 0.0, 0.0), at(1.0))
    policy.take_joint_state(MeasuredJoints(JOINTS, Q, ZEROS), at(1.0))
    near(policy.decide(at(1.0)).effort, before)


def test_an_accelerometer_needs_a_link_and_where_it_is():
    policy = measured(gravity_from_imu=True)
    with pytest.raises(MessageError, match="'toll' is not a link of 'arm'; did you mean 'tool'"):
        policy.take_imu('toll', (0.0, 0.0, 9.81), at(0.0))
    unmeasured = Policy(ROBOT, policy.settings)
    for blind, when in ((unmeasured, at(0.0)), (policy, at(9.0))):
        with pytest.raises(MessageError, match="'tool' .* joint 'elbow'.* no fresh"):
            blind.take_imu('tool', (0.0, 0.0, 9.81), when)
        blind.take_imu('base', (0.0, 0.0, 9.81), when)


def test_a_held_tool_that_the_sensor_weighs_changes_no_effort():
    """The description has it already: the reading at rest is its weight, and nothing else."""
    mass, center = 1.5, np.array([0.02, -0.01, 0.1])
    policy = measured(
        wrench_tool_mass=mass, wrench_tool_center=tuple(center), **COMPENSATED_AT_ONCE)
    weight = mass * ROBOT.link_poses(Q[::-1])['tool'].rotation.T @ [0.0, 0.0, -9.81]
    policy.take_wrench('tool', [*np.cross(center, weight), *weight], at(0.0))
    near(policy.decide(at(0.0)).effort, efforts(Q, np.zeros(2), np.zeros(2)))


def test_wrenches_are_zeroed_where_there_are_any():
    policy = measured(wrench_time_constant=0.0)
    with pytest.raises(MessageError):
        policy.zero_wrench(at(0.0))
    policy.take_wrench('tool', PUSH, at(0.0))
    assert policy.zero_wrench(at(0.0)) == ('tool',)
    near(policy.decide(at(0.0)).effort, efforts(Q, np.zeros(2), np.zeros(2)))


def test_another_joint_keeps_its_measured_velocity_in_computed_torque():
    robot = Robot.from_urdf(ARM_WITH_GRIPPER)
    policy = Policy(robot, Settings(joints=JOINTS, **AT_ONCE, **GAINS))
    policy.take_joint_state(MeasuredJoints((*JOINTS, 'grip'), (*Q, 0.05), (*QD, 0.3)), at(0.0))
    policy.take_trajectory(
        TrajectoryCommand(JOINTS, [Waypoint(0.0, tuple(Q), (0.0, 0.0))]), at(0.0))
    correction = -12.0 * QD
    needed = robot.inverse_dynamics(
        (*Q[::-1], 0.05), (*QD[::-1], 0.3), (*correction[::-1], 0.0))[1::-1]
    near(policy.decide(at(0.0)).effort, needed)
