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
The worker that builds models; the control thread only swaps them in.

A robot description may be large or invalid, and compiling a robot takes seconds.  Therefore a
thread of the node sends the description to a worker process, and makes a robot and a policy from
the answer: audited data and machine code.  The control thread sends a request without waiting;
once the answer has arrived, it swaps the model by assignments.

Only the newest of several requests is answered.  A request that a newer one supersedes may still
finish within :data:`SUPERSEDED_TIMEOUT`, because a new process takes about as long; after that its
process is ended.  Another process of this kind computes the answers of services: no description
waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import pickle
from threading import Condition
from time import monotonic
from typing import Any, NamedTuple

from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import RneaError
from ros2_rnea.kernels.compiled import say_once
from ros2_rnea.kernels.engines import Compilation, Engine, engine_of, Kernels, kernels_of
from ros2_rnea.model.tree import Tree
from ros2_rnea.node.models.model_building import adjustable, Model, ModelParameters, Source
from ros2_rnea.node.worker.background_thread import BackgroundThread
from ros2_rnea.node.worker.channel import Message
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess

SUPERSEDED_TIMEOUT = 1.0
"""Longest time that a request may still take after a newer one was made [s]."""

CHECK_PERIOD = 1.0
"""Period at which an idle thread checks that its process still runs [s]."""


class Request(NamedTuple):
    """
    A request for a model.

    :ivar settings: of the policy that is made together with the model.
    """

    source: Source
    parameters: ModelParameters
    settings: Settings


class Built(NamedTuple):
    """
    A model that is ready to be swapped in.

    :ivar policy: it has decided nothing yet.
    """

    model: Model
    policy: Policy


class Answer(NamedTuple):
    """
    The answer to a request.

    :ivar result: the model, or the error because of which there is none.
    """

    request: Request
    result: Built | RneaError


class Progress(NamedTuple):
    """
    How far the compilation of a model is.

    :ivar kernel: which is being compiled.
    :ivar since: when the first one was begun, on the monotonic clock [s].
    """

    kernel: Compilation
    since: float


class _Parts(NamedTuple):
    """
    What a model is made from.

    :ivar data: the tree in pickle.
    """

    engine: Engine
    data: bytes
    tree: Tree
    kernels: Kernels | None


class ModelWorker:
    """
    The thread and its process, which run until :meth:`close`.

    The process is started at once: it is ready when a description has been discovered.

    :ivar process: which the thread asks.
    :param on_exit: called, by the thread, when the process has exited; it is then restarted.
    """

    def __init__(self, on_exit: Callable[[str], None]) -> None:
        self.process = WorkerProcess(on_exit)
        self._changed = Condition()
        self._waiting: Request | None = None
        self._current: Request | None = None
        self._superseded_at: float | None = None  # when a newer request was made
        self._answer: Answer | None = None
        self._progress: Progress | None = None
        self._discarded: list[object] = []
        self._latest: _Parts | None = None
        self._is_closed = False
        self._thread = BackgroundThread(
            target=self._run, name='model_worker', daemon=True)
        self._thread.start()

    def request(self, request: Request) -> None:
        """Request a model; this replaces any earlier request."""
        with self._changed:
            self._supersede()
            self._progress = None
            self._waiting = request
            self._changed.notify()

    def cancel(self) -> None:
        """Cancel the request."""
        with self._changed:
            self._supersede()

    def take(self) -> Answer | None:
        """Return the answer to the newest request, and only once; None while there is none."""
        with self._changed:
            answer, self._answer = self._answer, None
            return answer

    @property
    def is_busy(self) -> bool:
        """Return whether the thread works on a request, also on one that was superseded."""
        with self._changed:
            return self._current is not None

    @property
    def progress(self) -> Progress | None:
        """
        Return how far the compilation for the present request is, or was when it ended.

        None while nothing has to be compiled for it.
        """
        return self._progress

    def discard(self, replaced: list[object]) -> None:
        """
        Let the thread free replaced objects, since freeing a model takes as long as a swap.

        :param replaced: emptied here.  The caller must hold no other reference to the objects:
            if the thread is faster, they would be freed where the caller returns.
        """
        with self._changed:
            self._discarded += replaced
            replaced.clear()
            self._changed.notify()

    def close(self) -> None:
        """Stop the thread and the process."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self.process.close()
        self._thread.wait()

    def _supersede(self) -> None:
        if self._answer is not None:
            self._discarded.append(self._answer)
        self._waiting = self._answer = None
        if self._current is not None and self._superseded_at is None:
            self._superseded_at = monotonic()

    # ---- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        with suppress(WorkerError):  # the first request says why
            self.process.start()
        while not self._is_closed:
            request = self._next()
            if request is None:
                self._keep_process_alive()
                continue
            answer = self._answer_to(request)
            with self._changed:
                if self._superseded_at is None:
                    self._answer = answer
                self._current = self._superseded_at = None
            del answer, request  # or they would keep a replaced model alive

    def _next(self) -> Request | None:
        """Return the newest request, or None after a while."""
        with self._changed:
            if not (self._waiting or self._discarded or self._is_closed):
                self._changed.wait(CHECK_PERIOD)
            discarded, self._discarded = self._discarded, []
            self._current, self._waiting = self._waiting, None
            if self._current is not None:
                self._progress = None
            request = self._current
        discarded.clear()  # outside the lock: no thread waits for it
        return request

    def _keep_process_alive(self) -> None:
        try:
            self.process.keep_alive()
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
        source, parameters, settings = request
        engine = engine_of(None)
        answer = self.process.ask(
            model_request(source, engine), self._is_cancelled, self._set_progress)
        for text in answer['about_kernels']:  # nobody sees the log of the process
            say_once(text)
        parts = self._parts(answer['tree'], engine)
        robot = adjustable(parts.tree, source, engine, parts.kernels)
        robot.load_machine_code(source.kernels, answer['machine_code'])
        self._latest = parts  # only now, since the previous kernels had to exist until here
        robot.compile(*source.kernels)
        robot.compile('inverse_dynamics', 'effort_terms', wrenches=True)
        model = Model(source, parts.tree, robot, answer['findings'])
        model.update(parameters)
        policy = Policy(robot, settings)
        policy.check_held()
        policy.friction_shares()  # computed here, and not in the swap
        policy.stages.judgement.friction_shares(settings)  # nor in the first change
        return Built(model, policy)

    def _parts(self, data: bytes, engine: Engine) -> _Parts:
        """
        Return the tree that was sent, and its kernels.

        Where the model before was made from the same tree, it is not read again, and the kernels
        that both need are not loaded again.  Otherwise the cycle would have to share the
        interpreter and the processor with that.
        """
        before = self._latest
        if before is None or (before.engine, before.data) != (engine, data):
            tree = pickle.loads(data)
            return _Parts(engine, data, tree, kernels_of(tree, engine))
        return before if before.kernels is None else before._replace(
            kernels=before.kernels.successor())

    def _set_progress(self, report: Any) -> None:
        with self._changed:
            if self._superseded_at is not None:  # the progress is that of a newer request
                return
            since = monotonic() if self._progress is None else self._progress.since
            self._progress = Progress(Compilation(*report), since)

    def _is_cancelled(self) -> bool:
        since = self._superseded_at
        return since is not None and monotonic() - since > SUPERSEDED_TIMEOUT


def model_request(source: Source, engine: Engine) -> Message:
    """Return the message to the process."""
    return {'task': 'model', 'source': source, 'engine': engine}
