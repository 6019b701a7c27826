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
"""Velocities from positions, for joints whose velocity is not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, inf

import numpy as np

from ros2_rnea.control.arrays import Indices
from ros2_rnea.control.inputs.joint_arrays import same_names, without_turns

TIME_CONSTANT = 0.02
"""Time constant of the filter of the differences [s]."""

PERIODS = 2.0
"""The time constant is never less than so many times between two samples."""

SAMPLES = 3
"""Number of samples without a gap that give an estimate."""


@dataclass
class EstimateMemory:
    """
    The last samples and the estimates, by joint; arrays have shape (joints,).

    :ivar names: of the joints, in the order of the arrays.
    :ivar velocities: the filtered differences [rad/s or m/s].
    :ivar positions: of the last sample [rad or m].
    :ivar received: when it was received [s]; −inf: never.
    :ivar stamps: of the last sample [s]; 0: not given.
    :ivar elapsed: from the first sample without a gap to the last [s].
    :ivar samples: how many there are without a gap.
    """

    names: tuple[str, ...]
    velocities: np.ndarray
    positions: np.ndarray
    received: np.ndarray
    stamps: np.ndarray
    elapsed: np.ndarray
    samples: np.ndarray

    @classmethod
    def of(cls, names: Sequence[str]) -> EstimateMemory:
        """Return that of joints that have no sample yet."""
        n = len(names)
        return cls(
            tuple(names), np.zeros(n), np.zeros(n), np.full(n, -inf), np.zeros(n), np.zeros(n),
            np.zeros(n, dtype=int))

    def for_joints(self, names: Sequence[str]) -> EstimateMemory:
        """Return a copy for other joints; those that are not known here have no sample."""
        new = EstimateMemory.of(names)
        here, there = same_names(self.names, new.names)
        for field in ('velocities', 'positions', 'received', 'stamps', 'elapsed', 'samples'):
            getattr(new, field)[there] = getattr(self, field)[here]
        return new


class VelocityEstimate:
    """
    The first-order filtered derivative of positions, dv/dt = (dq/dt − v) / T.

    It is solved exactly for samples at irregular times.  As long as the samples span less than T,
    the estimate is their mean velocity: it starts neither from zero nor from the noise of two
    samples.

    :param turn: a whole turn of each joint, infinite where there is none; shape (joints,) [rad].
    :param memory: the samples to continue from.
    """

    def __init__(self, turn: np.ndarray, memory: EstimateMemory) -> None:
        self._turn = turn
        self._has_turns = bool((turn < inf).any())
        self.memory = memory

    @property
    def velocities(self) -> np.ndarray:
        """Return the estimates, shape (joints,) [rad/s or m/s]; NaN: too few samples."""
        return np.where(self.memory.samples >= SAMPLES, self.memory.velocities, np.nan)

    def restart(self, joints: Indices) -> None:
        """Forget the samples of some joints."""
        self.memory.samples[joints] = 0
        self.memory.received[joints] = -inf

    def update(
            self, joints: Indices, positions: np.ndarray, stamp: float, received: float,
            longest_gap: float) -> None:
        """
        Take a sample of some joints.

        :param positions: of these joints [rad or m].
        :param stamp: of the measurement on the publisher's clock [s]; 0: not given.
        :param received: on the steady clock [s].
        :param longest_gap: after a longer time the joints start anew [s].
        """
        memory = self.memory
        last = {*zip(memory.received[joints].tolist(), memory.stamps[joints].tolist(),
                     memory.elapsed[joints].tolist())}
        if len(last) == 1:  # of one publisher, whose messages have the same joints
            (before, stamped, elapsed), = last
            dt, between = received - before, stamp - stamped
            if stamp and stamped and 0.0 <= between <= longest_gap:
                dt = between
            if 0.0 < dt <= longest_gap:
                memory.elapsed[joints] = elapsed = elapsed + dt
                weight = max(-expm1(-dt / max(TIME_CONSTANT, PERIODS * dt)), dt / elapsed)
                change = self._change(joints, positions)
                velocities = memory.velocities[joints]
                memory.velocities[joints] = velocities + weight * (change / dt - velocities)
                memory.samples[joints] += 1
                memory.positions[joints] = positions
                memory.received[joints], memory.stamps[joints] = received, stamp
                return
        self._update_each(joints, positions, stamp, received, longest_gap)

    def _change(self, joints: Indices, positions: np.ndarray) -> np.ndarray:
        """Return how far joints have moved since their last samples."""
        change = positions - self.memory.positions[joints]
        return without_turns(change, self._turn[joints]) if self._has_turns else change

    def _update_each(
            self, joints: Indices, positions: np.ndarray, stamp: float, received: float,
            longest_gap: float) -> None:
        """Update joints whose last samples are of different times."""
        memory = self.memory
        dt = received - memory.received[joints]
        if stamp:
            between = stamp - memory.stamps[joints]
            is_given = memory.stamps[joints] > 0.0
            dt = np.where(
                is_given & (between >= 0.0) & (between <= longest_gap), between, dt)
        goes_on = (dt > 0.0) & (dt <= longest_gap)
        is_new = dt != 0.0  # else it is the same sample once more
        change = self._change(joints, positions)
        step = np.where(goes_on, dt, 1.0)
        elapsed = np.where(goes_on, memory.elapsed[joints] + step, 0.0)
        weight = -np.expm1(-step / np.maximum(TIME_CONSTANT, PERIODS * step))
        weight = np.maximum(weight, step / np.maximum(elapsed, step))
        velocities = memory.velocities[joints]
        memory.velocities[joints] = np.where(
            goes_on, velocities + weight * (change / step - velocities),
            np.where(is_new, 0.0, velocities))
        memory.samples[joints] = np.where(
            goes_on, memory.samples[joints] + 1, np.where(is_new, 1, memory.samples[joints]))
        memory.elapsed[joints] = np.where(is_new, elapsed, memory.elapsed[joints])
        memory.positions[joints] = np.where(is_new, positions, memory.positions[joints])
        memory.received[joints] = np.where(is_new, received, memory.received[joints])
        memory.stamps[joints] = np.where(is_new, stamp, memory.stamps[joints])
