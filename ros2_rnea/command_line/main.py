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
"""The command ``ros2_rnea``: every program of this package for people, under one name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
import sys

from ros2_rnea.command_line.command import interrupted

COMMANDS = {
    'check_model': 'masses, limits and gravity efforts of a URDF, and its suspicious values',
    'compile': 'the machine code of a robot, before the node needs it',
    'export': 'the model of a robot for programs without Python: as data, or as C',
    'fill_efforts': 'a trajectory with the effort in every point, and a report',
    'excite': 'the motion to record for an identification',
    'report': 'recorded efforts beside those of the model: what is wrong',
    'identify': 'the friction and inertias that fit recorded motions',
    'demo': 'a simulated arm, the node and a commander over ROS 2',
}

PACKAGES = {'demo': 'ros2_rnea.tools'}
"""Where a command is, if not in ros2_rnea.offline.commands."""

EXTRAS = {
    'llvmlite': 'fast', 'mujoco': 'demo', 'rosbags': 'bag', 'toppra': 'retime', 'yaml': 'yaml'}
"""The extra that installs a package; all others come with ``identify``."""

FAILED = 2
"""Exit code of all commands where they do nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command that the first argument names.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] in (['--help'], ['-h']):
        print(_usage())
        return 0
    if words[:1] == ['--version']:
        print(f'ros2_rnea {_version()}')
        return 0
    if not words:
        print(_usage(), file=sys.stderr)
        return FAILED
    name = words[0].replace('-', '_')
    if name not in COMMANDS:
        near = get_close_matches(name, COMMANDS, 1)
        advice = f"did you mean '{near[0]}'?" if near else 'ros2_rnea --help lists all'
        print(f'ros2_rnea: there is no command {words[0]!r}: {advice}', file=sys.stderr)
        return FAILED
    return _run(name, words[1:])


def by_its_name() -> int:
    """
    Run the command that has the name of the executable, as ``ros2 run`` starts it.

    In a folder of PATH such names are too general, and will go.

    :returns: exit code.
    """
    executable = Path(sys.argv[0])
    if executable.parent.name != 'ros2_rnea':
        print(f"{executable.name}: the command is 'ros2_rnea {executable.name}' now; the former "
              'name will be gone in the next release', file=sys.stderr)
    return main([executable.name, *sys.argv[1:]])


def _run(name: str, arguments: Sequence[str]) -> int:
    package = PACKAGES.get(name, 'ros2_rnea.offline.commands')
    try:
        return import_module(f'{package}.{name}.__main__').main(arguments)
    except KeyboardInterrupt:  # while it is imported
        return interrupted(name)
    except ModuleNotFoundError as error:
        missing = (error.name or '').partition('.')[0]
        if missing in ('', 'ros2_rnea'):
            raise
        print(f'{name}: the Python package {missing} is not installed: {_remedy(missing)}',
              file=sys.stderr)
        return FAILED


def _remedy(package: str) -> str:
    if package in ('rclpy', 'ros2_rnea_interfaces') or package.endswith('_msgs'):
        return 'source an installation of ROS 2, or call ./run in a clone of the repository'
    return f"pip install '.[{EXTRAS.get(package, 'identify')}]' in a clone of the repository"


def _version() -> str:
    try:
        return version('ros2_rnea')
    except PackageNotFoundError:  # the sources alone
        return 'of unknown version: it is not installed'


def _usage() -> str:
    return '\n'.join([
        'usage: ros2_rnea COMMAND ...', '', 'Inverse dynamics for torque-controlled robots.', '',
        *(f'  {name:<14}{text}' for name, text in COMMANDS.items()), '',
        'ros2_rnea COMMAND --help explains one, ros2_rnea --version tells the version.',
        'The node is inverse_dynamics_node --help.'])
