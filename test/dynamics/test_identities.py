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
What holds for every robot, whatever its joints, by the package alone.

The rates and slopes are by complex step through the package's own code, so that the tolerances
are those of rounding.
"""

from __future__ import annotations

from dataclasses import replace

from drawn_robots import (
    assert_close,
    cases,
    for_drawn,
    MOVING,
    position_rates,
    rate,
    slopes,
    VECTOR_SPACE,
    vectors,
)
from hypothesis import strategies as st
from lagrangian import complex_step
import numpy as np
from ros2_rnea import Robot, WORLD, Wrench
from ros2_rnea.dynamics import energy
from ros2_rnea.dynamics.crba import mass_matrix
from ros2_rnea.dynamics.friction import FRICTION_NUMBERS
from ros2_rnea.dynamics.jacobian import link_jacobian
from ros2_rnea.dynamics.kinematics import body_transforms, link_transform
from ros2_rnea.dynamics.quantity_definition import DynamicsInputs
from ros2_rnea.dynamics.terms import momentum
from ros2_rnea.model.description import (
    JointDescription,
    JointType,
    LinkDescription,
    Pose,
    RobotDescription,
)
from ros2_rnea.model.reduction import reduced
from ros2_rnea.spatial import Vector
from rotations import rotation_from_quaternion, rotation_from_rpy, skew

WEIGHTLESS = (0.0, 0.0, 0.0)
ANY = cases(mimics=True)


def still(case):
    return np.zeros(case.robot.nv)


def moving_effort(case):
    """Return the effort's terms' size: what the sums below may lose digits of."""
    return np.max(np.abs(case.robot.effort_terms(*case.state, case.f_ext, case.gravity)))


# ---- inverse dynamics -------------------------------------------------------------------------


@for_drawn(ANY, st.data())
def test_effort_is_linear_in_the_acceleration(case, data):
    other = np.array(data.draw(vectors(3, case.robot.nv)))
    bias = case.robot.bias(case.q, case.qd, case.gravity)

    def inertial(qdd):
        return case.robot.inverse_dynamics(case.q, case.qd, qdd, gravity=case.gravity) - bias

    assert_close(inertial(2.0 * case.qdd - 3.0 * other),
                 2.0 * inertial(case.qdd) - 3.0 * inertial(other), moving_effort(case))


@for_drawn(ANY)
def test_effort_is_inertia_coriolis_gravity_friction_and_springs(case):
    expected = (case.robot.mass_matrix(case.q) @ case.qdd
                + case.robot.coriolis_matrix(case.q, case.qd) @ case.qd
                + case.robot.gravity(case.q, case.gravity) + case.robot.friction(case.qd)
                + case.robot.spring(case.q))
    assert_close(case.robot.inverse_dynamics(*case.state, gravity=case.gravity), expected,
                 moving_effort(case))


@for_drawn(ANY)
def test_gravity_and_springs_are_the_slope_of_the_potential(case):
    weight = Vector(*case.gravity)
    slope = slopes(lambda q: energy.potential_energy(case.tree, q, weight), case.tree, case.q)
    assert_close(case.robot.gravity(case.q, case.gravity) + case.robot.spring(case.q), slope,
                 moving_effort(case))


@for_drawn(ANY)
def test_power_is_the_rate_of_energy_plus_friction(case):
    weight = Vector(*case.gravity)
    nq = case.robot.nq

    def total(both):
        q, qd = both[:nq], both[nq:]
        return (energy.kinetic_energy(case.tree, q, qd)
                + energy.potential_energy(case.tree, q, weight))

    rates = np.append(position_rates(case.tree, case.q, case.qd), case.qdd)
    gained = complex_step(total, np.append(case.q, case.qd), rates)
    lost = case.qd @ case.robot.friction(case.qd)
    assert lost >= 0.0
    effort = case.robot.inverse_dynamics(*case.state, gravity=case.gravity)
    assert_close(case.qd @ effort, gained + lost, moving_effort(case))


@for_drawn(cases(bases=(True,)))
def test_momentum_changes_by_weight_and_what_holds_the_base(case):
    nq = case.robot.nq
    rates = np.append(position_rates(case.tree, case.q, case.qd), case.qdd)
    change = complex_step(
        lambda both: [*energy.momentum(case.tree, both[:nq], both[nq:])],
        np.append(case.q, case.qd), rates)
    mass = sum(body.inertia.m for body in case.tree.bodies)
    weight = mass * np.array(case.gravity)
    effort = case.robot.inverse_dynamics(*case.state, gravity=case.gravity)
    R, force = rotation_from_quaternion(case.q[3:7]), effort[3:6]
    push = np.append(R @ effort[:3] + np.cross(case.q[:3], R @ force), R @ force)
    pull = np.append(np.cross(case.robot.center_of_mass(case.q), weight), weight)
    assert_close(change, push + pull, moving_effort(case))


# ---- the matrices -----------------------------------------------------------------------------


@for_drawn(ANY)
def test_the_mass_matrix_is_what_unit_accelerations_take(case):
    n = case.robot.nv
    q, none = np.tile(case.q, (n, 1)), np.zeros((n, n))
    columns = case.robot.inverse_dynamics(q, none, np.eye(n), gravity=WEIGHTLESS)
    at_rest = case.robot.spring(case.q) + case.robot.friction(none[0])  # that is its offset
    assert_close(case.robot.mass_matrix(case.q), columns.T - at_rest[:, None],
                 np.max(np.abs(at_rest), initial=0.0))


@for_drawn(ANY)
def test_the_mass_matrix_is_symmetric_and_positive(case):
    M = case.robot.mass_matrix(case.q)
    assert_close(M, M.T)
    assert np.all(np.linalg.eigvalsh(M) > 0.0)
    assert_close(case.robot.kinetic_energy(case.q, case.qd), 0.5 * case.qd @ M @ case.qd)


@for_drawn(ANY)
def test_the_mass_matrix_rate_less_twice_coriolis_is_skew(case):
    M_rate = rate(lambda q: mass_matrix(case.tree, q), case.tree, case.q, case.qd)
    C = case.robot.coriolis_matrix(case.q, case.qd)
    assert_close(M_rate, C + C.T, np.max(np.abs(C)))


@for_drawn(ANY)
def test_the_generalized_momentum_changes_by_the_efforts(case):
    momentum, unforced = case.robot.joint_momentum(case.q, case.qd, case.gravity)
    M = case.robot.mass_matrix(case.q)
    M_rate = rate(lambda q: mass_matrix(case.tree, q), case.tree, case.q, case.qd)
    effort = case.robot.inverse_dynamics(*case.state, gravity=case.gravity)
    scale = np.max(np.abs(case.robot.effort_terms(*case.state, gravity=case.gravity)))
    assert_close(momentum, M @ case.qd)
    assert_close(M_rate @ case.qd + M @ case.qdd, unforced + effort,
                 scale + np.max(np.abs(M_rate @ case.qd), initial=0.0))


@for_drawn(ANY)
def test_momentum_and_transposed_coriolis_are_those_of_the_matrices(case):
    C = case.robot.coriolis_matrix(case.q, case.qd)
    M = np.reshape(mass_matrix(case.tree, case.q), C.shape)
    p, transposed = momentum(case.tree, DynamicsInputs(q=case.q, qd=case.qd))
    assert_close(p, M @ case.qd, np.max(np.abs(M), initial=0.0))
    assert_close(transposed, C.T @ case.qd, np.max(np.abs(C), initial=0.0))


@for_drawn(cases(kinds=(*VECTOR_SPACE, JointType.FIXED), bases=(False,), mimics=True))
def test_coriolis_is_that_of_the_christoffel_symbols(case):
    dM = np.moveaxis(  # [i, j, k] = ∂M_ij / ∂q_k
        slopes(lambda q: mass_matrix(case.tree, q), case.tree, case.q), 0, 2)
    symbols = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 1, 0))
    assert_close(case.robot.coriolis_matrix(case.q, case.qd), symbols @ case.qd,
                 np.max(np.abs(symbols)))


@for_drawn(ANY, st.data())
def test_coriolis_is_linear_in_the_velocity(case, data):
    other = np.array(data.draw(vectors(3, case.robot.nv)))
    both = case.robot.coriolis_matrix(case.q, 2.0 * case.qd - 3.0 * other)
    once, again = (case.robot.coriolis_matrix(case.q, qd) for qd in (case.qd, other))
    assert_close(both, 2.0 * once - 3.0 * again, np.max(np.abs([once, again])))


# ---- forward dynamics -------------------------------------------------------------------------


def assert_inverts(case):
    effort = case.robot.inverse_dynamics(*case.state, case.f_ext, case.gravity)
    qdd = case.robot.forward_dynamics(case.q, case.qd, effort, case.f_ext, case.gravity)
    # An error in the acceleration counts as the effort that it stands for, and that one as the
    # digits that a mass matrix with large and small eigenvalues leaves.
    eigenvalues = np.linalg.eigvalsh(case.robot.mass_matrix(case.q))
    scale = max(np.max(np.abs(case.qdd)), moving_effort(case) / eigenvalues[0])
    assert_close(qdd, case.qdd, scale)


@for_drawn(cases())
def test_forward_dynamics_inverts_inverse_dynamics(case):
    assert_inverts(case)


@for_drawn(ANY)
def test_so_it_does_through_the_mass_matrix_where_joints_mimic(case):
    assert_inverts(case)


@for_drawn(cases())
def test_the_articulated_bodies_agree_with_the_mass_matrix(case):
    effort = 3.0 * case.qdd
    bias = case.robot.bias(case.q, case.qd, case.gravity)
    M = case.robot.mass_matrix(case.q)
    scale = (moving_effort(case) + np.max(np.abs(effort))) / np.linalg.eigvalsh(M)[0]
    assert_close(case.robot.forward_dynamics(case.q, case.qd, effort, gravity=case.gravity),
                 np.linalg.solve(M, effort - bias), scale)


# ---- links ------------------------------------------------------------------------------------


@for_drawn(ANY)
def test_a_wrench_takes_the_effort_of_the_jacobian_s_transpose(case):
    free = case.robot.inverse_dynamics(*case.state, gravity=case.gravity)
    for frame in (None, WORLD):
        pushed = case.robot.inverse_dynamics(
            *case.state, {case.link: Wrench(case.wrench, frame)}, case.gravity)
        J = case.robot.jacobian(case.q, case.link, frame)
        assert_close(pushed, free - J.T @ case.wrench, moving_effort(case))


@for_drawn(ANY)
def test_a_link_moves_as_its_jacobian_says(case):
    J = case.robot.jacobian(case.q, case.link)
    J_rate = rate(lambda q: [[*column] for column in link_jacobian(case.tree, q, case.link)],
                  case.tree, case.q, case.qd).T
    motion = case.robot.link_motion(*case.state, case.link)
    assert_close(motion.velocity, J @ case.qd)
    expected = J @ case.qdd + J_rate @ case.qd
    assert_close(motion.acceleration, expected, 10.0)
    drift = case.robot.link_motion(case.q, case.qd, still(case), case.link)
    assert_close(drift.acceleration, J_rate @ case.qd, 10.0)
    v = motion.velocity
    assert_close(
        motion.linear_acceleration, expected[3:] + np.cross(v[:3], v[3:]), 10.0)


@for_drawn(ANY)
def test_the_jacobian_is_the_derivative_of_the_link_s_pose(case):
    def pose(q):
        X = link_transform(case.tree, body_transforms(case.tree, q), case.link)
        return np.array([[*row] for row in X.E.T.rows] + [[*X.r]])

    R, p = np.split(pose(case.q), [3])
    motion = rate(pose, case.tree, case.q, case.qd)
    turn, shift = motion[:3] @ R.T, motion[3]
    twist = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
    assert_close(turn, skew(twist), 1.0)
    J = case.robot.jacobian(case.q, case.link, WORLD)
    # what is at the world's origin, if it moves with the link
    assert_close(J @ case.qd, np.append(twist, shift - np.cross(twist, p[0])), 1.0)
    X = case.robot.link_poses(case.q)[case.link]
    assert_close(X.rotation, R)
    assert_close(X.position, p[0], 1.0)


@for_drawn(ANY)
def test_the_two_jacobians_are_one_in_two_frames(case):
    R, p = case.robot.link_poses(case.q)[case.link]
    X = np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])
    assert_close(case.robot.jacobian(case.q, case.link, WORLD),
                 X @ case.robot.jacobian(case.q, case.link), 1.0)


# ---- the regressor ----------------------------------------------------------------------------


@for_drawn(ANY)
def test_the_regressor_times_the_parameters_is_the_rigid_bodies_effort(case):
    Y = case.robot.regressor(*case.state, case.gravity)
    terms = case.robot.effort_terms(*case.state, gravity=case.gravity)
    bare = Robot.from_description(
        replace(case.description, joints=tuple(
            replace(joint, **dict.fromkeys(FRICTION_NUMBERS, 0.0), rotor_inertia=0.0,
                    spring_stiffness=0.0)
            for joint in case.description.joints)), case.floating_base)
    assert_close(Y @ case.robot.inertial_parameters,
                 bare.inverse_dynamics(*case.state, gravity=case.gravity), np.max(np.abs(terms)))


# ---- the same robot, described otherwise ------------------------------------------------------


def assert_same_robot(case, other):
    """Assert that two robots of the same joints in the same order behave the same."""
    assert other.joint_names == case.robot.joint_names
    ours, theirs = (
        [robot.inverse_dynamics(*case.state, case.f_ext, case.gravity),
         robot.mass_matrix(case.q), robot.coriolis_matrix(case.q, case.qd),
         robot.jacobian(case.q, case.link), robot.kinetic_energy(case.q, case.qd),
         robot.link_motion(*case.state, case.link).acceleration]
        for robot in (other, case.robot))
    scale = moving_effort(case)
    for mine, yours in zip(ours, theirs):
        assert_close(mine, yours, scale)


@for_drawn(cases(mimics=True, kinds=(JointType.REVOLUTE, JointType.FIXED, *MOVING)))
def test_lumped_or_not_a_robot_is_the_same(case):
    apart = Robot.from_description(
        case.description, case.floating_base, lump_fixed_joints=False)
    assert len(apart.tree.bodies) == len(case.description.joints) + case.floating_base
    assert_same_robot(case, apart)
    effort = case.robot.inverse_dynamics(*case.state, case.f_ext, case.gravity)
    M = case.robot.mass_matrix(case.q)
    assert_close(apart.forward_dynamics(case.q, case.qd, effort, case.f_ext, case.gravity),
                 case.qdd, moving_effort(case) / np.linalg.eigvalsh(M)[0])


@for_drawn(ANY)
def test_regrouped_or_not_a_robot_needs_the_same_efforts(case):
    regrouped = Robot(reduced(case.tree))
    assert_close(regrouped.inverse_dynamics(*case.state, case.f_ext, case.gravity),
                 case.robot.inverse_dynamics(*case.state, case.f_ext, case.gravity),
                 moving_effort(case))
    M = case.robot.mass_matrix(case.q)
    assert_close(regrouped.mass_matrix(case.q), M, np.max(np.abs(M), initial=0.0))
    for axis in (body.axis for body in regrouped.tree.bodies if body.type.axis_is_line):
        assert (axis.x, axis.y, axis.z) == (0.0, 0.0, 1.0)


@for_drawn(ANY, st.randoms(use_true_random=False))
def test_the_order_of_links_and_joints_is_irrelevant(case, random):
    links, joints = list(case.description.links), list(case.description.joints)
    random.shuffle(links)
    random.shuffle(joints)
    other = Robot.from_description(
        RobotDescription('shuffled', tuple(links), tuple(joints)), case.floating_base)
    assert set(other.joint_names) == set(case.robot.joint_names)
    q = other.flat(case.robot.positions_by_joint(case.q))
    qd, qdd = (other.flat(case.robot.velocities_by_joint(v)) for v in (case.qd, case.qdd))
    effort = other.inverse_dynamics(q, qd, qdd, case.f_ext, case.gravity)
    assert_close(case.robot.flat(other.velocities_by_joint(effort)),
                 case.robot.inverse_dynamics(*case.state, case.f_ext, case.gravity),
                 moving_effort(case))


@for_drawn(cases(bases=(False,), mimics=True), vectors(3))
def test_a_tilted_mount_is_gravity_tilted_the_other_way(case, rpy):
    mount = JointDescription(
        'mount', JointType.FIXED, 'ground', case.description.links[0].name, Pose(rpy=rpy))
    mounted = Robot.from_description(RobotDescription(
        'mounted', (LinkDescription('ground'), *case.description.links),
        (mount, *case.description.joints)))
    tilted = rotation_from_rpy(rpy).T @ case.gravity
    assert_close(mounted.inverse_dynamics(*case.state, case.f_ext, case.gravity),
                 case.robot.inverse_dynamics(*case.state, case.f_ext, tilted),
                 moving_effort(case))


@for_drawn(cases(bases=(True,), mimics=True), st.integers(0, 3))
def test_the_world_may_be_turned_with_gravity_and_all(case, quarters):
    """A floating robot does not feel in which direction the world's axes point."""
    angle = 0.5 * np.pi * quarters + 0.3
    half = np.array([0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)])  # about y
    R = rotation_from_quaternion(half)
    q = case.q.copy()
    q[:3] = R @ q[:3]
    x, y, z, w = q[3:7]
    s, c = half[1], half[3]
    q[3:7] = c * x + s * z, c * y + s * w, c * z - s * x, c * w - s * y
    assert_close(case.robot.inverse_dynamics(q, case.qd, case.qdd, gravity=R @ case.gravity),
                 case.robot.inverse_dynamics(*case.state, gravity=case.gravity),
                 moving_effort(case))


