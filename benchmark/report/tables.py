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
"""Tables that fit a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmark.campaign import Result
from benchmark.peers import OURS, PINOCCHIO
from benchmark.quantities import ALLOWANCE, BY_NAME, Quantity
from benchmark.robots import Description
from benchmark.startup import CACHED, COLD, Startup
import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

WIDTH = 100

GROWTH = 1.5
"""Cost per joint may grow by this factor from the shortest chain to the longest."""


def robot_table(
        description: Description, results: Sequence[Result], judged: bool = True) -> Table:
    """
    Return what was timed on one robot, the fastest first in each quantity.

    :param judged: whether marks say if what is asked was reached.
    """
    table = _table(description.title)
    table.add_column('quantity')
    table.add_column('peer')
    for heading in ('ns per call', 'of Pinocchio', 'quartiles', 'asked'):
        table.add_column(heading, justify='right')
    for quantity in BY_NAME.values():
        timed = [result for result in results
                 if (result.robot, result.quantity) == (description.name, quantity.name)
                 and result.nanoseconds is not None]
        target = _target(quantity, description.name, results)
        for i, result in enumerate(sorted(timed, key=_median)):
            table.add_row(
                quantity.title if i == 0 else '', result.peer, *_figures(result, target, judged),
                style='bold' if result.peer == OURS else None, end_section=i == len(timed) - 1)
    return table


def chain_table(
        chains: Sequence[Description], results: Sequence[Result], judged: bool = True) -> Table:
    """
    Return the cost per joint [ns] of chains, by their number of joints.

    :param judged: whether marks say if what is asked was reached.
    """
    joints = {chain.name: chain.chain_joints or 1 for chain in chains}
    table = _table('Chains: ns per call and joint, by the number of joints')
    table.add_column('quantity', no_wrap=True)
    table.add_column('peer', no_wrap=True)
    for count in joints.values():
        table.add_column(str(count), justify='right')
    table.add_column('growth', justify='right')
    for quantity in BY_NAME.values():
        by_peer: dict[str, dict[str, float]] = {}
        for result in results:
            if result.robot in joints and result.quantity == quantity.name and result.nanoseconds:
                cost = result.nanoseconds.median / joints[result.robot]
                by_peer.setdefault(result.peer, {})[result.robot] = cost
        for i, (peer, costs) in enumerate(by_peer.items()):
            cells = [number(costs[name]) if name in costs else '–' for name in joints]
            table.add_row(
                quantity.title if i == 0 else '', peer, *cells,
                _growth(list(costs.values()), judged and peer == OURS),
                style='bold' if peer == OURS else None, end_section=i == len(by_peer) - 1)
    return table


def startup_table(startups: Sequence[Startup], judged: bool = True) -> Table:
    """
    Return the times from description to first effort.

    :param judged: whether marks say if what is asked was reached.
    """
    table = _table('From description to first effort, after imports [ms]')
    for heading in ('robot', 'peer', 'cache'):
        table.add_column(heading)
    for heading in ('time', 'quartiles', 'asked'):
        table.add_column(heading, justify='right')
    last = ''
    for startup in startups:
        low, median, high = (1e3 * value for value in startup.seconds)
        target = startup.target
        table.add_row(
            startup.robot if startup.robot != last else '', startup.peer,
            startup.cache if startup.cache in (COLD, CACHED) else '', f'{median:.1f}',
            f'{low:.1f}–{high:.1f}',
            '' if target is None else _asked(
                median, 1e3 * target, f'{1e3 * target:.0f}', judged),
            style='bold' if startup.peer == OURS else None)
        last = startup.robot
    return table


def left_out_table(results: Sequence[Result]) -> Table:
    """Return who was not timed on what, and why."""
    everyone = {result.robot for result in results}
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for result in results:
        if result.reason:
            robots = groups.setdefault((result.peer, result.reason), {})
            robots.setdefault(result.quantity, []).append(result.robot)
    table = _table('Not timed')
    for heading in ('peer', 'quantities', 'robots', 'reason'):
        table.add_column(heading, overflow='fold')
    for (peer, reason), by_quantity in groups.items():
        excluded = dict.fromkeys(name for names in by_quantity.values() for name in names)
        shown = 'all' if len(excluded) == len(everyone) > 1 else ', '.join(excluded)
        table.add_row(peer, ', '.join(by_quantity), shown, escape(reason))
    return table


def statement_table(results: Iterable[Result]) -> Table:
    """Return the statement behind each figure, with how far its answers were from Pinocchio's."""
    worst: dict[tuple[str, str, str, str], float] = {}
    for result in results:
        if result.nanoseconds is not None and result.error is not None:
            key = (result.quantity, result.peer, result.code, result.remark)
            worst[key] = max(result.error, worst.get(key, 0.0))
    table = _table('What was timed: in a loop over 64 states')
    for heading in ('quantity', 'peer', 'statement', 'error'):
        table.add_column(heading, justify='right' if heading == 'error' else 'left',
                         no_wrap=heading in ('quantity', 'peer'), overflow='fold')
    last = ''
    for (quantity, peer, code, remark), error in worst.items():
        shown = code.replace('; ', '\n') + (f'\n# {remark}' if remark else '')
        table.add_row(BY_NAME[quantity].title if quantity != last else '', peer, escape(shown),
                      f'{error:.0e}')
        last = quantity
    return table


