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
"""Who publishes the robot's description, as the node's guard against another robot knows it."""

from time import monotonic
from types import SimpleNamespace

import pytest
from ros2_rnea.node.models import description_guard
from ros2_rnea.node.models.description_guard import DescriptionGuard, robot_name, SETTLING

pytestmark = pytest.mark.ros


class Graph:
    """A node that knows the publishers of a topic, by name."""

    def __init__(self):
        self.publishers = []

    def resolve_topic_name(self, topic):
        return f'/{topic}'

    def get_publishers_info_by_topic(self, topic):
        assert topic == '/robot_description'
        return [SimpleNamespace(endpoint_gid=[*name.encode()], node_name=name, node_namespace='/')
                for name in self.publishers]


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def guard(graph):
    """Return the guard of a node that uses the description of the node 'mine'."""
    guard = DescriptionGuard(graph)
    graph.publishers = ['mine']
    guard.note_arrival('my robot', None, is_in_use=False)
    guard.note_use('my robot')
    return guard


def test_nodes_whose_texts_differ_are_named_until_one_of_them_is_left(graph, guard):
    assert guard.ambiguity() == ''
    graph.publishers = ['mine', 'another']
    guard.note_arrival('my robot', 'my robot', is_in_use=True)
    assert guard.ambiguity() == ''
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    assert '/another, /mine' in guard.ambiguity()
    assert '/another, /mine' in guard.ambiguity()
    graph.publishers = ['mine']
    assert guard.ambiguity() == ''
    graph.publishers = ['mine', 'another']
    assert guard.ambiguity() == ''


def test_the_one_in_use_that_is_published_again_makes_no_other_publisher_its_own(graph, guard):
    graph.publishers = ['mine', 'another']
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    guard.note_arrival('my robot', 'my robot', is_in_use=True)
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    reason = str(guard.withhold('another robot', 'other', 'my'))
    assert 'was published by /mine when' in reason and '/another came later' in reason
    assert not guard.poll() and guard.withheld
    assert guard.is_robot_described
    graph.publishers = ['another']
    assert not guard.is_robot_described
    graph.publishers = ['mine']
    assert guard.poll() and guard.withheld is None


def test_a_rival_that_published_from_the_start_is_forgotten_when_a_publisher_has_gone(
        graph, guard):
    graph.publishers = ['mine', 'another']
    guard.note_arrival('my robot', None, is_in_use=False)
    guard.note_use('my robot')
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    assert 'no other node came later' in str(guard.withhold('another robot', 'other', 'my'))
    assert not guard.poll() and guard.withheld
    graph.publishers = ['mine']
    assert guard.poll()  # who is left sends its description again
    assert guard.withheld is None
    assert not guard.poll()


def test_a_rival_stays_one_when_another_model_of_the_robot_is_used(graph, guard):
    graph.publishers = ['mine', 'another']
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    guard.withhold('another robot', 'other', 'my')
    graph.publishers = ['mine', 'another', 'identifier']
    guard.note_arrival('my robot, identified', 'my robot', is_in_use=False)
    guard.note_use('my robot, identified')
    assert guard.withheld == 'another robot'
    reason = str(guard.withhold('another robot', 'other', 'my'))
    assert '/identifier, /mine when' in reason and '/another came later' in reason
    graph.publishers = ['mine', 'identifier']
    assert guard.poll() and guard.withheld is None


def test_a_rival_that_is_started_again_is_not_forgotten(graph, guard):
    graph.publishers = ['mine', 'another']
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    guard.withhold('another robot', 'other', 'my')
    graph.publishers = ['mine', 'again']
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    assert not guard.poll() and guard.withheld


@pytest.fixture
def undecided(graph, monkeypatch):
    """Return the guard of a node that has received the descriptions of two robots."""
    guard = DescriptionGuard(graph)
    graph.publishers = ['mine', 'another']
    guard.note_arrival('<robot name="my">', None, is_in_use=False, is_decided=False)
    assert not guard.is_undecided
    guard.note_arrival("<robot name='other'>", '<robot name="my">', False, is_decided=False)
    assert guard.is_undecided
    assert not guard.poll()
    return guard


def settle(monkeypatch, times=2.0):
    """Let the time pass in which texts are expected."""
    later = monotonic() + times * SETTLING
    monkeypatch.setattr(description_guard, 'monotonic', lambda: later)


