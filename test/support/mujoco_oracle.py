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
Oracle: MuJoCo, behind our conventions.

MuJoCo lets mimic joints go free, turns damping and friction of ``<dynamics>`` into forces of its
own (taken out here, ours put in), and has a free joint with the quaternion's w first and the
linear velocity in world axes: q̇ of MuJoCo = T(q) q̇ of ours, q̈ of MuJoCo = T q̈ + Ṫ q̇.
"""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
from robot_data import FLOATING_BASE
from rotations import rotation_from_quaternion
from urdf_coordinates import over_rows, UrdfCoordinates


class Refused(Exception):
    """MuJoCo does not load the robot; the text is its own."""


class MujocoOracle(UrdfCoordinates):
    """The dynamics of a URDF in our conventions, computed by MuJoCo; one state or rows."""

    def __init__(self, urdf, floating_base=False):
        super().__init__(urdf, floating_base)
        self._floating_base = floating_base
        self.model = _load(urdf, floating_base)
        self._data = mujoco.MjData(self.model)
        self._sources = []
        self._G = np.zeros((self.model.nv, self.nv))
        for name, kind in self.kinds.items():
            column, multiplier, offset = self.source(name)
            joint = self.model.joint(name)
            if kind != 'floating':
                self._G[joint.dofadr[0], column.v.start] = multiplier
                self._sources.append((joint.qposadr[0], column.q.start, multiplier, offset))

    def _set(self, q, qd):
        """Set a state; return T and Ṫ q̇."""
        data, T, drift = self._data, self._G.copy(), np.zeros(self.model.nv)
        for place, source, multiplier, offset in self._sources:
            data.qpos[place] = multiplier * q[source] + offset
        if self._floating_base:  # its coordinates are the first, here and there
            R = rotation_from_quaternion(q[3:7])
            data.qpos[:7] = q[[0, 1, 2, 6, 3, 4, 5]]
            T[0:3, 3:6] = R
            T[3:6, 0:3] = np.eye(3)
            drift[0:3] = R @ np.cross(qd[0:3], qd[3:6])
        data.qvel[:] = T @ qd
        mujoco.mj_fwdPosition(self.model, data)
        mujoco.mj_fwdVelocity(self.model, data)
        return T, drift

    @over_rows(3)
    def inverse_dynamics(self, q, qd, qdd):
        """Return tau, friction included."""
        T, drift = self._set(q, qd)
        self._data.qacc[:] = T @ qdd + drift
        mujoco.mj_inverse(self.model, self._data)
        return T.T @ self._data.qfrc_inverse + self.friction(qd)

    @over_rows(1)
    def gravity(self, q):
        """Return the effort that holds the robot still."""
        T, _ = self._set(q, np.zeros(self.nv))
        return T.T @ self._data.qfrc_bias

    @over_rows(2)
    def bias(self, q, qd):
        """Return what keeps the velocity, friction included."""
        T, drift = self._set(q, qd)
        return T.T @ (self._data.qfrc_bias + self._times_M(drift)) + self.friction(qd)

    def _times_M(self, vector):
        result = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, self._data, result, vector)
        return result

    @over_rows(1)
    def mass_matrix(self, q):
        """Return M(q)."""
        T, _ = self._set(q, np.zeros(self.nv))
        return T.T @ np.array([self._times_M(column) for column in T.T]).T

    @over_rows(3)
    def forward_dynamics(self, q, qd, tau):
        """Return the accelerations that efforts cause."""
        if self.mimics:
            return np.linalg.solve(self.mass_matrix(q), tau - self.bias(q, qd))
        T, drift = self._set(q, qd)
        self._data.qfrc_applied[:] = np.linalg.solve(T.T, tau - self.friction(qd))
        mujoco.mj_forward(self.model, self._data)
        return np.linalg.solve(T, self._data.qacc - drift)

    @over_rows(2)
    def kinetic_energy(self, q, qd):
        """Return the kinetic energy."""
        self._set(q, qd)
        mujoco.mj_energyVel(self.model, self._data)
        return self._data.energy[1]


def _load(urdf, floating_base):
    """Return MuJoCo's model of the masses and joints of a URDF, and of nothing else."""
    robot = ElementTree.fromstring(urdf)
    _rename_world(robot)
    for link in robot.findall('link'):
        for shape in link.findall('visual') + link.findall('collision'):
            link.remove(shape)
    for limit in robot.findall('joint/limit'):
        # MuJoCo warns of limits that say nothing; here none matters.
        limit.set('lower', '-1')
        limit.set('upper', '1')
    try:
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding='unicode'))
        spec.compiler.fusestatic = False
        if floating_base:
            spec.worldbody.first_body().add_freejoint(name=FLOATING_BASE)
        model = spec.compile()
    except ValueError as error:
        raise Refused(' '.join(str(error).split())) from error
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.dof_damping[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    return model


def _rename_world(robot):
    """Give another name to a link 'world', which MuJoCo would take for its own world."""
    for element in robot.iter():
        for attribute in ('name', 'link'):
            if element.tag in ('link', 'parent', 'child') and element.get(attribute) == 'world':
                element.set(attribute, 'link named world')
