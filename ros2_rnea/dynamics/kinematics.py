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
"""Forward kinematics: where the bodies and links are and how they move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ros2_rnea.dynamics.joints import joint_models, joint_position, joint_rate, JointModel
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Matrix, Motion, NO_MOTION, NO_TRANSFORM, Number, Transform


class BodyVelocities(NamedTuple):
    """
    How every body moves, each in its own frame; the base is the last of ``v``.

    :ivar X: X_parent_to_body.
    :ivar v_joint: velocity relative to the parent, S q̇.
    :ivar v: spatial velocity.
    """

    joints: tuple[JointModel, ...]
    X: list[Transform]
    v_joint: list[Motion]
    v: list[Motion]


def body_velocities(
        tree: Tree, q: Sequence[Number], qd: Sequence[Number]) -> BodyVelocities:
    """
    Return the velocity of each body, base to tips (RBDA table 5.1).

    :param q: joint positions, nq numbers [rad or m].
    :param qd: joint velocities, nv numbers.
    """
    joints = joint_models(tree)
    X = parent_transforms(tree, joints, q)
    v_joint = [combine(joints[i].S, joint_rate(body, qd)) for i, body in enumerate(tree.bodies)]
    v = [NO_MOTION] * (len(tree.bodies) + 1)
    for i, body in enumerate(tree.bodies):
        v[i] = X[i] @ v[body.parent] + v_joint[i]
    return BodyVelocities(joints, X, v_joint, v)


def body_accelerations(
        tree: Tree,
        moving: BodyVelocities,
        qdd: Sequence[Number],
        a_base: Motion = NO_MOTION) -> list[Motion]:
    """
    Return the spatial acceleration of each body in its own frame, the base's as the last one.

    :param moving: the velocities at this moment.
    :param qdd: joint accelerations, nv numbers.
    :param a_base: acceleration of the base in its own axes.
    """
    joints, X, v_joint, v = moving
    a = [NO_MOTION] * len(tree.bodies) + [a_base]
    for i, body in enumerate(tree.bodies):
        a_joint = combine(joints[i].S, joint_rate(body, qdd))
        a[i] = X[i] @ a[body.parent] + a_joint + v[i].cross(v_joint[i])
    return a


def parent_transforms(
        tree: Tree, joints: Sequence[JointModel], q: Sequence[Number]) -> list[Transform]:
    """Return X_parent_to_body for each body."""
    return [joints[i].transform(joint_position(body, q)) @ body.X_tree
            for i, body in enumerate(tree.bodies)]


def combine(S: Sequence[Motion], rates: Sequence[Number]) -> Motion:
    """Return S q̇."""
    total = NO_MOTION
    for column, rate in zip(S, rates):
        total = column * rate if total is NO_MOTION else total + column * rate
    return total


def body_transforms(tree: Tree, q: Sequence[Number]) -> list[Transform]:
    """
    Return X_base_to_body for each body, and the identity for the base itself as the last one.

    :param q: joint positions, nq numbers [rad or m].
    """
    X_up = parent_transforms(tree, joint_models(tree), q)
    X = [NO_TRANSFORM] * (len(tree.bodies) + 1)
    for i, body in enumerate(tree.bodies):
        X[i] = X_up[i] @ X[body.parent]
    return X


def link_transform(tree: Tree, X_base_to_body: Sequence[Transform], link: str) -> Transform:
    """Return X_base_to_link from the transforms that :func:`body_transforms` gives."""
    frame = tree.links[link]
    return frame.X_body_to_link @ X_base_to_body[frame.body]


def link_rotation(tree: Tree, q: Sequence[Number], link: str) -> Matrix:
    """
    Return R with v_base = R v_link: the link's axes as columns, in the base's.

    :param q: joint positions, nq numbers [rad or m].
    """
    joints = joint_models(tree)
    frame = tree.links[link]
    E = frame.X_body_to_link.E  # from the body at hand to the link
    for i in path_to_base(tree, frame.body):
        body = tree.bodies[i]
        E = E @ joints[i].transform(joint_position(body, q)).E @ body.X_tree.E
    return E.T


def moving_bodies(tree: Tree) -> list[int]:
    """Return the bodies that some joint moves; others exist where fixed joints are not lumped."""
    moves = [False] * (len(tree.bodies) + 1)  # the last one: the base
    for i, body in enumerate(tree.bodies):
        moves[i] = moves[body.parent] or body.type.nv > 0
    return [i for i in range(len(tree.bodies)) if moves[i]]


def path_to_base(tree: Tree, body: int) -> Iterator[int]:
    """Yield a body and all that carry it, tip to base, the base left out."""
    while body != BASE:
        yield body
        body = tree.bodies[body].parent
