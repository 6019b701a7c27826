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
"""What the joints' own friction takes."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from paired_robots import needs_extension, needs_llvmlite
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.friction import friction_slope, joint_friction, SIGN_WIDTH
from ros2_rnea.dynamics.terms import FRICTION_EFFORT
from ros2_rnea.errors import DescriptionError
from ros2_rnea.kernels.tracing import trace, Variant
from ros2_rnea.model.description import JointType, Mimic
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER

VISCOUS, COULOMB = 0.5, 3.0


def described(text, **changes):
    """Return a description with other joints: by name, what is to change."""
    description = parse_urdf(text)
    return replace(description, joints=tuple(
        replace(joint, **changes.get(joint.name, {})) for joint in description.joints))


def arm(**shoulder):
    elbow = {'damping': 0.0, 'friction': 0.0}
    return build_tree(described(ARM, shoulder=shoulder, elbow=elbow))


def test_viscous_friction_is_in_proportion_to_the_velocity():
    tree = arm(damping=VISCOUS)
    assert joint_friction(tree, [4.0, 1.0]) == [2.0, 0.0]
    assert joint_friction(tree, [-4.0, 1.0]) == [-2.0, 0.0]


@pytest.mark.parametrize('rate', [1.0, -1.0, 30.0])
def test_coulomb_friction_goes_against_the_motion_with_all_of_it(rate):
    effort, _ = joint_friction(arm(damping=0.0, friction=COULOMB), [rate, 0.0])
    assert effort == pytest.approx(np.sign(rate) * COULOMB, rel=1e-4)


def test_at_rest_there_is_none():
    assert joint_friction(arm(damping=VISCOUS, friction=COULOMB), [0.0, 0.0]) == [0.0, 0.0]


def test_at_the_slow_speed_there_is_seven_tenths_of_it():
    effort, _ = joint_friction(arm(damping=0.0, friction=COULOMB), [SIGN_WIDTH, 0.0])
    assert effort == pytest.approx(COULOMB / sqrt(2.0))


def test_the_sign_is_smooth_odd_and_grows():
    """No step between two velocities gives more than the steepest slope, which is at rest."""
    tree = arm(damping=0.0, friction=COULOMB)
    rates = np.linspace(-5.0 * SIGN_WIDTH, 5.0 * SIGN_WIDTH, 1001)
    efforts = np.array([joint_friction(tree, [rate, 0.0])[0] for rate in rates])
    np.testing.assert_allclose(efforts, -efforts[::-1], atol=1e-15)
    steps = np.diff(efforts)
    assert np.all(steps > 0.0)
    assert np.max(steps) <= COULOMB / SIGN_WIDTH * (rates[1] - rates[0]) * (1.0 + 1e-9)


def test_noise_of_a_joint_at_rest_brings_little_of_it():
    effort, _ = joint_friction(arm(damping=0.0, friction=COULOMB), [0.001, 0.0])
    assert 0.0 < effort < 0.15 * COULOMB


def test_a_mimicking_joint_s_friction_counts_at_its_leader():
    tree = build_tree(described(
        ARM_WITH_GRIPPER, grip={'damping': 1.0}, thumb_joint={
            'damping': 2.0, 'friction': COULOMB, 'mimic': Mimic('grip', -3.0, 0.1)}))
    effort = joint_friction(tree, [0.0, 0.0, 0.5])[2]
    assert effort == pytest.approx(0.5 + 3.0 * (2.0 * 1.5 + COULOMB), rel=1e-4)


def test_every_velocity_of_a_joint_has_the_same_friction():
    tree = build_tree(described(
        ARM, shoulder={'type': JointType.CYLINDRICAL, 'damping': VISCOUS, 'friction': 0.0}))
    assert joint_friction(tree, [1.0, 2.0, 0.0]) == pytest.approx([0.5, 1.0, 0.0])


# ---- what an identification finds -------------------------------------------------------------

LAW = {
    'damping': 0.5, 'friction': 3.0, 'friction_offset': -0.4, 'damping_positive': 0.25,
    'damping_negative': 0.125, 'friction_positive': 0.5, 'friction_negative': 0.75,
    'breakaway_friction': 1.5, 'stribeck_velocity': 0.2}
Q = [0.3, 0.2]
SPEEDS = [*np.linspace(-1.0, 1.0, 41), -30.0, 30.0, -SIGN_WIDTH, SIGN_WIDTH, 1e-9]


def by_the_formula(rate):
    """Return the friction of LAW as docs/theory.rst writes it."""
    s = rate / sqrt(rate**2 + SIGN_WIDTH**2)
    viscous = 0.5 + 0.25 * (1.0 + s) / 2.0 + 0.125 * (1.0 - s) / 2.0
    dry = (3.0 + 0.5 * (1.0 + s) / 2.0 + 0.75 * (1.0 - s) / 2.0
           + 1.5 / (1.0 + rate**2 / (0.2**2 + SIGN_WIDTH**2)))
    return viscous * rate + s * dry - 0.4


@pytest.mark.parametrize('engine', [
    'textbook', pytest.param('tape', marks=needs_extension),
    pytest.param('compiled', marks=needs_llvmlite)])
def test_identified_friction_is_the_formula_s_in_all_engines(engine):
    robot, without = Robot(arm(**LAW), engine=engine), Robot(arm(damping=0.0))
    rates = np.array([[rate, 1.0] for rate in SPEEDS])
    expected = [[by_the_formula(rate), 0.0] for rate in SPEEDS]
    np.testing.assert_allclose(robot.friction(rates), expected, rtol=1e-12, atol=1e-14)
    for rate, effort in zip(rates, expected):
        np.testing.assert_allclose(robot.friction(rate), effort, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(
            robot.inverse_dynamics(Q, rate, Q) - without.inverse_dynamics(Q, rate, Q), effort,
            atol=1e-12)


@pytest.mark.parametrize('rate, effort', [
    (30.0, 30.0 * 0.75 + 3.5 - 0.4), (-30.0, -30.0 * 0.625 - 3.75 - 0.4), (0.0, -0.4)])
def test_each_direction_has_its_friction_and_rest_the_offset(rate, effort):
    assert joint_friction(arm(**LAW), [rate, 0.0])[0] == pytest.approx(effort, rel=1e-4)


def test_half_of_breakaway_friction_is_left_at_the_stribeck_velocity():
    tree = arm(damping=0.0, friction=2.0, breakaway_friction=1.0, stribeck_velocity=0.5)
    assert joint_friction(tree, [0.5, 0.0])[0] == pytest.approx(2.5, rel=1e-3)
    assert joint_friction(tree, [10.0, 0.0])[0] == pytest.approx(2.0, rel=2e-3)
    peak = max(joint_friction(tree, [rate, 0.0])[0] for rate in np.linspace(0.0, 0.2, 201))
    assert 2.9 < peak < 3.0


@pytest.mark.parametrize('without', [None, *(name for name in LAW if name != 'friction_offset')])
def test_each_number_but_the_offset_takes_energy_out(without):
    tree = arm(**{**LAW, 'friction_offset': 0.0, **({without: 0.0} if without else {})})
    powers = [rate * joint_friction(tree, [rate, 0.0])[0] for rate in SPEEDS if rate]
    assert min(powers) > 0.0


def test_the_slope_of_it_is_that_of_finite_differences():
    tree, step = arm(**LAW), 1e-6
    for rate in SPEEDS:
        beside = [joint_friction(tree, [rate + side, 0.0])[0] for side in (-step, step)]
        assert friction_slope(tree, [rate, 0.0])[0] == pytest.approx(
            (beside[1] - beside[0]) / (2.0 * step), rel=1e-6, abs=1e-6)


def test_a_mimic_joint_turning_the_other_way_exchanges_directions():
    tree = build_tree(described(ARM_WITH_GRIPPER, grip={'damping': 0.0}, thumb_joint={
        'friction_positive': 0.5, 'friction_offset': 0.25, 'mimic': Mimic('grip', -2.0, 0.0)}))
    assert joint_friction(tree, [0.0, 0.0, 1.0])[2] == pytest.approx(-2.0 * 0.25, abs=1e-4)
    assert joint_friction(tree, [0.0, 0.0, -1.0])[2] == pytest.approx(
        -2.0 * (0.5 + 0.25), rel=1e-3)


def test_a_joint_of_several_coordinates_cannot_have_it():
    with pytest.raises(DescriptionError, match="'shoulder' is .*friction offset 0.5.*one coord"):
        build_tree(described(
            ARM, shoulder={'type': JointType.CYLINDRICAL, 'friction_offset': 0.5}))


def test_without_it_the_kernel_has_viscous_and_coulomb_friction():
    counts = []
    for tree in (arm(damping=VISCOUS, friction=COULOMB), arm(**LAW)):
        traced = trace(tree, FRICTION_EFFORT, Variant.of(tree, {}))
        counts.append(traced.graph.count(traced.outputs))
    # Of each of two joints: v², + SIGN_WIDTH², its root, v / root; d v, f s, and their sum.
    assert counts[0] == {'multiply': 6, 'add': 4, 'square root': 2, 'divide': 2}
    assert counts[1].total() > 2 * counts[0].total()
