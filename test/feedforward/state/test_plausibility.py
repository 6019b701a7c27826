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

from math import inf, nan, pi

import pytest
from ros2_rnea.errors import MessageError
from ros2_rnea.feedforward.state.joint_states import JointStates, MeasuredJoints
from ros2_rnea.feedforward.state.plausibility import Plausibility
from ros2_rnea.model.description import JointLimits

PERIOD = 0.001
NOW = 100.0
LIMITS = {
    'elbow': JointLimits(-3.0, 3.0, velocity=2.0),
    'wheel': JointLimits(velocity=2.0),              # continuous
    'slow': JointLimits(-0.5, 0.5, velocity=0.0),    # a placeholder: 1 rad x 10/s
    'rail': JointLimits(),                           # nothing is known
    'spin': JointLimits(velocity=inf)}               # continuous: 2 pi x 10/s
NAMES = tuple(LIMITS)
START = (0.1, 0.2, 0.3, 0.4, 0.5)


class Source:
    """A publisher of joint states, and the states that are made of its messages."""

    def __init__(self, factor=3.0, names=NAMES):
        self.plausibility = Plausibility(
            names, [LIMITS[name] for name in names],
            [name in ('wheel', 'spin') for name in names])
        self.plausibility.set_speed_factor(factor)
        self.states = JointStates(names, ['grip'], 0.1, self.plausibility)
        self.time, self.names = NOW, names

    def tells(self, elapsed=PERIOD, stamp=0.0, names=None, **there):
        """Send a message with joints at START but for some, and return whether it is believed."""
        self.time += elapsed
        names = names or self.names
        positions = [{**dict(zip(NAMES, START)), 'grip': 0.0, **there}[name] for name in names]
        try:
            self.states.update(MeasuredJoints(names, positions, stamp=stamp), self.time)
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
@pytest.mark.parametrize('elapsed', [0.02, 0.05])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_joint_moves_as_far_as_its_speed_and_the_elapsed_time_explain(
        joint, speed, elapsed, sign):
    for share, believed in ((0.99, True), (1.01, False)):
        source = Source(factor=0.2)
        source.tells()
        there = dict(zip(NAMES, START))[joint] + sign * share * 0.2 * speed * elapsed
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


def test_a_joint_may_come_to_be_outside_its_range_by_moving(source):
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


def test_a_joint_that_another_message_has_does_not_hide_what_is_said_of_the_first(source):
    for believed in (False, False, True):
        assert source.tells(names=('wheel', 'slow'))
        assert source.tells(names=('elbow',), elbow=1.1) is believed


def test_of_other_joints_nothing_is_asked(source):
    for there in (0.0, 99.0, nan, -99.0):
        assert source.tells(names=(*NAMES, 'grip'), grip=there)


def test_an_old_stamp_is_refused_as_such_and_does_not_count():
    source = Source()
    assert source.tells(stamp=10.0)
    for _ in range(5):
        assert not source.tells(stamp=9.0, elbow=1.1)
        assert 'older' in source.error
