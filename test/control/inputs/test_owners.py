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
"""Which publisher owns the state of a joint, when another takes over, and what contradicts."""

from __future__ import annotations

from math import cos, nan, pi, sin

import numpy as np
import pytest
from ros2_rnea.control.inputs.joint_states import JointStates, MeasuredJoints
from ros2_rnea.control.inputs.owners import (
    AGREEING,
    CLEARING,
    FORGETTING,
    JointOwners,
    LATENCY,
    MAX_SOURCES,
    NOISE,
    PACE,
)
from ros2_rnea.control.inputs.plausibility import Plausibility, PlausibleMotion
from ros2_rnea.errors import MessageError
from ros2_rnea.model.description import JointLimits

TIMEOUT = 0.1
NOW = 30.0
ARM = ('shoulder', 'elbow')
BOTH = (*ARM, 'grip')
STEP = 0.025


class Bus:
    """Several publishers of the joint states of one arm with a gripper."""

    def __init__(self, memory=None, continuous=(), plausibility=None):
        self.states = JointStates(ARM, ['grip'], TIMEOUT, plausibility, continuous, memory)
        self.time = NOW

    def tells(self, source, *positions, names=ARM, velocities=(), stamp=True, efforts=None):
        """Let a publisher send, and return whether a controlled joint was taken from it."""
        return self.states.update(MeasuredJoints(
            names, positions, velocities, efforts, self.time if stamp else 0.0, 0.0, source),
            self.time)

    def wait(self, seconds=STEP):
        self.time += seconds

    @property
    def arm(self):
        return self.states.positions[:2].tolist()


@pytest.fixture
def bus():
    return Bus()


def contradicting(bus, count, one='driver', other='ghost', offset=0.02, **how):
    """Let two publishers send by turns."""
    for _ in range(count):
        bus.tells(one, 0.1, 0.2, **how)
        bus.tells(other, 0.1, 0.2 + offset, **how)
        bus.wait()


# ---- who owns a joint ---------------------------------------------------------------------------


@pytest.mark.parametrize('may_change', [True, False])
def test_only_the_first_source_changes_a_joint(bus, may_change):
    bus.states.may_change_owner = may_change
    assert bus.tells('driver', 0.1, 0.2, velocities=(1.0, 2.0), efforts=(3.0, 4.0))
    before = bus.states.measured.copy(), bus.states.efforts.copy(), bus.states.oldest
    bus.wait()
    assert not bus.tells('ghost', 0.1, 0.9, velocities=(8.0, 8.0), efforts=(8.0, 8.0))
    for was, present in zip(before, (
            bus.states.measured, bus.states.efforts, bus.states.oldest)):
        assert np.array_equal(was, present, equal_nan=True)


def test_another_source_takes_over_only_while_nothing_is_sent(bus):
    bus.states.may_change_owner = False
    bus.tells('driver', 0.1, 0.2)
    for _ in range(10):
        bus.wait()
        assert not bus.tells('ghost', 0.1, 0.2)
    assert bus.states.stale(bus.time) == ARM
    bus.states.may_change_owner = True
    assert bus.tells('ghost', 0.3, 0.4)
    assert bus.arm == [0.3, 0.4] and bus.states.is_fresh(bus.time)
    bus.states.may_change_owner = False
    assert not bus.tells('driver', 0.1, 0.2)
    assert bus.tells('ghost', 0.3, 0.4)


def test_the_owner_goes_on_after_a_silence(bus):
    bus.tells('driver', 0.1, 0.2)
    bus.states.may_change_owner = False
    bus.wait(5.0)
    assert bus.tells('driver', 0.3, 0.4)


def test_a_source_takes_over_each_joint_whose_owner_is_silent(bus):
    bus.tells('driver', 0.1, 0.2)
    for _ in range(8):
        bus.wait()
        bus.tells('driver', 0.1, names=['shoulder'])
        bus.tells('other', 0.3, 0.4)
    assert bus.arm == [0.1, 0.4]


