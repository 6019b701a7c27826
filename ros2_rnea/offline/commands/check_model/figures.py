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
"""Figures of a model for the report, in addition to the findings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ros2_rnea.dynamics.kinematics import body_transforms, link_transform
from ros2_rnea.model.description import JointDescription, LinkDescription
from ros2_rnea.model.tree import link_inertia, MASSLESS
from ros2_rnea.offline.audit import Examination


@dataclass(frozen=True, eq=False)
class Figures:
    """An examination, and figures that are computed from it."""

    examination: Examination

    @cached_property
    def links(self) -> dict[str, LinkDescription]:
        """Return the links by name."""
        return {link.name: link for link in self.examination.description.links}

    @cached_property
    def children(self) -> dict[str, list[JointDescription]]:
        """Return the child joints of each link, by its name."""
        children: dict[str, list[JointDescription]] = {name: [] for name in self.links}
        for joint in self.examination.description.joints:
            children[joint.parent].append(joint)
        return children

    def mass(self, link: str) -> float | None:
        """Return the mass of a link [kg], or None if the description has none."""
        inertial = self.links[link].inertial
        return None if inertial is None else inertial.mass

    @cached_property
    def total_mass(self) -> float:
        """Return the mass of all links [kg]."""
        return sum(self.mass(name) or 0.0 for name in self.links)

    @cached_property
    def moving_mass(self) -> float:
        """Return the mass that joints can move [kg]."""
        return sum(body.inertia.m for body in self.examination.robot.tree.bodies)

    @cached_property
    def zero_position(self) -> np.ndarray:
        """Return the position nearest to zero that the limits allow, shape (nq,) [rad or m]."""
        robot = self.examination.robot
        q = robot.neutral()
        for index in robot.tree.joints.values():
            body = robot.tree.bodies[index]
            if body.type.nv == 1:
                q[body.q_index] = np.clip(0.0, body.limits.lower, body.limits.upper)
        return q

    @cached_property
    def center_of_mass(self) -> list[float] | None:
        """Return the centre of all mass at that position in the root link's frame [m]."""
        tree = self.examination.robot.tree
        X = body_transforms(tree, self.zero_position.tolist())
        total = MASSLESS
        for link in self.links.values():
            if link.inertial is not None:
                transform = link_transform(tree, X, link.name)
                total = total + transform.to_parent(link_inertia(link.inertial))
        return [number / total.m for number in total.h] if total.m else None
