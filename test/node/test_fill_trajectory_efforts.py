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
"""The service that fills trajectories: beside the cycle, and with what the pure filler says."""

from array import array
from functools import lru_cache
from itertools import cycle
import os
import signal
from threading import enumerate as threads, Event

from builtin_interfaces.msg import Duration
import numpy as np
from patience import PATIENCE, until
import pytest
import rclpy
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Settings
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import LONGEST_TEXT
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node.services.background_services import ServiceOwner
from ros2_rnea.node.services.compute_services import Services
from ros2_rnea.node.topics.conversions import waypoints
from ros2_rnea.node.worker.worker_process import WorkerProcess
from ros2_rnea.offline.filling.effort_filler import fill_efforts, FillSettings, Plan, Start
from ros2_rnea.offline.filling.torque_report import TorqueCheck
from ros2_rnea.robots.sent_terms import Arm, Terms
from ros2_rnea.trajectories.ros_time import RosTime
from sensor_msgs.msg import JointState
from small_robots import ARM, ARM_WITH_GRIPPER
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures('fastest_engine')]

Fill = pytest.importorskip('ros2_rnea_interfaces.srv').FillTrajectoryEfforts
MotionLimits = pytest.importorskip('ros2_rnea_interfaces.msg').MotionLimits
fill_answer = pytest.importorskip('ros2_rnea.node.services.fill_answer')
fill_service = pytest.importorskip('ros2_rnea.node.services.fill_service')

JOINTS = ['shoulder', 'elbow']
SWING = [(0.0, [0.0, 0.5], [0.0, 0.0]), (1.0, [1.2, -1.0], [0.0, 0.0]), (2.0, [-0.4, 0.3], [0, 0])]
ARM_ROBOT = Robot.from_urdf(ARM)


def message(points, names=JOINTS, efforts=()):
    """Return a JointTrajectory; points are (time, positions[, velocities[, accelerations]])."""
    trajectory = JointTrajectory(joint_names=list(names))
    for index, (at, *fields) in enumerate(points):
        values = dict(zip(('positions', 'velocities', 'accelerations'), fields))
        if efforts:
            values['effort'] = efforts[index]
        time = Duration(sec=int(at), nanosec=round(1e9 * (at - int(at))))
        trajectory.points.append(JointTrajectoryPoint(
            time_from_start=time, **{name: array('d', row) for name, row in values.items()}))
    return trajectory


def plan(points, names=JOINTS, efforts=()):
    return Plan(list(names), waypoints(message(points, names)), efforts)


def fill(arm, points=SWING, **fields):
    return arm.call(
        Fill, 'fill_trajectory_efforts', **{'trajectory': message(points), **fields})


def long_sines(count):
    """Return a motion of many points."""
    times = 0.01 * np.arange(count)
    phase = np.outer(times, [1.0, 2.0])
    q, qd = np.sin(phase), np.cos(phase) * [1.0, 2.0]
    qd[-1] = 0.0
    return list(zip(times.tolist(), q.tolist(), qd.tolist()))


LONG = long_sines(400)


@lru_cache
def filled_long():
    return fill_efforts(
        Robot.from_urdf(ARM), JOINTS, plan(LONG), settings=FillSettings(max_points=20_000))


def assert_same_points(trajectory, filled):
    """Assert that a message is a filled trajectory, whose engine may round otherwise."""
    assert tuple(trajectory.joint_names) == filled.joint_names
    assert len(trajectory.points) == len(filled.points)
    for point, (waypoint, effort) in zip(trajectory.points, filled.points):
        time = point.time_from_start
        assert 1_000_000_000 * time.sec + time.nanosec == round(1e9 * waypoint.time)
        for field in ('positions', 'velocities', 'accelerations'):
            expected = getattr(waypoint, field)
            assert list(getattr(point, field)) == ([] if expected is None else list(expected))
        near(point.effort, effort)


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@pytest.fixture
def arm(bench):
    """Return an arm that has a robot and no joint states."""
    return with_robot(bench(joints=JOINTS, state_timeout=9.0), ARM)


def with_robot(arm, urdf):
    arm.describe(urdf)
    arm.until(lambda: arm.node.policy is not None)  # it is compiled
    return arm


# ---- through the node ---------------------------------------------------------------------------


