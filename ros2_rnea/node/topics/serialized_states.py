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
is deserialized by rclpy again.  Several layouts are stored for messages of one length, as those of
two arms are whose names of joints differ in a few letters only.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import error as StructError
from typing import NamedTuple

import numpy as np
from ros2_rnea.node.topics.conversions import deserialized
from ros2_rnea.node.topics.serialized_fields import FieldReader, Numbers, STAMP, START
from sensor_msgs.msg import JointState

MAX_LAYOUTS = 16
MAX_LAYOUT_BYTES = 1 << 18
"""Largest number of layouts that are kept, and largest size of all their messages [bytes]."""


class MeasuredState(NamedTuple):
    """
    The content of a joint state; its arrays are read-only.

    :ivar names: of the joints, in the order of all values.
    :ivar positions: shape (joints,) [rad or m].
    :ivar velocities: shape (joints,) [rad/s or m/s]; empty where the message has none.
    :ivar stamp: the time of the measurement on the publisher's clock [s and ns]; (0, 0): not
        given.
    :ivar efforts: shape (joints,) [Nm or N]; empty where the message has none; None: not
        requested.
    """

    names: Sequence[str]
    positions: np.ndarray
    velocities: np.ndarray
    stamp: tuple[int, int]
    efforts: np.ndarray | None = None


class _Layout(NamedTuple):
    """The layout of messages that agree in all bytes but numbers, stamp and padding."""

    mask: int      # of the bytes that are neither numbers, stamp nor padding
    constant: int  # the values of those bytes
    names: tuple[str, ...]
    positions: Numbers
    velocities: Numbers
    efforts: Numbers

    def fits(self, content: int) -> bool:
        """
        Return whether a message has this layout.

        :param content: its bytes as one number.
        """
        return content & self.mask == self.constant

    def read(self, message: bytes, with_efforts: bool) -> MeasuredState:
        return MeasuredState(
            self.names, self.positions.read(message), self.velocities.read(message),
            STAMP.unpack_from(message, START),
            self.efforts.read(message) if with_efforts else None)


class StateReader:
    """
    Reads serialized JointState messages.

    :ivar deserialized: how many messages rclpy has deserialized.
    """

    def __init__(self) -> None:
        self.deserialized = 0
        self._layouts: dict[int, list[_Layout]] = {}  # by the length of the message

    @property
    def layout_count(self) -> int:
        """Return how many layouts are kept."""
        return sum(map(len, self._layouts.values()))

    @property
    def layout_bytes(self) -> int:
        """Return the size of one message of each layout that is kept, in total [bytes]."""
        return sum(length * len(layouts) for length, layouts in self._layouts.items())

    def read(self, message: bytes, with_efforts: bool = False) -> MeasuredState:
        """
        Return the content of a message.

        :param with_efforts: whether to read the efforts too.
        :raises MessageError: where it cannot be deserialized.
        """
        content = int.from_bytes(message, 'little')
        for layout in self._layouts.get(len(message), ()):
            if layout.fits(content):
                return layout.read(message, with_efforts)
        state = self._deserialize(message)
        return state if with_efforts else state._replace(efforts=None)

    def _deserialize(self, message: bytes) -> MeasuredState:
        self.deserialized += 1
        typed = deserialized(message, JointState)
        stamp = typed.header.stamp
        state = MeasuredState(
            tuple(typed.name), np.array(typed.position), np.array(typed.velocity),
            (stamp.sec, stamp.nanosec), np.array(typed.effort))
        layout = _layout(message)
        if layout is not None and _same(layout.read(message, with_efforts=True), state):
            self._store(layout, len(message))
        return state

    def _store(self, layout: _Layout, length: int) -> None:
        if self.layout_count >= MAX_LAYOUTS or self.layout_bytes + length > MAX_LAYOUT_BYTES:
            self._layouts.clear()
        self._layouts.setdefault(length, []).append(layout)


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
    fields = FieldReader(message, marks=True)
    try:
        fields.skip(STAMP.size)
        fields.text()
        names = tuple(fields.text() for _ in range(fields.count()))
        positions, velocities, efforts = fields.numbers(), fields.numbers(), fields.numbers()
    except (StructError, UnicodeDecodeError):
        return None
    mask = int.from_bytes(fields.constant_bytes, 'little')
    constant = int.from_bytes(message, 'little') & mask
    return _Layout(mask, constant, names, positions, velocities, efforts)
