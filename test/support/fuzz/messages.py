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
Strategies for ROS messages of any type, made from the fields that the type itself names.

A field that a later version of a message adds is therefore covered without a change here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache
from importlib import import_module
import re
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from rclpy.serialization import serialize_message

INTEGER_BITS = {
    'int8': 8, 'uint8': 8, 'int16': 16, 'uint16': 16, 'int32': 32, 'uint32': 32, 'int64': 64,
    'uint64': 64}

REALS = (0.0, -0.0, float('nan'), float('inf'), -float('inf'), 5e-324, -1e-310, 1e-300, 1e-12,
         1e12, 1e30, 1e308, -1e308, 1.0, -1.0, 100.0)
SINGLE_REALS = (0.0, float('nan'), float('inf'), -float('inf'), 1e-45, 3e38, 1.0)
INTEGERS = (0, 1, -1, 2, 10, 1000, 999_999_999, 1_000_000_000, 2 ** 31 - 1, -2 ** 31, 2 ** 32 - 1,
            2 ** 62, -2 ** 63)
TEXTS = ('', ' ', '/', 'no_such_name', 'ünïcödé', 'two\nlines', '\x1b[31m', '%s %n {0} ${x}', '0')
TEXT_LENGTHS = (300, 100_000)
LENGTHS = (100, 3000, 30_000)
"""How long the long arrays are."""

LARGE = 4_000_000
"""Size of a message that is large [bytes]."""

_ARRAY = re.compile(r'sequence<(?P<item>.+?)(?:, \d+)?>$|(?P<of>.+)\[(?P<size>\d+)\]$')


class Place(NamedTuple):
    """
    A field in a message or in a message within it.

    :ivar path: the attributes and indices that lead to the message that has the field.
    :ivar kind: the field's type, as the message names it.
    """

    path: tuple[str | int, ...]
    field: str
    kind: str


def message_type(name: str) -> type:
    """Return the class of a type such as ``std_msgs/msg/String`` or ``std_msgs/String``."""
    package, *kind, base = name.split('/')
    return getattr(import_module(f'{package}.{kind[0] if kind else "msg"}'), base)


def messages(kind: type, words: Sequence[str]) -> SearchStrategy:
    """
    Return a strategy for messages of a type, with hostile content in all fields.

    :param words: names that mean something to the node, used beside those that mean nothing.
    """
    return st.builds(kind, **{
        name: values(of, tuple(words)) for name, of in kind.get_fields_and_field_types().items()})


@cache
def values(kind: str, words: tuple[str, ...]) -> SearchStrategy:
    """
    Return a strategy for the values of a field of some type.

    Hypothesis validates each strategy that it has not seen before, which takes longer than to draw
    from it; that is why they are kept.
    """
    array = _ARRAY.match(kind)
    if array is not None:
        return _arrays(array, words)
    if kind in INTEGER_BITS:
        return _integers(kind)
    if kind == 'boolean':
        return st.booleans()
    if kind == 'double':
        return st.sampled_from(REALS) | st.floats(-3.0, 3.0) | st.floats()
    if kind == 'float':
        return st.sampled_from(SINGLE_REALS).map(_single) | st.floats(width=32)
    if kind in ('octet', 'byte', 'char'):
        return st.binary(min_size=1, max_size=1)
    if kind.startswith(('string', 'wstring')):
        return st.one_of(
            st.sampled_from((*words, *TEXTS)), st.sampled_from((*words, *TEXTS)),
            st.text(st.characters(codec='utf-8', exclude_characters='\0'), max_size=20),
            st.sampled_from(TEXT_LENGTHS).map(lambda length: 'n' * length))
    return messages(message_type(kind), words)


def nearly(message: Any, words: Sequence[str]) -> SearchStrategy:
    """
    Return a strategy for messages that differ from an honest one in one to three fields.

    What is wrong everywhere is refused by the first check; this also meets those behind it.
    """
    if not list(places(message)):
        return st.just(message)

    @st.composite
    def changed(draw: DrawFn) -> Any:
        copy = deepcopy(message)
        for place in draw(st.lists(st.sampled_from(list(places(message))), min_size=1,
                                   max_size=3)):
            owner = _owner(copy, place)
            if owner is not None:
                _change(draw, owner, place, words)
        return copy

    return changed()


