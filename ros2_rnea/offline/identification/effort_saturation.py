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
Recorded efforts that are cut off: those that stay at exactly one value while a joint needs more.

A few samples beyond it may be wrong ones.  A bound that is raised while it is recorded is not
found.  An effort may be exactly its largest or smallest value for other reasons: the joint rests
or pushes against a stop, the sensor has few steps, or the drive is at its limit and the motion is
what this effort makes of it.  So only samples in motion count, and what the motion takes there is
predicted from all other samples: as a factor on the effort of the model, with friction and an
offset.  The prediction for efforts that are cut off is beyond them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from ros2_rnea.offline.identification.recording import (
    PreparedRecording,
    Recording,
    Saturation,
    Step,
)
from ros2_rnea.robots.robot import Robot
from scipy.linalg import lstsq

SMALLEST_SHARE = 0.01
"""The share of samples in motion below which efforts that are cut off do little harm."""

MAX_BEYOND = 0.1
"""Share of the samples at a bound that may be wrong ones beyond it."""

FEWEST_VALUES = 20
"""Fewer different efforts do not tell a step of the sensor from a bound."""

FEWEST_SAMPLES = 50
"""Minimum number of samples in motion and between the bounds, to predict the others from."""

MAX_SAMPLES = 4000
"""The most samples that are used: of more, every second, third ... one is."""

FAR_BEYOND = 0.05
"""
Of the range of the recorded efforts: the prediction for those that are cut off is beyond them by
more than this, by more than it deviates from all others (RMS), and by more than two steps of the
sensor.
"""


def saturated_efforts(
        recording: Recording, prepared: PreparedRecording, robot: Robot,
        measured: Mapping[str, int], steps: list[Step]) -> dict[str, Saturation]:
    """
    Return which efforts of a recording are cut off, by joint.

    :param recording: as it was recorded: a low-pass rounds the edges off.
    :param prepared: this recording, prepared, at any of its times.
    :param robot: with the payloads of the recording.
    :param measured: the velocity coordinates of the joints whose efforts were recorded, by name.
    :param steps: gets a warning of each.
    """
    found = {}
    rows, places = _matching(recording.times, prepared)
    for joint, v in measured.items():
        efforts = recording.efforts[:, recording.joints.index(joint)]
        moving = np.isfinite(efforts[rows]) & prepared.moves[places, v]
        own = efforts[rows[moving]]
        bounds = _bounds(own)
        if bounds:
            saturation = _saturation(own, bounds, prepared, robot, v, places[moving])
            if saturation is not None:
                found[joint] = saturation
                steps.append(Step(
                    'efforts', f'The effort of joint {joint!r} is cut off at '
                    f'{" and ".join(f"{bound:.6g}" for bound in saturation.bounds)}, in '
                    f'{100.0 * saturation.share:.2g} % of the samples in which it moves.',
                    is_warning=True))
    return found


def _bounds(own: np.ndarray) -> list[tuple[float, float]]:
    """
    Return efforts that many samples have exactly and few are beyond, with their sides: -1, 1.

    :param own: those of the samples in motion, which count; a recording may be mostly of rest.
    """
    values, counts = np.unique(own, return_counts=True)
    below, above = np.cumsum(counts) - counts, len(own) - np.cumsum(counts)
    many = np.flatnonzero(counts >= max(SMALLEST_SHARE * len(own), 1.0))
    return [(float(values[k]), side) for side, beyond in ((-1.0, below), (1.0, above))
            for k in many if beyond[k] <= MAX_BEYOND * counts[k]]


def _saturation(
        own: np.ndarray, bounds: Sequence[tuple[float, float]], prepared: PreparedRecording,
        robot: Robot, v: int, places: np.ndarray) -> Saturation | None:
    """
    Return how efforts in motion are cut off at bounds; None where they are not.

    :param bounds: each with its side.
    :param places: of their samples in the prepared recording.
    """
    others = _thinned(np.flatnonzero(~np.isin(own, [bound for bound, _ in bounds])))
    values = np.unique(own)
    if len(others) < FEWEST_SAMPLES or len(values) < FEWEST_VALUES:
        return None
    columns = _columns(prepared, robot, v, places[others])
    factors = lstsq(columns, own[others], lapack_driver='gelsy')[0]
    deviation = float(np.sqrt(np.mean(np.square(columns @ factors - own[others]))))
    least = max(FAR_BEYOND * float(values[-1] - values[0]), deviation)
    cut_off, beyond = [], []
    for bound, sign in bounds:
        at = np.flatnonzero(own == bound)
        inside = values[values <= bound][-6:] if sign > 0.0 else values[values >= bound][:6]
        step = float(np.median(np.diff(inside))) if len(inside) > 1 else 0.0
        predicted = _columns(prepared, robot, v, places[_thinned(at)]) @ factors
        excess = sign * float(np.mean(predicted) - bound)
        if excess > max(least, 2.0 * step):
            cut_off.append(bound)
            beyond.append(excess)
    if not cut_off:
        return None
    return Saturation(
        tuple(cut_off), float(np.isin(own, cut_off).mean()), max(beyond))


def _matching(
        times: np.ndarray, prepared: PreparedRecording) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a recording, and the prepared samples that are nearest to them in time."""
    after = np.clip(np.searchsorted(prepared.times, times), 1, len(prepared.times) - 1)
    nearest = after - (times - prepared.times[after - 1] < prepared.times[after] - times)
    rows = np.flatnonzero(np.abs(times - prepared.times[nearest]) <= prepared.period)
    return rows, nearest[rows]


def _thinned(rows: np.ndarray) -> np.ndarray:
    return rows[::max(1, -(-len(rows) // MAX_SAMPLES))]


def _columns(
        prepared: PreparedRecording, robot: Robot, v: int, rows: np.ndarray) -> np.ndarray:
    """Return what an effort is predicted from: model, viscous and Coulomb friction, offset."""
    qd = prepared.qd[rows]
    model = robot.inverse_dynamics(prepared.q[rows], qd, prepared.qdd[rows])
    return np.stack([model[:, v], qd[:, v], np.sign(qd[:, v]), np.ones(len(rows))], axis=1)
