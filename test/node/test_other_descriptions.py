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
"""The description of another robot does not take over from the robot that is driven."""

from diagnostic_msgs.msg import DiagnosticStatus
from idle_worker import answers_held, nothing_is_built
from node_bench import AT_ONCE, LATCHED
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.node import monitor
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess
from small_robots import ARM
from std_msgs.msg import String
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS, Q = ['shoulder', 'elbow'], [0.1, 0.2]
IDENTIFIED = ARM.replace('mass value="1.0"', 'mass value="1.1"')
BROKEN = ARM.replace('<child link="upper"/>', '<child link="nowhere"/>')
FLIPPED = ARM.replace('axis xyz="0 1 0"', 'axis xyz="0 -1 0"', 1)
OTHER = ARM.replace('name="arm"', 'name="other_arm"').replace(
    'mass value="1.0"', 'mass value="3.0"')


@pytest.fixture
def bare(bench):
    """Return an arm that has no robot yet."""
    return bench(joints=JOINTS, state_timeout=9.0)


@pytest.fixture
def arm(bare):
    """Return an arm to which efforts are sent."""
    bare.describe(ARM)
    assert answers(bare, ARM)
    return bare


@pytest.fixture
def second_of():
    """Return a function that adds another node to an arm, which publishes robot_description."""
    added = []

    def add(arm):
        node = Node('second', namespace='/robot', start_parameter_services=False)
        arm.executor.add_node(node)
        added.append((arm, node))
        return node

    yield add
    for arm, node in added:
        arm.executor.remove_node(node)
        node.destroy_node()


@pytest.fixture
def second(arm, second_of):
    """Return another node that publishes robot_description."""
    return second_of(arm)


def begin_to_publish(arm, node, urdf):
    """Let a node publish a description."""
    publisher = node.create_publisher(String, 'robot_description', LATCHED)
    arm.connect(publisher)
    publisher.publish(String(data=urdf))
    return publisher


def publish(arm, node, urdf):
    """Let a second node publish a description, and wait until it is in use or refused."""
    refused = arm.refused('robot_description')
    publisher = begin_to_publish(arm, node, urdf)
    arm.until(lambda: len(names(arm)) == 2)
    arm.until(lambda: arm.refused('robot_description') > refused
              or arm.changes.description == urdf)
    arm.until(arm.is_settled)
    return publisher


def end_first(arm):
    """Let the first publisher go, and wait until it is not listed any more."""
    arm.peer.destroy_publisher(arm.description)
    arm.until(lambda: 'peer' not in names(arm))


def names(arm):
    """Return the names of the nodes that publish robot_description."""
    found = arm.node.get_publishers_info_by_topic('/robot/robot_description')
    return {each.node_name for each in found if 'UNKNOWN' not in each.node_name}


def answers(arm, urdf):
    """Return whether a joint state is answered with the gravity of a robot."""
    return arm.answer(JOINTS, Q) == pytest.approx(
        Robot.from_urdf(urdf).gravity(Q).tolist(), abs=1e-9)


def until_told_of_other(arm):
    arm.until(lambda: "'other_arm'" in arm.told('other robot'))


def until_used(arm, name):
    arm.until(lambda: arm.node.policy is not None and arm.node.policy.robot.name == name)


def disable(arm):
    assert arm.call(SetBool, 'enable', data=False).success
    arm.until(lambda: not arm.sends(JOINTS, Q))


def enable(arm, urdf):
    """Enable the node, and wait until it sends the efforts of a robot."""
    assert arm.call(SetBool, 'enable', data=True).success
    arm.until(lambda: answers(arm, urdf))  # efforts of the fade may be on their way


def test_a_rival_robot_is_withheld_and_both_publishers_are_named(arm, second):
    publish(arm, second, OTHER)
    assert answers(arm, ARM)
    told = arm.told('other robot')
    for word in ("'arm'", "'other_arm'", '/robot/peer', '/robot/second', '~/enable'):
        assert word in told
    arm.until(lambda: any(
        status.level == DiagnosticStatus.ERROR and 'other_arm' in status.message
        for status in arm.diagnostics))


def sends_nothing(arm):
    """Return whether no effort answers joint states, also where there is no robot."""
    arm.efforts.clear()
    for _ in range(10):
        arm.state(JOINTS, Q)
        arm.settle(0.03)
    return not arm.efforts


def stop_receiving(arm):
    """Let nobody receive the commands."""
    for subscription in list(arm.peer.subscriptions):
        if subscription.topic_name.endswith('/commands'):
            arm.peer.destroy_subscription(subscription)
    arm.until(lambda: not arm.node.count_subscribers('inverse_dynamics/commands'))


