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
"""The specification of one parameter of the node: its type and range, and their description."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from ros2_rnea.errors import ArgumentError


@dataclass(frozen=True)
class Specification:
    """
    One parameter, whose default also determines its type.

    :ivar default: a tuple for a list; a member of an Enum for a choice of several words.
    :ivar or_zero: whether 0 is allowed below the minimum, with a meaning of its own.
    :ivar size: the number of elements of a list of numbers; None: any number of ``items``.
    """

    name: str
    default: Any
    description: str
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
                f'{self.name} is {_plain(value)!r}; it needs {self._wanted()}{self._hint(value)}')
        return usable

    def error_without_value(self) -> ArgumentError:
        """Return what is wrong where a file has the parameter without a value."""
        return ArgumentError(
            f'{self.name} has no value; it needs {self._wanted()}. Remove the line for the '
            'default')

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that ``ros2 param describe`` shows."""
        descriptor = ParameterDescriptor(
            name=self.name,
            description=self.description,
            additional_constraints=self._wanted(),
            dynamic_typing=True,
            read_only=self.read_only)
        if self.minimum is not None and self.maximum is not None:
            if isinstance(self.default, float):
                lowest = 0.0 if self.or_zero else self.minimum
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=lowest, to_value=self.maximum)]
            else:
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=1)]
        return descriptor

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
        raise ArgumentError(f'{self.name} is {_plain(value)!r}; it needs {self._wanted()}')

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

    def _wanted(self) -> str:
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


def are_numbers(values: Iterable[Any]) -> bool:
    """Return whether all values are numbers; a truth value is none, though Python has it so."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool)
               for value in values)


def _plain(value: Any) -> Any:
    return list(value) if hasattr(value, '__len__') and not isinstance(value, str) else value
