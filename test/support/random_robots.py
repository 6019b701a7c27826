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
"""Random robots and random states, reproducible from a seed."""

from __future__ import annotations

from string import ascii_letters

import numpy as np
from robot_data import JointData, LinkData, MimicData, RobotData
from rotations import rotation_from_rpy


def random_axis(rng):
    """Return a direction, evenly distributed."""
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def random_link(rng, name):
    """
    Return a link that could be built: full inertia, offset centre of mass, turned inertial axes.

    The second moments of mass along three random principal axes are positive, so the inertia
    meets the triangle inequality strictly.
    """
    mass = rng.uniform(0.2, 4.0)
    sx, sy, sz = mass * rng.uniform(0.03, 0.3, 3)**2
    principal = rotation_from_rpy(rng.uniform(-3.0, 3.0, 3))
    inertia = principal @ np.diag([sy + sz, sz + sx, sx + sy]) @ principal.T
    return LinkData(
        name=name, mass=mass, com=rng.uniform(-0.3, 0.3, 3), rpy=rng.uniform(-3.0, 3.0, 3),
        inertia=(inertia + inertia.T) / 2.0)


def random_joint(rng, name, kind, parent, child):
    """Return a joint with a random origin and, where the kind has one, a random axis."""
    # Planar joints keep the z axis: URDF does not say which way x and y point for another one.
    has_axis = kind in ('revolute', 'continuous', 'prismatic')
    return JointData(
        name=name, kind=kind, parent=parent, child=child,
        xyz=rng.uniform(-0.5, 0.5, 3), rpy=rng.uniform(-3.0, 3.0, 3),
        axis=random_axis(rng) if has_axis else np.array([0.0, 0.0, 1.0]))


def random_serial_arm(seed, size=7, kinds=('revolute', 'prismatic')):
    """Return a serial arm of ``size`` joints, their kinds drawn from ``kinds``."""
    rng = np.random.default_rng(seed)
    links = [random_link(rng, f'link_{i}') for i in range(size + 1)]
    joints = [random_joint(rng, f'joint_{i}', rng.choice(kinds), f'link_{i - 1}', f'link_{i}')
              for i in range(1, size + 1)]
    return RobotData('arm', tuple(links), tuple(joints))


def random_tree(seed, size=12, kinds=('revolute', 'continuous', 'prismatic', 'fixed'),
                damping=False, mimics=0):
    """
    Return a branched tree of ``size`` joints, written in random order under random names.

    :param kinds: what the joints are drawn from: any of robot_data.SIZES
    :param damping: whether the joints have viscous damping
    :param mimics: so many joints follow an earlier joint of the file
    """
    rng = np.random.default_rng(seed)
    # Neither the order of the names nor that of the file is the order of the tree.
    names = [f'{letter}{i}' for i, letter in enumerate(rng.choice(list(ascii_letters), size + 1))]
    links = [random_link(rng, f'{name}_link') for name in names]
    joints = []
    for i in range(1, size + 1):
        parent = links[rng.integers(max(0, i - 3), i)].name
        joint = random_joint(rng, f'{names[i]}_joint', rng.choice(kinds), parent, links[i].name)
        joints.append(joint)
    order = rng.permutation(size)
    robot = RobotData('tree', tuple(links[i] for i in rng.permutation(size + 1)),
                      tuple(joints[i] for i in order))
    return _with_extras(rng, robot, damping, mimics)


def _with_extras(rng, robot, damping, mimics):
    """Return the robot with damping and mimics on some of its joints of one coordinate."""
    joints = list(robot.joints)
    scalar = [i for i, joint in enumerate(joints)
              if joint.kind in ('revolute', 'continuous', 'prismatic')]
    followers = rng.permutation(scalar)[:mimics]
    leaders = [i for i in scalar if i not in followers]
    for i in scalar:
        changes = dict(vars(joints[i]))
        if damping:
            changes['damping'] = rng.uniform(0.1, 2.0)
        if i in followers:
            changes['mimic'] = MimicData(
                joints[rng.choice(leaders)].name, rng.uniform(-2.0, 2.0), rng.uniform(-1.0, 1.0))
        joints[i] = JointData(**changes)
    return RobotData(robot.name, robot.links, tuple(joints))


def random_positions(rng, columns, count):
    """Return ``count`` rows of q: angles, lengths, unit quaternions."""
    q = rng.uniform(-3.0, 3.0, (count, columns[-1].q.stop))
    for column in columns:
        if column.kind == 'floating':
            quaternion = rng.normal(size=(count, 4))
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
            q[:, column.q.start + 3:column.q.stop] = quaternion
    return q


def random_states(seed, columns, count=None):
    """
    Return random q, qd, qdd for the columns of a robot.

    :param count: so many rows; None for one state of shape (nq,), (nv,), (nv,)
    """
    rng = np.random.default_rng(seed)
    q = random_positions(rng, columns, count or 1)
    qd, qdd = rng.uniform(-3.0, 3.0, (2, count or 1, columns[-1].v.stop))
    return (q, qd, qdd) if count else (q[0], qd[0], qdd[0])
