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
"""The effort of a motion without the terms that the arm adds by itself, and all its terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_rnea.robots.results import EffortTerms
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Terms


class RobotMotion(NamedTuple):
    """
    A motion of the whole robot with the wrenches on it, from which an effort is computed.

    :ivar q: shape (nq,) [rad or m].
    :ivar qd: shape (nv,) [rad/s or m/s].
    :ivar qdd: the acceleration, including the correction, shape (nv,) [rad/s^2 or m/s^2].
    :ivar correction: the part of the acceleration that comes from state feedback, shape (nv,)
        [rad/s^2 or m/s^2]; None: zero.
    :ivar wrenches: applied by the environment, shape (bodies, 6) [Nm, N]; None: zero.
    :ivar friction_qd: the velocity at which friction is computed, shape (nv,) [rad/s or m/s];
        None: ``qd``.  Where ``qd`` is measured, the desired velocity is used: near rest the sign
        of a measured velocity is noise, and friction compensation would push the joint to and
        fro.
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    correction: np.ndarray | None = None
    wrenches: np.ndarray | None = None
    friction_qd: np.ndarray | None = None


class EffortLaw:
    """
    Compute the terms of an effort that are sent.

    :param robot: the model, with the gravity, payloads and joint parameters that it has at each
        call.
    :param sent: the terms to send; not ``Terms.AUTOMATIC``, which has to be resolved before.
    :param arm_gravity: see :meth:`set_terms`.
    """

    def __init__(self, robot: Robot, sent: Terms, arm_gravity: Sequence[float] = ()) -> None:
        self.robot = robot
        self._left_out, self._at_rest = np.zeros(robot.nv), np.zeros(robot.nv)
        self.set_terms(sent, arm_gravity)

    def set_terms(self, sent: Terms, arm_gravity: Sequence[float] = ()) -> None:
        """
        Set which terms are sent from now on.

        :param arm_gravity: acceleration of free fall for which the arm adds gravity by itself,
            shape (3,) [m/s^2]; that much is left out, instead of the true gravity.  Empty: the arm
            knows the true one.
        """
        self.sent = sent
        self._arm_gravity = np.array(arm_gravity, dtype=float) if len(arm_gravity) else None
        left_out = sent.left_out
        self._adds_gravity = 'gravity' in left_out
        self._adds_coriolis = 'coriolis' in left_out
        self._adds_friction = 'friction' in left_out

    def effort(self, motion: RobotMotion, out: np.ndarray) -> np.ndarray:
        """Return what is to be sent of the effort of a motion, shape (nv,), written to ``out``."""
        robot = self.robot
        q, qd, qdd, _, wrenches, friction_qd = motion
        if self.sent is Terms.GRAVITY_ONLY:
            tau = robot.inverse_dynamics(q, self._at_rest, self._at_rest, out=out)
            tau -= robot.friction(self._at_rest, out=self._left_out)  # friction_offset
            return tau
        if wrenches is None:
            tau = robot.inverse_dynamics(q, qd, qdd, out=out)
        else:
            tau = robot.inverse_dynamics(q, qd, qdd, f_ext=wrenches, out=out)
        if self._adds_gravity:
            tau -= robot.gravity(q, self._arm_gravity, out=self._left_out)
        if self._adds_coriolis:
            tau -= robot.coriolis_effort(q, qd, out=self._left_out)
        if self._adds_friction:
            tau -= robot.friction(qd, out=self._left_out)
        elif friction_qd is not None:
            tau += robot.friction(friction_qd)
            tau -= robot.friction(qd)
        return tau

    def terms(self, motion: RobotMotion) -> tuple[EffortTerms, np.ndarray]:
        """Return the terms of a motion without its correction, and the correction's effort."""
        q, qd, qdd, correction, wrenches, friction_qd = motion
        if correction is None:
            correction = self._at_rest
        terms = self.robot.effort_terms(q, qd, qdd - correction, wrenches)
        if friction_qd is not None:
            friction = self.robot.friction(friction_qd)
            terms = terms._replace(
                friction=friction, total=terms.total - terms.friction + friction)
        return terms, self.robot.effort_terms(q, self._at_rest, correction).inertia
