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
"""What is good enough: the demo's thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_rnea.tools.demo.figures import Results

TOO_LATE = 0.01
"""With more than this share of commands over 20 ms old it is the machine that is at fault."""

# A joint that hardly moves off its path by itself cannot show how much better it gets.
_WORTH_IMPROVING = 0.1


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
    """Return whether the processes were kept waiting so much that judging them is no use."""
    return max(results.share_late(), results.share_slow()) > TOO_LATE


def judge(results: Results) -> list[Check]:
    """
    Hold the results against the thresholds.

    :param results: of the whole demo.
    :returns: all checks, passed or not.
    """
    alone, gravity, full, full_240 = (
        results.recordings[key] for key in ('pd', 'gravity', 'feedforward', 'feedforward_240'))
    return [
        _at_most('full feedforward: RMS of the worst joint', np.max(full.rms), 0.05, 'deg'),
        _at_most('the same at 240 Hz', np.max(full_240.rms), 0.05, 'deg'),
        _at_least('arm RMS: PD alone / full feedforward', _ratio(alone.arm_rms, full.arm_rms), 50),
        _at_least('arm RMS: PD + gravity / full feedforward',
                  _ratio(gravity.arm_rms, full.arm_rms), 8),
        _at_least('least improved joint over PD alone', _least_improvement(alone.rms, full.rms),
                  10),
        _at_least('error by a tip force: wrench unknown / known',
                  _ratio(results.added_error('tip_force'),
                         results.added_error('tip_force_wrench')),
                  20),
        _at_most('gravity service against the engine', np.max(results.gravity_errors), 1e-6,
                 'Nm'),
    ]


def _at_most(name: str, value: float, limit: float, unit: str) -> Check:
    return Check(name, float(value), limit, unit, at_least=False)


def _at_least(name: str, value: float, limit: float) -> Check:
    return Check(name, float(value), limit, 'times', at_least=True)


def _ratio(worse: float, better: float) -> float:
    return float('inf') if better == 0.0 else worse / better


def _least_improvement(alone: np.ndarray, full: np.ndarray) -> float:
    """Return the smallest ratio among the joints that have something to improve."""
    ratios = [_ratio(a, b) for a, b in zip(alone, full) if not a <= _WORTH_IMPROVING]
    return float(np.min(ratios, initial=np.inf))
