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
Oracle: Lagrange's equations, with derivatives exact to rounding.

M(q) = sum of m Jv^T Jv + Jw^T R I R^T Jw, the Christoffel symbols of M by a complex step (the
imaginary part of M(q + i h e_k) / h, which for h = 1e-30 has no truncation and no cancellation)
and g(q) = dP/dq.  For trees of revolute, continuous, prismatic and fixed joints.
"""

from __future__ import annotations

import numpy as np
from rotations import rotation_about, rotation_from_rpy, skew

STEP = 1e-30
GRAVITY = np.array([0.0, 0.0, -9.81])


def complex_step(function, x, direction):
    """Return the derivative of an analytic function at x along a direction."""
    x = np.asarray(x, dtype=complex)
    return np.imag(function(x + 1j * STEP * np.asarray(direction))) / STEP


class Lagrangian:
    """The equations of motion of a robot of which each joint has at most one coordinate."""

    def __init__(self, robot, gravity=GRAVITY):
        self._robot = robot
        self._joints = robot.depth_first()
        self._columns = {column.name: column.v.start for column in robot.columns()}
        self._gravity = np.asarray(gravity)
        self.size = len(self._columns)

    def link_poses(self, q):
        """Return for each link R (link axes to world axes), p, and its geometric Jacobian."""
        root = self._robot.root()
        poses = {root: (np.eye(3), np.zeros(3), np.zeros((6, self.size)))}
        for joint in self._joints:
            R, p, J = poses[joint.parent]
            p = p + R @ joint.xyz
            R = R @ rotation_from_rpy(joint.rpy)
            # The column of an earlier joint turns everything beyond it about a point: move the
            # linear part from the parent's origin to the joint's.
            J = _moved(J, p - poses[joint.parent][1])
            if joint.kind != 'fixed':
                column = self._columns[joint.name]
                axis = R @ joint.axis
                if joint.kind == 'prismatic':
                    J = _moved(J, axis * q[column])
                    p = p + axis * q[column]
                    J[:, column] = np.concatenate([np.zeros(3), axis])
                else:
                    R = R @ rotation_about(joint.axis, q[column])
                    J[:, column] = np.concatenate([axis, np.zeros(3)])
            poses[joint.child] = (R, p, J)
        return poses

    def _bodies(self, q):
        """Return for each link its mass, centre of mass, Jacobian there, and world inertia."""
        for name, (R, p, J) in self.link_poses(q).items():
            link = self._robot.link(name)
            lever = R @ link.com
            inertia = R @ link.inertia_in_link_axes() @ R.T
            yield link.mass, p + lever, _moved(J, lever), inertia

    def mass_matrix(self, q):
        """Return M(q)."""
        M = np.zeros((self.size, self.size))
        for mass, _, J, inertia in self._bodies(q):
            M = M + mass * J[3:].T @ J[3:] + J[:3].T @ inertia @ J[:3]
        return M

    def potential_energy(self, q):
        """Return P(q), zero at the world's origin."""
        return -sum(mass * self._gravity @ com for mass, com, _, _ in self._bodies(q))

    def kinetic_energy(self, q, qd):
        """Return K(q, qd)."""
        return qd @ self.mass_matrix(q) @ qd / 2.0

    def gravity_effort(self, q):
        """Return g(q) = dP/dq."""
        return -sum(mass * J[3:].T @ self._gravity for mass, _, J, _ in self._bodies(q))

    def mass_matrix_derivatives(self, q):
        """Return dM[i, j, k] = d M_ij / d q_k."""
        return np.stack([complex_step(self.mass_matrix, q, unit) for unit in np.eye(self.size)],
                        axis=-1)

    def christoffel(self, q):
        """Return the symbols of the first kind, Gamma[i, j, k]."""
        dM = self.mass_matrix_derivatives(q)
        return (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 1, 0)) / 2.0

    def coriolis_matrix(self, q, qd):
        """Return C(q, qd) from the Christoffel symbols."""
        return self.christoffel(q) @ qd

    def inverse_dynamics(self, q, qd, qdd, f_ext=None):
        """Return M qdd + C qd + g - J^T f_ext; ``f_ext`` by link, in the link's frame."""
        tau = (self.mass_matrix(q) @ qdd + self.coriolis_matrix(q, qd) @ qd
               + self.gravity_effort(q))
        poses = self.link_poses(q)
        for name, wrench in (f_ext or {}).items():
            R, _, J = poses[name]
            tau = tau - J[:3].T @ (R @ wrench[:3]) - J[3:].T @ (R @ wrench[3:])
        return tau


def _moved(J, lever):
    """Return the Jacobian of the point that stands at ``lever`` from the point of J."""
    return np.vstack([J[:3], J[3:] - skew(lever) @ J[:3]])
