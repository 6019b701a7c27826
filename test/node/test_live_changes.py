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
"""Payloads, gravity and wrenches that change while the arm works."""

from math import hypot, inf, nan

from geometry_msgs.msg import Inertia, Vector3, Vector3Stamped
from idle_worker import answers_held
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node import monitor
from ros2_rnea.node.models import model_builder
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess
from sensor_msgs.msg import Imu
from small_robots import ARM
from std_msgs.msg import Header
from std_srvs.srv import SetBool, Trigger

interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]
BARE = Robot.from_urdf(ARM)
DOWN = [0.0, 0.0, -9.81]


@pytest.fixture
def arm(bench):
    """Return an arm that sends its efforts."""
    arm = bench(joints=JOINTS, state_timeout=9.0, wrench_timeout=60.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    return arm


def inertia(mass=1.0, com=(0.1, 0.0, 0.2), moments=(0.01, 0.01, 0.01)):
    ixx, iyy, izz = moments
    x, y, z = com
    return Inertia(m=mass, com=Vector3(x=x, y=y, z=z), ixx=ixx, iyy=iyy, izz=izz)


def ask_to_carry(arm, name='box', link='tool', transition_time=0.0, **what):
    return arm.call(
        interfaces.SetPayload, 'set_payload', name=name, link=link, inertia=inertia(**what),
        transition_time=transition_time)


def carry(arm, *arguments, **named):
    reply = ask_to_carry(arm, *arguments, **named)
    arm.until(arm.is_settled)
    return reply


def drop(arm, name='box', **more):
    reply = arm.call(interfaces.SetPayload, 'set_payload', name=name, remove=True, **more)
    arm.until(arm.is_settled)
    return reply


def carrying(*masses, robot=BARE, link='tool', at=Q):
    """Return the gravity of the arm with payloads of these masses."""
    for i, mass in enumerate(masses):
        body = Inertial(mass, Pose((0.1, 0.0, 0.2)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01))
        robot = robot.with_payload(str(i), link, body)
    return robot.gravity(at)


def until_shown(arm, expected):
    """Wait until the diagnostics show payloads."""
    arm.until(lambda: expected in [
        {value.key: value.value for value in status.values if 'payload' in value.key}
        for status in arm.diagnostics])


def turn(arm, vector, frame='', **more):
    x, y, z = vector
    gravity = Vector3Stamped(header=Header(frame_id=frame), vector=Vector3(x=x, y=y, z=z))
    return arm.call(interfaces.SetGravity, 'set_gravity', gravity=gravity, **more)


def sends(arm, expected):
    """Return whether the next state is answered with an effort."""
    return np.allclose(arm.answer(JOINTS, Q), expected, rtol=1e-9, atol=1e-12)


# ---- payloads -----------------------------------------------------------------------------------


def test_payloads_are_carried_replaced_and_removed_by_name(arm):
    reply = carry(arm, mass=1.0)
    assert reply.success and reply.message == 'will be used once it is compiled'
    assert sends(arm, carrying(1.0))
    until_shown(arm, {'payload box': '1 kg on tool'})
    reply = carry(arm, name='second', mass=0.5)
    assert reply.success and reply.message == 'in use'
    assert sends(arm, carrying(1.0, 0.5))
    assert carry(arm, mass=2.0).success
    assert sends(arm, carrying(2.0, 0.5))
    until_shown(arm, {'payload box': '2 kg on tool', 'payload second': '0.5 kg on tool'})
    assert drop(arm).success
    assert sends(arm, carrying(0.5))
    assert drop(arm, name='second').success
    assert sends(arm, carrying())


@pytest.mark.parametrize('fields, said', [
    ({'moments': (0.01, 0.01, 0.5)}, 'its inertia is physically impossible'),
    ({'moments': (0.01, -0.01, 0.01)}, 'not positive'),
    ({'moments': (inf, 0.01, 0.01)}, 'inertia'),
    ({'mass': 0.0}, 'no mass'),
    ({'mass': -1.0}, 'mass'),
    ({'mass': nan}, 'mass'),
    ({'com': (nan, 0.0, 0.0)}, 'payload box'),
    ({'link': 'tol'}, "did you mean 'tool'"),
    ({'link': 'base'}, 'no joint moves'),
    ({'name': ''}, 'name is empty'),
    ({'transition_time': -1.0}, 'transition_time is -1;'),
    ({'transition_time': nan}, 'transition_time is nan'),
    ({'transition_time': 60.1}, 'transition_time is 60.1; it must be between 0'),
])
def test_a_payload_that_cannot_be_is_refused_and_nothing_changes(arm, fields, said):
    assert carry(arm, name='first', mass=1.0).success
    reply = carry(arm, **fields)
    assert not reply.success
    assert said in reply.message
    assert sends(arm, carrying(1.0))


def test_a_payload_that_is_suspicious_is_taken_with_a_word(arm):
    assert arm.call(SetBool, 'enable', data=False).success
    arm.until(lambda: not arm.sends(JOINTS, Q))
    reply = carry(arm, mass=1500.0)
    assert reply.success
    assert '; ' in reply.message and 'grams' in reply.message


def test_a_payload_beyond_the_effort_limit_is_refused_at_once(arm):
    """Otherwise it would be removed after the answer, with the model that is built for it."""
    of_a_kilogram = carrying(1.0) - carrying()
    most = min((np.array([100.0, 40.0]) - carrying(3.0)) / of_a_kilogram)  # besides another one
    with answers_held():
        assert ask_to_carry(arm, name='other', mass=3.0).success
        reply = ask_to_carry(arm, mass=1.001 * most)
        assert not reply.success
        assert 'elbow needs 40.' in reply.message
        assert ask_to_carry(arm, mass=0.999 * most).success
        assert sends(arm, carrying())
    arm.until(arm.is_settled)
    assert sends(arm, carrying(0.999 * most, 3.0))


@pytest.mark.parametrize('gives_up', [False, True])
def test_a_payload_waits_where_it_cannot_be_held_any_more(arm, gives_up):
    upright, mass = [0.0, 0.0], 25.0
    arm.answer(JOINTS, upright)
    with answers_held():
        assert ask_to_carry(arm, mass=mass).success
        arm.answer(JOINTS, [1.0, 0.0])
    arm.until(lambda: 'not used yet' in arm.told('model'))
    assert 'elbow needs' in arm.told('model')
    assert "The payload 'box' waits for it" in arm.told('model')
    assert np.allclose(arm.answer(JOINTS, [1.0, 0.0]), BARE.gravity([1.0, 0.0]))
    assert arm.set_parameter('damping.elbow', 0.5).successful
    if gives_up:
        assert drop(arm).success
    else:
        arm.answer(JOINTS, upright)
    arm.until(lambda: arm.is_settled() and not arm.told('model'))
    masses = [] if gives_up else [mass]
    assert np.allclose(arm.answer(JOINTS, upright), carrying(*masses, at=upright))


def test_a_payload_outlives_the_worker_that_builds_its_model(arm, monkeypatch, capfd):
    ask, asked = WorkerProcess.ask, []

    def fail_once(process, *request):
        asked.append(request)
        if len(asked) == 1:
            raise WorkerError('the worker process was ended by SIGKILL')
        return ask(process, *request)

    monkeypatch.setattr(model_builder, 'FIRST_REBUILD_PERIOD', 0.01)
    monkeypatch.setattr(WorkerProcess, 'ask', fail_once)
    assert carry(arm, mass=1.0).message == 'will be used once it is compiled'
    arm.until(lambda: sends(arm, carrying(1.0)))
    assert len(asked) == 2
    log = capfd.readouterr().err
    assert 'it is requested again, since the worker process was ended by SIGKILL' in log
    assert 'is removed' not in log


def test_what_is_not_there_cannot_be_removed(arm):
    assert carry(arm).success
    reply = drop(arm, name='bax')
    assert not reply.success
    assert "no payload 'bax'; there is box" in reply.message


@pytest.mark.parametrize('call', [carry, drop])
def test_without_a_robot_there_is_no_payload(bench, call):
    reply = call(bench(joints=JOINTS))
    assert not reply.success
    assert 'no robot yet' in reply.message


def test_a_payload_outlives_other_settings_and_descriptions(arm):
    assert carry(arm, mass=1.0).success
    assert arm.set_parameter('mode', 'gravity_compensation').successful
    assert sends(arm, carrying(1.0))
    heavier = ARM.replace('mass value="1.0"', 'mass value="2.0"')
    arm.describe(heavier)
    assert sends(arm, carrying(1.0, robot=Robot.from_urdf(heavier)))


def test_a_payload_without_its_link_is_removed_and_logged(arm, capfd):
    assert carry(arm, mass=1.0).success
    assert carry(arm, name='sleeve', link='lower', mass=0.5).success
    renamed = ARM.replace('"tool"', '"flange_link"')
    arm.describe(renamed)
    assert sends(arm, carrying(0.5, link='lower'))
    log = capfd.readouterr().err
    assert "'box'" in log and 'is removed' in log
    arm.describe(ARM)
    assert sends(arm, carrying(0.5, link='lower'))


def test_the_transition_time_of_a_request_overrides_blend_time(arm):
    assert carry(arm, mass=1.0, transition_time=30.0).success
    assert not sends(arm, carrying(1.0))
    assert drop(arm).success  # within the parameter blend_time, which is zero
    assert sends(arm, carrying())
    assert turn(arm, [9.81, 0.0, 0.0], transition_time=30.0).success
    assert not sends(arm, BARE.gravity(Q, gravity=[9.81, 0.0, 0.0]))
    assert arm.set_parameter('gravity', DOWN).successful
    assert sends(arm, carrying())


# ---- gravity ------------------------------------------------------------------------------------


@pytest.mark.parametrize('frame, rotation', [
    ('', np.eye(3)),
    ('base', np.eye(3)),
    ('tool', BARE.link_poses(Q)['tool'].rotation),
    ('upper', BARE.link_poses(Q)['upper'].rotation),
])
def test_gravity_is_told_in_the_axes_of_any_link(arm, frame, rotation):
    vector = [1.0, 2.0, -9.0]
    reply = turn(arm, vector, frame)
    assert reply.success and reply.message.startswith('in use')
    np.testing.assert_allclose(
        arm.node.get_parameter('gravity').value, rotation @ vector, rtol=1e-12)
    assert sends(arm, BARE.gravity(Q, gravity=rotation @ vector))


@pytest.mark.parametrize('vector, frame, said', [
    ([nan, 0.0, 0.0], '', '3 finite numbers'),
    (DOWN, 'tol', "did you mean 'tool'"),
    (DOWN, 'map', "'map'"),
])
def test_gravity_that_cannot_be_is_refused_with_the_reason(arm, vector, frame, said):
    reply = turn(arm, vector, frame)
    assert not reply.success
    assert said in reply.message
    assert list(arm.node.get_parameter('gravity').value) == pytest.approx(DOWN, abs=0.01)


def test_without_a_posture_only_the_root_frame_is_accepted(bench):
    arm = bench(joints=JOINTS)
    assert 'no robot yet' in turn(arm, DOWN).message
    arm.describe(ARM)
    reply = turn(arm, DOWN, 'tool')
    assert not reply.success
    assert 'no fresh joint state of shoulder, elbow' in reply.message
    assert turn(arm, DOWN, 'base').success


def measured(x=0.0, z=9.81, frame='base'):
    """Return what an accelerometer at rest measures."""
    return Imu(header=Header(frame_id=frame), linear_acceleration=Vector3(x=x, z=z))


@pytest.fixture
def imu(arm):
    """Return the publisher of an IMU to which the arm listens."""
    assert arm.set_parameter('gravity_time_constant', 0.0).successful
    assert arm.set_parameter('gravity_from_imu', True).successful
    publisher = arm.peer.create_publisher(Imu, 'imu', 10)
    arm.connect(publisher)
    return publisher


def test_the_imu_is_used_only_with_gravity_from_imu(arm):
    publisher = arm.peer.create_publisher(Imu, 'imu', 10)
    arm.settle(0.2)
    assert publisher.get_subscription_count() == 0
    assert arm.set_parameter('gravity_time_constant', 0.0).successful
    assert arm.set_parameter('gravity_from_imu', True).successful
    arm.until(publisher.get_subscription_count)
    direction = 9.81 / hypot(3.0, 9.0) * np.array([3.0, 0.0, -9.0])  # not its size

    def is_in_use():
        publisher.publish(measured(x=-3.0, z=9.0))
        return sends(arm, BARE.gravity(Q, gravity=direction))

    arm.until(is_in_use)
    assert 'gravity_from_imu' in turn(arm, DOWN).message
    assert arm.set_parameter('gravity_from_imu', False).successful
    arm.until(lambda: publisher.get_subscription_count() == 0)


def test_an_imu_that_is_silent_is_told(arm, monkeypatch):
    monkeypatch.setattr(monitor, 'LONGEST_SILENCE', 0.3)
    assert not arm.told('gravity_from_imu')
    assert arm.set_parameter('gravity_from_imu', True).successful
    arm.until(lambda: '-9.81' in arm.told('gravity_from_imu'))
    publisher = arm.peer.create_publisher(Imu, 'imu', 10)
    arm.until(lambda: publisher.publish(measured()) or not arm.told('gravity_from_imu'))
    arm.until(lambda: arm.told('gravity_from_imu'))


def test_an_imu_of_inverted_sign_does_not_change_gravity(arm, imu):
    down = measured(z=-9.81, frame='tool')
    arm.until(lambda: imu.publish(down) or arm.refused('imu'))
    for word in ("'tool'", '[0.0, 0.0, -9.81]', 'gravity_tolerance'):
        assert word in arm.told('imu')
    assert sends(arm, BARE.gravity(Q))
    assert arm.set_parameter('gravity_tolerance', 3.15).successful
    upside_down = BARE.link_poses(Q)['tool'].rotation @ [0.0, 0.0, 9.81]
    arm.until(lambda: imu.publish(down) or sends(
        arm, BARE.gravity(Q, gravity=upside_down)))


def test_an_imu_without_an_accelerometer_is_refused(arm, imu):
    without = measured()
    without.linear_acceleration_covariance[0] = -1.0
    imu.publish(without)
    arm.until(lambda: arm.refused('imu'))
    assert '-1' in arm.told('imu')


# ---- wrenches -----------------------------------------------------------------------------------


def test_a_wrench_is_nothing_once_it_was_zeroed(arm):
    arm.push('tool', force=(3.0, 0.0, 1.0))
    arm.until(lambda: not sends(arm, carrying()))
    reply = arm.call(Trigger, 'zero_wrench')
    assert reply.success and 'tool' in reply.message
    assert sends(arm, carrying())


def test_without_a_wrench_there_is_nothing_to_zero(arm):
    reply = arm.call(Trigger, 'zero_wrench')
    assert not reply.success
    assert reply.message
