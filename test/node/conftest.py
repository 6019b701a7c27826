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
"""Nodes for the tests in this folder, one ROS context for all of them."""

from node_bench import Bench
import pytest
import rclpy
from ros2_rnea.node.process import EVENTS_EXECUTOR
from shared_workers import SharedWorkers


@pytest.fixture(scope='session', autouse=True)
def ros():
    """Start ROS once."""
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture(scope='session')
def shared_workers():
    """Return worker processes that serve one node after another."""
    shared = SharedWorkers()
    yield shared
    shared.close()


@pytest.fixture(params=['single_threaded', 'events'])
def bench(request, shared_workers, monkeypatch):
    """
    Return a function that starts a node with parameters; all are taken down afterwards.

    Every test that asks for it runs on both executors.
    """
    if request.param == 'events' and EVENTS_EXECUTOR is None:
        pytest.skip('this rclpy has no EventsExecutor')
    shared_workers.install(monkeypatch)
    benches = []

    def start(**parameters) -> Bench:
        benches.append(Bench(**{'executor': request.param, **parameters}))
        return benches[-1]

    yield start
    for each in benches:
        each.close()
