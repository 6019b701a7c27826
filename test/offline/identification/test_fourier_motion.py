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
"""Fourier motions: at rest at both ends, with derivatives that fit, and smaller on demand."""

from __future__ import annotations

import numpy as np
import pytest
from ros2_rnea.offline.identification.fourier_motion import basis_at_rest, FourierMotion


def drawn(harmonics: int = 5, period: float = 7.0) -> FourierMotion:
    random = np.random.default_rng(3)
    basis = basis_at_rest(harmonics)
    return FourierMotion(
        period, random.normal(size=4), random.normal(size=(4, len(basis))) @ basis)


@pytest.mark.parametrize('harmonics', [2, 3, 5, 9])
def test_each_period_starts_and_ends_at_rest(harmonics: int):
    motion = drawn(harmonics)
    q, qd, qdd = motion.at([0.0, 7.0, 21.0])
    assert np.abs(q - motion.start).max() < 1e-12
    assert np.abs(qd).max() < 1e-11
    assert np.abs(qdd).max() < 1e-10
    assert np.abs(motion.at([3.1])[1:]).max() > 0.1


@pytest.mark.parametrize('harmonics', [2, 5])
def test_the_basis_has_all_motions_at_rest_and_is_orthonormal(harmonics: int):
    basis = basis_at_rest(harmonics)
    assert len(basis) == 2 * (harmonics - 1)
    assert np.allclose((basis @ basis.conj().T).real, np.eye(len(basis)), rtol=0.0, atol=1e-14)


def test_velocities_and_accelerations_are_derivatives_of_positions():
    motion = drawn()
    times, step = np.linspace(0.0, 7.0, 23), 1e-5
    before, here, after = (motion.at(times + shift) for shift in (-step, 0.0, step))
    assert np.allclose((after[:2] - before[:2]) / (2.0 * step), here[1:], rtol=0.0, atol=1e-7)


def test_a_smaller_motion_is_the_same_path_about_its_start():
    motion = drawn()
    times = np.linspace(0.0, 7.0, 11)
    way = motion.at(times) - motion.scaled(0.0).at(times)
    for factor in (0.3, np.array([0.1, 0.2, 0.3, 0.4])):
        smaller = motion.scaled(factor)
        assert np.allclose(smaller.at(times) - motion.scaled(0.0).at(times), factor * way,
                           rtol=0.0, atol=1e-12)
