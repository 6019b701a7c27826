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
"""
The node beside the real controller manager and controllers, with the ready configurations.

The tests compare what the controllers command with the inverse dynamics of their reference, which
does not depend on the hardware.  They are skipped where ros2_control is not installed, unless the
environment variable ROS2_RNEA_DEMANDS_ROS2_CONTROL is set, as in CI.
"""

import os
import re
import signal

import numpy as np
import pytest
import ros2_control_rig
from ros2_control_rig import EFFORT, JOINTS, JTC, REST, Rig, START, STATES, trajectory
from ros2_rnea import Robot
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from std_srvs.srv import SetBool

pytestmark = [pytest.mark.ros, pytest.mark.slow]
if ros2_control_rig.REASON and not os.environ.get('ROS2_RNEA_DEMANDS_ROS2_CONTROL'):
    pytest.skip(ros2_control_rig.REASON, allow_module_level=True)

OTHER = np.array(START) + (0.6, 0.5, -0.4, 0.7, 0.5, -0.4, 0.6)
# The description's damping is that of a simulation: by default the node leaves it out.
ROBOT = Robot.from_urdf(re.sub('<dynamics [^>]*/>', '', seven_dof_arm()))
PARTIAL = f'{JTC}: {{ros__parameters: {{allow_partial_joints_goal: true}}}}'
SLOW = 'controller_manager: {ros__parameters: {update_rate: 500}}'


