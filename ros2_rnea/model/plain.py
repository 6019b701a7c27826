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
Descriptions as plain data: dicts, lists, strings and numbers, as JSON has them, and back.

Nothing is lost: Python writes a float to JSON with all its digits, and infinity as ``Infinity``.
So a description can be sent to another process, which need not trust the sender as unpickling
would: whatever is not exactly of the form of a description is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
import functools
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints, Union

from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.description import JointType


def to_plain(value: object) -> Any:
    """
    Return a description, or a part of it, as plain data.

    :param value: such as a :class:`.RobotDescription` or an :class:`.Inertial`.
    """
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, JointType):
        return value.label
    if isinstance(value, tuple):
        return [to_plain(each) for each in value]
    return value


def from_plain(kind: type, data: object) -> Any:
    """
    Return what :func:`to_plain` was given.

    The form is checked, not the numbers; :func:`ros2_rnea.model.checks.check_description` does so.

    :param kind: the class of the description, such as :class:`.RobotDescription`.
    :raises DescriptionError: where the data does not describe one, naming the place.
    """
    return _read(kind, data, kind.__name__)


def _read(kind: Any, data: Any, where: str) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        types = _types_of_fields(kind)
        if not isinstance(data, Mapping) or set(data) != set(types):
            raise _misfit(where, data, f'exactly {", ".join(types)}')
        return kind(**{name: _read(type_, data[name], f'{where}.{name}')
                       for name, type_ in types.items()})
    if get_origin(kind) in (Union, UnionType):  # a value that may be absent
        return None if data is None else _read(get_args(kind)[0], data, where)
    if get_origin(kind) is tuple:
        return _read_tuple(get_args(kind), data, where)
    if issubclass(kind, Enum):
        for member in kind:
            if member.label == data:
                return member
        raise _misfit(where, data, f'one of {", ".join(member.label for member in kind)}')
    if kind is float and type(data) in (int, float):
        return float(data)
    if type(data) is not kind:
        raise _misfit(where, data, f'a {kind.__name__}')
    return data


def _read_tuple(kinds: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if isinstance(data, list) and kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(data)
    if not isinstance(data, list) or len(data) != len(kinds):
        raise _misfit(where, data, 'a list' if Ellipsis in kinds else f'a list of {len(kinds)}')
    return tuple(_read(kind, each, f'{where}[{place}]')
                 for place, (kind, each) in enumerate(zip(kinds, data)))


@functools.cache
def _types_of_fields(kind: type) -> dict[str, Any]:
    types = get_type_hints(kind)
    return {field.name: types[field.name] for field in fields(kind)}


def _misfit(where: str, data: object, needed: str) -> DescriptionError:
    given = repr(data)
    return DescriptionError(f'{where} is {given[:80]}; it needs {needed}')
