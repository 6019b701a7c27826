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
"""What is left of an effort on its way to the motors, in which order, and why."""

from math import inf, nan

import numpy as np
import pytest
from ros2_rnea.control.output.effort_limiter import EffortLimiter, LARGEST_EFFORT
from ros2_rnea.control.output.effort_ramp import EffortRamp
from ros2_rnea.control.output.joint_bounds import JointBounds
from ros2_rnea.control.settings import BeyondLimits
from ros2_rnea.model.description import JointLimits

JOINTS = ('shoulder', 'elbow')
LIMITS = np.array([100.0, 40.0])
BOUNDS = JointBounds([JointLimits(-3.0, 3.0, 100.0, 2.0)] * 2, 0.0, 1.0)
INSIDE, AT_UPPER, AT_LOWER = (np.array([[q, 0.0], [0.0, 0.0]]) for q in (0.3, 3.0, -3.0))


def limiter(limits=LIMITS, beyond=BeyondLimits.CLAMP, rate=inf):
    return EffortLimiter(limits, beyond, BOUNDS, EffortRamp(JOINTS, rate))


def limit(one, needed, now=10.0, measured=INSIDE, holding=(7.0, 0.0)):
    """Return the limited effort, and the flagged joints by kind of limit."""
    limited = one.limit(np.array(needed), now, measured, lambda: np.array(holding))
    effort = None if limited.effort is None else limited.effort.tolist()
    if limited.not_finite is not None:
        assert limited.flags is None
        return effort, {'not_finite': named(limited.not_finite)}
    if limited.flags is None:
        return effort, {}
    assert limited.flags.joints == JOINTS
    kinds = limited.flags._asdict().items()
    flags = {kind: named(array) for kind, array in kinds if kind != 'joints' and array.any()}
    assert flags, 'flags without a flagged joint'
    return effort, flags


def named(flags):
    return tuple(name for name, flag in zip(JOINTS, flags) if flag)


def test_what_is_within_everything_passes_as_it_is():
    assert limit(limiter(), [5.0, -6.0]) == ([5.0, -6.0], {})


def test_what_passed_stays_as_it_is_when_its_source_changes():
    needed = np.array([5.0, -6.0])
    effort = limiter().limit(needed, 10.0, INSIDE, lambda: needed).effort
    needed[:] = 0.0
    assert effort.tolist() == [5.0, -6.0]


@pytest.mark.parametrize('bad', [nan, inf, -inf])
def test_what_is_not_a_number_does_not_pass_and_is_named(bad):
    one = limiter()
    assert limit(one, [5.0, bad]) == (None, {'not_finite': ('elbow',)})
    assert not one.ramp.is_sending


@pytest.mark.parametrize('beyond, expected', [
    (BeyondLimits.CLAMP, [5.0, -40.0]), (BeyondLimits.SCALE, [6.0, -40.0])])
def test_beyond_a_limit_there_are_two_ways(beyond, expected):
    assert limit(limiter(beyond=beyond), [5.0, -80.0]) == (expected, {'saturated': ('elbow',)})


@pytest.mark.parametrize('holding, expected', [
    ((7.0, 0.0), [10.0, -40.0]),      # half of what is added
    ((19.0, 20.0), [17.0, -40.0]),
    ((7.0, -40.0), [7.0, -40.0]),     # the elbow has no room left
    ((7.0, -60.0), [7.0, -40.0]),     # gravity alone is too much for it
    ((120.0, 0.0), [56.5, -40.0])])
def test_to_scale_takes_nothing_from_what_holds(holding, expected):
    """The arm would fall, since too large an effort of one joint counts for all."""
    effort, flags = limit(
        limiter(beyond=BeyondLimits.SCALE), [13.0, -80.0 if holding[1] != 20.0 else -160.0],
        holding=holding)
    assert effort == pytest.approx(expected)
    assert flags == {'saturated': ('elbow',)}


