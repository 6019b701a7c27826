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
"""The file of parameters that an identification writes, loaded by a node."""

from identified_robot import EXPECTED, identified
import pytest
from rclpy.node import Node
from ros2_rnea.node.parameters import declare, declare_for_joints, values_of
from ros2_rnea.offline.identification.node_parameters import node_parameters


@pytest.mark.ros
def test_the_node_loads_the_file(tmp_path):
    file = tmp_path / 'identified.yaml'
    file.write_text(node_parameters(identified()), encoding='utf-8')
    node = Node('inverse_dynamics', cli_args=['--ros-args', '--params-file', str(file)])
    try:
        assert declare(node) == {}
        for _ in declare_for_joints(node, {'shoulder': 1, 'elbow': 1}):
            pass
        values = values_of(node)
    finally:
        node.destroy_node()
    for name, value in EXPECTED.items():
        if isinstance(value, dict):
            for joint in ('shoulder', 'elbow'):
                assert values.get(f'{name}.{joint}') == value.get(joint)
        else:
            assert list(values[name]) == value
