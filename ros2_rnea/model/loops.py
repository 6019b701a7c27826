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
Joints that close a robot's loops: plain data, from code or a YAML file next to the URDF.

URDF describes trees only; this is what it leaves out::

    loops:
      - name: pin
        type: revolute
        link1: coupler
        link2: rocker
        origin1: {xyz: [0.8, 0, 0]}
        origin2: {xyz: [0.6, 0, 0], rpy: [0, 0, 0]}
        axis: [0, 0, 1]
    actuated: [crank_joint]
    tolerance: 1e-6

A loop needs ``name``, ``type``, ``link1`` and ``link2``; all else is optional, with the defaults
of :class:`Loop` and :class:`ClosedChain`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ros2_rnea.model.description import JointType, Pose, Triple
from ros2_rnea.model.strict_yaml import read_yaml, Value

TOLERANCE = 1e-6
"""Default of how far a loop may be open [rad, m]."""

_TYPES = {kind.label: kind for kind in JointType if kind.closes_loops}


@dataclass(frozen=True)
class Loop:
    """
    What closes a loop: a joint between two links that the tree does not join directly.

    Frame 1 stands at ``origin1`` in link 1's frame, frame 2 at ``origin2`` in link 2's.  The joint
    lets frame 2 move in frame 1 as a joint of that type lets a child move in URDF; a fixed one
    holds the two frames together.  ``axis`` is in both frames and need not be of unit length.
    Any type but helical, whose turns a position does not tell, and floating, which closes nothing.
    """

    name: str
    link1: str
    link2: str
    type: JointType = JointType.FIXED  # noqa: A003 (the name that URDF gave it)
    origin1: Pose = Pose()
    origin2: Pose = Pose()
    axis: Triple = (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class LoopsDescription:
    """
    What makes a closed chain of a tree.

    :ivar actuated: names of the joints that have an actuator; None for all.
    :ivar tolerance: how far a loop may be open [rad, m].
    """

    loops: tuple[Loop, ...]
    actuated: tuple[str, ...] | None = None
    tolerance: float = TOLERANCE


def parse_loops(text: str) -> LoopsDescription:
    """
    Read what closes the loops of a robot.

    :param text: YAML, as the head of this module shows it.
    :return: what it says, in its order; whether it fits a robot is not known here.
    :raises DescriptionError: naming the loop, the key, the line, and what is needed there.
    """
    root = read_yaml(text, 'the description of loops')
    found = root.by_key(['loops'], ['actuated', 'tolerance'])
    loops = tuple(_loop(value, number)
                  for number, value in enumerate(found['loops'].items(), start=1))
    actuated, tolerance = found.get('actuated'), found.get('tolerance')
    return LoopsDescription(
        loops,
        None if actuated is None else tuple(value.name() for value in actuated.items()),
        TOLERANCE if tolerance is None else tolerance.number())


def _loop(value: Value, number: int) -> Loop:
    name = value.peek('name')
    found = value.of(f'loop {name!r}' if name else f'loop number {number}').by_key(
        ['name', 'type', 'link1', 'link2'], ['origin1', 'origin2', 'axis'])
    return Loop(
        name=found['name'].name(),
        link1=found['link1'].name(),
        link2=found['link2'].name(),
        type=_type(found['type']),
        origin1=_pose(found['origin1']) if 'origin1' in found else Loop.origin1,
        origin2=_pose(found['origin2']) if 'origin2' in found else Loop.origin2,
        axis=found['axis'].triple() if 'axis' in found else Loop.axis)


def _type(value: Value) -> JointType:
    if value.text() not in _TYPES:
        raise value.refused(
            f'one of {", ".join(_TYPES)} is needed; fixed holds frames rigidly together')
    return _TYPES[value.text()]


def _pose(value: Value) -> Pose:
    found = value.by_key([], ['xyz', 'rpy'])
    return Pose(**{key: triple.triple() for key, triple in found.items()})
