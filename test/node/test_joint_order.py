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

import pytest
from ros2_rnea.node import monitor
from ros2_rnea.node.controllers import receivers
from ros2_rnea.node.topics import command_record
from ros2_rnea.robot import Robot
from simulated_ros2_control import SimulatedRos2Control
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
REST = [0.0, 0.0]
GRAVITY = Robot.from_urdf(ARM).gravity(Q).tolist()
TOPIC = '/robot/effort_controller/commands'
FITTING = {'joints': JOINTS, 'interface_name': 'effort'}
OTHER_ORDER = {**FITTING, 'joints': JOINTS[::-1]}


@pytest.fixture
def start(bench, monkeypatch, tmp_path):
    """Return functions that start the node, which compensates gravity, and a receiver."""
    monkeypatch.setattr(command_record, 'MEMORY', tmp_path)
    monkeypatch.setattr(monitor, 'PERIOD', 0.05)
    processes = []

    def start_arm(**parameters):
        arm = bench(**{
            'joints': JOINTS, 'mode': 'gravity_compensation', 'state_timeout': 9.0,
            'commands': TOPIC, 'start_from': 'automatic',
            **parameters})
        arm.describe(ARM)
        return arm

    def start_controllers(**settings):
        processes.append(SimulatedRos2Control(**{
            'topic': TOPIC, 'has_manager': False, 'parameters': FITTING, **settings}))
        return processes[-1]

    yield start_arm, start_controllers
    for process in processes:
        process.end()


def publish_state(arm):
    arm.state(JOINTS, Q, REST, efforts=GRAVITY)


def first_command(arm, controllers):
    """Return the first command that the controller gets from now on."""
    count = len(controllers.commands)

    def is_there():
        publish_state(arm)
        return len(controllers.commands) > count

    arm.until(is_there)
    return controllers.commands[count]


def test_the_joints_of_a_controller_that_only_the_topic_names_are_compared(start):
    start_arm, start_controllers = start
    controllers = start_controllers(parameters=OTHER_ORDER)
    arm = start_arm()
    said = "'/robot/effort_controller' has the joints elbow, shoulder; those of this node are"
    arm.until(lambda: said in arm.told('effort_controller'))
    assert 'set   joints: [elbow, shoulder]' in arm.told('effort_controller')
    for _ in range(20):
        publish_state(arm)
        arm.settle(0.0)
    assert controllers.commands == []
    assert arm.set_parameter('joints', JOINTS[::-1]).successful
    assert first_command(arm, controllers) == pytest.approx(GRAVITY[::-1])


def test_a_controller_that_appears_is_sent_nothing_before_its_joints_are_known(start):
    start_arm, start_controllers = start
    arm = start_arm()
    arm.answer(JOINTS, Q)  # it runs, and nobody receives
    controllers = start_controllers(parameters=OTHER_ORDER)

    def is_refused():
        publish_state(arm)
        return 'has the joints' in arm.told('effort_controller')

    arm.until(is_refused)
    assert controllers.commands == []


def test_a_controller_that_is_loaded_again_at_once_is_asked_anew(start, monkeypatch):
    monkeypatch.setattr(monitor, 'PERIOD', 60.0)  # only what the graph tells counts
    start_arm, start_controllers = start
    controllers = start_controllers(has_manager=False)
    arm = start_arm(start_from='zero')
    first_command(arm, controllers)
    publisher = arm.node._effort_publishers.of_commands
    controllers.unload()

    def is_gone():
        publish_state(arm)
        return publisher.get_subscription_count() == 0

    arm.until(is_gone)
    publish_state(arm)
    arm.settle()
    controllers.parameters = OTHER_ORDER
    count = len(controllers.commands)
    controllers.load()

    def is_refused():
        publish_state(arm)
        return 'has the joints' in arm.told('effort_controller')

    arm.until(is_refused)
    assert len(controllers.commands) == count


@pytest.mark.parametrize('parameters', [None, {'baud_rate': 1000000}])
def test_a_driver_without_a_parameter_joints_is_sent_efforts_and_that_is_said_once(
        start, monkeypatch, capfd, parameters):
    if parameters is None:  # it never answers
        monkeypatch.setattr(receivers, 'LONGEST_WAIT', 0.2)
    start_arm, start_controllers = start
    driver = start_controllers(parameters=parameters)
    arm = start_arm()
    assert first_command(arm, driver) == pytest.approx(GRAVITY)
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


def test_a_driver_that_the_parameter_names_needs_no_joints_if_it_receives_commands(start):
    start_arm, start_controllers = start
    driver = start_controllers(
        topic='/robot/torques', name='motor_driver', parameters={'baud': 1})
    arm = start_arm(commands='/robot/torques', effort_controller='motor_driver')
    assert first_command(arm, driver) == pytest.approx(GRAVITY)
    assert not arm.told('effort_controller')


def test_several_receivers_of_which_none_is_known_to_be_the_controller_are_reported(start):
    start_arm, start_controllers = start
    start_controllers(
        topic='/robot/torques', name='motor_driver', parameters={'baud': 1})
    start_controllers(topic='/robot/torques', name='recorder')
    arm = start_arm(commands='/robot/torques')
    arm.until(lambda: '/robot/motor_driver, /robot/recorder' in arm.told('receivers'))
    assert arm.set_parameter('effort_controller', 'motor_driver').successful
    arm.until(lambda: not arm.told('receivers'))


# ---- the order of the joints --------------------------------------------------------------------


@pytest.mark.parametrize('joints', [JOINTS[::-1], JOINTS[:1], []])
def test_joints_cannot_change_while_efforts_are_sent(start, joints):
    start_arm, start_controllers = start
    controllers = start_controllers(parameters={'baud_rate': 1})
    arm = start_arm()
    first_command(arm, controllers)
    result = arm.set_parameter('joints', joints)
    assert not result.successful
    assert 'from [shoulder, elbow] to [' in result.reason and '~/enable' in result.reason
    assert first_command(arm, controllers) == pytest.approx(GRAVITY)
    assert arm.set_parameter('enabled', False).successful

    def is_silent():
        publish_state(arm)
        return not arm.node.policy.is_sending

    arm.until(is_silent)
    assert arm.set_parameter('joints', joints).successful


def test_after_another_order_of_the_joints_the_last_command_is_no_evidence(start):
    start_arm, start_controllers = start
    controllers = start_controllers(parameters={'baud_rate': 1})
    arm = start_arm(blend_time=60.0)
    assert first_command(arm, controllers) == pytest.approx(GRAVITY, abs=0.01)
    assert arm.set_parameter('enabled', False).successful

    def is_silent():
        publish_state(arm)
        return not arm.node.policy.is_sending

    arm.until(is_silent)
    assert arm.set_parameter('joints', JOINTS[::-1]).successful
    assert arm.set_parameter('enabled', True).successful
    count = len(controllers.commands)
    arm.until(lambda: not arm.sends(JOINTS, Q, REST))
    half = [0.5 * effort for effort in GRAVITY]
    arm.until(lambda: arm.sends(JOINTS, Q, REST, efforts=half))

    def new_commands():  # one of the old order, which is GRAVITY, may still be on its way
        return [command for command in controllers.commands[count:]
                if command != pytest.approx(GRAVITY, abs=0.01)]

    arm.until(new_commands)
    assert new_commands()[0] == pytest.approx(half[::-1], abs=0.01)
