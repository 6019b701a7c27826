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
L-BFGS of SciPy.  What a sample costs depends on the state of that moment alone, so differences by
position, velocity and acceleration of each joint give the derivatives by all coefficients.  What
is still exceeded in the end is taken out by making the motion smaller, until it holds everywhere
on a grid of 2 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import NamedTuple

import numpy as np
from ros2_rnea.errors import ArgumentError
from ros2_rnea.offline.identification.base_parameters import condition_number
from ros2_rnea.offline.identification.expected_information import (
    cost,
    ExpectedError,
    ExpectedInformation,
    volume_gain,
)
from ros2_rnea.offline.identification.fourier_motion import basis_at_rest, FourierMotion
from ros2_rnea.offline.identification.moving_joints import ExcitationError, MovingJoints
from ros2_rnea.offline.identification.unknowns import Design
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

_DIFFERENCE = 1e-5
"""Step of positions, velocities and accelerations for derivatives [rad or m, and per s, s^2]."""

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
    :ivar scale: by which the path that is found is made smaller, about the pose in which it
        starts; above 0, up to 1.
    :raises ArgumentError: naming the setting that is out of range.
    """

    period: float = 10.0
    harmonics: int = 5
    periods: int = 3
    rate: float = 100.0
    starts: int = 3
    iterations: int = 60
    seed: int = 1
    scale: float = 1.0

    def __post_init__(self) -> None:
        for name in ('rate', 'period'):
            if not 0.0 < getattr(self, name) < inf:
                raise ArgumentError(
                    f'{name} is {getattr(self, name)}; a positive finite number is needed')
        if not 0.0 < self.scale <= 1.0:
            raise ArgumentError(f'the scale is {self.scale}; above 0 up to 1 is needed')
        for name, least in (
                ('harmonics', 2), ('periods', 1), ('starts', 1), ('iterations', 0), ('seed', 0)):
            if getattr(self, name) < least:
                raise ArgumentError(f'{name} is {getattr(self, name)}; it needs {least} or more')
        if self.period < self.harmonics * 2.0 / self.rate:
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
    A motion to record, and what its recording will tell; vectors are those of the moving joints.

    :ivar motion: one period of it.
    :ivar peaks: over a period.
    :ivar clearance: the least over a period [m], as far as the function tells.
    :ivar rank: how many combinations of the unknowns are identifiable.
    :ivar condition_number: of the scaled columns.
    :ivar gain: by which factor standard errors are smaller than with the median of random
        motions that keep the same limits, as a geometric mean.
    :ivar errors: expected, one for each unknown.
    :ivar effort_errors: standard errors of efforts computed with what was identified, RMS over
        states all over the limits, shape (joints,) [Nm or N].
    :ivar payload_center: standard errors of the centre of an unknown payload, x, y and z [m];
        empty where there is none, or it is not identifiable.
    """

    motion: FourierMotion
    peaks: Peaks
    clearance: float
    rank: int
    condition_number: float
    gain: float
    errors: tuple[ExpectedError, ...]
    effort_errors: Array
    payload_center: list[float]