def interrupt(arm):
    """Let the states of the robot in use be missing until nothing is sent any more."""
    assert arm.set_parameter('state_timeout', 0.2).successful
    assert arm.sends(JOINTS, Q)
    arm.until(lambda: not arm.node.policy.is_sending)
    assert arm.set_parameter('state_timeout', 9.0).successful


def test_another_robot_does_not_take_over_while_states_are_missing(arm, second):
    interrupt(arm)
    publish(arm, second, OTHER)
    assert "'other_arm'" in arm.told('other robot')
    assert answers(arm, ARM)


def test_a_rival_robot_does_not_take_over_a_paused_node(arm, second):
    publisher = publish(arm, second, OTHER)
    disable(arm)
    arm.settle(0.3)
    assert "'other_arm'" in arm.told('other robot')
    enable(arm, ARM)
    second.destroy_publisher(publisher)
    arm.until(lambda: not arm.told('other robot'))
    disable(arm)
    publish(arm, second, OTHER)
    assert "'other_arm'" in arm.told('other robot')
    enable(arm, ARM)


def test_a_single_publisher_may_change_the_robot_while_disabled(arm):
    arm.describe(OTHER)
    assert "'other_arm'" in arm.told('other robot')
    assert answers(arm, ARM)
    disable(arm)
    until_used(arm, 'other_arm')
    assert not arm.told('other robot')
    arm.describe(ARM)
    until_used(arm, 'arm')


@pytest.mark.parametrize('is_interrupted', [False, True])
def test_a_robot_without_a_publisher_stays_until_disabled(
        arm, second, is_interrupted):
    if is_interrupted:
        interrupt(arm)
    end_first(arm)
    begin_to_publish(arm, second, OTHER)
    until_told_of_other(arm)
    if not is_interrupted:
        assert answers(arm, ARM)
    disable(arm)
    until_used(arm, 'other_arm')
    assert not arm.told('other robot')
    enable(arm, OTHER)


def test_a_rival_robot_does_not_take_over_without_a_controller(arm, second, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            arm.changes.wanted_settings, 'reason_to_send_nothing', lambda own: 'it is away')
        arm.changes.refresh()
        arm.until(lambda: not arm.sends(JOINTS, Q))
        publish(arm, second, OTHER)
        assert "'other_arm'" in arm.told('other robot')
    arm.changes.refresh()
    arm.until(lambda: answers(arm, ARM))


def test_a_new_receiver_does_not_let_a_rival_take_over(arm, second):
    """The effort to start from is determined again then, and until then there is none."""
    interrupt(arm)
    arm.node.policy.restart()
    assert not arm.node.policy.held_effort()
    publish(arm, second, OTHER)
    assert "'other_arm'" in arm.told('other robot')
    assert answers(arm, ARM)


def test_a_robot_of_the_parameter_stays_before_it_is_driven(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, robot_description=ARM)
    arm.describe(IDENTIFIED)
    arm.describe(OTHER)
    assert "'other_arm'" in arm.told('other robot')
    assert answers(arm, IDENTIFIED)


def test_an_identified_model_does_not_release_a_withheld_robot(arm, second):
    publisher = publish(arm, second, OTHER)
    arm.description.publish(String(data=IDENTIFIED))
    arm.until(lambda: answers(arm, IDENTIFIED))
    assert "'other_arm'" in arm.told('other robot')
    second.destroy_publisher(publisher)
    arm.until(lambda: not arm.told('other robot'))
    assert answers(arm, IDENTIFIED)


def test_what_is_withheld_is_reported_when_no_model_waits_longer(
        bench, second_of):
    arm = bench(joints=JOINTS, state_timeout=9.0, friction_from='none')
    arm.describe(ARM.replace('damping="0.5"', 'damping="5000"'))
    assert arm.sends(JOINTS, Q)
    publish(arm, second_of(arm), OTHER)
    assert arm.set_parameter('friction_from', 'description').successful
    arm.until(lambda: 'is not used yet' in arm.told('model'))
    assert arm.set_parameter('friction_from', 'none').successful
    arm.until(lambda: not arm.told('model'))
    assert "'other_arm'" in arm.told('other robot')


