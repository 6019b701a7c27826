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
"""Where the mass of a body can be, and what that changes of an identification."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from random_robots import random_tree
from ros2_rnea import Robot
from ros2_rnea.dynamics.pseudo_inertia import ball, nearest_consistent
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.commands.identify.doubts import doubts
from ros2_rnea.offline.identification import solver
from ros2_rnea.offline.identification.conclusions import Diagnosis
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.offline.identification.link_spheres import (
    AT_AN_END,
    ends_of_bodies,
    MARGIN,
    sphere_around,
)
from ros2_rnea.offline.identification.unknowns import Unknowns
from ros2_rnea.tools.models import seven_dof_arm, ur5
from small_robots import joint, link, robot
from synthetic_recordings import motion, recording

UR5 = Robot.from_urdf(ur5().urdf)


def bodies_of(one):
    return one.inertial_parameters.reshape(-1, 10)


def spheres_of(one):
    """Return for each body of a robot the factors, the centre and the radius of its sphere."""
    factors = [sphere_around(own, margin, nearest_consistent(ten))
               for own, margin, ten in zip(*ends_of_bodies(one.tree), bodies_of(one))]
    centers = [own[1:4] / 2.0 for own in factors]
    return [(own, center, np.sqrt(own[0] + center @ center))
            for own, center in zip(factors, centers)]


def point_mass(position):
    return ball(1.0, position, 1e12)


def test_the_sum_of_a_sphere_is_positive_within_and_zero_on_it():
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.2, 0.0], [0.1, 0.1, 0.0]])
    factors = sphere_around(ends, 0.1, point_mass((0.0, 0.1, 0.0)))
    for direction in product((-1.0, 0.0, 1.0), repeat=3):
        if any(direction):
            outward = np.array(direction) / np.linalg.norm(direction)
            for radius in (0.0, 0.1, 0.2, 0.3):
                at = np.array([0.0, 0.1, 0.0]) + radius * outward
                assert factors @ point_mass(at) == pytest.approx(0.2**2 - radius**2, abs=1e-7)


def test_a_sphere_encloses_joints_links_and_what_is_beyond_the_centre_of_mass():
    """A link is 0.3 m long, one of its frames 0.6 m; the other's centre says 0.4 m."""
    one = Robot.from_urdf(robot(
        '<link name="base"/>', link('upper', 10.0, '0 0 0.1'),
        link('lower', 10.0, '0 0 0.2'),
        '<link name="tool"/>', '<link name="tip"/>',
        joint('shoulder', 'base', 'upper'), joint('elbow', 'upper', 'lower'),
        joint('flange', 'upper', 'tool', kind='fixed'), joint('end', 'tool', 'tip', kind='fixed')))
    (_, upper, of_upper), (_, lower, of_lower) = spheres_of(one)
    length = 0.3 + 0.4  # of the robot
    assert upper == pytest.approx([0.0, 0.0, 0.3]) and lower == pytest.approx([0.0, 0.0, 0.2])
    assert of_upper == pytest.approx(0.3 + MARGIN * length)
    assert of_lower == pytest.approx(0.2 + AT_AN_END * length)


def test_rails_are_enclosed_over_their_whole_length():
    """The joint is at x = -3 ... 3 of the rail, and the rail so on the slide."""
    one = Robot.from_urdf(robot(
        '<link name="base"/>', link('rail'), link('slide'), joint('turn', 'base', 'rail'),
        joint('push', 'rail', 'slide', kind='prismatic', axis='1 0 0')))
    for _, center, radius in spheres_of(one):
        assert np.linalg.norm([3.0, 0.0, 0.0] - center) < radius
        assert np.linalg.norm([-3.0, 0.0, 0.0] - center) < radius


def test_a_description_that_lies_outside_enlarges_its_sphere():
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.2, 0.0]])
    wide = np.array([1.0, 0.0, 0.1, 0.0, 2.0, 0.0, 0.0, 2.0, 0.0, 2.0])  # 3 m² for a radius of 0.2
    second_moment = 3.0 - 0.01  # about the middle
    assert sphere_around(ends, 0.1, wide) @ wide == pytest.approx(second_moment)


@pytest.mark.parametrize('one', [
    pytest.param(UR5, id='UR5'),
    pytest.param(Robot.from_urdf(seven_dof_arm()), id='seven joints'),
    *(pytest.param(Robot.from_urdf(random_tree(seed).urdf()), id=f'tree {seed}')
      for seed in range(5))])
def test_what_a_description_says_is_within_its_spheres(one):
    for (factors, center, radius), ten in zip(spheres_of(one), bodies_of(one)):
        assert factors @ ten >= (0.5 - 1e-9) * ten[0] * radius**2
        assert np.linalg.norm(ten[1:4] / ten[0] - center) < radius


