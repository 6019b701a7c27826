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
"""Identities that inverse dynamics satisfies on every tree, by the package alone or an oracle."""

from __future__ import annotations

from comparison import assert_differs, assert_same, TOLERANCE
from lagrangian import complex_step, Lagrangian
import numpy as np
from random_robots import random_states, random_tree
from ros2_rnea.dynamics.wrenches import WORLD, Wrench
from ros2_rnea.robots.robot import Robot
from seeds import for_seeds

PLAIN = ('revolute', 'continuous', 'prismatic', 'fixed')
SEEDS = for_seeds(12)
WEIGHTLESS = np.zeros(3)


class Case:
    """A random tree in a random state."""

    def __init__(self, seed, damping=False):
        self.data = random_tree(seed, size=9, kinds=PLAIN, damping=damping)
        self.robot = Robot.from_urdf(self.data.urdf())
        self.lagrangian = Lagrangian(self.data)
        self.q, self.qd, self.qdd = self.state = random_states(seed, self.data.columns())
        self.still = np.zeros(self.robot.nv)
        self.rng = np.random.default_rng(seed)

    def effort_of(self, link, wrench):
        """Return what a wrench on a link changes in the efforts."""
        return (self.robot.inverse_dynamics(*self.state, f_ext={link: wrench})
                - self.robot.inverse_dynamics(*self.state))

    def moving_links(self):
        """Return the links that some joint moves."""
        poses = self.lagrangian.link_poses(self.q)
        return [name for name, (_, _, J) in poses.items() if np.any(J)]

    def duality(self, link, wrench):
        """
        Return -(d x / d q)^T f, from complex steps of the oracle's forward kinematics.

        The virtual motion of a link along q_k, in the link's axes: the skew part of R^T dR is
        the turn, R^T dp is the shift.
        """
        R, _, _ = self.lagrangian.link_poses(self.q)[link]
        tau = np.zeros(len(self.q))
        for k, unit in enumerate(np.eye(len(self.q))):
            turn = R.T @ complex_step(lambda q: self.lagrangian.link_poses(q)[link][0],
                                      self.q, unit)
            shift = R.T @ complex_step(lambda q: self.lagrangian.link_poses(q)[link][1],
                                       self.q, unit)
            twist = np.array([turn[2, 1], turn[0, 2], turn[1, 0], *shift])
            tau[k] = -twist @ wrench
        return tau


@SEEDS
def test_effort_is_linear_in_the_acceleration(seed):
    case = Case(seed, damping=True)
    other = case.rng.normal(size=case.robot.nv)

    def inertial(qdd):
        return (case.robot.inverse_dynamics(case.q, case.qd, qdd)
                - case.robot.bias(case.q, case.qd))

    both = inertial(2.0 * case.qdd - 3.0 * other)
    assert_same(both, 2.0 * inertial(case.qdd) - 3.0 * inertial(other))


@SEEDS
def test_mass_matrix_by_columns_is_that_of_the_oracle(seed):
    case = Case(seed)
    n = case.robot.nv
    columns = case.robot.inverse_dynamics(
        np.tile(case.q, (n, 1)), np.zeros((n, n)), np.eye(n), gravity=WEIGHTLESS)
    M = case.lagrangian.mass_matrix(case.q)
    np.testing.assert_allclose(columns, M, rtol=0.0, atol=TOLERANCE * np.max(M))
    np.testing.assert_allclose(columns, columns.T, rtol=0.0, atol=TOLERANCE * np.max(M))
    assert np.all(np.linalg.eigvalsh(columns) > 0.0)


@SEEDS
def test_gravity_is_effort_at_rest_and_slope_of_the_potential(seed):
    case = Case(seed, damping=True)
    ours = case.robot.gravity(case.q)
    assert_same(ours, case.robot.inverse_dynamics(case.q, case.still, case.still))
    slope = [complex_step(case.lagrangian.potential_energy, case.q, unit)
             for unit in np.eye(case.robot.nv)]
    assert_same(ours, np.array(slope))


@SEEDS
def test_bias_is_inverse_dynamics_without_acceleration(seed):
    case = Case(seed, damping=True)
    assert_same(case.robot.bias(case.q, case.qd),
                case.robot.inverse_dynamics(case.q, case.qd, case.still))


