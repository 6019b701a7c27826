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
Calling a kernel from Python: with the arrays of one state, or of many states at once.

What a user calls in each cycle is a ``KernelCall``.  It is written twice: in C, in the extension
``_call.c``, where a call costs about as much as Python takes to call anything, and here in Python,
as :class:`PythonKernelCall`, for installations that had no C compiler.  Both behave alike, and
``test_call.py`` tests both.

Machine code may access an array if it is exactly a numpy.ndarray of native float64, C-contiguous,
aligned, of the right shape and, for the output, writeable.  The memory of any other object is
never given to a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import ctypes
from typing import Any, Protocol

import numpy as np
from ros2_rnea.errors import ArgumentError

Array = np.ndarray
Shape = tuple[int, ...]
Function = Callable[..., Any]

TAKES_NO_ARGUMENTS = 'a method that is bound to arrays takes no arguments'
"""The error when a bound method is called with arguments; the extension uses the same text."""

LARGE = 10_000
"""Number of inputs and outputs in a batch from which other threads run during its computation."""

_FLOAT64 = np.dtype(np.float64)
_READABLE = 0x1 | 0x100  # NumPy's flags C_CONTIGUOUS and ALIGNED
_WRITEABLE = _READABLE | 0x400

_ONE = ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
_ROWS = ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p
_One = ctypes.PYFUNCTYPE(*_ONE)  # holds the GIL
_Rows = ctypes.PYFUNCTYPE(*_ROWS)
_RowsReleasing = ctypes.CFUNCTYPE(*_ROWS)


class Kernel(Protocol):
    """
    A kernel, such as :class:`.machine.Loaded` and :class:`.taped.LoadedTape`.

    :ivar context: the address that its functions take after all other arguments.
    """

    context: int

    def address(self, name: str) -> int:
        """Return where a function starts; the address is valid while this object exists."""


Target = tuple[object, int, int, Array]
"""The owner of a kernel's memory, the address of its function and its context, and parameters."""

Resolve = Callable[[bool], Target]
"""Returns the target of calls with or without the optional input; it may have to compile it."""