def test_every_state_is_answered_while_a_long_trajectory_is_filled(arm, monkeypatch):
    may_fill, ask = Event(), WorkerProcess.ask

    def ask_later(process, *request):
        assert may_fill.wait(PATIENCE)
        return ask(process, *request)

    client = arm.peer.create_client(Fill, 'inverse_dynamics/fill_trajectory_efforts')
    arm.until(client.service_is_ready)
    arm.answer(JOINTS, [0.0, 0.0])
    monkeypatch.setattr(WorkerProcess, 'ask', ask_later)
    future = client.call_async(Fill.Request(trajectory=message(LONG), max_points=20_000))
    for _ in range(50):  # however fast the machine fills
        arm.answer(JOINTS, [0.1, 0.2])  # fails where none comes
    assert not future.done()
    may_fill.set()
    while not future.done():
        arm.answer(JOINTS, [0.1, 0.2])
    reply = future.result()
    assert reply.success, reply.message
    assert_same_points(reply.trajectory, filled_long())


def test_the_reply_is_what_the_filler_says(arm):
    trajectory = message(SWING)
    trajectory.header.frame_id, trajectory.header.stamp.sec = 'base', 7
    reply = fill(arm, trajectory=trajectory, tolerance=0.002, payload_link='tool')
    assert reply.success and reply.message == ''
    filled = fill_efforts(ARM_ROBOT, JOINTS, plan(SWING), settings=FillSettings(0.002))
    assert len(filled.points) > len(SWING)
    assert_same_points(reply.trajectory, filled)
    assert reply.trajectory.header == trajectory.header
    told, expected = reply.report, TorqueCheck(ARM_ROBOT, filled).report('tool')
    assert list(told.name) == JOINTS
    assert list(told.limit) == [100.0, 40.0]
    near(told.peak, [load.peak for load in expected.joints])
    near(told.peak_time, [load.peak_time for load in expected.joints])
    near(told.rms, [load.rms for load in expected.joints])
    assert list(told.tolerance) == [0.2, 0.08]
    near(told.interpolation_error, filled.errors)
    assert list(told.jump_times) == list(filled.jumps) != []
    assert not told.within_limits and told.first_break_quantity == 'velocity'
    near(told.time_scaling, expected.time_scaling)
    assert told.time_scaling_joint == expected.scaling_decided_by.joint
    assert told.time_scaling_time == expected.scaling_decided_by.time
    assert told.payload_link == 'tool'
    near(told.largest_payload, expected.payload.mass)
    assert told.payload_joint == expected.payload.decided_by.joint
    assert told.payload_time == expected.payload.decided_by.time


def test_gravity_and_share_of_the_limits_are_those_in_use(arm):
    assert arm.set_parameter('gravity', [9.81, 0.0, 0.0]).successful
    assert arm.set_parameter('effort_limit_factor', 0.02).successful
    reply = fill(arm)
    tilted = ARM_ROBOT.with_gravity([9.81, 0.0, 0.0])
    filled = fill_efforts(tilted, JOINTS, plan(SWING))
    assert_same_points(reply.trajectory, filled)
    expected = TorqueCheck(tilted, filled, 0.02 * tilted.effort_limits).report()
    assert list(reply.report.limit) == [2.0, 0.8]
    assert not reply.report.within_limits
    first = expected.first_break
    assert reply.report.first_break_joint == first.joint
    assert reply.report.first_break_quantity == first.quantity == 'effort'
    near([reply.report.first_break_time, reply.report.first_break_value,
          reply.report.first_break_limit], [first.time, first.value, first.limit])


