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
"""Start the node beside a joint_trajectory_controller that commands position and effort."""

from pathlib import Path

from launch import LaunchDescription
from ros2_rnea.node.launch_actions import with_defaults

HERE = Path(__file__).parent
CONFIG = HERE.parent / 'config' / 'jtc_position_effort.yaml'


def generate_launch_description() -> LaunchDescription:
    """Set the defaults that differ from jtc_effort.launch.py, and include it."""
    return with_defaults(HERE / 'jtc_effort.launch.py', CONFIG)
