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
The machine code that stands between a call in Python and a kernel, as LLVM's text.

It is one text for all kernels and robots, and holds no address: what it needs to know of a kernel
stands in a :class:`Context`, which is the ``self`` of the builtin function that it runs as.

    direct      f(q, qd, qdd, out=out)   checks the arrays that it is given
    bound       f()                      checks the arrays that were bound to it
    run         what both do: each array's type, dtype, flags and shape; then the kernel

Where all is as it should be and the kernel succeeds, the output is returned.  In every other case
the call goes, as it came, to a fallback in Python, which does it slowly or says what is wrong.

Addresses are integers here, so that one text serves an LLVM that knows types of pointers and one
that does not.  A line ``%x = read i64 %place 8`` stands for the three that load from 8 bytes after
a place, and ``write %x %place`` for those that store there.
"""

from __future__ import annotations

import ctypes
import re

from ros2_rnea.kernels import layout
from ros2_rnea.kernels.machine import pointer

MOST_ARRAYS = 16
MOST_KEYWORDS = 4
MOST_DIMENSIONS = 4

_Word = ctypes.c_int64


class Expected(ctypes.Structure):
    """What an array has to be."""

    _fields_ = [
        ('ndim', _Word),
        ('flags', _Word),
        ('shape', _Word * MOST_DIMENSIONS),
    ]


class Context(ctypes.Structure):
    """
    All that a builtin function knows; addresses of objects that its owner keeps alive.

    Arrays are counted with the parameters, which stand before the last one, the output.
    """

    _fields_ = [
        ('array_type', _Word),
        ('float64', _Word),
        ('kernel', _Word),
        ('fallback', _Word),
        ('vectorcall', _Word),
        ('incref', _Word),
        ('inputs', _Word),
        ('positional', _Word),
        ('keywords', _Word),
        ('names', _Word * MOST_KEYWORDS),
        ('arrays', _Word * MOST_ARRAYS),
        ('expected', Expected * MOST_ARRAYS),
    ]


_RUN = """
define internal i64 @run(i64 %context, i64 %table) nounwind {
start:
  %array_type = read i64 %context Context.array_type
  %float64 = read i64 %context Context.float64
  %kernel = read i64 %context Context.kernel
  %inputs = read i64 %context Context.inputs
  %output = add i64 %inputs, 1
  %first = add i64 %context, Context.expected
  br label %array

array:
  %i = phi i64 [0, %start], [%i.next, %fits]
  %slot = phi i64 [%table, %start], [%slot.next, %fits]
  %expected = phi i64 [%first, %start], [%expected.next, %fits]
  %object = read i64 %slot 0
  %type = read i64 %object TYPE
  %is_array = icmp eq i64 %type, %array_type
  br i1 %is_array, label %fields, label %wrong

fields:
  %dtype = read i64 %object ArrayFields.dtype
  %ndim.is = read i32 %object ArrayFields.ndim
  %ndim = read i64 %expected Expected.ndim
  %flags.is = read i32 %object ArrayFields.flags
  %flags = read i64 %expected Expected.flags
  %ndim.long = zext i32 %ndim.is to i64
  %flags.long = zext i32 %flags.is to i64
  %flags.kept = and i64 %flags.long, %flags
  %dtype.differs = xor i64 %dtype, %float64
  %ndim.differs = xor i64 %ndim.long, %ndim
  %flags.differ = xor i64 %flags.kept, %flags
  %some = or i64 %dtype.differs, %ndim.differs
  %any = or i64 %some, %flags.differ
  %same = icmp eq i64 %any, 0
  %sizes.is = read i64 %object ArrayFields.shape
  %sizes = add i64 %expected, Expected.shape
  br i1 %same, label %dimension, label %wrong

dimension:
  %d = phi i64 [0, %fields], [%d.next, %size]
  %all_dimensions = icmp eq i64 %d, %ndim
  br i1 %all_dimensions, label %fits, label %size

size:
  %d.bytes = shl i64 %d, 3
  %d.next = add i64 %d, 1
  %size.at = add i64 %sizes, %d.bytes
  %size.is.at = add i64 %sizes.is, %d.bytes
  %size.value = read i64 %size.at 0
  %size.is.value = read i64 %size.is.at 0
  %size.same = icmp eq i64 %size.value, %size.is.value
  br i1 %size.same, label %dimension, label %wrong

fits:
  %data = read i64 %object ArrayFields.data
  write %data %slot
  %i.next = add i64 %i, 1
  %slot.next = add i64 %slot, 8
  %expected.next = add i64 %expected, SIZEOF_EXPECTED
  %all_arrays = icmp eq i64 %i, %output
  br i1 %all_arrays, label %call, label %array

call:
  %one = inttoptr i64 %kernel to pointer(i64 (i64))
  %status = call i64 %one(i64 %table)
  ret i64 %status

wrong:
  ret i64 1
}
"""

_DIRECT = """
define i64 @direct(i64 %self, i64 %arguments, i64 %given, i64 %names.given) nounwind {
start:
  %space = alloca [MOST_ARRAYS x i64], align 16
  %table = ptrtoint pointer([MOST_ARRAYS x i64]) %space to i64
  %context = add i64 %self, BYTES
  %positional = read i64 %context Context.positional
  %keywords = read i64 %context Context.keywords
  %enough = icmp eq i64 %given, %positional
  br i1 %enough, label %count, label %slow

count:
  %none = icmp eq i64 %names.given, 0
  br i1 %none, label %compare, label %tuple

tuple:
  %length = read i64 %names.given TUPLE_SIZE
  br label %compare

compare:
  %keywords.given = phi i64 [0, %count], [%length, %tuple]
  %as_many = icmp eq i64 %keywords.given, %keywords
  br i1 %as_many, label %keyword, label %slow

keyword:
  %k = phi i64 [0, %compare], [%k.next, %name]
  %all_keywords = icmp eq i64 %k, %keywords
  br i1 %all_keywords, label %copy, label %name

name:
  %k.bytes = shl i64 %k, 3
  %k.next = add i64 %k, 1
  %name.at = add i64 %context, %k.bytes
  %name.given.at = add i64 %names.given, %k.bytes
  %name.value = read i64 %name.at Context.names
  %name.given = read i64 %name.given.at TUPLE_ITEMS
  %name.same = icmp eq i64 %name.value, %name.given
  br i1 %name.same, label %keyword, label %slow

copy:
  %inputs = read i64 %context Context.inputs
  %inputs.bytes = shl i64 %inputs, 3
  br label %argument

argument:
  %bytes = phi i64 [0, %copy], [%bytes.next, %input]
  %argument.at = add i64 %arguments, %bytes
  %argument.value = read i64 %argument.at 0
  %last = icmp eq i64 %bytes, %inputs.bytes
  br i1 %last, label %output, label %input

input:
  %slot = add i64 %table, %bytes
  write %argument.value %slot
  %bytes.next = add i64 %bytes, 8
  br label %argument

output:
  %parameters.at = add i64 %context, %bytes
  %parameters = read i64 %parameters.at Context.arrays
  %slot.parameters = add i64 %table, %bytes
  %slot.output = add i64 %slot.parameters, 8
  write %parameters %slot.parameters
  write %argument.value %slot.output
"""

_BOUND = """
define i64 @bound(i64 %self, i64 %nothing) nounwind {
start:
  %space = alloca [MOST_ARRAYS x i64], align 16
  %table = ptrtoint pointer([MOST_ARRAYS x i64]) %space to i64
  %context = add i64 %self, BYTES
  %inputs = read i64 %context Context.inputs
  %inputs.bytes = shl i64 %inputs, 3
  %last = add i64 %inputs.bytes, 8
  br label %copy

copy:
  %bytes = phi i64 [0, %start], [%bytes.next, %copy]
  %array.at = add i64 %context, %bytes
  %array = read i64 %array.at Context.arrays
  %slot = add i64 %table, %bytes
  write %array %slot
  %bytes.next = add i64 %bytes, 8
  %all = icmp eq i64 %bytes, %last
  br i1 %all, label %call, label %copy

call:
"""

# What both do once their arrays are in the table.
_END = """\
  %status = call i64 @run(i64 %context, i64 %table)
  %done = icmp eq i64 %status, 0
  br i1 %done, label %return, label %slow

return:
  %incref.at = read i64 %context Context.incref
  %incref = inttoptr i64 %incref.at to pointer(void (i64))
  call void %incref(i64 {output})
  ret i64 {output}

slow:
  %fallback = read i64 %context Context.fallback
  %vectorcall.at = read i64 %context Context.vectorcall
  %vectorcall = inttoptr i64 %vectorcall.at to pointer(i64 (i64, i64, i64, i64))
  %result = call i64 %vectorcall(i64 %fallback, {arguments})
  ret i64 %result
}}
"""


def text() -> str:
    """Return the module's text, for the layout and the LLVM at hand."""
    whole = ''.join((
        _RUN,
        _DIRECT, _END.format(
            output='%argument.value', arguments='i64 %arguments, i64 %given, i64 %names.given'),
        _BOUND, _END.format(output='%array', arguments='i64 0, i64 0, i64 0')))
    return ''.join(_written_out(line) + '\n' for line in whole.splitlines())


