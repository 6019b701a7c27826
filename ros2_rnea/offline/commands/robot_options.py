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
"""The options of all commands that say which robot they are about."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from math import isfinite
import re
import sys
from typing import Any

from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial, OPEN_LOOP_EFFECT, RobotDescription
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robots.arguments import STANDARD_GRAVITY
from ros2_rnea.robots.robot import Robot


LARGEST = 1e6
"""
No mass, length, inertia or acceleration of a robot is larger, in SI units.  A fit squares these
numbers, and floating-point numbers do not hold the square of 1e300.
"""


def add_robot_options(group: argparse._ArgumentGroup) -> None:
    """Add ``--urdf``, ``--massless`` and ``--gravity``."""
    group.add_argument('--urdf', required=True, metavar='FILE',
                       help='its description: URDF, xacro if that is installed, or - for the '
                            'standard input')
    group.add_argument('--massless', action='append', default=[], metavar='LINK',
                       help='a link that may move without <inertial>; may be repeated')
    group.add_argument('--gravity', nargs=3, type=float, default=STANDARD_GRAVITY,
                       metavar=('X', 'Y', 'Z'),
                       help="acceleration of free fall in the root link's axes, m/s^2 (default "
                            '0 0 -9.81); for tilted mounts')


def robot_of(urdf: str, options: argparse.Namespace) -> Robot:
    """
    Return the robot.

    :param urdf: the text that ``--urdf`` names.
    :param options: that :func:`add_robot_options` has added.
    :raises RneaError: where it is no robot, or gravity is out of range.
    """
    check_gravity(options.gravity)
    description = described(urdf)
    return Robot.from_description(
        description, massless_links=options.massless).with_gravity(options.gravity)


def described(urdf: str) -> RobotDescription:
    """
    Return the content of a URDF, and say on the error output what of it is not used.

    It is the loops that are open in it, and the limits that count as none.

    :raises DescriptionError: where it is no robot.
    """
    description = parse_urdf(urdf)
    for closing in description.open_loops:
        print(f'warning: {closing}: {OPEN_LOOP_EFFECT}', file=sys.stderr)
    for joint in description.joints:
        for what in joint.limits.unusable:
            print(f'warning: the {what} limit of joint {joint.name!r} cannot be one and counts as '
                  'none: check_model says why', file=sys.stderr)
    return description


def check_gravity(gravity: Sequence[float]) -> None:
    """
    Check the numbers of ``--gravity``.

    :raises ArgumentError: where one is out of range.
    """
    for value in gravity:
        if abs(value) > LARGEST:
            raise ArgumentError(
                f'--gravity has {value:g}; it needs m/s^2, of magnitude {LARGEST:g} at most')


def names(text: str) -> tuple[str, ...]:
    """
    Return the names between commas, the type of ``--joints``.

    :raises ArgumentTypeError: where one is empty.
    """
    found = tuple(name.strip() for name in text.split(','))
    if not all(found):
        raise argparse.ArgumentTypeError(f'{text!r} needs to be names, as in shoulder,elbow')
    return found


ASSUMED = 'JOINT=POSITION,...'
"""Form of positions that a command cannot know; a joint with several has them between commas."""


def assumed(text: str) -> dict[str, tuple[float, ...]]:
    """
    Return the positions of joints by name, the type of ``--assume``.

    :raises ArgumentTypeError: where it has not the form of ASSUMED.
    """
    parts = re.split(r',(?=[^,]*=)', text)  # a joint may have several positions
    found = dict(map(joint_position, parts))
    if len(found) != len(parts):
        raise argparse.ArgumentTypeError(f'{text!r} names a joint twice')
    return found


class OfJoints(argparse.Action):
    """An option with values by joint that may be repeated, for other joints each time."""

    def __call__(
            self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
            option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest)
        for name in values:
            if name in before:
                parser.error(f'{option_string} names {name!r} twice')
        setattr(namespace, self.dest, {**before, **values})


def joint_position(text: str) -> tuple[str, tuple[float, ...]]:
    """
    Return the joint and the numbers of ``JOINT=POSITION``.

    :raises ArgumentTypeError: where it is something else.
    """
    name, _, numbers = text.partition('=')
    name, values = name.strip(), finite_numbers(numbers)
    if not name or not values:
        raise argparse.ArgumentTypeError(f'{text!r} needs to be JOINT=POSITION, as in elbow=-0.5')
    return name, values


PAYLOAD = 'LINK:KG[:X,Y,Z[:IXX,IXY,IXZ,IYY,IYZ,IZZ]]'
"""Form of a payload: the link that carries it, and numbers in the order of Inertial."""

PAYLOAD_NUMBERS = (
    "mass [kg], centre of mass from the link's origin [m], and inertia about it [kg m^2], in the "
    "link's axes, as in tool0:1.5:0,0,0.1; may be repeated")
"""What the numbers of PAYLOAD are, for the help of ``--payload``."""


def payload_of(text: str) -> tuple[str, Inertial]:
    """
    Return the link and the payload that a text says, the type of ``--payload``.

    :raises ArgumentTypeError: where it has not the form of PAYLOAD, or a number is out of range.
    """
    link, *parts = text.split(':')
    numbers = [finite_numbers(part) for part in parts]
    if not link or [*map(len, numbers)] not in ([1], [1, 3], [1, 3, 6]) or numbers[0][0] < 0.0:
        raise argparse.ArgumentTypeError(
            f'{text!r} needs to be {PAYLOAD}, as in tool0:1.5:0,0,0.1')
    values = [value for found in numbers for value in found]
    for value in values:
        if abs(value) > LARGEST:
            raise argparse.ArgumentTypeError(
                f'{text!r} has {value:g}; it needs kg, m and kg m^2, of magnitude {LARGEST:g} at '
                'most')
    mass, x, y, z, ixx, ixy, ixz, iyy, iyz, izz = values + [0.0] * (10 - len(values))
    return link, Inertial(mass, com=(x, y, z), inertia=(ixx, ixy, ixz, iyy, iyz, izz))


def with_payloads(robot: Robot, payloads: Iterable[tuple[str, Inertial]]) -> Robot:
    """
    Return a robot with what the options ``--payload`` say.

    :raises RneaError: where a link does not exist, or a number is none of a payload.
    """
    for number, (link, inertial) in enumerate(payloads):
        robot = robot.with_payload(f'payload {number}', link, inertial)
    return robot


def finite_numbers(text: str) -> tuple[float, ...]:
    """Return the numbers between commas; none where one of them is not a finite number."""
    try:
        values = tuple(map(float, text.split(',')))
    except ValueError:
        return ()
    return values if all(map(isfinite, values)) else ()