@SEEDS
def test_bias_is_christoffel_s_coriolis_matrix_gravity_and_damping(seed):
    case = Case(seed, damping=True)
    damping = np.array([case.data.joint(name).damping for name in case.robot.joint_names])
    expected = (case.lagrangian.coriolis_matrix(case.q, case.qd) @ case.qd
                + case.lagrangian.gravity_effort(case.q) + damping * case.qd)
    assert_same(case.robot.bias(case.q, case.qd), expected)


@SEEDS
def test_coriolis_effort_grows_with_the_square_of_the_velocity(seed):
    case = Case(seed)
    once = case.robot.bias(case.q, case.qd, gravity=WEIGHTLESS)
    assert_same(case.robot.bias(case.q, -3.0 * case.qd, gravity=WEIGHTLESS), 9.0 * once)


@SEEDS
def test_power_of_the_efforts_is_the_rate_of_the_energy(seed):
    case = Case(seed)

    def energy(both):
        q, qd = np.split(both, 2)
        return case.lagrangian.kinetic_energy(q, qd) + case.lagrangian.potential_energy(q)

    rate = complex_step(energy, np.append(case.q, case.qd), np.append(case.qd, case.qdd))
    powers = case.qd * case.robot.inverse_dynamics(*case.state)
    assert abs(np.sum(powers) - rate) <= TOLERANCE * np.max(np.abs(powers))


@SEEDS
def test_a_wrench_is_dual_to_the_motion_of_its_link(seed):
    case = Case(seed)
    for link in case.moving_links():
        wrench = case.rng.normal(size=6) * 30.0
        total = case.robot.inverse_dynamics(*case.state)
        assert_same(case.robot.inverse_dynamics(*case.state, f_ext={link: wrench}),
                    total + case.duality(link, wrench), f'seed {seed}, {link},')


@SEEDS
def test_wrenches_on_several_links_add(seed):
    case = Case(seed)
    f_ext = {link: case.rng.normal(size=6) * 30.0 for link in case.robot.link_names}
    total = case.robot.inverse_dynamics(*case.state)
    separately = sum(case.effort_of(link, wrench) for link, wrench in f_ext.items())
    assert_same(case.robot.inverse_dynamics(*case.state, f_ext=f_ext), total + separately)


@SEEDS
def test_the_ground_takes_a_wrench_on_a_fixed_root_link(seed):
    case = Case(seed)
    assert not np.any(case.effort_of(case.data.root(), np.full(6, 100.0)))


@SEEDS
def test_the_moment_of_a_world_wrench_is_about_the_origin(seed):
    case = Case(seed)
    poses = case.lagrangian.link_poses(case.q)
    for link in case.moving_links():
        R, p, _ = poses[link]
        world = case.rng.normal(size=6) * 30.0
        moment, force = world[:3], world[3:]
        by_hand = np.concatenate([R.T @ (moment - np.cross(p, force)), R.T @ force])
        assert_same(
            case.robot.inverse_dynamics(*case.state, f_ext={link: Wrench(world, WORLD)}),
            case.robot.inverse_dynamics(*case.state, f_ext={link: by_hand}),
            f'seed {seed}, {link},')


@SEEDS
def test_a_wrench_in_another_frame_is_turned_and_moved(seed):
    case = Case(seed)
    poses = case.lagrangian.link_poses(case.q)
    moving = case.moving_links()
    for link, other in zip(moving, moving[1:] + moving[:1]):
        R, p, _ = poses[link]
        R_other, p_other, _ = poses[other]
        wrench = case.rng.normal(size=6) * 30.0
        moment, force = R_other @ wrench[:3], R_other @ wrench[3:]
        by_hand = np.concatenate(
            [R.T @ (moment + np.cross(p_other - p, force)), R.T @ force])
        expected = case.robot.inverse_dynamics(*case.state, f_ext={link: by_hand})
        assert_same(
            case.robot.inverse_dynamics(*case.state, f_ext={link: Wrench(wrench, other)}),
            expected, f'seed {seed}, {link} in {other},')


@SEEDS
def test_a_batch_is_its_states_one_by_one(seed):
    case = Case(seed, damping=True)
    states = random_states(seed, case.data.columns(), 5)
    link = case.moving_links()[-1]
    rows = case.rng.normal(size=(5, 6)) * 30.0
    batch = case.robot.inverse_dynamics(*states, f_ext={link: Wrench(rows, WORLD)})
    single = [case.robot.inverse_dynamics(*state, f_ext={link: Wrench(row, WORLD)})
              for *state, row in zip(*states, rows)]
    assert_same(batch, np.array(single), f'seed {seed}')
    assert_differs(batch[::-1], np.array(single))
