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
"""A robot model: what it is built from, and how a worker process builds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from ros2_rnea.errors import ArgumentError, DescriptionError
from ros2_rnea.kernels.engines import Engine, Kernels
from ros2_rnea.model.description import (
    Inertial,
    JOINT_NUMBERS,
    OPTIONAL_PARAMETERS,
)
from ros2_rnea.model.tree import build_tree, Tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.node.bounds import check_description, check_description_size
from ros2_rnea.offline.audit import audit, Finding, Kind, Severity
from ros2_rnea.robots.adjustable_robot import ADJUSTABLE, AdjustableRobot

KERNELS = ('inverse_dynamics', 'gravity', 'effort_terms')
"""The methods of a robot that the cycle and the services call."""

OBSERVER_KERNELS = ('joint_momentum',)
"""The methods of a robot that the observation of external efforts calls in addition."""


class Payload(NamedTuple):
    """A mass that is attached to a link at run time."""

    name: str
    link: str
    inertial: Inertial


class Source(NamedTuple):
    """
    What a model is built from.  If any of it changes, a new model is built.

    :ivar payload_links: the links to which payloads can be attached; names that the robot does
        not have are ignored.
    :ivar has_friction: whether the friction in the description is part of the model.
    :ivar optional_parameters: the joint parameters of ``OPTIONAL_PARAMETERS`` that can be set.
    :ivar observes: whether external efforts are observed.
    """

    description: str
    massless_links: tuple[str, ...]
    strict: bool
    payload_links: tuple[str, ...] = ()
    has_friction: bool = True
    optional_parameters: tuple[str, ...] = ()
    observes: bool = False

    @property
    def kernels(self) -> tuple[str, ...]:
        """Return the methods of the robot that are called while the node runs."""
        return KERNELS + (OBSERVER_KERNELS if self.observes else ())


class ModelParameters(NamedTuple):
    """
    The values that change in a model without building a new one.

    :ivar joint_parameters: values that replace those of the description, such as
        ``{'damping': {'elbow': 0.1}}``; joints that the robot does not have are ignored.
    """

    joint_parameters: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    payloads: tuple[Payload, ...] = ()


class Model(NamedTuple):
    """
    A robot, its source and the findings of its audit.

    :ivar tree: as in the description, without payloads.
    :ivar robot: with the present joint parameters and payloads.
    """

    source: Source
    tree: Tree
    robot: AdjustableRobot
    findings: tuple[Finding, ...]

    @property
    def degrees_of_freedom(self) -> dict[str, int]:
        """Return the number of degrees of freedom of each independent joint, by name."""
        return {joint: self.tree.bodies[index].type.nv
                for joint, index in self.tree.joints.items()}

    def accepts_payload(self, payload: Payload) -> bool:
        """Return whether a payload can be attached without building a new model."""
        return payload.link in self.tree.links and self.robot.takes_payload(payload.link)

    def check(self, parameters: ModelParameters) -> None:
        """
        Check that the types of the joints allow the parameters that are set for them.

        :raises ArgumentError: naming the first parameter that its joint does not allow.
        """
        for kind in JOINT_NUMBERS:
            for joint in parameters.joint_parameters.get(kind.name, {}):
                if joint in self.tree.joints:
                    joint_type = self.tree.bodies[self.tree.joints[joint]].type
                    if kind.of_one_coordinate and joint_type.nv > 1:
                        raise ArgumentError(
                            f'{kind.name}.{joint}: joint {joint!r} is {joint_type.label} and '
                            f'cannot have a {kind.name}; only a joint of one coordinate can')

    def update(self, parameters: ModelParameters) -> bool:
        """
        Set the robot's joint parameters and payloads, and return whether any of them has changed.

        Payloads on links that accept none in this model are ignored, and so are joint parameters
        that its robot is not prepared for.

        :raises RneaError: where a value is not possible.  Others may have been set by then: the
            caller has to set the previous values again, or to discard the robot.
        """
        self.check(parameters)
        is_changed = False
        joints, described = self.tree.joints, self.tree.bodies
        present = self.robot.tree.bodies
        for name in filter(self.robot.takes_joint_parameter, ADJUSTABLE):
            value_of, overrides = attrgetter(name), parameters.joint_parameters.get(name, {})
            changed = {
                joint: value for joint, index in joints.items()
                if (value := overrides.get(joint, value_of(described[index])))
                != value_of(present[index])}
            if changed:
                self.robot.set_joint_parameters(name, changed)
                is_changed = True
        payloads = {
            payload.name: (payload.link, payload.inertial)
            for payload in parameters.payloads if self.accepts_payload(payload)}
        if payloads != self.robot.payloads:
            self.robot.set_payloads(payloads)
            is_changed = True
        return is_changed


def adjustable(
        tree: Tree, source: Source, engine: Engine, kernels: Kernels | None = None,
        ) -> AdjustableRobot:
    """
    Return the robot of a model, which accepts payloads on the links that the source names.

    :param kernels: of the tree; None for those of the engine.
    """
    return AdjustableRobot(
        tree, engine=engine, kernels=kernels,
        payload_links=[link for link in source.payload_links if link in tree.links],
        optional_parameters=source.optional_parameters)


def needed_optional_parameters(
        joint_parameters: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """Return the parameters of ``OPTIONAL_PARAMETERS`` that are not zero for a joint."""
    return tuple(number.name for number in OPTIONAL_PARAMETERS
                 if any(joint_parameters.get(number.name, {}).values()))


def read_description(source: Source) -> tuple[Tree, tuple[Finding, ...]]:
    """
    Return the tree of a source's description, and the findings that deserve a warning.

    For a large robot this takes about a second.

    :raises DescriptionError: where the description is invalid, or too large.
    """
    check_description_size(len(source.description))
    description = parse_urdf(source.description)
    check_description(description)
    tree = build_tree(
        description if source.has_friction else description.without_friction(),
        massless_links=source.massless_links)
    found = audit(description, source.description, source.massless_links)
    findings = tuple(
        finding for finding in found
        if finding.severity > Severity.NOTE
        and finding.kind is not Kind.LARGE_FRICTION)  # the node reports on what it sends
    check_strictly(source.strict, findings)
    return tree, findings


def check_strictly(strict: bool, findings: Iterable[Finding]) -> None:
    """
    Check that no inertia is impossible, if the parameter ``strict_model`` is true.

    :raises DescriptionError: naming the first impossible inertia.
    """
    for finding in findings:
        if strict and finding.impossible:
            raise DescriptionError(f'strict_model refuses {finding}')
