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
"""What the executables of the node print after ``--help``."""

from __future__ import annotations

from collections.abc import Sequence

USAGE = """\
usage: inverse_dynamics_node [--ros-args --params-file FILE -r FROM:=TO ...]
       managed_inverse_dynamics_node [...]   the same as a managed (lifecycle) node

Computes the effort that each joint of a torque-controlled robot needs, by the recursive
Newton-Euler algorithm, for every joint state that arrives, and publishes it for a controller.

receives
  robot_description    the URDF, latched
  joint_states         measured positions and velocities
  joint_trajectory     desired motions: whole trajectories, or single points that are streamed
  controller_state     the reference of joint_trajectory_controller, in place of a trajectory
  compensated_joints   joints to which a controller in the control loop adds the model itself
  wrench               what the environment exerts on a link
  joy                  the dead-man switch, with dead_man_button
  imu                  the direction of gravity, with gravity_from_imu
publishes
  ~/commands           efforts in the order of the parameter joints; remap it to a controller
  ~/effort             the same with joint names and a stamp
  ~/terms              the terms of each effort, and its difference to the measured one
  ~/external_effort, ~/external_wrench   what the environment exerts, with observe_external_effort
  ~/model, ~/model_parameters            the robot in use, for ros2_rnea_controller
  /diagnostics         what the node does and why
answers
  ~/enable  ~/hold  ~/set_payload  ~/set_gravity  ~/zero_wrench  ~/fill_trajectory_efforts
  ~/compute_gravity  ~/compute_inverse_dynamics  ~/compute_forward_dynamics
  ~/compute_mass_matrix  ~/compute_jacobian

parameters
  Copy config/gravity_compensation.yaml or config/feedforward.yaml of this package, and set your
  joints.  config/inverse_dynamics.yaml has all parameters; for a running node:
  ros2 param describe /inverse_dynamics NAME

  ros2 launch ros2_rnea inverse_dynamics.launch.py params_file:=my_robot.yaml
  starts it with the topic of effort_controller; --show-args lists its arguments.
"""


def wants_help(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for help, before the arguments of ROS begin."""
    own = list(arguments)
    if '--ros-args' in own:
        own = own[:own.index('--ros-args')]
    return '--help' in own or '-h' in own
