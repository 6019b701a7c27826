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
"""
Recordings from text files with a row for each sample, in given columns and units.

Columns are named by patterns, such as ``{joint}_q``, that are compared with the header, or counted
from 1 where a file has no header.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
import csv
from dataclasses import dataclass, field
from itertools import chain
from math import nan, pi
from pathlib import Path
import re
from typing import NamedTuple, TextIO

import numpy as np

from ros2_rnea.errors import did_you_mean, RecordingError
from ros2_rnea.model.regular_file import check_regular_file
from ros2_rnea.offline.identification.recording import Recording

FIELDS = ('position', 'velocity', 'effort')

JOINT = '{joint}'
"""Placeholder for the name of a joint in a pattern."""

AMPERE = 'A'

UNITS = {
    'time': {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9},
    'position': {'rad': 1.0, 'deg': pi / 180.0, 'rev': 2.0 * pi, 'm': 1.0, 'mm': 1e-3},
    'velocity': {'rad/s': 1.0, 'deg/s': pi / 180.0, 'rpm': pi / 30.0, 'm/s': 1.0, 'mm/s': 1e-3},
    'effort': {'Nm': 1.0, 'N': 1.0, 'mNm': 1e-3, AMPERE: 1.0},
}
"""Factors from the units of a file to those of a recording."""

_MISSING = ('', 'nan', 'na', 'null', 'none', '-')


@dataclass(frozen=True)
class CsvColumns:
    """
    Which columns of a file are read, and what they mean.

    :ivar time: title of the column, or its number from 1.
    :ivar position: a pattern with ``{joint}``, or numbers, such as ``2-7`` or ``2,4,6``;
        ``velocity`` and ``effort`` too; an empty ``velocity`` is not there.
    :ivar joints: their names, in the order of the numbers; with patterns, those that are read, all
        if empty.  A mapping says what the file has in place of ``{joint}`` for each name, such as
        ``{'joint_1': '1'}`` for the pattern ``Position{joint}``.
    :ivar units: of ``time``, ``position``, ``velocity`` and ``effort``, from :data:`UNITS`; SI
        where nothing is said.
    :ivar gains: by joint, effort for an ampere [Nm/A or N/A]; with the unit ``A`` of efforts only.
    """

    time: str = 'time'
    position: str = '{joint}.position'
    velocity: str = '{joint}.velocity'
    effort: str = '{joint}.effort'
    joints: Sequence[str] | Mapping[str, str] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    gains: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, unit in self.units.items():
            if name not in UNITS:
                raise RecordingError(
                    f'a unit is given for {name!r}{did_you_mean(name, UNITS)}; there are '
                    f'{", ".join(UNITS)}')
            if unit not in UNITS[name]:
                raise RecordingError(
                    f'the unit of {name} is {unit!r}; it needs {", ".join(UNITS[name])}')
        if self.gains and self.units.get('effort') != AMPERE:
            raise RecordingError(
                "gains [Nm/A] are given, but the unit of effort is not 'A'")
        for joint, gain in self.gains.items():
            if not np.isfinite(gain) or gain == 0.0:
                raise RecordingError(
                    f'the gain [Nm/A] of joint {joint!r} is {gain!r}; it needs a finite number '
                    'that is not 0')


def read_csv(path: Path, columns: CsvColumns | None = None) -> Recording:
    """
    Read a recording from a file.

    :param columns: by default ``time`` and ``JOINT.position``, ``JOINT.velocity`` and
        ``JOINT.effort`` in SI units.
    :raises RecordingError: naming the column, line and joint that cannot be read.
    """
    try:
        check_regular_file(path)
        with path.open(encoding='utf-8-sig', newline='') as file:
            return _recording(path, file, columns or CsvColumns())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecordingError(f'{path} cannot be read: {error}') from error


def _recording(path: Path, file: TextIO, columns: CsvColumns) -> Recording:
    reader = csv.reader(file, delimiter=_delimiter(path, file))
    rows = ((reader.line_num, row) for row in reader if any(map(str.strip, row)))
    first = next(rows, (1, []))
    cells = [cell.strip() for cell in first[1]]
    has_titles = None in (_parsed(cell.replace(',', '.')) for cell in cells)
    table = _Table(path.name, cells if has_titles else (), len(cells))
    time, by_field = table.place(columns.time, 'time'), _places(columns, table)
    places = [time, *chain.from_iterable(each.values() for each in by_field.values())]
    values = _numbers(table, rows if has_titles else chain([first], rows), places)
    if not len(values):
        raise RecordingError(f'{path} has titles of columns, and no rows')
    factors = {name: UNITS[name][unit] for name, unit in columns.units.items()}
    arrays = {name: each * factors.get(name, 1.0) for name, each in zip(
        by_field, np.split(values[:, 1:], len(by_field), axis=1))}
    joints = tuple(by_field['position'])
    if columns.units.get('effort') == AMPERE:
        arrays['effort'] *= _gains(columns, joints, path)
    return Recording(path.name, values[:, 0] * factors.get('time', 1.0), joints,
                     arrays['position'], arrays['effort'], arrays.get('velocity'))


def _gains(columns: CsvColumns, joints: Sequence[str], path: Path) -> list[float]:
    for joint in columns.gains:
        if joint not in joints:
            raise RecordingError(
                f'a gain [Nm/A] is given for joint {joint!r}, which {path.name} does not have'
                f'{did_you_mean(joint, joints)}')
    missing = ', '.join(joint for joint in joints if joint not in columns.gains)
    if missing:
        raise RecordingError(
            f'the efforts of {path.name} are currents; no gain [Nm/A] is given for {missing}')
    return [columns.gains[joint] for joint in joints]


def _places(columns: CsvColumns, table: _Table) -> dict[str, dict[str, int]]:
    """Return for each field that there is the columns by joint, in one order."""
    texts = columns.joints if isinstance(columns.joints, Mapping) else dict(
        zip(columns.joints, columns.joints))
    result = {}
    for name in FIELDS:
        found = _field_places(getattr(columns, name), name, list(texts.values()), table)
        if not found and name != 'velocity':
            raise RecordingError(
                f'{table.name} has no columns {getattr(columns, name)!r} for the {name} of '
                f'joints{table.all_titles()}')
        texts = texts or dict(zip(found, found))
        for joint, text in texts.items():
            if found and text not in found:
                others = [each for each in found if each not in texts.values()]
                raise RecordingError(
                    f'{table.name} has columns for the {name} of {", ".join(found)}, and none for '
                    f'that of {joint}: it needs one for each joint, or none at all'
                    f'{did_you_mean(text, others)}')
        if found:
            result[name] = {joint: found[text] for joint, text in texts.items()}
    return result


def _field_places(
        pattern: str, name: str, texts: Sequence[str], table: _Table) -> dict[str, int]:
    """Return columns by what the file has in place of the joints' names."""
    if JOINT not in pattern:
        numbers = _counted(pattern, name) if pattern else []
        if pattern and len(numbers) != len(texts):
            raise RecordingError(
                f'{len(numbers)} columns are given for the {name} ({pattern}), and {len(texts)} '
                'names of joints')
        return {text: table.place(number, name) for text, number in zip(texts, numbers)}
    expression = '(.+)'.join(map(re.escape, pattern.split(JOINT, 1)))
    found: dict[str, int] = {}
    for place, title in enumerate(table.titles):
        match = re.fullmatch(expression, title)
        if match and found.setdefault(match[1], place) != place:
            raise RecordingError(f'{table.name} has column {title!r} twice')
    return found


