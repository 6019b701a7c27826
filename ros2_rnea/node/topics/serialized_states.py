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
Joint states read from their serialized form, without a Python object for each name.

A robot's joint states differ only in stamp and numbers.  The first message of a kind is
deserialized by rclpy, and the offsets of its numbers are stored; from the messages that follow,
the numbers are read at these offsets.  A message that differs in any other byte, padding excepted,
is deserialized by rclpy again.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import error as StructError, Struct
from typing import NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message
from ros2_rnea.errors import MessageError
from sensor_msgs.msg import JointState

MAXIMUM_LAYOUTS = 16

# The Common Data Representation (OMG, DDSI-RTPS 2.5, section 10.2): a header of four bytes with
# the encoding, then the fields, each aligned to its size.  These types are for little-endian
# encoding; with another one the comparison with rclpy's result fails.
_START = 4
_STAMP = Struct('<iI')
_COUNT = Struct('<I')
_DOUBLE = np.dtype('<f8')


class MeasuredState(NamedTuple):
    """The content of a joint state; its arrays are read-only."""

    names: Sequence[str]
    positions: np.ndarray
    velocities: np.ndarray
    stamp: tuple[int, int]  # s and ns
    efforts: np.ndarray | None = None  # None: not requested


class _Numbers(NamedTuple):
    """The size and offset of an array of numbers in a message."""

    size: int
    start: int

    def read(self, message: bytes) -> np.ndarray:
        return np.frombuffer(message, _DOUBLE, self.size, self.start)


class _Layout(NamedTuple):
    """The layout of messages that agree in all bytes but numbers, stamp and padding."""

    mask: int      # of the bytes that are neither numbers, stamp nor padding
    constant: int  # the values of those bytes
    names: tuple[str, ...]
    positions: _Numbers
    velocities: _Numbers
    efforts: _Numbers

    def fits(self, message: bytes) -> bool:
        return int.from_bytes(message, 'little') & self.mask == self.constant

    def read(self, message: bytes, with_efforts: bool) -> MeasuredState:
        return MeasuredState(
            self.names, self.positions.read(message), self.velocities.read(message),
            _STAMP.unpack_from(message, _START),
            self.efforts.read(message) if with_efforts else None)


class StateReader:
    """
    Reads serialized JointState messages.

    :ivar deserialized: how many messages rclpy has deserialized.
    """

    def __init__(self) -> None:
        self.deserialized = 0
        self._layouts: dict[int, _Layout] = {}

    def read(self, message: bytes, with_efforts: bool = False) -> MeasuredState:
        """
        Return the content of a message.

        :param with_efforts: whether to read the efforts too.
        :raises MessageError: where it cannot be deserialized.
        """
        layout = self._layouts.get(len(message))
        if layout is not None and layout.fits(message):
            return layout.read(message, with_efforts)
        state = self._deserialize(message)
        return state if with_efforts else state._replace(efforts=None)

    def _deserialize(self, message: bytes) -> MeasuredState:
        self.deserialized += 1
        try:
            typed = deserialize_message(message, JointState)
        except RuntimeError as error:  # the base class of rclpy's errors
            raise MessageError(f'the message cannot be deserialized: {error}') from error
        stamp = typed.header.stamp
        state = MeasuredState(
            tuple(typed.name), np.array(typed.position), np.array(typed.velocity),
            (stamp.sec, stamp.nanosec), np.array(typed.effort))
        layout = _layout(message)
        if layout is not None and _same(layout.read(message, with_efforts=True), state):
            if len(self._layouts) >= MAXIMUM_LAYOUTS:
                self._layouts.clear()
            self._layouts[len(message)] = layout
        return state


def _same(one: MeasuredState, other: MeasuredState) -> bool:
    """Compare bit by bit, because NaN differs from itself."""
    return (one.names == other.names and one.stamp == other.stamp
            and one.positions.tobytes() == other.positions.tobytes()
            and one.velocities.tobytes() == other.velocities.tobytes()
            and _bytes(one.efforts) == _bytes(other.efforts))


def _bytes(numbers: np.ndarray | None) -> bytes | None:
    return None if numbers is None else numbers.tobytes()


def _layout(message: bytes) -> _Layout | None:
    """Return the layout of a serialized JointState; None where it cannot be determined."""
    fields = _FieldReader(message)
    try:
        fields.skip(_STAMP.size)
        fields.text()
        names = tuple(fields.text() for _ in range(fields.count()))
        positions, velocities, efforts = fields.numbers(), fields.numbers(), fields.numbers()
    except (StructError, UnicodeDecodeError):
        return None
    mask = int.from_bytes(fields.constant_bytes, 'little')
    constant = int.from_bytes(message, 'little') & mask
    return _Layout(mask, constant, names, positions, velocities, efforts)


class _FieldReader:
    """
    Reads a message field by field.

    :ivar constant_bytes: as long as the message; all bits are set where a byte is neither number,
        stamp nor padding.
    """

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._at = 0
        self.constant_bytes = bytearray(len(message))
        self._mark(_START)

    def skip(self, size: int) -> None:
        self._at += size

    def count(self) -> int:
        self._align(_COUNT.size)
        count: int = _COUNT.unpack_from(self._message, self._at)[0]
        self._mark(_COUNT.size)
        return count

    def text(self) -> str:
        size = self.count()
        if size > len(self._message) - self._at:  # as in a message of the other byte order
            raise StructError('the message ends before its text does')
        text = self._message[self._at:self._at + size]
        self._mark(size)
        return text.rstrip(b'\0').decode()

    def numbers(self) -> _Numbers:
        count = self.count()
        if count:
            self._align(_DOUBLE.itemsize)
        if count * _DOUBLE.itemsize > len(self._message) - self._at:
            raise StructError('the message ends before its numbers do')
        numbers = _Numbers(count, self._at)
        self.skip(count * _DOUBLE.itemsize)
        return numbers

    def _align(self, size: int) -> None:
        self._at += (_START - self._at) % size

    def _mark(self, size: int) -> None:
        self.constant_bytes[self._at:self._at + size] = b'\xff' * size
        self._at += size
