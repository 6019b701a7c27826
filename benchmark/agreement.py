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
"""Comparison of results: only peers that agree with Pinocchio are timed."""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-9
"""The largest difference over the largest number of the same answer that counts as the same."""


def relative_error(answers: np.ndarray, expected: np.ndarray) -> float:
    """
    Return the largest difference, over all states, relative to each state's largest number.

    :param answers: one answer for each state.
    :returns: infinity where shapes differ or anything is not a number.
    """
    if answers.shape != expected.shape:
        return np.inf
    inner = tuple(range(1, expected.ndim))
    difference = np.max(np.abs(answers - expected), axis=inner)
    scale = np.max(np.abs(expected), axis=inner)
    error = float(np.max(difference / np.where(scale > 0.0, scale, 1.0)))
    return error if np.isfinite(error) else np.inf


def agree(error: float) -> bool:
    """Return whether an error is that of the same answer."""
    return error <= TOLERANCE
