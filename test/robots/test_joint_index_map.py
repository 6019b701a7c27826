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
"""The state of the whole robot: what is measured, what is assumed and what nobody knows."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from ros2_rnea.errors import ArgumentError
from ros2_rnea.robots.joint_index_map import (
    check_assumed_positions,
    check_joint_names,
    joint_body,
    JointIndexMap,
    single_joints,
)
from ros2_rnea.robots.robot import Robot
from small_robots import ARM_WITH_GRIPPER, FREE_FLYER, joint, link, robot, ROVER

ARM = Robot.from_urdf(ARM_WITH_GRIPPER)     # shoulder, elbow, grip; thumb_joint mimics grip
CART = Robot.from_urdf(ROVER)               # drive (planar), pan
DRONE = Robot.from_urdf(FREE_FLYER)         # flight (floating), camera
UPRIGHT = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)


# ---- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize('whose, joints', [
    (ARM, ('shoulder', 'elbow', 'grip')), (CART, ('pan',)), (DRONE, ('camera',))])
def test_joint_states_hold_joints_of_one_freedom(whose, joints):
    assert single_joints(whose) == joints


def test_a_joint_s_body_is_the_one_it_carries():
    assert joint_body(CART, 'pan').link == 'mast'


@pytest.mark.parametrize('names', [(), ('elbow',), ['grip', 'shoulder']])
def test_joints_in_any_order_are_fine(names):
    check_joint_names(ARM, names, 'joints')


@pytest.mark.parametrize('whose, names, message', [
    (ARM, ['elbow', 'elbow'], "joints names 'elbow' twice"),
    (ARM, ['shoulder', 'elbo'], "'elbo', which is no moving joint of 'arm_with_gripper'.*'elbow'"),
    (ARM, ['xyz'], "'xyz', which is no moving joint of .*; its joints are shoulder, elbow, grip"),
    (ARM, ['thumb_joint'], "'thumb_joint', which mimics 'grip' .* name 'grip' alone"),
    (CART, ['drive'], "'drive', a planar joint; only revolute, continuous and prismatic"),
    (DRONE, ['flight'], "'flight', a floating joint"),
])
def test_a_wrong_name_is_refused_for_what_it_is(whose, names, message):
    with pytest.raises(ArgumentError, match=message):
        check_joint_names(whose, names, 'joints')


def test_the_message_says_where_the_name_stands():
    with pytest.raises(ArgumentError, match='^names names'):
        check_joint_names(ARM, ['xyz'], 'names')


def test_the_leader_of_a_mimic_is_found_among_many():
    several = Robot.from_urdf(robot(
        *(link(name) for name in 'abcde'),
        joint('a_b', 'a', 'b'), joint('b_c', 'b', 'c', kind='continuous'),
        joint('c_d', 'c', 'd', extra='<mimic joint="b_c"/>'),
        joint('d_e', 'd', 'e', extra='<mimic joint="c_d"/>')))
    with pytest.raises(ArgumentError, match="'d_e', which mimics 'b_c'"):
        check_joint_names(several, ['d_e'], 'joints')


# ---- assumed positions ------------------------------------------------------------------------


@pytest.mark.parametrize('whose, assumed', [
    (ARM, {}), (ARM, {'grip': (0.04,)}), (ARM, {'grip': (0.04,), 'elbow': (1.0,)}),
    (CART, {'drive': (1.0, 2.0, 3.0)}), (DRONE, {'flight': UPRIGHT}),
    (ARM, {'joint_of_another_robot': (1.0, 2.0)})])
def test_assumed_positions_of_the_right_size_are_fine(whose, assumed):
    check_assumed_positions(whose, assumed)


@pytest.mark.parametrize('whose, assumed, message', [
    (ARM, {'grip': ()}, r"assumed_positions.grip is \[\]; .*'grip' needs 1 finite number$"),
    (ARM, {'grip': (1.0, 2.0)}, 'the prismatic joint .* needs 1 finite number$'),
    (ARM, {'grip': (nan,)}, r'is \[nan\]'),
    (ARM, {'grip': (inf,)}, r'is \[inf\]'),
    (CART, {'drive': (1.0,)}, "the planar joint 'drive' needs 3 finite numbers"),
    (DRONE, {'flight': (0.0,) * 6}, "the floating joint 'flight' needs 7 finite numbers"),
    (DRONE, {'flight': (0.0,) * 7}, "'flight'.*length"),
    (DRONE, {'flight': (*(0.0,) * 6, 2.0)}, "'flight'.*length"),
])
def test_an_assumed_position_that_does_not_fit_is_refused(whose, assumed, message):
    with pytest.raises(ArgumentError, match=message):
        check_assumed_positions(whose, assumed)


# ---- the state --------------------------------------------------------------------------------


def test_values_stand_at_their_joints_places_whatever_their_order():
    whole = JointIndexMap(ARM, ('grip', 'shoulder', 'elbow'), {})
    assert whole.q_index.tolist() == whole.v_index.tolist() == [2, 0, 1]
    assert whole.positions(np.array([0.3, 0.1, 0.2])).tolist() == [0.1, 0.2, 0.3]
    assert whole.velocities(np.array([3.0, 1.0, 2.0])).tolist() == [1.0, 2.0, 3.0]


def test_positions_and_velocities_have_places_of_their_own():
    whole = JointIndexMap(DRONE, ('camera',), {'flight': UPRIGHT})
    assert (whole.q_index.tolist(), whole.v_index.tolist()) == ([7], [6])
    assert whole.positions(np.array([0.5])).tolist() == [*UPRIGHT, 0.5]
    assert whole.velocities(np.array([0.5])).tolist() == [0.0] * 6 + [0.5]


def test_a_measured_position_goes_before_the_assumed_one():
    whole = JointIndexMap(ARM, ('shoulder', 'elbow', 'grip'), {'grip': (0.04,)})
    assert whole.positions(np.array([0.1, 0.2, 0.03])).tolist() == [0.1, 0.2, 0.03]
    assert whole.positions(np.array([0.1, 0.2, nan])).tolist() == [0.1, 0.2, 0.04]


def test_the_answers_are_copies():
    whole = JointIndexMap(ARM, ('shoulder', 'elbow'), {'grip': (0.04,)})
    for answer, of_grip in ((whole.positions, 0.04), (whole.velocities, 0.0)):
        answer(np.zeros(2))[:] = 99.0
        assert answer(np.zeros(2)).tolist() == [0.0, 0.0, of_grip]


@pytest.mark.parametrize('assumed, values, unknown', [
    ({}, (0.1, 0.2, 0.3), ()),
    ({}, (0.1, 0.2, nan), ('grip',)),
    ({}, (nan, 0.2, nan), ('shoulder', 'grip')),
    ({'grip': (0.04,)}, (0.1, 0.2, nan), ()),
    ({'grip': (0.04,)}, (0.1, nan, nan), ('elbow',)),
])
def test_a_joint_neither_measured_nor_assumed_is_unknown(assumed, values, unknown):
    whole = JointIndexMap(ARM, ('shoulder', 'elbow', 'grip'), assumed)
    assert whole.unknown(np.array(values)) == unknown
    filled = whole.with_zero_where_unknown(np.array(values))
    expected = [0.0 if name in unknown else value
                for name, value in zip(('shoulder', 'elbow', 'grip'), values)]
    np.testing.assert_array_equal(filled, expected)


@pytest.mark.parametrize('whose, names, joint_name, position', [
    (CART, ('pan',), 'drive', (0.0, 0.0, 0.0)), (DRONE, ('camera',), 'flight', UPRIGHT)])
def test_joints_no_joint_state_can_hold_must_be_assumed(whose, names, joint_name, position):
    values = np.zeros(1)
    assert JointIndexMap(whose, names, {}).unknown(values) == (joint_name,)
    assert JointIndexMap(whose, names, {joint_name: position}).unknown(values) == ()


def test_a_mimic_joint_is_never_required():
    assert 'thumb_joint' not in JointIndexMap(ARM, (), {}).unknown(np.zeros(0))
