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
"""The node's side of a worker process, which answers requests and is restarted when it exits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
import os
from pathlib import Path
import signal
import subprocess
import sys
from threading import Lock
from time import monotonic
from typing import Any, IO

import ros2_rnea
from ros2_rnea import errors
from ros2_rnea.errors import RneaError
from ros2_rnea.node.worker import worker_program
from ros2_rnea.node.worker.background_thread import BackgroundThread
from ros2_rnea.node.worker.channel import Channel, channel_pair, Message, PROGRESS, VERSION

POLL_PERIOD = 0.05
"""Period at which a thread that waits for an answer checks if the request is cancelled [s]."""

LONGEST_STOP = 10.0
"""A process that is stopped for longer than this [s], as by SIGSTOP, is replaced."""

STOPPED = 'it was stopped, as by SIGSTOP'

TRIES = 2
"""Number of processes that may exit while they work on a request, before it is refused."""

READING_TIMEOUT = 1.0
"""Longest time for reading the last lines of a process that has exited [s]."""

LONGEST_END = 1.0
"""Longest time for which :meth:`WorkerProcess.close` waits for the end of the process [s]."""

LAST_LINES = 5
LONGEST_LINE = 500
"""Number of lines of the process's output that are stored, and most bytes of each."""


class WorkerError(RneaError):
    """A worker process cannot be started, or exited before it answered."""


class RequestCancelledError(WorkerError):
    """The answer is no longer needed."""


class WorkerProcess:
    """
    A process that computes for the node; :mod:`.worker_tasks` has the tasks that it can do.

    It is started by :meth:`start` or the first request, and again after an exit.  It runs at low
    priority, and ends when the node does, because this object holds one end of a pipe to it.  One
    thread may call :meth:`ask` while another calls :meth:`close`.

    :param on_exit: called, by the thread that asks, with the reason why the process has exited.
    """

    def __init__(self, on_exit: Callable[[str], None]) -> None:
        self._on_exit = on_exit
        self._lock = Lock()
        self._is_closed = False
        self._process: subprocess.Popen | None = None
        self._channel: Channel | None = None
        self._lifeline: IO[bytes] | None = None  # the process ends when this is closed
        self._stopped_at: float | None = None  # when it was first seen stopped
        self._printed: deque[str] = deque(maxlen=LAST_LINES)
        self._reader: BackgroundThread | None = None  # of what the process prints

    @property
    def pid(self) -> int | None:
        """Return the number of the process; None while there is none."""
        process = self._process
        return None if process is None else process.pid

    @property
    def last_lines(self) -> tuple[str, ...]:
        """Return what the process has printed since its last answer, at most the last lines."""
        return tuple(self._printed)

    def ask(
            self,
            request: Message,
            is_cancelled: Callable[[], bool] = lambda: False,
            on_progress: Callable[[Any], None] = lambda _: None) -> Message:
        """
        Send a request, wait for the answer and return it.

        :param is_cancelled: called periodically; if it returns true, the process is ended.
        :param on_progress: called with each progress report that precedes the answer.
        :raises RneaError: of the type and with the text that the process answered.
        :raises WorkerError: where the process cannot be started, or exits twice at this request.
        :raises RequestCancelledError: where the request is cancelled, or this object was closed.
        """
        for _ in range(TRIES):
            channel = self._started()
            channel.on_wait = lambda: self._check_cancelled(is_cancelled)
            try:
                channel.send(request)
                answer = channel.receive()
                while PROGRESS in answer:
                    on_progress(answer[PROGRESS])
                    answer = channel.receive()
                refusal = _refusal(answer)
            except (EOFError, OSError) as error:
                with self._lock:
                    closed = self._is_closed
                if closed:
                    raise RequestCancelledError('the node is ending') from error
                cause = self._clean_up()
                self._on_exit(cause)
                continue
            except RneaError:
                raise
            except Exception as error:  # noqa: BLE001 (an invalid answer must not end the thread)
                self._clean_up()
                raise WorkerError(
                    'the answer of the worker process cannot be read: '
                    f'{type(error).__name__}: {error}') from error
            self._printed.clear()  # these lines do not explain a later exit
            if refusal is not None:
                raise refusal
            return answer
        raise WorkerError(
            f'{TRIES} worker processes have exited while they worked on the request: {cause}')

    def start(self) -> None:
        """
        Start the process before the first request, since it takes long to import its modules.

        :raises WorkerError: where it cannot be started, or this object was closed.
        """
        self._started()

    def keep_alive(self) -> None:
        """Report it if the process has exited or is stopped, and start another one."""
        if self._process is not None and (
                self._process.poll() is not None or self._is_stopped()):
            self._on_exit(self._clean_up())
            self._started()

    def close(self) -> None:
        """Kill the process, and start no other."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()
                with suppress(subprocess.TimeoutExpired):  # Linux cannot end it at present
                    self._process.wait(LONGEST_END)

    # ---- start and end --------------------------------------------------------------------------

    def _started(self) -> Channel:
        with self._lock:
            if self._is_closed:
                raise RequestCancelledError('the node is ending')
            if self._process is None or self._channel is None:
                try:
                    self._channel, end = channel_pair(POLL_PERIOD)
                    with end:
                        self._process, self._lifeline = _start(end.fileno())
                except (OSError, ValueError, subprocess.SubprocessError) as error:
                    raise WorkerError(
                        f'the worker process cannot be started: {error}') from error
                self._printed = deque(maxlen=LAST_LINES)
                self._reader = BackgroundThread(
                    target=_keep_lines, args=[self._process.stderr, self._printed], daemon=True)
                self._reader.start()
            return self._channel

    def _check_cancelled(self, is_cancelled: Callable[[], bool]) -> None:
        if self._is_closed or is_cancelled():
            is_closed = self._is_closed
            self._clean_up()
            raise RequestCancelledError(
                'the node is ending' if is_closed else 'the request is cancelled')
        if self._is_stopped():
            raise ChildProcessError(STOPPED)

    def _is_stopped(self) -> bool:
        """Return whether the process has been stopped for too long: nobody else would see that."""
        process = self._process
        if process is None or not _has_stopped(process.pid):
            self._stopped_at = None
            return False
        self._stopped_at = self._stopped_at or monotonic()
        return monotonic() - self._stopped_at > LONGEST_STOP

    def _clean_up(self) -> str:
        """Release the process's resources, and return the reason why it has exited."""
        with self._lock:
            process, self._process = self._process, None
            if self._channel is not None:
                self._channel.close()
                self._channel = None
            lifeline, self._lifeline = self._lifeline, None
        if process is None:
            return 'it was not running'
        was_stopped, self._stopped_at = _has_stopped(process.pid), None
        try:
            status = process.wait(POLL_PERIOD)  # it may be exiting
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        if lifeline is not None:
            lifeline.close()  # not before: that would kill a process that is exiting by itself
        if was_stopped:
            return STOPPED
        if status < 0:
            return f'killed by {signal.Signals(-status).name}'
        if self._reader is not None:
            self._reader.join(READING_TIMEOUT)
        if not self._printed:
            return f'status {status}'
        return f'status {status}; the last line that it printed: {self._printed[-1]}'


