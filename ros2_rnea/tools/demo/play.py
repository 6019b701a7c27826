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
"""Start driver and node, and play the scenes one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
import sys
from typing import TypeVar

from rich.progress import Progress

from ros2_rnea.model.description import largest_plausible_effort
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.tools.demo.arm import Arm
from ros2_rnea.tools.demo.commander import Commander, FEEDFORWARD_NODE
from ros2_rnea.tools.demo.experiment import gravity_errors, PHASES, push_episode, run_phase
from ros2_rnea.tools.demo.figures import (
    Episode,
    FULL_RATE,
    LOWER_RATES,
    Recording,
    Results,
    share_too_late,
    Timing,
)
from ros2_rnea.tools.demo.judge import CHANGES, is_disturbed, TOO_LATE
from ros2_rnea.tools.demo.processes import Children
from ros2_rnea.tools.demo.scenes import SCENES
from ros2_rnea.tools.demo.stage import Stage
from ros2_rnea.tools.simulated_driver.engine import Engine

DIAGNOSTICS_PERIOD = 1.1
"""Period in which the node publishes what it has counted [s]."""

TRACKING = 'tracking'
"""The name of the scene that is made of phases."""

TRIAL = 1.5
"""Time for which each rate is tried [s]."""

MAX_REPEATS = 2
"""Total number of phases and scenes that are played again after a pause of the machine."""

Played = TypeVar('Played')


class Repeats:
    """
    Plays what a pause of the machine has spoiled again, a few times.

    What is played last is judged, whether there was another pause or not.

    :ivar titles: of what was played again.
    """

    def __init__(self) -> None:
        self.titles: list[str] = []

    def play(self, title: str, play: Callable[[], Played],
             timing: Callable[[Played], Timing]) -> Played:
        """
        Return what is played without a pause, or at last.

        :param play: does it, and leaves the arm as it found it.
        :param timing: returns the driver's figures on messages.
        """
        played = play()
        while is_disturbed(timing(played)) and len(self.titles) < MAX_REPEATS:
            self.titles.append(title)
            played = play()
        return played


def play(arm: Arm, scenes: Sequence[str], seconds: float, out: Path, bar: Progress) -> Results:
    """
    Play scenes with processes of their own, which are gone in the end.

    :param scenes: their names, :data:`TRACKING` among them or not.
    :param seconds: length of the motion in each phase of that scene.
    :param out: folder of logs and of the description.
    :raises ChildError: when a process ends by itself.
    :raises NoAnswerError: when one does not answer.
    """
    tracks = TRACKING in scenes
    others = [name for name in SCENES if name in scenes]
    with Children(out) as children, bar:
        task = bar.add_task('starting driver and node', total=tracks * len(PHASES) + len(others))
        description = out / 'robot.urdf'
        description.write_text(arm.urdf, encoding='utf-8')
        children.start('driver', driver_command(arm, description))
        children.start('node', node_command(arm))
        commander = Commander(arm.joint_names, arm.tip, check=children.check)
        commander.wait_for_robot()
        done = 0
        repeats = Repeats()

        def progress(share: float) -> None:
            bar.update(task, completed=done + share)

        stage = Stage(
            arm, Engine(arm.urdf), commander, children, progress, ready=commander.now())
        bar.update(task, description='rate that this machine keeps up with')
        stage = replace(stage, rate=sustainable_rate(stage))
        recordings: dict[str, Recording] = {}
        episodes: dict[str, Episode] = {}
        differences: tuple[float, ...] = ()
        for phase in PHASES if tracks else ():
            bar.update(task, description=f'{phase.title:22}', completed=done)
            recordings[phase.key], log = repeats.play(
                phase.title, partial(run_phase, stage, phase, seconds),
                lambda played: played[0].timing)
            if phase.wrench:
                episodes['push'] = push_episode(stage, recordings[phase.key], log)
            done += 1
        if tracks:
            bar.update(task, description=f'{"gravity service":22}', completed=done)
            differences = gravity_errors(commander, stage.engine)
        for name in others:
            bar.update(task, description=f'{name:22}', completed=done)
            scene = partial(SCENES[name], stage)
            episodes[name] = repeats.play(
                name, scene, lambda played: played.timing) if name in CHANGES else scene()
            done += 1
        commander.spin_for(DIAGNOSTICS_PERIOD)
        return Results(
            arm, recordings, differences, episodes, commander.rate_limited.total,
            tuple(repeats.titles), stage.rate)


def sustainable_rate(stage: Stage) -> float:
    """
    Return the highest rate of joint states at which the arm gets its commands in time [Hz].

    Where none is low enough, it is the lowest one.
    """
    for rate in (FULL_RATE, *LOWER_RATES):
        stage.settle(rate=rate)
        stage.commander.spin_for(TRIAL)
        if share_too_late(stage.commander.driver_report()) <= TOO_LATE:
            break
    return rate


def driver_command(arm: Arm, description: Path, *options: str) -> list[str]:
    """Return how to start the driver of an arm."""
    return [sys.executable, '-m', 'ros2_rnea.tools.simulated_driver',
            '--urdf', str(description), *options,
            '--ros-args', '-p', f'start_positions:={arm.start.tolist()}']


def node_command(arm: Arm, friction_from: str = 'description') -> list[str]:
    """
    Return how to start the node for an arm.

    :param friction_from: the node's parameter; the simulated joints have what is described.
    """
    return [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args',
            '-r', f'__node:={FEEDFORWARD_NODE}',
            '-r', '~/commands:=/effort_controller/commands',
            '-p', f'joints:=[{", ".join(arm.joint_names)}]',
            '-p', 'position_loop:=present',  # that of the driver
            '-p', f'effort_rate_limit:={arm.rate_limit:.6f}',
            # The push is known: it does not depend on the effort, as that of a contact would.
            '-p', 'wrench_gain:=1.0', '-p', 'wrench_time_constant:=0.0',
            '-p', 'wrench_effort_share:=1.0',
            '-p', 'enabled:=false',
            '-p', f'friction_from:={friction_from}',
            # The simulated motors have no limit where the description has none.
            *[word for joint in parse_urdf(arm.urdf).joints
              if joint.name in arm.joint_names and joint.limits.effort_defect(joint.type)
              for word in (
                  '-p', f'effort_limits.{joint.name}:={largest_plausible_effort(joint.type)}')]]