class PythonKernelCall:
    """
    A function ``call(*inputs, out=output)`` of NumPy arrays that a kernel computes.

    The first call asks for the kernel; it may be made by several threads at once.  The output is
    allocated where none is given.  Inputs that are lists, tuples or arrays of other real types
    are converted.  All other calls are handed to the general function as they came, among them
    batches, mappings, arrays of subclasses, unknown keywords, complex numbers, and states that
    the kernel refuses.

    It owns all that it refers to, takes part in garbage collection, and is pickled and copied as
    its general function.

    :param names: of the arguments: the inputs, and last the output, which is ``out``.
    :param shapes: of these arguments, for one state.
    :param required: how many inputs are always needed; one more may be there, which is optional.
    :param resolve: see :data:`Resolve`; the parameters' numbers are read at each call.
    :param general: the function in Python, which takes the same arguments and more.
    :param bound: all arguments, None for an optional one that is absent; the call then takes no
        arguments, and reads and writes these arrays.
    """

    def __init__(
            self,
            names: tuple[str, ...],
            shapes: tuple[Shape, ...],
            required: int,
            resolve: Resolve,
            general: Function,
            bound: tuple[Array | None, ...] | None = None) -> None:
        if len(shapes) != len(names) or not required < len(names) <= required + 2:
            raise ValueError('a kernel takes the required inputs, at most one optional input, '
                             'and the output')
        self._names = names
        self._shapes = shapes
        self._required = required
        self._resolve = resolve
        self._general = general
        self._bound = bound
        self._targets: dict[bool, tuple[Function, Array]] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Compute; see the class."""
        if self._bound is not None and (arguments or named):
            raise TypeError(TAKES_NO_ARGUMENTS)
        given = self._ordered(arguments, named) if self._bound is None else self._bound
        result = None if given is None else self._computed(given)
        return self._general(*arguments, **named) if result is None else result

    def __get__(self, robot: object, owner: object = None) -> PythonKernelCall:
        """Return the call, which is bound already; help() takes what has this for a routine."""
        return self

    def __reduce__(self) -> Any:
        """Pickle and copy as the general function, which finds its robot's method again."""
        return self._general.__reduce__()

    def _ordered(
            self, arguments: Sequence[Any], named: dict[str, Any]) -> tuple[Any, ...] | None:
        """Return the arguments in the order of names; None where they are not the expected."""
        names = self._names
        if len(arguments) >= len(names):
            return None
        by_name = dict(zip(names, arguments))
        if not by_name.keys().isdisjoint(named):
            return None
        by_name.update(named)
        given = tuple(by_name.get(name) for name in names)
        are_known = by_name.keys() <= {*names}
        return given if are_known and by_name.keys() >= {*names[:self._required]} else None

    def _computed(self, given: Sequence[Any]) -> Array | None:
        """Return the output; None where only the general function can compute it."""
        *inputs, output = given
        if len(inputs) > self._required and inputs[-1] is None:
            del inputs[-1]
        with_optional = len(inputs) > self._required
        shapes = self._shapes
        if output is not None and not fits(output, shapes[-1], is_output=True):
            return None
        if with_optional not in self._targets or not all(map(fits, inputs, shapes)):
            inputs = [*map(_converted, inputs, shapes)]
            if any(array is None for array in inputs):
                return None
            if with_optional not in self._targets:
                self._targets.setdefault(with_optional, self._resolved(with_optional))
            # Conversion and compilation may have run code that reshapes arrays.
            if not (all(map(fits, inputs, shapes))
                    and (output is None or fits(output, shapes[-1], is_output=True))):
                return None
        if output is None:
            output = np.empty(shapes[-1])
        kernel, parameters = self._targets[with_optional]
        done = kernel(_pointers((*inputs, parameters, output))) == 0
        return output if done else None

    def _resolved(self, with_optional: bool) -> tuple[Function, Array]:
        owner, address, context, parameters = self._resolve(with_optional)
        function: Any = _One(address)
        function.owner = owner
        return lambda arrays: function(arrays, context), parameters


CONVENTION = 2
"""
Version of the call of a kernel: the arguments of KernelCall and of the machine code.

The extension has the same number.  Raise both with every change: an extension that was built for
other modules, and is found next to these, is then not used.
"""

EXTENSION_ERROR = ''
"""The reason why calls are not machine code; empty where they are."""

EXTENSION: Any = None
"""The extension in C; None where it cannot be used."""

KernelCall: Any
try:
    from ros2_rnea.kernels import _call
    if (found := getattr(_call, 'CONVENTION', None)) != CONVENTION:
        raise ImportError(
            f'{_call.__name__} was built for another version: it has the calling convention '
            f'{found}, and this version needs {CONVENTION}')
    EXTENSION, KernelCall = _call, _call.KernelCall
except ImportError as error:
    KernelCall = PythonKernelCall
    EXTENSION_ERROR = str(error)


def fits(array: object, shape: Shape, is_output: bool = False) -> bool:
    """Return whether machine code may access an object's memory as an array of this shape."""
    flags = _WRITEABLE if is_output else _READABLE
    return (type(array) is Array and array.shape == shape and array.dtype == _FLOAT64
            and array.flags.num & flags == flags)


def check_arrays(arrays: Sequence[object], shapes: Sequence[Shape]) -> None:
    """
    Check that machine code may access arrays.

    :param arrays: the inputs, and last the output.
    :raises ArgumentError: naming the first that it may not access, and what it needs to be.
    """
    if len(arrays) != len(shapes):
        raise ArgumentError(f'{len(arrays)} arrays were given to a kernel of {len(shapes)}')
    for place, (array, shape) in enumerate(zip(arrays, shapes)):
        check_array(f'array {place} of a kernel', array, shape, place == len(arrays) - 1)


