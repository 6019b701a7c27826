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
The node or the driver stands still (SIGSTOP), as in a debugger or on an overloaded machine.

No effort is published that was computed for a state which is older than ``state_timeout`` by then.
"""

from __future__ import annotations

from pathlib import Path
import signal
import subprocess
import sys
from time import sleep

import numpy as np
from patience import PATIENCE, until
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2_rnea import Robot
from sensor_msgs.msg import JointState
from small_robots import ARM
from std_msgs.msg import Float64MultiArray

pytestmark = [
    pytest.mark.ros, pytest.mark.parametrize('executor', ['automatic', 'single_threaded'])]

TIMEOUT, STOP = 0.3, 1.0
"""The parameter state_timeout, and how long the node is stopped [s]."""

BEFORE, STOPPING, AFTERWARDS = 1, 2, 3
"""Stamps of joint states; in the cycle of the second one, the node stops itself."""

JOINTS = ['shoulder', 'elbow']
QUEUE = 1000
"""How many messages of a topic wait for a peer at most."""

TRIES = 5
"""A busy machine may cut a fade short; but not each time."""

POSITIONS = {BEFORE: [0.3, 0.1], STOPPING: [0.4, -0.6], AFTERWARDS: [0.5, 0.2]}

POINTS = {
    'read': 'node.topics.serialized_states.StateReader',
    'decide': 'control.policy.Policy',
    'send': 'node.topics.sender.Sender'}
"""Where in the cycle the node stops itself: methods by name, with their classes."""

NODE = 'from ros2_rnea.node.inverse_dynamics_node import main; main()'

STOPS_ITSELF = """
import os
import signal
from ros2_rnea.{module} import {owner}
from ros2_rnea.node.inverse_dynamics_node import main
from ros2_rnea.node.topics.serialized_states import StateReader

read, stamp, stops = StateReader.read, 0, 0

def note_stamp(*arguments):
    global stamp
    state = read(*arguments)
    stamp = state.stamp[0]
    return state

StateReader.read = note_stamp
method = {owner}.{method}

def stop(*arguments, **more):
    global stops
    result = method(*arguments, **more) if {is_read} else None
    if stamp == {stopping} and not stops:
        stops += 1
        os.kill(os.getpid(), signal.SIGSTOP)
    return result if {is_read} else method(*arguments, **more)

{owner}.{method} = stop
main()
"""

DRIVER = """
from time import sleep
import rclpy
from sensor_msgs.msg import JointState

rclpy.init()
node = rclpy.create_node('driver', namespace={namespace!r})
states = node.create_publisher(JointState, 'joint_states', 10)
state = JointState(name={joints}, position=[0.3, 0.1])
while True:
    state.header.stamp.sec += 1
    states.publish(state)
    sleep(0.002)
