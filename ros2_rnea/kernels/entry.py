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
Calling a kernel from Python: as a builtin function, as a checked function, and over many rows.

:meth:`Entries.direct_call` and :meth:`Entries.bound_call` make what a user calls each cycle.  On
an interpreter whose objects lie as expected (:mod:`ros2_rnea.kernels.layout`) these are builtin
functions of machine code, which cost about as much as Python takes to call anything; on any other
they are functions in Python that do the same.

An array suits a kernel if it is exactly a numpy.ndarray of native float64, C-contiguous, aligned,
of the right shape and, for the output, writeable.  Nothing else reaches machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import ctypes
import sys
from types import FunctionType
from typing import Any, Protocol

import numpy as np
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import entry_text, layout, machine
from ros2_rnea.kernels.cache import key_of, ObjectCache

Array = np.ndarray
Shape = tuple[int, ...]
Function = Callable[..., Any]

LARGE = 10_000
"""Numbers in a batch, in and out, from which its computation lets other threads run meanwhile."""

_FLOAT64 = np.dtype(np.float64)
_NOARGS = 0x4
_FASTCALL_AND_KEYWORDS = 0x80 | 0x2

_One = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # holds the GIL
_Rows = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
_RowsReleasing = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


class Kernel(Protocol):
    """A kernel's machine code, such as :class:`ros2_rnea.kernels.machine.Loaded`."""

    def address(self, name: str) -> int:
        """Return where a function starts; it counts for as long as this object lives."""


def suits(array: object, shape: Shape, written: bool = False) -> bool:
    """Tell whether machine code may read an array, or write it."""
    return (type(array) is Array and array.dtype == _FLOAT64 and array.shape == shape
            and array.flags.c_contiguous and array.flags.aligned
            and (array.flags.writeable or not written))


def _all_suit(arrays: Sequence[object], shapes: Sequence[Shape]) -> bool:
    return len(arrays) == len(shapes) and suits(arrays[-1], shapes[-1], written=True) and all(
        suits(array, shape) for array, shape in zip(arrays[:-1], shapes[:-1]))


def one_call(kernel: Kernel, shapes: Sequence[Shape], parameters: Array) -> Function:
    """
    Return a function ``f(*inputs, output) -> bool`` for arrays that suit the kernel.

    It returns False, with the output undefined, where an angle is too large for the kernel.

    :param shapes: the inputs' and last the output's.
    :param parameters: what the kernel takes before the output; read at each call.
    :raises ArgumentError: by the function, where an array does not suit.
    """
    one = _function(kernel, 'one', _One)
    shapes = (*shapes[:-1], parameters.shape, shapes[-1])

    def call(*arrays: Array) -> bool:
        arrays = (*arrays[:-1], parameters, arrays[-1])
        _check(arrays, shapes)
        return one(_pointers(arrays)) == 0

    return call


def rows_call(kernel: Kernel, shapes: Sequence[Shape], parameters: Array) -> Function:
    """
    Return a function ``f(*inputs, output) -> bool`` for arrays with one more axis in front.

    The output is written at the end where inputs overlap it, and not at all if the function
    returns False then.  Other threads run while a large batch is computed.

    :param shapes: of one row, the inputs' and last the output's.
    :param parameters: the same for all rows.
    :raises ArgumentError: by the function, where an array does not suit.
    """
    holding = _function(kernel, 'rows', _Rows)
    releasing = _function(kernel, 'rows', _RowsReleasing)
    numbers = sum(int(np.prod(shape)) for shape in shapes)

    def call(*arrays: Array) -> bool:
        count = len(arrays[-1])
        rows_shapes = [(count, *shape) for shape in shapes]
        arrays = (*arrays[:-1], parameters, arrays[-1])
        _check(arrays, (*rows_shapes[:-1], parameters.shape, rows_shapes[-1]))
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


