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
"""What is found about what joints carry, and about what gravity asks of them."""

from dataclasses import replace

from audited import BRICK, LIMITS
import numpy as np
import pytest
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.audit import audit, examine, Kind, Severity
from ros2_rnea.offline.audit.loads import sample_loads
from ros2_rnea.robots.robot import Robot
from small_robots import ARM, FREE_FLYER, ROVER

NOTHING = Inertial(0.0)
PENDULUM_MASS, PENDULUM_LENGTH = 2.0, 0.5


def chain(*inertials, kinds=None, axis=(0.0, 1.0, 0.0), limits=LIMITS):
    """Return a chain of links, the first of which is the root, with joints j1, j2 and so on."""
    kinds = kinds or [JointType.REVOLUTE] * (len(inertials) - 1)
    links = tuple(LinkDescription(f'l{i}', inertial) for i, inertial in enumerate(inertials))
    joints = tuple(
        JointDescription(f'j{i}', kind, f'l{i - 1}', f'l{i}', axis=axis, limits=limits)
        for i, kind in enumerate(kinds, start=1))
    return RobotDescription('chain', links, joints)


def pendulum(limits=LIMITS):
    bob = Inertial(PENDULUM_MASS, Pose((PENDULUM_LENGTH, 0.0, 0.0)),
                   (0.002, 0.0, 0.0, 0.003, 0.0, 0.004))
    return chain(None, bob, limits=limits)


def kinds_by_subject(description, **options):
    return {(finding.kind.name, finding.subject)
            for finding in audit(description, **options)}


# ---- bodies -----------------------------------------------------------------------------------


def test_every_moving_part_without_inertial_is_an_error():
    found = kinds_by_subject(chain(None, None, BRICK, None))
    assert found == {('NO_INERTIAL', "joint 'j1'"), ('NO_INERTIAL', "joint 'j3'")}


def test_a_description_without_any_inertial_has_one_finding():
    [finding] = [finding for finding in audit(chain(None, None, None))
                 if finding.severity > Severity.NOTE]
    assert (finding.kind, finding.subject) == (Kind.NO_INERTIAL, "robot 'chain'")
    assert 'massless' not in finding.text  # which would make a robot without efforts


def test_the_node_has_the_figures_of_the_report():
    weak = JointLimits(-1.0, 1.0, 1.0, 0.5)
    description = pendulum(weak)
    assert audit(description) == examine(description).findings
    assert any(finding.kind is Kind.OVERLOADED for finding in audit(description))


def test_an_allowed_massless_part_that_carries_others_is_a_note():
    found = kinds_by_subject(chain(None, None, BRICK), massless_links=['l1'])
    assert found == {('MASSLESS_BODY', "joint 'j1'")}


def test_a_fixed_link_without_inertial_is_no_finding():
    kinds = [JointType.REVOLUTE, JointType.FIXED]
    assert kinds_by_subject(chain(None, BRICK, None, kinds=kinds)) == set()


def test_a_joint_that_moves_nothing_at_all_is_suspicious():
    found = kinds_by_subject(chain(None, BRICK, NOTHING, NOTHING))
    assert found == {('NOTHING_MOVED', "joint 'j2'"), ('NOTHING_MOVED', "joint 'j3'")}


def test_a_massless_joint_that_follows_another_is_no_finding():
    description = chain(None, BRICK, NOTHING)
    first, second = description.joints
    follower = replace(second, mimic=Mimic('j1'))
    assert kinds_by_subject(replace(description, joints=(first, follower))) == {
        ('MIMIC', "joint 'j1'")}


def test_massless_parts_between_joints_are_notes():
    found = kinds_by_subject(chain(None, NOTHING, NOTHING, BRICK))
    assert found == {('MASSLESS_BODY', "joint 'j1'"), ('MASSLESS_BODY', "joint 'j2'")}


def test_mass_on_the_root_link_is_a_note():
    assert kinds_by_subject(chain(BRICK, BRICK)) == {('ROOT_INERTIA', "link 'l0'")}
    assert kinds_by_subject(chain(NOTHING, BRICK)) == set()


# ---- loads ------------------------------------------------------------------------------------


def test_the_loads_of_a_pendulum_are_those_of_the_textbook():
    robot = Robot.from_description(pendulum())
    loads = sample_loads(robot, 500)
    weight = PENDULUM_MASS * 9.81 * PENDULUM_LENGTH
    np.testing.assert_allclose(loads.low, [-weight], rtol=1e-3)  # at 0
    np.testing.assert_allclose(loads.high, [-weight * np.cos(1.0)], rtol=1e-12)  # at both limits
    np.testing.assert_allclose(loads.largest, [weight], rtol=1e-3)
    np.testing.assert_allclose(loads.positions[loads.worst], [[0.0]], atol=0.05)


def test_the_worst_position_has_the_largest_load():
    robot = Robot.from_urdf(ARM)
    loads = sample_loads(robot, 500)
    np.testing.assert_allclose(
        np.abs(np.diagonal(robot.gravity(loads.positions[loads.worst]))), loads.largest,
        rtol=1e-12)


