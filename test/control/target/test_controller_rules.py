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
"""The choices that a controller's parameters leave, read and followed."""

from pathlib import Path

import numpy as np
import pytest
from ros2_rnea.control.decision import Status
from ros2_rnea.control.target.controller_rules import (
    ControllerRules,
    deviations_from_trajectory,
    parameters_to_read,
    WITHOUT_EFFECT,
)
from ros2_rnea.errors import TrajectoryError
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import Waypoint
from trajectories import follow, motion_of, target_of
import yaml

NAMES = ('shoulder', 'elbow', 'wrist')
NOW = RosTime.from_seconds(100.0)
ONES = np.ones(3)
MEASURED = np.array((0.1, 0.2, 0.3))
DEFAULTS = yaml.safe_load(Path(__file__).with_name('jtc_parameters.yaml').read_text())
JTC = {**DEFAULTS['jazzy'], 'joints': list(NAMES), 'command_interfaces': ['position', 'effort'],
       'state_interfaces': ['position', 'velocity']}


def arm(**rules):
    """Return the motion of an arm whose trajectory goes from 0 at NOW to 4 a second later."""
    motion = motion_of(
        NAMES, (False, False, True), hold_tolerance=0.05, rules=ControllerRules(**rules))
    points = [Waypoint(0.0, (0.0,) * 3), Waypoint(1.0, (4.0,) * 3)]
    follow(motion, NAMES, points, None, NOW, MEASURED, None)
    return motion


def test_default_rules_are_those_of_a_controller_of_positions():
    assert ControllerRules() == ControllerRules.from_parameters(
        {'allow_partial_joints_goal': True, 'command_interfaces': ['position']})


def test_every_controller_parameter_is_read_or_without_effect():
    """A parameter of a new version that fails here has to be understood, or named."""
    known = [*parameters_to_read(['JOINT']), *(name.format('JOINT') for name in WITHOUT_EFFECT)]
    assert sorted(known) == sorted({name for names in DEFAULTS.values() for name in names})


@pytest.mark.parametrize('distribution', DEFAULTS)
def test_a_controller_as_it_comes_follows_its_trajectories(distribution):
    values = {name.replace('JOINT', joint): value for joint in NAMES
              for name, value in DEFAULTS[distribution].items()}
    values |= {name: JTC[name] for name in ('joints', 'command_interfaces', 'state_interfaces')}
    assert deviations_from_trajectory(values) == {}
    assert ControllerRules.from_parameters(values) == ControllerRules(
        distribution == 'humble', False, distribution == 'rolling', False, True)


@pytest.mark.parametrize(('changes', 'rules'), [
    ({}, (False, False, False, False, True)),
    ({'allow_nonzero_velocity_at_trajectory_end': True}, (True, False, False, False, True)),
    ({'allow_partial_joints_goal': True}, (False, True, False, False, True)),
    ({'allow_trajectory_replacement': False}, (False, False, False, False, True)),
    ({'allow_trajectory_replacement': True}, (False, False, True, False, True)),
    ({'interpolate_from_desired_state': True}, (False, False, False, True, True)),
    ({'open_loop_control': True}, (False, False, False, True, True)),
    ({'command_interfaces': ['effort']}, (False, False, False, False, False)),
    ({'command_interfaces': None}, (False, False, False, False, False)),
])
def test_rules_are_read_from_the_controllers_parameters(changes, rules):
    assert ControllerRules.from_parameters({**JTC, **changes}) == ControllerRules(*rules)


@pytest.mark.parametrize(('changes', 'told'), [
    ({}, []),
    ({'interpolation_method': 'none'}, ['interpolation_method']),
    ({'positions_upsampling.enable': False}, []),
    ({'positions_upsampling.enable': True}, ['positions_upsampling.enable']),
    ({'allow_integration_in_goal_trajectories': True}, ['allow_integration_in_goal_trajectories']),
    ({'speed_scaling.state_interface': 'speed/factor'}, ['speed_scaling.state_interface']),
    ({'speed_scaling.command_interface': 'speed/factor'}, ['speed_scaling.command_interface']),
    ({'speed_scaling.initial_scaling_factor': 0.5}, ['speed_scaling.initial_scaling_factor']),
    ({'cmd_timeout': 1.0}, ['cmd_timeout']),
    ({'constraints.goal_time': 1.0}, ['constraints.goal_time']),
    ({'constraints.decelerate_on_cancel': True}, ['constraints.decelerate_on_cancel']),
    ({'constraints.elbow.trajectory': 0.1}, ['constraints.elbow.trajectory']),
    ({'constraints.thumb.trajectory': 0.1}, []),  # no joint of this controller
    ({'gains.elbow.angle_wraparound': True}, ['gains.elbow.angle_wraparound']),
    ({'state_interfaces': ['position']}, ['state_interfaces']),
    ({'state_interfaces': ['position', 'velocity', 'acceleration']}, ['state_interfaces']),
])
def test_parameters_that_change_the_motion_in_other_ways_are_told(changes, told):
    assert list(deviations_from_trajectory({**JTC, **changes})) == told


def test_of_a_controller_that_says_nothing_nothing_is_told():
    assert deviations_from_trajectory({}) == {}


def test_a_partial_goal_is_refused_unless_allowed():
    elbow = (('elbow',), [Waypoint(1.0, (7.0,))], 0.0, NOW + 0.5, MEASURED, None)
    strict = arm(allow_partial_joints_goal=False)
    with pytest.raises(TrajectoryError, match="does not move 'shoulder', 'wrist': .* all joints"):
        follow(strict, *elbow)
    assert target_of(strict, NOW + 0.75, ONES).positions == pytest.approx(3 * ONES)
    follow(arm(allow_partial_joints_goal=True), *elbow)


@pytest.mark.parametrize(('commanded', 'held'), [(True, 2 * ONES), (False, MEASURED)])
def test_omitted_joints_stay_where_commanded_or_where_measured(commanded, held):
    motion = arm(omitted_joints_stay_where_commanded=commanded)
    follow(motion, ('elbow',), [Waypoint(0.0, (7.0,))], None, NOW + 0.5, MEASURED, None)
    target = target_of(motion, NOW + 0.5, np.array((held[0], 7.0, held[2])))
    assert target.status is Status.HOLDING_END
    assert target.positions == pytest.approx((held[0], 7.0, held[2]))


def test_the_lead_in_starts_from_the_desired_acceleration_too():
    rules = ControllerRules(interpolate_from_desired_state=True)
    motion = motion_of(NAMES, (False,) * 3, hold_tolerance=0.05, rules=rules)
    still = ((0.0,) * 3,)
    points = [Waypoint(0.0, (0.0,) * 3, *still), Waypoint(1.0, (1.0,) * 3, *still)]
    follow(motion, NAMES, points, None, NOW, MEASURED, None)
    follow(
        motion, NAMES, [Waypoint(1.0, (2.0,) * 3, *still, *still)], 0.0, NOW + 0.25, MEASURED,
        9.0 * ONES)
    target = target_of(motion, NOW + 0.25, ONES)
    assert target.positions == pytest.approx(0.15625 * ONES)
    assert target.velocities == pytest.approx(1.125 * ONES)
    assert target.accelerations == pytest.approx(3.0 * ONES)