class ExcitationPlanner:
    """
    Searches motions of some joints of a robot.

    :param moving: the joints that move, with their limits, and the clearance that they need.
    :param design: of what shall be identified, of the robot with the payloads that it carries.
    :param noise: standard deviation of each one's measured effort, shape (joints,) [Nm or N].
    :param start: positions in which the motion starts, shape (joints,); None: free.
    :raises ArgumentError: where the motion of these joints tells nothing.
    """

    def __init__(
            self, moving: MovingJoints, design: Design, noise: Array,
            settings: ExcitationSettings, start: Array | None = None) -> None:
        self._moving, self._settings, self._start = moving, settings, start
        samples = _SAMPLES_PER_WAVE * settings.harmonics
        self._times = np.arange(samples) * (settings.period / samples)
        self._basis = basis_at_rest(settings.harmonics)
        # How a motion follows from each number of a joint: shape (3, samples, numbers).
        self._waves = FourierMotion(
            settings.period, np.zeros(len(self._basis)), self._basis).at(self._times)
        # A number of 1 takes a joint to its velocity limit.
        self._units = moving.velocity[:, np.newaxis] / np.abs(self._waves[1]).max(axis=0)
        self._random = np.random.default_rng(settings.seed)
        self._information = ExpectedInformation(design, moving, noise, self._anywhere())

    # ---- what is searched -----------------------------------------------------------------------

    def plan(self, progress: Callable[[float], None] = lambda share: None) -> Excitation:
        """
        Return the best motion that is found, made smaller by the scale.

        :param progress: called with the share that is done, 0 to 1.
        :raises ExcitationError: where no pose to start from holds the limits, or the smaller path
            exceeds one that the whole one keeps, such as the effort of a pose in between.
        """
        pose = self._moving.start_pose(self._random, self._start)
        found = sorted((self._random_motion(pose) for _ in range(_COMPARED)), key=self._cost)
        iterations = count()
        total = max(1, self._settings.starts * self._settings.iterations)
        better = [self._kept(self._optimized(
            motion, lambda _: progress(min(1.0, next(iterations) / total))))
            for motion in found[:self._settings.starts]]
        kept = [*filter(None, better)] or [*filter(None, map(self._kept, found))]
        if not kept:
            raise ExcitationError(
                'around every pose that was tried, even the smallest motion exceeds a limit')
        progress(1.0)
        best = min(kept, key=self._cost).scaled(self._settings.scale)
        if not self.holds(best):
            raise ExcitationError(
                f'the path made smaller by {self._settings.scale:g} exceeds a limit or comes too '
                'close to something, which the whole path does not: take another scale or seed')
        return self._result(best, self._information_of(found[len(found) // 2]))

    # ---- what a motion does ---------------------------------------------------------------------

    def _anywhere(self) -> Array:
        """Return random states all over the limits, as a motion."""
        moving, settings = self._moving, self._settings
        draws = self._random.uniform(-1.0, 1.0, (3, _STATES, len(moving.joints)))
        quickest = 2.0 * np.pi * settings.harmonics / settings.period * moving.velocity
        return np.stack((
            moving.center + draws[0] * moving.half_range, draws[1] * moving.velocity,
            draws[2] * np.minimum(moving.acceleration, quickest)))

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
        numbers = self._information.numbers(motion.at(self._times))
        return self._settings.samples * self._information.of(numbers)

    def _cost(self, motion: FourierMotion) -> float:
        return cost(self._information_of(motion))[0]

    def _random_motion(self, pose: Array) -> FourierMotion:
        """Return a random motion from a pose, as large as the limits allow."""
        draws = self._random.normal(size=self._units.shape)
        motion = FourierMotion(
            self._settings.period, pose, (draws * self._units) @ self._basis)
        shares = np.abs(motion.at(self._times)[1] / self._moving.velocity).max(axis=0)
        motion = motion.scaled(1.0 / shares)
        return self._kept(motion) or motion.scaled(_SMALLEST)

    # ---- the optimization -----------------------------------------------------------------------

    def _optimized(
            self, motion: FourierMotion, callback: Callable[[Array], None]) -> FourierMotion:
        """Return a better motion; the callback is called after each iteration."""
        numbers = (motion.coefficients @ self._basis.conj().T).real  # the basis is orthonormal
        x = np.append((motion.start - self._moving.center) / self._moving.half_range,
                      numbers / self._units)
        each = -(-self._settings.iterations // len(_WEIGHTS))
        for weight in _WEIGHTS if each else ():
            x = minimize(self._value, x, (weight,), jac=True, method='L-BFGS-B',
                         callback=callback, options={'maxiter': each}).x
        return self._motion_of(x)

    def _motion_of(self, x: Array) -> FourierMotion:
        joints = len(self._moving.joints)
        start = self._start if self._start is not None else (
            self._moving.center + x[:joints] * self._moving.half_range)
        return FourierMotion(
            self._settings.period, start, x[joints:].reshape(self._units.shape) * self._units
            @ self._basis)

    def _value(self, x: Array, weight: float) -> tuple[float, Array]:
        """Return what is minimized, and its derivative by the numbers."""
        moved = self._motion_of(x).at(self._times)
        value, slopes = self._information.cost(self._information.numbers(moved))

        def beyond(moved: Array) -> Array:
            """Return for each sample the squares of what exceeds the limits."""
            shares = np.abs(self._moving.shares(moved))
            return np.sum(np.maximum(shares - _TIGHTER, 0.0) ** 2, axis=(0, 2))

        def linearized(moved: Array) -> Array:
            """Return what each sample costs after a small change of the motion."""
            return np.sum(slopes * self._information.numbers(moved), axis=1) + (
                weight * beyond(moved))

        by_motion = np.zeros_like(moved)
        for order, joint in np.ndindex(3, moved.shape[2]):
            change = np.zeros((3, 1, moved.shape[2]))
            change[order, :, joint] = _DIFFERENCE
            by_motion[order, :, joint] = (
                linearized(moved + change) - linearized(moved - change)) / (2.0 * _DIFFERENCE)
        lacking, by_positions = self._lacking(moved[0])
        value += weight * (lacking + beyond(moved).sum())
        by_motion[0] += weight * by_positions
        # (orders, samples, numbers) and (orders, samples, joints) to (joints, numbers)
        by_free = sum(by_motion[order].T @ self._waves[order] for order in range(3)) * self._units
        by_start = by_motion[0].sum(axis=0) * self._moving.half_range
        if self._start is not None:
            by_start = np.zeros_like(by_start)
        return value, np.append(by_start, by_free)

    def _lacking(self, q: Array) -> tuple[float, Array]:
        """Return the squares of the clearance that lacks, and their derivative by positions."""
        moving, slopes = self._moving, np.zeros_like(q)
        needed = moving.least / _TIGHTER
        lacking = np.maximum(1.0 - moving.clearance(moving.q(q)) / needed, 0.0)
        near = np.flatnonzero(lacking)
        turns = _TURN * np.eye(q.shape[1])[:, np.newaxis]
        # shape (ways, joints, samples): each joint turned forward and back
        turned = moving.clearance(moving.q(np.reshape(
            [q[near] + turns, q[near] - turns], (-1, q.shape[1])))).reshape(2, q.shape[1], -1)
        slopes[near] = (lacking[near] / needed * (turned[1] - turned[0]) / _TURN).T
        return float(lacking @ lacking), slopes

    # ---- the result -----------------------------------------------------------------------------

    def _result(self, motion: FourierMotion, compared: Array) -> Excitation:
        moving, moved = self._moving, motion.at(self._fine_times())
        information = self._information_of(motion)
        root = self._information.covariance_root(information)
        return Excitation(
            motion=motion,
            peaks=Peaks(moved[0].min(axis=0), moved[0].max(axis=0), *(
                np.abs(each).max(axis=0) for each in (*moved[1:], moving.efforts(moved)))),
            clearance=float(moving.clearance(moving.q(moved[0])).min()),
            rank=self._information.rank,
            condition_number=condition_number(np.ones(len(information), dtype=bool), information),
            gain=volume_gain(information, compared),
            errors=self._information.standard_errors(root),
            effort_errors=self._information.effort_errors(root),
            payload_center=self._information.payload_center(root))
