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
"""A controller's reference is followed while it counts, and let go of without a step."""

from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from ros2_rnea.control.target.controller_state import (
    ControllerReference,
    ControllerState,
)
from ros2_rnea.errors import MessageError

JOINTS = ('shoulder', 'elbow')
Q, QD, QDD = (1.0, 2.0), (3.0, 4.0), (5.0, 6.0)
TIMEOUT = 0.25


@pytest.fixture
def state():
    """Return the state of a controller from which nothing has come."""
    return ControllerState(JOINTS, TIMEOUT)


def moved(state, times=1, now=None, **changes):
    """Tell a state references that move on, one a millisecond from 10 s on; return the last."""
    for i in range(times):
        told = {
            'joint_names': JOINTS, 'positions': (1.0 + i, 2.0), 'velocities': QD,
            'accelerations': QDD, 'stamp': 10.0 + 1e-3 * i, **changes}
        state.update(ControllerReference(**told), 10.0 + 1e-3 * i if now is None else now)
    return state.reference(10.0 + 1e-3 * (times - 1))


# --- what is taken over ---


def test_before_the_first_reference_there_is_none(state):
    assert state.reference(10.0) is None
    assert not state.is_fresh(10.0)


def test_values_go_by_name_and_other_joints_are_ignored(state):
    state.update(
        ControllerReference(
            ('finger', 'elbow', 'shoulder'), (9.0, 2.0, 1.0), (9.0, 4.0, 3.0), (9.0, 6.0, 5.0),
            10.0, 1.0),
        10.0)
    assert np.array_equal(state.reference(10.0)[:3], (Q, QD, QDD))


def test_the_order_of_joints_may_change_from_message_to_message(state):
    state.update(ControllerReference(JOINTS[::-1], Q[::-1], (), (), 10.0), 10.0)
    state.update(ControllerReference(JOINTS, (7.0, 8.0), (), (), 10.1), 10.1)
    assert np.array_equal(state.reference(10.1).positions, (7.0, 8.0))


@pytest.mark.parametrize(('velocities', 'accelerations', 'missing'), [
    (QD, QDD, ()),
    (QD, (), ('accelerations',)),
    ((), QDD, ('velocities',)),
])
def test_a_missing_field_counts_as_zero_and_is_named(state, velocities, accelerations, missing):
    state.update(ControllerReference(JOINTS, Q, velocities, accelerations, 10.0), 10.0)
    reference = state.reference(10.0)
    assert np.array_equal(reference.velocities, velocities or (0.0, 0.0))
    assert np.array_equal(reference.accelerations, accelerations or (0.0, 0.0))
    assert state.missing == missing


@pytest.mark.parametrize(('changes', 'reason'), [
    ({'joint_names': ('shoulder', 'wrist')}, "no joint 'elbow': its controller must move all"),
    ({'joint_names': ()}, "no joint 'shoulder', 'elbow'"),
    ({'joint_names': ('elbow', 'shoulder', 'finger')}, '2 positions for 3 joints'),
    ({'positions': ()}, '0 positions for 2 joints'),
    ({'positions': (1.0,)}, '1 positions for 2 joints'),
    ({'velocities': (1.0,) * 3}, '3 velocities for 2 joints'),
    ({'accelerations': (1.0,)}, '1 accelerations for 2 joints'),
    ({'positions': (0.0, nan)}, "nan among its positions, for joint 'elbow'"),
    ({'velocities': (inf, 0.0)}, "inf among its velocities, for joint 'shoulder'"),
    ({'accelerations': (0.0, -inf)}, "-inf among its accelerations, for joint 'elbow'"),
    ({'speed_scaling': -0.5}, 'speed scaling factor of the reference is -0.5'),
    ({'speed_scaling': nan}, 'speed scaling factor of the reference is nan'),
    ({'speed_scaling': inf}, 'speed scaling factor of the reference is inf'),
    ({'stamp': 9.0}, '1.000000 s older than the newest one'),
])
def test_a_reference_that_is_refused_leaves_the_one_before(state, changes, reason):
    before = moved(state)
    told = {
        'joint_names': JOINTS, 'positions': (8.0, 8.0), 'velocities': QD, 'accelerations': (),
        'stamp': 10.1, **changes}
    with pytest.raises(MessageError, match=reason):
        state.update(ControllerReference(**told), 10.1)
    assert np.array_equal(state.reference(10.1)[:3], before[:3])
    assert state.missing == ()
    assert state.controller_joints == JOINTS
    assert not state.is_fresh(10.0 + TIMEOUT + 1e-6)


