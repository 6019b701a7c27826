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
"""Times of messages by the clock of the node, in place of those that the middleware gives."""

from __future__ import annotations

from typing import Any

import pytest
from ros2_rnea.node import inverse_dynamics_node
from ros2_rnea.node.topics.inputs import Input

TIMES = ('source_timestamp', 'received_timestamp')
"""When a message was sent, and when it was received, as rclpy names these times."""


class MessageTimes:
    """
    The times of the messages on one topic of the nodes that are made from now on.

    :ivar ago: how long ago a message was sent and received [s], by the names in :data:`TIMES`;
        None: that time is not given.  A time that is missing here is that of the middleware.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, topic: str) -> None:
        self.ago: dict[str, float | None] = {}

        def row(name: str, *fields: Any, **more: Any) -> Input:
            made = Input(name, *fields, **more)
            return made._replace(handle=self._timed(made.handle)) if name == topic else made

        monkeypatch.setattr(inverse_dynamics_node, 'Input', row)

    def _timed(self, handle: Any) -> Any:
        def handle_timed(policy: Any, taken: Any, now: Any) -> str | None:
            message, info = taken
            assert all(info[name] > 0 for name in TIMES)
            times = {name: 0 if ago is None else now.ros.nanoseconds - round(1e9 * ago)
                     for name, ago in self.ago.items()}
            return handle(policy, (message, {**info, **times}), now)

        return handle_timed
