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
Traced quantities as C99, for one robot: a source and a header that need libm and nothing else.

A quantity is one function of straight-line code.  It allocates nothing, changes nothing but its
output, and reads the parameters from an array that the caller passes, so that they may change.
Every name begins with a prefix.  A self-test compares what a compiler made of it with efforts that
were computed by the textbook's functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf, prod
import re

import numpy as np
from ros2_rnea.dynamics.quantity import DynamicsInputs, Quantity, WRENCHES
from ros2_rnea.errors import ArgumentError
from ros2_rnea.export.model import meaning, Model, Parameter
from ros2_rnea.export.tape import INPUTS
from ros2_rnea.kernels.graph import (
    ADD,
    CONSTANT,
    COSINE,
    DIVIDE,
    Expression,
    Graph,
    INPUT,
    MULTIPLY,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    Symbol,
)
from ros2_rnea.kernels.tracing import PARAMETERS, Trace
from ros2_rnea.robots.robot import Robot
from ros2_rnea.spatial import Force, Vector

FORMS = {
    ADD: '{} + {}', SUBTRACT: '{} - {}', MULTIPLY: '{} * {}', DIVIDE: '{} / {}',
    SINE: 'sin{real}({})', COSINE: 'cos{real}({})', SQUARE_ROOT: 'sqrt{real}({})'}

GOLDEN_STATES = 3
"""So many states does the self-test compute."""

WIDTH = 99
OUTPUT = 'out'


@dataclass(frozen=True)
class Style:
    """
    How names and numbers are written.

    :ivar prefix: of all names.
    :ivar is_float: whether numbers are ``float`` and not ``double``.
    """

    prefix: str
    is_float: bool = False

    @property
    def real(self) -> str:
        """Return the type of all numbers."""
        return 'float' if self.is_float else 'double'

    @property
    def suffix(self) -> str:
        """Return the last letter of constants and of the functions of libm."""
        return 'f' if self.is_float else ''

    def name(self, text: str) -> str:
        """Return a text as the name of a function or an array."""
        return f'{self.prefix}_{identifier(text)}'

    def macro(self, text: str) -> str:
        """Return a text as the name of a constant."""
        return self.name(text).upper()

    def number(self, value: float) -> str:
        """Return a number as a constant."""
        rounded = np.float32(value) if self.is_float else float(value)
        if isinf(rounded):
            return f'{"-" if rounded < 0 else ""}HUGE_VAL{self.suffix.upper()}'
        return f'{rounded!s}{self.suffix}'

    def numbers(self, values: Iterable[float]) -> str:
        """Return the initializer of an array, in lines."""
        return _filled(map(self.number, values), '    ')


def identifier(text: str) -> str:
    """Return a text as a name in C, in lower case."""
    name = re.sub(r'\W+', '_', text, flags=re.ASCII).strip('_').lower()
    return name if name and not name[0].isdigit() else f'robot_{name}'.rstrip('_')


def c_files(
        robot: Robot, model: Model, quantities: Sequence[Quantity], traces: Mapping[str, Trace],
        style: Style, example: bool = False) -> dict[str, str]:
    """
    Return the files of a robot in C by their names: source, header, and a program that uses them.

    :param model: of the robot with these traces.
    :raises ArgumentError: where no joint moves, or two quantities would get one name.
    """
    if not model.joints:
        raise ArgumentError(f'{model.name!r} has no joint that moves, and no dynamics')
    names: dict[str, str] = {}
    for quantity in traces:
        other = names.setdefault(style.name(quantity), quantity)
        if other != quantity:
            raise ArgumentError(
                f'{other!r} and {quantity!r} would both be {style.name(quantity)} in C: rename a '
                'link')
    golden = [*_golden(robot, quantities, traces)]
    files = {
        f'{style.prefix}.h': _header(model, traces, style),
        f'{style.prefix}.c': '\n'.join((
            _head(model), f'#include "{style.prefix}.h"\n\n#include <math.h>\n',
            *_data(model, style),
            *(_function(name, each, style) for name, each in traces.items()),
            _self_test(model, golden, style)))}
    if example:
        files['main.c'] = _example(robot, model, traces, style)
    return files


# ---- the header ---------------------------------------------------------------------------------