def test_after_the_timeout_an_older_stamp_is_a_new_clock(state):
    moved(state)
    state.update(ControllerReference(JOINTS, (8.0, 8.0), QD, QDD, 1.0), 11.0)
    assert state.reference(11.0).positions[0] == 8.0


def test_a_message_that_comes_twice_keeps_nothing_fresh(state):
    moved(state)
    moved(state, now=10.2)
    assert not state.is_fresh(10.3)


def test_a_stamp_of_zero_says_nothing(state):
    moved(state, 3, stamp=0.0)
    assert state.reference(10.002).positions[0] == 3.0


def test_what_was_told_may_change_afterwards(state):
    told = np.array(Q)
    state.update(ControllerReference(JOINTS, told, QD, QDD, 10.0), 10.0)
    told[:] = 99.0
    assert np.array_equal(state.reference(10.0).positions, Q)
    with pytest.raises(ValueError, match='read-only'):
        state.reference(10.0).positions[0] = 99.0


# --- speed scaling ---


@pytest.mark.parametrize('factor', [0.4, 1.0, 2.0])
def test_scaled_derivatives_are_those_of_the_positions_passed(state, factor):
    """On q = t^3 of trajectory time t."""
    def at(time):
        t = factor * time
        state.update(
            ControllerReference(
                JOINTS, (t ** 3,) * 2, (3 * t ** 2,) * 2, (6 * t,) * 2, 0.0, factor),
            time)
        return np.array(state.reference(time)[:3])

    before, here, after = at(1.999), at(2.0), at(2.001)
    assert (after[0] - before[0]) / 0.002 == pytest.approx(here[1], rel=1e-6)
    assert (after[1] - before[1]) / 0.002 == pytest.approx(here[2], rel=1e-6)


def test_a_factor_that_is_never_filled_in_counts_as_one(state):
    reference = moved(state, 4, speed_scaling=0.0)
    assert np.array_equal(reference.velocities, QD)


# --- standing still ---


@pytest.mark.parametrize(('messages', 'velocity'), [(1, 3.0), (2, 3.0), (3, 0.0), (9, 0.0)])
def test_a_reference_in_one_place_stands_still(state, messages, velocity):
    reference = moved(state, messages, positions=Q)
    assert reference.velocities[0] == velocity
    assert (reference.accelerations[0] == 0.0) == (velocity == 0.0)


def test_a_reference_that_moves_on_moves_again(state):
    moved(state, 5, positions=Q)
    state.update(ControllerReference(JOINTS, (1.0, 2.1), QD, QDD, 11.0), 10.1)
    assert np.array_equal(state.reference(10.1).accelerations, QDD)


def test_the_same_message_many_times_is_no_standing_still(state):
    for _ in range(5):
        reference = moved(state)
    assert np.array_equal(reference.velocities, QD)


# --- how long it counts ---


