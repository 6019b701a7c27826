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
"""The tree of rigid bodies: its order, what is lumped, what mimics, and what is refused."""

from __future__ import annotations

from dataclasses import fields, FrozenInstanceError, is_dataclass, replace
from math import inf, pi

import numpy as np
import pytest
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS
from ros2_rnea.errors import DescriptionError
from ros2_rnea.kernels.robot_kernels import signature
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from ros2_rnea.model.tree import BASE, build_tree, FLOATING_BASE, link_inertia

FIXED, REVOLUTE, PRISMATIC = JointType.FIXED, JointType.REVOLUTE, JointType.PRISMATIC
PLANAR, FLOATING = JointType.PLANAR, JointType.FLOATING
SOLID = Inertial(2.0, Pose((0.1, -0.2, 0.3), (0.4, 0.5, -0.6)), (0.5, 0.01, 0.02, 0.6, 0.03, 0.7))
BESIDE = Pose((1.0, 2.0, 3.0))
TURNED = Pose((0.0, 0.0, 0.5), (0.0, 0.0, pi / 2))


def joint(name, joint_type=REVOLUTE, **values):
    """Return a joint; its name says what it joins: 'arm-hand' joins the links arm and hand."""
    parent, child = name.split('-')
    return JointDescription(name, joint_type, parent, child, **values)


def robot(*joints, bare=()):
    """Return a robot of these joints; every link but the bare ones has the inertial SOLID."""
    names = dict.fromkeys(n for j in joints for n in (j.parent, j.child))
    return RobotDescription(
        'r', tuple(LinkDescription(n, None if n in bare else SOLID) for n in names), joints)


def numbers(vector):
    return np.array([*vector])


def sums_of(inertia):
    """Return mass, first moments and the rotational inertia's elements, one after another."""
    return np.concatenate([[inertia.m], numbers(inertia.h), *map(numbers, inertia.I_origin.rows)])


# ---- order ------------------------------------------------------------------------------------

BRANCHED = robot(
    joint('hand-thumb'), joint('base-leg'), joint('base-body'), joint('body-head'),
    joint('body-arm'), joint('leg-foot', FIXED), joint('arm-hand'), joint('hand-finger'))


def test_joints_are_depth_first_in_the_description_s_order():
    tree = build_tree(BRANCHED)
    assert list(tree.joints) == [
        'base-leg', 'base-body', 'body-head', 'body-arm', 'arm-hand', 'hand-thumb', 'hand-finger']
    assert list(tree.joints.values()) == list(range(7))


def test_links_are_in_the_same_order_root_first():
    assert list(build_tree(BRANCHED).links) == [
        'base', 'leg', 'foot', 'body', 'head', 'arm', 'hand', 'thumb', 'finger']


def test_every_body_comes_after_its_parent():
    bodies = build_tree(BRANCHED).bodies
    assert [body.parent for body in bodies] == [BASE, BASE, 1, 1, 3, 4, 4]
    assert [body.link for body in bodies] == [
        'leg', 'body', 'head', 'arm', 'hand', 'thumb', 'finger']


def test_coordinates_follow_each_other_in_the_sizes_of_the_joints():
    tree = build_tree(robot(
        joint('a-b'), joint('b-c', FLOATING), joint('c-d', FIXED), joint('d-e', PLANAR),
        joint('e-f', PRISMATIC)))
    assert (tree.nq, tree.nv) == (12, 11)
    assert [body.q_slice for body in tree.bodies] == [
        slice(0, 1), slice(1, 8), slice(8, 11), slice(11, 12)]
    assert [body.v_slice for body in tree.bodies] == [
        slice(0, 1), slice(1, 7), slice(7, 10), slice(10, 11)]


def test_a_robot_without_joints_has_no_bodies():
    tree = build_tree(RobotDescription('stone', (LinkDescription('rock'),), ()))
    assert (tree.name, tree.root, tree.bodies, tree.nq, tree.nv) == ('stone', 'rock', (), 0, 0)
    assert list(tree.links) == ['rock']


def test_axes_have_unit_length_and_keep_their_direction():
    tree = build_tree(robot(joint('a-b', axis=(0.0, -3.0, 4.0))))
    np.testing.assert_allclose(numbers(tree.bodies[0].axis), [0.0, -0.6, 0.8])


def test_damping_friction_and_limits_stand_at_the_body():
    limits = JointLimits(-1.0, 2.0, 3.0, 4.0)
    (body,) = build_tree(robot(joint('a-b', damping=0.5, friction=0.7, limits=limits))).bodies
    assert (body.damping, body.friction, body.limits) == (0.5, 0.7, limits)


