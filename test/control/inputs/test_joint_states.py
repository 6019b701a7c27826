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
"""Joint states, merged by name: what is taken, what is refused, and how long it counts."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from ros2_rnea.control.inputs.joint_states import (
    JointMemory,
    JointStates,
    MAX_PLANS,
    MeasuredJoints,
)
from ros2_rnea.control.inputs.owners import MAX_SOURCES
from ros2_rnea.errors import MessageError

TIMEOUT = 0.1
NOW = 50.0
STAMP = 7.0


@pytest.fixture
def states():
    """Return the states of two controlled joints and a gripper, not yet measured."""
    return JointStates(['shoulder', 'elbow'], ['grip'], TIMEOUT)


@pytest.fixture
def measured(states):
    """Return the same, all measured at NOW with the stamp STAMP."""
    states.update(MeasuredJoints(
        ['shoulder', 'elbow', 'grip'], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], stamp=STAMP), NOW)
    return states


# ---- what is taken ----------------------------------------------------------------------------


def test_a_list_of_names_may_change_in_place(states):
    names = ['shoulder', 'elbow']
    states.update(MeasuredJoints(names, [0.1, 0.2], stamp=STAMP), NOW)
    names.reverse()
    states.update(MeasuredJoints(names, [0.4, 0.3], stamp=STAMP), NOW)
    assert states.positions[:2].tolist() == [0.3, 0.4]


def test_before_any_message_nothing_is_known(states):
    assert states.names == ('shoulder', 'elbow', 'grip')
    assert np.isnan(states.positions).all()
    assert not states.velocities.any()
    assert not states.is_fresh(NOW)
    assert states.unmeasured() == states.stale(NOW) == ('shoulder', 'elbow')


@pytest.mark.parametrize('names, positions, velocities', [
    (['shoulder', 'elbow', 'grip'], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]),
    (['grip', 'elbow', 'shoulder'], [0.3, 0.2, 0.1], [3.0, 2.0, 1.0]),
    (['wheel', 'elbow', 'shoulder', 'lamp', 'grip'], [9, 0.2, 0.1, 9, 0.3], [9, 2, 1, 9, 3]),
    (['wheel', 'elbow', 'shoulder', 'grip'], [nan, 0.2, 0.1, 0.3], [inf, 2.0, 1.0, 3.0]),
])
def test_values_go_to_their_joints_in_any_order(
        states, names, positions, velocities):
    assert states.update(MeasuredJoints(names, positions, velocities, stamp=STAMP), NOW)
    assert states.positions.tolist() == [0.1, 0.2, 0.3]
    assert states.velocities.tolist() == [1.0, 2.0, 3.0]


def test_the_order_may_change_from_message_to_message(states):
    for names in (['shoulder', 'elbow'], ['elbow', 'shoulder'], ['shoulder', 'elbow']):
        positions = [{'shoulder': 0.1, 'elbow': 0.2}[name] for name in names]
        states.update(MeasuredJoints(names, positions, stamp=STAMP), NOW)
        assert states.positions[:2].tolist() == [0.1, 0.2]


def test_messages_of_several_publishers_are_merged(states):
    states.update(MeasuredJoints(['elbow'], [0.2], [2.0], stamp=STAMP), NOW)
    states.update(MeasuredJoints(['grip'], [0.3], [3.0], stamp=STAMP - 5.0), NOW)
    states.update(MeasuredJoints(['shoulder'], [0.1], [1.0], stamp=STAMP + 5.0), NOW)
    assert states.positions.tolist() == [0.1, 0.2, 0.3]
    assert states.velocities.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize('velocities, expected', [
    ([], [0.0, 0.0]), ([nan, 4.0], [0.0, 4.0]), ([nan, nan], [0.0, 0.0])])
def test_a_velocity_that_is_not_given_is_zero(measured, velocities, expected):
    measured.update(
        MeasuredJoints(['shoulder', 'elbow'], [0.1, 0.2], velocities, stamp=STAMP), NOW)
    assert measured.velocities[:2].tolist() == expected


@pytest.mark.parametrize('names, controlled', [
    (['shoulder'], True), (['grip', 'elbow'], True), (['grip'], False), (['wheel'], False),
    ([], False)])
def test_it_is_told_whether_a_controlled_joint_was_there(states, names, controlled):
    assert states.update(MeasuredJoints(names, [0.0] * len(names), stamp=STAMP), NOW) is controlled


def test_names_of_many_kinds_of_message_are_forgotten(states):
    for i in range(3 * MAX_PLANS):
        states.update(MeasuredJoints([f'wheel_{i}', 'elbow'], [0.0, i]), NOW + i)
        assert states.positions[1] == i
    assert 0 < states.plan_count <= MAX_PLANS
    assert len(states.memory.owners.sources) <= MAX_SOURCES + 3


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize('names, positions, velocities, message', [
    (['shoulder', 'elbow'], [0.0], [], '1 positions for 2 joint names'),
    (['shoulder', 'elbow'], [], [], '0 positions for 2 joint names'),
    (['shoulder'], [0.0, 0.0], [], '2 positions for 1 joint names'),
    ([], [0.0], [], '1 positions for 0 joint names'),
    (['shoulder', 'elbow'], [0.0, 0.0], [0.0], '1 velocities for 2 joint names'),
    (['shoulder', 'shoulder'], [0.0, 0.0], [], "'shoulder' occurs twice"),
    (['shoulder', 'wheel', 'wheel'], [0.0, 0.0, 0.0], [], "'wheel' occurs twice"),
    (['shoulder', 'elbow'], [0.0, nan], [], "joint 'elbow' has position nan"),
    (['shoulder', 'elbow'], [inf, 0.0], [], "joint 'shoulder' has position inf"),
    (['shoulder', 'elbow'], [0.0, 0.0], [0.0, -inf], "joint 'elbow' .* velocity -inf"),
    (['grip', 'elbow'], [nan, nan], [], "joint 'elbow' has position nan"),
])
def test_nothing_of_a_bad_message_is_taken(measured, names, positions, velocities, message):
    with pytest.raises(MessageError, match=message):
        measured.update(
            MeasuredJoints(names, positions, velocities, stamp=STAMP + 1.0), NOW + TIMEOUT / 2)
    assert measured.positions.tolist() == [0.1, 0.2, 0.3]
    assert measured.velocities.tolist() == [1.0, 2.0, 3.0]
    assert measured.is_fresh(NOW + 0.99 * TIMEOUT) and not measured.is_fresh(NOW + 1.01 * TIMEOUT)


def test_names_that_occur_twice_are_refused_again(measured):
    for _ in range(2):
        with pytest.raises(MessageError, match='occurs twice'):
            measured.update(MeasuredJoints(['elbow', 'elbow'], [0.0, 0.0], stamp=STAMP), NOW)


@pytest.mark.parametrize('position, velocity', [(nan, 1.0), (inf, 1.0), (0.5, inf)])
def test_another_joint_that_is_not_finite_is_left_out(
        measured, position, velocity):
    assert measured.update(MeasuredJoints(
        ['grip', 'elbow'], [position, 0.9], [velocity, 9.0], stamp=STAMP + 1.0), NOW)
    assert measured.positions.tolist() == [0.1, 0.9, 0.3]
    assert measured.velocities.tolist() == [1.0, 9.0, 3.0]


# ---- stamps -----------------------------------------------------------------------------------


@pytest.mark.parametrize('later', [0.0, 1e-9, 5.0, 1e6])
def test_stamps_that_do_not_go_back_are_in_order(measured, later):
    measured.update(MeasuredJoints(['elbow'], [0.9], stamp=STAMP + later), NOW)
    assert measured.positions[1] == 0.9


def test_an_older_stamp_of_a_fresh_state_is_refused(measured):
    with pytest.raises(MessageError, match="joint 'elbow' has a stamp that is 0.010000 s older"):
        measured.update(MeasuredJoints(['elbow'], [0.9], stamp=STAMP - 0.01), NOW + 0.099)
    assert measured.positions[1] == 0.2


def test_one_joint_out_of_order_refuses_the_message(measured):
    measured.update(MeasuredJoints(['elbow'], [0.2], stamp=STAMP + 0.05), NOW)
    with pytest.raises(MessageError, match="joint 'elbow'"):
        measured.update(MeasuredJoints(['shoulder', 'elbow'], [0.9, 0.9], stamp=STAMP + 0.02), NOW)
    assert measured.positions[0] == 0.1


def test_stamps_of_different_joints_are_not_compared(measured):
    measured.update(MeasuredJoints(['elbow'], [0.2], stamp=STAMP + 0.05), NOW)
    measured.update(MeasuredJoints(['shoulder'], [0.9], stamp=STAMP), NOW)
    assert measured.positions[0] == 0.9


def test_a_stamp_leads_only_ahead_of_receptions_of_its_joint(states):
    """Those of the other joint are no measure: its publisher may have another clock."""
    states.update(MeasuredJoints(['elbow'], [0.2], stamp=STAMP), NOW)
    states.update(MeasuredJoints(['shoulder'], [0.1], stamp=STAMP + 0.01), NOW + 0.08)
    states.update(MeasuredJoints(['elbow'], [0.3], stamp=STAMP + 0.15), NOW + 0.09)
    with pytest.raises(MessageError, match='older'):
        states.update(MeasuredJoints(['elbow'], [0.4], stamp=STAMP + 0.14), NOW + 0.09)


@pytest.mark.parametrize('ahead', [0.2, 10.0, 1e9])
def test_a_wrong_stamp_far_ahead_refuses_no_right_one(measured, ahead):
    for count in range(1, 9):
        elapsed = 0.01 * count
        wrong = ahead if count in (3, 6) else 0.0
        measured.update(
            MeasuredJoints(['elbow'], [0.1 * count], stamp=STAMP + elapsed + wrong), NOW + elapsed)
        assert measured.positions[1] == 0.1 * count
    with pytest.raises(MessageError, match='older'):
        measured.update(MeasuredJoints(['elbow'], [0.0], stamp=STAMP + 0.07), NOW + 0.08)


def test_a_clock_set_forward_is_believed_after_three_stamps(measured):
    for count in range(1, 4):
        measured.update(
            MeasuredJoints(['elbow'], [0.9], stamp=STAMP + 60.0 + 0.01 * count),
            NOW + 0.01 * count)
    with pytest.raises(MessageError, match='0.010000 s older'):
        measured.update(MeasuredJoints(['elbow'], [0.9], stamp=STAMP + 60.02), NOW + 0.03)


def test_stamps_and_receptions_may_have_the_same_gap(measured):
    measured.update(MeasuredJoints(['elbow'], [0.9], stamp=STAMP + 5.0), NOW + 5.0)
    with pytest.raises(MessageError, match='older'):
        measured.update(MeasuredJoints(['elbow'], [0.9], stamp=STAMP + 4.9), NOW + 5.0)


def test_an_older_stamp_of_a_stale_state_is_accepted(measured):
    later = NOW + TIMEOUT + 0.001
    measured.update(MeasuredJoints(['shoulder', 'elbow'], [0.8, 0.9], stamp=0.5), later)
    assert measured.positions[:2].tolist() == [0.8, 0.9]
    with pytest.raises(MessageError):  # the new clock goes on from there
        measured.update(MeasuredJoints(['shoulder', 'elbow'], [0.0, 0.0], stamp=0.4), later)


def test_a_stamp_of_zero_is_in_order_and_forgets_none(measured):
    measured.update(MeasuredJoints(['elbow'], [0.9]), NOW)
    assert measured.positions[1] == 0.9
    with pytest.raises(MessageError, match='older'):
        measured.update(MeasuredJoints(['elbow'], [0.0], stamp=STAMP - 1.0), NOW)


# ---- freshness --------------------------------------------------------------------------------


@pytest.mark.parametrize('age, fresh', [(0.0, True), (0.099, True), (0.101, False), (1e6, False)])
def test_a_state_is_fresh_for_as_long_as_the_timeout(measured, age, fresh):
    assert measured.is_fresh(NOW + age) is fresh
    assert measured.stale(NOW + age) == (() if fresh else ('shoulder', 'elbow'))


def test_the_oldest_controlled_joint_decides(measured):
    measured.update(MeasuredJoints(['shoulder', 'grip'], [0.1, 0.3], stamp=STAMP), NOW + 0.08)
    assert measured.is_fresh(NOW + 0.09)
    assert measured.stale(NOW + 0.12) == ('elbow',)


def test_a_joint_that_is_not_controlled_may_be_absent(states):
    states.update(MeasuredJoints(['shoulder', 'elbow'], [0.1, 0.2], stamp=STAMP), NOW)
    assert states.is_fresh(NOW)
    assert states.unmeasured() == states.stale(NOW) == ()


def test_what_was_never_measured_is_told_from_what_is_stale(states):
    states.update(MeasuredJoints(['elbow'], [0.2], stamp=STAMP), NOW)
    assert states.unmeasured() == ('shoulder',)
    assert states.stale(NOW) == ('shoulder',)
    assert states.stale(NOW + 1.0) == ('shoulder', 'elbow')


def test_after_a_jump_back_only_a_new_state_is_fresh(measured):
    """As after a reset of the simulation, whose clock measures ages under use_sim_time."""
    assert not measured.is_fresh(1.0)
    assert measured.stale(1.0) == ('shoulder', 'elbow')
    assert not measured.fresh_velocities(1.0).any()
    measured.update(MeasuredJoints(['shoulder', 'elbow'], [0.8, 0.9], stamp=1.0), 1.0)
    assert measured.positions[:2].tolist() == [0.8, 0.9] and measured.is_fresh(1.0)


def test_without_controlled_joints_there_is_nothing_to_be_fresh():
    assert not JointStates([], ['grip'], TIMEOUT).is_fresh(NOW)


# ---- another object ---------------------------------------------------------------------------


def test_another_object_continues_from_the_same_memory(measured):
    other = JointStates(['shoulder', 'elbow'], ['grip'], 5.0, memory=measured.memory)
    assert other.positions.tolist() == [0.1, 0.2, 0.3]
    assert other.is_fresh(NOW + 4.0) and other.without_velocity() == ()
    other.update(MeasuredJoints(['elbow'], [0.9], stamp=STAMP), NOW)
    assert measured.positions.tolist() == [0.1, 0.9, 0.3]
    with pytest.raises(MessageError, match='older'):
        other.update(MeasuredJoints(['elbow'], [0.0], stamp=STAMP - 1.0), NOW)
    again = JointStates(['shoulder', 'elbow'], ['grip'], TIMEOUT, memory=other.memory)
    assert again.without_velocity() == ('elbow',)


def test_arrays_are_written_in_place(measured):
    views = measured.measured, measured.positions[:2], measured.velocities, measured.efforts
    measured.update(MeasuredJoints(
        ['shoulder', 'elbow'], [0.5, 0.6], [5.0, 6.0], [7.0, 8.0], STAMP), NOW)
    assert views[0].tolist() == [[0.5, 0.6, 0.3], [5.0, 6.0, 3.0]]
    assert views[1].tolist() == [0.5, 0.6] and views[2].tolist() == [5.0, 6.0, 3.0]
    assert views[3].tolist()[:2] == [7.0, 8.0]
    assert measured.memory.recent[-1, :2].tolist() == views[0].tolist()


def test_the_memory_of_other_joints_is_refused(measured):
    with pytest.raises(ValueError, match='shoulder.*grip'):
        JointStates(['elbow'], [], TIMEOUT, memory=measured.memory)


def test_what_is_known_goes_on_by_name_of_joints(measured):
    names = 'grip', 'elbow', 'wheel'
    other = JointStates(names[:2], names[2:], TIMEOUT, memory=measured.memory.for_joints(names))
    assert other.positions[:2].tolist() == [0.3, 0.2]
    assert np.isnan(other.positions[2])
    assert other.velocities.tolist() == [3.0, 2.0, 0.0]
    assert other.is_fresh(NOW + 0.99 * TIMEOUT) and not other.is_fresh(NOW + 1.01 * TIMEOUT)
    with pytest.raises(MessageError, match='older'):
        other.update(MeasuredJoints(['elbow'], [0.0], stamp=STAMP - 1.0), NOW)


def test_a_memory_for_other_joints_is_a_copy_without_efforts(measured):
    measured.update(MeasuredJoints(
        ['shoulder', 'elbow'], [0.1, 0.2], [1.0, 2.0], [7.0, 8.0], STAMP), NOW)
    other = JointStates(['elbow'], [], TIMEOUT, memory=measured.memory.for_joints(['elbow']))
    measured.update(MeasuredJoints(['elbow'], [0.9], stamp=STAMP), NOW)
    assert other.positions.tolist() == [0.2]
    assert np.isnan(other.efforts).all()


@pytest.mark.parametrize('names', [(), ('elbow',), ('elbow', 'wheel', 'grip')])
def test_a_joint_stays_unmeasured_in_a_memory_for_others(states, names):
    memory = states.memory.for_joints(names)
    assert memory.names == names
    assert JointStates(names, [], TIMEOUT, memory=memory).unmeasured() == names


def test_a_memory_of_nothing_is_that_of_a_new_object(states):
    one, other = vars(JointMemory.of(states.names)), vars(states.memory)
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, other[name], equal_nan=value.dtype == float)


def test_a_message_without_names_says_nothing_after_another():
    states = JointStates(['a'], [], 0.1)
    assert states.update(MeasuredJoints(['a'], [1.0]), 1.0)
    assert not states.update(MeasuredJoints((), []), 1.0)
    assert states.positions.tolist() == [1.0]


# ---- joints that are not controlled -----------------------------------------------------------


@pytest.mark.parametrize('age, silent', [
    (-1.0, ()), (0.0, ()), (2.0, ()), (2.25, ('grip',)), (1e6, ('grip',))])
def test_another_joint_is_silent_once_its_value_is_older(measured, age, silent):
    assert measured.silent_others(NOW + age, 2.0) == silent


def test_a_joint_that_was_never_measured_is_not_silent(states):
    assert states.silent_others(NOW, 2.0) == ()


def test_a_velocity_counts_up_to_the_timeout():
    states = JointStates(['shoulder'], ['grip'], 0.125)
    states.update(MeasuredJoints(['shoulder', 'grip'], [0.1, 0.2], [1.0, 2.0]), NOW)
    states.update(MeasuredJoints(['grip'], [0.2], [2.0]), NOW + 0.0625)
    assert states.fresh_velocities(NOW + 0.125).tolist() == [1.0, 2.0]
    assert states.fresh_velocities(NOW + 0.1875).tolist() == [0.0, 2.0]
    assert states.fresh_velocities(NOW + 0.25).tolist() == [0.0, 0.0]
    assert states.velocities.tolist() == [1.0, 2.0]


def test_a_state_is_fresh_up_to_its_own_timeout():
    states = JointStates(['shoulder'], [], 0.125)
    states.update(MeasuredJoints(['shoulder'], [0.1]), NOW)
    assert states.is_fresh(NOW + 0.125) and states.stale(NOW + 0.125) == ()
    assert not states.is_fresh(NOW + 0.1875)


def test_one_stamp_of_2038_shuts_out_two_honest_states():
    names = ('shoulder', 'elbow')
    states = JointStates(names, (), 0.1)
    states.update(MeasuredJoints(names, (0.0, 0.0), stamp=2145916800.0), 10.0)  # 2038
    refused = 0
    for cycle in range(1, 90):
        now = 10.0 + 0.001 * cycle
        try:
            states.update(MeasuredJoints(names, (0.1, 0.1), stamp=1000.0 + now), now)
        except MessageError:
            refused += 1
    assert refused == 2


# ---- the last three ---------------------------------------------------------------------------


def told(states, *positions, period=0.01, names=('shoulder',)):
    """Let messages come with the positions of one joint, and return the time of the last."""
    for count, position in enumerate(positions):
        states.update(
            MeasuredJoints(names, [position] * len(names), [10.0 * position] * len(names)),
            NOW + period * count)
    return NOW + period * (len(positions) - 1)


def test_one_wrong_state_of_three_does_not_change_the_median():
    states = JointStates(['shoulder'], [], TIMEOUT)
    told(states, 0.1, 0.2, 9.0)
    assert states.positions.tolist() == [9.0]
    assert states.median_measured().tolist() == [[0.2], [2.0]]
    told(states, 0.1, 9.0, 0.3, 0.4)
    assert states.median_measured().tolist() == [[0.4], [4.0]]


@pytest.mark.parametrize('positions, period', [
    ((0.3,), 0.01), ((0.2, 0.3), 0.01), ((0.1, 0.2, 0.3), 1.01 * TIMEOUT)])
def test_of_fewer_states_without_a_gap_the_newest_is_taken(positions, period):
    states = JointStates(['shoulder'], [], TIMEOUT)
    told(states, *positions, period=period)
    assert states.median_measured()[:, 0].tolist() == [0.3, 3.0]


def test_before_the_first_state_there_is_no_median(states):
    assert np.isnan(states.median_measured()[0]).all()


def test_each_joint_has_its_own_last_three(states):
    told(states, 0.1, 0.2, 9.0)
    states.update(MeasuredJoints(['elbow'], [0.7]), NOW + 0.03)
    states.update(MeasuredJoints(['grip'], [0.8]), NOW + 0.03)
    assert states.median_measured()[0].tolist() == [0.2, 0.7]


def test_whole_turns_are_no_difference_of_a_continuous_joint():
    states = JointStates(['shoulder', 'elbow'], [], TIMEOUT, continuous=['shoulder'])
    told(states, 3.1, -3.1, 3.12, names=states.names)
    assert states.median_measured()[0] == pytest.approx([3.12, 3.1])


def test_the_last_three_are_remembered():
    states = JointStates(['shoulder'], [], TIMEOUT)
    told(states, 0.1, 0.2, 9.0)
    memory = states.memory.for_joints(['elbow', 'shoulder'])
    other = JointStates(['elbow', 'shoulder'], [], TIMEOUT, memory=memory)
    assert other.median_measured()[0, 1] == 0.2


# ---- a driver that repeats its last state -------------------------------------------------------


def report(states, seconds, positions, velocities, start=NOW):
    """Report the same of all joints for a while, and return the time of the last message."""
    for now in np.arange(start, start + seconds, 0.01):
        states.update(MeasuredJoints(
            ['shoulder', 'elbow', 'grip'], positions, velocities, stamp=STAMP + now), now)
    return now


@pytest.mark.parametrize(('velocity', 'seconds'), [(1.0, 0.02), (-0.1, 0.11), (0.06, 0.17)])
def test_a_moving_state_that_is_repeated_grows_old(states, velocity, seconds):
    """A joint that says 1 rad/s has moved by more than 0.01 rad after 0.01 s."""
    now = report(states, seconds, [0.1, 0.2, 0.3], [0.0, velocity, 0.0])
    assert states.is_fresh(now)
    now = report(states, TIMEOUT + 0.05, [0.1, 0.2, 0.3], [0.0, velocity, 0.0], now)
    assert not states.is_fresh(now)
    assert (states.stale(now), states.repeated()) == (('elbow',), ('elbow',))
    states.update(MeasuredJoints(['elbow'], [0.2], [velocity], stamp=STAMP + now), now + 0.01)
    assert not states.is_fresh(now + 0.01)
    now = report(states, 0.01, [0.1, 0.2001, 0.3], [0.0, velocity, 0.0], now + 0.01)
    assert states.is_fresh(now) and not states.repeated()


@pytest.mark.parametrize(('positions', 'velocities'), [
    ((0.2, 0.2), (0.0, 0.0)),        # at rest
    ((0.2, 0.2), (0.05, 0.05)),      # of a sensor that is not quite right at rest
    ((0.2, 0.2), (0.5, 0.6)),        # a coarse encoder, and a velocity that is measured
    ((0.2, 0.2001), (0.5, 0.5)),     # a constant velocity
], ids=['rest', 'offset', 'coarse', 'steady'])
def test_a_state_that_may_be_true_stays_young(states, positions, velocities):
    now = NOW
    for turn in range(200):
        now = report(states, 0.01, [0.1, positions[turn % 2], 0.3], [0.0, velocities[turn % 2], 0],
                     now + 0.01)
        assert states.is_fresh(now)
    assert not states.repeated()


def test_positions_without_velocities_are_never_taken_for_repeated(states):
    for now in np.arange(NOW, NOW + 1.0, 0.01):
        states.update(MeasuredJoints(['shoulder', 'elbow'], [0.1, 0.2], stamp=STAMP + now), now)
    assert states.is_fresh(now) and not states.repeated()


def test_what_is_known_of_repetitions_goes_on_with_the_memory(states):
    now = report(states, 0.2, [0.1, 0.2, 0.3], [0.0, 1.0, 0.0])
    for names in (states.names, ('elbow', 'shoulder', 'grip')):
        other = JointStates(names[:2], ['grip'], TIMEOUT, memory=states.memory.for_joints(names))
        other.update(MeasuredJoints(['elbow'], [0.2], [1.0], stamp=STAMP + now + 0.01), now + 0.01)
        assert other.repeated() == ('elbow',) and not other.is_fresh(now + 0.01)


def test_a_state_without_velocity_is_not_repeated(states):
    now = report(states, 0.2, [0.1, 0.2, 0.3], [0.0, 1.0, 0.0])
    assert states.repeated()
    states.update(MeasuredJoints(['shoulder', 'elbow'], [0.1, 0.2], stamp=STAMP + now), now + 0.01)
    assert states.is_fresh(now + 0.01) and not states.repeated()


def test_of_other_joints_the_driver_may_say_anything(states):
    now = report(states, 0.5, [0.1, 0.2, 0.3], [0.0, 0.0, 1.0])
    assert states.silent_others(now, TIMEOUT) == ()
