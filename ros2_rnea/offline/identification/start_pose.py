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
"""A pose in which a motion can start: the limits are kept there at rest."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np
from ros2_rnea.errors import RneaError
from ros2_rnea.offline.identification.moving_joints import EFFORT, MovingJoints, POSITION
from ros2_rnea.offline.identification.unknowns import unit_of
from ros2_rnea.robots.arguments import Array

_POSES = 200
"""Random poses among which one to start from is searched."""


class ExcitationError(RneaError):
    """No motion can be found within the limits, for the reason that the message gives."""


def start_pose(
        moving: MovingJoints, random: np.random.Generator, given: Array | None = None) -> Array:
    """
    Return a pose of moving joints that keeps the limits at rest, shape (joints,).

    :param given: the only one that is possible; None: any.
    :raises ExcitationError: with the limits that are exceeded.
    """
    if given is not None:
        defects = _defects(moving, given)
        if defects:
            raise ExcitationError(f'the pose to start from is not possible: {defects}')
        return given
    allowed = moving.allowed
    nearest, lightest, least = '', allowed.center, inf
    for pose in _poses(moving, random):
        defects = _defects(moving, pose)
        if not defects:
            return pose
        nearest = nearest or defects
        load = float(np.max(np.abs(_efforts(moving, pose)) / allowed.effort))
        lightest, least = (pose, load) if load < least else (lightest, least)
    if least > 1.0:
        raise ExcitationError(
            f'the motors do not carry the arm in any of {_POSES} poses to start from; in that '
            f'which takes least, {_too_heavy(moving, lightest)}')
    raise ExcitationError(
        f'none of {_POSES} poses to start from is possible; in the middle of the ranges of '
        f'{", ".join(allowed.joints)}, {nearest}. Give a pose to start from, other limits or '
        'less clearance')


def _poses(moving: MovingJoints, random: np.random.Generator) -> Iterator[Array]:
    allowed = moving.allowed
    yield allowed.center
    for _ in range(_POSES - 1):
        draw = random.uniform(-0.7, 0.7, len(allowed.joints))
        yield allowed.center + draw * allowed.half_range


def _defects(moving: MovingJoints, pose: Array) -> str:
    """Return which limit is exceeded at rest; empty: none."""
    still = moving.at_rest(pose)
    states = moving.states(still)
    shares = np.abs(moving.shares(still, states)[:, 0])
    worst = int(shares[POSITION].argmax())
    if shares[POSITION, worst] > 1.0:
        return (f'the position of {moving.allowed.joints[worst]} is '
                f'{shares[POSITION, worst]:.0%} of what is allowed')
    if shares[EFFORT].max() > 1.0:
        return _too_heavy(moving, pose)
    if moving.clearance is not None:
        distance = float(moving.clearance(states.q)[0])
        if distance < moving.least:
            return f'the clearance is {distance:.4g} m, and {moving.least:g} m are demanded'
    return ''


def _efforts(moving: MovingJoints, pose: Array) -> Array:
    """Return the efforts that hold moving joints in a pose, shape (joints,) [Nm or N]."""
    return moving.efforts(moving.states(moving.at_rest(pose)))[0]


def _too_heavy(moving: MovingJoints, pose: Array) -> str:
    """Return which joints gravity loads too much in a pose, and what would do."""
    allowed, efforts = moving.allowed, np.abs(_efforts(moving, pose))
    said = []
    for k in np.flatnonzero(efforts > allowed.effort).tolist():
        unit = unit_of(moving.robot.tree, allowed.joints[k], 'Nm', 'N')
        said.append(
            f'gravity takes {efforts[k]:.4g} {unit} of joint {allowed.joints[k]!r} (limit '
            f'{allowed.effort_limit[k]:.4g} {unit}, of which the margin leaves '
            f'{allowed.effort[k]:.4g} {unit})')
    remedy = (
        'A smaller margin of effort allows it (--effort-margin)'
        if (efforts <= allowed.effort_limit).all() else
        'The motors cannot hold it there: correct the effort limit (--limits) or the masses '
        'of the URDF if they are wrong, or take a lighter payload')
    return f'{" and ".join(said)}. {remedy}, or start where gravity takes less (--assume)'