# ---- lumping ----------------------------------------------------------------------------------


def test_fixed_links_are_one_body_with_the_moved_link():
    tree = build_tree(robot(
        joint('a-b'), joint('b-c', FIXED, origin=BESIDE), joint('c-d', FIXED, origin=TURNED)))
    (body,) = tree.bodies
    assert {name: frame.body for name, frame in tree.links.items()} == {
        'a': BASE, 'b': 0, 'c': 0, 'd': 0}
    assert body.inertia.m == 3 * SOLID.mass
    X = tree.links['d'].X_body_to_link
    np.testing.assert_allclose(numbers(X.r), [1.0, 2.0, 3.5])
    np.testing.assert_allclose(numbers(X.E.rows[0]), [0.0, 1.0, 0.0], atol=1e-15)


def test_lumped_inertia_is_the_sum_in_the_body_s_frame():
    """A copy of the link two metres ahead: Huygens and Steiner, by hand."""
    ahead = robot(joint('a-b'), joint('b-c', FIXED, origin=Pose((2.0, 0.0, 0.0))))
    (body,), own = build_tree(ahead).bodies, link_inertia(SOLID)
    m, (hx, hy, hz) = own.m, own.h
    shift = np.array([
        [0.0, -2.0 * hy, -2.0 * hz],
        [-2.0 * hy, 4.0 * m + 4.0 * hx, 0.0],
        [-2.0 * hz, 0.0, 4.0 * m + 4.0 * hx]])
    expected = 2.0 * sums_of(own) + np.concatenate([[0.0, 2.0 * m, 0.0, 0.0], shift.ravel()])
    np.testing.assert_allclose(sums_of(body.inertia), expected)


def test_a_fixed_root_only_moves_what_hangs_on_it():
    tree = build_tree(robot(joint('a-b', FIXED, origin=BESIDE), joint('b-c', origin=TURNED)))
    assert tree.links['b'].body == BASE
    assert tree.bodies[0].parent == BASE
    np.testing.assert_allclose(numbers(tree.bodies[0].X_tree.r), [1.0, 2.0, 3.5])
    np.testing.assert_allclose(sums_of(tree.bodies[0].inertia), sums_of(link_inertia(SOLID)))


def test_a_joint_below_a_fixed_link_hangs_on_the_body():
    """The offset of a fixed link that is turned left counts in its own axes."""
    tree = build_tree(robot(
        joint('a-b'), joint('b-c', FIXED, origin=TURNED), joint('c-d', origin=BESIDE)))
    assert [body.parent for body in tree.bodies] == [BASE, 0]
    np.testing.assert_allclose(numbers(tree.bodies[1].X_tree.r), [-2.0, 1.0, 3.5])


def test_a_link_s_inertia_is_turned_and_moved():
    inertial = Inertial(2.0, Pose((0.0, 3.0, 0.0), (0.0, 0.0, pi / 2)), (1.0, 0, 0, 5.0, 0, 7.0))
    inertia = link_inertia(inertial)
    np.testing.assert_allclose(numbers(inertia.h), [0.0, 6.0, 0.0])
    rows = [numbers(row) for row in inertia.I_origin.rows]
    np.testing.assert_allclose(rows, np.diag([5.0 + 18.0, 1.0, 7.0 + 18.0]), atol=1e-14)


# ---- mimics -----------------------------------------------------------------------------------

CHAIN = robot(
    joint('a-b', mimic=Mimic('b-c', 2.0, 0.1)),
    joint('b-c', mimic=Mimic('d-e', -0.5, 0.3)),
    joint('c-d'), joint('d-e'))


def test_a_chain_of_mimics_ends_at_the_independent_joint():
    tree = build_tree(CHAIN)
    assert dict(tree.joints) == {'c-d': 2, 'd-e': 3}
    assert dict(tree.mimics) == {'a-b': 0, 'b-c': 1}
    assert (tree.nq, tree.nv) == (2, 2)
    assert [(b.q_index, b.v_index) for b in tree.bodies] == [(1, 1), (1, 1), (0, 0), (1, 1)]
    np.testing.assert_allclose([b.multiplier for b in tree.bodies], [-1.0, -0.5, 1.0, 1.0])
    np.testing.assert_allclose([b.offset for b in tree.bodies], [0.7, 0.3, 0.0, 0.0])


