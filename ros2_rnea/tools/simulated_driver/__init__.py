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
A simulated arm with the ROS interface of a real one.

It publishes its description and its joint states, takes effort commands as
forward_command_controller does, and runs the joint PD loop that an arm's own controller has.
Start it with ``python -m ros2_rnea.tools.simulated_driver``.

- :mod:`description` is what of a URDF is simulated, :mod:`engine` the robot, :mod:`servo` its PD
  loop, :mod:`posture` where it waits,
- :mod:`command` decides which effort commands to take,
- :mod:`pacer` ties simulated time to the clock, :mod:`latency` keeps the books,
- :mod:`driver_node` carries the messages.
"""
