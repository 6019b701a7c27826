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
"""Inputs that are wrong, or come to an end: the arm does not follow them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import seven_joints, STRETCHED  # noqa: E402, I100
from closed_loop.loop import ClosedLoop, COMPUTED_TORQUE, GUIDED  # noqa: E402
from closed_loop.motions import Sine  # noqa: E402
from closed_loop.plant import Plant  # noqa: E402
from ros2_rnea.control.inputs.joint_states import MeasuredJoints  # noqa: E402
from ros2_rnea.control.settings import StartFrom  # noqa: E402
from ros2_rnea.errors import RneaError  # noqa: E402
from ros2_rnea.robots.adjustable_robot import AdjustableRobot  # noqa: E402
from ros2_rnea.robots.sent_terms import Terms  # noqa: E402

START = seven_joints().start
REST = np.zeros(7)
MOVED = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])


def tilting(loop: ClosedLoop, tilted: tuple[float, float], silent_from: float):
    """
    Return what tilts the base by 30 degrees for a while, and sends what its imu measures.

    :param tilted: when the base is tilted [s].
    :param silent_from: when the imu sends its last message [s].
    """
    def tilt() -> None:
        angle = np.deg2rad(30.0) if tilted[0] < loop.time < tilted[1] else 0.0
        gravity = np.array([-9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)])
        loop.plant.set_gravity(gravity)
        if loop.cycle % 5 == 0 and loop.time < silent_from:
            loop.policy.take_imu('link0', (-gravity).tolist(), loop.now)

    return tilt


def test_an_imu_that_has_stopped_is_named():
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), gravity_from_imu=True, **GUIDED)
    tilt = tilting(loop, (1.0, 3.0), 2.9)
    loop.run(3.6, tilt)
    assert loop.record.last.status.name == 'IMU_LOST'
    loop.run(2.4, tilt)
    assert loop.record.last.status.name == 'IMU_LOST'
    loop.enable(False)
    loop.run(3.0, tilt)
    begin = loop.time
    try:
        loop.enable()
    except RneaError:
        pass  # no start is accepted
    assert loop.run(1.0, tilt).record.since(begin).first_effort_at == np.inf


def test_a_motion_is_braked_when_the_imu_has_stopped():
    loop = ClosedLoop(
        Plant(seven_joints(), coulomb=1.0), gravity_from_imu=True, **COMPUTED_TORQUE)
    tilt = tilting(loop, (0.0, 0.0), 1.5)
    loop.run(0.5, tilt)
    sine = Sine(START, 0.6 * MOVED, 0.4)
    loop.follow(sine.points(7.5))
    loop.run(2.5, tilt)  # imu_timeout and the time for braking are over
    begin = loop.time
    done = loop.run(3.0, tilt).record.since(begin)
    assert done.largest_speed() < 0.05


def test_efforts_do_not_jump_to_the_parameter_gravity():
    """The base stays tilted; what was measured last is nearer to the truth."""
    loop = ClosedLoop(Plant(seven_joints(), STRETCHED, coulomb=1.0), gravity_from_imu=True,
                      **GUIDED)
    loop.run(6.0, tilting(loop, (-1.0, 99.0), 6.0))
    begin = loop.time
    done = loop.run(3.0).record.since(begin)
    assert done.farthest(done.positions[0]) < 0.05
    assert done.last.status.name == 'IMU_LOST'


def test_sensors_are_not_tared_in_motion():
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), **COMPUTED_TORQUE).run(0.3)

    def measure() -> None:
        loop.policy.take_wrench('hand', [0.0, 0.0, 0.0, 0.0, 0.0, 5.0], loop.now)

    loop.follow(Sine(START, 0.6 * MOVED, 0.4).points(5.0))
    loop.run(0.6, measure)
    with pytest.raises(RneaError, match='rest|mov'):
        loop.policy.zero_wrench(loop.now)


def second_source(loop: ClosedLoop) -> None:
    """Let another driver report the same joints, 0.02 rad beside, between two cycles."""
    beside = loop.plant.positions + 0.02 * np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    loop.receive(MeasuredJoints(
        (*seven_joints().joints, 'finger'), (*beside, 0.0), (*loop.plant.velocities, 0.0), None,
        loop.steady + 5e-4, source='another driver'))


def test_a_second_source_of_joints_is_not_merged():
    """Their states alternate; merged, the efforts would step by 1 Nm each time."""
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.3)
    loop.follow([(1.0, START, REST, REST), (30.0, START, REST, REST)])
    loop.run(1.0)
    begin = loop.time
    done = loop.run(2.0, lambda: second_source(loop)).record.since(begin)
    assert done.largest_step() < 0.2
    assert done.farthest(START) < 0.03


def test_nothing_starts_while_two_sources_contradict_each_other():
    loop = ClosedLoop(enabled=False, **COMPUTED_TORQUE)
    loop.run(0.3, lambda: second_source(loop))
    loop.enable()
    loop.run(0.3, lambda: second_source(loop))
    assert loop.record.first_effort_at == np.inf
    assert loop.record.last.status.name == 'TWO_SOURCES'
    assert 'finger' in loop.record.last.detail


def test_an_arm_with_unknown_load_is_not_dropped_at_start():
    plant = Plant(seven_joints(), STRETCHED)
    plant.set_payload(3.0)
    loop = ClosedLoop(plant, start_from=StartFrom.MEASURED, blend_time=0.5, **GUIDED)
    done = loop.run(0.05).record
    assert done.largest_step() < 2.0


def test_gravity_alone_has_no_offset_of_friction():
    """Of which the parameter says that no friction is sent."""
    model = AdjustableRobot.of(seven_joints().model(), optional_parameters=('friction_offset',))
    model.set_joint_parameters('friction_offset', dict.fromkeys(seven_joints().joints, 1.0))
    loop = ClosedLoop(model=model, terms=Terms.GRAVITY_ONLY, **GUIDED)
    assert loop.run(2.0).record.farthest(START) < 0.02


def fall_without_states(repeats: bool, is_disabled: bool) -> tuple[float, float]:
    """
    Return what becomes of an arm whose driver loses the hardware in motion.

    :return: how fast it becomes within 2 s [rad/s], and when the last effort was sent [s].
    """
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.6)
    loop.follow([(4.0, START + MOVED, REST, REST)])
    loop.run(2.0)
    loop.sensors.repeats, begin = repeats, loop.time
    if not repeats:
        loop.sensors.silent_until = np.inf
    if is_disabled:
        loop.enable(False)
    record = loop.run(2.0).record.since(begin)
    sent = [time for time, decision in record.decided() if decision.effort is not None]
    return record.largest_speed(), max(sent) - begin


@pytest.mark.parametrize('is_disabled', [False, True])
def test_repeated_states_let_no_damping_drive_the_arm(is_disabled):
    """The arm falls as one without states does, and is not driven on top of that."""
    speed, last = fall_without_states(True, is_disabled)
    assert speed < fall_without_states(False, is_disabled)[0]
    assert last < 0.23  # twice state_timeout, and less than longest_braking
