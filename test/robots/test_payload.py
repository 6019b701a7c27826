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
"""Payloads: rigid bodies that are attached to a link, and taken off again."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

from drawn_robots import assert_close, cases, check_drawn, inertials
import numpy as np
import pytest
from ros2_rnea import ArgumentError, Inertial, RneaError, Robot
from ros2_rnea.model.description import (
    JointDescription,
    JointType,
    LinkDescription,
    Pose,
    RobotDescription,
)
from small_robots import ARM, FREE_FLYER

STATE = np.array([[0.3, -0.8], [1.0, -2.0], [3.0, 4.0]])
STONE = Inertial(2.0, Pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.5)), (0.03, 0.001, 0.002, 0.04, 0, 0.05))
POINT = Inertial(1.0)

pytestmark = pytest.mark.usefixtures('engine')


@pytest.fixture(scope='module')
def arm(engine):
    return Robot.from_urdf(ARM)


def same(robot, other):
    return np.array_equal(robot.inverse_dynamics(*STATE), other.inverse_dynamics(*STATE))


def test_a_payload_is_a_link_on_a_fixed_joint(engine):
    check_drawn(compare_with_welded, cases(mimics=True), inertials(), engine=engine)


def compare_with_welded(case, inertial):
    """Compare a robot with a payload with one that has it as a link."""
    welded = RobotDescription(
        'welded', (*case.description.links, LinkDescription('payload', inertial)),
        (*case.description.joints,
         JointDescription('weld', JointType.FIXED, case.link, 'payload')))
    expected = Robot.from_description(welded, case.floating_base)
    loaded = case.robot.with_payload('stone', case.link, inertial)
    assert_close(loaded.inverse_dynamics(*case.state, case.f_ext, case.gravity),
                 expected.inverse_dynamics(*case.state, case.f_ext, case.gravity), 100.0)
    assert_close(loaded.mass_matrix(case.q), expected.mass_matrix(case.q))
    assert_close(loaded.inertial_parameters, expected.inertial_parameters)


def test_a_point_mass_at_the_tool_by_hand(arm):
    """The tool is 0.6 m beyond the shoulder and 0.3 m beyond the elbow, straight out along x."""
    loaded = arm.with_payload('apple', 'tool', POINT)
    q = [0.5 * np.pi, 0.0]
    added = loaded.gravity(q) - arm.gravity(q)
    assert added == pytest.approx([-0.6 * 9.81, -0.3 * 9.81])


def test_a_payload_has_the_words_of_the_service():
    """The service has m, com and ixx to izz; a Pose is for axes that are not the link's."""
    six = (0.03, 0.001, 0.002, 0.04, 0.003, 0.05)
    matrix = ((0.03, 0.001, 0.002), (0.001, 0.04, 0.003), (0.002, 0.003, 0.05))
    expected = Inertial(2.0, Pose((0.1, 0.2, 0.3)), six)
    assert expected.com == (0.1, 0.2, 0.3)
    for inertia in (six, matrix, np.array(six), np.array(matrix)):
        for com in ((0.1, 0.2, 0.3), np.array([0.1, 0.2, 0.3])):
            assert Inertial(2.0, com=com, inertia=inertia) == expected
    assert replace(expected, mass=3.0) == Inertial(3.0, com=expected.com, inertia=matrix)


