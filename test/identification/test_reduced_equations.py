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

correlation_time = pytest.importorskip(
    'ros2_rnea.identification.reduced_equations').correlation_time


@pytest.mark.parametrize('share', [0.0, 0.5, 0.9])
def test_the_correlation_time_of_filtered_noise(share):
    noise = np.random.default_rng(2).standard_normal((4, 20_000))
    for k in range(1, noise.shape[1]):
        noise[:, k] += share * noise[:, k - 1]
    assert correlation_time([*noise])[0] == pytest.approx((1 + share) / (1 - share), rel=0.1)


def test_no_noise_has_no_correlation():
    assert correlation_time([np.zeros(10)]) == (1.0, 1)
