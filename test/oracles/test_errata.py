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
Where the documents slip: each slip gives wrong numbers, and the package gives the right ones.

One test for each slip.  It shows that the slip changes the efforts clearly, that the corrected
line agrees with a closed form or an oracle that does not share it, and that so does the package.
The documents are Caron, 'Recursive Newton-Euler algorithm' (blog, 2023); 'Recursive Newton-Euler
Algorithm (RNEA) - Mathematical Documentation', for seven joints; Hollerbach's course notes
'Recursive Newton-Euler Algorithm for a Serial Manipulator'; 'Manipulator Dynamics: Newton-Euler
and Lagrangian Formulations' (after Spong and Lynch & Park).  Where two of them disagree,
Featherstone, 'Rigid Body Dynamics Algorithms' (2008), table 5.1, decides.
"""

from __future__ import annotations

from dataclasses import replace
import sys

from comparison import assert_differs, assert_same
from lagrangian import complex_step, Lagrangian
import numpy as np
from planar_2r import GRAVITY_ALONG_MINUS_Y, PlanarArm, PointMassArm
import pytest
from random_robots import random_link, random_serial_arm, random_states
from robot_data import JointData, LinkData, RobotData
from ros2_rnea.dynamics.wrenches import WORLD, Wrench
from ros2_rnea.robots.robot import Robot
from rotations import rotation_from_quaternion, rotation_from_rpy, skew
from serial_recursions import body_frame, hollerbach, manipulator, serial_arm, seven_dof
from spatial_recursion import (
    Articulation,
    compute_joint,
    cross_force,
    cross_motion,
    force_transform,
    spatial_inertia,
    spatial_inverse_dynamics,
    spatial_tree,
    world_transforms,
)
from uicker_kahn import uicker_kahn

GRAVITY = np.array([0.0, 0.0, -9.81])


class Arm:
    """A random arm in a random state: its numbers, its true efforts, and the package's."""

    def __init__(self, kinds=('revolute', 'prismatic'), size=6, seed=4):
        self.data = random_serial_arm(seed, size, kinds)
        self.numbers = serial_arm(self.data)
        self.state = random_states(seed, self.data.columns())
        self.true = Lagrangian(self.data).inverse_dynamics(*self.state)
        self.robot = Robot.from_urdf(self.data.urdf())
        self.ours = self.robot.inverse_dynamics(*self.state)


@pytest.fixture(name='arm', scope='module')
def make_arm():
    """Return an arm of revolute and prismatic joints."""
    return Arm()


@pytest.fixture(name='turning_arm', scope='module')
def make_turning_arm():
    """Return an arm of revolute joints."""
    return Arm(kinds=('revolute',))


# ---- Caron ----------------------------------------------------------------------------------


def ball_joint_effort(link, q, omega, alpha, S):
    """Return the effort at a ball joint under one link, by Caron's recursion with a given S."""
    E = rotation_from_quaternion(q).T
    inertia = spatial_inertia(link.mass, link.com, link.inertia_in_link_axes())
    k = S.shape[1]
    v = S @ omega[:k]
    a = S @ alpha[:k] - np.concatenate([np.zeros(3), E @ GRAVITY])
    effort = np.zeros(3)
    effort[:k] = S.T @ (inertia @ a + cross_force(v, inertia @ v))
    return effort


def test_caron_a_ball_joint_has_three_freedoms_not_two():
    rng = np.random.default_rng(1)
    link = random_link(rng, 'ball')
    q = np.array([0.1, -0.5, 0.7, 0.5])
    q /= np.linalg.norm(q)
    omega, alpha = rng.normal(size=(2, 3))
    # Euler's equation about the fixed point.
    c, inertia = link.com, link.inertia_in_link_axes()
    about_joint = inertia + link.mass * (c @ c * np.eye(3) - np.outer(c, c))
    weight = link.mass * rotation_from_quaternion(q).T @ GRAVITY
    true = about_joint @ alpha + np.cross(omega, about_joint @ omega) - np.cross(c, weight)

    _, S = compute_joint('spherical', np.array([0.0, 0.0, 1.0]), q)
    assert S.shape == (6, 3)
    assert_same(ball_joint_effort(link, q, omega, alpha, S), true)
    assert_differs(ball_joint_effort(link, q, omega, alpha, S[:, :2]), true)
    # In the package it is the turning half of a floating joint, whose quaternion makes nq > nv.
    robot = Robot.from_urdf(RobotData('ball', (link,), ()).urdf(), floating_base=True)
    at_rest = np.zeros(3)
    ours = robot.inverse_dynamics(
        np.concatenate([at_rest, q]), np.concatenate([omega, at_rest]),
        np.concatenate([alpha, at_rest]))
    assert (robot.nq, robot.nv) == (7, 6)
    assert_same(ours[:3], true)


