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
Oracle: the recursion in dense 6-D algebra over a kinematic tree, as Caron describes it.

Caron, 'Recursive Newton-Euler algorithm' (blog, 2023), with the corrections that
test/oracles/test_errata.py lists.  Vectors are [angular; linear].  Bodies are numbered 1..n
beside the world 0, every list has an entry for the world, and the quantities of a joint are
arrays of the joint's own size k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_data import FLOATING_BASE
from rotations import rotation_about, rotation_from_quaternion, rotation_from_rpy, skew

ZERO = np.zeros((3, 3))
ONE = np.eye(3)
ANY_AXIS = np.array([0.0, 0.0, 1.0])


def motion_transform(R, p):
    """
    Return X with v_child = X @ v_parent.

    :param R: orientation of the child frame: maps child axes to parent axes
    :param p: origin of the child frame in parent axes
    """
    return np.block([[R.T, ZERO], [-R.T @ skew(p), R.T]])


def force_transform(X):
    """Return X*, which maps forces the way that X maps motions: X* = X^-T."""
    return np.linalg.inv(X).T


def cross_motion(v, m):
    """Return v x m, the rate of a motion vector m carried along by v."""
    return np.block([[skew(v[:3]), ZERO], [skew(v[3:]), skew(v[:3])]]) @ m


def cross_force(v, f):
    """Return v x* f = -(v x)^T f, the rate of a force vector f carried along by v."""
    return np.block([[skew(v[:3]), skew(v[3:])], [ZERO, skew(v[:3])]]) @ f


def spatial_inertia(mass, com, inertia):
    """Return the 6x6 inertia in body axes; ``inertia`` is about the centre of mass."""
    c = skew(com)
    return np.block([[inertia + mass * c @ c.T, mass * c], [mass * c.T, mass * ONE]])


def compute_joint(kind, axis, q):
    """
    Return X from the joint's frame to the body's, and the motion subspace S of shape (6, k).

    :param kind: a URDF joint type, or spherical, cylindrical or helical (one turn a metre)
    :param axis: unit vector in the joint's frame
    """
    turn = np.concatenate([axis, np.zeros(3)])[:, None]
    slide = np.concatenate([np.zeros(3), axis])[:, None]
    origin = np.zeros(3)
    if kind == 'fixed':
        return np.eye(6), np.zeros((6, 0))
    if kind in ('revolute', 'continuous'):
        return motion_transform(rotation_about(axis, q[0]), origin), turn
    if kind == 'prismatic':
        return motion_transform(ONE, axis * q[0]), slide
    if kind == 'helical':
        pitch = 1.0 / (2.0 * np.pi)
        X = motion_transform(rotation_about(axis, q[0]), axis * pitch * q[0])
        return X, turn + pitch * slide
    if kind == 'cylindrical':
        X = motion_transform(rotation_about(axis, q[0]), axis * q[1])
        return X, np.hstack([turn, slide])
    if kind == 'planar':  # in the plane z = 0 of the joint's frame: x, y, heading
        z = np.array([0.0, 0.0, 1.0])
        X = motion_transform(rotation_about(z, q[2]), np.array([q[0], q[1], 0.0]))
        return X, np.eye(6)[:, [3, 4, 2]]
    if kind == 'spherical':  # q is the quaternion (x, y, z, w)
        return motion_transform(rotation_from_quaternion(q), origin), np.eye(6)[:, :3]
    if kind == 'floating':  # q is the position, then the quaternion (x, y, z, w)
        return motion_transform(rotation_from_quaternion(q[3:]), q[:3]), np.eye(6)
    raise ValueError(f'no joint of the kind {kind!r}')


@dataclass(frozen=True, eq=False)
class SpatialTree:
    """
    A kinematic tree; entry 0 of each list stands for the world.

    ``parent`` is the array lambda, ``X_tree`` maps motions from the parent's frame to the
    joint's, ``inertia`` is the 6x6 one in the body's frame.
    """

    names: list
    parent: list
    kind: list
    X_tree: list
    axis: list
    inertia: list


def spatial_tree(robot, floating_base=False):
    """Return the tree of a robot; each link is a body, a fixed joint one with k = 0."""
    tree = SpatialTree([None], [0], [None], [None], [None], [None])

    def add(link, parent, kind, X_tree, axis):
        tree.names.append(link.name)
        tree.parent.append(parent)
        tree.kind.append(kind)
        tree.X_tree.append(X_tree)
        tree.axis.append(axis)
        tree.inertia.append(spatial_inertia(link.mass, link.com, link.inertia_in_link_axes()))

    add(robot.link(robot.root()), 0, 'floating' if floating_base else 'fixed', np.eye(6), ANY_AXIS)
    for joint in robot.depth_first():
        X_tree = motion_transform(rotation_from_rpy(joint.rpy), joint.xyz)
        add(robot.link(joint.child), tree.names.index(joint.parent), joint.kind, X_tree,
            joint.axis)
    return tree


