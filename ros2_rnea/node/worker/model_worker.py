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
The worker beside the cycle: it makes models, and the control thread only swaps them.

A robot description may be large or wrong, and compiling a robot takes seconds.  So a thread of
the node sends it to a process of its own, and makes a robot and a policy of what comes back: data
that is checked and machine code that is compiled.  The control thread asks and goes on; when the
answer is there, it puts it in force by assignments.

Of several requests the newest counts.  One that is overtaken may end within
:data:`OVERTAKEN_PATIENCE`, since a new process costs about as much; after that its process is
ended.  Trajectories are filled by another process of the same kind (see
:mod:`ros2_rnea.node.services.fill_service`), so that no description ever waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
import sys
from threading import Condition
from time import monotonic
from typing import NamedTuple

from ros2_rnea.errors import RneaError
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.feedforward.settings import Settings
from ros2_rnea.kernels.engines import Engine, engine_of
from ros2_rnea.node.models.models import adjustable, KERNELS, Model, Numbers, Source
from ros2_rnea.node.worker.background_thread import BackgroundThread
from ros2_rnea.node.worker.channel import Message
from ros2_rnea.node.worker.plain_data import from_plain, to_plain
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess

OVERTAKEN_PATIENCE = 1.0
"""How long a request may still take after a newer one has come [s]."""

CHECK_PERIOD = 1.0
"""How often an idle thread looks whether its process still lives [s]."""

LONGEST_WAIT = 0.0005
"""How long one thread of this process waits for another one's turn at Python to end [s]."""


class Request(NamedTuple):
    """
    What is asked for.

    :ivar settings: of the policy that is to come with the model.
    """

    source: Source
    numbers: Numbers
    settings: Settings


class Built(NamedTuple):
    """
    What can be put in force.

    :ivar policy: with the request's settings; nothing has been told to it yet.
    """

    model: Model
    policy: FeedforwardPolicy


class Answer(NamedTuple):
    """
    What came of a request.

    :ivar result: or the error that says why there is none.
    """

    request: Request
    result: Built | RneaError


class ModelWorker:
    """
    The thread and its process, from now on until it is closed.

    :param on_exit: called, by the thread, when the process has exited; it is started again.
    """

    def __init__(self, on_exit: Callable[[str], None]) -> None:
        sys.setswitchinterval(LONGEST_WAIT)
        self._process = WorkerProcess(on_exit)
        self._changed = Condition()
        self._waiting: Request | None = None
        self._overtaken: float | None = None  # when that happened to the request at work
        self._at_work: Request | None = None
        self._answer: Answer | None = None
        self._discarded: list[object] = []
        self._is_closed = False
        self._thread = BackgroundThread(
            target=self._run, name='model_worker', daemon=True)
        self._thread.start()

    def request(self, request: Request) -> None:
        """Ask for a model, in place of any other that was asked for."""
        with self._changed:
            self._overtake()
            self._waiting = request
            self._changed.notify()

    def cancel(self) -> None:
        """Ask for nothing any more."""
        with self._changed:
            self._overtake()

    def take(self) -> Answer | None:
        """Return the answer to the newest request, once; None while there is none."""
        with self._changed:
            answer, self._answer = self._answer, None
            return answer

    def discard(self, *replaced: object) -> None:
        """Let the thread free what was in force, which takes about as long as putting it there."""
        with self._changed:
            self._discarded += replaced
            self._changed.notify()

    def close(self) -> None:
        """End thread and process."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._process.close()
        self._thread.join()

    def _overtake(self) -> None:
        if self._answer is not None:
            self._discarded.append(self._answer)
        self._waiting = self._answer = None
        if self._at_work is not None and self._overtaken is None:
            self._overtaken = monotonic()

    # ---- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._is_closed:
            request = self._next()
            if request is None:
                self._look_after_process()
                continue
            answer = self._answer_to(request)
            with self._changed:
                if self._overtaken is None:
                    self._answer = answer
                self._at_work = self._overtaken = None
            del answer, request  # what is replaced later must not live on here

    def _next(self) -> Request | None:
        """Return what is asked for, or None after a while."""
        with self._changed:
            if not (self._waiting or self._discarded or self._is_closed):
                self._changed.wait(CHECK_PERIOD)
            discarded, self._discarded = self._discarded, []
            self._at_work, self._waiting = self._waiting, None
            request = self._at_work
        discarded.clear()  # outside, so that nobody waits for it
        return request

    def _look_after_process(self) -> None:
        try:
            self._process.keep_alive()
        except Exception:  # noqa: BLE001 (the thread goes on; the next request says why)
            pass

    def _answer_to(self, request: Request) -> Answer:
        try:
            return Answer(request, self._built(request))
        except RneaError as error:
            return Answer(request, error)
        except Exception as error:  # noqa: BLE001 (no defect may leave the node without a worker)
            return Answer(request, WorkerError(f'{type(error).__name__}: {error}'))

    def _built(self, request: Request) -> Built:
        source, numbers, settings = request
        engine = engine_of(None)
        message = self._process.ask(
            model_request(source, engine),
            self._is_given_up)
        tree, findings = (from_plain(message.content[name]) for name in ('tree', 'findings'))
        robot = adjustable(tree, source, engine)
        robot.load_machine_code(KERNELS, message.blobs)
        robot.compile(*KERNELS)
        robot.compile('inverse_dynamics', 'effort_terms', wrenches=True)
        model = Model(source, tree, robot, findings)
        model.change(numbers)
        return Built(model, FeedforwardPolicy(robot, settings))

    def _is_given_up(self) -> bool:
        since = self._overtaken
        return since is not None and monotonic() - since > OVERTAKEN_PATIENCE


def model_request(source: Source, engine: Engine) -> Message:
    """Return what a worker process is asked; the description goes as it is, for it may be long."""
    return Message(
        {'task': 'model', 'source': to_plain(source._replace(description='')),
         'engine': to_plain(engine)},
        (source.description.encode(errors='surrogatepass'),))
