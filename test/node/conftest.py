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
"""
Nodes for the tests in this folder, one ROS context for all of them.

A test with ``bench`` runs on both executors where the order of callbacks may matter: where efforts
start and stop, where messages queue, and where callbacks fail.  Of the others, each test runs on
one of them, and about half of the tests of a file on each; with the variable EVERY_EXECUTOR set,
as in CI, all run on both.
"""

import gc
from math import inf
import os
import sys
from zlib import crc32

from node_bench import Bench
from patience import PATIENCE
from patient_clock import PatientClock
import pytest
import rclpy
from ros2_rnea.control import transitions
from ros2_rnea.node import monitor
from ros2_rnea.node.controllers import receivers
from ros2_rnea.node.process import EVENTS_EXECUTOR, SWITCH_INTERVAL
from ros2_rnea.node.topics import command_record
from ros2_rnea.node.worker import worker_process
from shared_workers import SharedWorkers
from simulated_ros2_control import JOINTS, SimulatedRos2Control, TOPIC
from small_robots import ARM


EXECUTORS = ('single_threaded', 'events')

ON_BOTH_EXECUTORS = {
    'test_bounds', 'test_commands', 'test_compiling', 'test_controllers', 'test_managed',
    'test_network_cut', 'test_other_publishers', 'test_process', 'test_process_settings',
    'test_safety', 'test_shutdown', 'test_simulated_time', 'test_stamps', 'test_start',
    'test_state_queue', 'test_swapping', 'test_unexpected_errors'}


def pytest_collection_modifyitems(config, items):
    """Leave out one of the two executors where it is not what a test is about."""
    if 'EVERY_EXECUTOR' in os.environ or EVENTS_EXECUTOR is None:
        return
    left_out = [item for item in items if _is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    gone = {*left_out}
    items[:] = [item for item in items if item not in gone]


def _is_left_out(item):
    executor = getattr(item, 'callspec', None) and item.callspec.params.get('bench')
    if executor not in EXECUTORS or item.path.stem in ON_BOTH_EXECUTORS:
        return False
    name = item.nodeid.split('::', 1)[1].replace(executor, '', 1)
    return EXECUTORS[crc32(name.encode()) % 2] != executor


@pytest.fixture(scope='session', autouse=True)
def ros():
    """Start ROS once, and let threads share the interpreter as in the executable."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture(scope='session')
def shared_workers():
    """Return worker processes that serve one node after another."""
    shared = SharedWorkers()
    yield shared
    shared.close()


@pytest.fixture
def own_records(monkeypatch, tmp_path):
    """Let the nodes of a test find no last command of an earlier test."""
    monkeypatch.setattr(command_record, 'MEMORY', tmp_path)


@pytest.fixture
def no_garbage_collection():
    """
    Let no garbage collection run in a callback, as none does in the executable.

    It examines all objects of the whole test run, which takes longer than any callback may.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def last_lines_are_read(monkeypatch):
    """Read the last lines of a worker process that has exited, however long it takes."""
    monkeypatch.setattr(worker_process, 'READING_TIMEOUT', PATIENCE)


@pytest.fixture
def short_fade(monkeypatch):
    """Let final fades be short where they are not the subject, however old a state may become."""
    monkeypatch.setattr(transitions, 'LONGEST_FADE', 0.1)


@pytest.fixture(params=EXECUTORS)
def bench(request, shared_workers, monkeypatch, own_records):
    """
    Return a function that starts a node with parameters; all are taken down afterwards.

    See above for which tests run on both executors.  The last commands of its nodes are
    recorded in a folder of the test, and their time does not run on while the machine is busy.
    They look around more often, so that tests wait less for what they notice.
    """
    if request.param == 'events' and EVENTS_EXECUTOR is None:
        pytest.skip('this rclpy has no EventsExecutor')
    monkeypatch.setattr(monitor, 'PERIOD', 0.05)
    shared_workers.install(monkeypatch)
    clock = PatientClock()
    clock.install(monkeypatch)
    benches = []

    def start(**parameters) -> Bench:
        benches.append(Bench(clock, **{'executor': request.param, **parameters}))
        return benches[-1]

    yield start
    for each in benches:
        each.close()


@pytest.fixture
def start_arm(bench, monkeypatch):
    """
    Return a function that starts a node which compensates gravity, and sends to controllers.

    It waits for as long as it takes to discover who receives, and until a controller answers.
    """
    monkeypatch.setattr(receivers, 'LONGEST_WAIT', inf)
    monkeypatch.setattr(receivers, 'LONGEST_PAUSE', inf)

    def start(is_described=True, **parameters) -> Bench:
        arm = bench(**{
            'joints': JOINTS, 'mode': 'gravity_compensation', 'state_timeout': 9.0,
            'commands': TOPIC, 'start_from': 'automatic',
            **parameters})
        if is_described:
            arm.describe(ARM)
        return arm

    return start


@pytest.fixture
def start_controllers():
    """Return a function that starts processes of ros2_control; all are ended afterwards."""
    processes = []

    def start(**settings) -> SimulatedRos2Control:
        processes.append(SimulatedRos2Control(**settings))
        return processes[-1]

    yield start
    for process in processes:
        process.end()
