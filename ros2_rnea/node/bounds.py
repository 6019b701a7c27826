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
How large the inputs of the node may be.

The control thread reads the inputs, and sends no effort while it reads.  Within these bounds,
which no robot needs, it reads no input for longer than 20 ms.  It refuses a larger input without
reading it.  Work that may take longer is done in another thread or process.  The bounds are listed
in ``docs/node/bounds.rst``.
"""

from __future__ import annotations

from typing import Any

from ros2_rnea.errors import ArgumentError, DescriptionError
from ros2_rnea.model.description import RobotDescription

MAX_STATE_BYTES = 1 << 16
"""Largest size of a message on joint_states or controller_state [bytes]."""

MAX_SENSOR_BYTES = 1 << 14
"""Largest size of a message on wrench, imu, joy or compensated_joints [bytes]."""

MAX_CONTROLLERS = 50
"""Largest number of controllers that compensate joints."""

MAX_COMMAND_BYTES = 1 << 14
"""Largest size of another publisher's message on ~/commands [bytes]; a larger one is not read."""

MAX_TRAJECTORY_BYTES = 1 << 24
MAX_TRAJECTORY_JOINTS = 1000
MAX_TRAJECTORY_POINTS = 20_000
"""Largest size of a message on joint_trajectory [bytes], and most joints and points in it."""

SHORT_TRAJECTORY_BYTES = 1 << 13
"""A trajectory above this size [bytes] is read in another thread; streamed points are smaller."""

MAX_JOINED_POSITIONS = 25_000
"""
Most positions of the trajectory in progress that the control thread joins to a new one.

A trajectory that omits joints lets them follow the rest of the one in progress.  If that rest has
more positions, one for each joint at each point, another thread plans the motion.
"""

MAX_DESCRIPTION_BYTES = 1 << 21
MAX_LINKS = 1000
MAX_JOINTS = 200
"""Largest size of a robot description [bytes], most links, and most joints that are not fixed."""

MAX_PAYLOADS = 50
"""Largest number of payloads at the same time."""

MAX_TRANSITION_TIME = 60.0
"""Longest time in which the effort of a payload or a gravity is blended in [s]."""

MAX_WRENCHES = 1000
"""Largest number of wrenches in the request to a service."""

MAX_READ_PARAMETERS = 2000
MAX_PARAMETERS = 700
MAX_CHANGED_PARAMETERS = 100
MAX_PREFIXES = 10
"""
Bounds of a request about parameters.

They are, in this order, the largest number of parameters in a request to get or describe them, the
largest number in a request to set them, how many of the latter may change, and the largest number
of prefixes in a request to list them.  ``ros2 param dump`` gets all parameters at once.
"""

MAX_NAME_CHARACTERS = 1000
"""Largest length of the name of a parameter, of a payload and of its link [characters]."""

MAX_TEXT_CHARACTERS = 1000
MAX_ELEMENTS = 1000
MAX_LIST_CHARACTERS = 20_000
"""
Largest lengths of the value of a parameter.

They are, in this order, the length of a text and of each text in a list [characters], the length
of a list [elements], and the length of all texts in a list together [characters].  The parameter
robot_description may have :data:`MAX_DESCRIPTION_BYTES`.
"""

MAX_FILLED_POINTS = 100_000
"""Largest number of points in a trajectory that is to be filled with efforts."""


def check_description_size(size: int) -> None:
    """
    Check the size of a robot description [bytes], or characters.

    :raises DescriptionError: where it is larger than :data:`MAX_DESCRIPTION_BYTES`.
    """
    if size > MAX_DESCRIPTION_BYTES:
        raise DescriptionError(
            f'the description has {size} bytes; at most {MAX_DESCRIPTION_BYTES} are accepted')


def check_description(description: RobotDescription) -> None:
    """
    Check the number of links and joints.

    :raises DescriptionError: where there are more than :data:`MAX_LINKS` or :data:`MAX_JOINTS`.
    """
    moving = sum(joint.type.moves for joint in description.joints)
    for number, what, most in (
            (len(description.links), 'links', MAX_LINKS),
            (moving, 'joints that are not fixed', MAX_JOINTS)):
        if number > most:
            raise DescriptionError(
                f'the description has {number} {what}; at most {most} are accepted')


def check_parameter(name: str, value: Any) -> None:
    """
    Check the length of a parameter's name and value, before anything reads them.

    :param value: in its ROS type, whichever that is; None: there is none.
    :raises ArgumentError: naming the parameter, the length and the bound.
    """
    check_name('the name of a parameter', name)
    if isinstance(value, str):
        most = MAX_DESCRIPTION_BYTES if name == 'robot_description' else MAX_TEXT_CHARACTERS
        _check_length(name, len(value), 'characters', most)
    elif hasattr(value, '__len__'):
        _check_length(name, len(value), 'elements', MAX_ELEMENTS)
        lengths = [len(text) for text in value if isinstance(text, str)]
        _check_length(name, sum(lengths), 'characters', MAX_LIST_CHARACTERS)
        _check_length(f'an element of {name}', max(lengths, default=0), 'characters',
                      MAX_TEXT_CHARACTERS)


def check_name(what: str, name: str) -> None:
    """
    Check the length of a name.

    :raises ArgumentError: where it is longer than :data:`MAX_NAME_CHARACTERS`.
    """
    _check_length(what, len(name), 'characters', MAX_NAME_CHARACTERS)


def _check_length(what: str, length: int, unit: str, most: int) -> None:
    if length > most:
        raise ArgumentError(f'{what} has {length} {unit}; at most {most} are accepted')