@pytest.mark.parametrize(('age', 'fresh', 'strength'), [
    (-1e-3, False, 0.0),
    (0.0, True, 1.0),
    (0.25, True, 1.0),
    (0.375, False, 0.5),
    (0.5, False, 0.0),
    (1e9, False, 0.0),
])
def test_a_reference_counts_until_the_timeout_and_fades(state, age, fresh, strength):
    moved(state)
    assert state.is_fresh(10.0 + age) is fresh
    reference = state.reference(10.0 + age)
    assert reference.strength == pytest.approx(strength)
    assert np.array_equal(reference.positions, Q)
    assert reference.velocities == pytest.approx(strength * np.array(QD))
    assert reference.accelerations == pytest.approx(strength * np.array(QDD))


def test_without_a_timeout_nothing_fades(state):
    state.timeout = 0.0
    moved(state)
    assert state.reference(10.0).strength == 1.0
    assert state.reference(10.001).strength == 0.0


@given(st.floats(0.0, 1.0), st.floats(1e-6, 1e-2))
def test_no_silence_however_long_makes_a_step(age, period):
    state = ControllerState(JOINTS, TIMEOUT)
    moved(state)
    before, after = state.reference(10.0 + age), state.reference(10.0 + age + period)
    step = np.abs(np.array(after[:3]) - np.array(before[:3])).max()
    assert step <= max(QDD) * period / TIMEOUT + 1e-9


def test_after_clear_there_is_no_reference(state):
    moved(state)
    state.clear()
    assert state.reference(10.0) is None
    state.update(ControllerReference(JOINTS, Q, QD, QDD, 5.0), 10.0)
    assert state.is_fresh(10.0)


def test_another_object_goes_on_with_it(state):
    moved(state, 2, positions=Q, accelerations=(), speed_scaling=0.5)
    other = ControllerState(JOINTS, TIMEOUT, state.memory)
    assert np.array_equal(other.reference(10.1)[1], np.array(QD) / 2)
    assert other.missing == ('accelerations',)
    with pytest.raises(MessageError, match='older'):
        other.update(ControllerReference(JOINTS, Q, QD, QDD, 10.0), 10.1)


@pytest.mark.parametrize(('positions', 'factor'), [(Q, 1.0), ((8.0, 8.0), 0.0)])
def test_another_object_knows_what_stands_still(state, positions, factor):
    moved(state, 2, positions=Q)
    moved(state, 2, positions=Q, speed_scaling=1.0, stamp=0.0)
    other = ControllerState(JOINTS, TIMEOUT, state.memory)
    other.update(ControllerReference(JOINTS, positions, QD, QDD, 10.1, factor), 10.1)
    assert np.array_equal(other.reference(10.1)[1], (0.0, 0.0))


def test_a_memory_of_other_joints_is_refused(state):
    moved(state)
    with pytest.raises(ValueError, match='elbow|shoulder|joint'):
        ControllerState((*JOINTS, 'wheel'), TIMEOUT, state.memory)


def test_a_reference_that_comes_too_rarely_stays_lost():
    one = ControllerState(JOINTS, TIMEOUT)
    for turn in range(5):
        now = 10.0 + 1.1 * TIMEOUT * turn
        one.update(ControllerReference(JOINTS, Q, QD, QDD, now), now)
        assert one.is_fresh(now) is (turn == 0)
        assert one.reference(now).strength == (1.0 if turn == 0 else 0.0)
    one.update(ControllerReference(JOINTS, Q, QD, QDD, now + 0.01), now + 0.01)
    assert one.is_fresh(now + 0.01)


def test_a_missing_factor_is_zero_once_another_was_told(state):
    moved(state, speed_scaling=0.5)
    state.update(ControllerReference(JOINTS, (9.0, 9.0), QD, QDD, 11.0), 11.0)
    assert np.array_equal(state.reference(11.0)[:3], ((9.0, 9.0), (0.0, 0.0), (0.0, 0.0)))


def test_a_reference_of_positions_alone_is_one(state):
    state.update(ControllerReference(JOINTS, Q), 10.0)
    assert np.array_equal(state.reference(10.0)[:3], (Q, (0.0, 0.0), (0.0, 0.0)))
    assert state.missing == ('velocities', 'accelerations')