def _header(model: Model, traces: Mapping[str, Trace], style: Style) -> str:
    guard, real = style.macro('h'), style.real
    sizes = {'NQ': model.nq, 'NV': model.nv, 'JOINTS': len(model.joints),
             'BODIES': len(model.bodies), 'PARAMETERS': len(model.values)}
    return '\n'.join((
        _head(model),
        f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n',
        'enum {',
        ',\n'.join(f'  {style.macro(name)} = {size}' for name, size in sizes.items()),
        '};\n',
        *_joint_comment(model),
        f'typedef struct {{\n  const char *name;\n  {real} lower, upper, velocity, effort;'
        f'  /* HUGE_VAL: no limit */\n}} {style.name("joint")};',
        f'extern const {style.name("joint")} {style.name("joints")}[{style.macro("joints")}];\n',
        '/* The bodies, by the links whose frames are theirs. */',
        f'extern const char *const {style.name("bodies")}[{style.macro("bodies")}];\n',
        '/*\n * Where parameters are in the array that each function takes.  Those of bodies are '
        'in the\n * order of the bodies; a joint is that which carries the body.  A payload has '
        'mass, mass\n * times centre (x, y, z), and inertia about the origin of the link (xx, xy, '
        'xz, yy, yz,\n * zz), in its axes.\n */',
        'enum {',
        ',\n'.join(_parameter_line(each, style) for each in model.parameters),
        '};\n',
        '/* Their values as they were exported: pass this array, or a copy with other numbers. */',
        f'extern const {real} {style.name("parameters")}[{style.macro("parameters")}];\n',
        *(_declaration(name, each, style) for name, each in traces.items()),
        '/*\n * Returns the largest deviation of all functions from the library, for '
        f'{GOLDEN_STATES} states: relative to\n * the largest number of the result, as a rule '
        f'{"less than 1e-4" if style.is_float else "less than 1e-12"}.\n */',
        f'{real} {style.name("self_test")}(void);\n',
        '#ifdef __cplusplus\n}\n#endif\n\n#endif\n'))


def _head(model: Model) -> str:
    return (f'/*\n * {_plain(model.name)}: written by {_plain(model.writer)}; do not edit.\n'
            f' * SHA-256 of the description:\n * {model.description_hash}\n */\n')


def _joint_comment(model: Model) -> Iterator[str]:
    yield '/*\n * The joints, with the places of their positions in q and velocities in v:'
    for joint in model.joints:
        (q, nq), (v, nv) = joint.q, joint.v
        yield (f' *   {_plain(joint.name)} ({joint.type}): q[{q}..{q + nq - 1}], '
               f'v[{v}..{v + nv - 1}] [{joint.unit}]')
    yield (' * A floating joint has q = (x, y, z, qx, qy, qz, qw) and v = (angular; linear) in '
           'the axes of\n * its body, a spherical one the angular part of both, a planar one q = '
           '(x, y, theta).\n */')


def _parameter_line(parameter: Parameter, style: Style) -> str:
    unread = '' if parameter.is_read else '; no function reads it'
    by_body = f'{parameter.width} for each body' if parameter.width else f'{parameter.count}'
    return (f'  {style.macro(f"first_{parameter.name}")} = {parameter.first}'
            f' /* {by_body} [{parameter.unit}]{unread} */')


UNITS = {
    'q': ('NQ', 'positions [rad or m]'), 'qd': ('NV', 'velocities [rad/s or m/s]'),
    'qdd': ('NV', 'accelerations [rad/s^2 or m/s^2]'), 'tau': ('NV', 'efforts [Nm or N]'),
    WRENCHES: ('BODIES', 'moment [Nm] and force [N] on each body, in the axes of its link'),
    PARAMETERS: ('PARAMETERS', 'see above')}
"""The size of each input and what it is."""


def _arguments(trace: Trace, style: Style) -> str:
    """Return the parameters of a function in C."""
    arrays = [
        f'const {style.real} {name}[{"6 * " if name == WRENCHES else ""}'
        f'{style.macro(UNITS[name][0])}]' for name, _ in trace.inputs]
    return ', '.join((*arrays, f'{style.real} {OUTPUT}[{len(trace.outputs)}]'))


def _signature(name: str, trace: Trace, style: Style) -> str:
    arguments = _arguments(trace, style).split(', ')
    return f'int {style.name(name)}(\n{_filled(arguments, "    ")})'


def _declaration(name: str, trace: Trace, style: Style) -> str:
    sentence, unit = meaning(name)
    returns = (
        'Returns 0; or 1, and leaves out as it was, where a quaternion is not of length 1 or a\n'
        ' * result is not plausible.' if trace.guards else 'Returns 0.')
    return '\n'.join((
        f'/*\n * {_plain(sentence)}.\n *',
        *(f' *   {array}: {UNITS[array][1]}' for array, _ in trace.inputs),
        f' *   {OUTPUT}: {" x ".join(map(str, trace.shape))} numbers, row by row [{unit}]; not '
        f'one of the inputs\n *\n * {returns}\n */',
        f'{_signature(name, trace, style)};\n'))


