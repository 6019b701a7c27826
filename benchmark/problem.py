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
"""One robot with the states at which every peer is evaluated, in our coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from benchmark.errors import BenchmarkError
from benchmark.robots import Description
import numpy as np
from ros2_rnea import Robot
from ros2_rnea.model.description import JointType

STATES = 64
"""Inputs rotate over so many states: more than a branch predictor or a habit remembers."""

GRAVITY = (0.0, 0.0, -9.81)

ONE_NUMBER = (JointType.REVOLUTE, JointType.CONTINUOUS, JointType.PRISMATIC)


class States(NamedTuple):
    """Rows of positions, velocities, accelerations, their efforts, and wrenches on all bodies."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    f_ext: np.ndarray


@dataclass(frozen=True, eq=False)
class Problem:
    """
    What a peer gets.

    :ivar robot: ours, whose tree also says where each joint's coordinates stand.
    :ivar batch_rows: how many states a batch has.
    """

    description: Description
    robot: Robot
    batch_rows: int

    @cached_property
    def states(self) -> States:
        """Return the states that inputs rotate over."""
        return self._draw(STATES)

    @cached_property
    def batch(self) -> States:
        """Return the states of a batch."""
        return self._draw(self.batch_rows)

    @property
    def floating_base(self) -> bool:
        """Return whether the first seven positions and six velocities are those of the base."""
        return self.description.floating_base

    def _draw(self, count: int) -> States:
        """
        Return random states of which all are as likely, with bodies that move in all directions.

        The efforts are those that the motion needs: drawn at random they would throw the
        lightest finger about, and accelerations would lose their digits in everyone's hands.
        All but quaternions, efforts and wrenches are exact in float32, too.
        """
        rng = np.random.default_rng(count)
        tree = self.robot.tree
        q = _exact_in_float32(rng.uniform(-np.pi, np.pi, (count, tree.nq)))
        if self.floating_base:
            quaternion = rng.normal(size=(count, 4))
            q[:, 3:7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        qd, qdd = _exact_in_float32(rng.uniform(-3.0, 3.0, (2, count, tree.nv)))
        tau = self.robot.inverse_dynamics(q, qd, qdd)
        return States(q, qd, qdd, tau, rng.normal(0.0, 10.0, (count, len(tree.bodies), 6)))


def _exact_in_float32(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.float32).astype(np.float64)


def pose_problem(description: Description, batch_rows: int) -> Problem:
    """
    Return the problem that a description poses.

    :raises RneaError: where the description leaves the dynamics undefined.
    :raises BenchmarkError: where a joint is of a type that not all peers write alike.
    """
    robot = Robot.from_urdf(description.text, floating_base=description.floating_base)
    for body in robot.tree.bodies[1 if description.floating_base else 0:]:
        if body.type not in ONE_NUMBER:
            raise BenchmarkError(
                f'joint {body.joint!r} of {description.name!r} is {body.type.name.lower()}; the '
                'benchmark knows revolute, continuous and prismatic joints, and --floating')
    return Problem(description, robot, batch_rows)
