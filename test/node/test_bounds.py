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
Large inputs: none of them stops the cycle.

What counts is the processor time of the thread of the cycle.  A busy machine hardly changes it,
but a virtual one does: a thread is charged for what the host did meanwhile.  So a test that
measured too much is run again, with a new node, and the shortest of three times counts.  Garbage
is not collected meanwhile, as in the executable.
"""

from array import array
from functools import partial, wraps
import gc
import re
from time import thread_time

from geometry_msgs.msg import Inertia, WrenchStamped
import numpy as np
from processor_time import check_processor_times, REPEATED_WHERE_TOO_SLOW
import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.control.decision import Status
from ros2_rnea.errors import ArgumentError, DescriptionError
from ros2_rnea.model.description import (
    JointDescription,
    JointType,
    LinkDescription,
    RobotDescription,
)
from ros2_rnea.node import bounds, diagnostics, parameter_requests
from ros2_rnea.node.controllers import other_publishers
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode
from ros2_rnea.node.models import configuration
from ros2_rnea.node.timing.cycle_timers import CycleTimers
from ros2_rnea.node.topics.serialized_states import MAX_LAYOUT_BYTES, StateReader
from ros2_rnea_interfaces.msg import CompensatedJoints
from sensor_msgs.msg import Imu, JointState, Joy
from small_robots import ARM
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
import yaml

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('no_garbage_collection'),
              REPEATED_WHERE_TOO_SLOW]

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
GRAVITY = Robot.from_urdf(ARM).gravity(Q)
TRAJECTORY = 'joint_trajectory'
LONGEST = 0.020
"""No callback may take longer than this [s of processor time]."""


class TimedNode(InverseDynamicsNode):
    """A node that measures how long its callbacks take."""

    def __init__(self, **arguments):
        self.longest = {}
        super().__init__(**arguments)

    def guarded(self, callback):
        return self.timed(super().guarded(callback))

    def guarded_service(self, callback):
        return self.timed(super().guarded_service(callback))

    def timed(self, callback):
        @wraps(callback)
        def call(*arguments):
            started = thread_time()
            try:
                return callback(*arguments)
            finally:
                name, taken = callback.__qualname__, thread_time() - started
                self.longest[name] = max(taken, self.longest.get(name, 0.0))

        return call


@pytest.fixture
def arm(bench):
    """Return an arm whose effort is that of gravity, and whose callbacks are timed."""
    arm = bench(create=TimedNode, joints=JOINTS, state_timeout=10.0, dead_man_button=0,
                dead_man_timeout=10.0)
    arm.describe(ARM)
    arm.until(lambda: arm.subscription('joy'))
    gives(arm, 'joy', Joy(buttons=[1]))
    arm.until(lambda: np.allclose(arm.answer(JOINTS, Q), GRAVITY))
    arm.node.longest.clear()
    return arm


def gives(arm, topic, message):
    """Hand a message to the node as its executor does."""
    data = message if isinstance(message, bytes) else serialize_message(message)
    now = arm.node.clocks.now().ros.nanoseconds
    info = {'received_timestamp': now, 'source_timestamp': now}
    without_info = ('robot_description', 'compensated_joints')
    arm.subscription(topic).callback(*((data,) if topic in without_info else (data, info)))


def check(arm):
    """Check that no callback took long, and that the arm is still driven."""
    arm.settle()
    check_times(arm.node.longest)
    gives(arm, 'joy', Joy(buttons=[1]))
    arm.until(lambda: np.allclose(arm.answer(JOINTS, Q), GRAVITY))
    assert arm.node.unexpected_errors == 0


def judged(arm):
    """Return how many trajectories have been accepted or refused: no longer being read."""
    return arm.accepted(TRAJECTORY) + arm.refused(TRAJECTORY)


def check_times(taken):
    """Check how long the longest call of each callback took, and forget it [s]."""
    check_processor_times(taken, LONGEST)
    taken.clear()


def names(count, length=0):
    return [f'{i}'.rjust(length, 'j') for i in range(count)]


def states(count):
    return JointState(name=names(count), position=array('d', bytes(8 * count)))


def trajectory(joints, points):
    message = JointTrajectory(joint_names=joints)
    zeros = [0.0, 0.0]
    for index in range(points):
        point = JointTrajectoryPoint(positions=Q, velocities=zeros, accelerations=zeros)
        point.time_from_start.sec = 1 + index
        message.points.append(point)
    return message


def trajectory_of_one_point(joints, times):
    """Return a trajectory that repeats a point, for where no point is looked at."""
    message = trajectory(joints, 1)
    message.points *= times
    return message


def wrench(frame):
    message = WrenchStamped()
    message.header.frame_id = frame
    return message


def compensated(joints):
    return CompensatedJoints(controller='x', joints=names(joints))


def described(attributes):
    more = ' '.join(f'a{i}="1"' for i in range(attributes))
    return String(data=ARM.replace('<robot ', f'<robot {more} ', 1))


def chain(joints):
    """Return the URDF of an arm of many joints."""
    link = ('<link name="link_{0}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
            'iyy="1" iyz="0" izz="1"/></inertial></link>')
    joint = ('<joint name="joint_{0}" type="revolute"><parent link="link_{0}"/>'
             '<child link="link_{1}"/><axis xyz="0 1 0"/>'
             '<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>')
    return '<robot name="arm">' + ''.join(
        [link.format(0), *(link.format(i + 1) + joint.format(i, i + 1) for i in range(joints))]
    ) + '</robot>'


INPUTS = {
    'joint_states at the bound': ('joint_states', partial(states, 3_000)),
    'joint_states of empty names': ('joint_states', lambda: JointState(name=[''] * 8_000)),
    'joint_states beyond': ('joint_states', partial(states, 100_000)),
    'a trajectory of 30 000 joints': ('joint_trajectory', lambda: trajectory(names(30_000), 1)),
    'a trajectory of 1000 joints': ('joint_trajectory', lambda: trajectory(names(1000), 1)),
    'a trajectory of short names': ('joint_trajectory', lambda: trajectory([''] * 1000, 0)),
    'a short trajectory': ('joint_trajectory', lambda: trajectory(JOINTS, 80)),
    'a trajectory of 20 000 points': ('joint_trajectory', lambda: trajectory(JOINTS, 20_000)),
    'a trajectory of 100 000 points': (
        'joint_trajectory', lambda: trajectory_of_one_point(JOINTS, 100_000)),
    'a trajectory of 200 MB': ('joint_trajectory', lambda: bytes(200_000_000)),
    'a wrench at the bound': ('wrench', lambda: wrench('w' * 16_000)),
    'a wrench beyond': ('wrench', lambda: wrench('w' * 10_000_000)),
    'many buttons': ('joy', lambda: Joy(buttons=[1] * 4_000)),
    'too many buttons': ('joy', lambda: Joy(buttons=[1] * 1_000_000)),
    'many compensated joints': ('compensated_joints', partial(compensated, 1_300)),
    'too many compensated joints': ('compensated_joints', partial(compensated, 1_000_000)),
    'a description of 150 000 attributes': ('robot_description', partial(described, 150_000)),
    'a description of 1500 joints': (
        'robot_description', lambda: String(data=chain(1500))),
    'a description beyond': ('robot_description', lambda: String(data='<' * 20_000_000)),
}


@pytest.mark.parametrize('topic, message', INPUTS.values(), ids=INPUTS)
def test_no_message_stops_the_cycle(arm, topic, message):
    sent = message()
    sent = sent if isinstance(sent, bytes) else serialize_message(sent)
    for _ in range(3):
        gives(arm, topic, sent)
    arm.until(lambda: arm.is_settled() and (topic != TRAJECTORY or judged(arm) == 3))
    check(arm)


@pytest.mark.parametrize('topic, message, refusal', [
    ('joint_states', partial(states, 100_000), 'it has 1996044 bytes; at most 65536 are accepted'),
    ('joint_trajectory', lambda: trajectory(names(30_000), 1),
     'The trajectory has 30000 joint_names; at most 1000 are accepted.'),
    ('joint_trajectory', lambda: trajectory_of_one_point(JOINTS, 20_001),
     'The trajectory has 20001 points; at most 20000 are accepted.'),
    ('joint_trajectory', lambda: bytes(bounds.MAX_TRAJECTORY_BYTES + 1),
     'it has 16777217 bytes; at most 16777216 are accepted'),
    ('wrench', lambda: wrench('w' * 20_000), 'it has 20068 bytes; at most 16384 are accepted'),
    ('compensated_joints', partial(compensated, 3_000),
     'it has 32013 bytes; at most 16384 are accepted'),
    ('robot_description', lambda: String(data=chain(201)),
     'the description has 201 joints that are not fixed; at most 200 are accepted'),
    ('robot_description', lambda: String(data='<' * 5_000_000),
     'the description has 5000009 bytes; at most 2097152 are accepted'),
], ids=map(str, range(8)))
def test_too_large_inputs_are_refused_with_their_size_and_bound(arm, topic, message, refusal):
    gives(arm, topic, message())
    arm.until(lambda: arm.told(topic))
    assert refusal in arm.told(topic)


def test_a_robot_at_the_bound_is_driven(bench, monkeypatch):
    monkeypatch.delenv('ROS2_RNEA_ENGINE')  # a robot of this size has to be compiled
    arm = bench(create=TimedNode, state_timeout=10.0)
    joints = [f'joint_{i}' for i in range(bounds.MAX_JOINTS)]
    arm.describe(chain(bounds.MAX_JOINTS))
    for _ in range(3):
        arm.answer(joints, [0.0] * len(joints))
    one = Parameter('lookahead', value=0.1).to_parameter_msg()
    assert arm.call(SetParameters, 'set_parameters', parameters=[one]).results[0].successful
    check_times(arm.node.longest)


def test_a_long_trajectory_is_followed_from_when_it_arrived(bench):
    arm = bench(joints=JOINTS, state_timeout=10.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    gives(arm, 'joint_trajectory', trajectory(JOINTS, 1000))
    arm.until(lambda: arm.accepted('joint_trajectory'))
    arm.answer(JOINTS, Q)
    assert arm.status() is Status.FOLLOWING
    assert judged(arm) == 1


@pytest.mark.parametrize('joints, share', [
    (JOINTS, 0.0), (JOINTS, 0.6), (JOINTS, 0.99), (JOINTS[:1], 0.0)],
    ids=['at once', 'in the middle', 'near the end', 'with joints that it omits'])
def test_no_point_that_joins_a_long_trajectory_stops_the_cycle(bench, joints, share):
    arm = bench(create=TimedNode, joints=JOINTS, state_timeout=10.0,
                allow_trajectory_replacement=True, allow_partial_joints_goal=True)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    points = 20_000
    gives(arm, 'joint_trajectory', trajectory(JOINTS, points))
    arm.until(lambda: arm.accepted('joint_trajectory'))
    message = trajectory(joints, 1)
    point = message.points[0]
    point.positions, point.velocities, point.accelerations = (
        values[:len(joints)] for values in (point.positions, point.velocities, point.velocities))
    if share:
        message.header.stamp.sec = int(arm.ros_time() + share * points)
    arm.answer(JOINTS, Q)  # so that there is a fresh state, however long that took
    arm.node.longest.clear()
    gives(arm, 'joint_trajectory', message)
    assert (judged(arm) == 1) is (joints != JOINTS)  # the others are read at once
    arm.until(lambda: arm.accepted('joint_trajectory') == 2)
    check_times(arm.node.longest)
    kept = points if joints != JOINTS else share * points
    assert 0.99 * kept < arm.node.policy.motion.memory.path.point_count <= kept + 3


def test_a_later_trajectory_supersedes_a_long_one(bench):
    arm = bench(joints=JOINTS, state_timeout=10.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    gives(arm, 'joint_trajectory', trajectory(JOINTS, 20_000))
    gives(arm, 'joint_trajectory', trajectory(JOINTS, 3))
    arm.until(lambda: judged(arm) == 2)
    assert arm.node.policy.motion.memory.path.duration == 3.0


@pytest.mark.parametrize('refused', [
    partial(trajectory, ['elbow', 'wrist'], 3), partial(trajectory, names(30_000), 1),
], ids=['unknown joint', 'too many joints'])
def test_a_trajectory_that_is_refused_supersedes_no_long_one(bench, refused):
    arm = bench(joints=JOINTS, state_timeout=10.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    gives(arm, 'joint_trajectory', trajectory(JOINTS, 20_000))
    gives(arm, 'joint_trajectory', refused())
    assert arm.told('joint_trajectory')
    arm.until(lambda: judged(arm) == 2)
    assert arm.node.policy.motion.memory.path.duration == 20_000.0


def test_a_long_wrong_trajectory_is_refused_with_its_reason(bench):
    arm = bench(joints=JOINTS, state_timeout=10.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    message = trajectory(JOINTS, 1000)
    message.points[700].time_from_start.sec = 1
    gives(arm, 'joint_trajectory', message)
    arm.until(lambda: 'Point 700' in arm.told('joint_trajectory'))
    assert arm.accepted('joint_trajectory') == 0


def callbacks(arm):
    """Return a function that gives the node a request, as its executor does."""
    services = {service.srv_name.rpartition('/')[2]: service for service in arm.node.services}

    def call(name, /, **fields):
        kind = services[name].srv_type
        return services[name].callback(kind.Request(**fields), kind.Response())

    return call


def assign(name, value):
    return Parameter(name, value=value).to_parameter_msg()


def reasons(response):
    return [result.reason for result in response.results]


def stored(arm):
    """Return all parameters of the node by name."""
    return arm.node.get_parameters_by_prefix('')


def unchanged(arm, count=bounds.MAX_PARAMETERS):
    """Return so many parameters that have their values already."""
    found = [parameter.to_parameter_msg() for name, parameter in stored(arm).items()
             if not arm.node.describe_parameter(name).read_only]
    return found[:count]


def changed(arm, value):
    """Return as many parameters as may change in a request, of as many kinds as there are."""
    kinds = ('damping', 'friction', 'armature', 'effort_limits', 'guiding_damping')
    joints = arm.node.policy.robot.joint_names
    return [assign(f'{kind}.{joint}', value) for kind in kinds for joint in joints
            ][:bounds.MAX_CHANGED_PARAMETERS]


def texts(turn):
    return [f'{i}'.rjust(19, 'x') + f'{turn}' for i in range(bounds.MAX_ELEMENTS)]


def numbers(turn):
    return [1.5 + turn] * bounds.MAX_ELEMENTS


REQUESTS = {
    'all unchanged': lambda arm, turn: unchanged(arm),
    'all changed': lambda arm, turn: changed(arm, 30.0 + turn),
    'one of many refused': lambda arm, turn: [
        *changed(arm, 35.0 + turn)[1:], assign('external_wrench_link', 'x')],
    'all refused': lambda arm, turn: [
        assign('position_gains', [-1.0])] * bounds.MAX_PARAMETERS,
    'all undeclared': lambda arm, turn: [assign(name * 50, 1.0) for name in texts(turn)][
        :bounds.MAX_PARAMETERS],
    'all too long': lambda arm, turn: [
        assign('joints', texts(turn) * 2)] * bounds.MAX_PARAMETERS,
    'beyond': lambda arm, turn: [assign('lookahead', 0.5)] * (bounds.MAX_PARAMETERS + 1),
    **{name: lambda arm, turn, name=name: [assign(name, texts(turn))] for name in (
        'payload_links', 'massless_links', 'wrench_frames', 'measured_lacks', 'joints')},
    **{name: lambda arm, turn, name=name: [assign(name, numbers(turn))] for name in (
        'position_gains', 'velocity_gains', 'arm_gravity', 'wrench_tool_center')},
    **{name: lambda arm, turn, name=name: [assign(name, f'{turn}' * 1000)] for name in (
        'effort_controller', 'external_wrench_link')},
    'robot_description': lambda arm, turn: [
        assign('robot_description', '<' * (bounds.MAX_DESCRIPTION_BYTES - turn))],
}
"""Parameters in a request to set them, by what it is about; each turn has other values."""


def shortest(arm, calls):
    """Return how long the shortest of some calls takes; what disturbs one makes it longer [s]."""
    taken = []
    for call in calls:
        arm.node.longest.clear()
        call()
        taken.append(max(arm.node.longest.values()))
    return min(taken)


def check_parameter_requests(arm):
    """Send every kind of request about parameters at the bounds, and measure each."""
    call, taken = callbacks(arm), {}
    names = [*stored(arm)][:bounds.MAX_READ_PARAMETERS]
    for service in ('get_parameters', 'get_parameter_types', 'describe_parameters'):
        taken[service] = shortest(arm, 3 * [partial(call, service, names=names)])
    taken['list_parameters'] = shortest(arm, 3 * [
        partial(call, 'list_parameters', prefixes=names[-bounds.MAX_PREFIXES:])])
    for what, parameters in REQUESTS.items():
        for service, turns in (('set_parameters', range(3)),
                               ('set_parameters_atomically', range(3, 6))):
            taken[f'{service}: {what}'] = shortest(arm, [
                partial(call, service, parameters=parameters(arm, turn)) for turn in turns])
        taken[f'after {what}'] = shortest(arm, [  # all that is stored is read for any change
            partial(call, 'set_parameters', parameters=[assign('lookahead', lookahead)])
            for lookahead in (0.1, 0.2, 0.3)])
    check_times(taken)


def check_payloads(arm, links):
    """Attach as many payloads as there may be, and change, remove and swap them."""
    set_payload = partial(callbacks(arm), 'set_payload')
    arm.node.longest.clear()
    for i in range(bounds.MAX_PAYLOADS):
        assert set_payload(name=f'p{i}', link=links[i % len(links)], inertia=Inertia(m=1e-3)
                           ).success
    assert not set_payload(name='one more', link=links[0], inertia=Inertia(m=1e-3)).success
    arm.until(arm.is_settled)
    for mass in (2e-3, 3e-3):
        response = set_payload(name='p0', link=links[0], inertia=Inertia(m=mass))
        assert response.message.startswith('in use')
    assert set_payload(name='p1', remove=True).success
    check_times(arm.node.longest)


@pytest.mark.parametrize('joints', [2, bounds.MAX_JOINTS])
def test_no_request_at_the_bounds_stops_the_cycle(bench, monkeypatch, joints):
    pytest.importorskip('ros2_rnea_interfaces.srv')
    monkeypatch.delenv('ROS2_RNEA_ENGINE')  # a robot of this size has to be compiled
    arm = bench(create=TimedNode, state_timeout=10.0)
    names = [f'joint_{i}' for i in range(joints)]
    arm.describe(chain(joints))
    for _ in range(3):
        arm.answer(names, [0.0] * joints)
    check_payloads(arm, [f'link_{i + 1}' for i in range(joints)])
    check_parameter_requests(arm)
    assert arm.node.unexpected_errors == 0


def test_every_input_is_measured_at_its_bound(arm):
    """A new topic or service of the node needs a row here, and a test."""
    assert arm.set_parameter('gravity_from_imu', True).successful
    arm.until(lambda: arm.subscription('imu'))
    at_bound = {
        'joint_states': states(3_000),
        'joint_trajectory': trajectory(JOINTS, 80),
        'robot_description': String(data=ARM.ljust(bounds.MAX_DESCRIPTION_BYTES - 10)),
        'wrench': wrench('w' * 16_000),
        'imu': framed(Imu(), 'i' * 15_000),
        'joy': Joy(buttons=[1] * 4_000),
        'controller_state': controller_state(1000),
        'compensated_joints': compensated(1_300),
    }
    topics = {each.topic_name.removeprefix('/robot/') for each in arm.node.subscriptions}
    assert topics == at_bound.keys()
    for topic, message in at_bound.items():
        arm.node.longest.clear()
        for _ in range(3):
            gives(arm, topic, message)
        arm.until(arm.is_settled)
        check_times(arm.node.longest)
    services = {each.srv_name.rpartition('/')[2] for each in arm.node.services}
    call = callbacks(arm)
    simple = {'set_gravity', 'zero_wrench', 'hold', 'enable'}
    about_parameters = {'set_payload', 'set_parameters', 'set_parameters_atomically',
                        'get_parameters', 'get_parameter_types', 'describe_parameters',
                        'list_parameters'}  # in the test above
    assert services <= simple | about_parameters
    for name in sorted(simple & services):
        call(name)
        check_times(arm.node.longest)


def framed(message, frame):
    message.header.frame_id = frame
    return message


def controller_state(joints):
    messages = pytest.importorskip('control_msgs.msg')
    message = messages.JointTrajectoryControllerState(joint_names=names(joints))
    zeros = [0.0] * joints
    for point in (message.reference, message.feedback, message.error, message.output):
        point.positions = point.velocities = point.accelerations = zeros
    return message


def test_a_queue_of_large_states_does_not_stop_the_cycle(bench):
    arm = bench(create=TimedNode, joints=JOINTS, state_timeout=10.0, state_depth=100)
    arm.describe(ARM)
    arm.until(lambda: np.allclose(arm.answer(JOINTS, Q), GRAVITY))
    many = arm.peer.create_publisher(JointState, 'joint_states', 100)
    arm.connect(many)
    large = states(3_000)
    arm.node.longest.clear()
    for _ in range(100):
        many.publish(large)
    arm.settle()
    check_times(arm.node.longest)
    arm.until(lambda: np.allclose(arm.answer(JOINTS, Q), GRAVITY))


def test_each_parameter_has_its_own_result_and_all_apply_once(arm, monkeypatch):
    call, applied = callbacks(arm), []
    restart = CycleTimers.restart
    monkeypatch.setattr(
        CycleTimers, 'restart', lambda *arguments: applied.append(restart(*arguments)))
    good = [assign('lookahead', 0.1), assign('damping.elbow', 0.25), assign('blend_time', 0.2)]
    assert not any(reasons(call('set_parameters', parameters=good)))
    assert len(applied) == 1
    assert not any(reasons(call('set_parameters', parameters=good)))
    assert len(applied) == 1  # nothing has changed
    result = call('set_parameters', parameters=[
        assign('lookahead', 0.3),
        assign('rate', -1.0),
        assign('nonsense', 1.0),
        assign('external_wrench_link', 'nowhere'),
        assign('executor', 'events'),
        assign('lookahead', 0.4),
        assign('blend_time', 0.4)])
    assert [each.successful for each in result.results] == [
        False, False, False, False, False, True, True]
    said = reasons(result)
    assert 'rate is -1.0' in said[1]
    assert 'nonsense' in said[2]
    assert 'nowhere' in said[3]
    assert 'read-only' in said[4]
    assert said[0] == (
        'lookahead is named twice in this request; value number 6 of the request is used')
    assert arm.node.get_parameter('lookahead').value == 0.4
    assert arm.node.get_parameter('blend_time').value == 0.4
    assert arm.node.policy.settings.lookahead == 0.4


def test_a_file_of_all_parameters_can_be_loaded_with_changes(arm, monkeypatch):
    """``ros2 param dump`` writes read-only ones, too, and ``ros2 param load`` sets all at once."""
    monkeypatch.setattr(parameter_requests, 'LONGEST_SEARCH', 0.0)
    changes = {'lookahead': 0.1, 'blend_time': 0.2, 'damping.elbow': 0.25, 'mimic_tolerance': 0.3}
    of_file = {name: changes.get(name, parameter.value)
               for name, parameter in stored(arm).items()}
    results = callbacks(arm)('set_parameters', parameters=[
        assign(*each) for each in of_file.items()]).results
    refused = {name: result.reason for name, result in zip(of_file, results)
               if not result.successful}
    assert {'executor', 'state_depth', 'lock_memory'} <= refused.keys()
    assert all('is read-only' in reason for reason in refused.values())
    assert {name: arm.node.get_parameter(name).value for name in changes} == changes


def test_all_parameters_of_a_humanoid_can_be_got_at_once(bench, monkeypatch):
    """``ros2 param dump`` does so."""
    monkeypatch.delenv('ROS2_RNEA_ENGINE')  # a robot of this size has to be compiled
    arm = bench(create=TimedNode)
    arm.describe(chain(60))
    names = [*stored(arm)]
    assert len(names) > 1000
    assert len(callbacks(arm)('get_parameters', names=names).values) == len(names)


def test_a_request_to_send_nothing_is_obeyed_among_others(arm):
    too_many = [assign('enabled', False), *(
        assign(name, 0.25) for name in ('lookahead', 'damping.elbow'))]
    too_many += [assign('external_wrench_link', 'nowhere'), assign('wrench_frames', ['x'] * 5000)]
    results = callbacks(arm)('set_parameters', parameters=too_many[::-1]).results
    assert [each.successful for each in results] == [False, False, True, True, True]
    assert not arm.node.policy.settings.enabled


@pytest.mark.parametrize('values', [
    (True, False), (False, True), ('no', False), (False, 'no'), (False, True, False)])
def test_of_enabled_named_twice_the_value_false_counts(arm, values):
    results = callbacks(arm)('set_parameters', parameters=[
        assign('enabled', value) for value in values]).results
    assert [each.successful for each in results].count(True) == 1
    assert results[values.index(False)].successful
    assert arm.node.get_parameter('enabled').value is False
    assert not arm.node.policy.settings.enabled


def test_an_atomic_request_names_no_parameter_twice(arm):
    result = callbacks(arm)('set_parameters_atomically', parameters=[
        assign('enabled', False), assign('enabled', True)]).result
    assert result.reason == 'enabled is named twice in this request'
    assert arm.node.get_parameter('enabled').value is True


def test_a_file_read_by_rclpy_loads_the_written_values(arm, tmp_path):
    """Its reader makes a text of each value, and reads the text."""
    read = pytest.importorskip('rclpy.parameter').parameter_dict_from_yaml_file
    assert arm.set_parameter('damping.elbow', 1e-05).successful
    values = {name: parameter.value for name, parameter in stored(arm).items()}
    assert None in values.values() and 1e-05 in values.values()
    file = tmp_path / 'dump.yaml'
    file.write_text(yaml.safe_dump({'/robot/inverse_dynamics': {'ros__parameters': {
        name: [*value] if isinstance(value, (array, list)) else value
        for name, value in values.items()}}}))
    parameters = read(str(file)).values()
    assert 'None' in {each.value.string_value for each in parameters}
    results = callbacks(arm)('set_parameters', parameters=[*parameters]).results
    reasons = {each.name: result.reason for each, result in zip(parameters, results)
               if not result.successful}
    assert all('is read-only' in reason for reason in reasons.values())
    assert {name: arm.node.get_parameter(name).value for name in values} == values


def test_after_too_long_a_search_the_rest_is_refused(arm, monkeypatch):
    monkeypatch.setattr(parameter_requests, 'LONGEST_SEARCH', 0.0)
    one, other, first = callbacks(arm)('set_parameters', parameters=[
        assign('lookahead', 0.3), assign('external_wrench_link', 'nowhere'),
        assign('enabled', False)]).results
    assert not one.successful
    assert 'set it in a request of its own. Together: ' in one.reason
    assert 'nowhere' in other.reason
    assert first.successful
    assert arm.node.get_parameter('lookahead').value == 0.0


@pytest.mark.parametrize('name, value, said', [
    ('payload_links', ['tool'] * 100_000, 'payload_links has 100000 elements; at most 1000'),
    ('wrench_frames', ['x' * 21] * 1000, 'wrench_frames has 21000 characters; at most 20000'),
    ('wrench_frames', ['x' * 1001], 'an element of wrench_frames has 1001 characters; at most'),
    ('position_gains', [1.0] * 1001, 'position_gains has 1001 elements; at most 1000'),
    ('assumed_positions.elbow', [1] * 1001, 'assumed_positions.elbow has 1001 elements; at most'),
    ('effort_controller', 'x' * 20_000_000, 'has 20000000 characters; at most 1000'),
    ('robot_description', '<' * 5_000_000, 'has 5000000 characters; at most 2097152'),
    ('x' * 1001, 1, 'the name of a parameter has 1001 characters; at most 1000 are accepted'),
], ids=map(str, range(8)))
def test_values_that_are_too_long_are_refused_with_their_length(arm, name, value, said):
    call, message = callbacks(arm), assign(name, value)
    assert said in call('set_parameters', parameters=[message]).results[0].reason
    assert said in call('set_parameters_atomically', parameters=[message]).result.reason
    check(arm)


def test_values_in_a_file_that_are_too_long_are_refused(bench):
    with pytest.raises(ArgumentError, match='payload_links has 5000 elements; at most 1000'):
        bench(payload_links=['x'] * 5000)
    with pytest.raises(ArgumentError, match='assumed_positions.elbow has 5000 elements'):
        bench(assumed_positions__elbow=[0.5] * 5000)


def test_long_values_for_other_nodes_do_not_prevent_the_start(bench):
    """A file may set parameters of all nodes (/**), as robot_description_semantic of MoveIt."""
    arm = bench(joints=JOINTS, robot_description_semantic='x' * 50_000, samples=[0.5] * 5000)
    arm.describe(ARM)
    assert np.allclose(arm.answer(JOINTS, Q), GRAVITY)


def test_more_changes_than_one_request_may_have_are_refused(arm, monkeypatch):
    monkeypatch.setattr(parameter_requests, 'MAX_CHANGED_PARAMETERS', 2)
    call = callbacks(arm)
    three = [assign(name, 0.25) for name in ('lookahead', 'blend_time', 'damping.elbow')]
    said = 'the request changes 3 parameters; at most 2 can change in one request: use several'
    assert reasons(call('set_parameters', parameters=three)) == [said] * 3
    assert call('set_parameters_atomically', parameters=three).result.reason == said
    assert not any(reasons(call('set_parameters', parameters=three[:2])))
    assert not any(reasons(call('set_parameters', parameters=three)))  # one is left


def test_a_request_for_one_value_twice_is_refused(arm, capfd):
    capfd.readouterr()
    call = callbacks(arm)
    assert not call('get_parameters', names=['robot_description'] * 2).values
    assert 'the request has one of its names twice' in capfd.readouterr().err
    assert not call('get_parameters', names=['x' * 1001]).values


@pytest.mark.parametrize('fields, said', [
    ({'names': ['x'] * 100_000}, "names names 'x', which is no moving joint"),
    ({'wrenches': [WrenchStamped()] * 30_000}, 'at most 1000 are accepted'),
], ids=['names', 'wrenches'])
def test_no_request_stops_the_cycle(arm, fields, said):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    response = arm.call(
        interfaces.ComputeInverseDynamics, 'compute_inverse_dynamics', **fields)
    assert not response.success
    assert said in response.message
    check_times(arm.node.longest)


def test_no_command_of_another_node_stops_the_cycle(arm):
    topic = '/robot/inverse_dynamics/commands'
    arm.other = arm.peer.create_publisher(Float64MultiArray, topic, 1)
    arm.until(lambda: arm.subscription(topic))
    subscription = arm.subscription(topic)
    for count in (0, 2, 1900, 1_000_000):
        message = serialize_message(Float64MultiArray(data=array('d', bytes(8 * count))))
        arm.node.longest.clear()
        subscription.callback(message)
        assert arm.node.longest
        check_times(arm.node.longest)
        assert bool(arm.told(other_publishers.SUBJECT)) is (count > 0)
    subscription.callback(b'nonsense')
    check(arm)


@pytest.mark.parametrize('service, name, fields', [
    (GetParameters, 'get_parameters', {'names': ['rate'] * 100_000}),
    (GetParameterTypes, 'get_parameter_types', {'names': ['rate'] * 100_000}),
    (DescribeParameters, 'describe_parameters', {'names': ['rate'] * 100_000}),
    (ListParameters, 'list_parameters', {'prefixes': ['x'] * 20_000}),
    (SetParameters, 'set_parameters', {'parameters': [ParameterMessage(name='rate')] * 20_000}),
    (SetParametersAtomically, 'set_parameters_atomically',
     {'parameters': [ParameterMessage(name='rate')] * 20_000}),
], ids=lambda value: value if isinstance(value, str) else '')
def test_no_request_about_parameters_stops_the_cycle(arm, service, name, fields, capfd):
    capfd.readouterr()
    response = arm.call(service, name, **fields)
    ((field, elements),) = fields.items()
    refusal = f'the request has {len(elements)} {field}; at most'
    assert refusal in capfd.readouterr().err
    if service is SetParameters:
        assert [refusal in result.reason for result in response.results] == [True]
    elif service is SetParametersAtomically:
        assert refusal in response.result.reason
    else:
        assert response == service.Response()
    check(arm)


def test_the_names_of_a_payload_are_bounded(arm):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    response = arm.call(interfaces.SetPayload, 'set_payload', name='x' * 100_000, link='x')
    assert response.message == 'name has 100000 characters; at most 1000 are accepted'
    response = arm.call(interfaces.SetPayload, 'set_payload', name='x', link='x' * 100_000)
    assert response.message == 'link has 100000 characters; at most 1000 are accepted'
    check(arm)


def set_payload(arm, name, link='tool', **more):
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    return arm.call(interfaces.SetPayload, 'set_payload', name=name, link=link,
                    inertia=Inertia(m=0.1), **more)


def test_the_number_of_payloads_is_bounded(arm, monkeypatch):
    monkeypatch.setattr(configuration, 'MAX_PAYLOADS', 2)
    assert set_payload(arm, 'one').success
    assert set_payload(arm, 'other').success
    assert 'at most 2 are accepted' in set_payload(arm, 'third').message
    assert set_payload(arm, 'other').success  # in place of that one


def test_refusals_with_changing_texts_are_logged_shortly_and_rarely(arm, capfd):
    capfd.readouterr()
    for i in range(100):
        gives(arm, 'joint_trajectory', trajectory(2 * [f'{i}' + 'x' * 2000], 0))
    assert arm.refused('joint_trajectory') == 100
    lines = [line for line in capfd.readouterr().err.splitlines() if 'joint_trajectory' in line]
    assert 0 < len(lines) <= 5
    assert max(map(len, lines)) < 1500


def test_omitted_lines_are_counted_when_there_is_room_again(arm, monkeypatch, capfd):
    monkeypatch.setattr(diagnostics, 'LINES_PERIOD', 1.0)
    for i in range(20):
        gives(arm, 'joint_trajectory', trajectory([f'{i}', f'{i}'], 0))
    logged = []
    arm.until(lambda: logged.append(capfd.readouterr().err) or 'were omitted' in logged[-1])
    assert 'joint_trajectory: 15 lines were omitted; the last state is: refused:' in logged[-1]


def test_the_layouts_of_large_states_are_not_all_kept():
    reader = StateReader()
    for count in range(900, 1000):
        reader.read(serialize_message(states(count)))
    assert 0 < reader.layout_bytes <= MAX_LAYOUT_BYTES


def described_links(links, moving):
    """Return a description of so many links, whose last joints move."""
    joints = [JointDescription(
        f'joint{i}', JointType.REVOLUTE if i >= links - 1 - moving else JointType.FIXED,
        f'link{i}', f'link{i + 1}') for i in range(links - 1)]
    return RobotDescription(
        'chain', tuple(LinkDescription(f'link{i}') for i in range(links)), tuple(joints))


def test_a_description_is_accepted_at_the_bounds_and_refused_beyond():
    bounds.check_description_size(bounds.MAX_DESCRIPTION_BYTES)
    with pytest.raises(DescriptionError, match='2097153 bytes; at most 2097152'):
        bounds.check_description_size(bounds.MAX_DESCRIPTION_BYTES + 1)
    bounds.check_description(described_links(bounds.MAX_LINKS, bounds.MAX_JOINTS))
    for links, moving, said in ((1001, 0, '1001 links; at most 1000'),
                                (300, 201, '201 joints that are not fixed; at most 200')):
        with pytest.raises(DescriptionError, match=said):
            bounds.check_description(described_links(links, moving))


def test_the_documentation_has_the_bounds():
    text = (ROOT / 'docs' / 'node' / 'bounds.rst').read_text(encoding='utf-8')
    start = text.index('   * - input\n', text.index('Bounds of inputs\n'))
    table = text[start:text.index('The parameters of one request are set together', start)]
    # The time of a transition is no size; the services that have it say its bound.
    of_inputs = {name: value for name, value in vars(bounds).items()
                 if name.startswith('MAX_') and name != 'MAX_TRANSITION_TIME'}
    assert len(of_inputs) > 20
    for name, value in of_inputs.items():
        number = rf'(?<![\d.])(?<!\d ){_written(name, value)}(?![ .]?\d)'
        assert re.search(number, table), name


def _written(name, value):
    if name.endswith('BYTES'):
        return f'{value >> 20} MiB' if value >= 1 << 20 else f'{value >> 10} KiB'
    return f'{value:,}'.replace(',', ' ')


def test_an_imu_message_leaves_no_garbage_and_makes_no_robot(arm, monkeypatch):
    """It comes up to a thousand times a second, beside the joint states."""
    assert arm.set_parameter('gravity_from_imu', True).successful
    arm.until(lambda: arm.subscription('imu'))
    message = framed(Imu(), arm.node.policy.robot.tree.root)
    message.linear_acceleration.z = 9.81
    made = []
    monkeypatch.setattr(Robot, '__init__', lambda *_, **__: made.append(0))
    for _ in range(20):
        gives(arm, 'imu', message)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        gives(arm, 'imu', message)
    assert gc.collect() < 100  # a cycle in each message would be 1000 objects or more
    assert len(gc.get_objects()) - before < 100
    assert not made
    assert arm.accepted('imu') == 1020
