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
"""What the node logs is printable, whatever stands in a message or a request."""

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from ros2_rnea.node.log_output import LONGEST_LINES
from ros2_rnea.node.managed_node import ManagedInverseDynamicsNode
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
FORGED = 'x\n[ERROR] [1795920814.600300123] [robot]: \x1b[31mforged\x9b\u2028\u0085'


def configured(**arguments) -> ManagedInverseDynamicsNode:
    node = ManagedInverseDynamicsNode(**arguments)
    assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    return node


def lines_of_log(capfd) -> list[str]:
    """Return what was logged, at whose line breaks a reader of the log splits it."""
    text = capfd.readouterr().err
    assert 'forged' in text
    for line in text.split('\n'):
        assert line.isprintable()
        assert not line.startswith('[ERROR] [1795920814.600300123]')
    return text.split('\n')


def test_a_name_in_a_message_forges_no_line(bench, capfd):
    arm = bench(joints=JOINTS)
    arm.describe(ARM)
    arm.send_trajectory([FORGED, 'elbow'], [(1.0, [0.0, 0.0])])
    arm.until(lambda: arm.refused('joint_trajectory'))
    arm.state([FORGED, 'elbow'], [0.0])
    arm.until(lambda: arm.refused('joint_states'))
    arm.describe(f'<robot name="{FORGED}"')
    lines_of_log(capfd)
    for value in arm.reported().values():
        assert all(line.isprintable() for line in value.split('\n'))


@pytest.mark.parametrize('label', [FORGED, 'forged' + 4_000_000 * 'x'], ids=['forged', 'long'])
def test_nor_does_the_label_of_a_transition(bench, capfd, label):
    arm = bench(create=configured, joints=JOINTS)
    for number in (Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_CLEANUP, 0, 99):
        arm.call(ChangeState, 'change_state', transition=Transition(id=number, label=label))
    assert sum(map(len, lines_of_log(capfd))) < 20_000


def test_no_node_of_the_process_has_the_service_whose_requests_rcl_logs(bench):
    """Nodes of other tests may still be listed: this one has a namespace of its own."""
    arm = bench(namespace='/undescribed', joints=JOINTS)

    def services():
        return [name for name, _ in arm.peer.get_service_names_and_types()
                if name.startswith('/undescribed/')]

    arm.until(lambda: any(name.endswith('compute_mass_matrix') for name in services()))
    assert [name for name in services() if name.endswith('get_type_description')] == []


def test_a_traceback_is_bounded_and_its_lines_are_indented(bench, capfd):
    arm = bench(joints=JOINTS)
    arm.node.report_unexpected('a callback', RuntimeError(FORGED + LONGEST_LINES * 'x'))
    lines = lines_of_log(capfd)
    first, = (index for index, line in enumerate(lines) if 'unexpected error' in line)
    assert lines[first + 1].startswith('  ')
    assert sum(map(len, lines)) < 2 * LONGEST_LINES


def test_each_place_in_the_code_logs_for_itself(bench):
    """At one place, rclpy allows one severity."""
    logger = bench(joints=JOINTS).node.get_logger()
    logger.info('one')
    logger.warning('another')
    logger.error('a third')