def test_publishers_of_different_joints_are_merged(bus):
    for _ in range(3):
        assert bus.tells('left', 0.1, names=['shoulder'])
        assert bus.tells('right', 0.2, names=['elbow'])
        assert not bus.tells('gripper', 0.3, names=['grip'])
        bus.wait()
    assert bus.states.positions.tolist() == [0.1, 0.2, 0.3]
    assert bus.states.conflict == ''


def test_of_a_message_only_its_own_joints_are_used(bus):
    bus.tells('driver', 0.1, 0.2)
    assert not bus.tells('gripper', 0.9, 0.3, names=['elbow', 'grip'], efforts=(5.0, 6.0))
    assert bus.states.positions.tolist() == [0.1, 0.2, 0.3]
    assert bus.states.efforts[2] == 6.0 and np.isnan(bus.states.efforts[:2]).all()
    assert not bus.tells('gripper', nan, 0.4, names=['elbow', 'grip'])
    assert bus.states.positions.tolist() == [0.1, 0.2, 0.4]


def test_a_source_with_stamps_takes_over_from_one_without(bus):
    bus.tells('gui', 0.0, 0.0, stamp=False)
    bus.states.may_change_owner = False
    assert not bus.tells('driver', 0.0, 0.001)
    bus.states.may_change_owner = True
    assert bus.tells('driver', 0.0, 0.001)
    assert not bus.tells('gui', 0.0, 0.0, stamp=False)
    assert bus.arm == [0.0, 0.001]


def test_no_velocity_is_estimated_from_a_former_owner(bus):
    for _ in range(5):
        bus.tells('gui', 0.0, 0.0, stamp=False)
        bus.wait(0.01)
    assert bus.states.estimated_velocities[:2].tolist() == [0.0, 0.0]
    for count in range(3):
        assert np.isnan(bus.states.estimated_velocities[:2]).all() == (count > 0)
        bus.tells('driver', 0.5, 0.5)
        bus.wait(0.01)
    assert bus.states.estimated_velocities[:2].tolist() == [0.0, 0.0]


def test_what_is_not_plausible_owns_nothing():
    plausibility = Plausibility(
        BOTH, PlausibleMotion.of(3 * [JointLimits(-1.0, 1.0, 2.0)], 3 * [False]))
    bus = Bus(plausibility=plausibility)
    with pytest.raises(MessageError, match='far outside'):
        bus.tells('ghost', 0.0, 50.0)
    assert bus.tells('driver', 0.1, 0.2)
    assert not bus.tells('ghost', 0.1, 0.2)


def test_owners_are_remembered_by_name(bus):
    bus.tells('driver', 0.1, 0.2)
    bus.tells('gripper', 0.3, names=['grip'])
    for names in (BOTH, ('elbow', 'wheel', 'shoulder')):
        memory = bus.states.memory.for_joints(names)
        states = JointStates(names, [], TIMEOUT, memory=memory)
        states.may_change_owner = False
        ghost = MeasuredJoints(ARM, (0.1, 0.2), (), None, NOW, 0.0, 'ghost')
        assert not states.update(ghost, NOW)
        assert states.update(ghost._replace(source='driver'), NOW)
    assert states.update(MeasuredJoints(['wheel'], [0.5], source='ghost'), NOW)


def test_after_the_time_has_jumped_back_the_owner_goes_on(bus):
    bus.tells('driver', 0.1, 0.2)
    bus.tells('ghost', 0.1, 0.2)
    bus.states.may_change_owner = False
    bus.time = 1.0
    assert not bus.tells('ghost', 0.3, 0.4)
    assert bus.tells('driver', 0.3, 0.4) and bus.states.is_fresh(1.0)


# ---- where the publisher is not known -----------------------------------------------------------


def test_lists_that_contain_others_are_of_one_publisher(bus):
    bus.states.may_change_owner = False
    for k in range(20):
        for names in (ARM, BOTH, ['elbow'], ARM[::-1], ['elbow', 'lamp', 'shoulder']):
            assert bus.tells(None, *(0.01 * k + 0.001 * len(name) for name in names), names=names)
            bus.wait(0.002)
    assert bus.arm == pytest.approx([0.19 + 0.008, 0.19 + 0.005])
    assert bus.states.conflict == ''


