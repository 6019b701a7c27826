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
A robot in KDL's terms, for PyKDL and for KDL in C++: of chains only.

The chain is put together from our tree, whose fixed joints are lumped already: its solver is
spared them.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmark.errors import Absent
from benchmark.problem import Problem
import numpy as np
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import Body


class Segment(NamedTuple):
    """
    A body with its joint.

    :ivar axis: of the joint, in the axes of the body.
    :ivar position: of the joint in the parent body [m].
    :ivar rotation: from the axes of the body to those of the parent, row by row.
    :ivar center: of mass [m].
    :ivar inertia: xx, yy, zz, xy, xz and yz about the centre of mass [kg m^2].
    """

    link: str
    joint: str
    prismatic: bool
    axis: tuple[float, ...]
    position: tuple[float, ...]
    rotation: tuple[float, ...]
    mass: float
    center: tuple[float, ...]
    inertia: tuple[float, ...]


def segments(problem: Problem) -> list[Segment]:
    """
    Return the segments of a chain, beginning at its base.

    :raises Absent: where the robot is no chain on a fixed base.
    """
    bodies = problem.robot.tree.bodies
    if problem.floating_base or any(body.parent != i - 1 for i, body in enumerate(bodies)):
        raise Absent('its inverse dynamics is of chains on a fixed base only')
    return [_segment(body) for body in bodies]


def _segment(body: Body) -> Segment:
    X, inertia = body.X_tree, body.inertia
    h = np.array(list(inertia.h))
    origin = np.array([list(row) for row in inertia.I_origin.rows])
    I = origin - (h @ h * np.eye(3) - np.outer(h, h)) / inertia.m  # noqa: E741
    return Segment(
        body.link, body.joint, body.type is JointType.PRISMATIC, tuple(body.axis), tuple(X.r),
        tuple(number for row in X.E.T.rows for number in row), inertia.m,
        tuple(h / inertia.m), (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
