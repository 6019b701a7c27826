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
Identify the payload of an arm from a motion and measured joint efforts.

The efforts are linear in the inertial parameters: tau = Y(q, qd, qdd) phi.  So the difference
between the measured efforts and those of the arm without a payload depends linearly on the ten
parameters of the payload.  These add to the parameters of the last body, so only the columns of Y
for that body are needed.  Here the measurements come from a simulated arm, with noise.
"""

import numpy as np
from ros2_rnea import Inertial, Robot
from ros2_rnea.dynamics.regressor import PARAMETERS
from ros2_rnea.tools.models import seven_dof_arm

PAYLOAD = Inertial(
    mass=1.5, com=(0.03, -0.02, 0.18),
    inertia=(0.008, 0.001, 0.0, 0.006, -0.001, 0.004))
NOISE = 0.2  # standard deviation of a measured effort [Nm]


def motion() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q, qd and qdd of ten seconds; each joint swings at another frequency."""
    t = np.arange(0.0, 10.0, 0.01)[:, np.newaxis]
    middle, swing = np.array([0.0, -0.3, 0.0, -1.6, 0.0, 1.6, 0.0]), 0.5
    rate = 2.0 * np.pi * np.linspace(0.3, 0.9, 7)
    return (middle + swing * np.sin(rate * t),
            swing * rate * np.cos(rate * t),
            -swing * rate**2 * np.sin(rate * t))


def main() -> None:
    """Print the true parameters of the payload beside the identified ones."""
    q, qd, qdd = motion()
    empty = Robot.from_urdf(seven_dof_arm())
    loaded = empty.with_payload('unknown', 'link7', PAYLOAD)
    measured = np.random.default_rng(1).normal(loaded.inverse_dynamics(q, qd, qdd), NOISE)

    unexplained = (measured - empty.inverse_dynamics(q, qd, qdd)).ravel()
    Y = empty.regressor(q, qd, qdd)[:, :, -10:].reshape(-1, 10)
    found, *_ = np.linalg.lstsq(Y, unexplained, rcond=None)
    deviation = NOISE * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))

    true = (loaded.inertial_parameters - empty.inertial_parameters)[-10:]
    print('       true     found    standard deviation   (about the origin of link7)')
    for row in zip(PARAMETERS, true, found, deviation):
        print('{:3}  {:+.4f}   {:+.4f}    {:.4f}'.format(*row))
    print('centre of mass: {:+.3f} {:+.3f} {:+.3f} m'.format(*found[1:4] / found[0]))


if __name__ == '__main__':
    main()
