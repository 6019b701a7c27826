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
"""The process of the executable: its executor, memory, garbage collection and priority."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import ctypes
import gc
import inspect
import os
import resource
import signal
from time import monotonic

from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node.transports import may_use_shared_memory
from ros2_rnea.node.worker.background_thread import background_threads

EXECUTORS = ('automatic', 'events', 'single_threaded')


def _find_events_executor() -> Callable[[], Executor] | None:
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return None
    return EventsExecutor


EVENTS_EXECUTOR = _find_events_executor()

SWITCH_INTERVAL = 0.0005
"""Longest time for which the cycle waits for another thread that computes in Python [s]."""

COLLECTION_PERIOD = 1.0
"""Period at which garbage is collected [s]."""

LOOK_PERIOD = 0.1
"""Longest time after a signal until the executor returns [s]."""

LONGEST_CALL = 10.0
"""Time after which the executor returns in any case [s], also if no timer runs any more."""

REQUESTS = frozenset({signal.SIGINT, signal.SIGTERM})
"""The signals by which somebody asks for the end of the process, also for a second time."""

CRASHES = frozenset({
    signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS,
    signal.SIGTRAP})
"""The signals after which no code of this process can be relied on."""

NOT_HANDLED = CRASHES | {
    signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
    signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
"""These and the signals that stop a process, or that do nothing by default; all others end it."""

SHARED_MEMORY = '/dev/shm'

SHARED_MEMORY_NEEDED = 16 << 20
"""
The free shared memory below which a warning is logged at start [byte].

