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
Where CPython and NumPy keep what machine code reads: the fields of arrays, tuples and bytes.

Both have kept these places for many years, and neither promises to.  So nothing relies on them
before :func:`is_as_expected` has compared them with what Python says of the same objects.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig

import numpy as np

HEAD = object.__basicsize__
"""Size of what every object starts with, whose last field is the object's type."""

TYPE = HEAD - ctypes.sizeof(ctypes.c_void_p)
TUPLE_SIZE = HEAD
TUPLE_ITEMS = tuple.__basicsize__
BYTES = bytes.__basicsize__ - 1
"""Where the first byte of a bytes object stands; its size counts the zero at the end."""

C_CONTIGUOUS = 0x1
ALIGNED = 0x100
WRITEABLE = 0x400


class ArrayFields(ctypes.Structure):
    """NumPy's PyArrayObject_fields, as far as they are read."""

    _fields_ = [
        ('head', ctypes.c_byte * HEAD),
        ('data', ctypes.c_void_p),
        ('ndim', ctypes.c_int),
        ('shape', ctypes.c_void_p),
        ('strides', ctypes.c_void_p),
        ('base', ctypes.c_void_p),
        ('dtype', ctypes.c_void_p),
        ('flags', ctypes.c_int),
    ]


@functools.cache
def is_as_expected() -> bool:
    """Tell whether this interpreter is one whose objects machine code may read."""
    return (
        sys.implementation.name == 'cpython'
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and not sysconfig.get_config_var('Py_GIL_DISABLED')  # others could write while it reads
        and not hasattr(sys, 'gettotalrefcount')  # a debug build, whose objects are larger
        and np.ndarray.__basicsize__ >= ctypes.sizeof(ArrayFields)
        and tuples_are_as_expected()
        and bytes_are_as_expected()
        and all(map(array_is_as_expected, _samples())))


def tuples_are_as_expected() -> bool:
    """Compare a tuple's fields with what it contains."""
    items = (object(), object(), object())
    found = (ctypes.c_ssize_t * 3).from_address(id(items) + TUPLE_ITEMS)
    return (_word(id(items) + TYPE) == id(tuple)
            and _word(id(items) + TUPLE_SIZE) == 3
            and list(found) == [id(item) for item in items])


def bytes_are_as_expected() -> bool:
    """Compare where bytes stand with where CPython's own interface finds them."""
    start = ctypes.pythonapi.PyBytes_AsString
    start.restype, start.argtypes = ctypes.c_void_p, [ctypes.py_object]
    return start(b'some bytes') is not None and all(
        start(some) == id(some) + BYTES for some in (b'some bytes', _Bytes(b'others')))


def array_is_as_expected(array: np.ndarray) -> bool:
    """Compare an array's fields with what NumPy says of it."""
    fields = ArrayFields.from_address(id(array))
    ndim = array.ndim
    if not (_word(id(array) + TYPE) == id(np.ndarray)
            and fields.data == array.ctypes.data
            and fields.ndim == ndim
            and fields.dtype == id(array.dtype)
            and bool(fields.flags & C_CONTIGUOUS) == array.flags.c_contiguous
            and bool(fields.flags & ALIGNED) == array.flags.aligned
            and bool(fields.flags & WRITEABLE) == array.flags.writeable):
        return False
    if ndim == 0:
        return True
    # They stand one after the other; were these no addresses of them, reading could crash.
    if fields.shape is None or fields.strides != fields.shape + 8 * ndim:
        return False
    words = tuple((ctypes.c_ssize_t * (2 * ndim)).from_address(fields.shape))
    return words == array.shape + array.strides


class _Bytes(bytes):
    """Bytes with attributes of their own."""


def _samples() -> list[np.ndarray]:
    """Return arrays that differ in each field."""
    constant = np.arange(7.0)
    constant.flags.writeable = False
    return [
        np.zeros(3), np.zeros((2, 5)), np.zeros((4, 3)).T, np.zeros((3, 0, 2)), np.array(1.0),
        np.zeros(6)[1::2], np.zeros((2, 3, 4))[:, 1], constant, np.zeros(4, dtype='>f8'),
        np.zeros(3, dtype=int), np.frombuffer(bytes(33), dtype=float, count=4, offset=1),
        np.broadcast_to(np.float64(2.0), (5, 2)),
    ]


def _word(address: int) -> int:
    return ctypes.c_ssize_t.from_address(address).value
