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
A rod that presses against a stiff wall, beside a node with the shipped values, over DDS.

The rod and the wall are computed here, in simulated time.  ``test_wrench_in_contact.py`` has other
walls, delays and gains, without messages.
"""

from node_bench import AT_ONCE
import numpy as np
from pressing_rod import PRESSING, PressingRod, ROD
import pytest
from ros2_rnea.control.settings import Settings
from simulated_clock import time_setter

pytestmark = pytest.mark.ros

PERIOD = 0.002
SHIPPED = {name: getattr(Settings(), name) for name in AT_ONCE
           if name not in ('start_from', 'friction_from')}


def contact_forces(bench, seconds, **parameters):
    """Return the force at each cycle on a wall of 1e5 N/m [N]."""
    node = bench(joints=['hinge'], use_sim_time=True, **{**SHIPPED, **parameters})
    set_time, now, arm = time_setter(node), 100.0, PressingRod(1e5)
    set_time(now)
    node.describe(ROD)
    node.answer(['hinge'], [0.0], [0.0], stamp=now)
    node.send_trajectory(['hinge'], [(0.001, [0.0])])
    node.until(lambda: node.accepted('joint_trajectory'))
    forces = []
    for _ in range(round(seconds / PERIOD)):
        now += PERIOD
        set_time(now)
        forces.append(arm.force)
        node.push('tip', force=(0.0, -arm.force, 0.0))
        node.until_answered(lambda: node.accepted('wrench') == len(forces))
        effort, = node.answer(['hinge'], [arm.q], [arm.qd], stamp=now)
        arm.move(effort, PERIOD)
    assert node.status().name == 'HOLDING_END'
    return np.array(forces)


def test_with_shipped_values_a_contact_force_at_most_doubles(bench):
    gain = SHIPPED['wrench_gain']
    forces = contact_forces(bench, 1.8)
    assert forces.max() <= 1.2 / (1.0 - gain) * PRESSING
    settled = forces[-len(forces) // 3:]
    assert settled.min() >= 0.7 / (1.0 - gain) * PRESSING  # the compensation is there
    assert (np.maximum.accumulate(settled) - settled).max() <= 0.02 * settled[-1]


def test_with_gain_1_it_would_grow_until_the_limits(bench):
    """What the shipped gain is for; and the wall and the sensor of this test do show it."""
    assert contact_forces(bench, 1.2, wrench_gain=1.0).max() > 4.0 * PRESSING
