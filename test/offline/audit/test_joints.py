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
"""What is found about single joints, and what is not."""

from math import inf, pi

from audited import BRICK, findings_of_joint, LIMITS
import pytest
from ros2_rnea.model.description import (
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from ros2_rnea.offline.audit import audit

REVOLUTE, PRISMATIC, CONTINUOUS = (
    JointType.REVOLUTE, JointType.PRISMATIC, JointType.CONTINUOUS)


@pytest.mark.parametrize('kind', [
    REVOLUTE, CONTINUOUS, JointType.PLANAR, JointType.FLOATING, JointType.FIXED,
    JointType.SPHERICAL, JointType.HELICAL, JointType.CYLINDRICAL])
def test_a_joint_with_all_limits_is_no_finding(kind):
    assert findings_of_joint(kind, pitch=0.01).keys() <= {'NO_GRAVITY'}


@pytest.mark.parametrize('kind, limits, kinds', [
    (REVOLUTE, JointLimits(-1.0, 1.0), ['NO_EFFORT_LIMIT']),
    (PRISMATIC, JointLimits(-1.0, 1.0), ['NO_EFFORT_LIMIT']),
    (CONTINUOUS, JointLimits(), ['NO_EFFORT_LIMIT']),
    (CONTINUOUS, JointLimits(effort=0.0), ['ZERO_EFFORT_LIMIT']),
    (CONTINUOUS, JointLimits(effort=1e4), []),
    (CONTINUOUS, JointLimits(effort=1.1e4), ['HUGE_EFFORT_LIMIT']),
    (CONTINUOUS, JointLimits(effort=1e30), ['HUGE_EFFORT_LIMIT']),
    (REVOLUTE, JointLimits(-1.0, 1.0, effort=0.0), ['ZERO_EFFORT_LIMIT']),
    (REVOLUTE, JointLimits(effort=300.0), ['NO_POSITION_LIMITS']),
    (REVOLUTE, JointLimits(lower=-1.0, effort=300.0), ['NO_POSITION_LIMITS']),
    (PRISMATIC, JointLimits(upper=1.0, effort=300.0), ['NO_POSITION_LIMITS']),
    (REVOLUTE, JointLimits(), ['NO_EFFORT_LIMIT', 'NO_POSITION_LIMITS']),
    (REVOLUTE, JointLimits(0.5, 0.5, 1.0, 300.0), ['LOCKED']),
    (REVOLUTE, JointLimits(-1.0, 1.0, 0.0, 300.0), ['ZERO_VELOCITY_LIMIT']),
    (REVOLUTE, JointLimits(-1.0, 1.0, -1.0, 300.0), ['UNUSABLE']),
    (REVOLUTE, JointLimits(-1.0, 1.0, 1.0, -300.0), ['NO_EFFORT_LIMIT']),
    (REVOLUTE, JointLimits(1.0, -1.0, 1.0, 300.0), ['UNUSABLE']),
    (PRISMATIC, JointLimits(inf, inf, 1.0, 300.0), ['UNUSABLE']),
    (CONTINUOUS, JointLimits(1.0, -1.0, 1.0, 300.0), []),
    (JointType.PLANAR, JointLimits(), []),
    (JointType.FLOATING, JointLimits(), []),
    (JointType.FIXED, JointLimits(), []),
])
def test_limits_that_are_missing_or_zero_are_found(kind, limits, kinds):
    axis = (0.0, 0.0, 1.0) if kind is PRISMATIC else (0.0, 1.0, 0.0)
    assert sorted(findings_of_joint(kind, axis=axis, limits=limits).keys() - {
        'NO_GRAVITY'}) == kinds


@pytest.mark.parametrize('limits, words', [
    (JointLimits(effort=300.0), 'no position limits'),
    (JointLimits(lower=-1.0, effort=300.0), 'no upper limit'),
    (JointLimits(upper=1.0, effort=300.0), 'no lower limit'),
])
def test_the_limit_that_is_missing_is_named(limits, words):
    assert words in findings_of_joint(limits=limits)['NO_POSITION_LIMITS']


@pytest.mark.parametrize('limits, kind, words', [
    (JointLimits(2.5, -2.5, 1.0, 300.0), 'UNUSABLE', [
        'lower limit is 2.5 and its upper one -2.5', 'both count as none: swap them']),
    (JointLimits(-1.0, 1.0, -1.0, 300.0), 'UNUSABLE', [
        'velocity limit is -1', 'write a number above 0']),
    (JointLimits(-1.0, 1.0, 1.0, 300.0, jerk=-2.0), 'UNUSABLE', ['jerk limit is -2']),
    (JointLimits(-1.0, 1.0, 1.0, -3.0), 'NO_EFFORT_LIMIT', ['the effort limit -3, which is none']),
])
def test_a_limit_that_cannot_be_one_is_shown_with_what_would_do(limits, kind, words):
    text = findings_of_joint(limits=limits)[kind]
    for word in words:
        assert word in text


@pytest.mark.parametrize('effort', [0.0, inf])
def test_a_mimic_joint_needs_no_effort_limit(effort):
    limits = JointLimits(-1.0, 1.0, effort=effort)
    assert findings_of_joint(limits=limits, mimic=Mimic('other')) == {}


def test_a_mimic_joint_moves_by_its_leader_whatever_its_limits():
    limits = JointLimits(0.0, 0.0, 1.0, 300.0)
    assert findings_of_joint(limits=limits, mimic=Mimic('other')) == {}


def test_who_follows_is_said_of_the_leader():
    links = tuple(LinkDescription(name, BRICK) for name in 'abcd')
    joints = tuple(
        JointDescription(f'to_{child}', REVOLUTE, 'a', child, axis=(0.0, 1.0, 0.0),
                         limits=LIMITS, mimic=mimic)
        for child, mimic in (('b', None), ('c', Mimic('to_b')), ('d', Mimic('to_b', -1.0))))
    [finding] = [finding for finding in audit(RobotDescription('r', links, joints))
                 if finding.kind.name == 'MIMIC']
    assert str(finding) == "joint 'to_b': it is followed by 'to_c', 'to_d', whose efforts are " \
        'added to its own'


@pytest.mark.parametrize('axis, words', [
    ((0.0, 1.0, 1.0), 'length 1.41421'),
    ((0.0, 0.5, 0.0), 'length 0.5'),
    ((0.0, 1.0, 0.001), 'deviates by 0.001 rad'),
    ((0.0, -1.0, 5e-5), 'deviates by 5e-05 rad'),
])
def test_an_axis_that_was_hardly_meant_is_found(axis, words):
    found = findings_of_joint(axis=axis)
    assert words in found['AXIS']


@pytest.mark.parametrize('axis', [
    (0.0, -1.0, 0.0), (0.0, 1.0, 4.37e-8), (0.998987, 0.0, 0.0449994), (0.577, 0.577, 0.577)])
def test_an_axis_that_was_meant_is_no_finding(axis):
    assert findings_of_joint(axis=axis) == {}


@pytest.mark.parametrize('kind, values, words', [
    (REVOLUTE, {'limits': JointLimits(-180.0, 180.0, 2.0, 300.0)}, 'are they in degrees?'),
    (REVOLUTE, {'limits': JointLimits(0.0, 90.0, 2.0, 300.0)}, 'are they in degrees?'),
    (PRISMATIC, {'limits': JointLimits(0.0, 40.0, 2.0, 300.0)}, 'are they in millimetres?'),
    (PRISMATIC, {'limits': JointLimits(-500.0, 0.0, 2.0, 300.0)}, 'are they in millimetres?'),
    (REVOLUTE, {'origin': Pose((0.0, 0.0, 330.0))}, 'is it in millimetres?'),
    (REVOLUTE, {'origin': Pose(rpy=(0.0, -90.0, 0.0))}, 'is it in degrees?'),
    (JointType.FIXED, {'origin': Pose(rpy=(0.0, -90.0, 0.0))}, 'is it in degrees?'),
])
def test_other_units_are_suspected(kind, values, words):
    assert words in findings_of_joint(kind, **values)['UNITS']


@pytest.mark.parametrize('values', [
    {'limits': JointLimits(-10.0, 10.0, 2.0, 300.0)},      # as quadrupeds have them
    {'limits': JointLimits(-1e16, 1e16, 2.0, 300.0)},      # stands for none
    {'origin': Pose((0.0, 0.0, 1.5), (0.0, -2.0 * pi, 0.0))},
])
def test_large_but_usual_numbers_are_no_finding(values):
    assert findings_of_joint(**values) == {}


def test_a_long_rail_is_no_finding():
    """The longest rails of arms have some 30 m; fingers in millimetres seem to go as far."""
    rail = {'axis': (1.0, 0.0, 0.0), 'limits': JointLimits(-15.0, 15.0, 2.0, 300.0)}
    assert findings_of_joint(PRISMATIC, **rail).keys() == {'NO_GRAVITY'}


@pytest.mark.parametrize('length, is_found', [(0.1, True), (0.5, False)])
def test_a_rail_is_compared_with_what_moves_on_it(length, is_found):
    links = tuple(LinkDescription(name, BRICK) for name in 'abc')
    limits = JointLimits(0.0, 90.0, 2.0, 300.0)
    joints = (
        JointDescription('rail', PRISMATIC, 'a', 'b', limits=limits),
        JointDescription('elbow', REVOLUTE, 'b', 'c', Pose((0.0, 0.0, length)), limits=LIMITS))
    found = [finding.text for finding in audit(RobotDescription('r', links, joints))
             if finding.kind.name == 'UNITS']
    assert bool(found) is is_found


def test_friction_which_is_compensated_is_no_finding():
    assert findings_of_joint(friction=0.25, damping=0.5) == {}


@pytest.mark.parametrize('damping, friction, velocity, share', [
    (0.0, 2.1, 2.0, 0.21), (2.1, 0.0, 2.0, 0.21), (1.0, 1.5, 2.0, 0.25), (9.0, 2.5, inf, 0.25),
    (0.0, 1.9, 2.0, None), (1.9, 0.0, 2.0, None), (9.0, 1.9, inf, None), (1.0, 1.0, 1.0, None)])
def test_friction_is_judged_at_half_the_velocity_limit(damping, friction, velocity, share):
    found = findings_of_joint(
        damping=damping, friction=friction,
        limits=JointLimits(-1.0, 1.0, velocity=velocity, effort=10.0))
    assert ('LARGE_FRICTION' in found) is (share is not None)
    assert share is None or f'{share:.0%} of its effort limit' in found['LARGE_FRICTION']


@pytest.mark.parametrize('effort', [0.0, inf, 1e30])
def test_friction_is_not_compared_with_a_limit_that_is_none(effort):
    limits = JointLimits(-1.0, 1.0, velocity=2.0, effort=effort)
    assert 'LARGE_FRICTION' not in findings_of_joint(friction=1e9, limits=limits)
