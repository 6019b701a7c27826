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
"""External wrenches: the newest of each frame, for as long as the timeout."""

from __future__ import annotations

from math import exp, inf, nan

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.inputs.wrenches import ExternalWrenches
from ros2_rnea.control.settings import ExertedBy, WrenchSettings
from ros2_rnea.errors import MessageError
from small_robots import joint, link, robot

ARM = Robot.from_urdf(robot(
    link('ground'), link('base'), link('wrist'), link('tool'),
    joint('turn', 'ground', 'base'), joint('bend', 'base', 'wrist'),
    joint('hold', 'wrist', 'tool', kind='fixed')))
LINKS = ARM.tree
TIMEOUT = 0.1
NOW = 50.0
PUSH = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
PULL = (-9.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.fixture
def wrenches():
    return ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, frames=('tool', 'wrist', 'base')))


def active(wrenches, now=NOW):
    return {frame: tuple(value) for frame, value in wrenches.active(now).items()}


def test_at_first_nothing_acts(wrenches):
    assert active(wrenches) == {}
    assert wrenches.stale(NOW) == ()


def test_wrenches_of_several_frames_stand_side_by_side(wrenches):
    wrenches.update('tool', PUSH, NOW)
    wrenches.update('wrist', PULL, NOW)
    assert active(wrenches) == {'tool': PUSH, 'wrist': PULL}


def test_a_second_frame_is_refused_while_the_first_one_acts():
    wrenches = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, fade_time=0.2))
    wrenches.update('tool', PUSH, NOW)
    for later in (0.0, TIMEOUT, TIMEOUT + 0.19):
        with pytest.raises(MessageError, match=r"'wrist'.*'tool'.*wrench_frames: \[tool, wrist\]"):
            wrenches.update('wrist', PULL, NOW + later)
        assert list(active(wrenches, NOW + later)) == ['tool']
    wrenches.update('wrist', PULL, NOW + TIMEOUT + 0.2)
    assert active(wrenches, NOW + TIMEOUT + 0.2) == {'wrist': PULL}


def test_a_frame_that_is_not_named_is_refused():
    wrenches = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, frames=('tool', 'wrist')))
    with pytest.raises(MessageError, match="'base' is not in wrench_frames.* tool, wrist"):
        wrenches.update('base', PUSH, NOW)
    assert active(wrenches) == {}


def test_a_frame_that_is_no_longer_named_stops_to_act(wrenches):
    wrenches.update('tool', PUSH, NOW)
    wrenches.update('wrist', PULL, NOW)
    newer = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, frames=('wrist',)), wrenches.memory)
    assert active(newer) == {'wrist': PULL}


def test_a_frame_that_is_named_again_has_its_bias_still(wrenches):
    wrenches.update('tool', PUSH, NOW)
    wrenches.zero(NOW)
    memory = wrenches.memory
    without, again = (
        ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, frames=frames), memory)
        for frames in (('wrist',), ('wrist', 'tool')))
    assert without.memory is again.memory is memory
    assert active(again) == {}
    again.update('tool', PUSH, NOW)
    assert active(again) == {'tool': (0.0,) * 6}


@pytest.mark.parametrize('first', ['tool', 'wrist'])
def test_without_named_frames_the_first_that_acts_goes_on(first):
    """Otherwise each is refused because the others act, and none counts once they have faded."""
    other = {'tool': 'wrist', 'wrist': 'tool'}[first]
    frames = WrenchSettings(TIMEOUT, fade_time=0.2, frames=('base', first, other))
    wrenches = ExternalWrenches(LINKS, frames)
    wrenches.update('base', PULL, NOW - 0.31)  # has faded out
    for frame in ('tool', 'wrist'):
        wrenches.update(frame, PUSH, NOW)
    newer = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, fade_time=0.2), wrenches.memory)
    assert active(newer) == {first: PUSH}
    for step in range(50):
        newer.update(first, PUSH, NOW + 0.01 * step)
        with pytest.raises(MessageError, match=rf'wrench_frames: \[{first}, {other}\]'):
            newer.update(other, PUSH, NOW + 0.01 * step)
    assert active(newer, NOW + 0.49) == {first: PUSH}
    newer.update(other, PUSH, NOW + 0.8)  # the first one is silent
    assert active(newer, NOW + 0.8) == {other: PUSH}


def test_it_can_be_zeroed_for_as_long_as_it_counts():
    wrenches = ExternalWrenches(LINKS, WrenchSettings(0.125))
    wrenches.update('tool', PUSH, NOW)
    assert wrenches.zero(NOW + 0.125) == ('tool',)
    with pytest.raises(MessageError, match='no wrench can be set to zero'):
        wrenches.zero(NOW + 0.1875)


def test_the_filter_of_a_forgotten_wrench_starts_from_zero():
    wrenches = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, time_constant=0.01))
    for step in range(100):
        wrenches.update('tool', PUSH, NOW + 0.001 * step)
    wrenches.forget()
    assert active(wrenches) == {}
    for time in (NOW + 0.1, NOW + 0.105):
        wrenches.update('tool', PUSH, time)
    assert active(wrenches, time)['tool'] == pytest.approx((1.0 - exp(-0.5)) * np.array(PUSH))


