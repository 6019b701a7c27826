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
"""The file with identified parameters: what is read back, and that nothing else has changed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
import re

from comparison import assert_same
import numpy as np
from proof.robots import example_robots
import pytest
from random_robots import random_states
from ros2_rnea import Robot
from ros2_rnea.dynamics.pseudo_inertia import is_consistent
from ros2_rnea.errors import DescriptionError, RneaError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from urdf_coordinates import UrdfCoordinates

pytest.importorskip('scipy')
from ros2_rnea.offline.identification.urdf_file import (  # noqa: E402, I100
    decoded,
    with_parameters_of,
)

ROBOTS = example_robots()

# What the file may differ in, for documents whose comments have no such tags.
CHANGEABLE = re.compile(rb'\s*<inertial>.*?</inertial>|\s*<dynamics\b[^>]*/>', re.DOTALL)
EMPTY_LINK = re.compile(rb'(<link name="[^"]*")\s*(?:/>|>\s*</link>)')


def unchangeable(document: bytes) -> bytes:
    """Return a document without inertials and dynamics, and with one spelling of empty links."""
    return EMPTY_LINK.sub(rb'\1/>', CHANGEABLE.sub(b'', document))


def drawn_parameters(rng: np.random.Generator, present: np.ndarray, size: float) -> np.ndarray:
    """
    Return inertial parameters of bodies that can exist, at random.

    :param present: shape (10 bodies,), which the masses and sizes are near to.
    :param size: of the change, relative to what is present; 1 draws all anew.
    """
    drawn = []
    for m, hx, hy, hz, xx, xy, xz, yy, yz, zz in present.reshape(-1, 10):
        mass = (m or 0.1) * rng.uniform(0.7, 1.4)
        center = rng.normal(0.0, 0.05, 3) + (np.array([hx, hy, hz]) / m if m else 0.0)
        spread = rng.normal(0.0, 0.1, (3, 3))
        second = mass * (spread @ spread.T + np.outer(center, center))
        about_origin = np.trace(second) * np.eye(3) - second
        old = np.array([m, hx, hy, hz, xx, xy, xz, yy, yz, zz])
        new = np.array([mass, *(mass * center), *about_origin[np.triu_indices(3)]])
        drawn.append(size * new + (1.0 - size) * old)
    return np.concatenate(drawn)


def changed(robot: Robot, rng: np.random.Generator, size: float) -> Robot:
    """Return a robot with other inertias and another friction of its joints."""
    other = AdjustableRobot.of(robot.with_inertial_parameters(
        drawn_parameters(rng, robot.inertial_parameters, size)))
    for name in ('damping', 'friction'):
        other.set_joint_parameters(
            name, {joint: float(rng.uniform(0.0, 2.0)) for joint in robot.tree.joints})
    return other


@cache
def read(text: str, massless: tuple[str, ...] = ()) -> Robot:
    try:
        robot = Robot.from_urdf(text, massless_links=massless)
    except RneaError as error:
        pytest.skip(f'the package does not load it: {error}')
    if not robot.nv:
        pytest.skip('nothing moves')
    return robot


@pytest.mark.parametrize('size', [0.02, 1.0])
@pytest.mark.parametrize('example', ROBOTS, ids=lambda robot: robot.name)
def test_the_file_read_back_is_the_robot_otherwise_unchanged(example, size):
    robot = read(example.text, example.massless)
    rng = np.random.default_rng(len(example.name))
    identified = changed(robot, rng, size)
    document = example.text.encode()
    result = with_parameters_of(document, identified)
    assert unchangeable(result.document) == unchangeable(document)
    back = Robot.from_urdf(result.document.decode(), massless_links=example.massless)
    scale = np.abs(identified.inertial_parameters).reshape(-1, 10)
    errors = np.abs(back.inertial_parameters - identified.inertial_parameters).reshape(-1, 10)
    assert (errors[:, 0] <= 1e-12 * scale[:, 0]).all()
    assert (errors[:, 4:].max(axis=1) <= 1e-12 * scale[:, 4:].max(axis=1)).all()
    columns = UrdfCoordinates(example.text).columns
    q, qd, qdd = random_states(7, columns, 5)
    expected = identified.inverse_dynamics(q, qd, qdd)
    assert_same(back.inverse_dynamics(q, qd, qdd), expected)
    assert_other_reader_agrees(result.document.decode(), (q, qd, qdd), expected)


@pytest.mark.parametrize('example', ROBOTS, ids=lambda robot: robot.name)
def test_fewer_digits_are_those_that_count(example):
    robot = read(example.text, example.massless)
    identified = changed(robot, np.random.default_rng(5), 1.0)
    result = with_parameters_of(example.text.encode(), identified, digits=9)
    back = Robot.from_urdf(result.document.decode(), massless_links=example.massless)
    q, qd, qdd = random_states(7, UrdfCoordinates(example.text).columns, 5)
    expected = identified.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(
        back.inverse_dynamics(q, qd, qdd), expected, rtol=0.0,
        atol=1e-7 * max(1.0, float(np.abs(expected).max())))
    again = with_parameters_of(example.text.encode(), read(
        result.document.decode(), example.massless), digits=9)
    assert again.links == result.links


def test_what_rounding_leaves_beside_other_numbers_becomes_zero():
    document = TRAPS.format(encoding='UTF-8').encode()
    robot = Robot.from_urdf(document.decode())
    values = robot.inertial_parameters.copy()
    values[:10] = 1.0, 1e-17, 0.0, 0.123456789012, 0.5, 1e-18, 0.0, 0.5, -3e-19, 0.1234567890123
    exact, short = (with_parameters_of(
        document, robot.with_inertial_parameters(values), digits).document.decode()
        for digits in (17, 9))
    assert 'xyz="1e-17 0.0 0.123456789012"' in exact
    assert 'xyz="0.0 0.0 0.123456789"' in short
    assert not re.search(r'\de-1[5-9]', short)
    values[1:4] = -1.8e-37, 1.7e-37, 0.0  # a centre that is at the origin
    text = with_parameters_of(
        document, robot.with_inertial_parameters(values), 9).document.decode()
    assert 'e-37' not in text


def test_a_body_that_can_exist_does_so_with_fewer_digits():
    """A rod so thin that two digits would give it an inertia that no body has."""
    document = TRAPS.format(encoding='UTF-8').encode()
    robot = Robot.from_urdf(document.decode())
    values = robot.inertial_parameters.copy()
    values[:10] = 1.0, 0.0, 0.0, 0.0, 1.0049, 0.0, 0.0, 1.0049, 0.0, 2.0097
    text = with_parameters_of(
        document, robot.with_inertial_parameters(values), 2).document.decode()
    back = Robot.from_urdf(text)
    assert is_consistent(back.inertial_parameters[:10])


def assert_other_reader_agrees(text: str, states: tuple, expected: np.ndarray) -> None:
    pytest.importorskip('pinocchio')
    from pinocchio_oracle import PinocchioOracle
    assert_same(PinocchioOracle(text).inverse_dynamics(*states), expected, 'Pinocchio')


# ---- the text -----------------------------------------------------------------------------------

TRAPS = """<?xml version="1.0" encoding="{encoding}"?>
<!-- <link name="arm"><inertial><mass value="9"/></inertial></link> ä -->
<robot name="a &amp; b" note='a > b'>
\t<link name="base"/>
\t<link name = 'arm' >  <!-- <inertial/> -->
\t\t<visual><![CDATA[<inertial><mass value="7"/></inertial>]]></visual>
\t\t<inertial><!-- from <CAD> -->
\t\t\t<mass unit=">" value='1.0' />
\t\t\t<inertia ixx="1.00" ixy="0" ixz="0"
\t\t\t         iyy="1.00" iyz="0" izz="1.00"/>
\t\t</inertial> <!-- behind -->
\t</link>
\t<joint name="elbow" type="continuous">
\t\t<parent link="base"/><child link="arm"/>
\t</joint> <!-- <dynamics damping="3"/> -->
\t<gazebo reference="arm"><inertial><mass value="5"/></inertial></gazebo>
</robot>
<!-- end -->
"""


def with_mass_and_damping(document: bytes) -> bytes:
    """Return a document whose arm has mass 2, and whose elbow has damping 0.5."""
    text = decoded(document)
    robot = AdjustableRobot.of(
        Robot.from_urdf(text).with_inertial_parameters([2, 0, 0, 0, 1, 0, 0, 1, 0, 1]))
    robot.set_joint_parameters('damping', {'elbow': 0.5})
    result = with_parameters_of(document, robot)
    assert (result.links, result.joints, result.remarks) == (('arm',), ('elbow',), ())
    return result.document


def expected_of_traps(text: str, line: str) -> str:
    """Return what becomes of TRAPS, by replacing text that stands there once."""
    for old, new in (
            ("value='1.0'", "value='2.0'"),
            ('<child link="arm"/>',
             f'<child link="arm"/>{line}\t\t<dynamics damping="0.5" friction="0.0"/>')):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize('line', ['\n', '\r\n', '\r'])
@pytest.mark.parametrize('codec', ['utf-8', 'utf-8-sig'])
def test_comments_cdata_line_ends_and_encoding_stay(codec, line):
    text = TRAPS.format(encoding='UTF-8').replace('\n', line)
    found = with_mass_and_damping(text.encode(codec))
    assert found == expected_of_traps(text, line).encode(codec)


def test_blank_lines_before_the_declaration_stay():
    text = '\n \n' + TRAPS.format(encoding='UTF-8')
    assert with_mass_and_damping(text.encode()) == expected_of_traps(text, '\n').encode()


def test_a_file_in_one_line_stays_one():
    text = ('<robot name="r"><link name="base"/><link name="arm"/><joint name="elbow" '
            'type="continuous"><parent link="base"/><child link="arm"/></joint></robot>')
    robot = AdjustableRobot.of(Robot.from_urdf(text, massless_links=['arm'])
                               .with_inertial_parameters([2, 2, 0, 0, 1, 0, 0, 4, 0, 4]))
    robot.set_joint_parameters('friction', {'elbow': 3})
    assert with_parameters_of(text.encode(), robot).document.decode() == text.replace(
        '<link name="arm"/>',
        '<link name="arm"><inertial><origin xyz="1.0 0.0 0.0" rpy="0.0 0.0 0.0"/>'
        '<mass value="2.0"/><inertia ixx="1.0" ixy="0.0" ixz="0.0" iyy="2.0" iyz="0.0" izz="2.0"/>'
        '</inertial></link>').replace(
        '</joint>', '<dynamics damping="0.0" friction="3.0"/></joint>')


@pytest.mark.parametrize('link', ['<link name="arm"/>', '<link name="arm" />',
                                  '<link name="arm"></link>', '<link name="arm">\n  </link>'])
def test_an_inertial_is_added_with_the_indentation_of_the_file(link):
    text = f"""<robot name="r">
  <link name="base"/>
  {link}
  <joint name="elbow" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>"""
    robot = Robot.from_urdf(text, massless_links=['arm']).with_inertial_parameters(
        [2, 0, 0, 0, 1, 0, 0, 1, 0, 1])
    assert with_parameters_of(text.encode(), robot).document.decode() == text.replace(link, """\
