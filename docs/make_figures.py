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
Write docs/figures/benchmark.txt and its picture, from what ``./run benchmark`` has written.

Run it after a full run: ``PYTHONPATH=. python docs/make_figures.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
import json
from pathlib import Path
import shutil
import sys
from textwrap import wrap
from typing import Any

from benchmark.disturbance import Disturbance
from benchmark.peers import OURS, PINOCCHIO
from benchmark.quantities import BY_NAME, INVERSE_DYNAMICS
from benchmark.report.tables import number
from benchmark.startup import CACHED, COLD

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / 'out' / 'benchmark'

NOTHING = '–'

Record = Mapping[str, Any]


def main() -> None:
    """Write the tables and copy the picture."""
    record = json.loads((SOURCE / 'benchmark.json').read_text(encoding='utf-8'))
    if record['disturbance']['reasons']:
        sys.exit('the machine was busy, measure again: '
                 + '; '.join(record['disturbance']['reasons']))
    (DOCS / 'figures' / 'benchmark.txt').write_text(tables(record), encoding='utf-8')
    shutil.copy(SOURCE / 'benchmark.svg', DOCS / 'images')


def tables(record: Record) -> str:
    """Return everything that the documentation quotes of a run."""
    return '\n\n'.join([
        '.. Written by docs/make_figures.py; changes to this file will be overwritten.',
        *_table('Nanoseconds of a call of ros2_rnea, and how many times as long Pinocchio takes',
                _by_quantity(record)),
        *_table('Nanoseconds of a call, inverse dynamics', _by_peer(record)),
        *_table('Nanoseconds of a call per joint, inverse dynamics, by the joints of a chain',
                _by_length(record)),
        *_table('Milliseconds from description to first effort, after imports',
                _startup(record)),
        _circumstances(record)]) + '\n'


def _by_quantity(record: Record) -> Iterator[list[str]]:
    robots = _robots(record, chains=False)
    yield ['', *robots.values()]
    for quantity in BY_NAME.values():
        own = _results(record, quantity.name, OURS)
        yield [quantity.title, *(_with_ratio(own.get(robot)) for robot in robots)]


def _with_ratio(result: Record | None) -> str:
    if result is None or result['of_pinocchio'] is None:
        return NOTHING
    return f'{_median(result)} (×{1.0 / result["of_pinocchio"]["median"]:.1f})'


def _by_peer(record: Record) -> Iterator[list[str]]:
    robots = _robots(record, chains=False)
    yield ['', *robots.values()]
    peers = dict.fromkeys(result['peer'] for result in record['results'])
    rows = {peer: _results(record, INVERSE_DYNAMICS, peer) for peer in peers}
    first = next(iter(robots))
    for peer in sorted((peer for peer in rows if first in rows[peer]),
                       key=lambda peer: rows[peer][first]['nanoseconds']['median']):
        yield [peer, *(_median(rows[peer].get(robot)) for robot in robots)]


def _by_length(record: Record) -> Iterator[list[str]]:
    chains = {name: robot['chain_joints'] for name, robot in record['robots'].items()
              if robot['chain_joints']}
    yield ['', *map(str, chains.values())]
    for peer in (OURS, PINOCCHIO):
        own = _results(record, INVERSE_DYNAMICS, peer)
        yield [peer, *(_median(own.get(name), joints) for name, joints in chains.items())]


def _startup(record: Record) -> Iterator[list[str]]:
    yield ['', 'nothing cached', 'cached', PINOCCHIO]
    for name, title in _robots(record, chains=False).items():
        own = {(sample['peer'], sample['cache']): 1e3 * sample['seconds']['median']
               for sample in record['startup'] if sample['robot'] == name}
        pinocchio = [value for (peer, _), value in own.items() if peer == PINOCCHIO]
        yield [title, *(f'{value:.1f}' for value in (
            own[OURS, COLD], own[OURS, CACHED], *pinocchio))]


def _circumstances(record: Record) -> str:
    machine, versions = record['machine'], record['versions']
    disturbance = {name: value for name, value in record['disturbance'].items()
                   if name != 'reasons'}
    known = ', '.join(f'{name} {version}' for name, version in versions.items() if version)
    return '\n'.join(wrap(
        f'Measured on {machine["cpu"]}, {machine["cores"]} cores, with {known}; '
        f'{record["settings"]["rounds"]} rounds.  The machine was idle otherwise: '
        f'{Disturbance(**disturbance)}.', 99))


def _robots(record: Record, chains: bool) -> dict[str, str]:
    return {name: robot['title'] for name, robot in record['robots'].items()
            if bool(robot['chain_joints']) is chains}


def _results(record: Record, quantity: str, peer: str) -> dict[str, Record]:
    """Return who was timed, by robot."""
    return {result['robot']: result for result in record['results']
            if (result['quantity'], result['peer']) == (quantity, peer)
            and result['nanoseconds'] is not None}


def _median(result: Record | None, parts: int = 1) -> str:
    return NOTHING if result is None else number(result['nanoseconds']['median'] / parts)


def _table(title: str, rows: Iterable[list[str]]) -> Iterator[str]:
    yield f'.. csv-table:: {title}\n   :header-rows: 1\n   :widths: auto'
    yield '\n'.join('   ' + ','.join(f'"{cell}"' for cell in row) for row in rows)


if __name__ == '__main__':
    main()
