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
"""Energy, momentum and centre of mass, by hand and body by body."""

from __future__ import annotations

from math import cos, sin

from drawn_robots import assert_close, cases, for_drawn, rate
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics import energy
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Vector
from small_robots import joint, link, robot

DOWN = Vector(0.0, 0.0, -9.81)
PENDULUM = robot(  # 2 kg, 0.25 m above the pin, which is 0.3 m up
    link('wall'), link('bob', mass=2.0, com='0 0 0.25'), joint('pin', 'wall', 'bob'))
Q, QD = 0.6, 3.0
HEIGHT = 0.3 + 0.25 * cos(Q)


@pytest.fixture(scope='module')
def pendulum():
    return build_tree(parse_urdf(PENDULUM))


def test_a_pendulum_s_energies_by_hand(pendulum):
    assert energy.kinetic_energy(pendulum, [Q], [QD]) == pytest.approx(
        0.5 * (0.03 + 2.0 * 0.25**2) * QD**2)
    assert energy.potential_energy(pendulum, [Q], DOWN) == pytest.approx(2.0 * 9.81 * HEIGHT)


def test_the_root_link_of_a_fixed_base_does_not_count(pendulum):
    assert [*energy.center_of_mass(pendulum, [Q])] == pytest.approx(
        [0.25 * sin(Q), 0.0, HEIGHT])


def test_nor_does_what_is_fixed_to_it():
    text = PENDULUM.replace('</robot>', link('shelf', mass=7.0) + joint(
        'screws', 'wall', 'shelf', kind='fixed') + '</robot>')
    lumped, apart = (Robot.from_urdf(text, lump_fixed_joints=lump) for lump in (True, False))
    assert apart.center_of_mass([Q]) == pytest.approx(lumped.center_of_mass([Q]))
    assert apart.potential_energy([Q]) == pytest.approx(lumped.potential_energy([Q]))


def test_a_pendulum_s_momentum_is_about_the_world_s_origin(pendulum):
    turn = 0.03 * QD
    push = 2.0 * 0.25 * QD * np.array([cos(Q), 0.0, -sin(Q)])
    moment = np.cross([0.25 * sin(Q), 0.0, HEIGHT], push) + [0.0, turn, 0.0]
    assert [*energy.momentum(pendulum, [Q], [QD])] == pytest.approx([*moment, *push])


@for_drawn(cases(mimics=True))
def test_momentum_is_the_mass_times_the_speed_of_its_centre(case):
    mass = sum(body.inertia.m for body in case.tree.bodies)
    drift = rate(lambda q: [*energy.center_of_mass(case.tree, q)], case.tree, case.q, case.qd)
    assert_close(case.robot.momentum(case.q, case.qd)[3:], mass * drift, 10.0)


@for_drawn(cases(mimics=True))
def test_the_whole_is_the_sum_of_the_bodies(case):
    mass, moment = 0.0, np.zeros(3)
    for body in case.tree.bodies:
        R, p = case.robot.link_poses(case.q)[body.link]
        mass += body.inertia.m
        moment += body.inertia.m * p + R @ [*body.inertia.h]
    assert_close(case.robot.center_of_mass(case.q), moment / mass, 1.0)
    in_springs = case.robot.potential_energy(case.q, (0.0, 0.0, 0.0))
    assert_close(case.robot.potential_energy(case.q, case.gravity) - in_springs,
                 -np.dot(case.gravity, moment), 10.0 + in_springs)
