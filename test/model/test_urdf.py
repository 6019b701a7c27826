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
"""What a URDF's text becomes, and what is said of one that is wrong."""

from copy import deepcopy
from dataclasses import replace
from math import inf, pi
from pathlib import Path
import re
from xml.etree import ElementTree

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.errors import ArgumentError, DescriptionError, ModelWarning
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from ros2_rnea.model.urdf import parse_urdf, read_urdf, unread, unusable
from ros2_rnea.spatial import rotation_from_rpy
from scipy.spatial.transform import Rotation
from urdf_parser_py import urdf

FIXTURES = Path(__file__).parent / 'urdf'


def fixture_text(name):
    return (FIXTURES / f'{name}.urdf').read_text(encoding='utf-8')


def arm_with(old, new):
    """Return the arm's URDF with one thing changed, which stands there exactly once."""
    text = fixture_text('arm')
    assert text.count(old) == 1
    return text.replace(old, new)


def message_of(text):
    with pytest.raises(DescriptionError) as error:
        parse_urdf(text)
    return str(error.value)


# ---- What is read ---------------------------------------------------------------------------


def test_every_value_is_read():
    assert parse_urdf(fixture_text('arm')) == RobotDescription(
        name='arm',
        links=(
            LinkDescription('base'),
            LinkDescription('upper_arm', Inertial(
                mass=2.5,
                origin=Pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)),
                inertia=(0.11, 0.12, 0.13, 0.22, 0.23, 0.33))),
            LinkDescription('forearm', Inertial(1.0, Pose(), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01))),
            LinkDescription('finger'),
            LinkDescription('thumb'),
        ),
        joints=(
            JointDescription(
                'shoulder', JointType.REVOLUTE, 'base', 'upper_arm',
                origin=Pose((1.0, 2.0, 3.0), (-1.0, -2.0, -3.0)),
                axis=(0.0, 0.0, 2.0),
                limits=JointLimits(lower=-1.5, upper=2.5, velocity=3.0, effort=150.0),
                damping=0.7,
                friction=0.8),
            JointDescription(
                'elbow', JointType.CONTINUOUS, 'upper_arm', 'forearm',
                axis=(0.0, 1.0, 0.0),
                limits=JointLimits(velocity=4.0, effort=28.0)),
            JointDescription(
                'grip', JointType.PRISMATIC, 'forearm', 'finger',
                limits=JointLimits(lower=0.0, upper=0.04, velocity=0.2, effort=20.0)),
            JointDescription(
                'grip_too', JointType.PRISMATIC, 'forearm', 'thumb',
                mimic=Mimic('grip', multiplier=-1.5, offset=0.01)),
        ))


def test_what_is_left_out_has_the_default_of_urdf():
    description = parse_urdf(fixture_text('all_left_out'))
    bare, empty, half = description.joints
    assert bare == JointDescription('bare', JointType.REVOLUTE, 'base', 'a')
    assert bare.axis == (1.0, 0.0, 0.0)
    assert bare.limits == JointLimits(-inf, inf, inf, inf)
    assert empty == JointDescription(
        'empty', JointType.PRISMATIC, 'a', 'b', mimic=Mimic('bare', 1.0, 0.0))
    assert half == JointDescription(
        'half', JointType.REVOLUTE, 'b', 'c', origin=Pose(xyz=(1.0, 2.0, 3.0)),
        limits=JointLimits(upper=1.0, effort=5.0), friction=0.5, mimic=Mimic('bare', 1.0, 0.5))
    assert description.links[1].inertial.origin == Pose()


@pytest.mark.parametrize('label, joint_type', [
    ('fixed', JointType.FIXED),
    ('revolute', JointType.REVOLUTE),
    ('continuous', JointType.CONTINUOUS),
    ('prismatic', JointType.PRISMATIC),
    ('planar', JointType.PLANAR),
    ('floating', JointType.FLOATING),
])
def test_every_joint_type_is_read(label, joint_type):
    text = arm_with('name="shoulder" type="revolute"', f'name="shoulder" type="{label}"')
    assert parse_urdf(text).joints[0].type is joint_type


def test_lower_and_upper_mean_nothing_but_for_revolute_and_prismatic():
    text = arm_with('lower="-1" upper="1"', 'lower="1" upper="-1"')
    assert parse_urdf(text).joints[1].limits == JointLimits(velocity=4.0, effort=28.0)


RIGHT_ANGLE = 0.5 * pi