def identified(efforts_of, bounded, monkeypatch):
    """Identify a UR5 in small motions, with or without what is known of the sizes of bodies."""
    times, *state = motion(UR5, 400, 0)
    state = [0.3 * one for one in state]
    noise = 0.01 * np.random.default_rng(0).normal(size=state[1].shape)
    one = recording(UR5, (times, *state), noise + efforts_of(*state))
    with monkeypatch.context() as patch:
        if not bounded:
            patch.setattr(solver, 'MASS_WEIGHT', 1e-9)
            patch.setattr(solver, 'ends_of_bodies', lambda tree: (
                ends_of_bodies(tree)[0], np.zeros(len(tree.bodies))))
        return identify([one], UR5, Unknowns(rotor_inertia='all'))


def farthest_center(result):
    """Return the largest distance of a centre of mass from the middle, by the radius there."""
    return max(np.linalg.norm(ten[1:4] / ten[0] - center) / radius for (_, center, radius), ten
               in zip(spheres_of(UR5), bodies_of(result.robot)))


def friction_by_load(q, qd, qdd):
    """Return friction in proportion to the load, which is none that the model has."""
    return 0.2 * np.abs(UR5.inverse_dynamics(q, qd, qdd)) * np.sign(qd)


def test_a_model_error_moves_no_centre_of_mass_out_of_its_link(monkeypatch):
    free, bounded = (identified(friction_by_load, one, monkeypatch) for one in (False, True))
    assert farthest_center(free) > 1.5
    assert farthest_center(bounded) < 0.7
    assert all(factors @ ten > 0.0 for (factors, *_), ten
               in zip(spheres_of(UR5), bodies_of(bounded.robot)))
    assert (bounded.identified_rms < 1.03 * free.identified_rms).all()


def test_a_model_error_makes_no_mass_that_is_far_from_the_description(monkeypatch):
    def ratios():
        result = identified(friction_by_load, True, monkeypatch)
        return bodies_of(result.robot)[:, 0] / bodies_of(UR5)[:, 0]

    assert ratios().min() > 0.35 and ratios().max() < 1.85
    monkeypatch.setattr(solver, 'MASS_WEIGHT', 1e-9)
    assert ratios().min() < 0.25 and ratios().max() > 2.0


def test_sizes_change_nothing_where_the_description_is_right(monkeypatch):
    free, bounded = (identified(lambda q, qd, qdd: 0.0, one, monkeypatch)
                     for one in (False, True))
    assert bounded.identified_rms == pytest.approx(free.identified_rms, rel=3e-3)
    told = [(one, other) for one, other in zip(bounded.parameters, free.parameters)
            if one.standard_error is not None]
    assert len(told) >= 20
    for one, other in told:
        assert one.value == pytest.approx(other.value, abs=0.05 * other.standard_error)
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.02)


def test_a_body_far_from_its_description_and_near_its_sphere_is_found():
    """The steps of the fit are short there, and it has to make them all."""
    tool = Inertial(5.0, Pose((0.0, 0.0, 0.6)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.005))
    truth = UR5.with_payload('tool', 'tool0', tool)
    state = motion(UR5, 1000, 0)
    noise = 0.01 * np.random.default_rng(0).normal(size=state[1].shape)
    result = identify([recording(truth, state, noise)], UR5)
    factors, *_ = spheres_of(UR5)[-1]
    assert factors @ bodies_of(truth)[-1] > 0.0
    assert (result.identified_rms < 0.012).all()


@pytest.mark.parametrize('distance', [0.3, 1.0])
def test_a_tool_that_reaches_too_far_is_a_doubt(distance):
    tool = Inertial(5.0, Pose((0.0, 0.0, distance)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.005))
    truth = UR5.with_payload('tool', 'tool0', tool)
    one = recording(truth, motion(truth, 1000, 0))
    result = identify([replace(
        one, tau=one.tau + 0.1 * np.random.default_rng(0).normal(size=one.tau.shape))], UR5)
    fine = Diagnosis((), (), np.ones(6), np.ones(6))
    found = [each.sentence for each in doubts(result, fine, fine, ()) if 'tool' in each.sentence]
    assert len(found) == (distance == 1.0)
    assert all("'wrist_3_link'" in each for each in found)


def test_a_robot_without_lengths_and_a_link_without_mass_have_no_spheres():
    wheel = Robot.from_urdf(robot(
        '<link name="base"/>', link('wheel', com='0 0 0'), joint('turn', 'base', 'wheel')))
    assert ends_of_bodies(wheel.tree)[1] == [0.0]
    heavier = bodies_of(wheel)[0] * [1.0, 1.0, 1.0, 1.0, *[50.0] * 6]
    truth = wheel.with_inertial_parameters(heavier)
    result = identify([recording(truth, motion(truth, 500, 1))], wheel, Unknowns(friction=()))
    assert bodies_of(result.robot)[0, 7] == pytest.approx(heavier[7], rel=1e-3)
