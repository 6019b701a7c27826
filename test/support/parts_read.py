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
"""What of recordings that are prepared part after part stays in memory."""

from __future__ import annotations

from collections.abc import Callable
import gc

import pytest
from ros2_rnea.errors import NothingUsableError
from ros2_rnea.offline.commands import recordings
from ros2_rnea.offline.identification.recording import Recording


def kept_at_each_part(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]) -> list[int]:
    """
    Return how many recordings and reasons against them are in memory as each part is prepared.

    A reason is an error, which keeps the arrays of the calls that it came through.
    """
    kept: list[int] = []
    prepare = recordings.prepare

    def counted(recording: Recording, *arguments: object) -> object:
        kept.append(_alive() - before)
        return prepare(recording, *arguments)

    gc.collect()
    with monkeypatch.context() as patched:
        patched.setattr(recordings, 'prepare', counted)
        gc.disable()  # it might hide by chance what is kept in a cycle
        try:
            before = _alive()
            call()
        finally:
            gc.enable()
    return kept


def _alive() -> int:
    return sum(type(one) in (Recording, NothingUsableError) for one in gc.get_objects())