def test_caron_an_inertial_force_is_mapped_by_the_dual_transform(arm):
    lagrangian, q = Lagrangian(arm.data), arm.state[0]
    world = np.random.default_rng(2).normal(size=6) * 20.0
    moment, force = world[:3], world[3:]
    R, p, _ = lagrangian.link_poses(q)['link_4']
    by_hand = np.concatenate([R.T @ (moment - np.cross(p, force)), R.T @ force])
    true = lagrangian.inverse_dynamics(*arm.state, {'link_4': by_hand})
    tree = spatial_tree(arm.data)
    X = world_transforms(tree, Articulation(arm.data).positions(q))[tree.names.index('link_4')]

    def effort(wrench):
        return spatial_inverse_dynamics(arm.data, *arm.state, {'link_4': wrench})

    assert_same(effort(force_transform(X) @ world), true)
    assert_same(effort(np.linalg.inv(X).T @ world), true)
    assert_differs(effort(X @ world), true)
    # "At the body, in world axes" is a third convention, and not this one.
    assert_differs(effort(np.concatenate([R.T @ moment, R.T @ force])), true)
    ours = arm.robot.inverse_dynamics(*arm.state, f_ext={'link_4': Wrench(world, WORLD)})
    assert_same(ours, true)


def listing(tree, q, qd, qdd, n, a_0=None, f_0=None, cross_momentum=cross_force):
    """
    Return tau and f_0 as Caron's listing has them, without external forces.

    :param q: for each body a list of its joint's coordinates, with an entry for the world
    :param n: the number of bodies beside the world
    :param a_0: what a[0] starts from, likewise f_0
    :param cross_momentum: what the listing's v[i].cross(I[i] * v[i]) stands for
    """
    v, a, f, tau, X, S = ([None] * (n + 1) for _ in range(6))
    v[0] = np.zeros(6)
    a[0] = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 9.81]) if a_0 is None else a_0
    f[0] = np.zeros(6) if f_0 is None else f_0
    for i in range(1, n + 1):
        p = tree.parent[i]
        X_joint, S[i] = compute_joint(tree.kind[i], tree.axis[i], q[i])
        X[i] = X_joint @ tree.X_tree[i]
        v[i] = X[i] @ v[p] + S[i] @ qd[i]
        a[i] = X[i] @ a[p] + S[i] @ qdd[i] + cross_motion(v[i], S[i] @ qd[i])
        f[i] = tree.inertia[i] @ a[i] + cross_momentum(v[i], tree.inertia[i] @ v[i])
    for i in range(n, 0, -1):
        tau[i] = S[i].T @ f[i]
        f[tree.parent[i]] = f[tree.parent[i]] + X[i].T @ f[i]
    return np.concatenate(tau[1:]), f[0]


def listing_arguments(arm):
    """Return the tree of an arm and its coordinates as the listing wants them."""
    lists = Articulation(arm.data)
    q, qd, qdd = arm.state
    return spatial_tree(arm.data), lists.positions(q), lists.rates(qd), lists.rates(qdd)


def test_caron_n_counts_the_bodies_beside_the_world(arm):
    tree, q, qd, qdd = listing_arguments(arm)
    # One entry stands for the world: n = len(qd) - 1, as the first listing has it ...
    tau, _ = listing(tree, q, qd, qdd, n=len(qd) - 1)
    assert_same(tau, arm.true)
    # ... the second listing's n = len(qd) runs out of its lists,
    with pytest.raises(IndexError):
        listing(tree, q, qd, qdd, n=len(qd))
    # ... and one less loses the last body.
    short, _ = listing(tree, q, qd, qdd, n=len(qd) - 2)
    assert_differs(np.append(short, 0.0), arm.true)
    assert len(arm.robot.tree.bodies) == arm.robot.nv == len(arm.data.joints)
    assert_same(arm.ours, arm.true)