@pytest.mark.parametrize('pitch', [
    *np.linspace(-1.5, 1.5, 7), RIGHT_ANGLE, -RIGHT_ANGLE, RIGHT_ANGLE - 1e-9, 1e-7 - RIGHT_ANGLE])
def test_a_quaternion_is_the_same_rotation(pitch):
    """Compared with SciPy, also where roll and yaw turn about nearly the same axis."""
    for roll, yaw in np.random.default_rng(3).uniform(-pi, pi, (50, 2)):
        turn = Rotation.from_euler('xyz', [roll, pitch, yaw])
        text = ' '.join(map(repr, (1.0005 * turn.as_quat()).tolist()))
        shoulder = parse_urdf(arm_with(
            SHOULDER_ORIGIN, f'<origin xyz="1 2 3" quat_xyzw="{text}"/>')).joints[0]
        assert shoulder.origin.xyz == (1.0, 2.0, 3.0)
        rotation = rotation_from_rpy(*shoulder.origin.rpy)
        rows = [(row.x, row.y, row.z) for row in rotation.rows]
        assert np.array(rows) == pytest.approx(turn.as_matrix(), abs=1e-14)


def test_the_quaternion_of_an_inertia_is_read_too():
    text = fixture_text('arm')
    turn = Rotation.from_euler('xyz', [0.4, 0.5, 0.6])
    quaternion = ' '.join(map(repr, turn.as_quat().tolist()))
    turned = text.replace('rpy="0.4 0.5 0.6"', f'quat_xyzw="{quaternion}"')
    assert turned != text
    inertial = parse_urdf(turned).links[1].inertial
    assert inertial.origin.rpy == pytest.approx((0.4, 0.5, 0.6), abs=1e-14)


CLOSED = [
    ('<loop_joint name="pin" type="continuous"><link1 link="forearm" xyz="0 0 1"/>'
     '<link2 link="thumb"/><axis xyz="0 -1 0"/></loop_joint>', 'loop_joint'),
    ('<gazebo><joint name="pin" type="revolute"><parent>forearm</parent><child> thumb</child>'
     '</joint></gazebo>', 'gazebo'),
    ('<constraint name="pin" type="revolute"><parent link="forearm"/><child link="thumb"/>'
     '</constraint>', 'constraint')]


@pytest.mark.parametrize('closing, tag', CLOSED)
def test_what_closes_a_loop_is_read_and_warned_about(closing, tag):
    text = arm_with('</robot>', f'{closing}</robot>')
    description = parse_urdf(text)
    said = f"<{tag}> 'pin' between 'forearm' and 'thumb' closes a loop, which is left open"
    assert description.open_loops == (said,)
    assert replace(description, open_loops=()) == parse_urdf(fixture_text('arm'))
    with pytest.warns(ModelWarning, match='several times too large') as warned:
        Robot.from_urdf(text, massless_links=['finger', 'thumb'])
    [warning] = warned
    assert said in str(warning.message) and Path(warning.filename).name == Path(__file__).name


@pytest.mark.parametrize('links', [
    '<parent>world</parent><child>base</child>',
    '<parent>forearm</parent><child>lens</child>'], ids=['to the world', 'of another link'])
def test_a_joint_of_a_simulator_to_what_is_no_link_here_closes_no_loop(links):
    closing = f'<gazebo><link name="lens"/><joint name="pin" type="fixed">{links}</joint></gazebo>'
    assert parse_urdf(arm_with('</robot>', f'{closing}</robot>')).open_loops == ()


def test_a_path_is_not_taken_for_a_description():
    assert 'its text is needed' in message_of('robots/arm.urdf')
    with pytest.raises(ArgumentError, match='not of str; Robot.from_urdf reads the text'):
        Robot('robots/arm.urdf')


def test_names_stay_as_written():
    text = fixture_text('arm').replace('"grip"', '" grip &amp; &lt;1&gt; "')
    assert parse_urdf(text).joints[2].name == ' grip & <1> '


def test_what_dynamics_does_not_need_may_be_nonsense(capfd):
    assert parse_urdf(fixture_text('nonsense_around_dynamics')) == RobotDescription(
        name='arm',
        links=(
            LinkDescription('base'),
            LinkDescription('tip', Inertial(1.0, Pose(), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))),
        ),
        joints=(
            JointDescription(
                'hinge', JointType.REVOLUTE, 'base', 'tip', axis=(0.0, 0.0, 1.0),
                limits=JointLimits(velocity=1.0, effort=5.0)),
        ))
    assert capfd.readouterr() == ('', ''), 'urdf_parser_py had a reason to print a warning'


