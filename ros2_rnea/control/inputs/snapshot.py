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
"""What is known at one moment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_rnea.control.decision import Instant

AT_REST = 0.05
"""Largest velocity of a joint at rest [rad/s or m/s]; sensors of resting joints are noisy."""


class Snapshot(NamedTuple):
    """
    What is known in one cycle.  The arrays are those of the inputs, and must not be written to.

    :ivar now: on both clocks.
    :ivar is_fresh: whether the state of all controlled joints is younger than its timeout.
    :ivar age: of the oldest state of a controlled joint [s].
    :ivar positions: of the controlled joints, shape (joints,) [rad or m].
    :ivar measured_velocities: shape (joints,), 0 where none is measured [rad/s or m/s].
    :ivar velocities: these; where none is measured, from the positions, or 0 where that cannot be
        done.
    :ivar has_velocity: whether all of these are known.
    :ivar without_velocity: the controlled joints whose velocity is not measured.
    :ivar singles: positions of all joints with one degree of freedom, the controlled ones first;
        NaN: not measured.
    :ivar other_velocities: of those that are not controlled, 0 where they are not fresh.
    :ivar is_gravity_known: false where the imu is to measure gravity and has stopped.
    """

    now: Instant
    is_fresh: bool
    age: float
    positions: np.ndarray
    measured_velocities: np.ndarray
    velocities: np.ndarray
    has_velocity: bool
    without_velocity: tuple[str, ...]
    singles: np.ndarray
    other_velocities: np.ndarray
    is_gravity_known: bool
