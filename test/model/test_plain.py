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
"""Descriptions as plain data, through JSON and back, and what is refused on the way."""

from __future__ import annotations

from contextlib import suppress
import copy
import json
from math import inf

from drawn_robots import descriptions, for_drawn, inertials
from example_robots import example_urdf_files
import pytest
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.description import Inertial, RobotDescription
from ros2_rnea.model.plain import from_plain, to_plain
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM_WITH_GRIPPER


def through_json(value):
    return from_plain(type(value), json.loads(json.dumps(to_plain(value))))


def test_real_robots_are_the_same_afterwards():
    sound = 0
    for path in example_urdf_files():
        with suppress(DescriptionError):
            description = parse_urdf(path.read_text(encoding='utf-8'))
            assert through_json(description) == description, path
            sound += 1
    assert sound > 60


@for_drawn(descriptions(mimics=True), inertials())
def test_drawn_robots_and_payloads_are_the_same_afterwards(description, inertial):
    assert through_json(description) == description
    assert through_json(inertial) == inertial


def test_infinite_and_long_numbers_are_kept():
    description = parse_urdf(ARM_WITH_GRIPPER.replace('lower="-3"', '').replace(
        'multiplier="-1"', 'multiplier="-0.12345678901234567"'))
    limits, mimic = description.joints[0].limits, description.joints[3].mimic
    assert (limits.lower, mimic.multiplier) == (-inf, -0.12345678901234567)
    assert through_json(description) == description


PLAIN = to_plain(parse_urdf(ARM_WITH_GRIPPER))


@pytest.mark.parametrize('place, value, said', [
    (('name',), 3, 'RobotDescription.name is 3; it needs a str'),
    (('links',), {}, r'links is \{\}; it needs a list'),
    (('links', 1, 'inertial', 'mass'), '1', r"links\[1\].inertial.mass is '1'; it needs a float"),
    (('links', 1, 'inertial', 'mass'), True, 'True; it needs a float'),
    (('links', 1, 'inertial', 'mass'), None, 'None; it needs a float'),
    (('links', 1, 'inertial', 'inertia'), [1.0] * 5, 'it needs a list of 6'),
    (('joints', 0, 'type'), 'bent', "type is 'bent'; it needs one of fixed, revolute"),
    (('joints', 0, 'more'), 0.0, r'joints\[0\] is .*it needs exactly name, type'),
    (('joints', 3, 'mimic'), [], r'mimic is \[\]; it needs exactly joint, multiplier, offset'),
    ((), [], 'RobotDescription is'),
])
def test_what_is_no_description_is_refused(place, value, said):
    data = copy.deepcopy(PLAIN)
    if place:
        *path, last = place
        inside = data
        for step in path:
            inside = inside[step]
        inside[last] = value
    else:
        data = value
    with pytest.raises(DescriptionError, match=said):
        from_plain(RobotDescription, data)


def test_what_is_missing_is_refused():
    with pytest.raises(DescriptionError, match='needs exactly mass, origin, inertia'):
        from_plain(Inertial, {'mass': 1.0})
