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
Which receivers are waited for: those that are known in part, and those in the record.

If only some of the processes that received the last command of an earlier process of this node are
discovered, the node waits for the others: those that are there may be recorders.  The node also
waits if the controller that received that command is not discovered.  The wait ends, because the
controller may be in another process since then.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import inf

from ros2_rnea.node.controllers.receiver_graph import processes
from ros2_rnea.node.controllers.receiver_table import ReceiverTable
from ros2_rnea.node.topics.command_record import Endpoint


class ReceiverWaits:
    """
    Since when receivers are waited for.

    :param recorded: the receivers in the record of an earlier process of this node.
    :ivar awaited: the names of those in the record that are waited for; empty where none is.
    :ivar patience: how long these are waited for [s].
    :ivar has_given_up: whether these have not appeared in time.
    """

    def __init__(self, recorded: frozenset[Endpoint]) -> None:
        self.awaited = ''
        self.patience = 0.0
        self.has_given_up = False
        self._recorded = recorded
        self._recorded_since = inf  # since when they are missing while others are there
        self._partial_since: dict[Hashable, float] = {}

    def are_incomplete(self, partial: Mapping[Hashable, float], now: float) -> bool:
        """
        Return whether a receiver that is known in part is still waited for.

        A receiver that was counted, and then is listed without a name, is the same one.

        :param partial: what is not known, and how long each may be waited for [s]; by its process,
            or by the number of receivers that are counted and not listed.
        :param now: a time that never jumps [s].
        """
        since = self._partial_since
        counted = min((since[each] for each in since if isinstance(each, int)
                       and each not in partial), default=now)
        self._partial_since = {
            each: since.get(each, now if isinstance(each, int) else counted) for each in partial}
        return any(now - self._partial_since[each] < patience
                   for each, patience in partial.items())

    def look_for_recorded(
            self, table: ReceiverTable, controller: str, now: float,
            controller_patience: float, patience: float) -> None:
        """
        Wait for receivers in the record that are missing, or give them up.

        :param controller: the name of the controller's node; empty: it is not known.
        :param now: a time that never jumps [s].
        :param controller_patience: how long the controller is waited for [s].
        :param patience: how long other receivers are waited for [s].
        """
        is_recorded = bool(controller) and controller in {each.node for each in self._recorded}
        is_controller_missing = is_recorded and not table.named
        missing = self._missing(table, controller, is_recorded, is_controller_missing)
        self.awaited = ''
        if missing:
            self._recorded_since = min(self._recorded_since, now)
            self.patience = controller_patience if is_controller_missing else patience
            self.has_given_up = now - self._recorded_since >= self.patience
            if not self.has_given_up:
                self.awaited = ', '.join(sorted({each.node or 'a receiver' for each in missing}))

    def _missing(
            self, table: ReceiverTable, controller: str, is_recorded: bool,
            is_controller_missing: bool) -> frozenset[Endpoint]:
        """
        Return the recorded receivers without which it is not known which present one counts.

        The result is empty if a controller that this process has seen is missing: then nobody else
        counts.
        """
        if not table.found or is_controller_missing and table.is_controller_known:
            return frozenset()
        recorded = self._recorded
        if is_recorded:
            recorded = frozenset(each for each in recorded if each.node == controller)
        there = processes(table.found)
        known = there & processes(recorded)
        if any(table.processes[each].is_driver for each in known) or not (
                known or is_controller_missing):
            return frozenset()
        return frozenset(each for each in recorded if each.process not in there)
