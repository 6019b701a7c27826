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
The process that simulates the robots: it publishes their descriptions and joint states.

It reads requests as JSON lines from its standard input, and answers on its standard output.  The
messages are serialized beforehand, so that this process needs little processor time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
import sys
import time

from benchmark.node.joint_range import JointRange
from benchmark.node.stamps import write_stamp
import numpy as np
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from ros2_rnea.tools.simulated_driver.pacer import Pacer
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STATES = 64
"""How many different states take turns."""

HOURS_OF_MOTION = 10


class RobotPublisher:
    """
    One robot's driver.

    :param node: that publishes.
    :param namespace: of the robot's topics.
    :param joints: controlled; their states come in alphabetical order, as from many drivers.
    """

    def __init__(self, node: Node, namespace: str, joints: Mapping[str, JointRange]) -> None:
        self._joints = joints
        self._turn = 0
        self._messages = [
            bytearray(serialize_message(state)) for state in joint_states(joints)]
        self._description = node.create_publisher(
            String, f'{namespace}/robot_description', LATCHED)
        self._trajectory = node.create_publisher(
            JointTrajectory, f'{namespace}/joint_trajectory', 10)
        self._states = node.create_publisher(JointState, f'{namespace}/joint_states', 10)
        self._imu = node.create_publisher(Imu, f'{namespace}/imu', 10)

    def describe(self, urdf: str) -> None:
        """Publish the robot's description."""
        self._description.publish(String(data=urdf))

    def send_state(self, stamp: int) -> None:
        """Publish the next joint state."""
        message = self._messages[self._turn % STATES]
        self._turn += 1
        write_stamp(message, stamp)
        self._states.publish(bytes(message))

    def send_imu(self, link: str) -> None:
        """Publish what an IMU at rest on a link measures."""
        message = Imu()
        message.header.frame_id = link
        message.linear_acceleration.z = 9.81
        self._imu.publish(message)

    def send_trajectory(self) -> None:
        """Publish a motion that outlasts every benchmark."""
        self._trajectory.publish(slow_trajectory(self._joints))


def joint_states(joints: Mapping[str, JointRange]) -> list[JointState]:
    """Return states that differ in all numbers, within what each joint may do."""
    random = np.random.default_rng(4)
    names = sorted(joints)
    middle, reach, speed = np.array([joints[name] for name in names]).T
    return [
        JointState(
            name=names,
            position=random.uniform(middle - reach, middle + reach).tolist(),
            velocity=random.uniform(-speed, speed).tolist(),
            effort=random.uniform(-9.0, 9.0, len(names)).tolist())
        for _ in range(STATES)]


def slow_trajectory(joints: Mapping[str, JointRange]) -> JointTrajectory:
    """Return hours of motion from the middle outwards, with accelerations in it."""
    zeros = [0.0] * len(joints)
    return JointTrajectory(joint_names=list(joints), points=[
        JointTrajectoryPoint(
            positions=[joint.middle + share * joint.reach for joint in joints.values()],
            velocities=zeros, accelerations=zeros,
            time_from_start=Duration(seconds=seconds).to_msg())
        for seconds, share in ((1, 0.0), (3600 * HOURS_OF_MOTION, 1.0))])


def send_states(
        robots: Sequence[RobotPublisher], rate: float, seconds: float, shift: int,
        imu: str = '') -> dict:
    """
    Publish one state of each robot in turn, at times that do not drift.

    :param rate: states of each robot per second [Hz].
    :param shift: between the monotonic clock and the stamps [ns].
    :param imu: the link of an IMU, which then sends as often; empty: there is none.
    :return: how many went out, and how many of them more than a period late.
    """
    pacer = Pacer(round(1e9 / rate), time.monotonic_ns())
    for _ in range(round(rate * seconds)):
        left = pacer.time_left(time.monotonic_ns())
        if left > 0:
            time.sleep(1e-9 * left)
        pacer.take(time.monotonic_ns())
        for robot in robots:
            robot.send_state(time.monotonic_ns() + shift)
            if imu:
                robot.send_imu(imu)
    return {'sent': round(rate * seconds) * len(robots), 'late': pacer.overruns}


def main() -> None:
    """Obey the orders that come in, until there are no more."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node('benchmark_publisher')
    robots: dict[str, RobotPublisher] = {}
    for line in sys.stdin:
        order = json.loads(line)
        answer = {}
        chosen = [robots[name] for name in order.get('robots', ()) if name in robots]
        if order['do'] == 'describe':
            joints = {name: JointRange(*each) for name, each in order['joints'].items()}
            for name in order['robots']:
                robots[name] = RobotPublisher(node, name, joints)
                robots[name].describe(order['urdf'])
        elif order['do'] == 'move':
            for robot in chosen:
                robot.send_trajectory()
        elif order['do'] == 'send':
            answer = send_states(chosen, order['rate'], order['seconds'], order['shift'],
                                 order.get('imu', ''))
        sys.stdout.write(json.dumps(answer) + '\n')
        sys.stdout.flush()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
