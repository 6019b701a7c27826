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
How busy the machine was: how much else ran, and how far the repetitions are apart.

A load that slows down all libraries alike does not change their ratios; one that empties caches or
shares a core does.  So what was measured on a busy machine is shown, and not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import os
from pathlib import Path
import time

STATISTICS = Path('/proc/stat')

MAX_LOAD_PER_CORE = 0.5
"""Load average before the run, divided by the number of cores, up to which a machine is quiet."""

MAX_OTHERS = 0.25
"""Processors that other processes may use during the run."""

MAX_SPREAD = 0.15
"""Distance between the quartiles of a ratio, relative to the ratio."""


@dataclass(frozen=True)
class Disturbance:
    """
    What ran on the machine beside the benchmark.

    :ivar cores: number of processors.
    :ivar load_before: load average of the last minute before the run.
    :ivar others: processors that other processes used during the run, on average; None where the
        system does not tell.
    :ivar spread: typical distance between the quartiles of a ratio, relative to the ratio.
    """

    cores: int
    load_before: float
    others: float | None
    spread: float

    @property
    def is_small(self) -> bool:
        """Return whether the figures may be compared with what is asked of them."""
        return not list(self.reasons())

    def reasons(self) -> Iterator[str]:
        """Yield what was too much, with its value and what is allowed."""
        load = MAX_LOAD_PER_CORE * self.cores
        if self.load_before > load:
            yield f'the load before the run was {self.load_before:.1f} (at most {load:.1f})'
        if self.others is not None and self.others > MAX_OTHERS:
            yield (f'other processes used {self.others:.2f} processors during the run '
                   f'(at most {MAX_OTHERS})')
        if self.spread > MAX_SPREAD:
            yield (f'the quartiles of a ratio are typically {100 * self.spread:.0f} % apart '
                   f'(at most {100 * MAX_SPREAD:.0f} %)')

    def __str__(self) -> str:
        """Return all figures, in words."""
        others = 'an unknown part of the' if self.others is None else f'{self.others:.2f}'
        return (f'load before the run {self.load_before:.1f}, {self.cores} cores; other processes '
                f'used {others} processors during the run; quartiles of a ratio are typically '
                f'{100 * self.spread:.1f} % apart')


class Watch:
    """Counts what others use of the machine, from now on."""

    def __init__(self) -> None:
        self._load_before = os.getloadavg()[0]
        self._began = time.monotonic()
        self._others_began = _used_by_others()

    def disturbance(self, spread: float) -> Disturbance:
        """
        Return what ran beside this process and its children so far.

        :param spread: of the repetitions: distance between the quartiles, relative to the median.
        """
        others = None
        now, began = _used_by_others(), self._others_began
        if now is not None and began is not None:
            others = max(0.0, now - began) / max(time.monotonic() - self._began, 1e-3)
        return Disturbance(os.cpu_count() or 1, self._load_before, others, spread)


def _used_by_others() -> float | None:
    """Return the processor time of all but this process and its ended children [s]."""
    try:
        fields = STATISTICS.read_text(encoding='utf-8').split('\n', 1)[0].split()
    except OSError:
        return None
    ticks = [int(field) for field in fields[1:9]]  # user nice system idle iowait irq softirq steal
    idle, waiting = ticks[3], ticks[4]
    own = os.times()
    return ((sum(ticks) - idle - waiting) / os.sysconf('SC_CLK_TCK')
            - own.user - own.system - own.children_user - own.children_system)
