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
"""Every stop while the arm moves: it is braked, it comes to rest, and it is held."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from closed_loop.arms import seven_joints  # noqa: E402, I100
from closed_loop.loop import ClosedLoop, COMPUTED_TORQUE, GUIDED  # noqa: E402
from closed_loop.motions import Sine  # noqa: E402
from closed_loop.plant import Plant  # noqa: E402
from closed_loop.record import Record  # noqa: E402
from closed_loop.sensors import SensorQuality, Velocities  # noqa: E402
from ros2_rnea.control.decision import State  # noqa: E402
from ros2_rnea.control.settings import BeyondLimits, ContactReaction, OnStop  # noqa: E402
from ros2_rnea.errors import TrajectoryError  # noqa: E402

START = seven_joints().start
REST = np.zeros(7)
THROWN = 0.8 * np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
MOVED = 0.5 * np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
SWUNG = Sine(START, 0.8 * np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), 0.4).points(5.0)
BUTTON = {'dead_man_button': 0, 'dead_man_timeout': 0.2}


def disable(loop: ClosedLoop) -> None:
    loop.enable(False)


def release(loop: ClosedLoop) -> None:
    loop.policy.take_buttons([0], loop.now)


def end(loop: ClosedLoop) -> None:
    loop.end_node()


def press(loop: ClosedLoop) -> Callable[[], None] | None:
    """Return what keeps the dead-man switch pressed, where there is one."""
    if loop.policy.settings.dead_man_button < 0:
        return None
    return lambda: loop.policy.take_buttons([1], loop.now)


def stopped(loop: ClosedLoop, stop: Callable[[ClosedLoop], None]) -> Record:
    """Return what an arm does that is stopped when it is thrown."""
    loop.plant.set_velocities(THROWN)
    begin = loop.time
    stop(loop)
    return loop.run(4.0).record.since(begin)


STOPS = [(disable, {}), (release, BUTTON), (end, {})]


@pytest.mark.parametrize(('stop', 'settings'), STOPS)
def test_a_guided_arm_comes_to_rest_and_is_held(stop, settings):
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), **settings, **GUIDED)
    loop.run(0.3, press(loop))
    done = stopped(loop, stop)
    assert done.largest_speed() < 1.1
    assert done.farthest(done.positions[0]) < 0.25
    assert done.time_to_rest() < 1.5
    assert done.work < 5.0  # no more than what gravity needs for lifting it so far
    assert done.last.effort is None  # at last, nothing is sent; the drives hold the arm


@pytest.mark.parametrize(('stop', 'settings'), STOPS)
def test_an_arm_with_little_friction_is_braked_in_its_motion(stop, settings):
    loop = ClosedLoop(
        Plant(seven_joints(), viscous=0.0, coulomb=0.2), **settings, **COMPUTED_TORQUE)
    loop.run(0.3, press(loop))
    loop.follow(SWUNG)
    loop.run(0.6, press(loop))
    begin, speed = loop.time, loop.record.since(loop.time).largest_speed()
    assert speed > 0.8
    stop(loop)
    done = loop.run(4.0).record.since(begin)
    assert done.largest_speed() < 1.1 * speed
    assert done.farthest(done.positions[0]) < 0.35 * speed
    assert done.time_to_rest() < 1.5
    assert done.since(begin + 2.5).farthest(done.positions[-1]) < 0.02


@pytest.mark.parametrize('stop', [disable, end])
def test_an_arm_without_measured_velocities_is_braked(stop):
    loop = ClosedLoop(
        Plant(seven_joints(), coulomb=0.3), sensors=SensorQuality(velocities=Velocities.NONE),
        **GUIDED).run(0.3)
    done = stopped(loop, stop)
    assert done.largest_speed() < 1.5
    assert done.farthest(done.positions[0]) < 0.6
    assert done.time_to_rest() < 2.5


def test_an_arm_that_is_enabled_again_does_not_fall():
    loop = ClosedLoop(Plant(seven_joints(), coulomb=0.5), **GUIDED).run(0.3)
    loop.plant.set_velocities(THROWN)
    begin = loop.time
    loop.enable(False)
    loop.run(0.4)
    loop.enable()
    done = loop.run(5.0).record.since(begin)
    assert done.largest_speed() < 1.1
    assert done.farthest(done.positions[0]) < 0.3
    assert done.since(begin + 3.0).largest_speed() < 0.05


def test_a_false_alarm_of_contact_does_not_drop_the_arm():
    """Without damping, gravity compensation lets an arm that is in motion go on moving."""
    loop = ClosedLoop(
        Plant(seven_joints(), viscous=0.0), model=seven_joints().model(),
        observe_external_effort=True, contact_reaction=ContactReaction.HOLD,
        external_effort_threshold=dict.fromkeys(seven_joints().joints, 4.0),
        **COMPUTED_TORQUE).run(1.0)
    loop.follow(SWUNG)
    loop.run(0.6)
    begin = loop.time
    loop.sensors.spike = np.full(7, 0.4)  # which looks like a contact
    speed = loop.record.since(begin).largest_speed()
    done = loop.run(5.0).record.since(begin)
    assert 'CONTACT' in done.statuses
    assert done.largest_speed() < 1.1 * speed
    assert done.farthest(done.positions[0]) < 0.5
    assert done.since(begin + 3.0).largest_speed() < 0.05


def speeds_at(loop: ClosedLoop, begin: float, *times: float) -> list[float]:
    """Return the largest speeds at times after a moment [rad/s]."""
    done = loop.record.since(begin)
    return [float(np.abs(done.velocities[round(time / loop.period)]).max()) for time in times]


@pytest.mark.parametrize(('stop', 'settings'), STOPS)
def test_with_zero_after_the_stop_the_arm_is_braked_first(stop, settings):
    """Before the first braking, nothing was known of how fast the arm is."""
    loop = ClosedLoop(on_stop=OnStop.ZERO, **settings, **COMPUTED_TORQUE)
    loop.run(0.5, press(loop))
    target = START + 1.5 * np.array([1.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0])
    loop.follow([(2.0, target, REST, REST)])
    loop.run(1.0, press(loop))
    begin = loop.time
    stop(loop)
    loop.run(0.3)
    first, later = speeds_at(loop, begin, 0.1, 0.3)
    assert first < 0.5 and later < 0.1


@pytest.mark.parametrize('has_fault', [False, True])
def test_an_arm_that_nothing_held_is_braked_before_guiding(has_fault):
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), on_stop=OnStop.ZERO,
                      dead_man_button=0, dead_man_timeout=0.03, **GUIDED)
    loop.run(1.0, press(loop))
    if has_fault:
        loop.policy.fail('a test')
        loop.run(1.0, press(loop))
    loop.run(0.14, lambda: release(loop))
    assert np.abs(loop.plant.velocities).max() > 1.0  # it falls
    begin = loop.time
    done = loop.run(2.0, press(loop)).record.since(begin)
    assert done.largest_speed() < 2.5
    assert done.time_to_rest() < 0.6
    assert loop.policy.state is (State.FAULT if has_fault else State.GRAVITY)


def test_a_lasting_reason_keeps_no_arm_braked_for_ever():
    loop = ClosedLoop(states_every=1, dead_man_button=0, dead_man_timeout=0.5, **COMPUTED_TORQUE)
    loop.run(1.0, press(loop))
    loop.stay(60.0)
    loop.run(1.0, press(loop))
    loop.states_every = 30  # the driver becomes slow
    loop.run(3.0, press(loop))
    assert loop.policy.state is State.FAULT
    assert 'joint states come every' in loop.policy.acknowledge(loop.now)
    release(loop)
    loop.run(1.0)
    assert loop.policy.state is State.OFF


@pytest.mark.parametrize(('stop', 'settings'), STOPS[:2])
def test_a_stopped_motion_does_not_go_on_by_itself(stop, settings):
    loop = ClosedLoop(**settings, **COMPUTED_TORQUE)
    loop.run(0.5, press(loop))
    loop.follow([(4.0, START + MOVED, REST, REST)])
    loop.run(1.0, press(loop))
    stop(loop)
    loop.run(0.05)
    loop.enable()
    begin = loop.run(1.0, press(loop)).time
    done = loop.run(3.0, press(loop)).record.since(begin)
    assert done.largest_speed() < 0.02
    loop.follow([(4.0, START + MOVED, REST, REST)])
    loop.run(4.5, press(loop))
    assert np.abs(loop.plant.positions - START - MOVED).max() < 0.02


@pytest.mark.parametrize('silent_for', [0.11, 0.3])  # it is braked; nothing is sent any more
@pytest.mark.parametrize(('stop', 'settings'), STOPS[:2])
def test_nor_does_one_stopped_in_a_gap_of_states(
        stop, settings, silent_for):
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), **settings, **COMPUTED_TORQUE)
    loop.run(0.8, press(loop))
    loop.follow([(8.0, START + 0.3 * MOVED, REST, REST)])
    loop.run(1.5, press(loop))
    loop.sensors.silent_until = loop.steady + silent_for + 0.1
    loop.run(silent_for, press(loop))
    assert loop.policy.state is (State.BRAKING if silent_for < 0.2 else State.OFF)
    stop(loop)
    loop.run(0.3)
    loop.enable()
    begin = loop.run(1.0, press(loop)).time
    done = loop.run(4.0, press(loop)).record.since(begin)
    assert loop.policy.state is State.GRAVITY
    assert done.largest_speed() < 0.02


@pytest.mark.parametrize(('stop', 'settings'), STOPS[:2])
def test_a_motion_for_a_stopped_arm_is_refused(stop, settings):
    loop = ClosedLoop(**settings, **COMPUTED_TORQUE).run(0.5)
    stop(loop)
    with pytest.raises(TrajectoryError, match='no motion begins as long as this holds: '):
        loop.follow([(4.0, START + MOVED, REST, REST)])


@pytest.mark.parametrize('seconds', [0.004, 0.05])
@pytest.mark.parametrize(('stop', 'settings'), STOPS[:2])
def test_a_stop_taken_back_does_not_throw_the_arm(stop, settings, seconds):
    """The damping was that of a velocity that the arm does not have any more."""
    loop = ClosedLoop(
        Plant(seven_joints(), viscous=0.0), **settings, **GUIDED)
    loop.run(0.8, press(loop))
    loop.plant.set_velocities(np.eye(7)[0])
    loop.run(0.06, press(loop))
    stop(loop)
    loop.run(seconds)
    loop.enable()
    begin = loop.time
    done = loop.run(1.0, press(loop)).record.since(begin)
    assert done.velocities[:, 0].min() > -0.02


def test_no_fault_is_left_while_an_arm_without_velocities_moves():
    loop = ClosedLoop(sensors=SensorQuality(velocities=Velocities.NONE), **GUIDED).run(1.0)
    loop.policy.fail('a test')
    loop.run(1.0)
    loop.push(12.0 * np.eye(7)[0], 0.5)
    assert np.abs(loop.plant.velocities).max() > 0.5
    assert 'still moves' in loop.policy.acknowledge(loop.now)
    loop.run(3.0)
    assert loop.policy.acknowledge(loop.now) == ''


@pytest.mark.parametrize(('begin', 'state'), [
    (lambda loop: loop.change(enabled=True), State.FAULT), (ClosedLoop.enable, State.GRAVITY),
], ids=['not acknowledged', 'acknowledged'])
def test_an_error_before_efforts_begin_is_a_fault_until_acknowledged(begin, state):
    loop = ClosedLoop(enabled=False, **GUIDED).run(0.5)
    loop.policy.fail('a test')
    loop.run(0.5)
    begin(loop)
    loop.run(1.0)
    assert loop.policy.state is state


def test_states_that_stop_during_braking_throw_no_arm():
    """The last damping is held until they are stale, by default as long as ``braking_time``."""
    loop = ClosedLoop(Plant(seven_joints(), coulomb=1.0), **GUIDED).run(0.3)
    loop.plant.set_velocities(THROWN)
    begin = loop.time
    disable(loop)
    loop.run(0.02)
    loop.sensors.silent_until = np.inf
    done = loop.run(0.3).record.since(begin)
    assert done.velocities.min() > -0.2  # it was thrown with 0.8
    assert np.abs(done.velocities[-1]).max() < 0.02
    assert done.last.effort is None


def test_a_joint_at_its_limit_takes_damping_from_no_other():
    loop = ClosedLoop(
        Plant(seven_joints(), viscous=0.0), beyond_limits=BeyondLimits.SCALE,
        effort_limits={'joint2': 17.0}, **GUIDED).run(0.3)
    loop.push(15.0 * np.eye(7)[1], 0.25)  # to where its gravity is more than it has
    loop.plant.set_velocities(np.eye(7)[0])
    loop.run(0.003)
    disable(loop)
    loop.run(0.1)
    assert loop.plant.velocities[0] < 0.25  # joint 2 falls, and moves it later


@pytest.mark.parametrize('seconds', [-0.06, 0.06])
def test_an_end_is_held_on_where_the_clock_is_set(seconds):
    loop = ClosedLoop(**COMPUTED_TORQUE)
    loop.run(0.6)
    loop.stay(0.5)
    loop.run(1.0)
    loop.plant.set_payload(1.0)
    loop.run(2.0)
    here = loop.plant.positions
    loop.step_ros_clock(seconds)
    begin = loop.time
    assert loop.run(3.0).record.since(begin).farthest(here) < 0.01
