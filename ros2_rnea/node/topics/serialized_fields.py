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
The fields of a serialized message, read one after the other.

The Common Data Representation (OMG, DDSI-RTPS 2.5, section 10.2) has a header of four bytes with
the encoding, then the fields, each aligned to its size.  This is for little-endian encoding.
"""

from __future__ import annotations

from struct import error as StructError, Struct
from typing import NamedTuple

import numpy as np

START = 4
STAMP = Struct('<iI')
_COUNT = Struct('<I')
_DOUBLE = np.dtype('<f8')


class Numbers(NamedTuple):
    """The size and offset of an array of numbers in a message."""

    size: int
    start: int

    def read(self, message: bytes) -> np.ndarray:
        """Return the numbers, read-only."""
        return np.frombuffer(message, _DOUBLE, self.size, self.start)


class FieldReader:
    """
    Reads a message field by field.

    :param marks: whether to find the bytes that are neither number, stamp nor padding.
    :ivar constant_bytes: as long as the message; all bits are set in these bytes.
    """

    def __init__(self, message: bytes, marks: bool = False) -> None:
        self._message = message
        self._marks = marks
        self._at = 0
        self.constant_bytes = bytearray(len(message) if marks else 0)
        self._mark(START)

    @property
    def is_little_endian(self) -> bool:
        """Return whether this class can read the message."""
        return len(self._message) >= START and bool(self._message[1] & 1)

    def skip(self, size: int) -> None:
        """Skip bytes that may differ."""
        self._at += size

    def count(self) -> int:
        """Return the number of elements that follow."""
        self._align(_COUNT.size)
        count: int = _COUNT.unpack_from(self._message, self._at)[0]
        self._mark(_COUNT.size)
        return count

    def text(self) -> str:
        """Return a text."""
        return self._text_bytes().rstrip(b'\0').decode()

    def skip_text(self) -> None:
        """Skip a text."""
        self._text_bytes()

    def numbers(self) -> Numbers:
        """Return where an array of numbers is."""
        count = self.count()
        if count:
            self._align(_DOUBLE.itemsize)
        if count * _DOUBLE.itemsize > len(self._message) - self._at:
            raise StructError('the message ends before its numbers do')
        numbers = Numbers(count, self._at)
        self.skip(count * _DOUBLE.itemsize)
        return numbers

    def _text_bytes(self) -> bytes:
        size = self.count()
        if size > len(self._message) - self._at:  # as in a message of the other byte order
            raise StructError('the message ends before its text does')
        text = self._message[self._at:self._at + size]
        self._mark(size)
        return text

    def _align(self, size: int) -> None:
        self._at += (START - self._at) % size

    def _mark(self, size: int) -> None:
        if self._marks:
            self.constant_bytes[self._at:self._at + size] = b'\xff' * size
        self._at += size