def test_loads_are_sampled_within_limits_and_repeatably():
    robot = Robot.from_urdf(ARM)
    first, second = sample_loads(robot, 300), sample_loads(robot, 300)
    assert np.abs(first.positions).max() <= 3.0
    np.testing.assert_array_equal(first.positions, second.positions)


@pytest.mark.parametrize('lower, upper', [
    (-1e308, 1e308), (-np.inf, -np.inf), (np.inf, np.inf), (-np.inf, 5.0),
    (2e3, np.inf), (-np.inf, np.inf), (1e5, 1e6)])
@pytest.mark.parametrize('kind', [JointType.REVOLUTE, JointType.PRISMATIC])
def test_limits_that_are_none_do_not_spoil_the_loads(kind, lower, upper):
    limits = JointLimits(lower, upper, 1.0, 300.0)
    description = chain(None, BRICK, kinds=[kind], axis=(0.0, 0.0, 1.0), limits=limits)
    assert np.isfinite(examine(description, samples=60).loads.largest).all()


@pytest.mark.parametrize('text', [ROVER, FREE_FLYER])
def test_joints_of_several_degrees_of_freedom_are_sampled(text):
    loads = examine(parse_urdf(text), samples=300).loads
    assert np.isfinite(loads.largest).all()
    assert (loads.largest > 0.0).any()


def test_a_spherical_joint_is_sampled_in_all_directions():
    loads = examine(chain(None, BRICK, kinds=[JointType.SPHERICAL]), samples=600).loads
    moment = 9.81 * 0.1  # the brick's centre is 0.1 m along x
    np.testing.assert_allclose(loads.low, [0.0, -moment, -moment], rtol=0.05, atol=1e-12)
    np.testing.assert_allclose(loads.high, [0.0, moment, moment], rtol=0.05, atol=1e-12)


def test_an_upright_planar_joint_is_sampled_in_all_directions():
    description = chain(None, BRICK, kinds=[JointType.PLANAR], axis=(1.0, 0.0, 0.0))
    loads = examine(description, samples=600).loads
    np.testing.assert_allclose(loads.low[:2], [-9.81, -9.81], rtol=0.05)
    np.testing.assert_allclose(loads.high[:2], [9.81, 9.81], rtol=0.05)


def test_a_cylindrical_joint_is_sampled_all_around():
    loads = examine(chain(None, BRICK, kinds=[JointType.CYLINDRICAL]), samples=600).loads
    np.testing.assert_allclose((loads.low[0], loads.high[0]), (-0.981, 0.981), rtol=0.05)


@pytest.mark.parametrize('lower, upper', [(-np.inf, -5.0), (5.0, np.inf)])
def test_a_joint_with_one_limit_is_sampled_within_it(lower, upper):
    limits = JointLimits(lower, upper, 1.0, 300.0)
    loads = examine(chain(None, BRICK, limits=limits), samples=600).loads
    [[worst]] = loads.positions[loads.worst]
    assert lower <= worst <= upper
    assert abs(worst) == pytest.approx(2.0 * np.pi, abs=0.1)  # level, as at 0


@pytest.mark.parametrize('share, overloaded', [(0.99, True), (1.01, False)])
def test_gravity_that_exceeds_the_effort_limit_is_found(share, overloaded):
    weight = PENDULUM_MASS * 9.81 * PENDULUM_LENGTH
    limits = replace(LIMITS, effort=share * weight)
    found = kinds_by_subject(pendulum(limits))
    assert found == ({('OVERLOADED', "joint 'j1'")} if overloaded else set())


def test_gravity_beyond_the_position_limits_is_no_finding():
    limits = JointLimits(1.0, 1.5, 2.0, 0.6 * PENDULUM_MASS * 9.81 * PENDULUM_LENGTH)
    assert kinds_by_subject(pendulum(limits)) == set()


def test_the_unit_of_a_prismatic_joint_is_newton():
    limits = replace(LIMITS, effort=5.0)
    description = chain(
        None, BRICK, kinds=[JointType.PRISMATIC], axis=(0.0, 0.0, 1.0), limits=limits)
    [finding] = audit(description)
    assert 'up to 9.81 N within' in finding.text
    assert 'limit is 5' in finding.text


def test_a_joint_that_never_feels_gravity_is_a_note():
    assert kinds_by_subject(chain(None, BRICK, axis=(0.0, 0.0, 1.0))) == {
        ('NO_GRAVITY', "joint 'j1'")}


def test_nothing_is_said_of_gravity_at_a_locked_joint():
    limits = JointLimits(0.0, 0.0, 1.0, 300.0)
    assert kinds_by_subject(chain(None, BRICK, axis=(0.0, 0.0, 1.0), limits=limits)) == {
        ('LOCKED', "joint 'j1'")}


def test_a_loop_that_is_left_open_is_found():
    closing = '<loop_joint name="pin"><link1 link="hand"/><link2 link="base"/></loop_joint>'
    text = ARM.replace('</robot>', f'{closing}</robot>')
    [found] = [each for each in audit(parse_urdf(text), text) if each.kind is Kind.OPEN_LOOP]
    assert found.severity is Severity.SUSPICIOUS
    assert found.text.startswith("<loop_joint> 'pin' between 'hand' and 'base' closes a loop")
    assert Kind.OPEN_LOOP not in {each.kind for each in audit(parse_urdf(ARM), ARM)}
