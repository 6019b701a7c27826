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
Oracle: the planar four-bar in closed form, by complex numbers.

It lies in the x-y plane.  The crank turns about the origin, the rocker about (ground, 0); the
coupler joins their ends.  All angles are measured from x.  Positions are where two circles meet,
velocities and accelerations the derivatives of a e^iθ1 + b e^iθ2 = d + c e^iθ3, and the crank's
effort is the rate of the energy over its speed: nothing here knows of constraint forces, but for
the pin's, which follows from the moments on rocker and coupler.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_data import JointData, LinkData, RobotData

G = 9.81
GRAVITY_ALONG_MINUS_Y = np.array([0.0, -G, 0.0])


@dataclass(frozen=True)
class Bar:
    """A link: length, mass, centre of mass in its axes (x to its far end), inertia about it."""

    length: float
    mass: float
    com: complex
    inertia: float


@dataclass(frozen=True)
class Motion:
    """Angles of crank, coupler and rocker with their rates, shape (3,) each."""

    angle: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray

    def of_the_joints(self):
        """Return q, qd, qdd of the tree: the coupler's joint is measured from the crank."""
        relative = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        return relative @ self.angle, relative @ self.rate, relative @ self.acceleration


@dataclass(frozen=True)
class FourBar:
    """A crank-rocker: its crank goes round."""

    crank: Bar = Bar(0.3, 1.1, 0.14 + 0.03j, 0.02)
    coupler: Bar = Bar(0.8, 1.9, 0.35 - 0.06j, 0.13)
    rocker: Bar = Bar(0.6, 1.4, 0.28 + 0.05j, 0.06)
    ground: float = 0.9

    def motion(self, angle, rate, acceleration):
        """Return the motion that the crank's angle, rate and acceleration bring, elbow up."""
        a, b, c = self.crank.length, self.coupler.length, self.rocker.length
        end_of_crank = a * np.exp(1j * angle)
        across = self.ground - end_of_crank
        along = (abs(across)**2 + b**2 - c**2) / (2.0 * abs(across))
        pin = end_of_crank + across / abs(across) * (along + 1j * np.sqrt(b**2 - along**2))
        angles = np.array([angle, np.angle(pin - end_of_crank), np.angle(pin - self.ground)])
        # a e^iθ1 + b e^iθ2 − c e^iθ3 is constant; its derivatives are two real equations each
        arms = np.array([a, b, -c]) * np.exp(1j * angles)
        rates = _completed(1j * arms, rate, 0.0)
        return Motion(angles, rates, _completed(1j * arms, acceleration, arms @ rates**2))

    def crank_effort(self, motion):
        """Return what the crank's motor gives: the rate of kinetic and potential energy / rate."""
        power = 0.0
        for bar, spin, turn, (_, v, a) in zip(
                self._bars, motion.rate, motion.acceleration, self._centers(motion)):
            power += bar.mass * _dot(a, v) + bar.inertia * turn * spin + bar.mass * G * v.imag
        return power / motion.rate[0]

    def energy(self, motion):
        """Return kinetic and potential energy [J]."""
        return sum(
            0.5 * bar.mass * abs(v)**2 + 0.5 * bar.inertia * spin**2 + bar.mass * G * r.imag
            for bar, spin, (r, v, _) in zip(self._bars, motion.rate, self._centers(motion)))

    def pin_force(self, motion):
        """Return the force (Fx, Fy) of the coupler on the rocker, in the ground's axes."""
        _, coupler, rocker = self._bars
        _, (r_2, _, a_2), (r_3, _, a_3) = self._centers(motion)
        end_of_crank = self.crank.length * np.exp(1j * motion.angle[0])
        to_pin_2 = coupler.length * np.exp(1j * motion.angle[1])
        to_pin_3 = rocker.length * np.exp(1j * motion.angle[2])
        # moments about the crank's end and about the rocker's pivot: m r × (a + g) + I α = r × F
        moments = [
            coupler.mass * _cross(r_2 - end_of_crank, a_2 + 1j * G)
            + coupler.inertia * motion.acceleration[1],
            rocker.mass * _cross(r_3 - self.ground, a_3 + 1j * G)
            + rocker.inertia * motion.acceleration[2]]
        arms = [[to_pin_2.imag, -to_pin_2.real], [-to_pin_3.imag, to_pin_3.real]]
        return np.linalg.solve(arms, moments)

    @property
    def _bars(self):
        return self.crank, self.coupler, self.rocker

    def _centers(self, motion):
        """Return position, velocity and acceleration of each centre of mass."""
        turned = np.exp(1j * motion.angle)
        end = np.array([1.0, 1j * motion.rate[0],
                        1j * motion.acceleration[0] - motion.rate[0]**2])
        starts = [np.zeros(3), self.crank.length * turned[0] * end,
                  np.array([self.ground, 0.0, 0.0])]
        return [start + bar.com * unit * np.array([1.0, 1j * spin, 1j * turn - spin**2])
                for bar, start, unit, spin, turn in zip(
                    self._bars, starts, turned, motion.rate, motion.acceleration)]

    def tree(self, tilt=0.0):
        """
        Return the tree that remains without the pin between coupler and rocker.

        :param tilt: turn of the rocker's joint frame about x, which makes the four-bar inexact
        """
        links = [LinkData('base')]
        links += [
            LinkData(name, bar.mass, np.array([bar.com.real, bar.com.imag, 0.0]), np.zeros(3),
                     np.diag([bar.inertia, bar.inertia, bar.inertia]))
            for name, bar in zip(('crank', 'coupler', 'rocker'), self._bars)]
        return RobotData('four_bar', tuple(links), (
            JointData('drive', 'revolute', 'base', 'crank'),
            JointData('knee', 'revolute', 'crank', 'coupler',
                      xyz=np.array([self.crank.length, 0.0, 0.0])),
            JointData('pivot', 'revolute', 'base', 'rocker',
                      xyz=np.array([self.ground, 0.0, 0.0]), rpy=np.array([tilt, 0.0, 0.0]))))


def _completed(columns, first, right):
    """Return (first, x, y) with columns @ (first, x, y) = right, two real equations."""
    rest = right - columns[0] * first
    x, y = np.linalg.solve([[columns[1].real, columns[2].real],
                            [columns[1].imag, columns[2].imag]], [rest.real, rest.imag])
    return np.array([first, x, y])


def _dot(u, v):
    return (u * np.conj(v)).real


def _cross(u, v):
    return (np.conj(u) * v).imag
