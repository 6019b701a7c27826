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
"""That each motor gets the effort of its own joint, whoever receives the commands."""

from functools import partial

import pytest
from ros2_rnea.node import monitor
from ros2_rnea.node.controllers import receivers
from simulated_ros2_control import FITTING, GRAVITY, JOINTS, publish_state, Q, REST, TOPIC

pytestmark = pytest.mark.ros

OTHER_ORDER = {**FITTING, 'joints': JOINTS[::-1]}


@pytest.fixture
def start_controllers(start_controllers):
    """Return a function that starts controllers without a controller manager."""
    return partial(start_controllers, has_manager=False)


def send_states_until(arm, condition):
    """Publish joint states until a condition holds."""
    def is_met():
        publish_state(arm)
        return condition()

    arm.until(is_met)


def test_joints_of_a_controller_named_by_the_topic_are_compared(start_arm, start_controllers):
    controllers = start_controllers(parameters=OTHER_ORDER)
    arm = start_arm()
    said = "'/robot/effort_controller' has the joints elbow, shoulder; those of this node are"
    arm.until(lambda: said in arm.told('effort_controller'))
    assert 'set   joints: [elbow, shoulder]' in arm.told('effort_controller')
    for _ in range(20):
        publish_state(arm)
        arm.settle(0.0)
    assert controllers.flush(arm) == 0
    assert arm.set_parameter('joints', JOINTS[::-1]).successful
    assert controllers.first_command(arm) == pytest.approx(GRAVITY[::-1])


def test_a_new_controller_is_sent_nothing_before_telling_its_joints(start_arm, start_controllers):
    arm = start_arm()
    arm.answer(JOINTS, Q)  # it runs, and nobody receives
    controllers = start_controllers(parameters=OTHER_ORDER)
    send_states_until(arm, lambda: 'has the joints' in arm.told('effort_controller'))
    assert controllers.flush(arm) == 0


def test_a_controller_loaded_again_at_once_is_asked_anew(
        start_arm, start_controllers, monkeypatch):
    monkeypatch.setattr(monitor, 'PERIOD', 60.0)  # only what the graph tells counts
    controllers = start_controllers()
    arm = start_arm(start_from='zero')
    controllers.first_command(arm)
    publisher, = (each for each in arm.node.publishers if each.topic_name == TOPIC)
    controllers.unload()
    send_states_until(arm, lambda: publisher.get_subscription_count() == 0)
    publish_state(arm)
    arm.settle()
    controllers.parameters = OTHER_ORDER
    count = len(controllers.commands)
    controllers.load()
    send_states_until(arm, lambda: 'has the joints' in arm.told('effort_controller'))
    assert controllers.flush(arm) == count


@pytest.mark.parametrize('parameters', [None, {'baud_rate': 1000000}])
def test_a_driver_that_tells_no_joints_is_sent_efforts(
        start_arm, start_controllers, monkeypatch, capfd, parameters):
    if parameters is None:  # it never answers
        monkeypatch.setattr(receivers, 'LONGEST_WAIT', 0.2)
    driver = start_controllers(parameters=parameters)
    arm = start_arm()
    assert driver.first_command(arm) == pytest.approx(GRAVITY)
    said = "'/robot/effort_controller', which receives the commands, has no parameter joints"
    logged = []

    def is_said():
        logged.append(capfd.readouterr().err)
        return said in ''.join(logged)

    arm.until(is_said)
    arm.settle(0.5)
    logged.append(capfd.readouterr().err)
    assert ''.join(logged).count(said) == 1
    assert not arm.told('effort_controller')


# ---- a controller or driver that the parameter names --------------------------------------------


def test_a_driver_that_the_parameter_names_needs_no_joints(
        start_arm, start_controllers):
    driver = start_controllers(
        topic='/robot/torques', name='motor_driver', parameters={'baud': 1})
    arm = start_arm(commands='/robot/torques', effort_controller='motor_driver')
    assert driver.first_command(arm) == pytest.approx(GRAVITY)
    assert not arm.told('effort_controller')


def test_several_receivers_without_a_known_controller_are_reported(
        start_arm, start_controllers):
    start_controllers(
        topic='/robot/torques', name='motor_driver', parameters={'baud': 1})
    start_controllers(topic='/robot/torques', name='recorder')
    arm = start_arm(commands='/robot/torques')
    arm.until(lambda: '/robot/motor_driver, /robot/recorder' in arm.told('receivers'))
    assert arm.set_parameter('effort_controller', 'motor_driver').successful
    arm.until(lambda: not arm.told('receivers'))


# ---- the order of the joints --------------------------------------------------------------------


@pytest.mark.parametrize('joints', [JOINTS[::-1], JOINTS[:1], []])
def test_joints_cannot_change_while_efforts_are_sent(start_arm, start_controllers, joints):
    controllers = start_controllers(parameters={'baud_rate': 1})
    arm = start_arm()
    controllers.first_command(arm)
    result = arm.set_parameter('joints', joints)
    assert not result.successful
    assert 'from [shoulder, elbow] to [' in result.reason and '~/enable' in result.reason
    assert controllers.first_command(arm) == pytest.approx(GRAVITY)
    assert arm.set_parameter('enabled', False).successful
    send_states_until(arm, lambda: not arm.node.policy.is_sending)
    assert arm.set_parameter('joints', joints).successful


def test_after_reordering_joints_the_last_command_is_no_evidence(start_arm, start_controllers):
    controllers = start_controllers(parameters={'baud_rate': 1})
    arm = start_arm(blend_time=60.0)
    assert controllers.first_command(arm) == pytest.approx(GRAVITY, abs=0.01)
    assert arm.set_parameter('enabled', False).successful
    send_states_until(arm, lambda: not arm.node.policy.is_sending)
    assert arm.set_parameter('joints', JOINTS[::-1]).successful
    count = controllers.flush(arm)
    assert arm.set_parameter('enabled', True).successful
    for _ in range(5):
        assert not arm.sends(JOINTS, Q, REST)
    assert controllers.flush(arm) == count
    half = [0.5 * effort for effort in GRAVITY]
    assert controllers.first_command(arm, half) == pytest.approx(half[::-1], abs=0.01)


def test_efforts_by_name_are_no_command_that_the_controller_holds(
        start_arm, start_controllers):
    controllers = start_controllers(parameters={'baud_rate': 1})
    arm = start_arm()
    assert controllers.first_command(arm) == pytest.approx(GRAVITY)
    elsewhere = [1.5, 0.0]  # gravity is another one there

    def use(joints, position):
        assert arm.set_parameter('enabled', False).successful
        arm.until(lambda: not arm.sends(JOINTS, position, REST))
        assert arm.set_parameter('joints', joints).successful
        assert arm.set_parameter('enabled', True).successful

    use([], Q)
    for _ in range(5):
        arm.answer(JOINTS, elsewhere, REST)
    assert arm.set_parameter('blend_time', 60.0).successful
    known = controllers.flush(arm)
    use(JOINTS, elsewhere)
    arm.until(lambda: arm.sends(JOINTS, elsewhere, REST) and len(controllers.commands) > known)
    assert controllers.commands[known] == pytest.approx(GRAVITY, abs=0.05)
