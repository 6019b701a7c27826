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
"""Where neither llvmlite nor the extension is installed: is the textbook fast enough."""

import pytest
from ros2_rnea import Engine, Robot
from ros2_rnea.kernels import call, machine
from ros2_rnea.node import slow_engine
from small_robots import ARM, FREE_FLYER

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
Q = [0.3, -0.8]


@pytest.fixture
def nothing_faster(fastest_engine, monkeypatch):
    """Install neither llvmlite nor the extension."""
    monkeypatch.setattr(call, 'EXTENSION_ERROR', 'no module named _call')
    monkeypatch.setattr(machine, 'llvm', None)


def takes(monkeypatch, time):
    """Let each effort take a time [s]."""
    monkeypatch.setattr(slow_engine, 'time_of_effort', lambda robot: time)


def described(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    assert arm.node.policy.robot.engine is Engine.TEXTBOOK
    assert not arm.sends(JOINTS, Q), 'before it is known how long an effort takes'
    assert arm.told('computing time') == 'it is not known yet how long an effort takes'
    arm.until(lambda: arm.state(JOINTS, Q) or arm.node.policy.memory.period.is_known)
    return arm


def test_nothing_is_sent_where_an_effort_takes_longer_than_joint_states_are_apart(
        bench, monkeypatch, nothing_faster):
    takes(monkeypatch, 60.0)
    arm = described(bench)
    for _ in range(3):
        arm.poll()
        assert not arm.sends(JOINTS, Q)
    assert arm.status().name == 'NOT_ALLOWED'
    why = arm.told('computing time')
    assert why.startswith('an effort takes 6e+04 ms to compute, and joint states come every ')
    assert why.endswith(' ms: nothing is sent') and 'computing time' in arm.node.diagnostics.errors


def test_a_busy_machine_does_not_make_it_fast_enough(bench, monkeypatch, nothing_faster):
    """Cycles that are late miss joint states, which then seem to be further apart."""
    takes(monkeypatch, 60.0)
    arm = described(bench)
    arm.poll()
    arm.node.policy.memory.period.value = 100.0
    arm.poll()
    assert arm.told('computing time').startswith('an effort takes 6e+04 ms')
    assert not arm.sends(JOINTS, Q)


def test_efforts_are_sent_where_the_textbook_is_fast_enough(
        bench, monkeypatch, nothing_faster, capfd):
    takes(monkeypatch, 1e-9)
    arm = described(bench)
    arm.poll()
    arm.until(lambda: arm.sends(JOINTS, Q))
    assert arm.answer(JOINTS, Q) == pytest.approx(Robot.from_urdf(ARM).gravity(Q))
    arm.poll()
    assert arm.told('computing time') == ''
    assert capfd.readouterr().err.count('an effort of arm takes 1e-06 ms to compute') == 1


def test_another_robot_is_measured_too(bench, monkeypatch, nothing_faster):
    takes(monkeypatch, 1e-9)
    arm = described(bench)
    arm.poll()
    arm.until(lambda: arm.sends(JOINTS, Q))
    takes(monkeypatch, 60.0)
    arm.poll()
    assert arm.sends(JOINTS, Q)
    arm.describe(ARM.replace('<robot ', '<!-- another --><robot '))
    arm.poll()
    assert arm.told('computing time')


def test_an_engine_that_was_asked_for_is_not_judged(bench, monkeypatch, nothing_faster):
    takes(monkeypatch, 60.0)
    monkeypatch.setenv('ROS2_RNEA_ENGINE', 'textbook')
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.until(lambda: arm.sends(JOINTS, Q))
    arm.poll()
    assert arm.told('computing time') == ''


@pytest.mark.parametrize('text', [ARM, FREE_FLYER])
def test_an_effort_takes_some_time(text):
    assert 0.0 < slow_engine.time_of_effort(Robot.from_urdf(text)) < 60.0