def test_the_motion_is_compared_with_its_limits(arm):
    told = fill(arm, limits=MotionLimits(
        name=['elbow'], velocity=[1.5], acceleration=[0.0], jerk=[900.0])).report
    # Cubics from rest to rest: 1.5 times the mean velocity, 6 times the distance by the square.
    assert list(told.motion.name) == JOINTS
    near(told.motion.velocity, [2.4, 2.25])
    assert list(told.motion.velocity_limit) == [2.0, 1.5]
    near(told.motion.acceleration, [9.6, 9.0])
    assert list(told.motion.acceleration_limit) == [np.inf, np.inf]
    assert list(told.motion.jerk) == [np.inf, np.inf]
    assert list(told.motion.jerk_limit) == [np.inf, 900.0]
    near([told.motion.lowest, told.motion.highest], [[-0.4, -1.0], [1.2, 0.5]])
    assert list(told.motion.lower_limit) == [-3.0, -3.0]
    assert list(told.motion.velocity_jump_times) == []
    assert not told.within_limits
    # A cubic that leaves rest begins with an acceleration, so that its jerk has no bound.
    assert (told.first_break_joint, told.first_break_quantity) == ('elbow', 'jerk')
    assert told.first_break_time == 0.0
    assert told.time_scaling == np.inf
    assert (told.time_scaling_joint, told.time_scaling_quantity) == ('elbow', 'jerk')


def test_the_time_scaling_counts_velocities(arm):
    report = fill(arm).report
    assert (report.time_scaling_joint, report.time_scaling_quantity) == ('shoulder', 'velocity')
    near(report.time_scaling, 1.2)  # 2.4 rad/s, and 2 are allowed


def test_points_without_velocities_are_warned_about(arm):
    reply = fill(arm, [(at, positions) for at, positions, _ in SWING])
    assert reply.success
    assert reply.message.startswith(
        'the velocity jumps at 0.000 s, 1.000 s, 2.000 s, which no effort')
    assert list(reply.report.motion.velocity_jump_times) == [0.0, 1.0, 2.0]


def test_a_later_motion_sets_out_from_the_measured_state(arm):
    later = [(1.0, [0.5, 0.2])]
    reply = fill(arm, later)
    assert not reply.success and "position of joint 'shoulder' is not known" in reply.message
    arm.answer(JOINTS, [0.1, 0.2], velocities=[0.3, 0.0])
    reply = fill(arm, later)
    assert reply.success, reply.message
    start = Start({'shoulder': [0.1], 'elbow': [0.2]}, {'shoulder': 0.3, 'elbow': 0.0})
    assert_same_points(
        reply.trajectory, fill_efforts(ARM_ROBOT, JOINTS, plan(later), start))


def test_a_motion_cannot_set_out_from_an_old_state():
    policy = Policy(ARM_ROBOT, Settings(state_timeout=0.1))
    policy.take_joint_state(MeasuredJoints(JOINTS, [0.1, 0.2]), Instant(1.0, RosTime(1)))
    later = Fill.Request(trajectory=message([(1.0, [0.5, 0.2])]))
    for now, success in ((1.05, True), (1.2, False)):
        context = fill_answer.fill_context(policy, now)
        assert fill_answer.answer(later, ARM_ROBOT, context).success == success


def test_a_gripper_that_is_measured_may_move_from_the_start(bench):
    arm = with_robot(bench(joints=JOINTS, state_timeout=9.0), ARM_WITH_GRIPPER)
    names = ['grip', *JOINTS]
    arm.answer(names, [0.01, 0.1, 0.2])
    reply = fill(arm, trajectory=message([(1.0, [0.02, 0.3, 0.4])], names))
    assert reply.success, reply.message
    assert list(reply.trajectory.points[0].positions) == [0.01, 0.1, 0.2]


def test_a_given_start_counts_more_than_the_measured_state(arm):
    arm.answer(JOINTS, [0.1, 0.2], velocities=[0.3, 0.4])
    later = [(1.0, [0.5, 0.2])]
    reply = fill(arm, later, start=JointState(name=['elbow'], position=[-1.0]))
    start = Start({'shoulder': [0.1], 'elbow': [-1.0]}, {'shoulder': 0.3, 'elbow': 0.0})
    assert_same_points(
        reply.trajectory, fill_efforts(ARM_ROBOT, JOINTS, plan(later), start))


def test_a_gripper_keeps_its_efforts(bench):
    arm = with_robot(bench(joints=JOINTS), ARM_WITH_GRIPPER)
    names = ['grip', *JOINTS]
    points = [(0.0, [0.0, 0.1, 0.2]), (1.0, [0.02, 0.3, -0.2])]
    efforts = [[5.0, 0.0, 0.0], [7.0, 0.0, 0.0]]
    reply = fill(arm, trajectory=message(points, names, efforts))
    assert reply.success, reply.message
    assert list(reply.report.name) == JOINTS
    filled = fill_efforts(
        Robot.from_urdf(ARM_WITH_GRIPPER), JOINTS, plan(points, names, efforts))
    assert_same_points(reply.trajectory, filled)
    assert [reply.trajectory.points[i].effort[0] for i in (0, -1)] == [5.0, 7.0]


