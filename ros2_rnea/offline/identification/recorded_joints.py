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

from collections.abc import Collection, Mapping, Sequence
from math import isfinite

import numpy as np
from ros2_rnea.errors import counted, did_you_mean, RecordingError
from ros2_rnea.model.description import JointLimits
from ros2_rnea.offline.identification.recording import Recording, Step
from ros2_rnea.offline.identification.smoothing import derivative
from ros2_rnea.offline.identification.time_base import Signals
from ros2_rnea.robots.joint_index_map import joint_body, single_joints
from ros2_rnea.robots.robot import Robot

LARGEST = 1e9
"""No position, velocity or effort of a robot is larger, in SI units; its square fits."""

FAR_ABOVE = 4.0
"""No robot reaches so many times its limits: such numbers are wrong, or in another unit."""


def signals_of(
        recording: Recording, robot: Robot, assumed: Mapping[str, float], steps: list[Step],
        ) -> Signals:
    """
    Return what was recorded of the joints of a robot, in its order.

    :param assumed: positions of joints that were not recorded.
    :param steps: gets which joints there are.
    :raises RecordingError: where there is none, or none with efforts.
    """
    single = single_joints(robot)
    dead = {joint for joint, column in zip(recording.joints, recording.positions.T)
            if not np.isfinite(column).any()}
    names = [name for name in single if name in recording.joints and name not in dead]
    if not names:
        raise _no_joint(recording, robot, dead, single)
    measured = [name for name in names if _is_measured(recording, name, steps)]
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
    for name in assumed:
        if name not in robot.joint_names:
            raise RecordingError(
                f'a position is assumed for {name!r}, which is no joint of {robot.name!r}'
                f'{did_you_mean(name, robot.joint_names)}')
    missing = [name for name in robot.joint_names if name not in names]
    if missing:
        at_rest = ', '.join(f'{name} at {assumed.get(name, 0.0):g}' for name in missing)
        hints = (f' The recording has {name!r}{hint}' for name in foreign
                 for hint in (did_you_mean(name, missing),) if hint)
        steps.append(Step(
            'joints', f'Not recorded and assumed to be at rest: {at_rest}.{"".join(hints)}',
            is_warning=True))
    columns = {'positions': names, 'efforts': measured, 'velocities': names}
    by_name = {signal: array[:, [recording.joints.index(name) for name in of]]
               for signal, of in columns.items()
               for array in (getattr(recording, signal),) if array is not None}
    if 'velocities' in by_name and not np.isfinite(by_name['velocities']).any(axis=0).all():
        del by_name['velocities']
    return Signals(recording.name, recording.times, by_name, columns)


def _no_joint(
        recording: Recording, robot: Robot, dead: Collection[str], single: Sequence[str],
        ) -> RecordingError:
    """Return why none of the recorded joints can be used."""
    silent = [joint for joint in single if joint in dead]
    if silent:
        return RecordingError(
            f'recording {recording.name!r} has no position of {", ".join(silent)} that is a '
            'finite number')
    there = ', '.join(joint for joint in recording.joints if joint not in dead) or 'no joint'
    return RecordingError(
        f'recording {recording.name!r} has positions of {there}, and none of the joints of '
        f'{robot.name!r}, which are {", ".join(single)}'
        f'{did_you_mean(recording.joints[0], single)}')


def _is_measured(recording: Recording, joint: str, steps: list[Step]) -> bool:
    efforts = recording.efforts[:, recording.joints.index(joint)]
    finite = efforts[np.isfinite(efforts)]
    if len(finite) and finite.min() < finite.max():
        return True
    what = f'are {finite[0]:g} throughout' if len(finite) else 'were not recorded'
    steps.append(Step('joints', f'Efforts of joint {joint!r} {what}: nothing is concluded from '
                      'them.', is_warning=True))
    return False


def check_sizes(recorded: Signals, robot: Robot, steps: list[Step]) -> None:
    """
    Check numbers as they were recorded.

    :param steps: gets a warning of efforts that no drive exerts: a single one spoils what is
        concluded.
    :raises RecordingError: where one is too large for any robot, with its place.
    """
    for signal, numbers in recorded.by_name.items():
        too_large = np.argwhere(np.isfinite(numbers) & (np.abs(numbers) > LARGEST))
        for row, column in too_large[:1]:
            raise RecordingError(
                f'recording {recorded.name!r} has {numbers[row, column]:g} among the {signal} of '
                f'{recorded.columns[signal][column]!r}, {_place(recorded, row)}; it needs SI '
                f'units, of magnitude {LARGEST:g} at most: take this row out')
    for name, efforts in zip(recorded.columns['efforts'], recorded.by_name['efforts'].T):
        body = joint_body(robot, name)
        sizes = np.nan_to_num(np.abs(efforts), posinf=0.0)  # are cut out
        above = np.flatnonzero(sizes > FAR_ABOVE * body.limits.effort)
        if len(above) and not body.limits.effort_defect(body.type):
            largest = int(np.argmax(sizes))
            steps.append(Step(
                'efforts', f'{counted(len(above), "effort")} of joint {name!r} '
                f'{"is" if len(above) == 1 else "are"} more than {FAR_ABOVE:g} times its limit of '
                f'{body.limits.effort:g}; the largest is {efforts[largest]:.4g}, '
                f'{_place(recorded, largest)}.  Take such rows out if they are few; if they are '
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
    names, positions = raw.columns['positions'], raw.by_name['positions']
    lowest, highest = positions.min(axis=0), positions.max(axis=0)
    still = [name for name, low, high in zip(names, lowest, highest) if low == high]
    if len(still) == len(names):
        raise RecordingError(
            f'recording {raw.name!r} has constant positions of all joints: nothing moves, or its '
            'source had stopped')
    if still:
        steps.append(Step('motion', f'These joints do not move at all: {", ".join(still)}.',
                          is_warning=True))
    speeds = np.percentile(np.abs(raw.by_piece(derivative, 'positions')), 99.0, axis=0)
    for name, low, high, speed in zip(names, lowest, highest, speeds):
        body = joint_body(robot, name)
        limits, slack = body.limits, 0.05 * (body.limits.upper - body.limits.lower)
        if body.type.is_bounded and (low < limits.lower - slack or high > limits.upper + slack):
            text = (f'ositions of joint {name!r} of recording {raw.name!r} are {low:.4g} to '
                    f'{high:.4g}, its limits {limits.lower:.4g} to {limits.upper:.4g}')
            _check_unit(f'p{text}', low, high, speed, limits)
            steps.append(Step('motion', f'P{text}. Is it this robot, and the zero the same?',
                              is_warning=True))


def _check_unit(
        text: str, low: float, high: float, speed: float, limits: JointLimits) -> None:
    """Check positions and a speed that are beyond the limits."""
    largest, allowed = max(-low, high), max(-limits.lower, limits.upper)
    is_fast = speed > FAR_ABOVE * limits.velocity > 0.0
    is_far = largest > FAR_ABOVE * max(allowed, limits.upper - limits.lower)
    if isfinite(allowed) and (is_fast or is_far):
        fast = (f', and it moves at {speed:.4g} a second, its limit {limits.velocity:.4g}'
                if is_fast else '')
        raise RecordingError(
            f'{text}{fast}: are they in rad or m?  Tell their unit, such as --csv-units '
            'position=deg,velocity=deg/s, or correct it where they are recorded')
