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
"""Blocks of measurement put together to figures, and the rate that a subject can sustain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmark.node.bench import Block
import numpy as np

ENOUGH = 0.99
"""Share of the states that must be answered for a rate to count as sustained."""

TRIES = 5
"""How often a subject may try a rate: something else may have taken the processor."""

STEP = 1.25
"""From one rate that is tried to the next."""

MISSES = 2
"""After so many rates in a row that were not sustained, a subject tries no higher one."""


@dataclass(frozen=True)
class Figures:
    """
    What a subject did at one rate.

    Figures are medians over the blocks, so that a short load on the machine does not change them.

    :ivar processor: of one core [%].
    :ivar processor_spread: between the quartiles of the blocks, relative to the median.
    :ivar median: latency [s], as are the percentiles.
    :ivar median_spread: as above.
    :ivar late: states that the publisher sent more than a period late.
    """

    rate: float
    processor: float
    processor_spread: float
    median: float
    median_spread: float
    percent_99: float
    percent_99_9: float
    sent: int
    answered: int
    late: int

    def as_dict(self) -> dict:
        """Return everything by name."""
        return asdict(self)


def summarize(blocks: Sequence[Block]) -> Figures:
    """Return the figures of blocks of one subject at one rate."""
    loads = [100.0 * block.processor / block.seconds for block in blocks]
    latencies = np.array([
        np.percentile(block.latencies, (50.0, 99.0, 99.9))
        for block in blocks if len(block.latencies)] or [[np.nan] * 3])
    median, percent_99, percent_99_9 = np.median(latencies, axis=0).tolist()
    return Figures(
        rate=blocks[0].rate,
        processor=float(np.median(loads)),
        processor_spread=_spread(loads),
        median=median,
        median_spread=_spread(latencies[:, 0]),
        percent_99=percent_99,
        percent_99_9=percent_99_9,
        sent=sum(block.sent for block in blocks),
        answered=sum(len(block.latencies) for block in blocks),
        late=sum(block.late for block in blocks))


def ratios(figures: Figures, base: Figures) -> dict[str, float]:
    """Return by how much figures differ from those of another subject at the same rate."""
    return {name: getattr(figures, name) / getattr(base, name)
            for name in ('processor', 'median', 'percent_99', 'percent_99_9')}


def climb(
        try_rate: Callable[[str, float], Block],
        subjects: Sequence[str],
        start: float,
        end: float) -> Iterator[dict[str, float]]:
    """
    Raise the rate until no subject answers enough any more, the subjects in turn.

    :param try_rate: measures a subject at a rate.
    :param start: the first rate [Hz].
    :param end: the rate after which nothing more is tried [Hz].
    :return: after each rate, the highest that each subject has sustained so far.
    """
    highest, misses, rate = dict.fromkeys(subjects, 0.0), dict.fromkeys(subjects, 0), start
    while min(misses.values()) < MISSES and rate <= end:
        for name in subjects:
            if misses[name] == MISSES:
                continue
            if any(try_rate(name, rate).answered >= ENOUGH for _ in range(TRIES)):
                highest[name], misses[name] = rate, 0
            else:
                misses[name] += 1
        yield dict(highest)
        rate *= STEP


def _spread(values: Sequence[float] | np.ndarray) -> float:
    low, middle, high = np.percentile(values, (25.0, 50.0, 75.0))
    return float((high - low) / middle)
