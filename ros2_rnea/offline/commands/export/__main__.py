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
"""Write a robot's model for other programs: ``ros2 run ros2_rnea export --help``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path
import re
import sys
from typing import Any

from ros2_rnea.command_line.command import command
from ros2_rnea.command_line.output_files import writing
from ros2_rnea.command_line.terminal import figure_table, PrintableConsole, say_written
from ros2_rnea.control.parameter import declared_in, Specification
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError
from ros2_rnea.export.c_code import c_files, identifier, Style
from ros2_rnea.export.model import (
    Model,
    model_of,
    OF_CONTROLLER,
    QUANTITIES,
    quantities_of,
    traces_of,
)
from ros2_rnea.export.model_file import encoded, tape_data
from ros2_rnea.offline.commands.check_model.source import read_source
from ros2_rnea.offline.commands.compile.parameter_file import names_in, read_parameters
from ros2_rnea.offline.commands.report.node_numbers import with_numbers_of
from ros2_rnea.offline.commands.robot_options import (
    check_gravity,
    described,
    PAYLOAD,
    PAYLOAD_NUMBERS,
    payload_of,
    with_payloads,
)
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Arm, Terms

QUANTITIES_OF_FILE = ','.join(OF_CONTROLLER)
QUANTITIES_OF_C = 'inverse_dynamics,gravity'

HARDWARE = ('arm', 'terms', 'arm_gravity')
"""Settings by which the hardware adds some terms by itself; each is an option, too."""

OTHER_HEADERS = frozenset((
    'assert', 'complex', 'ctype', 'errno', 'fenv', 'float', 'inttypes', 'iso646', 'limits',
    'locale', 'math', 'setjmp', 'signal', 'stdarg', 'stdbool', 'stddef', 'stdint', 'stdio',
    'stdlib', 'string', 'tgmath', 'time', 'wchar', 'wctype', 'tape', 'rnea'))
"""Prefixes whose header would be included in place of one of C, or of the interpreter."""


class ExitCode(IntEnum):
    """Exit codes of the program; argparse, too, exits with 2."""

    WRITTEN = 0
    NOT_WRITTEN = 2


@command('export', ExitCode.NOT_WRITTEN)
def main(arguments: Sequence[str] | None = None) -> int:
    """
    Write the model of one robot, and print what it costs.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    options = _parser().parse_intermixed_args(arguments)
    if options.c is None and (options.float or options.prefix or options.example):
        raise ArgumentError('--float, --prefix and --example are about C; they need --c FOLDER')
    writes_file = options.c is None or options.out is not None
    if not writes_file and any(getattr(options, name) is not None for name in HARDWARE):
        raise ArgumentError(
            '--arm, --terms and --arm-gravity are written into the model file only; with --c they '
            'need --out FILE')
    text = read_source(options.file, options.mappings)
    parameters = (
        {} if options.parameters is None else read_parameters(options.parameters, options.node))
    robot = _robot(text, parameters, options)
    names = options.quantities or (QUANTITIES_OF_FILE if options.c is None else QUANTITIES_OF_C)
    quantities = quantities_of(robot, names.split(','), options.jacobian)
    traces = traces_of(robot, quantities, options.wrenches)
    settings = _settings(robot, parameters, options)
    model = model_of(robot, text, traces, settings.sent_terms.left_out, settings.arm_gravity)
    written: list[Path] = []
    if options.c is not None:
        style = _style(robot, options)
        files = c_files(robot, model, quantities, traces, style, options.example)
        for name, content in files.items():
            if name == style.example_name and (options.c / name).exists():
                continue  # it may have become the user's own program
            written.append(options.c / name)
            with writing(written[-1]):
                options.c.mkdir(parents=True, exist_ok=True)
                written[-1].write_text(content, encoding='utf-8')
    if writes_file:
        written.append(options.out or Path(f'{identifier(robot.name)}.rnea'))
        with writing(written[-1]):
            written[-1].write_bytes(encoded(model))
    console = PrintableConsole()
    _print_costs(console, model)
    say_written(console, written)
    return ExitCode.WRITTEN


