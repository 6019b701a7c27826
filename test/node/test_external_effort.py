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
"""What the node publishes about the effort of the environment, and how it reacts to a contact."""

from __future__ import annotations

from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.policy import Policy
from ros2_rnea.node.models.configuration import Configuration
from sensor_msgs.msg import JointState
from small_robots import ARM
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS = ['elbow', 'shoulder']  # not the order of the description
NAMES, POSITIONS = ['shoulder', 'elbow'], [0.3, -0.8]
HELD = Robot.from_urdf(ARM).gravity(POSITIONS)
PUSH = np.array([5.0, -3.0])  # of shoulder and elbow
OBSERVING = {
    'joints': JOINTS, 'state_timeout': 9.0, 'robot_description': ARM,
    'observe_external_effort': True, 'external_wrench_link': 'tool',
    'external_effort_threshold__shoulder': 1.0}


class Arm:
    """An arm that stands still under an external effort, with stamps of 100 Hz."""

    def __init__(self, bench):
        self.bench, self.stamp = bench, 100.0

    def step(self, external=(0.0, 0.0), count=1):
        for _ in range(count):
            self.stamp += 0.01
            self.bench.answer(NAMES, POSITIONS, [0.0, 0.0], stamp=self.stamp,
                              efforts=(HELD - external).tolist())


def heard_on(arm, kind, topic):
    heard = []
    arm.bench.peer.create_subscription(kind, f'inverse_dynamics/{topic}', heard.append, 100)

    def comes() -> bool:
        arm.step()
        return bool(heard)

    arm.bench.until(comes)
    return heard


def test_external_efforts_come_with_their_wrench_and_contact(bench):
    arm = Arm(bench(**OBSERVING))
    efforts = heard_on(arm, JointState, 'external_effort')
    wrenches = heard_on(arm, WrenchStamped, 'external_wrench')
    arm.step(PUSH, 60)
    arm.bench.until(lambda: efforts[-1].header.stamp == wrenches[-1].header.stamp and (
        efforts[-1].header.stamp.sec + 1e-9 * efforts[-1].header.stamp.nanosec
        == pytest.approx(arm.stamp)))
    assert list(efforts[-1].name) == JOINTS
    assert list(efforts[-1].effort) == pytest.approx(PUSH[::-1], rel=1e-6)
    assert wrenches[-1].header.frame_id == 'tool'
    force, torque = wrenches[-1].wrench.force, wrenches[-1].wrench.torque
    wrench = [torque.x, torque.y, torque.z, force.x, force.y, force.z]
    robot, rest = Robot.from_urdf(ARM), [0.0, 0.0]
    explained = HELD - robot.inverse_dynamics(POSITIONS, rest, rest, {'tool': wrench})
    assert explained == pytest.approx(PUSH, rel=1e-2)
    assert 'shoulder' in arm.bench.told('contact')
    arm.step(count=60)
    assert arm.bench.told('contact') == ''


def test_nothing_is_observed_where_neither_listeners_nor_reactions_need_it(bench, monkeypatch):
    arm = Arm(bench(**OBSERVING))
    monkeypatch.setattr(Policy, 'observe', lambda *_: pytest.fail('nobody listens'))
    monkeypatch.setattr(Robot, 'joint_momentum', property(lambda _: pytest.fail('a kernel')))
    arm.step(PUSH, 10)
    assert arm.bench.told('contact') == ''


def test_the_diagnostics_say_why_somebody_who_listens_gets_nothing(bench):
    arm = Arm(bench(**{**OBSERVING, 'observe_external_effort': False}))
    arm.bench.peer.create_subscription(
        JointState, 'inverse_dynamics/external_effort', lambda _: None, 10)
    arm.bench.until(lambda: 'observe_external_effort is false' in arm.bench.told(
        'external effort'))
    assert arm.bench.set_parameter('observe_external_effort', True).successful
    arm.bench.until(lambda: not arm.bench.told('external effort'))
    arm.bench.answer(NAMES, POSITIONS, [0.0, 0.0])
    arm.bench.until(lambda: 'lack the efforts' in arm.bench.told('external effort'))


def test_a_reaction_that_nothing_is_observed_for_is_reported(bench, monkeypatch):
    observes = Configuration.observes
    monkeypatch.setattr(Configuration, 'observes', property(lambda _: False))
    arm = Arm(bench(**OBSERVING, contact_reaction='hold'))
    arm.bench.until(lambda: 'no contact is observed' in arm.bench.told('external effort'))
    monkeypatch.setattr(Configuration, 'observes', observes)
    arm.bench.until(lambda: arm.bench.told('external effort') == '')


def noted_in(called, name):
    """Return a method of the policy that appends its name to a list at each call."""
    method = getattr(Policy, name)

    def noted(policy, *arguments):
        called.append(name)
        return method(policy, *arguments)
    return noted


@pytest.mark.parametrize('reaction, first', [('none', 'decide'), ('hold', 'observe')])
def test_commands_wait_only_for_observations_that_may_change_them(
        bench, monkeypatch, reaction, first):
    arm = Arm(bench(**OBSERVING, contact_reaction=reaction))
    heard_on(arm, JointState, 'external_effort')
    called = []
    for name in ('decide', 'observe'):
        monkeypatch.setattr(Policy, name, noted_in(called, name))
    arm.step()
    assert called[0] == first and {*called} == {'decide', 'observe'}


def test_a_contact_ends_the_motion_until_the_node_is_enabled(bench):
    arm = Arm(bench(**OBSERVING, contact_reaction='hold'))
    arm.step(count=5)
    arm.bench.send_trajectory(NAMES, [(90.0, [1.0, 1.0])])
    arm.bench.settle()
    arm.step(count=2)
    assert arm.bench.status().name == 'FOLLOWING'
    arm.step(PUSH, 10)
    assert arm.bench.status().name == 'CONTACT'
    arm.step(count=60)
    assert arm.bench.status().name == 'CONTACT'
    assert list(arm.bench.efforts[-1].effort) == pytest.approx(HELD[::-1])
    assert arm.bench.call(SetBool, 'enable', data=True).success
    arm.step(count=2)
    assert arm.bench.status().name == 'NO_TRAJECTORY'