@pytest.fixture
def two(bare, second_of):
    """Return a node that was started while two robots are described, and how to stop one."""
    arm, second = bare, second_of(bare)
    publisher = publish(arm, second, OTHER)
    arm.description.publish(String(data=ARM))
    arm.executor.remove_node(arm.node)
    arm.node.destroy_node()
    arm.node = InverseDynamicsNode(namespace='/robot', parameter_overrides=[
        Parameter(name, value=value) for name, value in {
            **AT_ONCE, 'joints': JOINTS, 'state_timeout': 9.0}.items()])
    arm.executor.add_node(arm.node)
    arm.connect(arm.states)
    arm.until(lambda: arm.told('other robot'))
    arm.until(lambda: arm.node.policy is not None and arm.is_settled())
    return arm, lambda: second.destroy_publisher(publisher)


def test_nothing_is_sent_while_two_undriven_robots_are_described(two):
    arm, stop_other = two
    told = arm.told('other robot')
    assert '/robot/peer' in told and '/robot/second' in told
    assert 'Nothing tells which of the two robots is driven: nothing is sent' in told
    arm.until(lambda: arm.diagnostics and arm.diagnostics[-1].level == DiagnosticStatus.ERROR
              and told in arm.diagnostics[-1].message)
    assert sends_nothing(arm)
    stop_other()
    until_used(arm, 'arm')
    assert answers(arm, ARM)
    assert not arm.told('other robot') and not arm.told('robot_description')


def test_two_remaining_publishers_of_one_robot_are_no_conflict(two, second_of):
    arm, stop_other = two
    begin_to_publish(arm, second_of(arm), ARM)
    arm.until(lambda: len(arm.node.get_publishers_info_by_topic('/robot/robot_description')) == 3)
    assert sends_nothing(arm)
    stop_other()
    arm.until(lambda: not arm.told('other robot'))
    until_used(arm, 'arm')
    assert answers(arm, ARM)


def test_a_robot_without_a_receiver_counts_as_not_driven(bare, second_of):
    """Its description may have come first, and the controller may be that of the other one."""
    arm, second = bare, second_of(bare)
    stop_receiving(arm)
    arm.describe(OTHER)
    assert answers(arm, OTHER)
    publisher = publish(arm, second, ARM)
    arm.until(lambda: 'nothing is sent' in arm.told('other robot'))
    assert sends_nothing(arm)
    second.destroy_publisher(publisher)
    arm.until(lambda: not arm.told('other robot'))
    until_used(arm, 'other_arm')
    assert answers(arm, OTHER)


@pytest.mark.parametrize('is_by_parameter', [True, False])
def test_the_wrong_robot_gets_no_effort_while_another_is_built(two, is_by_parameter):
    arm, stop_other = two
    used = arm.node.policy.robot.name
    text = ARM if used == 'other_arm' else OTHER
    with answers_held():
        if is_by_parameter:
            set_description(arm, text)
        elif used == 'other_arm':
            stop_other()
        else:
            arm.peer.destroy_publisher(arm.description)
        arm.until(lambda: 'nothing is sent' not in arm.told('other robot'))
        assert arm.node.policy is None
    arm.until(lambda: arm.node.policy is not None)
    assert answers(arm, text)


def set_description(arm, urdf):
    """Set the parameter, without waiting for the robot."""
    assert arm.node.set_parameters([Parameter('robot_description', value=urdf)])[0].successful


def test_a_rival_does_not_displace_a_robot_of_the_parameter(arm, second):
    disable(arm)
    with answers_held():
        set_description(arm, ARM.replace('name="arm"', 'name="third_arm"'))
        begin_to_publish(arm, second, OTHER)
        until_told_of_other(arm)
    until_used(arm, 'third_arm')
    assert "'other_arm'" in arm.told('other robot')


def test_the_parameter_decides_which_of_two_robots_is_driven(two):
    arm, _ = two
    assert arm.set_parameter('robot_description', ARM).successful
    until_used(arm, 'arm')
    assert answers(arm, ARM)


@pytest.mark.parametrize(('urdf', 'difference'), [
    (ARM.replace('"elbow" type="revolute"', '"elbow" type="continuous"'),
     "joint 'elbow' is continuous with the axis 0 1 0, not revolute with the axis 0 1 0"),
    (FLIPPED,
     "joint 'shoulder' is revolute with the axis 0 -1 0, not revolute with the axis 0 1 0"),
], ids=['type', 'axis'])
def test_a_robot_whose_controlled_joint_moves_otherwise_is_another_one(arm, urdf, difference):
    assert urdf != ARM
    arm.describe(urdf)
    assert difference in arm.told('other robot')
    assert '~/enable' in arm.told('other robot')
    assert answers(arm, ARM)
    disable(arm)
    arm.until(lambda: arm.changes.description == urdf and arm.is_settled()
              and arm.changes.waiting_policy is None)
    assert not arm.told('other robot')
    enable(arm, urdf)


