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
"""Turns of several processes, each of which may ask to be alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import flock, LOCK_EX, LOCK_SH, LOCK_UN
from pathlib import Path


class Turns:
    """
    A lock that many processes hold together, or one of them alone.

    A file lock alone would let those who come together pass one who waits to be alone, again and
    again.  So all go through a gate, and who waits keeps it shut.

    :param folder: that the processes share; it is made where it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._gate, self._room = folder / 'gate', folder / 'room'

    @contextmanager
    def turn(self, alone: bool) -> Iterator[None]:
        """Wait for a turn, and have it meanwhile."""
        with self._room.open('a') as room:
            with self._gate.open('a') as gate:
                flock(gate, LOCK_EX)
                flock(room, LOCK_EX if alone else LOCK_SH)
            try:
                yield
            finally:
                flock(room, LOCK_UN)
