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
"""The regressor and the parameters it multiplies."""

from __future__ import annotations

from math import sin

from drawn_robots import assert_close, cases, for_drawn, vectors
from hypothesis import strategies as st
import numpy as np
import pytest
from ros2_rnea import ArgumentError, Robot
from ros2_rnea.dynamics.regressor import (
    inertia_from,
    inertial_parameters,
    PARAMETERS,
    parameters_of,
    regressor,
)
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Vector
from small_robots import ARM, joint, link, robot

PENDULUM = robot(link('wall'), link('bob'), joint('pin', 'wall', 'bob'))
WEIGHT = 9.81


def test_a_pendulum_s_regressor_by_hand():
    """The pin turns about y: τ = Iyy q̈ − g (hx cos q + hz sin q), mass itself does not count."""
    tree = build_tree(parse_urdf(PENDULUM))
    (row,) = regressor(tree, [0.5 * np.pi], [3.0], [2.0], Vector(0.0, 0.0, -WEIGHT))
    expected = dict.fromkeys(PARAMETERS, 0.0) | {'Iyy': 2.0, 'hz': -WEIGHT * sin(0.5 * np.pi)}
    assert dict(zip(PARAMETERS, row)) == pytest.approx(expected, abs=1e-14)


def test_parameters_are_mass_first_moment_and_inertia_about_the_origin():
    tree = build_tree(parse_urdf(PENDULUM))
    assert inertial_parameters(tree) == pytest.approx(
        [1.0, 0.1, 0.0, -0.2, 0.02 + 0.04, 0.0, 0.02, 0.03 + 0.05, 0.0, 0.02 + 0.01])


def test_an_inertia_is_its_ten_numbers():
    numbers = [float(n) for n in range(1, 11)]
    inertia = inertia_from(numbers)
    assert parameters_of(inertia) == numbers
    rows = np.array([[*row] for row in inertia.I_origin.rows])
    assert np.array_equal(rows, rows.T)


# ---- other parameters -------------------------------------------------------------------------


@for_drawn(cases(mimics=True))
def test_a_robot_s_own_parameters_make_the_same_robot(case):
    same = case.robot.with_inertial_parameters(case.robot.inertial_parameters)
    assert np.array_equal(same.inertial_parameters, case.robot.inertial_parameters)
    ours, own = (
        robot.inverse_dynamics(*case.state, case.f_ext, case.gravity)
        for robot in (same, case.robot))
    assert_close(ours, own, 100.0)
    assert same.joint_names == case.robot.joint_names


@for_drawn(cases(mimics=True), st.data())
def test_the_regressor_does_not_depend_on_the_parameters_it_multiplies(case, data):
    change = np.array(data.draw(vectors(1, len(case.robot.inertial_parameters))))
    other = case.robot.with_inertial_parameters(case.robot.inertial_parameters + change)
    Y = case.robot.regressor(*case.state, case.gravity)
    assert np.array_equal(other.regressor(*case.state, case.gravity), Y)
    gained = (other.inverse_dynamics(*case.state, gravity=case.gravity)
              - case.robot.inverse_dynamics(*case.state, gravity=case.gravity))
    assert_close(gained, Y @ change, 100.0 + np.max(np.abs(Y)))


@pytest.mark.parametrize('parameters, message', [
    (np.zeros(19), r"of shape \(19,\) are given; 'arm' needs 20 finite numbers"),
    (np.zeros((2, 10)), r'of shape \(2, 10\)'),
    (np.full(20, np.nan), '20 finite numbers'),
])
def test_parameters_that_do_not_fit_are_refused(parameters, message):
    with pytest.raises(ArgumentError, match=message):
        Robot.from_urdf(ARM).with_inertial_parameters(parameters)


def test_parameters_that_are_no_numbers_are_refused():
    with pytest.raises(ArgumentError):
        Robot.from_urdf(ARM).with_inertial_parameters(['heavy'] * 20)
