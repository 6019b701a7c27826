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
The motion to record for an identification, optimized for what it tells.

It is a :class:`.FourierMotion`: periodic, at rest at the start and end of each period, and within
the limits of position, velocity and effort.  Whether the robot touches itself or the floor is told
by a function, because geometry is not known here.

The optimization starts from random motions.  It minimizes the volume of the confidence ellipsoid
plus the squares of what exceeds the limits, with a weight that grows, by the quasi-Newton method
L-BFGS of SciPy and with derivatives of the columns and efforts.  What is still exceeded in the end
is taken out by making the motion smaller, until it holds everywhere on a grid of 2 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from ros2_rnea.errors import ArgumentError
from ros2_rnea.offline.identification.effort_columns import Columns
from ros2_rnea.offline.identification.expected_information import (
    condition_number,
    cost,
    ExpectedError,
    ExpectedInformation,
    volume_gain,
)
from ros2_rnea.offline.identification.fourier_motion import FourierBasis, FourierMotion
from ros2_rnea.offline.identification.moving_joints import (
    EFFORT,
    ExcitationError,
    MovingJoints,
    States,
)
from ros2_rnea.robots.arguments import Array
from scipy.optimize import minimize

_SAMPLES_PER_WAVE = 24
"""Samples in a wave of the highest harmonic, while optimizing."""

_CHECKED_EVERY = 0.002
"""Period of the samples on which the result is checked [s]."""

_COMPARED = 8
"""Random motions from which the optimization starts with the best."""

_WEIGHTS = (1.0, 10.0, 100.0)
"""Weights of the squares of what exceeds the limits, one after the other."""

_TIGHTER = 0.98
"""The optimization stays within this share of what is allowed; its result may exceed that."""

_SMALLER, _SMALLEST = 0.98, 1e-3
"""Factor by which a motion is made smaller step by step, and where that ends."""

_STATES = 400
"""Random states that tell what is identifiable at all."""

_TURN = 1e-3
"""Step of a joint for the derivative of the clearance [rad or m]."""


@dataclass(frozen=True)
class ExcitationSettings:
    """
    How a motion is searched.

    :ivar period: of the motion [s].
    :ivar harmonics: of the Fourier series; the last one has the frequency harmonics / period.
    :ivar periods: how often the motion is repeated in the recording.
    :ivar rate: of the recorded samples [Hz], for the expected errors.
    :ivar starts: from how many motions the optimization starts.
    :ivar iterations: of each, at most.
    :ivar seed: of the random numbers.
    :raises ArgumentError: naming the setting that is out of range.
    """

    period: float = 10.0
    harmonics: int = 5
    periods: int = 3
    rate: float = 100.0
    starts: int = 3
    iterations: int = 60
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < float('inf'):
            raise ArgumentError(f'rate is {self.rate}; a positive finite number is needed')
        for name, least in (('periods', 1), ('starts', 1), ('iterations', 0), ('seed', 0)):
            if getattr(self, name) < least:
                raise ArgumentError(f'{name} is {getattr(self, name)}; it needs {least} or more')
        if 0.0 < self.period < self.harmonics * 2.0 / self.rate:
            raise ArgumentError(
                f'a period of {self.period:g} s with {self.harmonics} harmonics has up to '
                f'{self.harmonics / self.period:g} Hz, which {self.rate:g} samples a second do '
                f'not show: the period needs at least {self.harmonics * 2.0 / self.rate:g} s, '
                'twice the harmonics by the rate')

    @property
    def samples(self) -> int:
        """Return how many samples are recorded."""
        return max(1, round(self.rate * self.period * self.periods))


class Peaks(NamedTuple):
    """
    The extremes of a motion, each of shape (joints,).

    :ivar lowest: smallest position [rad or m]; highest, the largest.
    :ivar velocity: largest magnitude [rad/s or m/s], as for acceleration [per s^2] and effort [Nm
        or N].
    """

    lowest: Array
    highest: Array
    velocity: Array
    acceleration: Array
    effort: Array


@dataclass(frozen=True, eq=False)
class Excitation:
    """
    A motion to record, and what its recording will tell.

    :ivar joints: that move, in the order of all vectors here.
    :ivar motion: one period of it.
    :ivar peaks: over a period.
    :ivar clearance: the least over a period [m], as far as the function tells; None: not checked.
    :ivar rank: how many combinations of the unknowns are identifiable.
    :ivar condition_number: of the scaled columns.
    :ivar gain: by which factor standard errors are smaller than with the median of random
        motions that keep the same limits, as a geometric mean.
    :ivar errors: expected, one for each unknown.
    :ivar effort_errors: standard errors of efforts computed with what was identified, RMS over
        states all over the limits, shape (joints,) [Nm or N].
    :ivar information: of all samples of the recording, shape (rank, rank).
    :ivar covariance_root: A with A A^T the covariance of all unknowns, shape (unknowns, rank).
    """

    joints: tuple[str, ...]
    motion: FourierMotion
    peaks: Peaks
    clearance: float | None
    rank: int
    condition_number: float
    gain: float
    errors: tuple[ExpectedError, ...]
    effort_errors: Array
    information: Array
    covariance_root: Array


