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
"""The names, sizes and positions of a robot: what needs its tree but no mechanics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike
from ros2_rnea.dynamics import configuration
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.tree import Body, Tree
from ros2_rnea.robots.arguments import Array, BatchArguments, floats


class Coordinates:
    """
    What the vectors of a robot are made of.

    They are in the order of ``joint_names``, which is depth first from the root link with children
    in the description's order; mimic joints have no place of their own.  Revolute, continuous,
    prismatic and helical joints take one position and one velocity, a cylindrical one two (turn,
    slide).  A floating joint takes q = (x, y, z, qx, qy, qz, qw) and v = (angular; linear) in body
    axes, a spherical one the angular part of both, a planar one q = (x, y, theta) and
    v = (vx, vy, omega) in body axes.  SI units.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @property
    def tree(self) -> Tree:
        """Return the tree of rigid bodies behind this robot, payloads included."""
        return self._tree

    @property
    def name(self) -> str:
        """Return the name that the description gives."""
        return self._tree.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the independent moving joints, in the order of all vectors."""
        return tuple(self._tree.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Return all links, the root link first, depth first."""
        return tuple(self._tree.links)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Return the links whose frames are the bodies', one for each moving joint, in order."""
        return tuple(body.link for body in self._tree.bodies)

    @property
    def nq(self) -> int:
        """Return the length of a position vector."""
        return self._tree.nq

    @property
    def nv(self) -> int:
        """Return the length of velocity, acceleration and effort vectors."""
        return self._tree.nv

    @property
    def effort_limits(self) -> Array:
        """Return the largest magnitude of each effort, shape (nv,) [Nm or N]; infinite if none."""
        return self._tree.effort_limits

    @property
    def velocity_limits(self) -> Array:
        """Return the largest speeds, shape (nv,) [rad/s or m/s]; infinite if none."""
        limits = np.full(self.nv, np.inf)
        for body in self._bodies_of_one_coordinate():
            limits[body.v_index] = body.limits.velocity
        return limits

    @property
    def position_limits(self) -> Array:
        """Return the lower and the upper limits, shape (2, nq) [rad or m]; infinite if none."""
        limits = np.full((2, self.nq), np.inf)
        limits[0] = -np.inf
        for body in self._bodies_of_one_coordinate():
            if body.type.is_bounded:
                limits[:, body.q_index] = body.limits.lower, body.limits.upper
        return limits

    @property
    def mass(self) -> float:
        """Return the mass that moves, payloads included [kg]: without the link of a fixed base."""
        return float(sum(body.inertia.m for body in self._tree.bodies))

    # ---- positions ------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """Return the position at which every joint is at its origin, shape (nq,)."""
        return np.array(configuration.neutral(self._tree))

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return where velocity v (nv,), held for a unit of time, leads from q (nq,)."""
        call = self._single(q=q, qd=v)
        return np.array(configuration.integrate(self._tree, call.q, call.qd))

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        """Return the velocity (nv,) that leads from start to end in a unit of time."""
        one, other = self._single(q=start), self._single(q=end)
        return np.array(configuration.difference(self._tree, one.q, other.q))

    def positions_by_joint(self, q: ArrayLike) -> dict[str, list[float]]:
        """Return each joint's own coordinates from a position vector (nq,)."""
        return configuration.positions_by_joint(self._tree, self._single(q=q).q)

    def velocities_by_joint(self, v: ArrayLike) -> dict[str, list[float]]:
        """Return each joint's own numbers from velocities, accelerations or efforts (nv,)."""
        return configuration.velocities_by_joint(self._tree, self._single(qd=v).qd)

    def flat(self, by_joint: Mapping[str, ArrayLike]) -> Array:
        """
        Return the vector of all joints' own numbers, given by name: positions or velocities.

        :raises ArgumentError: where a joint is missing or unknown, or has not as many as it needs.
        """
        lists = {name: np.atleast_1d(floats(f'joint {name!r}', values)).tolist()
                 for name, values in by_joint.items()}
        return np.array(configuration.flat(self._tree, lists))

    def _bodies_of_one_coordinate(self) -> Iterator[Body]:
        """Yield the bodies whose joints have limits; mimic joints have the position of another."""
        for index in self._tree.joints.values():
            if self._tree.bodies[index].type.nv == 1:
                yield self._tree.bodies[index]

    def _single(self, **vectors: ArrayLike) -> BatchArguments:
        call = BatchArguments(self._tree, **vectors).check_quaternions()
        if call.rows is not None:
            raise ArgumentError('positions are added and split one at a time, not in rows')
        return call
