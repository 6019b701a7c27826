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
"""What efforts are held to before they are sent, in one of two ways."""

from __future__ import annotations

import numpy as np


def clamp(effort: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return an effort whose every joint is within ±limit, and which joints had to be cut.

    :param effort: shape (n,) [Nm or N].
    :param limits: shape (n,), not negative; infinite for no limit.
    :return: the clamped effort and a boolean array, both of shape (n,).
    """
    return np.clip(effort, -limits, limits), np.abs(effort) > limits


def scale(effort: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return an effort made smaller by a common factor, and which joints called for it.

    A limit of 0, which some descriptions have for want of a number, takes the effort from its own
    joint and from no other.  Parameters and results are those of :func:`clamp`.
    """
    beyond = np.abs(effort) > limits
    counts = beyond & (limits > 0.0)
    factor = (limits[counts] / np.abs(effort[counts])).min(initial=1.0)
    return np.clip(factor * effort, -limits, limits), beyond
