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
"""What happens to an arm while its effort is handed over from one to another."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import seven_joints, STRETCHED  # noqa: E402, I100
from closed_loop.loop import ClosedLoop, COMPUTED_TORQUE, GUIDED  # noqa: E402
from closed_loop.motions import QuinticFrom  # noqa: E402
from closed_loop.plant import Plant  # noqa: E402
from ros2_rnea.control.target.controller_rules import ControllerRules  # noqa: E402
from ros2_rnea.errors import TrajectoryError  # noqa: E402

START = seven_joints().start
REST = np.zeros(7)
OF_JOINT_2 = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def tracking(**settings) -> ClosedLoop:
    """Return a loop whose arm rests at the first point of a trajectory that stays there."""
    loop = ClosedLoop(**{**COMPUTED_TORQUE, **settings}).run(1.0)
    loop.follow([(1.0, START, REST, REST), (30.0, START, REST, REST)])
    return loop


def test_a_goal_that_is_too_near_in_time_is_refused():
    beside = START + 0.08 * np.array([0.0, 0.0, 0.0, 1.0, 0.0, -0.5, 0.0])
    loop = ClosedLoop(Plant(seven_joints(), beside), **COMPUTED_TORQUE).run(0.05)
    begin = loop.time
    with pytest.raises(TrajectoryError, match='joint4.*velocity.*2.175'):
        loop.follow([(0.03, START, REST, REST), (3.0, START, REST, REST)])
    assert loop.run(3.0).record.since(begin).farthest(beside) < 0.01


def test_half_a_radian_in_100_ms_is_refused():
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.3)
    begin = loop.time
    with pytest.raises(TrajectoryError, match='joint1.*velocity.*2.175'):
        loop.follow([(0.1, START + np.eye(7)[0] * 0.5, REST, REST)])
    assert loop.run(1.0).record.since(begin).farthest(START) < 0.01


@pytest.mark.parametrize('sent_at', [0.0, 0.1, 0.2])
def test_a_motion_sent_while_arming_begins_when_held(sent_at):
    """Before, there is no feedback: the arm would be 0.15 rad and 1 rad/s behind."""
    loop = ClosedLoop(enabled=False, **COMPUTED_TORQUE).run(0.1)
    loop.enable()
    begin = loop.run(sent_at).time + max(0.0, 0.5 - sent_at)
    goal = START + 0.8 * np.array([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    loop.follow([(1.2, goal, REST, REST)])
    motion = QuinticFrom(START, REST, goal, 1.2)
    done = loop.run(2.2).record
    assert done.farthest(lambda times: motion.at(np.maximum(times - begin, 0.0))[0]) < 0.01
    assert done.last.state.name == 'HOLDING'


@pytest.mark.parametrize('push', [1.0, 2.0])
def test_the_effort_does_not_step_after_a_push_while_waiting(push):
    """By 0.19 and 0.39 rad; the motion is ramped in, or waits until it is near."""
    loop = ClosedLoop(blend_time=1.0, **COMPUTED_TORQUE).run(0.05)
    loop.follow([(3.0, START + 0.8 * np.eye(7)[0], REST, REST)])
    loop.push(push * np.eye(7)[0], 0.5)
    begin = loop.run(0.9).time
    assert np.abs(loop.plant.positions - START).max() > 0.15
    done = loop.run(3.0).record.since(begin)
    assert done.largest_step() < 0.2
    assert done.largest_speed() < 1.0
    assert done.last.state.name != 'FAULT'


def test_a_stamp_stream_or_later_motion_does_not_wait():
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.1)
    goal = START + 0.8 * np.eye(7)[0]
    for points, stamp, end in (
            ([(2.0, goal, REST, REST)], 0.0, 2.0), ([(0.04, START, REST, REST)], None, 0.04),
            ([(0.5, START, REST, REST), (2.0, goal, REST, REST)], None, 2.0),
            ([(1.5, goal, REST, REST)], None, 1.9)):
        loop.follow(points, stamp)
        path = loop.policy.motion.memory.path
        assert path.end - loop.now.ros == pytest.approx(end, abs=0.003)


def test_a_wrong_velocity_as_feedback_begins_hardly_moves_the_arm():
    loop = tracking()
    begin = loop.time
    loop.sensors.spike = 1.0 * OF_JOINT_2
    assert loop.run(2.0).record.since(begin).farthest(START) < 0.01


@pytest.mark.parametrize('change', [
    {'blend_time': 0.6}, {'position_gains': (120.0,)}, {'gravity': (0.0, 0.0, -9.8)}])
def test_a_wrong_velocity_at_a_change_hardly_moves_the_arm(change):
    loop = tracking().run(1.5)
    begin = loop.time
    loop.sensors.spike = 1.0 * OF_JOINT_2
    loop.change(**change)
    done = loop.run(3.0).record.since(begin)
    assert done.farthest(START) < 0.01
    assert done.largest_speed() < 0.1


def test_a_hit_as_feedback_begins_moves_no_farther_than_later():
    """What a hammer does between two samples is no fault of a sensor, but the same mechanism."""
    distances = []
    for wait in (0.0, 1.5):
        loop = tracking().run(wait)
        begin = loop.time
        loop.push(1500.0 * OF_JOINT_2, 0.001)
        distances.append(loop.run(3.0).record.since(begin).farthest(START))
    assert distances[0] < 1.3 * distances[1] + 0.005


def test_points_that_are_streamed_move_the_arm_as_they_say():
    loop = ClosedLoop(
        Plant(seven_joints(), coulomb=1.0),
        rules=ControllerRules(allow_nonzero_velocity_at_trajectory_end=True),
        **COMPUTED_TORQUE).run(0.5)
    begin, here = loop.time, loop.plant.positions
    moved = np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.5, 0.0])

    def stream() -> None:
        since = loop.time - begin
        if loop.cycle % 20 == 0 and since < 2.0:
            loop.follow([(0.04, here + 0.3 * (since + 0.04) * moved, 0.3 * moved)])

    done = loop.run(3.5, stream).record.since(begin)
    assert done.largest_speed() < 1.0
    assert done.farthest(here + 0.6 * moved) < 0.75


def test_gravity_that_is_set_again_and_again_is_always_followed():
    """A blend that is begun anew before it ends would never end: 15 Nm are missing then."""
    loop = ClosedLoop(Plant(seven_joints(), STRETCHED, coulomb=1.0), **GUIDED).run(0.5)
    errors = []

    def tilt() -> None:
        angle = np.deg2rad(30.0) * np.clip((loop.time - 0.5) / 3.0, 0.0, 1.0)
        gravity = (-9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle))
        loop.plant.set_gravity(gravity)
        if loop.cycle % 20 == 0:
            loop.change(gravity=tuple(map(float, gravity)))
        errors.append(np.abs(loop.drives.held - loop.plant.holding_effort()).max())

    begin = loop.time
    loop.run(3.5, tilt)
    assert max(errors) < 5.0
    assert loop.record.since(begin).largest_speed() < 0.5


def test_one_wrong_sample_of_a_wrench_hardly_changes_the_efforts():
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), **COMPUTED_TORQUE).run(0.3)
    loop.follow([(0.3, START, REST, REST), (0.6, START, REST, REST)])
    loop.run(1.2)
    begin = loop.time

    def measure() -> None:
        force = 1e6 if loop.cycle % 1500 == 300 else 0.0
        loop.policy.take_wrench('hand', [0.0, 0.0, 0.0, 0.0, 0.0, force], loop.now)

    done = loop.run(1.5, measure).record.since(begin)
    assert done.span_of_commands() < 1.0
    assert done.farthest(done.positions[0]) < 0.01