def test_caron_the_base_acceleration_has_six_components(arm):
    tree, q, qd, qdd = listing_arguments(arm)
    n = len(qd) - 1
    three = -np.array([0.0, 0.0, -9.81])
    with pytest.raises(ValueError):
        listing(tree, q, qd, qdd, n, a_0=three)
    as_angular, _ = listing(tree, q, qd, qdd, n, a_0=np.concatenate([three, np.zeros(3)]))
    assert_differs(as_angular, arm.true)
    as_linear, _ = listing(tree, q, qd, qdd, n, a_0=np.concatenate([np.zeros(3), three]))
    assert_same(as_linear, arm.true)
    assert_same(arm.ours, arm.true)


def test_caron_forces_take_the_dual_cross_product(arm):
    tree, q, qd, qdd = listing_arguments(arm)
    n = len(qd) - 1
    v, m, f = np.random.default_rng(3).normal(size=(3, 6))
    # v x* f = -(v x)^T f; and arrays have no cross, and * is not their product.
    v_cross = np.column_stack([cross_motion(v, unit) for unit in np.eye(6)])
    np.testing.assert_allclose(cross_force(v, f), -v_cross.T @ f, rtol=1e-14)
    assert not hasattr(v, 'cross')
    assert (tree.inertia[1] * v).shape != (tree.inertia[1] @ v).shape
    same_cross, _ = listing(tree, q, qd, qdd, n, cross_momentum=cross_motion)
    assert_differs(same_cross, arm.true)
    dual_cross, _ = listing(tree, q, qd, qdd, n, cross_momentum=cross_force)
    assert_same(dual_cross, arm.true)
    assert_same(arm.ours, arm.true)


def test_caron_the_force_on_the_base_starts_at_zero(arm):
    tree, q, qd, qdd = listing_arguments(arm)
    n = len(qd) - 1
    uninitialised = np.full(6, np.nan)  # which np.empty may be
    _, base = listing(tree, q, qd, qdd, n, f_0=uninitialised)
    assert np.all(np.isnan(base))
    _, base = listing(tree, q, qd, qdd, n)
    # It is what holds the base: Newton's law for the whole arm, by the oracle's kinematics.
    lagrangian, (q, qd, qdd) = Lagrangian(arm.data), arm.state
    momentum_rate = sum(
        link.mass * (com_acceleration(lagrangian, link, q, qd, qdd) - GRAVITY)
        for link in arm.data.links)
    assert_same(base[3:], momentum_rate)
    # The package shows that wrench as the effort of a floating base that does not move.
    floating = Robot.from_urdf(arm.data.urdf(), floating_base=True)
    at_origin, still = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], np.zeros(6)
    ours = floating.inverse_dynamics(
        np.append(at_origin, q), np.append(still, qd), np.append(still, qdd))
    assert_same(ours[:6], base)
    assert_same(ours[6:], arm.true)


def com_acceleration(lagrangian, link, q, qd, qdd):
    """Return the acceleration of a link's centre of mass in world axes: d(J qd)/dt."""
    def velocity(both):
        q, qd = np.split(both, 2)
        R, _, J = lagrangian.link_poses(q)[link.name]
        return (J[3:] - skew(R @ link.com) @ J[:3]) @ qd
    return complex_step(velocity, np.append(q, qd), np.append(qd, qdd))


def test_caron_gravity_is_on_the_right_and_c_a_tensor(arm):
    """Not a slip, but three traps: tau_g = -g(q), C has three indices, S selects actuators."""
    lagrangian, (q, qd, qdd) = Lagrangian(arm.data), arm.state
    tau_g = -complex_step_gradient(lagrangian.potential_energy, q)
    C = lagrangian.christoffel(q)
    left = lagrangian.mass_matrix(q) @ qdd + np.einsum('ijk,j,k->i', C, qd, qd)
    assert_same(arm.ours, left - tau_g)
    assert_differs(arm.ours, left + tau_g)
    assert_same(arm.robot.gravity(q), -tau_g)
    # S^T tau fills the rows of a floating base with zeros; it is no motion subspace (6, k).
    floating = Robot.from_urdf(arm.data.urdf(), floating_base=True)
    n = len(q)
    S = np.hstack([np.zeros((n, 6)), np.eye(n)])
    q = np.append([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], q)
    still = np.zeros(6)
    all_rows = floating.inverse_dynamics(q, np.append(still, qd), np.append(still, qdd))
    assert_same(S @ all_rows, left - tau_g)


def complex_step_gradient(function, x):
    """Return the gradient of an analytic function."""
    return np.array([complex_step(function, x, unit) for unit in np.eye(len(x))])


# ---- the 7-DOF document ---------------------------------------------------------------------