def test_a_joint_that_leaps_once_is_no_contradiction(bus):
    for there in (0.2, 0.9, 0.9, -0.5, -0.5, -0.5):
        assert bus.tells(None, 0.1, there)
        assert bus.tells(None, there, names=['elbow'])
        bus.wait()
    assert bus.states.conflict == ''


def test_lists_that_only_overlap_are_of_two_publishers(bus):
    assert bus.tells(None, 0.1, 0.2)
    assert not bus.tells(None, 0.2, 0.3, names=['elbow', 'grip'])
    assert bus.states.positions.tolist() == [0.1, 0.2, 0.3]


def test_lists_that_contradict_again_are_of_two_publishers(bus):
    bus.states.may_change_owner = False
    for _ in range(AGREEING + 1):
        bus.tells(None, 0.1, 0.2)
        bus.tells(None, 0.1, 0.25, 0.3, names=BOTH)
        bus.wait()
    assert "joint 'elbow' is at" in bus.states.conflict
    for _ in range(20):
        assert bus.tells(None, 0.1, 0.2)
        assert not bus.tells(None, 0.1, 0.25, 0.3, names=BOTH)
        assert bus.arm == [0.1, 0.2]
        bus.wait()


def test_three_contradictions_in_succession_are_needed(bus):
    """They count as soon as the speed of both lists is known, here with the third of each."""
    for _ in range(3):
        bus.tells(None, 0.1, 0.2)
        bus.tells(None, 0.1, 0.22, 0.3, names=BOTH)
        assert bus.states.conflict == ''
        bus.wait()
    assert AGREEING == 3
    bus.tells(None, 0.1, 0.2)
    assert bus.states.conflict


def test_an_agreement_between_them_begins_the_count_anew(bus):
    for k in range(100):
        bus.tells(None, 0.1, 0.2)
        bus.tells(None, 0.1, 0.2 if k % 2 else 0.25, 0.3, names=BOTH)
        bus.wait(0.5 * TIMEOUT)
    assert bus.states.conflict == ''


# ---- what contradicts ---------------------------------------------------------------------------


def test_two_sources_that_differ_are_both_named(bus):
    bus.tells('driver', 0.1, 0.2)
    bus.tells('ghost', 0.1, 0.22, 0.3, names=BOTH)
    bus.wait()
    bus.tells('driver', 0.1, 0.2)
    assert bus.states.conflict == (
        "joint 'elbow' is at 0.2 by the publisher of joints shoulder, elbow, and at 0.22 by the "
        'publisher of joints shoulder, elbow, grip')
    bus.states.call_source('driver', '/ur_driver')
    bus.wait()
    bus.tells('driver', 0.1, 0.2)
    assert 'at 0.2 by /ur_driver (joints shoulder, elbow), and' in bus.states.conflict


def test_of_many_joints_some_are_named(bus):
    many = (*ARM, *(f'wheel_{k}' for k in range(20)))
    contradicting(bus, 2)
    bus.tells('ghost', 0.1, 0.22, *20 * [0.0], names=many)
    assert 'wheel_5 and 14 more' in bus.states.conflict


@pytest.mark.parametrize('offset, is_conflict', [
    (0.9 * NOISE, False), (1.1 * NOISE, True), (-1.1 * NOISE, True)])
def test_noise_is_no_contradiction(bus, offset, is_conflict):
    contradicting(bus, 3, offset=offset)
    assert bool(bus.states.conflict) is is_conflict


def test_a_joint_that_is_not_controlled_has_no_conflict(bus):
    for _ in range(5):
        bus.tells('driver', 0.1, 0.2, 0.3, names=BOTH)
        bus.tells('ghost', 0.9, names=['grip'])
        bus.wait()
    assert bus.states.conflict == '' and bus.states.positions[2] == 0.3


def test_whole_turns_of_a_continuous_joint_contradict_nothing():
    for continuous in ((), ('elbow',)):
        bus = Bus(continuous=continuous)
        contradicting(bus, 3, offset=2.0 * pi)
        assert bool(bus.states.conflict) is not continuous


