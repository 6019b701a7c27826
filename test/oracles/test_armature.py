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
"""Reflected rotor inertias, set while the robot runs: armature in Pinocchio and MuJoCo."""

from __future__ import annotations

from comparison import assert_differs, assert_same
from example_robots import example_urdf
import numpy as np
from paired_robots import for_each_engine
import pytest
from ros2_rnea import AdjustableRobot, Robot

pytest.importorskip('pinocchio')
pytest.importorskip('mujoco')
from mujoco_oracle import MujocoOracle  # noqa: E402, I100 (needs mujoco)
from pinocchio_oracle import PinocchioOracle  # noqa: E402, I100 (needs pinocchio)

URDF = example_urdf('panda_description/urdf/panda.urdf')  # with a finger that mimics the other
STATES = 50


@pytest.fixture(scope='module')
def armatures():
    joints = Robot.from_urdf(URDF).joint_names
    return dict(zip(joints, np.random.default_rng(1).uniform(0.01, 2.0, len(joints)).tolist()))


@pytest.fixture
def robot(engine, armatures):
    """Return a robot whose armatures were set after it was made."""
    robot = AdjustableRobot.of(Robot.from_urdf(URDF, engine=engine), (), ['armature'])
    robot.set_joint_parameters('armature', armatures)
    return robot


@pytest.fixture(scope='module')
def pinocchio(armatures):
    oracle = PinocchioOracle(URDF)
    armature = oracle.model.armature.copy()
    for joint, value in armatures.items():
        armature[oracle.model.joints[oracle.model.getJointId(joint)].idx_v] = value
    oracle.model.armature = armature
    return oracle


@pytest.fixture(scope='module')
def mujoco(armatures):
    oracle = MujocoOracle(URDF)
    for joint, value in armatures.items():
        oracle.model.dof_armature[oracle.model.joint(joint).dofadr[0]] = value
    return oracle


@for_each_engine
@pytest.mark.parametrize('oracle', ['pinocchio', 'mujoco'])
def test_efforts_mass_matrix_and_momentum_have_them(robot, oracle, request):
    oracle = request.getfixturevalue(oracle)
    q, qd, qdd = oracle.random_states(1, STATES)
    efforts, mass_matrices = oracle.inverse_dynamics(q, qd, qdd), oracle.mass_matrix(q)
    assert_same(robot.inverse_dynamics(q, qd, qdd), efforts)
    assert_differs(Robot.from_urdf(URDF).inverse_dynamics(q, qd, qdd), efforts)
    assert_same(np.reshape(robot.mass_matrix(q), (STATES, -1)),
                np.reshape(mass_matrices, (STATES, -1)))
    assert_same(robot.joint_momentum(q, qd)[:, 0], np.einsum('nij,nj->ni', mass_matrices, qd))


@for_each_engine
def test_accelerations_have_them(robot, pinocchio):
    q, qd, qdd = pinocchio.random_states(2, STATES)
    accelerations = robot.forward_dynamics(q, qd, pinocchio.inverse_dynamics(q, qd, qdd))
    np.testing.assert_allclose(accelerations, qdd, rtol=1e-9, atol=1e-9 * np.max(np.abs(qdd)))
