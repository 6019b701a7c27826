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
"""The phases of the tracking experiment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ros2_rnea.tools.demo.commander import Commander, DRIVER
from ros2_rnea.tools.demo.figures import Episode, Log, Recording, Section
from ros2_rnea.tools.demo.motion import push_share
from ros2_rnea.tools.demo.stage import Stage
from ros2_rnea.tools.simulated_driver.engine import Engine

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


LOW_RATE = 240.0
"""Rate of the joint states in one of the phases [Hz]."""

PHASES = (
    Phase('pd', 'PD alone', mode=''),
    Phase('gravity', 'PD + gravity', mode='gravity_compensation'),
    Phase('feedforward', 'PD + full feedforward'),
    Phase('feedforward_240', f'the same at {LOW_RATE:g} Hz', rate=LOW_RATE),
    Phase('tip_force', 'tip force, unknown', tip_force=True),
    Phase('tip_force_wrench', 'tip force, on wrench', tip_force=True, wrench=True),
)


def run_phase(stage: Stage, phase: Phase, duration: float) -> tuple[Recording, Log]:
    """
    Let the arm follow the motion once.

    :param duration: of the motion [s].
    :returns: the errors from the first to the last moment of the motion, and all else of it.
    """
    commander, motion = stage.commander, stage.arm.motion(duration)
    commander.push((0.0, 0.0, 0.0))
    commander.set_parameter(DRIVER, 'publish_wrench', phase.wrench)
    stage.settle(phase.mode, phase.rate)
    log = stage.follow(motion, partial(_push, stage, duration) if phase.tip_force else None)
    timing = commander.driver_report()
    errors = stage.arm.displayed(log.positions - motion.at(log.times).positions)
    return Recording(log.times, errors, timing), log


def push_episode(stage: Stage, recording: Recording, log: Log) -> Episode:
    """Return the phase with a known push, as a scene like the others."""
    force = np.linalg.norm(stage.arm.tip_force)
    section = Section('known from wrench', 0.0, float(log.times[-1]))
    return Episode(f'push of {force:.2g} N', (section,), log, recording.errors, recording.timing)


def _push(stage: Stage, duration: float, time: float) -> None:
    stage.commander.push(push_share(time, duration) * stage.arm.tip_force)


def gravity_errors(commander: Commander, engine: Engine, seed: int = 1) -> tuple[float, ...]:
    """
    Request gravity efforts of random poses from the node, and compare with the engine.

    :param engine: that knows what holds the arm.
    :returns: largest difference over the joints for each pose [Nm].
    """
    poses = engine.random_poses(GRAVITY_POSES, seed)
    return tuple(float(np.max(np.abs(commander.gravity(pose) - engine.holding_effort(pose))))
                 for pose in poses)
