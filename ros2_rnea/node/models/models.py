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
"""Robots on their way from a description to the cycle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from ros2_rnea.audit import audit, Finding, Severity
from ros2_rnea.errors import CompilerError, DescriptionError
from ros2_rnea.kernels.background import Compilation
from ros2_rnea.model.description import Inertial, JointDescription, RobotDescription
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robot import Robot

KERNELS = ('inverse_dynamics', 'gravity', 'effort_terms')
"""The methods of a robot that the cycle and the services call."""


class Payload(NamedTuple):
    """What a link carries."""

    name: str
    link: str
    inertial: Inertial


class Source(NamedTuple):
    """
    Everything that defines a model.

    :ivar joint_friction: over the description's: damping and friction, each by joint.
    """

    description: str
    massless_links: tuple[str, ...]
    strict: bool
    joint_friction: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    payloads: tuple[Payload, ...] = ()

    @property
    def unloaded(self) -> Source:
        """Return the same without payloads."""
        return self._replace(payloads=())


class Model(NamedTuple):
    """
    A robot, what it was made from and what was found in it.

    :ivar unloaded: the robot without payloads.
    :ivar transition: over which it is to come into force [s]; None: as for other changes.
    """

    source: Source
    unloaded: Robot
    robot: Robot
    findings: tuple[Finding, ...]
    transition: float | None = None


class Models:
    """
    The model in force and the one that comes next.

    A robot that has yet to be compiled is, in another process: what is in force goes on meanwhile.
    """

    def __init__(self) -> None:
        self.in_force: Model | None = None
        self._next: Model | None = None
        self._compilation: Compilation | None = None

    def load(self, source: Source, transition: float | None = None) -> Model:
        """
        Return the model of a source, a new one where it is neither in force nor comes next.

        Payloads on links that the description does not have are left out.

        :param transition: of a new one.
        :raises DescriptionError: where no robot can be made of it.
        """
        known = [model for model in (self.in_force, self._next) if model is not None]
        for model in known:
            if model.source == source:
                return model
        read = next((model for model in known if model.source.unloaded == source.unloaded), None)
        model = _with_payloads(read or _read(source.unloaded), source.payloads)
        return model._replace(transition=transition)

    def is_ready(self, model: Model) -> bool:
        """
        Tell whether a model can be put in force; if not, see to it that it can be some time.

        :raises CompilerError: where it cannot be compiled.
        """
        if model is self.in_force:
            return True
        if model is not self._next:
            self.close()
            self._next = model
            self._compilation = model.robot.compile_in_background(*KERNELS)
        if self._compilation is not None:
            try:
                if not self._compilation.is_done():
                    return False
            except CompilerError:
                self.close()
                raise
            self._compilation = None
        model.robot.compile(*KERNELS)
        model.robot.compile('inverse_dynamics', 'effort_terms', wrenches=True)
        return True

    @property
    def coming(self) -> Model | None:
        """Return the model that waits for its kernels."""
        return None if self._compilation is None else self._next

    def is_compiling(self) -> bool:
        """Tell whether kernels are still on their way."""
        return self._compilation is not None and not self._compilation.has_ended()

    def put_in_force(self, model: Model) -> None:
        """Let a model be the one in force."""
        if model is not self._next:
            self.close()
        self.in_force, self._next = model, None

    def close(self) -> None:
        """Give up what is being compiled."""
        if self._compilation is not None:
            self._compilation.close()
        self._next = self._compilation = None


def _read(source: Source) -> Model:
    """Return the model of a source without payloads."""
    parsed = _with_joint_friction(parse_urdf(source.description), source.joint_friction)
    robot = Robot.from_description(parsed, massless_links=source.massless_links)
    found = audit(parsed, source.description, source.massless_links)
    findings = tuple(finding for finding in found if finding.severity > Severity.NOTE)
    impossible = [finding for finding in findings if finding.impossible]
    if source.strict and impossible:
        raise DescriptionError(f'strict_model refuses {impossible[0]}')
    return Model(source, robot, robot, findings)


def _with_joint_friction(
        description: RobotDescription, values: Mapping[str, Mapping[str, float]],
        ) -> RobotDescription:
    """Return a description with other damping and friction of the joints that are named."""
    def changed(joint: JointDescription) -> JointDescription:
        other: dict[str, Any] = {
            kind: by_joint[joint.name] for kind, by_joint in values.items()
            if joint.name in by_joint}
        return replace(joint, **other)

    return replace(description, joints=tuple(map(changed, description.joints)))


def _with_payloads(model: Model, payloads: Iterable[Payload]) -> Model:
    """Return a model of the same description with these payloads, where their links exist."""
    robot = model.unloaded
    carried = tuple(payload for payload in payloads if payload.link in robot.tree.links)
    for payload in carried:
        robot = robot.with_payload(*payload)
    return model._replace(source=model.source._replace(payloads=carried), robot=robot)
