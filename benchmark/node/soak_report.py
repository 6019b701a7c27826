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
"""The table and the picture of a long run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import matplotlib.pyplot as plt
from rich.table import Table

if TYPE_CHECKING:
    from benchmark.node.soak import Sample, Totals

matplotlib.use('Agg')

LINES = 12
"""Samples in the table."""


def table(samples: Sequence[Sample], totals: Totals, rate: float) -> Table:
    """
    Return the samples at equal intervals, and what became of all states.

    :param rate: of the states [Hz].
    """
    result = Table(title=f'the node at {rate:.0f} Hz', title_justify='left')
    for heading in ('min', 'memory\n[MiB]', 'workers\n[MiB]', 'threads', 'files', 'CPU\n[%]',
                    'median\n[µs]', '99 %\n[µs]', 'worst\n\\[ms]', 'load'):
        result.add_column(heading, justify='right')
    last = len(samples) - 1
    for index in sorted({round(last * line / (LINES - 1)) for line in range(LINES)}):
        sample = samples[index]
        median, percent_99, worst = sample.latencies
        result.add_row(
            f'{sample.time / 60.0:.1f}', f'{sample.memory / 2 ** 20:.2f}',
            f'{sample.workers_memory / 2 ** 20:.2f}', str(sample.threads),
            str(sample.descriptors), f'{100.0 * sample.processor:.1f}', f'{1e6 * median:.0f}',
            f'{1e6 * percent_99:.0f}', f'{1e3 * worst:.1f}', f'{sample.load:.1f}')
    result.caption = (
        f'{totals.sent} states were sent ({totals.late} of them late), {totals.delivered} '
        f'delivered, {totals.refused} refused; {totals.answered} were answered with their own '
        f'stamp, {totals.merged} together with a newer state; {totals.too_old} efforts were later '
        'than state_timeout')
    result.caption_justify = 'left'
    return result


def draw(samples: Sequence[Sample], stem: Path) -> list[Path]:
    """
    Draw memory, threads, descriptors and latencies over time, as PNG and SVG.

    :param stem: the files' path without what they end with.
    :returns: their paths.
    """
    minutes = [sample.time / 60.0 for sample in samples]
    figure, (memory, numbers, latency) = plt.subplots(
        3, 1, figsize=(8.0, 7.0), sharex=True, layout='constrained')
    memory.plot(minutes, [sample.memory / 2 ** 20 for sample in samples], color='#4477aa')
    memory.set_ylabel('memory of the node [MiB]')
    numbers.plot(minutes, [sample.threads for sample in samples], color='#228833',
                 label='threads')
    numbers.plot(minutes, [sample.descriptors for sample in samples], color='#aa3377',
                 label='file descriptors')
    numbers.set_ylabel('number')
    for column, (name, color) in enumerate((
            ('median', '#4477aa'), ('99 %', '#ccbb44'), ('worst', '#bb5566'))):
        latency.plot(minutes, [1e3 * sample.latencies[column] for sample in samples],
                     color=color, label=name)
    latency.set_yscale('log')
    latency.set_ylabel('state to effort [ms]')
    latency.set_xlabel('time [min]')
    for axes in (numbers, latency):
        axes.legend(loc='upper right')
    for axes in (memory, numbers, latency):
        axes.grid(alpha=0.3)
        axes.margins(x=0.0)
    memory.set_ylim(0.0, 1.1 * max(sample.memory for sample in samples) / 2 ** 20)
    paths = [stem.with_suffix(suffix) for suffix in ('.png', '.svg')]
    for path in paths:
        figure.savefig(path, dpi=120)
    plt.close(figure)
    return paths
