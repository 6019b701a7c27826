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
"""A trajectory starts from the measured state, and its motion is meant from the one before."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.ros_time import RosTime
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.desired_state import DesiredState
from ros2_rnea.control.target.planned_motion import LONGEST_PAUSE, MotionStart
from ros2_rnea.control.target.trajectory import Trajectory, TrajectoryCommand, Waypoint
from ros2_rnea.errors import TrajectoryError

NAMES = ('shoulder', 'elbow')
BEGIN = RosTime.from_seconds(100.0)
ZEROS, ONES = np.zeros(2), np.ones(2)
MEASURED = 0.6 * ONES
END = 2.0  # of the motion before [s]
NEXT = TrajectoryCommand(NAMES, [Waypoint(1.0, 3.0 * ONES, ZEROS, ZEROS)])


FORMER = Trajectory(
    NAMES, [Waypoint(0.0, ZEROS, ONES, ZEROS), Waypoint(END, 2.0 * ONES, ONES, 0.5 * ONES)],
    BEGIN, allow_nonzero_end_velocity=True)


def planned_after(seconds, former=FORMER, age=0.0, command=NEXT, **rules):
    """Return what a trajectory of an age gives so long after the begin of another one."""
    now = BEGIN + seconds
    return MotionStart(
        NAMES, (False, False), ControllerRules(**rules), Instant(50.0 + seconds, now), MEASURED,
        ZEROS, DesiredState(Status.FOLLOWING, MEASURED, ZEROS, ZEROS), former, former, 7,
        is_only_checked=False, age=age).planned(command)


def starts(motion, seconds):
    """Return positions, velocities and accelerations at the start, of the first joint."""
    return motion.sample(BEGIN + seconds)[:, 0]


@pytest.mark.parametrize('seconds, expected', [
    (0.5, FORMER.at(0.5)[:, 0]), (END - 1e-3, FORMER.at(END - 1e-3)[:, 0]),
    *((seconds, [2.0, 0.0, 0.0]) for seconds in (END, END + 0.25, END + LONGEST_PAUSE - 1e-6))])
def test_it_continues_a_motion_that_is_under_way_or_has_just_ended_at_rest(seconds, expected):
    planned = planned_after(seconds)
    assert planned.is_continued
    assert starts(planned.trajectory, seconds)[0] == pytest.approx(MEASURED[0])
    assert starts(planned.intended, seconds) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize('seconds, former', [
    (END + LONGEST_PAUSE + 1e-3, FORMER), (0.5, None)])
def test_after_a_pause_it_is_meant_from_where_the_robot_is(seconds, former):
    planned = planned_after(seconds, former)
    assert not planned.is_continued
    assert planned.intended is planned.trajectory
    assert starts(planned.intended, seconds)[0] == pytest.approx(MEASURED[0])


def test_the_longest_pause_is_that_of_a_stream_of_points_and_not_of_a_task():
    assert 0.1 < LONGEST_PAUSE < 1.0


# ---- a trajectory that is read later than it was received ---------------------------------------


@pytest.mark.parametrize('age', [0.0, 0.02, 0.7])
def test_without_a_stamp_it_begins_at_its_reception(age):
    """It is 3.0 from 1 s after that on."""
    for planned in (planned_after(9.0, None, age), planned_after(1.0, FORMER, age)):
        for motion in (planned.trajectory, planned.intended):
            assert motion.end == planned.start.now.ros - age + 1.0
            assert motion.sample(motion.end)[0].tolist() == [3.0, 3.0]


@pytest.mark.parametrize('age', [0.0, 0.02, 0.7, 4.0])
def test_the_begin_in_its_stamp_is_when_it_begins_whenever_it_is_read(age):
    command = NEXT._replace(stamp=BEGIN + 9.5)
    assert planned_after(9.0, None, age, command).trajectory.end == BEGIN + 10.5


def test_read_soon_after_its_reception_it_is_entered_then_so_that_no_time_is_lacking():
    """A point that is streamed 10 ms ahead would be reached in a millisecond otherwise."""
    point = TrajectoryCommand(NAMES, [Waypoint(0.010, 0.61 * ONES)])
    velocity = starts(planned_after(9.0, None, 0.009, point).trajectory, 9.0)[1]
    assert velocity == pytest.approx(1.0)


@pytest.mark.parametrize('from_desired', [True, False])
def test_entered_at_its_reception_it_does_not_jump_from_where_the_robot_moves_now(from_desired):
    """The robot was somewhere else then."""
    age, position = 0.1, MEASURED[0] - 0.1
    planned = MotionStart(
        NAMES, (False, False), ControllerRules(
            interpolate_from_desired_state=from_desired,
            allow_nonzero_velocity_at_trajectory_end=True),
        Instant(59.0, BEGIN + 9.0), MEASURED, ONES,
        DesiredState(Status.FOLLOWING, MEASURED, ONES, ZEROS), None, None, 7,
        is_only_checked=False, age=age,
    ).planned(TrajectoryCommand(NAMES, [Waypoint(10.0, (position + 10.0) * ONES, ONES)]))
    assert starts(planned.trajectory, 9.0)[:2] == pytest.approx([MEASURED[0], 1.0], abs=1e-9)


def test_read_late_it_is_entered_where_the_robot_is_by_then():
    motion = planned_after(9.0, None, 0.7).trajectory
    assert starts(motion, 9.0)[0] == pytest.approx(MEASURED[0])


def test_what_has_ended_meanwhile_is_held_at_its_end():
    motion = planned_after(9.0, None, 4.0).trajectory
    assert starts(motion, 9.0)[0] == 3.0


def test_it_joins_the_one_before_at_its_reception():
    """The former one is at 2/3 there, and the point is reached 1 s later."""
    former = Trajectory(NAMES, [Waypoint(0.0, ZEROS), Waypoint(3.0, 2.0 * ONES)], BEGIN)
    point = TrajectoryCommand(NAMES, [Waypoint(1.0, 3.0 * ONES)])
    motion = planned_after(
        1.7, former, 0.7, point, allow_trajectory_replacement=True).trajectory
    assert starts(motion, 1.0)[0] == pytest.approx(2.0 / 3.0)
    assert starts(motion, 1.5)[0] == pytest.approx(11.0 / 6.0)
    assert motion.end == BEGIN + 2.0


def test_where_it_is_not_known_when_it_was_received_only_a_stamp_says_when_it_begins():
    with pytest.raises(TrajectoryError, match='may have waited while this process did not run'):
        planned_after(9.0, None, inf)
    command = NEXT._replace(stamp=BEGIN + 9.5)
    assert planned_after(9.0, None, inf, command).trajectory.end == BEGIN + 10.5
