# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http:#www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The controller's core moves an arm: how the arm moves, whatever happens."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import heavy, seven_joints  # noqa: E402, I100
from closed_loop.core_loop import CoreLoop  # noqa: E402
from closed_loop.motions import Sine  # noqa: E402
from closed_loop.plant import Plant  # noqa: E402
from control_core import Mode, Reason  # noqa: E402

ARM = seven_joints()
START, JOINTS = ARM.start, ARM.size
SWUNG = Sine(START, np.array([0.8, 0.6, 0.5, 0.6, 0.5, 0.5, 0.5]), 0.4)
NOTHING = np.full((3, JOINTS), np.nan)
RATES = pytest.mark.parametrize('rate', [1000.0, 250.0])
LITTLE_FRICTION = 0.2
"""Share of the viscous friction that an arm has: it does not brake by itself."""

RATE_LIMITS = np.array([1000.0] * 4 + [240.0] * 3)  # of the model's part [Nm/s]


def loop_of(library, mode, rate=1000.0, *, plant=None, **settings):
    return CoreLoop(library, plant or Plant(ARM), mode, rate=rate, **settings)


def swung(library, rate, duration=0.6, **options):
    """Return an arm in the middle of its motion, and the time."""
    loop = loop_of(library, Mode.COMPUTED_TORQUE, rate, **options)
    loop.motion = SWUNG.at
    loop.run(duration)
    assert loop.record.since(loop.time - 0.02).largest_speed() > 0.9
    return loop, loop.time


def assert_brakes(loop, begin):
    """Judge an arm that was braked in its motion and has been held since."""
    done = loop.record.since(begin)
    speed = float(np.abs(done.velocities[0]).max())
    assert done.largest_speed() < 1.1 * speed
    assert done.farthest(done.positions[0]) < 0.2 * speed  # the way is v T, and T is 0.1 s
    assert done.time_to_rest() < 1.0
    # The damping acts at once, and the former effort fades; it does not push.
    assert done.largest_step() < 30.0


# ---- gravity compensation -----------------------------------------------------------------------


@RATES
@pytest.mark.parametrize('arm', [seven_joints(), heavy()])
def test_gravity_compensation_holds_the_arm(arm, rate, library):
    loop = CoreLoop(library, Plant(arm), Mode.GRAVITY_COMPENSATION, rate=rate).run(2.0)
    assert loop.record.largest_speed() < 1e-6
    assert set(loop.states) == {'GRAVITY'}


@RATES
def test_an_arm_whose_model_is_wrong_creeps_with_bounded_speed(rate, library):
    loop = loop_of(library, Mode.GRAVITY_COMPENSATION, rate, plant=Plant(ARM, mass_factor=1.2),
                   guiding_time=0.3)
    lacking = loop.plant.holding_effort() - loop.model.gravity(START)
    bound = 0.3 * np.abs(np.linalg.solve(loop.model.mass_matrix(START), lacking)).max()
    loop.run(3.0)
    assert 0.3 * bound < loop.record.largest_speed() < 1.2 * bound
    assert set(loop.states) == {'GRAVITY'}


@RATES
def test_a_guided_arm_that_is_pushed_hard_is_braked_and_released(rate, library):
    loop = loop_of(library, Mode.GRAVITY_COMPENSATION, rate, plant=Plant(ARM)).run(0.3)
    loop.plant.push[1] = 60.0
    loop.run(0.3)
    assert loop.record.largest_speed() > 4.0
    loop.plant.push[1] = 0.0
    begin = loop.time
    loop.run(3.0)
    done = loop.record.since(begin)
    assert done.largest_speed() <= 1.05 * np.abs(done.velocities[0]).max()
    assert done.time_to_rest() < 2.0
    assert 'BRAKING' in loop.states
    assert (loop.states[-1], loop.reasons[-1]) == ('GRAVITY', Reason.NONE)


# ---- start --------------------------------------------------------------------------------------


@RATES
@pytest.mark.parametrize('mode', [Mode.GRAVITY_COMPENSATION, Mode.COMPUTED_TORQUE])
def test_start_from_what_holds_the_arm_moves_nothing(mode, rate, library):
    loop = loop_of(library, mode, rate)
    loop.follow(START)
    loop.run(1.5)
    assert loop.record.largest_speed() < 1e-3
    assert loop.record.largest_step() < 0.01


