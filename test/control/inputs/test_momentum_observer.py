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
"""The momentum observer: its response in closed form, and what it survives."""

from __future__ import annotations

from dataclasses import replace
from math import exp, nan

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.inputs.external_effort import (
    ExternalEffort,
    ExternalMemory,
    MeasuredMotion,
)
from ros2_rnea.control.inputs.momentum_observer import MomentumObserver
from ros2_rnea.control.inputs.stamps import MAX_REPETITIONS
from ros2_rnea.control.settings import Settings
from ros2_rnea.robots.joint_index_map import JointIndexMap
from small_robots import ARM

JOINTS = ('shoulder', 'elbow')
GAIN, STEP = 50.0, 0.001
PUSH = np.array([3.0, -2.0])
ROBOT, Q, STILL = Robot.from_urdf(ARM), np.array([0.3, -0.8]), np.zeros(2)
PUSHED = ROBOT.gravity(Q) - PUSH


def observer(robot=ROBOT, gain=GAIN, longest_gap=0.1, bound=1e6, memory=None):
    return MomentumObserver(robot, gain, longest_gap, np.full(2, bound), slice(0, 2), memory)


def settled(**how):
    """Return an observer of an arm at rest that has found the push on it."""
    seen = observer(**how)
    for count in range(200):
        seen.update(Q, STILL, PUSHED, count * STEP)
    return seen


def simulated(robot, external, effort, seconds, step=STEP):
    """
    Yield time, q, qd and effort of a robot that moves freely.

    :param external: function of time that returns the external effort.
    :param effort: what the motors exert, function of time and state.
    """
    q, qd = Q, np.array([0.5, -0.4])

    def slope(t, q, qd):
        return qd, robot.forward_dynamics(q, qd, effort(t, q, qd) + external(t))

    for count in range(round(seconds / step)):
        t = count * step
        yield t, q, qd, effort(t, q, qd)
        a = slope(t + 1e-12, q, qd)
        b = slope(t + step / 2, q + step / 2 * a[0], qd + step / 2 * a[1])
        c = slope(t + step / 2, q + step / 2 * b[0], qd + step / 2 * b[1])
        d = slope(t + step - 1e-12, q + step * c[0], qd + step * c[1])
        q, qd = (now + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
                 for now, k1, k2, k3, k4 in zip((q, qd), a, b, c, d))


def holding(robot):
    return lambda t, q, qd: robot.bias(q, qd) - 4.0 * qd + 3.0 * np.sin([9.0 * t, 7.0 * t])


@pytest.mark.parametrize('gain', [20.0, 50.0, 200.0])
def test_a_step_appears_as_a_first_order_response(gain):
    seen, began, worst = observer(gain=gain), 0.1, 0.0
    for t, q, qd, effort in simulated(
            ROBOT, lambda t: PUSH * (t > began), holding(ROBOT), 0.3):
        seen.update(q, qd, effort, t)
        expected = PUSH * (1.0 - exp(-gain * max(0.0, t - began)))
        worst = max(worst, np.max(np.abs(seen.estimate - expected)))
    assert worst < 3e-4 * np.max(np.abs(PUSH))  # the trapezoidal rule at 1 kHz


def test_the_error_falls_with_the_square_of_the_step():
    errors = []
    for step in (0.004, 0.002):
        seen = observer()
        errors.append(0.0)
        for t, q, qd, effort in simulated(ROBOT, lambda t: STILL, holding(ROBOT), 0.4, step):
            seen.update(q, qd, effort, t)
            errors[-1] = max(errors[-1], np.max(np.abs(seen.estimate)))
    assert errors[0] < 0.02 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


def test_a_rotor_of_the_model_is_no_external_effort():
    tree = ROBOT.tree
    geared = Robot(replace(tree, bodies=tuple(
        replace(body, armature=2.0) for body in tree.bodies)))
    worst = {}
    for model in (geared, ROBOT):
        seen, worst[model] = observer(model), 0.0
        for t, q, qd, effort in simulated(geared, lambda t: STILL, holding(geared), 0.4):
            seen.update(q, qd, effort, t)
            worst[model] = max(worst[model], np.max(np.abs(seen.estimate)))
    with_rotors, without = worst.values()
    assert with_rotors < 1e-3 < 1.0 < without


