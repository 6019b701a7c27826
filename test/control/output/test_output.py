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
"""What is sent of a needed effort: in which order it is limited, and what is stored."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.output.hand_over import Blend, HandOverMemory
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.output.output import Needed, Output, RESTRAINED_FOR, SentMemory
from ros2_rnea.control.output.saturation import LARGEST_EFFORT
from ros2_rnea.control.settings import BeyondLimits, Settings

JOINTS = ('shoulder', 'elbow')
LIMITS = np.array([100.0, 40.0])
INSIDE, AT_UPPER, AT_LOWER = (np.array([[q, 0.0], [0.0, 0.0]]) for q in (0.3, 3.0, -3.0))
ZERO, PERIOD = np.zeros(2), 0.002
ALONE, HELD = np.array([True, True]), np.array([False, False])


class Sender:
    """An output with its memory, in cycles of 2 ms."""

    def __init__(self, limits=LIMITS, alone=HELD, memory=None, **settings):
        self.out = Output(
            np.array(limits), Settings(**{'effort_rate_limit': inf, **settings}), JointBounds(
                np.array([(-3.0, 3.0, 2.0)] * 2), 0.0, 1.0, 0.1), alone)
        self.sent = memory or SentMemory.of(JOINTS)
        self.hand_over = HandOverMemory(ZERO)
        self.time = 10.0

    def send(self, effort, holding=(7.0, 0.0), measured=INSIDE, blend=None, free=ZERO,
             model=None, after=PERIOD):
        """Return the sent effort, and the names of flagged joints by kind of limit."""
        self.time += after
        needed = Needed(*(np.array(part, dtype=float) for part in (
            effort, free, holding, effort if model is None else model)))
        sent, flags = self.out.send(
            needed, measured, self.sent, self.hand_over, self.time, blend, PERIOD)
        kinds = {} if flags is None else {
            kind: flags.names(array) for kind, array in flags._asdict().items()
            if kind != 'joints' and array.any()}
        return sent.tolist(), kinds


def test_what_is_within_all_limits_is_sent_and_stored():
    one = Sender()
    assert one.send([5.0, -6.0]) == ([5.0, -6.0], {})
    assert one.sent.effort.tolist() == [5.0, -6.0]
    assert one.sent.is_sending and one.sent.at == one.sent.since == one.time


@pytest.mark.parametrize('beyond, expected', [
    (BeyondLimits.CLAMP, [5.0, -40.0]), (BeyondLimits.SCALE, [6.0, -40.0])])
def test_beyond_a_limit_there_are_two_ways(beyond, expected):
    one = Sender(beyond_limits=beyond)
    assert one.send([5.0, -80.0]) == (expected, {'saturated': ('elbow',)})


@pytest.mark.parametrize('holding, expected', [
    ((7.0, -60.0), [7.0, -40.0]),     # gravity alone is too much for the elbow
    ((120.0, 0.0), [56.5, -40.0])])
def test_what_holds_is_limited_before_anything_is_scaled(holding, expected):
    effort, flags = Sender(beyond_limits=BeyondLimits.SCALE).send([13.0, -80.0], holding)
    assert effort == pytest.approx(expected)
    assert flags == {'saturated': ('elbow',)}


def test_without_a_limit_squares_of_efforts_are_still_finite():
    assert Sender([inf, inf]).send([1e300, 0.0])[0] == [LARGEST_EFFORT, 0.0]


@pytest.mark.parametrize('measured, needed, expected', [
    (AT_UPPER, 20.0, 7.0), (AT_UPPER, 3.0, 3.0), (AT_UPPER, -20.0, -20.0),
    (AT_LOWER, 20.0, 20.0), (AT_LOWER, 3.0, 7.0), (AT_LOWER, -20.0, 7.0), (None, 90.0, 90.0)])
def test_at_a_bound_no_more_passes_than_what_holds(measured, needed, expected):
    effort, flags = Sender().send([needed, 1.0], measured=measured)
    assert effort == [expected, 1.0]
    assert flags == ({'restrained': ('shoulder',)} if expected != needed else {})


def test_a_holding_effort_that_is_not_finite_does_no_harm():
    for holding in ((np.nan, 0.0), (1e300, 0.0)):
        effort, _ = Sender().send([90.0, 1.0], holding, AT_UPPER)
        assert effort == [0.0 if np.isnan(holding[0]) else 90.0, 1.0]


@pytest.mark.parametrize('beyond', BeyondLimits)
@pytest.mark.parametrize('measured', [AT_UPPER, AT_LOWER])
def test_what_holds_has_the_same_limits(beyond, measured):
    """So an effort that holds and no more is not restrained, be it beyond its limits or not."""
    holding = [-60.0, -80.0]
    assert Sender(beyond_limits=beyond).send(holding, holding, measured) == (
        [-60.0, -40.0], {'saturated': ('elbow',)})


def test_a_flag_of_a_bound_does_not_flicker():
    one = Sender()
    assert one.send([20.0, 1.0], measured=AT_UPPER)[1]
    seen = [bool(one.send([20.0, 1.0])[1]) for _ in range(100)]
    lasts = seen.index(False) * PERIOD
    assert lasts == pytest.approx(RESTRAINED_FOR, abs=2 * PERIOD)
    assert not any(seen[seen.index(False):])


@pytest.mark.parametrize('alone', [ALONE, HELD])
@pytest.mark.parametrize('beyond', BeyondLimits)
def test_what_is_handed_over_is_within_the_limits_too(beyond, alone):
    one = Sender(alone=alone, beyond_limits=beyond)
    one.sent.effort = np.array([0.0, 90.0])  # as an earlier policy with higher limits left it
    effort, _ = one.send([10.0, 0.0], blend=Blend(1.0, False), free=[7.0, 0.0])
    assert abs(effort[1]) <= 40.0


@pytest.mark.parametrize('alone', [ALONE, HELD])
@pytest.mark.parametrize('of_model', [True, False])
def test_a_hand_over_leads_smoothly_to_what_is_needed(alone, of_model):
    one = Sender(alone=alone)
    one.send([5.0, -6.0], free=[7.0, 0.0])
    effort, _ = one.send([20.0, 10.0], (22.0, 16.0), blend=Blend(0.5, of_model), free=[22.0, 16.0])
    assert effort == pytest.approx([5.0, -6.0])
    for _ in range(260):
        effort, _ = one.send([20.0, 10.0], (22.0, 16.0), free=[22.0, 16.0])
    assert effort == [20.0, 10.0]


def test_gravity_has_its_full_weight_during_a_hand_over():
    one = Sender(alone=ALONE)
    one.send([5.0, 0.0], free=[5.0, 0.0])
    first, _ = one.send([20.0, 0.0], blend=Blend(0.5, False), free=[20.0, 0.0])
    second, _ = one.send([13.0, 0.0], free=[13.0, 0.0])
    assert second[0] - first[0] == pytest.approx(-7.0, abs=0.2)


@pytest.mark.parametrize('alone, expected', [(ALONE, 90.0), (HELD, 52.0)])
def test_where_the_node_moves_alone_gravity_has_no_rate_limit(alone, expected):
    one = Sender(alone=alone, effort_rate_limit=1000.0)
    one.sent.effort = one.sent.limited = np.array([50.0, 0.0])
    if alone is ALONE:
        one.sent.limited = ZERO
    one.sent.is_sending, one.sent.at, one.sent.alone = True, one.time, alone
    free = [90.0, 0.0] if alone is ALONE else ZERO
    effort, flags = one.send([90.0, 0.0], free=free)
    assert effort[0] == pytest.approx(expected)
    assert flags == ({} if alone is ALONE else {'rate_limited': ('shoulder',)})


def test_the_rate_of_what_leads_the_motion_is_limited_everywhere():
    one = Sender(alone=ALONE, effort_rate_limit=1000.0)
    for _ in range(5):
        one.send([7.0, 0.0], free=[7.0, 0.0])
    effort, flags = one.send([50.0, 0.0], free=[7.0, 0.0])
    assert effort == pytest.approx([9.0, 0.0])
    assert flags == {'rate_limited': ('shoulder',)}


@pytest.mark.parametrize('after', [0.001, 0.02, 0.1])
def test_the_rate_counts_in_time(after):
    one = Sender(effort_rate_limit=100.0)
    one.send([0.0, 0.0])
    assert one.send([90.0, 0.0], after=after)[0] == pytest.approx([100.0 * after, 0.0])


def test_after_a_long_pause_the_effort_does_not_step():
    one = Sender(effort_rate_limit=100.0)
    one.send([0.0, 0.0])
    assert one.send([90.0, 0.0], after=60.0)[0][0] == pytest.approx(100.0 * 0.1)
    one.sent.pause()
    assert one.send([90.0, 0.0], after=60.0)[0][0] == pytest.approx(10.0 + 100.0 * PERIOD)


def test_damping_acts_at_once_in_a_hand_over_to_braking():
    """The rest of the effort before, here a feedback of 5 Nm, decays meanwhile."""
    one = Sender(alone=ALONE)
    one.send([12.0, 0.0], free=[12.0, 0.0])
    first, _ = one.send(
        [4.0, 0.0], blend=Blend(0.05, damps=True), free=[4.0, 0.0])  # 3 Nm of damping
    assert first == [9.0, 0.0]


@pytest.mark.parametrize('alone', [ALONE, HELD])
def test_another_model_makes_no_step_in_what_is_not_gravity(alone):
    """A wrench is part of the model, and its rate is limited."""
    one = Sender(alone=alone, effort_rate_limit=1000.0)
    free = [7.0, 0.0] if alone is ALONE else ZERO
    one.send([7.0, 0.0], free=free)
    before, _ = one.send([8.0, 0.0], free=free, after=0.1)
    effort, _ = one.send([6.0, 0.0], blend=Blend(0.5, True), free=free)
    assert effort == pytest.approx(before)


def test_what_was_not_sent_after_all_is_not_held():
    one = Sender()
    one.send([5.0, -6.0])
    before = one.sent.last
    one.send([9.0, 9.0])
    one.sent.withdraw(before)
    assert one.sent.effort.tolist() == [5.0, -6.0]
    assert one.sent.is_sending and one.sent.at == one.time - PERIOD


def test_other_joints_go_on_with_their_own_efforts():
    one = Sender()
    one.sent.has_start = True
    one.send([5.0, -6.0])
    elbow = one.sent.for_joints(('elbow',))
    assert elbow.effort.tolist() == [-6.0] and elbow.has_start
    back = elbow.for_joints(('elbow', 'shoulder'))
    assert back.effort.tolist() == [-6.0, 5.0] and back.has_start
    new = one.sent.for_joints(('elbow', 'wrist'))
    assert not new.has_start
    new.start_at(np.array([1.0, 2.0]))
    assert new.effort.tolist() == [-6.0, 2.0]


def test_without_limits_the_effort_is_exactly_what_is_needed():
    """The sum of its parts would be rounded."""
    one, random = Sender(alone=ALONE), np.random.default_rng(5)
    for _ in range(50):
        needed, free = random.uniform(-30.0, 30.0, (2, 2))
        assert one.send(needed, free=free) == (needed.tolist(), {})


def test_nobody_can_change_the_flags_that_all_decisions_share():
    one = Sender()
    one.send([5.0, -6.0])
    _, flags = one.out.send(
        Needed(*np.array([[5.0, -80.0], ZERO, ZERO, ZERO])), INSIDE, one.sent, one.hand_over,
        one.time, None, PERIOD)
    with pytest.raises(ValueError, match='read-only'):
        flags.rate_limited[0] = True


def test_after_a_jump_back_efforts_count_as_sent_since_then():
    """Otherwise contacts would have no reaction until that time comes again."""
    one = Sender()
    one.send([5.0, -6.0])
    one.time -= 5.0
    one.send([5.0, -6.0])
    assert one.sent.since == one.time
