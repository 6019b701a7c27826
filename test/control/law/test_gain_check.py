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
"""Which gains and which damping pass, compared with loops that are simulated step by step."""

from __future__ import annotations

from cmath import log
from math import exp, inf, pi, sin
import re

import numpy as np
import pytest

from ros2_rnea.control.law.gain_check import (
    largest_damping,
    largest_scale,
    LEAST_DAMPING_RATIO,
    LOOP_GAINS,
    unstable_gains,
)

STEPS = 20
"""Small steps of the simulation in each period; a simulated delay is a whole number of them."""

# Period, delay and time constant of the velocity filter [s].
TIMINGS = [
    (0.001, 0.0, 0.0), (0.001, 0.002, 0.0), (0.002, 0.002, 0.0), (0.01, 0.002, 0.0),
    (0.002, 0.0007, 0.0), (0.001, 0.0, 0.01), (0.002, 0.0031, 0.005), (0.004, 0.001, 0.0005)]

MARGIN = 0.1
"""Smallest damping ratio of the criterion."""

Timing = tuple[float, float, float]


def slowest_mode(kp: float, kd: float, timing: Timing) -> complex:
    """
    Return the mode z of the loop ë = −u that is left after a long time.

    The loop is integrated in small steps, with commands that arrive one by one, as in a simulator.
    """
    period, delay, filter_time = timing
    step, late = period / STEPS, round(delay / period * STEPS)
    decay = exp(-step / filter_time) if filter_time else 0.0
    e, v, f, u = 1.0, 0.0, 0.0, 0.0
    arriving: dict[int, float] = {}
    settling, observed = 1000, 60
    errors = []
    for start in range(0, (settling + observed) * STEPS, STEPS):
        size = abs(e) + abs(v) * period + abs(f) * period
        if start < settling * STEPS and not 1e-6 < size < 1e6:  # go on with the same shape
            e, v, f, u = (value / size for value in (e, v, f, u))
            arriving = {at: value / size for at, value in arriving.items()}
        arriving[start + late] = kp * e + kd * (f if filter_time else v)
        for at in range(start, start + STEPS):
            u = arriving.pop(at, u)
            lag = v - f
            e += v * step - 0.5 * u * step ** 2
            v -= u * step
            f = v - (decay * lag - (1.0 - decay) * filter_time * u)
        errors.append(e)
    return mode_of(np.array(errors[settling:]))


def mode_of(samples: np.ndarray, order: int = 4) -> complex:
    """Return the mode of the largest magnitude of which samples are a sum."""
    samples = samples / np.abs(samples).max()
    rows = np.stack([samples[row:row + order] for row in range(len(samples) - order)])
    ahead = np.linalg.lstsq(rows, samples[order:], rcond=1e-9)[0]
    return max(np.roots([1.0, *-ahead[::-1]]).tolist(), key=abs)


def damping_ratio(mode: complex) -> float:
    """Return the damping ratio of a mode; negative: it grows."""
    return -log(mode).real / abs(log(mode))


def on_grid(timing: Timing) -> Timing:
    """Return a timing with a delay that can be simulated."""
    period, delay, filter_time = timing
    return period, round(delay / period * STEPS) / STEPS * period, filter_time


def passes(kp: float, kd: float, timing: Timing) -> bool:
    return not unstable_gains([kp], [kd], ['joint'], *timing)


def least_ratio(kp: float, kd: float, timing: Timing) -> float:
    """Return the smallest damping ratio of the simulated loops that the criterion is about."""
    return min(damping_ratio(slowest_mode(gain * kp, gain * kd, timing))
               for gain in (0.7, 1.0, 1.3, 1.95))


def test_the_criterion_is_about_these_loops():
    assert LOOP_GAINS == pytest.approx((0.7, 1.0, 1.3, 1.95))
    assert LEAST_DAMPING_RATIO == MARGIN


