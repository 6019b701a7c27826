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
"""The machine of the demo's identification is like its description, and differs where it says."""

import numpy as np
import pytest

from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.tools.demo.arm import arm_of
from ros2_rnea.tools.demo.identify.machine import LOAD_SHARE, machine_of, MASS_ERROR
from ros2_rnea.tools.models import MODELS
from ros2_rnea.tools.simulated_driver.engine import Engine


@pytest.mark.parametrize('name', MODELS)
def test_each_mass_is_off_and_both_ways(name):
    arm = arm_of(MODELS[name]())
    described, real = parse_urdf(arm.urdf), parse_urdf(machine_of(arm).urdf)
    ratios = [
        other.inertial.mass / link.inertial.mass
        for link, other in zip(described.links, real.links) if link.inertial]
    assert np.allclose(np.abs(np.array(ratios) - 1.0), MASS_ERROR, rtol=1e-12)
    assert min(ratios) < 1.0 < max(ratios)
    for link, other in zip(described.links, real.links):
        if link.inertial:
            ratio = other.inertial.mass / link.inertial.mass
            assert np.allclose(other.inertial.inertia, ratio * np.array(link.inertial.inertia))
            assert other.inertial.origin == link.inertial.origin


def test_every_joint_has_friction_and_the_tip_a_payload():
    arm = arm_of(MODELS['panda']())
    machine = machine_of(arm)
    joints = [joint for joint in parse_urdf(machine.urdf).joints if joint.type.moves]
    assert all(joint.friction > 0.0 and joint.damping > 0.0 for joint in joints)
    assert machine.load.link == arm.tip
    assert machine.load.mass == pytest.approx(LOAD_SHARE * arm.load.mass) == 1.3
    engine = Engine(machine.urdf)
    engine.carry(machine.load)
    assert engine.joint_names == arm.joint_names


def test_another_seed_is_another_machine():
    arm = arm_of(MODELS['ur5']())
    assert machine_of(arm, 1) == machine_of(arm, 1)
    assert machine_of(arm, 1) != machine_of(arm, 2)
