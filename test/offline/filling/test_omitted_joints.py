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
"""The joints of a controller that a trajectory omits, and where they are held."""

import numpy as np
import pytest
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.offline.filling.effort_filler import Plan
from ros2_rnea.offline.filling.omitted_joints import Controller, with_joints_at_rest
from ros2_rnea.trajectories.trajectory import Waypoint

CONTROLLED = ('shoulder', 'elbow', 'wrist')
PLAN = Plan(['elbow'], [Waypoint(0.0, (0.5,), (0.0,)), Waypoint(1.0, (0.7,), (0.0,))])


@pytest.mark.parametrize('joints, controlled, accepts, added', [
    (CONTROLLED, CONTROLLED, True, ('shoulder', 'wrist')),
    (('wrist', 'elbow', 'grip'), CONTROLLED, True, ('wrist',)),
    (('elbow',), CONTROLLED, True, ()),
    (CONTROLLED, ('elbow',), True, ()),
    (CONTROLLED, ('shoulder', 'wrist'), True, ()),  # nothing of the trajectory is filled
    (CONTROLLED, CONTROLLED, False, ()),
    ((), ('elbow',), True, ()),
    ((), CONTROLLED, False, ()),
])
def test_only_joints_controlled_by_node_and_controller_are_added(
        joints, controlled, accepts, added):
    assert Controller(joints, accepts).omitted(PLAN, controlled) == added


def test_without_the_controllers_joints_omitted_ones_are_refused():
    with pytest.raises(TrajectoryError, match="omits 'shoulder', 'wrist'.*trajectory_controller"):
        Controller().omitted(PLAN, CONTROLLED)


REFERENCE = {'shoulder': 0.1, 'elbow': 0.2, 'wrist': 0.3}
MEASURED = {'shoulder': 0.11, 'wrist': 0.31}


@pytest.mark.parametrize('commands_position, reference, expected', [
    (True, REFERENCE, (0.1, 0.3)), (False, REFERENCE, (0.1, 0.3)), (False, {}, (0.11, 0.31))])
def test_they_are_held_at_the_reference_or_as_measured(
        commands_position, reference, expected):
    controller = Controller(CONTROLLED, True, commands_position, reference)
    held = controller.positions_to_hold(['shoulder', 'wrist'], MEASURED)
    assert held == dict(zip(('shoulder', 'wrist'), expected))


@pytest.mark.parametrize('controller, measured, said', [
    (Controller(CONTROLLED, True, True), MEASURED, "omits joint 'shoulder'.*would be a step"),
    (Controller(CONTROLLED, True, False), {'shoulder': 0.1}, "omits joint 'wrist', and no fresh"),
    (Controller(CONTROLLED, True, True, REFERENCE, ['wrist']), MEASURED, "'wrist'.*is moving"),
])
def test_without_a_position_to_hold_the_trajectory_is_refused(controller, measured, said):
    with pytest.raises(TrajectoryError, match=said):
        controller.positions_to_hold(['shoulder', 'wrist'], measured)


def test_joints_are_added_at_rest_with_each_points_fields():
    given = Plan(['elbow'], [
        Waypoint(0.0, (0.5,)), Waypoint(1.0, (0.6,), (0.1,), ()),
        Waypoint(2.0, (0.7,), (0.0,), (0.0,))], [(), (2.0,), (3.0,)])
    names, waypoints, efforts = with_joints_at_rest(given, {'wrist': 0.3, 'shoulder': 0.1})
    assert names == ['elbow', 'wrist', 'shoulder']
    expected = [
        (0.0, (0.5, 0.3, 0.1)), (1.0, (0.6, 0.3, 0.1), (0.1, 0.0, 0.0)),
        (2.0, (0.7, 0.3, 0.1), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))]
    for waypoint, (time, *fields) in zip(waypoints, expected):
        assert waypoint.time == time
        present = (waypoint.positions, waypoint.velocities, waypoint.accelerations)
        assert sum(values is not None for values in present) == len(fields)
        for values, wanted in zip(present, fields):
            assert np.array_equal(values, wanted)
    assert efforts == [(), (2.0, 0.0, 0.0), (3.0, 0.0, 0.0)]
    assert with_joints_at_rest(given, {}) is given
