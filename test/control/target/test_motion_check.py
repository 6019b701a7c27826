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
"""What an arm cannot execute: named with joint, time and value, and what it exceeds already."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.target.motion_check import MotionCheck, samples
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint
from small_robots import ARM

ROBOT = Robot.from_urdf(ARM)
NAMES = ('shoulder', 'elbow')
BEGIN = RosTime.from_seconds(100.0)
REST = np.zeros(2)
FREE = {
    'names': NAMES, 'refuses': True, 'checked': np.array([True, True]),
    'lower': np.full(2, -inf), 'upper': np.full(2, inf), 'velocities': np.full(2, inf),
    'efforts': np.full(2, inf), 'jumps': np.full(2, inf), 'robot': None, 'q': np.zeros(2),
    'q_index': np.array([0, 1]), 'v_index': np.array([0, 1]),
    'gravity': np.array((0.0, 0.0, -9.81))}
RANGED = {**FREE, 'lower': np.array([-3.0, -1.0]), 'upper': np.array([3.0, 1.0])}
SPEEDY = {**FREE, 'velocities': np.array([2.0, 1.0])}
STRONG = {**FREE, 'robot': ROBOT, 'efforts': ROBOT.effort_limits}


def rests(*points):
    """Return a motion from rest to rest through (time, shoulder, elbow)."""
    return Trajectory(
        NAMES, [Waypoint(time, q, (0.0, 0.0), (0.0, 0.0)) for time, *q in points], BEGIN)


def defect(limits, path, after=0.0, positions=REST, velocities=REST):
    """Return what an arm with these limits cannot execute."""
    return MotionCheck(**limits).defect(
        path, BEGIN + after, np.array(positions), np.array(velocities))


WIDE = rests((0.0, 0.0, 0.0), (2.0, 0.5, 1.2))


def test_what_has_no_limit_has_no_defect():
    assert defect(FREE, WIDE) == ''


def test_a_position_outside_the_range_is_named_with_its_time():
    said = defect(RANGED, WIDE)
    assert "joint 'elbow' is at 1.0" in said and 'outside its range from -1' in said
    time = float(said.partition(' s after its begin')[0])
    q = WIDE.at(time)[0]
    assert q[1] == pytest.approx(1.001, abs=0.01) and 1.3 < time < 1.5


def test_a_motion_along_the_end_of_a_range_is_right():
    assert defect(RANGED, rests((0.0, 0.0, 1.0), (2.0, 0.5, 1.0)), positions=(0.0, 1.0)) == ''


def test_a_joint_outside_its_range_may_only_be_led_back():
    outside = (0.0, 1.5)
    assert defect(RANGED, rests((0.0, 0.0, 1.5), (2.0, 0.0, 0.5)), positions=outside) == ''
    assert "'elbow'" in defect(
        RANGED, rests((0.0, 0.0, 1.5), (2.0, 0.0, 1.7)), positions=outside)


@pytest.mark.parametrize('duration, is_right', [(1.9, True), (1.7, False)])
def test_a_velocity_limit_is_that_of_the_whole_spline(duration, is_right):
    """From rest to rest its largest velocity is 1.875 times the mean one."""
    said = defect(SPEEDY, rests((0.0, 0.0, 0.0), (duration, 0.0, -1.0)))
    assert (said == '') is is_right
    assert is_right or ("joint 'elbow' has the velocity -1." in said
                        and 'its limit is 1: allow more time' in said)


def test_an_arm_that_is_too_fast_already_may_become_slower():
    path = rests((0.0, 0.0, 0.0), (1.7, 0.0, -1.0))
    assert defect(SPEEDY, path, velocities=(0.0, -1.2)) == ''
    assert defect(SPEEDY, path, velocities=(0.0, np.nan)) != ''


def test_the_lead_in_is_judged_too():
    """A goal 0.08 rad away in 30 ms."""
    goal = Trajectory(NAMES, [Waypoint(0.03, (0.08, 0.0))], BEGIN)
    path = goal.entered_from(BEGIN, REST, REST)
    assert "'shoulder' has the velocity" in defect(SPEEDY, path)


def test_the_motion_before_the_entry_is_not_looked_at():
    path = Trajectory(NAMES, [
        Waypoint(0.0, (0.0, 0.0)), Waypoint(0.1, (0.0, 1.0)), Waypoint(3.0, (0.0, 1.2))], BEGIN)
    assert defect(SPEEDY, path) != ''
    assert defect(SPEEDY, path, after=0.2) == ''


@pytest.mark.parametrize('duration, is_right', [(1.0, True), (0.1, False)])
def test_efforts_are_those_of_the_model_with_gravity(duration, is_right):
    path = rests((0.0, 0.3, -0.8), (duration, 0.9, -0.2))
    said = defect(STRONG, path)
    assert (said == '') is is_right
    if is_right:
        weak = {**STRONG, 'efforts': 0.5 * np.abs(ROBOT.gravity((0.3, -0.8)))}
        assert 'needs the effort' in defect(weak, path)
        assert defect({**weak, 'gravity': np.zeros(3)}, path) == ''
    else:
        assert 'needs the effort' in said and 'allow more time' in said
        time = float(said.partition(' s after its begin')[0])
        efforts = np.abs(ROBOT.inverse_dynamics(*path.at(time)))
        assert (efforts > ROBOT.effort_limits - 0.5).any()


def test_joints_that_another_controller_holds_are_not_judged():
    assert defect({**RANGED, 'checked': np.array([True, False])}, WIDE) == ''


@pytest.mark.parametrize('end, positions, said', [
    ((0.0, 0.15), (0.0, 0.0), ''),
    ((0.0, 0.25), (0.0, 0.0), "'elbow' has to be at 0.25 at once, too far from where it is"),
    ((0.0, 1.1), (0.0, 1.0), "'elbow' has to be at 1.1 at once, outside its range"),
    ((0.0, 1.1), (0.0, 1.2), '')])
def test_a_motion_without_duration_leads_where_the_arm_is(end, positions, said):
    limits = {**RANGED, 'jumps': np.full(2, 0.2)}
    single = Trajectory(NAMES, [Waypoint(0.0, end)], BEGIN)
    found = defect(limits, single, positions=positions)
    assert said in found if said else found == ''
    ended = rests((0.0, 0.0, 0.0), (1.0, *end))
    found = defect(limits, ended, after=1.5, positions=positions)
    assert said in found if said else found == ''


@pytest.mark.parametrize('points', [2, 50, 5000])
def test_every_segment_has_enough_instants_and_not_too_many(points):
    path = Trajectory(
        NAMES, [Waypoint(0.1 * i, (0.01 * i, 0.0)) for i in range(points)], BEGIN)
    times, (q, qd, qdd) = samples(path, 0.0)
    assert 3 * (points - 1) <= len(times) <= max(65 * (points - 1), 3 * points)
    assert q.shape == qd.shape == qdd.shape == (len(times), 2)
    for time, state in zip(times[::97], q[::97]):
        assert state == pytest.approx(path.at(time)[0], abs=1e-9)
    assert (samples(path, 0.05)[0] >= 0.05).all()
    assert len(samples(path, 0.1 * points)[0]) == 0
