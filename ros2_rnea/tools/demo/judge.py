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
"""The thresholds of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import RneaError
from ros2_rnea.tools.demo.arm import Arm
from ros2_rnea.tools.demo.experiment import LOW_RATE
from ros2_rnea.tools.demo.figures import (
    Episode,
    FULL_RATE,
    Results,
    Section,
    share_too_late,
    Stop,
    Timing,
)

NOT_JUDGED = 'not judged: the machine was too slow'
"""The verdict where the figures are those of the machine and not of the node."""

TOO_LATE = 0.01
"""If more than this share of commands is over 20 ms old, the machine is too slow to judge."""

DISTURBED = 0.002
"""A phase or scene is played again if more than this share of it is so late."""

# A joint that hardly moves off its path by itself cannot show how much better it gets.
_WORTH_IMPROVING = 0.1


FINAL_DEVIATION = 0.01
"""Largest deviation of an effort that holds the arm from what the engine says [Nm or N]."""

FIRST_EFFORT = 0.1
"""Largest first effort to a driver that was started again and holds nothing [Nm or N]."""

SILENT_AFTER = 2.0 * Settings().state_timeout + 0.05
"""Time for which efforts may come after the joint states have stopped [s]."""

RATE_LIMITED = 0.005
"""Share of commands that the rate limit may hold back: those after pauses of the machine."""

PERIODS_AHEAD = 2.0
"""Periods between two efforts that are allowed on top of what is measured, as arrivals vary."""

STOPPING_TIMES = 2.0
"""
A joint that is braked may go on for so many time constants with the velocity of the fastest one.

With the true model it were one, with its own velocity.  Friction that the model lacks couples the
joints.
"""

HANDED_OVER = 0.05
"""Time after the call of ~/enable for which the acceleration of the motion may go on [s]."""

STOPPING_MARGIN = 0.02
"""Distance that a stop may take on top of that [rad or m]: the call of ~/enable takes its time."""

AT_REST = 0.05
"""A faster arm is not at rest [rad/s or m/s]."""

LARGEST_DRIFT = 0.02
"""Largest drift of a joint that is held [rad or m]."""

CHANGES = ('payload', 'tilt')
"""The scenes with a tracking error that is judged."""


class TooSlowError(RneaError):
    """The machine was so slow that nothing follows from what was recorded."""


def ratio_at(rate: float, ratio: float) -> float:
    """
    Return by how many times an error must become smaller with joint states at a lower rate.

    An effort is held until the next joint state, and the error that this leaves grows with the
    time between them.

    :param rate: of the joint states [Hz].
    :param ratio: at :data:`FULL_RATE`.
    """
    return max(1.0, ratio * min(1.0, rate / FULL_RATE))


@dataclass(frozen=True)
class Limits:
    """
    Thresholds for a robot, with joint states at :data:`FULL_RATE`.

    :param worst_joint: RMS error of any joint under full feedforward [deg or mm].
    :param over_pd: ratio of the arm's error under PD alone to that under full feedforward.
    :param over_gravity: this ratio for PD + gravity.
    :param least_improved: the ratio ``over_pd`` of the joint that gains least.
    :param tip_force: ratio of the errors that a push adds, unknown and known.
    :param change: ratio of the errors with a load or a tilt, unknown and known to the node.
    """

    worst_joint: float
    over_pd: float
    over_gravity: float
    least_improved: float
    tip_force: float
    change: float

    def at(self, rate: float) -> Limits:
        """Return the thresholds with joint states at a lower rate [Hz]."""
        return Limits(
            self.worst_joint * max(1.0, FULL_RATE / rate),
            *(ratio_at(rate, ratio) for ratio in (
                self.over_pd, self.over_gravity, self.least_improved, self.tip_force,
                self.change)))


LIMITS = {'panda': Limits(0.05, 50.0, 8.0, 10.0, 20.0, 10.0)}
"""Limits of the robots whose figures are known well enough, by name."""

GENERAL = Limits(inf, 10.0, 4.0, 2.0, 10.0, 5.0)
"""Limits of all others: any arm that is like its description keeps them."""


@dataclass(frozen=True)
class Check:
    """
    One threshold and how it was met.

    :param name: what is held to it.
    :param value: what was measured; not a number never passes.
    :param limit: the threshold.
    :param unit: of both.
    :param at_least: whether the value must reach the limit or must not exceed it.
    """

    name: str
    value: float
    limit: float
    unit: str
    at_least: bool

    @property
    def passed(self) -> bool:
        """Return whether the value is on the right side of the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def machine_too_slow(results: Results) -> bool:
    """Return whether the processes had to wait so long that the results cannot be judged."""
    return max(results.share_late(), results.share_slow()) > TOO_LATE


def is_disturbed(timing: Timing) -> bool:
    """
    Return whether the processes had to wait so long that the errors of a phase do not count.

    One pause of a tenth of a second spoils the figures of its phase, whatever the node does.
    """
    return share_too_late(timing) > DISTURBED


