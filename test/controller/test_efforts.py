# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http:#www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The efforts of the controller's core: those of the library, for 1000 states of 20 robots."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import NamedTuple

from control_core import Core, Mode, model, model_file, Reason
from example_robots import example_urdf
from exported import equipped
import numpy as np
import pytest
from random_robots import random_tree
from ros2_rnea import Robot
from ros2_rnea.export.model_file import encoded
from ros2_rnea.robots.sent_terms import Terms
from small_robots import ARM, ARM_WITH_GRIPPER

EXAMPLES = {
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'ur10': 'ur_description/urdf/ur10_robot.urdf',
    'panda': 'panda_description/urdf/panda.urdf',
    'talos arm': 'talos_data/robots/talos_left_arm.urdf',
    'xarm7': 'xarm_description/urdf/xarm7.urdf',
    'kinova': 'kinova_description/robots/kinova.urdf',
}
SMALL = {'arm': ARM, 'gripper': ARM_WITH_GRIPPER}
TREES = {f'tree {seed}': seed for seed in range(12)}
ROBOTS = (*EXAMPLES, *SMALL, *TREES)
STATES = 50
"""For each of twenty robots, shared by four modes and five kinds of hardware."""

HARDWARE = (
    (Terms.FULL, ()), (Terms.NO_GRAVITY_NO_FRICTION, (0.0, 0.0, -9.81)), (Terms.NO_GRAVITY, ()),
    (Terms.GRAVITY_ONLY, ()), (Terms.NO_GRAVITY_NO_CORIOLIS, (1.0, 2.0, -9.0)))
"""The terms that are sent, and the gravity that the hardware compensates; empty: the true one."""

PERIOD, DELAY = 0.001, 0.002
KP, KD = 10.0, 6.5
GUIDING, BRAKING = 0.8, 0.15


def robot_of(name):
    """Return a robot of joints with one coordinate, and everything that an effort consists of."""
    if name in EXAMPLES:
        text = example_urdf(EXAMPLES[name])
    elif name in SMALL:
        text = SMALL[name]
    else:
        text = random_tree(TREES[name], size=9, damping=True, mimics=2).urdf()
    return equipped(Robot.from_urdf(text, engine='textbook'))


class Hardware(NamedTuple):
    """What the hardware of a robot adds by itself."""

    robot: Robot
    left_out: tuple[str, ...]
    gravity: tuple[float, ...]

    def sent(self, q, qd, qdd, friction_qd):
        """Return what is sent for a motion: whole, what is left out, and the size of the terms."""
        robot, rest = self.robot, np.zeros(len(qd))
        if 'inertia' in self.left_out:
            qd = qdd = rest
        terms = {
            'gravity': robot.gravity(q), 'coriolis': robot.coriolis_effort(q, qd),
            'inertia': robot.mass_matrix(q) @ qdd, 'friction': robot.friction(friction_qd),
            'spring': robot.spring(q)}
        size = max(np.abs(term).max() for term in terms.values())
        total = sum(terms.values())
        for name in set(terms) & set(self.left_out):
            given = {'gravity': self.gravity} if name == 'gravity' and self.gravity else {}
            total = total - (robot.gravity(q, **given) if name == 'gravity' else terms[name])
        return total, size


def drawn(rng, core, controlled, count):
    """Put a core in a random state, and return the reference as whole vectors."""
    core.q[:], core.qd[:] = rng.uniform(-3.0, 3.0, count), rng.uniform(-1.5, 1.5, count)
    core.refer(
        core.q[controlled] + rng.uniform(-0.3, 0.3, len(controlled)),
        *rng.uniform(-1.5, 1.5, (2, len(controlled))))
    core.reference[:] = rng.uniform(-20.0, 20.0, len(controlled))
    whole = np.zeros((3, count))
    whole[0] = core.q
    for row, values in zip(whole, (core.position, core.velocity, core.acceleration)):
        row[controlled] = values
    return whole