def _robot(
        text: str, parameters: Mapping[str, Any], options: argparse.Namespace) -> AdjustableRobot:
    """Return the robot with its present gravity, payloads and numbers of joints."""
    massless = [*options.massless, *names_in(parameters, 'massless_links')]
    payload_links = [*options.payload_link, *names_in(parameters, 'payload_links')]
    description = described(text)
    if (options.friction_from or parameters.get('friction_from', 'none')) == 'none':
        description = description.without_friction()
    robot = Robot.from_description(description, options.floating_base, massless)
    if options.gravity is not None:
        check_gravity(options.gravity)
        robot = robot.with_gravity(options.gravity)
    if options.parameters is not None:
        robot, _ = with_numbers_of(
            robot, options.parameters, options.node, options.gravity is not None)
    return AdjustableRobot.of(with_payloads(robot, options.payload), payload_links)


def _settings(
        robot: Robot, parameters: Mapping[str, Any], options: argparse.Namespace) -> Settings:
    """Return the settings that say what the hardware adds, checked as the node checks them."""
    given: dict[str, Any] = {'gravity': tuple(robot.free_fall)}
    declared = {each.name: each for each in declared_in(Settings)
                if isinstance(each, Specification)}
    for name in (*HARDWARE, 'gravity_from_imu'):
        value, option = parameters.get(name), getattr(options, name, None)
        if value is not None and option is not None:
            raise ArgumentError(
                f'{options.parameters} has {name}, {value}; leave out the option '
                f'--{name.replace("_", "-")}, or the parameter')
        given[name] = declared[name].check(option if value is None else value)
    return Settings(**given)


def _style(robot: Robot, options: argparse.Namespace) -> Style:
    prefix = options.prefix or identifier(robot.name)
    if not re.fullmatch(r'[a-z][a-z0-9_]*', prefix):
        raise ArgumentError(
            f'--prefix is {prefix!r}; it needs small letters, digits and _, a letter first')
    if prefix in OTHER_HEADERS:
        raise ArgumentError(
            f'{prefix}.h would hide a header of that name: give another --prefix')
    return Style(prefix, options.float)


def _print_costs(console: PrintableConsole, model: Model) -> None:
    table = figure_table('quantity', 'operations', 'runs', 'in the file', 'registers')
    for tape in model.tapes:
        table.add_row(tape.name, str(tape.operations), str(len(tape.runs)),
                      f'{len(tape_data(tape))} B', f'{8 * tape.registers} B')
    console.print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='ros2_rnea export',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Write the dynamics of a robot for programs without Python.

As a model file (data), it is run by a small interpreter in C, tape.c, in the folder of this
package's module ros2_rnea.kernels: no compiler and no URDF parser is needed, and the file has no
machine code.  With --c, it becomes C99 for this robot alone, two to four times as fast: a source
and a header that need libm, for a microcontroller or a real-time loop.

Gravity, payloads, friction, springs and rotors are an array that is passed with each call: they
may change without another export.  Payloads can change on the links that --payload-link names.
Numbers without which a robot is exported (such as armature) stay zero.

The tapes compute whole efforts.  Beside them, a model file names the terms that the hardware adds
by itself: by that, ros2_rnea_controller leaves them out, and refuses what would make gravity act
twice.  Give --arm or --terms where your hardware compensates gravity or friction.""",
        epilog=f"""\
quantities:  {', '.join(QUANTITIES)}

The table shows, for each quantity, the operations of its tape, in how many runs of one kind they
are, the bytes in the file, and the memory for registers that the interpreter needs.

