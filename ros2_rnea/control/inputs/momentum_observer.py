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
"""The effort of the environment on each joint, from the change of the generalized momentum."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from ros2_rnea.control.signals import FilterMemory, LowPass
from ros2_rnea.robots.robot import Robot


@dataclass
class ObserverMemory:
    """
    The estimate and the last sample.

    :ivar estimate: of the external effort, shape (joints,) [Nm or N], and when it was updated.
    :ivar previous: time [s], momentum, and its rate by the model, of the last sample of the same
        model; None: there is none.
    :ivar since: time of the sample with which the estimate began [s]; infinite: none has come.
    """

    estimate: FilterMemory
    previous: tuple[float, np.ndarray, np.ndarray] | None = None
    since: float = inf


class MomentumObserver:
    """
    The generalized-momentum observer, which needs no acceleration and no inverse of M.

    Its estimate r, which the literature calls the residual, follows the external effort as a
    first-order filter, ṙ = K (τ_ext − r) (De Luca and Mattone, ICRA 2005; Haddadin, De Luca and
    Albu-Schäffer, "Robot Collisions: A Survey on Detection, Isolation, and Identification", IEEE
    Transactions on Robotics 33, 2017).  Over a sample of length dt, the mean external effort is
    the change of momentum less what the model and the motors explain, by the trapezoidal rule; the
    filter is then solved exactly.  So nothing is integrated without end, and a model that is
    replaced only needs another first sample.

    :param robot: the model; it may change between samples.
    :param gain: K [1/s]; 1/K is the time constant.
    :param longest_gap: between two samples; a longer one starts anew [s].
    :param bound: of the magnitude of each joint's sample, shape (joints,) [Nm or N].
    :param joints: indices of the observed joints in efforts.
    :param memory: the estimate to continue from, of the same joints; its last sample is forgotten,
        because the model may be another one.  None: there is no external effort.
    """

    def __init__(
            self, robot: Robot, gain: float, longest_gap: float, bound: np.ndarray,
            joints: slice | np.ndarray, memory: ObserverMemory | None = None) -> None:
        self._robot = robot
        self._longest_gap = longest_gap
        self._bound = bound
        self._joints = joints
        self._terms = np.zeros((2, robot.nv))
        self.memory = memory or ObserverMemory(FilterMemory(np.zeros(len(bound))))
        self._filter = LowPass(
            1.0 / gain, np.zeros(len(bound)), longest_gap, self.memory.estimate)
        self.forget_momentum()

    @property
    def estimate(self) -> np.ndarray:
        """Return the present estimate of the external effort, shape (joints,) [Nm or N]."""
        return self._filter.value

    @property
    def duration(self) -> float:
        """Return the time from the first to the last sample without a gap [s]."""
        return max(self._filter.received - self.memory.since, 0.0)

    def restart(self) -> None:
        """Begin with no external effort, at the next sample."""
        self._filter.restart(np.zeros(len(self._bound)))
        self.memory.previous, self.memory.since = None, inf

    def forget_momentum(self) -> None:
        """Keep the estimate, but compare the next sample with none before: the model is new."""
        self.memory.previous = None

    def update(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray, time: float) -> None:
        """
        Take a sample.

        :param q: measured positions of the robot, shape (nq,).
        :param qd: measured velocities of the robot, shape (nv,).
        :param effort: what the motors exert on the observed joints, shape (joints,); not a finite
            number where it is not known, for which the estimate goes to 0.
        :param time: of the sample [s].
        """
        momentum, rate = self._robot.joint_momentum(q, qd, out=self._terms)
        momentum, rate = momentum[self._joints].copy(), rate[self._joints] + effort
        previous, self.memory.previous = self.memory.previous, (time, momentum, rate)
        if previous is None:
            if not 0.0 <= time - self._filter.received <= self._longest_gap:
                self.restart()  # an estimate that is as old as that is none
                self.memory.previous = time, momentum, rate
            self.memory.since = min(self.memory.since, time)
            self._filter.update(self._filter.value, time)
            return
        dt = time - previous[0]
        if dt == 0.0:  # the same state once more
            self.memory.previous = previous
            return
        if not 0.0 < dt <= self._longest_gap:
            self.restart()
            return
        with np.errstate(invalid='ignore', over='ignore'):
            sample = (momentum - previous[1]) / dt - 0.5 * (rate + previous[2])
        sample[~np.isfinite(sample)] = 0.0
        self._filter.update(np.clip(sample, -self._bound, self._bound), time)
