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
The map goes by joint names and reads the URDF with nothing but ElementTree.
"""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pinocchio
from random_robots import random_states
from robot_data import Column, FLOATING_BASE, SIZES

SWAP = [3, 4, 5, 0, 1, 2]  # [angular; linear] <-> [linear; angular]


class PinocchioOracle:
    """The inverse dynamics of a URDF in our conventions, computed by Pinocchio."""

    def __init__(self, urdf, floating_base=False):
        self._read(ElementTree.fromstring(urdf), floating_base)
        if floating_base:
            self.model = pinocchio.buildModelFromXML(
                urdf, pinocchio.JointModelFreeFlyer(), FLOATING_BASE)
        else:
            self.model = pinocchio.buildModelFromXML(urdf)
        self._data = self.model.createData()
        self._link_up_joints()

    def _read(self, robot, floating_base):
        """Read the moving joints depth first, children in the file's order."""
        joints = robot.findall('joint')
        children = {joint.find('child').get('link') for joint in joints}
        root = next(link.get('name') for link in robot.findall('link')
                    if link.get('name') not in children)
        ordered, waiting = [], [root]
        while waiting:
            link = waiting.pop()
            ordered += [joint for joint in joints if joint.find('child').get('link') == link]
            waiting += [joint.find('child').get('link') for joint in reversed(joints)
                        if joint.find('parent').get('link') == link]
        self._kinds = {FLOATING_BASE: 'floating'} if floating_base else {}
        self._mimic, self._damping, self._coulomb = {}, {}, {}
        for joint in ordered:
            name, kind = joint.get('name'), joint.get('type')
            if kind == 'fixed':
                continue
            self._kinds[name] = kind
            if (mimic := joint.find('mimic')) is not None:
                self._mimic[name] = (mimic.get('joint'), float(mimic.get('multiplier', '1')),
                                     float(mimic.get('offset', '0')))
            if (dynamics := joint.find('dynamics')) is not None:
                self._damping[name] = float(dynamics.get('damping', '0'))
                self._coulomb[name] = float(dynamics.get('friction', '0'))
        self.columns, nq, nv = [], 0, 0
        for name, kind in self._kinds.items():
            if name not in self._mimic:
                dq, dv = SIZES[kind]
                self.columns.append(Column(name, kind, slice(nq, nq + dq), slice(nv, nv + dv)))
                nq, nv = nq + dq, nv + dv
        self.joint_names = tuple(column.name for column in self.columns)
        self.nq, self.nv = nq, nv

    def _link_up_joints(self):
        """Build qd_pin = G v; find for each of Pinocchio's joints the column that moves it."""
        self._G = np.zeros((self.model.nv, self.nv))
        self._damping_pin = np.zeros(self.model.nv)
        self._coulomb_pin = np.zeros(self.model.nv)
        self._sources = []
        columns = {column.name: column for column in self.columns}
        for name, kind in self._kinds.items():
            leader, multiplier, offset = self._mimic.get(name, (name, 1.0, 0.0))
            joint = self.model.joints[self.model.getJointId(name)]
            column = columns[leader]
            rows = np.arange(joint.idx_v, joint.idx_v + joint.nv)
            own = np.arange(column.v.start, column.v.stop)
            self._G[rows, own[SWAP] if kind == 'floating' else own] = multiplier
            self._damping_pin[rows] = self._damping.get(name, 0.0)
            self._coulomb_pin[rows] = self._coulomb.get(name, 0.0)
            self._sources.append((joint.idx_q, kind, joint.nq, column.q, multiplier, offset))

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

    def random_states(self, seed, count=None):
        """Return random q, qd, qdd in our conventions; see random_robots."""
        return random_states(seed, self.columns, count)

    def inverse_dynamics(self, q, qd, qdd, f_ext=None, gravity=(0.0, 0.0, -9.81)):
        """Return tau, friction included, of one state or of a row of states."""
        if np.ndim(q) == 2:
            return np.array([self.inverse_dynamics(*state, f_ext, gravity)
                             for state in zip(q, qd, qdd)])
        self.model.gravity.linear = np.asarray(gravity)
        motion = self.positions(q), self._G @ qd, self._G @ qdd
        if f_ext:
            tau = pinocchio.rnea(self.model, self._data, *motion, self._joint_forces(f_ext))
        else:
            tau = pinocchio.rnea(self.model, self._data, *motion)
        speed = motion[1]
        friction = self._damping_pin * speed + self._coulomb_pin * speed / np.hypot(speed, 0.01)
        return self._G.T @ (tau + friction)

    def _joint_forces(self, f_ext):
        """Move wrenches on links to the frames of the joints that carry them."""
        forces = [pinocchio.Force.Zero() for _ in range(self.model.njoints)]
        for link, wrench in f_ext.items():
            frame = self.model.frames[self.model.getFrameId(link, pinocchio.FrameType.BODY)]
            force = pinocchio.Force(np.asarray(wrench)[SWAP])
            forces[frame.parentJoint] += frame.placement.act(force)
        vector = pinocchio.StdVec_Force()
        vector.extend(forces)
        return vector
