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

from enum import Enum
from math import inf, nan, nextafter

import pytest
from ros2_rnea.control.parameter import declared_in, Specification
from ros2_rnea.control.settings import (
    ExertedBy,
    HIGHEST_GAIN,
    LARGEST_ASSISTANCE,
    Settings,
    WrenchSettings,
)
from ros2_rnea.dynamics.terms import TERMS
from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.sent_terms import Terms

CHOICES = {type(each.default) for each in declared_in(Settings)
           if isinstance(each, Specification) and isinstance(each.default, Enum)}


def test_choices_are_written_as_their_names():
    assert len(CHOICES) > 5
    for choice in CHOICES:
        assert [one.value for one in choice] == [one.name.lower() for one in choice]


def test_by_default_a_wrench_is_taken_as_it_comes():
    assert WrenchSettings(0.1) == WrenchSettings(
        0.1, 0.0, ExertedBy.ENVIRONMENT, 0.0, 0.0, 0.0, 1.0, inf, inf, 0.0, (0.0, 0.0, 0.0))


def test_gains_may_be_from_zero_to_the_highest():
    for name in ('position_gains', 'velocity_gains'):
        Settings(**{name: (0.0, HIGHEST_GAIN)})
        for gain in (-nextafter(0.0, 1.0), nextafter(HIGHEST_GAIN, inf)):
            with pytest.raises(ArgumentError, match=f'{name} .* from 0 to 1e.06'):
                Settings(**{name: (gain,)})
    assert HIGHEST_GAIN == 1e6


@pytest.mark.parametrize('name, values', [
    ('gravity', [(0.0, -9.81), (0.0, 0.0, nan)]),
    ('effort_limit_factor', [-0.1, 1.1, nan]),
    ('state_timeout', [-1.0, inf]),
    ('lookahead', [nan]),
    ('hold_tolerance', [-1e-9]),
    ('wrench_timeout', [nan]),
    ('wrench_fade_time', [-1.0]),
    ('wrench_gain', [-0.1, 1.1]),
    ('wrench_effort_share', [nan]),
    ('wrench_force_limit', [-1.0]),
    ('wrench_moment_limit', [inf]),
    ('effort_rate_limit', [-1.0, nan]),
    ('blend_time', [inf]),
    ('position_limit_margin', [-0.1]),
    ('velocity_limit_factor', [0.0, nan]),
    ('mimic_tolerance', [-1.0]),
    ('friction_assistance', [nextafter(LARGEST_ASSISTANCE, inf)]),
    ('imu_timeout', [-1.0]),
    ('braking_time', [0.0, inf]),
    ('longest_braking', [0.0, inf]),
    ('trip_deviation', [nan]),
    ('trip_saturation_time', [-0.1]),
    ('trip_velocity_factor', [-1.0]),
    ('feedback_delay', [-0.001]),
    ('velocity_filter_time', [inf]),
])
def test_a_value_out_of_range_is_refused_by_name(name, values):
    for value in values:
        with pytest.raises(ArgumentError, match=name):
            Settings(**{name: value})


def test_assistance_leaves_30_percent_of_friction_to_brake():
    assert LARGEST_ASSISTANCE == 0.7
    Settings(friction_assistance=LARGEST_ASSISTANCE)


def test_by_default_all_joints_are_moved_alone():
    assert Settings().held_by_others == frozenset()
    assert Settings().may_send_last


def test_a_choice_leaves_out_terms_that_there_are():
    """An arm that adds what is left out adds all of it and nothing else."""
    terms = {term.name for term in TERMS}
    for choice in Terms:
        assert set(choice.left_out) <= terms
    assert Terms.FULL.left_out == Terms.AUTOMATIC.left_out == ()
    assert Terms.NO_GRAVITY.left_out == ('gravity',)
    assert Terms.NO_GRAVITY_NO_FRICTION.left_out == ('gravity', 'friction')
    assert Terms.NO_GRAVITY_NO_CORIOLIS.left_out == ('gravity', 'coriolis')
    assert 'gravity' not in Terms.GRAVITY_ONLY.left_out
