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
"""What of a URDF nothing reads, and what is probably misspelt."""

import pytest
from ros2_rnea.model.urdf import unread
from ros2_rnea.offline.audit.spelling import text_findings
from small_robots import ARM, ARM_WITH_GRIPPER

LINK = '<link name="a"/><link name="b"/>'
TIES = '<parent link="a"/><child link="b"/>'


def joint(content='', attributes=''):
    return (f'<robot name="r">{LINK}<joint name="j" type="continuous"{attributes}>'
            f'{TIES}{content}</joint></robot>')


def found(text):
    return [(finding.kind.name, finding.subject, finding.text)
            for finding in text_findings(text)]


@pytest.mark.parametrize('content, subject, words', [
    ('<limit efort="3"/>', "joint 'j' <limit>", "efort, which is not read; did you mean 'effo"),
    ('<origin xzy="0 0 1"/>', "joint 'j' <origin>", "did you mean 'xyz'"),
    ('<origin rpi="0 0 1"/>', "joint 'j' <origin>", "did you mean 'rpy'"),
    ('<dynamics dampng="3"/>', "joint 'j' <dynamics>", "did you mean 'damping'"),
    ('<mimic joint="k" mutliplier="3"/>', "joint 'j' <mimic>", "did you mean 'multiplier'"),
    ('<limits effort="3"/>', "joint 'j'", "<limits>, which is not read; did you mean 'limit'"),
    ('<dynamic damping="3"/>', "joint 'j'", "did you mean 'dynamics'"),
])
def test_a_misspelt_name_is_found_with_what_was_meant(content, subject, words):
    [(kind, where, text)] = found(joint(content))
    assert (kind, where) == ('MISSPELT', subject)
    assert words in text


def test_an_inertia_outside_of_inertial_is_found():
    [(kind, where, text)] = found(
        '<robot name="r"><link name="a"><inertia ixx="1"/></link></robot>')
    assert (kind, where) == ('MISSPELT', "link 'a'")
    assert "did you mean 'inertial'" in text


def test_attributes_that_nobody_reads_are_one_note_for_each_element():
    assert found(joint('<dynamics damping="1" mu_coulomb="0" K="7000"/>')) == [
        ('UNREAD', "joint 'j' <dynamics>", 'its attributes mu_coulomb, K are not read')]


def test_a_name_like_another_present_one_is_only_unread():
    [(kind, _, _)] = found(joint('<limit effort="3" command_effort="2"/>'))
    assert kind == 'UNREAD'


@pytest.mark.parametrize('text', [
    ARM, ARM_WITH_GRIPPER,
    joint('<limit effort="3"/><limits effort="3"/>'),
    joint('<calibration rising="0"/><safety_controller k_velocity="1"/>'),
    f'<robot name="r" xmlns:xacro="http://x"><gazebo/><material name="m"/>{LINK}'
    f'<joint name="j" type="fixed">{TIES}</joint></robot>',
    '<robot name="r"><link name="a"><visual><geometry/></visual><collision/></link></robot>',
])
def test_what_others_read_is_no_finding(text):
    assert found(text) == []


def test_the_second_of_several_elements_is_named():
    text = '<robot name="r"><link name="a"/><link name="b"><inertial kind="x"/></link></robot>'
    assert list(unread(text)) == [("link 'b' <inertial>", 'kind', False, [])]


def test_unknown_elements_of_a_robot_are_one_note_with_their_names():
    text = f'<robot name="r"><drake:bush/><frame/>{LINK}<frame/><gazebo/></robot>'
    assert found(text) == [('UNREAD', 'robot', 'its elements <drake:bush>, <frame> are not read')]


@pytest.mark.parametrize('version, kinds', [('1.0', []), ('1.2', []), ('9.0', ['UNREAD'])])
def test_an_unknown_version_is_noted(version, kinds):
    assert [kind for kind, *_ in found(f'<robot name="r" version="{version}"/>')] == kinds
