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
from dataclasses import dataclass
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
from ros2_rnea.offline.identification.motion_bounds import AllowedMotion
from ros2_rnea.offline.identification.moving_joints import (
    Clearance,
    EFFORT,
    MovingJoints,
    States,
)
from ros2_rnea.offline.identification.start_pose import ExcitationError, start_pose
from ros2_rnea.robots.arguments import Array
from ros2_rnea.robots.robot import Robot
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
    :ivar clearance: least distance to what must not be touched [m].
    :ivar starts: from how many motions the optimization starts.
    :ivar iterations: of each, at most.
    :ivar seed: of the random numbers.
    :raises ArgumentError: naming the setting that is out of range.
    """

    period: float = 10.0
    harmonics: int = 5
    periods: int = 3
    rate: float = 100.0
    clearance: float = 0.03
    starts: int = 3
    iterations: int = 60
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ('rate', 'clearance'):
            if not 0.0 < getattr(self, name) < float('inf'):
                raise ArgumentError(
                    f'{name} is {getattr(self, name)}; a positive finite number is needed')
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
    :ivar is_cut_short: whether the time was over before the optimization was.
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
    is_cut_short: bool


class _TimeIsOverError(Exception):
    """The optimization shall end."""


class ExcitationPlanner:
    """
    Searches motions of some joints of a robot.

    :param robot: with the payloads that it carries, which count in the efforts.
    :param columns: of what shall be identified.
    :param allowed: the joints that move, and their limits.
    :param noise: standard deviation of each one's measured effort, shape (joints,) [Nm or N].
    :param posture: positions of the whole robot, shape (nq,), of which those of joints that do
        not move count.
    :param clearance: from configurations to the least distance [m]; None: it is not checked.
    :param start: positions in which the motion starts, shape (joints,); None: free.
    :raises ArgumentError: where the motion of these joints tells nothing, or a setting is out of
        range.
    """

    def __init__(
            self, robot: Robot, columns: Columns, allowed: AllowedMotion, noise: Array,
            posture: Array, settings: ExcitationSettings, clearance: Clearance | None = None,
            start: Array | None = None) -> None:
        self._allowed, self._settings, self._start = allowed, settings, start
        self._moving = MovingJoints(robot, allowed, posture, clearance, settings.clearance)
        self._basis = FourierBasis(settings.period, settings.harmonics)
        count = _SAMPLES_PER_WAVE * settings.harmonics
        self._times = np.arange(count) * (settings.period / count)
        self._waves = self._basis.at(self._times)
        # A free number of 1 takes a joint to its velocity limit.
        self._units = allowed.velocity[:, np.newaxis] / np.abs(self._waves[1]).max(axis=0)
        self._random = np.random.default_rng(settings.seed)
        self._information = ExpectedInformation(
            columns, self._moving.q_index, self._moving.v_index, noise, self._anywhere())

    # ---- what is searched -----------------------------------------------------------------------

    def plan(
            self, progress: Callable[[float], None] = lambda share: None,
            is_over: Callable[[], bool] = lambda: False) -> Excitation:
        """
        Return the best motion that is found.

        :param progress: called with the share that is done, 0 to 1.
        :param is_over: asked often; once it returns true, the best motion so far is the result.
        :raises ExcitationError: where no pose to start from holds the limits.
        """
        pose = start_pose(self._moving, self._random, self._start)
        random = [self._random_motion(pose) for _ in range(_COMPARED)]
        found = sorted(random, key=self._cost)
        compared = self._information_of(found[len(found) // 2])
        candidates, is_cut_short = [], False
        for index, motion in enumerate(found[:self._settings.starts]):
            def report(share: float, index: int = index) -> None:
                progress((index + share) / self._settings.starts)

            better, is_cut_short = self._optimized(motion, report, is_over)
            candidates += [kept for kept in (self._kept(better),) if kept is not None]
            if is_cut_short:
                break
        if not candidates:
            candidates = [kept for kept in map(self._kept, found) if kept is not None]
        if not candidates:
            raise ExcitationError(
                'around every pose that was tried, even the smallest motion exceeds a limit')
        progress(1.0)
        return self._result(min(candidates, key=self._cost), compared, is_cut_short)

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
        result = self._result(smaller, self._information_of(smaller), excitation.is_cut_short)
        gain = excitation.gain * volume_gain(result.information, excitation.information)
        return Excitation(**{**vars(result), 'gain': gain})

    # ---- what a motion does ---------------------------------------------------------------------

    def _anywhere(self) -> States:
        """Return random states all over the limits."""
        allowed, settings = self._allowed, self._settings
        draws = self._random.uniform(-1.0, 1.0, (3, _STATES, len(allowed.joints)))
        quickest = 2.0 * np.pi * settings.harmonics / settings.period * allowed.velocity
        return self._moving.states(np.stack((
            allowed.center + draws[0] * allowed.half_range,
            draws[1] * allowed.velocity,
            draws[2] * np.minimum(allowed.acceleration, quickest))))

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
        moved = motion.at(self._times)
        shares = np.abs(moved[1] / self._allowed.velocity).max(axis=0)
        motion = self._basis.motion(
            pose, self._basis.free_of(motion) / shares[:, np.newaxis])
        return self._kept(motion) or motion.scaled(_SMALLEST)

    # ---- the optimization -----------------------------------------------------------------------

    def _optimized(
            self, motion: FourierMotion, progress: Callable[[float], None],
            is_over: Callable[[], bool]) -> tuple[FourierMotion, bool]:
        """Return a better motion, and whether the time was over before the end."""
        x = np.append(
            (motion.start - self._allowed.center) / self._allowed.half_range,
            self._basis.free_of(motion) / self._units)
        each = -(-self._settings.iterations // len(_WEIGHTS))
        done = 0

        def after_iteration(intermediate: Array) -> None:
            nonlocal x, done
            x, done = intermediate.copy(), done + 1
            progress(min(1.0, done / max(1, self._settings.iterations)))

        def value(weight: float, numbers: Array) -> tuple[float, Array]:
            if is_over():
                raise _TimeIsOverError
            return self._value(numbers, weight)

        try:
            for weight in _WEIGHTS if each else ():
                found = minimize(
                    lambda numbers, weight=weight: value(weight, numbers), x, jac=True,
                    method='L-BFGS-B', callback=after_iteration, options={'maxiter': each})
                x = found.x
        except _TimeIsOverError:
            return self._motion_of(x), True
        return self._motion_of(x), False

    def _motion_of(self, x: Array) -> FourierMotion:
        joints = len(self._allowed.joints)
        start = self._start if self._start is not None else (
            self._allowed.center + x[:joints] * self._allowed.half_range)
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
        by_start = by_motion[0].sum(axis=0) * self._allowed.half_range
        if self._start is not None:
            by_start = np.zeros_like(by_start)
        return value + weight * penalty, np.append(by_start, by_free)

    def _penalty(self, moved: Array, states: States) -> tuple[float, Array]:
        """Return the sum of squares beyond the limits, and its derivative by the motion."""
        allowed = self._allowed
        shares = self._moving.shares(moved, states)
        beyond = np.maximum(np.abs(shares) - _TIGHTER, 0.0)
        slopes = 2.0 * beyond * np.sign(shares)
        total = float(np.sum(beyond * beyond))
        by_motion = slopes[:3] / np.stack((
            allowed.half_range, allowed.velocity, allowed.acceleration))[:, np.newaxis]
        exceeding = np.flatnonzero(beyond[EFFORT].any(axis=1))
        if len(exceeding):
            part = States(*(array[exceeding] for array in states))
            derivatives = self._moving.robot.inverse_dynamics_derivatives(*part)
            rows = (slopes[EFFORT] / allowed.effort)[exceeding]
            of_moving = derivatives[:, :, self._moving.v_index][..., self._moving.v_index]
            by_motion[:, exceeding] += np.moveaxis(
                (rows[:, np.newaxis, np.newaxis] @ of_moving)[:, :, 0], 1, 0)
        if self._moving.clearance is not None:
            nearness, by_position = self._nearness(self._moving.clearance, states.q)
            total += nearness
            by_motion[0] += by_position
        return total, by_motion

    def _nearness(self, clearance: Clearance, q: Array) -> tuple[float, Array]:
        """Return the squares of what lacks of the clearance, and its derivative by positions."""
        needed = self._settings.clearance / _TIGHTER
        distances = clearance(q)
        lacking = np.maximum(1.0 - distances / needed, 0.0)
        by_position = np.zeros((len(q), len(self._moving.q_index)))
        near = np.flatnonzero(lacking)
        for joint, place in enumerate(self._moving.q_index if len(near) else ()):
            ahead, behind = q[near], q[near]
            ahead[:, place] += _TURN
            behind[:, place] -= _TURN
            change = (clearance(ahead) - clearance(behind)) / (2.0 * _TURN)
            by_position[near, joint] = -2.0 * lacking[near] / needed * change
        return float(np.sum(lacking * lacking)), by_position

    # ---- the result -----------------------------------------------------------------------------

    def _result(
            self, motion: FourierMotion, compared: Array, is_cut_short: bool) -> Excitation:
        moved = motion.at(self._fine_times())
        states = self._moving.states(moved)
        efforts = self._moving.efforts(states)
        information = self._information_of(motion)
        return Excitation(
            joints=self._allowed.joints,
            motion=motion,
            peaks=Peaks(moved[0].min(axis=0), moved[0].max(axis=0), *(
                np.abs(quantity).max(axis=0) for quantity in (*moved[1:], efforts))),
            clearance=None if self._moving.clearance is None else float(
                self._moving.clearance(states.q).min()),
            rank=self._information.rank,
            condition_number=condition_number(information),
            gain=volume_gain(information, compared),
            errors=self._information.standard_errors(information),
            effort_errors=self._information.effort_errors(information),
            information=information,
            covariance_root=self._information.covariance_root(information),
            is_cut_short=is_cut_short)