def test_a_mimic_on_a_fixed_joint_says_nothing():
    tree = build_tree(robot(joint('a-b', FIXED, mimic=Mimic('b-c')), joint('b-c')))
    assert dict(tree.mimics) == {}
    assert tree.nq == 1


# ---- a floating base --------------------------------------------------------------------------


def test_a_floating_base_is_a_joint_above_the_root_link():
    tree = build_tree(robot(joint('a-b', origin=BESIDE)), floating_base=True)
    base, arm = tree.bodies
    assert list(tree.joints) == [FLOATING_BASE, 'a-b']
    assert (tree.nq, tree.nv) == (8, 7)
    assert (base.type, base.parent, base.link, base.q_index) == (FLOATING, BASE, 'a', 0)
    assert (arm.parent, arm.q_index, arm.v_index) == (0, 7, 6)
    assert tree.links['a'].body == 0
    np.testing.assert_allclose(sums_of(base.inertia), sums_of(link_inertia(SOLID)))


def test_a_floating_base_carries_what_is_fixed_to_the_root():
    tree = build_tree(robot(joint('a-b', FIXED), bare=('a',)), floating_base=True)
    np.testing.assert_allclose(sums_of(tree.bodies[0].inertia), sums_of(link_inertia(SOLID)))


def test_the_floating_base_s_name_must_be_free():
    taken = robot(JointDescription(FLOATING_BASE, REVOLUTE, 'a', 'b'))
    assert build_tree(taken).nv == 1
    with pytest.raises(DescriptionError, match="'floating_base' is taken"):
        build_tree(taken, floating_base=True)


# ---- what has no mass -------------------------------------------------------------------------


def test_a_moving_group_without_inertial_is_refused_by_name():
    bare = robot(joint('a-b'), joint('b-c', FIXED), joint('c-d'), bare=('b', 'c'))
    with pytest.raises(DescriptionError, match="joint 'a-b' moves .*'b', 'c'.*massless_links"):
        build_tree(bare)


def test_all_moving_groups_without_inertial_are_named_at_once():
    bare = robot(joint('a-b'), joint('b-c'), joint('c-d'), bare=('b', 'd'))
    with pytest.raises(DescriptionError, match=r"joint 'a-b' moves \(link 'b'\), joint 'c-d' "
                       r"moves \(link 'd'\): their efforts .* massless_links"):
        build_tree(bare)


def test_a_description_without_any_inertial_is_one_of_shapes():
    bare = robot(joint('a-b'), joint('b-c'), bare=('a', 'b', 'c'))
    with pytest.raises(DescriptionError, match='no link has an <inertial>: the description is one '
                       'of shapes.* use one with masses$'):
        build_tree(bare)


@pytest.mark.parametrize('bare', [('a',), ('a', 'b'), ('a', 'c')])
def test_one_inertial_in_a_moving_group_is_enough(bare):
    assert build_tree(robot(joint('a-b'), joint('b-c', FIXED), bare=bare)).nv == 1


@pytest.mark.parametrize('massless', [['b'], ('c',), {'b', 'c'}, iter(['b'])])
def test_any_link_may_declare_its_group_massless(massless):
    bare = robot(joint('a-b'), joint('b-c', FIXED), bare=('b', 'c'))
    tree = build_tree(bare, massless_links=massless)
    assert not sums_of(tree.bodies[0].inertia).any()


def test_a_floating_root_needs_an_inertial_too():
    bare = robot(joint('a-b'), bare=('a',))
    with pytest.raises(DescriptionError, match="joint 'floating_base' moves"):
        build_tree(bare, floating_base=True)
    assert build_tree(bare, floating_base=True, massless_links=['a']).nv == 7


def test_an_unknown_massless_link_is_refused_with_a_proposal():
    with pytest.raises(DescriptionError, match="'hnad', which is not a link; .*'hand'"):
        build_tree(robot(joint('arm-hand')), massless_links=['hnad'])


def test_an_inertial_of_mass_zero_is_taken():
    light = RobotDescription(
        'r', (LinkDescription('a'), LinkDescription('b', Inertial(0.0))), (joint('a-b'),))
    assert build_tree(light).bodies[0].inertia.m == 0.0


# ---- effort limits ----------------------------------------------------------------------------


def test_only_independent_joints_of_one_freedom_have_effort_limits():
    limits = JointLimits(effort=7.0)
    tree = build_tree(robot(
        joint('a-b', PLANAR, limits=limits), joint('b-c', limits=limits), joint('c-d'),
        joint('d-e', limits=JointLimits(effort=1.0), mimic=Mimic('b-c'))))
    assert tree.effort_limits.tolist() == [inf, inf, inf, 7.0, inf]


