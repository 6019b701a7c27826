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

from types import SimpleNamespace

import numpy as np
import pytest
from ros2_rnea.control.output.start_effort import Receiver
from ros2_rnea.node.controllers import receivers
from ros2_rnea.node.controllers.receivers import (
    DISCOVERY_TIME,
    LONGEST_PAUSE,
    LONGEST_WAIT,
    Receivers,
    UNKNOWN_NODE,
)

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

    def info(self, name, process, entity=0):
        return SimpleNamespace(
            node_name=name, node_namespace='/', endpoint_gid=[process] * 12 + [entity] * 4)


class Watch:
    """Receivers on a graph, with a clock that a test sets."""

    def __init__(self, monkeypatch, rmw='rmw_fastrtps_cpp'):
        self.time, self.is_sending = 100.0, True
        monkeypatch.setattr(receivers, 'monotonic', lambda: self.time)
        monkeypatch.setattr(receivers, 'get_rmw_implementation_identifier', lambda: rmw)
        self.graph = Graph()
        self.start()

    def start(self):
        """Start the node, again."""
        self.receivers = Receivers(self.graph, self.graph)

    def after(self, seconds, *endpoints):
        """Let the graph change, and return whether a cycle sees others."""
        self.time += seconds
        self.graph.endpoints = [*endpoints]
        return self.receivers.have_changed('/' + C, self.is_sending)

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