def test_of_one_frame_the_newest_counts(wrenches):
    wrenches.update('tool', PUSH, NOW)
    wrenches.update('tool', PULL, NOW)
    assert active(wrenches) == {'tool': PULL}


@pytest.mark.parametrize('age, counts', [(0.0, True), (0.099, True), (0.101, False)])
def test_a_wrench_counts_for_as_long_as_the_timeout(wrenches, age, counts):
    wrenches.update('tool', PUSH, NOW)
    assert active(wrenches, NOW + age) == ({'tool': PUSH} if counts else {})
    assert wrenches.stale(NOW + age) == (() if counts else ('tool',))


def test_each_frame_has_its_own_age(wrenches):
    wrenches.update('wrist', PULL, NOW)
    wrenches.update('tool', PUSH, NOW + 0.08)
    assert active(wrenches, NOW + 0.15) == {'tool': PUSH}
    assert wrenches.stale(NOW + 0.15) == ('wrist',)


def test_after_the_clock_has_gone_back_no_wrench_counts(wrenches):
    wrenches.update('tool', PUSH, NOW)
    assert active(wrenches, 1.0) == {}


def test_what_the_robot_exerts_acts_on_it_the_other_way():
    wrenches = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, exerted_by=ExertedBy.ROBOT))
    wrenches.update('tool', PUSH, NOW)
    assert active(wrenches) == {'tool': tuple(-value for value in PUSH)}


@pytest.mark.parametrize('frame, values, message', [
    ('tol', PUSH, "the wrench frame 'tol' is not a link that joints move.*'tool'"),
    ('', PUSH, "the wrench frame '' is not a link"),
    ('world', PUSH, "'world' is not a link"),
    ('tool', (*PUSH[:5], nan), "in frame 'tool' is .*nan.*6 finite numbers"),
    ('tool', (inf, *PUSH[1:]), 'inf.*6 finite numbers'),
])
def test_a_bad_wrench_is_refused_and_the_one_before_stays(wrenches, frame, values, message):
    wrenches.update('tool', PULL, NOW)
    with pytest.raises(MessageError, match=message):
        wrenches.update(frame, values, NOW)
    assert active(wrenches) == {'tool': PULL}


def test_an_age_slightly_too_large_keeps_the_filter():
    wrenches = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT, time_constant=0.01))
    for step in range(100):
        wrenches.update('tool', PUSH, NOW + 0.001 * step)
    before = active(wrenches, NOW + 0.1)['tool']
    wrenches.update('tool', PUSH, NOW + 0.1, age=0.008)
    np.testing.assert_allclose(active(wrenches, NOW + 0.1)['tool'], before, rtol=1e-3)


def test_a_wrench_that_has_waited_is_refused_beside_another():
    wrenches = ExternalWrenches(LINKS, WrenchSettings(TIMEOUT))
    wrenches.update('tool', PUSH, NOW)
    with pytest.raises(MessageError, match='is refused while'):
        wrenches.update('wrist', PULL, NOW, age=0.001)


@pytest.mark.parametrize('kind', [list, np.array])
def test_the_values_are_a_copy(wrenches, kind):
    values = kind(PUSH)
    wrenches.update('tool', values, NOW)
    values[0] = 99.0
    assert active(wrenches) == {'tool': PUSH}


def test_wrenches_on_remaining_links_go_on_with_their_age(wrenches):
    wrenches.update('tool', PUSH, NOW)
    wrenches.update('wrist', PULL, NOW)
    without_wrist = Robot.from_urdf(robot(
        link('ground'), link('base'), link('tool'),
        joint('turn', 'ground', 'base'), joint('bend', 'base', 'tool')))
    other = ExternalWrenches(without_wrist.tree, WrenchSettings(2 * TIMEOUT), wrenches.memory)
    assert [*other.memory.frames] == ['tool']
    assert active(other, NOW + 0.15) == {'tool': PUSH}
    assert active(other, NOW + 0.25) == {}


def test_a_wrench_from_before_is_read_by_the_new_sign(wrenches):
    """The message stays the same; what it is taken to mean has changed."""
    wrenches.update('tool', PUSH, NOW)
    other = ExternalWrenches(
        LINKS, WrenchSettings(TIMEOUT, exerted_by=ExertedBy.ROBOT), wrenches.memory)
    assert active(other) == {'tool': tuple(-value for value in PUSH)}


def test_their_sum_on_each_body_is_what_the_robot_takes(wrenches):
    assert wrenches.on_bodies(NOW) is None
    wrenches.update('tool', PUSH, NOW)
    wrenches.update('wrist', PULL, NOW)
    wrenches.update('base', PULL, NOW)
    state = [0.3, -0.4], [1.0, 2.0], [3.0, 4.0]
    by_name = {'tool': PUSH, 'wrist': PULL, 'base': PULL}
    np.testing.assert_allclose(
        ARM.inverse_dynamics(*state, wrenches.on_bodies(NOW)),
        ARM.inverse_dynamics(*state, by_name))
    assert wrenches.on_bodies(NOW + 1.0) is None
