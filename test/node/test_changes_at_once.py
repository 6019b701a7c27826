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
"""What several changes at once lead to: each has its own blend, and none revives another."""

from idle_worker import answers_held
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_bench import AT_ONCE, LATCHED
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node import monitor
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from ros2_rnea.node.models import model_builder
from ros2_rnea.node.models.model_building import Payload
from ros2_rnea.node.worker.model_worker import ModelWorker
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess
from small_robots import ARM
from std_msgs.msg import String

pytestmark = pytest.mark.ros

JOINTS, Q = ['shoulder', 'elbow'], [0.1, 0.2]
IDENTIFIED = ARM.replace('mass value="1.0"', 'mass value="1.1"')
HEAVY = ARM.replace('mass value="1.0"', 'mass value="3.0"')
BROKEN = ARM.replace('<child link="upper"/>', '<child link="nowhere"/>')
FLIPPED = ARM.replace('axis xyz="0 1 0"', 'axis xyz="0 -1 0"', 1)
OTHER = ARM.replace('name="arm"', 'name="other_arm"')
UNDECIDED = 'nothing is sent'
CRASH = '2 worker processes have exited'


@pytest.fixture
def bare(bench):
    """Return an arm that has no robot yet."""
    return bench(joints=JOINTS, state_timeout=9.0)


@pytest.fixture
def arm(bare):
    """Return an arm to which efforts are sent."""
    bare.describe(ARM)
    bare.until(lambda: has_effort_of(bare, ARM))
    return bare


@pytest.fixture
def loaded(arm):
    """Return an arm with a payload."""
    arm.changes.set_payload(box(2.0))
    arm.until(lambda: 'box' in arm.node.policy.robot.payloads)
    return arm