def test_a_second_request_waits_for_its_turn(arm):
    client = arm.peer.create_client(Fill, 'inverse_dynamics/fill_trajectory_efforts')
    arm.until(client.service_is_ready)
    futures = [client.call_async(Fill.Request(trajectory=message(points)))
               for points in (SWING, SWING[:2])]
    arm.until(lambda: all(future.done() for future in futures))
    for future, points in zip(futures, (SWING, SWING[:2])):
        assert_same_points(
            future.result().trajectory, fill_efforts(ARM_ROBOT, JOINTS, plan(points)))


NOT_FINITE = [(0.0, [0.0, 0.5]), (1.0, [float('nan'), 0.5])]


@pytest.mark.parametrize('fields, said', [
    ({'trajectory': message([])}, 'no points'),
    ({'trajectory': message(SWING, [])}, 'names no joints'),
    ({'trajectory': message(SWING, ['shoulder', 'elbw', 'wrist'])}, '2 positions for 3 joints'),
    ({'trajectory': message([(0.0, [0.0])], ['shouder'])}, "did you mean 'shoulder'"),
    ({'trajectory': message([(0.0, [0.0])])}, '1 positions for 2 joints'),
    ({'trajectory': message(NOT_FINITE)}, 'nan'),
    ({'trajectory': message(SWING, efforts=[[1.0]] * 3)}, '1 efforts for 2 joints'),
    ({'trajectory': message(SWING[::-1])}, 'time'),
    ({'tolerance': -0.1}, 'tolerance is -0.1'),
    ({'tolerance': float('nan')}, 'tolerance is nan'),
    ({'max_points': 1}, 'max_points is 1'),
    ({'max_points': 2}, '2 are allowed'),
    ({'payload_link': 'tol'}, "did you mean 'tool'"),
    ({'start': JointState(name=['elbw'], position=[0.0])}, "did you mean 'elbow'"),
    ({'start': JointState(name=['elbow', 'elbow'], position=[0.0, 0.0])}, 'twice'),
    ({'start': JointState(name=['elbow'])}, '0 values of position for 1 names'),
    ({'start': JointState(name=['elbow'], position=[0.0], velocity=[0.0, 0.0])},
     '2 values of velocity for 1 names'),
    ({'start': JointState(name=['elbow'], position=[float('inf')])}, 'must be finite'),
    ({'limits': MotionLimits(name=['elbo'])}, "limits names 'elbo', which is no moving joint"),
    ({'limits': MotionLimits(name=['elbow'], jerk=[1.0, 2.0])},
     'limits has 2 values of jerk for 1 names'),
    ({'limits': MotionLimits(name=['elbow'], velocity=[-1.0])},
     "limits has -1.0 as the velocity of joint 'elbow'"),
    ({'limits': MotionLimits(name=['elbow'], velocity=[float('nan')])},
     'limits has nan as the velocity'),
])
def test_what_cannot_be_filled_is_answered_with_the_reason(fields, said):
    request = Fill.Request(**{'trajectory': message(SWING), **fields})
    reply = fill_answer.answer(request, ARM_ROBOT, given(Settings()))
    assert not reply.success
    assert said in reply.message
    assert reply.trajectory == JointTrajectory()


def test_a_refusal_of_a_long_name_is_short():
    request = Fill.Request(trajectory=message(SWING), payload_link='tool' * 5000)
    reply = fill_answer.answer(request, ARM_ROBOT, given(Settings()))
    assert 'tooltool' in reply.message and len(reply.message) < 1.1 * LONGEST_TEXT


def test_the_reason_comes_through_the_service(arm):
    reply = fill(arm, payload_link='tol')
    assert not reply.success and "did you mean 'tool'" in reply.message


def test_without_a_robot_the_reply_says_so(bench):
    reply = fill(bench())
    assert not reply.success and 'robot_description' in reply.message


# ---- what counts besides the request ------------------------------------------------------------