class Entries:
    """
    Makes the functions that users call, in Python; works on every interpreter.

    Each function computes in place and returns its output.  What it cannot do itself, it hands to
    its fallback as it was called: other arguments than expected, arrays that do not suit, and
    angles that are too large for the kernel.
    """

    def direct_call(
            self, kernel: Kernel, shapes: Sequence[Shape], keywords: Sequence[str],
            parameters: Array, fallback: Function, name: str = 'compute', doc: str = '',
            ) -> Function:
        """
        Return a function of arrays.

        :param shapes: the inputs' in the order of arguments, and last the output's.
        :param keywords: of the last arguments; the others are positional.
        :param parameters: what the kernel takes before the output; read at each call.
        :param doc: may start with a signature, as builtin functions have it.
        """
        one = _function(kernel, 'one', _One)
        positional = len(shapes) - len(keywords)
        names = tuple(keywords)
        shapes = (*shapes[:-1], parameters.shape, shapes[-1])

        def direct(*arguments: Any, **named: Any) -> Any:
            if len(arguments) == positional and tuple(named) == names:
                *inputs, output = *arguments, *named.values()
                arrays = (*inputs, parameters, output)
                if _all_suit(arrays, shapes) and one(_pointers(arrays)) == 0:
                    return output
            return fallback(*arguments, **named)

        return _described(direct, name, doc)

    def bound_call(
            self, kernel: Kernel, arrays: Sequence[Array], parameters: Array, fallback: Function,
            name: str = 'compute', doc: str = '') -> Function:
        """
        Return a function without arguments, for arrays that are read and written at each call.

        Should one of them be reshaped or made read-only later, the fallback is called.

        :param arrays: the inputs and last the output.
        :raises ArgumentError: where one of them does not suit.
        """
        one = _function(kernel, 'one', _One)
        shapes = _bound_shapes(arrays, parameters)
        arrays = (*arrays[:-1], parameters, arrays[-1])

        def bound() -> Any:
            if _all_suit(arrays, shapes) and one(_pointers(arrays)) == 0:
                return arrays[-1]
            return fallback()

        return _described(bound, name, doc)


class BuiltinEntries(Entries):
    """
    Makes builtin functions, whose machine code reads the arrays itself.

    :param code: the text of :mod:`ros2_rnea.kernels.entry_text`, compiled.
    """

    def __init__(self, code: Kernel) -> None:
        self._code = code

    def direct_call(
            self, kernel: Kernel, shapes: Sequence[Shape], keywords: Sequence[str],
            parameters: Array, fallback: Function, name: str = 'compute', doc: str = '',
            ) -> Function:
        """See :meth:`Entries.direct_call`."""
        names = tuple(map(sys.intern, keywords))
        all_shapes = (*shapes[:-1], parameters.shape, shapes[-1])
        if not _has_room(all_shapes, names):
            return super().direct_call(
                kernel, shapes, keywords, parameters, fallback, name, doc)
        fallback = _callable_from_code(fallback)
        context = _context(kernel, all_shapes, fallback)
        context.positional = len(shapes) - len(names)
        context.keywords = len(names)
        context.names[:len(names)] = [id(name) for name in names]
        context.arrays[context.inputs] = id(parameters)
        return self._builtin('direct', context, name, doc, kernel, fallback, names, parameters)

    def bound_call(
            self, kernel: Kernel, arrays: Sequence[Array], parameters: Array, fallback: Function,
            name: str = 'compute', doc: str = '') -> Function:
        """See :meth:`Entries.bound_call`."""
        shapes = _bound_shapes(arrays, parameters)
        if not _has_room(shapes):
            return super().bound_call(kernel, arrays, parameters, fallback, name, doc)
        fallback = _callable_from_code(fallback)
        arrays = (*arrays[:-1], parameters, arrays[-1])
        context = _context(kernel, shapes, fallback)
        context.arrays[:len(arrays)] = [id(array) for array in arrays]
        return self._builtin('bound', context, name, doc, kernel, fallback, arrays)

    def _builtin(
            self, function: str, context: entry_text.Context, name: str, doc: str,
            *owned: object) -> Function:
        """Return a builtin function whose self holds the context, and all that it points at."""
        flags = {'direct': _FASTCALL_AND_KEYWORDS, 'bound': _NOARGS}[function]
        method = _MethodDef(name.encode(), self._code.address(function), flags, doc.encode())
        make = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
                ('PyCFunction_NewEx', ctypes.pythonapi))
        # CPython lets go of the method before the self, so that this may hold both.
        return make(ctypes.addressof(method), _Self(context, self._code, method, *owned), __name__)


