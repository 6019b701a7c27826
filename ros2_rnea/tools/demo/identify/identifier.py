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
"""The ROS node of the identification: it also records a bag, sends models and receives pushes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from geometry_msgs.msg import WrenchStamped
import numpy as np
from numpy.typing import ArrayLike, NDArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rclpy.time import Time
from ros2_rnea.tools.demo.commander import Commander, FEEDFORWARD_NODE
from rosbags.rosbag2 import Writer
from rosbags.typesys import get_typestore, Stores
from sensor_msgs.msg import JointState
from std_msgs.msg import String

MODEL_TOPIC = 'model'
"""Topic from which the node under test takes its description, instead of robot_description."""

TOPIC = '/joint_states'

_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_JOINT_STATE = 'sensor_msgs/msg/JointState'


class Identifier(Commander):
    """
    A commander that also records a bag, sends models and receives estimated wrenches.

    :ivar estimates: stamps [ns] and wrenches [moment; force] of the node's observer.
    """

    def __init__(
            self, joint_names: Sequence[str], tip: str, check: Callable[[], None]) -> None:
        super().__init__(joint_names, tip, check)
        self._model_publisher = self.create_publisher(String, MODEL_TOPIC, _LATCHED)
        self._record: Callable[[JointState], None] | None = None
        self.create_subscription(JointState, TOPIC, self._on_state_to_record, 2000)
        self.estimates: list[tuple[int, NDArray[np.float64]]] = []
        self.create_subscription(
            WrenchStamped, f'{FEEDFORWARD_NODE}/external_wrench', self._on_estimate, 2000)

    def publish_model(self, urdf: str) -> None:
        """Send a description to the node under test."""
        self._model_publisher.publish(String(data=urdf))

    def send_model(self, urdf: str, pose: Sequence[float], gravity: ArrayLike) -> None:
        """
        Send a description to the node under test, and wait until that uses it.

        :param pose: of the joints, shape (n,) [rad or m].
        :param gravity: the effort that holds the model in that pose, shape (n,) [Nm or N].
        """
        self.publish_model(urdf)
        self._wait(self._gravity_client.service_is_ready, 'the node')
        self._wait(lambda: np.allclose(self.gravity(pose), gravity, atol=1e-9),
                   'the node to use the model that was sent')

    @contextmanager
    def bag(self, folder: Path) -> Iterator[None]:
        """
        Record all joint states in a bag, as ``ros2 bag record /joint_states`` does.

        :param folder: of the bag; one that an earlier demo has recorded there is replaced.
        """
        rmtree(folder, ignore_errors=True)
        typestore = get_typestore(Stores.LATEST)
        with Writer(folder, version=9) as bag:
            connection = bag.add_connection(TOPIC, _JOINT_STATE, typestore=typestore)

            def record(message: JointState) -> None:
                bag.write(connection, self.now(), serialize_message(message))

            self._record = record
            try:
                yield
            finally:
                self._record = None

    def _on_state_to_record(self, message: JointState) -> None:
        if self._record is not None:
            self._record(message)

    def _on_estimate(self, message: WrenchStamped) -> None:
        moment, force = message.wrench.torque, message.wrench.force
        self.estimates.append((Time.from_msg(message.header.stamp).nanoseconds, np.array(
            [moment.x, moment.y, moment.z, force.x, force.y, force.z])))
