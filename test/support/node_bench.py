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
"""A node under test and a peer that talks to it over real DDS, both spun by the test itself."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import inf
import re
from unittest.mock import patch

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from patience import until
from patient_clock import PatientClock
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from ros2_rnea.control.decision import Status
from ros2_rnea.node import monitor
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode
from ros2_rnea.node.models.configuration import Configuration
from ros2_rnea.node.process import make_executor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from unchecked import UNCHECKED
from wrench_settings import COMPENSATED_AT_ONCE

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL)


AT_ONCE = {
    'blend_time': 0.0, 'effort_rate_limit': inf, 'wrench_fade_time': 0.0, 'start_from': 'zero',
    'friction_from': 'description', **COMPENSATED_AT_ONCE, **UNCHECKED}
"""
Parameters with which the effort that is needed is sent in the next message.

They include where efforts start, which otherwise depends on what measured efforts the states have.
"""


class Bench:
    """
    The node with some parameters, and everything that a robot's drivers would be to it.

    Unless they say otherwise, efforts change at once.

    :param create: the kind of node, or a function that creates one.
    :param clock: the time of the node.
    :param commands: to which topic ~/commands is remapped; empty: it is not.
    :ivar clock: the time of the node.
    :ivar in_each_turn: what else is done in each turn of the executor.
    """

    def __init__(
            self,
            clock: PatientClock,
            namespace: str = '/robot',
            create: Callable[..., InverseDynamicsNode] = InverseDynamicsNode,
            commands: str = '',
            **parameters) -> None:
        self.clock = clock
        self.in_each_turn: list[Callable[[], object]] = []
        overrides = [
            Parameter(name.replace('__', '.'), value=value)
            for name, value in {**AT_ONCE, **parameters}.items()]
        remapping = ['--ros-args', '-r', f'~/commands:={commands}'] if commands else []
        self.node = create(
            namespace=namespace, parameter_overrides=overrides, cli_args=remapping)
        self.peer = Node(  # without what nobody asks of it, which takes a tenth of the start
            'peer', namespace=namespace, start_parameter_services=False, enable_rosout=False,
            parameter_overrides=[Parameter('start_type_description_service', value=False)])
        self.executor = make_executor(self.node.get_parameter('executor').value)
        self.executor.add_node(self.node)
        self.executor.add_node(self.peer)
        self.commands: list[list[float]] = []
        self.efforts: list[JointState] = []
        self.diagnostics: list = []
        self.peer.create_subscription(
            Float64MultiArray, 'inverse_dynamics/commands',
            lambda message: self.commands.append(list(message.data)), 100)
        self.peer.create_subscription(
            JointState, 'inverse_dynamics/effort', self.efforts.append, 100)
        self.peer.create_subscription(DiagnosticArray, '/diagnostics', self._keep, 100)
        self.description = self.peer.create_publisher(String, 'robot_description', LATCHED)
        self.states = self.peer.create_publisher(JointState, 'joint_states', 10)
        self.trajectory = self.peer.create_publisher(JointTrajectory, 'joint_trajectory', 10)
        self.wrench = self.peer.create_publisher(WrenchStamped, 'wrench', 10)
        self._probes: list[String] = []
        self.peer.create_subscription(String, 'probe', self._probes.append, 10)
        self._probe = self.peer.create_publisher(String, 'probe', 10)
        self.until(self._probe.get_subscription_count)
        for publisher in (self.description, self.states, self.trajectory, self.wrench):
            self.connect(publisher)
        self.until(lambda: self.node.count_subscribers('inverse_dynamics/effort')
                   and self.node.count_subscribers('inverse_dynamics/commands'))
        self.until(self.is_settled)

    def close(self) -> None:
        """Take both nodes down."""
        self.executor.shutdown()
        self.node.destroy_node()
        self.peer.destroy_node()

    def _keep(self, message: DiagnosticArray) -> None:
        self.diagnostics.append(message.status[0])

    # ---- time ---------------------------------------------------------------------------------

    def until(self, condition: Callable[[], object]) -> None:
        """Let messages flow until a condition holds."""
        def turn() -> None:
            self.executor.spin_once(timeout_sec=0.02)
            self.clock.turn()
            self._note_alive()
            for each in self.in_each_turn:
                each()

        until(condition, turn)

    def _note_alive(self) -> None:
        """Let no gap be seen where a busy machine keeps the node's own timer waiting."""
        for ages in self.node.input_ages.values():
            ages.note_alive(self.clock.monotonic(), inf)

    def until_answered(self, condition: Callable[[], object]) -> None:
        """Wait for an answer that the node owes, while little of its time passes."""
        with self.clock.exchange():
            self.until(condition)

    def settle(self, seconds: float = 0.1) -> None:
        """
        Let everything that is under way arrive.

        What was sent before a probe arrives before it or with it.  A state, the effort that
        answers it and what follows from that are three ways; time alone tells nothing on a busy
        machine.

        :param seconds: that pass for the node at least, for what happens without a message.
        """
        deadline = self.clock.monotonic() + seconds
        for _ in range(4):
            self._probes.clear()
            self._probe.publish(String())
            self.until_answered(lambda: self._probes)
        self.until(lambda: self.clock.monotonic() >= deadline)

    def connect(self, publisher) -> None:
        """
        Wait until the node's subscription and a publisher of the peer know each other.

        The publisher alone is not enough: what it sends is lost as long as a subscription of best
        effort has not found it, too.
        """
        def is_connected() -> bool:
            return publisher.get_subscription_count() > 0 and all(
                subscription.get_publisher_count() > 0
                for subscription in self.node.subscriptions
                if subscription.topic_name == publisher.topic_name
                and hasattr(subscription, 'get_publisher_count'))  # rclpy of Humble has none

        self.until_answered(is_connected)

    # ---- what drivers and users do --------------------------------------------------------------

    @property
    def changes(self) -> Configuration:
        """Return what replaces the node's robot and parameters, as its services use it."""
        return self.node.configuration

    def is_settled(self) -> bool:
        """Return whether no change is pending."""
        return self.changes.is_settled

    def describe(self, urdf: str) -> None:
        """Publish a description, and wait until it is in use or refused."""
        self.begin_to_describe(urdf)
        self.until_answered(self.is_settled)

    def begin_to_describe(self, urdf: str) -> None:
        """Publish a description, and wait until the node asks for its model or refuses it."""
        refused = self.refused('robot_description')
        self.description.publish(String(data=urdf))
        self.until_answered(lambda: self.changes.description == urdf
                            or self.refused('robot_description') > refused)

    def subscription(self, topic: str) -> Subscription | None:
        """Return the node's subscription to a topic; None: it has none."""
        name = self.node.resolve_topic_name(topic)
        return next(
            (each for each in self.node.subscriptions if each.topic_name == name), None)

    def poll(self) -> None:
        """Let the node look around at once, as it does regularly."""
        for timer in [*self.node.timers]:
            if timer.timer_period_ns == round(1e9 * monitor.PERIOD):
                timer.callback()

    # ---- what the node reports ------------------------------------------------------------------

    def report(self) -> DiagnosticStatus:
        """Return the diagnostics that the node publishes now; this one does not leave the node."""
        publisher, = (
            each for each in self.node.publishers if each.topic_name == '/diagnostics')
        published: list[DiagnosticArray] = []
        with patch.object(publisher, 'publish', published.append):
            self.node.diagnostics.publish()
        status, = published[0].status
        return status

    def reported(self) -> dict[str, str]:
        """Return the values in the diagnostics, by their keys."""
        return {value.key: value.value for value in self.report().values}

    def status(self) -> Status:
        """Return what the last cycle has decided."""
        return Status[self.reported()['reason'].upper()]

    def commands_sent(self) -> int:
        """Return how many cycles have sent an effort."""
        return int(self.reported()['commands'])

    def accepted(self, topic: str) -> int:
        """Return how many messages the node has accepted on a topic."""
        return self._counts(topic)[0]

    def refused(self, topic: str) -> int:
        """Return how many messages the node has refused on a topic."""
        return self._counts(topic)[1]

    def _counts(self, topic: str) -> tuple[int, int]:
        counts = self.reported().get(f'messages on {topic}', 'accepted 0, refused 0')
        accepted, refused = re.findall(r'\d+', counts)
        return int(accepted), int(refused)

    def told(self, about: str) -> str:
        """Return what a notice in the diagnostics says; empty: there is none."""
        return self.node.diagnostics.text(about)

    # ---- messages and requests ------------------------------------------------------------------

    def state(
            self,
            names: Sequence[str],
            positions: Sequence[float],
            velocities: Sequence[float] = (),
            stamp: float = 0.0,
            efforts: Sequence[float] = ()) -> None:
        """Publish a joint state."""
        message = JointState(name=list(names), position=array('d', positions))
        message.velocity = array('d', velocities)
        message.effort = array('d', efforts)
        message.header.stamp.sec = int(stamp)
        message.header.stamp.nanosec = round(1e9 * (stamp - int(stamp)))
        self.states.publish(message)

    def answer(self, *state, **more) -> list[float]:
        """Publish a joint state and return the effort that answers it."""
        count = len(self.efforts)
        self.state(*state, **more)
        self.until_answered(lambda: len(self.efforts) > count)
        return list(self.efforts[-1].effort)

    def sends(self, *state, **more) -> bool:
        """Publish a joint state, and return whether an effort answers it."""
        count = len(self.efforts)
        taken, decided = self.accepted('joint_states'), self.commands_sent()
        self.state(*state, **more)
        self.until_answered(lambda: self.accepted('joint_states') > taken)
        if self.commands_sent() == decided:
            return False
        self.until_answered(lambda: len(self.efforts) > count)
        return True

    def call(self, service_type, name: str, /, **fields):
        """Call a service of the node and return the response."""
        client = self.peer.create_client(service_type, f'inverse_dynamics/{name}')
        self.until_answered(client.service_is_ready)
        if hasattr(self.node, 'count_clients'):  # the reply to an unknown client would be lost
            self.until_answered(lambda: self.node.count_clients(client.srv_name))
        future = client.call_async(service_type.Request(**fields))
        self.until_answered(future.done)
        self.peer.destroy_client(client)
        return future.result()

    def set_parameter(self, name: str, value):
        """Set a parameter and return the result, once it is in use."""
        result = self.node.set_parameters([Parameter(name, value=value)])[0]
        self.until_answered(self.is_settled)
        return result

    def send_trajectory(self, names: Sequence[str], points, stamp: float = 0.0) -> None:
        """Publish a trajectory; points are (time, positions[, velocities[, accelerations]])."""
        message = JointTrajectory(joint_names=list(names))
        message.header.stamp.sec = int(stamp)
        message.header.stamp.nanosec = round(1e9 * (stamp - int(stamp)))
        for at, *fields in points:
            point = JointTrajectoryPoint()
            point.time_from_start.sec = int(at)
            point.time_from_start.nanosec = round(1e9 * (at - int(at)))
            for name, values in zip(('positions', 'velocities', 'accelerations'), fields):
                setattr(point, name, array('d', values))
            message.points.append(point)
        self.trajectory.publish(message)

    def push(self, frame: str, moment=(0.0, 0.0, 0.0), force=(0.0, 0.0, 0.0)) -> None:
        """Publish a wrench."""
        message = WrenchStamped()
        message.header.frame_id = frame
        torque = message.wrench.torque
        torque.x, torque.y, torque.z = moment
        push = message.wrench.force
        push.x, push.y, push.z = force
        self.wrench.publish(message)

    def ros_time(self) -> float:
        """Return the time that trajectory stamps count in."""
        return self.node.clocks.now().ros.seconds


def started() -> bool:
    """Return whether rclpy runs."""
    return rclpy.ok()