def test_a_withheld_robot_is_used_after_the_final_fade(arm, second):
    publish(arm, second, OTHER)
    end_first(arm)
    arm.set_parameter('state_timeout', 0.5)
    assert answers(arm, ARM)
    arm.efforts.clear()
    disable(arm)
    until_used(arm, 'other_arm')
    gravity = Robot.from_urdf(ARM).gravity(Q).tolist()
    assert arm.efforts
    assert all(list(effort.effort) == pytest.approx(gravity) for effort in arm.efforts)
    assert not arm.told('other robot')
    arm.set_parameter('state_timeout', 9.0)
    enable(arm, OTHER)


def test_the_parameter_changes_the_robot_of_a_disabled_node_only(arm, second):
    publish(arm, second, OTHER)
    refused = arm.set_parameter('robot_description', OTHER)
    assert not refused.successful
    for word in ("'other_arm'", "'arm' is driven", '~/enable'):
        assert word in refused.reason
    assert answers(arm, ARM)
    disable(arm)
    assert arm.set_parameter('robot_description', OTHER).successful
    until_used(arm, 'other_arm')
    assert not arm.told('other robot')
    enable(arm, OTHER)


def test_an_identified_model_of_the_robot_is_used_at_once(arm, second):
    publish(arm, second, IDENTIFIED)
    assert answers(arm, IDENTIFIED)
    assert not arm.told('other robot')
    arm.until(lambda: '/robot/second' in arm.told('publishers of robot_description'))


def test_two_publishers_of_one_text_are_fine(arm, second):
    with nothing_is_built():
        publisher = publish(arm, second, ARM)
        arm.settle(0.2)
        publisher.publish(String(data=ARM))
        arm.settle(0.2)
    assert answers(arm, ARM)
    assert not arm.told('other robot')
    assert not arm.told('publishers of robot_description')


def test_what_is_withheld_is_not_built_and_gets_no_parameters(arm, second):
    publisher = publish(arm, second, OTHER)
    with nothing_is_built():
        publisher.publish(String(data=OTHER))
        arm.settle(0.2)
        assert not arm.set_parameter('effort_limits.elbow', 1e-3).successful  # it would fall
        assert arm.set_parameter('lookahead', 0.01).successful
    assert arm.told('other robot')
    assert answers(arm, ARM)


def check_that_it_is_forgotten(arm):
    """Check that the other robot is not used, even if nothing is sent."""
    arm.until(lambda: not arm.told('other robot'))
    disable(arm)
    arm.settle(0.3)
    assert arm.node.policy.robot.name == 'arm'


def test_it_is_forgotten_when_its_publisher_has_gone(arm, second):
    publisher = publish(arm, second, OTHER)
    second.destroy_publisher(publisher)
    check_that_it_is_forgotten(arm)


def test_a_repeated_description_does_not_release_a_withheld_robot(arm, second):
    publisher = publish(arm, second, OTHER)
    arm.description.publish(String(data=ARM))
    arm.settle(0.3)
    assert "'other_arm'" in arm.told('other robot')
    second.destroy_publisher(publisher)
    check_that_it_is_forgotten(arm)


def test_it_is_forgotten_when_its_single_publisher_corrects_it(arm):
    arm.describe(OTHER)
    assert "'other_arm'" in arm.told('other robot')
    arm.description.publish(String(data=ARM))
    check_that_it_is_forgotten(arm)


# ---- what becomes of a description that is withheld ---------------------------------------------


def uses(arm, name):
    """Return whether nothing is pending and a robot is in use."""
    arm.settle(0.3)
    arm.until(arm.is_settled)
    return arm.node.policy.robot.name == name


def publish_again(arm, urdf):
    """Let the first node publish another description, and wait until it is in use."""
    arm.description.publish(String(data=urdf))
    arm.until(lambda: answers(arm, urdf))


def test_a_robot_that_its_single_publisher_has_corrected_is_forgotten(arm):
    arm.describe(OTHER)
    publish_again(arm, IDENTIFIED)
    disable(arm)
    assert uses(arm, 'arm')


def test_an_identified_model_is_accepted_while_another_robot_is_built(arm):
    disable(arm)
    with answers_held():
        arm.begin_to_describe(OTHER)
        assert arm.call(SetBool, 'enable', data=True).success
        arm.begin_to_describe(IDENTIFIED)
    arm.until(lambda: answers(arm, IDENTIFIED))
    disable(arm)
    assert uses(arm, 'arm')


