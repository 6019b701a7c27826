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
"""The robot states and joints that service requests are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_rnea.control.policy import Policy
from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.joint_index_map import (
    check_joint_names,
    JointIndexMap,
    single_joints,
)


class RequestedState(NamedTuple):
    """
    The state in a service request.

    :ivar names: of joints; empty: the measured state is requested.
    :ivar positions: one for each name; velocities and accelerations too, or empty.
    """

    names: Sequence[str] = ()
    positions: Sequence[float] = ()
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()


class StateQuery(NamedTuple):
    """A state of the whole robot: q of shape (nq,), q̇ and q̈ of shape (nv,)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


class AnsweredJoints(NamedTuple):
    """The joints that responses contain, and their indices in q and in efforts."""

    names: tuple[str, ...]
    q_index: np.ndarray
    v_index: np.ndarray


def answered_joints(policy: Policy) -> AnsweredJoints:
    """Return the joints with one degree of freedom, the controlled ones first in their order."""
    others = tuple(n for n in single_joints(policy.robot) if n not in policy.controlled)
    names = (*policy.controlled, *others)
    places = JointIndexMap(policy.robot, names, {})
    return AnsweredJoints(names, places.q_index, places.v_index)


def state_query(
        policy: Policy, now: float, request: RequestedState) -> StateQuery:
    """
    Return the state of the whole robot that a request is about.

    Joints that the request does not name stand still at their measured or assumed positions.  A
    request without names is about the measured state, including its velocities.

    :param policy: provides the robot, its measured state and the assumed positions.
    :param now: on the steady clock [s].
    :raises ArgumentError: naming the joint that is unknown, missing or not finite.
    """
    names, positions, velocities, accelerations = request
    check_joint_names(policy.robot, names, 'names')
    answered = answered_joints(policy)
    place = {name: i for i, name in enumerate(answered.names)}
    measured = policy.states.positions[:len(answered.names)].copy()
    rates = np.zeros((2, len(answered.names)))
    if not names:
        if not policy.states.is_fresh(now):
            raise ArgumentError(
                'no names are given, which asks about the measured state, and there is no fresh '
                f'one of {", ".join(policy.states.stale(now))}: name joints and positions')
        rates[0] = policy.states.fresh_velocities(now)[:len(answered.names)]
    for label, given, row in (
            ('positions', positions, measured),
            ('velocities', velocities, rates[0]),
            ('accelerations', accelerations, rates[1])):
        if len(given) or label == 'positions':
            _fill(label, names, given, place, row)
    whole = JointIndexMap(policy.robot, answered.names, policy.settings.assumed_positions)
    unknown = whole.unknown(measured)
    if unknown:
        name_it = 'name it in the request, or ' if unknown[0] in place else ''
        raise ArgumentError(
            f'the position of joint {unknown[0]!r} is not given, not measured and not assumed: '
            f'{name_it}set assumed_positions.{unknown[0]}')
    return StateQuery(
        whole.positions(measured), whole.velocities(rates[0]), whole.velocities(rates[1]))


def requested_efforts(
        policy: Policy, names: Sequence[str], efforts: Sequence[float]) -> np.ndarray:
    """
    Return the efforts τ in a request, shape (nv,) [Nm or N]; zero for joints without one.

    :param names: of joints, checked by :func:`state_query`.
    :param efforts: one for each name, or empty.
    :raises ArgumentError: where the sizes differ, or naming the joint whose effort is not finite.
    """
    answered = answered_joints(policy)
    row = np.zeros(len(answered.names))
    if len(efforts):
        _fill('efforts', names, efforts, {name: i for i, name in enumerate(answered.names)}, row)
    tau = np.zeros(policy.robot.nv)
    tau[answered.v_index] = row
    return tau


def held_joints(policy: Policy, names: Sequence[str]) -> tuple[str, ...]:
    """
    Return the joints that a request about accelerations leaves at rest.

    Joints of several degrees of freedom, for which the node knows no motion, are always among
    them; all others that are not named, unless no names are given.
    """
    answered = answered_joints(policy)
    others = tuple(name for name in policy.robot.joint_names if name not in answered.names)
    return (*(name for name in answered.names if len(names) and name not in names), *others)


def _fill(
        label: str,
        names: Sequence[str],
        given: Sequence[float],
        place: dict[str, int],
        row: np.ndarray) -> None:
    if len(given) != len(names):
        raise ArgumentError(f'{len(given)} {label} are given for {len(names)} names')
    for name, value in zip(names, given):
        if not np.isfinite(value):
            raise ArgumentError(f'{label} has {value} for joint {name!r}; it must be finite')
        row[place[name]] = value
