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
Loops that joints outside the tree close (RBDA chapter 8): what they forbid and what they carry.

A loop joint leads from a frame 1, fixed to its predecessor link, to a frame 2, fixed to its
successor.  It lets frame 2 move, seen from frame 1, along the columns of S and forbids the rest:
Tᵀ (v_2 − v_1) = 0, where the columns of T span what S does not (section 8.2).  All is in frame 2,
in which S and T are constant.  Velocities that keep all loops closed satisfy K q̇ = 0,
accelerations K q̈ = k, and the loops' forces λ act on the joints as Kᵀ λ (section 8.1).

Loops may forbid the same thing twice, as a planar four-bar does whose pin also forbids what its
parallel axes forbid already.  Which directions count is decided here, on floats, once a state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ros2_rnea.dynamics.jacobian import link_jacobian, link_motion
from ros2_rnea.dynamics.joints import JointModel
from ros2_rnea.dynamics.kinematics import body_transforms, link_transform
from ros2_rnea.dynamics.rotations import rotation_vector_from_quaternion
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Matrix, Motion, Transform

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LoopJoint:
    """
    A joint that closes a loop.

    :ivar predecessor: the link that carries frame 1.
    :ivar successor: the link that carries frame 2.
    :ivar X_to_1: from the predecessor's frame to frame 1.
    :ivar X_to_2: from the successor's frame to frame 2.
    :ivar model: of the joint.  Projected on S, the displacement between the frames has to be the
        joint's position but for a shift that is free; so it is for all types but the helical one.
    """

    predecessor: str
    successor: str
    X_to_1: Transform
    X_to_2: Transform
    model: JointModel

    @property
    def S(self) -> Array:  # noqa: N802 (the source's symbol)
        """Return the directions of free motion, shape (6, nv)."""
        return np.array([list(column) for column in self.model.S]).reshape(-1, 6).T

    @property
    def T(self) -> Array:  # noqa: N802
        """Return an orthonormal base of the forces that S leaves no power, shape (6, 6 − nv)."""
        directions, _, _ = np.linalg.svd(self.S, full_matrices=True)
        return directions[:, len(self.model.S):]


# ---- one loop -----------------------------------------------------------------------------------


def position_error(tree: Tree, q: Sequence[float], loop: LoopJoint) -> Array:
    """
    Return how far a loop is open after its joint has turned and moved to close it.

    :param q: joint positions, nq numbers [rad or m].
    :return: turn and shift that are left, in the axes of frame 1 as the joint has turned them,
        which are frame 2's where the loop is closed, shape (6,) [rad, m].
    """
    apart = _displacement(_X_1_to_2(tree, q, loop))
    moved = loop.model.integrate(loop.model.neutral(), loop.S.T @ apart)
    left = _displacement(_X_1_to_2(tree, q, loop) @ loop.model.transform(moved).inverse())
    return _forbidden(loop, left)


def velocity_error(
        tree: Tree, q: Sequence[float], qd: Sequence[float], loop: LoopJoint) -> Array:
    """
    Return how fast a loop opens: T Tᵀ (v_2 − v_1), shape (6,) [rad/s, m/s].

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    """
    v_1, _, v_2, _ = _frame_motions(tree, q, qd, loop)
    return _forbidden(loop, _array(v_2 - v_1))


def constraint(
        tree: Tree,
        q: Sequence[float],
        qd: Sequence[float],
        loop: LoopJoint) -> tuple[Array, Array]:
    """
    Return K and k of one loop: K q̈ = k keeps it closed (RBDA sections 8.2 and 8.7).

    T moves with frame 2, so the rate of Tᵀ (v_2 − v_1) is Tᵀ (a_2 − a_1 + v_2 × v_1).

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    :return: K of shape (6 − the joint's nv, nv), and k with one number a row.
    """
    X_1_to_2 = _X_1_to_2(tree, q, loop)
    J_1 = [X_1_to_2 @ loop.X_to_1 @ column for column in link_jacobian(tree, q, loop.predecessor)]
    J_2 = [loop.X_to_2 @ column for column in link_jacobian(tree, q, loop.successor)]
    K = loop.T.T @ np.array([list(two - one) for one, two in zip(J_1, J_2)]).reshape(-1, 6).T
    v_1, a_1, v_2, a_2 = _frame_motions(tree, q, qd, loop)
    return K, -loop.T.T @ _array(a_2 - a_1 + v_2.cross(v_1))


def _frame_motions(
        tree: Tree, q: Sequence[float], qd: Sequence[float], loop: LoopJoint,
        ) -> tuple[Motion, Motion, Motion, Motion]:
    """Return v_1, a_1, v_2, a_2 without joint accelerations, all in frame 2."""
    rest = [0.0] * tree.nv
    one = link_motion(tree, q, qd, rest, loop.predecessor)
    two = link_motion(tree, q, qd, rest, loop.successor)
    X_link_1_to_2 = _X_1_to_2(tree, q, loop) @ loop.X_to_1
    return (X_link_1_to_2 @ one.velocity, X_link_1_to_2 @ one.acceleration,
            loop.X_to_2 @ two.velocity, loop.X_to_2 @ two.acceleration)


