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
"""Positions that a joint cannot have reached are refused, until enough of them agree."""

from math import inf, nan, pi, sin

import numpy as np
import pytest
from ros2_rnea.control.inputs.joint_states import JointStates, MeasuredJoints
from ros2_rnea.control.inputs.plausibility import (
    Plausibility,
    PlausibilityMemory,
    PlausibleMotion,
    Reading,
)
from ros2_rnea.errors import MessageError
from ros2_rnea.model.description import JointLimits

PERIOD = 0.001
NOW = 100.0
LIMITS = {
    'elbow': JointLimits(-3.0, 3.0, velocity=2.0),
    'wheel': JointLimits(velocity=2.0),              # continuous
    'slow': JointLimits(-0.5, 0.5, velocity=0.0),    # a placeholder: 1 rad x 10/s
    'rail': JointLimits(),                           # nothing is known
    'spin': JointLimits(velocity=inf)}               # continuous: 2 pi x 10/s
GRIP = JointLimits(-1.0, 1.0, velocity=1.0)  # of a joint that is not controlled
NAMES = tuple(LIMITS)
START = (0.1, 0.2, 0.3, 0.4, 0.5)


def plausible(names, factor=3.0, memory=None):
    one = Plausibility(
        names, PlausibleMotion.of(
            [{**LIMITS, 'grip': GRIP}[name] for name in names],
            [name in ('wheel', 'spin') for name in names]), memory)
    one.set_speed_factor(factor)
    return one


class Source:
    """A publisher of joint states, and the states that are made of its messages."""

    def __init__(self, factor=3.0):
        self.plausibility = plausible((*NAMES, 'grip'), factor)
        self.states = JointStates(NAMES, ['grip'], 0.1, self.plausibility)
        self.time = NOW

    def tells(self, elapsed=PERIOD, stamp=0.0, names=NAMES, velocity=(), **there):
        """Send a message with joints at START but for some, and return whether it is believed."""
        self.time += elapsed
        positions = [{**dict(zip(NAMES, START)), 'grip': 0.0, **there}[name] for name in names]
        velocities = [dict(velocity).get(name, 0.0) for name in names] if velocity else ()
        try:
            self.states.update(
                MeasuredJoints(names, positions, velocities, stamp=stamp), self.time)
        except MessageError as error:
            self.error = str(error)
            return False
        return True


@pytest.fixture
def source():
    one = Source()
    assert one.tells()
    return one


@pytest.mark.parametrize('joint, speed', [
    ('elbow', 2.0), ('wheel', 2.0), ('slow', 10.0), ('spin', 20.0 * pi)])
@pytest.mark.parametrize('elapsed', [0.02, 0.04])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_joint_moves_as_far_as_speed_and_time_explain(
        joint, speed, elapsed, sign):
    for share, believed in ((0.99, True), (1.01, False)):
        source = Source(factor=1.1)
        source.tells()
        there = dict(zip(NAMES, START))[joint] + sign * share * 1.1 * speed * elapsed
        assert source.tells(elapsed, **{joint: there}) is believed
        assert believed or joint in source.error


def test_a_joint_of_which_nothing_is_known_may_be_anywhere(source):
    assert source.tells(rail=1e6)


def test_a_refused_message_changes_nothing_and_keeps_nothing_fresh(source):
    before, age = source.states.positions.copy(), source.states.age(source.time)
    assert not source.tells(elbow=1.1)
    assert 'elbow' in source.error and '+1 ' in source.error
    assert (source.states.positions[:5] == before[:5]).all()
    assert source.states.age(source.time) == pytest.approx(age + PERIOD)


def test_a_glitch_now_and_then_is_never_believed(source):
    for _ in range(10):
        assert source.tells()
        assert not source.tells(elbow=1.1)
        assert not source.tells(elbow=1.1)


def test_three_that_agree_are_believed_and_so_is_what_follows(source):
    believed = [source.tells(elbow=1.1 + 0.001 * i) for i in range(5)]
    assert believed == [False, False, True, True, True]
    assert source.plausibility.has_believed
    assert source.states.positions[0] == pytest.approx(1.104)


def test_three_that_do_not_agree_are_not_believed(source):
    assert not any(source.tells(elbow=there) for there in (1.1, -1.0, 1.1, 0.5, 1.1, -1.0))
    assert not source.plausibility.has_believed


def test_after_a_gap_the_time_that_has_passed_counts(source):
    assert source.tells(0.2, elbow=1.1)


def test_whole_turns_of_a_continuous_joint_are_no_motion(source):
    assert source.tells(wheel=0.2 + 2.0 * pi)
    assert source.tells(wheel=0.2 - 4.0 * pi)
    assert not source.tells(wheel=0.2 + pi)


@pytest.mark.parametrize('there', [6.1, -6.1, 1e12])
def test_a_place_far_outside_the_range_is_never_believed(source, there):
    for _ in range(9):
        assert not source.tells(elbow=there)
    assert "'elbow'" in source.error and '-6 to 6' in source.error
    assert not Source().tells(elbow=there)  # nor as the first one


