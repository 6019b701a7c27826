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
"""The robot in use as a model file on ~/model, and its numbers on ~/model_parameters."""

from __future__ import annotations

from functools import partial

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_bench import LATCHED
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from ros2_rnea import Robot
from ros2_rnea.errors import ArgumentError
from ros2_rnea.export.model import OF_CONTROLLER
from ros2_rnea.export.model_file import checksum_of, decoded
from ros2_rnea.kernels.tape import evaluate
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from ros2_rnea.node.models.model_building import Payload
from ros2_rnea.node.topics import model_publisher
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess
from sensor_msgs.msg import Imu
from small_robots import ARM, ARM_WITH_GRIPPER
from std_msgs.msg import Header

interfaces = pytest.importorskip('ros2_rnea_interfaces.msg')
pytestmark = pytest.mark.ros

JOINTS = ['elbow', 'shoulder']  # not the order of the description
STATE = {'q': [0.3, -0.8], 'qd': [0.5, 1.5], 'qdd': [-2.0, 3.0]}
BOX = Inertial(1.5, Pose((0.1, 0.0, 0.2)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01))


class Listener:
    """
    A controller that subscribes to both topics.

    :ivar heard: all that has come, in its order.
    """

    def __init__(self, arm):
        self.arm, self.heard = arm, []
        self.subscriptions = [
            arm.peer.create_subscription(kind, f'inverse_dynamics/{topic}', self._hear, LATCHED)
            for topic, kind in (('model', interfaces.Model),
                                ('model_parameters', interfaces.ModelParameters))]

    def _hear(self, message):
        self.heard.append(message)

    def of(self, kind):
        return [message for message in self.heard if isinstance(message, kind)]

    @property
    def models(self):
        return self.of(interfaces.Model)

    @property
    def model(self):
        """Return the newest model."""
        return decoded(bytes(self.models[-1].file))

    @property
    def parameters(self):
        return self.of(interfaces.ModelParameters)

    def until_model(self, count=1):
        """Wait until so many models have come, and the parameters of the last one."""
        self.arm.until(lambda: len(self.models) >= count and self.parameters and (
            self.parameters[-1].model == checksum_of(bytes(self.models[-1].file))))

    def effort(self):
        """Return the effort by the newest model with the newest parameters."""
        tape, = (tape for tape in self.model.tapes if tape.name == 'inverse_dynamics')
        return evaluate(tape, {**STATE, 'parameters': list(self.parameters[-1].values)})

    def until_effort_is_that_of(self, robot):
        self.arm.until(lambda: np.allclose(
            self.effort(), robot.inverse_dynamics(*STATE.values()), rtol=1e-12, atol=1e-12))


@pytest.fixture
def arm(bench):
    """Return an arm with a robot that carries payloads on its tool."""
    arm = bench(joints=JOINTS, state_timeout=9.0, payload_links=['tool'])
    arm.describe(ARM)
    return arm


@pytest.fixture
def asked(monkeypatch):
    """Return what files the worker process is asked for."""
    requests, ask = [], WorkerProcess.ask

    def noted(process, request, *more):
        if request['task'] == 'export':
            requests.append(request)
        return ask(process, request, *more)

    monkeypatch.setattr(WorkerProcess, 'ask', noted)
    return requests


def test_model_is_that_of_the_robot_in_use(arm):
    listener = Listener(arm)
    listener.until_model()
    first, second = listener.heard[:2]
    assert isinstance(first, interfaces.Model) and isinstance(second, interfaces.ModelParameters)
    assert (first.robot, list(first.joints)) == ('arm', ['shoulder', 'elbow'])
    model = listener.model
    assert [joint.name for joint in model.joints] == list(first.joints)
    assert tuple(tape.name for tape in model.tapes) == OF_CONTROLLER
    assert [body.takes_payload for body in model.bodies] == [False, True]
    assert (model.left_out, model.arm_gravity) == ((), ())
    assert model.values == tuple(second.values)
    assert first.header.stamp.sec and second.header.stamp.sec
    listener.until_effort_is_that_of(Robot.from_urdf(ARM))
    arm.settle(0.3)
    assert len(listener.heard) == 2, 'what has not changed is not repeated'


def test_nothing_is_made_before_somebody_subscribes(arm, asked):
    arm.settle(0.3)
    assert not asked
    listener = Listener(arm)
    listener.until_model()
    assert len(asked) == 1