def _counted(text: str, name: str) -> list[str]:
    """Return the numbers of ``2-7,9``."""
    numbers: list[str] = []
    for part in text.split(','):
        match = re.fullmatch(r'\s*(\d+)(?:-(\d+))?\s*', part)
        if not match:
            raise RecordingError(
                f'the columns for the {name} are {text!r}; they need a pattern with {JOINT}, such '
                f'as {JOINT}_q, or numbers, such as 2-7')
        numbers += map(str, range(int(match[1]), int(match[2] or match[1]) + 1))
    return numbers


class _Table(NamedTuple):
    """
    The columns of a file.

    :ivar name: of the file.
    :ivar titles: empty where its first line has numbers already.
    :ivar width: how many there are.
    """

    name: str
    titles: Sequence[str]
    width: int

    def all_titles(self) -> str:
        """Return what columns there are, to be said after what there is not."""
        if not self.titles:
            return f'; it has no titles, but {self.width} columns: give their numbers'
        shown = ', '.join(self.titles[:30]) + (', ...' if len(self.titles) > 30 else '')
        return f'; its columns are {shown}'

    def place(self, column: str, name: str) -> int:
        """Return the index of a column with a title, or counted from 1."""
        if column in self.titles:
            return self.titles.index(column)
        if column.isdecimal() and 1 <= int(column) <= self.width:
            return int(column) - 1
        raise RecordingError(
            f'{self.name} has no column {column!r} for the {name}'
            f'{did_you_mean(column, self.titles) or self.all_titles()}')


def _delimiter(path: Path, file: TextIO) -> str:
    """Return what separates the columns, by the first line; commas may also be in numbers."""
    line = next(filter(str.strip, file), '')
    if not line:
        raise RecordingError(f'{path} is empty')
    for delimiter in '\t;,':
        if delimiter in line:
            file.seek(0)
            return delimiter
    raise RecordingError(
        f'{path} has one column, or none that are separated by a comma, a semicolon or a tab')


def _numbers(
        table: _Table, rows: Iterable[tuple[int, list[str]]], places: Sequence[int]) -> np.ndarray:
    """Return the numbers of these columns, shape (rows, columns)."""
    numbers = array('d')
    for line, row in rows:
        if len(row) != table.width:
            raise RecordingError(
                f'line {line} of {table.name} has {len(row)} values; it needs {table.width}: ' + (
                    'was its end cut off?' if len(row) < table.width else
                    'do its numbers have a decimal comma in place of a point?'))
        for place in places:
            number = _parsed(row[place])
            if number is None:
                column = repr(table.titles[place]) if table.titles else place + 1
                point = ' with a decimal point' if ',' in row[place] else ''
                raise RecordingError(
                    f'line {line} of {table.name} has {row[place]!r} in column {column}; it needs '
                    f'a number{point}')
            numbers.append(number)
    return np.frombuffer(numbers).reshape(-1, len(places))


def _parsed(cell: str) -> float | None:
    """Return the number in a cell, NaN where it is missing; None: it is no number."""
    try:
        return float(cell)
    except ValueError:
        return nan if cell.strip().lower() in _MISSING else None
