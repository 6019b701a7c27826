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
"""Which terms of an effort are sent, and that their parts make the whole."""

import numpy as np
import pytest
from ros2_rnea.control.law.effort_law import EffortLaw, RobotMotion
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from ros2_rnea.robots.sent_terms import Terms
from small_robots import ARM

OBLIQUE = ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="0.6 0.48 0.64"/>')  # to all gravity
SPRUNG = OBLIQUE.replace('</robot>', """
    <gazebo reference="shoulder"><springStiffness>20</springStiffness></gazebo>
    <gazebo reference="elbow"><springStiffness>5</springStiffness>
      <springReference>0.5</springReference></gazebo></robot>""")
ROBOT = Robot.from_urdf(SPRUNG).with_gravity((0.5, -1.0, -9.0))
RNG = np.random.default_rng(7)
Q, QD, QDD = RNG.uniform(-2.0, 2.0, (3, 2))
WRENCHES = RNG.uniform(-5.0, 5.0, (2, 6))
OF = ROBOT.effort_terms(Q, QD, QDD, WRENCHES)

EXPECTED = {
    Terms.FULL: OF.gravity + OF.coriolis + OF.inertia + OF.friction + OF.spring + OF.external,
    Terms.NO_GRAVITY: OF.coriolis + OF.inertia + OF.friction + OF.spring + OF.external,
    Terms.NO_GRAVITY_NO_FRICTION: OF.coriolis + OF.inertia + OF.spring + OF.external,
    Terms.NO_GRAVITY_NO_CORIOLIS: OF.inertia + OF.friction + OF.spring + OF.external,
    Terms.GRAVITY_ONLY: OF.gravity + OF.spring,
}


def test_no_term_is_too_small_to_be_missed():
    assert all(np.abs(term).min() > 0.01 for term in (
        OF.gravity, OF.coriolis, OF.inertia, OF.spring, OF.external))
    assert np.abs(OF.friction[0]) > 0.01


@pytest.mark.parametrize('sent', EXPECTED)
def test_the_effort_has_those_terms_and_no_other(sent, fastest_engine):
    robot = Robot.from_urdf(SPRUNG, engine=fastest_engine).with_gravity((0.5, -1.0, -9.0))
    law, out = EffortLaw(robot, sent), np.empty(2)
    for _ in range(2):  # the second call is another way
        effort = law.effort(RobotMotion(Q, QD, QDD, None, WRENCHES), out)
        assert effort is out
        np.testing.assert_allclose(effort, EXPECTED[sent], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('sent', EXPECTED)
def test_without_wrenches_the_rest_stays(sent):
    effort = EffortLaw(ROBOT, sent).effort(RobotMotion(Q, QD, QDD), np.empty(2))
    external = 0.0 if sent is Terms.GRAVITY_ONLY else OF.external
    np.testing.assert_allclose(effort, EXPECTED[sent] - external, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('sent', EXPECTED)
def test_gravity_may_turn_while_the_law_is_in_force(sent):
    law = EffortLaw(AdjustableRobot.of(ROBOT), sent)
    law.effort(RobotMotion(Q, QD, QDD), np.empty(2))
    law.robot.set_gravity((0.0, 3.0, 4.0))
    fresh = EffortLaw(ROBOT.with_gravity((0.0, 3.0, 4.0)), sent)
    assert law.effort(RobotMotion(Q, QD, QDD), np.empty(2)).tolist() == (
        fresh.effort(RobotMotion(Q, QD, QDD), np.empty(2)).tolist())
    assert law.robot.gravity(Q).tolist() == fresh.robot.gravity(Q).tolist()


@pytest.mark.parametrize('sent', EXPECTED)
def test_the_terms_are_all_of_them_whatever_is_sent(sent):
    terms, feedback = EffortLaw(ROBOT, sent).terms(RobotMotion(Q, QD, QDD, None, WRENCHES))
    np.testing.assert_allclose(terms, OF, rtol=1e-12)
    assert feedback.tolist() == [0.0, 0.0]


@pytest.mark.parametrize('sent', EXPECTED)
def test_friction_may_be_that_of_another_velocity(sent):
    other = np.array([1.3, -0.2])
    motion = RobotMotion(Q, QD, QDD, None, WRENCHES, other)
    law = EffortLaw(ROBOT, sent)
    more = ROBOT.friction(other) - OF.friction
    assert np.abs(more[0]) > 0.05
    has_friction = 'friction' not in sent.left_out
    expected = EXPECTED[sent] + (more if has_friction else 0.0)
    np.testing.assert_allclose(law.effort(motion, np.empty(2)), expected, rtol=1e-12)
    terms, _ = law.terms(motion)
    np.testing.assert_allclose(terms.friction, ROBOT.friction(other), rtol=1e-12)
    np.testing.assert_allclose(terms.total, OF.total + more, rtol=1e-12)
    np.testing.assert_allclose(sum(terms[:-1]), terms.total, rtol=1e-12)


def test_what_corrects_an_error_is_a_term_of_its_own():
    correction = np.array([3.0, -2.0])
    terms, feedback = EffortLaw(ROBOT, Terms.FULL).terms(
        RobotMotion(Q, QD, QDD + correction, correction, WRENCHES))
    np.testing.assert_allclose(terms, OF, rtol=1e-12)
    np.testing.assert_allclose(feedback, ROBOT.mass_matrix(Q) @ correction, rtol=1e-12)
