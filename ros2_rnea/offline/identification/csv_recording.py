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
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import csv
from dataclasses import dataclass, field
from functools import partial
from io import TextIOWrapper
from itertools import islice
from math import isnan, nan, pi
from pathlib import Path
import re
from typing import BinaryIO, NamedTuple

import numpy as np

from ros2_rnea.errors import did_you_mean, NothingUsableError, RecordingError
from ros2_rnea.model.description import Inertial
from ros2_rnea.model.regular_file import check_regular_file
from ros2_rnea.offline.identification.memory import check_memory, Part, parts_of
from ros2_rnea.offline.identification.recording import Recording

FIELDS = ('position', 'velocity', 'effort', 'command')

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
UNITS['command'] = UNITS['position']

SAMPLES, SAMPLE = 16, 2**14
"""Number of parts of a file, and bytes of each, that tell how long a line is."""

_DELIMITERS = ',;\t'
_MISSING = ('', 'nan', 'na', 'null', 'none', '-')


@dataclass(frozen=True)
class CsvColumns:
    """
    Which columns of a file are read, and what they mean.

    :ivar time: title of the column, or its number from 1.
    :ivar position: a pattern with ``{joint}``, or numbers, such as ``2-7`` or ``2,4,6``;
        ``velocity``, ``effort`` and ``command`` too, which may be empty: not there.
    :ivar joints: their names, in the order of the numbers; with patterns, those that are read, all
        if empty.
    :ivar units: of ``time``, ``position`` (and command), ``velocity`` and ``effort``, from
        :data:`UNITS`; SI where nothing is said.
    :ivar gains: by joint, effort for an ampere [Nm/A or N/A]; with the unit ``A`` of efforts only.
    """

    time: str = 'time'
    position: str = '{joint}.position'
    velocity: str = '{joint}.velocity'
    effort: str = '{joint}.effort'
    command: str = '{joint}.command'
    joints: tuple[str, ...] = ()
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

    def factor(self, name: str) -> float:
        """Return the factor from the file's unit to that of a recording."""
        units = UNITS[name]
        given = self.units.get(name, self.units.get('position') if name == 'command' else None)
        return 1.0 if given is None else units[given]


def read_csv(
        path: Path, columns: CsvColumns | None = None,
        payloads: Mapping[str, tuple[str, Inertial]] | None = None,
        part: Part = Part()) -> Recording:  # noqa: B008 (it never changes)
    """
    Read a recording from a file.

    :param columns: by default ``time`` and ``JOINT.position``, ``JOINT.velocity`` and
        ``JOINT.effort`` in SI units.
    :param payloads: what the robot carried.
    :param part: that is read.
    :raises RecordingError: naming the column, line and joint that cannot be read, or where it does
        not fit into memory.
    """
    [recording] = (read() for read in csv_parts(path, columns, payloads or {}, part, None))
    return recording


def csv_parts(
        path: Path, columns: CsvColumns | None, payloads: Mapping[str, tuple[str, Inertial]],
        part: Part, longest: float | None) -> Iterator[Callable[[], Recording]]:
    """
    Yield what reads the parts of a part of a file, one after the other.

    Each row is read three times, however many parts there are: for the duration, for where the
    parts are, and for its numbers.

    :param columns: and payloads, as those of :func:`read_csv`.
    :param part: that is divided.
    :param longest: how long each part of it may be [s]; None for one part.
    :return: functions, which raise NothingUsableError where a part has no rows.
    :raises RecordingError: as :func:`read_csv` does.
    """
    part.check()
    file = _CsvFile(path, columns or CsvColumns(), payloads)
    parts = [part] if longest is None else parts_of(part, file.duration(), longest)
    for each, rows in zip(parts, file.rows_of(parts)):
        yield partial(file.recording, each, rows)


