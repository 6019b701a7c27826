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
"""The services that answer with the mass matrix, a Jacobian and accelerations, over real DDS."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from threading import Event

from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.control.policy import Policy
from ros2_rnea.errors import ArgumentError, UnsafeChangeError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node.models.model_building import Payload
from ros2_rnea.node.services import compute_services
from ros2_rnea.node.services.background_services import ServiceOwner
from ros2_rnea.node.worker.worker_process import WorkerProcess
from small_robots import ARM, ARM_WITH_GRIPPER, FREE_FLYER

pytestmark = pytest.mark.ros

interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
model_services = pytest.importorskip('ros2_rnea.node.services.model_services')

JOINTS = ['elbow', 'shoulder']  # not the order of the description
Q, QD = [0.3, -0.8], [0.5, 1.5]
NAMED = {'names': ['shoulder', 'elbow'], 'positions': Q}
ROBOT = Robot.from_urdf(ARM)
SNAPSHOT = AdjustableRobot.of(ROBOT).snapshot()
BOX = Inertial(1.5, Pose((0.1, 0.0, 0.2)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01))


@pytest.fixture
def arm(bench):
    """Return an arm that has a robot and no joint states."""
    return with_robot(bench(joints=JOINTS, state_timeout=9.0), ARM)


def with_robot(arm, urdf):
    arm.describe(urdf)
    arm.until(lambda: arm.node.policy is not None)
    return arm


def mass_matrix(arm, **fields):
    return arm.call(interfaces.ComputeMassMatrix, 'compute_mass_matrix', **fields)


def jacobian(arm, **fields):
    return arm.call(interfaces.ComputeJacobian, 'compute_jacobian', **fields)


def forward_dynamics(arm, **fields):
    return arm.call(interfaces.ComputeForwardDynamics, 'compute_forward_dynamics', **fields)


def array(matrix):
    """Return the numbers of a NamedMatrix by rows."""
    return np.reshape(matrix.data, (len(matrix.row_names), len(matrix.column_names)))


def same(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


def push(link='tool', x=4.0):
    wrench = WrenchStamped()
    wrench.header.frame_id = link
    wrench.wrench.force.x = x
    return wrench


def attach_box(arm):
    arm.changes.set_payload(Payload('box', 'tool', BOX))
    arm.until(arm.is_settled)
    return ROBOT.with_payload('box', 'tool', BOX)


# ---- changes that are judged --------------------------------------------------------------------


@pytest.fixture
def answer(arm):
    """Return a function that answers a request where it is called, as the thread would do."""
    process = WorkerProcess(pytest.fail)
    services = model_services.ModelServices(ServiceOwner(
        arm.node, lambda: arm.node.policy, lambda: 0.0, process)).services  # no state is old
    yield lambda name, **fields: services[name].answer(
        arm.node.policy, services[name].definition.Request(**fields))
    process.close()


@pytest.mark.parametrize('mass, is_used', [(500.0, False), (1.5, True)])
def test_a_payload_counts_only_once_it_is_in_use(arm, answer, monkeypatch, mass, is_used):
    for name, value in (('payload_links', ['tool']), ('effort_limits.shoulder', 60.0),
                        ('effort_limits.elbow', 60.0)):
        assert arm.set_parameter(name, value).successful
    arm.answer(['shoulder', 'elbow'], Q)
    meanwhile = []
    judged = Policy.check_held

    def observed(policy, *arguments, **named):
        assert policy.stages.judgement.twin.payloads and not policy.robot.payloads
        meanwhile.append(answer('compute_mass_matrix', **NAMED).mass_matrix)
        judged(policy, *arguments, **named)

    monkeypatch.setattr(Policy, 'check_held', observed)
    box = replace(BOX, mass=mass)
    if is_used:
        arm.changes.set_payload(Payload('box', 'tool', box))
    else:
        with pytest.raises(UnsafeChangeError):
            arm.changes.set_payload(Payload('box', 'tool', box))
    (seen,) = meanwhile
    without = ROBOT.mass_matrix(Q)[::-1, ::-1]
    same(array(seen), without)
    after = ROBOT.with_payload('box', 'tool', box) if is_used else ROBOT
    same(array(mass_matrix(arm, **NAMED).mass_matrix), after.mass_matrix(Q)[::-1, ::-1])


def test_forward_dynamics_is_computed_for_one_robot(arm, answer, monkeypatch):
    policy, ask, asked = arm.node.policy, WorkerProcess.ask, []

    def meanwhile_loaded(process, question):
        asked.append(question['method'])
        result = ask(process, question)
        policy.robot.set_gravity([0.0, 0.0, -1.62])  # another one is in use from here on
        policy.take_snapshot()
        return result

    arm.answer(['shoulder', 'elbow'], Q, QD)
    monkeypatch.setattr(WorkerProcess, 'ask', meanwhile_loaded)
    reply = answer('compute_forward_dynamics', names=['shoulder'], positions=[0.3])
    assert asked == ['forward_dynamics_with_locked_joints', 'inverse_dynamics']
    still = ROBOT.forward_dynamics_with_locked_joints(Q, [0.0, 0.0], [0.0, 0.0], ['elbow'])
    same(reply.state.effort, [ROBOT.inverse_dynamics(Q, [0.0, 0.0], still)[1], 0.0])


# ---- the mass matrix ----------------------------------------------------------------------------


def test_the_mass_matrix_has_rows_and_columns_by_name(arm):
    reply = mass_matrix(arm, **NAMED)
    assert reply.success and reply.message == ''
    assert list(reply.state.name) == JOINTS
    assert list(reply.state.position) == [-0.8, 0.3]
    named = reply.mass_matrix
    assert list(named.row_names) == list(named.column_names) == JOINTS
    same(array(named), ROBOT.mass_matrix(Q)[::-1, ::-1])


def test_the_mass_matrix_is_that_of_pinocchio(arm):
    oracle = pytest.importorskip('pinocchio_oracle').PinocchioOracle(ARM)
    reply = mass_matrix(arm, **NAMED)
    same(array(reply.mass_matrix), oracle.mass_matrix(np.array(Q))[::-1, ::-1])


def test_without_names_it_is_that_of_the_measured_state(arm):
    arm.answer(['shoulder', 'elbow'], Q)
    reply = mass_matrix(arm)
    assert list(reply.state.position) == [-0.8, 0.3]
    same(array(reply.mass_matrix), ROBOT.mass_matrix(Q)[::-1, ::-1])


def test_payloads_are_part_of_it(arm):
    loaded = attach_box(arm)
    expected = loaded.mass_matrix(Q)[::-1, ::-1]
    assert np.abs(expected - ROBOT.mass_matrix(Q)[::-1, ::-1]).min() > 1e-3
    same(array(mass_matrix(arm, **NAMED).mass_matrix), expected)


def test_joints_of_several_degrees_of_freedom_have_no_row(bench):
    flight = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    drone = with_robot(bench(joints=['camera'], assumed_positions__flight=flight), FREE_FLYER)
    reply = mass_matrix(drone, names=['camera'], positions=[0.7])
    assert list(reply.mass_matrix.row_names) == ['camera']
    whole = Robot.from_urdf(FREE_FLYER).mass_matrix([*flight, 0.7])
    same(array(reply.mass_matrix), whole[6:, 6:])


# ---- the Jacobian -------------------------------------------------------------------------------


def test_the_jacobian_has_the_axes_of_the_root_link(arm):
    reply = jacobian(arm, link='tool', **NAMED)
    assert reply.success, reply.message
    assert (reply.link, reply.frame_id) == ('tool', 'base')
    named = reply.jacobian
    assert list(named.row_names) == [
        'linear.x', 'linear.y', 'linear.z', 'angular.x', 'angular.y', 'angular.z']
    assert list(named.column_names) == list(reply.state.name) == JOINTS
    pose, own = ROBOT.link_poses(Q)['tool'], ROBOT.jacobian(Q, 'tool')
    expected = np.vstack([pose.rotation @ own[3:], pose.rotation @ own[:3]])
    same(array(named), expected[:, ::-1])


def test_the_jacobian_is_that_of_pinocchio(arm):
    pinocchio = pytest.importorskip('pinocchio')
    model = pinocchio.buildModelFromXML(ARM)
    data = model.createData()
    for frame, reference in (('', pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED),
                             ('tool', pinocchio.ReferenceFrame.LOCAL)):
        expected = pinocchio.computeFrameJacobian(
            model, data, np.array(Q), model.getFrameId('tool'), reference)
        reply = jacobian(arm, link='tool', frame_id=frame, **NAMED)
        same(array(reply.jacobian), expected[:, ::-1])


def test_its_transpose_gives_the_efforts_of_a_wrench(arm):
    rows = array(jacobian(arm, link='tool', frame_id='tool', **NAMED).jacobian)
    still = ROBOT.inverse_dynamics(Q, [0.0, 0.0], [0.0, 0.0])
    pushed = ROBOT.inverse_dynamics(
        Q, [0.0, 0.0], [0.0, 0.0], {'tool': [0.1, 0.2, 0.3, 4.0, 5.0, 6.0]})
    same(rows.T @ [4.0, 5.0, 6.0, 0.1, 0.2, 0.3], (still - pushed)[::-1])


# ---- forward dynamics ---------------------------------------------------------------------------


def test_forward_dynamics_of_named_joints(arm):
    reply = forward_dynamics(arm, velocities=QD, efforts=[3.0, -2.0], **NAMED)
    assert reply.success, reply.message
    state = reply.state
    assert list(state.name) == JOINTS and list(reply.held) == []
    assert [list(values) for values in (state.position, state.velocity, state.effort)] == [
        Q[::-1], QD[::-1], [-2.0, 3.0]]
    same(reply.accelerations, ROBOT.forward_dynamics(Q, QD, [3.0, -2.0])[::-1])


def test_forward_dynamics_is_that_of_pinocchio(arm):
    oracle = pytest.importorskip('pinocchio_oracle').PinocchioOracle(ARM)
    gravity = [1.0, 2.0, -9.0]
    reply = forward_dynamics(arm, velocities=QD, efforts=[3.0, -2.0], gravity=gravity, **NAMED)
    expected = oracle.forward_dynamics(*map(np.array, (Q, QD, [3.0, -2.0])), gravity)
    same(reply.accelerations, expected[::-1])


def test_answers_count_friction_payload_gravity_and_wrenches_of_the_node(bench):
    arm = with_robot(bench(joints=JOINTS, gravity=[0.0, 5.0, -8.0], friction_from='none',
                           damping__elbow=0.7), ARM)
    attach_box(arm)
    reply = forward_dynamics(
        arm, velocities=QD, efforts=[3.0, -2.0], wrenches=[push(), push()], **NAMED)
    smooth = Robot.from_urdf(ARM.replace('<dynamics damping="0.5"/>', '')).with_payload(
        'box', 'tool', BOX).with_gravity([0.0, 5.0, -8.0])
    tau = [3.0, -2.0 - 0.7 * QD[1]]
    expected = smooth.forward_dynamics(Q, QD, tau, {'tool': [0.0, 0.0, 0.0, 8.0, 0.0, 0.0]})
    same(reply.accelerations, expected[::-1])


def test_joints_that_are_not_named_are_held_by_told_efforts(arm):
    arm.answer(['shoulder', 'elbow'], Q, QD)
    reply = forward_dynamics(
        arm, names=['shoulder'], positions=[0.3], velocities=[0.5], efforts=[3.0])
    assert list(reply.held) == ['elbow']
    assert list(reply.state.velocity) == [0.0, 0.5]
    expected = ROBOT.forward_dynamics_with_locked_joints(Q, [0.5, 0.0], [3.0, 0.0], ['elbow'])
    same(reply.accelerations, [0.0, expected[0]])
    holding = ROBOT.inverse_dynamics(Q, [0.5, 0.0], expected)
    same(reply.state.effort, [holding[1], 3.0])


def test_without_names_all_joints_of_the_measured_state_are_free(arm):
    arm.answer(['shoulder', 'elbow'], Q, QD)
    reply = forward_dynamics(arm)
    assert list(reply.held) == []
    same(reply.accelerations, ROBOT.forward_dynamics(Q, QD, [0.0, 0.0])[::-1])


def test_an_unnamed_gripper_is_held_where_it_is_assumed(bench):
    arm = with_robot(bench(joints=JOINTS, assumed_positions__grip=0.1), ARM_WITH_GRIPPER)
    reply = forward_dynamics(arm, **NAMED)
    assert (list(reply.held), list(reply.state.name)) == (['grip'], [*JOINTS, 'grip'])
    robot = Robot.from_urdf(ARM_WITH_GRIPPER)
    q, zero = [*Q, 0.1], [0.0] * 3
    expected = robot.forward_dynamics_with_locked_joints(q, zero, zero, ['grip'])
    same(reply.accelerations, [expected[1], expected[0], 0.0])


def test_a_joint_of_several_degrees_of_freedom_is_always_held(bench):
    flight = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    drone = with_robot(
        bench(joints=['camera'], state_timeout=9.0, assumed_positions__flight=flight), FREE_FLYER)
    drone.answer(['camera'], [0.7], [0.4])
    robot = Robot.from_urdf(FREE_FLYER)
    expected = robot.forward_dynamics_with_locked_joints(
        [*flight, 0.7], [0.0] * 6 + [0.4], [0.0] * 7, ['flight'])
    for fields in ({}, {'names': ['camera'], 'positions': [0.7], 'velocities': [0.4]}):
        reply = forward_dynamics(drone, **fields)
        assert list(reply.held) == ['flight']
        same(reply.accelerations, expected[6:])


# ---- what cannot be answered --------------------------------------------------------------------


@pytest.mark.parametrize('call, fields, said', [
    (mass_matrix, {}, 'no fresh one of elbow, shoulder'),
    (mass_matrix, {'names': ['shoulder', 'elbw'], 'positions': Q}, "did you mean 'elbow'"),
    (mass_matrix, {'names': ['shoulder'], 'positions': [0.0]}, "joint 'elbow' is not given"),
    (mass_matrix, {'names': JOINTS, 'positions': [0.0] * 3}, '3 positions are given for 2 names'),
    (mass_matrix, {'names': JOINTS * 9, 'positions': [0.0] * 18}, "names 'elbow' twice"),
    (mass_matrix, {'names': JOINTS, 'positions': [0.0, float('nan')]},
     "nan for joint 'shoulder'"),
    (jacobian, NAMED, "has no link ''"),
    (jacobian, {**NAMED, 'link': 'tol'}, "no link 'tol'; did you mean 'tool'"),
    (jacobian, {**NAMED, 'link': 'tool', 'frame_id': 'world'}, "no link 'world'"),
    (forward_dynamics, {**NAMED, 'efforts': [1.0]}, '1 efforts are given for 2 names'),
    (forward_dynamics, {**NAMED, 'efforts': [1.0, float('inf')]}, "inf for joint 'elbow'"),
    (forward_dynamics, {**NAMED, 'velocities': [1.0]}, '1 velocities are given for 2 names'),
    (forward_dynamics, {**NAMED, 'gravity': [9.81]}, 'gravity is'),
    (forward_dynamics, {**NAMED, 'wrenches': [push('nowhere')]}, "no link 'nowhere'"),
    (forward_dynamics, {**NAMED, 'wrenches': [push()] * 1001}, 'at most 1000 are accepted'),
    (forward_dynamics, {**NAMED, 'wrenches': [push(x=float('nan'))]},
     "the acceleration of joint 'elbow' is not finite"),
])
def test_a_bad_request_is_answered_with_the_reason(arm, call, fields, said):
    reply = call(arm, **fields)
    assert not reply.success
    assert said in reply.message


def test_without_a_robot_the_reply_says_so(bench):
    reply = mass_matrix(bench())
    assert not reply.success and 'robot_description' in reply.message


# ---- beside the cycle ---------------------------------------------------------------------------


def test_every_state_is_answered_while_a_request_is_computed(arm, monkeypatch):
    started, released = Event(), Event()

    def wait(*_):
        started.set()
        released.wait()
        raise ArgumentError('released')

    monkeypatch.setattr(WorkerProcess, 'ask', wait)
    client = arm.peer.create_client(interfaces.ComputeMassMatrix,
                                    'inverse_dynamics/compute_mass_matrix')
    arm.until(client.service_is_ready)
    future = client.call_async(interfaces.ComputeMassMatrix.Request(**NAMED))
    arm.until(started.is_set)
    for _ in range(3):
        arm.answer(JOINTS, [0.1, 0.2])  # fails where none comes
    assert not future.done()
    released.set()
    arm.until(future.done)
    assert future.result().message == 'released'


def test_the_process_compiles_nothing_and_calls_only_what_is_listed(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    monkeypatch.delenv('ROS2_RNEA_ENGINE', raising=False)
    process = WorkerProcess(pytest.fail)
    answer = process.ask(model_services.query_request(SNAPSHOT, 'mass_matrix', q=Q))
    same(answer['result'], ROBOT.mass_matrix(Q))
    with pytest.raises(ArgumentError, match="the method is 'compile'"):
        process.ask(model_services.query_request(SNAPSHOT, 'compile'))
    process.close()
    assert [*tmp_path.iterdir()] == []


def test_with_older_interfaces_the_other_services_work(bench, monkeypatch, capfd):
    monkeypatch.setattr(compute_services, 'HAS_MATRICES', False)
    arm = with_robot(bench(joints=JOINTS), ARM)
    assert arm.call(interfaces.ComputeGravity, 'compute_gravity', **NAMED).success
    assert 'ros2_rnea_interfaces is too old' in capfd.readouterr().err


def test_with_older_interfaces_the_node_goes_on_and_says_so(bench, monkeypatch, capfd):
    monkeypatch.delattr(interfaces.FillTrajectoryEfforts.Request, 'limits')
    specification = spec_from_file_location('beside_older_interfaces', compute_services.__file__)
    loaded = module_from_spec(specification)
    specification.loader.exec_module(loaded)
    assert not loaded.ARE_DEFINED
    monkeypatch.setattr(compute_services, 'ARE_DEFINED', loaded.ARE_DEFINED)
    with_robot(bench(joints=JOINTS), ARM)
    assert 'ros2_rnea_interfaces is not installed or is too old' in capfd.readouterr().err
