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
Robots and states that Hypothesis draws, and shrinks where a test fails.

Robots are descriptions in code, so that all joint types are among them.  Every number is a
multiple of 1/8 (or made of such): they shrink to zero, read well in a report, and none is so
small or large that rounding would hide or feign a failure.  The first choices are the plain ones:
a chain of revolute joints without friction, rotor or spring, each at its parent's origin.

A run draws the same examples each time; with the variable DRAW_THOROUGHLY set, others and many
more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import os

from hypothesis import given, HealthCheck, Phase, settings, strategies as st
from lagrangian import complex_step
import numpy as np
from ros2_rnea import Robot
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from rotations import rotation_from_rpy, skew

THOROUGH = 'DRAW_THOROUGHLY' in os.environ
SETTINGS = settings(
    max_examples=1000 if THOROUGH else 30, phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def for_drawn(*strategies, **named):
    """Run a test with what these strategies draw."""
    return lambda test: SETTINGS(given(*strategies, **named)(test))


def check_drawn(check, *strategies, engine='', share_compiled=3):
    """
    Call a function with what these strategies draw.

    A kernel takes tenths of a second to compile, and each drawn robot has its own.  It is written
    from the graph whose tape is executed for all of them, operation by operation, so that few
    robots show all that the machine code may add.

    :param engine: of the robots.
    :param share_compiled: which part of the examples is compiled: one of so many.
    """
    share = share_compiled if engine == 'compiled' else 1
    few = settings(SETTINGS, max_examples=max(SETTINGS.max_examples // share, 1))
    few(given(*strategies)(check))()


# The plain ones first: it is to these that a failing example shrinks.
ONE_AXIS = (JointType.REVOLUTE, JointType.PRISMATIC, JointType.CONTINUOUS, JointType.HELICAL)
VECTOR_SPACE = (*ONE_AXIS, JointType.CYLINDRICAL)
"""The types with nq = nv whose velocities are the rates of their positions."""
MOVING = (*VECTOR_SPACE, JointType.PLANAR, JointType.SPHERICAL, JointType.FLOATING)
ALL = (*MOVING, JointType.FIXED)


def eighths(most):
    """Draw a multiple of 1/8 between −most and most."""
    return st.integers(-8 * most, 8 * most).map(lambda n: n / 8.0)


def vectors(most, size=3):
    """Draw so many eighths."""
    return st.tuples(*[eighths(most)] * size)


def poses():
    """Draw a placement."""
    return st.builds(Pose, vectors(1), vectors(3))


def directions():
    """Draw an axis, not of unit length."""
    return vectors(1).map(lambda axis: axis if any(axis) else (0.0, 0.0, 1.0))


@st.composite
def inertials(draw):
    """
    Draw what a real body can have: six numbers of inertia, and a centre away from the origin.

    The second moments of mass along three principal axes are positive.
    """
    mass = draw(st.integers(1, 32)) / 8.0
    sx, sy, sz = (mass * (n / 8.0)**2 for n in draw(st.tuples(*[st.integers(1, 5)] * 3)))
    axes = rotation_from_rpy(draw(vectors(3)))
    inertia = axes @ np.diag([sy + sz, sz + sx, sx + sy]) @ axes.T
    return Inertial(mass, draw(poses()), tuple(inertia[np.triu_indices(3)].tolist()))


IDENTIFIED_FRICTION = {
    'friction_offset': -0.375, 'damping_positive': 0.25, 'damping_negative': 0.125,
    'friction_positive': 0.5, 'friction_negative': 0.75, 'breakaway_friction': 0.625,
    'stribeck_velocity': 0.125}


@st.composite
def joints(draw, index, kind, parent):
    """Draw a joint of a kind between the links of two numbers."""
    has_spring = kind.nv == 1
    law = draw(st.sampled_from(({}, IDENTIFIED_FRICTION) if kind.nv == 1 else ({},)))
    return JointDescription(
        name=f'joint{index}', type=kind, parent=f'link{parent}', child=f'link{index}',
        origin=draw(poses()), axis=draw(directions()),
        damping=abs(draw(eighths(1))), friction=abs(draw(eighths(1))),
        pitch=draw(eighths(1)) if kind is JointType.HELICAL else 0.0,
        rotor_inertia=abs(draw(eighths(1))) / 8.0, gear_ratio=draw(st.sampled_from([1.0, -2.5])),
        spring_stiffness=abs(draw(eighths(1))) if has_spring else 0.0,
        spring_reference=draw(eighths(1)) if has_spring else 0.0, **law)


@st.composite
def descriptions(draw, kinds=ALL, most_joints=6, branched=True, mimics=False):
    """
    Draw a robot of one to ``most_joints`` joints, the first of which moves.

    :param kinds: types of joint.
    :param branched: whether a link may carry several joints.
    :param mimics: whether joints of one axis may follow earlier ones.
    """
    moving = tuple(kind for kind in kinds if kind is not JointType.FIXED)
    links = [LinkDescription('link0', draw(inertials()))]
    drawn, leaders = [], []
    for index in range(1, draw(st.integers(1, most_joints)) + 1):
        parent = max(0, index - 1 - (draw(st.integers(0, 3)) if branched else 0))
        joint = draw(joints(index, draw(st.sampled_from(kinds if drawn else moving)), parent))
        if joint.type.nv == 1:
            if mimics and leaders and draw(st.booleans()):
                leader = draw(st.sampled_from(leaders))
                joint = replace(joint, mimic=Mimic(leader, draw(eighths(2)), draw(eighths(1))))
            leaders.append(joint.name)
        drawn.append(joint)
        links.append(LinkDescription(joint.child, draw(inertials())))
    return RobotDescription('drawn', tuple(links), tuple(drawn))


@dataclass(frozen=True, eq=False)
class Case:
    """A robot in a state, with something to push it: what most of the tests are about."""

    description: RobotDescription
    floating_base: bool
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    gravity: tuple
    link: str
    wrench: tuple
    robot: Robot = field(repr=False)

    @property
    def tree(self):
        """Return the tree behind the robot."""
        return self.robot.tree

    @property
    def state(self):
        """Return the arguments q, qd, qdd."""
        return self.q, self.qd, self.qdd

    @property
    def f_ext(self):
        """Return the wrench as an argument."""
        return {self.link: self.wrench}


@st.composite
def cases(draw, kinds=ALL, bases=(False, True), **options):
    """Draw a robot and a state; see :func:`descriptions` for the options."""
    description = draw(descriptions(kinds, **options))
    floating_base = draw(st.sampled_from(bases))
    robot = Robot.from_description(description, floating_base=floating_base)
    return Case(
        description, floating_base, draw(positions(robot)),
        np.array(draw(vectors(3, robot.nv))), np.array(draw(vectors(3, robot.nv))),
        draw(st.sampled_from([(0.0, 0.0, -9.75), (3.0, -2.0, 5.0)])),
        draw(st.sampled_from(robot.link_names)), draw(vectors(4, 6)), robot)


@st.composite
def positions(draw, robot):
    """Draw a position, quaternions normalised."""
    q = np.array(draw(vectors(3, robot.nq)))
    for body in robot.tree.bodies:
        if body.type in (JointType.SPHERICAL, JointType.FLOATING):
            quaternion = q[body.q_slice][-4:]  # a view
            quaternion[:] = quaternion if quaternion.any() else (0.0, 0.0, 0.0, 1.0)
            quaternion /= np.linalg.norm(quaternion)
    return q


def position_rates(tree, q, v):
    """Return the rates of the position coordinates of a robot that moves with v."""
    rates = np.zeros(tree.nq)
    for index in tree.joints.values():
        body = tree.bodies[index]
        own_q, own_v = q[body.q_slice], v[body.v_slice]
        rates[body.q_slice] = _position_rate(body.type, own_q, own_v)
    return rates


def _position_rate(kind, q, v):
    if kind is JointType.PLANAR:
        c, s = np.cos(q[2]), np.sin(q[2])
        return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]
    if kind in (JointType.SPHERICAL, JointType.FLOATING):
        vector, w, turn = q[-4:-1], q[-1], v[:3]
        K = skew(vector)
        axes = np.eye(3) + 2.0 * w * K + 2.0 * K @ K
        rate = 0.5 * np.append(w * turn + K @ turn, -vector @ turn)
        return np.concatenate([axes @ v[3:], rate]) if kind is JointType.FLOATING else rate
    return v


def rate(function, tree, q, v):
    """
    Return the derivative of a function of q while the robot moves with v, exact to rounding.

    ``function`` takes complex numbers; those of ``ros2_rnea.dynamics`` do.
    """
    return complex_step(function, q, position_rates(tree, q, v))


def slopes(function, tree, q):
    """Return the derivatives of a function of q along each velocity coordinate, first axis."""
    return np.array([rate(function, tree, q, unit) for unit in np.eye(tree.nv)])


def assert_close(ours, expected, scale=0.0, tolerance=1e-11):
    """
    Assert that arrays of numbers agree, relative to the largest of them.

    What is less than 1/100 among numbers of the size drawn here is what others left over.

    :param scale: of the terms that make up the numbers and may cancel out in them.
    """
    ours, expected = np.asarray(ours), np.asarray(expected)
    assert ours.shape == expected.shape
    scale = max(np.max(np.abs(expected), initial=0.01), scale)
    error = np.max(np.abs(ours - expected), initial=0.0)
    # "<=" so that NaN fails too
    assert error <= tolerance * scale, f'{error:.2e} of {scale:.2e}'
