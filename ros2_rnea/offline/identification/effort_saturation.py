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

from collections.abc import Mapping

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

MAX_SAMPLES = 8000
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
    # the prepared samples that are nearest to those recorded
    nearest = np.rint(np.nan_to_num(np.interp(
        recording.times, prepared.times, np.arange(len(prepared.times))))).astype(int)
    near = np.abs(recording.times - prepared.times[nearest]) <= prepared.period
    for joint, v in measured.items():
        efforts = recording.efforts[:, recording.joints.index(joint)]
        rows = np.flatnonzero(near & np.isfinite(efforts) & prepared.moves[nearest, v])
        rows = rows[::max(1, -(-len(rows) // MAX_SAMPLES))]
        at, own = nearest[rows], efforts[rows]
        qd = prepared.qd[at]
        model = robot.inverse_dynamics(prepared.q[at], qd, prepared.qdd[at])[:, v]
        saturation = _saturation(own, np.stack(
            [model, qd[:, v], np.sign(qd[:, v]), np.ones(len(at))], axis=1))
        if saturation is not None:
            found[joint] = saturation
            bounds = ' and '.join(f'{bound:.6g}' for bound in saturation.bounds)
            steps.append(Step(
                'efforts', f'The effort of joint {joint!r} is cut off at {bounds}, in '
                f'{100.0 * saturation.share:.2g} % of the samples in which it moves.',
                is_warning=True))
    return found


def _saturation(own: np.ndarray, columns: np.ndarray) -> Saturation | None:
    """
    Return how efforts in motion are cut off; None where they are not.

    A bound is an effort that many samples have exactly and few are beyond.

    :param own: those of the samples in motion, which count; a recording may be mostly of rest.
    :param columns: what they are predicted from: model, viscous and Coulomb friction, offset.
    """
    values, counts = np.unique(own, return_counts=True)
    below, above = np.cumsum(counts) - counts, len(own) - np.cumsum(counts)
    many = np.flatnonzero(counts >= max(SMALLEST_SHARE * len(own), 1.0))
    bounds = [(float(values[k]), sign) for sign, beyond in ((-1.0, below), (1.0, above))
              for k in many if beyond[k] <= MAX_BEYOND * counts[k]]
    others = ~np.isin(own, [bound for bound, _ in bounds])
    if not bounds or others.sum() < FEWEST_SAMPLES or len(values) < FEWEST_VALUES:
        return None
    factors = lstsq(columns[others], own[others], lapack_driver='gelsy')[0]
    beyond = columns @ factors - own
    deviation = float(np.sqrt(np.mean(np.square(beyond[others]))))
    least = max(FAR_BEYOND * float(values[-1] - values[0]), deviation)
    cut_off = {}
    for bound, sign in bounds:
        inside = values[values <= bound][-6:] if sign > 0.0 else values[values >= bound][:6]
        step = float(np.median(np.diff(inside))) if len(inside) > 1 else 0.0
        excess = sign * float(np.mean(beyond[own == bound]))
        if excess > max(least, 2.0 * step):
            cut_off[bound] = excess
    return Saturation(
        tuple(cut_off), float(np.isin(own, list(cut_off)).mean()), max(cut_off.values()),
    ) if cut_off else None