<link name="arm">
    <inertial>
      <origin xyz="0.0 0.0 0.0" rpy="0.0 0.0 0.0"/>
      <mass value="2.0"/>
      <inertia ixx="1.0" ixy="0.0" ixz="0.0" iyy="1.0" iyz="0.0" izz="1.0"/>
    </inertial>
  </link>""")


def test_an_element_is_added_in_the_others_line():
    text = TRAPS.format(encoding='UTF-8').replace('\n\t\t<parent', '<parent').replace(
        '"arm"/>\n\t</joint>', '"arm"/></joint>')
    assert '<child link="arm"/><dynamics damping="0.5" friction="0.0"/></joint>' in (
        with_mass_and_damping(text.encode()).decode())


def test_numbers_that_rounding_alone_has_changed_keep_their_text():
    text = TRAPS.format(encoding='UTF-8')
    robot = Robot.from_urdf(text).with_inertial_parameters(
        [np.nextafter(1.0, 2.0), 0, 0, 0, 1, 0, 0, 1, 0, 2])
    assert with_parameters_of(text.encode(), robot).document.decode() == text.replace(
        'izz="1.00"', 'izz="2.0"')


def test_a_turned_inertia_frame_becomes_that_of_the_link():
    text = TRAPS.format(encoding='UTF-8').replace(
        '<mass unit', '<origin rpy="0 0.3 0" xyz="1 0 0"/><mass unit')
    found = with_mass_and_damping(text.encode()).decode()
    assert '<origin rpy="0.0 0.0 0.0" xyz="0.0 0.0 0.0"/><mass unit' in found


def test_a_quaternion_stays_where_its_inertial_does_and_goes_where_another_comes():
    text = TRAPS.format(encoding='UTF-8').replace(
        '<mass unit', '<origin quat_xyzw="0 0.6 0 0.8" xyz="1 0 0"/><mass unit')
    robot = Robot.from_urdf(text)
    assert with_parameters_of(text.encode(), robot).document.decode() == text
    found = with_mass_and_damping(text.encode()).decode()
    assert '<origin rpy="0.0 0.0 0.0" xyz="0.0 0.0 0.0"/><mass unit' in found


def test_an_origin_is_added_only_where_the_centre_is_elsewhere():
    text = TRAPS.format(encoding='UTF-8')
    robot = Robot.from_urdf(text).with_inertial_parameters([1, 1, 0, 0, 1, 0, 0, 2, 0, 2])
    found = with_parameters_of(text.encode(), robot).document.decode()
    assert found == text.replace('<mass unit', (
        '<origin xyz="1.0 0.0 0.0" rpy="0.0 0.0 0.0"/>\n\t\t\t<mass unit'))


def test_missing_attributes_are_added_and_others_keep_their_text():
    text = TRAPS.format(encoding='UTF-8').replace(
        '<child link="arm"/>', "<child link='arm'/><dynamics friction='1e-1'/>")
    robot = AdjustableRobot.of(Robot.from_urdf(text))
    robot.set_joint_parameters('damping', {'elbow': 0.5})
    assert with_parameters_of(text.encode(), robot).document.decode() == text.replace(
        "friction='1e-1'", "friction='1e-1' damping=\"0.5\"")


@pytest.mark.parametrize('example', ROBOTS, ids=lambda robot: robot.name)
def test_the_same_robot_gives_the_same_bytes(example):
    document = example.text.encode()
    robot = read(example.text, example.massless)
    assert with_parameters_of(document, robot) == (
        with_parameters_of(document, robot.with_inertial_parameters(robot.inertial_parameters)))
    assert with_parameters_of(document, robot).document == document


# ---- bodies of several links --------------------------------------------------------------------

TOOL = """<robot name="r">
  <link name="base"/>
  <link name="flange">{flange}</link>
  <link name="gripper"><inertial><origin xyz="0 0 0.1"/><mass value="{gripper}"/>
    <inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial></link>
  <link name="camera"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <joint name="wrist" type="continuous"><parent link="base"/><child link="flange"/></joint>
  <joint name="mount" type="fixed"><parent link="flange"/><child link="gripper"/>
    <origin xyz="0.1 0 0" rpy="0 1 0"/></joint>
  <joint name="screw" type="fixed"><parent link="gripper"/><child link="camera"/>
    <origin xyz="0 0.1 0" rpy="1 0 0"/></joint>
