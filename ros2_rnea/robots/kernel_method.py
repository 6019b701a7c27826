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
"""How a method of a robot is passed to the machine code of its kernel."""

from __future__ import annotations

from collections.abc import Callable
import functools
from types import MethodType
from typing import Any, cast, Protocol, TypeVar

from ros2_rnea.dynamics import quantities
from ros2_rnea.robots.evaluator import Evaluator

Function = Callable[..., Any]
AnyFunction = TypeVar('AnyFunction', bound=Function)


class HasKernels(Protocol):
    """The attributes that a robot needs for methods with kernels."""

    _evaluator: Evaluator
    _kernel_calls: dict[str, Function]

    def _without_calls(self) -> HasKernels: ...


class KernelMethod:
    """
    A method that is named as a quantity and computed by its kernel.

    The class has the function itself, with its docstring and signature.  A compiled robot has a
    ``KernelCall`` (:mod:`ros2_rnea.kernels.call`) in its place, which is made when the method is
    first looked up and compiles the kernel when it is first called.  The function computes what
    the kernel does not.

    A call refers to a copy of the robot.  If it referred to the robot, which refers to the call,
    only the garbage collector could free the two.

    :param function: the method in Python.
    """

    def __init__(self, function: Function) -> None:
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, robot: HasKernels | None, owner: type | None = None) -> Function:
        """Return the function of the class, or the method of a robot."""
        if robot is None:
            return self._function
        if self._name not in robot._kernel_calls:
            quantity = quantities.METHODS[self._name]
            general = MethodType(self._function, robot._without_calls())
            call = robot._evaluator.call(quantity, general)
            if call is None:
                return MethodType(self._function, robot)
            functools.update_wrapper(call, general)
            call = robot._kernel_calls.setdefault(self._name, call)  # another thread was first
            if getattr(type(robot), self._name) is self._function:  # not that of a subclass
                # Python looks here before it asks this object again, which saves time.
                vars(robot)[self._name] = call
        return robot._kernel_calls[self._name]


def kernel_method(function: AnyFunction) -> AnyFunction:
    """Return a method with a kernel; to type checkers it stays the function that it is."""
    return cast(AnyFunction, KernelMethod(function))
