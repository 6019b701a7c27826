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
"""A robot model: what it is made from, and how a worker process makes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ros2_rnea.adjustable_robot import ADJUSTABLE, AdjustableRobot
from ros2_rnea.audit import audit, Finding, Severity
from ros2_rnea.errors import ArgumentError, DescriptionError
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.model.description import Inertial, JOINT_DYNAMICS
from ros2_rnea.model.tree import build_tree, Tree
from ros2_rnea.model.urdf import parse_urdf

KERNELS = ('inverse_dynamics', 'gravity', 'effort_terms')
"""The methods of a robot that the cycle and the services call."""


class Payload(NamedTuple):
    """What a link carries."""

    name: str
    link: str
    inertial: Inertial


class Source(NamedTuple):
    """
    What a model is made from: another one of these needs another model.

    :ivar payload_links: the links that may carry a payload; those that the robot does not have
        are passed over.
    """

    description: str
    massless_links: tuple[str, ...]
    strict: bool
    payload_links: tuple[str, ...] = ()


class Numbers(NamedTuple):
    """
    What of a model changes without another one being made.

    :ivar joint_parameters: over the description's, such as ``{'damping': {'elbow': 0.1}}``; joints
        that the robot does not have are passed over.
    """

    joint_parameters: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    payloads: tuple[Payload, ...] = ()


class Model(NamedTuple):
    """
    A robot, what it was made from and what was found in it.

    :ivar tree: as the description says, without payloads.
    :ivar robot: with the numbers that count now.
    """

    source: Source
    tree: Tree
    robot: AdjustableRobot
    findings: tuple[Finding, ...]

    @property
    def degrees_of_freedom(self) -> dict[str, int]:
        """Return how many degrees of freedom each independent joint has, by name."""
        return {joint: self.tree.bodies[index].type.nv
                for joint, index in self.tree.joints.items()}

    def can_carry(self, payload: Payload) -> bool:
        """Tell whether a payload can be attached without another model."""
        return payload.link in self.tree.links and self.robot.takes_payload(payload.link)

    def check(self, numbers: Numbers) -> None:
        """
        Check that the joints of the robot can have the parameters that are given for them.

        :raises ArgumentError: naming the first parameter that its joint cannot have.
        """
        for kind in JOINT_DYNAMICS:
            for joint in numbers.joint_parameters.get(kind.name, {}):
                if joint in self.tree.joints:
                    joint_type = self.tree.bodies[self.tree.joints[joint]].type
                    if kind.of_one_coordinate and joint_type.nv > 1:
                        raise ArgumentError(
                            f'{kind.name}.{joint}: joint {joint!r} is {joint_type.label} and '
                            f'cannot have a {kind.name}; only a joint of one coordinate can')

    def change(self, numbers: Numbers) -> bool:
        """
        Write numbers into the robot, those that can be, and tell whether one is another now.

        :raises RneaError: where one is not possible; then no joint parameter has changed.
        """
        self.check(numbers)
        is_changed = False
        bodies, joints = self.robot.tree.bodies, self.tree.joints
        for name in ADJUSTABLE:
            asked = numbers.joint_parameters.get(name, {})
            wanted = {joint: asked.get(joint, getattr(self.tree.bodies[index], name))
                      for joint, index in joints.items()}
            other = {joint: value for joint, value in wanted.items()
                     if value != getattr(bodies[joints[joint]], name)}
            if other:
                self.robot.set_joint_parameters(name, other)
                is_changed = True
        payloads = {
            payload.name: (payload.link, payload.inertial)
            for payload in numbers.payloads if self.can_carry(payload)}
        for name in [*self.robot.payloads]:
            if name not in payloads:
                self.robot.remove_payload(name)
                is_changed = True
        for name, attached in payloads.items():
            if self.robot.payloads.get(name) != attached:
                self.robot.set_payload(name, *attached)
                is_changed = True
        return is_changed


def adjustable(tree: Tree, source: Source, engine: Engine) -> AdjustableRobot:
    """Return the robot of a model, which takes payloads where the source says."""
    return AdjustableRobot(
        tree, engine=engine,
        payload_links=[link for link in source.payload_links if link in tree.links])


def read_description(source: Source) -> tuple[Tree, tuple[Finding, ...]]:
    """
    Return the tree of a source's description, and what is worth a warning about it.

    It takes long: for a large robot, a second in which the thread does nothing else.

    :raises DescriptionError: where no robot can be made of it.
    """
    description = parse_urdf(source.description)
    tree = build_tree(description, massless_links=source.massless_links)
    found = audit(description, source.description, source.massless_links)
    findings = tuple(finding for finding in found if finding.severity > Severity.NOTE)
    check_strictly(source.strict, findings)
    return tree, findings


def check_strictly(strict: bool, findings: Iterable[Finding]) -> None:
    """
    Check that no inertia is impossible, if that is asked for.

    :raises DescriptionError: naming the first that is.
    """
    for finding in findings:
        if strict and finding.impossible:
            raise DescriptionError(f'strict_model refuses {finding}')
