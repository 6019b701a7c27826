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
All that may happen to the policy, in any order: whatever it sends can be sent to a motor.

By default a few hundred events happen, the same in each run; ``POLICY_EVENTS=100000`` lets as many
happen, and ``DRAW_THOROUGHLY=1`` others each time.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
import os

from hypothesis import HealthCheck, settings as hypothesis_settings, strategies as st
from hypothesis.stateful import initialize, precondition, rule, RuleBasedStateMachine
import numpy as np
from ros2_rnea.control.decision import Instant, State, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.output.rate_limit import effort_rate_limits
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import (
    BeyondLimits,
    ContactReaction,
    ExertedBy,
    Mode,
    OnStop,
    Settings,
)
from ros2_rnea.control.situation import OLDEST_STATE
from ros2_rnea.control.stages import MIN_TO_REPORT
from ros2_rnea.control.supervisor import TABLE
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import RneaError
from ros2_rnea.model.description import Inertial, largest_plausible_effort
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Arm, Terms
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER

ROBOTS = [Robot.from_urdf(text) for text in (
    ARM, ARM.replace('mass value="1.0"', 'mass value="9.0"'),
    ARM.replace('effort="100.0"', ''), ARM_WITH_GRIPPER)]
NAMES = ('shoulder', 'elbow')
EVENTS = int(os.environ.get('POLICY_EVENTS', '300'))
STEPS = 50
LONGEST_BLEND = 0.5
CYCLE = 0.01  # of an ordinary bus [s]
EDGES = {(state, row.to) for row in TABLE for state in row.states}

values = st.one_of(
    st.floats(-4.0, 4.0), st.sampled_from([0.0, -3.0, 3.0, nan, inf, -inf, 1e12, 1e200]))
usual = st.floats(-4.0, 4.0)
spans = st.one_of(st.floats(0.0, 0.02), st.sampled_from([0.001, 0.05, 0.11, 3.0]))
joint_lists = st.sampled_from([
    NAMES, NAMES[::-1], NAMES[:1], NAMES[1:], (*NAMES, 'grip'), ('wheel', *NAMES),
    ('elbow', 'elbow'), ()])
controlled = st.sampled_from([NAMES, NAMES[::-1], ('elbow',)])
observing = st.fixed_dictionaries({
    'observe_external_effort': st.just(True),
    'contact_reaction': st.sampled_from([
        ContactReaction.HOLD, ContactReaction.HOLD, ContactReaction.NONE]),
    'external_effort_threshold': st.sampled_from([
        {'shoulder': 4.0, 'elbow': 4.0}, {'elbow': 2.0}]),
    'external_effort_gain': st.sampled_from([50.0, 1000.0]),
    'guiding_damping': st.sampled_from([{}, {'shoulder': 2.0}]),
})
other_settings = st.fixed_dictionaries({
    'joints': controlled,
    'held_by_others': st.sampled_from([
        frozenset(), frozenset(), frozenset(NAMES), frozenset(('elbow',))]),
    'mode': st.sampled_from(Mode),
    'enabled': st.sampled_from([True, True, True, False]),
    'gravity': st.tuples(usual, usual, st.sampled_from([-9.81, 9.81, -9.81e3])),
    'effort_limits': st.sampled_from([{}, {'shoulder': 200.0}, {'shoulder': 5.0, 'elbow': 1e3}]),
    'effort_limit_factor': st.sampled_from([1.0, 0.5, 0.01]),
    'effort_rate_limit': st.sampled_from([0.0, 50.0, 1000.0, 1e5]),
    'blend_time': st.sampled_from([0.0, 0.1, LONGEST_BLEND]),
    'wrench_fade_time': st.sampled_from([0.0, 0.2]),
    'wrench_in_gravity_compensation': st.booleans(),
    'position_limit_margin': st.sampled_from([0.0, 0.5]),
    'plausible_speed_factor': st.sampled_from([0.0, 0.0, 3.0]),
    'path_tolerance': st.sampled_from([0.0, 0.2]),
    'on_stop': st.sampled_from(OnStop),
    'rules': st.builds(ControllerRules, *[st.booleans()] * 5),
    'terms': st.sampled_from(Terms),
    'arm': st.sampled_from(Arm),
    'position_gains': st.sampled_from([(100.0,), (100.0,), (1e6,)]),
    'velocity_gains': st.sampled_from([(20.0,), (20.0,), (0.0,)]),
    'trip_deviation': st.sampled_from([2.0, 0.0]),
    'longest_braking': st.sampled_from([2.0, 0.3]),
    'beyond_limits': st.sampled_from(BeyondLimits),
    'gravity_from_imu': st.booleans(),
    'gravity_time_constant': st.sampled_from([0.0, 0.5]),
    'wrench_exerted_by': st.sampled_from(ExertedBy),
    'wrench_gain': st.sampled_from([0.5, 1.0, 0.0]),
    'wrench_force_limit': st.sampled_from([50.0, 0.0, 1e6]),
    'wrench_effort_share': st.sampled_from([0.2, 0.0, 1.0]),
    'wrench_time_constant': st.sampled_from([0.0, 0.1]),
    'wrench_force_deadband': st.sampled_from([0.0, 1.0]),
    'wrench_moment_deadband': st.sampled_from([0.0, 0.1]),
    'wrench_tool_mass': st.sampled_from([0.0, 0.0, 2.0]),
    'assumed_positions': st.just({'shoulder': (0.1,), 'grip': (0.02,)}),
})
some_settings = st.builds(
    lambda *parts: {**parts[0], **parts[1]}, other_settings, st.one_of(st.just({}), observing))