def test_seven_dof_inertia_moves_to_centre_of_mass_by_minus(turning_arm):
    arm = turning_arm.numbers
    shift = [mass * skew(com) @ skew(com).T for mass, com in zip(arm.mass, arm.com)]
    at_origin = [inertia + s for inertia, s in zip(arm.inertia, shift)]

    def effort(inertia):
        return seven_dof(replace(arm, inertia=inertia), *turning_arm.state)

    right = [inertia - s for inertia, s in zip(at_origin, shift)]
    printed = [inertia + s for inertia, s in zip(at_origin, shift)]
    assert_same(effort(right), turning_arm.true)
    assert_differs(effort(printed), turning_arm.true)
    # URDF's inertia is about the centre of mass already: nothing is to be moved,
    moved = [inertia - s for inertia, s in zip(arm.inertia, shift)]
    assert_differs(effort(moved), turning_arm.true)
    # ... and it stands in the axes that <inertial><origin rpy> turns.
    unturned = [turning_arm.data.link(f'link_{i + 1}').inertia for i in range(len(arm))]
    assert_differs(effort(unturned), turning_arm.true)
    assert_same(turning_arm.ours, turning_arm.true)


def test_seven_dof_the_torque_is_projected_in_the_body_frame(turning_arm):
    arm, state = turning_arm.numbers, turning_arm.state
    assert_same(seven_dof(arm, *state), turning_arm.true)
    assert_differs(seven_dof(arm, *state, project_in_parent=True), turning_arm.true)
    assert_same(turning_arm.ours, turning_arm.true)


def test_seven_dof_a_moment_first_wrench_is_moved_and_subtracted(turning_arm):
    xyz, rpy = np.array([0.1, -0.2, 0.3]), np.array([0.5, 1.0, -2.0])
    last = turning_arm.data.links[-1].name
    data = replace(
        turning_arm.data, links=(*turning_arm.data.links, LinkData('tool')),
        joints=(*turning_arm.data.joints,
                JointData('to_tool', 'fixed', last, 'tool', xyz=xyz, rpy=rpy)))
    wrench = np.array([3.0, -5.0, 2.0, 20.0, 10.0, -30.0])
    true = Lagrangian(data).inverse_dynamics(*turning_arm.state, {'tool': wrench})
    R = rotation_from_rpy(rpy)
    moment, force = R @ wrench[:3], R @ wrench[3:]

    def effort(at_link):
        return seven_dof(turning_arm.numbers, *turning_arm.state, tip_wrench=at_link)

    assert_same(effort(np.concatenate([moment + np.cross(xyz, force), force])), true)
    swapped = np.concatenate([force + np.cross(xyz, moment), moment])
    only_turned = np.concatenate([moment, force])
    added = -np.concatenate([moment + np.cross(xyz, force), force])
    for slip in (swapped, only_turned, added):
        assert_differs(effort(slip), true)
    ours = Robot.from_urdf(data.urdf()).inverse_dynamics(
        *turning_arm.state, f_ext={'tool': wrench})
    assert_same(ours, true)


def test_seven_dof_the_rotation_maps_from_link_to_parent(turning_arm):
    arm, state = turning_arm.numbers, turning_arm.state
    assert_same(seven_dof(arm, *state), turning_arm.true)
    assert_differs(seven_dof(arm, *state, R_printed_direction=True), turning_arm.true)
    assert_same(turning_arm.ours, turning_arm.true)


def test_seven_dof_the_classical_lagrangian_costs_n_to_the_fourth():
    traces, calls = [], []
    for size in range(1, 8):
        arm = Arm(size=size, kinds=('revolute',))
        tau, count = uicker_kahn(arm.numbers, *arm.state)
        assert_same(tau, arm.true)
        assert_same(arm.ours, arm.true)
        traces.append(count)
        calls.append(count_calls(arm.robot.inverse_dynamics, *arm.state))
    # A polynomial of degree d has constant d-th differences: 4 for Lagrange's, 1 for ours.
    assert len(set(np.diff(traces, 4))) == 1 and np.diff(traces, 4)[0] > 0
    assert len(set(np.diff(calls))) == 1


