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

import pytest
from ros2_rnea.feedforward.effort.crossfade import remaining_weight


@pytest.mark.parametrize('age, duration, share', [
    (-1.0, 2.0, 1.0), (0.0, 2.0, 1.0), (0.5, 2.0, 0.84375), (1.0, 2.0, 0.5), (2.0, 2.0, 0.0),
    (9.0, 2.0, 0.0), (0.0, 0.0, 0.0)])
def test_it_fades_from_one_to_zero_over_the_duration(age, duration, share):
    assert remaining_weight(age, duration) == share


@pytest.mark.parametrize('age', [0.0, 2.0])
def test_it_begins_and_ends_without_a_kink(age):
    before, after = remaining_weight(age - 1e-6, 2.0), remaining_weight(age + 1e-6, 2.0)
    assert before == pytest.approx(after, abs=1e-11)
