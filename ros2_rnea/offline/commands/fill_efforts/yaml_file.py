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
"""Trajectories in YAML, as ``ros2 topic pub`` reads and ``ros2 topic echo`` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import json

from ros2_rnea.errors import printable
from ros2_rnea.model.strict_yaml import read_yaml, Value
from ros2_rnea.offline.commands.fill_efforts.found import (
    check_points,
    FileError,
    Found,
    stamp_remarks,
)
from ros2_rnea.offline.filling.effort_filler import FilledPoint, Plan, Start
from ros2_rnea.trajectories.trajectory import Waypoint

_FIELDS = ('positions', 'velocities', 'accelerations')


def parse(text: str, name: str) -> Found:
    """
    Return the JointTrajectory in a text: alone, or in a message of MoveIt around it.

    :param name: of the file, for messages.
    :raises RneaError: naming the key and line that do not fit, or where it has too many points.
    """
    check_points(text.count('time_from_start'), name)
    document = read_yaml(text.rstrip().removesuffix('---'), name)
    start = Start()
    if document.has('trajectory'):  # DisplayTrajectory
        message = document.by_key(['trajectory'], ['model_id', 'trajectory_start'])
        start = _start(message['trajectory_start']) if 'trajectory_start' in message else start
        trajectories = message['trajectory'].items()
        if len(trajectories) != 1:
            raise FileError(f'{name} has {len(trajectories)} trajectories; it needs one')
        document = trajectories[0]
    if document.has('joint_trajectory'):  # RobotTrajectory
        document = document.by_key(
            ['joint_trajectory'], ['multi_dof_joint_trajectory'])['joint_trajectory'].of(name)
    values = document.by_key(['joint_names', 'points'], ['header'])
    joint_names = [item.name() for item in values['joint_names'].items()]
    waypoints, efforts = [], []
    for index, item in enumerate(values['points'].items()):
        point = item.of(f'point {index} of {name}').by_key(
            ['time_from_start'], [*_FIELDS, 'effort'])
        numbers = {key: _numbers(point[key]) for key in (*_FIELDS, 'effort') if key in point}
        waypoints.append(Waypoint(
            _seconds(point['time_from_start']), *(numbers.get(field, ()) for field in _FIELDS)))
        efforts.append(numbers.get('effort', ()))
    return Found(
        Plan(joint_names, waypoints, efforts if any(efforts) else ()), start, _remarks(values))


def _start(state: Value) -> Start:
    """Return the joint state of a RobotState of MoveIt."""
    parts = state.by_key(
        ['joint_state'], ['multi_dof_joint_state', 'attached_collision_objects', 'is_diff'])
    joints = parts['joint_state'].by_key(['name', 'position'], ['header', 'velocity', 'effort'])
    names = [item.name() for item in joints['name'].items()]
    positions = _numbers(joints['position'])
    velocities = _numbers(joints['velocity']) if 'velocity' in joints else ()
    for key, values, allowed in (('position', positions, (len(names),)),
                                 ('velocity', velocities, (0, len(names)))):
        if len(values) not in allowed:
            raise joints[key].refused(f'{len(names)} numbers are needed, one for each name')
    return Start({name: (position,) for name, position in zip(names, positions)},
                 dict(zip(names, velocities)))


def _numbers(value: Value) -> tuple[float, ...]:
    return tuple(item.number() for item in value.items())


def _seconds(value: Value) -> float:
    """Return a Time or Duration in seconds."""
    parts = value.by_key([], ['sec', 'nanosec'])
    sec, nanosec = (parts[key].number() if key in parts else 0.0 for key in ('sec', 'nanosec'))
    return sec + 1e-9 * nanosec


def _remarks(values: dict[str, Value]) -> tuple[str, ...]:
    if 'header' not in values:
        return ()
    header = values['header'].by_key([], ['stamp', 'frame_id'])
    return stamp_remarks(_seconds(header['stamp'])) if 'stamp' in header else ()


def formatted(joint_names: Sequence[str], points: Sequence[FilledPoint]) -> str:
    """Return a trajectory as text for ``ros2 topic pub``; an effort may be empty."""
    names = printable(json.dumps(list(joint_names), ensure_ascii=False))
    lines = [f'joint_names: {names}', 'points:']
    for waypoint, effort in points:
        fields = {field: getattr(waypoint, field) for field in _FIELDS}
        rows = [f'{field}: {_list(values)}' for field, values in fields.items()
                if values is not None and len(values)]
        sec, nanosec = divmod(round(1e9 * waypoint.time), 1_000_000_000)
        rows += [f'effort: {_list(effort)}'] if len(effort) else []
        rows.append(f'time_from_start: {{sec: {sec}, nanosec: {nanosec}}}')
        lines += [f'{"  " if i else "- "}{row}' for i, row in enumerate(rows)]
    return '\n'.join(lines) + '\n'


def _list(values: Iterable[float]) -> str:
    return f'[{", ".join(map(_number, values))}]'


def _number(value: float) -> str:
    """Return a number in the form of YAML 1.1, where 1e-05 is a text and 1.0e-05 a number."""
    text = repr(float(value))
    return text if '.' in text else text.replace('e', '.0e')
