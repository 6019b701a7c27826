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
"""Limits of positions and velocities: what leads beyond them, and what happens near them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import seven_joints  # noqa: E402, I100
from closed_loop.loop import ClosedLoop, COMPUTED_TORQUE, GUIDED  # noqa: E402
from closed_loop.motions import Sine  # noqa: E402
from closed_loop.plant import Plant  # noqa: E402
from closed_loop.sensors import SensorQuality, Velocities  # noqa: E402
from ros2_rnea.control.settings import Mode  # noqa: E402
from ros2_rnea.errors import RneaError, TrajectoryError  # noqa: E402

START = seven_joints().start
REST = np.zeros(7)
LIMIT = -3.0718  # of joint 4, to which it bends
SPEED = 2.175  # the limit of joints 1 to 4 [rad/s]


def bent(position: float) -> np.ndarray:
    """Return the start with another position of joint 4."""
    pose = START.copy()
    pose[3] = position
    return pose


def test_a_trajectory_beyond_a_position_limit_is_refused():
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.3)
    begin = loop.time
    with pytest.raises(TrajectoryError, match=r'joint4.*-3\.'):
        loop.follow([(1.5, bent(-3.6), REST, REST), (3.0, bent(-3.6), REST, REST)])
    assert loop.run(2.0).record.since(begin).farthest(START) < 0.01


def test_no_controller_is_followed_beyond_a_position_limit():
    loop = ClosedLoop(Plant(seven_joints(), bent(-2.5)), **COMPUTED_TORQUE).run(0.3)
    begin = loop.time

    def refer() -> None:
        since = loop.time - begin
        position = max(-2.5 - 2.0 * max(since - 0.2, 0.0), -3.6)
        is_moving = since > 0.2 and position > -3.6
        velocity = REST.copy()
        velocity[3] = -2.0 if is_moving else 0.0
        try:
            loop.refer(bent(position), velocity, REST)
        except RneaError as error:
            loop.refused.append((loop.time, str(error)))

    done = loop.run(3.0, refer).record.since(begin)
    assert done.positions[:, 3].min() > LIMIT - 0.05
    assert done.largest_speed() < 2.6
    assert done.since(begin + 2.0).largest_speed() < 0.05


def test_a_joint_thrown_at_its_limit_is_stopped_there():
    """There is no end stop: the efforts alone have to stop it."""
    loop = ClosedLoop(Plant(seven_joints(), bent(-2.6), coulomb=1.0), **GUIDED).run(0.3)
    begin = loop.time
    thrown = REST.copy()
    thrown[3] = -2.0
    loop.plant.set_velocities(thrown)
    done = loop.run(3.0).record.since(begin)
    assert done.positions[:, 3].min() > LIMIT - 0.1


def test_a_joint_beyond_its_limit_can_be_guided_back():
    loop = ClosedLoop(Plant(seven_joints(), bent(LIMIT - 0.1)), **GUIDED).run(0.3)
    begin = loop.time
    push = REST.copy()
    push[3] = 2.5
    loop.push(push, 0.6)
    done = loop.run(2.0).record.since(begin)
    assert done.positions[-1, 3] > LIMIT
    assert done.largest_speed() < 2.0


def test_a_motion_above_a_velocity_limit_is_refused():
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.3)
    sine = Sine(START, 1.9 * np.eye(7)[0], 0.4)  # up to 2.4 rad/s
    with pytest.raises(TrajectoryError, match='joint1.*velocity.*2.175'):
        loop.follow(sine.points(5.0, after=0.6))
    assert loop.run(1.0).record.farthest(START) < 0.01


def test_at_the_velocity_limit_no_restraint_flickers():
    """The motion is slower than the limit; noise of the velocities is not."""
    loop = ClosedLoop(
        sensors=SensorQuality(velocity_noise=0.05), **COMPUTED_TORQUE).run(0.3)
    sine = Sine(START, 1.7 * np.eye(7)[0], 0.4)  # up to 2.14 rad/s
    loop.follow(sine.points(5.0, after=0.6))
    begin = loop.time
    done = loop.run(5.5).record.since(begin)
    assert done.changes_of_flag('restrained') < 20
    assert done.farthest(sine.path(begin + 0.6, 5.0)) < 0.05


def test_at_the_position_limit_no_restraint_flickers():
    """Velocities that are differences of noisy positions."""
    loop = ClosedLoop(
        Plant(seven_joints(), bent(LIMIT + 0.02)),
        sensors=SensorQuality(
            position_noise=2e-4, velocities=Velocities.DIFFERENCES, filter_time=0.005),
        **COMPUTED_TORQUE).run(0.3)
    goal = bent(LIMIT)
    loop.follow([(0.5, goal, REST, REST), (30.0, goal, REST, REST)])
    loop.run(1.0)
    begin = loop.time
    done = loop.run(2.0).record.since(begin)
    assert done.changes_of_flag('restrained') < 20
    assert done.farthest(goal) < 0.02


def test_at_the_tolerance_of_a_goal_the_status_stays():
    loop = ClosedLoop(
        sensors=SensorQuality(position_noise=1e-3), mode=Mode.FEEDFORWARD,
        held_by_others=frozenset(seven_joints().joints)).run(0.05)
    loop.follow([(0.2, START, REST, REST), (0.3, START, REST, REST)])
    loop.run(0.5)

    def lead_away() -> None:
        beside = START.copy()
        beside[1] += min(0.2 * (loop.time - 0.55), 0.1)  # the hold_tolerance
        loop.plant.place(beside)

    loop.run(1.0, lead_away)
    begin = loop.time
    assert loop.run(1.0, lead_away).record.since(begin).changes_of_status() < 20
