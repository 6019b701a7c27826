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
"""Machine code is made for every kind of CPU, in any LLVM, and runs where it was made for."""

import hashlib
import struct
import subprocess
import sys

from elf import undefined_symbols
import numpy as np
import pytest
from repository import ROOT
from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels import machine
from tiny_kernel import call_one, tiny_kernel, tiny_text

pytestmark = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')

# target, lanes, whether fused; what code for each of them is like stands in test_llvm.py
TARGETS = {
    'x86-64': (machine.X86_64, 2, False),
    'AVX2': (machine.X86_64_AVX2, 4, True),
    'AVX-512': (machine.X86_64_AVX512, 8, True),
    '64-bit Arm': (machine.AARCH64, 2, True),
}
for_each_target = pytest.mark.parametrize('target, width, fused', TARGETS.values(), ids=TARGETS)


def multiply_and_add(width, intrinsic='fmuladd'):
    """Return the text of a kernel that computes x x + x in all lanes at once."""
    lanes = f'<{width} x double>'
    pointer = machine.pointer(lanes)
    function = f'@llvm.{intrinsic}.v{width}f64'
    return f"""
declare {lanes} {function}({lanes}, {lanes}, {lanes})

define i64 @one({machine.pointer(pointer)} %arrays) nounwind {{
  %x = load {pointer}, {machine.pointer(pointer)} %arrays
  %value = load {lanes}, {pointer} %x, align 8
  %result = call {lanes} {function}({lanes} %value, {lanes} %value, {lanes} %value)
  store {lanes} %result, {pointer} %x, align 8
  ret i64 0
}}
"""


def constant_kernel(number):
    """Return the text of a kernel that writes a number."""
    double = machine.pointer('double')
    doubles = machine.pointer(double)
    return f"""
define i64 @one({doubles} %arrays) nounwind {{
  %out = load {double}, {doubles} %arrays
  %twice = load double, {double} %out
  %sum = fadd double %twice, 0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}
  store double %sum, {double} %out
  ret i64 0
}}
"""


@for_each_target
def test_target_says_what_it_can(target, width, fused):
    assert (target.width, target.fused) == (width, fused)


@for_each_target
def test_fma_calls_the_c_library_without_fused_instructions(target, width, fused):
    code = machine.compile_object(multiply_and_add(width, 'fma'), target)
    assert undefined_symbols(code) == (set() if fused else {'fma'})


def test_constants_are_operands_where_they_can_be_put_near():
    if not machine._near():
        pytest.skip('this llvmlite may put them anywhere')
    assert 'movabs' not in machine.assembly(constant_kernel(0.1), machine.X86_64)


@pytest.mark.parametrize('triple, features, width', [
    ('x86_64-pc-linux-gnu', '', 2),
    ('x86_64-pc-linux-gnu', '+avx2,-fma', 2),
    ('x86_64-pc-linux-gnu', '+avx2,+fma,+avx512f,-avx512dq,+avx512vl', 4),
    ('arm64-apple-darwin', '', 2),
    ('riscv64-unknown-linux-gnu', '', 1),
])
def test_width_is_what_the_features_say(triple, features, width):
    assert machine.Target(triple, '', features).width == width


def test_host_runs_code_made_for_it_in_all_lanes():
    width = machine.host().width
    x = np.arange(width, dtype=float)
    assert call_one(machine.load(machine.compile_object(multiply_and_add(width))), x) == 0
    assert x.tolist() == [i * i + i for i in range(width)]


def test_functions_of_one_name_in_several_kernels_are_apart():
    kernels = [machine.load(machine.compile_object(constant_kernel(n))) for n in (0.1, 0.2, 0.3)]
    out = np.zeros(1)
    for kernel in kernels:
        call_one(kernel, out)
    assert out[0] == 0.1 + 0.2 + 0.3


PROGRAM = """
import hashlib, sys
sys.path.insert(0, 'test/support')
from ros2_rnea.kernels import machine
from tiny_kernel import tiny_text
print(hashlib.sha256(machine.compile_object(tiny_text())).hexdigest())
"""


def test_code_holds_no_address_of_its_process():
    elsewhere = subprocess.run(
        [sys.executable, '-c', PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    here = hashlib.sha256(machine.compile_object(tiny_text())).hexdigest()
    assert elsewhere.stdout.strip() == here


@pytest.mark.parametrize('mistake, said', {
    'text': (lambda: machine.compile_object('define nonsense'), 'does not take the text'),
    'text for people': (lambda: machine.assembly('nonsense', machine.X86_64), 'not take the text'),
    'type': (lambda: machine.compile_object('define i64 @f() { ret double 0.0 }'), 'not take'),
    'target': (lambda: machine.compile_object('', machine.Target('pdp11', '')), 'pdp11'),
    'object': (lambda: machine.load(b'nonsense'), '8 bytes are no object file'),
    'nothing': (lambda: machine.load(b''), '0 bytes are no object file'),
    'torn': (lambda: machine.load(machine.compile_object(tiny_text())[:99]), '99 bytes'),
    'name': (lambda: tiny_kernel().address('two'), "no function 'two'"),
}.values(), ids=lambda value: '')
def test_mistake_is_named(mistake, said):
    with pytest.raises(CompilerError, match=said):
        mistake()


def test_what_code_depends_on_tells_cpus_apart():
    identities = {machine.identity(target) for target, *_ in TARGETS.values()}
    assert len(identities) == len(TARGETS)
    assert machine.llvmlite.__version__ in machine.identity(machine.host())


WITHOUT = """
import sys
sys.modules['llvmlite'] = None
from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels import call, machine
print(machine.available())
for function in (machine.host, lambda: machine.load(b''), lambda: machine.compile_object('')):
    try:
        function()
    except CompilerError as error:
        print(error)
"""


def test_without_llvmlite_everything_imports_and_says_what_to_install():
    result = subprocess.run(
        [sys.executable, '-c', WITHOUT], cwd=ROOT, capture_output=True, text=True, check=True)
    available, *messages = result.stdout.splitlines()
    assert available == 'False'
    assert len(messages) == 3 and all('pip install llvmlite' in line for line in messages)


# --- what is common to many CPUs

@pytest.mark.parametrize('target, common', [
    (machine.Target('x86_64-linux', 'znver5', '+sse2,+avx2,+fma,+avx512f'),
     [machine.X86_64_AVX2, machine.X86_64]),
    (machine.Target('x86_64-linux', 'nehalem', '+sse2'), [machine.X86_64]),
    (machine.Target('aarch64-linux', 'cortex-a76', '+neon,+sve'), [machine.AARCH64]),
])
def test_portable_code_is_for_what_many_cpus_have(target, common):
    portable = machine.portable(target)
    assert [(each.cpu, each.features) for each in portable] == [
        (each.cpu, each.features) for each in common]
    for each in portable:
        assert each.triple == target.triple
        assert each.width <= target.width and (target.fused or not each.fused)


def test_portable_code_of_unknown_architecture_is_the_machines_own():
    riscv = machine.Target('riscv64-unknown-linux-gnu', 'sifive-u74', '+d')
    assert machine.portable(riscv) == (riscv,)