def large(message: Any) -> SearchStrategy:
    """Return a strategy for messages of megabytes: one field is long, the others are honest."""
    fields = [place for place in places(message) if place.kind.startswith(('string', 'sequence<'))]
    if not fields:
        return st.just(message)

    @st.composite
    def enlarged(draw: DrawFn) -> Any:
        copy = deepcopy(message)
        place = draw(st.sampled_from(fields))
        owner, array = _owner(copy, place), _ARRAY.match(place.kind)
        if array is None:
            setattr(owner, place.field, LARGE * 'n')
            return copy
        item = draw(values(array['item'], ()))
        sizes = []
        for count in (0, 64):
            setattr(owner, place.field, [item] * count)
            sizes.append(len(serialize_message(copy)))
        setattr(owner, place.field, [item] * (64 * LARGE // (sizes[1] - sizes[0])))
        return copy

    return enlarged()


def damaged(message: Any) -> SearchStrategy[bytes]:
    """Return a strategy for serialized messages that were cut, extended or flipped."""
    good = serialize_message(message)

    def flipped(places_and_masks: Sequence[tuple[int, int]]) -> bytes:
        changed = bytearray(good)
        for place, mask in places_and_masks:
            changed[place] ^= mask
        return bytes(changed)

    def overwritten(place: int, number: int) -> bytes:
        return good[:place] + number.to_bytes(4, 'little') + good[place + 4:]

    at = st.integers(0, len(good) - 1)
    return st.one_of(
        at.map(lambda end: good[:end]),
        st.binary(min_size=1, max_size=64).map(lambda more: good + more),
        st.lists(st.tuples(at, st.integers(1, 255)), min_size=1, max_size=4).map(flipped),
        st.builds(overwritten, st.integers(0, max(0, len(good) // 4 - 1)).map(lambda n: 4 * n),
                  st.sampled_from([0, 1, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])),
        st.binary(max_size=64))


def places(message: Any, path: tuple[str | int, ...] = ()) -> Iterator[Place]:
    """Return all fields of a message and of the messages within it."""
    for field, kind in message.get_fields_and_field_types().items():
        yield Place(path, field, kind)
        value = getattr(message, field)
        if hasattr(value, 'get_fields_and_field_types'):
            yield from places(value, (*path, field))
        elif isinstance(value, list):
            for index, item in enumerate(value[:3]):
                if hasattr(item, 'get_fields_and_field_types'):
                    yield from places(item, (*path, field, index))


def _owner(message: Any, place: Place) -> Any:
    """Return the message that has a field; None where a change before has removed it."""
    for step in place.path:
        if isinstance(step, str):
            message = getattr(message, step)
        elif step < len(message):
            message = message[step]
        else:
            return None
    return message


def _change(draw: DrawFn, owner: Any, place: Place, words: Sequence[str]) -> None:
    """Replace a field, or one element of it, or leave one out, or repeat one."""
    array, present = _ARRAY.match(place.kind), []
    if array is not None:
        present = list(getattr(owner, place.field))
    how = draw(st.sampled_from(['all', 'one', 'one', 'less', 'more'])) if present else 'all'
    if how == 'all' or array is None:
        setattr(owner, place.field, draw(values(place.kind, tuple(words))))
        return
    index = draw(st.integers(0, len(present) - 1))
    if how == 'one' or array['of']:
        present[index] = draw(values(array['item'] or array['of'], tuple(words)))
    elif how == 'less':
        del present[index]
    else:
        present.append(present[index])
    setattr(owner, place.field, present)


def _arrays(array: re.Match, words: tuple[str, ...]) -> SearchStrategy:
    if array['of']:
        size = int(array['size'])
        return st.lists(values(array['of'], words), min_size=size, max_size=size)
    item = values(array['item'], words)
    short = st.lists(item, max_size=8)
    if array['item'] in ('octet', 'byte', 'char') or '/' in array['item']:  # of messages
        return short
    small = item if array['item'] in INTEGER_BITS or array['item'] in ('double', 'float') else (
        item.filter(lambda value: len(str(value)) < 40))
    many = st.builds(lambda value, size: [value] * size, small, st.sampled_from(LENGTHS))
    return st.one_of(short, short, short, many)


def _integers(kind: str) -> SearchStrategy[int]:
    bits = INTEGER_BITS[kind]
    low, high = (0, 2 ** bits - 1) if kind[0] == 'u' else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    known = sorted({low, high, *(number for number in INTEGERS if low <= number <= high)})
    return st.sampled_from(known) | st.integers(low, high)


def _single(number: float) -> float:
    """Return a number that a field of 32 bits has without rounding."""
    from numpy import float32

    return float(float32(number))