# ---- What is refused, and how ---------------------------------------------------------------


@pytest.mark.parametrize('root', ['sdf', 'mujoco', 'Robot', 'xacro:macro'])
def test_another_root_element_is_named(root):
    assert f'root element is <{root}>; a URDF has <robot>' in message_of(f'<{root} name="r"/>')


SHOULDER_ORIGIN = '<origin xyz="1 2 3" rpy="-1 -2 -3"/>'
SHOULDER_AXIS = '<axis xyz="0 0 2"/>'
SHOULDER_LIMIT = '<limit lower="-1.5" upper="2.5" effort="150" velocity="3"/>'
SHOULDER_DYNAMICS = '<dynamics damping="0.7" friction="0.8"/>'
MIMIC = '<mimic joint="grip" multiplier="-1.5" offset="0.01"/>'
UPPER_ARM_ORIGIN = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'
UPPER_ARM_MASS = '<mass value="2.5"/>'
UPPER_ARM_INERTIA = '<inertia ixx="0.11" ixy="0.12" ixz="0.13" iyy="0.22" iyz="0.23" izz="0.33"/>'


@pytest.mark.parametrize('old, new, message', [
    ('name="arm"', '', 'robot has no name: a name of 1 to 200 characters is needed'),
    ('<link name="finger"/>', '<link/>', 'link number 4 has no name'),
    ('<link name="finger"/>', '<link name=""/>', "link number 4 has name='': a name of 1 to 200"),
    ('<link name="finger"/>', '<link name=" "/>', "link ' ' has name=' ': a name of 1 to 200"),
    ('<link name="finger"/>', f'<link name="{"x" * 201}"/>', 'a name of 1 to 200 characters'),
    ('<joint name="elbow" ', '<joint ', 'joint number 2 has no name'),
    (' type="continuous"', '', "joint 'elbow' has no type: one of fixed, revolute, continuous, "
                               'prismatic, planar, floating is needed'),
    ('"continuous"', '"hinge"', "joint 'elbow' has type='hinge': one of fixed, revolute,"),
    ('"continuous"', '"unknown"', "joint 'elbow' has type='unknown': one of fixed,"),
    ('<parent link="base"/>', '<parent/>', "joint 'shoulder' <parent> has no link: a name"),
    ('<child link="thumb"/>', '<child link=""/>', "joint 'grip_too' <child> has link='': a name"),
    (SHOULDER_AXIS, '<axis/>', "joint 'shoulder' <axis> has no xyz: three finite decimal"),
    (UPPER_ARM_MASS, '<mass/>', "link 'upper_arm' <inertial> <mass> has no value: a finite"),
    (' izz="0.33"', '', "link 'upper_arm' <inertial> <inertia> has no izz: a finite decimal"),
    (' joint="grip"', '', "joint 'grip_too' <mimic> has no joint: a name"),
    (SHOULDER_ORIGIN, '<origin quat_xyzw="0 0 1"/>',
     "joint 'shoulder' <origin> has quat_xyzw='0 0 1': four numbers x y z w are needed"),
    (SHOULDER_ORIGIN, '<origin quat_xyzw="0 0 0 0"/>', "has quat_xyzw='0 0 0 0': four numbers"),
    (SHOULDER_ORIGIN, '<origin quat_xyzw="0 0 0.7 0.8"/>', 'of length 1, such as "0 0 0 1"'),
    (SHOULDER_ORIGIN, '<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>',
     "joint 'shoulder' <origin> has rpy and quat_xyzw: one rotation is needed, not two"),
])
def test_a_wrong_attribute_is_named_with_what_would_do(old, new, message):
    assert message in message_of(arm_with(old, new))


NUMBERS = [
    ('"0.11"', "link 'upper_arm' <inertial> <inertia> has ixx="),
    ('"2.5"/>', "link 'upper_arm' <inertial> <mass> has value="),
    ('"0.7"', "joint 'shoulder' <dynamics> has damping="),
    ('"0.01"/>\n  </joint>', "joint 'grip_too' <mimic> has offset="),
]
BOUNDS = [
    ('"-1.5" upper', "joint 'shoulder' <limit> has lower="),
    ('"150"', "joint 'shoulder' <limit> has effort="),
]
NOT_PLAIN = [
    '', ' ', 'one', '1_0', '0x10', 'nan', '1e999', '1,5', '1 2', '1.5f', '--1', '.', '1e', '١',
    '1' * 400,
]