def judge(results: Results, limits: Limits) -> list[Check]:
    """
    Compare the results with the thresholds.

    :param results: of all scenes that were played.
    :param limits: with joint states at :data:`FULL_RATE`.
    :returns: all checks, passed or not.
    """
    checks = _judge_tracking(results, limits) if results.recordings else []
    limits = limits.at(results.rate)
    for name, episode in results.episodes.items():
        if name in CHANGES:
            checks.append(_at_least(f'error when {episode.title}: unknown / known',
                                    episode.improvement, limits.change))
        if episode.right_effort is not None:
            checks.append(_at_most(f'{episode.title}: effort at last, off gravity',
                                   episode.final_deviation, FINAL_DEVIATION, 'Nm'))
    if 'restart' in results.episodes:
        checks.append(_judge_silence(results.episodes['restart']))
    if results.episodes:
        if 'restart' in results.episodes:
            checks.append(_judge_new_start(results.episodes['restart']))
    for episode in results.episodes.values():
        if episode.stop is not None:
            checks += _judge_stop(episode, episode.stop, results.arm)
    # Where the node moves the arm alone, its damping and feedback have no rate limit.
    limited = [episode for episode in results.episodes.values() if episode.stop is None]
    if limited:
        rate = results.arm.rate_limit
        period = np.max([episode.cycle_period for episode in limited])
        checks.append(_at_most(
            'largest step of an effort beyond its rate limit',
            np.max([episode.beyond_rate(rate) for episode in limited]),
            float(rate * PERIODS_AHEAD * period + 1e-6), 'Nm'))
    checks.append(_at_most('share of commands limited in rate',
                           100.0 * results.rate_limited.share,
                           100.0 * _largest_limited_share(results), '%'))
    return checks


def _largest_limited_share(results: Results) -> float:
    """Return the share of commands limited in rate that pauses and the motions explain."""
    commands = results.rate_limited.commands
    if not commands:
        return RATE_LIMITED
    needed = sum(episode.limited_commands for episode in results.episodes.values())
    return RATE_LIMITED + needed / commands


def _judge_tracking(results: Results, limits: Limits) -> list[Check]:
    alone, gravity, full, full_240 = (
        results.recordings[key] for key in ('pd', 'gravity', 'feedforward', 'feedforward_240'))
    worst_joint_240 = limits.worst_joint * max(1.0, LOW_RATE / results.rate)
    limits = limits.at(results.rate)
    checks = [
        _at_most('full feedforward: RMS of the worst joint', np.max(full.rms),
                 limits.worst_joint, 'deg'),
        _at_most('the same at 240 Hz', np.max(full_240.rms), worst_joint_240, 'deg'),
        _at_least('arm RMS: PD alone / full feedforward', _ratio(alone.arm_rms, full.arm_rms),
                  limits.over_pd),
        _at_least('arm RMS: PD + gravity / full feedforward',
                  _ratio(gravity.arm_rms, full.arm_rms), limits.over_gravity),
        _at_least('least improved joint over PD alone', _least_improvement(alone.rms, full.rms),
                  limits.least_improved),
        _at_least('error by a tip force: wrench unknown / known',
                  _ratio(results.added_error('tip_force'),
                         results.added_error('tip_force_wrench')),
                  limits.tip_force),
        _at_most('gravity service against the engine', np.max(results.gravity_errors), 1e-6,
                 'Nm'),
    ]
    return [check for check in checks if check.limit < inf]


def _judge_silence(episode: Episode) -> Check:
    dead = episode.sections[1]
    return _at_most(f'{episode.title}: efforts still sent for', episode.sent_after(dead),
                    SILENT_AFTER, 's')


def _judge_new_start(episode: Episode) -> Check:
    return _at_most(f'{episode.title}: first effort to the new one', episode.first_after_start,
                    FIRST_EFFORT, 'Nm')


def _judge_stop(episode: Episode, stop: Stop, arm: Arm) -> list[Check]:
    """Judge the arm that is braked by the node alone, and then held by its last effort."""
    speeds = np.abs(stop.velocities) + HANDED_OVER * np.abs(stop.accelerations)
    turning, sliding = (speeds[kind].max(initial=0.0) for kind in (~arm.slides, arm.slides))
    fastest = np.where(arm.slides, sliding, turning)
    allowed = STOPPING_TIMES * Settings().braking_time * fastest + STOPPING_MARGIN
    ways, log = stop.ways(episode.log), episode.log
    joint = int(np.argmax(ways / allowed))
    unit = 'mm' if arm.slides[joint] else 'deg'
    what = f'{episode.title} in motion'
    return [
        _at_most(f'{what}: way of {arm.joint_names[joint]} until it rests',
                 arm.displayed(ways)[joint], float(arm.displayed(allowed)[joint]), unit),
        _at_most(f'{what}: time until the arm rests', stop.time_to_rest(log, AT_REST),
                 stop.rest - stop.at, 's'),
        _at_most(f'{what}: efforts still sent for', episode.sent_after(
            Section('', stop.at, np.inf)), stop.rest - stop.at, 's'),
        _at_most(f'{what}: drift afterwards of any joint', stop.drift(log), LARGEST_DRIFT,
                 'rad'),
    ]


def _at_most(name: str, value: float, limit: float, unit: str) -> Check:
    return Check(name, float(value), limit, unit, at_least=False)


def _at_least(name: str, value: float, limit: float) -> Check:
    return Check(name, float(value), limit, 'times', at_least=True)


def _ratio(worse: float, better: float) -> float:
    return float('inf') if better == 0.0 else worse / better


def _least_improvement(alone: np.ndarray, full: np.ndarray) -> float:
    """Return the smallest ratio among the joints with an error that can be improved."""
    ratios = [_ratio(a, b) for a, b in zip(alone, full) if not a <= _WORTH_IMPROVING]
    return float(np.min(ratios, initial=np.inf))
