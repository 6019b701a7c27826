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
"""The motion of the demo is smooth, consistent and within what the arm can do."""

import numpy as np
import pytest

from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import TIP_FORCE
from ros2_rnea.tools.demo.experiment import PHASES
from ros2_rnea.tools.demo.motion import EASING, MultiSine, push_share, smooth_step
from ros2_rnea.tools.demo.stage import LEAD
from ros2_rnea.tools.models import panda, seven_dof_arm

DURATION = 7.0
START_POSE = np.array(panda().start)
MOTION = MultiSine(START_POSE, np.ones(7), DURATION)
TIMES = np.arange(0.0, DURATION, 0.001)


@pytest.fixture(scope='module')
def limits():
    """Return the limits of the arm's joints."""
    joints = parse_urdf(seven_dof_arm()).joints
    return [joint.limits for joint in joints if joint.type.nv]


def test_the_motion_begins_and_ends_resting_at_the_start():
    for time in (-1.0, 0.0, DURATION, DURATION + 1.0):
        positions, velocities, accelerations = MOTION.at([time])
        assert positions[0] == pytest.approx(START_POSE)
        assert velocities[0] == pytest.approx(np.zeros(7))
        assert accelerations[0] == pytest.approx(np.zeros(7))


def test_velocity_and_acceleration_are_the_derivatives():
    step = 1e-6
    before, here, after = (MOTION.at(TIMES[10:-10] + shift) for shift in (-step, 0.0, step))
    for order in (0, 1):
        slope = (after[order] - before[order]) / (2.0 * step)
        assert np.max(np.abs(slope - here[order + 1])) < 1e-4


def test_the_motion_is_continuous_to_the_second_order():
    for part in MOTION.at(TIMES):
        assert np.max(np.abs(np.diff(part, axis=0))) < 0.1


def test_every_joint_moves_fast_and_within_its_limits(limits):
    positions, velocities, _ = MOTION.at(TIMES)
    for joint, limit in enumerate(limits):
        assert limit.lower < positions[:, joint].min()
        assert positions[:, joint].max() < limit.upper
        fastest = np.max(np.abs(velocities[:, joint]))
        assert 0.3 * limit.velocity < fastest < 0.9 * limit.velocity


def test_the_effort_leaves_room_for_feedback_and_the_push():
    robot = Robot.from_urdf(seven_dof_arm())
    for time in np.arange(0.0, DURATION, 0.02):
        state = (part[0] for part in MOTION.at([time]))
        push = np.concatenate((np.zeros(3), push_share(time, DURATION) * np.array(TIP_FORCE)))
        effort = robot.inverse_dynamics(*state, f_ext={'tool': push})
        assert np.all(np.abs(effort) < 0.8 * robot.effort_limits)


@pytest.mark.parametrize(('x', 'value'), [
    (-1.0, 0.0), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (2.0, 1.0)])
def test_smooth_step_goes_from_zero_to_one(x, value):
    step = smooth_step(np.array(x))
    assert step.positions == pytest.approx(value)
    assert (step.velocities > 0.0) == (0.0 < x < 1.0)


def test_the_push_rises_from_nothing_and_falls_to_nothing():
    shares = [push_share(time, DURATION) for time in (0.0, 0.5 * DURATION, DURATION)]
    assert shares == pytest.approx([0.0, 1.0, 0.0])


def test_arms_of_many_joints_reuse_the_first_rows():
    motion = MultiSine(np.zeros(9), np.array([1.0] * 7 + [1.0, 0.5]), DURATION).at(TIMES)
    assert np.array_equal(motion.positions[:, 7], motion.positions[:, 0])
    assert motion.velocities[:, 8] == pytest.approx(0.5 * motion.velocities[:, 1])


def test_phases_have_their_own_names_the_first_sends_nothing():
    assert len({phase.key for phase in PHASES}) == len({phase.title for phase in PHASES}) == 6
    assert [phase.key for phase in PHASES if not phase.mode] == ['pd'] == [PHASES[0].key]


def test_all_phases_together_take_less_than_two_minutes():
    assert len(PHASES) * (DURATION + LEAD + 1.0) < 90.0
    assert 2.0 * EASING < DURATION