class _CsvFile:
    """A file, and what its columns mean."""

    def __init__(
            self, path: Path, columns: CsvColumns,
            payloads: Mapping[str, tuple[str, Inertial]]) -> None:
        try:
            check_regular_file(path)
        except OSError as error:
            raise RecordingError(f'{path} cannot be read: {error}') from error
        self._path = path
        self._columns = columns
        self._payloads = payloads
        self._table = _Table(path)
        self._time = _time_place(columns, self._table)
        self._places = _places(columns, self._table)

    def duration(self) -> float:
        """Return the time from the first row to the last [s]."""
        return self._table.duration(self._time, self._columns.factor('time'))

    def rows_of(self, parts: Sequence[Part]) -> list[_Rows]:
        """Return the rows of parts, which follow each other."""
        if list(parts) == [Part()]:
            return [self._table.all_rows()]
        return self._table.rows_of(parts, self._time, self._columns.factor('time'))

    def recording(self, part: Part, rows: _Rows) -> Recording:
        """
        Read the rows of a part.

        :raises NothingUsableError: where there are none.
        """
        if not rows.number:
            raise NothingUsableError(f'{self._table.name} has no rows{part.words()}')
        columns, joints = self._columns, list(self._places['position'])
        name = self._path.name + part.words()
        check_memory(name, rows.number, len(joints))
        wanted = [place for by_joint in self._places.values() for place in by_joint.values()]
        values = self._table.read([self._time, *wanted], rows)
        times = values[:, 0] * columns.factor('time')
        there = [what for what, by_joint in self._places.items() if by_joint]
        arrays = dict(zip(there, np.split(values[:, 1:], len(there), axis=1)))
        for what, numbers in arrays.items():
            numbers *= columns.factor(what)
        if columns.units.get('effort') == AMPERE:
            arrays['effort'] *= _gains(columns, joints, self._path)
        return Recording(
            name, times, tuple(joints), arrays['position'], arrays['effort'],
            velocities=arrays.get('velocity'), commands=arrays.get('command'),
            payloads=self._payloads, part_of='' if part == Part() else str(self._path),
            begin=rows.since)


def _gains(columns: CsvColumns, joints: Sequence[str], path: Path) -> list[float]:
    for joint in columns.gains:
        if joint not in joints:
            raise RecordingError(
                f'a gain [Nm/A] is given for joint {joint!r}, which {path.name} does not have'
                f'{did_you_mean(joint, joints)}')
    missing = [joint for joint in joints if joint not in columns.gains]
    if missing:
        raise RecordingError(
            f'the efforts of {path.name} are currents; no gain [Nm/A] is given for '
            f'{", ".join(missing)}')
    return [columns.gains[joint] for joint in joints]


def _time_place(columns: CsvColumns, table: _Table) -> int:
    if columns.time.isdecimal() and columns.time not in table.titles:
        return table.place(int(columns.time), 'time')
    if columns.time not in table.titles:
        raise RecordingError(
            f'{table.name} has no column {columns.time!r} for the time'
            f'{did_you_mean(columns.time, table.titles) or table.all_titles()}')
    return table.titles.index(columns.time)


def _places(columns: CsvColumns, table: _Table) -> dict[str, dict[str, int]]:
    """Return for each field the columns by joint, in one order; nothing where it is not there."""
    places = {name: _field_places(getattr(columns, name), name, columns, table)
              for name in FIELDS}
    for name in ('position', 'effort'):
        if not places[name]:
            raise RecordingError(
                f'{table.name} has no columns {getattr(columns, name)!r} for the {name} of '
                f'joints{table.all_titles()}')
    joints = list(columns.joints or places['position'])
    for name, by_joint in places.items():
        missing = [joint for joint in joints if joint not in by_joint]
        if by_joint and missing:
            raise RecordingError(
                f'{table.name} has columns for the {name} of {", ".join(by_joint)}, and none for '
                f'that of {missing[0]}: it needs one for each joint, or none at all')
        places[name] = {joint: by_joint[joint] for joint in joints} if by_joint else {}
    return places


def _field_places(
        pattern: str, name: str, columns: CsvColumns, table: _Table) -> dict[str, int]:
    if not pattern:
        return {}
    if JOINT in pattern:
        before, _, after = pattern.partition(JOINT)
        expression = re.compile(f'{re.escape(before)}(.+){re.escape(after)}')
        found: dict[str, int] = {}
        for place, title in enumerate(table.titles):
            match = expression.fullmatch(title)
            if match:
                if match[1] in found:
                    raise RecordingError(f'{table.name} has column {title!r} twice')
                found[match[1]] = place
        return found
    numbers = _numbers(pattern, name)
    if len(numbers) != len(columns.joints):
        raise RecordingError(
            f'{len(numbers)} columns are given for the {name} ({pattern}), and '
            f'{len(columns.joints)} names of joints')
    return {joint: table.place(number, name) for joint, number in zip(columns.joints, numbers)}


