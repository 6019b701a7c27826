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
"""Descriptions and parameters: what is taken over, what is refused, and how that is said."""

import pytest
from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node import diagnostics
from ros2_rnea.node.models.configuration import Configuration
from sensor_msgs.msg import JointState
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot, ROVER

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']

IMPOSSIBLE = ARM.replace('ixx="0.02"', 'ixx="0.2"')


@pytest.fixture
def often(monkeypatch):
    """Let the node end notices more often."""
    monkeypatch.setattr(diagnostics, 'PERIOD', 0.05)


@pytest.fixture
def arm(bench):
    """Return an arm with a robot and no joint states."""
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    return arm


@pytest.mark.parametrize('bad, said', [
    ('', 'is empty'),
    ('no xml', 'is not XML'),
    ('<sdf/>', '<sdf>'),
    ('<robot name="empty"/>', 'no links'),
    (ARM.replace('link="base"', 'link="bse"'), "did you mean 'base'"),
    (robot(link('a'), link('b'), joint('other', 'a', 'b')), "no moving joint of 'small'"),
], ids=['empty', 'no XML', 'SDF', 'no links', 'no such link', 'other joints'])
def test_a_bad_description_is_refused_until_a_good_one_comes(arm, often, bad, said):
    policy = arm.node.policy
    arm.describe(bad)
    assert arm.refused('robot_description') == 1
    arm.settle(0.3)
    assert said in arm.told('robot_description')
    assert arm.node.policy is policy
    arm.answer(JOINTS, [0.1, 0.2])
    arm.describe(ARM)
    arm.until(lambda: not arm.told('robot_description'))


def test_the_node_starts_with_a_bad_description_parameter(bench):
    arm = bench(joints=JOINTS, robot_description='<robot/>')
    assert arm.refused('robot_description') == 1
    arm.describe(ARM)
    arm.answer(JOINTS, [0.1, 0.2])


def test_an_impossible_inertia_is_an_error_only_with_strict_model(arm):
    arm.describe(IMPOSSIBLE)
    arm.until(lambda: any(
        value.key == 'model finding 1' and 'upper' in value.value
        for status in arm.diagnostics for value in status.values))
    result = arm.set_parameter('strict_model', True)
    assert not result.successful and "link 'upper'" in result.reason
    arm.answer(JOINTS, [0.1, 0.2])


@pytest.mark.parametrize('name, value, said', [
    ('mode', 'feedforwards', 'feedforward or gravity_compensation'),
    ('gravity', [0.0, 9.81], '3 finite numbers'),
    ('state_timeout', -1.0, 'range'),
    ('state_timeout', 'long', 'a number from 0.001 to 10'),
    ('joints', ['shoulder', 'elbw'], "did you mean 'elbow'"),
    ('joints', ['shoulder', 'shoulder'], 'twice'),
    ('joints', ['thumb_joint'], "name 'grip' alone"),
    ('effort_limit_factor', float('nan'), ''),
    ('assumed_positions.grip', [0.1, 0.2], 'needs 1 finite number'),
    ('assumed_positions.grip', 'open', 'needs a number'),
    ('assumed_positions.grip', True, 'needs a number'),
    ('assumed_positions.grip', '0.1', 'needs a number'),
    ('enabled', 1, 'true or false'),
    ('damping.shoulder', -1.0, 'damping.shoulder'),
    ('damping.shoulder', float('nan'), 'damping.shoulder'),
    ('damping.shoulder', 'much', 'damping.shoulder'),
    ('damping.shoulder', True, 'damping.shoulder'),
    ('damping.shoulder', [1.0], 'damping.shoulder'),
    ('friction_from', 'urdf', "friction_from is 'urdf'"),
    ('spring_stiffness.elbow', -1.0, 'from 0 on'),
])
def test_a_bad_parameter_is_refused_with_the_reason(bench, name, value, said):
    arm = bench(joints=JOINTS)
    arm.describe(ARM_WITH_GRIPPER)
    before = arm.node.get_parameter(name).value
    result = arm.set_parameter(name, value)
    assert not result.successful
    assert said in result.reason
    assert arm.node.get_parameter(name).value == before


def test_a_bad_description_in_the_parameter_keeps_the_robot(arm):
    assert arm.set_parameter('robot_description', '<robot name="x"/>').successful  # it is text
    assert 'link' in arm.told('robot_description')
    arm.answer(JOINTS, [0.1, 0.2])


def test_whole_numbers_do_for_floats(bench):
    arm = bench(joints=JOINTS, rate=50, gravity=[0, 0, -10])
    assert arm.set_parameter('lookahead', 0).successful