def test_who_comes_later_gets_both(arm, asked):
    Listener(arm).until_model()
    assert arm.set_parameter('gravity', [0.0, 3.0, -9.0]).successful
    later = Listener(arm)
    later.until_model()
    later.until_effort_is_that_of(Robot.from_urdf(ARM).with_gravity([0.0, 3.0, -9.0]))
    assert len(later.models) == len(asked) == 1


def test_parameters_follow_what_is_in_use(arm):
    listener, robot = Listener(arm), Robot.from_urdf(ARM)
    listener.until_model()
    arm.changes.set_payload(Payload('box', 'tool', BOX))
    robot = robot.with_payload('box', 'tool', BOX)
    listener.until_effort_is_that_of(robot)
    assert arm.set_parameter('gravity', [0.0, 3.0, -9.0]).successful
    robot = robot.with_gravity([0.0, 3.0, -9.0])
    listener.until_effort_is_that_of(robot)
    assert arm.set_parameter('damping.shoulder', 4.0).successful
    listener.until_effort_is_that_of(Robot.from_urdf(ARM.replace(
        'damping="0.5"', 'damping="4.0"')).with_gravity([0.0, 3.0, -9.0]).with_payload(
            'box', 'tool', BOX))
    arm.changes.remove_payload('box')
    arm.settle()
    assert not arm.set_parameter('damping.shoulder', -1.0).successful
    count = len(listener.parameters)
    arm.settle(0.3)
    assert len(listener.parameters) == count, 'what was refused is not published'
    assert len(listener.models) == 1


def test_parameters_follow_the_imu(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, gravity_from_imu=True, imu_timeout=9.0,
                gravity_time_constant=0.0)
    arm.describe(ARM)
    listener = Listener(arm)
    listener.until_model()
    readings = arm.peer.create_publisher(Imu, 'imu', 10)
    arm.connect(readings)
    tilted = Imu(header=Header(frame_id='base'))
    tilted.linear_acceleration.y, tilted.linear_acceleration.z = 1.0, 9.76

    def is_tilted() -> bool:
        arm.state(['shoulder', 'elbow'], STATE['q'])
        readings.publish(tilted)
        return listener.parameters[-1].values[1] < -0.9  # free fall, y

    arm.until(is_tilted)
    assert len(listener.models) == 1


def test_a_swap_publishes_another_model_before_its_parameters(arm, asked):
    listener = Listener(arm)
    listener.until_model()
    heavy = ARM.replace('mass value="1.0"', 'mass value="1.5"')
    arm.describe(heavy)
    listener.until_model(2)
    listener.until_effort_is_that_of(Robot.from_urdf(heavy))
    checksums = []
    for message in listener.heard:
        if isinstance(message, interfaces.Model):
            checksums.append(checksum_of(bytes(message.file)))
        else:
            assert message.model == checksums[-1], 'these are of the model before'
    assert len({*checksums}) == 2
    arm.changes.set_payload(Payload('box', 'upper', BOX))  # for which another model is compiled
    listener.until_model(3)
    assert [body.takes_payload for body in listener.model.bodies] == [True, True]
    listener.until_effort_is_that_of(Robot.from_urdf(heavy).with_payload('box', 'upper', BOX))
    assert len(asked) == 3


def test_no_parameters_of_a_robot_whose_file_is_not_there_yet(arm, monkeypatch):
    listener = Listener(arm)
    listener.until_model()
    monkeypatch.setattr(
        arm.node._model_publisher, '_in_background', lambda function: None)  # it takes long
    count = len(listener.heard)
    arm.describe(ARM.replace('mass value="1.0"', 'mass value="1.5"'))
    assert arm.set_parameter('gravity', [0.0, 3.0, -9.0]).successful
    arm.settle(0.3)
    assert len(listener.heard) == count


def test_file_says_what_the_arm_adds(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, arm='franka')
    arm.describe(ARM)
    listener = Listener(arm)
    listener.until_model()
    assert (listener.model.left_out, listener.model.arm_gravity) == (('gravity', 'friction'), ())
    assert arm.set_parameter('arm_gravity', [0.0, 0.0, -9.81]).successful
    listener.until_model(2)
    assert listener.model.arm_gravity == (0.0, 0.0, -9.81)
    assert arm.set_parameter('arm_gravity', []).successful
    assert arm.set_parameter('terms', 'no_gravity').successful
    arm.until(lambda: listener.model.left_out == ('gravity',))


