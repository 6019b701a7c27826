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
"""The effect of findings on efforts, compared with the efforts of the changed robot."""

from __future__ import annotations

from dataclasses import replace
import re

import numpy as np
import pytest
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.audit import audit, Kind, Severity
from ros2_rnea.offline.audit.effects import ACCELERATION
from ros2_rnea.robots.robot import Robot
from small_robots import ARM, joint, link, robot

# The largest moment exceeds the sum of the others by 0.05.
IMPOSSIBLE = ARM.replace('ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.02"',
                         'ixx="0.02" ixy="0" ixz="0" iyy="0.09" iyz="0" izz="0.02"')


def effects(urdf):
    return {finding.subject: finding.effect for finding in audit(parse_urdf(urdf))
            if finding.severity > Severity.NOTE}


def test_an_inertia_affects_its_weakest_joint_and_not_gravity():
    told = effects(IMPOSSIBLE)
    assert told["link 'lower'"] == (
        "none in gravity; at 10 rad/s^2, at most 0.5 Nm at joint 'elbow', 1.2 % of its limit")
    assert told["link 'upper'"] == (
        "none in gravity; at 10 rad/s^2, at most 0.5 Nm at joint 'shoulder', 0.5 % of its limit")


def test_the_effect_bounds_the_difference_that_a_correction_makes():
    given, corrected = Robot.from_urdf(IMPOSSIBLE), Robot.from_urdf(
        IMPOSSIBLE.replace('iyy="0.09"', 'iyy="0.04"'))
    random = np.random.default_rng(5)
    q = random.uniform(-3.0, 3.0, (200, 2))
    rest = np.zeros_like(q)
    assert given.gravity(q).tolist() == corrected.gravity(q).tolist()
    most = float(re.search(r'at most (\S+) Nm', effects(IMPOSSIBLE)["link 'lower'"]).group(1))
    qdd = np.array([0.0, ACCELERATION]) + rest
    difference = given.inverse_dynamics(q, rest, qdd) - corrected.inverse_dynamics(q, rest, qdd)
    assert 0.0 < np.abs(difference[:, 1]).max() <= most * (1.0 + 1e-9)


def test_what_no_joint_turns_has_no_effect():
    base = ARM.replace('<link name="base"/>', link('base').replace('iyy="0.03"', 'iyy="0.3"'))
    assert effects(base)["link 'base'"] == 'none: no joint turns it'
    slide = robot('<link name="base"/>', link('cart').replace('iyy="0.03"', 'iyy="0.3"'),
                  joint('rail', 'base', 'cart', kind='prismatic'))
    assert effects(slide)["link 'cart'"] == 'none: no joint turns it'


def test_without_an_effort_limit_there_is_no_share_of_it():
    unlimited = IMPOSSIBLE.replace('effort="40.0"', 'effort="0"').replace(
        'effort="100.0"', 'effort="0"')
    assert effects(unlimited)["link 'lower'"] == (
        "none in gravity; at 10 rad/s^2, at most 0.5 Nm at joint 'elbow'")


@pytest.mark.parametrize('kind', Kind)
def test_every_kind_of_finding_has_an_effect(kind):
    assert kind.effect


def test_the_effect_is_part_of_the_node_s_sentence():
    [finding] = [found for found in audit(parse_urdf(IMPOSSIBLE)) if 'lower' in found.subject]
    assert str(finding).endswith(f' (effect: {finding.effect})')
    assert 'effect' not in str(replace(finding, effect=''))
