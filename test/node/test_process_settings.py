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
"""The executable's executor, priority and memory: as the parameters say, or with a clear word."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import threading
from types import SimpleNamespace

import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node import inverse_dynamics_node, process
from ros2_rnea.node.transports import PROFILE_VARIABLES, RANGE, TRANSPORTS
from ros2_rnea.node.worker.background_thread import background_threads, BackgroundThread

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('kind, events_exist, single_threaded', [
    ('automatic', True, False),
    ('automatic', False, True),
    ('events', True, False),
    ('single_threaded', True, True),
    ('single_threaded', False, True),
])
def test_the_executor_is_of_the_kind_that_is_asked_for(
        monkeypatch, kind, events_exist, single_threaded):
    monkeypatch.setattr(process, 'EVENTS_EXECUTOR', object if events_exist else None)
    executor = process.make_executor(kind)
    assert isinstance(executor, SingleThreadedExecutor) is single_threaded


def test_an_executor_of_events_that_does_not_exist_is_said(monkeypatch):
    monkeypatch.setattr(process, 'EVENTS_EXECUTOR', None)
    with pytest.raises(ArgumentError, match='it needs automatic or single_threaded'):
        process.make_executor('events')


def test_a_priority_that_is_refused_is_said(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', refuse)
    said = process.raise_priority(50)
    assert 'thread_priority 50 is not set: Operation not permitted' in said
    assert 'rtprio 50' in said


def test_a_thread_that_ends_does_not_prevent_the_others_priority(monkeypatch):
    given, threads = [], sorted(map(int, os.listdir('/proc/self/task')))

    def give(thread, *_):
        given.append(thread)
        if len(given) == 1:
            raise ProcessLookupError(3, 'No such process')

    monkeypatch.setattr(os, 'listdir', lambda _: [*map(str, threads), '999999999'])
    monkeypatch.setattr(os, 'sched_setscheduler', give)
    assert process.raise_priority(50) == ''
    assert {*given} == {*threads, 999999999} - background_threads()


def test_every_thread_gets_the_priority_but_those_beside_the_cycle(monkeypatch):
    given, done = {}, threading.Event()
    thread = BackgroundThread(target=done.wait, daemon=True)
    thread.start()
    monkeypatch.setattr(
        os, 'sched_setscheduler',
        lambda thread, policy, parameter: given.update({thread: parameter.sched_priority}))
    assert process.raise_priority(50) == ''
    others = {*map(int, os.listdir('/proc/self/task'))} - background_threads()
    assert given == dict.fromkeys(others, 50)
    assert threading.get_native_id() in given
    assert thread.native_id not in given
    done.set()
    thread.join()


@pytest.mark.parametrize('limit, user, result, said', [
    (resource.RLIM_INFINITY, 1000, 0, ''),
    (8 << 20, 0, 0, ''),
    (8 << 20, 1000, 0, 'memory is not locked, because only 8 MiB may be'),
    (resource.RLIM_INFINITY, 1000, -1, 'memory is not locked: '),
])
def test_memory_is_locked_where_all_of_it_may_be(monkeypatch, limit, user, result, said):
    class Library:
        asked: list[int] = []

        def mlockall(self, flags: int) -> int:
            self.asked.append(flags)
            return result

    monkeypatch.setattr(resource, 'getrlimit', lambda _: (limit, limit))
    monkeypatch.setattr(os, 'geteuid', lambda: user)
    monkeypatch.setattr(  # without errno, no reason could be given
        ctypes, 'CDLL', lambda _, use_errno=False: Library() if use_errno else None)
    assert process.lock_memory().startswith(said)
    assert bool(process.lock_memory()) is bool(said)
    assert Library.asked in ([], [3, 3])
    assert bool(Library.asked) is (said == '' or result != 0)


@pytest.fixture
def collection():
    """Return the garbage collection of the node; the usual one is back afterwards."""
    yield process.GarbageCollection()
    gc.unfreeze()
    gc.enable()


class Link:
    """An object that can refer to itself, and counts those that have gone."""

    gone = 0

    def __del__(self) -> None:
        Link.gone += 1


def test_garbage_is_collected_between_turns_only_and_once_a_period(monkeypatch, collection):
    now = [process.monotonic() + process.COLLECTION_PERIOD]
    monkeypatch.setattr(process, 'monotonic', lambda: now[0])
    collection.collect_if_due()  # from which the next period counts
    Link.gone = 0
    link = Link()
    link.itself = link
    del link
    assert not gc.isenabled()
    now[0] += 0.9 * process.COLLECTION_PERIOD
    collection.collect_if_due()
    assert Link.gone == 0
    now[0] += 0.2 * process.COLLECTION_PERIOD
    collection.collect_if_due()
    assert Link.gone == 1


def test_only_what_there_is_at_the_start_is_frozen(monkeypatch, collection):
    frozen = gc.get_freeze_count()
    assert frozen > 10_000  # modules, for instance
    monkeypatch.setattr(process, 'COLLECTION_PERIOD', 0.0)
    more = [[] for _ in range(1000)]
    collection.collect_if_due()
    assert gc.get_freeze_count() <= frozen
    del more


@pytest.mark.parametrize('kind', ['single_threaded', 'events'])
@pytest.mark.usefixtures('collection')
def test_one_call_of_the_executor_lasts_for_many_looks(kind):
    """Each call of rclpy's events executor leaves bytes that are never freed."""
    if kind == 'events' and process.EVENTS_EXECUTOR is None:
        pytest.skip('this rclpy has no EventsExecutor')
    looks: list[None] = []
    node, executor = Node('spinning'), process.make_executor(kind)
    executor.add_node(node)

    def is_ending() -> bool:
        looks.append(None)
        return len(looks) == 5

    process.Spinning(node, executor, is_ending).spin()
    executor.shutdown()
    node.destroy_node()
    assert len(looks) == 5