@pytest.mark.parametrize('size', [1e4, 1e300, -1e300])
def test_to_scale_away_any_effort_leaves_what_holds(size):
    effort, _ = limit(limiter(beyond=BeyondLimits.SCALE), [-3.03, size], holding=(-3.03, -1.6))
    assert effort == pytest.approx([-3.03, np.copysign(40.0, size)])


def test_without_a_limit_squares_of_efforts_are_still_finite():
    effort, _ = limit(limiter(np.array([inf, inf])), [1e300, 0.0])
    assert effort == [LARGEST_EFFORT, 0.0]


@pytest.mark.parametrize('measured, needed, expected', [
    (AT_UPPER, 20.0, 7.0), (AT_UPPER, 3.0, 3.0), (AT_UPPER, -20.0, -20.0),
    (AT_LOWER, 20.0, 20.0), (AT_LOWER, 3.0, 7.0), (AT_LOWER, -20.0, 7.0), (None, 90.0, 90.0)])
def test_at_a_bound_no_more_passes_than_what_holds(measured, needed, expected):
    effort, flags = limit(limiter(), [needed, 1.0], measured=measured)
    assert effort == [expected, 1.0]
    assert flags == ({'restrained': ('shoulder',)} if expected != needed else {})


def test_a_holding_effort_that_is_not_finite_or_too_large_does_no_harm():
    for holding in ((nan, 0.0), (1e300, 0.0)):
        effort, _ = limit(limiter(), [90.0, 1.0], measured=AT_UPPER, holding=holding)
        assert effort == [0.0 if np.isnan(holding[0]) else 90.0, 1.0]


@pytest.mark.parametrize('beyond', BeyondLimits)
@pytest.mark.parametrize('measured', [AT_UPPER, AT_LOWER])
def test_what_holds_is_held_to_the_limits_in_the_same_way(beyond, measured):
    """So an effort that holds and no more is not restrained, be it beyond its limits or not."""
    holding = [-60.0, -80.0]
    effort, flags = limit(limiter(beyond=beyond), holding, measured=measured, holding=holding)
    assert effort == [-60.0, -40.0]
    assert flags == {'saturated': ('elbow',)}


@pytest.mark.parametrize('beyond', BeyondLimits)
def test_what_is_blended_is_within_the_limits_too(beyond):
    one = limiter(np.array([100.0, 40.0]), beyond)
    limit(one, [0.0, 0.0])
    one.ramp.sent = np.array([0.0, 90.0])  # as an earlier policy with higher limits left it
    one.ramp.blend(1.0)
    effort, _ = limit(one, [10.0, 0.0], 10.001)
    assert abs(effort[1]) <= 40.0


@pytest.mark.parametrize('before, holding, first', [
    (60.0, 7.0, 7.0),   # what drove the joint on ends at once
    (60.0, -7.0, 0.0),
    (0.0, -7.0, 0.0),   # what only lets gravity push on is blended
    (-30.0, -7.0, -30.0),
])
def test_at_a_bound_nothing_from_before_drives_a_joint_on(before, holding, first):
    one = limiter()
    limit(one, [before, 0.0])
    one.ramp.blend(1.0)
    effort, flags = limit(one, [holding, 0.0], 10.002, AT_UPPER, (holding, 0.0))
    assert effort[0] == pytest.approx(first)
    assert flags == ({'restrained': ('shoulder',)} if first != before else {})
    effort, _ = limit(one, [holding, 0.0], 11.1, AT_UPPER, (holding, 0.0))
    assert effort[0] == holding


def test_the_highest_rate_counts_above_all():
    one = limiter(rate=1000.0)
    assert limit(one, [1.0, 0.0], 10.0)[0] == [1.0, 0.0]
    effort, flags = limit(one, [90.0, 0.5], 10.001)
    assert effort == pytest.approx([2.0, 0.5])
    assert flags == {'rate_limited': ('shoulder',)}
    effort, flags = limit(one, [-5.0, 0.5], 10.002, AT_UPPER, (-5.0, 0.5))
    assert effort == pytest.approx([1.0, 0.5])
