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

"""Three reasons to stop, and one way: the final fade to the effort of on_stop, which is held."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from ride import (
    ARM_ROBOT,
    CORRECTED,
    GRAVITY,
    in_motion,
    JOINTS,
    MOON,
    PERIOD,
    Q,
    Ride,
    SLOW,
    STEEPEST,
    tell_gravity,
)
from ros2_rnea.control.decision import State, Status
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, OnStop
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.trajectories.trajectory import TrajectoryCommand


def joint_states_stop(ride):
    while ride.go(PERIOD, measured=False).decision.status is Status.FOLLOWING:
        pass
    return ride.go(0.2, measured=False)


def the_node_is_disabled(ride):
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    return ride.go(0.2)


def the_node_ends(ride):
    return ride.go(0.2, measured=False, decide='decide_last')


REASONS = (joint_states_stop, the_node_is_disabled, the_node_ends)


@pytest.mark.parametrize('stop', REASONS)
@pytest.mark.parametrize('way, expected', [(OnStop.GRAVITY, GRAVITY), (OnStop.ZERO, [0.0, 0.0])])
def test_for_each_reason_the_effort_fades_to_on_stop(stop, way, expected):
    ride = in_motion(on_stop=way, effort_rate_limit=inf)
    ride.policy.change_settings(ride.policy.settings, 0.0)
    before, count = ride.sent[-1], len(ride.sent)
    stop(ride).is_at(expected)
    assert ride.decision.effort is None
    # A hand-over has intermediate values, and a slope of at most three times the mean one.
    way_to_go = np.abs(before - expected).max()
    steps = np.abs(np.diff(ride.sent[count:], axis=0)).max(axis=1)
    assert steps.max() < STEEPEST * way_to_go * PERIOD / 0.05
    count = len(ride.sent)
    ride.go(1.0, measured=False, decide=(
        'decide_last' if stop is the_node_ends else 'decide'))
    assert len(ride.sent) == count


@pytest.mark.parametrize('stop', REASONS)
def test_nothing_is_sent_where_no_last_effort_may_be(stop):
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, may_send_last=False))
    count = len(ride.sent)
    if stop is joint_states_stop:
        ride.go(0.3, measured=False)
    else:
        stop(ride)
    assert ride.decision.effort is None
    assert ride.decision.state is State.OFF
    assert len(ride.sent) == count


@pytest.mark.parametrize('stop, status', [
    (joint_states_stop, Status.STALE), (the_node_is_disabled, Status.DISABLED),
    (the_node_ends, Status.SHUT_DOWN)])
def test_the_fade_has_a_status_that_names_the_next(stop, status):
    ride, seen = in_motion(), []
    decide, decide_last = ride.policy.decide, ride.policy.decide_last
    ride.policy.decide = lambda now: (seen.append(decide(now)), seen[-1])[1]
    ride.policy.decide_last = lambda now: (seen.append(decide_last(now)), seen[-1])[1]
    stop(ride)
    fading = [decision for decision in seen if decision.status is Status.STOPPING]
    assert len(fading) > 10
    assert all(decision.effort is not None for decision in fading)
    assert all(status.value in decision.detail for decision in fading)
    assert seen[-1].status is status
    assert {decision.next_status for decision in fading} == {status}
    assert seen[-1].next_status is None
    assert 'cut short' not in seen[-1].detail


def test_after_two_timeouts_the_fade_is_cut_short():
    ride = in_motion()
    last_state = ride.time
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=2.0))
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    assert 0.19 < ride.time - last_state <= 0.2 + PERIOD
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 0.1
    assert 'cut short' in ride.decision.detail
    assert 'cut short' in ride.go(1.0, measured=False).decision.detail
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=1000.0))
    assert 'cut short' not in ride.go(0.6).go(0.3, measured=False).decision.detail


def test_a_new_policy_still_names_what_a_fade_lacked():
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=35.0))
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    lacks = np.abs(ride.sent[-1] - GRAVITY) > 1e-3
    assert lacks.tolist() == [True, False]
    told = (f'holds shoulder {ride.sent[-1][0]:.3f} instead of {GRAVITY[0]:.3f} [Nm or N]')
    assert told in ride.decision.detail
    assert told in ride.change().go(0.1, measured=False).decision.detail


def test_a_final_fade_that_starts_late_ends_in_time():
    ride = in_motion(effort_rate_limit=inf)
    ride.time += 0.17
    last_state = ride.time - 0.17
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    ride.is_at(GRAVITY)
    assert ride.time - last_state <= 0.2 + PERIOD


def test_states_found_two_timeouts_old_are_not_used():
    ride = in_motion()
    count = len(ride.sent)
    ride.time += 0.2
    assert ride.go(PERIOD, measured=False).decision.status is Status.STALE
    assert len(ride.sent) == count
    assert 'cut short' in ride.decision.detail


def test_with_fresh_states_a_slow_rate_prolongs_the_fade():
    ride = in_motion()
    ride.policy.change_settings(
        replace(ride.policy.settings, enabled=False, effort_rate_limit=5.0))
    assert ride.go(0.3).decision.status is Status.STOPPING
    ride.go(2.0).is_at(GRAVITY)
    assert (ride.decision.status, ride.decision.detail) == (Status.DISABLED, '')


def test_it_takes_longest_braking_at_most():
    ride = in_motion()
    ride.policy.change_settings(
        replace(ride.policy.settings, enabled=False, effort_rate_limit=0.1))
    assert ride.go(1.9).decision.status is Status.STOPPING
    assert ride.go(0.2).decision.status is Status.DISABLED
    assert 'cut short' in ride.decision.detail


@pytest.mark.parametrize('moment', [0.01, 0.05, 0.5])
@pytest.mark.parametrize('stop', [joint_states_stop, the_node_is_disabled])
def test_it_is_blended_back_during_and_after_the_final_fade(stop, moment):
    ride = in_motion(effort_rate_limit=inf)
    if stop is joint_states_stop:
        ride.go(0.1 + moment, measured=False)
    else:
        ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
        ride.go(moment)
        ride.policy.change_settings(replace(ride.policy.settings, enabled=True))
    held = ride.sent[-1]
    assert ride.decision.status is not Status.FOLLOWING
    ride.go(PERIOD)
    assert ride.decision.status in (Status.FOLLOWING, Status.GOAL_DEVIATION)
    ride.is_at(held)
    ride.go(0.6)
    if ride.decision.status is Status.GOAL_DEVIATION:
        ride.go(0.6).is_at(GRAVITY)
    assert np.abs(np.diff(ride.sent[-300:], axis=0)).max() / PERIOD < 200.0


@pytest.mark.parametrize('rate', [inf, 200.0])
def test_new_settings_or_policies_do_not_prolong_the_fade(rate):
    ride = in_motion(effort_rate_limit=rate)
    ride.go(0.14, measured=False)
    ride.policy.change_settings(replace(ride.policy.settings, mimic_tolerance=1.0))
    ride.go(0.05, measured=False)
    ride.change(effort_rate_limit=rate).go(0.01, measured=False).is_at(GRAVITY)
    assert ride.decision.effort is None


def test_a_policy_that_has_waited_makes_the_fade_no_longer():
    """One that waits receives joint states, too, and would blend after a gap of them."""
    ride = Ride(blend_time=5.0).go(6.0)
    waiting = Policy(ARM_ROBOT, ride.policy.settings)
    for q in (Q, (0.9, -0.4)):
        waiting.take_joint_state(MeasuredJoints(JOINTS, q, ()), ride.now)
        ride.go(0.4)
    waiting.hand_over(9.0)
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False), 0.2)
    ride.go(0.02)
    end = ride.policy.memory.hand_over.end
    waiting.change_settings(ride.policy.settings)
    waiting.resume(ride.policy.memory)
    ride.policy = waiting
    ride.go(PERIOD)
    assert ride.time < waiting.memory.hand_over.end <= end + 0.05


def test_a_lowered_limit_does_not_cut_the_fade_short():
    """The smaller the limit, the lower is its rate: the final fade would be over before."""
    pressing = {**CORRECTED, 'position_gains': (1000.0,), 'hold_tolerance': 9.0}
    ride = Ride(**pressing).go(1.0, qd=(0.0, 0.0))
    ride.policy.take_trajectory(TrajectoryCommand(JOINTS, SLOW[:1]), ride.now)
    ride.go(0.1, qd=(0.0, 0.0)).go(1.0, (Q[0] - 0.1, Q[1]), (0.0, 0.0))
    assert ride.sent[-1][0] > 15.0
    ride.policy.change_settings(replace(ride.policy.settings, effort_limit_factor=0.05))
    ride.go(0.02, (Q[0] - 0.1, Q[1]), (0.0, 0.0))
    ride.go(0.5, measured=False)
    assert ride.decision.status is Status.STALE and 'shoulder' not in ride.decision.detail
    wanted = np.clip(ARM_ROBOT.gravity((Q[0] - 0.1, Q[1])), [-5.0, -2.0], [5.0, 2.0])
    np.testing.assert_allclose(ride.sent[-1], wanted, atol=0.3)


CHANGES = {
    'time jump': lambda ride: ride.policy.reset_after_time_jump(),
    'wrench zeroed': lambda ride: ride.policy.zero_wrench(ride.now),
    'imu message': tell_gravity,
    'settings': lambda ride: ride.policy.change_settings(
        replace(ride.policy.settings, wrench_gain=0.4))}


@pytest.mark.parametrize('change', CHANGES.values(), ids=CHANGES)
def test_after_any_change_in_the_fade_gravity_is_held(change):
    ride = in_motion(effort_rate_limit=inf, wrench_timeout=60.0, wrench_time_constant=0.0,
                     gravity_from_imu=True, imu_timeout=60.0)
    ride.policy.take_wrench('tool', np.zeros(6), ride.now)
    ride.go(0.12, measured=False)
    assert ride.decision.status is Status.STOPPING
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 1.0
    change(ride)
    ride.go(0.09, measured=False)
    assert ride.decision.status is Status.STALE
    assert 'cut short' not in ride.decision.detail
    np.testing.assert_allclose(ride.sent[-1], GRAVITY, rtol=1e-9)


@pytest.mark.parametrize('change', [
    lambda ride: ride.change(enabled=False, effort_rate_limit=5.0),
    lambda ride: ride.policy.change_settings(
        replace(ride.policy.settings, mimic_tolerance=1.0))], ids=['policy', 'settings'])
@pytest.mark.parametrize('moment', [0.08, 0.3, 0.5])
def test_a_change_does_not_end_a_fade_that_rate_delays(change, moment):
    ride = in_motion()
    ride.policy.change_settings(
        replace(ride.policy.settings, enabled=False, effort_rate_limit=5.0))
    ride.go(moment)
    assert ride.decision.status is Status.STOPPING
    assert np.abs(ride.sent[-1] - GRAVITY).max() > 0.3
    change(ride)
    ride.go(2.0).is_at(GRAVITY)
    assert (ride.decision.status, ride.decision.detail) == (Status.DISABLED, '')


def test_gravity_that_changes_in_the_last_cycle_is_held():
    ride = in_motion(effort_rate_limit=inf)
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    while ride.go(PERIOD).decision.effort is None or np.abs(ride.sent[-1] - GRAVITY).max() > 1e-12:
        pass
    ride.policy.change_settings(replace(ride.policy.settings, **MOON))
    ride.go(0.3).is_at(ARM_ROBOT.gravity(Q, MOON['gravity']))


@pytest.mark.parametrize('prepare', [
    lambda ride: ride,
    lambda ride: ride.go(0.2).change(enabled=False).go(1.0).change().go(0.0)])
def test_nothing_is_faded_out_where_nothing_was_sent(prepare):
    ride = Ride()
    ride.policy.take_joint_state(MeasuredJoints(JOINTS, Q), ride.now)
    prepare(ride)
    ride.time += 0.11
    assert ride.go(0.02, measured=False).decision.status is Status.STALE


@pytest.mark.parametrize('fault, status', [
    ('velocities', Status.UNKNOWN_VELOCITY), ('effort', Status.NOT_FINITE)])
def test_other_faults_brake_the_arm_too(fault, status):
    load = Inertial(1e250 if fault == 'effort' else 1.0, Pose((0.1, 0.0, 0.0)))
    ride = Ride(ARM_ROBOT.with_payload('load', 'tool', load), gravity=(0.0, 0.0, 0.0),
                mode=Mode.COMPUTED_TORQUE, position_gains=(100.0,), velocity_gains=(20.0,))
    ride.go(1.0, qd=(0.0, 0.0))
    if fault == 'velocities':
        ride.go(0.05)
    else:
        ride.policy.take_controller_state(ControllerReference(
            JOINTS, Q, (0.0, 0.0), (9e99, 9e99), 0.0, 1.0), ride.now)
        ride.go(0.05, qd=(0.0, 0.0))
    if fault == 'effort':  # that of the motion alone: gravity and damping are sent
        assert ride.decision.status is Status.NOT_FINITE
        assert ride.decision.state in (State.BRAKING, State.FAULT)
        assert ride.decision.effort.tolist() == [0.0, 0.0]
        return
    assert ride.decision.status is Status.STOPPING
    assert status.value in ride.decision.detail


def test_a_joint_at_an_end_is_released_if_asked_for():
    ride = Ride(on_stop=OnStop.ZERO).go(1.0, q=(-3.0, 0.5))
    ride.go(0.2, measured=False, decide='decide_last').is_at([0.0, 0.0])


@pytest.mark.parametrize('ridden', [
    Ride, lambda: Ride(may_send_last=False).go(1.0),
    lambda: Ride().go(1.0).go(1.0, measured=False),
    lambda: Ride().go(1.0).change(enabled=False, may_send_last=False),
    lambda: Ride().go(1.0).change(enabled=False).go(1.0)])
def test_nothing_sent_or_nothing_wanted_means_no_last_effort(ridden):
    assert ridden().go(PERIOD, measured=False, decide='decide_last').decision.effort is None


# ---- the effort that is held --------------------------------------------------------------------


def along(start, velocity):
    """Return positions at constant velocities, as a function of time."""
    return lambda time: np.add(Q, np.multiply(velocity, time - start))


def test_the_held_effort_is_that_of_the_last_place():
    ride = in_motion()
    path = along(ride.time, (3.0, 0.0))
    ride.policy.change_settings(replace(ride.policy.settings, enabled=False))
    before = np.array([*ride.policy.effort_after_stop().values()])
    np.testing.assert_allclose(before, GRAVITY)
    ride.go(0.3, q=path)
    assert ride.decision.status is Status.DISABLED
    held = np.array([*ride.policy.held_effort().values()])
    assert held.tolist() == ride.sent[-1].tolist()
    assert np.abs(held - before).max() > 0.3
    of_place = [ARM_ROBOT.gravity(path(ride.time - age)) for age in np.arange(0.0, 0.3, PERIOD)]
    assert np.abs(of_place - held).max(axis=1).min() < 1e-9
    ride.go(1.0)
    assert [*ride.policy.held_effort().values()] == held.tolist()


def test_what_is_held_is_known_only_where_something_was_sent():
    ride = Ride()
    assert ride.policy.held_effort() == {}
    ride.go(0.1)
    assert [*ride.policy.held_effort()] == [*JOINTS]
    ride.policy.restart()  # the controller is another one
    assert ride.policy.held_effort() == {}


def test_a_joint_of_unknown_held_effort_is_sent_nothing():
    """It is a controlled one only since the change that disables."""
    ride = Ride(joints=JOINTS[1:], assumed_positions={'shoulder': (Q[0],)}).go(1.0)
    assert ride.sent[-1].shape == (1,)
    ride.change(enabled=False).go(0.5)
    assert ride.decision.status is Status.DISABLED
    assert ride.sent[-1].shape == (1,)  # the last one that was sent
    assert ride.policy.held_effort() == {}


def test_the_effort_after_a_stop_is_known_before():
    ride = in_motion()
    held = ride.policy.effort_after_stop()
    np.testing.assert_allclose([held[name] for name in JOINTS], GRAVITY)
    the_node_is_disabled(ride).is_at(GRAVITY)
    assert ride.policy.effort_after_stop() == held
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, may_send_last=False))
    ride.go(PERIOD)
    assert list(ride.policy.effort_after_stop().values()) == ride.sent[-1].tolist()


def test_a_fade_cut_short_names_held_and_wanted_efforts():
    ride = in_motion()
    ride.policy.change_settings(replace(ride.policy.settings, effort_rate_limit=5.0))
    while ride.go(PERIOD, measured=False).decision.effort is not None:
        pass
    off = [name for name, error in zip(JOINTS, np.abs(ride.sent[-1] - GRAVITY)) if error > 1e-3]
    assert off
    for name, held, wanted in zip(JOINTS, ride.sent[-1], GRAVITY):
        told = f'{name} {held:.3f} instead of {wanted:.3f}'
        assert (told in ride.decision.detail) is (name in off)
    _, mark, what = ride.decision.detail.partition('the final fade was cut short')
    assert mark
    assert ride.go(1.0, measured=False).decision.detail.endswith(mark + what)
