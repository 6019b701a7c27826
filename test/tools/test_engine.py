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
"""The simulated arm moves as mechanics says, and agrees with ros2_rnea's own."""

import numpy as np
import pytest

from ros2_rnea.errors import ArgumentError, DescriptionError
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import carrying
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea.tools.simulated_driver.description import Load

engine_module = pytest.importorskip('ros2_rnea.tools.simulated_driver.engine')

POSE = (0.2, -0.4, 0.3, -2.0, 0.1, 1.7, 0.6)
ARM = seven_dof_arm()

PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <joint name="hinge" type="continuous">
    <parent link="base"/> <child link="rod"/> <axis xyz="0 1 0"/> <dynamics damping="0.1"/>
  </joint>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 0.5"/> <mass value="2"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="end" type="fixed">
    <parent link="rod"/> <child link="tip"/>
    <origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>
  </joint>
  <link name="tip"/>
</robot>
"""


@pytest.fixture
def engine():
    """Return the demo's arm at rest in a pose."""
    engine = engine_module.Engine(ARM)
    engine.place(POSE)
    return engine


@pytest.fixture(scope='module')
def robot():
    """Return the demo's arm as ros2_rnea reads it."""
    return Robot.from_urdf(ARM)


def test_names_and_limits_are_those_of_the_description(engine, robot):
    assert engine.joint_names == robot.joint_names
    assert engine.effort_limits.tolist() == robot.effort_limits.tolist()
    assert engine.damping.tolist() == robot.friction(np.ones(7)).tolist()


def test_engine_and_robot_agree_on_gravity(engine, robot):
    poses = engine.random_poses(20, seed=3)
    for pose in poses:
        holding = engine.holding_effort(pose)
        assert robot.gravity(pose) == pytest.approx(holding, rel=1e-9, abs=1e-10)


def test_engine_and_robot_agree_on_a_motion(engine, robot):
    effort = np.array([3.0, -40.0, 4.0, 25.0, 0.5, 2.0, 0.3])
    velocities = [engine.velocities]
    for _ in range(40):
        engine.advance(effort, steps=1)
        velocities.append(engine.velocities)
        if len(velocities) == 21:
            middle = engine.positions
    acceleration = (velocities[21] - velocities[19]) / (2.0 * engine.step)
    assert np.max(np.abs(acceleration)) > 1.0
    needed = robot.inverse_dynamics(middle, velocities[20], acceleration)
    assert needed == pytest.approx(effort, abs=2e-3)


def test_engine_and_robot_agree_on_a_push(engine, robot):
    wrench = np.array([0.5, -1.0, 2.0, 12.0, 8.0, -20.0])
    engine.push('tool', wrench)
    balance = robot.inverse_dynamics(POSE, np.zeros(7), np.zeros(7), f_ext={'tool': wrench})
    engine.advance(balance, steps=1)
    assert engine.velocities == pytest.approx(np.zeros(7), abs=1e-9)


@pytest.mark.parametrize(('wrench', 'torque'), [
    ((0.0, 0.0, 0.0, 0.0, -3.0, 0.0), 3.0),   # the tip's -y is the rod's x, with the lever of 1 m
    ((0.0, 0.0, 0.0, 3.0, 0.0, 0.0), 0.0),    # along the hinge
    ((4.0, 0.0, 0.0, 0.0, 0.0, 0.0), 4.0),    # the tip's x is the rod's y, the hinge
])
def test_a_push_is_in_the_axes_of_its_link(wrench, torque):
    pendulum = engine_module.Engine(PENDULUM)
    pendulum.place([0.0])
    pendulum.push('tip', wrench)
    pendulum.advance([0.0], steps=1)
    inertia = 0.01 + 2.0 * 0.5**2
    assert pendulum.velocities[0] == pytest.approx(torque / inertia * pendulum.step, abs=1e-6)


def test_dry_friction_holds_an_arm_also_with_a_load(engine):
    engine.set_dry_friction(np.full(7, 3.0))
    engine.carry(Load('tool', 0.1, (0.0, 0.0, 0.0), (1e-4, 0.0, 0.0, 1e-4, 0.0, 1e-4)))
    assert engine.dry_friction.tolist() == [3.0] * 7
    held = engine_module.Engine(ARM).holding_effort(POSE)
    engine.advance(held, steps=1000)
    assert engine.positions == pytest.approx(POSE, abs=5e-3)


def test_a_push_lasts_until_the_next(engine):
    held = engine.holding_effort(POSE)
    engine.push('tool', (0.0, 0.0, 0.0, 0.0, 0.0, 20.0))
    engine.push('tool', np.zeros(6))
    engine.advance(held, steps=1)
    assert engine.velocities == pytest.approx(np.zeros(7), abs=1e-12)


def test_the_description_damps_the_joints():
    pendulum = engine_module.Engine(PENDULUM)
    pendulum.place([np.pi])
    pendulum.advance([3.0], steps=1)
    start = pendulum.velocities[0]
    pendulum.place([np.pi])
    undamped = engine_module.Engine(PENDULUM.replace('damping="0.1"', 'damping="0"'))
    undamped.place([np.pi])
    undamped.advance([3.0], steps=1)
    assert 0.0 < start < undamped.velocities[0]