class ExcitationPlanner:
    """
    Searches motions of some joints of a robot.

    :param moving: the joints that move, with their limits, and the clearance that they need.
    :param columns: of what shall be identified.
    :param noise: standard deviation of each one's measured effort, shape (joints,) [Nm or N].
    :param start: positions in which the motion starts, shape (joints,); None: free.
    :raises ArgumentError: where the motion of these joints tells nothing.
    """

    def __init__(
            self, moving: MovingJoints, columns: Columns, noise: Array,
            settings: ExcitationSettings, start: Array | None = None) -> None:
        self._moving, self._settings, self._start = moving, settings, start
        self._basis = FourierBasis(settings.period, settings.harmonics)
        count = _SAMPLES_PER_WAVE * settings.harmonics
        self._times = np.arange(count) * (settings.period / count)
        self._waves = self._basis.at(self._times)
        # A free number of 1 takes a joint to its velocity limit.
        self._units = moving.velocity[:, np.newaxis] / np.abs(self._waves[1]).max(axis=0)
        self._random = np.random.default_rng(settings.seed)
        self._information = ExpectedInformation(
            columns, moving.q_index, moving.v_index, noise, self._anywhere())

    # ---- what is searched -----------------------------------------------------------------------

    def plan(self, progress: Callable[[float], None] = lambda share: None) -> Excitation:
        """
        Return the best motion that is found.

        :param progress: called with the share that is done, 0 to 1.
        :raises ExcitationError: where no pose to start from holds the limits.
        """
        pose = self._moving.start_pose(self._random, self._start)
        found = sorted((self._random_motion(pose) for _ in range(_COMPARED)), key=self._cost)
        starts = self._settings.starts

        def part(index: int) -> Callable[[float], None]:
            return lambda share: progress((index + share) / starts)

        better = [self._kept(self._optimized(motion, part(index)))
                  for index, motion in enumerate(found[:starts])]
        kept = [*filter(None, better)] or [*filter(None, map(self._kept, found))]
        if not kept:
            raise ExcitationError(
                'around every pose that was tried, even the smallest motion exceeds a limit')
        progress(1.0)
        return self._result(
            min(kept, key=self._cost), self._information_of(found[len(found) // 2]))

    def scaled(self, excitation: Excitation, factor: float) -> Excitation:
        """
        Return the same path made smaller, about the pose in which it starts.

        :param factor: above 0, up to 1.
        :raises ExcitationError: where the smaller path exceeds a limit that the whole one keeps,
            such as the effort of a pose in between.
        """
        if not 0.0 < factor <= 1.0:
            raise ArgumentError(f'the scale is {factor}; above 0 up to 1 is needed')
        smaller = excitation.motion.scaled(factor)
        if not self.holds(smaller):
            raise ExcitationError(
                f'the path made smaller by {factor:g} exceeds a limit or comes too close to '
                'something, which the whole path does not: take another scale or seed')
        result = self._result(smaller, excitation.information)
        return replace(result, gain=excitation.gain * result.gain)

    # ---- what a motion does ---------------------------------------------------------------------

    def _anywhere(self) -> States:
        """Return random states all over the limits."""
        moving, settings = self._moving, self._settings
        draws = self._random.uniform(-1.0, 1.0, (3, _STATES, len(moving.joints)))
        quickest = 2.0 * np.pi * settings.harmonics / settings.period * moving.velocity
        return moving.states(np.stack((
            moving.center + draws[0] * moving.half_range,
            draws[1] * moving.velocity,
            draws[2] * np.minimum(moving.acceleration, quickest))))

    def holds(self, motion: FourierMotion) -> bool:
        """Return whether all limits are kept, at all times of a fine grid."""
        return all(self._moving.holds(motion.at(times))
                   for times in (self._times, self._fine_times()))

    def _fine_times(self) -> Array:
        period = self._settings.period
        return np.linspace(0.0, period, 1 + max(2, round(period / _CHECKED_EVERY)))

    def _kept(self, motion: FourierMotion) -> FourierMotion | None:
        """Return a motion that is made smaller until it keeps all limits; None: it never does."""
        factor = 1.0
        while factor > _SMALLEST:
            smaller = motion.scaled(factor)
            if self.holds(smaller):
                return smaller
            factor *= _SMALLER
        return None

    def _information_of(self, motion: FourierMotion) -> Array:
        states = self._moving.states(motion.at(self._times))
        return self._settings.samples * self._information.of(states)

    def _cost(self, motion: FourierMotion) -> float:
        return cost(self._information_of(motion))[0]

    def _random_motion(self, pose: Array) -> FourierMotion:
        """Return a random motion from a pose, as large as the limits allow."""
        draws = self._random.normal(size=(len(pose), self._basis.size))
        motion = self._basis.motion(pose, draws * self._units)
        shares = np.abs(motion.at(self._times)[1] / self._moving.velocity).max(axis=0)
        motion = self._basis.motion(
            pose, self._basis.free_of(motion) / shares[:, np.newaxis])
        return self._kept(motion) or motion.scaled(_SMALLEST)

    # ---- the optimization -----------------------------------------------------------------------

    def _optimized(
            self, motion: FourierMotion, progress: Callable[[float], None]) -> FourierMotion:
        """Return a better motion."""
        x = np.append((motion.start - self._moving.center) / self._moving.half_range,
                      self._basis.free_of(motion) / self._units)
        each = -(-self._settings.iterations // len(_WEIGHTS))
        done = 0

        def after_iteration(_: Array) -> None:
            nonlocal done
            done += 1
            progress(min(1.0, done / self._settings.iterations))

        for weight in _WEIGHTS if each else ():
            x = minimize(self._value, x, (weight,), jac=True, method='L-BFGS-B',
                         callback=after_iteration, options={'maxiter': each}).x
        return self._motion_of(x)

    def _motion_of(self, x: Array) -> FourierMotion:
        joints = len(self._moving.joints)
        start = self._start if self._start is not None else (
            self._moving.center + x[:joints] * self._moving.half_range)
        return self._basis.motion(start, x[joints:].reshape(joints, -1) * self._units)

    def _value(self, x: Array, weight: float) -> tuple[float, Array]:
        """Return what is minimized, and its derivative by the free numbers."""
        motion = self._motion_of(x)
        free = self._basis.free_of(motion)
        moved = self._waves @ free.T
        moved[0] += motion.start
        states = self._moving.states(moved)
        value, by_motion = self._information.cost(states)
        penalty, by_limits = self._penalty(moved, states)
        by_motion = by_motion + weight * by_limits
        # (orders, samples, size) and (orders, samples, joints) to (joints, size)
        by_free = sum(by_motion[order].T @ self._waves[order] for order in range(3)) * self._units
        by_start = by_motion[0].sum(axis=0) * self._moving.half_range
        if self._start is not None:
            by_start = np.zeros_like(by_start)
        return value + weight * penalty, np.append(by_start, by_free)

    def _penalty(self, moved: Array, states: States) -> tuple[float, Array]:
        """Return the sum of squares beyond the limits, and its derivative by the motion."""
        moving = self._moving
        shares = moving.shares(moved, states)
        beyond = np.maximum(np.abs(shares) - _TIGHTER, 0.0)
        slopes = 2.0 * beyond * np.sign(shares)
        total = float(np.sum(beyond * beyond))
        by_motion = slopes[:3] / np.stack((
            moving.half_range, moving.velocity, moving.acceleration))[:, np.newaxis]
        exceeding = np.flatnonzero(beyond[EFFORT].any(axis=1))
        if len(exceeding):
            part = States(*(array[exceeding] for array in states))
            derivatives = moving.robot.inverse_dynamics_derivatives(*part)
            rows = (slopes[EFFORT] / moving.effort)[exceeding]
            of_moving = derivatives[:, :, moving.v_index][..., moving.v_index]
            by_motion[:, exceeding] += np.moveaxis(
                (rows[:, np.newaxis, np.newaxis] @ of_moving)[:, :, 0], 1, 0)
        if moving.clearance is not None:
            needed = moving.least / _TIGHTER
            lacking = np.maximum(1.0 - moving.clearance(states.q) / needed, 0.0)
            total += float(np.sum(lacking * lacking))
            near = np.flatnonzero(lacking)
            for joint, place in enumerate(moving.q_index if len(near) else ()):
                ahead, behind = states.q[near], states.q[near]
                ahead[:, place] += _TURN
                behind[:, place] -= _TURN
                change = (moving.clearance(ahead) - moving.clearance(behind)) / (2.0 * _TURN)
                by_motion[0, near, joint] -= 2.0 * lacking[near] / needed * change
        return total, by_motion

    # ---- the result -----------------------------------------------------------------------------

    def _result(self, motion: FourierMotion, compared: Array) -> Excitation:
        moving, moved = self._moving, motion.at(self._fine_times())
        states = moving.states(moved)
        information = self._information_of(motion)
        return Excitation(
            joints=moving.joints,
            motion=motion,
            peaks=Peaks(moved[0].min(axis=0), moved[0].max(axis=0), *(
                np.abs(each).max(axis=0) for each in (*moved[1:], moving.efforts(states)))),
            clearance=None if moving.clearance is None else float(
                moving.clearance(states.q).min()),
            rank=self._information.rank,
            condition_number=condition_number(information),
            gain=volume_gain(information, compared),
            errors=self._information.standard_errors(information),
            effort_errors=self._information.effort_errors(information),
            information=information,
            covariance_root=self._information.covariance_root(information))