def _X_1_to_2(tree: Tree, q: Sequence[float], loop: LoopJoint) -> Transform:  # noqa: N802
    X = body_transforms(tree, q)
    X_base_to_1 = loop.X_to_1 @ link_transform(tree, X, loop.predecessor)
    X_base_to_2 = loop.X_to_2 @ link_transform(tree, X, loop.successor)
    return X_base_to_2 @ X_base_to_1.inverse()


def _displacement(X: Transform) -> Array:
    """Return how a frame stands in another, in that one's axes: rotation vector and position."""
    return np.array([*rotation_vector_from_quaternion(_quaternion(X.E.T)), *X.r])


def _quaternion(rotation: Matrix) -> list[float]:
    """Return (x, y, z, w): 4 q qᵀ is known from the matrix; its largest row tells q best."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (list(row) for row in rotation.rows)
    outer_4 = np.array([
        [1.0 + xx - yy - zz, xy + yx, xz + zx, zy - yz],
        [xy + yx, 1.0 - xx + yy - zz, yz + zy, xz - zx],
        [xz + zx, yz + zy, 1.0 - xx - yy + zz, yx - xy],
        [zy - yz, xz - zx, yx - xy, 1.0 + xx + yy + zz]])
    row = outer_4[np.argmax(np.diag(outer_4))]
    return (row / np.linalg.norm(row)).tolist()


def _forbidden(loop: LoopJoint, motion: Array) -> Array:
    return loop.T @ (loop.T.T @ motion)


def _array(motion: Motion) -> Array:
    return np.array(list(motion))


# ---- all loops together -------------------------------------------------------------------------


class SplitMap:
    """
    A matrix A, split by its singular values into what it does and what it does not.

    Of the constraints K of all loops, the kernel N is the velocities that keep the loops closed.

    :ivar kernel: orthonormal columns x with A x = 0.
    :ivar unreached: orthonormal columns that are at a right angle to all A x.
    """

    def __init__(self, A: Array, tolerance: float) -> None:  # noqa: N803
        """Count singular values above the tolerance as doing something."""
        U, s, Vt = np.linalg.svd(A, full_matrices=True)
        rank = int(np.sum(s > tolerance))
        self._U, self._s, self._V = U[:, :rank], s[:rank], Vt[:rank].T
        self.kernel, self.unreached = Vt[rank:].T, U[:, rank:]

    def solve(self, right: Array) -> Array:
        """Return the smallest x that brings A x nearest to ``right``."""
        return self._V @ ((self._U.T @ right) / self._s)

    def solve_transposed(self, right: Array) -> Array:
        """Return the smallest y that brings Aᵀ y nearest to ``right``."""
        return self._U @ ((self._V.T @ right) / self._s)


def split_actuation(constraints: SplitMap, actuated: Sequence[int], tolerance: float) -> SplitMap:
    """
    Return the map from actuated efforts to the efforts along the freedoms, Nᵀ with columns chosen.

    Its kernel is the efforts that only strain the loops; what it does not reach is the freedoms
    that no actuator moves (RBDA section 8.12, with the constraints' kernel N for G).
    """
    return SplitMap(constraints.kernel.T[:, actuated], tolerance)


def closed_inverse_dynamics(
        constraints: SplitMap,
        actuation: SplitMap,
        actuated: Sequence[int],
        tau: Array) -> tuple[Array, Array, Array]:
    """
    Return the actuated efforts u and loop forces λ with B u + Kᵀ λ = τ (RBDA section 8.12).

    λ has no power along the freedoms, so Nᵀ B u = Nᵀ τ gives u.  Where u or λ has many solutions,
    it is the smallest.

    :param actuated: the places that B puts u in.
    :param tau: the efforts that the motion needs of the open tree, shape (nv,).
    :return: u, λ, and the efforts that are left where no actuator is, shape (nv,).
    """
    N = constraints.kernel
    u = actuation.solve(N.T @ tau)
    left = tau.copy()
    left[actuated] -= u
    return u, constraints.solve_transposed(left), N @ (N.T @ left)


def closed_forward_dynamics(
        constraints: SplitMap,
        k: Array,
        M: Array,  # noqa: N803
        tau: Array) -> tuple[Array, Array]:
    """
    Return q̈ and λ of M q̈ = τ + Kᵀ λ, K q̈ = k (RBDA section 8.5).

    q̈ is the smallest solution of K q̈ = k and what τ adds along the freedoms N, where λ has no
    power; λ then is the smallest that makes up for the rest.

    :param M: of the open tree, shape (nv, nv).
    :param tau: efforts less those that keep the open tree's velocity as it is, shape (nv,).
    :raises numpy.linalg.LinAlgError: where a freedom moves nothing that has inertia.
    """
    N = constraints.kernel
    qdd = constraints.solve(k)
    qdd = qdd + N @ np.linalg.solve(N.T @ M @ N, N.T @ (tau - M @ qdd))
    return qdd, constraints.solve_transposed(M @ qdd - tau)