def open_entries(cache: ObjectCache) -> Entries:
    """
    Return what makes the fastest functions that are safe here.

    :raises CompilerError: without llvmlite.
    """
    if not (layout.is_as_expected() and _vectorcall()):
        return Entries()
    text = entry_text.text()
    key = key_of(*machine.identity(machine.host()), text)
    code = cache.get(key)
    if code is None:
        code = machine.compile_object(text)
        cache.put(key, code)
    return BuiltinEntries(machine.load(code))


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ('name', ctypes.c_char_p),
        ('function', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('doc', ctypes.c_char_p),
    ]


class _Self(bytes):
    """A context that cannot be changed, and that owns all it points at."""

    _owned: tuple[object, ...]

    def __new__(cls, context: entry_text.Context, *owned: object) -> _Self:
        self = super().__new__(cls, context)
        super().__setattr__(self, '_owned', owned)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f'{name!r} cannot be set, as machine code relies on it')

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f'{name!r} cannot be deleted, as machine code relies on it')


def _context(
        kernel: Kernel, shapes: Sequence[Shape], fallback: Function) -> entry_text.Context:
    """Return what both kinds of functions know; shapes are those of all arrays."""
    context = entry_text.Context(
        array_type=id(Array), float64=id(_FLOAT64), kernel=kernel.address('one'),
        fallback=id(fallback), vectorcall=_vectorcall(),
        incref=_address('Py_IncRef'), inputs=len(shapes) - 2)
    for expected, shape in zip(context.expected, shapes):
        expected.ndim = len(shape)
        expected.flags = layout.C_CONTIGUOUS | layout.ALIGNED
        expected.shape[:len(shape)] = shape
    context.expected[len(shapes) - 1].flags |= layout.WRITEABLE
    return context


def _has_room(shapes: Sequence[Shape], names: Sequence[str] = ()) -> bool:
    """Tell whether a context is large enough."""
    return (len(shapes) <= entry_text.MOST_ARRAYS and len(names) <= entry_text.MOST_KEYWORDS
            and all(len(shape) <= entry_text.MOST_DIMENSIONS for shape in shapes))


def _address(name: str) -> int:
    """Return where a function of CPython's starts; 0 where it has none of that name."""
    function = getattr(ctypes.pythonapi, name, None)
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


def _vectorcall() -> int:
    # CPython 3.10 has the first in its headers alone; the second takes functions in Python alone.
    return _address('PyObject_Vectorcall') or _address('_PyFunction_Vectorcall')


def _callable_from_code(fallback: Function) -> Function:
    """Return a function that does the same and that machine code can call."""
    if _address('PyObject_Vectorcall') or type(fallback) is FunctionType:
        return fallback
    return lambda *arguments, **named: fallback(*arguments, **named)


def _pointers(arrays: Sequence[Array]) -> ctypes.Array:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def _bound_shapes(arrays: Sequence[Array], parameters: Array) -> list[Shape]:
    """Return the shapes of all arrays, once they are known to suit."""
    arrays = (*arrays[:-1], parameters, arrays[-1])
    shapes = [np.shape(array) for array in arrays]
    _check(arrays, shapes)
    return shapes


def _check(arrays: Sequence[Array], shapes: Sequence[Shape]) -> None:
    """
    Check that arrays suit a kernel.

    :raises ArgumentError: naming the first that does not.
    """
    if len(arrays) != len(shapes):
        raise ArgumentError(f'{len(arrays)} arrays were given to a kernel of {len(shapes)}')
    for place, (array, shape) in enumerate(zip(arrays, shapes)):
        written = place == len(arrays) - 1
        if not suits(array, shape, written):
            kind = f'{getattr(array, "dtype", "")} {type(array).__name__}'
            raise ArgumentError(
                f'array {place} of a kernel is a {kind} of shape {getattr(array, "shape", "")}; '
                f'it needs to be a{" writeable" if written else ""} C-contiguous, aligned '
                f'numpy.ndarray of float64 and shape {shape}')


def _function(kernel: Kernel, name: str, kind: type) -> Function:
    """Return a function of a kernel's for ctypes, which keeps the kernel alive."""
    function = kind(kernel.address(name))
    function.kernel = kernel
    return function


def _described(function: Function, name: str, doc: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc.split('\n--\n\n')[-1]  # without the signature, which it has
    return function
