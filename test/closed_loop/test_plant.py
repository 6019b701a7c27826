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
"""The simulated arm of the bench: its friction is as large as its description says."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import heavy  # noqa: E402, I100
from closed_loop.plant import Plant  # noqa: E402

SPEED = 0.3


@pytest.mark.parametrize('joint', range(6))
def test_a_moving_joint_has_its_whole_dry_friction(joint):
    """Also where its inertia is mostly that of the rotor, of which MuJoCo has to know."""
    plant = Plant(heavy(), coulomb=1.0, armature=1.0)
    velocities = np.zeros(6)
    velocities[joint] = SPEED
    plant.place(plant.arm.start, velocities)
    effort, slow = plant.holding_effort(), np.array(velocities)
    effort[joint] += plant.arm.coulomb[joint] + plant.arm.viscous[joint] * SPEED
    plant.advance(effort, 0.002)
    assert plant.velocities[joint] == pytest.approx(SPEED, rel=0.01)
    plant.place(plant.arm.start, slow)
    plant.advance(plant.holding_effort(), 0.002)
    assert plant.velocities[joint] < SPEED - 0.5 * 0.002 * plant.arm.coulomb[joint] / (
        plant.mass_matrix()[joint, joint])