def test_ros2_control_is_installed():
    assert not ros2_control_rig.REASON


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the controller manager with a ready configuration."""
    rigs = []

    def begin(*arguments):
        rigs.append(Rig(tmp_path, *arguments))
        return rigs[-1]
    yield begin
    for rig in rigs:
        rig.close()


def needed(states):
    """Return the efforts that the references of a controller need."""
    return ROBOT.inverse_dynamics(*(
        np.array([getattr(state.reference, field) for state in states])
        for field in ('positions', 'velocities', 'accelerations')))


def commanded(states):
    return np.array([state.output.effort for state in states])


def is_moving(state):
    return any(abs(velocity) > 1e-6 for velocity in state.reference.velocities)


def has_arrived(rig, positions):
    """Return whether the newest state is that of the end of a motion; a result may come first."""
    reference = rig.states[-1].reference
    return any(map(is_moving, rig.states)) and not is_moving(rig.states[-1]) and (
        list(reference.positions) == pytest.approx(positions))


def held_error(rig):
    """Return by how much the effort of the newest state is wrong at the reference [Nm]."""
    newest = rig.states[-1:]
    return np.abs(commanded(newest) - needed(newest)).max()


@pytest.mark.parametrize('configuration', ['jtc_effort', 'jtc_position_effort'])
def test_a_filled_goal_commands_the_inverse_dynamics_of_the_reference(start, configuration):
    rig = start(configuration, SLOW)
    rig.start_node(configuration)
    filled = rig.fill(trajectory((0.0, START, REST, REST), (2.0, OTHER, REST, REST)))
    rig.spawn(STATES, JTC)
    rig.follow()
    handle = rig.send(filled.trajectory)
    if configuration == 'jtc_position_effort':
        assert rig.succeeds(handle)
    rig.until(lambda: list(rig.states[-1].reference.positions) == list(OTHER))
    moving = [state for state in rig.states if is_moving(state)]
    assert len(moving) > 100
    if configuration == 'jtc_position_effort':  # with effort alone, the PID is in it
        wrong = np.abs(commanded(moving) - needed(moving))
        assert (wrong.max(axis=0) <= 1.01 * np.array(filled.report.interpolation_error)).all()
        assert held_error(rig) < 1e-6


def test_the_reference_is_what_the_node_computes_of_the_trajectory(start):
    rig = start('jtc_position_effort', SLOW)
    rig.spawn(STATES, JTC)
    rig.follow()
    middle = 0.5 * (OTHER + START)
    goal = trajectory((0.0, START, REST, REST), (0.7, middle, 0.4 * (OTHER - START)),
                      (1.5, OTHER, REST, REST), (2.2, START))
    for point in goal.points:
        point.effort = [0.0] * 7
    assert rig.succeeds(rig.send(goal))
    rig.until(lambda: has_arrived(rig, START))
    times = (0.0, 0.7, 1.5, 2.2)
    ours = Trajectory(JOINTS, [Waypoint(time, *(
        values for values in (point.positions, point.velocities, point.accelerations)
        if len(values))) for time, point in zip(times, goal.points)])
    moving = [state for state in rig.states if is_moving(state)]
    assert len(moving) > 100
    for state in moving:
        at, reference = state.reference.time_from_start, state.reference
        theirs = (reference.positions, reference.velocities, reference.accelerations)
        np.testing.assert_allclose(
            ours.at((1_000_000_000 * at.sec + at.nanosec) / 1e9), theirs, atol=1e-9)


def test_joints_omitted_by_a_goal_keep_their_effort(start):
    rig = start('jtc_position_effort', SLOW + '\n' + PARTIAL)
    rig.start_node('jtc_position_effort')
    rig.spawn(STATES, JTC)
    rig.follow()
    goal = rig.fill(trajectory((0.0, START, REST, REST), (0.5, START, REST, REST)))
    assert rig.succeeds(rig.send(goal.trajectory))
    partial = rig.fill(trajectory(
        (0.0, START[:2], REST[:2], REST[:2]), (1.0, OTHER[:2], REST[:2], REST[:2]),
        joints=JOINTS[:2]))
    assert 'joint3' in partial.message
    assert sorted(partial.trajectory.joint_names) == JOINTS
    assert not any(map(is_moving, rig.states))
    assert rig.succeeds(rig.send(partial.trajectory))
    rig.until(lambda: has_arrived(rig, [*OTHER[:2], *START[2:]]))
    first = [*map(is_moving, rig.states)].index(True)  # those before may be from before the goal
    wrong = np.abs(commanded(rig.states[first:]) - needed(rig.states[first:]))
    assert wrong.max() <= 1.01 * max(partial.report.tolerance)
    rig.until(lambda: held_error(rig) < 1e-6)  # the result may arrive before the last states


def test_a_hold_follows_a_cancel_but_disturbs_no_later_goal(start):
    rig = start('jtc_position_effort', SLOW)
    rig.start_node('jtc_position_effort', hold_after_goal=True)
    rig.spawn(STATES, JTC)
    rig.follow()
    rig.until(lambda: held_error(rig) < 1e-6)  # after the activation
    there = rig.fill(trajectory((0.0, START, REST, REST), (1.0, OTHER, REST, REST)))
    assert rig.succeeds(rig.send(there.trajectory))
    # Both goals last long enough to be canceled before their ends on a busy machine, too.
    back = rig.fill(trajectory((0.0, OTHER, REST, REST), (9.0, START, REST, REST)))
    handle = rig.send(back.trajectory)
    rig.until(lambda: abs(rig.states[-1].reference.positions[1] - OTHER[1]) > 0.2)
    rig.cancel(handle)
    rig.until(lambda: not is_moving(rig.states[-1]) and held_error(rig) < 1e-6)
    handle = rig.send(rig.fill(trajectory((9.0, OTHER, REST, REST))).trajectory)
    count = len(rig.states)
    rig.until(lambda: len(rig.states) > count + 200)
    rig.cancel(handle)
    goal = trajectory((1.0, START, REST, REST))
    assert rig.succeeds(rig.send(goal))
    rig.until(  # the result may arrive before the last states
        lambda: list(rig.states[-1].reference.positions) == pytest.approx(START))


def test_live_efforts_follow_the_reference_through_goals_and_cancel(start):
    rig = start('live_feedforward', SLOW)
    rig.start_node('live_feedforward')
    commands = rig.commands()
    rig.spawn(STATES, JTC, EFFORT)
    rig.follow()
    rig.until(lambda: commands and np.abs(commands[-1] - needed(rig.states[-1:])).max() < 0.3)
    del commands[:]  # those of the first blend
    assert rig.succeeds(rig.send(trajectory((1.5, OTHER, REST, REST))))
    # It takes long enough to be canceled before its end on a busy machine, too.
    handle = rig.send(trajectory((9.0, START, REST, REST)))
    rig.until(lambda: abs(rig.states[-1].reference.positions[1] - OTHER[1]) > 0.2)
    rig.cancel(handle)
    first = len(commands)  # while it stands, no effort but that of one pose is right
    count = len(rig.states)
    rig.until(lambda: not is_moving(rig.states[-1]) and len(rig.states) > count + 100)
    rig.until(lambda: np.abs(commands[-1] - needed(rig.states[-1:])).max() < 0.01)
    assert not is_moving(rig.states[-1])
    # Whatever the delays of the machine: each effort is that of a reference, and they move.
    right = needed(rig.states)
    wrong = [np.abs(right - effort).max(axis=1).min() for effort in commands[:first]]
    assert np.percentile(wrong[-1000:], 99) < 0.3
    assert np.ptp(commands, axis=0).max() > 10.0


@pytest.mark.parametrize('order', ['node last', 'node first', 'efforts last'])
def test_beside_position_control_the_first_effort_is_zero(start, order):
    """The drives hold the arm already, and report their effort: it must not count twice."""
    rig = start('live_feedforward', SLOW)
    commands = rig.commands()
    slowly = {'blend_time': 5.0}  # the controller may be discovered a little before this test
    if order == 'node last':
        rig.spawn(STATES, JTC, EFFORT)
        rig.joint_states()
        rig.start_node('live_feedforward', **slowly)
    else:
        rig.start_node('live_feedforward', **slowly)
        if order == 'node first':
            rig.spawn(STATES, JTC, EFFORT)
        else:
            rig.spawn(STATES, JTC)
            assert rig.call(SetBool, 'inverse_dynamics/enable', data=True).success  # it runs
            rig.spawn(EFFORT)
    rig.follow()
    rig.until(lambda: commands and np.abs(commands[-1] - needed(rig.states[-1:])).max() < 0.3)
    largest = np.abs(needed(rig.states[-1:])).max()
    assert largest > 5.0
    assert np.abs(commands[0]).max() < 0.01 * largest


def test_the_documented_reload_of_the_effort_controller_has_no_step(start):
    rig = start('forward_command', SLOW)
    rig.start_node('forward_command', on_stop='zero')
    commands = rig.commands()
    rig.spawn(STATES, EFFORT)
    rig.until(lambda: commands and np.abs(commands[-1]).max() > 10.0)
    assert rig.call(SetBool, 'inverse_dynamics/enable', data=False).success
    rig.until(lambda: np.abs(commands[-1]).max() < 1e-9)
    rig.unload(EFFORT)
    rig.spawn(EFFORT)
    count = len(commands)
    assert rig.call(SetBool, 'inverse_dynamics/enable', data=True).success
    rig.until(lambda: np.abs(commands[-1]).max() > 10.0)
    assert np.abs(commands[count]).max() < 1.0
    steps = np.abs(np.diff(commands[count:], axis=0)).max(axis=1)
    assert (steps < 5.0 * np.diff(rig.numbers[count:])).all()  # not each one may have arrived


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_a_restarted_node_continues_from_the_last_command(start, number):
    rig = start('forward_command', SLOW)
    node = rig.start_node('forward_command')
    commands = rig.commands()
    rig.spawn(STATES, EFFORT)
    rig.joint_states()
    rig.until(lambda: len(commands) > 500 and np.abs(commands[-1]).max() > 5.0)
    rig.end(node, number)
    rig.start_node('forward_command')
    count = len(commands)

    def first_of_new() -> int:
        """Return the index of the first command of the new node, which counts its own; or 0."""
        numbers = rig.numbers
        return next((index for index in range(count, len(numbers))
                     if numbers[index] <= numbers[index - 1]), 0)

    rig.until(first_of_new)  # those that the first one has sent last may still be on their way
    first = first_of_new()
    assert np.abs(commands[first] - commands[first - 1]).max() < 2.0
