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
"""The effort of a motion, less what the arm adds to it by itself, and the terms it consists of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.feedforward.settings import Terms
from ros2_rnea.results import EffortTerms
from ros2_rnea.robot import Robot


class RobotMotion(NamedTuple):
    """
    What an effort is computed for: a motion of the whole robot, and what acts on it.

    :ivar q: shape (nq,).
    :ivar qd: shape (nv,), as are the next two.
    :ivar qdd: the acceleration, correction included.
    :ivar correction: the part of it that corrects an error; None: nothing does.
    :ivar wrenches: that the environment applies, shape (bodies, 6); None: there are none.
    :ivar friction_qd: the velocity that friction is overcome at; None: ``qd``.  For a measured
        ``qd`` it is the desired one: around rest, friction at the measured velocity would drive
        the joint the way it happens to creep, to and fro.
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    correction: np.ndarray | None = None
    wrenches: np.ndarray | None = None
    friction_qd: np.ndarray | None = None


class EffortLaw:
    """
    Computes those terms of an effort that are to be sent.

    :ivar robot: whose inverse dynamics it is.
    :param sent: which terms; not ``Terms.AUTOMATIC``, which says nothing by itself.
    """

    def __init__(self, robot: Robot, sent: Terms) -> None:
        self.robot = robot
        self._sent = sent
        self._weightless = robot.with_gravity((0.0, 0.0, 0.0))
        self._computing = robot if sent is Terms.FULL else self._weightless
        self._coriolis, self._at_rest = np.zeros(robot.nv), np.zeros(robot.nv)

    def set_gravity(self, gravity: ArrayLike) -> None:
        """Compute with another acceleration of free fall from now on, shape (3,)."""
        self.robot = self.robot.with_gravity(gravity)
        if self._sent is Terms.FULL:
            self._computing = self.robot

    def effort(self, motion: RobotMotion, out: np.ndarray) -> np.ndarray:
        """Return what is to be sent of the effort of a motion, shape (nv,), written to ``out``."""
        q, qd, qdd, _, wrenches, friction_qd = motion
        if self._sent is Terms.GRAVITY_ONLY:
            return self.robot.inverse_dynamics(q, self._at_rest, self._at_rest, out=out)
        if wrenches is None:
            tau = self._computing.inverse_dynamics(q, qd, qdd, out=out)
        else:
            tau = self._computing.inverse_dynamics(q, qd, qdd, f_ext=wrenches, out=out)
        if self._sent is Terms.NO_GRAVITY_NO_CORIOLIS:
            tau -= self._weightless.coriolis_effort(q, qd, out=self._coriolis)
        if friction_qd is not None:
            tau += self._weightless.friction(friction_qd) - self._weightless.friction(qd)
        return tau

    def terms(self, motion: RobotMotion) -> tuple[EffortTerms, np.ndarray]:
        """Return all terms of the effort of a motion without its correction, and that one's."""
        q, qd, qdd, correction, wrenches, friction_qd = motion
        if correction is None:
            correction = self._at_rest
        terms = self.robot.effort_terms(q, qd, qdd - correction, wrenches)
        if friction_qd is not None:
            friction = self.robot.friction(friction_qd)
            terms = terms._replace(
                friction=friction, total=terms.total - terms.friction + friction)
        return terms, self._weightless.effort_terms(q, self._at_rest, correction).inertia