# ---- shared memory ------------------------------------------------------------------------------


@pytest.fixture
def shared_memory(monkeypatch):
    for name in (RANGE, TRANSPORTS, *PROFILE_VARIABLES):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def little_shared_memory(monkeypatch, shared_memory):
    status = SimpleNamespace(f_bavail=750, f_frsize=4096)
    monkeypatch.setattr(process.os, 'statvfs', {'/dev/shm': status}.__getitem__)


def test_little_shared_memory_is_said_with_its_remedy(little_shared_memory):
    warning = process.shared_memory_warning('rmw_fastrtps_cpp')
    for words in ('/dev/shm has 2.9 MiB left', 'SIGBUS', '16 MiB', 'fastdds shm clean',
                  '--shm-size', 'unset FASTDDS_BUILTIN_TRANSPORTS'):
        assert words in warning


FAST, UDP = 'rmw_fastrtps_cpp', {TRANSPORTS: 'UDPv4'}


@pytest.mark.parametrize('middleware, environment, is_used', [
    (FAST, {**UDP, RANGE: 'LOCALHOST'}, True),
    (FAST, {**UDP, RANGE: 'SUBNET'}, False),
    ('rmw_cyclonedds_cpp', {RANGE: 'SUBNET'}, False)])
def test_little_shared_memory_is_said_where_it_is_used(
        little_shared_memory, monkeypatch, middleware, environment, is_used):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert bool(process.shared_memory_warning(middleware)) is is_used


def test_enough_shared_memory_or_none_at_all_is_not_said(shared_memory, monkeypatch):
    enough = SimpleNamespace(f_bavail=4096, f_frsize=4096)
    monkeypatch.setattr(process.os, 'statvfs', lambda _: enough)
    assert process.shared_memory_warning(FAST) == ''
    monkeypatch.undo()
    monkeypatch.setattr(process, 'SHARED_MEMORY', '/no/such/folder')
    assert process.shared_memory_warning(FAST) == ''


def test_it_is_said_before_the_middleware_starts(monkeypatch):
    said = []
    monkeypatch.setattr(inverse_dynamics_node, 'shared_memory_warning', lambda _: 'it is full')
    monkeypatch.setattr(inverse_dynamics_node.EndSignals, 'handle', lambda _: None)
    monkeypatch.setattr(inverse_dynamics_node, 'get_logger', lambda _: SimpleNamespace(
        warning=said.append))

    def init(**_):
        raise KeyboardInterrupt(*said)

    monkeypatch.setattr(inverse_dynamics_node.rclpy, 'init', init)
    with pytest.raises(KeyboardInterrupt, match='it is full'):
        inverse_dynamics_node.run(lambda: None)


def test_end_signals_are_counted_until_they_are_forgotten():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        signals = process.EndSignals()
        signals.handle()
        assert not signals.have_come()
        for number in before:
            signal.raise_signal(number)
            assert signals.have_come()
            signals.forget()
            assert not signals.have_come()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
