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
Oracle: Pinocchio, behind our conventions.

Pinocchio orders children by name, puts [linear; angular], gives a continuous joint (cos, sin) and
a planar one (x, y, cos, sin), leaves mimic out unless told, and leaves friction out of ``rnea``.
Its joints are found by name; q̇ of Pinocchio = G q̇ of ours, mimics included.
"""

from __future__ import annotations

import numpy as np
import pinocchio
from robot_data import FLOATING_BASE
from urdf_coordinates import over_rows, SWAP, UrdfCoordinates

# (m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) -> (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz)
PARAMETERS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
GRAVITY = (0.0, 0.0, -9.81)


class PinocchioOracle(UrdfCoordinates):
    """The dynamics of a URDF in our conventions, computed by Pinocchio; one state or rows."""

    def __init__(self, urdf, floating_base=False):
        super().__init__(urdf, floating_base)
        if floating_base:
            self.model = pinocchio.buildModelFromXML(
                urdf, pinocchio.JointModelFreeFlyer(), FLOATING_BASE)
        else:
            self.model = pinocchio.buildModelFromXML(urdf)
        self._data = self.model.createData()
        self._link_up_joints()

    def _link_up_joints(self):
        """Build G; find for each of Pinocchio's joints the column that moves it."""
        self._G = np.zeros((self.model.nv, self.nv))
        self._sources, self._joint_ids = [], []
        for name, kind in self.kinds.items():
            column, multiplier, offset = self.source(name)
            index = self.model.getJointId(name)
            joint = self.model.joints[index]
            rows = np.arange(joint.idx_v, joint.idx_v + joint.nv)
            own = np.arange(column.v.start, column.v.stop)
            self._G[rows, own[SWAP] if kind == 'floating' else own] = multiplier
            self._sources.append((joint.idx_q, kind, joint.nq, column.q, multiplier, offset))
            self._joint_ids.append(index)

    def positions(self, q):
        """Return Pinocchio's q."""
        q_pin = np.zeros(self.model.nq)
        for start, kind, size, source, multiplier, offset in self._sources:
            own = multiplier * q[source] + offset
            if kind == 'planar':
                own = np.array([own[0], own[1], np.cos(own[2]), np.sin(own[2])])
            elif size == 2:
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            q_pin[start:start + size] = own
        return q_pin

    def _frame(self, link):
        return self.model.getFrameId(link, pinocchio.FrameType.BODY)

    # ---- from motion to effort --------------------------------------------------------------

    @over_rows(3)
    def inverse_dynamics(self, q, qd, qdd, f_ext=None, gravity=GRAVITY):
        """Return tau, friction included; ``f_ext`` by link, in the link's frame."""
        self.model.gravity.linear = np.asarray(gravity)
        motion = self.positions(q), self._G @ qd, self._G @ qdd
        forces = [self._joint_forces(f_ext)] if f_ext else []
        tau = pinocchio.rnea(self.model, self._data, *motion, *forces)
        return self._G.T @ tau + self.friction(qd)

    @over_rows(1)
    def gravity(self, q, gravity=GRAVITY):
        """Return the effort that holds the robot still."""
        self.model.gravity.linear = np.asarray(gravity)
        return self._G.T @ pinocchio.computeGeneralizedGravity(
            self.model, self._data, self.positions(q))

    @over_rows(2)
    def bias(self, q, qd, gravity=GRAVITY):
        """Return what keeps the velocity, friction included."""
        self.model.gravity.linear = np.asarray(gravity)
        tau = pinocchio.nonLinearEffects(
            self.model, self._data, self.positions(q), self._G @ qd)
        return self._G.T @ tau + self.friction(qd)

    def _joint_forces(self, f_ext):
        """Move wrenches on links to the frames of the joints that carry them."""
        forces = [pinocchio.Force.Zero() for _ in range(self.model.njoints)]
        for link, wrench in f_ext.items():
            frame = self.model.frames[self._frame(link)]
            force = pinocchio.Force(np.asarray(wrench)[SWAP])
            forces[frame.parentJoint] += frame.placement.act(force)
        vector = pinocchio.StdVec_Force()
        vector.extend(forces)
        return vector

    # ---- from effort to motion --------------------------------------------------------------

    @over_rows(1)
    def mass_matrix(self, q):
        """Return M(q)."""
        M = pinocchio.crba(self.model, self._data, self.positions(q))
        M = np.triu(M) + np.triu(M, 1).T
        return self._G.T @ M @ self._G

    @over_rows(3)
    def forward_dynamics(self, q, qd, tau, gravity=GRAVITY):
        """Return the accelerations: by ABA, or where mimics tie joints through M."""
        if self.mimics:
            return np.linalg.solve(self.mass_matrix(q), tau - self.bias(q, qd, gravity))
        self.model.gravity.linear = np.asarray(gravity)
        effort = self._G @ (tau - self.friction(qd))  # G only reorders where nothing mimics
        return self._G.T @ pinocchio.aba(
            self.model, self._data, self.positions(q), self._G @ qd, effort)

    # ---- links ------------------------------------------------------------------------------

    @over_rows(1)
    def link_poses(self, q, links):
        """Return [R p] of each link, shape (links, 3, 4)."""
        pinocchio.framesForwardKinematics(self.model, self._data, self.positions(q))
        placements = [self._data.oMf[self._frame(link)] for link in links]
        return np.array([placement.homogeneous[:3] for placement in placements])

    @over_rows(1)
    def link_jacobians(self, q, links, in_world=False):
        """Return J of each link, shape (links, 6, nv)."""
        frame = pinocchio.ReferenceFrame.WORLD if in_world else pinocchio.ReferenceFrame.LOCAL
        pinocchio.computeJointJacobians(self.model, self._data, self.positions(q))
        pinocchio.updateFramePlacements(self.model, self._data)
        jacobians = np.array([
            pinocchio.getFrameJacobian(self.model, self._data, self._frame(link), frame)
            for link in links])
        return jacobians[:, SWAP] @ self._G

    @over_rows(2)
    def link_drifts(self, q, qd, links):
        """Return J̇ q̇ of each link in its own frame, shape (links, 6)."""
        pinocchio.forwardKinematics(
            self.model, self._data, self.positions(q), self._G @ qd, np.zeros(self.model.nv))
        return np.array([
            pinocchio.getFrameAcceleration(self.model, self._data, self._frame(link)).vector
            for link in links])[:, SWAP]

    # ---- the whole robot --------------------------------------------------------------------

    @over_rows(2)
    def kinetic_energy(self, q, qd):
        """Return the kinetic energy."""
        return pinocchio.computeKineticEnergy(
            self.model, self._data, self.positions(q), self._G @ qd)

    @over_rows(1)
    def potential_energy(self, q, gravity=GRAVITY):
        """Return the energy of the moving weight, zero with it at the world's origin."""
        self.model.gravity.linear = np.asarray(gravity)
        return pinocchio.computePotentialEnergy(self.model, self._data, self.positions(q))

    @over_rows(1)
    def center_of_mass(self, q):
        """Return the centre of the moving mass."""
        return pinocchio.centerOfMass(self.model, self._data, self.positions(q)).copy()

    @over_rows(2)
    def momentum(self, q, qd):
        """Return [angular; linear] about the world's origin; Pinocchio's is about the centre."""
        about_center = pinocchio.computeCentroidalMomentum(
            self.model, self._data, self.positions(q), self._G @ qd)
        angular = about_center.angular + np.cross(self._data.com[0], about_center.linear)
        return np.concatenate([angular, about_center.linear])

    @over_rows(3)
    def regressor(self, q, qd, qdd, gravity=GRAVITY):
        """Return Y, ten columns for each moving joint, mimics included, depth first."""
        self.model.gravity.linear = np.asarray(gravity)
        Y = self._G.T @ pinocchio.computeJointTorqueRegressor(
            self.model, self._data, self.positions(q), self._G @ qd, self._G @ qdd)
        by_joint = Y.reshape(self.nv, -1, 10)[:, np.array(self._joint_ids) - 1]
        return by_joint[:, :, PARAMETERS].reshape(self.nv, -1)

    @property
    def inertial_parameters(self):
        """Return φ, in the order of the regressor's columns."""
        return np.concatenate([
            self.model.inertias[index].toDynamicParameters()[PARAMETERS]
            for index in self._joint_ids])