@pytest.mark.parametrize('velocity_gain', [6.0, 20.0, 60.0])
@pytest.mark.parametrize('timing', TIMINGS)
def test_up_to_the_largest_gains_simulated_loops_are_damped(timing, velocity_gain):
    timing = on_grid(timing)
    scale = largest_scale(100.0, velocity_gain, *timing)
    assert scale > 0.0
    for share, is_damped in ((0.1, True), (0.5, True), (0.97, True), (1.03, False), (1.3, False)):
        kp, kd = 100.0 * (share * scale) ** 2, velocity_gain * share * scale
        assert passes(kp, kd, timing) == is_damped, share
        assert (least_ratio(kp, kd, timing) > MARGIN) == is_damped, share


@pytest.mark.parametrize('kp, kd, period, delay', [
    (100.0, 20.0, 0.002, 0.002), (100.0, 20.0, 0.001, 0.002), (900.0, 60.0, 0.001, 0.0),
    (900.0, 60.0, 0.001, 0.002), (400.0, 40.0, 0.002, 0.002), (100.0, 20.0, 0.01, 0.002)])
def test_recommended_gains_pass(kp, kd, period, delay):
    assert passes(kp, kd, (period, delay, 0.0))


@pytest.mark.parametrize('kp, kd', [
    (1e5, 1e5), (100.0, 1e5), (1e5, 20.0), (100.0, 0.0), (100.0, 1.0), (1e-3, 0.0), (0.0, 1e5)])
@pytest.mark.parametrize('period', [0.001, 0.002, 0.01])
def test_gains_too_large_or_without_damping_do_not_pass(kp, kd, period):
    assert not passes(kp, kd, (period, 0.002, 0.0))


def test_without_feedback_there_is_nothing_to_refuse():
    assert passes(0.0, 0.0, (0.001, 0.002, 0.0))
    assert largest_scale(0.0, 0.0, 0.001, 0.002, 0.0) == inf


@pytest.mark.parametrize('period', [0.0005, 0.002, 0.02])
def test_pure_damping_without_delay_passes_up_to_the_known_bound(period):
    # v' = -r kd v with a held command: z = 1 - r kd T, so that r kd T < 2
    assert largest_scale(0.0, 1.0, period, 0.0, 0.0) == pytest.approx(
        2.0 / 1.95 / period, rel=1e-3)


@pytest.mark.parametrize('kp, kd', [(1e-9, 20.0), (1e-9, 1e-4), (1e-12, 2e-6), (0.0, 1e-9)])
@pytest.mark.parametrize('filter_time', [0.0, 0.005])
def test_rounding_refuses_no_slow_feedback(kp, kd, filter_time):
    assert passes(kp, kd, (0.001, 0.002, filter_time))


@pytest.mark.parametrize('period', [1e-5, 1e-4, 1e-3])
def test_many_periods_of_delay_are_judged_like_few(period):
    scale = largest_scale(100.0, 20.0, period, 0.02, 0.0)
    assert scale == pytest.approx(largest_scale(100.0, 20.0, 5e-4, 0.02, 0.0), rel=0.05)


@pytest.mark.parametrize('worse', [(0.002, 0.002, 0.0), (0.001, 0.003, 0.0), (0.001, 0.002, 0.01)])
def test_period_delay_and_filter_make_the_largest_gains_smaller(worse):
    assert largest_scale(100.0, 20.0, *worse) < largest_scale(100.0, 20.0, 0.001, 0.002, 0.0)


@pytest.mark.parametrize('factor', [0.1, 7.0])
@pytest.mark.parametrize('timing', TIMINGS)
def test_the_criterion_has_no_unit_of_time(timing, factor):
    scaled = largest_scale(100.0, 20.0, *(factor * time for time in timing))
    assert scaled == pytest.approx(largest_scale(100.0, 20.0, *timing) / factor, rel=1e-3)


def reported(text: str) -> tuple[float, float]:
    return tuple(map(float, re.search(r'pass are (\S+) and (\S+)$', text).groups()))


