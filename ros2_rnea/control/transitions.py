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
"""Which changes of the situation are blended, because the effort would step."""

from __future__ import annotations

from math import inf

from ros2_rnea.control.decision import Status
from ros2_rnea.control.target.desired_state import DEVIATIONS

FOLLOWED = (Status.FOLLOWING, Status.HOLDING_END, Status.FOLLOWING_CONTROLLER)
"""Statuses in which a controller holds the arm at a motion or its end."""

AT_REST = (Status.HOLDING_END, Status.CONTROLLER_LOST)
"""Statuses in which the target is at rest, at the end of a motion."""

TRACKED = (*FOLLOWED, Status.CONTROLLER_LOST)
"""Statuses in which feedback corrects any error, unless the motion is being taken up."""

INTERRUPTED = (*DEVIATIONS, Status.CONTROLLER_LOST)
"""Statuses in which feedback keeps a robot near the motion that it has followed."""

WITHOUT_GOAL = (Status.NO_TRAJECTORY, Status.MOTION_TOO_FAR, *DEVIATIONS)
"""Statuses in which the target is the measured position, because no goal is known or near."""


class Transitions:
    """
    The situations of the last cycles, and which of their changes are blended.

    Changes of effort that a motion itself causes are not: a braking effort that faded slowly would
    push the arm after it has come to rest.

    :ivar last_status: that of the last decision.
    :ivar first_deviation: the status in which the present deviation began.
    """

    def __init__(self) -> None:
        self.last_status = Status.WAITING
        self.first_deviation = Status.WAITING
        self._gap_ended = -inf

    def adopt(self, older: Transitions) -> None:
        """Continue from the situation of an earlier object."""
        self.last_status, self.first_deviation = older.last_status, older.first_deviation
        self._gap_ended = older._gap_ended

    def forget_gaps(self) -> None:
        """Forget the times of gaps, because they are not valid any more."""
        self._gap_ended = -inf

    def begins_motion(self, status: Status) -> bool:
        """
        Return whether feedback begins to track a motion from which the robot may be far.

        A trajectory that arrives while efforts are sent begins where the robot is, unless its
        start has passed.

        :param status: one in which feedback tracks a motion, or would without the deviation.
        """
        last = self.last_status
        if status in (Status.FOLLOWING, Status.PATH_DEVIATION):
            return last not in (*TRACKED, *WITHOUT_GOAL)
        return last not in TRACKED or (
            status is Status.FOLLOWING_CONTROLLER and last is not Status.FOLLOWING_CONTROLLER)

    def need_blend(self, status: Status, has_feedback: bool) -> bool:
        """
        Return whether the effort of a new status is blended, and remember where a deviation began.

        A blend begins where a deviation begins, and where it ends: on the path, at rest or with
        feedback.  From one deviation to another, the effort is continuous by itself: gravity at
        the measured state, or feedback with the same bound, along a motion that fades at its end.
        (Blends would do harm there.  Each point of a stream may end before the next one arrives,
        and its blend would begin before that of the point before it has ended.)
        """
        last = self.last_status
        if status in DEVIATIONS and last in DEVIATIONS:
            return False
        self.first_deviation = status
        came_to_rest = status in WITHOUT_GOAL or status in AT_REST
        return status in DEVIATIONS or last is Status.PATH_DEVIATION or (
            last in WITHOUT_GOAL and (came_to_rest or has_feedback))

    def end_gap(self, began: float, ended: float, blend_time: float) -> bool:
        """
        Record that states had been missing, and return whether the effort is blended.

        The arm may be elsewhere after a gap, so that another effort is right.  It is not blended
        where states were regular for less than a blend before the gap: the states of a slow
        publisher, or of a bad network, would otherwise start a blend each, and no effort would be
        reached any more.

        :param began: when the oldest state of a controlled joint was received before the gap [s];
            −inf: there was none.
        :param ended: the same after it [s].
        :param blend_time: duration of a blend [s].
        """
        if began == -inf:
            return False  # it is a start, which is blended anyway
        was_regular = began - self._gap_ended > blend_time
        self._gap_ended = ended
        return was_regular
