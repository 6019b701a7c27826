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
"""A robot whose gravity, payloads and joint parameters may change while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from numpy.typing import ArrayLike
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.kernels.engines import Engine, Kernels
from ros2_rnea.kernels.tracing import Variant
from ros2_rnea.model.checks import check_payload
from ros2_rnea.model.description import Inertial, JOINT_NUMBERS, OPTIONAL_PARAMETERS
from ros2_rnea.model.tree import (
    attach,
    BASE,
    inertia_on_body,
    MASSLESS,
    payload_inertia,
    Tree,
    with_joint_number,
)
from ros2_rnea.robots.arguments import check_link, checked_gravity
from ros2_rnea.robots.robot import Robot
from ros2_rnea.spatial import Inertia

ADJUSTABLE = {parameter.name: parameter for parameter in JOINT_NUMBERS}
"""The joint parameters that may change, by name."""

OPTIONAL = frozenset(parameter.name for parameter in OPTIONAL_PARAMETERS)
"""The adjustable parameters that a robot must be prepared for, since few robots have them."""


class RobotSnapshot(NamedTuple):
    """
    What an adjustable robot is made from at one moment: the arguments of its class.

    Nothing in it changes later, so other threads may read it while the robot changes.

    :ivar tree: without payloads, with the joint parameters of that moment.
    :ivar kernels: None, because they are found again by the tree.
    """

    tree: Tree
    payloads: Mapping[str, tuple[str, Inertial]]
    gravity: tuple[float, ...]
    engine: Engine
    kernels: None
    payload_links: tuple[str, ...]
    optional_parameters: tuple[str, ...]


class AdjustableRobot(Robot):
    """
    A robot whose numbers are changed in place.

    Its kernels read gravity, payloads and the dynamics of joints at each call, so a change builds
    nothing: no robot, no trace and no kernel.  All methods, and all functions that
    :meth:`bind` has returned, answer for the new numbers from the next call on.  The price is that
    terms which are zero are computed too: a call takes up to 1.3 times as long as that of a
    :class:`Robot`.

    :meth:`with_gravity` and its like return a :class:`Robot`, which changes no more.  Threads may
    share an adjustable robot only while nobody changes it.

    :param tree: of the robot without payloads.
    :param payload_links: the links that may carry a payload; those of ``payloads`` may anyway.
    :param optional_parameters: the joint parameters of
        :data:`ros2_rnea.model.description.OPTIONAL_PARAMETERS` that may change; those that a
        joint of the tree has may anyway.
    """

    def __init__(
            self,
            tree: Tree,
            payloads: Mapping[str, tuple[str, Inertial]] | None = None,
            gravity: ArrayLike | None = None,
            engine: Engine | str | None = None,
            kernels: Kernels | None = None,
            payload_links: Iterable[str] = (),
            optional_parameters: Iterable[str] = ()) -> None:
        self._optional_parameters = _checked_optional_parameters(tree, optional_parameters)
        links = dict.fromkeys((*payload_links, *(link for link, _ in (payloads or {}).values())))
        for link in links:
            check_link(tree, link)
        self._payload_links = tuple(links)
        self._payload_bodies = frozenset(tree.links[link].body for link in links)
        super().__init__(tree, payloads, gravity, engine, kernels)
        self._inertias_on_bodies: dict[tuple[str, int], tuple[Inertial, Inertia]] = {}
        self._payload_inertias = payload_inertia(tree, self._payloads)

    @classmethod
    def of(
            cls, robot: Robot, payload_links: Iterable[str] = (),
            optional_parameters: Iterable[str] = ()) -> AdjustableRobot:
        """
        Return a robot with the numbers of another one, which may change.

        :param robot: the other one, which never changes; it shares its kernels of the same
            variant.
        :param payload_links: the links that may carry a payload, in addition to those that do.
            Each of them costs time in every call.
        :param optional_parameters: the joint parameters of
            :data:`ros2_rnea.model.description.OPTIONAL_PARAMETERS` that may change, in addition to
            those that a joint has.  Each of them costs time too.
        :raises ArgumentError: where one of them is not a link of the robot, or no such parameter.
        """
        return cls(robot._tree_without_payloads, robot.payloads, robot._gravity, robot.engine,
                   robot._kernels, payload_links, optional_parameters)

    def __reduce__(self) -> tuple[type[AdjustableRobot], tuple[object, ...]]:
        """Pickle and copy as what it is made from now."""
        return type(self), tuple(self.snapshot())

    def snapshot(self) -> RobotSnapshot:
        """Return what the robot is made from now; only the thread that changes it may call."""
        return RobotSnapshot(
            self._tree_without_payloads, dict(self._payloads), tuple(self._gravity), self._engine,
            None, self._payload_links, self._optional_parameters)

    @property
    def payload_links(self) -> tuple[str, ...]:
        """Return the links that were named for payloads; others of the same bodies will do too."""
        return self._payload_links

    @property
    def optional_parameters(self) -> tuple[str, ...]:
        """Return the joint parameters of ``OPTIONAL_PARAMETERS`` that may change."""
        return self._optional_parameters

    def takes_joint_parameter(self, name: str) -> bool:
        """Return whether a joint parameter may be set without building a new robot."""
        return name in ADJUSTABLE and (name not in OPTIONAL or name in self._optional_parameters)

    def takes_payload(self, link: str) -> bool:
        """
        Return whether a payload may be attached to a link without building a new robot.

        :raises ArgumentError: where there is no such link.
        """
        check_link(self._tree_without_payloads, link)
        body = self._tree_without_payloads.links[link].body
        return body == BASE or body in self._payload_bodies

    # ---- changes --------------------------------------------------------------------------------

    def set_gravity(self, gravity: ArrayLike) -> None:
        """
        Change the acceleration of free fall, shape (3,) [m/s^2].

        :raises ArgumentError: where it is not three finite numbers; then nothing changes.
        """
        self._gravity[:] = checked_gravity(gravity)
        self._parameters.set_gravity(self._gravity)

    @contextmanager
    def under_gravity(self, gravity: ArrayLike) -> Iterator[None]:
        """Use another gravity in a ``with`` block, given as for :meth:`set_gravity`."""
        present = self._gravity.copy()
        self.set_gravity(gravity)
        try:
            yield
        finally:
            self.set_gravity(present)

    def set_payload(self, name: str, link: str, inertial: Inertial) -> None:
        """
        Attach a rigid body to a link, in place of one of that name; see :meth:`with_payload`.

        :param inertial: mass, centre of mass and inertia in the link's frame.
        :raises RneaError: where the link is not prepared for payloads, or a number is not finite
            or negative, or too large for the inertia in the body's frame to be finite; then
            nothing changes.
        """
        check_payload(name, inertial)
        self.set_payloads({**self._payloads, name: (link, inertial)})

    def set_payloads(self, payloads: Mapping[str, tuple[str, Inertial]]) -> None:
        """
        Attach several payloads at once, in place of all that there are.

        :param payloads: the link and the mass properties in its frame, by name.
        :raises RneaError: as :meth:`set_payload`; then nothing changes.
        """
        for name, (link, inertial) in payloads.items():
            present = self._payloads.get(name)
            if present is not None and present[0] == link and present[1] is inertial:
                continue
            check_payload(name, inertial)
            if not self.takes_payload(link):
                there = ', '.join(map(repr, self._payload_links)) or 'none'
                raise ArgumentError(
                    f'link {link!r} of {self.name!r} is not prepared for a payload; there is '
                    f'{there}. Make another AdjustableRobot with that link among its '
                    'payload_links')
        self._set_payloads(payloads)

    def remove_payload(self, name: str) -> None:
        """
        Remove a payload.

        :raises ArgumentError: where there is none of that name.
        """
        self._set_payloads(self._payloads_without(name))

    def set_joint_parameters(self, name: str, values: Mapping[str, float]) -> None:
        """
        Change what the description says of joints.

        :param name: of one of :data:`ros2_rnea.model.description.JOINT_NUMBERS`, such as
            ``'damping'``.  Those of ``OPTIONAL_PARAMETERS`` need a robot that is prepared for
            them.
        :param values: by joint, mimic joints included; joints that are not named keep theirs.
        :raises ArgumentError: where there is no such parameter or joint, or a value is not
            possible; then nothing changes.
        """
        if name not in ADJUSTABLE:
            raise ArgumentError(
                f'the joint parameter {name!r} cannot be changed{did_you_mean(name, ADJUSTABLE)}; '
                f'there are {", ".join(ADJUSTABLE)}')
        if not self.takes_joint_parameter(name):
            there = ', '.join(self._optional_parameters) or 'none'
            raise ArgumentError(
                f'{self.name!r} is not prepared for the joint parameter {name!r}; it is for '
                f'{there}. Make another AdjustableRobot with it in its optional_parameters')
        if not isinstance(values, Mapping):
            raise ArgumentError(
                f'the {name} is {values!r}; it needs a mapping from joints to numbers')
        bodies = list(self._tree_without_payloads.bodies)
        joints = {**self._tree_without_payloads.joints, **self._tree_without_payloads.mimics}
        for joint, value in values.items():
            if joint not in joints:
                raise ArgumentError(
                    f'{self.name!r} has no moving joint {joint!r}{did_you_mean(joint, joints)}')
            if not ADJUSTABLE[name].accepts(value):
                raise ArgumentError(f'joint {joint!r} cannot have the {name} {value!r}; '
                                    f'it needs {ADJUSTABLE[name].needed}')
            index = joints[joint]
            kind = bodies[index].type
            if ADJUSTABLE[name].of_one_coordinate and kind.nv > 1:
                raise ArgumentError(f'joint {joint!r} is {kind.label} and cannot have a {name}; '
                                    'only a joint of one coordinate can')
            bodies[index] = with_joint_number(bodies[index], name, float(value))
        self._tree_without_payloads = replace(self._tree_without_payloads, bodies=tuple(bodies))
        for joint in values:
            index = joints[joint]
            self._parameters.set_joint(name, index, getattr(bodies[index], name))
        self._set_tree()

    def _set_payloads(self, payloads: Mapping[str, tuple[str, Inertial]]) -> None:
        before = self._payload_inertias
        now = payload_inertia(self._tree_without_payloads, payloads, self._inertia_on_body)
        self._payloads = MappingProxyType(dict(payloads))
        self._payload_inertias = now
        for body in {*before, *now}:
            self._parameters.set_payload(body, now.get(body, MASSLESS))
        attached = {(link, id(inertial)) for link, inertial in payloads.values()}
        self._inertias_on_bodies = {
            key: known for key, known in self._inertias_on_bodies.items() if key in attached}
        self._set_tree()

    def _inertia_on_body(self, tree: Tree, link: str, inertial: Inertial) -> Inertia:
        """Return a payload's inertia, which is computed once."""
        key = link, id(inertial)  # of an object that is kept with the result
        if key not in self._inertias_on_bodies:
            self._inertias_on_bodies[key] = inertial, inertia_on_body(tree, link, inertial)
        return self._inertias_on_bodies[key][1]

    def _set_tree(self) -> None:
        """Keep the trees in step with the parameters that kernels read."""
        self._tree = attach(self._tree_without_payloads, self._payload_inertias)
        self._evaluator.tree = self._tree
        self._update_copy()

    def _fixed_class(self) -> type[Robot]:
        """Return the class of robots that are made of this one, and change no more."""
        return Robot

    def _variant(self, payload_bodies: Iterable[int]) -> Variant:
        """Return which parameters the kernels of this robot read: all that may change."""
        of_numbers = super()._variant(payload_bodies)
        return of_numbers._replace(
            joint_parameters=tuple(name for name in JOINT_PARAMETERS if (
                self.takes_joint_parameter(name) or name in of_numbers.joint_parameters)),
            payloads=tuple(sorted(self._payload_bodies - {BASE})))


def _checked_optional_parameters(tree: Tree, named: Iterable[str]) -> tuple[str, ...]:
    """
    Return the parameters of ``OPTIONAL_PARAMETERS`` that are named, and those that a joint has.

    :raises ArgumentError: where a name is none of them.
    """
    names = {*named}
    for name in names - OPTIONAL:
        raise ArgumentError(
            f'there is no optional parameter {name!r}{did_you_mean(name, OPTIONAL)}; '
            f'there are {", ".join(sorted(OPTIONAL))}')
    return tuple(
        number.name for number in OPTIONAL_PARAMETERS
        if number.name in names or any(getattr(body, number.name) for body in tree.bodies))
