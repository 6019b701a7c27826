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
Push a standing quadruped forward with its feet: what must ground and motors do?

A floating base has no motor, so the first six efforts have to come out as zero.  That is what the
ground's forces on the feet are for; which of the many that do it, is chosen to be the smallest.
"""

import numpy as np
from ros2_rnea import Robot

FEET = ('front_left', 'front_right', 'rear_left', 'rear_right')
FORWARD = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])  # of the base: [angular; linear] [m/s^2]

LINK = """
  <link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
    <inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial></link>"""
JOINT = """
  <joint name="{child}_joint" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="{xyz}"/><axis xyz="{axis}"/></joint>"""


def leg(name: str, x: float, y: float) -> str:
    """Return a leg: a hip that turns about x, a thigh and a shank about y, a point for a foot."""
    hip, thigh, shank = f'{name}_hip', f'{name}_thigh', f'{name}_shank'
    return ''.join((
        LINK.format(name=hip, com='0 0 0', mass=0.7, i=0.001),
        LINK.format(name=thigh, com='0 0 -0.1', mass=1.0, i=0.006),
        LINK.format(name=shank, com='0 0 -0.12', mass=0.2, i=0.002),
        f'<link name="{name}"/>',
        JOINT.format(child=hip, kind='continuous', parent='trunk', xyz=f'{x} {y} 0', axis='1 0 0'),
        JOINT.format(child=thigh, kind='continuous', parent=hip, xyz='0 0 0', axis='0 1 0'),
        JOINT.format(child=shank, kind='continuous', parent=thigh, xyz='0 0 -0.25', axis='0 1 0'),
        JOINT.format(child=name, kind='fixed', parent=shank, xyz='0 0 -0.25', axis='1 0 0')))


def main() -> None:
    """Print the forces on the feet, the motors' efforts and what is left at the base."""
    legs = (leg(name, x, y) for name, (x, y) in zip(
        FEET, ((0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15))))
    trunk = LINK.format(name='trunk', com='0 0 0', mass=9.0, i=0.15)
    robot = Robot.from_urdf(
        f'<robot name="quadruped">{trunk}{"".join(legs)}</robot>', floating_base=True)

    q = robot.neutral()
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)  # crouched, each foot below its hip
    J = np.vstack([robot.jacobian(q, foot)[3:] for foot in FEET])  # in the feet's own axes
    at_rest, qdd = np.zeros(robot.nv), np.zeros(robot.nv)
    qdd[:6] = FORWARD
    qdd[6:] = np.linalg.solve(J[:, 6:], -J[:, :6] @ FORWARD)  # so that no foot moves: J qdd = 0

    in_the_air = robot.inverse_dynamics(q, at_rest, qdd)
    forces, *_ = np.linalg.lstsq(J[:, :6].T, in_the_air[:6], rcond=None)
    contacts = {foot: np.append(np.zeros(3), f) for foot, f in zip(FEET, forces.reshape(4, 3))}
    tau = robot.inverse_dynamics(q, at_rest, qdd, f_ext=contacts)

    print('               force on the foot [N]     hip, thigh, shank [Nm]')
    poses = robot.link_poses(q)
    upward = 0.0
    for foot, f, efforts in zip(FEET, forces.reshape(4, 3), tau[6:].reshape(4, 3)):
        in_world = poses[foot].rotation @ f
        upward += in_world[2]
        print('{:12}  {:+6.2f} {:+6.2f} {:+6.2f}     {:+6.2f} {:+6.2f} {:+6.2f}'.format(
            foot, *in_world, *efforts))
    print(f'sum of the upward forces: {upward:.3f} N')
    print(f'largest effort left at the base: {np.max(np.abs(tau[:6])):.1e}')


if __name__ == '__main__':
    main()
