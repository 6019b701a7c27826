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

from types import SimpleNamespace

import pytest
from ros2_rnea.node.models.description_guard import DescriptionGuard

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
    guard.note_use()
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
    assert not guard.has_gone
    assert guard.is_robot_described
    graph.publishers = ['another']
    assert not guard.is_robot_described
    graph.publishers = ['mine']
    assert guard.has_gone