# ---- for ever ---------------------------------------------------------------------------------


def test_a_tree_does_not_change():
    tree = build_tree(CHAIN)
    with pytest.raises(FrozenInstanceError):
        tree.nq = 3
    with pytest.raises(FrozenInstanceError):
        tree.bodies[0].multiplier = 3.0
    for mapping in (tree.links, tree.joints, tree.mimics):
        with pytest.raises(TypeError):
            mapping['b'] = 3
    with pytest.raises(ValueError, match='read-only'):
        tree.effort_limits[0] = 3.0
    assert isinstance(tree.bodies, tuple)


def test_a_description_is_checked_before_it_is_built():
    with pytest.raises(DescriptionError, match='loop'):
        build_tree(robot(joint('a-b'), joint('b-c'), joint('c-a')))


@pytest.mark.parametrize('joint_type', [REVOLUTE, FIXED])
def test_a_chain_of_any_length_is_built_without_recursion(joint_type):
    links = 5_000
    tree = build_tree(robot(*(joint(f'{i}-{i + 1}', joint_type) for i in range(links - 1))))
    assert len(tree.links) == links
    assert tree.nv == (links - 1 if joint_type is REVOLUTE else 0)


def test_a_long_chain_of_mimics_is_resolved():
    count = 1_000
    tree = build_tree(robot(joint('0-1'), *(
        joint(f'{i}-{i + 1}', mimic=Mimic(f'{i - 1}-{i}', offset=1.0)) for i in range(1, count))))
    assert tree.nv == 1
    assert tree.bodies[-1].offset == count - 1


# ---- types of numbers -------------------------------------------------------------------------

GEARED = JointDescription(
    'base-upper', JointType.REVOLUTE, 'base', 'upper', Pose((0.3, 0.2, 0.1), (0.5, -0.4, 0.3)),
    axis=(0.3, 0.6, 0.8), damping=0.1, friction=0.2, rotor_inertia=1e-5, gear_ratio=99.7,
    spring_stiffness=0.7, spring_reference=0.3, friction_offset=0.6)
FOLLOWING = JointDescription(
    'upper-lower', JointType.HELICAL, 'upper', 'lower', Pose((0.1, 0.2, 0.3), (0.1, 0.7, -0.3)),
    pitch=0.1, mimic=Mimic('base-upper', -1.7, 0.3))
HELD = JointDescription(
    'lower-tool', JointType.FIXED, 'lower', 'tool', Pose((0.1, 0.2, 0.3), (0.1, 0.7, -0.3)))
WHOLE = JointDescription(
    'base-side', JointType.PRISMATIC, 'base', 'side', Pose((1, 2, 3), (1, 0, 2)), axis=(0, 3, 4),
    damping=2, rotor_inertia=3, gear_ratio=5, mimic=Mimic('base-upper', 3, 2))
ANYTHING = robot(GEARED, FOLLOWING, HELD, WHOLE)


def with_numbers(value, of):
    """Return a description with each number converted by a function."""
    if is_dataclass(value):
        return replace(value, **{
            field.name: with_numbers(getattr(value, field.name), of) for field in fields(value)})
    if isinstance(value, tuple):
        return tuple(with_numbers(each, of) for each in value)
    return of(value) if isinstance(value, (int, float, np.floating)) else value


@pytest.mark.parametrize('of', [np.float32, np.float64, np.float16, np.longdouble])
def test_numbers_of_other_types_become_floats(of):
    given = with_numbers(ANYTHING, of)
    tree, expected = build_tree(given), build_tree(with_numbers(given, float))
    assert signature(tree) == signature(expected)
    for body, other in zip(tree.bodies, expected.bodies):
        for name in JOINT_PARAMETERS:
            assert type(getattr(body, name)) is float
            assert getattr(body, name) == getattr(other, name)
    payload = link_inertia(with_numbers(SOLID, of))
    assert repr(payload) == repr(link_inertia(with_numbers(with_numbers(SOLID, of), float)))


def test_floats_stay_and_whole_numbers_count_as_floats():
    tree = build_tree(ANYTHING)
    for body, parameter in ((0, 'damping'), (0, 'friction'), (0, 'spring_stiffness')):
        assert getattr(tree.bodies[body], parameter) == getattr(GEARED, parameter)
    assert tree.bodies[0].armature == 1e-5 * 99.7 * 99.7
    assert signature(tree) == signature(build_tree(with_numbers(ANYTHING, float)))
