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
"""Forward kinematics: where the bodies and links are."""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.joints import joint_models, joint_position
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import NO_TRANSFORM, Number, Transform


def body_transforms(tree: Tree, q: Sequence[Number]) -> list[Transform]:
    """
    Return X_base_to_body for each body, and the identity for the base itself as the last one.

    :param q: joint positions, nq numbers [rad or m].
    """
    joints = joint_models(tree)
    X = [NO_TRANSFORM] * (len(tree.bodies) + 1)
    for i, body in enumerate(tree.bodies):
        X_parent_to_body = joints[i].transform(joint_position(body, q)) @ body.X_tree
        X[i] = X_parent_to_body @ X[body.parent]
    return X


def link_transform(tree: Tree, X_base_to_body: Sequence[Transform], link: str) -> Transform:
    """Return X_base_to_link from the transforms that :func:`body_transforms` gives."""
    frame = tree.links[link]
    return frame.X_body_to_link @ X_base_to_body[frame.body]
