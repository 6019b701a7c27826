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
"""What a reduced tree is; that it needs the same efforts stands with the identities."""

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointType,
    LinkDescription,
    Pose,
    RobotDescription,
)
from ros2_rnea.model.reduction import reduced, with_axes_along_z, with_regrouped_inertia
from ros2_rnea.model.tree import build_tree

BODY = Inertial(
    mass=2.0, origin=Pose((0.1, -0.2, 0.3)), inertia=(0.11, 0.01, -0.02, 0.12, 0.03, 0.13))


def arm(*kinds_and_axes):
    """Return the tree of a serial arm, a joint for each kind and axis."""
    links = [LinkDescription('base')]
    joints = []
    for number, (kind, axis) in enumerate(kinds_and_axes):
        links.append(LinkDescription(f'link{number}', BODY))
        joints.append(JointDescription(
            f'joint{number}', kind, parent=links[-2].name, child=links[-1].name, axis=axis,
            origin=Pose((0.3, 0.2, 0.1), (0.5, -0.4, 0.3))))
    return build_tree(RobotDescription('arm', tuple(links), tuple(joints)))


def numbers(inertia):
    return [inertia.m, *inertia.h, *np.ravel([list(row) for row in inertia.I_origin.rows])]


@pytest.mark.parametrize('kind', [JointType.REVOLUTE, JointType.CONTINUOUS])
def test_what_turns_about_z_keeps_seven_of_ten_inertial_parameters(kind):
    body = reduced(arm((kind, (0.0, 1.0, 0.0)))).bodies[0]
    assert (body.inertia.m, body.inertia.h.z) == (0.0, 0.0)
    assert body.inertia.second_moment.rows[2].z == 0.0


def test_what_slides_keeps_its_mass_alone():
    body = reduced(arm((JointType.PRISMATIC, (0.0, 1.0, 0.0)))).bodies[0]
    assert body.inertia.m == 2.0
    assert not np.any([list(row) for row in body.inertia.I_origin.rows])


@pytest.mark.parametrize('kind', [
    JointType.HELICAL, JointType.CYLINDRICAL, JointType.PLANAR, JointType.SPHERICAL,
    JointType.FLOATING])
def test_other_joints_keep_all_that_they_carry(kind):
    tree = with_axes_along_z(arm((kind, (0.0, 0.0, 1.0))))
    assert numbers(with_regrouped_inertia(tree).bodies[0].inertia) == (
        numbers(tree.bodies[0].inertia))


@pytest.mark.parametrize('axis', [
    (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0),
    (0.0, 0.0, -1.0)])
def test_turning_an_axis_that_is_a_coordinate_axis_rounds_nothing(axis):
    turned = with_axes_along_z(arm((JointType.REVOLUTE, axis)))
    assert sorted(map(abs, turned.bodies[0].inertia.h)) == pytest.approx([0.2, 0.4, 0.6], abs=0)


def test_rounding_leaves_no_coordinates_that_are_nearly_zero():
    turn = JointDescription(
        'turn', JointType.REVOLUTE, parent='base', child='arm',
        origin=Pose(rpy=(1.5707963267948966, 0.0, 0.0)))
    quarter = RobotDescription(
        'quarter', (LinkDescription('base'), LinkDescription('arm', BODY)), (turn,))
    plain, turned = build_tree(quarter), with_axes_along_z(build_tree(quarter))
    entries = [abs(x) for row in plain.bodies[0].X_tree.E.rows for x in row]
    assert any(0.0 < x < 1e-14 for x in entries)
    entries = [abs(x) for row in turned.bodies[0].X_tree.E.rows for x in row]
    assert sorted(entries) == [0.0] * 6 + [1.0] * 3


def test_links_stay_where_they_are():
    tree = arm((JointType.REVOLUTE, (0.6, 0.0, 0.8)), (JointType.PRISMATIC, (0.0, 0.6, 0.8)))
    q = [0.4, -0.3]
    before, after = Robot(tree).link_poses(q), Robot(with_axes_along_z(tree)).link_poses(q)
    for link in before:
        np.testing.assert_allclose(after[link].position, before[link].position, atol=1e-15)
        np.testing.assert_allclose(after[link].rotation, before[link].rotation, atol=1e-15)