def expected(mode, hardware, core, controlled, reference):
    """Return the model's part of an effort, the other part, and the size of their terms."""
    robot, rest = hardware.robot, np.zeros(len(core.q))
    position, velocity, acceleration = reference
    wanted = rest.copy()  # the acceleration of feedback or damping
    if mode is Mode.GRAVITY_COMPENSATION:
        model, size = hardware.sent(core.q, rest, rest, rest)
        wanted[controlled] = -core.qd[controlled] / GUIDING
    elif mode is Mode.FEEDFORWARD:
        model, size = hardware.sent(position, velocity, acceleration, velocity)
    elif mode is Mode.COMPUTED_TORQUE:
        still = rest if 'inertia' in hardware.left_out else velocity
        model, size = hardware.sent(core.q, core.qd, acceleration, still)
        wanted[controlled] = (KP * (position - core.q) + KD * (velocity - core.qd))[controlled]
    else:
        model, size = hardware.sent(core.q, core.qd, rest, rest)
    other = robot.mass_matrix(core.q) @ wanted
    if mode is Mode.EFFORT:
        other[controlled] = core.reference
    return model[controlled], other[controlled], max(size, np.abs(other).max())


@pytest.mark.parametrize('name', ROBOTS)
def test_efforts_are_those_of_the_library(name, library):
    robot = robot_of(name)
    rng = np.random.default_rng(len(name) + ROBOTS.index(name))
    whole, joints = model(robot), tuple(robot.tree.joints)
    for number in range(STATES):
        mode = Mode(number % 4)
        terms, gravity = HARDWARE[number // 4 % len(HARDWARE)]
        hardware = Hardware(robot, terms.left_out, gravity)
        content = encoded(replace(whole, left_out=terms.left_out, arm_gravity=gravity))
        measured = joints[-1:] if len(joints) > 2 else ()
        core = Core(
            library, content, mode=mode, joints=joints[:len(joints) - len(measured)],
            **({'measured_joints': measured} if measured else {}),
            passes_position=mode is Mode.FEEDFORWARD, position_gains=[KP], velocity_gains=[KD],
            effort_limits=[1e4], blend_time=0.0, guiding_time=GUIDING, braking_time=BRAKING,
            period=PERIOD, feedback_delay=DELAY, hold_tolerance=1e3, path_tolerance=1e3,
            trip_velocity_factor=1e3)
        controlled = [core.place(joint) for joint in joints[:len(joints) - len(measured)]]
        reference = drawn(rng, core, controlled, robot.nv)
        ours, other, size = expected(mode, hardware, core, controlled, reference)
        assert core.start(ours)
        for _ in range(2):  # in the first cycle, feedback begins
            assert core.update(PERIOD)
        assert core.reason is Reason.NONE
        assert np.abs(core.effort - ours - other).max() <= 1e-12 * size, (mode, terms)
        assert np.abs(core.model_effort - ours).max() <= 1e-12 * size


@pytest.mark.parametrize('name', ['ur5', 'panda', 'gripper'])
def test_other_parameters_are_those_of_the_library(name, library):
    robot = robot_of(name)
    joints = tuple(robot.tree.joints)
    core = Core(library, model_file(robot), joints=joints, effort_limits=[1e4], blend_time=0.0,
                guiding_time=0.0)
    rng = np.random.default_rng(5)
    for _ in range(20):
        robot.set_gravity(rng.uniform(-10.0, 10.0, 3))
        for parameter in ('damping', 'friction_offset', 'spring_stiffness', 'armature'):
            robot.set_joint_parameters(
                parameter, {joint: float(rng.uniform(0.0, 2.0)) for joint in joints})
        core.q[:] = rng.uniform(-3.0, 3.0, robot.nv)
        holding = robot.inverse_dynamics(core.q, np.zeros(robot.nv), np.zeros(robot.nv))
        assert core.refusal(robot.parameter_values) == ''
        core.set_parameters(robot.parameter_values)
        assert core.start(holding)
        core.update(PERIOD)
        assert np.abs(core.effort - holding).max() <= 1e-12 * max(1.0, np.abs(holding).max())


def test_joints_whose_positions_are_assumed_stand_there(library):
    robot = robot_of('gripper')
    core = Core(library, model_file(robot), joints=('shoulder', 'elbow'), assumed_joints=('grip',),
                assumed_positions=[0.3], blend_time=0.0, guiding_time=0.0)
    core.q[:2] = 0.4, -0.7
    holding = robot.inverse_dynamics([0.4, -0.7, 0.3], [0.0] * 3, [0.0] * 3)[:2]
    assert core.start([nan, nan])
    for _ in range(100):
        core.update(PERIOD)
    assert np.abs(core.effort - holding).max() <= 1e-12 * np.abs(holding).max()