def _numbers(text: str, name: str) -> list[int]:
    """Return the numbers of ``2-7,9``."""
    numbers: list[int] = []
    for part in text.split(','):
        match = re.fullmatch(r'\s*(\d+)(?:-(\d+))?\s*', part)
        if not match:
            raise RecordingError(
                f'the columns for the {name} are {text!r}; they need a pattern with {JOINT}, such '
                f'as {JOINT}_q, or numbers, such as 2-7')
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return numbers


class _LineBegin(NamedTuple):
    """
    Where a line of a file begins.

    :ivar offset: what is before it [bytes].
    :ivar line: how many lines are before it.
    """

    offset: int = 0
    line: int = 0


class _Rows(NamedTuple):
    """
    Consecutive rows of a file.

    :ivar begin: where the first of them begins, or an empty line before it.
    :ivar number: how many they are, about.
    :ivar most: how many are read at most; None for all that follow.
    :ivar since: the time of the first of them since that of the file's first row [s].
    """

    begin: _LineBegin
    number: float
    most: int | None
    since: float = 0.0


class _Lines:
    """
    The lines of an open file from one on, as text.

    :ivar offset: where the next one begins [bytes].
    """

    def __init__(self, file: BinaryIO, offset: int) -> None:
        if not offset and file.read(len(BOM_UTF8)) == BOM_UTF8:
            offset = len(BOM_UTF8)
        file.seek(offset)
        self.offset = offset
        self._text = TextIOWrapper(file, encoding='utf-8', newline='')

    def __iter__(self) -> Iterator[str]:
        for line in self._text:
            self.offset += len(line.encode())
            yield line


