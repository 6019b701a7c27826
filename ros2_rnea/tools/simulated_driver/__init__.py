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

It publishes its description and its joint states, receives effort commands as
forward_command_controller does, and runs a joint PD loop as the controller of a real arm does.
Start it with ``python -m ros2_rnea.tools.simulated_driver``.

- :mod:`description` selects what of a URDF is simulated, :mod:`engine` simulates the robot,
  :mod:`servo` is its PD loop, :mod:`posture` its start pose,
- :mod:`command` accepts or refuses effort commands,
- :mod:`pacer` synchronizes simulated time with the clock, :mod:`latency` measures latencies,
- :mod:`driver_node` is the ROS node.
"""
