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
"""Controllers that are not active, over DDS: a controller manager tells their states."""

from made_parts import calls_of_services, made_by
import pytest
from ros2_rnea.node.controllers import effort_controller
from ros2_rnea.robots.robot import Robot
from simulated_ros2_control import (
    GRAVITY,
    GROUP,
    HAS_MESSAGES,
    JTC,
    publish_state,
    Q,
    REST,
)
from small_robots import ARM

pytestmark = [pytest.mark.ros, pytest.mark.skipif(
    not HAS_MESSAGES, reason='controller_manager_msgs is not installed')]


def assert_silent(arm, controllers):
    """Check that joint states are answered with no command, after those that are under way."""
    count = controllers.flush(arm)
    for _ in range(20):
        publish_state(arm)
        arm.settle(0.0)
    assert controllers.flush(arm) == count


@pytest.mark.parametrize('has_activity', [True, False])
@pytest.mark.parametrize('named', ['effort_controller', ''])
def test_an_inactive_controller_is_sent_nothing_until_it_is_active(
        start_arm, start_controllers, named, has_activity):
    controllers = start_controllers(has_activity=has_activity)
    controllers.switch(effort_controller='inactive')
    arm = start_arm(effort_controller=named)
    arm.until(lambda: 'is inactive: nothing is sent' in arm.told('effort_controller'))
    # What would be sent can be looked at, once the receivers are discovered.
    arm.until(lambda: publish_state(arm) or arm.efforts)
    assert_silent(arm, controllers)
    controllers.switch(effort_controller='active')
    assert controllers.first_command(arm) == pytest.approx(GRAVITY)
    arm.until(lambda: not arm.told('effort_controller'))


HALF = [0.5 * effort for effort in GRAVITY]


@pytest.mark.parametrize('types, beside, expected', [
    ({}, {}, GRAVITY),  # the hardware keeps the last command
    ({'effort_controller': GROUP}, {}, REST),  # it has written zero
    ({'other': JTC}, {'other': 'active'}, REST),  # the other one has, when it was deactivated
    ({}, {'other': 'active'}, HALF),  # nobody knows: as measured
])
def test_after_activation_the_effort_starts_from_what_is_held(
        start_arm, start_controllers, monkeypatch, types, beside, expected):
    managers = made_by(monkeypatch, effort_controller, 'ControllerManager')
    controllers = start_controllers()
    controllers.types = types
    inactive = dict.fromkeys(beside, 'inactive')
    controllers.switch(effort_controller='active', **inactive)
    arm = start_arm()
    arm.until(lambda: controllers.first_command(arm) == pytest.approx(GRAVITY))
    assert arm.set_parameter('blend_time', 60.0).successful
    controllers.switch(effort_controller='inactive', **beside)
    arm.until(lambda: 'is inactive' in arm.told('effort_controller'))
    arm.until(lambda: len(managers[-1].kinds) == 1 + len(beside))
    controllers.switch(effort_controller='inactive', **inactive)
    arm.until(lambda: 'nothing is sent' in arm.told('effort_controller'))
    assert_silent(arm, controllers)
    controllers.switch(effort_controller='active', **inactive)
    arm.until(lambda: not arm.told('effort_controller'))
    assert controllers.first_command(arm, HALF) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize('start_from, expected', [
    ('automatic', GRAVITY), ('zero', REST), ('measured', HALF)])
@pytest.mark.parametrize('has_activity', [True, False])
def test_a_controller_that_hands_over_the_arm_leaves_no_gap(
        start_arm, start_controllers, has_activity, start_from, expected):
    """The first command after the switch is there before anybody reports the switch."""
    controllers = start_controllers(has_activity=has_activity)
    controllers.switch(effort_controller='inactive', positions='active')
    arm = start_arm(start_from=start_from, blend_time=60.0)
    arm.until(lambda: 'another controller holds the arm' in arm.told('effort_controller'))
    for _ in range(20):  # it may be activated at any moment
        assert controllers.first_command(arm, HALF) == pytest.approx(expected)
    controllers.switch(effort_controller='active', positions='inactive')
    arm.until(lambda: not arm.told('effort_controller'))
    assert controllers.first_command(arm, HALF) == pytest.approx(expected, abs=0.01)
    if expected is not GRAVITY:  # from now on it is blended
        arm.until(lambda: controllers.first_command(arm, HALF) != pytest.approx(expected))


ON_A_WALL = {'gravity': [9.81, 0.0, 0.0], 'arm_gravity': [0.0, 0.0, -9.81]}
DIFFERENCE = (Robot.from_urdf(ARM).gravity(Q, ON_A_WALL['gravity']) - GRAVITY).tolist()


