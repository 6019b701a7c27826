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
Whether angles in radians were taken for degrees, by the efforts that were measured.

Where that happened to positions and velocities alike, they agree with each other and are within
all limits.  The measured efforts show it: they change with gravity along the real motion, and the
efforts of the model along the recorded motion, which is 57 times as small, hardly change.  If the
angles are right, angles that are 57 times as large need efforts far beyond the measured ones.

The rotor of a geared drive may have 57 times the inertia of its link.  So what the acceleration
of a joint explains of its own effort says nothing about the angles, and nor does friction.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import NamedTuple

import numpy as np
from ros2_rnea.dynamics.friction import smooth_sign
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.robots.robot import Robot
from scipy.linalg import lstsq

DEGREES = 180.0 / pi

ROWS = 2000
"""Number of instants that are enough, evenly over the recording."""

BETTER = 2.0
"""
What the model leaves of the efforts, multiplied over all joints, has to be smaller by this factor
if the angles are in radians.  In recordings of a UR10e, the factor is 57 to 700 where radians are
taken for degrees, and less than 1e-9 where not.
"""

NOT_WORSE = 0.9
"""The residual of a joint's effort may not grow by more than the inverse of this factor."""


class TakenForDegrees(NamedTuple):
    """
    The joint that shows most clearly that angles in radians were taken for degrees.

    :ivar left: RMS of what the model leaves of its measured effort, besides what friction and a
        rotor can be [Nm or N].
    :ivar left_with_radians: the same if all angles are in radians [Nm or N].
    """

    joint: str
    left: float
    left_with_radians: float


def taken_for_degrees(
        robot: Robot, recording: PreparedRecording, coordinates: dict[str, int],
        turning: Sequence[tuple[int, int]]) -> TakenForDegrees | None:
    """
    Return the joint that shows it; None where the angles may be right.

    :param robot: with the payloads of the recording.
    :param coordinates: by joint, those whose efforts were measured.
    :param turning: the place in q, and that in qd, of each recorded angle.
    """
    every = slice(None, None, max(1, len(recording.times) // ROWS))
    q, qd, qdd = (each[every].copy() for each in (recording.q, recording.qd, recording.qdd))
    before = recording.tau[every] - robot.inverse_dynamics(q, qd, qdd)
    for q_place, v_place in turning:
        q[:, q_place] *= DEGREES
        qd[:, v_place] *= DEGREES
        qdd[:, v_place] *= DEGREES
    after = recording.tau[every] - robot.inverse_dynamics(q, qd, qdd)
    left = np.array([[
        _beside_joint(each[:, v], recording.qd[every, v], recording.qdd[every, v])
        for v in coordinates.values()] for each in (before, after)])
    ratios = left[0] / np.maximum(left[1], np.finfo(float).tiny)
    if not turning or ratios.min() < NOT_WORSE or np.log(ratios).sum() < np.log(BETTER):
        return None
    clearest = int(np.argmax(ratios))
    return TakenForDegrees(list(coordinates)[clearest], *left[:, clearest].tolist())


def _beside_joint(effort: np.ndarray, speed: np.ndarray, acceleration: np.ndarray) -> float:
    """Return the RMS of what friction, of slow or fast motion, and a rotor do not explain."""
    columns = np.column_stack([
        np.ones(len(speed)), speed, acceleration, smooth_sign(speed),
        smooth_sign(DEGREES * speed)])
    explained = columns @ lstsq(columns, effort)[0]
    return float(np.sqrt(np.mean(np.square(effort - explained))))