def from_the_other_end(description):
    """
    Return a chain of joints of one axis with its last link as root.

    A turn or slide by q about an axis is undone by one by q about the opposite axis.  Then, step
    by step, the joint's placement is undone.
    """
    links, joints = list(description.links), []
    for joint in reversed(description.joints):
        def step(number, parent, pose, after=joint):
            links.append(LinkDescription(f'{after.name}_{number}'))
            return JointDescription(
                f'{after.name}_back_{number}', JointType.FIXED, parent, links[-1].name, pose)

        (roll, pitch, yaw), xyz = joint.origin.rpy, joint.origin.xyz
        axis = tuple(-value for value in joint.axis)
        links.append(LinkDescription(f'{joint.name}_0'))
        joints += [
            replace(joint, parent=joint.child, child=f'{joint.name}_0', axis=axis, origin=Pose()),
            step(1, f'{joint.name}_0', Pose(rpy=(-roll, 0.0, 0.0))),
            step(2, f'{joint.name}_1', Pose(rpy=(0.0, -pitch, 0.0))),
            step(3, f'{joint.name}_2', Pose(rpy=(0.0, 0.0, -yaw))),
            JointDescription(f'{joint.name}_back', JointType.FIXED, f'{joint.name}_3',
                             joint.parent, Pose(xyz=tuple(-value for value in xyz)))]
    return RobotDescription('turned round', tuple(links), tuple(joints))


