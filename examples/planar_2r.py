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
Compare a planar arm of two links with its closed-form dynamics.

The arm moves in the x-y plane of its base, where y is up: gravity is along -y.  The formulas are
from Spong, Hutchinson and Vidyasagar, *Robot Modeling and Control*, section 7.4.
"""

from math import cos, sin

import numpy as np
from ros2_rnea import Robot

G = 9.81
L1, C1, C2 = 0.9, 0.5, 0.35    # length of link 1, distance of the centres of mass [m]
M1, M2 = 2.3, 1.7              # [kg]
I1, I2 = 0.11, 0.07            # about the centres of mass [kg m^2]

LINK = """
  <link name="link_{n}"><inertial>
    <origin xyz="{com} 0 0"/><mass value="{mass}"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="{inertia}"/>
  </inertial></link>
  <joint name="joint_{n}" type="continuous">
    <parent link="{parent}"/><child link="link_{n}"/>
    <origin xyz="{at} 0 0"/><axis xyz="0 0 1"/>
  </joint>"""

URDF = '<robot name="planar_2r"><link name="base"/>{}{}</robot>'.format(
    LINK.format(n=1, parent='base', at=0.0, mass=M1, com=C1, inertia=I1),
    LINK.format(n=2, parent='link_1', at=L1, mass=M2, com=C2, inertia=I2))


def closed_form(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return M(q) q̈ + C(q, q̇) q̇ + g(q), shape (2,) [Nm]."""
    d22 = I2 + M2 * C2**2
    d12 = d22 + M2 * L1 * C2 * cos(q[1])
    d11 = I1 + M1 * C1**2 + M2 * L1**2 + 2.0 * d12 - d22
    h = M2 * L1 * C2 * sin(q[1])
    M = np.array([[d11, d12], [d12, d22]])
    C = h * np.array([[-qd[1], -qd[0] - qd[1]], [qd[0], 0.0]])
    tip = M2 * C2 * cos(q[0] + q[1])
    g = G * np.array([(M1 * C1 + M2 * L1) * cos(q[0]) + tip, tip])
    return M @ qdd + C @ qd + g


def main() -> None:
    """Print both efforts for some states."""
    robot = Robot.from_urdf(URDF)
    qd, qdd = np.array([1.5, -2.0]), np.array([4.0, 3.0])
    worst = 0.0
    print(' q1    q2   [deg]   ours [Nm]            closed form [Nm]')
    for degrees in ((0, 0), (80, 0), (30, 60), (-45, 120), (10, -90)):
        q = np.radians(degrees)
        ours = robot.inverse_dynamics(q, qd, qdd, gravity=(0.0, -G, 0.0))
        true = closed_form(q, qd, qdd)
        worst = max(worst, *np.abs(ours - true))
        print('{:3d}  {:4d}   {:+10.4f} {:+9.4f}   {:+10.4f} {:+9.4f}'.format(
            *degrees, *ours, *true))
    print(f'largest difference: {worst:.1e} Nm')


if __name__ == '__main__':
    main()
