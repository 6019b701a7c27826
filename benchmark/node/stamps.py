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
The stamps of the joint states: the monotonic clock, shifted to the time of day.

So node and relay get plausible stamps, and a correction of the time of day changes no latency.
All processes of one run get the same shift.
"""

from __future__ import annotations

import struct
import time

_STAMP = struct.Struct('<iI')
_OFFSET = 4  # behind the encapsulation header, the stamp is the first field of both messages


def shift() -> int:
    """Return what moves the monotonic clock to the time of day [ns]."""
    return time.time_ns() - time.monotonic_ns()


def write_stamp(message: bytearray, stamp: int) -> None:
    """Set the stamp [ns] in the header of a serialized message."""
    _STAMP.pack_into(message, _OFFSET, *divmod(stamp, 1_000_000_000))


def read_stamp(message: bytes) -> int:
    """Return the stamp [ns] in the header of a serialized message."""
    seconds, nanoseconds = _STAMP.unpack_from(message, _OFFSET)
    return seconds * 1_000_000_000 + nanoseconds
