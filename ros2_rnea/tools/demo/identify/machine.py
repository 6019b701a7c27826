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
An arm that is unlike its description: other masses, friction, and a payload.

Nothing here knows ROS.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.etree.ElementTree import SubElement, tostring

import numpy as np

from ros2_rnea.model.safe_xml import read_xml
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import Arm
from ros2_rnea.tools.simulated_driver.description import Load

MASS_ERROR = 0.2
"""Share by which mass and inertia of each link are larger or smaller than described."""

LOAD_SHARE = 0.65
"""The payload, as a share of that of the other scenes."""

FRICTION_SHARE = 0.05
"""Each kind of friction, as a share of a joint's largest effort along the motion of the demo."""

LONGEST, SPACING = 10.0, 0.02
"""Duration of that motion, and between two of its moments [s]."""


class Machine(NamedTuple):
    """
    What is simulated in place of the arm that is described.

    :ivar urdf: its description, which only the simulation has.
    :ivar load: the payload that it carries all the time, which is not in the description.
    """

    urdf: str
    load: Load


def machine_of(arm: Arm, seed: int = 1) -> Machine:
    """
    Return a machine that is like an arm, but differs from it.

    :param seed: of the random choice between links that are heavier and links that are lighter.
    """
    random = np.random.default_rng(seed)
    root = read_xml(arm.urdf)
    for inertial in root.iterfind('link/inertial'):
        factor = 1.0 + MASS_ERROR * float(random.choice((-1.0, 1.0)))
        for element in (*inertial.iterfind('mass'), *inertial.iterfind('inertia')):
            for name, value in element.items():
                element.set(name, repr(factor * float(value)))
    friction = dict(zip(arm.joint_names, _friction(arm).tolist()))
    for joint in root.iterfind('joint'):
        if joint.get('name') in friction:
            dynamics = joint.find('dynamics')
            dynamics = SubElement(joint, 'dynamics') if dynamics is None else dynamics
            for kind in ('damping', 'friction'):
                dynamics.set(kind, repr(friction[joint.get('name', '')]))
    mass = LOAD_SHARE * arm.load.mass
    return Machine(tostring(root, encoding='unicode'), arm.load._replace(
        mass=mass, inertia=tuple(LOAD_SHARE * moment for moment in arm.load.inertia)))


def _friction(arm: Arm) -> np.ndarray:
    """Return the Coulomb friction of each joint [Nm or N], and the viscous one at 1 rad/s."""
    robot = Robot.from_urdf(arm.urdf, engine='textbook')
    places = [arm.joint_names.index(name) for name in robot.joint_names]
    motion = arm.motion(LONGEST).at(np.arange(0.0, LONGEST, SPACING))
    efforts = robot.inverse_dynamics(*(part[:, places] for part in motion))
    largest = np.zeros(len(places))
    largest[places] = np.abs(efforts).max(axis=0)
    return FRICTION_SHARE * largest
