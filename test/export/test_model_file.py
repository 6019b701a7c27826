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
"""The model file: what is written is read, and what is something else is refused with a reason."""

from __future__ import annotations

import struct
import zlib

from exported import exported, exported_robot
import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.dynamics.parameters import ParameterLayout
from ros2_rnea.export.model import model_of, quantities_of, traces_of
from ros2_rnea.export.model_file import decoded, encoded, HEADER, ModelFileError, VERSION
from small_robots import ARM, ARM_WITH_GRIPPER

VERSION_AT, CHECKSUM_AT, CHECKED_FROM = 8, 12, 16


def with_checksum(content):
    """Return the content with the checksum that it should have."""
    content = bytearray(content)
    struct.pack_into('<I', content, CHECKSUM_AT, zlib.crc32(content[CHECKED_FROM:]))
    return bytes(content)


@pytest.fixture(scope='module')
def model():
    return exported(exported_robot('gripper')).model


@pytest.mark.parametrize('name', ['ur5', 'rover', 'free flyer', 'tree 3'])
def test_file_is_read_as_it_was_written(name):
    model = exported(exported_robot(name)).model
    content = encoded(model)
    assert decoded(content) == model
    assert len(content) % 8 == 0
    assert encoded(decoded(content)) == content


def test_model_says_what_the_robot_is(model):
    assert model.name == 'arm_with_gripper'
    assert model.writer.startswith('ros2_rnea')
    assert (model.nq, model.nv) == (3, 3)
    assert [(joint.name, joint.type, joint.unit, joint.q, joint.v) for joint in model.joints] == [
        ('shoulder', 'revolute', 'rad', (0, 1), (0, 1)),
        ('elbow', 'revolute', 'rad', (1, 1), (1, 1)),
        ('grip', 'prismatic', 'm', (2, 1), (2, 1))]
    assert model.joints[0].limits == (-3.0, 3.0, 2.0, 100.0)
    assert [(body.joint, body.link, body.moved_by, body.takes_payload)
            for body in model.bodies] == [
        ('shoulder', 'upper', 0, False), ('elbow', 'lower', 1, False),
        ('grip', 'finger', 2, False), ('thumb_joint', 'thumb', 2, True)]
    assert [tape.name for tape in model.tapes] == [
        'inverse_dynamics', 'gravity', 'mass_matrix', 'joint_momentum', 'jacobian of thumb']


def test_coordinates_of_joints_that_have_several():
    rover, flyer = (exported(exported_robot(name)).model.joints[0]
                    for name in ('rover', 'free flyer'))
    assert (rover.type, rover.unit, rover.q, rover.v) == ('planar', 'm m rad', (0, 3), (0, 3))
    assert (flyer.type, flyer.unit, flyer.q, flyer.v) == (
        'floating', 'rad rad rad m m m', (0, 7), (0, 6))
    assert flyer.limits == (-np.inf, np.inf, 2.0, 100.0)


def test_layout_of_the_parameters_is_that_of_the_robot():
    robot = exported_robot('gripper')
    model, layout = exported(robot).model, ParameterLayout(4)
    places = {each.name: slice(each.first, each.first + each.count) for each in model.parameters}
    assert places.pop('gravity') == layout.gravity
    assert places.pop('payload') == slice(layout.payload(0).start, layout.payload(3).stop)
    assert places == {name: layout.joints(name) for name in places}
    assert model.values == tuple(robot.parameter_values)
    widths = {each.name: each.width for each in model.parameters}
    assert widths == {**dict.fromkeys(widths, 1), 'gravity': 0, 'payload': 10}
    by_name = {each.name: each for each in model.parameters}
    assert by_name['damping'].unit == 'Nm s/rad or N s/m'
    assert by_name['spring_reference'].unit == 'rad or m'
    assert by_name['gravity'].bounds == (-100.0, 100.0)
    assert by_name['damping'].bounds == (0.0, 1e6)
    assert by_name['spring_reference'].bounds == (-np.inf, np.inf)


