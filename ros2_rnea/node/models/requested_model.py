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
"""A model that is being built, or that is built and has to wait until it can be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

from ros2_rnea.control.policy import Policy
from ros2_rnea.node.models.model_building import Source
from ros2_rnea.node.worker.model_worker import Answer, Built

RETRY_PERIOD = 0.1
"""Period at which the node tries again to use a model that could not hold the arm [s]."""


@dataclass
class RequestedModel:
    """
    What was requested, and what has come of it.

    :ivar transition: duration of the blend to its effort [s]; None: ``blend_time``.
    :ivar answer: of the worker; None until it has come.
    :ivar was_updated: whether the model in the answer was brought up to date before this turn.
    :ivar declarations: of the parameters of its joints, as far as they are left; None: all.
    :ivar is_reported: whether it was reported that it waits, and why.
    """

    source: Source
    transition: float | None
    answer: Answer | None = None
    was_updated: bool = False
    declarations: Iterator[None] | None = None
    is_reported: bool = False
    _retry_at: float | None = None  # None: it does not wait

    def prolong(self, transition: float | None, blend_time: float) -> None:
        """
        Let the blend take at least a given time.

        :param transition: the given time [s]; None: the blend keeps its duration.
        :param blend_time: duration of a blend for which no other duration is given [s].
        """
        if transition is not None:
            present = blend_time if self.transition is None else self.transition
            self.transition = max(transition, present)

    # ---- a model that cannot be used safely now -------------------------------------------------

    @property
    def is_waiting(self) -> bool:
        """Return whether it is built, and could not be used safely."""
        return self._retry_at is not None

    @property
    def waiting_policy(self) -> Policy | None:
        """Return its policy while it waits."""
        if not self.is_waiting or self.answer is None or not isinstance(self.answer.result, Built):
            return None
        return self.answer.result.policy

    @property
    def is_due(self) -> bool:
        """Return whether it is to be tried now to use it."""
        return self._retry_at is None or monotonic() >= self._retry_at

    def wait(self) -> None:
        """Try later to use it, since that is not safe now."""
        self._retry_at = monotonic() + RETRY_PERIOD
        self.was_updated, self.is_reported = False, True

    def try_now(self) -> None:
        """Try in the next turn to use it, since something has changed, and report it again."""
        if self.is_waiting:
            self._retry_at, self.is_reported = monotonic(), False
