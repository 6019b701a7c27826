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
Oracle: the planar arm of two revolute joints in closed form.

It lies in the x-y plane, its joints turn about z, q_1 is measured from x, q_2 from link 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_data import JointData, LinkData, RobotData

G = 9.81
GRAVITY_ALONG_MINUS_Y = np.array([0.0, -G, 0.0])


@dataclass(frozen=True)
class PlanarArm:
    """
    Two links; ``l1`` joins the joints, ``x`` and ``y`` place the centres of mass in link axes.

    ``inertia1`` and ``inertia2`` are about z through the centres of mass.
    """

    l1: float = 0.9
    m1: float = 2.3
    m2: float = 1.7
    x1: float = 0.5
    y1: float = 0.12
    x2: float = 0.35
    y2: float = -0.08
    inertia1: float = 0.11
    inertia2: float = 0.07

    def mass_matrix(self, q):
        """Return M(q): Spong's planar elbow, with centres of mass beside the links' axes."""
        alpha = (self.inertia1 + self.inertia2 + self.m1 * (self.x1**2 + self.y1**2)
                 + self.m2 * (self.l1**2 + self.x2**2 + self.y2**2))
        delta = self.inertia2 + self.m2 * (self.x2**2 + self.y2**2)
        coupling = self.m2 * self.l1 * (self.x2 * np.cos(q[1]) - self.y2 * np.sin(q[1]))
        return np.array([[alpha + 2.0 * coupling, delta + coupling], [delta + coupling, delta]])

    def coriolis_matrix(self, q, qd):
        """Return C(q, qd) from the Christoffel symbols of M."""
        # h = -d M_12 / d q_2
        h = self.m2 * self.l1 * (self.x2 * np.sin(q[1]) + self.y2 * np.cos(q[1]))
        return h * np.array([[-qd[1], -(qd[0] + qd[1])], [qd[0], 0.0]])

    def gravity(self, q):
        """Return g(q) for gravity along -y."""
        c1, s1 = np.cos(q[0]), np.sin(q[0])
        c12, s12 = np.cos(q[0] + q[1]), np.sin(q[0] + q[1])
        tip = self.m2 * G * (self.x2 * c12 - self.y2 * s12)
        return np.array([
            self.m1 * G * (self.x1 * c1 - self.y1 * s1) + self.m2 * G * self.l1 * c1 + tip, tip])

    def inverse_dynamics(self, q, qd, qdd):
        """Return M qdd + C qd + g."""
        return self.mass_matrix(q) @ qdd + self.coriolis_matrix(q, qd) @ qd + self.gravity(q)

    def robot(self):
        """Return the same arm in numbers for the other oracles and for URDF."""
        return two_joint_robot(self.l1, (
            (self.m1, (self.x1, self.y1, 0.0), self.inertia1),
            (self.m2, (self.x2, self.y2, 0.0), self.inertia2)))


@dataclass(frozen=True)
class PointMassArm:
    """
    The arm of 'Manipulator Dynamics': all mass at the distal ends.

    'Manipulator Dynamics: Newton-Euler and Lagrangian Formulations' (after Spong and Lynch &
    Park), its worked example, formula by formula.
    """

    l1: float = 0.9
    l2: float = 0.6
    m1: float = 2.3
    m2: float = 1.7

    def mass_matrix(self, q):
        """Return M(q)."""
        l1, l2, m1, m2, c2 = self.l1, self.l2, self.m1, self.m2, np.cos(q[1])
        coupled = m2 * l2**2 + m2 * l1 * l2 * c2
        return np.array([
            [(m1 + m2) * l1**2 + m2 * l2**2 + 2.0 * m2 * l1 * l2 * c2, coupled],
            [coupled, m2 * l2**2]])

    def mass_matrix_rate(self, q, qd):
        """Return dM/dt."""
        rate = -self.m2 * self.l1 * self.l2 * np.sin(q[1]) * qd[1]
        return np.array([[2.0 * rate, rate], [rate, 0.0]])

    def coriolis_matrix(self, q, qd):
        """Return C(q, qd)."""
        h = self.m2 * self.l1 * self.l2 * np.sin(q[1])
        return h * np.array([[-qd[1], -(qd[0] + qd[1])], [qd[0], 0.0]])

    def gravity(self, q):
        """Return g(q) for gravity along -y."""
        tip = self.m2 * G * self.l2 * np.cos(q[0] + q[1])
        return np.array([(self.m1 + self.m2) * G * self.l1 * np.cos(q[0]) + tip, tip])

    def determinant(self, q):
        """Return det M(q), corrected."""
        return self.m2 * self.l1**2 * self.l2**2 * (self.m1 + self.m2 * np.sin(q[1])**2)

    def inverse_dynamics(self, q, qd, qdd):
        """Return M qdd + C qd + g."""
        return self.mass_matrix(q) @ qdd + self.coriolis_matrix(q, qd) @ qd + self.gravity(q)

    def robot(self):
        """Return the same arm in numbers for the other oracles and for URDF."""
        return two_joint_robot(self.l1, (
            (self.m1, (self.l1, 0.0, 0.0), 0.0), (self.m2, (self.l2, 0.0, 0.0), 0.0)))


def two_joint_robot(l1, bodies):
    """Return a planar robot; each body is its mass, centre of mass and inertia about z."""
    links = [LinkData('base')]
    for i, (mass, com, about_z) in enumerate(bodies, start=1):
        links.append(LinkData(f'link_{i}', mass, np.array(com), np.zeros(3),
                              np.diag([about_z, about_z, about_z])))
    return RobotData('planar_2r', tuple(links), (
        JointData('joint_1', 'revolute', 'base', 'link_1'),
        JointData('joint_2', 'revolute', 'link_1', 'link_2', xyz=np.array([l1, 0.0, 0.0]))))
