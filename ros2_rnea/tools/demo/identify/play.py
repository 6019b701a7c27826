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
"""Start driver and node, excite the arm, identify it, load what was found, and push the arm."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
from rich.progress import Progress

from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import Arm
from ros2_rnea.tools.demo.commander import FEEDFORWARD_NODE
from ros2_rnea.tools.demo.figures import Recording, share_too_late
from ros2_rnea.tools.demo.identify.identifier import Identifier, MODEL_TOPIC
from ros2_rnea.tools.demo.identify.machine import Machine, machine_of
from ros2_rnea.tools.demo.identify.model import (
    exciting_motion,
    ExcitingMotion,
    Found,
    identified,
)
from ros2_rnea.tools.demo.identify.outcome import Outcome, Push
from ros2_rnea.tools.demo.judge import TOO_LATE, TooSlowError
from ros2_rnea.tools.demo.play import (
    driver_command,
    node_command,
    Repeats,
    sustainable_rate,
)
from ros2_rnea.tools.demo.processes import Children
from ros2_rnea.tools.demo.stage import Stage
from ros2_rnea.tools.simulated_driver.engine import Engine

QUIET, PUSHED, AFTERWARDS = 1.0, 1.0, 0.3
"""Times before, during and after the push that are recorded [s]."""

COMING_INTO_FORCE = 2.0
"""Time for which efforts are recorded once the node uses the identified model [s]."""

STEPS = ('motion that excites the arm', 'starting driver and node',
         'following, with the description', 'recording', 'identification',
         'loading the identified model', 'following, identified', 'push')


def play_identification(arm: Arm, seconds: float, out: Path, bar: Progress) -> Outcome:
    """
    Let the arm follow a motion before and after it is identified, then push it.

    :param seconds: length of the motion.
    :param out: folder of logs, descriptions and the recording.
    :raises ChildError: when a process ends by itself.
    :raises NoAnswerError: when one does not answer.
    :raises TooSlowError: where the machine is too slow for the recording.
    """
    machine = machine_of(arm)
    with Children(out) as children, bar:
        task = bar.add_task('', total=len(STEPS))
        steps = iter(enumerate(STEPS))

        def show_next() -> str:
            done, step = next(steps)
            bar.update(task, completed=done, description=f'{step:32}')
            return step

        show_next()
        motion = exciting_motion(arm)
        show_next()
        session = _Session(arm, machine, out, children)
        repeats = Repeats()
        timing = attrgetter('timing')
        before = repeats.play(show_next(), partial(session.follow, seconds), timing)
        show_next()
        session.record(motion, out / 'recording')
        show_next()
        found = identified(arm, out / 'recording')
        (out / 'identified.urdf').write_text(found.urdf, encoding='utf-8')
        show_next()
        largest_step = session.load(found)
        after = repeats.play(show_next(), partial(session.follow, seconds), timing)
        push = repeats.play(show_next(), session.push, timing)
    return Outcome(
        arm, machine, before, after, largest_step, push, found.identification,
        tuple(repeats.titles), session.rate)


class _Session:
    """
    The processes of driver and node, and what is done with them.

    :ivar rate: of joint states at most, with which this machine keeps up [Hz].
    """

    def __init__(self, arm: Arm, machine: Machine, out: Path, children: Children) -> None:
        description = out / 'machine.urdf'
        description.write_text(machine.urdf, encoding='utf-8')
        children.start('driver', driver_command(arm, description, '--friction'))
        children.start('node', [
            *node_command(arm, friction_from='none'), '-r', f'robot_description:={MODEL_TOPIC}',
            '-p', 'observe_external_effort:=true', '-p', f'external_wrench_link:={arm.tip}'])
        self._arm = arm
        self._commander = Identifier(arm.joint_names, arm.tip, check=children.check)
        self._commander.publish_model(arm.urdf)
        self._commander.wait_for_robot()
        self._commander.load(machine.load)
        stage = Stage(arm, Engine(arm.urdf), self._commander, children, lambda share: None)
        self.rate = sustainable_rate(stage)
        self._stage = replace(stage, rate=self.rate)

    def follow(self, seconds: float) -> Recording:
        """Let the arm follow the motion of the demo."""
        motion = self._arm.motion(seconds)
        self._stage.settle()
        log = self._stage.follow(motion)
        errors = self._arm.displayed(log.positions - motion.at(log.times).positions)
        return Recording(log.times, errors, self._commander.driver_report())

    def record(self, motion: ExcitingMotion, bag: Path) -> None:
        """
        Let the arm follow a motion, and record the joint states.

        :raises TooSlowError: where the arm did not follow, because its efforts came too late.
        """
        self._stage.settle()
        with self._commander.bag(bag):
            self._stage.follow(motion)
        late = share_too_late(self._commander.driver_report())
        if late > TOO_LATE:
            raise TooSlowError(
                f'{late:.1%} of the motion to identify the arm by came over 20 ms late')

    def load(self, found: Found) -> float:
        """
        Bring what was identified into force while the arm is held.

        :return: the largest step of an effort to the next [Nm or N].
        """
        commander, arm = self._commander, self._arm
        self._stage.settle()
        start = commander.now()
        for name, value in found.friction.items():
            commander.set_parameter(FEEDFORWARD_NODE, name, value)
        robot = Robot.from_urdf(found.urdf)
        columns = [robot.joint_names.index(name) for name in arm.joint_names]
        pose = arm.start[[arm.joint_names.index(name) for name in robot.joint_names]]
        commander.send_model(found.urdf, arm.start.tolist(), robot.gravity(pose)[columns])
        commander.spin_for(COMING_INTO_FORCE)
        log = commander.recorded(start, commander.now())
        return float(np.abs(np.diff(log.sent, axis=0)).max(initial=0.0))

    def push(self) -> Push:
        """Push the tip of the resting arm, and return what the node has estimated."""
        commander, force = self._commander, self._arm.tip_force
        self._stage.settle()
        commander.estimates.clear()
        start = commander.now()
        commander.spin_for(QUIET)
        begin = commander.now()
        commander.push(force)
        commander.spin_for(PUSHED)
        end = commander.now()
        commander.push((0.0, 0.0, 0.0))
        commander.spin_for(AFTERWARDS)
        times, estimates = zip(*commander.estimates)
        return Push(force, 1e-9 * (begin - start), 1e-9 * (end - start),
                    1e-9 * (np.array(times) - start), np.array(estimates)[:, 3:],
                    commander.driver_report())