def test_a_withheld_robot_whose_publisher_has_gone_is_not_used(
        bench, second_of, monkeypatch):
    monkeypatch.setattr(monitor, 'PERIOD', 3.0)
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    assert answers(arm, ARM)
    second = second_of(arm)
    publisher = publish(arm, second, OTHER)
    disable(arm)
    arm.changes.poll()
    second.destroy_publisher(publisher)
    arm.until(lambda: len(names(arm)) == 1)
    arm.begin_to_describe(IDENTIFIED)
    assert arm.set_parameter('lookahead', 0.01).successful
    assert uses(arm, 'arm')


def test_neither_of_two_robots_is_driven_after_a_worker_crash(bare, second_of, monkeypatch):
    def crash(*_):
        raise WorkerError('killed')

    arm = bare
    with monkeypatch.context() as patch:
        patch.setattr(WorkerProcess, 'ask', crash)
        arm.description.publish(String(data=ARM))
        arm.until(lambda: 'killed' in arm.told('robot_description'))
    publish(arm, second_of(arm), OTHER)
    arm.until(lambda: arm.node.policy is not None)
    assert uses(arm, 'arm') and sends_nothing(arm)


def test_a_parameter_that_describes_no_usable_robot_decides_nothing(bench, second_of):
    arm = bench(joints=JOINTS, state_timeout=9.0, robot_description=BROKEN.replace(
        'name="arm"', 'name="third"'))
    arm.until(lambda: 'nowhere' in arm.told('robot_description'))
    arm.describe(ARM)
    arm.until(lambda: arm.node.policy is not None)
    publish(arm, second_of(arm), OTHER)
    assert sends_nothing(arm)


def test_another_robot_of_the_same_name_has_not_been_driven(arm, second):
    disable(arm)
    arm.describe(FLIPPED)
    arm.until(lambda: arm.changes.description == FLIPPED
              and arm.changes.waiting_policy is None)
    publish(arm, second, OTHER)
    assert arm.call(SetBool, 'enable', data=True).success
    arm.settle(0.3)
    assert sends_nothing(arm)


def test_the_reason_is_that_of_the_present(arm, second):
    arm.describe(OTHER)
    assert 'the node is enabled' in arm.told('other robot')
    begin_to_publish(arm, second, ARM)
    arm.until(lambda: len(names(arm)) == 2)
    disable(arm)
    arm.until(lambda: '/robot/second publish' in arm.told('other robot'))


def test_a_refused_description_does_not_hide_a_withheld_robot(arm, second):
    publish(arm, second, OTHER)
    arm.description.publish(String(data=BROKEN))
    arm.until(lambda: 'nowhere' in arm.told('robot_description'))
    publish_again(arm, IDENTIFIED)
    until_told_of_other(arm)


def test_what_the_parameter_asks_for_is_forgotten_by_no_publisher(arm, second):
    publisher = publish(arm, second, ARM)
    arm.settle(0.3)
    assert arm.set_parameter('robot_description', FLIPPED).successful
    arm.until(lambda: 'axis' in arm.told('other robot'))
    second.destroy_publisher(publisher)
    arm.until(lambda: len(names(arm)) == 1)
    arm.settle(0.3)
    disable(arm)
    arm.until(lambda: arm.changes.description == FLIPPED)


def test_the_remaining_publisher_counts_after_an_unusable_parameter(two):
    arm, stop_other = two
    assert arm.set_parameter('robot_description', BROKEN).successful
    arm.until(lambda: 'nowhere' in arm.told('robot_description'))
    assert arm.set_parameter('robot_description', '').successful
    stop_other()
    arm.until(lambda: arm.node.policy is not None)
    assert uses(arm, 'arm')


def test_a_robot_that_was_not_driven_is_replaced_at_once(bare):
    stop_receiving(bare)
    bare.describe(ARM)
    assert answers(bare, ARM)
    bare.describe(OTHER)
    assert answers(bare, OTHER)


def test_what_waits_is_reported_again_when_another_robot_is_forgotten(arm, second):
    arm.description.publish(String(data=ARM.replace('damping="0.5"', 'damping="5000"')))
    arm.until(lambda: 'is not used yet' in arm.told('robot_description'))
    publisher = publish(arm, second, OTHER)
    second.destroy_publisher(publisher)
    arm.until(lambda: 'is not used yet' in arm.told('robot_description'))


def test_a_robot_of_the_parameter_is_used_with_later_texts(arm):
    later = OTHER.replace('mass value="3.0"', 'mass value="3.1"')
    disable(arm)
    with answers_held():
        set_description(arm, OTHER)
        arm.begin_to_describe(later)
    assert uses(arm, 'other_arm')
    assert not arm.told('other robot')
