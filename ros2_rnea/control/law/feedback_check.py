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
"""Whether feedback is stable with the measured period of the bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from ros2_rnea.control.inputs.cycle_period import CyclePeriod, FIRST_PERIOD
from ros2_rnea.control.law.gain_check import unstable_gains
from ros2_rnea.control.settings import Mode, Settings

SHORTEST_PERIOD = 0.0001
"""Shorter ones are judged like this one [s]."""

LONGEST_PERIOD = 0.025
"""Longest period of computed torque [s]: within a longer one, a light joint changes its motion."""

LONGER_PERIOD = 1.25
"""A measured period that is longer by this factor is judged anew."""

LONGEST_INSTABILITY = 0.5
"""Feedback that is unstable for longer than this is ended [s]: a few cycles may be late."""


@dataclass
class InstabilityMemory:
    """
    What was found about the feedback.

    :ivar period: for which it was judged [s].
    :ivar reason: why it is unstable; empty: it is not.
    :ivar since: when that began [s]; infinite: it is not.
    """

    period: float = FIRST_PERIOD
    reason: str = ''
    since: float = inf


def judge_again(
        memory: InstabilityMemory, settings: Settings, joints: Sequence[str], period: CyclePeriod,
        ) -> None:
    """Judge the feedback of other settings, at the period of the last judgement."""
    if memory.reason:
        memory.reason = unstable_feedback(settings, joints, period)
        memory.since = memory.since if memory.reason else inf


def lasting_instability(
        memory: InstabilityMemory, settings: Settings, joints: Sequence[str], period: CyclePeriod,
        now: float) -> str:
    """
    Return why the feedback is unstable, after it has been so for a while; empty: it is not.

    :param memory: it is changed.
    :param settings: of the feedback.
    :param joints: the controlled ones.
    :param period: of the cycle.
    :param now: on the steady clock [s].
    """
    if not period.is_known:
        return ''
    measured = period.value
    if measured > LONGER_PERIOD * memory.period or (
            memory.reason and measured < memory.period / LONGER_PERIOD):
        memory.period = measured
        memory.reason = unstable_feedback(settings, joints, period)
        memory.since = min(memory.since, now) if memory.reason else inf
    if memory.since < inf:
        memory.since = min(memory.since, now)  # a simulated clock may jump back
    return memory.reason if now - memory.since > LONGEST_INSTABILITY else ''


def unstable_feedback(
        settings: Settings, joints: Sequence[str], period: CyclePeriod) -> str:
    """
    Return why the feedback of settings would oscillate; empty where it does not, or there is none.

    :param joints: the controlled ones.
    :param period: of the cycle; before it is known, it counts as a usual one.
    """
    alone = [name for name in joints if name not in settings.held_by_others]
    if settings.mode is not Mode.COMPUTED_TORQUE or not alone:
        return ''
    measured = period.value if period.is_known else FIRST_PERIOD
    if measured > LONGEST_PERIOD:
        return (f'joint states come every {measured:.3g} s; computed_torque needs them at least '
                f'every {LONGEST_PERIOD:g} s')
    return _unstable_gains(
        tuple(settings.position_gains), tuple(settings.velocity_gains), tuple(joints),
        max(round(measured, 4), SHORTEST_PERIOD), settings.feedback_delay,
        settings.velocity_filter_time)


_unstable_gains = lru_cache(maxsize=64)(unstable_gains)  # asked in each cycle, computed in 10 ms
