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
"""Who publishes robot descriptions, and which robot one of them is of."""

from types import SimpleNamespace

import pytest
from ros2_rnea.node.models.other_robots import DescriptionPublishers, robot_name

pytestmark = pytest.mark.ros


class Graph:
    """A node that knows the publishers of a topic, by name."""

    def __init__(self):
        self.publishers = ['mine']

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
def publishers(graph):
    publishers = DescriptionPublishers(graph)
    publishers.poll()
    return publishers


def test_nodes_whose_texts_differ_are_named_until_one_is_left(graph, publishers):
    assert publishers.difference() == ''
    publishers.note_arrival(is_another_text=True)  # a single publisher has corrected its text
    graph.publishers = ['mine', 'another']
    publishers.note_arrival(is_another_text=False)
    assert publishers.difference() == ''
    publishers.note_arrival(is_another_text=True)
    for _ in range(2):
        assert not publishers.poll()
        assert '/another, /mine' in publishers.difference()
    graph.publishers = ['mine']
    assert publishers.poll()
    assert publishers.difference() == ''
    graph.publishers = ['mine', 'another']
    publishers.poll()
    assert publishers.difference() == ''


def test_a_publisher_that_has_gone_is_noticed_once(graph, publishers):
    graph.publishers = ['mine', 'another']
    assert not publishers.poll()
    graph.publishers = ['another', 'third']
    assert publishers.poll()
    assert not publishers.poll()


def test_a_publisher_that_goes_before_the_first_poll_is_noticed(graph, publishers):
    graph.publishers = ['mine', 'another']
    publishers.note_arrival(is_another_text=False)
    graph.publishers = ['mine']
    assert publishers.poll()


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