def given(settings, robot=ARM_ROBOT):
    return fill_answer.fill_context(Policy(robot, settings), 0.0)


def test_a_payload_in_use_is_in_the_efforts():
    loaded = ARM_ROBOT.with_payload('crate', 'tool', Inertial(2.0, Pose((0.0, 0.0, 0.1))))
    reply = fill_answer.answer(
        Fill.Request(trajectory=message(SWING)), loaded, given(Settings(), loaded))
    assert_same_points(reply.trajectory, fill_efforts(loaded, JOINTS, plan(SWING)))


def test_what_the_arm_adds_by_itself_is_left_out():
    context = given(Settings(arm=Arm.UR))
    assert context.terms is Terms.NO_GRAVITY
    reply = fill_answer.answer(Fill.Request(trajectory=message(SWING)), ARM_ROBOT, context)
    filled = fill_efforts(
        ARM_ROBOT, JOINTS, plan(SWING), settings=FillSettings(terms=Terms.NO_GRAVITY))
    assert_same_points(reply.trajectory, filled)


def test_a_tilted_arm_gets_the_gravity_it_lacks():
    tilted, upright = (9.81, 0.0, 0.0), (0.0, 0.0, -9.81)
    robot = ARM_ROBOT.with_gravity(tilted)
    settings = Settings(arm=Arm.UR, gravity=tilted, arm_gravity=upright)
    reply = fill_answer.answer(
        Fill.Request(trajectory=message(SWING)), robot, given(settings, robot))
    assert_same_points(reply.trajectory, fill_efforts(
        robot, JOINTS, plan(SWING),
        settings=FillSettings(terms=Terms.NO_GRAVITY, arm_gravity=upright)))


def test_joints_stand_where_they_are_measured_or_else_assumed():
    settings = Settings(joints=('shoulder',), assumed_positions={'elbow': (0.7,), 'grip': (0.0,)})
    policy = Policy(Robot.from_urdf(ARM_WITH_GRIPPER), settings)
    context = fill_answer.fill_context(policy, 0.0)
    assert (context.positions, context.velocities) == ({'elbow': (0.7,), 'grip': (0.0,)}, {})
    policy.take_joint_state(
        MeasuredJoints(['elbow', 'shoulder'], [-0.3, 0.1], [0.0, 0.2]), Instant(1.0, RosTime(1)))
    context = fill_answer.fill_context(policy, 1.0)
    assert context.positions == {'shoulder': (0.1,), 'elbow': (-0.3,), 'grip': (0.0,)}
    assert context.velocities == {'shoulder': 0.2, 'elbow': 0.0}
    assert fill_answer.fill_context(policy, 2.0).velocities == {}


# ---- joints that a trajectory omits -------------------------------------------------------------

ELBOW = [(0.0, [0.5], [0.0]), (1.0, [-0.4], [0.0])]
LATER = [(1.0, [0.5, 0.2])]


JTC_OF_POSITION = ControllerRules()


def beside(rules=JTC_OF_POSITION, reference=(), controller_joints=(), now=1.0, **settings):
    """Return the context beside a controller, with a measurement that is 0.05 s old at 1 s."""
    policy = Policy(ARM_ROBOT, Settings(state_timeout=0.1, rules=rules, **settings))
    received = Instant(0.95, RosTime(1))
    policy.take_joint_state(MeasuredJoints(JOINTS, [0.11, 0.21]), received)
    if reference:
        policy.take_controller_state(ControllerReference(JOINTS, *reference), received)
    return fill_answer.fill_context(policy, now, controller_joints)


def filled_elbow(context, **fields):
    return fill_answer.answer(
        Fill.Request(trajectory=message(ELBOW, ['elbow']), **fields), ARM_ROBOT, context)


AT_REST = ([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])


def test_an_omitted_joint_is_held_at_the_reference():
    reply = filled_elbow(beside(reference=AT_REST))
    assert reply.success, reply.message
    assert 'shoulder at rest at 0.1000' in reply.message and 'elbow' not in reply.message
    names = ['elbow', 'shoulder']
    expected = fill_efforts(ARM_ROBOT, JOINTS, plan(
        [(time, [*q, 0.1], [*qd, 0.0]) for time, q, qd in ELBOW], names))
    assert_same_points(reply.trajectory, expected)
    last = reply.trajectory.points[-1]
    near(last.effort, ARM_ROBOT.gravity([0.1, -0.4])[::-1])
    assert abs(last.effort[1]) > 1.0


