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
"""The springs of joints: by hand, by energy, by MuJoCo, and as a URDF gives them."""

from __future__ import annotations

from dataclasses import replace

from drawn_robots import assert_close
import numpy as np
import pytest
from ros2_rnea import AdjustableRobot, ArgumentError, DescriptionError, Robot
from ros2_rnea.model.description import Mimic
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, ROVER
from small_robots import robot as urdf

SPRINGS = {'shoulder': (40.0, 0.25), 'elbow': (8.0, -0.5), 'grip': (300.0, 0.02)}
Q, QD, QDD = np.random.default_rng(4).uniform(-1.0, 1.0, (3, 3))
OF_SPRINGS = [40.0 * (Q[0] - 0.25), 8.0 * (Q[1] + 0.5), 300.0 * (Q[2] - 0.02)]


def with_springs(text, springs):
    """Return a robot whose joints have springs: by name, stiffness and position at rest."""
    description = parse_urdf(text)
    return Robot.from_description(replace(description, joints=tuple(
        replace(each, spring_stiffness=springs[each.name][0],
                spring_reference=springs[each.name][1]) if each.name in springs else each
        for each in description.joints)))


@pytest.fixture(scope='module')
def robots(engine):
    """Return a robot with springs and the same without."""
    return with_springs(ARM_WITH_GRIPPER, SPRINGS), Robot.from_urdf(ARM_WITH_GRIPPER)


def test_effort_is_the_stiffness_times_the_deflection(robots):
    sprung, plain = robots
    np.testing.assert_allclose(sprung.spring(Q), OF_SPRINGS, rtol=1e-15)
    assert not plain.spring(Q).any()
    for name, inputs in [('inverse_dynamics', (Q, QD, QDD)), ('bias', (Q, QD))]:
        added = getattr(sprung, name)(*inputs) - getattr(plain, name)(*inputs)
        np.testing.assert_allclose(added, OF_SPRINGS, rtol=1e-12)
    np.testing.assert_allclose(sprung.effort_terms(Q, QD, QDD).spring, OF_SPRINGS, rtol=1e-15)
    assert np.array_equal(sprung.gravity(Q), plain.gravity(Q))
    assert np.array_equal(sprung.regressor(Q, QD, QDD), plain.regressor(Q, QD, QDD))


def test_accelerations_are_those_that_the_efforts_cause(robots):
    sprung, plain = robots
    tau = sprung.inverse_dynamics(Q, QD, QDD)
    assert_close(sprung.forward_dynamics(Q, QD, tau), QDD, tolerance=1e-12)
    moved = plain.forward_dynamics(Q, QD, tau - OF_SPRINGS)
    assert_close(sprung.forward_dynamics(Q, QD, tau), moved, tolerance=1e-12)


def test_stiffness_is_the_slope_of_effort_by_position(robots):
    sprung, plain = robots
    added = [each.inverse_dynamics_derivatives(Q, QD, QDD) for each in robots]
    expected = np.zeros((3, 3, 3))
    expected[0] = np.diag([40.0, 8.0, 300.0])
    np.testing.assert_allclose(added[0] - added[1], expected, atol=1e-12)


def test_spring_of_a_mimicking_joint_counts_at_its_leader():
    """The thumb moves by q = 0.1 - grip; its multiplier is -1."""
    sprung = with_springs(ARM_WITH_GRIPPER, {'thumb_joint': (300.0, 0.02)})
    expected = 300.0 * (0.1 - Q[2] - 0.02) * -1.0
    np.testing.assert_allclose(sprung.spring(Q), [0.0, 0.0, expected], rtol=1e-14)
    slopes = [each.inverse_dynamics_derivatives(Q, QD, QDD)[0, 2, 2]
              for each in (sprung, Robot.from_urdf(ARM_WITH_GRIPPER))]
    assert slopes[0] - slopes[1] == pytest.approx(300.0)
    description = parse_urdf(ARM_WITH_GRIPPER)
    faster = replace(description, joints=tuple(
        replace(each, mimic=Mimic('grip', -2.5, 0.1), spring_stiffness=4.0)
        if each.mimic else each for each in description.joints))
    assert Robot.from_description(faster).spring(Q)[2] == pytest.approx(
        4.0 * (-2.5 * Q[2] + 0.1) * -2.5)


