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
Positions of the whole robot: joint by joint, and how they add up.

A *list by joint* holds each independent joint's own coordinates; the flat vector is these lists,
one after the other.  The map between the two is what Caron calls an articulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ros2_rnea.dynamics.joints import joint_models, JointModel
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.tree import Body, Tree


def positions_by_joint(tree: Tree, q: Sequence[float]) -> dict[str, list[float]]:
    """Return each joint's position coordinates from the flat vector of nq numbers."""
    return {joint: list(q[_body(tree, joint).q_slice]) for joint in tree.joints}


def velocities_by_joint(tree: Tree, v: Sequence[float]) -> dict[str, list[float]]:
    """Return each joint's velocities (accelerations, efforts) from the vector of nv numbers."""
    return {joint: list(v[_body(tree, joint).v_slice]) for joint in tree.joints}


def flat(tree: Tree, by_joint: Mapping[str, Sequence[float]]) -> list[float]:
    """
    Return the flat vector of lists by joint, in the tree's order whatever theirs.

    :raises ArgumentError: where a joint is missing or unknown, or where the lists have neither all
        their joints' positions nor all their joints' velocities.
    """
    odd = sorted(by_joint.keys() ^ tree.joints.keys())
    if odd:
        raise ArgumentError(
            f'joint {odd[0]!r} is missing or unknown; the joints of {tree.name!r} are '
            f'{", ".join(tree.joints)}')
    for size in ('nq', 'nv'):
        wrong = [joint for joint in tree.joints
                 if len(by_joint[joint]) != getattr(_body(tree, joint).type, size)]
        if not wrong:
            return [number for joint in tree.joints for number in by_joint[joint]]
    kind = _body(tree, wrong[0]).type
    raise ArgumentError(
        f'joint {wrong[0]!r} has {len(by_joint[wrong[0]])} numbers; it needs its {kind.nq} '
        f'positions, as all others then, or its {kind.nv} velocities')


def neutral(tree: Tree) -> list[float]:
    """Return the position at which every joint's frames coincide, nq numbers."""
    return [number for _, model in _independent(tree) for number in model.neutral()]


def integrate(tree: Tree, q: Sequence[float], v: Sequence[float]) -> list[float]:
    """Return where velocity v, held for a unit of time, leads from q."""
    return [number for body, model in _independent(tree)
            for number in model.integrate(q[body.q_slice], v[body.v_slice])]


def difference(tree: Tree, start: Sequence[float], end: Sequence[float]) -> list[float]:
    """Return the velocity that leads from start to end in a unit of time."""
    return [number for body, model in _independent(tree)
            for number in model.difference(start[body.q_slice], end[body.q_slice])]


def _independent(tree: Tree) -> list[tuple[Body, JointModel]]:
    models = joint_models(tree)
    return [(tree.bodies[index], models[index]) for index in tree.joints.values()]


def _body(tree: Tree, joint: str) -> Body:
    return tree.bodies[tree.joints[joint]]