def test_a_range_of_no_length_is_no_range():
    """A URDF without ``lower`` and ``upper`` has 0 for both."""
    motion = PlausibleMotion.of([JointLimits(0.0, 0.0, velocity=2.0)], [False])
    assert (motion.lowest[0], motion.highest[0]) == (-inf, inf)


def test_a_joint_may_leave_its_range_by_moving(source):
    assert source.tells(5.0, elbow=5.9)
    for there in (5.95, 6.0, 6.05, 6.1):
        assert source.tells(0.02, elbow=there)
    assert source.tells(5.0, elbow=6.6)
    assert not source.tells(elbow=7.6)


def test_by_its_stamps_a_burst_is_no_jump():
    source = Source()
    assert source.tells(stamp=10.0)
    assert not source.tells(1e-5, stamp=10.01, elbow=0.3)
    assert source.tells(1e-5, stamp=10.05, elbow=0.39)


def test_after_a_jump_of_time_every_place_is_possible(source):
    assert source.tells(-50.0, elbow=2.0)


def test_a_message_of_another_joint_hides_no_disagreement(source):
    for believed in (False, False, True):
        assert source.tells(names=('wheel', 'slow'))
        assert source.tells(names=('elbow',), elbow=1.1) is believed


def test_of_another_joint_only_the_value_is_ignored(source):
    names = (*NAMES, 'grip')
    assert source.tells(names=names, velocity={'grip': 0.5})
    assert not source.states.ignored
    for there in (0.9, nan, -0.9, 99.0):
        assert source.tells(names=names, elbow=source.states.positions[0] + 1e-4, grip=there)
        assert source.states.positions[5] == 0.0 and source.states.velocities[5] == 0.5
    assert 'grip' in source.states.ignored['grip']
    assert source.tells(names=names, grip=0.001)
    assert source.states.positions[5] == 0.001 and not source.states.ignored
    for believed in (False, False, True):
        assert source.tells(names=names, grip=0.9)
        assert (source.states.positions.tolist()[5] == 0.9) is believed
    assert source.plausibility.has_believed


# ---- motions that are faster than a limit -----------------------------------------------------


@pytest.mark.parametrize('period', [0.002, 0.01, 0.03])
@pytest.mark.parametrize('factor', [3.1, 5.0, 20.0])
def test_a_motion_faster_than_its_limit_is_believed(period, factor):
    source = Source(factor=1.0)
    source.tells()
    believed = [
        source.tells(period, wheel=0.2 + 2.0 * factor * period * count) for count in range(1, 50)]
    assert believed[:2] == [False, False] or period * factor <= 0.01  # else bursts explain it
    assert all(believed[2:]) or period < 0.01
    assert not any(believed[i:i + 3] == [False] * 3 for i in range(47))


def test_it_is_blended_once(source):
    blends = 0
    for count in range(1, 30):
        source.tells(0.01, wheel=0.2 + 0.08 * count)
        blends += source.plausibility.has_believed
        source.plausibility.has_believed = False
    assert blends == 1


def test_a_glitch_in_a_fast_motion_is_not_believed(source):
    believed = [source.tells(0.01, wheel=0.2 + 0.08 * count + (2.0 if count == 9 else 0.0))
                for count in range(1, 15)]
    assert believed == [False] * 2 + [True] * 6 + [False] + [False] * 2 + [True] * 3


def test_a_hand_may_be_faster_than_a_low_limit():
    """As guided by hand: 0.94 rad/s at most, an encoder of 12 bit, and a limit of 0.2 rad/s."""
    plausibility = Plausibility(
        ['slow'], PlausibleMotion.of([JointLimits(-3.0, 3.0, velocity=0.2)], [False]))
    plausibility.set_speed_factor(3.0)
    states, refused = JointStates(['slow'], [], 0.1, plausibility), 0
    longest = last = 0.0
    for count in range(2000):
        time = NOW + 0.01 * count
        there = 0.5 * sin(2.0 * pi * 0.3 * 0.01 * count)
        noise = 0.0015 * (count * 7 % 3 - 1)
        try:
            states.update(MeasuredJoints(['slow'], [there + noise], stamp=time), time)
        except MessageError:
            refused += 1
        else:
            longest, last = max(longest, time - last if last else 0.0), time
    assert refused < 10
    assert longest < 0.04


def test_noise_with_a_tiny_limit_is_no_jump():
    source = Source(factor=0.001)
    source.tells()
    for count in range(20):
        assert source.tells(elbow=0.1 + 0.003 * (count * 7 % 3 - 1), velocity={'elbow': 0.9})
    assert not source.tells(elbow=0.14)
    assert 'times its velocity limit 2 (at least 2), for' in source.error


# ---- velocities -------------------------------------------------------------------------------


