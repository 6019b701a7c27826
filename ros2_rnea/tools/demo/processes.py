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
"""Child processes that are always ended together with their parent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import subprocess
import sys
from threading import current_thread, main_thread
from types import FrameType, TracebackType

PATIENCE = ((signal.SIGINT, 5.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 20.0))
"""Signals that end a child, each with the seconds to wait before the next."""

ENDING = (signal.SIGINT, signal.SIGTERM)
"""Signals that end the demo."""

_ended_by: list[int] = []
"""The signal that has ended the demo, if one has."""


@contextmanager
def exit_at_signals() -> Iterator[None]:
    """
    Let a signal that ends the demo exit through all context managers, and ignore further ones.

    :raises SystemExit: with 128 + the number of the signal.
    """
    handlers = {number: signal.signal(number, _on_signal) for number in ENDING}
    try:
        yield
        exit_if_signalled()
    finally:
        _ended_by.clear()
        for number, handler in handlers.items():
            signal.signal(number, handler)


def exit_if_signalled() -> None:
    """
    Exit if a signal that ends the demo has arrived.

    Python drops what a handler raises where the signal arrives in the callback of a weak reference
    or in a finalizer, as the import of modules has them.
    """
    if _ended_by:
        sys.exit(128 + _ended_by[0])


def _on_signal(number: int, _: FrameType | None) -> None:
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    _ended_by.append(number)
    exit_if_signalled()


class ChildError(RuntimeError):
    """A child process ended by itself."""


class Children:
    """
    Child processes, each in a process group of its own, all of them ended on leaving the context.

    :param log_folder: where they run, and the output of each goes, as ``<name>.log``.
    """

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._commands: dict[str, Sequence[str]] = {}

    def __enter__(self) -> Children:
        """Return this object."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """End all children, whatever happened."""
        self.stop()

    def start(self, name: str, command: Sequence[str]) -> None:
        """
        Start a process.

        :param name: by which messages call it.
        :param command: program and arguments.
        """
        mode = 'ab' if name in self._commands else 'wb'
        self._commands[name] = command
        # The working directory holds no modules that `python -m` could take for ours.
        # The environment goes whole: the ROS wheels set LD_LIBRARY_PATH and a mark that they
        # did, and a child that gets one without the other cannot import rclpy.
        with self._log(name).open(mode) as log, _signals_deferred():
            self._children[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, cwd=self._log_folder)

    def kill(self, name: str) -> None:
        """Kill one child, as in a crash."""
        child = self._children.pop(name)
        _signal_group(child.pid, signal.SIGKILL)
        _wait(child, 2.0)

    def restart(self, name: str) -> None:
        """Start a child again with the same command after it was killed."""
        self.start(name, self._commands[name])

    def check(self) -> None:
        """
        Check that all children are running, and that no signal has ended the demo.

        :raises SystemExit: see :func:`exit_if_signalled`.
        :raises ChildError: naming a child that is not, with the last lines of its output.
        """
        exit_if_signalled()
        for name, child in self._children.items():
            if child.poll() is not None:
                lines = self._log(name).read_text(errors='replace').splitlines()[-15:]
                raise ChildError(f'the {name} ended by itself with exit code {child.returncode}; '
                                 f'its last output in {self._log(name)}:\n' + '\n'.join(lines))

    def stop(self) -> None:
        """End all children in bounded time, with stronger signals if the first does not work."""
        for number, seconds in PATIENCE:
            alive = [child for child in self._children.values() if child.poll() is None]
            for child in alive:
                _signal_group(child.pid, number)
            for child in alive:
                _wait(child, seconds)
        for child in self._children.values():
            _signal_group(child.pid, signal.SIGKILL)  # What a child started and left behind.
        self._children.clear()

    def _log(self, name: str) -> Path:
        return self._log_folder / f'{name}.log'


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """
    Let signals that end the demo wait until a child is registered.

    Their handlers raise: in the middle of Popen, nobody would know the child any more.
    """
    if current_thread() is not main_thread():  # which has no handlers
        yield
        return
    arrived: list[int] = []
    handlers = {ending: signal.signal(ending, lambda number, _: arrived.append(number))
                for ending in ENDING}
    try:
        yield
    finally:
        for ending, handler in handlers.items():
            signal.signal(ending, handler)
    for number in arrived:
        signal.raise_signal(number)


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass  # It ended in the meantime.


def _wait(child: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        pass  # The next signal is a stronger one.
