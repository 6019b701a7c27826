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
Machine code from LLVM's text, and its way into this process.

Only this module calls llvmlite.  It may be missing, and any version from 0.38 on will do.  Newer
LLVMs have no typed pointers: what writes their text asks :func:`pointer`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
import functools
import inspect
from typing import TypeVar

from ros2_rnea.errors import CompilerError

try:
    import llvmlite
    import llvmlite.binding as llvm
except (ImportError, OSError):  # not installed, or without the LLVM that it was built for
    llvmlite = llvm = None


_Emitted = TypeVar('_Emitted', str, bytes)


@dataclass(frozen=True)
class Target:
    """
    A kind of CPU.

    :ivar features: as LLVM writes them, such as ``+avx2,+fma,-avx512f``.
    """

    triple: str
    cpu: str
    features: str = ''

    @property
    def width(self) -> int:
        """Return how many doubles its registers hold; at least 1."""
        if self.architecture == 'aarch64':
            return 2
        if self.architecture != 'x86_64':
            return 1
        if self._has('avx512f', 'avx512dq', 'avx512vl'):
            return 8
        return 4 if self._has('avx2', 'fma') else 2

    @property
    def fused(self) -> bool:
        """Return whether it has fused multiply-add; else ``llvm.fma`` calls the C library."""
        return self.architecture == 'aarch64' or (
            self.architecture == 'x86_64' and self._has('fma'))

    @property
    def architecture(self) -> str:
        """Return the triple's first part, by one name on all systems."""
        name = self.triple.split('-')[0]
        return {'amd64': 'x86_64', 'arm64': 'aarch64'}.get(name, name)

    def _has(self, *features: str) -> bool:
        return {f'+{feature}' for feature in features} <= set(self.features.split(','))


X86_64 = Target('x86_64-unknown-linux-gnu', 'x86-64')
X86_64_AVX2 = Target('x86_64-unknown-linux-gnu', 'x86-64', '+avx2,+fma')
X86_64_AVX512 = Target(
    'x86_64-unknown-linux-gnu', 'x86-64', '+avx2,+fma,+avx512f,+avx512dq,+avx512vl')
AARCH64 = Target('aarch64-unknown-linux-gnu', 'generic', '+neon')


class Loaded:
    """Machine code in memory; its addresses are valid while this object exists."""

    context = 0  # it needs none

    def __init__(self, engine: llvm.ExecutionEngine) -> None:
        self._engine = engine
        self._addresses: dict[str, int] = {}

    def address(self, name: str) -> int:
        """
        Return where a function starts; LLVM is asked at the first time only.

        :raises CompilerError: where there is none of that name.
        """
        address = self._addresses.get(name)
        if address is None:
            address = self._engine.get_function_address(name)
            if not address:
                raise CompilerError(f'the machine code has no function {name!r}')
            self._addresses[name] = address
        return address


def available() -> bool:
    """Return whether llvmlite is available to compile machine code."""
    return llvm is not None


def pointer(to: str) -> str:
    """Return the type of pointers to a type: ``ptr``, or ``double*`` for LLVM up to 14."""
    return f'{to}*' if _typed_pointers() else 'ptr'


def _typed_pointers() -> bool:
    if not available():
        return False
    # LLVM 15 knows both, and llvmlite lets its user choose.
    return llvm.llvm_version_info[0] < 15 or not getattr(
        llvmlite, 'opaque_pointers_enabled', True)


@functools.cache
def host() -> Target:
    """
    Return the CPU of this machine.

    :raises CompilerError: without llvmlite.
    """
    _needs_llvmlite()
    triple = llvm.get_process_triple()
    try:
        return Target(
            triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # old LLVM does not read them on every system
        return Target(triple, '')


def portable(target: Target) -> tuple[Target, ...]:
    """
    Return targets to ship machine code for that runs on a CPU and on many others, the best first.

    On x86_64 these are the CPUs with AVX2 and FMA, since about 2015, and all CPUs; on aarch64
    those with NEON.  For another architecture it is the target itself.
    """
    common = {
        'x86_64': (X86_64_AVX2, X86_64), 'aarch64': (AARCH64,)}.get(target.architecture, (target,))
    return tuple(
        replace(target, cpu=each.cpu, features=each.features)
        for each in common if each.width <= target.width)


def identity(target: Target) -> tuple[str, ...]:
    """Return what machine code depends on besides its source, as parts of a cache key."""
    _needs_llvmlite()
    version = '.'.join(map(str, llvm.llvm_version_info))
    return (llvmlite.__version__, version, target.triple, target.cpu, target.features)


def compile_object(text: str, target: Target | None = None) -> bytes:
    """
    Return the object file of a module in LLVM's text.

    LLVM's passes over the text are left out: on large robots they take seconds, and find nothing
    to do in what has been folded already.

    :param target: the CPU to compile for; None for the one at hand.
    :raises CompilerError: where LLVM does not take the text or the target; without llvmlite.
    """
    target = target or host()
    return _emitted(text, target, _machine(target).emit_object)


def assembly(text: str, target: Target) -> str:
    """
    Return the same machine code as readable assembly.

    :raises CompilerError: as :func:`compile_object`.
    """
    return _emitted(text, target, _machine(target).emit_assembly)


def load(machine_code: bytes) -> Loaded:
    """
    Return an object file's functions, ready to be called.

    :param machine_code: what :func:`compile_object` returned for this CPU, here or earlier.
    :raises CompilerError: where it is no object file; without llvmlite.
    """
    machine = _machine(host())
    file = llvm.ObjectFileRef.from_data(machine_code)
    if not file:
        raise CompilerError(f'{len(machine_code)} bytes are no object file')
    empty = llvm.parse_assembly('')  # of a context that outlives the engine
    engine = llvm.create_mcjit_compiler(empty, machine, **({'use_lmm': True} if _near() else {}))
    engine.add_object_file(file)
    engine.finalize_object()
    return Loaded(engine)


def _emitted(
        text: str, target: Target, emit: Callable[[llvm.ModuleRef], _Emitted]) -> _Emitted:
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        module.triple = target.triple
        module.verify()
        return emit(module)
    except RuntimeError as error:
        raise CompilerError(f'LLVM does not take the text of a kernel: {error}') from error


def _machine(target: Target) -> llvm.TargetMachine:
    _needs_llvmlite()
    _initialize(target.triple == llvm.get_process_triple())
    try:
        return llvm.Target.from_triple(target.triple).create_target_machine(
            target.cpu, target.features, opt=2, jit=True,
            reloc='pic' if _near() else 'default', codemodel='small' if _near() else 'jitdefault')
    except RuntimeError as error:
        raise CompilerError(f'LLVM cannot compile for {target}: {error}') from error


@functools.cache
def _near() -> bool:
    """
    Return whether llvmlite can place code and constants close to each other.

    Then each constant is one operand, which makes batches up to a fifth faster; otherwise its
    address has to be spelt out first, since it may lie anywhere.
    """
    return 'use_lmm' in inspect.signature(llvm.create_mcjit_compiler).parameters


@functools.cache
def _initialize(native: bool) -> None:
    try:
        llvm.initialize()
    except RuntimeError:  # newer versions do that by themselves, and say so
        pass
    if native:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()


def _needs_llvmlite() -> None:
    if not available():
        raise CompilerError('llvmlite is not installed; with it, robots are compiled '
                            '(apt install python3-llvmlite, or pip install llvmlite)')
