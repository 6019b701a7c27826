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
The effort commands that are accepted, by the rules of forward_command_controller.

Nothing here knows ROS.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class EffortCommand:
    """
    The last valid command, held until the next one, without a timeout as in that controller.

    :param size: number of joints.
    """

    def __init__(self, size: int) -> None:
        self.efforts: NDArray[np.float64] = np.zeros(size)
        self.accepted = 0
        self.refused = 0

    def accept(self, efforts: Sequence[float]) -> str:
        """
        Take a command, or keep the old one where the new one is no good.

        :param efforts: one value for each joint, in the order of the joints [Nm or N].
        :returns: empty, or why the command is refused.
        """
        refusal = self._refusal(efforts)
        if refusal:
            self.refused += 1
        else:
            self.accepted += 1
            self.efforts = np.array(efforts, dtype=float)
        return refusal

    def _refusal(self, efforts: Sequence[float]) -> str:
        size = len(self.efforts)
        if len(efforts) != size:
            return f'the command has {len(efforts)} values, this arm has {size} joints'
        if not np.all(np.isfinite(efforts)):
            return f'the command has a value that is not finite: {list(efforts)}'
        return ''