def count_calls(function, *arguments):
    """Return how many calls of functions a call makes."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in ('call', 'c_call')

    previous = sys.getprofile()
    sys.setprofile(profile)
    try:
        function(*arguments)
    finally:
        sys.setprofile(previous)
    return count


# ---- Hollerbach -----------------------------------------------------------------------------


def test_hollerbach_r_ii_begins_at_the_next_joint(arm):
    assert_same(hollerbach(arm.numbers, *arm.state), arm.true)
    for reading in (lambda r, d: d - r, lambda r, d: r, lambda r, d: d):
        assert_differs(hollerbach(arm.numbers, *arm.state, r_ii=reading), arm.true)
    # Box B's inertia is about the centre of mass, in base axes.
    assert_differs(hollerbach(arm.numbers, *arm.state, inertia_in_base_axes=False), arm.true)
    at_joint = [inertia + mass * skew(com) @ skew(com).T for inertia, mass, com in zip(
        arm.numbers.inertia, arm.numbers.mass, arm.numbers.com)]
    assert_differs(hollerbach(replace(arm.numbers, inertia=at_joint), *arm.state), arm.true)
    assert_same(arm.ours, arm.true)


# ---- Manipulator Dynamics -------------------------------------------------------------------


def planar_case(planar, seed=0):
    """Return the numbers of a planar arm, a state, its efforts and those of the package."""
    data = planar.robot()
    state = random_states(seed, data.columns())
    ours = Robot.from_urdf(data.urdf()).inverse_dynamics(*state, gravity=GRAVITY_ALONG_MINUS_Y)
    return serial_arm(data), state, planar.inverse_dynamics(*state), ours


def test_manipulator_the_origin_is_carried_by_the_parent_s_motion():
    arm, state, true, ours = planar_case(PointMassArm())
    assert_same(manipulator(arm, *state, gravity=GRAVITY_ALONG_MINUS_Y), true)
    printed = manipulator(arm, *state, gravity=GRAVITY_ALONG_MINUS_Y, outward_as_printed=True)
    assert_differs(printed, true)
    assert_same(ours, true)


@pytest.mark.parametrize('slip', [
    {'prismatic_coriolis': False}, {'prismatic_slides': False}, {'prismatic_turns': True}],
    ids=['without 2 omega x d_dot z', 'r does not depend on q', 'omega gets q_dot z'])
def test_manipulator_a_prismatic_joint_is_more_than_a_replaced_term(slip):
    arm = Arm(kinds=('revolute', 'prismatic'), size=7, seed=0)
    assert 0 < sum(arm.numbers.prismatic) < 7
    assert_same(manipulator(arm.numbers, *arm.state), arm.true)
    assert_differs(manipulator(arm.numbers, *arm.state, **slip), arm.true)
    assert_same(arm.ours, arm.true)


@pytest.mark.parametrize('slip', [{'frames_at_com': False}, {'start_acceleration': False}],
                         ids=['frame at the joint', 'no start value'])
def test_manipulator_the_body_frame_recursion_starts_from_gravity(slip, arm):
    assert_same(body_frame(arm.numbers, *arm.state), arm.true)
    assert_differs(body_frame(arm.numbers, *arm.state, **slip), arm.true)
    assert_same(arm.ours, arm.true)


def test_manipulator_the_determinant_of_the_2r_arm():
    planar = PointMassArm()
    q = np.array([0.3, 1.1])
    robot = Robot.from_urdf(planar.robot().urdf())
    columns = robot.inverse_dynamics(
        np.tile(q, (2, 1)), np.zeros((2, 2)), np.eye(2), gravity=np.zeros(3))
    true = np.linalg.det(planar.mass_matrix(q))
    # What is printed, up to its dots.
    l1, l2, m1, m2 = planar.l1, planar.l2, planar.m1, planar.m2
    printed = m2 * l2**2 * (
        (m1 + m2) * l1**2 + m2 * l1**2 * l2**2 * np.sin(q[1])**2 / l2**2)
    assert printed != pytest.approx(true, rel=1e-3)
    assert planar.determinant(q) == pytest.approx(true, rel=1e-12)
    assert np.linalg.det(columns) == pytest.approx(true, rel=1e-12)


def test_manipulator_point_masses_do_not_see_a_lost_rotational_inertia():
    def without_inertia(arm, state):
        lost = replace(arm, inertia=[np.zeros((3, 3))] * len(arm))
        return manipulator(lost, *state, gravity=GRAVITY_ALONG_MINUS_Y)

    arm, state, true, ours = planar_case(PointMassArm())
    assert_same(without_inertia(arm, state), true)
    assert_same(ours, true)
    arm, state, true, ours = planar_case(PlanarArm())
    assert_differs(without_inertia(arm, state), true)
    assert_same(ours, true)
