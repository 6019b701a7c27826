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
"""The result of an identification in which every kind of number is given, for tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.identification.results import (
    Combination,
    Identification,
    JointFriction,
    Parameter,
)

URDF = """<robot name="two">
  <link name="base"/>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1"
    iyz="0" izz="0.1"/></inertial></link>
  <link name="fore"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1"
    iyz="0" izz="0.1"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/></joint>
</robot>"""

FRICTION = {
    'shoulder': JointFriction(viscous=0.5, coulomb=1.25, offset=-0.125),
    'elbow': JointFriction(viscous=0.25, coulomb=1e-5, viscous_backward=0.75, stribeck=0.5,
                           stribeck_velocity=0.0625)}


def identified(**other) -> Identification:
    """Return an identification of a robot with two joints, in which everything is given."""
    found = Identification(
        robot=Robot.from_urdf(URDF),
        parameters=(
            Parameter('viscous friction of elbow', 'viscous', 'elbow', 'Nm s/rad', 0.5, 0.01, 0.0),
            Parameter('m of fore', 'm', 'fore', 'kg', 1.0, None, 1.0),
            Parameter('Coulomb friction of shoulder', 'coulomb', 'shoulder', 'Nm', 1.25, 0.01,
                      0.0),
            Parameter('offset of shoulder', 'offset', 'shoulder', 'Nm', -0.125, 0.01, 0.0),
            Parameter('rotor inertia of elbow', 'rotor_inertia', 'elbow', 'kg m^2', 0.02, 0.001,
                      0.0),
            *(Parameter(
                f'gravity along {axis}', f'gravity_{axis}', '', 'm/s^2', value, 0.1, before)
              for axis, value, before in (
                  ('x', 0.0, 0.0), ('y', 1.0, 0.0), ('z', -9.75, -9.81))),
            Parameter('gain of elbow', 'gain', 'elbow', '', 1.75, 0.0625, 1.0)),
        base_parameters=(Combination('hx of fore', {'hx of fore': 1.0}, 0.5, 0.01, 0.25),),
        joints=('shoulder', 'elbow'),
        measured_rms=np.array([5.0, np.nan]), urdf_rms=np.array([2.0, np.nan]),
        identified_rms=np.array([0.5, np.nan]), noise_rms=np.array([0.4, np.nan]),
        physically_consistent=True, condition_number=np.inf, recordings=1,
        samples=np.array([100, 0]),
        independent_samples=np.array([50.5, 0.0]), not_identifiable=('m of fore: no motion',),
        friction=FRICTION, rotor_inertias={'elbow': 0.02}, gravity=np.array([0.0, 1.0, -9.75]),
        payload=('fore', Inertial(1.5, Pose((0.0, 0.0, 0.25)), (0.1, 0.0, 0.0, 0.1, 0.0, 0.2))),
        gains={'elbow': 1.75}, links=('upper', 'fore'))
    return replace(found, **other)


EXPECTED = {
    'damping': {'shoulder': 0.5, 'elbow': 0.25},
    'friction': {'shoulder': 1.25, 'elbow': 1e-5},
    'friction_offset': {'shoulder': -0.125, 'elbow': 0.0},
    'damping_positive': {'shoulder': 0.0, 'elbow': 0.0},
    'damping_negative': {'shoulder': 0.0, 'elbow': 0.5},
    'friction_positive': {'shoulder': 0.0, 'elbow': 0.0},
    'friction_negative': {'shoulder': 0.0, 'elbow': 0.0},
    'breakaway_friction': {'shoulder': 0.0, 'elbow': 0.5},
    'stribeck_velocity': {'shoulder': 0.0, 'elbow': 0.0625},
    'armature': {'elbow': 0.02},
    'gravity': [0.0, 1.0, -9.75],
    'payload_links': ['fore'],
    'external_effort_threshold': {'shoulder': 1.5},
}