@pytest.mark.parametrize('old, where, value', [
    *((*number, value) for number in [*NUMBERS, *BOUNDS] for value in NOT_PLAIN),
    *((*number, value) for number in NUMBERS for value in ('inf', '-inf')),
    *((*bound, value) for bound in BOUNDS for value in ('info', '--inf', 'inf inf')),
])
def test_only_plain_finite_numbers_are_numbers(old, where, value):
    message = message_of(arm_with(old, old.replace(re.match('"[^"]*"', old)[0], f'"{value}"')))
    assert f'{where}{value[:80]!r}'[:-1] in message
    assert 'a finite decimal number is needed' in message


@pytest.mark.parametrize('value', [
    '', '1 2', '1 2 3 4', '1 2 x', '1, 2, 3', '1 2 nan', '1 2 1e400'])
@pytest.mark.parametrize('old, where', [
    ('xyz="0.1 0.2 0.3"', "link 'upper_arm' <inertial> <origin> has xyz="),
    ('rpy="-1 -2 -3"', "joint 'shoulder' <origin> has rpy="),
    ('xyz="0 0 2"', "joint 'shoulder' <axis> has xyz="),
])
def test_only_three_plain_finite_numbers_are_a_vector(old, where, value):
    message = message_of(arm_with(old, f'{old[:3]}="{value}"'))
    assert f'{where}{value!r}: three finite decimal numbers are needed' in message


def test_the_limits_of_urdf_1_2_are_read():
    text = arm_with(SHOULDER_LIMIT, SHOULDER_LIMIT.replace(
        '/>', ' acceleration="4" deceleration="3.5" jerk="20"/>'))
    description = parse_urdf(text)
    plain = parse_urdf(fixture_text('arm'))
    assert description.joints[0].limits == replace(
        plain.joints[0].limits, acceleration=4.0, deceleration=3.5, jerk=20.0)
    assert description.joints[1:] == plain.joints[1:]
    assert list(unread(text)) == []
    wrong = text.replace('jerk="20"', 'jerk="soft"')
    assert parse_urdf(wrong).joints[0].limits == replace(description.joints[0].limits, jerk=inf)
    assert list(unusable(wrong)) == [(
        "joint 'shoulder'", "its <limit> has jerk='soft', which counts as none: write a number")]


@pytest.mark.parametrize('lower, upper', [
    ('-inf', 'inf'), ('-INF', ' +Infinity'), ('-infinity', 'inf')])
def test_an_infinite_limit_is_none(lower, upper):
    text = arm_with(SHOULDER_LIMIT, f'<limit lower="{lower}" upper="{upper}" effort="inf"/>')
    assert parse_urdf(text).joints[0].limits == JointLimits()
    assert [where for where, _ in unusable(text)] == 3 * ["joint 'shoulder'"]
    assert [said for _, said in unusable(text)] == [
        f'its <limit> has {name}={value!r}, which other ROS parsers refuse: write a number'
        for name, value in (('lower', lower), ('upper', upper), ('effort', 'inf'))]


@pytest.mark.parametrize('element, said', [
    ('<axis/>', '<axis> has no xyz'),
    ('<axis xyz="up"/>', "<axis> has xyz='up'"),
    ('<limit lower="low" effort="1,5"/>', "<limit> has lower='low'"),
    ('<limit/><limit/>', 'has 2 <limit>'),
    ('<dynamics damping="soft"/>', "<dynamics> has damping='soft'"),
    ('<mimic/>', '<mimic> has no joint'),
])
def test_what_a_fixed_joint_does_not_need_is_no_error(element, said):
    text = fixture_text('arm')
    fixed = '<link name="lens"/><joint name="glue" type="fixed"><parent link="thumb"/>' \
        f'<child link="lens"/>{element}</joint></robot>'
    description = parse_urdf(text.replace('</robot>', fixed))
    assert description.joints[-1] == JointDescription('glue', JointType.FIXED, 'thumb', 'lens')
    assert all(where == "joint 'glue'" for where, _ in unusable(text.replace('</robot>', fixed)))
    assert f"joint 'glue' {said}" in next(unusable(text.replace('</robot>', fixed)))[1]
    moving = fixed.replace('"fixed"', '"continuous"')
    assert f"joint 'glue' {said}" in message_of(text.replace('</robot>', moving))


