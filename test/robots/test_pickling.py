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
"""Robots go to other processes and into copies: the same numbers, and as read-only as before."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from copy import copy, deepcopy
import multiprocessing
import pickle

from four_bar import FourBar
import numpy as np
from patience import PATIENCE
import pytest
from ros2_rnea import ClosedChain, Loop, Robot
from ros2_rnea.model.description import Inertial, JointType, Pose
from small_robots import ARM, ARM_WITH_GRIPPER

STATES = np.random.default_rng(0).uniform(-2.0, 2.0, (4, 3, 3))
COPIES = pytest.mark.parametrize('copied', [
    lambda thing: pickle.loads(pickle.dumps(thing)), copy, deepcopy],
    ids=['pickle', 'copy', 'deepcopy'])


@pytest.fixture(scope='module')
def robot():
    """Return a robot with a mimic joint and a payload."""
    stone = Inertial(2.0, Pose((0.1, 0.0, 0.3)), (0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    return Robot.from_urdf(ARM_WITH_GRIPPER).with_payload('stone', 'lower', stone)


@COPIES
def test_a_copy_gives_the_same_efforts(robot, copied):
    other = copied(robot)
    assert np.array_equal(other.inverse_dynamics(*STATES[0]), robot.inverse_dynamics(*STATES[0]))
    assert other.payloads == robot.payloads
    bare = robot.without_payload('stone').gravity(STATES[0, 0])
    assert np.array_equal(other.without_payload('stone').gravity(STATES[0, 0]), bare)


@COPIES
@pytest.mark.parametrize('name', ['links', 'joints', 'mimics'])
def test_a_copy_is_read_only(robot, copied, name):
    mapping = getattr(copied(robot).tree, name)
    with pytest.raises(TypeError, match='item assignment'):
        mapping['another'] = 0
    with pytest.raises(ValueError, match='read-only'):
        copied(robot).effort_limits[0] = 1e9


@COPIES
def test_a_floating_base_is_copied(copied):
    robot = Robot.from_urdf(ARM, floating_base=True, massless_links=['base'])
    q = robot.neutral()
    assert np.array_equal(copied(robot).gravity(q), robot.gravity(q))


@COPIES
def test_a_closed_chain_is_copied(copied):
    bars = FourBar()
    ends = [Pose((bar.length, 0.0, 0.0)) for bar in (bars.coupler, bars.rocker)]
    pin = Loop('pin', 'coupler', 'rocker', JointType.REVOLUTE, *ends, axis=(0.0, 0.0, 1.0))
    chain = ClosedChain(Robot.from_urdf(bars.tree().urdf()), [pin], ['drive'])
    state = bars.motion(0.7, 2.0, 3.0).of_the_joints()
    ours, copys = (each.inverse_dynamics(*state).efforts for each in (chain, copied(chain)))
    assert np.array_equal(ours, copys)


@pytest.mark.slow
def test_processes_share_the_work(robot):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')) as pool:
        efforts = list(pool.map(robot.gravity, STATES[:, 0], timeout=PATIENCE))
    assert np.array_equal(efforts, [robot.gravity(q) for q in STATES[:, 0]])