@pytest.mark.parametrize('kp, kd', [(1e6, 2e3), (1e5, 1e5), (0.0, 1e5), (9e5, 1e3)])
@pytest.mark.parametrize('timing', TIMINGS)
def test_gains_that_are_reported_pass_and_are_nearly_the_largest(kp, kd, timing):
    kp_then, kd_then = reported(unstable_gains([kp], [kd], ['joint'], *timing))
    assert passes(kp_then, kd_then, timing)
    assert not passes(kp_then * 1.06, kd_then * 1.03, timing)
    assert kp_then / kd_then ** 2 == pytest.approx(kp / kd ** 2, rel=0.03, abs=1e-9)


@pytest.mark.parametrize('kp, kd', [(100.0, 0.0), (100.0, 1.0), (1e6, 1.0)])
@pytest.mark.parametrize('timing', TIMINGS)
def test_where_damping_lacks_gains_with_more_of_it_are_reported(kp, kd, timing):
    text = unstable_gains([kp], [kd], ['joint'], *timing)
    assert 'it is damped too little' in text
    kp_then, kd_then = reported(text)
    assert passes(kp_then, kd_then, timing)
    assert kp_then <= kp
    assert kd_then / (2.0 * kp_then ** 0.5) == pytest.approx(1.0, rel=0.02)
    assert largest_scale(kp, kd, *timing) == 0.0


def test_the_sentence_names_joint_gains_and_times():
    text = unstable_gains([100.0, 1e5, 1e5], [20.0, 700.0, 20.0], 'abc', 0.002, 0.0015, 0.004)
    assert text.startswith(
        "with position_gains 100000 and velocity_gains 700, the feedback of joint 'b' may "
        'oscillate at a period of 0.002 s with a delay of 0.0015 s and a velocity filter of '
        '0.004 s; the largest that pass are ')
    assert 'filter' not in unstable_gains([1e5], [700.0], 'abc', 0.002, 0.0015, 0.0)


def test_a_gain_is_given_for_all_or_each():
    timing = 0.001, 0.002, 0.0
    assert unstable_gains([100.0], [20.0, 20.0, 20.0], 'abc', *timing) == ''
    assert "joint 'c'" in unstable_gains([100.0], [20.0, 25.0, 1e4], 'abc', *timing)
    assert "joint 'a'" in unstable_gains([1e5, 100.0], [20.0], 'ab', *timing)


@pytest.mark.parametrize('delayed', [0, 1, 2, 5, 15])
def test_the_largest_damping_is_half_the_known_bound(delayed):
    # z^(m+1) - z^m + x has its roots inside the unit circle for 0 < x < 2 sin(pi / (4 m + 2))
    period, inertia = 0.002, 0.3
    bound = sin(pi / (4 * delayed + 2)) * inertia / period
    assert largest_damping(inertia, period, delayed * period) == pytest.approx(bound, rel=1e-3)


@pytest.mark.parametrize('delay', [0.0, 0.0005, 0.0013, 0.004])
def test_simulated_dampers_decay_up_to_twice_the_largest_damping(delay):
    period, inertia = 0.001, 2.0
    damping = largest_damping(inertia, period, delay)
    for share, is_stable in ((0.2, True), (1.0, True), (1.96, True), (2.06, False)):
        velocities = damped(share * damping / inertia, period, delay)
        late, early = np.abs(velocities[-50:]).max(), np.abs(velocities[:50]).max()
        assert (late < early) == is_stable


def damped(rate: float, period: float, delay: float, count: int = 600) -> np.ndarray:
    """Return the velocities of v' = -rate v, sampled, delayed and held."""
    step, late = period / STEPS, round(delay / period * STEPS)
    v, u, arriving, velocities = 1.0, 0.0, {}, []
    for start in range(0, count * STEPS, STEPS):
        velocities.append(v)
        arriving[start + late] = rate * v
        for at in range(start, start + STEPS):
            u = arriving.pop(at, u)
            v -= u * step
    return np.array(velocities)
