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
"""Make a robot's machine code beforehand: ``ros2 run ros2_rnea compile --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from enum import IntEnum
import os
from pathlib import Path
import sys
from time import monotonic
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ros2_rnea.command_line.command import command
from ros2_rnea.command_line.terminal import PrintableConsole
from ros2_rnea.errors import ArgumentError, CompilerError, counted
from ros2_rnea.kernels import machine
from ros2_rnea.kernels.cache import (
    ObjectCache,
    open_cache,
    SHIPPED,
    why_not_reachable,
    why_not_readable,
)
from ros2_rnea.kernels.compiled import CompiledKernels
from ros2_rnea.kernels.engines import Compilation, Engine
from ros2_rnea.model.description import OPTIONAL_PARAMETERS
from ros2_rnea.node.models.model_building import adjustable, read_description, Source
from ros2_rnea.offline.commands.check_model.source import read_source
from ros2_rnea.offline.commands.compile.parameter_file import (
    is_set_for_joints,
    names_in,
    read_parameters,
)
from ros2_rnea.robots.arguments import check_link
from ros2_rnea.robots.robot import Robot


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    COMPILED = 0
    NOT_KEPT = 1
    NOT_COMPILED = 2


@command('compile', ExitCode.NOT_COMPILED)
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Compile the kernels of one robot, and print where they are.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_intermixed_args(arguments)
    started = monotonic()
    source = _source(options)
    tree, _ = read_description(source)
    for link in options.payload_link:
        check_link(tree, link)
    cache = _cache(options.out)
    target = _target(options)
    robot = adjustable(
        tree, source, Engine.COMPILED, CompiledKernels(tree, cache, target))
    total, compiled = _compile(robot, source.kernels)
    if cache.reason:
        print(f'compile: the kernels are compiled, but cannot be stored: {cache.reason}',
              file=sys.stderr)
        return ExitCode.NOT_KEPT
    if options.out is not None and not _can_be_shipped(options.out.absolute()):
        return ExitCode.NOT_KEPT
    print(f'{counted(total, "kernel")} of {robot.name!r}: {compiled} compiled, '
          f'{total - compiled} already stored; {monotonic() - started:.1f} s.')
    print(f'They are in {cache.folder}, for {_described(target)}.')
    if options.out is not None:
        print(f'Where the node runs, set {SHIPPED}={cache.folder}')
    links = ', '.join(source.payload_links) or 'no link'
    print(f'With this robot and payloads on {links}, the node compiles nothing at its start.')
    return ExitCode.COMPILED


def _source(options: argparse.Namespace) -> Source:
    """Return what the node with these parameters builds its model from."""
    parameters: dict[str, Any] = {}
    if options.parameters is not None:
        parameters = read_parameters(options.parameters, options.node)
    if options.file is not None:
        text = read_source(options.file, options.mappings)
    elif parameters.get('robot_description'):
        text = str(parameters['robot_description'])
    else:
        raise ArgumentError(
            'there is no robot: name a URDF file, or a parameter file with robot_description')
    return Source(
        text,
        (*names_in(parameters, 'massless_links'), *options.massless),
        parameters.get('strict_model') is True,
        tuple(sorted({*names_in(parameters, 'payload_links'), *options.payload_link})),
        optional_parameters=tuple(sorted(
            number.name for number in OPTIONAL_PARAMETERS
            if is_set_for_joints(parameters, number.name))),
        observes=parameters.get('observe_external_effort') is True)


def _cache(output: Path | None) -> ObjectCache:
    """Return where the kernels are stored: a folder to ship, or the user's cache."""
    if output is not None:
        return ObjectCache(output.absolute(), is_public=True)
    return open_cache(environment={**os.environ, SHIPPED: ''})  # without what is shipped


def _can_be_shipped(folder: Path) -> bool:
    """Return whether other users can read what is stored in a folder; print why they cannot."""
    reason = why_not_readable(folder)
    if reason:
        print(f'compile: the kernels are stored, but cannot be shipped: {reason}', file=sys.stderr)
        return False
    reason = why_not_reachable(folder)
    if reason:  # no failure: in the home of a developer, it is only the place of the build
        print(f'compile: as long as they are in {folder}, the kernels are for this user only: '
              f'{reason}', file=sys.stderr)
    return True