One process of Fast DDS 2.14 takes 0.6 MB; the rest is for the other processes of the robot.
"""

# <sys/mman.h> of Linux, on all architectures that ROS 2 runs on
_MCL_CURRENT = 1
_MCL_FUTURE = 2


def make_executor(kind: str) -> Executor:
    """
    Return an executor of a kind in :data:`EXECUTORS`.

    The events executor needs less than half the processor time of the single-threaded one, which
    builds a wait set for each message, and has a lower latency.

    :raises ArgumentError: where this version of rclpy has no such executor.
    """
    if kind == 'events' and EVENTS_EXECUTOR is None:
        raise ArgumentError(
            'executor is events, which this rclpy does not have (ROS 2 Jazzy of 2025 is the first '
            'that does); it needs automatic or single_threaded')
    if kind == 'single_threaded' or EVENTS_EXECUTOR is None:
        return SingleThreadedExecutor()
    return EVENTS_EXECUTOR()


class EndSignals:
    """
    Notes the signals that end the process.

    rclpy's own handlers would invalidate the context in the middle of a callback.  The default
    action of all others would end the process without braking the arm.
    """

    def __init__(self) -> None:
        self._come: set[int] = set()

    def handle(self) -> None:
        """
        Handle the signals from now on.

        One that is ignored, as SIGHUP after ``nohup``, remains so, and so does another handler.
        But SIGINT and SIGTERM always end the process, as they end all nodes of ROS: what a shell
        script starts in the background ignores SIGINT, with which a launch file ends its nodes.
        """
        for number in signal.valid_signals() - NOT_HANDLED:
            if number in REQUESTS or signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._note)

    def have_come(self) -> bool:
        """Return whether a signal has come since :meth:`forget` was called."""
        return bool(self._come)

    def are_repeated(self) -> bool:
        """
        Return whether somebody has asked once more for the end since :meth:`forget` was called.

        Other signals do not count: a shell and Linux both send SIGHUP when a terminal closes.
        """
        return not self._come.isdisjoint(REQUESTS)

    def forget(self) -> None:
        """Forget the signals that have come: one keypress may send several."""
        self._come.clear()

    def _note(self, number: int, _: object) -> None:
        self._come.add(number)


class Spinning:
    """
    Lets an executor work until the process shall end, and collects garbage between callbacks.

    A timer of the node checks periodically whether that is due.  The executor is not called for
    each check: every call of rclpy's events executor leaves some bytes that are never freed
    (pybind11's record of the function that ends the call).

    :param node: gets the timer.
    :param is_ending: tells whether the process shall end.
    """

    def __init__(self, node: Node, executor: Executor, is_ending: Callable[[], bool]) -> None:
        self._executor = executor
        self._is_ending = is_ending
        self._call_ended = Future()
        self._collection = GarbageCollection()
        node.create_timer(LOOK_PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def spin(self) -> None:
        """Work until the process shall end, or for :data:`LONGEST_CALL`."""
        self._call_ended = Future()  # a new one, since each call adds a callback to it
        self._executor.spin_until_future_complete(self._call_ended, LONGEST_CALL)

    def _look(self) -> None:
        self._collection.collect_if_due()
        if self._is_ending():
            self._call_ended.set_result(None)


class GarbageCollection:
    """
    Python's garbage collection, which never runs in the middle of a cycle.

    Modules and all other objects that exist at the start are frozen: collections do not examine
    them.  This is done only once, because a frozen object in a reference cycle is never
    freed.  Robots and policies are freed by reference counting when they are replaced.
    """

    def __init__(self) -> None:
        gc.disable()
        gc.collect()
        gc.freeze()
        self._collected = monotonic()

    def collect_if_due(self) -> None:
        """Collect garbage if the last collection is a period ago; call it between callbacks."""
        now = monotonic()
        if now - self._collected >= COLLECTION_PERIOD:
            gc.collect()
            self._collected = now


def shared_memory_warning(middleware: str) -> str:
    """
    Return a warning if little shared memory is left for Fast DDS, otherwise an empty text.

    Fast DDS reserves memory before it is filled.  If the file system becomes full in between,
    Linux ends the process with SIGBUS, for which no program can prepare.

    :param middleware: identifier of the RMW implementation.
    """
    if not may_use_shared_memory(middleware):
        return ''
    try:
        status = os.statvfs(SHARED_MEMORY)
    except OSError:  # without it, Fast DDS uses the network
        return ''
    free = status.f_bavail * status.f_frsize
    if free >= SHARED_MEMORY_NEEDED:
        return ''
    return (
        f'{SHARED_MEMORY} has {free / 2**20:.1f} MiB left, and when it is full, Linux ends this '
        f'process with SIGBUS; it needs at least {SHARED_MEMORY_NEEDED >> 20} MiB: remove files '
        'of killed processes with "fastdds shm clean", start the container with a larger '
        '--shm-size, or do without shared memory: unset FASTDDS_BUILTIN_TRANSPORTS, or '
        'set other transports in the profile of Fast DDS')


def prepare_logging() -> None:
    """
    Take the time that the first line of a log takes, before efforts are sent.

    rclpy finds out by :mod:`inspect` which line of code logs.  The first time, that looks at all
    modules, for 30 to 60 ms, in which the cycle would stand still.
    """
    inspect.getmodule(inspect.currentframe())


def lock_memory() -> str:
    """Lock all memory of this process, so that it is never swapped out; return why that failed."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if limit != resource.RLIM_INFINITY and os.geteuid() != 0:
        # With a limit, the first allocation beyond it would end the process.
        return (f'memory is not locked, because only {limit >> 20} MiB may be; allow all with '
                '"memlock unlimited" in /etc/security/limits.conf')
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE) != 0:
        return f'memory is not locked: {os.strerror(ctypes.get_errno())}'
    return ''


def raise_priority(priority: int) -> str:
    """
    Give the threads of this process the scheduling policy SCHED_FIFO; return why that failed.

    That includes the threads of the middleware, which receive the states and send the commands.
    It excludes the threads that wait for worker processes: they load and compile models, which
    would take processor time from the cycle.
    """
    background = background_threads()
    try:
        for thread in {*map(int, os.listdir('/proc/self/task'))} - background:
            with suppress(ProcessLookupError):  # it has ended since it was listed
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as error:
        return (f'thread_priority {priority} is not set: {error.strerror}; allow it with '
                f'"rtprio {priority}" in /etc/security/limits.conf')
    return ''