def test_of_two_robots_the_one_is_known_that_is_described_after_a_publisher_has_gone(
        graph, undecided, monkeypatch):
    assert '/another, /mine' in undecided.ambiguity()
    assert 'nothing is sent' in undecided.ambiguity()
    settle(monkeypatch)
    assert not undecided.poll() and undecided.is_undecided
    graph.publishers = ['mine']
    monkeypatch.undo()
    assert undecided.poll() and undecided.is_undecided
    assert not undecided.poll() and undecided.is_undecided
    undecided.note_arrival('<robot name="my">', "<robot name='other'>", False, is_decided=False)
    assert not undecided.poll() and undecided.is_undecided  # others may come yet
    settle(monkeypatch)
    assert not undecided.poll() and not undecided.is_undecided


def test_a_third_publisher_that_has_gone_decides_nothing(graph, undecided, monkeypatch):
    graph.publishers = ['mine', 'another', 'third']
    assert not undecided.poll()
    graph.publishers = ['mine', 'another']
    assert undecided.poll()
    for name in ('my', 'other'):
        undecided.note_arrival(f'<robot name="{name}">', '', False, is_decided=False)
    settle(monkeypatch)
    assert not undecided.poll() and undecided.is_undecided


def test_two_publishers_that_describe_one_robot_in_the_end_are_no_longer_undecided(
        graph, undecided, monkeypatch):
    settle(monkeypatch)
    undecided.note_arrival('<robot name="my">', '', False, is_decided=False)  # it was corrected
    assert undecided.poll()  # what do the others say now?
    monkeypatch.undo()
    assert not undecided.poll()
    for _ in range(2):
        undecided.note_arrival('<robot name="my">', '', False, is_decided=False)
    settle(monkeypatch, 9.0)
    assert not undecided.poll()
    assert (undecided.is_undecided, undecided.decided) == (False, 'my')


def test_a_publisher_that_goes_before_the_first_poll_is_noticed(graph, monkeypatch):
    guard = DescriptionGuard(graph)
    graph.publishers = ['mine', 'another']
    for name in ('my', 'other'):
        guard.note_arrival(f'<robot name="{name}">', '', False, is_decided=False)
    graph.publishers = ['mine']
    assert guard.poll()


def test_any_publisher_that_has_gone_makes_what_is_withheld_be_asked_for_again(graph, guard):
    graph.publishers = ['mine', 'another', 'third']
    guard.note_arrival('third robot', 'my robot', is_in_use=False)
    guard.withhold('third robot', 'third', 'my')
    graph.publishers = ['mine', 'another']
    assert guard.poll() and guard.withheld is None
    guard.note_arrival('another robot', 'my robot', is_in_use=False)
    guard.withhold('another robot', 'other', 'my')
    assert not guard.poll() and guard.withheld == 'another robot'


def test_one_publisher_may_describe_robots_one_after_the_other(graph, guard):
    for name in ('my', 'other', 'my'):
        guard.note_arrival(f'<robot name="{name}">', '', is_in_use=False, is_decided=False)
        assert not guard.is_undecided
    graph.publishers = ['mine', 'second']
    guard.note_arrival('<robot name="my">', '', is_in_use=False, is_decided=False)
    assert not guard.is_undecided


@pytest.mark.parametrize(('text', 'name'), [
    ('<?xml version="1.0"?>\n<!-- <robot name="no"> -->\n<robot\n version="2" name="a b">', 'a b'),
    ("<robot name = 'arm'>", 'arm'),
    ('<!--' + 70_000 * ' ' + '--><robot name="far away">', 'far away'),
    ('\ufeff\n<?xml version="1.0" encoding="utf-16"?><robot name="Ärmel"><link', 'Ärmel'),
    ('<robot version="1>0" name="behind a bracket">', 'behind a bracket'),
    ('<robot name="a &amp; b&#x21;\nc">', 'a & b! c'),
    ('<robot name="arm"><broken', 'arm'),
    *((f'{" " * before}<!--{"x" * size}--><robot name="b"/>', 'b')
      for before in (0, 3000) for size in (3000, 5000, 8000, 20_000, 40_000)),
    ('<robot filename="x">', ''),
    ('<robot><link name="base"/></robot>', ''),
    ('<link name="base"/>', ''),
    ('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;">', ''),
    ('<!-- <robot name="never closed">', ''), ('<robot name="\ud800">', ''),
    ('', ''), ('<' * 100_000, ''), ('<!--' * 100_000, ''), ('<robot ' + 'name ' * 100_000, ''),
], ids=range(27))
def test_the_name_of_a_robot_is_read_without_its_description(text, name):
    assert robot_name(text) == name
