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
"""The inertia of joints whose neighbours give way, against the inverse of the whole matrix."""

import numpy as np
import pytest
from ros2_rnea.dynamics.apparent_inertia import apparent_inertia


@pytest.mark.parametrize('seed', range(10))
def test_it_is_what_efforts_at_driven_joints_alone_accelerate(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, 6))
    M = root @ root.T + 0.1 * np.eye(6)
    driven, free = np.split(rng.permutation(6), [int(rng.integers(1, 6))])
    tau = rng.normal(size=len(driven))
    qdd = np.linalg.inv(M)[:, driven] @ tau
    np.testing.assert_allclose(apparent_inertia(M, driven, free) @ qdd[driven], tau, rtol=1e-9)


def test_a_joint_that_is_neither_driven_nor_free_stands_still():
    M = np.array([[2.0, 0.5, 0.4], [0.5, 1.0, 0.3], [0.4, 0.3, 1.0]])
    np.testing.assert_allclose(
        apparent_inertia(M, np.array([0]), np.array([2])), [[2.0 - 0.4 ** 2]], rtol=1e-14)


def test_a_free_joint_without_inertia_changes_nothing():
    M = np.diag([2.0, 1.0, 0.0])
    np.testing.assert_array_equal(
        apparent_inertia(M, np.array([0, 1]), np.array([2])), np.diag([2.0, 1.0]))
