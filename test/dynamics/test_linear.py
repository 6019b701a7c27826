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
"""Small symmetric systems of equations."""

from __future__ import annotations

from math import isfinite

import numpy as np
import pytest
from ros2_rnea.dynamics.linear import solve_symmetric
from seeds import for_seeds


def positive(size, seed=0):
    root = np.random.default_rng(seed).normal(size=(size, size + 2))
    return root @ root.T


@for_seeds(3)
@pytest.mark.parametrize('size', range(1, 9))
def test_the_solution_solves(size, seed):
    A, b = positive(size, seed), np.random.default_rng(seed).normal(size=size)
    np.testing.assert_allclose(
        solve_symmetric(A.tolist(), b.tolist()), np.linalg.solve(A, b), rtol=1e-9)


def test_no_equations_have_no_unknowns():
    assert solve_symmetric([], []) == []


def test_by_hand():
    assert solve_symmetric([[4.0, 2.0], [2.0, 3.0]], [10.0, 9.0]) == pytest.approx([1.5, 2.0])


def test_what_is_given_stays_as_it_is():
    A, b = [[4.0, 2.0], [2.0, 3.0]], [10.0, 9.0]
    solve_symmetric(A, b)
    assert (A, b) == ([[4.0, 2.0], [2.0, 3.0]], [10.0, 9.0])


def test_columns_are_solved_row_by_row():
    matrices = [positive(3, seed) for seed in range(4)]
    rights = np.random.default_rng(9).normal(size=(4, 3))
    columns = np.transpose(matrices, (1, 2, 0))
    x = solve_symmetric([list(row) for row in columns], list(rights.T))
    np.testing.assert_allclose(
        np.transpose(x), [np.linalg.solve(A, b) for A, b in zip(matrices, rights)], rtol=1e-9)


@pytest.mark.parametrize('matrix', [[[0.0]], [[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]]])
def test_a_singular_matrix_gives_numbers_that_are_not_finite(matrix):
    x = solve_symmetric(matrix, [1.0, 2.0][:len(matrix)])
    assert not all(map(isfinite, x))


def test_of_a_batch_only_the_singular_row_is_not_finite():
    with np.errstate(all='ignore'):
        x, = solve_symmetric([[np.array([2.0, 0.0, 4.0])]], [np.array([2.0, 2.0, 2.0])])
    assert x[[0, 2]].tolist() == [1.0, 0.5]
    assert not np.isfinite(x[1])