# ---- the source ---------------------------------------------------------------------------------


def _data(model: Model, style: Style) -> Iterator[str]:
    rows = [f'    {{{_text(joint.name)}, {", ".join(map(style.number, joint.limits))}}}'
            for joint in model.joints]
    yield f'const {style.name("joint")} {style.name("joints")}[{style.macro("joints")}] = {{'
    yield ',\n'.join(rows) + '};\n'
    yield f'const char *const {style.name("bodies")}[{style.macro("bodies")}] = {{'
    yield ',\n'.join(f'    {_text(body.link)}' for body in model.bodies) + '};\n'
    yield f'const {style.real} {style.name("parameters")}[{style.macro("parameters")}] = {{'
    yield style.numbers(model.values) + '};\n'


def _function(name: str, trace: Trace, style: Style) -> str:
    graph = trace.graph
    guards = [guard.value for guard in trace.guards]
    order = graph.scheduled((*trace.outputs, *guards))
    lines = [
        f'  const {style.real} n{node} = '
        + FORMS[kind].format(*(_node(graph, each, style) for each in graph.operands(node)),
                             real=style.suffix) + ';'
        for node in order if (kind := graph.operations[node].kind) in FORMS]
    read = {graph.operations[node].left for node in order if graph.operations[node].kind == INPUT}
    lines = [*(f'  (void){array};' for array, _ in trace.inputs if array not in read), *lines]
    for guard in trace.guards:
        value = f'fabs{style.suffix}({_expression(graph, guard.value, style)})'
        bound = style.number(guard.bound)
        beyond = f'!({value} <= {bound})' if guard.nan else f'{value} > {bound}'
        lines.append(f'  if ({beyond}) return 1;')
    lines += [f'  {OUTPUT}[{place}] = {_expression(graph, output, style)};'
              for place, output in enumerate(trace.outputs)]
    return '\n'.join((f'{_signature(name, trace, style)} {{', *lines, '  return 0;\n}\n'))


def _expression(graph: Graph, expression: Expression, style: Style) -> str:
    if not isinstance(expression, Symbol):
        return style.number(expression)
    return f'{"-" if expression.negative else ""}{_node(graph, expression.node, style)}'


def _node(graph: Graph, node: int, style: Style) -> str:
    kind, left, right = graph.operations[node]
    if kind == CONSTANT:
        return style.number(left)
    return f'{left}[{right}]' if kind == INPUT else f'n{node}'


# ---- the self-test ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Golden:
    """What a function has to return for each of the states, and the arrays that it takes."""

    name: str
    inputs: tuple[str, ...]
    states: tuple[Mapping[str, Sequence[float]], ...]
    expected: tuple[Sequence[float], ...]


def _golden(
        robot: Robot, quantities: Iterable[Quantity], traces: Mapping[str, Trace],
        ) -> Iterator[_Golden]:
    rng = np.random.default_rng(0)
    bodies = len(robot.tree.bodies)
    states = []
    for _ in range(GOLDEN_STATES):
        turn, qd, qdd, tau = rng.uniform(-1.5, 1.5, (4, robot.nv))
        states.append({
            'q': robot.integrate(robot.neutral(), turn).tolist(), 'qd': qd.tolist(),
            'qdd': qdd.tolist(), 'tau': tau.tolist(),
            WRENCHES: rng.uniform(-5.0, 5.0, 6 * bodies).tolist()})
    gravity = Vector(*robot.parameter_values[:3].tolist())
    for quantity in quantities:
        inputs = tuple(name for name, _ in traces[quantity.name].inputs)
        expected = []
        for state in states:
            wrenches = np.reshape(state[WRENCHES], (bodies, 6)).tolist()
            numbers = quantity.compute(robot.tree, DynamicsInputs(
                **{name: state[name] for name in quantity.inputs}, gravity=gravity,
                f_ext={index: Force(Vector(*wrench[:3]), Vector(*wrench[3:]))
                       for index, wrench in enumerate(wrenches)} if WRENCHES in inputs else {}))
            expected.append(np.ravel(np.array(numbers, float)).tolist())
        yield _Golden(quantity.name, inputs, tuple(states), tuple(expected))


