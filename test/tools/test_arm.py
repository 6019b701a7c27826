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
"""What is asked of an arm is what it can do."""

import numpy as np
import pytest

from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import (
    arm_of, carrying, CYCLE, gravity_when_tilted, MAX_DEFLECTION, PUSH_PERIOD, TIP_FORCE,
    WHOLE_SHARE,
)
from ros2_rnea.tools.demo.motion import push_share
from ros2_rnea.tools.models import Model, MODELS, seven_dof_arm, ur5
from ros2_rnea.tools.simulated_driver.engine import Engine
from ros2_rnea.tools.simulated_driver.posture import bent_pose, EASE, effort_share
from ros2_rnea.tools.simulated_driver.servo import gains_in

WEAK = seven_dof_arm().replace('effort="87"', 'effort="45"').replace('effort="12"', 'effort="9"')
WEAK_WRIST = seven_dof_arm().replace('effort="12"', 'effort="6"')
SLOW = seven_dof_arm().replace('velocity="2.175"', 'velocity="0.1"')
RAIL = """
<robot name="rail">
  <link name="floor">{inertial}</link>
  <joint name="slide" type="prismatic"><parent link="floor"/><child link="cart"/>
    <axis xyz="1 0 0"/><limit lower="-0.1" upper="0.3" effort="500" velocity="2"/></joint>
  <link name="cart">{inertial}</link>
  <joint name="hinge" type="continuous"><parent link="cart"/><child link="rod"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/></joint>
  <link name="rod">{inertial}</link>
  <joint name="end" type="fixed"><parent link="rod"/><child link="hook"/></joint>
  <link name="hook"/>
  <joint name="lamp_joint" type="fixed"><parent link="floor"/><child link="lamp"/></joint>
  <link name="lamp"/>
</robot>""".format(inertial="""<inertial><origin xyz="0 0 0.3"/><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>""")

LEG = """
<robot name="leg">
  <link name="body"/>
  <joint name="hip" type="continuous"><parent link="body"/><child link="thigh"/>
    <axis xyz="0 1 0"/></joint>
  <link name="thigh">{light}</link>
  <joint name="knee" type="continuous"><parent link="thigh"/><child link="foot"/>
    <origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/></joint>
  <link name="foot">{light}</link>
  <joint name="neck" type="continuous"><parent link="body"/><child link="head"/>
    <axis xyz="0 1 0"/></joint>
  <link name="head"><inertial><origin xyz="0 0 -0.01"/><mass value="20"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>""".format(light="""<inertial><origin xyz="0 0 -0.15"/><mass value="0.1"/>
  <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>""")
"""Its efforts are those of the push rather than those of the motion."""

GRIPPER = seven_dof_arm().replace('</robot>', """
  <joint name="drive" type="continuous"><parent link="tool"/><child link="pinion"/>
    <axis xyz="1 0 0"/><limit effort="1" velocity="9"/></joint>
  <link name="pinion"><inertial><mass value="0.004"/>
    <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>""")


@pytest.mark.parametrize('name', MODELS)
def test_the_arms_of_the_package_do_all_in_full(name):
    arm = arm_of(MODELS[name]())
    assert arm.sizes.tolist() == [1.0] * len(arm.joint_names)
    assert arm.tip_force.tolist() == list(TIP_FORCE)
    assert (arm.tip, arm.load.link, arm.load.mass, arm.still) == ('tool', 'tool', 2.0, ())
    assert arm.tilt == 30.0
    assert 300.0 < arm.rate_limit < 500.0


@pytest.mark.parametrize('model', [
    MODELS['panda'](), MODELS['ur5'](), Model(WEAK), Model(SLOW), Model(RAIL), Model(LEG)],
    ids=['panda', 'ur5', 'weak', 'slow', 'rail', 'leg'])
def test_motion_push_and_load_are_within_all_limits(model):
    arm = arm_of(model)
    engine, robot = Engine(arm.urdf), Robot.from_urdf(arm.urdf)
    times = np.arange(0.0, 8.9, 0.01)
    q, qd, qdd = arm.motion(8.9).at(times)
    lower, upper = engine.position_limits
    assert np.all((q > lower) & (q < upper))
    limits = {joint.name: joint.limits for joint in parse_urdf(arm.urdf).joints}
    fastest = np.array([limits[name].velocity or np.inf for name in arm.joint_names])
    assert np.all(np.abs(qd).max(axis=0) < fastest)
    force = push_share(times, 8.9)[:, None] * arm.tip_force
    push = {arm.tip: np.hstack((np.zeros((len(times), 3)), force))}
    for effort in (robot.inverse_dynamics(q, qd, qdd, f_ext=push),
                   carrying(robot, arm.load).inverse_dynamics(q, qd, qdd),
                   robot.inverse_dynamics(q, qd, qdd, gravity=gravity_when_tilted(arm.tilt))):
        assert effort_share(engine, effort) < WHOLE_SHARE + 0.02
        assert np.abs(np.diff(effort, axis=0)).max() / 0.01 < arm.rate_limit
    assert np.abs(q - arm.start).max() > 0.01


@pytest.mark.parametrize('model', [MODELS['panda'](), Model(RAIL), Model(LEG)],
                         ids=['panda', 'rail', 'leg'])
