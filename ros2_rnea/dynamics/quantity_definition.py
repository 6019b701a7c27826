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
"""What a quantity is that can be asked of a robot: its inputs, its shape, how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Force, Number, Vector, ZERO

Numbers = Any
"""Numbers in nested lists: a vector, or a matrix by rows."""

# What may enter a quantity besides the motion and the parameters of joints.
GRAVITY_FIELD = 'gravity'
INERTIA = 'inertia'
WRENCHES = 'f_ext'

ALL = (GRAVITY_FIELD, INERTIA, *JOINT_PARAMETERS, WRENCHES)


def vector(tree: Tree) -> tuple[int]:
    """Return the shape of efforts and accelerations."""
    return (tree.nv,)


def matrix(tree: Tree) -> tuple[int, int]:
    """Return the shape of the mass matrix and its like."""
    return (tree.nv, tree.nv)


@dataclass(frozen=True)
class DynamicsInputs:
    """
    What quantities are computed from: joint vectors and what acts from outside.

    :ivar gravity: acceleration of free fall in the base's axes [m/s^2].
    :ivar f_ext: wrenches that the environment applies, by body, in the body's frame.
    """

    q: Sequence[Number] = ()
    qd: Sequence[Number] = ()
    qdd: Sequence[Number] = ()
    tau: Sequence[Number] = ()
    gravity: Vector = ZERO
    f_ext: Mapping[int, Force] = field(default_factory=dict)


@dataclass(frozen=True)
class Quantity:
    """
    Something that can be asked of a robot.

    :ivar inputs: the vectors it depends on, by their names in :class:`DynamicsInputs`.
    :ivar shape: of the result for one state.
    :ivar depends_on: what enters it besides the motion, out of ``ALL``.
    :ivar same_for_equal_efforts: every tree that needs the same efforts gives the same result.
    :ivar largest_plausible: results beyond this are checked again, and so is NaN.
    :ivar is_method: whether a robot has a method of the same name for it.
    """

    name: str
    inputs: tuple[str, ...]
    shape: Callable[[Tree], tuple[int, ...]]
    compute: Callable[[Tree, DynamicsInputs], Numbers]
    depends_on: tuple[str, ...] = ()
    same_for_equal_efforts: bool = True
    largest_plausible: float = inf
    is_method: bool = True