"""


@pytest.fixture
def start():
    """Return a function that starts a program; all are gone after the test."""
    processes = []

    def start(program, *arguments) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, '-c', program, *arguments], stderr=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def start_node(start):
    """Return a function that starts the node of an arm, whose efforts change at once."""
    def start_node(program, namespace, executor, **parameters):
        given = {
            'robot_description': repr(ARM), 'joints': '[shoulder, elbow]', 'start_from': 'zero',
            'executor': executor, 'blend_time': 0.0, 'effort_rate_limit': '.inf', **parameters}
        return start(
            program, '--ros-args', '-r', f'__ns:={namespace}',
            *(word for name, value in given.items() for word in ('-p', f'{name}:={value}')))

    return start_node


@pytest.fixture
def receive():
    """Return a function that receives what the node publishes in a namespace."""
    peers = []

    def receive(namespace) -> Peer:
        peers.append(Peer(namespace))
        return peers[-1]

    yield receive
    for peer in peers:
        peer.end()


class Peer:
    """
    Receives efforts and commands, and may publish states.

    :ivar efforts: in the order of their arrival.
    :ivar commands: likewise.
    """

    def __init__(self, namespace):
        self._node = Node('peer', namespace=namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self.efforts: list[JointState] = []
        self.commands: list[list[float]] = []
        self._node.create_subscription(
            JointState, 'inverse_dynamics/effort', self.efforts.append, QUEUE)
        self._node.create_subscription(
            Float64MultiArray, 'inverse_dynamics/commands',
            lambda command: self.commands.append([*command.data]), QUEUE)
        self._states = self._node.create_publisher(JointState, 'joint_states', 10)

    def publish(self, stamp) -> None:
        state = JointState(name=JOINTS, position=POSITIONS[stamp])
        state.header.stamp.sec = stamp
        self._states.publish(state)
        self.spin()

    def spin(self) -> None:
        self._executor.spin_once(timeout_sec=0.01)

    def answered(self) -> list[int]:
        return [effort.header.stamp.sec for effort in self.efforts]

    def end(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()


def is_stopped(process) -> bool:
    """Return whether all of a process stands still."""
    stat = Path(f'/proc/{process.pid}/stat').read_text()
    return stat.rpartition(')')[2].split()[0] == 'T'


def gravity(stamp):
    return Robot.from_urdf(ARM).gravity(POSITIONS[stamp])


@pytest.mark.parametrize('method', POINTS)
def test_a_node_stopped_anywhere_does_not_end_its_cycle(start_node, receive, method, executor):
    module, _, owner = POINTS[method].rpartition('.')
    program = STOPS_ITSELF.format(
        module=module, owner=owner, method=method, is_read=method == 'read', stopping=STOPPING)
    namespace = f'/stops_in_{method}_{executor}'
    node = start_node(program, namespace, executor, state_timeout=TIMEOUT)
    peer = receive(namespace)
    until(lambda: BEFORE in peer.answered() and peer.commands, lambda: peer.publish(BEFORE))
    until(lambda: is_stopped(node), lambda: peer.publish(STOPPING))
    sleep(STOP)  # so that the state is too old, however busy the machine is
    node.send_signal(signal.SIGCONT)
    sleep(STOP)  # so that the node goes on before it receives another state
    right = pytest.approx(gravity(AFTERWARDS), abs=1e-12)
    until(lambda: AFTERWARDS in peer.answered() and peer.commands[-1] == right,
          lambda: peer.publish(AFTERWARDS))
    assert STOPPING not in peer.answered()
    assert not np.isclose(peer.commands, gravity(STOPPING), atol=1e-12).all(axis=1).any()


def test_states_that_arrived_while_it_was_stopped_are_not_answered(
        start_node, receive, executor):
    """The thread that notes their reception was stopped, too: they look like new ones."""
    namespace = f'/stopped_{executor}'
    node = start_node(NODE, namespace, executor, state_timeout=TIMEOUT)
    peer = receive(namespace)
    until(lambda: len(peer.efforts) > 100, lambda: peer.publish(BEFORE))
    node.send_signal(signal.SIGSTOP)
    until(lambda: is_stopped(node))
    for _ in range(5):
        peer.publish(STOPPING)
    sleep(STOP)  # so that these are too old, however busy the machine is
    node.send_signal(signal.SIGCONT)
    sleep(STOP)  # so that the node reads them first
    until(lambda: AFTERWARDS in peer.answered(), lambda: peer.publish(AFTERWARDS))
    assert BEFORE in peer.answered() and STOPPING not in peer.answered()


def test_a_stopped_driver_makes_the_effort_fade_out_and_back(start, start_node, receive, executor):
    """
    The fade takes 1 s, and the node gives it up 3 s after its begin, which it says.

    That is another case, and a busy machine may cause it: the driver is stopped once more then.
    """
    namespace = f'/stopped_driver_{executor}'
    node = start_node(
        NODE, namespace, executor, state_timeout=4.0, on_stop='zero', blend_time=60.0)
    peer = receive(namespace)
    driver = start(DRIVER.format(namespace=namespace, joints=JOINTS))

    def is_sending(count):
        return len(peer.efforts) > count and np.abs(peer.efforts[-1].effort).max() > 1e-3

    def stop():
        """Return whether the node has led the effort to zero."""
        count = len(peer.efforts) + QUEUE  # more than what may be on its way
        until(lambda: is_sending(count), peer.spin)
        driver.send_signal(signal.SIGSTOP)
        for line in node.stderr:
            if line.startswith('[ERROR]') and 'joint states have stopped: nothing is sent' in line:
                return 'the final fade was cut short' not in line
        raise AssertionError('the node has ended')

    for _ in range(TRIES):
        if stop():
            break
        driver.send_signal(signal.SIGCONT)
    else:
        raise AssertionError('the final fade is cut short each time')
    until(lambda: not np.any(peer.efforts[-1].effort) and not np.any(peer.commands[-1]),
          peer.spin)  # the end of the fade has arrived
    count, last = len(peer.efforts), peer.efforts[-1].header.stamp.sec
    driver.send_signal(signal.SIGCONT)
    until(lambda: len(peer.efforts) > count + 100, peer.spin)
    assert peer.efforts[count - 1].effort.tolist() == [0.0, 0.0]
    stamps = peer.answered()[count:]
    assert last < stamps[0] and stamps == sorted(stamps)
    assert np.abs(peer.efforts[count].effort).max() < 0.1
