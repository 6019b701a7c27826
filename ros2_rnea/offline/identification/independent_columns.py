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
"""
Columns of the regressor of a coordinate that all others are sums of, in any motion.

They are found in random states, by QR with column pivoting.  What no random state tells apart, no
motion does: columns are analytic functions of the state.  A recording then has to be reduced in
two thirds of the columns, or fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ros2_rnea.robots.robot import Robot
from scipy.linalg import qr, solve_triangular

DEPENDENT = 1e-11
"""
A column of the regressor is taken for a sum of others if what they do not explain of it is less
than this share of its norm; rounding leaves some 1e-15.
"""


@dataclass(frozen=True)
class Independent:
    """
    Columns of the regressor of one coordinate that all others are sums of, in any motion.

    :ivar taken: their places in the regressor.
    :ivar bodies: whose columns enter at all.
    :ivar sums: the ten columns of each of these bodies as sums of those taken, shape
        (taken, 10 bodies).
    """

    taken: tuple[int, ...]
    bodies: tuple[int, ...]
    sums: np.ndarray

    def places(self, body: int) -> slice:
        """Return where the ten columns of a body are in the sums."""
        place = 10 * self.bodies.index(body)
        return slice(place, place + 10)


def independent_columns(
        robot: Robot, bodies: Sequence[tuple[int, ...]]) -> list[Independent]:
    """
    Find the independent columns for each coordinate in random states.

    :param bodies: for each coordinate those whose columns enter.
    """
    if not any(bodies):
        return [Independent((), (), np.zeros((0, 0))) for _ in bodies]
    textbook = Robot(robot.tree, gravity=robot.free_fall, engine='textbook')
    Y = textbook.regressor(*random_states(robot, 20 * max(map(len, bodies)) + 20))
    return [_independent(Y[:, coordinate], own) for coordinate, own in enumerate(bodies)]


def random_states(robot: Robot, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations, the same ones at each call."""
    rng = np.random.default_rng(0)
    q = np.array([robot.integrate(robot.neutral(), one)
                  for one in rng.uniform(-1.5, 1.5, (count, robot.nv))])
    qd, qdd = rng.normal(size=(2, count, robot.nv))
    return q, qd, qdd


def sums_of_others(
        A: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return which columns are independent, which others are sums of these, and the sums.

    A QR factorization with column pivoting takes one column after the other that is no sum of
    those taken before.

    :param least: a column is a sum of others where what they leave of it is less than this share
        of its norm, and 0, and with neither, where it is less than this share of the largest one.
    :return: the places of both, and factors, shape (taken, others).
    """
    norms = np.linalg.norm(A, axis=0)
    there = np.flatnonzero(norms > least * norms.max(initial=0.0))
    if not len(there):
        return there, there, np.zeros((0, 0))
    R, order = qr(A[:, there] / norms[there], mode='r', pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > least))
    taken, others = there[order[:rank]], there[order[rank:]]
    factors = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    return taken, others, factors * norms[others] / norms[taken][:, None]


def _independent(Y: np.ndarray, bodies: tuple[int, ...]) -> Independent:
    """Find the independent columns of one coordinate, shape of Y (states, 10 bodies of all)."""
    places = np.array([10 * body + row for body in bodies for row in range(10)], dtype=int)
    taken, others, factors = sums_of_others(Y[:, places], DEPENDENT)
    sums = np.zeros((len(places), len(places)))
    sums[taken, taken] = 1.0
    sums[np.ix_(taken, others)] = factors
    taken = np.sort(taken)
    return Independent(tuple(places[taken].tolist()), bodies, sums[taken])