@RATES
@pytest.mark.parametrize('mode', [Mode.GRAVITY_COMPENSATION, Mode.COMPUTED_TORQUE])
def test_start_from_nothing_moves_little(mode, rate, library):
    """Nothing holds the arm: it falls until the effort has risen to gravity, by the rate limit."""
    loop = loop_of(library, mode, rate, held=np.zeros(JOINTS), told=np.full(JOINTS, np.nan))
    loop.follow(START)
    loop.run(1.5)
    assert loop.record.largest_speed() < 1.0
    assert loop.record.since(0.06).farthest(loop.record.since(0.06).positions[0]) < 0.15
    assert (loop.largest_step_of_model() <= RATE_LIMITS / rate + 1e-9).all()


@RATES
def test_start_from_an_effort_that_is_wrong_makes_no_step(rate, library):
    holding = Plant(ARM).holding_effort()
    loop = loop_of(library, Mode.COMPUTED_TORQUE, rate, held=1.3 * holding)
    loop.follow(START)
    loop.run(2.0)
    assert loop.record.largest_speed() < 0.4
    assert loop.record.drift() < 0.002
    assert (loop.largest_step_of_model() <= RATE_LIMITS / rate + 1e-9).all()


# ---- computed torque ----------------------------------------------------------------------------


@RATES
@pytest.mark.parametrize(('mass_factor', 'bound'), [(1.0, 0.02), (1.1, 0.2)])
def test_computed_torque_tracks(mass_factor, bound, rate, library):
    plant = Plant(ARM, mass_factor=mass_factor)
    loop = loop_of(library, Mode.COMPUTED_TORQUE, rate, plant=plant)
    loop.motion = SWUNG.at
    loop.run(5.0)
    assert loop.record.farthest(SWUNG.path(0.0)) < bound
    assert loop.record.since(1.0).largest_step() < 1500.0 / rate
    assert set(loop.states) == {'TRACKING'}


@RATES
@pytest.mark.parametrize('arm', [seven_joints(), heavy()])
def test_a_reference_that_is_lost_in_motion_brakes_the_arm(arm, rate, library):
    moved = Sine(arm.start, np.full(arm.size, 0.6), 0.4)
    loop = CoreLoop(library, Plant(arm, viscous=0.5, armature=1.0), Mode.COMPUTED_TORQUE,
                    rate=rate, model=arm.model(armature=1.0))
    loop.motion = moved.at
    loop.run(0.6)
    begin = loop.time
    loop.motion = lambda _: np.full((3, arm.size), np.nan)
    loop.run(2.0)
    done = loop.record.since(begin)
    speed = np.abs(done.velocities[0]).max()
    assert speed > 0.6
    assert done.largest_speed() < 1.1 * speed
    assert done.farthest(done.positions[0]) < 0.2 * speed
    assert done.time_to_rest() < 1.0
    assert (loop.states[-1], loop.reasons[-1]) == ('GRAVITY', Reason.NO_REFERENCE)


@RATES
@pytest.mark.parametrize('every', [2, 3, 10, 60])
def test_a_reference_that_comes_and_goes_does_not_shake_the_arm(every, rate, library):
    loop = loop_of(library, Mode.COMPUTED_TORQUE, rate)
    loop.motion = lambda time: NOTHING if loop.cycle % every == 0 else SWUNG.at(time)
    loop.run(3.0)
    assert loop.record.largest_speed() < 1.2  # that of the motion is 1.0
    assert loop.reasons.count(Reason.NO_REFERENCE) > 5


@RATES
def test_a_reference_that_jumps_far_is_a_fault_and_brakes_the_arm(rate, library):
    loop, begin = swung(library, rate, plant=Plant(ARM, viscous=LITTLE_FRICTION))
    loop.follow(START + 1.0)
    loop.run(2.0)
    assert (loop.states[-1], loop.reasons[-1]) == ('FAULT', Reason.DEVIATION)
    assert_brakes(loop, begin)
    loop.core.enable()
    loop.run(0.5)
    assert (loop.states[-1], loop.reasons[-1]) == ('GRAVITY', Reason.FAR_REFERENCE)


@RATES
@pytest.mark.parametrize('jump', [0.05, 0.2, 0.39])
def test_a_reference_that_jumps_slightly_is_caught_up_with(jump, rate, library):
    loop = loop_of(library, Mode.COMPUTED_TORQUE, rate)
    loop.follow(START)
    loop.run(1.0)
    begin = loop.time
    loop.follow(START + jump)
    loop.run(3.0)
    done = loop.record.since(begin)
    assert done.largest_speed() < 1.2  # path_tolerance kp / kd is 1 rad/s
    assert (done.positions - START - jump).max() < 0.02 * jump + 1e-3
    assert np.abs(done.positions[-1] - START - jump).max() < 0.003
    assert set(loop.states) == {'TRACKING'}


