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
"""A joint state read in place says what rclpy says it says, or goes rclpy's way."""

from __future__ import annotations

from array import array
from math import inf, nan

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.errors import MessageError
from ros2_rnea.node.topics import serialized_states
from ros2_rnea.node.topics.serialized_states import StateReader
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros

NAMES = ['shoulder', 'elbow', 'wrist_1']


def state(names=NAMES, position=(0.1, 0.2, 0.3), velocity=(), effort=(), stamp=(12, 34), frame=''):
    message = JointState(name=list(names), position=array('d', position))
    message.velocity, message.effort = array('d', velocity), array('d', effort)
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    message.header.frame_id = frame
    return message


def agrees(read, message: JointState) -> bool:
    """Return whether what was read is what the message says, NaN included."""
    stamp = message.header.stamp
    return (list(read.names) == message.name
            and np.array_equal(read.positions, message.position, equal_nan=True)
            and np.array_equal(read.velocities, message.velocity, equal_nan=True)
            and (read.efforts is None
                 or np.array_equal(read.efforts, message.effort, equal_nan=True))
            and read.stamp == (stamp.sec, stamp.nanosec))


@pytest.mark.parametrize('first, second', [
    (state(), state(position=(1.0, -2.0, 1e300))),
    (state(), state(stamp=(0, 0))),
    (state(), state(stamp=(-5, 999_999_999))),
    (state(), state(position=(nan, inf, -0.0))),
    (state(velocity=(1.0, 2.0, 3.0)), state(velocity=(nan, nan, nan))),
    (state(velocity=(1.0, 2.0, 3.0), effort=(0.0,) * 3),
     state(velocity=(0.0,) * 3, effort=(9.0,) * 3)),
    (state(frame='world'), state(frame='world', position=(7.0, 8.0, 9.0))),
    (state(names=[], position=[]), state(names=[], position=[], stamp=(1, 1))),
    (state(names=['größe'], position=[1.0]), state(names=['größe'], position=[2.0])),
    (state(names=['', 'a'], position=[1.0, 2.0]), state(names=['', 'a'], position=[3.0, 4.0])),
    # refused later, by the policy
    (state(position=[]), state(position=[], stamp=(2, 2))),
])
def test_what_differs_in_numbers_and_stamp_is_read_in_place(first, second):
    reader = StateReader()
    for message in (first, second, first):
        assert agrees(reader.read(serialize_message(message)), message)
    assert reader.deserialized == 1


@pytest.mark.parametrize('effort', [(), (1.0, 2.0, 3.0), (nan, -inf, 0.0)])
def test_efforts_are_read_where_they_are_asked_for(effort):
    reader = StateReader()
    for stamp in ((1, 0), (2, 0)):  # the usual way, and in place
        message = serialize_message(state(effort=effort, stamp=stamp))
        asked = reader.read(message, with_efforts=True)
        assert np.array_equal(asked.efforts, effort, equal_nan=True)
        assert reader.read(message).efforts is None
    assert reader.deserialized == 1
    assert StateReader().read(message).efforts is None


@pytest.mark.parametrize('other', [
    state(names=['elbow', 'shoulder', 'wrist_1']),             # the same size, another order
    state(names=['shoulder', 'elbow', 'wrist_2']),             # the same size, another name
    state(names=['shoulder', 'elbow', 'wrist_10']),
    state(names=NAMES[:2], position=(1.0, 2.0)),
    state(velocity=(1.0, 2.0, 3.0)),
    state(effort=(1.0, 2.0, 3.0)),
    state(position=(), velocity=(1.0, 2.0, 3.0)),              # the same size, other fields
    state(position=(), effort=(1.0, 2.0, 3.0)),
    state(frame='x'),
    state(frame='base'),
])
def test_what_differs_in_anything_else_goes_the_usual_way_once(other):
    reader = StateReader()
    reader.read(serialize_message(state()))
    for _ in range(2):
        assert agrees(reader.read(serialize_message(other)), other)
        assert reader.deserialized == 2
    assert agrees(reader.read(serialize_message(state())), state())


@pytest.mark.parametrize('count', [2, 5])
def test_messages_of_the_same_length_do_not_displace_each_other(count):
    """As two arms of one robot, left1_joint_0 and right_joint_0, of which each publishes."""
    messages = [state(names=[f'arm{arm}_{name}' for name in NAMES], position=(arm, 0.2, 0.3))
                for arm in range(count)]
    assert len({len(serialize_message(message)) for message in messages}) == 1
    reader = StateReader()
    for _ in range(3):
        for message in messages:
            assert agrees(reader.read(serialize_message(message)), message)
    assert reader.deserialized == count