def test_without_a_reference_it_is_held_where_it_is_measured():
    effort_only = ControllerRules(omitted_joints_stay_where_commanded=False)
    reply = filled_elbow(beside(effort_only, controller_joints=JOINTS))
    assert reply.success, reply.message
    assert [point.positions[1] for point in reply.trajectory.points] == pytest.approx(
        [0.11] * len(reply.trajectory.points))


@pytest.mark.parametrize('context, said', [
    ({'controller_joints': JOINTS}, 'would be a step'),
    ({}, 'trajectory_controller'),
    ({'reference': ([0.1, 0.2], [0.3, 0.0], [0.0, 0.0])}, "'shoulder', which the controller is"),
    ({'reference': AT_REST, 'now': 2.0}, 'stale'),
    ({'rules': ControllerRules(omitted_joints_stay_where_commanded=False), 'now': 2.0,
      'controller_joints': JOINTS}, 'stale'),
])
def test_without_a_position_to_hold_the_request_is_refused(context, said):
    reply = filled_elbow(beside(**context))
    assert not reply.success
    assert said in reply.message and 'shoulder' in reply.message


@pytest.mark.parametrize('context', [
    {'controller_joints': ['elbow']},
    {'rules': ControllerRules(allow_partial_joints_goal=False)},
    {'joints': ('elbow',)},
])
def test_only_joints_that_the_controller_accepts_are_added(context):
    context = beside(**context)
    reply = filled_elbow(context, start=JointState(name=['shoulder'], position=[0.3]))
    assert reply.success and reply.message == ''
    assert list(reply.trajectory.joint_names) == ['elbow']


def test_a_start_from_the_reference_gets_a_first_point_there():
    from_reference = ControllerRules(interpolate_from_desired_state=True)
    request = Fill.Request(trajectory=message(LATER))
    for rules, first in ((from_reference, [0.1, 0.2]), (ControllerRules(), [0.11, 0.21])):
        context = beside(rules, reference=AT_REST)
        points = fill_answer.answer(request, ARM_ROBOT, context).trajectory.points
        assert list(points[0].positions) == pytest.approx(first)


def test_a_refusal_calls_an_old_state_stale_and_not_unknown():
    request = Fill.Request(trajectory=message(LATER))
    reply = fill_answer.answer(request, ARM_ROBOT, beside(now=2.0))
    assert not reply.success
    assert "'shoulder', 'elbow' is stale" in reply.message and '0.1 s' in reply.message
    assert fill_answer.answer(
        Fill.Request(trajectory=message(SWING)), ARM_ROBOT, beside(now=2.0)).success


def test_a_request_waits_for_a_state_that_is_late(bench, monkeypatch):
    monkeypatch.setattr(fill_service, 'LONGEST_WAIT', PATIENCE)
    arm = with_robot(bench(joints=JOINTS, state_timeout=0.05), ARM)
    arm.answer(JOINTS, [0.1, 0.2])
    arm.settle(0.1)
    client = arm.peer.create_client(Fill, 'inverse_dynamics/fill_trajectory_efforts')
    arm.until(client.service_is_ready)
    future = client.call_async(Fill.Request(trajectory=message(LATER)))
    arm.until(lambda: future.done() or arm.answer(JOINTS, [0.1, 0.2]) is None)
    assert future.result().success, future.result().message


@pytest.fixture
def measured():
    """Return a policy that has received a state at 1 s, which is old after 0.1 s."""
    policy = Policy(ARM_ROBOT, Settings(state_timeout=0.1))
    policy.take_joint_state(MeasuredJoints(JOINTS, [0.1, 0.2]), Instant(1.0, RosTime(1)))
    return policy


@pytest.fixture
def fill_later(measured):
    """Return a function that fills a motion which begins later, at times that a function tells."""
    node = Node('filling')

    def fill_later(now):
        service = fill_service.FillService(
            ServiceOwner(node, lambda: measured, now, WorkerProcess(pytest.fail))).services
        return service['fill_trajectory_efforts'].answer(
            measured, Fill.Request(trajectory=message(LATER)))

    yield fill_later
    node.destroy_node()


