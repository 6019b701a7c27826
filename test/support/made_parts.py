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
"""The parts that a node makes, and what it calls and sends, for tests that have to see them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rclpy.client import Client
from ros2_rnea.node.topics.effort_publishers import EffortPublishers


def made_by(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[Any]:
    """
    Return a list of all instances of a class that a module makes from now on.

    Each has the arguments that it was made with as ``made_with``.

    :param name: that the class has in the module.
    """
    made: list[Any] = []

    class Made(getattr(module, name)):

        def __init__(self, *arguments, **more) -> None:
            self.made_with = arguments
            made.append(self)
            super().__init__(*arguments, **more)

    monkeypatch.setattr(module, name, Made)
    return made


def calls_of_services(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the services that are called from now on, by their full names."""
    called: list[str] = []
    call = Client.call_async

    def noted(client: Client, *arguments):
        called.append(client.srv_name)
        return call(client, *arguments)

    monkeypatch.setattr(Client, 'call_async', noted)
    return called


def efforts_sent(monkeypatch: pytest.MonkeyPatch, arm: Any) -> list[tuple[float, np.ndarray]]:
    """
    Return a list of the efforts that the node of a bench sends from now on.

    Each has the time by which its rate is limited [s].
    """
    sent: list[tuple[float, np.ndarray]] = []
    send = EffortPublishers.send

    def noted(publishers: EffortPublishers, effort: np.ndarray, *more) -> bool:
        sent.append((arm.node.policy.memory.sent.at, effort.copy()))
        return send(publishers, effort, *more)

    monkeypatch.setattr(EffortPublishers, 'send', noted)
    return sent