class _Table:
    """
    A file with rows of numbers.

    :ivar titles: of its columns; empty where its first line has numbers already.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name
        with self._lines(_LineBegin()) as file:
            lines = list(islice((line for line in file if line.strip()), 2))
        if not lines:
            raise RecordingError(f'{path} is empty')
        self._delimiter = max(_DELIMITERS, key=lines[-1].count)
        if self._delimiter not in lines[-1]:
            raise RecordingError(
                f'{path} has one column, or none that are separated by a comma, a semicolon or a '
                'tab')
        first = [cell.strip() for cell in next(csv.reader(lines, delimiter=self._delimiter))]
        self._width = len(first)
        self.titles = [] if all(_is_number(cell) for cell in first) else first
        if self.titles and len(lines) == 1:
            raise RecordingError(f'{path} has titles of columns, and no rows')
        self._first = self._after_titles() if self.titles else _LineBegin()

    def all_titles(self) -> str:
        """Return what columns there are, to be said after what there is not."""
        if not self.titles:
            return f'; it has no titles, but {self._width} columns: give their numbers'
        shown = ', '.join(self.titles[:30]) + (', ...' if len(self.titles) > 30 else '')
        return f'; its columns are {shown}'

    def place(self, number: int, name: str) -> int:
        """Return the index of a column that is counted from 1."""
        if not 1 <= number <= self._width:
            raise RecordingError(
                f'column {number} is given for the {name}; {self.name} has columns 1 to '
                f'{self._width}')
        return number - 1

    def all_rows(self) -> _Rows:
        """Return all rows; how many they are is estimated by the size of the file."""
        size = self._path.stat().st_size
        length = lines = 0
        with self._path.open('rb') as file:
            for place in range(SAMPLES):
                file.seek(place * size // SAMPLES)
                sample = file.read(SAMPLE)
                if b'\n' in sample:
                    length += len(sample)
                    lines += sample.count(b'\n')
        number = size / length * lines if lines else 1
        return _Rows(self._first, number, None)

    def rows_of(self, parts: Sequence[Part], place: int, factor: float) -> list[_Rows]:
        """
        Return the rows of parts of the file; none where a part has no rows.

        :param parts: each of which begins where the one before ends.
        :param place: of the column with the times.
        :param factor: of their unit [s].
        :raises RecordingError: where times before the end of the last part go back.
        """
        begins = [self._first] * len(parts)
        counts, since = [0] * len(parts), [0.0] * len(parts)
        first = last = nan
        at = before = 0  # the part of this row, and that of the row before
        for begin, line, row in self._filled_rows(self._first):
            time = factor * self._number(row[place], place, line)
            first = time if isnan(first) else first
            if time < last:
                raise RecordingError(
                    f'{self.name}: the time goes back from {last - first:g} s to '
                    f'{time - first:g} s in line {line}, so that the part{parts[before].words()} '
                    'is not known: correct the times, or read all of the recording')
            before = at
            if before == len(parts):  # seen one row later, whose time may go back
                break
            last = time if time == time else last
            while at < len(parts) and time - first >= parts[at].end:
                at += 1
            if at < len(parts) and (counts[at] or time - first >= parts[at].begin):
                if not counts[at]:
                    begins[at], since[at] = begin, time - first
                counts[at] += 1
        return [_Rows(begin, count, count, after)
                for begin, count, after in zip(begins, counts, since)]

    def duration(self, place: int, factor: float) -> float:
        """Return the time from the first row to the last, of those that have one [s]."""
        first, last = nan, nan
        for _, line, row in self._filled_rows(self._first):
            time = factor * self._number(row[place], place, line)
            first = time if isnan(first) else first
            last = last if isnan(time) else time
        return last - first

    def read(self, places: Sequence[int], rows: _Rows) -> np.ndarray:
        """Return the numbers of these columns, shape (rows, columns)."""
        try:
            with self._lines(rows.begin) as lines:
                filled = (line for line in lines if line.rstrip('\r\n'))
                return np.loadtxt(
                    filled, delimiter=self._delimiter, usecols=places, ndmin=2, comments=None,
                    max_rows=rows.most, encoding='utf-8')
        except (ValueError, IndexError):
            return self._read_with_empty_cells(places, rows)

    def _read_with_empty_cells(self, places: Sequence[int], wanted: _Rows) -> np.ndarray:
        """Read what NumPy cannot: empty cells; or find the cell that nobody can."""
        numbers = array('d')
        for _, line, row in islice(self._filled_rows(wanted.begin), wanted.most):
            numbers.extend(self._number(row[place], place, line) for place in places)
        return np.frombuffer(numbers).reshape(-1, len(places)).copy()

    def _after_titles(self) -> _LineBegin:
        with self._lines(_LineBegin()) as lines:
            rows = csv.reader(lines, delimiter=self._delimiter)
            next(row for row in rows if any(cell.strip() for cell in row))
            return _LineBegin(lines.offset, rows.line_num)

    def _filled_rows(self, begin: _LineBegin) -> Iterator[tuple[_LineBegin, int, list[str]]]:
        """
        Yield the rows from a line on that are not empty.

        :return: of each row where it begins, the number of its line, from 1, and its cells.
        """
        with self._lines(begin) as lines:
            rows = csv.reader(lines, delimiter=self._delimiter)
            begin_of_row = begin
            for row in rows:
                line = begin.line + rows.line_num
                if any(cell.strip() for cell in row):
                    if len(row) != self._width:
                        raise RecordingError(
                            f'line {line} of {self.name} has {len(row)} values; it needs '
                            f'{self._width}: was its end cut off?')
                    yield begin_of_row, line, row
                begin_of_row = _LineBegin(lines.offset, line)

    @contextmanager
    def _lines(self, begin: _LineBegin) -> Iterator[_Lines]:
        """Open the file at a line."""
        try:
            with self._path.open('rb') as file:
                yield _Lines(file, begin.offset)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise RecordingError(f'{self._path} cannot be read: {error}') from error

    def _number(self, cell: str, place: int, line: int) -> float:
        if cell.strip().lower() in _MISSING:
            return float('nan')
        try:
            return float(cell)
        except ValueError as error:
            column = repr(self.titles[place]) if self.titles else place + 1
            raise RecordingError(
                f'line {line} of {self.name} has {cell!r} in column {column}; it needs a number'
            ) from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.lower() in _MISSING
    return True
