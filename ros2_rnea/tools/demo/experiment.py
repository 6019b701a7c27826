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
"""The phases of the experiment and their course."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ros2_rnea.tools.demo.commander import Commander, DRIVER, FEEDFORWARD_NODE
from ros2_rnea.tools.demo.figures import Recording
from ros2_rnea.tools.demo.motion import EASING, MultiSine, smooth_step
from ros2_rnea.tools.simulated_driver.engine import Engine

POINT_SPACING = 0.02
"""Between two points of the trajectories [s]."""

LEAD = 0.5
"""By which trajectories are stamped ahead [s]."""

SETTLING = 0.7
"""For the arm to come to rest before each phase [s]."""

TIP_FORCE = (12.0, 8.0, -20.0)
"""On the robot, in the axes of the tip's frame, at its strongest [N]."""

GRAVITY_POSES = 10


@dataclass(frozen=True)
class Phase:
    """
    One run of the motion under one configuration.

    :param key: in the summary and in code.
    :param title: for people.
    :param mode: of the node; empty: the node is disabled.
    :param rate: of joint states, and so of commands [Hz].
    :param tip_force: whether the environment pushes the tip.
    :param wrench: whether a sensor tells the node about it.
    """

    key: str
    title: str
    mode: str = 'feedforward'
    rate: float = 500.0
    tip_force: bool = False
    wrench: bool = False


PHASES = (
    Phase('pd', 'PD alone', mode=''),
    Phase('gravity', 'PD + gravity', mode='gravity_compensation'),
    Phase('feedforward', 'PD + full feedforward'),
    Phase('feedforward_240', 'the same at 240 Hz', rate=240.0),
    Phase('tip_force', 'tip force, unknown', tip_force=True),
    Phase('tip_force_wrench', 'tip force, on wrench', tip_force=True, wrench=True),
)


def tip_force(time: float, duration: float) -> NDArray[np.float64]:
    """
    Return the force on the tip: eased in while the arm swings, held, and eased out.

    :param time: since the start of the motion [s].
    :param duration: of the motion [s].
    :returns: shape (3,) [N].
    """
    flanks = smooth_step(np.array([time - 0.5 * EASING, duration - 0.5 * EASING - time]) / EASING)
    return flanks.positions.prod() * np.array(TIP_FORCE)


def run_phase(commander: Commander, phase: Phase, motion: MultiSine,
              progress: Callable[[float], None]) -> Recording:
    """
    Let the arm follow the motion once.

    :param progress: called with the share of the phase that is over, 0 to 1.
    :returns: the errors from the first to the last moment of the motion.
    """
    _configure(commander, phase)
    commander.spin_until(commander.now() + int(SETTLING * 1e9))
    commander.driver_report()  # Forget what happened between the phases.

    times = np.arange(0.0, motion.duration + 0.5 * POINT_SPACING, POINT_SPACING)
    start = commander.now() + int(LEAD * 1e9)
    end = start + int(motion.duration * 1e9)
    commander.send_motion(start, times, motion.at(times))
    while (now := commander.now()) < end:
        seconds = (now - start) * 1e-9
        progress(max(0.0, seconds / motion.duration))
        if phase.tip_force:
            commander.push(tip_force(seconds, motion.duration))
        commander.spin_until(min(now + 10_000_000, end))
    commander.spin_until(end + 20_000_000)  # The last joint states are still under way.

    timing = commander.driver_report()
    stamps, positions = commander.recorded(start, end)
    errors = np.degrees(positions - motion.at(stamps).positions)
    return Recording(stamps, errors, timing)


def gravity_errors(commander: Commander, engine: Engine, seed: int = 1) -> tuple[float, ...]:
    """
    Ask the node for gravity in random poses and hold it against the engine.

    :param engine: that knows what holds the arm.
    :returns: largest difference over the joints for each pose [Nm].
    """
    poses = engine.random_poses(GRAVITY_POSES, seed)
    return tuple(float(np.max(np.abs(commander.gravity(pose) - engine.holding_effort(pose))))
                 for pose in poses)


def _configure(commander: Commander, phase: Phase) -> None:
    commander.push((0.0, 0.0, 0.0))
    commander.set_parameter(DRIVER, 'rate', phase.rate)
    commander.set_parameter(DRIVER, 'publish_wrench', phase.wrench)
    if phase.mode:
        commander.set_parameter(FEEDFORWARD_NODE, 'mode', phase.mode)
    commander.enable(bool(phase.mode))
