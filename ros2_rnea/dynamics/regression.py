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
(:mod:`ros2_rnea.dynamics.regressor`), columns of the joint's own
(:mod:`ros2_rnea.dynamics.joint_regressor`), the effort of the model and the measured effort.
Together they share the kinematics, and nothing is computed that is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import hashlib

from ros2_rnea.dynamics.joint_regressor import JOINT_COLUMNS
from ros2_rnea.dynamics.quantities import inverse_dynamics
from ros2_rnea.dynamics.quantity_definition import ALL, DynamicsInputs, Numbers, Quantity, WRENCHES
from ros2_rnea.dynamics.regressor import regressor
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Number


PLAIN = frozenset({'viscous', 'coulomb', 'offset', 'rotor_inertia'})
"""Those of :data:`.JOINT_COLUMNS` that need no speed of the recording."""

Row = tuple[tuple[int, ...], tuple[str, ...]]
"""Columns of the regressor, and names of other columns; zeros for those that are not PLAIN."""


def regression(rows: Sequence[Row]) -> Quantity:
    """
    Return the rows of all velocity coordinates, one after the other, as one quantity.

    Each is followed by the effort of the model and the measured one, its input ``tau``.

    :param rows: by velocity coordinate.
    """
    rows = tuple(rows)
    name = hashlib.sha256(repr(rows).encode()).hexdigest()
    return Quantity(
        f'regression {name}', ('q', 'qd', 'qdd', 'tau'), functools.partial(_shape, rows),
        functools.partial(_numbers, rows), tuple(one for one in ALL if one != WRENCHES),
        same_for_equal_efforts=False, is_method=False)


def _shape(rows: tuple[Row, ...], tree: Tree) -> tuple[int]:
    return (sum(len(columns) + len(others) + 2 for columns, others in rows),)


def _numbers(rows: tuple[Row, ...], tree: Tree, given: DynamicsInputs) -> Numbers:
    Y = regressor(tree, given.q, given.qd, given.qdd, given.gravity)
    before = inverse_dynamics(tree, given)
    numbers: list[Number] = []
    for i, (columns, others) in enumerate(rows):
        numbers += [Y[i][column] for column in columns]
        numbers += [JOINT_COLUMNS[name](given.qd[i], given.qdd[i], 0.0) if name in PLAIN else 0.0
                    for name in others]
        numbers += [before[i], given.tau[i]]
    return numbers
