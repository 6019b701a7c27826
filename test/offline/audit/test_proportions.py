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
"""What is found about links that do not fit the links beside them, or their own length."""

from dataclasses import replace
from math import pi

import pytest
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Pose,
    RobotDescription,
)
from ros2_rnea.offline.audit import audit, Severity

LENGTH, RADIUS, DENSITY = 0.4, 0.06, 1500.0
"""Of the cylinders that the arm is made of [m, kg/m^3]."""

MASS = DENSITY * pi * RADIUS ** 2 * LENGTH
"""Of the first of them [kg]; each other one has 0.6 of the mass before it."""


def cylinder(mass):
    """Return the inertia of a uniform cylinder along x, from the link's origin on."""
    across = mass * (LENGTH ** 2 / 12.0 + RADIUS ** 2 / 4.0)
    return Inertial(mass, Pose((0.5 * LENGTH, 0.0, 0.0)),
                    (0.5 * mass * RADIUS ** 2, 0.0, 0.0, across, 0.0, across))


def arm(changed=None, effort=300.0, count=5):
    """Return a chain of cylinders, of which some have another inertial, by their number."""
    inertials = [cylinder(MASS * 0.6 ** index) for index in range(count)]
    for index, inertial in (changed or {}).items():
        inertials[index] = inertial
    links = (LinkDescription('base'), *(
        LinkDescription(f'l{index}', inertial) for index, inertial in enumerate(inertials)))
    joints = tuple(
        JointDescription(
            f'j{index}', JointType.REVOLUTE, links[index].name, f'l{index}',
            Pose((LENGTH if index else 0.0, 0.0, 0.0)), (0.0, 1.0, 0.0),
            JointLimits(-2.0, 2.0, 2.0, effort * 0.5 ** index)) for index in range(count))
    return RobotDescription('arm', links, joints)


def found(description):
    return [(finding.kind.name, finding.subject, finding.text) for finding in audit(description)
            if finding.severity > Severity.NOTE and finding.kind.name != 'OVERLOADED']


def heavier(factor, index=1):
    """Return one cylinder with another mass and its own inertia, as where a mass is mistyped."""
    inertial = cylinder(MASS * 0.6 ** index)
    return {index: replace(inertial, mass=factor * inertial.mass)}


def wider(factor, index=1):
    """Return one cylinder with its own mass and an inertia that is a factor too large."""
    inertial = cylinder(MASS * 0.6 ** index)
    along, *_, across = inertial.inertia
    return {index: replace(inertial, inertia=(along, 0.0, 0.0, across * factor, 0.0,
                                              across * factor))}


def test_a_sound_arm_has_no_finding():
    assert found(arm()) == []


def test_a_mass_that_its_inertia_does_not_fit_is_found():
    [(kind, subject, text)] = found(arm(heavier(6.0)))
    assert (kind, subject) == ('TOO_HEAVY', "link 'l1'")
    mass = 6.0 * 0.6 * MASS
    for words in [f'its {mass:.4g} kg', '68% of the moving mass',
                  "3.6 times those that joint 'j0' carries beside it", 'its inertia fits',
                  "of the limit of joint 'j1'", 'look its mass up in the data sheet']:
        assert words in text


def test_a_mass_that_its_inertia_fits_is_found_by_the_links_beside_it():
    [(kind, subject, text)] = found(arm({2: cylinder(9.0 * MASS)}, 1e4))
    assert (kind, subject) == ('TOO_HEAVY', "link 'l2'")
    assert f"9 times those that joint 'j0' carries beside it ({MASS:.4g} kg)" in text
    assert 'fits' not in text
    assert found(arm({2: cylinder(7.0 * MASS)}, 1e4)) == []


def test_a_mass_that_its_inertia_fits_is_found_by_the_effort_limit():
    mass = 5.0 * MASS
    twice = 4.0 * 2.0 * 9.80665 * mass * 0.5 * LENGTH  # of joint j2, for the weight of its link
    [(kind, _, text)] = found(arm({2: cylinder(mass)}, 0.9 * twice))
    assert kind == 'TOO_HEAVY'
    assert "56% of the limit of joint 'j2'" in text
    assert found(arm({2: cylinder(mass)}, 1.1 * twice)) == []
    assert found(arm({2: cylinder(3.0 * MASS)}, 0.5 * twice)) == []