def _written_out(line: str) -> str:
    """Return a line with its numbers and types filled in, and as LLVM understands it."""
    line = _FIELD.sub(lambda field: str(getattr(_STRUCTURES[field[1]], field[2]).offset), line)
    line = _NUMBER.sub(lambda number: str(_NUMBERS[number[0]]), line)
    line = _POINTER.sub(lambda function: pointer(function[1]), line)
    line = _READ.sub(lambda read: _read(*read.groups()), line)
    return _WRITE.sub(lambda write: _write(*write.groups()), line)


def _read(value: str, kind: str, place: str, offset: str) -> str:
    return (f'{value}.read = add i64 {place}, {offset}\n'
            f'  {value}.pointer = inttoptr i64 {value}.read to {pointer(kind)}\n'
            f'  {value} = load {kind}, {pointer(kind)} {value}.pointer')


def _write(value: str, place: str) -> str:
    return (f'{place}.pointer = inttoptr i64 {place} to {pointer("i64")}\n'
            f'  store i64 {value}, {pointer("i64")} {place}.pointer')


_STRUCTURES = {'Context': Context, 'Expected': Expected, 'ArrayFields': layout.ArrayFields}

_NUMBERS = {
    'TYPE': layout.TYPE,
    'TUPLE_SIZE': layout.TUPLE_SIZE,
    'TUPLE_ITEMS': layout.TUPLE_ITEMS,
    'BYTES': layout.BYTES,
    'MOST_ARRAYS': MOST_ARRAYS,
    'SIZEOF_EXPECTED': ctypes.sizeof(Expected),
}

_FIELD = re.compile(rf'\b({"|".join(_STRUCTURES)})\.(\w+)')
_NUMBER = re.compile(rf'\b({"|".join(_NUMBERS)})\b')
_POINTER = re.compile(r'pointer\((.*?)\)(?= %|$)')
_READ = re.compile(r'(%\S+) = read (\w+) (%\S+) (\d+)')
_WRITE = re.compile(r'write (%\S+) (%\S+)')
