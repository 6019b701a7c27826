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
"""A serialized message with overwritten numbers arrives as if it had been serialized again."""

from __future__ import annotations

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.node.topics import sender
from ros2_rnea.node.topics.sender import Sender
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow', 'wrist_1']


class Recorder:
    """
    A publisher that keeps the messages that it publishes.

    :ivar serialized: how many of them it had to serialize itself.
    """

    def __init__(self, message_type) -> None:
        self._type = message_type
        self.messages: list = []
        self.serialized = 0

    @property
    def handle(self):
        return self

    def publish(self, message) -> None:
        """Keep a message."""
        self.serialized += 1
        self.messages.append(message)

    def publish_raw(self, message: bytes) -> None:
        """Keep a serialized message."""
        self.messages.append(deserialize_message(message, self._type))


def sent(message, field, *sendings):
    recorder = Recorder(type(message))
    count = len(sendings[0][0])
    this = Sender(recorder, message, field, count)
    for numbers, *stamp in sendings:
        this.send(np.array(numbers), *stamp)
    return recorder, recorder.messages


@pytest.mark.parametrize('count', range(6))
def test_numbers_arrive(count):
    numbers = [0.5 - i for i in range(count)]
    recorder, messages = sent(Float64MultiArray(), 'data', (numbers,), (2.0 * np.array(numbers),))
    assert messages[0].data.tolist() == numbers
    assert messages[-1].data.tolist() == [2.0 * number for number in numbers]
    assert messages[0].layout == Float64MultiArray().layout
    assert recorder.serialized == (0 if count else 2)


def test_names_stay_and_each_message_has_its_own_stamp():
    recorder, messages = sent(
        JointState(name=JOINTS), 'effort',
        ([1.0, 2.0, 3.0], (1, 2)), ([4.0, 5.0, 6.0], (-3, 999_999_999)), ([0.0, 0.0, 0.0], (0, 0)))
    assert recorder.serialized == 0
    assert [message.name for message in messages] == [JOINTS] * 3
    assert [message.effort.tolist() for message in messages] == [
        [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, 0.0, 0.0]]
    assert [(m.header.stamp.sec, m.header.stamp.nanosec) for m in messages] == [
        (1, 2), (-3, 999_999_999), (0, 0)]
    assert not any(len(m.position) or len(m.velocity) for m in messages)


@pytest.mark.parametrize('serialize, deserialize', [
    # numbers and stamp are not to be found
    (lambda data: data[::-1], lambda message: message),
    (lambda data: data.replace(b'\x78\x56\x34\x12', b'0000'), lambda message: message),
    # they are, and what rclpy makes of what was overwritten is something else
    (lambda data: data, lambda message: JointState(name=['other'])),
])
def test_what_cannot_be_overwritten_is_serialized_anew(monkeypatch, serialize, deserialize):
    monkeypatch.setattr(
        sender, 'serialize_message', lambda message: serialize(serialize_message(message)))
    monkeypatch.setattr(
        sender, 'deserialize_message', lambda data, kind: deserialize(
            deserialize_message(data, kind)))
    recorder, messages = sent(JointState(name=JOINTS), 'effort', ([1.0, 2.0, 3.0], (1, 2)))
    assert recorder.serialized == 1
    assert messages[0].effort.tolist() == [1.0, 2.0, 3.0]
    assert (messages[0].header.stamp.sec, messages[0].header.stamp.nanosec) == (1, 2)
