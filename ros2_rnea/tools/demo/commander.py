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
"""The ROS node of the demo: it sends motions and forces, requests figures, and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import json
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Inertia, InertiaStamped, WrenchStamped
import numpy as np
from numpy.typing import ArrayLike, NDArray
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.task import Future
from rclpy.time import Time
from ros2_rnea.tools.demo.figures import LimitedCommands, Log
from ros2_rnea.tools.demo.motion import Motion
from ros2_rnea.tools.executor import lean_executor
from ros2_rnea.tools.simulated_driver.description import Load
from ros2_rnea_interfaces.srv import ComputeGravity, SetGravity, SetPayload
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

DRIVER = 'simulated_driver'
FEEDFORWARD_NODE = 'inverse_dynamics'
DIAGNOSTIC = 'commands limited in rate'
"""Its value begins with their number; that of all is called ``commands``."""

_PATIENCE = 120.0  # a busy machine starts processes slowly; one that ends is noticed at once
_ASK_AGAIN = 1.0  # twice as long each time
# Deep enough that no joint state is lost while this process draws its progress bar.
_RECORDING = QoSProfile(depth=2000)


class NoAnswerError(RuntimeError):
    """A process did not answer in time."""


class RateLimited:
    """Sums up what several nodes, one after the other, say of the commands limited in rate."""

    def __init__(self) -> None:
        self._ended = np.zeros(2)
        self._present = np.zeros(2)

    def update(self, values: Mapping[str, str]) -> None:
        """Take values of a node's diagnostics, which count from the start of its process."""
        if DIAGNOSTIC not in values:
            return
        counted = np.array([float(values[DIAGNOSTIC].split()[0]), float(values['commands'])])
        if counted[1] < self._present[1]:  # another process
            self._ended += self._present
        self._present = counted

    @property
    def total(self) -> LimitedCommands:
        """Return the sum."""
        return LimitedCommands(*(self._ended + self._present).tolist())