def check_array(name: str, array: object, shape: Shape, is_output: bool = False) -> None:
    """
    Check that machine code may access an array.

    :param name: what to call it in the error.
    :raises ArgumentError: where it may not, with what the array needs to be.
    """
    if not fits(array, shape, is_output):
        kind = f'{getattr(array, "dtype", "")} {type(array).__name__}'.lstrip()
        raise ArgumentError(
            f'{name} is a {kind} of shape {getattr(array, "shape", None)}; '
            f'it needs to be a{" writeable" if is_output else ""} C-contiguous, aligned '
            f'numpy.ndarray of float64 and shape {shape}')


def one_call(kernel: Kernel, shapes: Sequence[Shape], parameters: Array) -> Function:
    """
    Return a function ``f(*inputs, output) -> bool`` for arrays of one state.

    It returns False, with the output undefined, where the kernel refuses the state: where an angle
    is very large, for instance.

    :param shapes: the inputs' and last the output's.
    :param parameters: what the kernel takes before the output; read at each call.
    :raises ArgumentError: by the function, where a kernel may not access an array.
    """
    one = _function(kernel, 'one', _One)
    shapes = (*shapes[:-1], parameters.shape, shapes[-1])

    def call(*arrays: Array) -> bool:
        arrays = (*arrays[:-1], parameters, arrays[-1])
        check_arrays(arrays, shapes)
        return one(_pointers(arrays)) == 0

    return call


def rows_call(kernel: Kernel, shapes: Sequence[Shape], parameters: Array) -> Function:
    """
    Return a function ``f(*inputs, output) -> bool`` for arrays with one more axis in front.

    The output is written at the end where inputs overlap it, and not at all if the function
    returns False then.  Other threads run while a large batch is computed.

    :param shapes: of one row: of the inputs, and last of the output.
    :param parameters: shared by all rows.
    :raises ArgumentError: by the function, where a kernel may not access an array.
    """
    holding = _function(kernel, 'rows', _Rows)
    releasing = _function(kernel, 'rows', _RowsReleasing)
    numbers = sum(int(np.prod(shape)) for shape in shapes)

    def call(*arrays: Array) -> bool:
        count = len(arrays[-1])
        rows_shapes = [(count, *shape) for shape in shapes]
        arrays = (*arrays[:-1], parameters, arrays[-1])
        check_arrays(arrays, (*rows_shapes[:-1], parameters.shape, rows_shapes[-1]))
        *inputs, output = arrays
        # Of contiguous arrays the bounds tell exactly whether they overlap.
        overlap = any(np.may_share_memory(array, output) for array in inputs)
        result = np.empty_like(output) if overlap else output
        rows = releasing if count * numbers >= LARGE else holding
        done = rows(count, _pointers((*inputs, result))) == 0
        if done and overlap:
            output[...] = result
        return done

    return call


def _converted(argument: object, shape: Shape) -> Array | None:
    """Return an input as an array that a kernel may read; None where that loses something."""
    if fits(argument, shape):
        return argument  # type: ignore[return-value]
    if type(argument) is Array:  # a subclass may mean something else: some have masks
        if argument.ndim != len(shape):
            return None
    elif type(argument) not in (list, tuple):
        return None
    try:
        array = np.asarray(argument)
    except Exception:  # noqa: BLE001  the general function has the words for what is wrong
        return None
    if array.dtype.kind not in 'biuf' or array.shape != shape:
        return None
    return np.array(array, dtype=np.float64, order='C')


def _pointers(arrays: Sequence[Array]) -> ctypes.Array:
    return (ctypes.c_void_p * len(arrays))(
        *(array.__array_interface__['data'][0] for array in arrays))


def _function(kernel: Kernel, name: str, kind: type) -> Function:
    """Return a function of a kernel's for ctypes, which keeps the kernel alive."""
    function = kind(kernel.address(name))
    return lambda *arguments: function(*arguments, kernel.context)
