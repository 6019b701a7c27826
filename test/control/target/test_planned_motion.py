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
"""A trajectory starts from where the arm is, or from where the motion before wants it."""

from math import inf

import numpy as np
import pytest
from ros2_rnea.control.decision import Instant, Status
from ros2_rnea.control.target.controller_rules import ControllerRules
from ros2_rnea.control.target.planned_motion import LONGEST_PAUSE, MotionStart
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, TrajectoryCommand, Waypoint

NAMES = ('shoulder', 'elbow')
BEGIN = RosTime.from_seconds(100.0)
ZEROS, ONES = np.zeros(2), np.ones(2)
MEASURED = 0.6 * ONES
END = 2.0  # of the motion before [s]
NEXT = TrajectoryCommand(NAMES, [Waypoint(1.0, 3.0 * ONES, ZEROS, ZEROS)])


FORMER = Trajectory(
    NAMES, [Waypoint(0.0, ZEROS, ONES, ZEROS), Waypoint(END, 2.0 * ONES, ONES, 0.5 * ONES)],
    BEGIN, allow_nonzero_end_velocity=True)


def begun_after(
        seconds, former=FORMER, age=0.0, follows=False, has_feedback=False, status=None,
        velocities=ZEROS, is_held=False, desired=None, is_only_checked=False, check=None,
        **rules):
    """Return from what a trajectory of an age starts so long after the begin of another one."""
    now = BEGIN + seconds
    if desired is None:
        desired = np.array((MEASURED, ZEROS, ZEROS)) if former is None else former.sample(now)
    return MotionStart(
        NAMES, np.array((False, False)), ControllerRules(**rules), Instant(50.0 + seconds, now),
        MEASURED, velocities, status or Status.FOLLOWING, desired, follows, has_feedback, is_held,
        former, 7, is_only_checked, age, check)


def planned_after(seconds, former=FORMER, age=0.0, command=NEXT, **more):
    """Return the motion of a trajectory that is read then."""
    return begun_after(seconds, former, age, **more).planned(command)


def starts(motion, seconds):
    """Return positions, velocities and accelerations at the start, of the first joint."""
    return motion.sample(BEGIN + seconds)[:, 0]


@pytest.mark.parametrize('seconds', [
    0.5, END - 1e-3, END, END + 0.25, END + LONGEST_PAUSE - 1e-6])
def test_an_arm_that_follows_goes_on_where_wanted(seconds):
    """Not with its acceleration: a slow motion would begin with a long detour."""
    path = planned_after(seconds, follows=True).path
    expected = FORMER.sample(BEGIN + seconds)[:2, 0]
    assert starts(path, seconds) == pytest.approx([*expected, 0.0], abs=1e-9)


@pytest.mark.parametrize('velocity, has_feedback, expected', [
    (0.9, False, (MEASURED[0], 0.9)),  # as the controller goes on, from where the arm is
    (1.2, False, (MEASURED[0], 1.2)),
    (0.1, False, None),                # the arm may be blocked, and would never deviate
    (0.9, True, None)])                # feedback would step
def test_an_arm_moved_by_a_controller_goes_on_likewise(velocity, has_feedback, expected):
    path = planned_after(
        0.25, follows=True, has_feedback=has_feedback, is_held=True,
        velocities=velocity * ONES).path
    state = FORMER.sample(BEGIN + 0.25)[:2, 0] if expected is None else expected
    assert starts(path, 0.25) == pytest.approx([*state, 0.0], abs=1e-9)


@pytest.mark.parametrize('has_feedback, expected', [(True, 2.0), (False, MEASURED[0])])
def test_after_a_pause_only_feedback_keeps_the_arm_where_wanted(has_feedback, expected):
    seconds = END + LONGEST_PAUSE + 1e-3
    path = planned_after(seconds, follows=True, has_feedback=has_feedback).path
    assert starts(path, seconds)[0] == pytest.approx(expected)


@pytest.mark.parametrize('more', [
    {}, {'former': None}, {'former': None, 'follows': True, 'has_feedback': True}])
def test_any_other_arm_starts_from_where_it_is(more):
    assert starts(planned_after(0.5, **more).path, 0.5)[0] == pytest.approx(MEASURED[0])


def test_a_path_may_start_from_the_desired_state():
    """With its acceleration, as the controller does."""
    path = planned_after(0.5, interpolate_from_desired_state=True).path
    assert starts(path, 0.5) == pytest.approx(FORMER.at(0.5)[:, 0], abs=1e-9)


@pytest.mark.parametrize('waypoints, more, begins', [
    (NEXT.waypoints, {}, True),
    (NEXT.waypoints, {'follows': True}, True),
    ([Waypoint(0.0, 3.0 * ONES)], {}, False),
    ([Waypoint(0.0, 3.0 * ONES), *NEXT.waypoints], {}, False),
    ([Waypoint(0.0, MEASURED), *NEXT.waypoints], {}, True)])
