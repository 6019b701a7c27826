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
"""Trajectories in CSV: one row for each point, one column for each number of each joint."""

from __future__ import annotations

from collections.abc import Sequence
import csv
from io import StringIO
from math import isfinite

from ros2_rnea.errors import did_you_mean
from ros2_rnea.offline.commands.fill_efforts.found import check_points, FileError, Found
from ros2_rnea.offline.filling.effort_filler import FilledPoint, Plan
from ros2_rnea.trajectories.trajectory import Waypoint

_FIELDS = ('position', 'velocity', 'acceleration', 'effort')

_Columns = dict[str, list[int]]  # by field, one for each joint or none


def parse(text: str, name: str) -> Found:
    """
    Return the trajectory in a text.

    :param name: of the file, for messages.
    :raises FileError: naming the line and column that do not fit.
    """
    check_points(text.count('\n') - 1, name)  # a title, and a line for each
    rows = list(csv.reader(StringIO(text), skipinitialspace=True))
    if not rows:
        raise FileError(f'{name} is empty; its first line needs to be: time, JOINT.position, ...')
    header = [title.strip() for title in rows[0]]
    joint_names, columns = _read_header(header, name)
    waypoints, efforts = [], []
    for line, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            raise FileError(
                f'line {line} of {name} has {len(row)} values for {len(header)} columns')
        place = f'line {line} of {name}'
        fields = {field: _values(row, header, at, place) for field, at in columns.items()}
        waypoints.append(Waypoint(
            _number(row[0], header[0], place), *(fields[field] for field in _FIELDS[:3])))
        efforts.append(fields['effort'])
    return Found(Plan(joint_names, waypoints, efforts if any(efforts) else ()))


def _read_header(header: Sequence[str], name: str) -> tuple[list[str], _Columns]:
    """Return the joints and the columns of their values."""
    if header[0] != 'time':
        raise FileError(f'the first column of {name} is {header[0]!r}; it needs to be time')
    places: dict[tuple[str, str], int] = {}
    for index, title in enumerate(header[1:], start=1):
        joint, _, field = title.rpartition('.')
        if not joint or field not in _FIELDS:
            hint = did_you_mean(field, _FIELDS)
            raise FileError(
                f'column {title!r} of {name} is not one of JOINT.{", JOINT.".join(_FIELDS)}{hint}')
        if (joint, field) in places:
            raise FileError(f'{name} has column {title!r} twice')
        places[joint, field] = index
    joint_names = list(dict.fromkeys(joint for joint, _ in places))
    columns: _Columns = {}
    for field in _FIELDS:
        there = [joint for joint in joint_names if (joint, field) in places]
        for joint in joint_names:
            if there and joint not in there:
                raise FileError(
                    f'{name} has a column {there[0]}.{field} and none for {joint}.{field}: '
                    'give it for all joints, or for none')
        columns[field] = [places[joint, field] for joint in there]
    return joint_names, columns


def _values(
        row: Sequence[str], header: Sequence[str], columns: Sequence[int], place: str,
        ) -> tuple[float, ...]:
    """Return the numbers of these columns; nothing if all of them are empty."""
    if not any(row[index].strip() for index in columns):
        return ()
    return tuple(_number(row[index], header[index], place) for index in columns)


def _number(cell: str, title: str, place: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float('nan')
    if not isfinite(value):
        raise FileError(f'{place} has {cell!r} in column {title!r}; it needs a finite number')
    return value


def formatted(joint_names: Sequence[str], points: Sequence[FilledPoint]) -> str:
    """Return a filled trajectory as text; cells of fields that a point does not have are empty."""
    points_fields = [
        [() if values is None else values for values in (
            waypoint.positions, waypoint.velocities, waypoint.accelerations, effort)]
        for waypoint, effort in points]
    given = [k for k in range(len(_FIELDS)) if any(len(fields[k]) for fields in points_fields)]
    text = StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(['time', *(f'{joint}.{_FIELDS[k]}' for joint in joint_names for k in given)])
    for point, fields in zip(points, points_fields):
        writer.writerow([float(point.waypoint.time), *(
            float(fields[k][joint]) if len(fields[k]) else ''
            for joint in range(len(joint_names)) for k in given)])
    return text.getvalue()
