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
"""The effort that accelerates the motors' rotors."""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.dynamics.joints import joint_rate
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Number


def rotor_effort(tree: Tree, qdd: Sequence[Number]) -> list[Number]:
    """
    Return what each rotor's inertia, seen through its gear, takes; gyroscopic effects left out.

    :param qdd: joint accelerations, nv numbers.
    :return: nv numbers [Nm or N]; a mimicking joint's effort counts at the joint it follows.
    """
    tau: list[Number] = [0.0] * tree.nv
    for body in tree.bodies:
        for k, rate in enumerate(joint_rate(body, qdd), start=body.v_index):
            tau[k] = tau[k] + rate * (body.armature * body.multiplier)
    return tau