def test_every_parameter_has_a_description_and_what_it_may_be(bench):
    arm = bench(joints=JOINTS)
    arm.describe(ARM_WITH_GRIPPER)
    own = ['joints', 'mode', 'gravity', 'state_timeout', 'assumed_positions.grip']
    for descriptor in arm.node.describe_parameters(own):
        assert descriptor.description and descriptor.additional_constraints


def test_several_joint_state_publishers_at_depth_one_are_warned_of(bench, often):
    arm = bench(joints=JOINTS, state_depth=1)
    second = arm.peer.create_publisher(JointState, 'joint_states', 10)
    arm.until(lambda: arm.told('state_depth'))
    arm.peer.destroy_publisher(second)
    arm.until(lambda: not arm.told('state_depth'))


def test_a_mimic_joint_off_its_leader_is_said(bench, often):
    arm = bench(joints=['shoulder', 'elbow', 'grip'], state_timeout=9.0)
    arm.describe(ARM_WITH_GRIPPER)
    arm.answer(['shoulder', 'elbow', 'grip', 'thumb_joint'], [0.0, 0.0, 0.02, 0.08])
    arm.settle(0.3)
    assert not arm.told('mimic joints')
    arm.answer(['shoulder', 'elbow', 'grip', 'thumb_joint'], [0.0, 0.0, 0.02, 0.5])
    arm.until(lambda: 'thumb_joint' in arm.told('mimic joints'))


def test_what_needs_no_change_is_no_finding_of_the_node(arm):
    arm.until(lambda: any(status.level == b'\x01' for status in arm.diagnostics))
    shown = [value for status in arm.diagnostics for value in status.values]
    assert shown and not any(value.key.startswith('model finding') for value in shown)


def test_a_link_in_massless_links_may_move_without_inertial(bench):
    weightless = ARM.replace(link('lower'), '<link name="lower"/>')
    arm = bench(joints=JOINTS)
    arm.describe(weightless)
    assert arm.refused('robot_description') == 1
    assert arm.set_parameter('massless_links', ['uper']).successful  # still refused, and no error
    assert arm.set_parameter('massless_links', ['lower']).successful
    arm.answer(JOINTS, [0.1, 0.2])  # what was refused did not have to come again


def test_a_joint_that_is_no_longer_controlled_can_be_assumed(bench):
    arm = bench(joints=[*JOINTS, 'grip'], state_timeout=9.0)
    arm.describe(ARM_WITH_GRIPPER)
    assert arm.set_parameter('joints', JOINTS).successful
    assert arm.set_parameter('assumed_positions.grip', 0.04).successful
    arm.answer(JOINTS, [0.1, 0.2])


# ---- friction over the description's ------------------------------------------------------------


def friction(arm):
    """Return the friction of shoulder and elbow that the node computes with, at 1 rad/s."""
    return arm.node.policy.robot.friction([1.0, 1.0]).tolist()


def test_damping_and_friction_of_joints_count_over_the_description(arm):
    assert friction(arm) == pytest.approx([0.5, 0.0])
    assert arm.set_parameter('damping.shoulder', 2.0).successful
    assert arm.set_parameter('friction.elbow', 3.0).successful
    assert friction(arm) == pytest.approx([2.0, 3.0], rel=0.01)
    assert arm.set_parameter('damping.shoulder', 0.0).successful
    assert friction(arm) == pytest.approx([0.0, 3.0], rel=0.01)


def test_friction_of_the_description_is_used_only_on_request(bench):
    arm = bench(joints=JOINTS, friction_from='none', friction__elbow=3.0)
    arm.describe(ARM)
    assert friction(arm) == pytest.approx([0.0, 3.0], rel=0.01)
    assert arm.set_parameter('friction_from', 'description').successful
    arm.until(arm.is_settled)
    assert friction(arm) == pytest.approx([0.5, 3.0], rel=0.01)
    assert arm.set_parameter('damping.shoulder', 2.0).successful
    assert arm.set_parameter('friction_from', 'none').successful
    arm.until(arm.is_settled)
    assert friction(arm) == pytest.approx([2.0, 3.0], rel=0.01)


def test_friction_of_the_parameter_file_counts_for_all_descriptions(bench):
    arm = bench(joints=JOINTS, damping__shoulder=2.0, friction__elbow=3)
    for description in (ARM, ARM.replace('mass value="1.0"', 'mass value="2.0"')):
        arm.describe(description)
        assert friction(arm) == pytest.approx([2.0, 3.0], rel=0.01)


def test_springs_of_joints_count_over_the_description(bench):
    arm = bench(joints=JOINTS, spring_stiffness__elbow=40.0, spring_reference__elbow=-0.5)
    arm.describe(ARM)
    robot = arm.node.policy.robot
    assert robot.spring([0.5, 0.5]) == pytest.approx([0.0, 40.0])
    assert arm.set_parameter('spring_stiffness.shoulder', 10.0).successful
    assert arm.set_parameter('spring_reference.elbow', 0.0).successful
    assert robot.spring([0.5, 0.5]) == pytest.approx([5.0, 20.0])


