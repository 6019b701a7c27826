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
"""That efforts go on from what is held after the controller was not heard for a while."""

from types import SimpleNamespace

import pytest
from rclpy.client import Client
from ros2_rnea.node import inverse_dynamics_node
from ros2_rnea.node.controllers.receivers import Receivers
from simulated_ros2_control import GRAVITY, HAS_MESSAGES, publish_state

pytestmark = pytest.mark.ros


@pytest.fixture
def start(start_arm, start_controllers):
    """Return a function that starts the node and a controller, which holds gravity."""
    def start(**parameters):
        controllers = start_controllers(has_manager=HAS_MESSAGES)
        if HAS_MESSAGES:
            controllers.switch(effort_controller='active')
        arm = start_arm(effort_controller='effort_controller', **parameters)
        arm.until(lambda: controllers.first_command(arm) == pytest.approx(GRAVITY))
        assert arm.set_parameter('blend_time', 60.0).successful
        return arm, controllers

    return start


def send_states_until(arm, condition):
    """Publish joint states until a condition holds."""
    def is_met():
        publish_state(arm)
        return condition()

    arm.until(is_met)


@pytest.fixture
def network(monkeypatch):
    """Return a network between the node and its controller that can be cut."""
    network = Network(monkeypatch)
    yield network
    network.mend()


class Network:
    """
    While it is cut, neither the node nor its controller hears the other.

    :ivar receivers: what the node that is made next knows of those who receive its commands.
    """

    def __init__(self, monkeypatch):
        self._cut = pytest.MonkeyPatch()
        self._is_cut = False
        monkeypatch.setattr(inverse_dynamics_node, 'Receivers', self._make_receivers)

    def _make_receivers(self, node, publisher, *more):
        def count():
            return 0 if self._is_cut else publisher.handle.get_subscription_count()

        self.receivers = Receivers(node, SimpleNamespace(
            topic_name=publisher.topic_name,
            handle=SimpleNamespace(get_subscription_count=count)), *more)
        return self.receivers

    def cut(self, arm):
        self._is_cut = True
        self._cut.setattr(arm.node, 'get_subscriptions_info_by_topic', lambda _: [])
        self._cut.setattr(arm.node, 'count_publishers', lambda _: 0)
        self._cut.setattr(Client, 'service_is_ready', lambda _: False)

    def mend(self):
        self._is_cut = False
        self._cut.undo()


@pytest.mark.parametrize('start_from', ['automatic', 'zero'])
def test_after_a_cut_the_controller_still_holds_the_last_command(start, network, start_from):
    arm, controllers = start(start_from=start_from)
    count = controllers.flush(arm)
    network.cut(arm)
    send_states_until(arm, lambda: not arm.node.policy.is_sending)
    assert 'is not available' in arm.told('effort_controller')
    network.mend()
    assert controllers.first_command(arm) == pytest.approx(GRAVITY, abs=0.05)
    assert all(command == pytest.approx(GRAVITY, abs=0.05)
               for command in controllers.commands[count:])


@pytest.mark.parametrize('start_from', ['automatic', 'zero'])
def test_a_cut_from_an_unnamed_controller_changes_nothing_held(start, network, start_from):
    arm, controllers = start(start_from=start_from)
    assert arm.set_parameter('effort_controller', '').successful
    count = controllers.flush(arm)
    network.cut(arm)
    send_states_until(arm, lambda: not network.receivers.present)
    network.mend()
    assert controllers.first_command(arm) == pytest.approx(GRAVITY, abs=0.05)
    assert all(command == pytest.approx(GRAVITY, abs=0.05)
               for command in controllers.commands[count:])


def test_an_empty_name_while_efforts_are_sent_changes_none(start):
    arm, controllers = start()
    count = controllers.flush(arm)
    assert arm.set_parameter('effort_controller', '').successful
    send_states_until(arm, lambda: len(controllers.commands) > count + 20)
    assert all(command == pytest.approx(GRAVITY, abs=0.05)
               for command in controllers.commands[count:])