class AnythingHappens(RuleBasedStateMachine):
    """One robot's policy, and by joint what was sent last and when."""

    def __init__(self):
        super().__init__()
        self.steady, self.ros = 100.0, 5000.0
        self.policy = Policy(ROBOTS[0], Settings(joints=NAMES))
        self.sent: dict[str, float] = {}
        self.sent_at = -inf
        self.was_held, self.has_changed = frozenset(), True
        self.last_wanted = None  # of a final fade
        self.awaits_reference = False  # since a fault
        self.has_acknowledged = False  # since the last decision
        self.reference: dict[str, float] = {}  # the newest position of each joint

    @initialize(settings=observing)
    def it_is_configured(self, settings):
        """Begin with few settings, so that efforts are sent and contacts are reacted to."""
        self.policy = Policy(
            AdjustableRobot.of(ROBOTS[0], optional_parameters=['armature']),
            Settings(joints=NAMES, **settings))

    @property
    def now(self):
        return Instant(self.steady, RosTime.from_seconds(self.ros))

    def attempt(self, action, *arguments):
        """Do what may be refused, and then decide."""
        try:
            action(*arguments)
        except RneaError:
            pass
        self.decide()

    def decide(self, how='decide'):
        was_sending, before = self.policy.is_sending, self.policy.state
        latch, is_held = self.policy.memory.supervisor.latch, self.policy.has_start
        decision = getattr(self.policy, how)(self.now)
        self.check_state(decision, before, latch, is_held and how == 'decide')
        if decision.effort is not None:
            self.check(decision)
        elif was_sending:
            self.check_what_is_held(decision)
        self.has_acknowledged = False
        return decision

    def check_state(self, decision, before, latch, is_held):
        """Only transitions of the table occur, and a fault is left by an acknowledgement alone."""
        state = decision.state
        assert state in State
        assert (decision.effort is None) is (state is State.OFF)
        assert state is self.policy.state
        reached, at = {before}, {before}
        for _ in range(4):  # several rows may be taken in one cycle
            at = {to for start, to in EDGES if start in at} - reached
            reached |= at
        assert state in reached
        if latch is not None and not self.has_acknowledged:
            assert self.policy.memory.supervisor.latch is not None
            assert state in (State.OFF, State.ARMING, State.BRAKING, State.FAULT)
        if before is State.FAULT and state is State.GRAVITY:
            assert self.has_acknowledged
        settings = self.policy.settings
        known = self.policy.stages.known(self.now)
        wants = is_held and settings.may_send_last and not self.stop(known)
        if before is State.FAULT and known.is_fresh and wants:
            assert decision.effort is not None

    def stop(self, known):
        """Return why nothing is to be sent."""
        stages = self.policy.stages
        return stages.stopped_by_somebody(known.now) or stages.reason_to_stop(known)

    def check_fault(self, decision):
        """After a fault nothing is followed, and later no reference that is far."""
        status, latch = decision.status, self.policy.memory.supervisor.latch
        self.awaits_reference |= latch is not None and self.policy.motion.has_reference
        if latch is not None:
            assert not decision.state.follows
        if self.awaits_reference and status is Status.FOLLOWING_CONTROLLER:
            tolerances = self.policy.motion.largest_error.tolist()
            for (name, position), tolerance in zip(self.measured().items(), tolerances):
                assert abs(self.reference[name] - position) <= tolerance + 1e-9
        self.awaits_reference &= not decision.state.follows and self.policy.motion.has_reference

    def measured(self):
        """Return the measured positions of the controlled joints."""
        return dict(zip(self.policy.controlled, self.policy.states.positions.tolist()))

    def check_what_is_held(self, decision):
        """Where efforts end, the last one is that of ``on_stop``, or it is said that it is not."""
        held = self.policy.held_effort()
        if not self.sent.keys() >= {*self.policy.controlled}:  # of a joint that is new among them
            assert held == {}
            return
        assert held == {name: self.sent[name] for name in self.policy.controlled}
        if self.last_wanted is not None and 'cut short' not in decision.detail and (
                self.policy.memory.has_sent_stop_effort):
            np.testing.assert_allclose(
                [*held.values()], self.last_wanted, rtol=1e-9, atol=MIN_TO_REPORT)

    def check(self, decision):
        effort, names = decision.effort, self.policy.controlled
        self.last_wanted = [*self.policy.effort_after_stop().values()]
        assert effort.shape == (len(names),)
        assert np.isfinite(effort).all()
        settings = self.policy.settings
        self.check_age(decision, settings.state_timeout)
        self.check_fault(decision)
        bodies, joints = self.policy.robot.tree.bodies, self.policy.robot.tree.joints
        for name, value in zip(names, effort.tolist()):
            limit = settings.effort_limit_factor * settings.effort_limits.get(
                name, bodies[joints[name]].limits.effort)
            assert limit <= largest_plausible_effort(bodies[joints[name]].type)
            assert abs(value) <= limit * (1.0 + 1e-9)
        self.check_rate(names, effort.tolist())
        self.sent.update(zip(names, effort.tolist()))
        self.sent_at = self.steady

    def check_rate(self, names, effort):
        """Where another controller holds the joint, its whole effort changes within the rate."""
        settings = self.policy.settings
        elapsed = min(max(self.steady - self.sent_at, 0.0), max(settings.state_timeout, 0.1))
        rates, limits = self.rates(), self.limits()
        for name, value, rate in zip(names, effort, rates):
            if name not in settings.held_by_others or name not in self.sent:
                continue
            before = np.clip(self.sent[name], -limits[name], limits[name])
            if not self.has_changed and self.was_held >= {name}:
                most = rate * max(elapsed, self.policy.memory.period.value)
                assert abs(value - before) <= most * (1.0 + 1e-9) + 1e-9
        self.was_held, self.has_changed = settings.held_by_others, False

    def rates_change(self):
        """Note that another policy or other settings are in use."""
        self.has_changed = True

    def rates(self):
        """Return how fast the effort of each controlled joint may change."""
        limits = self.limits()
        return effort_rate_limits(
            np.array([limits[name] for name in self.policy.controlled]),
            self.policy.settings.effort_rate_limit)

    def check_age(self, decision, timeout):
        """Only braking uses a state beyond its timeout, for as long again at most."""
        age = self.policy.states.age(self.steady)
        assert age <= (OLDEST_STATE if decision.state is State.BRAKING else 1.0) * timeout

    def limits(self):
        """Return the effort limits by joint."""
        robot, settings = self.policy.robot, self.policy.settings
        limits = {**dict(zip(robot.joint_names, robot.effort_limits)), **settings.effort_limits}
        return {name: limit * settings.effort_limit_factor for name, limit in limits.items()}

    def holding(self, q):
        """Return by joint what holds the robot where its arm is at q, and a gripper at 0.02 m."""
        robot, places = self.policy.robot, {**dict(zip(NAMES, q)), 'grip': 0.02}
        tau = robot.gravity([places[name] for name in robot.joint_names])
        return dict(zip(robot.joint_names, tau.tolist()))

    def sent_at_rest(self, q):
        """Return what is sent to hold it, as far as the arm does not and limits allow."""
        if self.policy.settings.sent_terms not in (Terms.FULL, Terms.GRAVITY_ONLY):
            return np.zeros(len(self.policy.controlled))
        tau, limits = self.holding(q), self.limits()
        return np.array([
            np.clip(tau[name], -limits[name], limits[name]) for name in self.policy.controlled])

    def pass_time(self, span):
        self.steady += span
        self.ros += span

    @rule(span=spans)
    def time_passes(self, span):
        self.pass_time(span)
        self.decide()

    @rule(span=st.floats(0.0, 0.01), q=st.tuples(usual, usual), qd=st.tuples(usual, usual))
    def a_state_comes(self, span, q, qd):
        self.pass_time(span)
        self.attempt(self.policy.take_joint_state, MeasuredJoints(NAMES, q, qd), self.now)

    @rule(names=joint_lists, data=st.data(), stamp=st.sampled_from([0.0, 1.0, 1e3, 1e9]))
    def any_state_comes(self, names, data, stamp):
        sizes = st.sampled_from([len(names)] * 5 + [1])
        q = data.draw(sizes.flatmap(lambda n: st.lists(values, min_size=n, max_size=n)))
        qd = data.draw(st.one_of(st.just([]), st.lists(values, min_size=len(q), max_size=len(q))))
        self.attempt(
            self.policy.take_joint_state, MeasuredJoints(names, q, qd, stamp=stamp), self.now)

    @rule(span=st.floats(0.0, 0.01), q=st.tuples(usual, usual), qd=st.tuples(usual, usual),
          efforts=st.tuples(values, values), time=st.sampled_from([*[None] * 8, 0.0, 1e3]))
    def a_state_with_efforts_comes(self, span, q, qd, efforts, time):
        self.pass_time(span)
        self.observe(q, qd, efforts, time)
        self.decide()

    def observe(self, q, qd, efforts, time=None):
        """Take a joint state, and observe the external effort as the node does."""
        try:
            self.policy.take_joint_state(MeasuredJoints(NAMES, q, qd, efforts), self.now)
        except RneaError:
            pass
        self.policy.observe(self.now, self.steady if time is None else time)

    @rule(q=st.tuples(st.floats(-2.9, 2.9), st.floats(-2.9, 2.9)),
          rest=st.sampled_from([0.02, 0.12, 0.6]), push=st.sampled_from([0.0, 5.0, -50.0]))
    def the_arm_rests_and_is_pushed(self, q, rest, push):
        """Without a push, what is measured is what holds the arm."""
        tau = self.holding(q)
        holding = np.array([tau[name] for name in NAMES])
        for external in [0.0] * round(rest / CYCLE) + [push] * 10:
            self.pass_time(CYCLE)
            self.observe(q, (0.0, 0.0), holding - external)
            self.decide()

    @rule()
    def somebody_acknowledges(self):
        """Call ~/enable with true."""
        missing = self.policy.acknowledge(self.now)
        latch = self.policy.memory.supervisor.latch
        assert (latch is not None) is bool(missing)
        self.has_acknowledged = not missing
        self.decide()

    @rule()
    def an_unexpected_error_occurs(self):
        was_off = self.policy.state is State.OFF
        self.policy.fail('division by zero')
        decision = self.decide()
        if not was_off and decision.effort is not None:
            assert decision.state in (State.BRAKING, State.FAULT)
            assert self.policy.memory.supervisor.latch is not None

    @precondition(lambda self: self.policy.robot.takes_joint_parameter('armature'))
    @rule(joint=st.sampled_from(NAMES), armature=st.sampled_from([0.0, 0.4, 1e5]),
          duration=st.sampled_from([None, 0.2]))
    def a_rotor_changes(self, joint, armature, duration):
        self.policy.robot.set_joint_parameters('armature', {joint: armature})
        self.policy.hand_over(duration)
        self.decide()

    @rule(names=joint_lists, ends=st.lists(
        st.tuples(st.floats(0.0, 0.5), values, values), max_size=3),
        ahead=st.sampled_from([None, -0.1, 0.0, 0.1]), complete=st.booleans())
    def a_trajectory_comes(self, names, ends, ahead, complete):
        points = [
            Waypoint(time, (q,) * len(names), *([(qd,) * len(names)] if complete else []))
            for time, q, qd in ends]
        self.attempt(
            self.policy.take_trajectory,
            TrajectoryCommand(
                names, points,
                None if ahead is None else RosTime.from_seconds(self.ros + ahead)),
            self.now)

    @rule(frame=st.sampled_from(['tool', 'upper', 'lower', 'moon']),
          wrench=st.lists(values, min_size=6, max_size=6))
    def a_wrench_comes(self, frame, wrench):
        self.attempt(self.policy.take_wrench, frame, wrench, self.now)

    @rule(frame=st.sampled_from(['tool', 'base', 'lower', 'moon']),
          reading=st.lists(st.one_of(values, st.just(9.81)), min_size=3, max_size=3))
    def an_accelerometer_tells(self, frame, reading):
        self.attempt(self.policy.take_imu, frame, reading, self.now)

    @rule()
    def the_controller_is_gone(self):
        self.policy.restart()
        self.sent, self.sent_at = {}, -inf
        self.rates_change()
        self.decide()

    @rule()
    def the_wrench_is_set_to_zero(self):
        self.attempt(self.policy.zero_wrench, self.now)

    @rule(names=joint_lists, q=st.tuples(values, values), qd=st.tuples(usual, usual),
          accelerations=st.tuples(values, values), scaling=st.sampled_from([0.0, 0.5, 1.0]))
    def a_controller_s_reference_comes(self, names, q, qd, accelerations, scaling):
        self.attempt(self.take_reference, names, q, qd, accelerations, scaling)

    @rule(distance=st.sampled_from([0.0, 0.09, 0.11, 1.2]))
    def a_resting_reference_comes(self, distance):
        measured = self.measured()
        rest = [0.0] * len(measured)
        self.attempt(self.take_reference, [*measured],
                     [position + distance for position in measured.values()], rest, rest, 1.0)

    def take_reference(self, names, q, qd, accelerations, scaling):
        self.policy.take_controller_state(
            ControllerReference(names, q, qd, accelerations, 0.0, scaling), self.now)
        self.reference = dict(zip(names, q))

    @rule(robot=st.sampled_from([0, 0, 1, 2, 3]), settings=some_settings,
          payload=st.sampled_from([0.0, 0.0, 5.0]), duration=st.sampled_from([None, 0.0, 0.2]),
          has_rotors=st.booleans())
    def robot_or_settings_change(self, robot, settings, payload, duration, has_rotors):
        whole = ROBOTS[robot]
        if payload:
            whole = whole.with_payload('box', 'lower', Inertial(mass=payload))
        if has_rotors:
            whole = AdjustableRobot.of(whole, optional_parameters=['armature'])
        try:
            policy = Policy(whole, Settings(**settings))
            policy.resume(self.policy.memory, duration)
        except RneaError:
            # Terms that the arm adds, or that leave the feedback out; or it would not be held.
            self.decide()
            return
        self.policy = policy
        self.rates_change()
        self.decide()

    @rule(settings=some_settings, duration=st.sampled_from([None, 0.0, 0.2]))
    def settings_change(self, settings, duration):
        """Use other settings in the same policy."""
        kept = {name: getattr(self.policy.settings, name)
                for name in ('joints', 'assumed_positions')}
        try:
            self.policy.change_settings(Settings(**{**settings, **kept}), duration)
            self.rates_change()
        except RneaError:
            pass
        self.decide()

    @rule()
    def it_is_disabled(self):
        """Disable it, which is never refused."""
        self.policy.change_settings(replace(self.policy.settings, enabled=False))
        self.rates_change()
        decision = self.decide()
        assert decision.state in (State.OFF, State.BRAKING)

    @rule(to=st.sampled_from([0.0, 50.0, 1e4]), ros=st.booleans())
    def time_jumps(self, to, ros):
        """With simulated time both clocks do; else that of the day alone."""
        self.ros = to
        if not ros:
            self.steady = to
        self.policy.reset_after_time_jump()
        self.decide()

    @rule(spans=st.lists(st.floats(0.0, 0.02), max_size=20))
    def the_node_ends(self, spans):
        for span in spans:
            self.steady += span
            self.decide('decide_last')

    @precondition(lambda self: self.policy.settings.enabled)
    @rule(q=st.tuples(st.floats(-2.9, 2.9), st.floats(-2.9, 2.9)), acknowledges=st.booleans())
    def the_faults_end(self, q, acknowledges):
        """Within a bounded time, the effort is that which the robot needs, also in a fault."""
        policy = self.policy
        policy.motion.clear()
        settings = policy.settings
        fade = settings.wrench_timeout + settings.wrench_fade_time
        self.steady += fade + settings.state_timeout + 0.01
        self.ros += 1.0
        places = {**dict(zip(NAMES, q)), 'grip': 0.02}
        others = ['grip'] if 'grip' in policy.robot.joint_names else []
        needed = self.sent_at_rest(q)

        def goes_on():
            for name in (*NAMES, *others):
                try:
                    policy.take_joint_state(
                        MeasuredJoints([name], [places[name]], [0.0]), self.now)
                except RneaError:
                    pass  # it is not believed yet, or another source owns the joint
            try:
                policy.take_imu('base', np.negative(settings.gravity), self.now)
            except RneaError:
                pass
            return self.decide()

        slowest = max(2.0 * limit / rate for limit, rate in zip(
            [self.limits()[name] for name in policy.controlled], self.rates().tolist()))
        if not slowest < 4.0:  # from an effort without a limit, that takes too long to watch
            return
        bound = 2.0 * (LONGEST_BLEND + slowest + settings.longest_braking)
        for step in range(round(bound / CYCLE)):
            self.pass_time(CYCLE)
            decision = goes_on()
            if step == 20 and acknowledges:
                self.somebody_acknowledges()
        if decision.status in (
                Status.NO_EFFORT_LIMIT, Status.OVERLOADED, Status.TWO_SOURCES, Status.IMU_LOST,
                Status.UNSTABLE_GAINS, Status.STALE, Status.WAITING, Status.UNKNOWN_POSITION):
            return
        fault = policy.memory.supervisor.latch
        if fault is not None:
            assert decision.state is State.FAULT
            assert decision.status is fault.status
        else:
            assert decision.state is State.GRAVITY
            assert decision.status in (Status.NO_TRAJECTORY, Status.GRAVITY)
        np.testing.assert_allclose(decision.effort, needed, rtol=1e-9, atol=1e-9)


AnythingHappens.TestCase.settings = hypothesis_settings(
    max_examples=max(EVENTS // STEPS, 1), stateful_step_count=STEPS,
    suppress_health_check=list(HealthCheck))
TestAnythingHappens = AnythingHappens.TestCase
