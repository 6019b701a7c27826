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
"""The inertia of some joints while the other joints move freely, and give way."""

from __future__ import annotations

import numpy as np

NO_INERTIA = 1e-9
"""Share of the largest inertia of a free joint, below which a free joint cannot give way."""


def apparent_inertia(M: np.ndarray, driven: np.ndarray, free: np.ndarray) -> np.ndarray:
    """
    Return M_dd − M_df M_ff⁻¹ M_fd: the mass matrix of the driven joints (d) without the free (f).

    :param M: mass matrix, shape (nv, nv), symmetric.
    :param driven: indices of the joints that are accelerated, shape (d,).
    :param free: indices of the joints on which no effort acts, shape (f,).  A joint of neither
        stands still.
    :return: shape (d, d), symmetric.
    """
    apparent = M[np.ix_(driven, driven)]
    if not len(free):
        return apparent
    across = M[np.ix_(driven, free)]
    gives_way = np.linalg.pinv(M[np.ix_(free, free)], NO_INERTIA, hermitian=True)
    return apparent - across @ gives_way @ across.T
