# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http:#www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The core's observer of external efforts: that of the node, on the same samples."""

from __future__ import annotations

from control_core import Core, Mode, model_file
from exported import equipped
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.inputs.momentum_observer import MomentumObserver
from small_robots import ARM, ARM_WITH_GRIPPER

GAIN, PERIOD = 30.0, 0.001


@pytest.mark.parametrize('has_measured', [True, False])
@pytest.mark.parametrize('urdf', [ARM, ARM_WITH_GRIPPER], ids=['arm', 'gripper'])
def test_estimates_are_those_of_the_node(urdf, has_measured, library):
    robot = equipped(Robot.from_urdf(urdf, engine='textbook'))
    joints = tuple(robot.tree.joints)[:2]
    others = {'measured_joints': tuple(robot.tree.joints)[2:]} if robot.nv > 2 else {}
    core = Core(library, model_file(robot), mode=Mode.EFFORT, joints=joints, **others,
                effort_limits=[200.0], external_effort_gain=GAIN, trip_velocity_factor=1e3)
    places = np.array([core.place(joint) for joint in joints])
    node = MomentumObserver(robot, GAIN, 0.1, np.full(2, 200.0), places)
    rng = np.random.default_rng(7)
    time, largest = 0.0, 0.0
    core.q[:] = 0.3
    core.start(np.zeros(2))
    for cycle in range(2000):
        core.q[:] = 0.3 + np.sin(3.0 * time + np.arange(robot.nq))
        core.qd[:] = 3.0 * np.cos(3.0 * time + np.arange(robot.nv)) + rng.normal(0.0, 0.02)
        core.reference[:] = 10.0 * np.sin(5.0 * time) + rng.uniform(-5.0, 5.0)
        core.measured[:] = core.effort + 3.0 if has_measured else np.nan
        acted = core.measured if has_measured else core.effort
        if cycle == 900:  # the core hands over to another model, and does not take it for a push
            robot.set_gravity((1.0, 0.0, -9.0))
            core.set_parameters(robot.parameter_values)
            node.forget_momentum()
        node.update(core.q, core.qd, acted.copy(), time)
        period = PERIOD if cycle % 7 else 3.0 * PERIOD
        assert core.update(period if cycle else PERIOD)
        # The node knows the time of a sample, the core the time since the one before.
        scale = max(1.0, np.abs(node.estimate).max())
        if cycle:
            assert np.abs(core.external - node.estimate).max() <= 1e-9 * scale
        largest = max(largest, np.abs(core.external).max())
        following = PERIOD if (cycle + 1) % 7 else 3.0 * PERIOD
        time += following
    assert largest > 5.0