def test_friction_of_the_model_is_no_external_effort():
    tree = ROBOT.tree
    robot = Robot(replace(tree, bodies=tuple(
        replace(body, damping=0.5, friction=1.0, friction_offset=0.3) for body in tree.bodies)))
    seen = observer(robot)
    for t, q, qd, effort in simulated(
            robot, lambda t: STILL, lambda t, q, qd: robot.bias(q, qd) + 0.2, 0.1):
        seen.update(q, qd, effort, t)
    assert np.max(np.abs(seen.estimate)) < 1e-3


def test_a_gap_starts_anew_and_a_state_twice_changes_nothing():
    seen, state = settled(), (Q, STILL, PUSHED)
    reached = seen.estimate
    assert reached == pytest.approx(PUSH, rel=1e-3)
    seen.update(*state, 199 * STEP)
    assert np.array_equal(seen.estimate, reached)
    seen.update(*state, 0.5)
    assert np.array_equal(seen.estimate, np.zeros(2))
    seen.update(*state, 0.4)  # time jumps back
    assert np.array_equal(seen.estimate, np.zeros(2))


def test_no_number_and_an_impact_leave_it_bounded():
    seen, at_rest = observer(bound=10.0), ROBOT.gravity(Q)
    for count, qd in enumerate(([0.0, 0.0], [1e90, 0.0], [nan, 0.0], [0.0, 0.0], [0.0, 0.0])):
        seen.update(Q, np.array(qd), at_rest, count * STEP)
        assert np.all(np.abs(seen.estimate) <= 10.0)
    for count in range(5, 400):
        seen.update(Q, STILL, at_rest, count * STEP)
    assert np.max(np.abs(seen.estimate)) < 1e-6


def test_an_infinite_effort_and_an_old_estimate_count_for_nothing():
    seen = settled(bound=np.inf)
    seen.update(Q, STILL, np.array([np.inf, -np.inf]), 0.2)
    assert np.isfinite(seen.estimate).all()
    other = observer(memory=seen.memory)
    other.update(Q, STILL, ROBOT.gravity(Q), 9.0)
    assert np.array_equal(other.estimate, STILL)


def test_another_observer_continues_from_the_estimate_alone():
    seen = settled()
    reached = seen.estimate
    other = observer(gain=2.0 * GAIN, memory=seen.memory)
    assert np.array_equal(other.estimate, reached)
    other.update(Q, np.array([50.0, 50.0]), PUSHED, 0.2)  # as of another model
    assert np.array_equal(other.estimate, reached)


# ---- the external effort of the joints ----------------------------------------------------------


def external(settings=None, memory=None):
    """Return the external effort of an arm, and what it is to observe of a push at rest."""
    seen = ExternalEffort(ROBOT, JOINTS, JointIndexMap(ROBOT, JOINTS, {}), slice(0, 2), memory)
    seen.use(settings or Settings(
        joints=JOINTS, external_wrench_link='tool', external_effort_threshold={'shoulder': 1.0}),
        np.full(2, 100.0))

    def push(time):
        seen.update(MeasuredMotion(Q, STILL, PUSHED, (), time))
    return seen, push


def test_another_object_continues_from_what_was_observed():
    older, push = external()
    for count in range(200):
        push(STEP * count)
    assert [*older.contacts] == ['shoulder']
    newer, push_again = external(memory=older.memory)
    assert newer.contacts == older.contacts
    assert np.array_equal(newer.effort, older.effort)
    assert np.array_equal(newer.wrench(), older.wrench())
    push_again(0.2)
    assert newer.effort == pytest.approx(PUSH, rel=1e-3)


def test_estimates_go_on_by_name_of_the_joints():
    older, push = external()
    for count in range(200):
        push(STEP * count)
    memory = older.memory.for_joints(['elbow', 'wheel', 'shoulder'])
    estimate = older.memory.observer.estimate
    assert memory.observer.estimate.value.tolist() == [
        estimate.value[1], 0.0, estimate.value[0]]
    assert memory.observer.estimate.received == estimate.received
    assert memory.effort is None and memory.contacts == {} and memory.observer.previous is None
    memory.observer.estimate.value[:] = memory.stamps.last = 9.0
    assert estimate.value[0] < 9.0 and older.memory.stamps.last < 9.0


def test_stamps_that_repeat_are_remembered():
    older, push = external()
    for _ in range(MAX_REPETITIONS + 1):
        push(1.0)
    assert older.missing == ''
    newer, push = external(memory=older.memory)
    push(1.0)
    assert 'does not change' in newer.missing and newer.effort is None


def test_a_new_memory_has_no_effort():
    memory = ExternalMemory.of(JOINTS)
    assert memory.effort is None and not memory.observer.estimate.value.any()
    assert external(memory=memory)[0].wrench() is None
