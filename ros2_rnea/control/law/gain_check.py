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
"""
Which gains of feedback, and which damping, are stable with the period and the delay of the bus.

**The criterion for gains.**  The error e of a joint that the feedback of ``computed_torque`` moves
obeys ë = −r (kp e + kd ė).  The loop gain r is 1 where the model is right.  The feedback is
computed once in each period, from the error that is measured then; it takes effect after the
delay, and is held until the next one takes effect.  The velocity may come through a filter of
first order.  This system of differences is solved exactly, whatever share of a period the delay
is.  Each of its modes z has to be stable, inside the unit circle, and the slowest one needs
a damping ratio of at least 0.1.  This has to be so where the model has 0.7 to 1.3 times the true
inertia, and also with gains that are 1.5 times as large: that is with r = 0.7, 1, 1.3 and 1.95.

Without delay and filter, and with a much smaller kp than kd²/4, the criterion is kd T < 2 / 1.95.
Gains without damping (kd = 0 < kp) never pass: a held effort lags behind by half a period on
average, and this alone makes the oscillation grow.

**The criterion for damping.**  A joint of the inertia M with the damping D has v̇ = −D v / M, with
the same period and delay.  Twice the damping has to be stable.  Without delay this is D < M / T.
"""

from __future__ import annotations

from cmath import log
from collections.abc import Callable, Sequence
from math import ceil, exp, floor, inf, log10, sqrt

import numpy as np

LOOP_GAINS = (0.7, 1.0, 1.3, 1.5 * 1.3)
"""Factors of the gains with which the feedback has to be stable: model errors, and a margin."""

LEAST_DAMPING_RATIO = 0.1
"""Smallest accepted damping ratio of the slowest mode of the feedback."""

MARGIN_OF_DAMPING = 2.0
"""The damping times this has to be stable."""

SLOWEST = 1e-6
"""A mode that is nearer to 1 than this takes a million periods, and is not judged."""

MOST_PERIODS = 20
"""A delay of more periods than this is judged with a longer period, which is slightly harder."""

SMALLEST = 1e-3
"""Smallest product of a velocity gain with period, delay and filter time that is looked for."""

HALVINGS = 60
"""Most steps of a search between two numbers, of which one passes and the other does not."""

PRECISION = 1e-4
"""Relative precision of that search."""

ROUNDING = 0.99
"""Share of the largest gains that is reported, to be rounded to three digits."""


def unstable_gains(
        position_gains: Sequence[float], velocity_gains: Sequence[float], joints: Sequence[str],
        period: float, delay: float, filter_time: float) -> str:
    """
    Return which gains do not pass, and which would; empty where all pass.

    :param position_gains: one for all joints or one for each [1/s^2].
    :param velocity_gains: one for all joints or one for each [1/s].
    :param joints: names.
    :param period: of the cycle, above 0 [s].
    :param delay: from a measurement until its effort acts, 0 or more [s].
    :param filter_time: time constant of the filter of the velocities; 0: there is none [s].
    """
    timing = period, delay, filter_time
    passed: set[tuple[float, float]] = set()
    for row, name in enumerate(joints):
        kp, kd = (float(gains[row if len(gains) > 1 else 0])
                  for gains in (position_gains, velocity_gains))
        if (kp, kd) in passed:
            continue
        if _passes(kp, kd, *timing):
            passed.add((kp, kd))
            continue
        filtered = f' and a velocity filter of {filter_time:.3g} s' if filter_time else ''
        return (
            f'with position_gains {kp:.6g} and velocity_gains {kd:.6g}, the feedback of joint '
            f'{name!r} may oscillate at a period of {period:.3g} s with a delay of {delay:.3g} s'
            f'{filtered}; {_what_passes(kp, kd, *timing)}')
    return ''


def largest_scale(
        kp: float, kd: float, period: float, delay: float, filter_time: float) -> float:
    """
    Return the largest s with which the gains kp s² and kd s pass.

    s makes the feedback faster and keeps its damping ratio.

    :param kp: of the position [1/s^2].
    :param kd: of the velocity [1/s].
    :param period: of the cycle, above 0 [s].
    :param delay: from a measurement until its effort acts, 0 or more [s].
    :param filter_time: time constant of the filter of the velocities; 0: there is none [s].
    :return: 0 where none passes, because the damping ratio is too small; infinite for gains of 0.
    """
    if kd == 0.0:
        return 0.0 if kp else inf
    scale = _largest(
        lambda scale: _passes(kp * scale ** 2, kd * scale, period, delay, filter_time),
        2.0 / (kd * period))
    return scale if scale * kd * (period + delay + filter_time) > SMALLEST else 0.0