def noise(results: Iterable[Result]) -> float:
    """Return the typical distance between the quartiles of a ratio, relative to the ratio."""
    widths = [(result.of_pinocchio.high - result.of_pinocchio.low) / result.of_pinocchio.median
              for result in results
              if result.of_pinocchio is not None and result.peer != PINOCCHIO]
    return float(np.median(widths)) if widths else 0.0


def missed(results: Sequence[Result]) -> Iterator[str]:
    """Yield which figures that are asked of us are not reached, and by how much."""
    for result in results:
        quantity = BY_NAME[result.quantity]
        target = _target(quantity, result.robot, results)
        if target is None or result.peer != OURS:
            continue
        name = f'{result.robot}, {quantity.title}'
        if result.of_pinocchio is None:
            yield f'{name}: not timed'
        elif result.of_pinocchio.median > target:
            yield f'{name}: {ratio(result.of_pinocchio.median)}, asked {ratio(target)}'


def _target(quantity: Quantity, robot: str, results: Sequence[Result]) -> float | None:
    """Return the largest ratio to Pinocchio that is asked of us, if any is."""
    if not quantity.slower_than:
        return quantity.target(robot)
    for result in results:
        if ((result.robot, result.quantity, result.peer) == (robot, quantity.slower_than, OURS)
                and result.of_pinocchio is not None):
            return ALLOWANCE * result.of_pinocchio.median
    return None


def number(value: float) -> str:
    """Return a number of three digits or more, thousands apart."""
    return f'{value:,.0f}'.replace(',', ' ') if value >= 100 else f'{value:.3g}'


def ratio(value: float) -> str:
    """Return a ratio with three digits."""
    return number(value) if value >= 100 else f'{value:.3g}'


def _figures(
        result: Result, target: float | None, judged: bool) -> tuple[str, str, str, str]:
    """Return the cells of someone who was timed."""
    cost, relative = number(_median(result)), result.of_pinocchio
    if relative is None or result.peer == PINOCCHIO:
        return cost, '1', '', ''
    asked = ''
    if target is not None and result.peer == OURS:
        asked = _asked(relative.median, target, ratio(target), judged)
    return cost, ratio(relative.median), f'{ratio(relative.low)}–{ratio(relative.high)}', asked


def _median(result: Result) -> float:
    return result.nanoseconds.median if result.nanoseconds else np.inf


def _asked(value: float, limit: float, shown: str, judged: bool) -> str:
    return f'≤ {shown}{_mark(value <= limit) if judged else ""}'


def _mark(is_reached: bool) -> str:
    return ' ✓' if is_reached else ' ✗'


def _growth(costs: Sequence[float], judged: bool) -> str:
    if len(costs) < 2:
        return ''
    growth = costs[-1] / costs[0]
    return f'×{growth:.2f}{_mark(growth <= GROWTH) if judged else ""}'


def _table(title: str) -> Table:
    return Table(title=title, title_justify='left', title_style='bold', width=WIDTH,
                 box=box.SIMPLE_HEAD, pad_edge=False, header_style='dim')
