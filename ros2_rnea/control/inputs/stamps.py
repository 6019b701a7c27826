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
"""Whether the stamps of joint states can be the times at which joints were measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

WEIGHT_OF_A_STEP_BACK = 10
"""One stamp that is older than the one before weighs as much as this many in order."""

MAX_DISORDER = 30
"""A larger disorder is not an accident.

It is limited to twice this: 30 stamps in order are enough after any disorder."""

MAX_REPETITIONS = 50
"""Maximum number of successive equal stamps of publishers that share a clock."""


@dataclass
class StampMemory:
    """
    What is known of the stamps so far.

    :ivar last: the newest one [s].
    :ivar disorder: it grows with each step back, and falls with each other stamp.
    :ivar repetitions: how many in succession are equal to the one before.
    """

    last: float = -inf
    disorder: int = 0
    repetitions: int = 0


class Stamps:
    """
    Counts stamps that are older than the one before, or equal to it.

    :param memory: what is known of earlier stamps; None: nothing.
    """

    def __init__(self, memory: StampMemory | None = None) -> None:
        self.memory = memory or StampMemory()

    def defect(self, stamp: float) -> str:
        """
        Take the stamp of the next joint state, and return why such stamps are no times.

        :param stamp: on any clock [s].
        :return: a sentence for people; empty where the stamps can be used.
        """
        memory = self.memory
        is_back, is_equal, memory.last = stamp < memory.last, stamp == memory.last, stamp
        memory.repetitions = memory.repetitions + 1 if is_equal else 0
        change = WEIGHT_OF_A_STEP_BACK if is_back else -1
        memory.disorder = min(max(0, memory.disorder + change), 2 * MAX_DISORDER)
        if memory.disorder > MAX_DISORDER:
            return ('the stamps of joint_states go back again and again, as those of several '
                    'publishers with different clocks do')
        if memory.repetitions > MAX_REPETITIONS:
            return ('the stamp of joint_states does not change; the driver has to set the time of '
                    'each measurement, or 0')
        return ''