def test_a_change_while_the_file_is_made_is_in_the_next_one(arm, monkeypatch):
    waiting = []
    call = arm.node._model_publisher._in_background
    monkeypatch.setattr(arm.node._model_publisher, '_in_background', waiting.append)
    listener = Listener(arm)
    arm.until(lambda: waiting)
    arm.describe(ARM_WITH_GRIPPER.replace('arm_with_gripper', 'arm'))
    monkeypatch.setattr(arm.node._model_publisher, '_in_background', call)
    waiting[0]()
    listener.until_model()
    assert [len(message.joints) for message in listener.models] == [3]


@pytest.mark.parametrize('error', [
    ArgumentError('it has 70000 registers'), WorkerError('the process has exited'),
    ValueError('a defect')])
def test_what_fails_is_told_and_tried_again(arm, monkeypatch, error):
    monkeypatch.setattr(model_publisher, 'RETRY_PERIOD', 0.3)
    tries = []
    ask = WorkerProcess.ask

    def failing(process, request, *more):
        if request['task'] == 'export':
            tries.append(request)
            raise error
        return ask(process, request, *more)

    monkeypatch.setattr(WorkerProcess, 'ask', failing)
    listener = Listener(arm)
    arm.until(lambda: arm.told('model file') == (
        f"the model file of 'arm' cannot be made: {error}"))
    arm.until(lambda: len(tries) > 1)
    assert not listener.heard
    monkeypatch.setattr(WorkerProcess, 'ask', ask)
    listener.until_model()
    assert arm.told('model file') == ''


def test_a_failure_is_not_repeated_in_each_turn(arm, monkeypatch):
    monkeypatch.setattr(model_publisher, 'RETRY_PERIOD', 1e6)
    made = []

    def make(_, origin, *more):
        made.append(origin)
        arm.node._model_publisher._made.put(model_publisher._Made(origin, error='no'))

    monkeypatch.setattr(model_publisher.ModelPublisher, '_make', make)
    Listener(arm)
    arm.until(lambda: arm.told('model file'))
    arm.settle(0.5)
    assert len(made) == 1
    arm.describe(ARM.replace('mass value="1.0"', 'mass value="1.5"'))  # may be another matter
    arm.until(lambda: len(made) == 2)


def test_with_older_interfaces_the_node_goes_on_and_says_so(bench, monkeypatch, capfd):
    monkeypatch.setattr(model_publisher, 'IS_DEFINED', False)
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.answer(['shoulder', 'elbow'], STATE['q'])
    arm.poll()
    assert arm.node.unexpected_errors == 0
    assert '~/model_parameters and compensated_joints are missing' in capfd.readouterr().err


def configured(**arguments):
    node = ManagedInverseDynamicsNode(**arguments)
    assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    return node


def test_a_managed_node_has_a_model_while_it_is_configured(bench):
    arm = partial(bench, create=configured)(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    listener = Listener(arm)
    listener.until_model()
    assert arm.call(ChangeState, 'change_state', transition=Transition(
        id=Transition.TRANSITION_CLEANUP)).success
    arm.until(lambda: len(listener.models) == 2)
    assert (listener.models[-1].robot, len(listener.models[-1].file)) == ('', 0)
    assert arm.call(ChangeState, 'change_state', transition=Transition(
        id=Transition.TRANSITION_CONFIGURE)).success
    arm.description.publish(arm.description.msg_type(data=ARM))
    listener.until_model(3)
    assert listener.models[-1].robot == 'arm'


def test_a_managed_node_that_is_configured_again_at_once_is_another_publisher(bench, monkeypatch):
    """Its parameters have lost the payload, and an arm that is active must not take them."""
    arm = bench(create=configured, joints=JOINTS, state_timeout=9.0, payload_links=['tool'])
    monkeypatch.setattr(arm.node._model_publisher, 'poll', lambda: None)  # it is not its turn
    arm.describe(ARM)
    topic = arm.node.resolve_topic_name('~/model_parameters')

    def publishers():
        return {bytes(each.endpoint_gid) for each in arm.node.get_publishers_info_by_topic(topic)}

    listener = Listener(arm)
    arm.until(arm.node._model_publisher._models.get_subscription_count)
    model_publisher.ModelPublisher.poll(arm.node._model_publisher)
    listener.until_model()
    before = publishers()
    assert arm.node.trigger_cleanup() is TransitionCallbackReturn.SUCCESS
    assert arm.node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    arm.until(lambda: len(listener.models) == 2)
    assert len(listener.models[-1].file) == 0
    arm.until(lambda: publishers() and not publishers() & before)
