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
"""A motion that replaces another one while the arm moves."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import seven_joints  # noqa: E402, I100
from closed_loop.drives import PositionDrives  # noqa: E402
from closed_loop.loop import ClosedLoop, COMPUTED_TORQUE  # noqa: E402
from closed_loop.motions import QuinticFrom, Sine  # noqa: E402
from closed_loop.plant import Plant  # noqa: E402
from ros2_rnea.control.settings import Mode  # noqa: E402

MOVED = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
REST = np.zeros(7)
SINE = Sine(seven_joints().start, 0.5 * MOVED, frequency=0.5)


def test_computed_torque_goes_slowly_to_a_goal_near_by():
    """A spline that begins with the desired acceleration would lead the arm away by 2.6 rad."""
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.3)
    loop.follow(SINE.points(6.0, after=0.5))
    loop.run(1.5)
    begin, here = loop.time, loop.plant.positions
    loop.follow([(8.0, here + 0.1 * MOVED, REST, REST)])
    done = loop.run(9.0).record.since(begin)
    assert done.farthest(here) < 0.15
    assert done.largest_speed() < 0.05
    assert done.since(begin + 8.5).farthest(here + 0.1 * MOVED) < 0.01


def test_computed_torque_turns_round_in_motion():
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.3)
    loop.follow(SINE.points(6.0, after=0.5))
    loop.run(1.3)
    begin = loop.time
    goal = seven_joints().start
    motion = QuinticFrom(loop.plant.positions, loop.plant.velocities, goal, 5.0)
    loop.follow([(5.0, goal, REST, REST)])
    done = loop.run(6.0).record.since(begin)
    assert done.farthest(lambda times: motion.at(times - begin)[0]) < 0.01
    assert done.since(begin + 5.5).farthest(goal) < 0.01


def begin_too_early(loop: ClosedLoop) -> None:
    """Command the motion while the node still takes over the arm."""
    loop.run(0.1)
    loop.follow(LATE.points(5.0))


def guide_meanwhile(loop: ClosedLoop) -> None:
    """Let nobody follow it for a while."""
    loop.run(1.0)
    loop.follow(LATE.points(5.0))
    loop.run(0.1)
    mode = loop.policy.settings.mode
    loop.change(mode=Mode.GRAVITY_COMPENSATION)
    loop.run(0.35)
    loop.change(mode=mode)


def lose_states(loop: ClosedLoop) -> None:
    """Let nothing be known for a while."""
    loop.run(1.0)
    loop.follow(LATE.points(5.0))
    loop.run(0.05)
    loop.sensors.silent_until = loop.steady + 0.15
    loop.run(0.15)


LATE = Sine(seven_joints().start, 0.8 * MOVED, 0.4)


@pytest.mark.parametrize('delay', [begin_too_early, guide_meanwhile, lose_states])
def test_a_motion_that_left_the_arm_is_not_chased(delay):
    """It is commanded with 1.0 rad/s at most."""
    loop = ClosedLoop(**COMPUTED_TORQUE)
    delay(loop)
    assert loop.run(3.0).record.largest_speed() < 1.3 * 1.0 + 0.2


def test_feedforward_supports_a_drive_through_the_replaced_motion():
    """The drive executes the spline from where it is; so the efforts have to be those of it."""
    plant = Plant(seven_joints())
    drives = PositionDrives(
        plant, lambda time: SINE.at(0.0)[:2], frequency=8.0)
    loop = ClosedLoop(plant, drives=drives, mode=Mode.FEEDFORWARD,
                      held_by_others=frozenset(plant.arm.joints)).run(1.0)
    begin = loop.steady
    loop.follow(SINE.points(6.0))
    drives.reference = lambda time: SINE.at(time - begin)[:2]
    loop.run(0.9)
    at, replaced = loop.steady, loop.time
    rest = np.zeros(7)
    goal = plant.positions + 0.1 * MOVED
    motion = QuinticFrom(plant.positions, plant.velocities, goal, 8.0)
    loop.follow([(8.0, goal, rest, rest)])
    drives.reference = lambda time: motion.at(time - at)
    done = loop.run(9.0).record.since(replaced)
    assert done.farthest(lambda times: motion.at(times - replaced)[0]) < 0.01
    assert done.statuses['PATH_DEVIATION'] == 0