@pytest.mark.parametrize('given, message', [
    ({'com': (0.1, 0.2)}, r'com is \(0.1, 0.2\); it needs three numbers'),
    ({'inertia': ((0.03, 0.01, 0.0), (0.02, 0.04, 0.0), (0.0, 0.0, 0.05))}, 'ixy 0.01, iyx 0.02'),
    ({'inertia': ((0.03, 0.0, 0.01), (0.0, 0.04, 0.0), (0.0, 0.0, 0.05))}, 'ixz 0.01, izx 0.0'),
    ({'inertia': ((0.03, 0.0, 0.0), (0.0, 0.04, 0.01), (0.0, 0.0, 0.05))}, 'iyz 0.01, izy 0.0'),
    ({'inertia': (0.03, 0.04, 0.05)}, r'shape \(3, 3\)'),
    ({'inertia': (0.03, 0.04)}, r'shape \(3, 3\)'),
    *(({'mass': value}, 'the mass has .*; it needs real numbers')
      for value in ('1.5', None, 1j, np.complex128(1.5))),
    ({'com': (0.1, '0.2', 0.0)}, "centre of mass has '0.2'"),
    ({'com': 0.1}, 'com is 0.1; it needs three numbers'),
    ({'origin': Pose((0.0, 'a', 0.0))}, "centre of mass has 'a'"),
    ({'origin': Pose(rpy=(0.0, 0.5j, 0.0))}, 'rotation of the origin has 0.5j'),
    ({'origin': (0.0, 0.0, 0.1)}, 'it needs a Pose; com may be three numbers'),
    ({'inertia': (0.03, 0.0, 0.0, '0.04', 0.0, 0.05)}, "inertia has '0.04'"),
    ({'inertia': 'abcdef'}, "inertia has 'a'"),
    ({'inertia': None}, r'the inertia is None; .* shape \(3, 3\)'),
    ({'inertia': ((0.03, 0.0, 0.0), (0.0, 0.04j, 0.0), (0.0, 0.0, 0.05))}, 'inertia has 0.04j'),
    ({'com': (0.1, 0.0, 0.0), 'origin': Pose(rpy=(0.0, 0.5, 0.0))}, 'by origin.*; give one'),
])
def test_an_inertial_that_is_not_understood_is_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        Inertial(**{'mass': 2.0, **given})


def test_a_matrix_may_be_rounded():
    """A rotation leaves products that differ in their last digits."""
    turned = np.array([[0.03, 0.001, 0.0], [0.001 + 1e-17, 0.04, 0.0], [0.0, 0.0, 0.05]])
    assert Inertial(2.0, inertia=turned).inertia[1] == pytest.approx(0.001)


def test_it_is_in_everything_that_the_robot_computes(arm):
    loaded = arm.with_payload('stone', 'tool', STONE)
    q, qd, qdd = STATE
    for one, other in [
            (loaded.gravity(q), arm.gravity(q)),
            (loaded.bias(q, qd), arm.bias(q, qd)),
            (loaded.mass_matrix(q), arm.mass_matrix(q)),
            (loaded.coriolis_matrix(q, qd), arm.coriolis_matrix(q, qd)),
            (loaded.forward_dynamics(q, qd, qdd), arm.forward_dynamics(q, qd, qdd)),
            (loaded.kinetic_energy(q, qd), arm.kinetic_energy(q, qd)),
            (loaded.potential_energy(q), arm.potential_energy(q)),
            (loaded.center_of_mass(q), arm.center_of_mass(q)),
            (loaded.momentum(q, qd), arm.momentum(q, qd)),
            (loaded.joint_wrenches(*STATE)['elbow'], arm.joint_wrenches(*STATE)['elbow'])]:
        assert not np.allclose(one, other)


def test_payloads_are_known_by_name(arm):
    loaded = arm.with_payload('stone', 'tool', STONE).with_payload('apple', 'upper', POINT)
    assert dict(loaded.payloads) == {'stone': ('tool', STONE), 'apple': ('upper', POINT)}
    assert not arm.payloads
    with pytest.raises(TypeError):
        loaded.payloads['pear'] = ('tool', POINT)


def test_the_robot_itself_never_changes(arm):
    before = arm.inverse_dynamics(*STATE)
    arm.with_payload('stone', 'tool', STONE)
    assert np.array_equal(arm.inverse_dynamics(*STATE), before)


def test_what_is_taken_off_leaves_nothing_behind(arm):
    stone = arm.with_payload('stone', 'tool', STONE)
    assert same(stone.without_payload('stone'), arm)
    both = stone.with_payload('apple', 'tool', POINT)
    assert same(both.without_payload('stone'), arm.with_payload('apple', 'tool', POINT))
    assert same(both.without_payload('stone').without_payload('apple'), arm)
    assert not both.without_payload('stone').without_payload('apple').payloads


