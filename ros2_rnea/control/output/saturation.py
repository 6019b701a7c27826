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
"""Efforts within the limits of the motors."""

from __future__ import annotations

import numpy as np

LARGEST_EFFORT = 1e150
"""Limit where the description has none [Nm or N]: squares of such efforts do not overflow."""


def clamp(effort: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the effort clipped to ±limits, and flags of the joints where it exceeded them.

    :param effort: shape (n,) [Nm or N].
    :param limits: shape (n,), not negative; infinite for no limit.
    :return: the clamped effort and a boolean array, both of shape (n,).
    """
    return np.clip(effort, -limits, limits), np.abs(effort) > limits


def scale(
        effort: np.ndarray, limits: np.ndarray, held: np.ndarray,
        ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the effort with what exceeds the held one scaled down by one factor for all joints.

    So too large an effort of one joint never takes from another what holds that against gravity.
    A limit of 0, which some descriptions contain as a placeholder, sets the effort of its own
    joint to zero and does not change the factor.

    :param effort: shape (n,) [Nm or N].
    :param limits: shape (n,), not negative; infinite for no limit.
    :param held: the part that is not scaled, within the limits, shape (n,) [Nm or N].
    :return: the effort, and flags as of :func:`clamp`.
    """
    exceeds = np.abs(effort) > limits
    scaling = exceeds & (limits > 0.0)
    added = effort - held
    room = np.where(added > 0.0, limits - held, limits + held)
    factor = (room[scaling] / np.abs(added[scaling])).min(initial=1.0)
    return np.clip(held + factor * added, -limits, limits), exceeds
