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
When the effort that a trajectory controller holds has to be replaced.

joint_trajectory_controller keeps the effort of the last point of the goal that succeeded last.  A
goal that is canceled or aborted, and an activation, make it hold another position with that
effort, or with none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import IntEnum

DELAY = 0.2
"""
Time after such an event at which the effort is replaced [s].

A program that sends its next goal at once is not disturbed: its goal has become known by then.
"""


class GoalState(IntEnum):
    """The states of a goal, as in action_msgs/GoalStatus."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6


_REMEMBERED = 16
"""Number of this node's newest goals that are told apart from those of others."""

_ACTIVE = (GoalState.ACCEPTED, GoalState.EXECUTING, GoalState.CANCELING)
_INTERRUPTED = (GoalState.CANCELED, GoalState.ABORTED)


class HoldTrigger:
    """
    Watches the goals of a controller and the stream of its state.

    Times are those of a steady clock [s].

    :ivar active: the goals that the controller executes, without this node's own.
    """

    def __init__(self) -> None:
        self.active: frozenset[bytes] = frozenset()
        self._own: deque[bytes] = deque(maxlen=_REMEMBERED)
        self._interrupted: frozenset[bytes] | None = None  # before the first status: unknown
        self._is_published = False
        self._due: float | None = None

    def add_own(self, goal: bytes) -> None:
        """Note a goal that this node sends: its end is no reason for another one."""
        self._own.append(goal)

    def take_goals(self, goals: Mapping[bytes, int], now: float) -> None:
        """Note the states of all goals, by their identifiers."""
        others = {goal: state for goal, state in goals.items() if goal not in self._own}
        self.active = frozenset(goal for goal, state in others.items() if state in _ACTIVE)
        interrupted = frozenset(goal for goal, state in others.items() if state in _INTERRUPTED)
        if self._interrupted is not None and interrupted - self._interrupted:
            self._due = now + DELAY
        self._interrupted = interrupted
        if self.active:
            self._due = None

    def discard_goals(self) -> None:
        """Note that the process which executed the goals has ended, as in a crash."""
        self.active, self._interrupted = frozenset(), None

    def take_publication(self, is_published: bool, now: float) -> None:
        """Note whether the controller publishes its state, which it does while it is active."""
        if is_published and not self._is_published:
            self._due = now + DELAY
        elif not is_published:
            self._due = None
        self._is_published = is_published

    def is_due(self, now: float) -> bool:
        """Return whether the effort is to be replaced now."""
        return self._due is not None and now >= self._due

    def done(self) -> None:
        """Wait for the next event."""
        self._due = None
