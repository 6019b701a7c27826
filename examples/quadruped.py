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
Accelerate a standing quadruped forward, and compute the contact forces and the motor efforts.

A floating base has no motor, so its six efforts have to be zero.  The contact forces on the feet
have to balance them.  Many sets of forces do; this program takes the one of least norm.
"""

import numpy as np
from ros2_rnea import Robot

FEET = {'front_left': (0.2, 0.15), 'front_right': (0.2, -0.15),
        'rear_left': (-0.2, 0.15), 'rear_right': (-0.2, -0.15)}
FORWARD = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])  # of the base: [angular; linear] [m/s^2]

LINK = """
  <link name="{name}"><inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/>
    <inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial></link>"""
JOINT = """
  <joint name="{child}_joint" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="{xyz}"/><axis xyz="{axis}"/></joint>"""


def leg(foot: str, x: float, y: float) -> str:
    """Return a leg: a hip that rotates about x, a thigh and a shank about y, and a point foot."""
    hip, thigh, shank = f'{foot}_hip', f'{foot}_thigh', f'{foot}_shank'
    return (
        LINK.format(name=hip, z=0.0, mass=0.7, i=0.001)
        + LINK.format(name=thigh, z=-0.1, mass=1.0, i=0.006)
        + LINK.format(name=shank, z=-0.12, mass=0.2, i=0.002) + f'<link name="{foot}"/>'
        + ''.join(
            JOINT.format(parent=parent, child=child, kind=kind, xyz=xyz, axis=axis)
            for parent, child, kind, xyz, axis in (
                ('trunk', hip, 'continuous', f'{x} {y} 0', '1 0 0'),
                (hip, thigh, 'continuous', '0 0 0', '0 1 0'),
                (thigh, shank, 'continuous', '0 0 -0.25', '0 1 0'),
                (shank, foot, 'fixed', '0 0 -0.25', '1 0 0'))))


def main() -> None:
    """Print the contact forces, the motor efforts, and the resulting base acceleration."""
    trunk = LINK.format(name='trunk', z=0.0, mass=9.0, i=0.15)
    legs = ''.join(leg(foot, x, y) for foot, (x, y) in FEET.items())
    robot = Robot.from_urdf(f'<robot name="quadruped">{trunk}{legs}</robot>', floating_base=True)

    q, at_rest, qdd = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)  # crouched, each foot below its hip
    J = np.vstack([robot.jacobian(q, foot)[3:] for foot in FEET])  # in the feet's own axes
    qdd[:6] = FORWARD
    qdd[6:] = np.linalg.solve(J[:, 6:], -J[:, :6] @ FORWARD)  # no foot slips: J qdd = 0

    in_the_air = robot.inverse_dynamics(q, at_rest, qdd)
    forces = np.linalg.lstsq(J[:, :6].T, in_the_air[:6], rcond=None)[0].reshape(4, 3)
    contacts = {foot: np.append(np.zeros(3), force) for foot, force in zip(FEET, forces)}
    tau = robot.inverse_dynamics(q, at_rest, qdd, f_ext=contacts)

    print('             force on the foot [N]     hip, thigh, shank [Nm]')
    poses = robot.link_poses(q)
    for foot, force, efforts in zip(FEET, forces, tau[6:].reshape(4, 3)):
        print('{:11}  {:+6.2f} {:+6.2f} {:+6.2f}     {:+6.2f} {:+6.2f} {:+6.2f}'.format(
            foot, *(poses[foot].rotation @ force).round(2) + 0.0, *efforts.round(2) + 0.0))
    print(f'largest effort that remains at the base: {np.max(np.abs(tau[:6])):.1e}')
    tau[:6] = 0.0
    base = robot.forward_dynamics(q, at_rest, tau, f_ext=contacts)[:6]
    print('resulting acceleration of the base:', base.round(6) + 0.0, 'rad/s^2, m/s^2')


if __name__ == '__main__':
    main()