</robot>
"""
OWN = ('<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" '
       'izz="0.01"/></inertial>')


def written(text: str, factor: float) -> tuple[dict[str, Inertial], tuple[str, ...], tuple]:
    """Return the inertials after the inertia of the body changed by a factor, and what is said."""
    robot = Robot.from_urdf(text)
    result = with_parameters_of(
        text.encode(), robot.with_inertial_parameters(factor * robot.inertial_parameters))
    back = Robot.from_urdf(result.document.decode())
    np.testing.assert_allclose(
        back.inertial_parameters, factor * robot.inertial_parameters, rtol=1e-12, atol=1e-15)
    links = {link.name: link.inertial for link in parse_urdf(result.document.decode()).links}
    return links, result.links, result.remarks


def test_the_difference_goes_to_the_link_that_the_joint_moves():
    links, names, remarks = written(TOOL.format(flange=OWN, gripper=0.5, i=1e-3), 1.1)
    assert (names, remarks) == (('flange',), ())
    assert links['flange'].mass == pytest.approx(1.16)


def test_without_an_inertial_there_it_goes_to_the_heaviest_link():
    links, names, remarks = written(TOOL.format(flange='', gripper=0.5, i=1e-3), 1.1)
    assert (names, remarks) == (('gripper',), ())
    assert links['gripper'].mass == pytest.approx(0.56)


def test_a_link_that_cannot_take_it_leaves_it_to_another():
    links, names, remarks = written(TOOL.format(flange=OWN, gripper=5.0, i=1e-1), 0.7)
    assert names == ('gripper',)
    assert links['gripper'].mass == pytest.approx(5.0 - 0.3 * 6.1)
    assert len(remarks) == 1 and "'flange'" in remarks[0] and "'gripper'" in remarks[0]


def test_lighter_links_shrink_where_none_can_take_it_alone():
    links, names, remarks = written(TOOL.format(flange=OWN, gripper=1.2, i=1e-2), 0.1)
    assert names == ('flange', 'gripper', 'camera')
    assert 0.0 < links['camera'].mass < 0.1
    assert links['flange'].mass / 1.0 == pytest.approx(links['camera'].mass / 0.1)
    assert all(inertial.mass > 0.0 for name, inertial in links.items() if name != 'base')
    assert len(remarks) == 1 and 'times those of the file' in remarks[0]


def test_links_on_fixed_joints_may_be_bodies_of_their_own():
    text = TOOL.format(flange=OWN, gripper=0.5, i=1e-3)
    robot = Robot.from_urdf(text, floating_base=False, lump_fixed_joints=False)
    scaled = robot.with_inertial_parameters(1.1 * robot.inertial_parameters)
    result = with_parameters_of(text.encode(), scaled)
    assert result.links == ('flange', 'gripper', 'camera')
    np.testing.assert_allclose(
        Robot.from_urdf(result.document.decode()).inertial_parameters,
        1.1 * Robot.from_urdf(text).inertial_parameters, rtol=1e-12, atol=1e-15)


def test_the_root_link_of_a_floating_base_can_change():
    text = TOOL.format(flange=OWN, gripper=0.5, i=1e-3).replace(
        '<link name="base"/>', f'<link name="base">{OWN}</link>')
    robot = Robot.from_urdf(text, floating_base=True)
    values = robot.inertial_parameters
    values[0] = 3.0
    result = with_parameters_of(text.encode(), robot.with_inertial_parameters(values))
    assert result.links == ('base',)
    assert result.document.decode() == text.replace('value="1"', 'value="3.0"', 1)


def test_payloads_do_not_go_into_the_file():
    document = TOOL.format(flange=OWN, gripper=0.5, i=1e-3).encode()
    robot = Robot.from_urdf(document.decode()).with_payload(
        'part', 'camera', Inertial(2.0, Pose((0.0, 0.0, 0.1))))
    assert with_parameters_of(document, robot).document == document


# ---- what is refused ----------------------------------------------------------------------------


def test_a_mass_that_no_file_holds_is_refused_by_name():
    text = TOOL.format(flange=OWN, gripper=0.5, i=1e-3)
    robot = Robot.from_urdf(text).with_inertial_parameters([0, 1, 0, 0, 1, 0, 0, 1, 0, 1])
    with pytest.raises(DescriptionError, match="'flange' would have the mass.*'wrist'"):
        with_parameters_of(text.encode(), robot)


def test_an_inertia_that_no_body_has_is_written_and_said():
    text = TOOL.format(flange=OWN, gripper=0.5, i=1e-3)
    values = Robot.from_urdf(text).inertial_parameters
    values[4] = -1.0
    result = with_parameters_of(
        text.encode(), Robot.from_urdf(text).with_inertial_parameters(values))
    np.testing.assert_allclose(
        Robot.from_urdf(result.document.decode()).inertial_parameters, values, atol=1e-14)
    assert "'wrist'" in result.remarks[0] and 'no body has' in result.remarks[0]


@pytest.mark.parametrize('old, new, named', [
    ('"camera"', '"lens"', 'camera|lens'), ('"wrist"', '"elbow"', 'elbow|wrist'),
    ('<robot', '<!DOCTYPE robot><robot', 'DOCTYPE'), ('</robot>', '', 'not XML')])
def test_a_file_of_another_robot_is_refused(old, new, named):
    text = TOOL.format(flange=OWN, gripper=0.5, i=1e-3)
    with pytest.raises(DescriptionError, match=named):
        with_parameters_of(text.replace(old, new).encode(), Robot.from_urdf(text))


@pytest.mark.parametrize('document', [
    '<robot name="ä"/>'.encode('latin-1'), TRAPS.format(encoding='UTF-16').encode('utf-16'),
    '<?xml version="1.0" encoding="ISO-8859-1"?><robot name="ä"/>'.encode('latin-1')])
def test_another_encoding_is_refused_as_by_the_other_commands(document):
    with pytest.raises(DescriptionError, match='save it as UTF-8'):
        decoded(document)


def test_an_impossible_friction_is_refused():
    text = TOOL.format(flange=OWN, gripper=0.5, i=1e-3)
    tree = Robot.from_urdf(text).tree
    with pytest.raises(DescriptionError, match='wrist'):
        with_parameters_of(text.encode(), Robot(replace(
            tree, bodies=(replace(tree.bodies[0], damping=-1.0),))))
