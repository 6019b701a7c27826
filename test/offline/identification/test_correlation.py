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
"""How many samples of a noise count as one independent sample."""

import numpy as np
import pytest

correlation_of = pytest.importorskip('ros2_rnea.offline.identification.correlation').correlation_of


@pytest.mark.parametrize('share', [0.0, 0.5, 0.9])
def test_the_correlation_time_of_filtered_noise(share):
    noise = np.random.default_rng(2).standard_normal((4, 20_000))
    for k in range(1, noise.shape[1]):
        noise[:, k] += share * noise[:, k - 1]
    found = correlation_of([*noise], noise.size, 0).time
    assert found == pytest.approx((1 + share) / (1 - share), rel=0.1)


def test_no_noise_has_no_correlation():
    assert correlation_of([np.zeros(10)], 10, 0).time == 1.0


@pytest.mark.parametrize('share', [0.0, 0.9])
def test_what_a_fit_takes_at_low_frequencies_is_made_good(share):
    rng = np.random.default_rng(3)
    times = np.arange(2000)
    slow = np.stack([np.cos(np.pi * k * (times + 0.5) / 2000) for k in range(30)], axis=1)
    basis = np.linalg.qr(slow)[0]
    found = []
    for _ in range(50):
        noise = rng.standard_normal(2000)
        for k in range(1, 2000):
            noise[k] += share * noise[k - 1]
        left = noise - basis @ (basis.T @ noise)
        found.append(correlation_of([left], 2000, 30).time)
    assert np.mean(found) == pytest.approx((1 + share) / (1 - share), rel=0.15)


def test_samples_that_do_not_count_change_nothing():
    noise = np.random.default_rng(4).standard_normal(40_000)
    noise[1:] += noise[:-1]
    whole = correlation_of([noise], len(noise), 0)
    noise[10_000:20_000] = 0.0
    parts = correlation_of([noise], 30_000, 0)
    assert parts.time == pytest.approx(whole.time, rel=0.1) == pytest.approx(2.0, rel=0.1)


def test_an_empty_piece_changes_nothing():
    """Of a short piece between two gaps, nothing may be left beside a delay that is tried."""
    noise = np.random.default_rng(1).normal(size=(2, 300))
    with_empty = correlation_of([noise[0], np.empty(0), noise[1]], 600, 3)
    assert with_empty == correlation_of([*noise], 600, 3)