def largest_damping(inertia: float, period: float, delay: float) -> float:
    """
    Return the largest damping of a joint that is stable with a margin [Nm s/rad or N s/m].

    :param inertia: that its effort moves [kg m^2 or kg].
    :param period: of the cycle, above 0 [s].
    :param delay: from a measurement until its effort acts, 0 or more [s].
    """
    return inertia * _largest(
        lambda kd: _is_stable(0.0, MARGIN_OF_DAMPING * kd, period, delay, 0.0), 2.0 / period)


def _what_passes(
        kp: float, kd: float, period: float, delay: float, filter_time: float) -> str:
    """Return, for people, the largest gains that pass, or more damping where none do."""
    scale, words = largest_scale(kp, kd, period, delay, filter_time), 'the largest that pass are'
    if scale == 0.0:
        kd, words = 2.0 * sqrt(kp), 'it is damped too little; gains that pass are'
        scale = min(largest_scale(kp, kd, period, delay, filter_time), 1.0)
    # The first is rounded down and the second up: the damping does not become less.
    scale *= ROUNDING
    return (f'{words} {_rounded(kp * scale ** 2, floor):g} and '
            f'{_rounded(kd * scale, ceil):g}')


def _rounded(value: float, rounding: Callable[[float], int]) -> float:
    """Return a number with three digits."""
    if value == 0.0:
        return 0.0
    step = 10.0 ** (floor(log10(value)) - 2)
    return rounding(value / step) * step


def _largest(passes: Callable[[float], bool], highest: float) -> float:
    """Return the largest number up to a highest one that passes; 0 where none does."""
    if passes(highest):
        return highest
    passing, failing = 0.0, highest
    for _ in range(HALVINGS):
        middle = 0.5 * (passing + failing)
        if passes(middle):
            passing = middle
        else:
            failing = middle
        if failing - passing < PRECISION * failing:
            break
    return passing


def _passes(kp: float, kd: float, period: float, delay: float, filter_time: float) -> bool:
    """Return whether the feedback of a joint passes the criterion."""
    if kd == 0.0:
        return kp == 0.0
    return all(
        _is_stable(gain * kp, gain * kd, period, delay, filter_time, LEAST_DAMPING_RATIO)
        for gain in LOOP_GAINS)


def _is_stable(
        kp: float, kd: float, period: float, delay: float, filter_time: float,
        damping_ratio: float = 0.0) -> bool:
    """
    Return whether each mode is stable, and the slowest one has at least a damping ratio.

    A mode z = exp(σ + jω), for one period, has the damping ratio −σ / |σ + jω|.
    """
    modes = np.roots(_polynomial(
        kp, kd, max(period, delay / MOST_PERIODS), delay, filter_time))
    slowest = max(modes.tolist(), key=abs)
    if slowest == 0.0 or abs(slowest - 1.0) <= SLOWEST:
        return True
    exponent = log(slowest)
    return exponent.real < 0.0 and -exponent.real >= damping_ratio * abs(exponent)


def _polynomial(
        kp: float, kd: float, period: float, delay: float, filter_time: float) -> np.ndarray:
    """
    Return the polynomial whose roots are the modes of ë = −u, the highest power first.

    u = kp e + kd f is held for a period and acts after the delay, which is m periods and the rest
    δ.  So u of m+1 periods ago acts for δ, and then that of m periods ago for T − δ.  f is ė, or
    what a filter makes of it: ė − f has the time constant of the filter, and is driven by ë.
    Each polynomial below is the answer of one of these to u, over z^(m+1).
    """
    whole = floor(delay / period)
    late = delay - whole * period
    early = period - late

    def decay(time: float) -> float:
        return exp(-time / filter_time) if filter_time else 0.0

    velocity = np.array([early, late])  # of ė, over z − 1
    position = 0.5 * np.array([early ** 2, period ** 2 - early ** 2])  # of e, over z − 1
    lag = filter_time * np.array([  # of ė − f, over z − exp(−T / filter_time)
        1.0 - decay(early), (1.0 - decay(late)) * decay(early)])
    slow, filtered = np.array([1.0, -1.0]), np.array([1.0, -decay(period)])
    feedback = np.polyadd(
        kp * np.polyadd(period * velocity, np.polymul(slow, position)),
        kd * np.polymul(slow, velocity))
    answer = np.polysub(
        np.polymul(feedback, filtered), kd * np.polymul(np.polymul(slow, slow), lag))
    free = np.polymul(np.polymul(slow, slow), filtered)
    return np.polyadd(np.concatenate((free, np.zeros(whole + 1))), answer)
