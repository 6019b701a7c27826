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
"""Settings made in code are held to the same ranges as the node's parameters."""

from math import inf, nan

import pytest
from ros2_rnea.errors import ArgumentError
from ros2_rnea.feedforward.settings import Settings


def test_the_defaults_are_in_range():
    Settings()


@pytest.mark.parametrize('name, value', [
    ('gravity', (0.0, -9.81)),
    ('gravity', (0.0, 0.0, nan)),
    ('effort_limit_factor', -0.1),
    ('effort_limit_factor', 1.1),
    ('effort_limit_factor', nan),
    ('state_timeout', -1.0),
    ('state_timeout', inf),
    ('lookahead', nan),
    ('hold_tolerance', -1e-9),
    ('wrench_timeout', nan),
    ('wrench_fade_time', -1.0),
    ('effort_rate_limit', 0.0),
    ('effort_rate_limit', nan),
    ('blend_time', inf),
    ('position_limit_margin', -0.1),
    ('velocity_limit_factor', 0.0),
    ('velocity_limit_factor', nan),
    ('mimic_tolerance', -1.0),
])
def test_a_value_out_of_range_is_refused_by_name(name, value):
    with pytest.raises(ArgumentError, match=name):
        Settings(**{name: value})
