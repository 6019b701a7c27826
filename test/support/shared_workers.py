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
Worker processes that serve one node after another, since starting one takes longer than a test.

A worker process keeps nothing that an answer depends on, so that this changes no result.  They
have the priority of the tests, so that they make progress on a busy machine, too.
"""

from __future__ import annotations

from patience import PATIENCE
import pytest
from ros2_rnea.node.worker import worker_process
from ros2_rnea.node.worker.worker_process import WorkerProcess
import worker_at_once


class SharedWorkers:
    """The processes of closed nodes that have nothing to do."""

    def __init__(self) -> None:
        self._idle: list[tuple] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Give them to new nodes, and keep those of nodes that are closed, until it is undone."""
        idle, at_work = self._idle, set()
        started, close, ask = WorkerProcess._started, WorkerProcess.close, WorkerProcess.ask

        def ask_and_tell(self, *arguments):
            at_work.add(self)
            answer = ask(self, *arguments)
            at_work.discard(self)  # not after an error: then it is not used again
            return answer

        def start_or_take(self):
            while self._process is None and not self._is_closed and idle:
                process, channel, printed, lifeline = idle.pop()
                if process.poll() is None:
                    self._process, self._channel, self._printed = process, channel, printed
                    self._lifeline = lifeline
            return started(self)

        def keep_or_close(self):
            if self._process is None or self in at_work or self._is_closed:
                close(self)
                return
            self._is_closed = True
            idle.append((self._process, self._channel, self._printed, self._lifeline))
            self._process = self._channel = self._lifeline = None

        monkeypatch.setattr(worker_process, 'worker_program', worker_at_once)
        monkeypatch.setattr(WorkerProcess, 'ask', ask_and_tell)
        monkeypatch.setattr(WorkerProcess, '_started', start_or_take)
        monkeypatch.setattr(WorkerProcess, 'close', keep_or_close)

    def close(self) -> None:
        """End all."""
        for process, channel, _, lifeline in self._idle:
            channel.close()
            process.wait(PATIENCE)
            lifeline.close()
