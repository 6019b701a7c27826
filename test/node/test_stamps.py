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
"""Which stamp an effort has, and which latency follows from it."""

import pytest
from small_robots import ARM, ARM_WITH_GRIPPER

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
LATENCY = 'latency, state stamp to command [ms]'


def stamp_of_answer(arm, *state, stamp):
    arm.answer(*state, stamp=stamp)
    header = arm.efforts[-1].header
    return header.stamp.sec + 1e-9 * header.stamp.nanosec


def test_of_two_publishers_the_stamp_of_the_answered_state_counts(bench):
    arm = bench(joints=JOINTS, state_timeout=10.0, state_depth=10)
    arm.describe(ARM)
    arm.state(['shoulder'], Q[:1], stamp=12.25)
    assert stamp_of_answer(arm, ['elbow'], Q[1:], stamp=12.5) == 12.5
    assert stamp_of_answer(arm, ['shoulder'], Q[:1], stamp=13.25) == 13.25
    assert stamp_of_answer(arm, ['elbow'], Q[1:], stamp=13.0) == 13.0


def test_a_state_without_an_effort_lends_no_stamp(bench):
    arm = bench(joints=JOINTS, state_timeout=10.0, rate=100.0, state_depth=10,
                assumed_positions__grip=0.0)
    arm.describe(ARM_WITH_GRIPPER)
    arm.state(['grip'], [0.01], stamp=50.0)
    arm.state(JOINTS, Q, stamp=12.25)
    arm.until(lambda: arm.efforts)
    arm.state(['grip'], [0.02], stamp=99.0)
    arm.until(lambda: arm.accepted('joint_states') == 3)
    count = len(arm.efforts)
    arm.until(lambda: len(arm.efforts) > count + 2)
    assert {message.header.stamp.sec for message in arm.efforts} == {12}


@pytest.mark.parametrize('age', [60.0, 1e6])
def test_of_a_stamp_by_another_clock_no_latency_follows(bench, age):
    arm = bench(joints=JOINTS, state_timeout=10.0)
    arm.describe(ARM)

    def latencies():
        return [value.value for status in arm.diagnostics for value in status.values
                if value.key == LATENCY]

    arm.answer(JOINTS, Q, stamp=arm.ros_time() - age)
    arm.diagnostics.clear()
    arm.until(lambda: any(
        value.key == 'commands' and int(value.value) > 0
        for status in arm.diagnostics for value in status.values))
    assert latencies() == []
    arm.answer(JOINTS, Q, stamp=arm.ros_time())
    arm.until(latencies)
    assert float(latencies()[0].split()[-1]) < 1e4