@pytest.mark.parametrize('name, said', [
    ('friction.elbw', "friction.elbw names no independent moving joint of 'arm'"),
    ('assumed_positions.elbw', 'assumed_positions.elbw names no independent moving joint of'),
    ('lokahead', "no parameter 'lokahead'; did you mean 'lookahead'?")])
def test_a_parameter_that_names_nothing_is_said(bench, capfd, name, said):
    bench(joints=JOINTS, **{name: 3.0}).describe(ARM)
    assert said in capfd.readouterr().err


@pytest.mark.parametrize('name', ['spring_stiffness', 'spring_reference'])
def test_a_joint_of_several_coordinates_has_no_spring_parameters(bench, name):
    rover = bench(state_timeout=9.0)
    rover.describe(ROVER)
    assert rover.node.has_parameter(f'{name}.pan')
    assert rover.node.has_parameter('damping.drive')
    assert not rover.node.has_parameter(f'{name}.drive')


def test_a_description_with_an_impossible_spring_is_refused(bench):
    arm = bench(state_timeout=9.0)
    arm.describe(ROVER.replace('"drive"', '"lift"').replace('"pan"', '"drive"'))
    assert arm.set_parameter('spring_stiffness.drive', 2.0).successful
    arm.describe(ROVER)  # whose joint of that name is planar
    assert 'planar' in arm.told('robot_description')
    assert arm.node.policy.robot.joint_names == ('lift', 'drive')
    assert arm.set_parameter('spring_stiffness.drive', 3.0).successful  # it is still that of one
    assert arm.node.set_parameters([Parameter('enabled', value=False)])[0].successful
    assert not arm.node.policy.settings.enabled


def test_the_node_is_disabled_although_other_parameters_fail(
        arm, monkeypatch):
    def fail(*_):
        raise ArgumentError('no such number')

    monkeypatch.setattr(Configuration, '_use_numbers', fail)
    assert arm.set_parameter('enabled', False).successful
    assert not arm.node.policy.settings.enabled
    assert 'no such number' in arm.told('parameters')
    monkeypatch.undo()
    assert arm.set_parameter('lookahead', 0.1).successful
    assert arm.told('parameters') == ''


# ---- robot and parameters together --------------------------------------------------------------

OTHER = ARM.replace('shoulder', 'swivel')


def test_a_description_and_its_joints_can_be_set_together(arm):
    assert arm.node.set_parameters_atomically([
        Parameter('robot_description', value=OTHER),
        Parameter('joints', value=['swivel', 'elbow'])]).successful
    arm.until(arm.is_settled)
    assert arm.node.policy.robot.joint_names == ('swivel', 'elbow')
    arm.answer(['swivel', 'elbow'], [0.1, 0.2])


def test_a_refused_description_is_used_once_the_joints_fit(arm):
    arm.describe(OTHER)
    assert 'shoulder' in arm.told('robot_description')
    assert arm.set_parameter('joints', ['swivel', 'elbow']).successful
    arm.until(arm.is_settled)
    assert arm.node.policy.robot.joint_names == ('swivel', 'elbow')
    assert arm.told('robot_description') == ''
    assert not arm.set_parameter('joints', JOINTS).successful


def test_a_source_that_is_refused_again_is_said_again(arm):
    for links, said in ((['nowhere'], True), ([], False), (['nowhere'], True)):
        assert arm.set_parameter('massless_links', links).successful
        arm.until(arm.is_settled)
        assert ('nowhere' in arm.told('model')) is said


def test_the_next_robot_declares_what_a_refusal_left_out(bench, capfd):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    asked = []

    def refuse_the_second(changed):
        asked.extend(parameter.name for parameter in changed)
        return SetParametersResult(successful=len(asked) != 2, reason='locked')

    arm.node.add_on_set_parameters_callback(refuse_the_second)
    arm.describe(ARM)
    first, second = asked  # nothing is asked for after the one that was refused
    assert arm.node.has_parameter(first) and not arm.node.has_parameter(second)
    assert arm.node.policy is not None  # the robot is in use all the same
    assert capfd.readouterr().err.count('cannot be declared') == 1
    arm.describe(ARM_WITH_GRIPPER)
    assert first not in asked[2:] and second in asked[2:]
    assert all(map(arm.node.has_parameter, asked))
    assert any(name.endswith('.grip') for name in asked)


def test_a_node_disabled_before_its_robot_stays_disabled(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    assert arm.set_parameter('enabled', False).successful
    arm.describe(ARM)
    assert not arm.sends(JOINTS, [0.1, 0.2])
    assert arm.set_parameter('enabled', True).successful
    arm.answer(JOINTS, [0.1, 0.2])
