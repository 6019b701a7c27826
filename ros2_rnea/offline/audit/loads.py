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
"""The range of each joint's gravity term within the position limits of all joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi

import numpy as np

from ros2_rnea.model.tree import Body
from ros2_rnea.offline.audit.bodies import moved_masses
from ros2_rnea.offline.audit.findings import Finding, Kind
from ros2_rnea.robots.robot import Robot

UNLIMITED_TRAVEL = 1.0
"""A prismatic joint without limits is sampled within this distance of 0 [m]."""

LIKE_NONE = 1000.0
"""A position limit of at least this is taken as no limit [rad or m]."""

ROUNDING = 1e-8
"""Gravity terms below this are rounding errors, per kilogram of the robot [Nm/kg]."""


@dataclass(frozen=True, eq=False)
class Loads:
    """
    The smallest and the largest gravity term of each joint.

    They are those of sampled positions within the position limits, with the root link fixed and z
    up: the true range is slightly wider.

    :ivar low: shape (nv,) [Nm or N], as for high.
    :ivar positions: the samples, shape (samples, nq) [rad or m].
    :ivar worst: index of the sample with the largest magnitude of each, shape (nv,).
    """

    low: np.ndarray
    high: np.ndarray
    positions: np.ndarray
    worst: np.ndarray

    @property
    def largest(self) -> np.ndarray:
        """Return the largest magnitude of each, shape (nv,) [Nm or N]."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def sample_loads(robot: Robot, samples: int) -> Loads:
    """
    Compute the effort against gravity and springs at positions that are the same in each call.

    In a third of the samples the joints are anywhere within their limits, in a third at a limit,
    and in a third anywhere, at a limit or at the middle of their range.
    """
    q = _positions(robot, samples)
    efforts = robot.gravity(q) + robot.spring(q)
    worst = np.argmax(np.abs(efforts), axis=0)
    return Loads(efforts.min(axis=0), efforts.max(axis=0), q, worst)


def load_findings(robot: Robot, loads: Loads, mass: float) -> Iterator[Finding]:
    """
    Yield the findings about loads.

    :param mass: of all links [kg], to which the rounding error is proportional.
    """
    moved = moved_masses(robot.tree)
    for name, index in robot.tree.joints.items():
        body = robot.tree.bodies[index]
        largest = float(np.max(loads.largest[body.v_slice]))
        if largest <= ROUNDING * mass:
            if moved[index] > 0.0 and not body.limits.lower == body.limits.upper:
                yield Finding(
                    Kind.NO_GRAVITY, f'joint {name!r}',
                    'gravity never loads it in this orientation of the root link')
        elif body.type.nv == 1 and 0.0 < body.limits.effort < largest:
            cause = 'gravity with the spring' if body.spring_stiffness else 'gravity alone'
            unit = 'N' if body.type.slides_along_axis else 'Nm'
            yield Finding(
                Kind.OVERLOADED, f'joint {name!r}',
                f'{cause} needs up to {largest:.4g} {unit} within the position limits, but '
                f'its effort limit is {body.limits.effort:.4g}: there it cannot hold the robot')


def _positions(robot: Robot, samples: int) -> np.ndarray:
    """Return positions as rows, shape (samples, nq)."""
    random = np.random.default_rng(0)
    q = np.zeros((samples, robot.nq))
    for index in robot.tree.joints.values():
        body = robot.tree.bodies[index]
        q[:, body.q_slice] = _joint_positions(body, samples, random)
    return q


def _joint_positions(body: Body, samples: int, random: np.random.Generator) -> np.ndarray:
    q = np.zeros((samples, body.type.nq))
    if body.type.quaternion is not None:
        turn = random.normal(size=(samples, 4))
        q[:, body.type.quaternion] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    elif body.type.nv == 1:
        q[:, 0] = _mixed(*_range(body), samples, random)
    else:  # of a planar or cylindrical joint, only the angle changes the gravity term
        q[:, body.type.coordinates.index('angle')] = random.uniform(-pi, pi, samples)
    return q


def _range(body: Body) -> tuple[float, float]:
    unlimited = UNLIMITED_TRAVEL if body.type.slides_along_axis else pi
    lower, upper = np.clip((body.limits.lower, body.limits.upper), -LIKE_NONE, LIKE_NONE)
    lower = lower if abs(lower) < LIKE_NONE else min(-unlimited, upper - unlimited)
    upper = upper if abs(upper) < LIKE_NONE else max(unlimited, lower + unlimited)
    return lower, upper


def _mixed(
        lower: float, upper: float, samples: int, random: np.random.Generator) -> np.ndarray:
    """Return random numbers of a range, one of its ends, and a mixture of both with the middle."""
    anywhere = random.uniform(lower, upper, samples)
    ends = random.choice([lower, upper], samples)
    choice = random.integers(3, size=samples)
    both = np.choose(choice, [anywhere, ends, np.full(samples, 0.5 * (lower + upper))])
    return np.choose(np.arange(samples) % 3, [anywhere, ends, both])