@pytest.mark.parametrize('has_activity', [True, False])
@pytest.mark.parametrize('kind', ['', GROUP])
def test_an_arm_that_holds_itself_first_gets_the_whole_difference(
        start_arm, start_controllers, has_activity, kind):
    """The first command after the activation is there before anybody reports the activation."""
    controllers = start_controllers(has_activity=has_activity)
    if kind:
        controllers.types['effort_controller'] = kind
    controllers.interfaces['broadcaster'] = []
    controllers.switch(effort_controller='inactive', broadcaster='active')
    arm = start_arm(arm='franka', blend_time=60.0, **ON_A_WALL)
    for _ in range(2):
        arm.until(lambda: 'inactive while the arm holds itself' in arm.told('effort_controller'))
        for _ in range(20):  # it may be activated at any moment
            assert controllers.first_command(arm) == pytest.approx(DIFFERENCE)
        controllers.switch(effort_controller='active', broadcaster='active')
        arm.until(lambda: not arm.told('effort_controller'))
        assert controllers.first_command(arm) == pytest.approx(DIFFERENCE)
        assert 'the arm has held itself' in arm.node.policy.start_reason
        controllers.switch(effort_controller='inactive', broadcaster='active')


@pytest.mark.parametrize('parameters', [
    {'arm': 'franka'},  # with the first command it goes on to hold itself
    {**ON_A_WALL, 'arm': 'generic', 'terms': 'no_gravity'},  # nobody knows that it holds itself
])
def test_other_inactive_arms_are_sent_nothing(start_arm, start_controllers, parameters):
    controllers = start_controllers()
    controllers.switch(effort_controller='inactive')
    arm = start_arm(**parameters)
    arm.until(lambda: 'is inactive: nothing is sent' in arm.told('effort_controller'))
    assert_silent(arm, controllers)


def test_arm_gravity_can_be_set_while_the_controller_is_inactive(start_arm, start_controllers):
    controllers = start_controllers()
    controllers.switch(effort_controller='inactive')
    arm = start_arm(arm='ur', gravity=ON_A_WALL['gravity'])
    arm.until(lambda: 'is inactive: nothing is sent' in arm.told('effort_controller'))
    assert arm.set_parameter('arm_gravity', ON_A_WALL['arm_gravity']).successful
    arm.until(lambda: 'while the arm holds itself' in arm.told('effort_controller'))
    assert controllers.first_command(arm) == pytest.approx(DIFFERENCE)
    assert arm.set_parameter('arm_gravity', []).successful
    arm.until(lambda: 'is inactive: nothing is sent' in arm.told('effort_controller'))
    assert_silent(arm, controllers)


OF_POSITIONS = ['shoulder/position', 'elbow/position']


@pytest.mark.parametrize('are_both_there_before', [True, False])
def test_beside_a_position_controller_an_arm_does_not_hold_itself(
        start_arm, start_controllers, are_both_there_before):
    controllers = start_controllers()
    controllers.types['positions'] = JTC
    controllers.interfaces['positions'] = OF_POSITIONS
    arm = start_arm(arm='ur', trajectory_controller='positions', blend_time=60.0, **ON_A_WALL)
    if are_both_there_before:
        controllers.switch(effort_controller='active', positions='active')
        controllers.first_command(arm)
    controllers.switch(effort_controller='inactive', positions='active')
    arm.until(lambda: 'is inactive: nothing is sent' in arm.told('effort_controller'))
    assert_silent(arm, controllers)


@pytest.mark.parametrize('has_activity', [True, False])
def test_beside_a_controller_of_positions_the_first_command_is_zero(
        start_arm, start_controllers, has_activity):
    """What is measured is the effort of the drives that hold a position; it would count twice."""
    controllers = start_controllers(has_activity=has_activity)
    controllers.types['positions'] = JTC
    controllers.interfaces['positions'] = OF_POSITIONS
    controllers.switch(effort_controller='active', positions='active')
    arm = start_arm(effort_controller='effort_controller', blend_time=60.0)
    assert controllers.first_command(arm) == pytest.approx(REST, abs=0.01)
    arm.until(lambda: controllers.first_command(arm) != pytest.approx(REST, abs=0.01))
    assert 'together with the effort controller' in arm.node.policy.start_reason


def test_beside_a_position_controller_a_restarted_node_goes_on(start_arm, start_controllers):
    controllers = start_controllers()
    controllers.types['positions'] = JTC
    controllers.interfaces['positions'] = OF_POSITIONS
    controllers.switch(effort_controller='active', positions='active')
    arm = start_arm()
    arm.until(lambda: controllers.first_command(arm) == pytest.approx(GRAVITY))
    arm.close()
    again = start_arm(blend_time=60.0)
    assert controllers.first_command(again, HALF) == pytest.approx(GRAVITY)
    assert again.node.policy.start_reason == 'the last command before'