def spatial_rnea(tree, q, qd, qdd, f_ext, gravity):
    """
    Return tau, a list as q is, and f_0: the wrench in world axes that holds the robot.

    :param q: for each body the coordinates of its joint, shape (k,) (world: anything)
    :param f_ext: for each body what the environment does to it, [moment; force], body frame
    :param gravity: acceleration of free fall in world axes, shape (3,)
    """
    n = len(tree.parent) - 1
    v, a, f, tau, X, S = ([None] * (n + 1) for _ in range(6))
    v[0] = np.zeros(6)
    a[0] = np.concatenate([np.zeros(3), -np.asarray(gravity)])
    f[0] = np.zeros(6)
    for i in range(1, n + 1):
        p = tree.parent[i]
        X_joint, S[i] = compute_joint(tree.kind[i], tree.axis[i], q[i])
        X[i] = X_joint @ tree.X_tree[i]
        v[i] = X[i] @ v[p] + S[i] @ qd[i]
        a[i] = X[i] @ a[p] + S[i] @ qdd[i] + cross_motion(v[i], S[i] @ qd[i])
        momentum = tree.inertia[i] @ v[i]
        f[i] = tree.inertia[i] @ a[i] + cross_force(v[i], momentum) - f_ext[i]
    for i in range(n, 0, -1):
        tau[i] = S[i].T @ f[i]
        f[tree.parent[i]] = f[tree.parent[i]] + X[i].T @ f[i]
    return tau, f[0]


def world_transforms(tree, q):
    """Return for each body iX0, which maps motions from the world's frame to the body's."""
    X_world = [np.eye(6)]
    for i in range(1, len(tree.parent)):
        X_joint, _ = compute_joint(tree.kind[i], tree.axis[i], q[i])
        X_world.append(X_joint @ tree.X_tree[i] @ X_world[tree.parent[i]])
    return X_world


class Articulation:
    """The map between the flat vectors of a robot and the lists of its joints' coordinates."""

    def __init__(self, robot, floating_base=False):
        self._columns = {column.name: column for column in robot.columns(floating_base)}
        self._joints = [FLOATING_BASE] + [joint.name for joint in robot.depth_first()]
        self._mimic = {joint.name: joint.mimic for joint in robot.joints if joint.mimic}
        self.nv = max((column.v.stop for column in self._columns.values()), default=0)

    def _source(self, name):
        """Return the column that moves a joint, the multiplier and the offset."""
        mimic = self._mimic.get(name)
        if mimic is None:
            return self._columns.get(name), 1.0, 0.0
        return self._columns[mimic.joint], mimic.multiplier, mimic.offset

    def positions(self, q):
        """Return the list of joint positions."""
        return self._split('q', q, with_offset=True)

    def rates(self, qd):
        """Return the list of joint velocities or accelerations."""
        return self._split('v', qd, with_offset=False)

    def _split(self, vector, flat, with_offset):
        values = [None]
        for name in self._joints:
            column, multiplier, offset = self._source(name)
            part = np.zeros(0) if column is None else flat[getattr(column, vector)]
            values.append(multiplier * part + (offset if with_offset else 0.0))
        return values

    def flatten(self, tau):
        """Return the flat vector of efforts; a mimic joint's goes to the joint it follows."""
        flat = np.zeros(self.nv)
        for name, effort in zip(self._joints, tau[1:]):
            column, multiplier, _ = self._source(name)
            if column is not None:
                flat[column.v] += multiplier * effort
        return flat


GRAVITY = np.array([0.0, 0.0, -9.81])


def spatial_inverse_dynamics(robot, q, qd, qdd, f_ext=None, gravity=GRAVITY,
                             floating_base=False):
    """Return the flat tau of one state; ``f_ext`` is by link name, in the link's frame."""
    tree = spatial_tree(robot, floating_base)
    lists = Articulation(robot, floating_base)
    forces = [np.asarray((f_ext or {}).get(name, np.zeros(6))) for name in tree.names]
    tau, _ = spatial_rnea(
        tree, lists.positions(q), lists.rates(qd), lists.rates(qdd), forces, gravity)
    return lists.flatten(tau)
