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
Every robot of example-robot-data against Pinocchio and MuJoCo, into docs/proof.rst.

``./run test --full`` calls it; otherwise ``python -m proof`` in test/support.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys

from proof.measure import base, MUJOCO, PINOCCHIO, Proof
from proof.page import page, verdict, worst_by_quantity
from proof.robots import example_robots
from repository import ROOT
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

STATES = 200


def main():
    """Measure, write the page, print the verdict; fail where a figure is too large."""
    parser = argparse.ArgumentParser(prog='./run test --full', description=__doc__.strip())
    parser.add_argument('--states', type=int, default=STATES, help='for each robot and base')
    parser.add_argument('--robot', default='', help='only robots whose name contains this')
    parser.add_argument('--output', type=Path, help='docs/proof.rst; of a part, out/proof.rst')
    parser.add_argument('--kernels', choices=['tape', 'compiled'],
                        help='prove these in the place of the textbook; into out/proof.rst')
    arguments = parser.parse_args()
    os.environ['ROS2_RNEA_ENGINE'] = arguments.kernels or 'textbook'
    complete = arguments.states >= STATES and not arguments.robot and not arguments.kernels
    output = arguments.output or ROOT / ('docs' if complete else 'out') / 'proof.rst'
    examples = [e for e in example_robots() if arguments.robot in e.name]
    if not examples:
        sys.exit(f'no robot whose name contains {arguments.robot!r} is installed')

    console, proof = Console(), Proof()
    columns = [TextColumn('{task.description:32}'), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn()]
    with Progress(*columns, console=console) as progress:
        task = progress.add_task('', total=2 * len(examples))
        for example in examples:
            for floating_base in (False, True):
                progress.update(task, description=f'{example.name}, {base(floating_base)}'[-32:])
                proof.add(example, floating_base, arguments.states)
                progress.advance(task)
    output.parent.mkdir(exist_ok=True)
    output.write_text(page(proof, examples), encoding='utf-8')

    console.print(_worst(proof))
    for failure in proof.failures():
        console.print(failure, style='red')
    console.print(verdict(proof, examples), f'The table: {output}')
    sys.exit(1 if proof.failures() else 0)


def _worst(proof):
    """Return a table of the worst errors that fits a terminal."""
    table = Table('', PINOCCHIO, 'at', MUJOCO, 'at', box=None)
    for _, *row in worst_by_quantity(proof):
        table.add_row(*row)
    return table


if __name__ == '__main__':
    main()