def answer_of_process(question):
    """Return what the process would answer."""
    return {'response': fill_answer.answer_bytes(
        question['request'], ARM_ROBOT, question['context'])}


@pytest.mark.parametrize('comes', [True, False])
def test_the_wait_begins_with_the_refusal_of_the_process(measured, fill_later, monkeypatch, comes):
    now, asked = [1.2], []

    def ask(self, question):
        asked.append(now[0])
        now[0] += 3.0  # as long as a busy machine may take to start the process
        return answer_of_process(question)

    def sleep(seconds):
        now[0] += seconds
        if comes:
            measured.take_joint_state(
                MeasuredJoints(JOINTS, [0.1, 0.2]), Instant(now[0], RosTime(2)))

    monkeypatch.setattr(WorkerProcess, 'ask', ask)
    monkeypatch.setattr(fill_service, 'monotonic', lambda: now[0])
    monkeypatch.setattr(fill_service, 'sleep', sleep)
    response = fill_later(lambda: now[0])
    assert response.success == comes
    assert len(asked) == 1 + comes
    if not comes:
        assert now[0] == pytest.approx(1.2 + 3.0 + fill_service.LONGEST_WAIT, abs=0.03)
        assert 'stale' in response.message


def test_a_request_that_stays_refused_ends_without_another_wait(
        fill_later, monkeypatch):
    """Then no state is waited for any more, since nothing would be done with it."""
    happened = []
    # Each state is old whenever it is read, and fresh when it is waited for.
    times = cycle([*[('read', 1.2)] * fill_service.ATTEMPTS, ('waited', 1.0)])

    def ask(self, question):
        happened.append('refused')
        return answer_of_process(question)

    def now():
        what, time = next(times)
        happened.extend(['waited'] if what == 'waited' else [])
        return time

    monkeypatch.setattr(WorkerProcess, 'ask', ask)
    response = fill_later(now)
    assert not response.success and 'stale' in response.message
    assert happened == ['refused', *['waited', 'refused'] * (fill_service.MAX_REFUSALS - 1)]


def test_a_message_during_the_reading_makes_no_state_stale(
        measured, fill_later, monkeypatch):
    times, contexts = iter([1.05, 1.25]), []

    def receive_meanwhile(*arguments):
        if measured.states.age(9.0) == 8.0:  # of the state at 1 s, until now the newest
            measured.take_joint_state(
                MeasuredJoints(JOINTS, [0.1, 0.2]), Instant(1.2, RosTime(2)))
        return fill_answer.fill_context(*arguments)

    def ask(self, question):
        contexts.append(question['context'])
        return answer_of_process(question)

    monkeypatch.setattr(fill_service, 'fill_context', receive_meanwhile)
    monkeypatch.setattr(WorkerProcess, 'ask', ask)
    assert fill_later(lambda: next(times)).success
    context, = contexts
    assert context.velocities and not context.stale


# ---- the process --------------------------------------------------------------------------------


def test_a_worker_process_fills_without_the_node():
    process = WorkerProcess(pytest.fail)
    request = serialize_message(Fill.Request(trajectory=message(SWING)))
    answer = process.ask(fill_service.fill_request(
        request, AdjustableRobot.of(ARM_ROBOT).snapshot(), given(Settings())))
    process.close()
    response = deserialize_message(answer['response'], Fill.Response)
    assert_same_points(response.trajectory, fill_efforts(ARM_ROBOT, JOINTS, plan(SWING)))


def test_closing_does_not_wait_for_a_long_trajectory():
    node = Node('filling')
    services = Services(node, lambda: Policy(ARM_ROBOT, Settings()))
    client = node.create_client(Fill, '~/fill_trajectory_efforts')
    assert client.wait_for_service(PATIENCE)
    assert services.process.pid is None  # the first request starts it
    future = client.call_async(Fill.Request(trajectory=message(LONG), max_points=20_000))
    until(lambda: services.process.pid)
    os.kill(services.process.pid, signal.SIGSTOP)  # as if it took for ever
    services.close()
    assert not {'efforts', 'process'} & {thread.name for thread in threads()}
    rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE)
    assert 'the node is ending' in future.result().message
    node.destroy_node()
