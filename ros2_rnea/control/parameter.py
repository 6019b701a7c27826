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
What a parameter is: its default, its range and its text, declared once.

A setting of the policy is declared where it is a field, by :func:`parameter` or :func:`by_joint`.
The node's parameters, their descriptors, ``config/inverse_dynamics.yaml`` and the documentation
follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np
from ros2_rnea.errors import ArgumentError


class Group(Enum):
    """Subjects of parameters, as in the headings of the parameter file."""

    COMMAND = 'what to command'
    ROBOT = 'the robot'
    TIME = 'time'
    SAFETY = 'safety'
    GUIDING = 'guiding by hand, in mode gravity_compensation'
    WRENCH = 'wrench'
    PROCESS = 'the process'


class Level(Enum):
    """Who sets a parameter."""

    FIRST = 'first'
    """Everybody, before the first effort."""

    ARM = 'arm'
    """Users whose arm, controller or task needs it."""

    EXPERT = 'expert'
    """Users who have measured that the default does not fit."""


@dataclass(frozen=True)
class Specification:
    """
    One parameter, whose default also determines its type.

    :ivar default: a tuple for a list; a member of an Enum for a choice of several words.
    :ivar description: what it is, with its unit in brackets.
    :ivar group: under which heading it stands.
    :ivar level: who sets it.
    :ivar minimum: smallest value; None: there is neither this nor a largest one.
    :ivar maximum: largest value.
    :ivar choices: texts that are allowed; empty: all.
    :ivar size: the number of elements of a list of numbers; None: any number of ``items``.
    :ivar items: the type of the elements of a list.
    :ivar read_only: whether it can be set at the start only.
    :ivar or_zero: whether 0 is allowed below the minimum, with a meaning of its own.
    """

    name: str
    default: Any
    description: str
    group: Group
    level: Level
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    size: int | None = None
    items: type = str
    read_only: bool = False
    or_zero: bool = False

    def check(self, value: Any) -> Any:
        """
        Return a value in the type of this parameter; a float may be given as an integer.

        :raises ArgumentError: naming the parameter, the value and the values that are allowed.
        """
        if value is None:
            return self.default
        if isinstance(self.default, Enum):
            return self._chosen(value)
        usable = self._converted(value)
        if usable is None or not self._within(usable):
            raise ArgumentError(
                f'{self.name} is {_plain(value)!r}; it needs {self.wanted}{self._hint(value)}')
        return usable

    def error_without_value(self) -> ArgumentError:
        """Return what is wrong where a file has the parameter without a value."""
        return ArgumentError(
            f'{self.name} has no value; it needs {self.wanted}. Remove the line for the '
            'default')

    def check_field(self, value: Any) -> None:
        """
        Check the value of the field of a dataclass.

        :raises ArgumentError: where it is out of range.
        """
        if not isinstance(self.default, Enum) and not self._within(value):
            raise ArgumentError(f'{self.name} is {_plain(value)!r}; it needs {self.wanted}')

    @property
    def has_range(self) -> bool:
        """Return whether there are values of its type that are not allowed."""
        return self.minimum is not None or self.size is not None or bool(self.choices)

    @property
    def initial(self) -> Any:
        """Return the default in its ROS type."""
        if isinstance(self.default, Enum):
            return self.default.value
        return list(self.default) if isinstance(self.default, tuple) else self.default

    def _chosen(self, value: Any) -> Enum:
        for choice in type(self.default):
            if value in (choice, choice.value):
                return choice
        raise ArgumentError(f'{self.name} is {_plain(value)!r}; it needs {self.wanted}')

    def _converted(self, value: Any) -> Any:
        if isinstance(self.default, bool) or isinstance(value, bool):
            return value if isinstance(value, bool) and isinstance(self.default, bool) else None
        if isinstance(self.default, float):
            return float(value) if isinstance(value, (int, float)) else None
        if isinstance(self.default, tuple):
            return self._converted_sequence(value)
        return value if isinstance(value, type(self.default)) else None

    def _converted_sequence(self, value: Any) -> tuple | None:
        if isinstance(value, (str, bytes)) or not hasattr(value, '__len__'):
            return None
        if self.size is None and self.items is str:
            return tuple(value) if all(isinstance(item, str) for item in value) else None
        return tuple(map(float, value)) if are_numbers(value) else None

    def _within(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if self.size is not None:
            return len(value) == self.size and bool(np.isfinite(value).all())
        if self.minimum is not None and self.maximum is not None:
            is_zero = self.or_zero and value == 0.0
            return is_zero or self.minimum <= value <= self.maximum
        return True

    def _hint(self, value: Any) -> str:
        """Return what to write where ``ros2 param set`` took a list of numbers for a text."""
        is_of_numbers = self.size is not None or self.items is float
        if is_of_numbers and isinstance(value, str) and value.startswith('['):
            return '. In a list, write all numbers with a point: 0.0 for 0'
        return ''

    @property
    def wanted(self) -> str:
        """Return in words which values are allowed."""
        if isinstance(self.default, Enum):
            return ' or '.join(choice.value for choice in type(self.default))
        if self.choices:
            return ' or '.join(self.choices)
        if self.size is not None:
            return f'{self.size} finite numbers'
        if isinstance(self.default, tuple):
            return 'a list of names' if self.items is str else 'a list of numbers'
        kind = {bool: 'true or false', str: 'a text', int: 'a whole number', float: 'a number'}
        bounds = '' if self.minimum is None else f' from {self.minimum:g} to {self.maximum:g}'
        return kind[type(self.default)] + bounds + (', or 0' if self.or_zero else '')


@dataclass(frozen=True)
class JointSpecification:
    """
    A family of parameters ``NAME.JOINT``: one number for each joint that has one.

    :ivar description: of the family, with its unit in brackets.
    :ivar needed: in words, which values are allowed.
    :ivar accepts: whether a number is allowed; None: a list of as many as the joint has
        coordinates.
    :ivar example: a value for the parameter file.
    :ivar of_one_coordinate: whether only joints of one coordinate have it.
    """

    name: str
    description: str
    needed: str
    group: Group
    level: Level
    accepts: Callable[[float], bool] | None
    example: float
    of_one_coordinate: bool = True
    has_range = True

    def check_field(self, values: Mapping[str, Any]) -> None:
        """
        Check the values of the field of a dataclass, by joint.

        :raises ArgumentError: where one of them is out of range.
        """
        for joint, value in values.items():
            self.check(joint, value)

    def check(self, joint: str, value: Any) -> Any:
        """
        Return a value of a joint as a float, or as a tuple of them.

        :raises ArgumentError: naming the parameter, the value and the values that are allowed.
        """
        if self.accepts is None:
            is_list = isinstance(value, Iterable) and not isinstance(value, str)
            items = value if is_list else [value]
            if are_numbers(items):
                return tuple(map(float, items))
            raise ArgumentError(
                f'{self.name}.{joint} is {value!r}; it needs a number or a list of numbers')
        if not are_numbers([value]) or not self.accepts(value):
            raise ArgumentError(f'{self.name}.{joint} is {value!r}; it needs {self.needed}')
        return float(value)


def is_positive(value: float) -> bool:
    """Return whether a number is finite and above 0."""
    return 0.0 < value < inf


def is_not_negative(value: float) -> bool:
    """Return whether a number is finite, and 0 or more."""
    return 0.0 <= value < inf


def is_not_zero(value: float) -> bool:
    """Return whether a number is finite and not 0."""
    return 0.0 < abs(value) < inf


_DECLARED = 'declared'


def parameter(
        default: Any, description: str, group: Group, level: Level, minimum: float | None = None,
        maximum: float | None = None, **more: Any) -> Any:
    """Return a field of a dataclass that is a parameter; see :class:`Specification`."""
    return field(default=default, metadata={_DECLARED: Specification(
        '', default, description, group, level, minimum, maximum, **more)})


def by_joint(description: str, needed: str, group: Group, level: Level,
             accepts: Callable[[float], bool] | None, *, example: float) -> Any:
    """Return a field that has numbers by joint; see :class:`JointSpecification`."""
    return field(default_factory=_nothing_by_name, metadata={_DECLARED: JointSpecification(
        '', description, needed, group, level, accepts, example, accepts is not None)})


def declared_in(kind: type) -> tuple[Specification | JointSpecification, ...]:
    """Return the parameters that are fields of a dataclass."""
    return tuple(replace(each.metadata[_DECLARED], name=each.name) for each in fields(kind)
                 if _DECLARED in each.metadata)


def _nothing_by_name() -> Mapping[str, Any]:
    return MappingProxyType({})


def are_numbers(values: Iterable[Any]) -> bool:
    """Return whether all values are numbers; a truth value is none, though Python has it so."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool)
               for value in values)


def _plain(value: Any) -> Any:
    return list(value) if hasattr(value, '__len__') and not isinstance(value, str) else value
