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
"""What is suspicious about a model: each finding alone, and none about a sound one."""

from __future__ import annotations

import pytest
from ros2_rnea.audit import audit, Finding
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    RobotDescription,
)
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER, ROVER

LIMITS = JointLimits(-1.0, 1.0, 2.0, 3.0)


def link_finding(inertia, mass=1.0):
    """Return what is found about a single link, as (text, impossible) or None."""
    link = LinkDescription('part', Inertial(mass, inertia=inertia))
    findings = audit(RobotDescription('r', (link,), ()))
    assert len(findings) <= 1
    return (str(findings[0]), findings[0].impossible) if findings else None


def joint_findings(kind=JointType.REVOLUTE, **values):
    """Return the texts of what is found about a single joint."""
    joint = JointDescription('hinge', kind, 'a', 'b', **{'limits': LIMITS, **values})
    links = (LinkDescription('a'), LinkDescription('b'))
    findings = audit(RobotDescription('r', links, (joint,)))
    assert not any(finding.impossible for finding in findings)
    assert all(finding.subject == "joint 'hinge'" for finding in findings)
    return [finding.text for finding in findings]


# ---- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize('inertia', [
    (1.0, 0.0, 0.0, 1.0, 0.0, 1.0),
    (1.0, 0.0, 0.0, 1.0, 0.0, 2.0),                  # a flat plate: 1 + 1 = 2
    (1.0, 0.0, 0.0, 1.0, 0.0, 2.0 + 1e-6),           # the same, rounded when written down
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),                  # a point
    (1.5, 0.5, 0.0, 1.5, 0.0, 2.0),                  # principal moments 1, 2, 2
    (0.0, 0.0, 0.0, 1.0, 0.0, 1.0),                  # a thin rod
])
def test_an_inertia_that_a_body_can_have_is_no_finding(inertia):
    assert link_finding(inertia) is None


@pytest.mark.parametrize('inertia', [
    (-1.0, 0.0, 0.0, 1.0, 0.0, 1.0),
    (1.0, 2.0, 0.0, 1.0, 0.0, 1.0),                  # principal moments −1, 1, 3
    (1e-9, 0.0, 0.0, 1e-9, 0.0, -1e-9),              # small, but not a matter of rounding
])
def test_an_inertia_that_is_not_positive_is_impossible(inertia):
    text, impossible = link_finding(inertia)
    assert text.startswith("link 'part': its inertia is not positive: principal moments -")
    assert impossible


@pytest.mark.parametrize('inertia', [
    (1.0, 0.0, 0.0, 1.0, 0.0, 2.1),
    (2.1, 0.0, 0.0, 1.0, 0.0, 1.0),
    (1.0, 0.0, 0.0, 1.0, 0.0, 2.0 + 1e-4),
    (1.0, 0.9, 0.0, 1.0, 0.0, 1.0),                  # principal moments 0.1, 1, 1.9
    (1e-9, 0.0, 0.0, 1e-9, 0.0, 3e-9),
])
def test_an_inertia_that_breaks_the_triangle_inequality_is_impossible(inertia):
    text, impossible = link_finding(inertia)
    assert 'exceeds the sum of the other two' in text
    assert impossible


def test_principal_moments_are_shown():
    text, _ = link_finding((1.0, 0.0, 0.0, 5.0, 0.0, 1.5))
    assert '1, 1.5, 5 kg m^2' in text


def test_a_rotational_inertia_without_mass_is_impossible():
    text, impossible = link_finding((1.0, 0.0, 0.0, 1.0, 0.0, 1.0), mass=0.0)
    assert 'no mass' in text
    assert impossible


def test_a_link_without_inertial_or_with_nothing_in_it_is_no_finding():
    assert audit(RobotDescription('r', (LinkDescription('frame'),), ())) == ()
    assert link_finding((0.0,) * 6, mass=0.0) is None


# ---- joints -----------------------------------------------------------------------------------


@pytest.mark.parametrize('kind', [
    JointType.REVOLUTE, JointType.CONTINUOUS, JointType.PRISMATIC, JointType.PLANAR,
    JointType.FLOATING, JointType.FIXED])
def test_a_joint_with_all_limits_is_no_finding(kind):
    assert joint_findings(kind) == []


@pytest.mark.parametrize('kind, limits, words', [
    (JointType.REVOLUTE, JointLimits(-1.0, 1.0), ['not clamped']),
    (JointType.PRISMATIC, JointLimits(-1.0, 1.0), ['not clamped']),
    (JointType.CONTINUOUS, JointLimits(), ['not clamped']),
    (JointType.CONTINUOUS, JointLimits(effort=0.0), ['clamped to nothing']),
    (JointType.REVOLUTE, JointLimits(-1.0, 1.0, effort=0.0), ['clamped to nothing']),
    (JointType.REVOLUTE, JointLimits(effort=3.0), ['no position limits']),
    (JointType.REVOLUTE, JointLimits(lower=-1.0, effort=3.0), ['no position limits']),
    (JointType.PRISMATIC, JointLimits(upper=1.0, effort=3.0), ['no position limits']),
    (JointType.REVOLUTE, JointLimits(), ['not clamped', 'no position limits']),
    (JointType.PLANAR, JointLimits(), []),
    (JointType.FLOATING, JointLimits(), []),
    (JointType.FIXED, JointLimits(), []),
])
def test_limits_that_are_missing_or_zero_are_found(kind, limits, words):
    texts = joint_findings(kind, limits=limits)
    assert len(texts) == len(words)
    for text, part in zip(texts, words):
        assert part in text


@pytest.mark.parametrize('effort', [0.0, float('inf')])
def test_a_mimic_joint_is_sent_nothing_and_needs_no_effort_limit(effort):
    limits = JointLimits(-1.0, 1.0, effort=effort)
    assert joint_findings(limits=limits, mimic=Mimic('other')) == []


def test_coulomb_friction_is_found():
    assert joint_findings(friction=0.25) == ['its Coulomb friction of 0.25 is not compensated']


# ---- whole robots -----------------------------------------------------------------------------


def test_findings_name_links_first_in_the_order_of_the_description():
    heavy = Inertial(1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 9.0))
    links = tuple(LinkDescription(name, heavy) for name in 'cab')
    joints = (JointDescription('y', JointType.CONTINUOUS, 'c', 'a'),
              JointDescription('x', JointType.CONTINUOUS, 'a', 'b'))
    subjects = [finding.subject for finding in audit(RobotDescription('r', links, joints))]
    assert subjects == ["link 'c'", "link 'a'", "link 'b'", "joint 'y'", "joint 'x'"]


@pytest.mark.parametrize('text', [ARM, ARM_WITH_GRIPPER, ROVER])
def test_a_sound_robot_has_no_findings(text):
    assert audit(parse_urdf(text)) == ()


def test_a_finding_reads_as_a_sentence_about_its_subject():
    assert str(Finding("joint 'a'", 'it squeaks')) == "joint 'a': it squeaks"
    assert not Finding('x', 'y').impossible