@pytest.mark.parametrize('velocities', [True, False])
@pytest.mark.parametrize('late', [0.0, 0.9 * LATENCY])
def test_a_motion_that_one_source_reports_later_is_no_conflict(bus, velocities, late):
    for _ in range(400):
        for source, lag in (('driver', 0.0), ('echo', late)):
            at = 2.0 * (bus.time - lag)
            bus.tells(source, sin(at), 0.0, velocities=(2.0 * cos(at), 0.0) if velocities else ())
            bus.wait(0.005)
            if bus.time > NOW + 1.2:
                assert bus.states.conflict == ''


def test_a_motion_explains_no_difference_beyond_its_speed(bus):
    for _ in range(3):
        for source, ahead in (('driver', 0.0), ('ghost', 0.3)):
            bus.tells(source, 2.0 * bus.time + ahead, 0.0, velocities=(2.0, 0.0))
        bus.wait()
    assert 'shoulder' in bus.states.conflict


def test_a_conflict_lasts_for_a_second_after_the_last_contradiction(bus):
    contradicting(bus, 3)
    for _ in range(round(CLEARING / STEP) - 1):
        contradicting(bus, 1, offset=0.0)
        assert bus.states.conflict
    contradicting(bus, 3, offset=0.0)
    assert bus.states.conflict == ''


def test_a_conflict_ends_when_one_source_is_silent(bus):
    contradicting(bus, 3)
    for _ in range(round(CLEARING / STEP)):
        assert bus.states.conflict
        bus.tells('driver', 0.1, 0.2)
        bus.wait()
    bus.wait(TIMEOUT)  # the last state of the other counts for that long
    bus.tells('driver', 0.1, 0.2)
    assert bus.states.conflict == ''


def test_a_conflict_is_remembered(bus):
    contradicting(bus, 3)
    for memory in (bus.states.memory, bus.states.memory.for_joints(BOTH)):
        other = Bus(memory)
        assert other.states.conflict == bus.states.conflict != ''
        other.time = bus.time
        contradicting(other, 2)
        assert other.arm == [0.1, 0.2]


# ---- cost and bounds ----------------------------------------------------------------------------


def test_of_one_source_for_each_joint_nothing_is_compared(bus, monkeypatch):
    for _ in range(2):
        bus.tells('driver', 0.1, 0.2)
        bus.tells('gripper', 0.3, names=['grip'])
    for method in ('source', 'admits', 'claim', 'note'):
        monkeypatch.setattr(JointOwners, method, None)
    for _ in range(3):
        bus.wait()
        assert bus.tells('driver', 0.1, 0.2)
        assert not bus.tells('gripper', 0.3, names=['grip'])
    with pytest.raises(TypeError):
        bus.tells('ghost', 0.1, 0.2)


def test_after_a_silent_source_nothing_is_compared(bus, monkeypatch):
    contradicting(bus, 2)
    bus.wait(1.1 * FORGETTING)
    for _ in range(2):
        bus.tells('driver', 0.1, 0.2)
        bus.wait()
    monkeypatch.setattr(JointOwners, 'admits', None)
    assert bus.tells('driver', 0.1, 0.2)
    assert [*bus.states.memory.owners.sources] == ['driver']


def test_states_are_compared_at_a_bounded_rate(bus):
    for _ in range(1000):
        bus.tells('driver', 0.1, 0.2)
        bus.tells('ghost', 0.1, 0.9)
        bus.wait(0.001)
    (contradictions, _), = bus.states.memory.owners.contradictions.values()
    assert 0.9 * 2.0 / PACE < contradictions < 1.1 * 2.0 / PACE


def test_sources_are_limited_in_number(bus):
    bus.tells('driver', 0.1, 0.2)
    for k in range(5 * MAX_SOURCES):
        bus.tells(f'ghost {k}', 0.1, 0.3)
        assert len(bus.states.memory.owners.sources) <= MAX_SOURCES + 2
    owners = bus.states.memory.owners
    assert 'driver' in owners.sources and len(owners.contradictions) <= (MAX_SOURCES + 2)**2
