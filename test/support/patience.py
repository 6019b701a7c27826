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
How tests wait: for a condition, for long, and never for a time.

A machine may be busy with other things: what comes late is no failure, only what never comes is.
"""

from __future__ import annotations

from collections.abc import Callable
import os
from time import monotonic, sleep

PATIENCE = float(os.environ.get('ROS2_RNEA_TEST_PATIENCE', 300.0))
"""How long a test waits at most [s]."""


def until(
        condition: Callable[[], object],
        turn: Callable[[], object] = lambda: sleep(0.01),
        patience: float = PATIENCE) -> None:
    """
    Wait until a condition holds, and fail where it never does.

    :param turn: what is done between two looks.
    """
    deadline = monotonic() + patience
    while not condition():
        assert monotonic() < deadline, f'what was waited for has not come in {patience:g} s'
        turn()