@pytest.fixture
def managed(bench):
    """Return a managed node that is active and has driven an arm."""
    arm = bench(create=configured, position_loop='present', joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    assert change(arm, Transition.TRANSITION_ACTIVATE)
    arm.until(lambda: has_effort_of(arm, ARM))
    return arm


@pytest.fixture
def publisher_of():
    """Return a function that makes another node publish descriptions to an arm."""
    nodes = []

    def make(arm, name):
        node = Node(name, namespace='/robot', start_parameter_services=False)
        nodes.append((arm.executor, node))
        arm.executor.add_node(node)
        publisher = node.create_publisher(String, 'robot_description', LATCHED)
        arm.connect(publisher)
        return publisher

    make.end = lambda publisher: any(node.destroy_publisher(publisher) for _, node in nodes)
    yield make
    for executor, node in nodes:
        executor.remove_node(node)
        node.destroy_node()


def configured(**arguments):
    node = ManagedInverseDynamicsNode(**arguments)
    assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    return node


def change(arm, transition):
    return arm.call(ChangeState, 'change_state', transition=Transition(id=transition)).success


def box(mass):
    return Payload('box', 'lower', Inertial(
        mass, Pose((0.1, 0.0, 0.2)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)))


def gravity_of(urdf):
    return pytest.approx(Robot.from_urdf(urdf).gravity(Q).tolist(), abs=1e-9)


def has_effort_of(arm, urdf):
    return arm.answer(JOINTS, Q) == gravity_of(urdf)


def efforts_for_a_while(arm):
    """Return the efforts that answer some joint states, also where there are none."""
    arm.efforts.clear()
    for _ in range(5):
        arm.state(JOINTS, Q)
        arm.settle(0.03)
    return [list(effort.effort) for effort in arm.efforts]


def crash(*_):
    raise WorkerError(CRASH)


# ---- nothing tells which of two robots is driven ------------------------------------------------


def test_two_robots_left_of_three_publishers_stay_undecided(bare, publisher_of, monkeypatch):
    """One text comes later than the other, and the polls are as far apart as those of users."""
    monkeypatch.setattr(monitor, 'PERIOD', 1.0)
    arm, other, third = bare, publisher_of(bare, 'second'), publisher_of(bare, 'third')
    for publisher, text in ((arm.description, ARM), (other, OTHER), (third, OTHER)):
        publisher.publish(String(data=text))
    arm.executor.remove_node(arm.node)
    arm.node.destroy_node()
    late, takes_all = [], []

    class Slow(InverseDynamicsNode):

        def _on_description(self, message):
            if takes_all or message.data != OTHER:
                super()._on_description(message)
            else:
                late.append(message)

    takes_all.append(True)
    arm.node = Slow(namespace='/robot', parameter_overrides=[
        Parameter(name, value=value) for name, value in {
            **AT_ONCE, 'joints': JOINTS, 'state_timeout': 9.0}.items()])
    arm.executor.add_node(arm.node)
    arm.connect(arm.states)
    arm.until(lambda: UNDECIDED in arm.told('other robot'))
    arm.until(lambda: arm.node.policy is not None and arm.is_settled())
    arm.until(lambda: len(arm.node.get_publishers_info_by_topic(other.topic_name)) == 3)
    arm.until(lambda: '/robot/third' in arm.told('publishers of robot_description'))
    takes_all.clear()
    publisher_of.end(third)
    arm.until(lambda: late and arm.node.policy is None)  # the texts are received again
    arm.until(lambda: arm.node.policy is not None)
    assert not efforts_for_a_while(arm)
    takes_all.append(True)
    arm.changes.take_description(OTHER)
    assert not efforts_for_a_while(arm)


@pytest.mark.parametrize('first', [FLIPPED, HEAVY], ids=['flipped', 'heavy'])
def test_only_what_the_parameter_describes_is_used_then(bare, publisher_of, first):
    """The robot in use has its name, and other joints or masses."""
    arm = bare
    arm.describe(first)  # no effort is sent to it, since there is no joint state
    publisher_of(arm, 'second').publish(String(data=OTHER))
    arm.until(lambda: UNDECIDED in arm.told('other robot'))
    with answers_held():
        assert arm.node.set_parameters([Parameter('robot_description', value=ARM)])[0].successful
        assert not efforts_for_a_while(arm)
    arm.until(arm.is_settled)
    arm.until(lambda: arm.node.policy is not None and has_effort_of(arm, ARM))


def test_a_parameter_that_is_refused_tells_nothing(bare, publisher_of):
    arm = bare
    arm.describe(HEAVY)
    publisher_of(arm, 'second').publish(String(data=OTHER))
    arm.until(lambda: UNDECIDED in arm.told('other robot'))
    assert arm.node.set_parameters([Parameter('robot_description', value=BROKEN)])[0].successful
    arm.until(lambda: 'nowhere' in arm.told('robot_description'))
    assert not efforts_for_a_while(arm)


# ---- blends -------------------------------------------------------------------------------------


def set_gravity(arm):
    assert arm.changes.set_parameter('gravity', [0.0, 0.0, -9.80], 0.01).successful


def remove_payload(arm):
    arm.changes.remove_payload('box', 0.01)


@pytest.mark.parametrize('briefly', [set_gravity, remove_payload])
def test_a_short_change_does_not_shorten_a_model_blend(arm, briefly):
    arm.changes.set_payload(box(0.001))
    arm.until(lambda: 'box' in arm.node.policy.robot.payloads)
    assert arm.set_parameter('blend_time', 60.0).successful
    with answers_held():
        arm.begin_to_describe(HEAVY)
        briefly(arm)
    arm.until(arm.is_settled)
    assert arm.answer(JOINTS, Q) == pytest.approx(Robot.from_urdf(ARM).gravity(Q), rel=0.1)


def test_a_short_change_does_not_shorten_a_retried_model_blend(arm, monkeypatch):
    assert arm.set_parameter('blend_time', 60.0).successful
    with monkeypatch.context() as patch:
        patch.setattr(WorkerProcess, 'ask', crash)
        arm.describe(HEAVY)
        assert CRASH in arm.told('robot_description')
    set_gravity(arm)
    arm.until(lambda: arm.is_settled() and not arm.told('robot_description'))
    assert arm.answer(JOINTS, Q) == pytest.approx(Robot.from_urdf(ARM).gravity(Q), rel=0.1)


def test_settings_that_did_not_fit_ignore_a_payload_blend(loaded):
    arm = loaded
    assert arm.set_parameter('blend_time', 60.0).successful
    arm.describe(BROKEN)  # parameters may be meant for that one
    assert arm.set_parameter('gravity', [0.0, 0.0, -250.0]).successful
    assert arm.changes.misfit
    before = arm.answer(JOINTS, Q)
    arm.changes.remove_payload('box', 0.01)
    efforts = np.abs(efforts_for_a_while(arm))
    assert len(efforts) and (efforts <= np.abs(before) * 1.1).all()


# ---- a managed node -----------------------------------------------------------------------------


def test_an_active_node_uses_a_newer_model_of_its_robot(managed, publisher_of):
    arm = managed
    publisher_of(arm, 'second').publish(String(data=OTHER))
    arm.until(lambda: "'other_arm'" in arm.told('other robot'))
    assert change(arm, Transition.TRANSITION_DEACTIVATE)
    with answers_held():
        arm.begin_to_describe(IDENTIFIED)
        assert change(arm, Transition.TRANSITION_ACTIVATE)
    arm.until(lambda: arm.is_settled() and arm.node.policy is not None)
    arm.until(lambda: has_effort_of(arm, IDENTIFIED))


@pytest.mark.parametrize('texts', [(BROKEN, OTHER), (OTHER, BROKEN)], ids=['last', 'first'])
def test_no_withheld_robot_and_refused_text_keep_a_node_inactive(managed, publisher_of, texts):
    arm, publisher = managed, publisher_of(managed, 'second')
    for text in texts:
        refused = arm.refused('robot_description')
        publisher.publish(String(data=text))
        arm.until(lambda before=refused: arm.refused('robot_description') > before)
        arm.until(arm.is_settled)
    assert change(arm, Transition.TRANSITION_DEACTIVATE)
    assert change(arm, Transition.TRANSITION_ACTIVATE)
    assert has_effort_of(arm, ARM)


def test_a_clean_up_ends_the_notice_about_publishers(managed, publisher_of):
    arm = managed
    publisher_of(arm, 'second').publish(String(data=IDENTIFIED))
    arm.until(lambda: 'texts differ' in arm.told('publishers of robot_description'))
    assert change(arm, Transition.TRANSITION_DEACTIVATE)
    assert change(arm, Transition.TRANSITION_CLEANUP)
    arm.until(lambda: not arm.told('publishers of robot_description'))


# ---- refusals -----------------------------------------------------------------------------------


def test_a_payload_in_use_has_no_refused_model_built_again(loaded, monkeypatch):
    arm, asked, request = loaded, [], ModelWorker.request
    monkeypatch.setattr(
        ModelWorker, 'request', lambda worker, each: (asked.append(each), request(worker, each)))
    assert arm.set_parameter('massless_links', ['nowhere']).successful
    arm.until(lambda: arm.is_settled() and 'massless_links' in arm.told('model'))
    assert len(asked) == 1
    for mass in (0.51, 0.52):
        assert arm.changes.set_payload(box(mass))
        arm.until(arm.is_settled)
    assert len(asked) == 1


def test_a_payload_in_use_starts_no_worker_that_crashes(loaded, monkeypatch):
    arm, asked = loaded, []
    monkeypatch.setattr(model_builder, 'FIRST_REBUILD_PERIOD', 1e6)
    monkeypatch.setattr(WorkerProcess, 'ask', lambda *_: (asked.append(0), crash()))
    arm.describe(IDENTIFIED)
    arm.until(lambda: CRASH in arm.told('robot_description'))
    assert len(asked) == 1
    for mass in (0.51, 0.52):
        assert arm.changes.set_payload(box(mass))
        arm.until(arm.is_settled)
    assert len(asked) == 1


def test_a_misfit_of_settings_ends_with_their_robot(arm):
    with answers_held():
        arm.node.set_parameters([Parameter(
            'robot_description', value=ARM.replace('effort="100.0"', 'effort="1e4"'))])
        assert arm.changes.set_parameter('gravity', [0.0, 0.0, -900.0]).successful
        assert arm.changes.misfit
    arm.until(lambda: arm.is_settled() and not arm.changes.misfit)
