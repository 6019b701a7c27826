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
"""Print the gravity of my arm, in five lines."""

from ros2_rnea import Robot
from ros2_rnea.tools.models import seven_dof_arm


def main() -> None:
    """Print the effort with which each motor holds the arm, and its effort limit."""
    robot = Robot.from_urdf(seven_dof_arm())  # or the text of your URDF, xacro expanded
    pose = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]  # in the order of joint_names
    effort = robot.gravity(pose)
    for name, holding, limit in zip(robot.joint_names, effort, robot.effort_limits):
        print(f'{name}  {holding:+8.3f} of {limit:g} Nm')


if __name__ == '__main__':
    main()