def test_nothing_unusable_is_found_in_a_plain_text():
    assert list(unusable(fixture_text('arm'))) == []


def test_all_that_is_wrong_is_named_and_the_rest_is_read():
    text = fixture_text('arm').replace(' name="arm"', '').replace('"2.5"/>', '"heavy"/>').replace(
        '"continuous"', '"hinge"').replace('damping="0.7" friction="0.8"', 'damping="x"')
    description, errors = read_urdf(text)
    assert len(errors) == 4
    for error, words in zip(errors, [
            'robot has no name', "<mass> has value='heavy'", "damping='x'",
            "'elbow' has type='hinge'"]):
        assert words in error
    assert [link.name for link in description.links] == ['base', 'forearm', 'finger', 'thumb']
    assert [joint.name for joint in description.joints] == ['grip', 'grip_too']
    assert message_of(text) == errors[0]


def test_a_number_may_have_space_around_it():
    assert parse_urdf(arm_with('"2.5"/>', '" 2.5\n"/>')).links[1].inertial.mass == 2.5


def test_a_vector_may_be_spaced_as_it_likes():
    text = arm_with('xyz="1 2 3"', 'xyz="  1\n\t 2  &#10; 3 "')
    assert parse_urdf(text).joints[0].origin.xyz == (1.0, 2.0, 3.0)


@pytest.mark.parametrize('element, where', [
    (SHOULDER_ORIGIN, "joint 'shoulder' has 2 <origin>"),
    ('<parent link="base"/>', "joint 'shoulder' has 2 <parent>"),
    ('<child link="upper_arm"/>', "joint 'shoulder' has 2 <child>"),
    (SHOULDER_AXIS, "joint 'shoulder' has 2 <axis>"),
    (SHOULDER_LIMIT, "joint 'shoulder' has 2 <limit>"),
    (SHOULDER_DYNAMICS, "joint 'shoulder' has 2 <dynamics>"),
    (MIMIC, "joint 'grip_too' has 2 <mimic>"),
    (UPPER_ARM_ORIGIN, "link 'upper_arm' <inertial> has 2 <origin>"),
    (UPPER_ARM_MASS, "link 'upper_arm' <inertial> has 2 <mass>"),
    (UPPER_ARM_INERTIA, "link 'upper_arm' <inertial> has 2 <inertia>"),
])
def test_an_element_that_stands_twice_is_refused(element, where):
    message = message_of(arm_with(element, element + element))
    assert f'{where}, where one is' in message
    assert 'urdfdom takes the first' in message


def test_a_second_inertial_is_refused():
    text = arm_with('<link name="finger"/>', '<link name="finger"><inertial/><inertial/></link>')
    assert "link 'finger' has 2 <inertial>, where one is allowed" in message_of(text)


@pytest.mark.parametrize('element, where', [
    ('<parent link="base"/>', "joint 'shoulder' has no <parent>"),
    ('<child link="thumb"/>', "joint 'grip_too' has no <child>"),
    (UPPER_ARM_MASS, "link 'upper_arm' <inertial> has no <mass>"),
    (UPPER_ARM_INERTIA, "link 'upper_arm' <inertial> has no <inertia>"),
])
def test_a_needed_element_that_is_missing_is_refused(element, where):
    assert f'{where}, where one is needed' in message_of(arm_with(element, ''))


@pytest.mark.parametrize('old, new, message', [
    ('name="arm"', 'name="$(arg name)"', "robot has name='$(arg name)'"),
    ('<link name="base"/>', '<xacro:arm/>', 'robot has xacro:arm'),
    (SHOULDER_AXIS, '<xacro:if value="1"/>', "joint 'shoulder' has xacro:if"),
    (UPPER_ARM_MASS, '<xacro:box mass="1"/>', "link 'upper_arm' <inertial> has xacro:box"),
    ('"2.5"/>', '"${mass}"/>', "link 'upper_arm' <inertial> <mass> has value='${mass}'"),
    ('<link name="finger"/>', '<link name="${prefix}finger"/>', "has name='${prefix}finger'"),
    (SHOULDER_AXIS, '<axis xyz="0 0 1" xacro:x=""/>', "joint 'shoulder' <axis> has xacro:x"),
])
def test_xacro_that_was_not_expanded_is_named(old, new, message):
    complaint = message_of(arm_with(old, new))
    assert 'xacro was not expanded, run xacro first' in complaint
    assert message in complaint


