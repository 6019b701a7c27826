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
"""The last command on ~/commands: of this process, an earlier one or another node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

import numpy as np
from ros2_rnea.control.output.start_effort import Evidence, Receiver
from ros2_rnea.node.topics.command_record import CommandRecord, Endpoint


class LastCommand:
    """
    The last command, and its record for the next process of this node.

    :param path: of the record.
    :ivar record: where the commands of this process are recorded.
    :ivar recorded: the last command of an earlier process of this node.
    :ivar joints: those of the commands of this process; none before the first.
    """

    def __init__(self, path: Path) -> None:
        self.record = CommandRecord(path)
        self.recorded = self.record.read()
        self.joints: tuple[str, ...] = ()
        self._effort: np.ndarray | None = None
        self._of_others: tuple[float, ...] = ()  # where it came after the last one of this node

    @property
    def is_own(self) -> bool:
        """Return whether this process has sent a command."""
        return self._effort is not None

    def begin(
            self, joints: Sequence[str], receivers: frozenset[Endpoint],
            earlier: Sequence[str]) -> None:
        """
        Let commands of these joints go to these receivers from now on.

        :param earlier: the processes that have received commands.
        """
        self.joints = tuple(joints)
        self.record.begin(self.joints, receivers, earlier)

    def write(self, effort: np.ndarray) -> None:
        """Note a command, shape (joints,), in the units of the drives; the array is kept."""
        self._of_others = ()
        self._effort = effort
        self.record.write(effort)

    def take_of_others(self, command: tuple[float, ...]) -> bool:
        """
        Note a command of another node, in the units of the drives.

        A controller ignores one that has a wrong size or is not finite, and holds the one before.

        :return: whether it is held.
        """
        has_size = len(command) == (len(self.joints) or len(command))
        if not has_size or not all(map(isfinite, command)):
            return False
        self._of_others = command
        return True

    def efforts(self) -> Mapping[str, float]:
        """Return the last command of this node, also of an earlier process of it, by joint."""
        if self._effort is None:
            return self.recorded.efforts
        return dict(zip(self.joints, self._effort.tolist()))

    def held(self, joints: Sequence[str], is_recorded: bool) -> Evidence:
        """
        Return what is known of the effort of receivers that hold the last command.

        :param joints: the joints of the next command.  If the last one was for as many joints,
            but for others or in another order, one of the two lists may have been wrong: it is
            not known which effort each joint holds.
        :param is_recorded: whether they hold that of an earlier process of this node.
        """
        if self._of_others:
            return Evidence(Receiver.SAME, dict(zip(joints, self._of_others))) if (
                len(self._of_others) == len(joints)) else Evidence(Receiver.UNKNOWN)
        efforts = self.recorded.efforts if is_recorded else self.efforts()
        is_other_list = len(efforts) == len(joints) and tuple(efforts) != tuple(joints)
        return Evidence(
            Receiver.UNKNOWN if is_other_list else Receiver.SAME, efforts, not is_recorded)