def test_padding_means_nothing():
    message = bytearray(serialize_message(state(names=['a'], position=[1.0])))
    reader = StateReader()
    reader.read(bytes(message))
    assert message[17:20] != b'pad'  # behind the empty frame_id, up to the next multiple of four
    message[17:20] = b'pad'
    assert agrees(reader.read(bytes(message)), state(names=['a'], position=[1.0]))
    assert reader.deserialized == 1


def test_every_other_byte_means_something():
    # Whatever is changed: the answer is rclpy's, or there is none.
    good = serialize_message(state(names=['ab'], position=[1.0], velocity=[2.0]))
    for place in range(len(good)):
        reader = StateReader()
        reader.read(good)
        changed = bytearray(good)
        changed[place] ^= 0x01
        try:
            expected = deserialize_message(bytes(changed), JointState)
        except (RuntimeError, ValueError):
            with pytest.raises(MessageError):
                reader.read(bytes(changed))
        else:
            assert agrees(reader.read(bytes(changed)), expected), place


def test_big_endian_messages_go_the_usual_way():
    big = (b'\x00\x00\x00\x00' + b'\x00\x00\x00\x0c' + b'\x00\x00\x00\x22'  # stamp
           + b'\x00\x00\x00\x01\x00\x00\x00\x00'                            # frame_id, padding
           + b'\x00\x00\x00\x01' + b'\x00\x00\x00\x02a\x00\x00\x00'         # one name, padding
           + b'\x00\x00\x00\x01'                                            # one position
           + np.array([0.5], '>f8').tobytes() + b'\x00' * 8)
    reader = StateReader()
    for expected in (1, 2):
        assert agrees(reader.read(big), state(names=['a'], position=[0.5]))
        assert reader.deserialized == expected


@pytest.mark.parametrize('message, rclpy_reads', [
    (serialize_message(state()), state(position=(0.1, 0.2, 0.4))),
    (serialize_message(state(velocity=(1.0, 2.0, 3.0))), state(velocity=(1.0, 2.0, 4.0))),
    (serialize_message(state(effort=(1.0, 2.0, 3.0))), state(effort=(1.0, 2.0, 4.0))),
    (serialize_message(state()), state(names=['elbow', 'shoulder', 'wrist_1'])),
    (serialize_message(state()), state(stamp=(34, 12))),
    (serialize_message(state())[:-24], state()),  # within the positions
], ids=['position', 'velocity', 'effort', 'names', 'stamp', 'too short'])  # padding is random
def test_what_rclpy_reads_otherwise_is_never_read_in_place(monkeypatch, message, rclpy_reads):
    monkeypatch.setattr(serialized_states, 'deserialized', lambda *_: rclpy_reads)
    reader = StateReader()
    for expected in (1, 2):
        assert agrees(reader.read(message), rclpy_reads)
        assert reader.deserialized == expected


@pytest.mark.parametrize('message', [
    b'', b'\x00\x01\x00\x00', b'\x00\x01\x00\x00' + b'\xff' * 40, b'nonsense, and no message'])
def test_what_is_no_joint_state_is_refused(message):
    with pytest.raises(MessageError, match='cannot be deserialized'):
        StateReader().read(message)


def test_names_that_are_not_utf8_are_read_as_by_rclpy():
    good = serialize_message(state(names=['ab'], position=[1.0]))
    message = good.replace(b'ab\0', b'\xff\xfe\0')
    reader = StateReader()
    for _ in range(2):
        assert agrees(reader.read(message), deserialize_message(message, JointState))
    assert reader.deserialized == 2


def test_many_kinds_of_messages_do_not_pile_up():
    reader = StateReader()
    for count in range(100):
        message = state(names=[f'joint_{i}' for i in range(count)], position=[0.5] * count)
        assert agrees(reader.read(serialize_message(message)), message)
    assert reader.layout_count <= 16


def test_many_kinds_of_the_same_length_do_not_pile_up():
    reader = StateReader()
    for number in range(100):
        message = state(names=[f'{number:03}'], position=[0.5])
        assert agrees(reader.read(serialize_message(message)), message)
    assert reader.layout_count <= 16