def _self_test(model: Model, golden: Sequence[_Golden], style: Style) -> str:
    real, table = style.real, f'[{GOLDEN_STATES}]'
    used = [name for name in INPUTS if name != PARAMETERS
            and any(name in each.inputs for each in golden)]
    largest = max(len(each.expected[0]) for each in golden)
    arrays = [
        f'  static const {real} {name}{table}[{len(golden[0].states[0][name])}] = {{\n'
        + ',\n'.join(f'    {{{style.numbers(state[name]).strip()}}}'
                     for state in golden[0].states) + '};'
        for name in used]
    arrays += [
        f'  static const {real} expected_{number}{table}[{len(each.expected[0])}] = {{\n'
        + ',\n'.join(f'    {{{style.numbers(numbers).strip()}}}' for numbers in each.expected)
        + '};'
        for number, each in enumerate(golden)]
    calls = []
    for number, each in enumerate(golden):
        passed = [style.name(PARAMETERS) if name == PARAMETERS else f'{name}[i]'
                  for name in each.inputs]
        calls.append(
            f'    largest = worse(\n        largest, {style.name(each.name)}('
            f'{", ".join((*passed, OUTPUT))}),\n        out, expected_{number}[i], '
            f'{len(each.expected[0])});')
    zero, huge = style.number(0.0), f'HUGE_VAL{style.suffix.upper()}'
    return '\n'.join((
        f'static {real} worse({real} before, int status, const {real} *out, const {real} '
        '*expected, int count) {',
        f'  {real} scale = {zero}, largest = {zero};',
        '  int i;',
        f'  if (status) return {huge};',
        '  for (i = 0; i < count; ++i) {',
        f'    const {real} deviation = fabs{style.suffix}(out[i] - expected[i]);',
        f'    if (!(deviation < {huge})) return {huge};  /* not a number */',
        '    if (deviation > largest) largest = deviation;',
        f'    if (fabs{style.suffix}(expected[i]) > scale) scale = fabs{style.suffix}('
        'expected[i]);',
        '  }',
        f'  if (scale > {zero}) largest /= scale;',
        '  return largest > before ? largest : before;',
        '}\n',
        f'{real} {style.name("self_test")}(void) {{',
        *arrays,
        f'  {real} largest = {zero}, out[{largest}];',
        '  int i;',
        f'  for (i = 0; i < {GOLDEN_STATES}; ++i) {{',
        *calls,
        '  }',
        '  return largest;',
        '}\n'))


# ---- the example --------------------------------------------------------------------------------


def _example(robot: Robot, model: Model, traces: Mapping[str, Trace], style: Style) -> str:
    name, trace = next(iter(traces.items()))
    sizes = dict(trace.inputs)
    arrays = [
        f'  const {style.real} {array}[{sizes[array]}] = {{\n'
        + style.numbers(robot.neutral() if array == 'q' else [0.0] * sizes[array]) + '};'
        for array in sizes if array != PARAMETERS]
    passed = [style.name(PARAMETERS) if array == PARAMETERS else array for array in sizes]
    tolerance = style.number(1e-3 if style.is_float else 1e-10)
    return '\n'.join((
        f'/* The first program with {style.prefix}: tests it, and computes one result. */\n',
        f'#include "{style.prefix}.h"\n\n#include <stdio.h>\n',
        'int main(void) {',
        *arrays,
        f'  {style.real} out[{prod(trace.shape)}];',
        f'  const {style.real} deviation = {style.name("self_test")}();',
        '  int i;',
        '  printf("self-test: largest deviation %g\\n", (double)deviation);',
        f'  if ({style.name(name)}({", ".join((*passed, OUTPUT))})) return 2;',
        f'  printf("{identifier(name)} at rest, with every joint at its origin:\\n");',
        f'  for (i = 0; i < {prod(trace.shape)}; ++i) printf("%12.6f\\n", (double)out[i]);',
        f'  return deviation <= {tolerance} ? 0 : 1;',
        '}\n'))


# ---- texts --------------------------------------------------------------------------------------


def _filled(words: Iterable[str], indent: str) -> str:
    """Return words with commas between them, in lines that are not too long."""
    lines, line = [], indent
    for word in words:
        if len(line) + len(word) > WIDTH - 4 and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += f'{word}, '
    return '\n'.join((*lines, line.rstrip(', ')))


def _text(text: str) -> str:
    """Return a text as a constant."""
    return '"' + ''.join(
        chr(byte) if chr(byte).isalnum() and byte < 128 or chr(byte) in ' _-./:' else
        f'\\{byte:03o}' for byte in text.encode()) + '"'


def _plain(text: str) -> str:
    """Return a text without what could end a comment or mean something in it."""
    return re.sub(r'[^\w .,:;/=()\[\]+-]', '_', text, flags=re.ASCII)