def test_energy_is_stored_by_the_square_of_the_deflection(robots):
    sprung, _ = robots
    stored = sprung.potential_energy(Q, (0.0, 0.0, 0.0))
    assert stored == pytest.approx(0.5 * np.sum(
        [k * (q - q0)**2 for (k, q0), q in zip(SPRINGS.values(), Q)]))


def test_mujoco_has_the_same_efforts():
    mujoco_oracle = pytest.importorskip('mujoco_oracle')
    springs = {'shoulder': (40.0, 0.25), 'elbow': (8.0, -0.5)}
    oracle = mujoco_oracle.MujocoOracle(ARM)
    for name, (stiffness, reference) in springs.items():
        model_joint = oracle.model.joint(name)
        model_joint.stiffness[0] = stiffness
        oracle.model.qpos_spring[model_joint.qposadr[0]] = reference
    states = np.random.default_rng(6).uniform(-2.0, 2.0, (20, 3, 2))
    for state in states:
        assert_close(with_springs(ARM, springs).inverse_dynamics(*state),
                     oracle.inverse_dynamics(*state), tolerance=1e-12)


# ---- which joints have one --------------------------------------------------------------------


@pytest.mark.parametrize('values, said', [
    ((-1.0, 0.0), "joint 'elbow' has the spring stiffness -1.0; it must be zero or more"),
    ((np.nan, 0.0), 'spring stiffness nan; it must be finite'),
    ((1.0, np.inf), 'spring reference inf; it must be finite')])
def test_springs_that_are_not_possible_are_refused(values, said):
    with pytest.raises(DescriptionError, match=said):
        with_springs(ARM, {'elbow': values})


def test_joints_of_several_coordinates_have_none():
    with pytest.raises(DescriptionError, match="'drive' is planar.*spring stiffness 2.*one coord"):
        with_springs(ROVER, {'drive': (2.0, 0.0)})
    rover = AdjustableRobot.of(Robot.from_urdf(ROVER))
    with pytest.raises(ArgumentError, match="'drive' is planar"):
        rover.set_joint_parameters('spring_stiffness', {'drive': 2.0})


# ---- URDF, as SDFormat reads it -----------------------------------------------------------------


def gazebo(content, name='elbow'):
    return f'<gazebo reference="{name}">{content}</gazebo>'


STIFF, REST = '<springStiffness>12.5</springStiffness>', '<springReference>-0.25</springReference>'


@pytest.mark.parametrize('elements', [
    gazebo(STIFF + REST), gazebo(STIFF) + gazebo(REST), gazebo(STIFF + REST) * 2,
    gazebo('<springStiffness value="12.5"/><springReference value=" -0.25 "/>'),
    gazebo('<springStiffness value="12.5">3</springStiffness>\n' + REST)])
def test_springs_are_read_from_gazebo_elements(elements):
    description = parse_urdf(ARM.replace('</robot>', elements + '</robot>'))
    by_name = {each.name: each for each in description.joints}
    assert (by_name['elbow'].spring_stiffness, by_name['elbow'].spring_reference) == (12.5, -0.25)
    assert (by_name['shoulder'].spring_stiffness, by_name['shoulder'].spring_reference) == (0, 0)


@pytest.mark.parametrize('elements, said', [
    (gazebo(STIFF, 'elbw'), "'elbw'> <springStiffness> is not of a joint; did you mean 'elbow'"),
    (gazebo(STIFF, 'lower'), "'lower'> <springStiffness> is not of a joint"),
    ('<gazebo>' + STIFF + '</gazebo>', 'is not of a joint'),
    (gazebo('<springStiffness>stiff</springStiffness>'), "has 'stiff': a finite decimal number"),
    (gazebo('<springStiffness/>'), "has '': a finite decimal number"),
    (gazebo('<springStiffness>${k}</springStiffness>'), 'xacro was not expanded'),
    (gazebo(STIFF) + gazebo('<springStiffness>3</springStiffness>'), 'has 3, and another one'),
    (gazebo('<springStiffness>-3</springStiffness>'), 'spring stiffness -3.0'),
])
def test_springs_that_say_nothing_clear_are_refused(elements, said):
    with pytest.raises(DescriptionError, match=said):
        parse_urdf(ARM.replace('</robot>', elements + '</robot>'))


def test_other_elements_of_gazebo_never_matter():
    text = urdf('<link name="base"/>', link('arm'), joint('pan', 'base', 'arm'),
                gazebo('<springStiffnes>3</springStiffnes><mu1>oops</mu1>', 'nobody'))
    assert parse_urdf(text).joints[0].spring_stiffness == 0.0
