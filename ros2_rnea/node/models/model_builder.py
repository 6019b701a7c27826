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
"""The building of models: one at a time is requested from the worker, and then offered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from math import inf
from time import monotonic

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.models.build_report import BuildReport
from ros2_rnea.node.models.model_building import Source
from ros2_rnea.node.models.requested_model import RequestedModel
from ros2_rnea.node.worker.model_worker import Answer, ModelWorker, Request

POLL_PERIOD = 0.005
"""Period at which the worker is asked for its answer [s]."""

FIRST_REBUILD_PERIOD, LONGEST_REBUILD_PERIOD = 1.0, 60.0
"""
First and longest delay before a model whose worker process has failed is requested again [s].

The delay doubles each time.
"""


class ModelBuilder:
    """
    Requests models, and remembers which one is refused.

    :ivar requested: the model that is being built, or is built and waits; None: there is none.
    :ivar refused: the source of the model that was refused last, which is not requested again;
        None: there is none.
    :param offer: called at intervals once the worker has answered, until the model is used,
        refused or replaced by another request.
    :param end: called when nothing is requested any more, also where nothing was.
    :param has_model: returns whether a model is in use during the build.
    """

    def __init__(
            self, node: Node, diagnostics: Diagnostics,
            offer: Callable[[RequestedModel, Answer], None], end: Callable[[], None],
            has_model: Callable[[], bool]) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._offer = offer
        self._end = end
        self._has_model = has_model
        self._report = BuildReport(node, diagnostics)
        self._ending = ExitStack()  # undoes what begin() does
        self._timer: Timer | None = None
        self.requested: RequestedModel | None = None
        self.refused: Source | None = None
        self._again_at = inf  # what is refused is requested again, since its worker has failed
        self._again_period = FIRST_REBUILD_PERIOD

    def begin(self) -> None:
        """Start the worker."""
        self._worker = ModelWorker(
            lambda cause: self._diagnostics.worker_exited('builds models', cause))
        self._ending.callback(self._worker.close)

    def close(self) -> None:
        """Stop the worker, and forget what was requested and refused."""
        self._ending.close()
        self._stop_timer()
        self.requested = None
        self.begin_anew()

    @property
    def is_busy(self) -> bool:
        """Return whether a model is being built or about to be used."""
        return self._timer is not None and not (
            self.requested is not None and self.requested.is_waiting)

    # ---- requests -------------------------------------------------------------------------------

    def request(self, request: Request, transition: float | None) -> None:
        """
        Request a model in place of any other.

        :param transition: duration of the blend to its effort [s]; None: ``blend_time``.
        """
        self._discard_answer()
        self._report.begin()
        self.requested = RequestedModel(request.source, transition)
        self._worker.request(request)
        if self._timer is None:
            self._timer = self._node.create_timer(
                POLL_PERIOD, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def cancel(self) -> None:
        """Request nothing any more."""
        self._worker.cancel()
        self.stop_waiting()

    def stop_waiting(self) -> None:
        """Wait for no model any more; the timer ends at its next turn, not within a swap."""
        self._discard_answer()
        self._report.end()
        self.requested = None
        if self._timer is None:
            self._end()

    def free(self, replaced: list[object]) -> None:
        """Let the worker's thread free objects, see :meth:`.ModelWorker.discard`."""
        self._worker.discard(replaced)

    def _discard_answer(self) -> None:
        """Let the worker's thread free an answer that is not used."""
        if self.requested is not None and self.requested.answer is not None:
            replaced: list[object] = [self.requested.answer]
            self.requested.answer = None
            self._worker.discard(replaced)

    # ---- refusals -------------------------------------------------------------------------------

    def refuse(self, source: Source, is_requested_again: bool) -> None:
        """
        Note that a model is not used.

        :param is_requested_again: after a while, since it is not its own fault.
        """
        self.stop_waiting()
        self.refused = source
        self._again_at = monotonic() + self._again_period if is_requested_again else inf

    def forgive(self) -> None:
        """Note that what was refused may be requested, since it may be accepted now."""
        self.refused, self._again_at = None, inf

    def begin_anew(self) -> None:
        """Note that another description is wanted, whatever has been refused until now."""
        self.forgive()
        self._again_period = FIRST_REBUILD_PERIOD

    @property
    def postponed_description(self) -> str | None:
        """Return the description of what is refused and will be requested again by itself."""
        return None if self.refused is None or self._again_at == inf else (
            self.refused.description)

    def retry_if_due(self) -> bool:
        """
        Return whether what is refused has to be requested again now.

        The process may have been killed because memory was scarce for a moment.
        """
        if self.refused is None or self.requested is not None or monotonic() < self._again_at:
            return False
        self.forgive()
        self._again_period = min(2.0 * self._again_period, LONGEST_REBUILD_PERIOD)
        return True

    # ---- the worker's answer --------------------------------------------------------------------

    def _poll(self) -> None:
        """Fetch the worker's answer and offer it, in steps that each take little time."""
        requested = self.requested
        if requested is None:
            self._stop_timer()
            self._end()
            return
        if requested.answer is None:
            requested.answer = self._worker.take()
            progress = self._worker.progress
            if requested.answer is None:
                self._report.go_on(progress, self._has_model())
                return
            self._report.answered(progress, requested.answer.result)
        self._offer(requested, requested.answer)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