@RATES
def test_an_arm_that_is_too_fast_is_a_fault_and_braked(rate, library):
    loop = loop_of(library, Mode.COMPUTED_TORQUE, rate)
    loop.motion = Sine(START, np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 1.0).at
    loop.run(2.0)
    limit = 1.5 * loop.plant.velocity_limits[0]
    assert (loop.states[-1], loop.reasons[-1]) == ('FAULT', Reason.SPEED)
    assert loop.record.largest_speed() < 1.15 * limit
    assert loop.record.since(loop.states.index('FAULT') / rate).time_to_rest() < 1.2


@RATES
def test_enable_brakes_with_false_and_does_not_jump_with_true(rate, library):
    loop, begin = swung(library, rate, plant=Plant(ARM, viscous=LITTLE_FRICTION))
    loop.core.enable(False)
    loop.run(1.5)
    assert loop.states[-1] == 'BRAKING'
    assert loop.core.rests
    assert_brakes(loop, begin)
    begin = loop.time
    loop.follow(loop.plant.positions + 0.05)
    loop.core.enable()
    loop.run(2.0)
    done = loop.record.since(begin)
    assert loop.states[-1] == 'TRACKING'
    assert done.largest_speed() < 0.2
    assert done.largest_step() < 250.0 / rate
    assert np.abs(done.positions[-1] - done.positions[0] - 0.05).max() < 0.003


@RATES
def test_a_payload_comes_and_goes_in_motion(rate, library):
    for mode, bound in ((Mode.COMPUTED_TORQUE, 0.4), (Mode.GRAVITY_COMPENSATION, None)):
        loop = loop_of(library, mode, rate, guiding_time=0.2)
        loop.motion = SWUNG.at
        loop.run(0.6)
        for mass in (1.0, 0.0):
            loop.plant.set_payload(mass)
            loop.carry(mass)
            loop.run(1.0)
        assert loop.record.largest_speed() < 1.3
        assert (loop.largest_step_of_model() <= RATE_LIMITS / rate + 1e-9).all()
        if bound is not None:
            assert set(loop.states) == {'TRACKING'}
            assert loop.record.farthest(SWUNG.path(0.0)) < bound


# ---- states -------------------------------------------------------------------------------------


@RATES
@pytest.mark.parametrize(('duration', 'bound'), [(0.004, 0.02), (0.02, 0.02), (0.09, 0.05)])
def test_states_that_are_no_numbers_for_a_while_do_little(duration, bound, rate, library):
    loop, begin = swung(library, rate)

    def spoil(q, qd):
        q[2] = qd[4] = np.nan

    loop.spoil = spoil
    loop.run(duration)
    loop.spoil = None
    assert loop.reasons[-1] is Reason.UNUSABLE_STATES
    loop.run(1.0)
    assert all(loop.usable)
    assert (loop.states[-1], loop.reasons[-1]) == ('TRACKING', Reason.NONE)
    assert loop.record.since(begin).farthest(SWUNG.path(0.0)) < bound
    assert loop.record.since(begin).largest_step() < 6.0


@RATES
def test_states_that_are_no_numbers_for_long_are_reported(rate, library):
    loop, begin = swung(library, rate)

    def spoil(q, qd):
        q[:] = qd[:] = np.nan

    loop.spoil = spoil
    loop.run(0.2)
    assert abs(loop.usable.index(False) / rate - begin - 0.1) < 2.0 / rate
    assert np.isfinite(loop.core.effort).all()
    assert not loop.core.hold()
    held = loop.core.effort.copy()
    loop.plant.place(loop.record.since(begin).positions[0])
    assert np.abs(held - loop.plant.holding_effort()).max() < 0.1  # of the last pose, at rest


@RATES
def test_states_that_are_repeated_with_a_velocity_are_reported(rate, library):
    loop, begin = swung(library, rate)
    positions, velocities = loop.plant.positions, loop.plant.velocities

    def spoil(q, qd):
        q[:], qd[:] = positions, velocities

    loop.spoil = spoil
    loop.run(0.13)
    assert loop.reasons[-1] is Reason.UNUSABLE_STATES
    assert 0.1 < loop.usable.index(False) / rate - begin < 0.13
    assert loop.record.since(begin).largest_speed() < 2.0