def test_parameters_that_no_tape_reads_are_marked():
    robot = AdjustableRobot.of(Robot.from_urdf(ARM_WITH_GRIPPER), ['lower'])

    def read(*names):
        traces = traces_of(robot, quantities_of(robot, names, []))
        model = model_of(robot, ARM_WITH_GRIPPER, traces)
        return [each.name for each in model.parameters if each.is_read]

    assert read('gravity') == ['gravity', 'payload']
    assert read('mass_matrix') == ['payload']
    assert read('spring') == ['spring_stiffness', 'spring_reference']
    assert read('inverse_dynamics') == [
        'gravity', 'damping', 'friction', 'spring_stiffness', 'spring_reference', 'payload']


@pytest.mark.parametrize(('left_out', 'arm_gravity'), [
    ((), ()), (('gravity', 'friction'), ()), (('gravity',), (0.0, 1.5, -9.81))])
def test_what_the_hardware_adds_is_kept(left_out, arm_gravity):
    robot = Robot.from_urdf(ARM)
    model = decoded(encoded(model_of(robot, ARM, {}, left_out, arm_gravity)))
    assert (model.left_out, model.arm_gravity) == (left_out, arm_gravity)


@pytest.mark.parametrize('gravity', [
    (0.0, np.nan, 0.0), (np.nan, np.nan, 0.0), (0.0, 0.0, np.inf)])
def test_gravity_that_is_no_vector_is_refused(model, gravity):
    content = bytearray(encoded(model))
    struct.pack_into('<3d', content, HEADER.fields['arm_gravity'][1], *gravity)
    with pytest.raises(ModelFileError, match='contradicts itself'):
        decoded(with_checksum(content))


def test_hash_is_that_of_the_description():
    robot = Robot.from_urdf(ARM)
    one, other = (model_of(robot, text, {}).description_hash for text in (ARM, f'{ARM}\n'))
    assert len(one) == 64
    assert one != other


def test_text_that_is_not_ascii_is_kept():
    text = ARM.replace('elbow', 'Gelenk 2 → ü')
    model = model_of(Robot.from_urdf(text), text, {})
    assert decoded(encoded(model)).joints[1].name == 'Gelenk 2 → ü'


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize('version', [VERSION - 1, VERSION + 1])
def test_other_version_is_refused_with_a_sentence(model, version):
    content = bytearray(encoded(model))
    struct.pack_into('<I', content, VERSION_AT, version)
    with pytest.raises(ModelFileError, match=(
            f'the model file has version {version}; this program reads version {VERSION}: '
            'export it again')):
        decoded(bytes(content))


@pytest.mark.parametrize('content', [b'', b'RNEAMODL', b'<robot/>' * 50], ids=len)
def test_something_else_is_refused(content):
    with pytest.raises(ModelFileError, match=f'^{len(content)} bytes are no model file'):
        decoded(content)


def test_each_damage_is_refused(model):
    content = encoded(model)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0x40
        with pytest.raises(ModelFileError, match='damaged|no model file|version|it needs'):
            decoded(bytes(damaged))
        with pytest.raises(ModelFileError, match='it needs|no model file'):
            decoded(content[:place])
    with pytest.raises(ModelFileError, match='it needs'):
        decoded(content + bytes(8))


def test_damage_with_a_new_checksum_is_another_model_or_refused(model):
    content, rng = encoded(model), np.random.default_rng(5)
    refused = 0
    for _ in range(2000):
        damaged = bytearray(content)
        for place in rng.integers(CHECKED_FROM, len(content), 2):
            damaged[place] = rng.integers(256)
        damaged = with_checksum(damaged)
        try:
            assert encoded(decoded(damaged)) == damaged
        except ModelFileError as error:
            assert 'contradicts itself' in str(error) or 'it needs' in str(error)
            refused += 1
    assert 0 < refused < 2000
