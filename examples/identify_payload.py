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
Find out what a robot's hand holds, from a motion and measured joint efforts.

Effort is linear in inertial parameters: tau = Y(q, qd, qdd) phi.  What the empty arm does not
explain is the payload's; its ten numbers add to those of the last body, whose columns of Y are
therefore all it takes.  Here the measurements come from a simulated arm, with noise.
"""

import numpy as np
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.tools.models import seven_dof_arm

PAYLOAD = Inertial(
    mass=1.5, origin=Pose(xyz=(0.03, -0.02, 0.18)),
    inertia=(0.008, 0.001, 0.0, 0.006, -0.001, 0.004))
NOISE = 0.2  # standard deviation of a measured effort [Nm]
NAMES = ('m', 'hx', 'hy', 'hz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')


def motion(joints: int, samples: int = 1000, seconds: float = 10.0) -> tuple[np.ndarray, ...]:
    """Return q, qd and qdd of a motion that shakes every joint, shape (samples, joints) each."""
    t = np.linspace(0.0, seconds, samples)[:, np.newaxis]
    middle = np.array([0.0, -0.3, 0.0, -1.6, 0.0, 1.6, 0.0])
    frequency = 2.0 * np.pi * (0.3 + 0.1 * np.arange(joints))
    swing = 0.5
    return (middle + swing * np.sin(frequency * t),
            swing * frequency * np.cos(frequency * t),
            -swing * frequency**2 * np.sin(frequency * t))


def main() -> None:
    """Print the payload's parameters beside what is found."""
    empty = Robot.from_urdf(seven_dof_arm())
    state = motion(empty.nv)

    loaded = empty.with_payload('unknown', 'link7', PAYLOAD)
    clean = loaded.inverse_dynamics(*state)
    measured = clean + np.random.default_rng(1).normal(0.0, NOISE, clean.shape)

    unexplained = (measured - empty.inverse_dynamics(*state)).ravel()
    Y = empty.regressor(*state)[:, :, -10:].reshape(-1, 10)
    found, *_ = np.linalg.lstsq(Y, unexplained, rcond=None)
    deviation = NOISE * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))

    true = (loaded.inertial_parameters - empty.inertial_parameters)[-10:]
    print('       true     found    standard deviation   (about the origin of link7)')
    for row in zip(NAMES, true, found, deviation):
        print('{:3}  {:+.4f}   {:+.4f}    {:.4f}'.format(*row))
    print('centre of mass: {:+.3f} {:+.3f} {:+.3f} m'.format(*found[1:4] / found[0]))


if __name__ == '__main__':
    main()
