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
"""Quantities of a robot's state: poses and motions of its links, energy and momentum."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike
from ros2_rnea.dynamics import energy, jacobian
from ros2_rnea.dynamics.kinematics import body_transforms, link_rotation, link_transform
from ros2_rnea.model.tree import Tree
from ros2_rnea.robots.arguments import Array, BatchArguments, check_link, checked_gravity
from ros2_rnea.robots.coordinates import Coordinates
from ros2_rnea.robots.results import LinkMotion, LinkPose


class Observables(Coordinates):
    """
    What can be asked of a state without asking for an effort, always answered by the textbook.

    :param tree: of the robot, payloads included.
    :param gravity: acceleration of free fall in the world's axes; None for the standard one.
    """

    def __init__(self, tree: Tree, gravity: ArrayLike | None = None) -> None:
        super().__init__(tree)
        self._gravity = checked_gravity(gravity)

    @property
    def free_fall(self) -> tuple[float, float, float]:
        """Return gravity: the acceleration of free fall in the world's axes [m/s^2]."""
        x, y, z = self._gravity
        return x, y, z

    # ---- links ----------------------------------------------------------------------------------

    def link_motion(
            self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str) -> LinkMotion:
        """Return how a link moves, physically; with q̈ = 0 its acceleration is J̇ q̇."""
        check_link(self._tree, link)
        with self._call(q=q, qd=qd, qdd=qdd) as call:
            v, a, linear = jacobian.link_motion(self._tree, call.q, call.qd, call.qdd, link)
            return LinkMotion(
                call.result(list(v), 6), call.result(list(a), 6), call.result(list(linear), 3))

    def link_rotation(self, q: ArrayLike, link: str) -> Array:
        """
        Return R with v_world = R v_link, the link's axes as columns, shape (3, 3) or (N, 3, 3).

        The world's axes are those of the root link, unless the base floats.
        :meth:`link_poses` returns the rotations and positions of all links at once.

        :param q: positions, shape (nq,) or (N, nq).
        """
        check_link(self._tree, link)
        with self._call(q=q) as call:
            axes = link_rotation(self._tree, call.q, link)
            return call.result([list(row) for row in axes.rows], 3, 3)

    def link_poses(
            self, q: ArrayLike, links: Iterable[str] | None = None) -> dict[str, LinkPose]:
        """
        Return where links are in the world, by name.

        :param q: positions, shape (nq,) or (N, nq); rotations then have shape (N, 3, 3).
        :param links: of these links; None: of all.
        """
        poses, links = {}, self._tree.links if links is None else links
        with self._call(q=q) as call:
            X_base_to_body = body_transforms(self._tree, call.q)
            for link in links:
                check_link(self._tree, link)
                X = link_transform(self._tree, X_base_to_body, link)
                axes = [list(row) for row in X.E.T.rows]
                poses[link] = LinkPose(call.result(axes, 3, 3), call.result(list(X.r), 3))
        return poses

    # ---- the whole robot ------------------------------------------------------------------------

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> float | Array:
        """Return half of q̇ᵀ M q̇ [J], one number or shape (N,)."""
        with self._call(q=q, qd=qd) as call:
            return call.scalar(energy.kinetic_energy(self._tree, call.q, call.qd))

    def potential_energy(
            self, q: ArrayLike, gravity: ArrayLike | None = None) -> float | Array:
        """
        Return the energy of the moving weight and of the springs of joints [J].

        It is zero with the weight at the world's origin and all springs relaxed.
        """
        with self._call(gravity, q=q) as call:
            return call.scalar(energy.potential_energy(self._tree, call.q, call.gravity))

    def center_of_mass(self, q: ArrayLike) -> Array:
        """Return the centre of the moving mass in the world [m], shape (3,) or (N, 3)."""
        with self._call(q=q) as call:
            return call.result(list(energy.center_of_mass(self._tree, call.q)), 3)

    def momentum(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return [angular; linear] momentum about the world's origin, shape (6,) or (N, 6)."""
        with self._call(q=q, qd=qd) as call:
            return call.result(list(energy.momentum(self._tree, call.q, call.qd)), 6)

    def _call(self, gravity: ArrayLike | None = None, **vectors: ArrayLike) -> BatchArguments:
        gravity = self._gravity if gravity is None else gravity
        return BatchArguments(self._tree, gravity, **vectors).check_quaternions()