def _has_stopped(pid: int) -> bool:
    """Return whether Linux says that a process is stopped."""
    with suppress(OSError):
        state = Path(f'/proc/{pid}/stat').read_text(encoding='ascii', errors='replace')
        return state.rpartition(')')[2].split()[0] == 'T'
    return False


def _refusal(answer: Message) -> RneaError | None:
    """Return the error in an answer, or None."""
    if 'error' not in answer:
        return None
    kind = getattr(errors, answer['error'])
    if not issubclass(kind, RneaError):
        raise TypeError(f'{kind.__name__} is not an error of this package')
    return kind(answer['text'])


def _start(descriptor: int) -> tuple[subprocess.Popen, IO[bytes]]:
    """
    Start the program with the other end of the connection and a safe module search path.

    :return: the process, and the end of a pipe with which the process ends.
    """
    folders = _folders(sys.path)
    home = str(Path(ros2_rnea.__file__).resolve().parents[1])
    environment = dict(os.environ)
    if 'PYTHONPATH' in environment:
        environment['PYTHONPATH'] = os.pathsep.join(
            _folders(environment['PYTHONPATH'].split(os.pathsep)))
    reader, writer = os.pipe()
    lifeline = open(writer, 'wb')
    try:
        process = subprocess.Popen(
            [sys.executable, worker_program.__file__, str(descriptor), str(reader), VERSION,
             str(ros2_rnea.__file__), *folders, home],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            pass_fds=[descriptor, reader], env=environment)
    except BaseException:
        lifeline.close()
        raise
    finally:
        os.close(reader)
    return process, lifeline


def _folders(paths: list[str]) -> list[str]:
    """Return the entries of a search path that are absolute and not the working directory."""
    try:
        here = os.path.realpath(os.curdir)
    except OSError:  # it was deleted: nothing can be imported from it
        here = ''
    return [path for path in paths
            if os.path.isabs(path) and os.path.exists(path) and os.path.realpath(path) != here]


def _keep_lines(stream: IO[bytes] | None, lines: deque[str]) -> None:
    """Read all output of a process, and store its last lines."""
    with stream or open(os.devnull, 'rb') as printed:
        while line := printed.readline(LONGEST_LINE):
            if line.strip():
                lines.append(line.decode(errors='replace').strip())