@pytest.mark.parametrize('interfaces, is_silent', [
    (OF_POSITIONS, True), (['shoulder/effort', 'elbow/effort'], False)])
def test_the_trajectory_controller_of_positions_hands_nothing_over(
        start_arm, start_controllers, interfaces, is_silent):
    controllers = start_controllers()
    controllers.types['positions'] = JTC
    controllers.interfaces['positions'] = interfaces
    controllers.switch(effort_controller='inactive', positions='active')
    arm = start_arm(trajectory_controller='positions', blend_time=60.0)
    arm.until(lambda: ('is inactive: nothing is sent' if is_silent else 'holds the arm')
              in arm.told('effort_controller'))
    if not is_silent:  # both need the same interface, so that only one of them can be active
        assert controllers.first_command(arm, HALF) == pytest.approx(GRAVITY)
        return
    assert_silent(arm, controllers)
    controllers.switch(effort_controller='active', positions='active')
    arm.until(lambda: not arm.told('effort_controller'))
    assert controllers.first_command(arm) == pytest.approx(REST, abs=0.01)


def test_a_controller_without_command_interfaces_holds_no_arm(start_arm, start_controllers):
    controllers = start_controllers()
    controllers.interfaces['broadcaster'] = []
    controllers.switch(effort_controller='inactive', broadcaster='active')
    arm = start_arm()
    arm.until(lambda: 'is inactive: nothing is sent' in arm.told('effort_controller'))
    assert_silent(arm, controllers)


def test_a_controller_that_is_unloaded_is_sent_nothing(start_arm, start_controllers):
    controllers = start_controllers()
    controllers.switch(effort_controller='active')
    arm = start_arm()
    controllers.first_command(arm)
    controllers.interfaces['broadcaster'] = []
    controllers.switch(broadcaster='active')
    arm.until(lambda: 'is not loaded: nothing is sent' in arm.told('effort_controller'))
    assert_silent(arm, controllers)
    controllers.switch(broadcaster='active', effort_controller='active')
    assert controllers.first_command(arm) == pytest.approx(GRAVITY)


@pytest.mark.parametrize('states', [
    {}, {'broadcaster': 'active'}, {'effort_controller': ''}, {'effort_controller': 'garbage'},
    {'': 'inactive'}, {'effort_controller': 'activating'}])
@pytest.mark.parametrize('has_activity', [True, False])
def test_a_state_that_tells_nothing_stops_nothing(
        start_arm, start_controllers, has_activity, states):
    controllers = start_controllers(has_activity=has_activity)
    controllers.switch(**states)
    arm = start_arm()
    controllers.first_command(arm)
    arm.settle(0.3)
    assert controllers.first_command(arm) == pytest.approx(GRAVITY)
    assert not arm.told('effort_controller')


def test_a_controller_manager_that_does_not_answer_stops_nothing(
        start_arm, start_controllers, monkeypatch):
    controllers = start_controllers(has_activity=False)
    controllers.switch(effort_controller='active')
    arm = start_arm()
    controllers.first_command(arm)
    controllers.may_answer.clear()
    asked = calls_of_services(monkeypatch)
    arm.until(lambda: '/robot/controller_manager/list_controllers' in asked)
    count = len(arm.efforts)
    for _ in range(20):
        publish_state(arm)
        arm.settle(0.05)
    assert len(arm.efforts) > count
    controllers.may_answer.set()
    controllers.switch(effort_controller='inactive')
    arm.until(lambda: 'is inactive' in arm.told('effort_controller'))


def test_without_a_controller_manager_everything_is_as_before(start_arm, start_controllers):
    controllers = start_controllers(has_manager=False)
    arm = start_arm()
    assert controllers.first_command(arm) == pytest.approx(GRAVITY)


def test_another_controller_manager_can_be_named_or_none(start_arm, start_controllers):
    controllers = start_controllers()
    controllers.switch(effort_controller='inactive')
    arm = start_arm(controller_manager='other_manager')
    controllers.first_command(arm)
    assert arm.set_parameter('controller_manager', '/robot/controller_manager').successful
    arm.until(lambda: 'is inactive' in arm.told('effort_controller'))
    assert_silent(arm, controllers)
    assert arm.set_parameter('controller_manager', '').successful
    controllers.first_command(arm)
    assert not arm.set_parameter('controller_manager', 'no name').successful
