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
"""A model that is refused, or that crashes its worker, holds up nothing of the robot in use."""

from contextlib import suppress

import pytest
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node.models import model_builder
from ros2_rnea.node.models.model_building import Payload
from ros2_rnea.node.topics.effort_publishers import EffortPublishers
from ros2_rnea.node.worker.model_worker import ModelWorker
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess
from small_robots import ARM
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS, Q = ['shoulder', 'elbow'], [0.1, 0.2]
IDENTIFIED = ARM.replace('mass value="1.0"', 'mass value="1.1"')
BROKEN = ARM.replace('<child link="upper"/>', '<child link="nowhere"/>')


@pytest.fixture
def arm(bench):
    """Return an arm that sends its efforts."""
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    return arm


@pytest.fixture
def requested(monkeypatch):
    """Return the descriptions whose models are requested of the worker, as it goes on."""
    seen, request = [], ModelWorker.request

    def noted(worker, asked):
        seen.append(asked.source.description)
        request(worker, asked)

    monkeypatch.setattr(ModelWorker, 'request', noted)
    return seen


def box(mass=1.0):
    """Return a payload on a link for which the arm needs another model."""
    return Payload('box', 'lower', Inertial(
        mass, Pose((0.1, 0.0, 0.2)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)))


def is_carried(arm):
    return 'box' in arm.node.policy.robot.payloads


def crash(monkeypatch, is_concerned):
    """Let the worker crash at the requests that are concerned."""
    ask = WorkerProcess.ask

    def crashing(process, request, *more):
        if is_concerned(request):
            raise WorkerError('2 worker processes have exited')
        return ask(process, request, *more)

    monkeypatch.setattr(WorkerProcess, 'ask', crashing)


def test_a_payload_does_not_wait_for_a_crashing_description(arm, monkeypatch):
    crash(monkeypatch, lambda request: request['source'].description == IDENTIFIED)
    arm.describe(IDENTIFIED)
    assert 'have exited' in arm.told('robot_description')
    assert not arm.changes.set_payload(box())
    arm.until(lambda: is_carried(arm))


def test_a_payload_is_blended_in_slowly_after_a_refused_description(arm, requested):
    arm.describe(BROKEN)
    assert arm.told('robot_description')
    requested.clear()
    arm.changes.set_payload(box(), 30.0)
    arm.until(lambda: is_carried(arm))
    assert requested == [ARM]
    assert arm.node.policy.memory.pending.hand_over == 30.0


def test_a_payload_set_again_is_tried_at_once(arm, monkeypatch):
    crashes = [True]
    monkeypatch.setattr(model_builder, 'FIRST_REBUILD_PERIOD', 1e6)
    arm.describe(IDENTIFIED)  # from now on, with that period
    crash(monkeypatch, lambda _: crashes and crashes.pop())
    arm.changes.set_payload(box())
    arm.until(lambda: 'have exited' in arm.told('model'))
    arm.changes.set_payload(box(0.5), 3.0)
    arm.until(lambda: is_carried(arm))
    assert arm.node.policy.memory.pending.hand_over == 3.0


def test_payloads_of_refused_models_are_removed_and_that_is_said(arm, capfd):
    assert arm.set_parameter('massless_links', ['nowhere']).successful
    for _ in range(2):
        arm.changes.set_payload(box())
        arm.until(lambda: "the payload 'box' on link 'lower' is removed" in capfd.readouterr().err)


def test_two_refused_models_are_not_built_again_by_turns(arm, requested):
    arm.describe(BROKEN)
    assert arm.set_parameter('massless_links', ['nowhere']).successful
    arm.until(lambda: arm.is_settled() and 'massless_links' in arm.told('model'))
    requested.clear()
    for _ in range(3):
        assert arm.set_parameter('rate', 0.0).successful
        arm.until(arm.is_settled)
        assert arm.call(SetBool, 'enable', data=True).success
        arm.until(arm.is_settled)
    assert requested == []


