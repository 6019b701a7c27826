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
The model file: a robot's :class:`.Model` as bytes that ``tape.c`` reads in place.

Little-endian; every section starts at a multiple of 8 bytes, so that its records and numbers are
aligned.  The records below are the structures of ``tape.h``; ``docs/model-file.rst`` explains
them.  What reads the file relies on nothing in it before it is checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from math import isfinite, isnan
from typing import Any
import zlib

import numpy as np
from ros2_rnea.errors import RneaError
from ros2_rnea.export.model import Body, Joint, Model, Parameter
from ros2_rnea.kernels.tape import (
    aligned,
    GUARD,
    INPUTS,
    Kind,
    Load,
    OPERANDS,
    padded,
    Run,
    Tape,
    tape_data,
    TAPE_FIELDS,
    tape_record,
    TapeGuard,
    WORD,
)

MAGIC = b'RNEAMODL'
VERSION = 2
"""Of the format; a reader takes its own version only."""

CHECKED_FROM = 16
"""Where the part of the file starts that the checksum is of."""


def _record(*names: str, **others: str) -> np.dtype:
    """Return a record of whole numbers, and of others after them."""
    return np.dtype([*((name, '<u4') for name in names), *others.items()])


SECTIONS = {
    'joints': _record('name', 'type', 'unit', 'q', 'nq', 'v', 'nv', 'unused', limits='(4,)<f8'),
    'bodies': _record('joint', 'link', 'moved_by', 'takes_payload'),
    'parameters': _record('name', 'unit', 'first', 'count', 'width', 'is_read',
                          bounds='(2,)<f8'),
    'values': np.dtype('<f8'),
    'tapes': _record(*TAPE_FIELDS),
    'text': np.dtype('u1'),
}
"""The sections in their order, with a record of each; the data of tapes follows the last one."""

SECTION = _record('offset', 'count')
HEADER = np.dtype([
    ('magic', 'S8'), ('version', '<u4'), ('checksum', '<u4'), ('size', '<u4'),
    ('name', '<u4'), ('description_hash', '<u4'), ('writer', '<u4'), ('left_out', '<u4'),
    ('nq', '<u4'), ('nv', '<u4'), ('unused', '<u4'), ('arm_gravity', '<f8', (3,)),
    *((name, SECTION) for name in SECTIONS)])


class ModelFileError(RneaError):
    """Bytes are no model file that this version reads, for the reason that the message gives."""


# ---- writing ------------------------------------------------------------------------------------


class _Texts:
    """Texts, each of them once, that records name by the place where they start."""

    def __init__(self) -> None:
        self.bytes = b''
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.bytes)
            self.bytes += text.encode() + b'\0'
        return self._places[text]


def encoded(model: Model) -> bytes:
    """Return a model as the content of a file."""
    texts = _Texts()
    header = np.zeros((), HEADER)
    header['magic'], header['version'] = MAGIC, VERSION
    header['nq'], header['nv'] = model.nq, model.nv
    for name in ('name', 'description_hash', 'writer'):
        header[name] = texts.place(getattr(model, name))
    header['left_out'] = texts.place(' '.join(model.left_out))
    header['arm_gravity'] = model.arm_gravity or np.nan
    data = [tape_data(tape) for tape in model.tapes]
    rows: dict[str, Iterable[Any]] = {
        'joints': [(texts.place(joint.name), texts.place(joint.type), texts.place(joint.unit),
                    *joint.q, *joint.v, 0, joint.limits) for joint in model.joints],
        'bodies': [(texts.place(body.joint), texts.place(body.link), body.moved_by,
                    body.takes_payload) for body in model.bodies],
        'parameters': [(texts.place(each.name), texts.place(each.unit), each.first, each.count,
                        each.width, each.is_read, each.bounds) for each in model.parameters],
        'values': model.values,
        'tapes': [tape_record(texts.place(tape.name), tape) for tape in model.tapes]}
    arrays = {name: np.array(list(row), SECTIONS[name]) for name, row in rows.items()}
    arrays['text'] = np.frombuffer(texts.bytes, SECTIONS['text'])

    end = aligned(HEADER.itemsize)
    for name, array in arrays.items():
        header[name] = end, len(array)
        end += aligned(array.nbytes)
    for row, each in zip(arrays['tapes'], data):
        row['data'] = end
        end += len(each)
    header['size'] = end
    parts = [padded(header.tobytes()), *(padded(a.tobytes()) for a in arrays.values()), *data]
    content = bytearray(b''.join(parts))
    header['checksum'] = zlib.crc32(content[CHECKED_FROM:])
    content[:HEADER.itemsize] = header.tobytes()
    return bytes(content)