@pytest.mark.parametrize('velocity', [6.1, -6.1, -900.0, 1e99])
def test_a_velocity_without_motion_is_never_believed(source, velocity):
    for _ in range(9):
        assert not source.tells(velocity={'elbow': velocity})
    assert "'elbow'" in source.error and 'plausible_speed_factor 3 times' in source.error
    assert source.tells(velocity={'elbow': 5.9})


def test_beside_an_ignored_joint_others_have_their_velocity(source):
    names, nothing = (*NAMES, 'grip'), dict.fromkeys(NAMES, nan)
    assert source.tells(names=names)
    assert source.tells(names=names, velocity={**nothing, 'elbow': 0.1}, grip=0.9)
    assert source.states.ignored
    assert 'elbow' not in source.states.without_velocity()
    assert len(source.states.without_velocity()) == len(NAMES) - 1


def test_a_velocity_that_no_number_should_have_is_refused_before(source):
    assert not source.tells(velocity={'elbow': 1e200})
    assert 'velocity 1e+200; both must be finite, and smaller than 1e+100' in source.error
    assert source.tells(velocity={'elbow': 5.9})


@pytest.mark.filterwarnings('ignore:overflow')
@pytest.mark.parametrize('velocity', [1e200, -1.7e308])
def test_a_velocity_whose_square_is_infinite_is_refused(velocity):
    limits = [JointLimits(-3.0, 3.0, 2.0, 10.0)]
    reading = Reading(*(np.array([value]) for value in (0, 0.01, velocity, 0.0, 0.02)))
    plausibility = Plausibility(['elbow'], PlausibleMotion.of(limits, [False]))
    assert not plausibility.is_small(*reading[:4])
    assert plausibility.refused(reading, 1, 5.0).tolist() == [True]


def test_one_that_they_show_is_believed(source):
    for count in range(1, 9):
        believed = source.tells(0.01, wheel=0.2 + 0.07 * count, velocity={'wheel': 7.0})
        assert believed is (count >= 3)


def test_of_another_joint_a_velocity_is_ignored(source):
    names = (*NAMES, 'grip')
    source.tells(names=names)
    assert source.tells(names=names, velocity={'grip': 50.0})
    assert source.states.velocities[5] == 0.0
    assert 'velocity 50' in source.states.ignored['grip']


# ---- what is said -----------------------------------------------------------------------------


@pytest.mark.parametrize('joint, there, said', [
    ('elbow', 1.1, 'plausible_speed_factor 3 times its velocity limit 2, for 0.0100 s, '
                   'explains 0.06'),
    ('slow', 0.9, r'plausible_speed_factor 3 times 10/s times its travel (it has no velocity '
                  'limit), 10, for 0.0100 s, explains 0.3')])
def test_the_parameter_and_the_limit_are_named(source, joint, there, said):
    assert not source.tells(**{joint: there})
    assert said in source.error and 'correct its velocity limit' in source.error


# ---- stamps -----------------------------------------------------------------------------------


@pytest.mark.parametrize('ahead', [0.2, 10.0, 1e9])
def test_a_wrong_stamp_far_ahead_explains_no_motion(ahead):
    source = Source()
    for count in range(5):
        source.tells(stamp=10.0 + PERIOD * count)
    assert not source.tells(stamp=10.005 + ahead, elbow=2.0)
    for count in range(6, 12):
        assert source.tells(stamp=10.0 + PERIOD * count)
    assert source.states.positions[0] == 0.1


def test_an_old_stamp_is_refused_as_such():
    source = Source()
    assert source.tells(stamp=10.0)
    for _ in range(5):
        assert not source.tells(stamp=9.0, elbow=1.1)
        assert 'older' in source.error


# ---- another object ---------------------------------------------------------------------------


@pytest.mark.parametrize('is_remapped', [False, True])
def test_positions_that_are_not_believed_yet_are_remembered(source, is_remapped):
    for _ in range(2):
        assert not source.tells(elbow=1.1)
    memory = source.plausibility.memory
    if is_remapped:
        memory = memory.for_joints(memory.names[::-1]).for_joints(memory.names)
    source.states.plausibility = plausible(memory.names, memory=memory)
    assert source.tells(elbow=1.1)
    assert source.states.plausibility.has_believed and memory.has_believed


def test_of_joints_that_are_not_known_nothing_implausible_has_come(source):
    assert not source.tells(elbow=1.1)
    memory = source.plausibility.memory.for_joints(['new', 'elbow'])
    assert memory.agreeing.tolist() == [0, 1]
    assert memory.suspects[:2, 1].tolist() == [1.1, source.time]
    assert memory.jumped_at[0] == -inf
    assert memory.suspects[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_the_memory_of_other_joints_is_refused():
    with pytest.raises(ValueError, match='elbow'):
        Plausibility(['wheel'], PlausibleMotion.of([JointLimits()], [True]),
                     PlausibilityMemory.of(['elbow']))
