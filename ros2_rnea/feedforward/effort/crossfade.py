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
"""How something that ends is let go of: smoothly, over a time."""

from __future__ import annotations


def remaining_weight(age: float, duration: float) -> float:
    """
    Return the share that is left of what began to fade so long ago, from 1 down to 0.

    It is 1 before, and its slope is zero at both ends.

    :param age: since the fading began [s].
    :param duration: of the fading [s]; 0: all is gone at once.
    """
    if age >= duration:
        return 0.0
    if age <= 0.0:
        return 1.0
    done = age / duration
    return 1.0 - done * done * (3.0 - 2.0 * done)