def test_a_changed_push_is_balanced_with_one_command(model):
    arm = arm_of(model)
    robot = Robot.from_urdf(arm.urdf)
    times = np.arange(0.0, 8.9, CYCLE)
    shares = push_share(PUSH_PERIOD * np.floor(times / PUSH_PERIOD + 1e-6), 8.9)
    push = np.hstack((np.zeros((len(times), 3)), shares[:, None] * arm.tip_force))
    effort = robot.inverse_dynamics(*arm.motion(8.9).at(times), f_ext={arm.tip: push})
    assert np.abs(np.diff(effort, axis=0)).max() / CYCLE < arm.rate_limit


@pytest.mark.parametrize(('load_mass', 'tip_force', 'in_full'), [
    (1e-3, (1e-3, 0.0, 0.0), True), (2.0, (1e-3, 0.0, 0.0), False),
    (1e-3, (60.0, 40.0, -99.0), False)])
def test_a_weak_wrist_gets_a_smaller_load_and_push(monkeypatch, load_mass, tip_force, in_full):
    monkeypatch.setattr('ros2_rnea.tools.demo.arm.LOAD_MASS', load_mass)
    monkeypatch.setattr('ros2_rnea.tools.demo.arm.TIP_FORCE', tip_force)
    arm = arm_of(Model(WEAK_WRIST, MODELS['panda']().start))
    in_full_each = (arm.sizes.min() == 1.0, arm.load.mass == load_mass,
                    arm.tip_force[0] == tip_force[0])
    assert in_full_each == (in_full,) * 3


def test_a_mount_is_tilted_as_far_as_motors_bear():
    turntable = RAIL.replace('axis xyz="1 0 0"', 'axis xyz="0 0 1"').replace(
        'type="continuous"', 'type="prismatic"').replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" effort="11" velocity="1"/>')
    assert arm_of(Model(turntable)).tilt < 30.0
    assert gravity_when_tilted(0.0) == pytest.approx([0.0, 0.0, -9.81])
    assert gravity_when_tilted(90.0) == pytest.approx([9.81, 0.0, 0.0])


def test_a_light_arm_picks_up_what_goes_with_its_mass():
    arm = arm_of(Model(RAIL))
    assert arm.load.mass == pytest.approx(0.12 * 4.0)
    assert np.linalg.norm(arm.tip_force) == pytest.approx(0.24 * np.linalg.norm(TIP_FORCE))


def test_a_slow_joint_moves_less_and_the_others_in_full():
    sizes = arm_of(Model(SLOW, MODELS['panda']().start)).sizes
    assert np.all(sizes[:4] < 0.1)
    assert sizes[4:].tolist() == [1.0] * 3


def test_the_tip_is_the_last_link_of_the_longest_chain():
    assert arm_of(Model(RAIL)).tip == 'hook'
    assert arm_of(Model(RAIL), 'cart').tip == 'cart'


def test_the_tip_is_not_the_weak_drive_of_a_gripper():
    arm = arm_of(Model(GRIPPER))
    assert arm.tip == 'tool'
    engine, robot = Engine(arm.urdf), Robot.from_urdf(arm.urdf)
    stiffness, _ = gains_in(arm.start, engine)
    state = np.zeros((2, 8))
    weight = (carrying(robot, arm.load).inverse_dynamics(arm.start, *state)
              - robot.inverse_dynamics(arm.start, *state))
    assert np.all(np.abs(weight) < MAX_DEFLECTION * stiffness)
    assert arm_of(Model(GRIPPER), 'pinion').load.link == 'pinion'


def test_sliding_joints_are_shown_in_millimetres():
    arm = arm_of(Model(RAIL))
    assert arm.slides.tolist() == [True, False]
    assert arm.displayed(np.array([0.01, np.pi])).tolist() == pytest.approx([10.0, 180.0])


@pytest.mark.parametrize(('urdf', 'tip', 'reason'), [
    (seven_dof_arm().replace('effort="87"', 'effort="5"'), '', 'cannot hold it'),
    (seven_dof_arm().replace('effort="87"', 'effort="37"'), '',
     'cannot do 5% of the motion of the demo with 80% of .* limits: joint2 needs 31.33 of 29.6 '),
    (seven_dof_arm(), 'gripper', "no link 'gripper'; it has link0, .*tool"),
], ids=['does not hold', 'does not move', 'no such link'])
def test_what_cannot_be_shown_is_refused_with_the_reason(urdf, tip, reason):
    with pytest.raises(ArgumentError, match=reason):
        arm_of(Model(urdf), tip)


def test_an_arm_waits_bent_unless_that_takes_much_effort():
    strong = Engine(ur5().urdf)
    assert bent_pose(strong).tolist() == pytest.approx([-0.6, 0.6, -0.6, 0.6, -0.6, 0.6])
    weak = Engine(seven_dof_arm().replace('effort="87"', 'effort="120"'))
    assert np.diff(bent_pose(weak)[:3]) == pytest.approx([0.3, -0.3])  # a quarter of the bend
    assert effort_share(weak, weak.holding_effort(bent_pose(weak))) <= EASE
    weakest = Engine(seven_dof_arm().replace('effort="87"', 'effort="40"'))
    assert bent_pose(weakest)[:3].tolist() == [0.0, 0.0, 0.0]  # where it is held with the least


def test_motors_without_limits_are_never_loaded():
    engine = Engine(RAIL)
    assert engine.effort_limits.tolist() == [500.0, np.inf]
    assert effort_share(engine, np.array([250.0, 1e9])) == 0.5
