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
"""Indices in an array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Indices = slice | np.ndarray
"""Whatever stands in an array's square brackets for several of its items."""


def as_indices(indices: Sequence[int] | np.ndarray) -> Indices:
    """Return indices for an array, as a slice where they have no gap: NumPy is faster at that."""
    start = int(indices[0]) if len(indices) else 0
    stop = start + len(indices)
    if list(indices) == list(range(start, stop)):
        return slice(start, stop)
    return np.array(indices, dtype=int)