def test_it_is_known_whether_a_motion_begins_at_the_arm(waypoints, more, begins):
    command = TrajectoryCommand(NAMES, waypoints)
    assert planned_after(0.5, command=command, **more).begins_at_arm is begins


def test_the_longest_pause_is_that_of_a_stream():
    assert 0.1 < LONGEST_PAUSE < 1.0


# ---- a trajectory that is read later than it was received ---------------------------------------


@pytest.mark.parametrize('age', [0.0, 0.02, 0.7])
def test_without_a_stamp_it_begins_at_its_reception(age):
    """It is 3.0 from 1 s after that on."""
    for planned in (planned_after(9.0, None, age), planned_after(1.0, FORMER, age)):
        assert planned.path.end == planned.start.now.ros - age + 1.0
        assert planned.path.sample(planned.path.end)[0].tolist() == [3.0, 3.0]


@pytest.mark.parametrize('age', [0.0, 0.02, 0.7, 4.0])
def test_it_begins_at_its_stamp_whenever_it_is_read(age):
    command = TrajectoryCommand(NAMES, NEXT.waypoints, BEGIN + 9.5)
    assert planned_after(9.0, None, age, command).path.end == BEGIN + 10.5


def test_read_soon_it_is_entered_at_its_reception():
    """A point that is streamed 10 ms ahead would be reached in a millisecond otherwise."""
    point = TrajectoryCommand(NAMES, [Waypoint(0.010, 0.61 * ONES)])
    velocity = starts(planned_after(9.0, None, 0.009, point).path, 9.0)[1]
    assert velocity == pytest.approx(1.0)


@pytest.mark.parametrize('from_desired', [True, False])
def test_entered_at_its_reception_it_does_not_jump_now(from_desired):
    """The robot was somewhere else then."""
    age, position = 0.1, MEASURED[0] - 0.1
    start = begun_after(
        9.0, None, age, velocities=ONES, desired=np.array((MEASURED, ONES, ZEROS)),
        interpolate_from_desired_state=from_desired,
        allow_nonzero_velocity_at_trajectory_end=True)
    planned = start.planned(
        TrajectoryCommand(NAMES, [Waypoint(10.0, (position + 10.0) * ONES, ONES)]))
    assert starts(planned.path, 9.0)[:2] == pytest.approx([MEASURED[0], 1.0], abs=1e-9)


@pytest.mark.parametrize('age, position', [(0.7, MEASURED[0]), (4.0, 3.0)])
def test_read_late_it_starts_at_the_robot_or_has_ended(age, position):
    assert starts(planned_after(9.0, None, age).path, 9.0)[0] == pytest.approx(position)


def test_it_joins_the_one_before_at_its_reception():
    """The former one is at 2/3 there, and the point is reached 1 s later."""
    former = Trajectory(NAMES, [Waypoint(0.0, ZEROS), Waypoint(3.0, 2.0 * ONES)], BEGIN)
    point = TrajectoryCommand(NAMES, [Waypoint(1.0, 3.0 * ONES)])
    motion = planned_after(
        1.7, former, 0.7, point, allow_trajectory_replacement=True).path
    assert starts(motion, 1.0)[0] == pytest.approx(2.0 / 3.0)
    assert starts(motion, 1.5)[0] == pytest.approx(11.0 / 6.0)
    assert motion.end == BEGIN + 2.0


def test_without_a_time_of_reception_it_needs_a_stamp():
    with pytest.raises(TrajectoryError, match='may have waited while this process did not run'):
        planned_after(9.0, None, inf)
    command = TrajectoryCommand(NAMES, NEXT.waypoints, BEGIN + 9.5)
    assert planned_after(9.0, None, inf, command).path.end == BEGIN + 10.5


# ---- what the arm cannot execute ----------------------------------------------------------------


class Refused:
    """A check that finds a defect."""

    def __init__(self, refuses):
        self.refuses = refuses

    def defect(self, path, entry, positions, velocities):
        assert path.sample(entry)[0] == pytest.approx(positions)
        return 'joint elbow is too fast'


def test_what_the_arm_cannot_execute_is_refused_without_a_controller():
    with pytest.raises(TrajectoryError, match='elbow is too fast'):
        planned_after(0.5, None, check=Refused(True))
    assert planned_after(0.5, None, check=Refused(False)).doubt == 'joint elbow is too fast'
    assert planned_after(0.5, None).doubt == ''


def test_what_a_controller_executes_is_only_checked():
    start = begun_after(0.5, None, is_only_checked=True, check=Refused(True))
    assert start.planned(NEXT) is None
    with pytest.raises(TrajectoryError, match='no points'):
        start.planned(TrajectoryCommand(NAMES, []))
