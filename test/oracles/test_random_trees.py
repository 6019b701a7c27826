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
"""Random branched trees: the package against the spatial oracle and against Pinocchio."""

from __future__ import annotations

from dataclasses import replace

from comparison import assert_differs, assert_same
import numpy as np
import pytest
from random_robots import random_states, random_tree
from robot_data import JointData, LinkData
from ros2_rnea.dynamics.wrenches import WORLD, Wrench
from ros2_rnea.robots.robot import Robot
from rotations import rotation_about, rotation_from_rpy, rpy_from_rotation
from seeds import for_seeds
from spatial_recursion import (
    Articulation,
    force_transform,
    spatial_inverse_dynamics,
    spatial_tree,
    world_transforms,
)

PLAIN = ('revolute', 'continuous', 'prismatic', 'fixed')
STATES = 20

# what: arguments of random_tree, floating base
TREES = {
    'branches and fixed joints': ({}, False),
    'floating base': ({}, True),
    'mimics': ({'mimics': 3}, False),
    'damping': ({'damping': True}, False),
    'planar joints': ({'kinds': (*PLAIN, 'planar')}, False),
    'floating joints': ({'kinds': (*PLAIN, 'floating')}, False),
    'all at once': (
        {'kinds': (*PLAIN, 'planar', 'floating'), 'mimics': 3, 'damping': True, 'size': 20},
        True),
}
EACH_TREE = pytest.mark.parametrize('what', TREES)
SEEDS = for_seeds(15)


def make(what, seed):
    """Return a random tree, the package's robot, and whether its base floats."""
    options, floating_base = TREES[what]
    data = random_tree(seed, **options)
    return data, Robot.from_urdf(data.urdf(), floating_base=floating_base), floating_base


def wrenches(data, seed):
    """Return a wrench on every second link."""
    rng = np.random.default_rng(seed)
    return {link.name: rng.normal(size=6) * 20.0 for link in data.links[::2]}


@EACH_TREE
@SEEDS
def test_robot_agrees_with_pinocchio(what, seed):
    pytest.importorskip('pinocchio')
    from pinocchio_oracle import PinocchioOracle
    data, robot, floating_base = make(what, seed)
    oracle = PinocchioOracle(data.urdf(), floating_base)
    assert robot.joint_names == oracle.joint_names
    states, f_ext = oracle.random_states(seed, STATES), wrenches(data, seed)
    for forces in (None, f_ext):
        assert_same(robot.inverse_dynamics(*states, f_ext=forces),
                    oracle.inverse_dynamics(*states, forces), f'seed {seed}')


@EACH_TREE
@SEEDS
def test_robot_agrees_with_the_spatial_recursion(what, seed):
    data, robot, floating_base = make(what, seed)
    columns = data.columns(floating_base)
    assert robot.joint_names == tuple(column.name for column in columns)
    state, f_ext = random_states(seed, columns), wrenches(data, seed)
    expected = spatial_inverse_dynamics(data, *state, f_ext, floating_base=floating_base)
    assert_same(robot.inverse_dynamics(*state, f_ext=f_ext),
                expected + viscous_damping(data, columns, state[1]), f'seed {seed}')


def viscous_damping(data, columns, qd):
    """Return damping * velocity; a mimic joint's works on the joint that it follows."""
    own = {column.name: column.v for column in columns}
    tau = np.zeros_like(qd)
    for joint in data.joints:
        if joint.damping:
            mimic = joint.mimic
            v, multiplier = own[mimic.joint if mimic else joint.name], (
                mimic.multiplier if mimic else 1.0)
            tau[v] += multiplier * joint.damping * multiplier * qd[v]
    return tau


@pytest.mark.parametrize('floating_base', [False, True], ids=['fixed base', 'floating base'])
@SEEDS
def test_world_wrenches_are_mapped_by_the_dual_transform(floating_base, seed):
    data = random_tree(seed, kinds=PLAIN)
    robot = Robot.from_urdf(data.urdf(), floating_base=floating_base)
    state = random_states(seed, data.columns(floating_base))
    tree = spatial_tree(data, floating_base)
    X = world_transforms(tree, Articulation(data, floating_base).positions(state[0]))
    on_bodies = {name: force_transform(X[tree.names.index(name)]) @ wrench
                 for name, wrench in wrenches(data, seed).items()}
    in_world = {name: Wrench(wrench, WORLD) for name, wrench in wrenches(data, seed).items()}
    assert_same(
        robot.inverse_dynamics(*state, f_ext=in_world),
        spatial_inverse_dynamics(data, *state, on_bodies, floating_base=floating_base),
        f'seed {seed}')


@SEEDS
def test_the_length_of_an_axis_does_not_matter(seed):
    data = random_tree(seed, kinds=PLAIN)
    stretched = replace(data, joints=tuple(
        replace(joint, axis=3.0 * joint.axis) for joint in data.joints))
    state = random_states(seed, data.columns())
    assert_same(Robot.from_urdf(stretched.urdf()).inverse_dynamics(*state),
                spatial_inverse_dynamics(data, *state), f'seed {seed}')


@SEEDS
def test_planar_axes_turn_with_the_normal_by_the_shortest_way(seed):
    """The same plane, once by its normal and once by a turned frame around a plain joint."""
    rng = np.random.default_rng(seed)
    data = random_tree(seed, size=6, kinds=PLAIN)
    turn_axis = np.append(rng.normal(size=2), 0.0)  # in the plane: the turn has no twist
    turn = rotation_about(turn_axis / np.linalg.norm(turn_axis), rng.uniform(0.5, 2.5))
    rpy = rng.uniform(-3.0, 3.0, 3)
    by_normal = JointData('plane', 'planar', 'floor', data.root(), rpy=rpy, axis=turn[:, 2])
    by_frame = replace(by_normal, child='inside', axis=np.array([0.0, 0.0, 1.0]),
                       rpy=rpy_from_rotation(rotation_from_rpy(rpy) @ turn))
    back = JointData('back', 'fixed', 'inside', data.root(), rpy=rpy_from_rotation(turn.T))
    normal_robot = replace(data, joints=(by_normal, *data.joints),
                           links=(*data.links, LinkData('floor')))
    frame_robot = replace(data, joints=(by_frame, back, *data.joints),
                          links=(*data.links, LinkData('floor'), LinkData('inside')))
    state = random_states(seed, normal_robot.columns())
    ours = Robot.from_urdf(normal_robot.urdf()).inverse_dynamics(*state)
    assert_same(ours, spatial_inverse_dynamics(frame_robot, *state), f'seed {seed}')
    # The spatial oracle takes no notice of a planar joint's axis: the turn matters.
    assert_differs(spatial_inverse_dynamics(normal_robot, *state), ours)
