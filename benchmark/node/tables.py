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
"""The figures as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import statistics

from benchmark.node.bench import Respawn
from benchmark.node.figures import Figures, ratios
from rich.table import Table

GOALS = {'processor': 0.5, 'median': 0.9, 'percent_99_9': 1.0}
"""What the node may take at most of what the relay takes, at 1 kHz."""

RATE_GOAL = 2.0

GAP_GOAL = 0.01
"""How long no command may come while the robot changes, on an idle machine [s]."""


RESPAWN_GOAL = 1.0
"""How long no command may come after kill -9, on an idle machine [s]."""


def cycle_table(robot: str, by_rate: Sequence[Mapping[str, Figures]]) -> Table:
    """
    Return what relay and node took at each rate, and their ratio.

    :param by_rate: for each rate, the figures of ``relay`` and ``node``.
    """
    table = Table(title=f'{robot}: from joint state to effort', title_justify='left')
    for heading in ('Hz', '', 'CPU %', 'median µs', '99 % µs', '99.9 % µs', 'answered'):
        table.add_column(heading, justify='left' if heading == '' else 'right', no_wrap=True)
    for subjects in by_rate:
        for name, figures in subjects.items():
            table.add_row(
                f'{figures.rate:.0f}' if name == 'relay' else '', name,
                f'{figures.processor:.1f}', *(
                    f'{1e6 * value:.0f}' for value in (
                        figures.median, figures.percent_99, figures.percent_99_9)),
                f'{figures.answered}/{figures.sent}')
        if {'relay', 'node'} <= subjects.keys():
            shares = ratios(subjects['node'], subjects['relay'])
            table.add_row(
                '', 'ratio', *(_judged(name, share) for name, share in shares.items()), '',
                end_section=True, style='bold')
    table.caption = _noise([subjects['relay'] for subjects in by_rate if 'relay' in subjects])
    table.caption_justify = 'left'
    return table


def rate_table(highest: Mapping[str, Mapping[str, float]]) -> Table:
    """
    Return the rates that the subjects sustained.

    :param highest: by robot, the rate of ``relay`` and ``node`` [Hz].
    """
    table = Table(title='highest rate with 99 % answered', title_justify='left')
    for heading in ('robot', 'relay [Hz]', 'node [Hz]', 'node/relay'):
        table.add_column(heading, justify='left' if heading == 'robot' else 'right')
    for robot, rates in highest.items():
        share = rates['node'] / rates['relay'] if rates['relay'] else float('inf')
        colour = 'green' if share >= RATE_GOAL else 'yellow'
        table.add_row(robot, f'{rates["relay"]:.0f}', f'{rates["node"]:.0f}',
                      f'[{colour}]{share:.2f}[/]')
    return table


def fleet_table(robot: str, rate: float, rows: Mapping[int, Mapping[str, Figures]]) -> Table:
    """
    Return how the processor's load grows with the number of robots.

    :param rate: of each robot's states [Hz].
    :param rows: by number of robots, the figures of each way to run them.
    """
    table = Table(title=f'{robot}, {rate:.0f} Hz each: CPU [%] (median latency [µs])',
                  title_justify='left')
    table.add_column('robots', justify='right')
    ways = list(next(iter(rows.values())))
    for way in ways:
        table.add_column(way, justify='right')
    for count, by_way in rows.items():
        table.add_row(str(count), *(
            f'{by_way[way].processor:.1f} ({1e6 * by_way[way].median:.0f})' for way in ways))
    return table


def gap_table(
        rate: float, seconds: float, gaps: Mapping[str, Mapping[str, Sequence[float]]]) -> Table:
    """
    Return the longest gaps between two answers.

    :param rate: of the states [Hz].
    :param seconds: of a block.
    :param gaps: by robot, as :func:`benchmark.node.runs.measure_gaps` has them [s].
    """
    table = Table(
        title=f'the longest gap between two answers at {rate:.0f} Hz, while descriptions, '
              'payloads and gravity change', title_justify='left',
        caption=f'median of the blocks of {seconds:.0f} s, and in brackets the longest of all; a '
                'gap that the relay has, too, comes from the machine', caption_justify='left')
    table.add_column('robot')
    ways = list(next(iter(gaps.values())))
    for way in ways:
        table.add_column(f'{way} [ms]', justify='right')
    for robot, by_way in gaps.items():
        cells = []
        for way in ways:
            typical = statistics.median(by_way[way])
            color = 'green' if typical <= GAP_GOAL else 'yellow'
            cells.append(f'[{color}]{1e3 * typical:.1f}[/] ({1e3 * max(by_way[way]):.1f})')
        table.add_row(robot, *cells)
    return table


def respawn_table(rate: float, respawns: Mapping[str, Mapping[str, Sequence[Respawn]]]) -> Table:
    """Return how long no effort comes when relay and node are killed, by robot."""
    table = Table(
        title=f'from the last effort before kill -9 to the first one after it, at {rate:.0f} Hz',
        title_justify='left',
        caption='median, and in brackets the longest; the process is started again at once',
        caption_justify='left')
    for heading in ('robot', '', 'no effort for [s]', 'processor time of the new process [s]'):
        table.add_column(
            heading, justify='left' if heading in ('robot', '') else 'right')
    for robot, by_subject in respawns.items():
        for name, of_subject in by_subject.items():
            gaps = [respawn.gap for respawn in of_subject]
            typical = statistics.median(gaps)
            shown = f'{typical:.2f}'
            if name == 'node':
                shown = f'[{"green" if typical <= RESPAWN_GOAL else "yellow"}]{shown}[/]'
            table.add_row(
                robot if name == 'relay' else '', name, f'{shown} ({max(gaps):.2f})',
                f'{statistics.median(respawn.processor for respawn in of_subject):.2f}')
    return table


def _judged(name: str, share: float) -> str:
    if name not in GOALS:
        return f'{share:.2f}'
    return f'[{"green" if share <= GOALS[name] else "yellow"}]{share:.2f}[/]'


def _noise(relay: Sequence[Figures]) -> str | None:
    if not relay:
        return None
    return ("noise: the quartiles of the relay's own blocks are up to "
            f'{100 * max(figures.processor_spread for figures in relay):.0f} % apart in CPU and '
            f'{100 * max(figures.median_spread for figures in relay):.0f} % in median latency; '
            f'{100 * max(figures.late / figures.sent for figures in relay):.1f} % of its states '
            'left the publisher more than a period late')
