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
Interleaved timing: all contenders are measured in turn, in short blocks of calls, for many rounds.

Other load on the machine then slows all of them down, and does not change the ratios within a
round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import gc
from itertools import cycle, islice
import os
import time
from typing import Any

from benchmark.statement import Compiled, Rows
import numpy as np

Clock = Callable[[], int]
"""Returns nanoseconds."""

OVERHEAD_BLOCKS = 9


@dataclass(frozen=True)
class Settings:
    """
    How long to measure.

    :ivar rounds: how often each contender has its turn.
    :ivar block: how long a turn should take [ns]; never less than one call.
    """

    rounds: int
    block: int


def measure(
        contenders: Mapping[str, Compiled],
        settings: Settings,
        clock: Clock = time.perf_counter_ns) -> dict[str, np.ndarray]:
    """
    Return the time of one evaluation [ns] in each round, shape (rounds,), by contender.

    What the loop around the calls costs is measured beforehand and not counted.
    """
    with undisturbed():
        turns = [Turn(name, compiled, settings.block, clock)
                 for name, compiled in contenders.items()]
        samples: dict[str, list[float]] = {turn.name: [] for turn in turns}
        for number in range(settings.rounds):
            for turn in order(turns, number):
                samples[turn.name].append(turn.take(number))
    return {name: np.array(values) for name, values in samples.items()}


def order(contenders: Sequence[Any], number: int) -> list[Any]:
    """Return who comes after whom in a round: each round begins with the next one."""
    start = number % len(contenders)
    return [*contenders[start:], *contenders[:start]]


class Turn:
    """What one contender does in each round."""

    def __init__(self, name: str, compiled: Compiled, block: int, clock: Clock) -> None:
        self.name = name
        self._compiled = compiled
        self._clock = clock
        self._evaluations = compiled.statement.evaluations
        self._calls = self._calls_of_a_block(block)
        rows = self._rows(0)
        overheads = [self._time(compiled.nothing, rows) for _ in range(OVERHEAD_BLOCKS)]
        self._overhead = float(np.median(overheads)) / self._calls

    def take(self, number: int) -> float:
        """Return the time of one evaluation [ns], measured over a block of calls."""
        rows = self._rows(number)
        # What the others drove out of caches and branch predictors returns first.
        self._compiled.block(rows[:max(1, self._calls // 4)])
        elapsed = self._time(self._compiled.block, rows)
        return (elapsed / self._calls - self._overhead) / self._evaluations

    def _calls_of_a_block(self, block: int) -> int:
        """Return how many calls take about as long as a block should."""
        self._calls = 1
        self._compiled.block(self._rows(0))
        while True:
            elapsed = self._time(self._compiled.block, self._rows(0))
            if 4 * elapsed >= block:
                return max(1, round(self._calls * block / elapsed))
            self._calls *= 2

    def _rows(self, number: int) -> Rows:
        """Return the rows of a round: those that follow on the rows of the round before."""
        rows = self._compiled.statement.rows
        start = number * self._calls % len(rows)
        return list(islice(cycle(rows), start, start + self._calls))

    def _time(self, block: Callable[[Rows], None], rows: Rows) -> int:
        clock = self._clock
        began = clock()
        block(rows)
        return clock() - began


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep the garbage collector out, and this thread on one core where that can be asked for."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    affinity = os.sched_getaffinity(0) if hasattr(os, 'sched_getaffinity') else set()
    if affinity:
        os.sched_setaffinity(0, {max(affinity)})
    try:
        yield
    finally:
        if affinity:
            os.sched_setaffinity(0, affinity)
        if was_enabled:
            gc.enable()
