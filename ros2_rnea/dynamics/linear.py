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
"""Small systems of linear equations over numbers of any kind."""

from __future__ import annotations

from collections.abc import Sequence

from ros2_rnea.spatial import Number, quotient


def solve_symmetric(
        matrix: Sequence[Sequence[Number]], right: Sequence[Number]) -> list[Number]:
    """
    Return x with matrix x = right, for a symmetric positive definite matrix.

    It is factored as L D Lᵀ without looking at any number, so a trace is valid for all matrices.
    A singular matrix gives numbers that are not finite.
    """
    n = len(matrix)
    L: list[list[Number]] = [[0.0] * n for _ in range(n)]
    D: list[Number] = [0.0] * n
    for i in range(n):
        for j in range(i):
            rest = matrix[i][j]
            for k in range(j):
                rest = rest - L[i][k] * L[j][k] * D[k]
            L[i][j] = quotient(rest, D[j])
        D[i] = matrix[i][i]
        for k in range(i):
            D[i] = D[i] - L[i][k] * L[i][k] * D[k]
    x = list(right)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i][k] * x[k]
    x = [quotient(x[i], D[i]) for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return x


def inverse_symmetric(matrix: Sequence[Sequence[Number]]) -> list[list[Number]]:
    """Return the inverse of a symmetric positive definite matrix; see :func:`solve_symmetric`."""
    size = range(len(matrix))
    return [solve_symmetric(matrix, [1.0 if i == k else 0.0 for i in size]) for k in size]
