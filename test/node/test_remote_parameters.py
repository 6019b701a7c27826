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
"""The reader of another node's parameters, with services that answer when the test says so."""

from types import SimpleNamespace

import pytest
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.parameter import Parameter
from ros2_rnea.node.controllers.remote_parameters import POLLS_PER_REQUEST, RemoteParameters

WANTED = ('joints', 'interface_name')


class Request:
    """A request under way, as rclpy's futures are one."""

    def __init__(self, request):
        self.request = request
        self.is_removed = False
        self._callbacks = []
        self._result = None

    def add_done_callback(self, callback):
        self._callbacks.append(callback)

    def result(self):
        return self._result

    def answer(self, response):
        self._result = response
        for callback in self._callbacks:
            callback(self)


class Service:
    """A client whose requests wait in a list until the test answers them."""

    def __init__(self):
        self.is_ready = True
        self.requests = []

    def service_is_ready(self):
        return self.is_ready

    def call_async(self, request):
        self.requests.append(Request(request))
        return self.requests[-1]

    def remove_pending_request(self, request):
        request.is_removed = True


class World:
    """A reader, the services that it asks, and what it says."""

    def __init__(self):
        self.names, self.values = Service(), Service()
        self.destroyed = []
        self.answers = []
        clients = {ListParameters: self.names, GetParameters: self.values}
        node = SimpleNamespace(
            create_client=lambda kind, _: clients[kind], destroy_client=self.destroyed.append)
        self.reader = RemoteParameters(node, 'controller', WANTED, self.answers.append)

    def tell_names(self, number, *names):
        response = ListParameters.Response()
        response.result.names = list(names)
        self.names.requests[number].answer(response)

    def tell_values(self, number, *values):
        self.values.requests[number].answer(GetParameters.Response(values=[
            Parameter('some', value=value).get_parameter_value() for value in values]))


@pytest.fixture
def world():
    return World()


def test_it_asks_for_declared_parameters_and_hands_them_over(world):
    world.reader.poll()
    world.tell_names(0, 'interface_name', 'joints', 'something_else')
    assert list(world.values.requests[0].request.names) == list(WANTED)
    assert world.answers == []
    world.tell_values(0, ['shoulder', 'elbow'], 'effort')
    assert world.answers == [{'joints': ['shoulder', 'elbow'], 'interface_name': 'effort'}]


def test_of_a_node_that_lacks_one_it_has_the_other(world):
    world.reader.poll()
    world.tell_names(0, 'joints')
    world.tell_values(0, ['shoulder'])
    assert world.answers == [{'joints': ['shoulder']}]


@pytest.mark.parametrize('missing', ['names', 'values'])
def test_a_node_without_one_of_the_services_is_not_there(world, missing):
    getattr(world, missing).is_ready = False
    world.reader.poll()
    assert world.answers == [None]
    assert world.names.requests == []


def test_while_an_answer_is_pending_nothing_is_asked_again_soon(world):
    for _ in range(POLLS_PER_REQUEST):
        world.reader.poll()
    assert len(world.names.requests) == 1
    world.reader.poll()
    assert len(world.names.requests) == 2
    assert world.names.requests[0].is_removed
    for _ in range(POLLS_PER_REQUEST - 1):
        world.reader.poll()
    assert len(world.names.requests) == 2


def test_after_an_answer_the_next_look_asks_again(world):
    for number in range(2):
        world.reader.poll()
        world.tell_names(number, 'joints')
        world.tell_values(number, [f'joint_{number}'])
    assert world.answers == [{'joints': ['joint_0']}, {'joints': ['joint_1']}]


@pytest.mark.parametrize('forget', [
    lambda world: [world.reader.poll() for _ in range(POLLS_PER_REQUEST)],
    lambda world: world.reader.close()], ids=['asked again', 'closed'])
def test_an_answer_to_an_earlier_request_is_not_taken(world, forget):
    """Its values may be those of a controller that was configured anew since."""
    world.reader.poll()
    forget(world)
    world.tell_names(0, 'joints')
    assert world.values.requests == []
    assert world.answers == []


def test_values_of_a_node_that_has_gone_are_not_taken(world):
    world.reader.poll()
    world.tell_names(0, 'joints')
    world.names.is_ready = False
    world.reader.poll()
    assert world.answers == [None]
    world.tell_values(0, ['shoulder'])
    assert world.answers == [None]


def test_a_late_answer_does_not_stand_for_the_newer_request(world):
    for _ in range(POLLS_PER_REQUEST + 1):
        world.reader.poll()
    world.tell_names(0, 'joints')
    assert world.values.requests == []
    world.tell_names(1, 'interface_name')
    world.tell_values(0, 'effort')
    assert world.answers == [{'interface_name': 'effort'}]


@pytest.mark.parametrize('latency', [4, 7, 20])
def test_answers_that_always_come_late_count_in_the_end(world, latency):
    """As on a machine that is so busy that each takes longer than the first requests wait."""
    asked = []  # before which poll each request for names was sent
    for number in range(200):
        world.reader.poll()
        asked += [number] * (len(world.names.requests) - len(asked))
        for index, at in enumerate(asked):
            if at + latency == number:
                world.tell_names(index, 'joints')
        if world.values.requests:
            break
    world.tell_values(0, ['shoulder'])
    assert world.answers == [{'joints': ['shoulder']}]


def test_a_node_that_has_just_appeared_is_asked_at_once(world):
    for _ in range(10 * POLLS_PER_REQUEST):
        world.reader.poll()
    before = len(world.names.requests)
    world.reader.ask_anew()
    assert len(world.names.requests) == before + 1
    assert all(request.is_removed for request in world.names.requests[:before])
    for _ in range(POLLS_PER_REQUEST):  # if it does not answer, it is asked again as soon
        world.reader.poll()
    assert len(world.names.requests) == before + 2


def test_closed_it_gives_both_clients_back(world):
    world.reader.close()
    assert world.destroyed == [world.names, world.values]