def checksum_of(content: bytes) -> int:
    """Return the checksum in the header of a model file."""
    return int(np.frombuffer(content, HEADER, 1)[0]['checksum'])


# ---- reading ------------------------------------------------------------------------------------


def decoded(content: bytes) -> Model:
    """
    Return the model in the content of a file.

    :raises ModelFileError: where it is none, is damaged, or has another version of the format.
    """
    if len(content) < HEADER.itemsize or content[:len(MAGIC)] != MAGIC:
        raise ModelFileError(f'{len(content)} bytes are no model file of ros2_rnea')
    header = np.frombuffer(content, HEADER, 1)[0]
    if header['version'] != VERSION:
        raise ModelFileError(
            f'the model file has version {header["version"]}; this program reads version '
            f'{VERSION}: export it again')
    if header['size'] != len(content):
        raise ModelFileError(
            f'the model file has {len(content)} bytes; it needs {header["size"]}')
    if header['checksum'] != zlib.crc32(content[CHECKED_FROM:]):
        raise ModelFileError('the model file is damaged: its checksum is wrong')
    try:
        model = _model(content, header)
        is_whole = encoded(model) == content
    except (IndexError, OverflowError, ValueError) as error:
        raise ModelFileError(f'the model file contradicts itself: {error}') from error
    if not is_whole:
        raise ModelFileError('the model file contradicts itself: a model is written otherwise')
    return model


def _model(content: bytes, header: Any) -> Model:
    sections = {name: np.frombuffer(content, record, header[name]['count'],
                                    header[name]['offset']).tolist()
                for name, record in SECTIONS.items()}
    texts = bytes(sections['text'])

    def text(place: int) -> str:
        return texts[place:texts.index(0, place)].decode()

    arm_gravity = header['arm_gravity'].tolist()
    if isnan(arm_gravity[0]):
        arm_gravity = []  # if it is not three times the same, it is written otherwise
    elif not all(map(isfinite, arm_gravity)):
        raise ValueError(f'the gravity of the arm is {arm_gravity}')
    return Model(
        text(header['name']), text(header['description_hash']), text(header['writer']),
        tuple(text(header['left_out']).split()), tuple(arm_gravity),
        int(header['nq']), int(header['nv']),
        tuple(Joint(text(name), text(kind), text(unit), (q, nq), (v, nv), tuple(limits))
              for name, kind, unit, q, nq, v, nv, _, limits in sections['joints']),
        tuple(Body(text(joint), text(link), moved_by, bool(takes_payload))
              for joint, link, moved_by, takes_payload in sections['bodies']),
        tuple(Parameter(text(name), text(unit), first, count, width, bool(is_read), tuple(bounds))
              for name, unit, first, count, width, is_read, bounds in sections['parameters']),
        tuple(sections['values']),
        tuple(_tape(content, text(row[0]), *row[1:]) for row in sections['tapes']))


def _tape(
        content: bytes, name: str, rows: int, columns: int, _inputs: int, loads: int,
        constants: int, guards: int, runs: int, operands: int, _registers: int, data: int,
        _unused: int) -> Tape:
    numbers = np.frombuffer(content, '<f8', constants, data)
    data += numbers.nbytes
    guarded = np.frombuffer(content, GUARD, guards, data)
    data += guarded.nbytes
    count = 2 * loads + 2 * runs + rows * columns + operands
    rest = iter(np.frombuffer(content, WORD, count, data).tolist())

    def groups(number: int, width: int) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(islice(rest, width)) for _ in range(number))

    loaded = tuple(Load(INPUTS[array], place) for array, place in groups(loads, 2))
    lengths = [(Kind(kind), length) for kind, length in groups(runs, 2)]
    if sum(length * OPERANDS[kind] for kind, length in lengths) != operands:
        raise ValueError(f'{name} has other operations than it says')
    outputs = tuple(place for place, in groups(rows * columns, 1))
    return Tape(
        name, (rows, columns), loaded, tuple(numbers.tolist()),
        tuple(TapeGuard(register, bound, bool(nan)) for bound, register, nan in guarded.tolist()),
        tuple(Run(kind, groups(length, OPERANDS[kind])) for kind, length in lengths), outputs)
