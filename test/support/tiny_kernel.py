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
"""A kernel small enough to be written by hand: out = factor q + qd for three joints."""

import ctypes

import numpy as np
import pytest
from ros2_rnea.kernels import machine

SHAPES = ((3,), (3,), (3,))
"""Of q, qd and out."""

TOO_LARGE = 1e9
"""Of q's first number; above, the kernel does nothing and says so."""

_TEXT = """
define i64 @one(DOUBLES* %arrays, DOUBLES %context) nounwind {
  %q = getelementptr DOUBLES, DOUBLES* %arrays, i64 0
  %qd = getelementptr DOUBLES, DOUBLES* %arrays, i64 1
  %parameters = getelementptr DOUBLES, DOUBLES* %arrays, i64 2
  %out = getelementptr DOUBLES, DOUBLES* %arrays, i64 3
  %q.data = load DOUBLES, DOUBLES* %q
  %qd.data = load DOUBLES, DOUBLES* %qd
  %parameters.data = load DOUBLES, DOUBLES* %parameters
  %out.data = load DOUBLES, DOUBLES* %out
  %factor = load double, DOUBLES %parameters.data
  %first = load double, DOUBLES %q.data
  %too_large = fcmp ogt double %first, 1.0e9
  br i1 %too_large, label %refuse, label %joint

joint:
  %i = phi i64 [0, %0], [%next, %joint]
  %q.at = getelementptr double, DOUBLES %q.data, i64 %i
  %qd.at = getelementptr double, DOUBLES %qd.data, i64 %i
  %out.at = getelementptr double, DOUBLES %out.data, i64 %i
  %q.i = load double, DOUBLES %q.at
  %qd.i = load double, DOUBLES %qd.at
  %product = fmul double %factor, %q.i
  %sum = fadd double %product, %qd.i
  store double %sum, DOUBLES %out.at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 3
  br i1 %more, label %joint, label %done

done:
  ret i64 0

refuse:
  ret i64 1
}

define i64 @rows(i64 %n, DOUBLES* %arrays, DOUBLES %context) nounwind {
start:
  %row = alloca DOUBLES, i64 4
  %parameters = getelementptr DOUBLES, DOUBLES* %arrays, i64 2
  %parameters.row = getelementptr DOUBLES, DOUBLES* %row, i64 2
  %parameters.data = load DOUBLES, DOUBLES* %parameters
  store DOUBLES %parameters.data, DOUBLES* %parameters.row
  br label %rows

rows:
  %r = phi i64 [0, %start], [%r.next, %last]
  %all = icmp eq i64 %r, %n
  br i1 %all, label %done, label %array

array:
  %a = phi i64 [0, %rows], [%a.next, %array.next]
  %shared = icmp eq i64 %a, 2
  br i1 %shared, label %array.next, label %moved

moved:
  %at = getelementptr DOUBLES, DOUBLES* %arrays, i64 %a
  %row.at = getelementptr DOUBLES, DOUBLES* %row, i64 %a
  %data = load DOUBLES, DOUBLES* %at
  %offset = mul i64 %r, 3
  %row.data = getelementptr double, DOUBLES %data, i64 %offset
  store DOUBLES %row.data, DOUBLES* %row.at
  br label %array.next

array.next:
  %a.next = add i64 %a, 1
  %more = icmp ult i64 %a.next, 4
  br i1 %more, label %array, label %row.call

row.call:
  %status = call i64 @one(DOUBLES* %row, DOUBLES %context)
  %good = icmp eq i64 %status, 0
  br i1 %good, label %last, label %refuse

last:
  %r.next = add i64 %r, 1
  br label %rows

done:
  ret i64 0

refuse:
  ret i64 1
}
"""


def tiny_text():
    """Return the kernel in the text of the LLVM at hand."""
    text = _TEXT.replace('DOUBLES*', machine.pointer(machine.pointer('double')))
    return text.replace('DOUBLES', machine.pointer('double'))


def tiny_kernel():
    """Return the kernel, loaded."""
    return machine.load(machine.compile_object(tiny_text()))


NAMES = ('q', 'qd', 'out')


def call_of(call_type, kernel, parameters, general, shapes=SHAPES, bound=None):
    """Return a call of the kernel, by either of the types."""
    target = kernel, kernel.address('one'), kernel.context, parameters
    return call_type(NAMES, shapes, 2, lambda _: target, general, bound)


class Called(Exception):
    """The general function was called; holds how."""


def general(*arguments, **named):
    """Say how it was called."""
    raise Called(arguments, named)


def check_handed_on(function, positional, named):
    """Check that a call reaches the general function with the same objects."""
    with pytest.raises(Called) as caught:
        function(*positional, **named)
    arguments, keywords = caught.value.args
    assert list(map(id, arguments)) == list(map(id, positional))
    assert list(keywords) == list(named)
    assert all(keywords[name] is named[name] for name in named)


def expected(q, qd, factor):
    """Return what the kernel computes."""
    return factor * np.asarray(q) + np.asarray(qd)


def call_one(kernel, *arrays):
    """Call a kernel without any check."""
    pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    one = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
        kernel.address('one'))
    return one(pointers, kernel.context)