def test_a_whole_xacro_file_is_refused_as_such():
    message = message_of(fixture_text('xacro_not_expanded'))
    assert message == 'xacro was not expanded, run xacro first: robot has xacro:include'


@pytest.mark.parametrize('text, message', [
    ('<robot name="r"/>', "robot 'r' has no links; one is needed"),
    (arm_with('damping="0.7"', 'damping="-3"'), "joint 'shoulder' has the damping -3.0"),
], ids=['no links', 'damping'])
def test_what_check_description_refuses_is_refused(text, message):
    assert message in message_of(text)


def test_a_message_is_one_short_line_whatever_the_text():
    text = arm_with('xyz="0 0 2"', f'xyz="&#10;{"1 " * 100_000}"')
    assert len(message_of(text)) < 300
    assert '\n' not in message_of(text)


# ---- urdf_parser_py, which is behind it all -------------------------------------------------


@pytest.mark.parametrize('raised', [AssertionError('x'), AttributeError('x'), KeyError('x')])
def test_whatever_urdf_parser_py_raises_has_a_name(monkeypatch, raised):
    def fail(text):
        raise raised

    monkeypatch.setattr(urdf.Robot, 'from_xml_string', fail)
    assert message_of(fixture_text('arm')).startswith('urdf_parser_py cannot read the robot: ')


@pytest.mark.parametrize('kind', ['link', 'joint'])
def test_a_part_that_urdf_parser_py_loses_is_noticed(monkeypatch, kind):
    robot = urdf.Robot.from_xml_string(fixture_text('all_left_out').replace('limit', 'nothing'))
    getattr(robot, f'{kind}s').pop()
    monkeypatch.setattr(urdf.Robot, 'from_xml_string', lambda text: robot)
    assert f'has lost a {kind}' in message_of(fixture_text('all_left_out'))


# ---- Random damage --------------------------------------------------------------------------


WORDS = [
    '', ' ', '0', '-1', '1e999', 'nan', '1 2 3', '0 0 0', '${x}', 'ä', 'x' * 300, 'a\nb', 'base',
    'thumb', 'grip', 'elbow', 'planar', 'fixed', 'floating', 'xacro:if', 'link', 'origin', 'limit',
]
MARKUP = [
    '', '<', '>', '"', '/', '&', '&#0;', '\0', '\ud800', '<!--', ']]>', '<!DOCTYPE a>', '<axis/>',
    '<inertial/>', '</robot>', '<robot>', '<joint name="j" type="fixed">', '<link name="base"/>',
]


@st.composite
def arms_with_damaged_elements(draw):
    """Draw the arm's URDF with a few elements lost, repeated, moved, renamed or changed."""
    root = ElementTree.fromstring(fixture_text('arm'))
    for _ in range(draw(st.integers(1, 4))):
        parent = draw(st.sampled_from([element for element in root.iter() if len(element)]))
        child = draw(st.sampled_from(list(parent)))
        damage = draw(st.sampled_from(['lose', 'repeat', 'move', 'rename', 'forget', 'change']))
        if damage in ('lose', 'move'):
            parent.remove(child)
        if damage in ('repeat', 'move'):
            # A copy, for an element must not come to stand in itself.
            draw(st.sampled_from(list(root.iter()))).append(deepcopy(child))
        if damage == 'rename':
            child.tag = draw(st.sampled_from([word for word in WORDS if word.isidentifier()]))
        if damage in ('forget', 'change') and child.attrib:
            name = draw(st.sampled_from(sorted(child.attrib)))
            child.attrib.pop(name)
            if damage == 'change':
                child.set(name, draw(st.sampled_from(WORDS)))
        if not len(root):
            break
    return ElementTree.tostring(root, encoding='unicode')


@st.composite
def arms_with_damaged_text(draw):
    """Draw the arm's URDF with a few pieces of its text replaced, whatever they are."""
    text = fixture_text('arm')
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.sampled_from([0, 1, 10, len(text)]))
        text = text[:start] + draw(st.sampled_from(WORDS + MARKUP)) + text[start + length:]
    return text


@settings(max_examples=500)
@given(arms_with_damaged_elements() | arms_with_damaged_text())
def test_a_damaged_text_is_read_or_refused_by_name(text):
    try:
        description = parse_urdf(text)
    except DescriptionError as error:
        assert str(error)
    else:
        assert isinstance(description, RobotDescription)
