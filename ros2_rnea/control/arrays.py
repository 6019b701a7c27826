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
"""Small helpers for short arrays: indices that are slices where possible, tests of flags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Indices = slice | np.ndarray
"""An index that selects several items of an array."""


def as_indices(indices: Sequence[int] | np.ndarray) -> Indices:
    """Return a slice where the indices are consecutive, because NumPy is faster with slices."""
    start = int(indices[0]) if len(indices) else 0
    stop = start + len(indices)
    if list(indices) == list(range(start, stop)):
        return slice(start, stop)
    return np.array(indices, dtype=int)


def any_set(flags: np.ndarray) -> bool:
    """
    Return whether a boolean array of any shape has a true item.

    The arrays of the cycle have one item per joint; ``numpy.any`` takes ten times as long there.
    """
    return 1 in flags.tobytes()


def all_set(flags: np.ndarray) -> bool:
    """Return whether a boolean array of any shape has no false item; see :func:`any_set`."""
    return 0 not in flags.tobytes()
