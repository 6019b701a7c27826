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
"""Who receives the commands, over a graph that changes as discovery and crashes let it."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.qos import ReliabilityPolicy
from ros2_rnea.control.output.start_effort import Receiver
from ros2_rnea.node.controllers import receiver_graph, receivers
from ros2_rnea.node.controllers.receiver_graph import MAX_NAMES, ReceiverGraph
from ros2_rnea.node.controllers.receiver_table import LONGEST_LEASE, MAX_KNOWN, ReceiverTable
from ros2_rnea.node.controllers.receivers import (
    DISCOVERY_TIME,
    LONGEST_PAUSE,
    LONGEST_WAIT,
    Receivers,
)
from ros2_rnea.node.topics.command_record import CommandRecord, record_path, RecordedCommand
from ros2_rnea.node.topics.publishers import UNKNOWN_NODE

JOINTS = ('shoulder', 'elbow')
TOPIC = '/effort_controller/commands'
C, RECORDER = 'effort_controller', 'recorder'


class Graph:
    """A node and its publisher, to which the endpoints of a list are discovered."""

    topic_name = TOPIC

    def __init__(self):
        self.endpoints, self.drivers, self.count = [], [], None
        self.publishers = [('inverse_dynamics', 1)]
        self.handle = SimpleNamespace(get_subscription_count=lambda: (
            len(self.endpoints) if self.count is None else self.count))

    def get_fully_qualified_name(self):
        return '/inverse_dynamics'

    def resolve_topic_name(self, name):
        return f'/{name}'

    def get_subscriptions_info_by_topic(self, topic):
        assert topic == TOPIC
        return [self.info(*endpoint) for endpoint in self.endpoints]

    def get_publishers_info_by_topic(self, topic):
        by_topic = {'/joint_states': self.drivers, TOPIC: self.publishers}
        return [self.info(*endpoint) for endpoint in by_topic[topic]]

    def info(self, name, process, entity=0, reliability=ReliabilityPolicy.RELIABLE):
        return SimpleNamespace(
            node_name=name, node_namespace='/', endpoint_gid=[process] * 12 + [entity] * 4,
            qos_profile=SimpleNamespace(reliability=reliability))


class Watch:
    """Receivers on a graph, with a clock that a test sets."""

    def __init__(self, monkeypatch, rmw='rmw_fastrtps_cpp'):
        self.time, self.is_sending, self.controller = 100.0, True, '/' + C
        self.publishing_nodes = frozenset()
        monkeypatch.setattr(receivers, 'monotonic', lambda: self.time)
        monkeypatch.setattr(receiver_graph, 'get_rmw_implementation_identifier', lambda: rmw)
        self.graph = Graph()
        self.start()

    def start(self):
        """Start the node, again."""
        self.receivers = Receivers(
            self.graph, self.graph, lambda: self.publishing_nodes)

    def after(self, seconds, *endpoints):
        """Let the graph change, and return whether a cycle sees others."""
        self.time += seconds
        self.graph.endpoints = [*endpoints]
        return self.receivers.have_changed(self.controller, self.is_sending)

    def send(self, *effort):
        self.receivers.record(JOINTS, np.array(effort))

    @property
    def knows(self):
        evidence = self.receivers.evidence(JOINTS)
        return evidence.receiver, tuple(evidence.last_command.values())


@pytest.fixture
def watch(monkeypatch, own_records):
    return Watch(monkeypatch)


def test_first_receiver_may_be_older_unless_it_comes_late(watch):
    assert watch.knows == (Receiver.NONE, ())
    assert watch.after(1.0, (C, 7))
    assert watch.knows == (Receiver.UNKNOWN, ())
    watch.send(3.0, 4.0)
    assert not watch.after(0.001, (C, 7))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_receiver_that_comes_late_is_new(watch):
    watch.after(1.0)
    assert watch.after(20.0, (C, 7))
    assert watch.knows[0] is Receiver.NEW


def test_who_is_there_at_the_first_look_may_be_older(watch):
    assert watch.after(60.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_receiver_that_comes_back_late_may_be_older(watch):
    watch.after(1.0, (C, 7))
    watch.after(20.0)
    assert watch.after(20.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_controller_loaded_late_in_the_drivers_process_may_hold_something(watch):
    watch.graph.drivers = [('joint_state_broadcaster', 7)]
    watch.after(1.0)
    assert watch.after(60.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_receiver_in_the_process_of_this_node_is_not_older(watch):
    watch.after(0.0, (C, 1))
    assert watch.knows[0] is Receiver.NEW


@pytest.mark.parametrize('others, receiver', [
    ([], Receiver.NEW), ([('other', 8)], Receiver.UNKNOWN)])
def test_the_only_publisher_is_this_node_without_its_name_too(watch, others, receiver):
    watch.graph.publishers = [(UNKNOWN_NODE, 1, 5), *others]
    watch.after(0.0, (C, 1))
    assert watch.knows[0] is receiver


def test_node_that_was_killed_finds_what_its_receiver_holds(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(1.0, (C, 7))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_one_of_the_recorded_receivers_name_may_hold_something(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(1.0, (C, 7), (C, 8))
    assert watch.knows[0] is Receiver.UNKNOWN
    assert watch.after(20.0, (C, 8))  # the first one was dead
    assert watch.knows[0] is Receiver.UNKNOWN  # the second may be older than this node


def test_successor_is_recognized_while_its_predecessor_is_still_listed(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    assert not watch.after(20.0, (C, 7), (UNKNOWN_NODE, 8))
    assert watch.receivers.are_incomplete
    assert watch.after(0.002, (C, 7), (C, 8))
    assert watch.knows[0] is Receiver.UNKNOWN  # one holds the last command, or has crashed
    assert watch.after(20.0, (C, 8))
    assert watch.knows[0] is Receiver.NEW


@pytest.mark.parametrize(('is_sending', 'pause'), [(True, LONGEST_PAUSE), (False, LONGEST_WAIT)])
def test_receiver_without_a_name_is_waited_for_shortly(watch, is_sending, pause):
    watch.is_sending = is_sending
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.after(1.0, (C, 7), (UNKNOWN_NODE, 8))
    watch.after(0.5 * pause, (C, 7), (UNKNOWN_NODE, 8))
    assert watch.receivers.are_incomplete
    assert not watch.after(1.1 * pause, (C, 7), (UNKNOWN_NODE, 8))
    assert not watch.receivers.are_incomplete


@pytest.mark.parametrize(('is_sending', 'pause'), [(True, LONGEST_PAUSE), (False, LONGEST_WAIT)])
def test_receiver_that_is_counted_before_it_is_listed_is_waited_for_once(
        watch, is_sending, pause):
    watch.is_sending = is_sending
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.graph.count = 2
    watch.after(0.001, (C, 7))
    watch.after(0.7 * pause, (C, 7), (UNKNOWN_NODE, 8))
    assert watch.receivers.are_incomplete
    watch.after(0.4 * pause, (C, 7), (UNKNOWN_NODE, 8))
    assert not watch.receivers.are_incomplete


def test_graph_that_lags_behind_is_looked_at_in_each_cycle(watch):
    watch.after(1.0)
    watch.graph.count = 1
    assert not watch.after(0.001)
    assert watch.receivers.are_incomplete and not watch.receivers.present
    assert watch.after(0.001, (C, 7))
    assert not watch.receivers.are_incomplete


@pytest.mark.parametrize(('is_sending', 'pause'), [(True, LONGEST_PAUSE), (False, LONGEST_WAIT)])
def test_graph_that_stays_behind_stops_the_cycle_shortly(watch, is_sending, pause):
    watch.is_sending = is_sending
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.graph.count = 2
    assert not watch.after(0.001, (C, 7)) and watch.receivers.are_incomplete
    for _ in range(3):
        assert not watch.after(1.1 * pause, (C, 7))
        assert not watch.receivers.are_incomplete


def test_graph_that_falls_further_behind_is_waited_for_again(watch):
    watch.after(1.0, (C, 7))
    for watch.graph.count in (2, 3):
        watch.after(1.0, (C, 7))
        assert watch.receivers.are_incomplete
        watch.after(1.0, (C, 7))
        assert not watch.receivers.are_incomplete


def test_recorder_is_nobody_while_the_controller_is_unloaded(watch):
    watch.after(1.0, (C, 7), (RECORDER, 9))
    watch.send(3.0, 4.0)
    assert not watch.after(1.0, (RECORDER, 9))
    assert not watch.receivers.present
    assert watch.after(1.0, (RECORDER, 9), (C, 7, 5))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_recorder_is_nobody_after_a_crash_either(watch):
    watch.after(1.0, (C, 7), (RECORDER, 9))
    watch.send(3.0, 4.0)
    watch.start()
    assert not watch.after(1.0, (RECORDER, 9))
    assert not watch.receivers.present
    assert watch.after(1.0, (RECORDER, 9), (C, 7))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def start_beside_a_recorder(watch):
    """Let the node be killed after commands to the controller, and find a recorder only."""
    watch.after(1.0, (C, 7), (RECORDER, 9))
    watch.send(3.0, 4.0)
    watch.start()
    watch.after(1.0, (RECORDER, 9))


def test_the_controller_in_the_record_is_awaited_and_given_up(watch):
    start_beside_a_recorder(watch)
    assert not watch.after(0.9 * DISCOVERY_TIME, (RECORDER, 9))
    assert not watch.receivers.present and not watch.receivers.controller_given_up
    said = watch.receivers.controller_awaited
    assert f'/{C} is waited for' in said and '/recorder may be a recorder' in said
    assert str(record_path('/inverse_dynamics')) in said
    assert watch.receivers.evidence(JOINTS).absence == (
        f'/{C}, which received the last command, is waited for')
    assert watch.after(0.1 * DISCOVERY_TIME, (RECORDER, 9))
    assert {each.node for each in watch.receivers.present} == {'/' + RECORDER}
    assert not watch.receivers.controller_awaited
    assert 'has not appeared within 10 s' in watch.receivers.controller_given_up


def test_the_wait_begins_when_others_receive(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    assert not watch.after(1.0) and not watch.receivers.controller_awaited
    assert not watch.after(2.0 * DISCOVERY_TIME, (RECORDER, 9))
    assert watch.receivers.controller_awaited


def test_a_controller_that_was_given_up_holds_what_was_recorded(watch):
    start_beside_a_recorder(watch)
    watch.after(DISCOVERY_TIME, (RECORDER, 9))
    watch.send(1.0, 2.0)  # received by the recorder
    assert watch.after(60.0, (RECORDER, 9), (C, 7))
    assert {each.node for each in watch.receivers.present} == {'/' + C}
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))
    assert not watch.receivers.evidence(JOINTS).is_own
    assert not watch.receivers.controller_given_up


def test_its_successor_holds_nothing(watch):
    start_beside_a_recorder(watch)
    watch.after(DISCOVERY_TIME, (RECORDER, 9))
    watch.send(1.0, 2.0)
    assert watch.after(60.0, (RECORDER, 9), (C, 8))
    assert watch.knows[0] is Receiver.NEW


def test_a_controller_that_was_seen_is_waited_for_without_end(watch):
    watch.after(1.0, (C, 7), (RECORDER, 9))
    assert not watch.after(60.0, (RECORDER, 9))
    assert not watch.receivers.present and not watch.receivers.controller_awaited


def test_a_command_of_others_makes_the_record_void(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    watch.after(1.0, (C, 7))
    watch.receivers.note_command_of_others((8.0, 9.0), is_commanding=False)
    watch.start()  # which has never sent anything
    watch.after(1.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_without_the_controllers_name_who_is_added_replaces_nobody(watch):
    driver = ('motor_driver', 7)
    assert watch.after(1.0, driver)
    watch.send(3.0, 4.0)
    assert not watch.after(1.0, driver, (RECORDER, 9))
    watch.send(3.0, 5.0)
    assert not watch.after(1.0, (RECORDER, 9))
    watch.send(3.0, 6.0)
    assert watch.after(20.0, (RECORDER, 9), ('motor_driver', 8))
    assert watch.knows[0] is Receiver.UNKNOWN  # which of them is the driver?
    assert watch.after(20.0, ('motor_driver', 8))
    assert watch.knows[0] is Receiver.NEW


def test_network_that_is_cut_changes_nothing_that_is_held(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    assert not watch.after(1.0)
    assert watch.after(30.0, (C, 7))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_receiver_that_replaces_another_in_a_pause_is_seen(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    assert watch.after(20.0, (C, 8))
    assert watch.knows[0] is Receiver.NEW


def test_without_participants_a_loaded_controller_may_hold_something(monkeypatch, own_records):
    watch = Watch(monkeypatch, 'rmw_zenoh_cpp')
    watch.after(1.0, (C, 7, 1))
    watch.send(3.0, 4.0)
    watch.after(1.0)
    assert watch.after(30.0, (C, 7, 2))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_controller_discovered_again_without_its_name_is_the_same(watch):
    watch.after(1.0, (C, 7), (RECORDER, 8))
    watch.send(3.0, 4.0)
    watch.after(20.0)  # DDS gives both up while the network is cut
    assert not watch.receivers.present
    watch.after(10.0, (UNKNOWN_NODE, 7), (UNKNOWN_NODE, 8))
    assert {endpoint.node for endpoint in watch.receivers.present} == {'/' + C}
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_processes_that_have_gone_do_not_pile_up(watch):
    """As those of ``ros2 topic echo ~/commands``, each of which is another one."""
    table = ReceiverTable(ReceiverGraph(watch.graph, TOPIC, frozenset), RecordedCommand())
    for process in range(10, 200):
        watch.after(1.0, (C, 7), (RECORDER, process))
        table.look('/' + C, watch.time, DISCOVERY_TIME)
    assert len(table.processes) < 15  # those of the first 10 s, and the present ones
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))
    table.first = frozenset({'of a process that is forgotten'})
    table.look('/' + C, watch.time, DISCOVERY_TIME)
    assert not table.first


def test_names_of_endpoints_do_not_pile_up(watch):
    graph = ReceiverGraph(watch.graph, TOPIC, frozenset)

    def name(number, node):
        watch.graph.endpoints = [(node, 7)]
        watch.graph.info = lambda name, process: SimpleNamespace(
            node_name=name, node_namespace='/', endpoint_gid=number.to_bytes(16, 'little'))
        return next(iter(graph.receivers('')[0])).node

    for number in range(1, MAX_NAMES + 2):
        name(number, RECORDER)
    assert name(MAX_NAMES + 1, UNKNOWN_NODE) == name(2, UNKNOWN_NODE) == '/' + RECORDER
    assert name(1, UNKNOWN_NODE) == ''


# ---- by the process, not by the name ------------------------------------------------------------

DRIVER = 'motor_driver'
TWO = [(DRIVER, 7), (RECORDER, 9)]


def appearing(watch, order, pause=0.02):
    """Let receivers be discovered one after the other, and note each thing that is known."""
    known, there = [], []
    for endpoint in order:
        there.append(endpoint)
        if watch.after(pause, *there):
            known.append(watch.knows)
        if watch.receivers.present:
            watch.send(3.1, 4.1)
    return known


@pytest.mark.parametrize('order', [TWO, TWO[::-1]])
@pytest.mark.parametrize('pause', [0.001, 0.02, 4.0])
def test_recorded_receivers_hold_the_last_command_in_any_order(
        watch, order, pause):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.start()
    assert appearing(watch, order, pause) == [(Receiver.SAME, (3.0, 4.0))]


@pytest.mark.parametrize('order', [[(C, 7), (C, 8)], [(C, 8), (C, 7)]])
def test_two_recorded_controllers_of_one_name_do_so_too(watch, order):
    watch.after(1.0, (C, 7), (C, 8))
    watch.send(3.0, 4.0)
    watch.start()
    assert appearing(watch, order) == [(Receiver.SAME, (3.0, 4.0))]


@pytest.mark.parametrize('order', [TWO, TWO[::-1]])
def test_a_recorded_receiver_after_the_wait_is_never_new(watch, order):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.start()
    watch.after(1.0, order[0])
    said = watch.receivers.controller_awaited
    assert f'/{order[1][0]} is waited for, at most {LONGEST_WAIT:g} s' in said
    assert watch.after(1.1 * LONGEST_WAIT, order[0])
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))
    assert 'has not appeared within 5 s' in watch.receivers.controller_given_up
    watch.send(3.5, 4.5)
    assert watch.after(60.0, *order)
    assert watch.knows[0] is Receiver.UNKNOWN


def test_the_wait_for_recorded_receivers_ends_when_they_are_there(watch):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.start()
    assert not watch.after(0.1, TWO[1])
    assert not watch.receivers.present
    assert watch.receivers.evidence(JOINTS).absence == (
        f'/{DRIVER}, which received the last command, is waited for')
    assert watch.after(0.1, *TWO) and not watch.receivers.controller_awaited


def test_a_recorded_recorder_is_not_awaited_beside_the_driver(watch):
    watch.graph.drivers = [('joint_states', 7)]
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(0.1, TWO[0])
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_a_receiver_that_was_lost_is_never_new(watch):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    assert not watch.after(20.0, TWO[1])  # the network to the driver is cut
    watch.send(5.0, 6.0)
    assert watch.after(20.0, *TWO)
    assert watch.knows[0] is Receiver.UNKNOWN


def test_nor_is_it_after_a_restart_of_the_node(watch):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.after(20.0, TWO[1])
    watch.send(5.0, 6.0)  # the record names this receiver only
    watch.start()
    assert watch.after(1.0, TWO[1])
    assert watch.knows == (Receiver.SAME, (5.0, 6.0))
    watch.send(5.0, 6.0)
    assert watch.after(60.0, *TWO)
    assert watch.knows[0] is Receiver.UNKNOWN


def test_a_recorder_of_last_week_lets_no_other_one_count(watch):
    """It is listed in the record among those that received earlier commands."""
    driver, recorder, other = ((DRIVER, 7), ('echo', 8), ('echo', 9))
    watch.after(1.0, driver)
    watch.send(3.0, 4.0)
    watch.after(1.0, driver, recorder)
    watch.send(3.0, 4.0)
    watch.after(1.0, driver)
    watch.send(3.0, 4.0)
    watch.start()
    watch.after(1.0, driver)
    watch.send(3.0, 4.0)
    watch.is_sending = False
    assert not watch.after(60.0, driver, other)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


@pytest.mark.parametrize('drivers', [[], [('joint_states', 7)]])
def test_a_recorder_of_the_same_name_as_another_replaces_nobody(watch, drivers):
    watch.graph.drivers = drivers
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    assert not watch.after(20.0, *TWO, (RECORDER, 10))
    watch.send(3.0, 4.0)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_who_publishes_the_joint_states_is_the_driver(watch):
    watch.graph.drivers = [('joint_states', 7)]
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    assert not watch.after(20.0, TWO[0])
    watch.send(3.0, 5.0)
    assert not watch.after(20.0, TWO[0], (RECORDER, 10))  # another echo
    assert watch.knows == (Receiver.SAME, (3.0, 5.0))
    watch.graph.drivers = [('joint_states', 7), ('joint_states', 8)]
    assert watch.after(20.0, TWO[0], (RECORDER, 10), (DRIVER, 8))
    assert watch.knows[0] is Receiver.UNKNOWN  # one of both has crashed, but which?
    watch.graph.drivers = [('joint_states', 8)]
    assert watch.after(20.0, (RECORDER, 10), (DRIVER, 8))
    assert watch.knows[0] is Receiver.NEW


def test_a_driver_is_one_without_its_joint_states_too(watch):
    watch.graph.drivers = [('joint_states', 7)]
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.graph.drivers, watch.is_sending = [], False
    watch.after(20.0, TWO[0])
    assert not watch.after(20.0, TWO[0], (RECORDER, 10))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_a_recorder_older_than_the_node_hides_no_driver(watch):
    watch.graph.drivers = [('joint_states', 7)]
    watch.after(1.0, TWO[0])
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(1.0, *TWO)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_receiver_whose_process_cannot_be_read_is_unknown(watch):
    watch.after(30.0)
    watch.after(30.0, (C, 0))
    assert watch.knows[0] is Receiver.UNKNOWN
    watch.send(3.0, 4.0)
    assert not watch.after(0.001, (C, 0))
    assert watch.knows[0] is Receiver.UNKNOWN
    watch.start()
    watch.after(0.001, (C, 0))
    assert watch.knows[0] is Receiver.UNKNOWN


@pytest.mark.parametrize('rmw', ['rmw_zenoh_cpp', 'rmw_of_the_future'])
def test_where_processes_cannot_be_told_a_late_receiver_is_unknown(monkeypatch, own_records, rmw):
    watch = Watch(monkeypatch, rmw)
    watch.after(1.0)
    assert watch.after(60.0, (C, 7, 1))
    assert watch.knows[0] is Receiver.UNKNOWN


@pytest.mark.parametrize('rmw', [
    'rmw_fastrtps_cpp', 'rmw_fastrtps_dynamic_cpp', 'rmw_cyclonedds_cpp', 'rmw_connextdds'])
def test_in_dds_the_first_bytes_are_the_process(monkeypatch, own_records, rmw):
    watch = Watch(monkeypatch, rmw)
    watch.after(1.0)
    assert watch.after(60.0, (C, 7, 1))
    assert watch.knows[0] is Receiver.NEW
    watch.send(3.0, 4.0)
    assert not watch.after(60.0, (C, 7, 2))  # it was loaded again in the same process
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_processes_that_have_received_commands_do_not_pile_up(watch):
    driver = (DRIVER, 1)
    for process in range(2, 2 + 3 * MAX_KNOWN):
        watch.after(1.0, driver, (RECORDER, process))
        watch.send(3.0, 4.0)
    assert len(CommandRecord(record_path('/inverse_dynamics')).read().earlier) == MAX_KNOWN
    watch.after(1.0, driver)
    watch.send(3.0, 4.0)
    assert not watch.receivers.record_error
    watch.start()
    assert watch.after(1.0, driver)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_nobody_is_awaited_after_a_restart_of_all(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(0.1, (C, 8)) and not watch.receivers.controller_awaited
    assert watch.knows[0] is Receiver.UNKNOWN


# ---- who is waited for --------------------------------------------------------------------------


def test_a_controller_is_sent_nothing_before_it_is_checked(watch):
    asked = []

    def ask():
        asked.append(watch.time)
        watch.receivers.is_checked = False

    watch.receivers.on_appearance = ask
    assert not watch.after(1.0, (C, 7))
    assert not watch.after(0.9 * LONGEST_WAIT, (C, 7)) and watch.receivers.are_incomplete
    assert watch.after(0.2 * LONGEST_WAIT, (C, 7))  # as a driver that never answers
    assert asked == [101.0]


def test_a_controller_that_answers_no_more_stops_nothing(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.after(2.0 * LONGEST_WAIT, (C, 7))
    watch.receivers.is_checked = False
    assert not watch.after(1.0, (C, 7)) and not watch.receivers.are_incomplete


def test_nothing_changes_before_a_name_is_known(watch):
    watch.after(1.0, (DRIVER, 7))
    watch.send(3.0, 4.0)
    assert not watch.after(0.02, (UNKNOWN_NODE, 8))
    assert watch.after(0.02, (DRIVER, 8))


def test_each_name_is_waited_for_from_its_discovery_on(watch):
    lost = (UNKNOWN_NODE, 8)
    watch.after(1.0, (C, 7), lost)
    watch.after(1.0, (C, 7), lost)
    assert not watch.receivers.are_incomplete
    watch.after(1.0, (C, 7), lost, (UNKNOWN_NODE, 9))
    assert watch.receivers.are_incomplete
    watch.after(1.0, (C, 7))
    watch.after(1.0, (C, 7), lost)
    assert watch.receivers.are_incomplete


def test_a_receiver_in_an_old_process_is_waited_for_too(watch):
    watch.after(1.0, (C, 7))
    watch.after(20.0, (UNKNOWN_NODE, 7, 5))
    assert watch.receivers.are_incomplete


@pytest.mark.parametrize('count', [1, 2])
def test_a_process_that_subscribes_twice_is_known_whole(watch, count):
    watch.after(1.0, *count * [(C, 7)])
    assert not watch.receivers.are_incomplete


def test_a_recorded_recorder_is_not_awaited_beside_the_controller(watch):
    watch.controller = ''
    watch.after(1.0, (C, 7), (RECORDER, 9))
    watch.send(3.0, 4.0)  # both are in the record
    watch.controller = '/' + C
    watch.start()
    assert not watch.after(0.1, (RECORDER, 10))
    assert watch.receivers.controller_awaited.startswith(f'/{C} is waited for')
    assert watch.after(0.1, (C, 7)) and not watch.receivers.controller_awaited
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_a_receiver_without_a_name_is_no_controller(watch):
    watch.controller = ''
    nameless = (UNKNOWN_NODE, 7)
    watch.after(1.0, nameless, (RECORDER, 9))
    watch.after(2.0 * LONGEST_WAIT, nameless, (RECORDER, 9))
    assert len(watch.receivers.present) == 2 and watch.receivers.nodes == {'/' + RECORDER}
    watch.send(3.0, 4.0)
    watch.start()
    watch.after(0.1, (RECORDER, 10))
    assert not watch.receivers.controller_awaited  # all of them are others now
    watch.start()
    watch.after(0.1, (RECORDER, 9))
    assert watch.receivers.controller_awaited.startswith('a receiver is waited for, at most 5 s')


def test_a_controller_that_was_seen_is_not_given_up(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    watch.after(0.1, (C, 7))
    watch.after(0.1, (RECORDER, 9))
    assert not watch.receivers.controller_awaited
    watch.after(2.0 * DISCOVERY_TIME, (RECORDER, 9))
    assert not watch.receivers.present and not watch.receivers.controller_given_up


def test_nobody_in_the_record_is_awaited_after_a_command(watch):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.start()
    watch.after(0.1, *TWO)
    watch.send(3.0, 4.0)
    watch.after(0.1, TWO[0])
    assert watch.receivers.present and not watch.receivers.controller_awaited


# ---- what this node's process is, and what only listens -----------------------------------------


def test_this_nodes_process_may_be_discovered_late(watch):
    watch.graph.publishers = []
    watch.after(0.0, (C, 1))
    assert watch.knows[0] is Receiver.UNKNOWN
    watch.graph.publishers = [('inverse_dynamics', 1)]
    watch.after(2.0 * DISCOVERY_TIME, (C, 1))
    assert watch.knows[0] is Receiver.NEW


def test_this_nodes_process_may_be_discovered_after_another(watch):
    watch.graph.publishers = [(UNKNOWN_NODE, 5)]
    watch.after(0.0, (C, 1))
    watch.graph.publishers = [(UNKNOWN_NODE, 5), ('inverse_dynamics', 1)]
    watch.after(1.0, (C, 1))
    assert watch.knows[0] is Receiver.NEW


@pytest.mark.parametrize(('name', 'reliability', 'receives'), [
    ('inverse_dynamics', ReliabilityPolicy.BEST_EFFORT, False),
    ('inverse_dynamics', ReliabilityPolicy.RELIABLE, False),
    ('other', ReliabilityPolicy.BEST_EFFORT, False),
    ('other', ReliabilityPolicy.RELIABLE, True),
    (C, ReliabilityPolicy.BEST_EFFORT, True),
    (RECORDER, ReliabilityPolicy.BEST_EFFORT, True),
])
def test_who_publishes_commands_only_listens(watch, name, reliability, receives):
    watch.publishing_nodes = frozenset({'/other', '/' + C})
    watch.after(1.0, (name, 7, 0, reliability))
    assert watch.receivers.nodes == ({'/' + name} if receives else set())
    assert bool(watch.receivers.present) is receives


# ---- recorders come and go while the driver lives -----------------------------------------------


RECORDERS = {'A': RECORDER, 'B': RECORDER, 'E': '_ros2cli_echo'}


def what_recorders_change(watch, order, moves, gap):
    """Let recorders come and go beside a driver, and yield what the node then starts from."""
    there, process, last = {}, 20, 0.0
    for move in (order, *moves):
        for each in move:
            process += 1
            if each in there:
                del there[each]
            elif each == 'K':
                watch.start()
            else:
                there[each] = (DRIVER, 7) if each == 'D' else (RECORDERS[each], process)
        if watch.after(gap, *there.values()) and last:
            yield watch.knows, (Receiver.SAME, (22.2, last))
        if watch.receivers.present:
            last += 1.0
            watch.send(22.2, last)


@pytest.mark.parametrize('drivers', [[], [('joint_states', 7)]])
@pytest.mark.parametrize('order', ['D', 'DA', 'AD', 'ABD', 'DAE'])
@pytest.mark.parametrize('gap', [0.02, 20.0])
def test_no_recorder_changes_what_the_driver_holds(monkeypatch, own_records, drivers, order, gap):
    """The commands are not remapped, and effort_controller is not set: no name is known."""
    for moves in product('ABK', repeat=4):
        watch = Watch(monkeypatch)
        watch.graph.drivers, watch.controller = drivers, ''
        for known, expected in what_recorders_change(watch, order, moves, gap):
            assert known == expected, moves
        record_path('/inverse_dynamics').unlink()


def test_recorders_change_nothing_while_nothing_is_sent_either(watch):
    driver = (DRIVER, 7)
    watch.after(1.0, driver)
    watch.send(22.2, 4.0)
    watch.is_sending = False
    for recorders in ([], [10], [], [11], [11, 12], [12], [12, 13]):
        assert not watch.after(20.0, driver, *((RECORDER, each) for each in recorders))
        assert watch.knows == (Receiver.SAME, (22.2, 4.0))


def test_a_panel_that_subscribes_again_changes_nothing(watch):
    driver, panel = (DRIVER, 7), ('panel', 9)
    watch.after(1.0, driver)
    for there in ([driver, panel], [driver], [driver, panel]):
        watch.send(22.2, 4.0)
        assert not watch.after(1.0, *there)
    assert watch.knows == (Receiver.SAME, (22.2, 4.0))


def test_the_driver_may_have_crashed_while_nothing_is_sent(watch):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.is_sending = False  # because the joint states have stopped
    watch.after(20.0, TWO[1])
    assert watch.after(20.0, TWO[1], (DRIVER, 8))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_nor_is_it_forgotten_while_nobody_receives(watch):
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.after(20.0)
    assert watch.after(20.0, TWO[1], (DRIVER, 8))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_a_killed_driver_is_waited_for_until_it_is_not_listed(watch):
    """Its successor holds nothing, which would be unknown beside the one that held the effort."""
    watch.controller = ''
    watch.graph.drivers = [('joint_states', 7)]
    watch.after(1.0, (DRIVER, 7), (RECORDER, 9))
    watch.after(20.0, (DRIVER, 7), (RECORDER, 9))
    watch.send(3.0, 4.0)
    watch.is_sending, watch.graph.drivers = False, [('joint_states', 7), ('joint_states', 8)]
    for _ in range(3):
        assert not watch.after(6.0, (DRIVER, 7), (DRIVER, 8), (RECORDER, 9))
        assert watch.receivers.are_incomplete
    watch.graph.drivers = [('joint_states', 8)]
    assert watch.after(1.0, (DRIVER, 8), (RECORDER, 9))
    assert watch.knows[0] is Receiver.NEW


def test_a_second_driver_that_stays_is_waited_for_shortly(watch):
    watch.controller = ''
    watch.graph.drivers = [('joint_states', 7)]
    watch.after(20.0, (DRIVER, 7))
    watch.send(3.0, 4.0)
    watch.is_sending, watch.graph.drivers = False, [('joint_states', 7), ('joint_states', 8)]
    watch.after(1.0, (DRIVER, 7), (DRIVER, 8))
    assert watch.receivers.are_incomplete
    assert watch.after(LONGEST_LEASE, (DRIVER, 7), (DRIVER, 8))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_a_driver_in_the_place_of_another_is_as_good(watch):
    watch.after(1.0, (DRIVER, 7))
    watch.send(3.0, 4.0)
    watch.after(20.0, *TWO)
    watch.send(3.0, 4.0)
    assert watch.after(20.0, TWO[1], (DRIVER, 8))
    watch.send(3.0, 4.0)
    assert not watch.after(20.0, TWO[1], (DRIVER, 8), (RECORDER, 10))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_who_has_crashed_and_comes_back_counts_again(watch):
    test_the_driver_may_have_crashed_while_nothing_is_sent(watch)
    watch.is_sending = True
    watch.send(5.0, 6.0)
    assert watch.after(20.0, TWO[0], TWO[1], (DRIVER, 8))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_a_driver_is_remembered_beside_many_recorders(watch):
    watch.after(1.0)
    watch.after(20.0, (DRIVER, 7))
    for process in range(20, 20 + MAX_KNOWN):
        watch.after(1.0, (DRIVER, 7), (RECORDER, process))
        watch.send(3.0, 4.0)
    watch.after(1.0, (RECORDER, process))
    watch.send(5.0, 6.0)
    assert watch.after(20.0, (DRIVER, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


# ---- commands of others, and controllers that are not active ------------------------------------


@pytest.mark.parametrize('is_commanding', [False, True])
def test_a_command_of_others_is_held(watch, is_commanding):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.receivers.note_command_of_others((8.0, 9.0), is_commanding)
    assert watch.receivers.is_serving is is_commanding
    assert watch.knows == (Receiver.SAME, (8.0, 9.0))
    assert not watch.receivers.evidence(JOINTS).is_own
    assert watch.receivers.evidence(JOINTS[:1]).receiver is Receiver.UNKNOWN
    watch.send(5.0, 6.0)
    assert watch.knows == (Receiver.SAME, (5.0, 6.0))


@pytest.mark.parametrize('command', [(1.0,), (1.0, 2.0, 3.0), (1.0, float('nan'))])
def test_a_command_that_controllers_ignore_is_not_held(watch, command):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.receivers.note_command_of_others(command, is_commanding=False)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0)) and watch.receivers.is_serving


def test_a_command_of_others_is_held_by_all_receivers(watch):
    watch.after(1.0)
    watch.after(20.0, (C, 8))
    watch.receivers.note_command_of_others((8.0, 9.0), is_commanding=False)
    assert watch.knows == (Receiver.SAME, (8.0, 9.0))


@pytest.mark.parametrize('is_restarted', [False, True])
def test_who_misses_a_command_of_others_is_unknown(watch, is_restarted):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    if is_restarted:
        watch.start()
    watch.after(1.0)
    watch.receivers.note_command_of_others((8.0, 9.0), is_commanding=False)
    assert watch.after(1.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_who_has_received_only_commands_of_others_is_never_new(watch):
    watch.after(1.0)
    watch.after(20.0, (C, 7))
    watch.receivers.note_command_of_others((8.0, 9.0), is_commanding=False)
    watch.after(1.0, (C, 8))
    watch.send(3.0, 4.0)
    watch.after(20.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_others_that_command_already_go_first(watch):
    watch.after(1.0, (C, 7))
    watch.receivers.let_others_go_first(True)
    assert not watch.after(0.001, (C, 7)) and not watch.receivers.present
    assert watch.receivers.evidence(JOINTS).absence == (
        f'another node publishes {TOPIC}, so that none are sent')
    watch.receivers.let_others_go_first(False)
    assert watch.after(0.001, (C, 7)) and watch.receivers.present


def test_a_controller_that_is_not_active_is_sent_nothing(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.receivers.set_active(False)
    assert not watch.receivers.present and not watch.receivers.is_serving
    assert not watch.after(0.001, (C, 7)) and not watch.receivers.present
    assert watch.receivers.evidence(JOINTS).absence == (
        'the controller is not active, so that it is sent no commands')
    watch.after(0.001)
    assert watch.receivers.evidence(JOINTS).absence == 'nobody receives the commands'


def test_a_controller_that_is_activated_again_may_hold_something_else(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.receivers.set_active(False, Receiver.ZEROED)
    watch.receivers.set_active(True, Receiver.ZEROED)
    assert watch.after(0.001, (C, 7))
    assert watch.knows[0] is Receiver.ZEROED
    watch.send(0.0, 0.0)
    assert watch.knows == (Receiver.SAME, (0.0, 0.0))


@pytest.mark.parametrize('holder', [Receiver.HANDED_OVER, Receiver.ARM_HOLDS_ITSELF])
def test_what_is_sent_before_a_hand_over_is_not_held(watch, holder):
    watch.after(1.0, (C, 7))
    watch.receivers.set_active(False, holder)
    assert watch.after(0.001, (C, 7)) and watch.receivers.is_handing_over
    watch.send(3.0, 4.0)
    assert watch.knows == (holder, ()) and not watch.receivers.is_serving
    watch.receivers.set_active(True, holder)
    assert not watch.receivers.is_handing_over


@pytest.mark.parametrize(('age', 'holder', 'receiver'), [
    (0.0, Receiver.ZEROED, Receiver.UNKNOWN),  # an older one may not have been zeroed
    (0.0, Receiver.HANDED_OVER, Receiver.HANDED_OVER),
    (60.0, Receiver.ZEROED, Receiver.ZEROED),
    (60.0, Receiver.UNKNOWN, Receiver.UNKNOWN),
    (60.0, None, Receiver.NEW),
])
def test_who_held_the_arm_meanwhile_counts(watch, age, holder, receiver):
    watch.after(0.0)
    watch.after(age, (C, 7))
    watch.receivers.set_active(True, holder)
    assert watch.knows[0] is receiver


def test_who_held_the_arm_after_a_command_of_others_counts(watch):
    watch.after(1.0, (C, 7))
    watch.receivers.note_command_of_others((8.0, 9.0), is_commanding=False)
    watch.receivers.set_active(True, Receiver.ZEROED)
    assert watch.knows[0] is Receiver.ZEROED


def test_beside_supporting_controllers_an_unknown_one_adds_zero(watch):
    watch.after(1.0, (C, 7))
    watch.receivers.is_supported = True
    assert watch.knows[0] is Receiver.SUPPORTED
    watch.send(3.0, 4.0)
    assert watch.knows[0] is Receiver.SAME
    watch.after(20.0, (C, 8))
    assert watch.knows[0] is Receiver.NEW


@pytest.mark.parametrize(('joints', 'receiver'), [
    (JOINTS, Receiver.SAME),
    (JOINTS[::-1], Receiver.UNKNOWN),
    (('shoulder', 'wrist'), Receiver.UNKNOWN),
    (('shoulder',), Receiver.SAME),
])
def test_efforts_of_joints_in_another_order_are_not_known(watch, joints, receiver):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    evidence = watch.receivers.evidence(joints)
    assert evidence.receiver is receiver and evidence.last_command['shoulder'] == 3.0


def test_a_command_of_other_joints_is_recorded_with_their_names(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.receivers.record(JOINTS[::-1], np.array([4.5, 3.5]))
    read = CommandRecord(record_path('/inverse_dynamics')).read()
    assert read.efforts == {'elbow': 4.5, 'shoulder': 3.5}


def test_several_receivers_are_reported_while_no_name_is_known(watch):
    watch.controller = ''
    watch.after(1.0, TWO[0])
    assert not watch.receivers.ambiguity
    watch.after(1.0, *TWO)
    assert f'/{DRIVER}, /{RECORDER}' in watch.receivers.ambiguity
    watch.controller = '/' + DRIVER
    watch.after(1.0, *TWO)
    assert not watch.receivers.ambiguity