def test_a_light_joint_with_strong_damping_stays_calm():
    pendulum = engine_module.Engine(PENDULUM.replace('damping="0.1"', 'damping="9000"'))
    pendulum.place([1.0])
    for _ in range(20):
        pendulum.advance([450.0], steps=1)
    assert pendulum.velocities[0] == pytest.approx(0.05, rel=0.05)


def test_random_poses_are_within_the_limits_and_repeatable(engine):
    poses = engine.random_poses(50, seed=1)
    assert np.array_equal(poses, engine.random_poses(50, seed=1))
    assert poses[:, 3].max() < -0.0698
    assert poses[:, 5].min() > -0.0175
    assert not np.array_equal(poses, engine.random_poses(50, seed=2))


def test_a_push_on_an_unknown_link_names_the_known_ones(engine):
    with pytest.raises(ArgumentError, match="no link 'gripper'; it has .*hand, tool"):
        engine.push('gripper', np.zeros(6))


def test_engine_and_robot_agree_on_the_mass_matrix(engine, robot):
    assert engine.mass_matrix(POSE) == pytest.approx(robot.mass_matrix(POSE), abs=1e-12)


LOAD = Load('tool', 2.0, (0.02, 0.01, 0.05), (0.01, 0.001, 0.002, 0.02, 0.003, 0.015))


def test_engine_and_robot_agree_on_a_load(engine, robot):
    engine.carry(LOAD)
    loaded = carrying(robot, LOAD)
    assert engine.mass_matrix(POSE) == pytest.approx(loaded.mass_matrix(POSE), abs=1e-12)
    assert engine.holding_effort(POSE) == pytest.approx(loaded.gravity(POSE), rel=1e-9)


def test_a_load_is_picked_up_in_motion_and_released(engine):
    held = engine.holding_effort(POSE)
    engine.advance(held + 5.0, steps=20)
    positions, velocities = engine.positions, engine.velocities
    engine.set_gravity((0.0, 0.0, 5.0))
    engine.carry(LOAD)
    assert engine.positions.tolist() == positions.tolist()
    assert engine.velocities.tolist() == velocities.tolist()
    engine.carry(LOAD._replace(mass=0.0))
    assert engine.holding_effort(POSE) == pytest.approx(held * 5.0 / -9.81)


@pytest.mark.parametrize(('load', 'reason'), [
    (Load('gripper', 1.0), "no link 'gripper'"),
    (Load('tool', 1.0, inertia=(1.0, 0.0, 0.0, 0.1, 0.0, 0.1)), 'a load of 1.0 kg is refused'),
])
def test_a_load_that_cannot_be_is_refused_and_changes_nothing(engine, load, reason):
    held = engine.holding_effort(POSE)
    with pytest.raises(ArgumentError, match=reason):
        engine.carry(load)
    assert engine.holding_effort(POSE).tolist() == held.tolist()


def test_a_tilted_mount_is_gravity_in_another_direction(engine, robot):
    gravity = (4.9, -1.0, -8.4)
    engine.set_gravity(gravity)
    assert engine.holding_effort(POSE) == pytest.approx(robot.gravity(POSE, gravity), rel=1e-9)


def test_random_poses_without_limits_are_within_half_a_turn():
    pendulum = engine_module.Engine(PENDULUM)
    assert pendulum.position_limits.tolist() == [[-np.inf], [np.inf]]
    poses = pendulum.random_poses(100, seed=1)
    assert -np.pi <= poses.min() < -2.5 < 2.5 < poses.max() <= np.pi


def test_an_impossible_inertia_is_changed_for_the_engine_alone():
    urdf = PENDULUM.replace('izz="0.01"', 'izz="0.1"')
    simulated = engine_module.Engine(urdf)
    assert simulated.urdf == urdf
    [change] = simulated.balanced
    assert change.given == pytest.approx((0.01, 0.01, 0.1))
    assert change.used[0] + change.used[1] == pytest.approx(change.used[2], rel=1e-5)
    cube = (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)
    simulated.carry(engine_module.Load(change.link, 1.0, (0.0, 0.0, 0.1), cube))


@pytest.mark.parametrize(('urdf', 'reason'), [
    (PENDULUM.replace('izz="0.01"', 'izz="-0.01"'), 'correct the signs'),
    (PENDULUM.replace('<mass value="2"/>', '<mass value="0"/>').replace('"0.01"', '"0"'),
     'has mass 0 kg and inertia .* give the link both, or make that joint fixed'),
    ('<robot name="x"><link name="a"/></robo>', 'not XML'),
    ('<robot name="x"><link name="a"/></robot>', 'no moving joint'),
])
def test_a_description_that_cannot_be_simulated_is_an_error(urdf, reason):
    with pytest.raises(DescriptionError, match=reason):
        engine_module.Engine(urdf)
