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
"""Times of the ROS clock."""

import numpy as np
import pytest
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Trajectory, Waypoint

TODAY = 1_795_348_800_123_456_789
EPOCHS = [0, 10_000_000_000, TODAY, 2 ** 62]


@pytest.mark.parametrize('epoch', EPOCHS)
@pytest.mark.parametrize('nanoseconds', [-1, 1, 333_333_333, 86_400_000_000_001])
def test_a_difference_is_exact_at_any_epoch(epoch, nanoseconds):
    later = RosTime(epoch + nanoseconds)
    assert later - RosTime(epoch) == nanoseconds / 1e9
    assert RosTime(epoch) + 1e-9 * nanoseconds == later
    assert later - 1e-9 * nanoseconds == RosTime(epoch)
    assert (later < RosTime(epoch)) is (nanoseconds < 0)
    assert later != later.nanoseconds


def test_seconds_are_for_people():
    assert RosTime(1_500_000_000).seconds == 1.5
    assert RosTime.from_seconds(1.5) == RosTime(1_500_000_000)
    assert repr(RosTime(3)) == 'RosTime(3)'
    assert len({RosTime(3), RosTime(3), RosTime(4)}) == 2


def quintic(first, last, duration, t):
    """Return the motion of a quintic at t, by the conditions at both of its ends."""
    powers = np.arange(6)

    def rows(time):
        return [np.array([
            np.prod(n - np.arange(order)) * (time ** (n - order) if n >= order else 0)
            for n in powers], float) for order in range(3)]
    solved = np.linalg.solve(np.array(rows(0.0) + rows(duration)), np.array([*first, *last]))
    return np.array(rows(t)) @ solved


@pytest.mark.parametrize('epoch', EPOCHS)
def test_a_trajectory_is_sampled_alike_at_any_epoch(epoch):
    """At today's epoch, seconds in a float would be wrong by up to 0.12 us."""
    first, last = ((0.1, -0.4, 2.0), (1.3, 0.7, -3.0))
    trajectory = Trajectory(
        ['elbow'], [Waypoint(0.2, *([value] for value in first)),
                    Waypoint(0.7, *([value] for value in last))],
        RosTime(epoch), allow_nonzero_end_velocity=True)
    for nanoseconds in (200_000_000, 200_000_001, 333_333_333, 612_345_678, 699_999_999):
        sample = trajectory.sample(RosTime(epoch + nanoseconds))[:, 0]
        expected = quintic(first, last, 0.5, 1e-9 * (nanoseconds - 200_000_000))
        assert np.abs(sample - expected).max() < 1e-11
    entered = trajectory.entered_from(RosTime(epoch + 50_000_001), np.zeros(1))
    sample = entered.sample(RosTime(epoch + 123_456_789))[:, 0]
    expected = quintic((0.0, 0.0, 0.0), first, 0.149_999_999, 0.073_456_788)
    assert np.abs(sample - expected).max() < 1e-10