def test_efforts_keep_their_names_where_publishers_cannot_be_made(arm, monkeypatch):
    prepare, errors = EffortPublishers.prepare, [MemoryError('once')]

    def fail_once(publishers, joints):
        if errors:
            raise errors.pop()
        prepare(publishers, joints)

    assert arm.call(SetBool, 'enable', data=False).success
    arm.until(lambda: not arm.sends(JOINTS, Q))
    monkeypatch.setattr(EffortPublishers, 'prepare', fail_once)
    with suppress(MemoryError):  # the executor of the test lets it through, or not
        arm.node.set_parameters([Parameter('joints', value=JOINTS[::-1])])
    assert errors == [] and arm.call(SetBool, 'enable', data=True).success
    arm.until(lambda: arm.sends(JOINTS, Q))
    efforts = dict(zip(arm.efforts[-1].name, arm.efforts[-1].effort))
    assert efforts == pytest.approx(dict(zip(JOINTS, Robot.from_urdf(ARM).gravity(Q))))


def test_a_swap_that_has_failed_is_tried_again(arm, monkeypatch):
    use, errors = EffortPublishers.use, [MemoryError('once')]

    def fail_once(publishers, joints, has_commands):
        if errors:
            raise errors.pop()
        use(publishers, joints, has_commands)

    monkeypatch.setattr(EffortPublishers, 'use', fail_once)
    arm.describe(IDENTIFIED)
    arm.until(lambda: arm.changes.description == IDENTIFIED and arm.is_settled())
    assert errors == []


@pytest.mark.parametrize('limit, had, said', [
    ('lower="3" upper="-3" effort="40.0" velocity="2"', 'the range -3 to 3',
     'its lower limit is 3 and its upper one -3, so that no position is between them, and both '
     'count as none: swap them'),
    ('lower="-3" upper="3" effort="40.0" velocity="-1"', 'the velocity limit 2',
     'its velocity limit is -1, which counts as none: write a number above 0')],
    ids=['swapped', 'negative'])
def test_no_joint_loses_a_bound_while_efforts_are_sent(arm, limit, had, said):
    unbounded = IDENTIFIED.replace('lower="-3" upper="3" effort="40.0" velocity="2"', limit)
    assert unbounded != IDENTIFIED
    arm.describe(unbounded)
    assert f"joint 'elbow' has {had}, and would have none: {said}" in arm.told('robot_description')
    assert 'set enabled to false first' in arm.told('robot_description')
    assert arm.answer(JOINTS, Q) == pytest.approx(Robot.from_urdf(ARM).gravity(Q))
    assert arm.call(SetBool, 'enable', data=False).success
    arm.until(lambda: arm.changes.source.description == unbounded)
    assert arm.told('robot_description') == ''


def test_a_payload_that_waits_with_a_description_comes_with_the_previous_one(arm):
    arm.describe(IDENTIFIED.replace('upper="3" effort="40.0"', 'effort="40.0"'))
    assert 'would have none' in arm.told('robot_description')
    assert not arm.changes.set_payload(box())
    arm.until(lambda: arm.told('robot_description').endswith(
        "The payload 'box' waits for it: remove the payload, or publish the previous description "
        'again'))
    assert not is_carried(arm)
    arm.describe(ARM)
    arm.until(lambda: is_carried(arm))
    assert arm.told('robot_description') == ''


def test_no_joint_loses_a_bound_in_a_gap_of_the_states(bench):
    arm = bench(joints=JOINTS, state_timeout=0.2)
    arm.describe(ARM)
    arm.answer(JOINTS, Q)
    arm.describe(IDENTIFIED.replace('upper="3" effort="40.0"', 'effort="40.0"'))
    arm.until(lambda: not arm.node.policy.is_sending)
    arm.settle(0.5)
    assert "joint 'elbow' has the range -3 to 3" in arm.told('robot_description')
    assert arm.answer(JOINTS, Q) == pytest.approx(Robot.from_urdf(ARM).gravity(Q))
