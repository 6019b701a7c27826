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
"""Which joints of a controller may be sent the efforts of the node, by a table."""

import re

import pytest
from ros2_rnea.node.controllers.effort_controller import mismatch

JOINTS = ['shoulder', 'elbow']
OWN = {'joints': JOINTS, 'interface_name': 'effort'}


@pytest.mark.parametrize('values, is_named, is_receiver, reason', [
    (OWN, True, True, ''),
    (OWN, False, True, ''),
    ({'joints': JOINTS}, True, True, ''),  # a driver
    ({**OWN, 'joints': ['elbow', 'shoulder']}, True, True, r'set   joints: \[elbow, shoulder\]'),
    ({**OWN, 'joints': ['elbow', 'shoulder']}, False, True, 'has the joints elbow, shoulder'),
    ({**OWN, 'joints': ['shoulder']}, False, True, 'those of this node are shoulder, elbow'),
    ({**OWN, 'joints': [*JOINTS, 'grip']}, False, True, 'shoulder, elbow, grip'),
    ({**OWN, 'interface_name': 'position'}, False, True, "its interface 'position'"),
    ({}, False, True, ''),  # a driver that does not tell its joints
    ({'joints': []}, False, True, ''),
    ({'joints': [1.0, 2.0]}, False, True, ''),
    ({}, True, True, ''),
    ({}, True, False, 'does not receive ~/commands: it is not the controller'),
    ({'joints': JOINTS}, True, False, 'has no parameter interface_name'),  # the other one
])
def test_efforts_are_sent_only_to_the_same_joints_in_order(values, is_named, is_receiver, reason):
    found = mismatch('controller', values, JOINTS, is_named, is_receiver)
    assert re.search(reason, found) if reason else not found
