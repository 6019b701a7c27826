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
From a recording to what a model can be compared with: one step after the other, each one told.

Each step can be given its number in :class:`Preparation`, and says in a :class:`Step` what it has
done to the recording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isfinite
from typing import NamedTuple

import numpy as np
from ros2_rnea.dynamics.friction import sign_width, smooth_sign
from ros2_rnea.errors import counted, RecordingError
from ros2_rnea.offline.identification.effort_delay import Delay, effort_delay
from ros2_rnea.offline.identification.effort_saturation import saturated_efforts
from ros2_rnea.offline.identification.recorded_joints import (
    check_positions,
    resting_positions,
    signals_of,
)
from ros2_rnea.offline.identification.recorded_motion import cutoff_of, moves_of, rates_of
from ros2_rnea.offline.identification.recording import (
    FEWEST_SAMPLES,
    first_row,
    PreparedRecording,
    Recording,
    slowest_speeds,
    Step,
)
from ros2_rnea.offline.identification.smoothing import low_passed, SETTLED, Spectra
from ros2_rnea.offline.identification.time_base import on_uniform_base
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot
from scipy.interpolate import CubicSpline

RATE = 20.0
"""Of the samples that are kept, as a multiple of the cut-off, at least."""


@dataclass(frozen=True)
class Preparation:
    """
    What is done to a recording; None lets the recording decide.

    :ivar assumed_positions: of joints that were not recorded [rad or m]; others are at 0.
    :ivar largest_gap: samples further apart are not joined [s]; by default 2.5 periods, but at
        least 0.05 s.
    :ivar cutoff: of the low-pass [Hz]; infinite for none.
    :ivar ignores_velocities: whether the derivatives of positions are used even where recorded
        velocities have less noise.
    :ivar delay: of all efforts behind the state, taken out [s]; 0 for none.
    """

    assumed_positions: Mapping[str, Sequence[float]] = field(default_factory=dict)
    largest_gap: float | None = None
    cutoff: float | None = None
    ignores_velocities: bool = False
    delay: float | None = None

    def __post_init__(self) -> None:
        for name in ('largest_gap', 'cutoff'):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise RecordingError(f'{name} is {value!r}; it needs a positive number')
        if self.delay is not None and not isfinite(self.delay):
            raise RecordingError(
                f'delay is {self.delay!r}; it needs a finite number of seconds')


class Result(NamedTuple):
    """A prepared recording, and what each step of its preparation has done."""

    prepared: PreparedRecording
    steps: tuple[Step, ...]


def prepare(
        recording: Recording, robot: Robot, settings: Preparation | None = None) -> Result:
    """
    Prepare a recording for a robot.

    :param robot: whose coordinates the result has.
    :param settings: by default, all steps as the recording needs them.
    :raises RneaError: naming what cannot be used; no numbers come of it then.
    """
    settings = settings or Preparation()
    loaded = robot
    for name, (link, inertial) in recording.payloads.items():
        loaded = loaded.with_payload(name, link, inertial)
    steps = [Step('reading', remark) for remark in recording.remarks]
    resting = resting_positions(robot, settings.assumed_positions)
    recorded, measured = signals_of(recording, robot, resting, steps)
    bodies = [joint_body(robot, name) for name in recorded.joints]
    v = [body.v_index for body in bodies]
    turning = [name for name, body in zip(recorded.joints, bodies) if body.type.wraps]
    raw = on_uniform_base(recorded, turning, settings.largest_gap, steps)
    check_positions(raw, robot, steps)
    longest = max(raw.pieces, key=lambda piece: piece.stop - piece.start)
    spectra = Spectra.of(raw.values[longest, ::2], raw.period)  # of positions and velocities
    cutoff = cutoff_of(raw, spectra, settings.cutoff, steps)
    smooth = raw._replace(values=raw.by_piece(low_passed, raw.values, cutoff))
    qd, qdd = np.zeros((2, len(smooth.times), robot.nv))
    qd[:, v], qdd[:, v] = rates_of(smooth, spectra, settings.ignores_velocities, cutoff, steps)
    moves = np.zeros(qd.shape, dtype=bool)
    moves[:, v] = moves_of(smooth, qd[:, v], spectra, cutoff, steps)
    q = np.tile(resting, (len(smooth.times), 1))
    q[:, [body.q_index for body in bodies]] = smooth.values[:, 0]
    tau = np.full(qd.shape, np.nan)
    coordinates = {name: v[place] for name, place in measured.items()}
    tau[:, list(coordinates.values())] = smooth.values[:, 1, list(measured.values())]
    prepared = _with_direction(PreparedRecording(
        recording.name, smooth.times, q, qd, qdd, tau, moves, smooth.pieces,
        dict(recording.payloads), cutoff), raw.period)
    prepared = replace(
        prepared, saturations=saturated_efforts(recording, prepared, loaded, coordinates, steps))
    prepared = _without_delay(loaded, prepared, coordinates, raw.period, settings.delay, steps)
    return Result(_trimmed(prepared, raw.period, recording, steps), tuple(steps))