exit codes:  0 written; 2 not written, with the reason
examples:
  ros2_rnea export panda.urdf                                        # panda.rnea
  ros2_rnea export ur.urdf.xacro ur_type:=ur5e name:=ur --quantities gravity,joint_momentum
  ros2_rnea export panda.urdf --payload-link panda_hand --jacobian panda_hand --out arm.rnea
  ros2_rnea export panda.urdf --parameters my_robot.yaml --c src --float --example
  cc -std=c99 -O2 src/*.c -lm && ./a.out""")
    parser.add_argument('file', help='a URDF file; a xacro file, if xacro is installed; or - for '
                                     'the standard input')
    parser.add_argument('mappings', nargs='*', metavar='NAME:=VALUE', help='arguments for xacro')
    group = parser.add_argument_group('the robot')
    group.add_argument('--massless', action='append', default=[], metavar='LINK',
                       help='a link that may move without <inertial>; may be repeated')
    group.add_argument('--floating-base', action='store_true',
                       help='let the root link move freely, as that of a legged robot')
    group.add_argument('--gravity', nargs=3, type=float, metavar=('X', 'Y', 'Z'),
                       help="acceleration of free fall in the root link's axes, m/s^2 (default "
                            '0 0 -9.81); for tilted mounts')
    group.add_argument('--arm', choices=[arm.value for arm in Arm],
                       help='whose hardware it is, by the terms that it adds by itself: generic, '
                            'none (default); franka, gravity and friction; ur, gravity')
    group.add_argument('--terms', choices=[terms.value for terms in Terms], metavar='TERMS',
                       help=f'the terms that are sent to it: {", ".join(t.value for t in Terms)} '
                            '(default automatic: those that the arm does not add)')
    group.add_argument('--arm-gravity', nargs=3, type=float, metavar=('X', 'Y', 'Z'),
                       help='the gravity that the arm compensates by itself, if it is not the '
                            'true one: 0 0 -9.81 for a Franka that is tilted [m/s^2]')
    group.add_argument('--friction-from', choices=('none', 'description'),
                       help='description: the friction of the URDF, which is often that of a '
                            'simulation, for joints for which --parameters has none (default: '
                            'none, as for the node)')
    group.add_argument('--payload-link', action='append', default=[], metavar='LINK',
                       help='a link whose payload can change; may be repeated')
    group.add_argument('--payload', action='append', type=payload_of, default=[], metavar=PAYLOAD,
                       help=f'what the robot carries: {PAYLOAD_NUMBERS}')
    group.add_argument('--parameters', type=Path, metavar='FILE',
                       help='a parameter file of the node, such as that of identify: its '
                            'friction, rotors (armature) and gravity replace those of the URDF; '
                            'its massless_links, payload_links, arm, terms and arm_gravity are '
                            'used')
    group.add_argument('--node', default='/inverse_dynamics', metavar='NAME',
                       help='whose parameters these are (default %(default)s)')
    group = parser.add_argument_group('what is computed')
    group.add_argument('--quantities', metavar='NAME,...',
                       help=f'see below (default {QUANTITIES_OF_FILE}; with --c '
                            f'{QUANTITIES_OF_C})')
    group.add_argument('--jacobian', action='append', default=[], metavar='LINK',
                       help="also the Jacobian of a link, in the link's axes; may be repeated")
    group.add_argument('--wrenches', action='store_true',
                       help='wrenches on the bodies are an input of inverse_dynamics')
    group = parser.add_argument_group('output')
    group.add_argument('--out', type=Path, metavar='FILE',
                       help="the model file (default: the robot's name with .rnea in the current "
                            'folder; none with --c)')
    group.add_argument('--c', type=Path, metavar='FOLDER',
                       help='write C99 to this folder: PREFIX.c and PREFIX.h')
    group.add_argument('--float', action='store_true', help='in float in place of double')
    group.add_argument('--prefix', metavar='NAME',
                       help="what all names in C begin with (default: the robot's name)")
    group.add_argument('--example', action='store_true',
                       help='also PREFIX_example.c, a program that runs the self-test; one that '
                            'is there stays')
    return parser


if __name__ == '__main__':
    sys.exit(main())
