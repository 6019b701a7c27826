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
"""Blocks of measurement: one subject, one rate, some seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass
import os
from pathlib import Path
import tempfile
from threading import Event
import time
from types import TracebackType
from typing import Any

from benchmark.errors import BenchmarkError
from benchmark.node.joint_range import FOR_RANDOM_STATES
from benchmark.node.processes import Process
from benchmark.node.robots import BenchmarkRobot
from benchmark.node.stamps import shift
import numpy as np

PATIENCE = 30.0
"""How long a subject may take to read a description and to answer [s]."""

SETTLING = 0.05
"""What the last answers of a block may take to arrive [s]."""

DISCOVERY = 1.0
"""What DDS may take until a process that has been started knows all others [s]."""

SENT_AT_ONCE = 0.5
"""For how long states are sent without a look whether they still have to be [s]."""

LEASE = 30.0
"""For how long DDS lists a killed process at most; Fast DDS does for 20 s [s]."""

LOOK_PERIOD = 0.005
"""How often it is looked whether there is an answer [s]."""

QUEUE_OF_THE_RELAY = 'state_depth:=10'
"""The node would rather drop an old state than answer it; here it answers all, as the relay."""


class SilentSubjectError(BenchmarkError):
    """A subject does not answer, or does not do what it should."""


@dataclass(frozen=True)
class Block:
    """
    What happened in some seconds.

    :ivar seconds: from the first state to the last answer.
    :ivar late: states that went out more than a period late: the publisher's own noise.
    :ivar processor: time that all threads of the subject's processes took [s].
    :ivar longest_gap: between two answers that followed each other [s].
    :ivar latencies: from the stamp of each state to the arrival of its answer [s].
    """

    rate: float
    seconds: float
    sent: int
    late: int
    processor: float
    latencies: np.ndarray
    longest_gap: float = 0.0

    @property
    def answered(self) -> float:
        """Return the share of the states that were answered."""
        return len(self.latencies) / self.sent


@dataclass(frozen=True)
class Respawn:
    """
    What it took to come back after kill -9, where the process is started again at once.

    :ivar gap: between the last answer before and the first one after it [s].
    :ivar processor: time that all threads of the new process had taken by then [s].
    """

    gap: float
    processor: float


class Subject:
    """
    What is measured: processes that answer the joint states of some robots.

    :param name: for people, and the log file's.
    :param processes: one for all robots, or one for each.
    :param namespaces: of the robots.
    """

    def __init__(
            self, name: str, processes: Sequence[Process], namespaces: Sequence[str]) -> None:
        self.name = name
        self.processes = processes
        self.namespaces = namespaces

    def processor_time(self) -> float:
        """Return what the subject has used of the processors so far [s]."""
        return sum(process.processor_time() for process in self.processes)


class Bench:
    """
    A publisher, a receiver and subjects, over real DDS on a domain of their own, as a context.

    :param robot: whose states are published.
    """

    def __init__(self, robot: BenchmarkRobot) -> None:
        self._robot = robot
        self._stack = ExitStack()
        self._shift = shift()
        self._changers: dict[str, Process] = {}

    def __enter__(self) -> Bench:
        """Start publisher and receiver."""
        self._logs = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._publisher = self._start('benchmark.node.publisher', 'publisher')
        self._receiver = self._start('benchmark.node.receiver', 'receiver')
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """End all processes."""
        self._stack.__exit__(kind, error, traceback)

    def relays(self, namespaces: Sequence[str]) -> Subject:
        """Start an empty relay for each robot, and return them when they answer."""
        return self._ready(Subject('relay', [
            self._start('benchmark.node.relay', 'relay', '--ros-args', '-r', f'__ns:={namespace}')
            for namespace in namespaces], namespaces))

    def nodes(self, namespaces: Sequence[str], parameters: Iterable[str] = ()) -> Subject:
        """
        Start a node for each robot, and return them when they follow a trajectory.

        :param parameters: as on a command line: ``name:=value``.
        """
        given = [f'joints:={list(self._robot.joints)}', QUEUE_OF_THE_RELAY,
                 *(f'{name}:={value}' for name, value in FOR_RANDOM_STATES.items()), *parameters]
        return self._following(Subject('node', [
            self._start(
                'ros2_rnea.node.inverse_dynamics_node', 'node', '--ros-args',
                '-r', f'__ns:={namespace}', *(word for text in given for word in ('-p', text)))
            for namespace in namespaces], namespaces))

    def fleet(self, namespaces: Sequence[str]) -> Subject:
        """Start one process with a node for each robot, and return it when all follow."""
        process = self._start(
            'benchmark.node.fleet', 'fleet', '--namespaces', *namespaces,
            '--joints', *self._robot.joints)
        return self._following(Subject('node', [process], namespaces))

    def measure(self, subject: Subject, rate: float, seconds: float, imu: str = '') -> Block:
        """
        Publish states at a rate, and return what came of it.

        :param imu: the link of an IMU that sends as often; empty: there is none.
        """
        self._receiver.ask('begin', robots=subject.namespaces, shift=self._shift)
        processor, start = subject.processor_time(), time.monotonic()
        done = self._publisher.ask('send', robots=subject.namespaces, rate=rate,
                                   seconds=seconds, shift=self._shift, imu=imu)
        time.sleep(SETTLING)
        processor, elapsed = subject.processor_time() - processor, time.monotonic() - start
        report = self._receiver.ask('report')
        return Block(rate, elapsed, done['sent'], done['late'], processor,
                     1e-9 * np.array(report['latencies'], dtype=float),
                     1e-9 * report['longest_gap'])

    def diagnosis(self, namespace: str) -> dict[str, str]:
        """Return the newest values in /diagnostics of the node in a namespace."""
        diagnoses = self._receiver.ask('report')['diagnoses']
        return diagnoses.get(f'{namespace[1:]}/inverse_dynamics: inverse dynamics', {})

    def begin_to_send(self, subject: Subject, rate: float, seconds: float) -> Future:
        """
        Publish states at a rate in the background.

        :return: of it the result has the numbers of states ``sent``, and of those ``late`` ones.
        """
        self._receiver.ask('begin', robots=subject.namespaces, shift=self._shift)
        return self._stack.enter_context(ThreadPoolExecutor(1)).submit(
            self._publisher.ask, 'send', robots=subject.namespaces, rate=rate, seconds=seconds,
            shift=self._shift)

    def take_latencies(self) -> np.ndarray:
        """Return the latencies [s] of the answers that have come since they were last taken."""
        return 1e-9 * np.array(self._receiver.ask('take'), dtype=float)

    def measure_changes(self, subject: Subject, rate: float, seconds: float) -> Block:
        """Publish states while descriptions, payloads and gravity change without end."""
        changer = self._changer(subject.namespaces[0])
        with ThreadPoolExecutor() as pool:
            changes = pool.submit(changer, seconds)
            block = self.measure(subject, rate, seconds)
            changes.result()
        return block

    def measure_respawn(self, subject: Subject, rate: float) -> Respawn:
        """
        Kill a subject of one process while it answers, start it again, and measure that.

        It begins when DDS has forgotten the processes that were killed before: they delay the
        discovery of others, and a crash is rarely followed by another one at once.
        """
        process = subject.processes[0]
        deadline = time.monotonic() + LEASE
        while self._receiver.ask('lists_killed') and time.monotonic() < deadline:
            time.sleep(SETTLING)
        self._receiver.ask('begin', robots=subject.namespaces, shift=self._shift)
        with self._sending(subject, rate):
            self._until_answered(subject)
            process.respawn()
            while len(self.take_latencies()):  # of answers that were on their way
                time.sleep(SETTLING)
            self._until_answered(subject)
            processor = process.processor_time()
            gap = self._receiver.ask('report')['longest_gap']
        return Respawn(1e-9 * gap, processor)

    @contextmanager
    def _sending(self, subject: Subject, rate: float) -> Iterator[None]:
        """Publish states at a rate meanwhile."""
        is_over = Event()

        def send() -> None:
            while not is_over.is_set():
                self._publisher.ask('send', robots=subject.namespaces, rate=rate,
                                    seconds=SENT_AT_ONCE, shift=self._shift)

        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(send)
            try:
                yield
            finally:
                is_over.set()
                sent.result()

    def _until_answered(self, subject: Subject) -> None:
        """Wait for an answer."""
        deadline = time.monotonic() + PATIENCE
        while not len(self.take_latencies()):
            if time.monotonic() > deadline:
                raise SilentSubjectError(
                    f'within {PATIENCE:.0f} s the {subject.name} never answers')
            time.sleep(LOOK_PERIOD)

    def _changer(self, namespace: str) -> Callable[[float], Any]:
        """
        Return what changes a robot for some seconds.

        Its process is started once and has been discovered before a block begins: the publisher
        of joint states waits up to 0.3 s while DDS discovers another process.
        """
        urdf = self._robot.urdf
        other = urdf.replace('<robot ', '<robot  ', 1)  # as good as another one for the node

        def change(seconds: float) -> Any:
            return self._changers[namespace].ask(
                'change', urdfs=[other, urdf], links=self._robot.links, seconds=seconds)

        if namespace not in self._changers:
            self._changers[namespace] = self._start(
                'benchmark.node.changer', 'changer', namespace)
            change(DISCOVERY)
        return change

    def _start(self, module: str, name: str, *arguments: str) -> Process:
        log = self._logs / f'{name}-{len(os.listdir(self._logs))}.log'
        return self._stack.enter_context(Process(module, arguments, log))

    def _ready(self, subject: Subject) -> Subject:
        self._receiver.ask('listen', robots=subject.namespaces)
        self._publisher.ask('describe', robots=subject.namespaces, urdf=self._robot.urdf,
                            joints=self._robot.joints)
        self._until(subject, 'answers', lambda block: block.answered > 0.9)
        return subject

    def _following(self, subject: Subject) -> Subject:
        def follow(_: Block) -> bool:
            if all(self.diagnosis(name).get('reason') == 'following'
                   for name in subject.namespaces):
                return True
            self._publisher.ask('move', robots=subject.namespaces)  # a pause may have ended it
            return False

        self._ready(subject)
        self._until(subject, 'follows the trajectory', follow)
        return subject

    def _until(self, subject: Subject, does: str, is_so: Callable[[Block], bool]) -> None:
        """Publish states until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not is_so(self.measure(subject, 100.0, 0.3)):
            if time.monotonic() > deadline:
                raise SilentSubjectError(
                    f'within {PATIENCE:.0f} s the {subject.name} never {does}')