def test_whoever_is_there_at_the_first_look_may_be_older_however_late_that_is(watch):
    assert watch.after(60.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_controller_that_is_loaded_late_in_the_process_of_the_driver_may_hold_something(watch):
    watch.graph.drivers = [('joint_state_broadcaster', 7)]
    watch.after(1.0)
    assert watch.after(60.0, (C, 7))
    assert watch.knows[0] is Receiver.UNKNOWN


def test_receiver_in_the_process_of_this_node_is_not_older(watch):
    watch.after(0.0, (C, 1))
    assert watch.knows[0] is Receiver.NEW


@pytest.mark.parametrize('others, receiver', [
    ([], Receiver.NEW), ([('other', 8)], Receiver.UNKNOWN)])
def test_the_only_publisher_is_this_node_though_its_name_is_lost(watch, others, receiver):
    watch.graph.publishers = [(receivers.UNKNOWN_NODE, 1, 5), *others]
    watch.after(0.0, (C, 1))
    assert watch.knows[0] is receiver


def test_node_that_was_killed_finds_what_its_receiver_holds(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(1.0, (C, 7))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_beside_the_recorded_receiver_one_of_its_name_may_hold_something(watch):
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
def test_receiver_without_a_name_is_waited_for_a_short_time_only(watch, is_sending, pause):
    watch.is_sending = is_sending
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.after(1.0, (C, 7), (UNKNOWN_NODE, 8))
    watch.after(0.5 * pause, (C, 7), (UNKNOWN_NODE, 8))
    assert watch.receivers.are_incomplete
    assert not watch.after(1.1 * pause, (C, 7), (UNKNOWN_NODE, 8))
    assert not watch.receivers.are_incomplete


def test_graph_that_lags_behind_is_looked_at_in_each_cycle(watch):
    watch.after(1.0)
    watch.graph.count = 1
    assert not watch.after(0.001)
    assert watch.receivers.are_incomplete and not watch.receivers.present
    assert watch.after(0.001, (C, 7))
    assert not watch.receivers.are_incomplete


@pytest.mark.parametrize(('is_sending', 'pause'), [(True, LONGEST_PAUSE), (False, LONGEST_WAIT)])
def test_graph_that_stays_behind_stops_the_cycle_for_a_short_time_only(watch, is_sending, pause):
    watch.is_sending = is_sending
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.graph.count = 2
    assert not watch.after(0.001, (C, 7)) and watch.receivers.are_incomplete
    for _ in range(3):
        assert not watch.after(1.1 * pause, (C, 7))
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


def test_the_controller_of_an_earlier_process_is_waited_for_and_then_given_up(watch):
    start_beside_a_recorder(watch)
    assert not watch.after(0.9 * DISCOVERY_TIME, (RECORDER, 9))
    assert not watch.receivers.present and not watch.receivers.controller_given_up
    said = watch.receivers.controller_awaited
    assert f'/{C} is waited for' in said and '/recorder may be a recorder' in said
    assert str(watch.receivers._record.path) in said
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


def test_a_controller_that_was_given_up_and_appears_holds_what_was_recorded(watch):
    start_beside_a_recorder(watch)
    watch.after(DISCOVERY_TIME, (RECORDER, 9))
    watch.send(1.0, 2.0)  # received by the recorder
    assert watch.after(60.0, (RECORDER, 9), (C, 7))
    assert {each.node for each in watch.receivers.present} == {'/' + C}
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_its_successor_holds_nothing(watch):
    start_beside_a_recorder(watch)
    watch.after(DISCOVERY_TIME, (RECORDER, 9))
    watch.send(1.0, 2.0)
    assert watch.after(60.0, (RECORDER, 9), (C, 8))
    assert watch.knows[0] is Receiver.NEW


def test_a_controller_that_this_process_has_seen_is_waited_for_without_end(watch):
    watch.after(1.0, (C, 7), (RECORDER, 9))
    assert not watch.after(60.0, (RECORDER, 9))
    assert not watch.receivers.present and not watch.receivers.controller_awaited


def test_a_command_of_others_makes_the_record_of_an_earlier_process_void(watch):
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


def test_network_that_is_cut_for_a_while_changes_nothing_that_is_held(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    assert not watch.after(1.0)
    assert watch.after(30.0, (C, 7))
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_receiver_that_takes_the_place_of_another_in_a_pause_is_seen(watch):
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


def test_controller_that_is_discovered_again_without_its_name_is_the_same(watch):
    watch.after(1.0, (C, 7), (RECORDER, 8))
    watch.send(3.0, 4.0)
    watch.after(20.0)  # DDS gives both up while the network is cut
    assert not watch.receivers.present
    watch.after(10.0, (UNKNOWN_NODE, 7), (UNKNOWN_NODE, 8))
    assert {endpoint.node for endpoint in watch.receivers.present} == {'/' + C}
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_processes_that_have_gone_do_not_pile_up(watch):
    """As those of ``ros2 topic echo ~/commands``, each of which is another one."""
    for process in range(10, 200):
        watch.after(1.0, (C, 7), (RECORDER, process))
    assert len(watch.receivers._first_seen) < 15  # those of the first 10 s, and the present ones
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_names_of_endpoints_do_not_pile_up(watch):
    for number in range(2 * receivers.MAX_NAMES):
        watch.graph.info = lambda name, process, entity=number: SimpleNamespace(
            node_name=name, node_namespace='/', endpoint_gid=entity.to_bytes(16, 'little'))
        watch.after(1.0, (RECORDER, 7))
    assert len(watch.receivers._names_of_endpoints) == receivers.MAX_NAMES


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
def test_two_recorded_receivers_hold_the_last_command_in_any_order_of_discovery(
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
def test_a_recorded_receiver_that_comes_after_the_wait_is_never_new(watch, order):
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


def test_a_recorded_recorder_that_has_ended_is_not_waited_for_where_the_driver_is_known(watch):
    watch.graph.drivers = [('joint_states', 7)]
    watch.after(1.0, *TWO)
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(0.1, TWO[0])
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_a_receiver_that_was_lost_for_a_while_is_never_new(watch):
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


def test_a_recorder_that_is_older_than_the_node_hides_no_driver(watch):
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
    for process in range(2, 2 + 3 * receivers.MAX_KNOWN):
        watch.after(1.0, driver, (RECORDER, process))
        watch.send(3.0, 4.0)
    assert len(watch.receivers._known) == receivers.MAX_KNOWN
    watch.after(1.0, driver)
    watch.send(3.0, 4.0)
    assert not watch.receivers.record_error
    watch.start()
    assert watch.after(1.0, driver)
    assert watch.knows == (Receiver.SAME, (3.0, 4.0))


def test_after_a_restart_of_all_nobody_of_the_record_is_waited_for(watch):
    watch.after(1.0, (C, 7))
    watch.send(3.0, 4.0)
    watch.start()
    assert watch.after(0.1, (C, 8)) and not watch.receivers.controller_awaited
    assert watch.knows[0] is Receiver.UNKNOWN