def test_a_torso_may_be_heavy():
    """Its arms hang on it, and the waist below is a small part."""
    chain = arm({0: cylinder(0.05 * MASS), 1: cylinder(6.0 * MASS)}, 1e4)
    limb = replace(chain.joints[2], name='other', child='limb')
    torso = RobotDescription(
        'torso', (*chain.links, LinkDescription('limb', cylinder(0.36 * MASS))),
        (*chain.joints, limb))
    assert found(torso) == []
    assert [kind for kind, _, _ in found(chain)] == ['TOO_HEAVY']


@pytest.mark.parametrize('index', [1, 2])
def test_an_inertia_that_the_length_does_not_explain_is_found(index):
    [(kind, subject, text)] = found(arm(wider(9.0, index)))
    assert (kind, subject) == ('TOO_WIDE', f"link 'l{index}'")
    across = 9.0 * cylinder(MASS * 0.6 ** index).inertia[-1]
    for words in [f'{across:.3g} kg m^2', 'radius of gyration of 0.36 m', 'its length is 0.4 m',
                  'at most']:
        assert words in text


def test_the_inertia_that_is_named_as_plausible_is_no_finding():
    [(_, _, text)] = found(arm(wider(9.0)))
    most = float(text.split('at most ')[1].split(' kg')[0])
    across = cylinder(0.6 * MASS).inertia[-1]
    assert found(arm(wider(0.97 * most / across))) == []
    assert found(arm(wider(1.03 * most / across)))


def test_an_inertia_that_needs_no_effort_is_no_finding():
    assert found(arm(wider(9.0), 1e3))
    assert found(arm(wider(9.0), 1e4)) == []


@pytest.mark.parametrize('index, kinds', [(0, []), (1, ['TOO_WIDE'])])
def test_an_inertia_about_an_axis_that_never_turns_is_no_finding(index, kinds):
    """The first link turns about one axis only, here along it, and the second about any."""
    chain = arm(wider(9.0, index))
    joints = list(chain.joints)
    joints[index] = replace(joints[index], axis=(1.0, 0.0, 0.0))
    assert [kind for kind, _, _ in found(replace(chain, joints=tuple(joints)))] == kinds


def test_nothing_is_known_of_the_length_of_the_last_link():
    assert found(arm(wider(9.0, 4))) == []


@pytest.mark.parametrize('x, is_found', [(5.0, True), (0.9, False)])
def test_a_centre_of_mass_in_millimetres_is_found_by_the_length(x, is_found):
    inertial = replace(cylinder(MASS), origin=Pose((x, 0.0, 0.0)))
    texts = [text for kind, subject, text in found(arm({0: inertial}, 1e4)) if kind == 'UNITS']
    assert bool(texts) is is_found
    if is_found:
        assert 'is 5 m from its origin' in texts[0]
        assert 'its joints are 0.4 m apart: is the centre in millimetres?' in texts[0]


@pytest.mark.parametrize('factor, unit', [
    (1e3, 'g m^2'), (1e6, 'kg mm^2'), (1e7, 'g cm^2'), (1e9, 'g mm^2')])
def test_the_unit_of_an_inertia_is_named(factor, unit):
    inertial = cylinder(MASS)
    inertia = tuple(factor * moment for moment in inertial.inertia)
    [(kind, _, text)] = found(arm({0: replace(inertial, inertia=inertia)}, 1e9))[:1]
    assert kind == 'TOO_LIGHT'
    assert text.endswith(f'; is the inertia in {unit}?')


def test_no_unit_is_named_where_none_explains_it():
    inertial = cylinder(MASS)
    for factor in (4e4, 1e5, 1e13):
        inertia = tuple(factor * moment for moment in inertial.inertia)
        texts = [text for kind, _, text in found(arm({0: replace(inertial, inertia=inertia)}))
                 if kind == 'TOO_LIGHT']
        assert texts[0].endswith('the inertia is too large or the mass too small')


@pytest.mark.parametrize('factor, words', [
    (1.0, 'is the mass in grams?'), (1e3, 'are the mass and the inertia in g and g m^2?'),
    (0.01, 'the inertia is too small or the mass too large')])
def test_the_unit_of_a_mass_is_named(factor, words):
    inertial = cylinder(0.1 * MASS)
    inertia = tuple(factor * moment for moment in inertial.inertia)
    changed = {4: replace(inertial, mass=1e3 * inertial.mass, inertia=inertia)}
    texts = [text for kind, _, text in found(arm(changed)) if kind == 'TOO_DENSE']
    assert texts[0].endswith(words)
