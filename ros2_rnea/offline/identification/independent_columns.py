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
    rng = np.random.default_rng(0)
    count = 20 * max(map(len, bodies)) + 20
    textbook = Robot(robot.tree, gravity=robot.free_fall, engine='textbook')
    q = np.array([robot.integrate(robot.neutral(), one)
                  for one in rng.uniform(-1.5, 1.5, (count, robot.nv))])
    Y = textbook.regressor(q, *rng.normal(size=(2, count, robot.nv)))
    return [_independent(Y[:, coordinate], own) for coordinate, own in enumerate(bodies)]


def _independent(Y: np.ndarray, bodies: tuple[int, ...]) -> Independent:
    """Find the independent columns of one coordinate, shape of Y (states, 10 bodies of all)."""
    places = np.array([10 * body + row for body in bodies for row in range(10)], dtype=int)
    sums = np.zeros((len(places), len(places)))
    norms = np.linalg.norm(Y[:, places], axis=0)
    there = np.flatnonzero(norms > DEPENDENT * norms.max(initial=0.0))
    if not len(there):
        return Independent((), bodies, sums[:0])
    R, order = qr(Y[:, places[there]] / norms[there], mode='r', pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT))
    taken, others = there[order[:rank]], there[order[rank:]]
    sums[taken, taken] = 1.0
    sums[np.ix_(taken, others)] = (
        solve_triangular(R[:rank, :rank], R[:rank, rank:]) * norms[others] / norms[taken][:, None])
    taken = np.sort(taken)
    return Independent(tuple(places[taken].tolist()), bodies, sums[taken])
