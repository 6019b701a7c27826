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
"""Make a trajectory of the positions that a learned policy gives, a chunk of them at a time."""

import numpy as np
from ros2_rnea import Robot
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint

RATE = 20.0
"""Actions in a second."""


def points(actions: np.ndarray, rate: float) -> list[tuple[float, np.ndarray]]:
    """
    Return the time and (position, velocity, acceleration) of each point.

    With all three, the controller joins points by splines whose acceleration has no steps.  The
    last point is at rest, so the arm stops there if no other chunk comes.

    :param actions: positions, shape (N, joints); the first is the one to be reached 1 / rate
        from now.
    """
    velocities, accelerations = (np.zeros_like(actions) for _ in range(2))
    velocities[:-1] = np.gradient(actions, 1.0 / rate, axis=0)[:-1]
    accelerations[:-1] = np.gradient(velocities, 1.0 / rate, axis=0)[:-1]
    return [((number + 1) / rate, np.array(point)) for number, point in enumerate(
        zip(actions, velocities, accelerations))]


def main() -> None:
    """Print the largest effort that one chunk needs, beside the limit, for each joint."""
    robot = Robot.from_urdf(seven_dof_arm())
    start = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
    phase = np.linspace(0.0, np.pi, 16)[:, np.newaxis]
    chunk = start + 0.1 * (1.0 - np.cos(phase))  # what a policy might say
    trajectory = points(chunk, RATE)
    path = Trajectory(robot.joint_names, [Waypoint(time, *point) for time, point in trajectory])
    q, qd, qdd = np.array([  # between the points, too, where splines may need more
        path.at(time) for time in np.arange(1.0 / RATE, trajectory[-1][0], 1e-3)
    ]).swapaxes(0, 1)
    peaks = np.abs(robot.inverse_dynamics(q, qd, qdd)).max(axis=0)
    for name, peak, limit in zip(robot.joint_names, peaks, robot.effort_limits):
        print(f'{name}  {peak:7.3f} of {limit:g} Nm')
    print(f'{len(trajectory)} points, at rest after {trajectory[-1][0]:g} s')


if __name__ == '__main__':
    main()
