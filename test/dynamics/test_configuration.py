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
"""Positions of the whole robot: by joint and flat, and how they add up."""

from __future__ import annotations

from drawn_robots import ALL, assert_close, cases, for_drawn, MOVING, rate, vectors
from hypothesis import strategies as st
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics import configuration
from ros2_rnea.dynamics.kinematics import body_transforms
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM_WITH_GRIPPER, FREE_FLYER, ROVER

ANY = cases(mimics=True)


def tree_of(text, **options):
    return build_tree(parse_urdf(text), **options)


def placements(tree, q):
    return np.array([[*X.r, *(number for row in X.E.rows for number in row)]
                     for X in body_transforms(tree, q)])


def test_each_joint_has_its_own_coordinates_of_the_flat_vector():
    tree = tree_of(FREE_FLYER)
    q = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.5]
    assert configuration.positions_by_joint(tree, q) == {'flight': q[:7], 'camera': [0.5]}
    v = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert configuration.velocities_by_joint(tree, v) == {'flight': v[:6], 'camera': [7.0]}


def test_a_mimicking_joint_has_none():
    by_joint = configuration.positions_by_joint(tree_of(ARM_WITH_GRIPPER), [1.0, 2.0, 3.0])
    assert by_joint == {'shoulder': [1.0], 'elbow': [2.0], 'grip': [3.0]}


def test_the_flat_vector_is_in_the_tree_s_order():
    tree = tree_of(ROVER)
    assert configuration.flat(tree, {'pan': [4.0], 'drive': [1.0, 2.0, 3.0]}) == [
        1.0, 2.0, 3.0, 4.0]


@for_drawn(ANY)
def test_lists_by_joint_and_flat_vectors_are_the_same(case):
    assert np.array_equal(case.robot.flat(case.robot.positions_by_joint(case.q)), case.q)
    assert np.array_equal(case.robot.flat(case.robot.velocities_by_joint(case.qd)), case.qd)


@for_drawn(cases())
def test_at_neutral_every_body_stands_where_its_joint_does(case):
    q = case.robot.neutral()
    assert q.shape == (case.robot.nq,)
    X = placements(case.tree, q)
    for i, body in enumerate(case.tree.bodies):
        X_joint = body.X_tree @ body_transforms(case.tree, q)[body.parent]
        assert_close(X[i][:3], [*X_joint.r], 1.0)
        assert_close(X[i][3:], [number for row in X_joint.E.rows for number in row], 1.0)


@for_drawn(ANY)
def test_no_velocity_leads_nowhere(case):
    still = case.robot.integrate(case.q, np.zeros(case.robot.nv))
    assert_close(still, case.q)
    assert_close(case.robot.difference(case.q, case.q), np.zeros(case.robot.nv))


@for_drawn(ANY, st.data())
def test_difference_is_what_integrate_needs(case, data):
    v = 0.5 * np.array(data.draw(vectors(3, case.robot.nv)))  # turns of less than pi
    end = case.robot.integrate(case.q, v)
    assert_close(case.robot.difference(case.q, end), v, 1.0)
    back = case.robot.integrate(end, -v)
    assert_close(placements(case.tree, back), placements(case.tree, case.q), 10.0)


@for_drawn(ANY, st.integers(1, 7))
def test_two_ways_in_a_row_add_up(case, eighths):
    """Along the same velocity, for it is held in the body's axes."""
    part = eighths / 8.0
    between = case.robot.integrate(case.q, part * case.qd)
    end = case.robot.integrate(between, (1.0 - part) * case.qd)
    assert_close(placements(case.tree, end),
                 placements(case.tree, case.robot.integrate(case.q, case.qd)), 10.0)


@for_drawn(ANY)
def test_a_small_step_goes_as_the_velocity_says(case):
    step = 1e-6
    forward, backward = (
        placements(case.tree, case.robot.integrate(case.q, sign * step * case.qd))
        for sign in (1.0, -1.0))
    expected = rate(lambda q: placements(case.tree, q), case.tree, case.q, case.qd)
    assert_close((forward - backward) / (2.0 * step), expected, 10.0, tolerance=1e-8)


@for_drawn(cases(kinds=MOVING))
def test_where_a_robot_ends_up_has_quaternions_of_length_one(case):
    end = case.robot.integrate(case.q, 3.0 * case.qd)
    for body in case.tree.bodies:
        if body.type in (JointType.SPHERICAL, JointType.FLOATING):
            assert_close(np.linalg.norm(end[body.q_slice][-4:]), 1.0)


def test_a_planar_joint_turned_half_round_drives_a_half_circle():
    rover = Robot.from_urdf(ROVER)
    end = rover.integrate([0.0, 0.0, 0.5 * np.pi, 0.0], [np.pi, 0.0, np.pi, 0.25])
    assert end == pytest.approx([-2.0, 0.0, 1.5 * np.pi, 0.25], abs=1e-14)


def test_every_joint_type_has_been_drawn():
    """What the tests above are worth depends on it."""
    seen = set()

    @for_drawn(cases())
    def look(case):
        seen.update(joint.type for joint in case.description.joints)

    look()
    assert seen == set(ALL) == set(JointType)
