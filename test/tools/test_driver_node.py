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
"""What the driver makes of messages and parameters."""

from math import nan

from geometry_msgs.msg import Inertia, InertiaStamped, Vector3
import pytest
from ros2_rnea.tools.simulated_driver.description import Load
from ros2_rnea.tools.simulated_driver.driver_node import (
    is_vector,
    load_of,
    reason_against_friction,
)


def test_a_load_is_that_of_the_message_on_its_link():
    message = InertiaStamped(inertia=Inertia(
        m=2.0, com=Vector3(x=0.1, y=0.2, z=0.3),
        ixx=1.0, ixy=2.0, ixz=3.0, iyy=4.0, iyz=5.0, izz=6.0))
    message.header.frame_id = 'tool'
    assert load_of(message) == Load('tool', 2.0, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))


@pytest.mark.parametrize(('value', 'is_refused'), [
    ([0.0, 1.5], False), ([0.0], True), ([0.0, -1.0], True), ([0.0, nan], True)])
def test_dry_friction_is_a_number_for_each_joint(value, is_refused):
    assert bool(reason_against_friction(value, 2)) is is_refused


@pytest.mark.parametrize(('value', 'accepted'), [
    ([0.0, 0.0, -9.81], True), ([0.0, -9.81], False), ([0.0, nan, 0.0], False), ([], False)])
def test_gravity_is_three_finite_numbers(value, accepted):
    assert is_vector(value) is accepted
