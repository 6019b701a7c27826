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
"""Machine code reads objects only where they lie as expected; elsewhere the safe way is taken."""

import ctypes
import sys

import numpy as np
import pytest
from ros2_rnea.kernels import layout, machine
from ros2_rnea.kernels.cache import open_cache
from ros2_rnea.kernels.entry import Entries, open_entries
from tiny_kernel import fallback, SHAPES, tiny_kernel

pytestmark = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')


class Subclass(np.ndarray):
    """An array that is not exactly an array."""


def test_layout_is_as_expected_on_common_builds():
    gil = not layout.sysconfig.get_config_var('Py_GIL_DISABLED')
    common = sys.implementation.name == 'cpython' and gil and not hasattr(sys, 'gettotalrefcount')
    assert layout.is_as_expected() == (common and ctypes.sizeof(ctypes.c_void_p) == 8)


@pytest.mark.parametrize('first, second', [
    ('data', 'shape'), ('data', 'strides'), ('shape', 'strides'), ('strides', 'base'),
    ('base', 'dtype'), ('ndim', 'flags'), ('data', 'dtype')])
def test_arrays_that_lie_otherwise_are_noticed(monkeypatch, first, second):
    fields = dict(layout.ArrayFields._fields_)
    order = [{first: second, second: first}.get(name, name) for name in fields]

    class Other(ctypes.Structure):
        _fields_ = [(name, fields[name]) for name in order]

    assert all(map(layout.array_is_as_expected, layout._samples()))
    monkeypatch.setattr(layout, 'ArrayFields', Other)
    assert not all(map(layout.array_is_as_expected, layout._samples()))


@pytest.mark.parametrize('flag', ['C_CONTIGUOUS', 'ALIGNED', 'WRITEABLE'])
def test_flags_that_mean_otherwise_are_noticed(monkeypatch, flag):
    monkeypatch.setattr(layout, flag, 0x2)
    assert not all(map(layout.array_is_as_expected, layout._samples()))


@pytest.mark.parametrize('place', ['TUPLE_ITEMS', 'TUPLE_SIZE', 'BYTES', 'TYPE'])
def test_places_that_have_moved_are_noticed(monkeypatch, place):
    monkeypatch.setattr(layout, place, getattr(layout, place) - 8)
    assert not layout.is_as_expected.__wrapped__()


@pytest.mark.parametrize('change', [
    lambda patch: patch.setattr(layout.sysconfig, 'get_config_var', lambda name: 1),
    lambda patch: patch.setattr(sys, 'gettotalrefcount', int, raising=False),
    lambda patch: patch.setattr(layout, '_samples', lambda: [np.zeros(3).view(Subclass)]),
], ids=['free-threaded', 'debug build', 'other arrays'])
def test_elsewhere_the_safe_way_is_taken(monkeypatch, change):
    with monkeypatch.context() as patch:
        change(patch)
        expected = layout.is_as_expected.__wrapped__()
    assert not expected
    monkeypatch.setattr(layout, 'is_as_expected', lambda: expected)
    assert type(open_entries(open_cache(environment={}))) is Entries


def test_code_is_compiled_once_and_then_comes_from_the_cache(monkeypatch, tmp_path, arrays):
    kernel = tiny_kernel()
    open_entries(open_cache(tmp_path))
    monkeypatch.setattr(machine, 'compile_object', lambda *_: pytest.fail('compiled again'))
    direct = open_entries(open_cache(tmp_path)).direct_call(
        kernel, SHAPES, ('out',), np.ones(1), fallback)
    q, qd, out = arrays
    assert direct(q, qd, out=out) is out