def _target(options: argparse.Namespace) -> machine.Target:
    """
    Return the CPU to compile for.

    :raises CompilerError: without llvmlite.
    """
    if not machine.available():
        raise CompilerError(
            'llvmlite is not installed, so that the node computes without machine code and has '
            'nothing to compile; install it as python3-numba or with pip')
    choice = options.cpu or ('host' if options.out is None else 'portable')
    return machine.host() if choice == 'host' else machine.portable(machine.host())[0]


def _compile(robot: Robot, methods: Sequence[str]) -> tuple[int, int]:
    """Return how many kernels the node needs, and how many of them had to be compiled."""
    compiled = 0
    terminal = PrintableConsole(stderr=True)
    with Progress(
            TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), console=terminal, transient=True,
            disable=not terminal.is_terminal) as bar:
        task = bar.add_task('compiling', total=None)

        def show(kernel: Compilation) -> None:
            nonlocal compiled
            compiled = kernel.number
            bar.update(task, description=f'compiling {kernel.quantity}', total=kernel.total,
                       completed=kernel.number - 1)

        total = len(robot.machine_code(*methods, on_compile=show))
    return total, compiled


def _described(target: machine.Target) -> str:
    """Return the CPUs that a target stands for, in words."""
    if target == machine.host():
        return f'this CPU ({target.cpu})'
    features = ' and '.join(part.strip('+').upper() for part in target.features.split(',') if part)
    return f'every {target.architecture} CPU' + (f' with {features}' if features else '')


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='ros2_rnea compile',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Compile the machine code of a robot (its kernels) before the node needs it.

The node compiles each robot once, which takes from a fraction of a second to many seconds on a
loaded machine, and stores the kernels in $XDG_CACHE_HOME/ros2_rnea or ~/.cache/ros2_rnea.  After
this command, run by the same user on the same machine, it finds them there and compiles nothing.

Kernels depend on the kinematics and the inertias in the description, on massless_links,
payload_links and observe_external_effort, on whether any joint has an armature, a friction_offset
or another parameter of identified friction, on the versions of ros2_rnea and llvmlite, and on the
CPU.  They do not depend on gravity, payloads, the values of friction, effort limits and other
parameters, which may change at any time.  So name the parameter file of the node.""",
        epilog=f"""\
To ship kernels, for example in a container image, --out stores them in a folder that every user
can read, by default for all CPUs of the architecture that have AVX2 and FMA (x86_64) or NEON
(aarch64).  The node reads the folders that the environment variable {SHIPPED} names,
if they and their files belong to the user or to root, and nobody else may write to them or replace
them.

exit codes:  0 all kernels are stored; 1 they cannot be stored, or other users cannot read the
             folder of --out, with the reason; 2 not compiled, with the reason
examples:
  ros2_rnea compile panda.urdf
  ros2_rnea compile ur.urdf.xacro ur_type:=ur5e name:=ur --parameters my_robot.yaml
  ros2_rnea compile two_arms.urdf --parameters cell.yaml --node /left/inverse_dynamics
  ros2_rnea compile panda.urdf --payload-link panda_hand --out /opt/kernels""")
    parser.add_argument('file', nargs='?',
                        help='a URDF file; a xacro file, if xacro is installed; or - for the '
                             'standard input; may be left out if the parameter file has '
                             'robot_description')
    parser.add_argument('mappings', nargs='*', metavar='NAME:=VALUE', help='arguments for xacro')
    parser.add_argument('--parameters', type=Path, metavar='FILE',
                        help='the parameter file of the node: its massless_links, payload_links, '
                             'strict_model, observe_external_effort, armature and parameters of '
                             'identified friction are used, and its robot_description without a '
                             'file')
    parser.add_argument('--node', default='/inverse_dynamics', metavar='NAME',
                        help='the full name of the node whose parameters in that file are used '
                             '(default /inverse_dynamics)')
    parser.add_argument('--massless', action='append', default=[], metavar='LINK',
                        help='a link that may move without <inertial>, besides massless_links; '
                             'may be repeated')
    parser.add_argument('--payload-link', action='append', default=[], metavar='LINK',
                        help='a link that payloads will be attached to, besides payload_links; '
                             'may be repeated')
    parser.add_argument('--out', type=Path, metavar='FOLDER',
                        help="a folder to ship the kernels in, in place of the user's cache")
    parser.add_argument('--cpu', choices=['host', 'portable'],
                        help='host: for CPUs like the one of this machine (default); portable: '
                             'for most of its architecture (default with --out)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
