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
What every engine needs to speak our language: a robot's joints and links, and friction.

Engines order joints, write positions and treat mimics each in their own way.  The orders, names
and mimics that are ours are read here from the URDF, with nothing but ElementTree.
"""

from __future__ import annotations

from functools import wraps
from xml.etree import ElementTree

import numpy as np
from random_robots import random_states
from robot_data import Column, FLOATING_BASE, SIZES

SLOW = 0.01  # Coulomb friction is smooth around this speed
SWAP = [3, 4, 5, 0, 1, 2]  # [angular; linear] <-> [linear; angular]


def over_rows(count):
    """Let a method for one state, whose first ``count`` arguments are vectors, take rows too."""
    def decorate(method):
        @wraps(method)
        def of_rows(self, *arguments, **options):
            vectors, rest = arguments[:count], arguments[count:]
            if np.ndim(vectors[0]) == 1:
                return method(self, *arguments, **options)
            return np.array([method(self, *state, *rest, **options) for state in zip(*vectors)])
        return of_rows
    return decorate


class UrdfCoordinates:
    """
    The coordinates of a URDF in our conventions.

    Joints stand depth first, children in the file's order.  A mimic joint has no column; where
    it is, and on whose column, says ``source``.
    """

    def __init__(self, urdf, floating_base=False):
        robot = ElementTree.fromstring(urdf)
        joints = robot.findall('joint')
        outgoing, children = {}, set()
        for joint in joints:
            outgoing.setdefault(joint.find('parent').get('link'), []).append(joint)
            children.add(joint.find('child').get('link'))
        self.root = next(link.get('name') for link in robot.findall('link')
                         if link.get('name') not in children)
        ordered, waiting = [], outgoing.get(self.root, [])[::-1]
        while waiting:
            ordered.append(waiting.pop())
            waiting += outgoing.get(ordered[-1].find('child').get('link'), [])[::-1]
        self.link_names = (self.root, *(joint.find('child').get('link') for joint in ordered))
        self.kinds = {FLOATING_BASE: 'floating'} if floating_base else {}
        self.mimics, self._damping, self._coulomb = {}, {}, {}
        for joint in ordered:
            if joint.get('type') != 'fixed':
                self._read_moving(joint)
        self._lay_out_columns()

    def _read_moving(self, joint):
        name = joint.get('name')
        self.kinds[name] = joint.get('type')
        if (mimic := joint.find('mimic')) is not None:
            self.mimics[name] = (mimic.get('joint'), float(mimic.get('multiplier', '1')),
                                 float(mimic.get('offset', '0')))
        if (dynamics := joint.find('dynamics')) is not None:
            self._damping[name] = float(dynamics.get('damping', '0'))
            self._coulomb[name] = float(dynamics.get('friction', '0'))

    def _lay_out_columns(self):
        self.columns, nq, nv = [], 0, 0
        for name, kind in self.kinds.items():
            if name not in self.mimics:
                dq, dv = SIZES[kind]
                self.columns.append(Column(name, kind, slice(nq, nq + dq), slice(nv, nv + dv)))
                nq, nv = nq + dq, nv + dv
        self.joint_names = tuple(column.name for column in self.columns)
        self.nq, self.nv = nq, nv
        self._columns = {column.name: column for column in self.columns}

    def source(self, joint):
        """Return (column, m, b): the joint is at m times the column's position plus b."""
        multiplier, offset = 1.0, 0.0
        while joint in self.mimics:
            joint, m, b = self.mimics[joint]
            multiplier, offset = m * multiplier, offset + multiplier * b
        return self._columns[joint], multiplier, offset

    def random_states(self, seed, count=None):
        """Return random q, qd, qdd in our conventions; see random_robots."""
        return random_states(seed, self.columns, count)

    def friction(self, qd):
        """Return viscous and Coulomb friction of one state."""
        tau = np.zeros(self.nv)
        for joint, damping in self._damping.items():
            column, multiplier, _ = self.source(joint)
            rate = multiplier * qd[column.v]
            resistance = damping * rate + self._coulomb[joint] * rate / np.hypot(rate, SLOW)
            tau[column.v] += multiplier * resistance
        return tau