def test_payloads_add(arm):
    q, qd, qdd = STATE
    stone, apple = arm.with_payload('s', 'tool', STONE), arm.with_payload('a', 'upper', POINT)
    both = stone.with_payload('a', 'upper', POINT)
    added = (stone.inverse_dynamics(q, qd, qdd) + apple.inverse_dynamics(q, qd, qdd)
             - arm.inverse_dynamics(q, qd, qdd))
    assert both.inverse_dynamics(q, qd, qdd) == pytest.approx(added)


def test_one_of_the_same_name_takes_the_other_s_place(arm):
    moved = arm.with_payload('stone', 'tool', STONE).with_payload('stone', 'upper', POINT)
    assert dict(moved.payloads) == {'stone': ('upper', POINT)}
    assert same(moved, arm.with_payload('stone', 'upper', POINT))


def test_only_the_body_that_carries_it_is_made_anew(arm):
    loaded = arm.with_payload('stone', 'tool', STONE)
    upper, lower = loaded.tree.bodies
    assert upper is arm.tree.bodies[0]
    assert lower is not arm.tree.bodies[1]
    assert loaded.tree.links is arm.tree.links
    assert loaded.without_payload('stone').tree is arm.tree


def test_the_ground_carries_what_is_on_a_fixed_root_link(arm):
    assert same(arm.with_payload('anvil', 'base', STONE), arm)


def test_a_floating_root_link_carries_its_own():
    drone = Robot.from_urdf(FREE_FLYER, floating_base=True)
    q, still = drone.neutral(), np.zeros(drone.nv)
    added = drone.with_payload('parcel', 'hangar', POINT).gravity(q) - drone.gravity(q)
    expected = still.copy()
    expected[5] = 9.81  # [angular; linear], held up against gravity
    assert added == pytest.approx(expected)


def test_a_robot_with_other_parameters_has_its_payload_in_them(arm):
    loaded = arm.with_payload('stone', 'tool', STONE)
    same_again = loaded.with_inertial_parameters(loaded.inertial_parameters)
    assert same_again.inverse_dynamics(*STATE) == pytest.approx(loaded.inverse_dynamics(*STATE))
    assert not same_again.payloads


def test_a_link_that_does_not_exist_carries_nothing(arm):
    with pytest.raises(ArgumentError, match="no link 'tol'; did you mean 'tool'"):
        arm.with_payload('stone', 'tol', STONE)


@pytest.mark.parametrize('changes, message', [
    ({'mass': -1.0}, 'mass -1'),
    ({'mass': nan}, 'mass nan'),
    ({'mass': 10**400}, 'smaller numbers'),
    ({'mass': 1e308, 'origin': Pose((1e308, 0.0, 0.0))}, "mass 1e.308 at .*link 'tool'"),
    ({'origin': Pose((0.0, inf, 0.0))}, 'origin xyz'),
    ({'inertia': (nan, 0.0, 0.0, 0.0, 0.0, 0.0)}, 'inertia nan'),
    ({'mass': 0.0, 'inertia': (0.1, 0.0, 0.0, -0.1, 0.0, 0.1)}, 'mass 0 and the iyy -0.1;'),
    ({'mass': 0.0, 'inertia': (-0.1, 0.0, 0.0, 0.1, 0.0, 0.1)}, 'mass 0 and the ixx -0.1;'),
    ({'mass': 0.0, 'inertia': (0.1, 0.0, 0.0, 0.1, 0.0, -0.1)}, 'mass 0 and the izz -0.1;'),
])
def test_a_payload_that_cannot_be_is_refused(changes, message, arm):
    with pytest.raises(RneaError, match=f'payload .?stone.*{message}'):
        arm.with_payload('stone', 'tool', replace(STONE, **changes))


def test_what_is_not_there_cannot_be_taken_off(arm):
    with pytest.raises(ArgumentError, match="no payload 'apple'; there is none"):
        arm.without_payload('apple')
    with pytest.raises(ArgumentError, match="no payload 'apple'; there is stone"):
        arm.with_payload('stone', 'tool', STONE).without_payload('apple')