def test_hardware_that_is_read_more_seldom_than_the_cycle_runs_is_used(library):
    loop = loop_of(library, Mode.COMPUTED_TORQUE)
    last = [loop.plant.positions, loop.plant.velocities]

    def spoil(q, qd):
        if loop.cycle % 8 == 0:
            last[:] = q.copy(), qd.copy()
        q[:], qd[:] = last

    loop.spoil = spoil
    loop.motion = Sine(START, np.array([1.2, 0.8, 0.5, 0.8, 0.5, 0.5, 0.5]), 0.5).at
    loop.run(3.0)
    assert loop.record.largest_speed() > 1.5
    assert Reason.UNUSABLE_STATES not in loop.reasons


@RATES
@pytest.mark.parametrize('period', [0.0, np.nan, -0.001, 10.0])
def test_a_wrong_period_does_no_harm(period, rate, library):
    loop, begin = swung(library, rate)
    loop.period = period
    loop.run(2.0)
    assert loop.record.since(begin).farthest(SWUNG.path(0.0)) < 0.03
    assert set(loop.states) == {'TRACKING'}


# ---- efforts as references ----------------------------------------------------------------------

STIFFNESS = np.array([120.0, 120.0, 60.0, 60.0, 10.0, 10.0, 2.0])


@RATES
def test_a_pid_controller_upstream_moves_the_arm(rate, library):
    loop = loop_of(library, Mode.EFFORT, rate, plant=Plant(ARM, armature=1.0),
                   model=ARM.model(armature=1.0))

    def efforts(time):
        wanted, velocity, _ = SWUNG.at(time)
        return (STIFFNESS * (wanted - loop.core.q)
                + 0.15 * STIFFNESS * (velocity - loop.core.qd))

    loop.efforts = efforts
    loop.run(4.0)
    assert set(loop.states) == {'TRACKING'}
    assert loop.record.farthest(SWUNG.path(0.0)) < 0.3
    loop.run(0.6)
    begin = loop.time
    loop.efforts = lambda _: np.full(JOINTS, np.nan)
    loop.run(1.5)
    assert (loop.states[-1], loop.reasons[-1]) == ('GRAVITY', Reason.NO_REFERENCE)
    done = loop.record.since(begin)
    assert done.largest_speed() <= 1.1 * np.abs(done.velocities[0]).max()
    assert done.time_to_rest() < 1.0


@RATES
@pytest.mark.parametrize(('ramp', 'speed', 'way'), [
    (0.0, 1e-6, 1e-6), (0.1, 0.2, 0.02), (0.4, 1.2, 0.25)])
def test_efforts_that_contain_gravity_do_not_act_twice(ramp, speed, way, rate, library):
    loop = loop_of(library, Mode.EFFORT, rate)
    loop.efforts = lambda time: (
        min(1.0, time / ramp if ramp else 1.0) * loop.plant.holding_effort())
    loop.run(3.0)
    assert (loop.states[-1], loop.reasons[-1]) == ('GRAVITY', Reason.DOUBLED_GRAVITY)
    assert loop.record.largest_speed() < speed
    assert loop.record.farthest(START) < way


@RATES
def test_efforts_that_contain_gravity_too_late_to_be_noticed_end_in_a_fault(rate, library):
    loop = loop_of(library, Mode.EFFORT, rate)
    loop.efforts = lambda time: min(1.0, time) * loop.plant.holding_effort()
    loop.run(4.0)
    assert (loop.states[-1], loop.reasons[-1]) == ('FAULT', Reason.SPEED)
    assert loop.record.largest_speed() < 1.2 * 1.5 * loop.plant.velocity_limits.min()
    assert loop.record.since(2.5).largest_speed() < 0.02


# ---- feedforward --------------------------------------------------------------------------------


def test_feedforward_helps_a_position_loop(library):
    errors = []
    for has_model in (True, False):
        loop = loop_of(library, Mode.FEEDFORWARD, plant=Plant(ARM, armature=1.0),
                       model=ARM.model(armature=1.0))
        loop.follow(START)
        if not has_model:
            loop.core.set_parameters(np.zeros_like(loop.model.parameter_values))
        loop.run(2.0)
        begin = loop.time
        loop.motion = lambda time, begin=begin: SWUNG.at(time - begin)
        loop.run(3.0)
        errors.append(loop.record.since(begin).farthest(SWUNG.path(begin)))
        assert np.array_equal(loop.core.position_sent, SWUNG.at(loop.time - begin)[0])
    assert errors[0] < 0.02
    assert errors[0] < 0.3 * errors[1]
    loop.motion = lambda _: NOTHING
    stopped = loop.time
    loop.run(1.5)
    assert loop.record.since(stopped).time_to_rest() < 1.0
    assert (loop.states[-1], loop.reasons[-1]) == ('GRAVITY', Reason.NO_REFERENCE)
