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
"""Settings that disable: they are applied at once, and the rest once nothing is sent any more."""

import pytest
from rclpy.parameter import Parameter
from ros2_rnea import Robot
from ros2_rnea.control.decision import State
from ros2_rnea.errors import ArgumentError
from small_robots import ARM

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q, REST = [0.3, -0.8], [0.0, 0.0]
GRAVITY = Robot.from_urdf(ARM).gravity(Q)


@pytest.fixture
def arm(bench):
    """Return an arm whose effort is that of gravity."""
    arm = bench(joints=JOINTS, state_timeout=0.5)
    arm.describe(ARM)
    arm.until(lambda: arm.answer(JOINTS, Q, REST) == pytest.approx(GRAVITY))
    return arm


def test_settings_that_drop_the_arm_wait_until_nothing_is_sent(arm):
    policy, factor = arm.node.policy, 0.001
    assert not arm.set_parameter('effort_limit_factor', factor).successful
    assert arm.node.set_parameters_atomically([
        Parameter('enabled', value=False), Parameter('effort_limit_factor', value=factor),
    ]).successful
    assert not policy.settings.enabled and policy.settings.effort_limit_factor == 1.0
    assert policy.is_sending and arm.node.configuration.misfit == ''
    sent = len(arm.commands)
    arm.until(lambda: arm.state(JOINTS, Q, REST) or policy.state is State.OFF)
    arm.settle()
    assert len(arm.commands) > sent
    assert all(command == pytest.approx(GRAVITY) for command in arm.commands[sent:])
    arm.until(lambda: policy.settings.effort_limit_factor == factor)
    assert arm.node.policy is policy


def test_what_holds_it_is_used_at_once(arm):
    assert arm.node.set_parameters_atomically([
        Parameter('enabled', value=False), Parameter('lookahead', value=0.25)]).successful
    policy = arm.node.policy
    assert policy.is_sending and policy.settings.lookahead == 0.25
    assert not policy.settings.enabled


def test_what_does_not_fit_the_robot_is_refused_with_it(arm):
    result = arm.node.set_parameters_atomically([
        Parameter('enabled', value=False), Parameter('joints', value=['shoulder', 'wrist'])])
    assert not result.successful and arm.node.policy.settings.enabled


def test_nothing_can_keep_the_node_from_being_disabled(arm, monkeypatch):
    def refuse(settings, *_):
        if settings.on_stop is not before.on_stop or settings.lookahead:
            raise ArgumentError('the arm is not held as it is')

    policy, before = arm.node.policy, arm.node.policy.settings
    monkeypatch.setattr(policy, 'check_change', refuse)
    assert arm.node.set_parameters([Parameter('enabled', value=False)])[0].successful
    assert not policy.settings.enabled
