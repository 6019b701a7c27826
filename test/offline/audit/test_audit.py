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
"""The audit of whole robots."""

from __future__ import annotations

from cProfile import Profile
from functools import partial
from math import inf

from example_robots import example_urdf
from hypothesis import given, strategies as st
import numpy as np
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
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.audit import audit, examine, Finding, Kind, Severity
from small_robots import ARM, ROVER


def found_in(path, severity=Severity.SUSPICIOUS):
    """Return subjects by the kind of finding, for one of the example robots."""
    text = example_urdf(path)
    found: dict[str, list[str]] = {}
    for finding in audit(parse_urdf(text), text):
        if finding.severity >= severity:
            found.setdefault(finding.kind.name, []).append(finding.subject)
    return found


@pytest.mark.parametrize('text', [ARM, ROVER])
def test_a_sound_robot_has_nothing_but_notes(text):
    assert {finding.severity for finding in audit(parse_urdf(text), text)} <= {Severity.NOTE}


def test_the_worst_comes_first_then_the_order_of_the_description():
    def link(name, moment):
        return LinkDescription(name, Inertial(1.0, inertia=(0.5, 0.0, 0.0, 0.5, 0.0, moment)))

    links = (LinkDescription('c'), link('b', 0.5), link('a', 9.0), link('d', 9.0))
    joints = (JointDescription('y', JointType.CONTINUOUS, 'c', 'b'),
              JointDescription('x', JointType.CONTINUOUS, 'b', 'a'),
              JointDescription('z', JointType.CONTINUOUS, 'b', 'd'))
    findings = audit(RobotDescription('r', links, joints))
    assert [finding.subject for finding in findings if finding.severity > Severity.NOTE] == [
        "link 'a'", "link 'd'", "link 'b'", "joint 'y'", "joint 'x'", "joint 'z'"]
    assert [finding.severity for finding in findings] == sorted(
        (finding.severity for finding in findings), reverse=True)


def test_a_finding_reads_as_a_sentence_about_its_subject():
    finding = Finding(Kind.INERTIA_TRIANGLE, "link 'a'", 'it squeaks')
    assert str(finding) == "link 'a': it squeaks"
    assert finding.impossible
    assert not Finding(Kind.TOO_LIGHT, 'x', 'y').impossible


def test_every_severity_says_what_it_means():
    assert len({severity.meaning for severity in Severity}) == len(Severity)


def test_the_spelling_is_looked_at_where_there_is_a_text():
    text = ARM.replace('damping', 'dampng')
    assert 'MISSPELT' in {finding.kind.name for finding in audit(parse_urdf(text), text)}
    assert 'MISSPELT' not in {finding.kind.name for finding in audit(parse_urdf(text))}


EXTREMES = st.sampled_from([0.0, 1e-320, -1e-200, 1e-9, 1.0, -1.0, 1e9, -1e160, 1e308, -1e308])
BOUND = st.sampled_from([-inf, -1e308, -1e4, -1.0, 0.0, 1.0, 30.0, 1e308, inf])


@given(mass=EXTREMES.map(abs), inertia=st.tuples(*[EXTREMES] * 6), xyz=st.tuples(*[EXTREMES] * 3),
       rpy=st.tuples(*[EXTREMES] * 3), bounds=st.tuples(BOUND, BOUND),
       kind=st.sampled_from(list(JointType)))
def test_no_numbers_of_a_description_make_the_audit_fail(mass, inertia, xyz, rpy, bounds, kind):
    inertial = Inertial(mass, Pose(xyz, rpy), inertia)
    joint = JointDescription(
        'j', kind, 'a', 'b', origin=Pose(xyz, rpy), axis=(0.0, 1e50, 1e-50), pitch=0.1,
        limits=JointLimits(min(bounds), max(bounds)))
    links = (LinkDescription('a', inertial), LinkDescription('b', inertial))
    with np.errstate(all='ignore'):
        audit(RobotDescription('r', links, (joint,)))


# ---- real robots ------------------------------------------------------------------------------


def test_the_panda_has_nothing_but_notes():
    assert found_in('panda_description/urdf/panda.urdf') == {}
    assert {'ROOT_INERTIA', 'NO_GRAVITY', 'MIMIC', 'UNREAD'} == found_in(
        'panda_description/urdf/panda.urdf', Severity.NOTE).keys()


def test_the_wrists_of_the_old_ur5_are_too_light():
    assert found_in('ur_description/urdf/ur5_robot.urdf') == {
        'TOO_LIGHT': ["link 'wrist_1_link'", "link 'wrist_2_link'", "link 'wrist_3_link'"]}


def test_romeo_s_wrong_points_are_right_in_its_later_description():
    """Shifted, the shank's inertia is what another description of this robot has to begin with."""
    text = example_urdf('romeo_description/urdf/romeo.urdf')
    found = {finding.subject: finding.text for finding in audit(parse_urdf(text))
             if finding.kind is Kind.WRONG_POINT}
    assert len(found) == 10
    assert 'moment 0.055 kg m^2' in found["link 'LKneePitchLink'"]
    assert 'would be 0.0159' in found["link 'LKneePitchLink'"]
    laas = parse_urdf(example_urdf('romeo_description/urdf/romeo_laas_small.urdf'))
    [shank] = [link for link in laas.links if link.name == 'LKneePitch_link']
    assert max(shank.inertial.inertia) == pytest.approx(0.0159, rel=0.05)


def test_every_moving_part_of_human_without_inertial_is_named():
    assert len(found_in('human_description/robots/human.urdf')['NO_INERTIAL']) == 19


def calls_in(function, *arguments):
    """Return how many functions it calls: unlike the time, the same on every machine."""
    profile = Profile()
    profile.runcall(function, *arguments)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize('path, calls', [
    ('panda_description/urdf/panda.urdf', 58_000),
    ('talos_data/robots/talos_full_v2.urdf', 275_000),
])
def test_the_audit_is_quick_enough_for_a_node_s_start(path, calls):
    """It takes 9 ms for a Panda and 42 ms for a Talos, with two thirds of these calls."""
    text = example_urdf(path)
    description = parse_urdf(text)
    audit(description, text)  # once, for what is computed at the first time only
    assert calls_in(audit, description, text) < calls


def test_more_positions_take_no_more_calls_for_humanoid_loads():
    """Their positions are rows of arrays: a second of arithmetic, and not of Python."""
    description = parse_urdf(example_urdf('talos_data/robots/talos_full_v2.urdf'))
    few = partial(examine, samples=500)
    few(description)
    assert calls_in(examine, description) < 1.1 * calls_in(few, description)


def test_a_robot_with_very_many_joints_is_sampled_less():
    count = 1000
    links = tuple(LinkDescription(f'l{i}', Inertial(1.0)) for i in range(count + 1))
    joints = tuple(
        JointDescription(f'j{i}', JointType.CONTINUOUS, f'l{i}', f'l{i + 1}')
        for i in range(count))
    examination = examine(RobotDescription('snake', links, joints), samples=200)
    assert len(examination.loads.positions) == 10
