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
The rows of a regression: what a fit needs of a motion, computed together.

For each velocity coordinate a row has chosen columns of the regressor
(:mod:`ros2_rnea.dynamics.regressor`), the effort of the model and the measured effort.  Together
they share the kinematics, and nothing is computed that is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import functools
import hashlib

from ros2_rnea.dynamics.quantities import inverse_dynamics
from ros2_rnea.dynamics.quantity_definition import ALL, DynamicsInputs, Numbers, Quantity, WRENCHES
from ros2_rnea.dynamics.regressor import regressor
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Number


@dataclass(frozen=True)
class RegressionRow:
    """
    The row of one velocity coordinate, followed by the model's effort and the measured one.

    :ivar inertial: columns of the regressor.
    :ivar blanks: how many zeros follow, for columns that need no kinematics.
    """

    inertial: tuple[int, ...]
    blanks: int

    @property
    def width(self) -> int:
        """Return how many numbers the row has, both efforts included."""
        return len(self.inertial) + self.blanks + 2


def regression(rows: Sequence[RegressionRow]) -> Quantity:
    """
    Return the rows of all velocity coordinates, one after the other, as one quantity.

    :param rows: by velocity coordinate.  Its input ``tau`` is the measured effort.
    """
    rows = tuple(rows)
    name = hashlib.sha256(repr(rows).encode()).hexdigest()
    return Quantity(
        f'regression {name}', ('q', 'qd', 'qdd', 'tau'), functools.partial(_shape, rows),
        functools.partial(_numbers, rows), tuple(one for one in ALL if one != WRENCHES),
        same_for_equal_efforts=False, is_method=False)


def _shape(rows: tuple[RegressionRow, ...], tree: Tree) -> tuple[int]:
    return (sum(row.width for row in rows),)


def _numbers(rows: tuple[RegressionRow, ...], tree: Tree, given: DynamicsInputs) -> Numbers:
    Y = regressor(tree, given.q, given.qd, given.qdd, given.gravity)
    before = inverse_dynamics(tree, given)
    numbers: list[Number] = []
    for i, row in enumerate(rows):
        numbers += [Y[i][column] for column in row.inertial]
        numbers += [0.0] * row.blanks
        numbers += [before[i], given.tau[i]]
    return numbers
