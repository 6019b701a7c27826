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
Joint states taken from their serialized form, without a Python object for each name.

A robot's joint states differ in stamp and numbers alone.  The first of a kind is deserialized as
usual, and where its numbers stand is noted; of those that follow, the numbers are read in place.
Whatever differs in one byte that means something goes the usual way again.
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

# The Common Data Representation (OMG, DDSI-RTPS 2.5, section 10.2): four bytes that say which one
# it is, then the fields, each aligned to its size.  This is the one of little-endian machines;
# under any other the numbers do not come out as rclpy's do.
_START = 4
_STAMP = Struct('<iI')
_COUNT = Struct('<I')
_DOUBLE = np.dtype('<f8')


class MeasuredState(NamedTuple):
    """What a joint state says; the arrays are only to be read."""

    names: Sequence[str]
    positions: np.ndarray
    velocities: np.ndarray
    stamp: tuple[int, int]  # s and ns
    efforts: np.ndarray | None = None  # None: nobody asked


class _Numbers(NamedTuple):
    """Where an array of numbers stands in a message."""

    size: int
    start: int

    def read(self, message: bytes) -> np.ndarray:
        return np.frombuffer(message, _DOUBLE, self.size, self.start)


class _Layout(NamedTuple):
    """What messages have in common whose bytes, as far as they mean something, agree."""

    mask: int      # of the bytes that mean something, neither numbers nor padding
    constant: int  # those bytes
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

    :ivar deserialized: how many went the usual way.
    """

    def __init__(self) -> None:
        self.deserialized = 0
        self._layouts: dict[int, _Layout] = {}

    def read(self, message: bytes, with_efforts: bool = False) -> MeasuredState:
        """
        Return what a message says.

        :param with_efforts: also what it says of efforts.
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
        except RuntimeError as error:  # what rclpy's own errors have in common
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
    """Compare bit by bit, as NaN differs from itself."""
    return (one.names == other.names and one.stamp == other.stamp
            and one.positions.tobytes() == other.positions.tobytes()
            and one.velocities.tobytes() == other.velocities.tobytes()
            and _bytes(one.efforts) == _bytes(other.efforts))


def _bytes(numbers: np.ndarray | None) -> bytes | None:
    return None if numbers is None else numbers.tobytes()


def _layout(message: bytes) -> _Layout | None:
    """Return where the fields of a JointState stand; None where that cannot be found out."""
    walk = _Walk(message)
    try:
        walk.skip(_STAMP.size)
        walk.text()
        names = tuple(walk.text() for _ in range(walk.count()))
        positions, velocities, efforts = walk.numbers(), walk.numbers(), walk.numbers()
    except (StructError, UnicodeDecodeError):
        return None
    mask = int.from_bytes(walk.meaning, 'little')
    constant = int.from_bytes(message, 'little') & mask
    return _Layout(mask, constant, names, positions, velocities, efforts)


class _Walk:
    """
    Goes through a message field by field.

    :ivar meaning: as long as the message; all bits set where a byte means something and is no
        number that may change.
    """

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._at = 0
        self.meaning = bytearray(len(message))
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
        self.meaning[self._at:self._at + size] = b'\xff' * size
        self._at += size
