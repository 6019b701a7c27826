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
"""Real robots: the package has the efforts of Pinocchio, to rounding."""

from __future__ import annotations

from functools import cache

from comparison import assert_same
from example_robots import example_urdf
import numpy as np
import pytest
from ros2_rnea.robots.robot import Robot
from seeds import for_seeds

pytest.importorskip('pinocchio')
from pinocchio_oracle import PinocchioOracle  # noqa: E402, I100 (needs pinocchio)

STATES = 1000
STATES_WITH_WRENCHES = 50
TRIALS_WITH_WRENCHES = 5

# name: file, floating base, nv
ROBOTS = {
    'panda': ('panda_description/urdf/panda.urdf', False, 8),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', False, 6),
    'tiago': ('tiago_description/robots/tiago.urdf', False, 48),
    'talos': ('talos_data/robots/talos_full_v2.urdf', True, 38),
    'anymal': ('anymal_b_simple_description/robots/anymal.urdf', True, 18),
}
EACH_ROBOT = pytest.mark.parametrize('name', ROBOTS)


@cache
def load(name):
    """Return the package's robot and Pinocchio's of the same text."""
    path, floating_base, _ = ROBOTS[name]
    urdf = example_urdf(path)
    return (Robot.from_urdf(urdf, floating_base=floating_base),
            PinocchioOracle(urdf, floating_base))


@EACH_ROBOT
def test_joints_are_depth_first_in_file_order_without_mimics(name):
    robot, oracle = load(name)
    assert robot.joint_names == oracle.joint_names
    assert (robot.nq, robot.nv) == (oracle.nq, oracle.nv)
    assert robot.nv == ROBOTS[name][2]


@EACH_ROBOT
def test_efforts_of_random_states(name):
    robot, oracle = load(name)
    seed = 1
    states = oracle.random_states(seed, STATES)
    assert_same(robot.inverse_dynamics(*states), oracle.inverse_dynamics(*states), f'seed {seed}')


@EACH_ROBOT
def test_efforts_under_another_gravity(name):
    robot, oracle = load(name)
    seed, gravity = 2, (1.2, -3.4, 5.6)
    states = oracle.random_states(seed, STATES_WITH_WRENCHES)
    assert_same(robot.inverse_dynamics(*states, gravity=gravity),
                oracle.inverse_dynamics(*states, gravity=gravity), f'seed {seed}')


@EACH_ROBOT
@for_seeds(TRIALS_WITH_WRENCHES)
def test_efforts_under_wrenches_on_random_links(name, seed):
    robot, oracle = load(name)
    rng = np.random.default_rng(seed)
    links = rng.choice(robot.link_names, size=4, replace=False)
    f_ext = {str(link): rng.normal(size=6) * 100.0 for link in links}
    states = oracle.random_states(seed, STATES_WITH_WRENCHES)
    assert_same(robot.inverse_dynamics(*states, f_ext=f_ext),
                oracle.inverse_dynamics(*states, f_ext=f_ext), f'seed {seed}, {list(f_ext)}')
