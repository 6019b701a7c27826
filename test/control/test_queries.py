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
"""Questions to the services: the state of the whole robot that a request is about."""

from __future__ import annotations

from math import inf, nan

import pytest
from ros2_rnea.control.decision import Instant
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.queries import (
    answered_joints,
    requested_efforts,
    RequestedState,
    state_query,
)
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM_WITH_GRIPPER, FREE_FLYER

ARM = Robot.from_urdf(ARM_WITH_GRIPPER)  # shoulder, elbow, grip; thumb_joint mimics grip
JOINTS = ('elbow', 'shoulder')           # not the order of the description
NOW = 50.0
FLIGHT = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)


def policy_of(whose=ARM, joints=JOINTS, **assumed):
    return Policy(whose, Settings(joints=joints, assumed_positions=assumed))


def flyer(**assumed):
    return policy_of(Robot.from_urdf(FREE_FLYER), ('camera',), **assumed)


def measured(**assumed):
    """Return a policy that has just heard the state of the arm, but not of its gripper."""
    policy = policy_of(**assumed)
    measure(policy, JOINTS, [0.2, 0.1], [2.0, 1.0])
    return policy


def measure(policy, names, positions, velocities, time=NOW):
    policy.take_joint_state(
        MeasuredJoints(names, positions, velocities),
        Instant(time, RosTime.from_seconds(time)))


def ask(policy, *arguments, now=NOW):
    """Return q, qd and qdd of a question as lists, in the order of the description."""
    return [vector.tolist() for vector in state_query(policy, now, RequestedState(*arguments))]


def test_efforts_are_those_requested_and_zero_for_other_joints():
    assert requested_efforts(policy_of(), ['grip', 'shoulder'], [3.0, 1.0]).tolist() == [
        1.0, 0.0, 3.0]
    assert requested_efforts(policy_of(), ['grip'], []).tolist() == [0.0] * 3


# ---- which state it is about ------------------------------------------------------------------


@pytest.mark.parametrize('given, expected', [
    ([], [[0.0] * 3, [0.0] * 3]),
    ([[3.0, 1.0, 2.0]], [[1.0, 2.0, 3.0], [0.0] * 3]),
    ([[3.0, 1.0, 2.0], [-3.0, -1.0, -2.0]], [[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]]),
    ([[], [-3.0, -1.0, -2.0]], [[0.0] * 3, [-1.0, -2.0, -3.0]])])
def test_named_joints_move_as_the_request_says_in_any_order(given, expected):
    assert ask(policy_of(), ['grip', 'shoulder', 'elbow'], [0.3, 0.1, 0.2], *given) == [
        [0.1, 0.2, 0.3], *expected]


def test_without_names_it_is_about_the_measured_state():
    policy = measured()
    measure(policy, ['grip'], [0.3], [3.0])
    assert RequestedState() == ((), (), (), ())
    assert ask(policy) == [[0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [0.0] * 3]


def test_a_joint_without_a_name_stands_where_it_is():
    policy = measured(grip=(0.5,))
    assert ask(policy, ['elbow'], [0.9], [9.0], [8.0]) == [
        [0.1, 0.9, 0.5], [0.0, 9.0, 0.0], [0.0, 8.0, 0.0]]
    measure(policy, ['grip'], [0.3], [3.0])
    assert ask(policy, ['elbow'], [0.9]) == [[0.1, 0.9, 0.3], [0.0] * 3, [0.0] * 3]


def test_a_joint_without_a_name_may_be_measured_long_ago():
    assert ask(measured(), ['grip'], [0.3], now=NOW + 1e6)[0] == [0.1, 0.2, 0.3]


def test_velocities_that_are_stale_do_not_count():
    policy = policy_of()
    measure(policy, ['grip'], [0.3], [3.0], time=NOW - 1.0)
    measure(policy, JOINTS, [0.2, 0.1], [2.0, 1.0])
    assert ask(policy, [], [])[1] == [1.0, 2.0, 0.0]


def test_a_question_changes_nothing():
    policy = measured(grip=(0.5,))
    before = ask(policy, [], [])
    ask(policy, ['shoulder', 'elbow', 'grip'], [9.0] * 3, [9.0] * 3, [9.0] * 3)
    assert ask(policy, [], []) == before


def test_joints_of_more_coordinates_stand_where_they_are_assumed():
    policy = flyer(flight=FLIGHT)
    assert ask(policy, ['camera'], [0.7], [7.0]) == [[*FLIGHT, 0.7], [0.0] * 6 + [7.0], [0.0] * 7]


# ---- what cannot be answered ------------------------------------------------------------------


@pytest.mark.parametrize('made, now', [(policy_of, NOW), (measured, NOW + 0.2)])
def test_without_names_and_a_fresh_state_there_is_no_answer(made, now):
    with pytest.raises(ArgumentError, match='no fresh one of elbow, shoulder: name joints'):
        state_query(made(grip=(0.5,)), now, RequestedState())


@pytest.mark.parametrize('arguments, message', [
    ((['elbo'], [0.0]), "^names names 'elbo'.*did you mean 'elbow'"),
    ((['thumb_joint'], [0.0]), "mimics 'grip'"),
    ((['elbow', 'elbow'], [0.0, 0.0]), 'twice'),
    ((['elbow'], []), '0 positions are given for 1 names'),
    ((['elbow'], [0.0, 0.0]), '2 positions are given for 1 names'),
    (([], [0.0]), '1 positions are given for 0 names'),
    ((['elbow', 'grip'], [0.0, 0.0], [0.0]), '1 velocities are given for 2 names'),
    ((['elbow', 'grip'], [0.0, 0.0], [], [0.0]), '1 accelerations are given for 2 names'),
    (([], [], [0.0]), '1 velocities are given for 0 names'),
    ((['elbow', 'grip'], [0.0, nan]), "positions has nan for joint 'grip'"),
    ((['elbow'], [0.0], [inf]), "velocities has inf for joint 'elbow'"),
    ((['elbow'], [0.0], [0.0], [-inf]), "accelerations has -inf for joint 'elbow'"),
])
def test_a_request_that_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        state_query(measured(grip=(0.5,)), NOW, RequestedState(*arguments))


@pytest.mark.parametrize('made, arguments, joint, advice', [
    (policy_of, (JOINTS, [0.0, 0.0]), 'grip', ': name it in the request, or set'),
    (policy_of, (['elbow', 'grip'], [0.0, 0.0]), 'shoulder', ': name it in the request, or set'),
    (measured, ([], []), 'grip', ': name it in the request, or set'),
    (flyer, (['camera'], [0.0]), 'flight', ': set')])
def test_an_unknown_joint_is_named_with_what_to_do(made, arguments, joint, advice):
    message = f'joint {joint!r} is not given, not measured and not assumed{advice}'
    with pytest.raises(ArgumentError, match=f'{message} assumed_positions.{joint}'):
        state_query(made(), NOW, RequestedState(*arguments))


# ---- the answer -------------------------------------------------------------------------------


def test_answers_name_the_controlled_joints_first():
    joints = answered_joints(policy_of())
    assert joints.names == ('elbow', 'shoulder', 'grip')
    assert joints.q_index.tolist() == joints.v_index.tolist() == [1, 0, 2]


def test_places_in_positions_and_efforts_differ_where_there_are_quaternions():
    joints = answered_joints(flyer(flight=FLIGHT))
    assert joints.names == ('camera',)
    assert (joints.q_index.tolist(), joints.v_index.tolist()) == ([7], [6])