@for_drawn(cases(kinds=(*VECTOR_SPACE, JointType.FIXED), bases=(True,), branched=False))
def test_a_floating_chain_from_its_other_end_takes_equal_efforts(case):
    root, tip = case.description.links[0].name, case.description.links[-1].name
    # The base's effort stands as a wrench on the first link, so that nothing holds the chain.
    held = case.robot.inverse_dynamics(*case.state, gravity=case.gravity)
    free = {root: held[:6]}
    expected = case.robot.inverse_dynamics(*case.state, free, case.gravity)

    other = Robot.from_description(from_the_other_end(case.description), floating_base=True)
    motion = case.robot.link_motion(*case.state, tip)
    gravity = case.robot.link_poses(case.q)[tip].rotation.T @ case.gravity

    def turned_round(base, by_joint):
        return other.flat({**by_joint, 'floating_base': base})

    efforts = case.robot.flat(other.velocities_by_joint(other.inverse_dynamics(
        turned_round([0.0] * 6 + [1.0], case.robot.positions_by_joint(case.q)),
        turned_round(motion.velocity, case.robot.velocities_by_joint(case.qd)),
        turned_round(motion.acceleration, case.robot.velocities_by_joint(case.qdd)),
        free, gravity)))
    assert_close(efforts, expected, moving_effort(case))
    assert_close(efforts[:6], np.zeros(6), moving_effort(case))