class Commander(Node):
    """
    Communicates with the driver and the node under test.

    :param joint_names: of the arm, in the order of all columns.
    :param tip: the link that is pushed.
    :param check: called while this node waits; raises when a process has ended.
    :ivar rate_limited: the commands of the node under test that were limited in rate.
    """

    def __init__(
            self, joint_names: Sequence[str], tip: str, check: Callable[[], None]) -> None:
        super().__init__('demo')
        self._joint_names = list(joint_names)
        self._tip = tip
        self._check = check
        self._executor = lean_executor()
        self._executor.add_node(self)
        self._states: list[tuple[int, Sequence[float], Sequence[float]]] = []
        self._sent: list[tuple[int, Sequence[float]]] = []
        self.create_subscription(JointState, 'joint_states', self._on_joint_state, _RECORDING)
        self.create_subscription(
            JointState, f'{FEEDFORWARD_NODE}/effort', self._on_effort, _RECORDING)
        self.rate_limited = RateLimited()
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._trajectory_publisher = self.create_publisher(
            JointTrajectory, 'joint_trajectory', 10)
        self._force_publisher = self.create_publisher(WrenchStamped, 'tip_wrench', 10)
        self._load_publisher = self.create_publisher(InertiaStamped, 'tip_load', 10)
        self._parameter_clients = {
            node: self.create_client(SetParameters, f'{node}/set_parameters')
            for node in (DRIVER, FEEDFORWARD_NODE)}
        self._report_client = self.create_client(Trigger, f'{DRIVER}/report')
        self._enable_client = self.create_client(SetBool, f'{FEEDFORWARD_NODE}/enable')
        self._gravity_client = self.create_client(
            ComputeGravity, f'{FEEDFORWARD_NODE}/compute_gravity')
        self._set_gravity_client = self.create_client(
            SetGravity, f'{FEEDFORWARD_NODE}/set_gravity')
        self._set_payload_client = self.create_client(
            SetPayload, f'{FEEDFORWARD_NODE}/set_payload')

    def now(self) -> int:
        """Return the time of the node's clock [ns]."""
        return self.get_clock().now().nanoseconds

    def wait_for_robot(self) -> None:
        """Wait until the arm moves and the node answers, which takes the robot's description."""
        self.wait_for_states()
        self._wait(lambda: self._trajectory_publisher.get_subscription_count() >= 2,
                   'driver and node to listen to joint_trajectory')
        self._wait(lambda: self._gravity_is_answered(), 'the node to have read the robot')

    def wait_for_states(self) -> None:
        """Wait until the next joint state comes."""
        before = len(self._states)
        self._wait(lambda: len(self._states) > before, 'joint states from the driver')

    def wait_for_efforts(self) -> None:
        """Wait until the node under test sends an effort again."""
        before = len(self._sent)
        self._wait(lambda: len(self._sent) > before, 'efforts from the node')

    def set_parameter(self, node: str, name: str, value: Any) -> None:
        """
        Set a parameter of another node.

        :raises NoAnswerError: when the node refuses it or does not answer.
        """
        parameter = Parameter(name, value=value).to_parameter_msg()
        response = self._call(
            self._parameter_clients[node], SetParameters.Request(parameters=[parameter]))
        result = response.results[0]
        if not result.successful:
            raise NoAnswerError(f'{node} refuses {name} = {value}: {result.reason}')

    def enable(self, on: bool) -> None:
        """Let the node under test send commands, or not."""
        self._call(self._enable_client, SetBool.Request(data=on))

    def driver_report(self) -> dict[str, float | int | None]:
        """Return the driver's figures since the last call."""
        response = self._call(self._report_client, Trigger.Request())
        return json.loads(response.message)

    def gravity(self, positions: Sequence[float]) -> NDArray[np.float64]:
        """
        Ask the node for the effort that holds the arm in a pose.

        :param positions: shape (n,) [rad].
        :returns: effort in the order of the joints, shape (n,) [Nm].
        :raises NoAnswerError: when the node says that it cannot.
        """
        response = self._call(self._gravity_client, ComputeGravity.Request(
            names=self._joint_names, positions=list(positions)))
        if not response.success:
            raise NoAnswerError(f'compute_gravity: {response.message}')
        effort = dict(zip(response.effort.name, response.effort.effort))
        return np.array([effort[name] for name in self._joint_names])

    def send_motion(self, start: int, times: NDArray[np.float64], motion: Motion) -> None:
        """
        Send a trajectory to driver and node.

        :param start: its stamp [ns].
        :param times: of its points since the stamp, shape (N,) [s].
        :param motion: at these times.
        """
        message = JointTrajectory(joint_names=self._joint_names)
        message.header.stamp = Time(nanoseconds=start).to_msg()
        message.points = [
            JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd,
                                 time_from_start=Duration(nanoseconds=round(t * 1e9)).to_msg())
            for t, q, qd, qdd in zip(times, *(rows.tolist() for rows in motion))]
        self._trajectory_publisher.publish(message)

    def push(self, force: ArrayLike) -> None:
        """
        Push the arm's tip.

        :param force: on the robot at the origin of the tip's frame, in its axes, shape (3,) [N].
        """
        message = WrenchStamped()
        message.header.frame_id = self._tip
        message.header.stamp = self.get_clock().now().to_msg()
        x, y, z = np.asarray(force, dtype=float).tolist()
        message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = x, y, z
        self._force_publisher.publish(message)

    def load(self, load: Load) -> None:
        """Attach a payload to the simulated arm; a mass of 0 removes it."""
        message = InertiaStamped(inertia=_inertia(load))
        message.header.frame_id = load.link
        self._load_publisher.publish(message)

    def tell_payload(self, load: Load) -> None:
        """
        Set the payload in the node under test; a mass of 0 removes it.

        :raises NoAnswerError: when the node refuses it.
        """
        self._call_to_change(self._set_payload_client, SetPayload.Request(
            name='load', link=load.link, inertia=_inertia(load), remove=not load.mass))

    def tell_gravity(self, gravity: Sequence[float]) -> None:
        """
        Set the gravity in the node under test.

        :param gravity: acceleration of free fall in the axes of the root link, shape (3,) [m/s^2].
        :raises NoAnswerError: when the node refuses it.
        """
        request = SetGravity.Request()
        vector = request.gravity.vector
        vector.x, vector.y, vector.z = gravity
        self._call_to_change(self._set_gravity_client, request)

    def spin_until(self, time: int) -> None:
        """
        Record until a moment.

        :param time: on this node's clock [ns].
        """
        while (left := time - self.now()) > 0:
            self._spin_once(min(left * 1e-9, 0.1))

    def spin_for(self, seconds: float) -> None:
        """Record for a time."""
        self.spin_until(self.now() + int(seconds * 1e9))

    def recorded(self, start: int, end: int) -> Log:
        """
        Return what was recorded from start to end, and forget all that came before.

        :param start: on this node's clock, from which the times of the log count [ns].
        """
        states = [state for state in self._states if start <= state[0] <= end]
        sent = [effort for effort in self._sent if start <= effort[0] <= end]
        self._states.clear()
        self._sent.clear()
        n = len(self._joint_names)
        return Log(
            times=(np.array([stamp for stamp, *_ in states], dtype=float) - start) * 1e-9,
            positions=np.array([row for _, row, _ in states]).reshape(-1, n),
            motors=np.array([row for *_, row in states]).reshape(-1, n),
            sent_times=(np.array([arrival for arrival, _ in sent], dtype=float) - start) * 1e-9,
            sent=np.array([row for _, row in sent]).reshape(-1, n))

    def _on_joint_state(self, message: JointState) -> None:
        self._states.append((Time.from_msg(message.header.stamp).nanoseconds,
                             message.position, message.effort))

    def _on_effort(self, message: JointState) -> None:
        self._sent.append((self.now(), message.effort))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.rate_limited.update({pair.key: pair.value for pair in status.values})

    def _gravity_is_answered(self) -> bool:
        if not self._gravity_client.service_is_ready():
            return False
        response = self._call(self._gravity_client, ComputeGravity.Request())
        return response.success

    def _call_to_change(self, client: Client, request: Any) -> None:
        response = self._call(client, request)
        if not response.success:
            raise NoAnswerError(f'{client.srv_name}: {response.message}')

    def _call(self, client: Client, request: Any) -> Any:
        """
        Return the answer to a request that may be sent several times.

        A process that has just started may answer before it has found this one, and a busy machine
        loses answers: then nobody hears them.
        """
        self._wait(client.service_is_ready, f'the service {client.srv_name}')
        futures: list[Future] = []
        ask_at, pause = self.now(), _ASK_AGAIN

        def is_answered() -> bool:
            nonlocal ask_at, pause
            if self.now() >= ask_at:
                futures.append(client.call_async(request))
                ask_at, pause = self.now() + int(pause * 1e9), 2.0 * pause
            return any(future.done() for future in futures)

        try:
            self._wait(is_answered, f'an answer of the service {client.srv_name}')
            return next(future.result() for future in futures if future.done())
        finally:
            for future in futures:
                client.remove_pending_request(future)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        end = self.now() + int(_PATIENCE * 1e9)
        while not condition():
            if self.now() > end:
                raise NoAnswerError(f'waited {_PATIENCE:g} s in vain for {what}')
            self._spin_once(0.02)

    def _spin_once(self, timeout: float) -> None:
        self._check()
        self._executor.spin_once(timeout_sec=timeout)


def _inertia(load: Load) -> Inertia:
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    inertia = Inertia(m=load.mass, **dict(zip(names, load.inertia)))
    inertia.com.x, inertia.com.y, inertia.com.z = load.center
    return inertia
