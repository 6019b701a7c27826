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
"""What the simulation takes of a robot description."""

import numpy as np
import pytest

from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea.tools.simulated_driver.description import (
    balanced,
    for_mujoco,
    Load,
    simplified,
)

INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
GRIPPER = f"""
<robot name="gripper">
  <material name="grey"/>
  <link name="world"/>
  <joint name="swing" type="continuous"><parent link="world"/><child link="palm"/></joint>
  <link name="palm">{INERTIAL}
    <visual><geometry><mesh filename="package://nowhere/palm.dae"/></geometry></visual>
    <collision><geometry><mesh filename="package://nowhere/palm.stl"/></geometry></collision>
  </link>
  <joint name="left" type="prismatic"><parent link="palm"/><child link="left_finger"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint>
  <link name="left_finger">{INERTIAL}</link>
  <joint name="right" type="prismatic"><parent link="palm"/><child link="right_finger"/>
    <axis xyz="0 -1 0"/><limit lower="0" upper="0.04" effort="20" velocity="0.2"/>
    <mimic joint="left"/></joint>
  <link name="right_finger">{INERTIAL}</link>
  <transmission name="t"/>
</robot>"""


def types(urdf):
    """Return the types of the joints by name."""
    return {joint.name: joint.type.label for joint in parse_urdf(urdf).joints}


def test_mimic_joints_and_those_that_they_follow_are_fixed():
    urdf, still = simplified(GRIPPER)
    assert still == ('left', 'right')
    assert types(urdf) == {'swing': 'continuous', 'left': 'fixed', 'right': 'fixed'}


def test_coulomb_friction_is_left_out_and_damping_stays():
    urdf = seven_dof_arm().replace('damping="1"', 'damping="1" friction="3"')
    assert any(joint.friction for joint in parse_urdf(urdf).joints)
    joints = parse_urdf(simplified(urdf)[0]).joints
    assert joints == parse_urdf(seven_dof_arm()).joints
    assert simplified(urdf, with_friction=True) == (urdf, ())


def test_springs_are_left_out():
    first = parse_urdf(seven_dof_arm()).joints[0].name
    urdf = seven_dof_arm().replace('</robot>', f"""<gazebo reference="{first}">
        <springStiffness>5</springStiffness><mu1>1</mu1></gazebo></robot>""")
    assert any(joint.spring_stiffness for joint in parse_urdf(urdf).joints)
    assert parse_urdf(simplified(urdf)[0]).joints == parse_urdf(seven_dof_arm()).joints


def test_without_either_the_description_stays_as_it_is():
    assert simplified(seven_dof_arm()) == (seven_dof_arm(), ())
    urdf, _ = simplified(GRIPPER)
    assert simplified(urdf) == (urdf, ())


def test_joints_that_move_no_mass_are_fixed():
    urdf, still = simplified(GRIPPER.replace(
        '</robot>', '<joint name="spin" type="continuous"><parent link="palm"/>'
        '<child link="mark"/></joint><link name="mark"/></robot>'))
    assert still == ('left', 'right', 'spin')
    assert types(urdf)['spin'] == 'fixed'


def turned(moments, angle=0.6):
    """Return the six numbers of an inertia whose principal axes are turned."""
    c, s = np.cos(angle), np.sin(angle)
    axes = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array(
        [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return (axes * moments @ axes.T)[np.triu_indices(3)]


def with_inertia(moments):
    """Return a pendulum with these principal moments."""
    entries = ' '.join(f'{name}="{float(value)!r}"' for name, value in zip(
        ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), turned(moments)))
    return f"""<robot name="one"><link name="base"/>
      <joint name="swing" type="continuous"><parent link="base"/><child link="bob"/></joint>
      <link name="bob"><inertial><mass value="1"/><inertia {entries}/></inertial></link></robot>"""


def test_an_impossible_inertia_is_balanced_and_reported():
    given = with_inertia([0.01, 0.02, 0.06])
    text, [change] = balanced(given)
    assert change.link == 'bob'
    assert change.given == pytest.approx((0.01, 0.02, 0.06))
    assert change.used == pytest.approx((0.02, 0.03, 0.05), rel=1e-5)
    assert change.share == pytest.approx(1 / 6, rel=1e-5)
    used = np.array(parse_urdf(text).links[1].inertial.inertia)
    # Only the moments changed, and not the axes.
    assert used == pytest.approx(turned(change.used))


@pytest.mark.parametrize('moments', [(0.01, 0.02, 0.0299), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)])
def test_an_inertia_of_a_body_stays_to_the_last_bit(moments):
    given = with_inertia(moments)
    assert balanced(given) == (given, ())


def test_a_thin_rod_is_changed_by_rounding_only():
    text, changes = balanced(with_inertia((0.0, 0.00012, 0.00012)))
    assert changes == ()
    a, b, c, d, e, f = parse_urdf(text).links[1].inertial.inertia
    small, middle, large = np.linalg.eigvalsh([[a, b, c], [b, d, e], [c, e, f]])
    assert small + middle > large
    assert (small, large) == pytest.approx((0.0, 0.00012), abs=1e-9)


def test_a_negative_moment_is_refused_with_link_numbers_and_remedy():
    with pytest.raises(DescriptionError, match=r"link 'bob' has the principal moments of inertia "
                       r'-0.01, 0.02, 0.06 kg m\^2; a negative one .* correct the signs'):
        balanced(with_inertia([-0.01, 0.02, 0.06]))


def test_rotations_are_written_as_mujoco_reads_them():
    text = GRIPPER.replace('<child link="palm"/>', (
        '<child link="palm"/><origin quat_xyzw="0 0.6 0 0.8"/>'))
    urdf, _ = simplified(text)
    [before, after] = (parse_urdf(each).joints[0].origin for each in (text, for_mujoco(urdf)))
    assert after == before and 'quat_xyzw' not in for_mujoco(urdf)


def test_mujoco_reads_links_and_joints_without_any_mesh():
    text = for_mujoco(simplified(GRIPPER)[0])
    for absent in ('mesh', 'material', 'transmission', '"world"'):
        assert absent not in text
    for present in ('fusestatic="false"', 'link named world', 'left_finger'):
        assert present in text


def test_a_load_is_a_link_that_is_fixed_to_another():
    text = for_mujoco(simplified(GRIPPER)[0], Load('palm', 2.0, (0.1, 0.0, 0.0)))
    assert types(text)['load of the simulation'] == 'fixed'
    load = parse_urdf(text).links[-1]
    assert (load.inertial.mass, load.inertial.origin.xyz) == (2.0, (0.1, 0.0, 0.0))


def test_a_load_without_mass_is_none():
    urdf = seven_dof_arm()
    assert for_mujoco(urdf, Load('tool')) == for_mujoco(urdf)


@pytest.mark.parametrize(('kind', 'said'), [
    ('floating', "'swing' is floating"), ('planar', "'swing' is planar"),
    ('continuous', "'right' is mimic")])
def test_joints_that_cannot_be_simulated_are_named(kind, said):
    with pytest.raises(DescriptionError, match=said):
        for_mujoco(GRIPPER.replace('continuous', kind))
