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
"""Gains, delays and rate limits of a loop that the node closes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import seven_joints  # noqa: E402, I100
from closed_loop.drives import PositionDrives  # noqa: E402
from closed_loop.loop import ClosedLoop, COMPUTED_TORQUE, GUIDED  # noqa: E402
from closed_loop.motions import Sine  # noqa: E402
from closed_loop.plant import Plant  # noqa: E402
from ros2_rnea.control.decision import Status  # noqa: E402
from ros2_rnea.control.settings import Mode, StartFrom  # noqa: E402
from ros2_rnea.errors import ArgumentError, TrajectoryError  # noqa: E402

START = seven_joints().start
REST = np.zeros(7)
HIT = np.array([80.0, 80.0, 0.0, 40.0, 0.0, 0.0, 0.0])


def with_gains(position: float, velocity: float, **settings: float) -> ClosedLoop:
    return ClosedLoop(mode=Mode.COMPUTED_TORQUE, position_gains=(position,),
                      velocity_gains=(velocity,), **settings)


def following(loop: ClosedLoop) -> ClosedLoop:
    loop.run(0.3)
    loop.follow([(0.5, START, REST, REST), (1.0, START, REST, REST)])
    return loop.run(1.5)


NO_TRIPS = {'trip_deviation': 0.0, 'trip_saturation_time': 0.0, 'trip_velocity_factor': 0.0}


@pytest.mark.parametrize(('position', 'velocity', 'trips'), [
    (900.0, 60.0, {}), (400.0, 40.0, {}), (900.0, 60.0, NO_TRIPS)])
def test_a_hit_is_damped_out_with_stiff_gains(position, velocity, trips):
    """With the rate limit inside the loop, the efforts stay at both limits for ever."""
    loop = following(with_gains(position, velocity, **trips))
    begin = loop.time
    loop.push(HIT, 0.06)
    done = loop.run(5.0).record
    assert done.since(begin + 3.0).oscillation() < 0.05
    assert done.since(begin + 3.0).span_of_commands() < 5.0
    has_tripped = done.last.state.name == 'FAULT'
    assert has_tripped == (not trips)  # 20 rad/s are a reason


@pytest.mark.parametrize(('position', 'velocity'), [(1e5, 600.0), (1e5, 20.0), (100.0, 1500.0)])
def test_gains_that_cannot_be_stable_move_no_arm(position, velocity):
    loop = with_gains(position, velocity).run(0.3)
    assert loop.record.last.status.name == 'UNSTABLE_GAINS'
    assert loop.record.last.effort is None
    assert loop.record.farthest(START) < 0.01


@pytest.mark.parametrize(('position', 'velocity'), [(1e5, 600.0), (100.0, 1500.0)])
def test_gains_that_cannot_be_stable_are_refused_in_motion(position, velocity):
    loop = following(ClosedLoop(**COMPUTED_TORQUE))
    begin = loop.time
    with pytest.raises(ArgumentError, match='gains'):
        loop.change(position_gains=(position,), velocity_gains=(velocity,))
    loop.push(0.2 * HIT, 0.02)
    done = loop.run(3.0).record
    assert done.since(begin + 2.0).farthest(START) < 0.01  # with the gains it had


def test_gains_stable_at_1_khz_are_not_with_100_hz():
    loop = with_gains(900.0, 60.0, states_every=10).run(1.0)
    try:
        loop.follow([(0.5, START, REST, REST), (60.0, START, REST, REST)])
    except ValueError:
        pass  # nothing is followed, and nothing sent
    loop.run(0.5)
    loop.push(HIT, 0.06)
    assert loop.run(4.0).record.since(3.0).oscillation() < 0.05


def test_too_strong_damping_is_no_limit_cycle():
    """30 Nm s/rad at 100 Hz shake the wrists, whose inertia is 0.04 kg m^2, without end."""
    damping = dict.fromkeys(seven_joints().joints, 30.0)
    loop = ClosedLoop(states_every=10, guiding_damping=damping, **GUIDED)
    loop.run(0.5)
    begin = loop.time
    loop.push(0.05 * HIT, 0.1)
    assert loop.run(3.0).record.since(begin + 1.5).oscillation() < 0.02


@pytest.mark.parametrize('rate', [50, 10])
def test_a_rise_takes_the_same_time_on_a_slow_bus(rate):
    """The rate limit is in Nm per second, not per cycle."""
    plant = Plant(seven_joints())
    drives = PositionDrives(plant, lambda time: (START, REST))
    loop = ClosedLoop(
        plant, states_every=1000 // rate, drives=drives, mode=Mode.FEEDFORWARD,
        effort_rate_limit=40.0, blend_time=0.0, state_timeout=0.5, start_from=StartFrom.ZERO,
        held_by_others=frozenset(plant.arm.joints)).run(6.0)
    done = loop.record
    begin = done.first_effort_at
    wanted = done.commands[-1]
    late = np.abs(done.commands - wanted).max(axis=1) > 0.5
    rise = done.times[np.flatnonzero(late)[-1]] - begin
    assert np.abs(wanted).max() > 20.0
    assert rise == pytest.approx(np.abs(wanted).max() / 40.0, abs=2.0 / rate)


def test_feedback_with_little_effort_to_spare_does_not_run_away():
    """Gravity takes 22 of 35 Nm; a push of 40 Nm is more than the rest can brake at once."""
    loop = ClosedLoop(effort_limit_factor=0.4, **COMPUTED_TORQUE).run(0.2)
    sine = Sine(START, 0.15 * np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), 0.25)
    loop.follow(sine.points(8.0))
    loop.run(1.7)
    begin = loop.time
    loop.push(40.0 * np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]), 0.08)
    done = loop.run(4.0).record.since(begin)
    assert done.farthest(START) < 2.0
    assert done.since(begin + 3.0).largest_speed() < 0.05


def held_with_armature() -> ClosedLoop:
    """Return a loop that holds an arm whose armature and friction the model knows."""
    loop = ClosedLoop(
        Plant(seven_joints(), coulomb=1.0, armature=1.0),
        model=seven_joints().model(armature=1.0), **COMPUTED_TORQUE).run(0.5)
    loop.stay(60.0)
    return loop.run(0.5)


def test_a_trajectory_beyond_the_efforts_is_refused():
    loop = ClosedLoop(effort_limit_factor=0.3, **COMPUTED_TORQUE).run(0.5)
    with pytest.raises(TrajectoryError, match='joint[0-9].*effort.*2[56]'):
        loop.follow([(0.8, START + 0.7 * np.eye(7)[1], REST, REST)])


@pytest.mark.parametrize('mass', [1.0, 2.0])
def test_an_unknown_load_keeps_no_arm_behind_its_motion(mass):
    """The error that catching up corrects was too small for the load, so that the arm sank."""
    loop = held_with_armature()
    loop.plant.set_payload(mass)
    loop.run(2.0)
    without = np.abs(loop.plant.positions - START).max()
    loop.sensors.silent_until = loop.steady + 0.15
    loop.run(8.0)
    assert 'STOPPING' in loop.record.statuses
    assert np.abs(loop.plant.positions - START).max() < 1.3 * without + 0.02
    assert loop.policy.state.follows


def at_rest() -> ClosedLoop:
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), **COMPUTED_TORQUE).run(0.5)
    loop.stay()
    return loop.run(1.5)


@pytest.mark.parametrize('off', [0.1, 0.18])
def test_a_reference_beside_a_held_arm_is_approached_slowly(off):
    loop = at_rest()
    begin = loop.time
    beside = START + off * np.eye(7)[1]
    done = loop.run(4.0, lambda: loop.refer(beside, REST, REST)).record.since(begin - 0.002)
    assert done.largest_speed() < 0.45
    assert done.largest_step() < 8.0  # 38 where the whole error is corrected at once
    assert np.abs(loop.plant.positions - beside).max() < 0.04


def test_a_reference_far_from_a_held_arm_is_not_followed():
    loop = at_rest()
    begin = loop.time
    far = START + 0.35 * np.eye(7)[1]
    done = loop.run(2.0, lambda: loop.refer(far, REST, REST)).record.since(begin)
    assert done.largest_speed() < 0.1
    assert done.last.status is Status.MOTION_TOO_FAR


def test_a_motion_after_a_jump_of_simulated_time_is_executed():
    """The weight of feedback rose from a time that comes later now."""
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.5)
    beside = START + 0.08 * np.eye(7)[1]
    loop.run(1.5, lambda: loop.refer(beside, REST, REST))
    loop.jump_back(60.0)
    loop.run(1.5)
    goal = loop.plant.positions + 0.5 * np.eye(7)[0]
    loop.follow([(2.0, goal, REST, REST)])
    loop.run(3.0)
    assert np.abs(loop.plant.positions - goal).max() < 0.02


@pytest.mark.parametrize(('position', 'velocity'), [(200.0, 28.0), (25.0, 10.0)])
def test_other_gains_do_not_step_what_holds_a_load(position, velocity):
    loop = held_with_armature()
    loop.plant.set_payload(2.0)
    begin = loop.run(3.0).time
    loop.change(position_gains=(position,), velocity_gains=(velocity,))
    assert loop.run(0.1).record.since(begin - 0.002).largest_step() < 0.5


def test_earlier_end_stops_do_not_step_the_effort_at_rest():
    plant = Plant(seven_joints(), coulomb=1.0, armature=1.0)
    near = START.copy()
    near[3] = plant.position_limits[1][3] - 0.25
    plant.place(near)
    loop = ClosedLoop(plant, model=seven_joints().model(armature=1.0),
                      end_stop_stiffness={'joint4': 100.0}, **GUIDED)
    begin = loop.run(2.0).time
    loop.change(position_limit_margin=0.4)  # 15 Nm at once
    assert loop.run(0.1).record.since(begin - 0.002).largest_step() < 0.5


def test_other_gains_in_motion_do_not_step_the_effort():
    """With what the model lacks, the arm is behind its motion, and the gains multiply that."""
    loop = ClosedLoop(**COMPUTED_TORQUE).run(0.5)
    loop.stay(0.3)
    loop.run(1.0)
    loop.plant.set_payload(1.0)
    loop.run(1.0)
    loop.follow([(4.0, START + 0.5, REST, REST)])
    loop.run(1.5)
    begin = loop.time
    loop.change(position_gains=(400.0,), velocity_gains=(40.0,))
    done = loop.run(1.0).record.since(begin)
    assert done.largest_step() < 1.0
    assert loop.policy.memory.gains.used[:, 0].tolist() == [400.0, 40.0]
