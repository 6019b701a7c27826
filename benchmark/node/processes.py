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
"""The processes of the benchmark: start, requests, processor time and end."""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
import subprocess
import sys
import time
from types import TracebackType
from typing import Any

from benchmark.errors import BenchmarkError

PATIENCE = 10.0


class ProcessEndedError(BenchmarkError):
    """A process of the benchmark ended by itself; the message has its last words."""


class Process:
    """
    A Python module that runs in a process of its own, as a context.

    :param module: its name.
    :param arguments: of its command line.
    :param log: the file that gets what it says on its standard error.
    """

    def __init__(self, module: str, arguments: Sequence[str], log: Path) -> None:
        self._module = module
        self._arguments = arguments
        self._log = log
        self._process = self._started()

    def _started(self) -> subprocess.Popen:
        with self._log.open('wb') as file:
            return subprocess.Popen(
                [sys.executable, '-m', self._module, *self._arguments], text=True, stderr=file,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

    def respawn(self) -> None:
        """Kill the process (kill -9), and start it again at once with the same command."""
        self._process.kill()
        self._process.communicate()
        self._process = self._started()

    def __enter__(self) -> Process:
        """Return this object."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """End the process, with a stronger signal if the first does not work."""
        self._process.terminate()
        try:
            self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    @property
    def pid(self) -> int:
        """Return the process's number."""
        return self._process.pid

    def processor_time(self) -> float:
        """Return what all its threads have used of the processors since its start [s]."""
        self.check()
        # The clock that clock_getcpuclockid(3) returns for a process; ps counts in hundredths.
        return time.clock_gettime(~self.pid << 3 | 2)

    def ask(self, do: str, **more: Any) -> Any:
        """
        Give an order and return the answer.

        :raises ProcessEndedError: where there is nobody to answer any more.
        """
        self.check()
        orders, answers = self._process.stdin, self._process.stdout
        if orders is None or answers is None:
            raise ProcessEndedError(f'process {self.pid} has no pipes')
        orders.write(json.dumps({'do': do, **more}) + '\n')
        orders.flush()
        line = answers.readline()
        if not line:
            self._process.wait(PATIENCE)
            self.check()
        return json.loads(line)

    def check(self) -> None:
        """
        See that the process is alive.

        :raises ProcessEndedError: where it is not.
        """
        code = self._process.poll()
        if code is not None:
            words = '\n'.join(self._log.read_text(errors='replace').splitlines()[-15:])
            raise ProcessEndedError(f'{self._module} ended with exit code {code}:\n{words}')
