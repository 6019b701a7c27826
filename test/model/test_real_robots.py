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
"""
Real robots: every number of theirs, compared with the raw text of its URDF.

The robots are those of the Python package example-robot-data, where that is installed.
"""

from importlib.metadata import distribution, PackageNotFoundError
from math import inf
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.urdf import parse_urdf

# What really is wrong with a robot of the package, and where.
FAULTS = {
    'alex_psyonic_hands.urdf':
        "joint 'Left_index_q2' mimics the joint 'index_q1', which does not exist; "
        "did you mean 'Left_index_q1'?",
    'ur3.urdf': 'robot has no name',
}


def find_robots():
    try:
        files = distribution('example-robot-data').files or []
    except PackageNotFoundError:
        return []
    return sorted(Path(file.locate()) for file in files if file.suffix == '.urdf')


ROBOTS = find_robots()
SOUND = [path for path in ROBOTS if path.name not in FAULTS]
FAULTY = [path for path in ROBOTS if path.name in FAULTS]
pytestmark = pytest.mark.skipif(not ROBOTS, reason='example-robot-data is not installed')


def name_of(path):
    return f'{path.parent.name}/{path.name}'


def number(element, name, default=0.0):
    return default if element is None else float(element.get(name, default))


def vector(element, name, default=(0.0, 0.0, 0.0)):
    if element is None or name not in element.attrib:
        return default
    return tuple(float(word) for word in element.get(name).split())


def numbers_of_link(link):
    inertial = link.find('inertial')
    if inertial is None:
        return None
    origin, inertia = inertial.find('origin'), inertial.find('inertia')
    return (
        number(inertial.find('mass'), 'value'),
        vector(origin, 'xyz'), vector(origin, 'rpy'),
        *(float(inertia.get(name)) for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')))


def numbers_of_joint(joint):
    origin, limit, dynamics = joint.find('origin'), joint.find('limit'), joint.find('dynamics')
    bounded = joint.get('type') in ('revolute', 'prismatic')
    mimic = joint.find('mimic')
    return (
        joint.get('type'), joint.find('parent').get('link'), joint.find('child').get('link'),
        vector(origin, 'xyz'), vector(origin, 'rpy'),
        vector(joint.find('axis'), 'xyz', (1.0, 0.0, 0.0)),
        number(limit if bounded else None, 'lower', -inf),
        number(limit if bounded else None, 'upper', inf),
        number(limit, 'velocity', inf), number(limit, 'effort', inf),
        number(dynamics, 'damping'), number(dynamics, 'friction'),
        None if mimic is None else (
            mimic.get('joint'), number(mimic, 'multiplier', 1.0), number(mimic, 'offset')))


@pytest.mark.parametrize('path', SOUND, ids=map(name_of, SOUND))
def test_every_number_of_a_real_robot_is_its_text_s(path, capfd):
    text = path.read_text(encoding='utf-8')
    raw = ElementTree.fromstring(text.encode('utf-8'))
    description = parse_urdf(text)
    assert description.name == raw.get('name')
    assert [
        (link.name, link.inertial and (
            link.inertial.mass, link.inertial.origin.xyz, link.inertial.origin.rpy,
            *link.inertial.inertia))
        for link in description.links
    ] == [(link.get('name'), numbers_of_link(link)) for link in raw.findall('link')]
    assert [
        (joint.name, (
            joint.type.label, joint.parent, joint.child, joint.origin.xyz, joint.origin.rpy,
            joint.axis, joint.limits.lower, joint.limits.upper, joint.limits.velocity,
            joint.limits.effort, joint.damping, joint.friction,
            joint.mimic and (joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)))
        for joint in description.joints
    ] == [(joint.get('name'), numbers_of_joint(joint)) for joint in raw.findall('joint')]
    assert capfd.readouterr() == ('', '')


@pytest.mark.parametrize('path', FAULTY, ids=map(name_of, FAULTY))
def test_a_faulty_real_robot_is_refused_for_its_fault(path):
    with pytest.raises(DescriptionError) as error:
        parse_urdf(path.read_text(encoding='utf-8'))
    assert FAULTS[path.name] in str(error.value)


def test_the_robots_were_found():
    assert len(SOUND) >= 60
    assert len(FAULTY) == len(FAULTS)
