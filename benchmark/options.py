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
"""The options that the benchmarks of the library have in common."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from benchmark.robots import describe, describe_file, Description


def common_options(names: Iterable[str], quick_rounds: int, files: str) -> argparse.ArgumentParser:
    """
    Return a parser for the ``parents`` of another one.

    :param names: the robots that are measured by default.
    :param quick_rounds: how often ``--quick`` measures.
    :param files: what is written to the folder, for people.
    """
    parser = argparse.ArgumentParser(add_help=False)
    robots = parser.add_mutually_exclusive_group()
    robots.add_argument('--robots', default=','.join(names), metavar='NAME,…',
                        help='only these robots (default: %(default)s)')
    robots.add_argument('--urdf', type=Path, metavar='FILE', help='your own robot instead')
    parser.add_argument('--quick', action='store_true',
                        help=f'only {quick_rounds} rounds; good for a first look')
    parser.add_argument('--explain', action='store_true',
                        help='also print the statement behind each figure')
    parser.add_argument('--output', type=Path, default=Path('out', 'benchmark'), metavar='FOLDER',
                        help=f'folder of the {files} (default: %(default)s)')
    return parser


def chosen_robots(options: argparse.Namespace, floating_base: bool = False) -> list[Description]:
    """Return the robots that ``--robots`` or ``--urdf`` names."""
    if options.urdf:
        return [describe_file(options.urdf, floating_base)]
    return [describe(name) for name in options.robots.split(',')]