def _with_direction(
        prepared: PreparedRecording, period: float, delay: float = 0.0) -> PreparedRecording:
    """
    Return the recording with the signs of velocities, as in the model, through the low-pass.

    Samples do not tell where between two of them friction turns.  So the signs are those at the
    instants of which the efforts are, and are then shifted as these.
    """
    rates = _later(prepared, prepared.qd, -delay)
    signs = np.stack([smooth_sign(rate, sign_width(slowest)) for rate, slowest in zip(
        rates.T, slowest_speeds([(prepared.qd, prepared.moves)]).tolist())], axis=1)
    signs = np.concatenate([
        low_passed(signs[piece], period, prepared.cutoff) for piece in prepared.pieces])
    return replace(prepared, direction=_later(prepared, signs, delay))


def _later(prepared: PreparedRecording, signals: np.ndarray, delay: float) -> np.ndarray:
    """Return signals a delay later; those that are not a number stay as they are."""
    if not delay:
        return signals
    later, known = signals.copy(), np.isfinite(signals).all(axis=0)
    for piece in prepared.pieces:
        times = prepared.times[piece]
        later[piece, known] = CubicSpline(times, signals[piece, known])(times + delay)
    return later


def _without_delay(
        loaded: Robot, prepared: PreparedRecording, coordinates: Mapping[str, int], period: float,
        given: float | None, steps: list[Step]) -> PreparedRecording:
    """Return the recording without the delay of its efforts, and with friction that fits them."""
    if given is None:
        found = effort_delay(loaded, prepared, coordinates.values())
        text = (f'No delay was found: {found.reason}.' if not found.seconds else
                f'All efforts are {_late(found.seconds)}, which is taken out.')
    else:
        found = Delay(given)
        text = (f'The given delay of the efforts ({_late(given)}) is compensated.' if given else
                'The delay was not estimated, because it was given as 0.')
    steps.append(Step('delay', text))
    for chosen, how in (
            (found.late, 'slides only after a way where a joint turns back'),
            (found.friction.keys() - found.late, 'turns more sharply than that of the model')):
        names = [name for name, v in coordinates.items() if v in chosen]
        if names:
            steps.append(Step('friction', f'Coulomb friction {how}, which is taken into account: '
                              f'{", ".join(names)}.'))
    if found.seconds:
        prepared = replace(_with_direction(prepared, period, found.seconds),
                           tau=_later(prepared, prepared.tau, found.seconds))
    for v, column in found.friction.items():
        prepared.signs[:, v] = column
    return replace(prepared, delay=found.seconds)


def _late(delay: float) -> str:
    return f'{1e3 * abs(delay):.2f} ms {"late" if delay > 0.0 else "early"}'


def _trimmed(
        prepared: PreparedRecording, period: float, recording: Recording, steps: list[Step],
        ) -> PreparedRecording:
    """Cut where the filter is disturbed, and take as many samples as it needs."""
    delay = prepared.delay
    margin = int(ceil(SETTLED / prepared.cutoff / period - 1e-6))  # 0 without a filter
    # efforts at the ends would be later or earlier than the last or first that is known
    before = margin + max(0, int(ceil(-delay / period)))
    after = margin + max(0, int(ceil(delay / period)))
    every = max(1, int(1.0 / (RATE * prepared.cutoff * period) + 1e-6))
    kept = [np.arange(piece.start + before, piece.stop - after, every)
            for piece in prepared.pieces]
    kept = [rows for rows in kept if len(rows)]
    ends = np.cumsum([0, *map(len, kept)]).tolist()
    if ends[-1] < FEWEST_SAMPLES:
        raise RecordingError(
            f'recording {recording.name!r} has no piece longer than '
            f'{(before + after + every) * period:.3g} s, which the filter needs to settle')
    steps.append(Step(
        'ends', f'{(before + after) * period:.3g} s of each piece are cut, where the filter '
        f'settles; {ends[-1]} samples are left, in {counted(len(kept), "piece")}, '
        f'{1.0 / (every * period):.4g} a second.'))
    rows = np.concatenate(kept)
    first = recording.times[first_row(recording.times)]
    return replace(
        prepared, pieces=tuple(map(slice, ends, ends[1:])),
        begin=recording.begin + float(prepared.times[rows[0]] - first),
        **{name: getattr(prepared, name)[rows] for name in (
            'times', 'q', 'qd', 'qdd', 'tau', 'moves', 'direction')})
