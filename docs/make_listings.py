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
Write docs/listings: what docs/kernel-of-a-pendulum.rst shows of a kernel's way to machine code.

Run it after a change to what kernels are made of: ``PYTHONPATH=. python docs/make_listings.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
import re
import struct

from ros2_rnea.dynamics.quantities import INVERSE_DYNAMICS
from ros2_rnea.kernels import llvm, machine
from ros2_rnea.kernels.graph import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    Graph,
    INPUT,
    MULTIPLY,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
)
from ros2_rnea.kernels.tracing import Trace, trace, Variant
from ros2_rnea.model.reduction import with_axes_along_z, with_regrouped_inertia
from ros2_rnea.model.tree import build_tree, Tree
from ros2_rnea.model.urdf import parse_urdf

FOLDER = Path(__file__).parent / 'listings'
CPU = machine.X86_64_AVX2


def main() -> None:
    """Write the files."""
    for name, text in listings().items():
        (FOLDER / name).write_text(text, encoding='utf-8')


def listings() -> dict[str, str]:
    """Return what each file holds."""
    urdf = (FOLDER / 'pendulum.urdf').read_text(encoding='utf-8')
    tree = build_tree(parse_urdf(urdf))
    traced = trace(tree, INVERSE_DYNAMICS, Variant())
    one, rows = llvm.one(traced, CPU), llvm.rows(traced, CPU)
    return {
        'trees.csv': trees_as_csv(tree),
        'graph.txt': graph_as_text(traced),
        'one.ll': with_names(with_constants(one), traced),
        'one.s': assembly(one, 'one'),
        'rows.s': assembly(rows, 'rows'),
    }


# ---- the tree -----------------------------------------------------------------------------------


def trees_as_csv(tree: Tree) -> str:
    """Return the pendulum's body as the URDF has it, and after each step of the reduction."""
    turned = with_axes_along_z(tree)
    bodies = [tree.bodies[0], turned.bodies[0], with_regrouped_inertia(turned).bodies[0]]
    table = {
        '': ['of the URDF', 'axis along z', 'inertia regrouped'],
        'axis': [_numbers(body.axis) for body in bodies],
        'mass m [kg]': [f'{body.inertia.m:g}' for body in bodies],
        'first moment h [kg m]': [_numbers(body.inertia.h) for body in bodies],
        'inertia xx yy zz [kg m²]': [
            _numbers(row[i] for i, row in enumerate(map(tuple, body.inertia.I_origin.rows)))
            for body in bodies],
    }
    return ''.join(f'{",".join([name, *cells])}\n' for name, cells in table.items())


def _numbers(numbers: Iterable[float]) -> str:
    return ' '.join(f'{number + 0.0:g}' for number in numbers)


# ---- the graph ----------------------------------------------------------------------------------

FORMS = {
    INPUT: '{}[{}]', ADD: '{} + {}', SUBTRACT: '{} - {}', MULTIPLY: '{} * {}', DIVIDE: '{} / {}',
    SINE: 'sin({})', COSINE: 'cos({})', SQUARE_ROOT: 'sqrt({})'}


def graph_as_text(traced: Trace) -> str:
    """Return a line for each node that the output needs; constants stand where they are used."""
    graph, (output,) = traced.graph, traced.outputs
    lines = []
    for node in graph.needed([output]):
        kind, left, right = graph.operations[node]
        if kind != CONSTANT:
            operands = [_name(graph, each) for each in graph.operands(node)] or [left, right]
            lines.append(f'n{node} = {FORMS[kind].format(*operands)}')
    return '\n'.join([*lines, f'output = {"-" * output.negative}n{output.node}', ''])


def _name(graph: Graph, node: int) -> str:
    kind, value, _ = graph.operations[node]
    return repr(value) if kind == CONSTANT else f'n{node}'


# ---- machine code -------------------------------------------------------------------------------


def assembly(text: str, function: str) -> str:
    """Return a function's machine code as a disassembler would show it, constants as comments."""
    code = machine.assembly(text, CPU)
    constants = dict(re.findall(r'^(\.LCPI\w+):\n\t\.quad\t0x(\w+)', code, re.MULTILINE))
    lines = [f'# by LLVM {llvm_version()}']
    for line in code[code.index(f'\n{function}:') + 1:].splitlines():
        if not line or line.startswith(('\t.', '\t#', '.Lfunc')):
            continue  # what is told to the linker
        bits = [constants[name] for name in re.findall(r'\.LCPI\w+', line) if name in constants]
        lines.append(_commented(line.split('#')[0].rstrip().expandtabs(), '#', bits))
    return '\n'.join([*lines, ''])


def llvm_version() -> str:
    """Return the version of LLVM, which decides how machine code looks."""
    _, version, *_ = machine.identity(CPU)
    return version


# ---- comments -----------------------------------------------------------------------------------


def with_constants(text: str) -> str:
    """Return LLVM's text with comments that tell constants as decimal numbers."""
    return ''.join(_commented(line, ';', re.findall(r'0x([0-9A-F]{16})', line)) + '\n'
                   for line in text.splitlines())


def with_names(text: str, traced: Trace) -> str:
    """Return LLVM's text with comments that tell which array a pointer is of."""
    names = [*(name for name, _ in traced.inputs), llvm.OUTPUT]
    return re.sub(r'^(.*%arguments, i64 (\d+))$',
                  lambda match: f'{match[1]}  ; {names[int(match[2])]}', text, flags=re.MULTILINE)


def _commented(line: str, sign: str, constants: Iterable[str]) -> str:
    values = [struct.unpack('>d', bytes.fromhex(bits))[0] for bits in constants]
    shown = ', '.join(f'{value:.6g}' for value in values if not isnan(value))
    return f'{line}  {sign} {shown}' if shown else line


if __name__ == '__main__':
    main()
