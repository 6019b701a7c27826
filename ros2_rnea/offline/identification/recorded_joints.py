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
"""The joints that a robot and its recording share, and whether their numbers can be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from ros2_rnea.errors import counted, did_you_mean, RecordingError
from ros2_rnea.offline.identification.recording import Recording, Step
from ros2_rnea.offline.identification.smoothing import derivative
from ros2_rnea.offline.identification.time_base import SIGNALS, Signals
from ros2_rnea.robots.joint_index_map import (
    check_assumed_positions,
    joint_body,
    single_joints,
)
from ros2_rnea.robots.robot import Robot

LARGEST = 1e9
"""No position, velocity or effort of a robot is larger, in SI units; its square fits."""

FAR_ABOVE = 4.0
"""No robot reaches so many times its limits: such numbers are wrong, or in another unit."""


def resting_positions(robot: Robot, assumed: Mapping[str, Sequence[float]]) -> np.ndarray:
    """
    Return the positions of a robot of whose joints some are assumed, and others at their origin.

    :raises RneaError: where there is no such joint, or it has other positions.
    """
    for name in assumed:
        if name not in robot.joint_names:
            raise RecordingError(
                f'a position is assumed for {name!r}, which is no joint of {robot.name!r}'
                f'{did_you_mean(name, robot.joint_names)}')
    check_assumed_positions(robot, assumed)
    q = robot.neutral()
    for name, position in assumed.items():
        q[joint_body(robot, name).q_slice] = position
    return q


def signals_of(
        recording: Recording, robot: Robot, resting: np.ndarray, steps: list[Step],
        ) -> tuple[Signals, dict[str, int]]:
    """
    Return what was recorded of the joints of a robot, in its order, and which efforts were.

    :param resting: positions of the robot, of which those count that were not recorded.
    :param steps: gets which joints there are.
    :return: with the efforts the places of their joints, by name.
    :raises RecordingError: where there is none, none with efforts, or a number that is too large
        for any robot.
    """
    single = single_joints(robot)
    positions, velocities = recording.positions, recording.velocities
    there = list(np.compress(np.isfinite(positions).any(axis=0), recording.joints))
    names = [name for name in single if name in there]
    if not names:
        silent = [name for name in single if name in recording.joints]
        raise RecordingError(f'recording {recording.name!r} has ' + (
            f'no position of {", ".join(silent)} that is a finite number' if silent else
            f'positions of {", ".join(there) or "no joint"}, and none of the joints of '
            f'{robot.name!r}, which are {", ".join(single)}'
            f'{did_you_mean(recording.joints[0], single)}'))
    columns = [recording.joints.index(name) for name in names]
    measured = {}
    for place, name in enumerate(names):
        efforts = recording.efforts[:, columns[place]]
        finite = efforts[np.isfinite(efforts)]
        if len(finite) and finite.min() < finite.max():
            measured[name] = place
            continue
        what = f'are {finite[0]:g} throughout' if len(finite) else 'were not recorded'
        steps.append(Step('joints', f'Efforts of joint {name!r} {what}: nothing is concluded from '
                          'them.', is_warning=True))
    if not measured:
        raise RecordingError(
            f'recording {recording.name!r} has no efforts of {", ".join(names)}: they are '
            'missing or constant')
    mimics = [name for name in recording.joints if name in robot.tree.mimics]
    foreign = [name for name in recording.joints
               if name not in robot.joint_names and name not in mimics]
    text = f'{len(names)} joints in the order of {robot.name!r}: {", ".join(names)}.'
    if mimics:
        text += f' Not used, since they follow other joints: {", ".join(mimics)}.'
    if foreign:
        text += f' Not used, since the robot has no such joint: {", ".join(foreign)}.'
    steps.append(Step('joints', text))
    missing = [name for name in robot.joint_names if name not in names]
    if missing:
        at_rest = ', '.join(
            f'{name} at {", ".join(map("{:g}".format, resting[joint_body(robot, name).q_slice]))}'
            for name in missing)
        hints = (f' The recording has {name!r}{hint}' for name in foreign
                 for hint in (did_you_mean(name, missing),) if hint)
        steps.append(Step(
            'joints', f'Not recorded and assumed to be at rest: {at_rest}.{"".join(hints)}',
            is_warning=True))
    efforts = np.where(np.isin(recording.joints, list(measured)), recording.efforts, 0.0)
    signals = [each[:, columns] for each in (positions, efforts, velocities) if each is not None]
    if not np.isfinite(signals[-1]).any(axis=0).all():
        del signals[-1]  # velocities, of which those of a joint are missing
    values = np.stack(signals, axis=1)
    recorded = Signals(recording.name, names, recording.times, values)
    _check_sizes(recorded, robot, steps)
    return recorded, measured


def _check_sizes(recorded: Signals, robot: Robot, steps: list[Step]) -> None:
    """Refuse what no robot measures, and warn of efforts that no drive exerts: one spoils all."""
    sizes = np.nan_to_num(np.abs(recorded.values), posinf=0.0)  # are cut out
    for row, signal, joint in np.argwhere(sizes > LARGEST)[:1]:
        raise RecordingError(
            f'recording {recorded.name!r} has {recorded.values[row, signal, joint]:g} among the '
            f'{SIGNALS[signal]} of {recorded.joints[joint]!r}, {_place(recorded, row)}; it needs '
            f'SI units, of magnitude {LARGEST:g} at most: take this row out')
    for joint, name in enumerate(recorded.joints):
        body = joint_body(robot, name)
        above = int((sizes[:, 1, joint] > FAR_ABOVE * body.limits.effort).sum())
        if above and not body.limits.effort_defect(body.type):
            largest = int(np.argmax(sizes[:, 1, joint]))
            steps.append(Step(
                'efforts', f'{counted(above, "effort")} of joint {name!r} '
                f'{"is" if above == 1 else "are"} more than {FAR_ABOVE:g} times its limit of '
                f'{body.limits.effort:g}; the largest is {recorded.values[largest, 1, joint]:.4g},'
                f' {_place(recorded, largest)}.  Take such rows out if they are few; if they are '
                'many, is this effort in Nm or N?', is_warning=True))


def _place(recorded: Signals, row: int) -> str:
    return f'in row {row + 1} at {recorded.times[row]:.6g} s'


def check_positions(raw: Signals, robot: Robot, steps: list[Step]) -> None:
    """
    Check that joints move, and within their limits.

    :param raw: at one period.
    :param steps: gets warnings.
    :raises RecordingError: where none moves, or far beyond its limits, as in another unit.
    """
    positions = raw.values[:, 0]
    lowest, highest = positions.min(axis=0), positions.max(axis=0)
    still = np.compress(lowest == highest, raw.joints)
    if len(still) == len(raw.joints):
        raise RecordingError(
            f'recording {raw.name!r} has constant positions of all joints: nothing moves, or its '
            'source had stopped')
    if len(still):
        steps.append(Step('motion', f'These joints do not move at all: {", ".join(still)}.',
                          is_warning=True))
    speeds = np.percentile(np.abs(raw.by_piece(derivative, positions)), 99.0, axis=0)
    for name, low, high, speed in zip(raw.joints, lowest, highest, speeds):
        body = joint_body(robot, name)
        limits, extent = body.limits, body.limits.upper - body.limits.lower
        slack = 0.05 * extent
        if not body.type.is_bounded or (
                limits.lower - slack <= low and high <= limits.upper + slack):
            continue
        text = (f'ositions of joint {name!r} of recording {raw.name!r} are {low:.4g} to '
                f'{high:.4g}, its limits {limits.lower:.4g} to {limits.upper:.4g}')
        allowed = max(-limits.lower, limits.upper)
        is_fast = speed > FAR_ABOVE * limits.velocity > 0.0
        if isfinite(allowed) and (
                is_fast or max(-low, high) > FAR_ABOVE * max(allowed, extent)):
            fast = (f', and it moves at {speed:.4g} a second, its limit {limits.velocity:.4g}'
                    if is_fast else '')
            raise RecordingError(
                f'p{text}{fast}: are they in rad or m?  Tell their unit, such as --csv-units '
                'position=deg,velocity=deg/s, or correct it where they are recorded')
        steps.append(Step('motion', f'P{text}. Is it this robot, and the zero the same?',
                          is_warning=True))
