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
Every name begins with a prefix.  A self-test compares what a compiler made of it with numbers that
the functions of the textbook computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
import re
from string import Template

import numpy as np
from ros2_rnea.dynamics.quantity_definition import DynamicsInputs, Quantity, WRENCHES
from ros2_rnea.errors import ArgumentError
from ros2_rnea.export.model import meaning, Model
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
from ros2_rnea.kernels.tape import INPUTS
from ros2_rnea.kernels.tracing import PARAMETERS, Trace
from ros2_rnea.robots.robot import Robot
from ros2_rnea.spatial import Force, Vector

# ---- what is written, where $p is the prefix, $real the type of numbers, and $f its suffix ------

HEADER = """\
/*
 * $robot: written by $writer; do not edit.
 * SHA-256 of the description:
 * $hash
 */

#ifndef ${P}_H
#define ${P}_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ${P}_NQ = $nq,
  ${P}_NV = $nv,
  ${P}_JOINTS = $joints,
  ${P}_BODIES = $bodies,
  ${P}_PARAMETERS = $parameters
};

/*
 * The joints, with the places of their positions in q and velocities in v:
$joint_lines
 * A floating joint has q = (x, y, z, qx, qy, qz, qw) and v = (angular; linear) in the axes of
 * its body, a spherical one the angular part of both, a planar one q = (x, y, theta).
 */
typedef struct {
  const char *name;
  int q, nq, v, nv; /* its first position and velocity, and how many of them it has */
  $real lower, upper, velocity, effort; /* HUGE_VAL: no limit */
} ${p}_joint;
extern const ${p}_joint ${p}_joints[${P}_JOINTS];

/* The bodies, by the links whose frames are theirs; a payload counts on: $carrying. */
extern const char *const ${p}_bodies[${P}_BODIES];

/*
 * Where parameters are in the array that each function takes.  Those of bodies are in the order
 * of the bodies; a joint is that which carries the body.  A payload has mass, mass times centre
 * (x, y, z), and inertia about the origin of the link (xx, xy, xz, yy, yz, zz), in its axes.
 */
enum {
$parameter_lines
};

/* Their values as they were exported: pass this array, or a copy with other numbers. */
extern const $real ${p}_parameters[${P}_PARAMETERS];

$declarations
/*
 * Returns the largest deviation of all functions from the library, for $states states: of each
 * number, relative to its largest value or to a hundredth of the largest number of the result,
 * as a rule less than $usual.
 */
$real ${p}_self_test(void);

#ifdef __cplusplus
}
#endif

#endif
"""

DECLARATION = """\
/*
 * $meaning.
 *
$inputs
 *   out: $shape numbers, row by row [$unit]; not one of the inputs
 *
 * $returns
 */
$signature;
"""

SOURCE = """\
/* See ${p}.h. */

#include "${p}.h"

#include <math.h>

const ${p}_joint ${p}_joints[${P}_JOINTS] = {
$joints};

const char *const ${p}_bodies[${P}_BODIES] = {
$bodies};

const $real ${p}_parameters[${P}_PARAMETERS] = {
$parameters};

$functions
/* expected: the results of all states, of which out is to be that of this one. */
static $real worse(
    $real worst, int status, const $real *out, const $real *expected, int state, int count) {
  $real largest = $zero;
  int i, k;
  if (status) return $huge;
  for (i = 0; i < $states * count; ++i)
    if (fabs$f(expected[i]) > largest) largest = fabs$f(expected[i]);
  for (i = 0; i < count; ++i) {
    $real scale = $share * largest, deviation = fabs$f(out[i] - expected[state * count + i]);
    for (k = 0; k < $states; ++k)
      if (fabs$f(expected[k * count + i]) > scale) scale = fabs$f(expected[k * count + i]);
    if (scale > $zero) deviation /= scale;
    if (!(deviation < $huge)) return $huge; /* not a number */
    if (deviation > worst) worst = deviation;
  }
  return worst;
}

$real ${p}_self_test(void) {
$tables
  $real largest = $zero, out[$size];
  int i;
  for (i = 0; i < $states; ++i) {
$calls
  }
  return largest;
}
"""

FUNCTION = """\
$signature {
$statements
  return 0;
}
"""

CALL = """\
    largest = worse(
        largest, ${p}_$function($arguments),
        out, &expected_$number[0][0], i, $count);"""

MAIN = """\
/* The first program with $p: tests it, and computes one result. */

#include "${p}.h"

#include <stdio.h>

int main(void) {
$inputs
  $real out[$size];
  const $real deviation = ${p}_self_test();
  int i;
  printf("self-test: largest deviation %g\\n", (double)deviation);
  if (${p}_$function($arguments)) return 2;
  printf("$function at rest, with every joint at its origin:\\n");
  for (i = 0; i < $size; ++i) printf("%12.6f\\n", (double)out[i]);
  return deviation <= $tolerance ? 0 : 1;
}
"""

SIZES = {'q': 'NQ', 'qd': 'NV', 'qdd': 'NV', 'tau': 'NV', WRENCHES: 'BODIES',
         PARAMETERS: 'PARAMETERS'}
"""The size of each input; of wrenches, that times 6."""

WORDS = {
    'q': 'positions [rad or m]', 'qd': 'velocities [rad/s or m/s]',
    'qdd': 'accelerations [rad/s^2 or m/s^2]', 'tau': 'efforts [Nm or N]',
    WRENCHES: 'moment [Nm] and force [N] on each body, in the axes of its link',
    PARAMETERS: 'see above'}
"""What each input is."""

FORMS = {
    ADD: '{} + {}', SUBTRACT: '{} - {}', MULTIPLY: '{} * {}', DIVIDE: '{} / {}',
    SINE: 'sin{f}({})', COSINE: 'cos{f}({})', SQUARE_ROOT: 'sqrt{f}({})'}

GOLDEN_STATES = 3
"""So many states does the self-test compute."""

WIDTH = 96


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
    def example_name(self) -> str:
        """Return the name of the file with the example."""
        return f'{self.prefix}_example.c'

    def fill(self, template: str, **words: object) -> str:
        """Return a template with these words in place of their names."""
        f = 'f' if self.is_float else ''
        return Template(template).substitute(
            p=self.prefix, P=self.prefix.upper(), real='float' if self.is_float else 'double',
            f=f, zero=self.number(0.0), share=self.number(0.01), huge=f'HUGE_VAL{f.upper()}',
            states=GOLDEN_STATES, **words)

    def number(self, value: float) -> str:
        """Return a number as a constant."""
        rounded = np.float32(value) if self.is_float else float(value)
        f = 'f' if self.is_float else ''
        if isinf(rounded):
            return f'{"-" if rounded < 0 else ""}HUGE_VAL{f.upper()}'
        return f'{rounded!s}{f}'

    def numbers(self, values: Iterable[float]) -> str:
        """Return the content of an array, in lines."""
        return _lines(map(self.number, values))


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
        other = names.setdefault(identifier(quantity), quantity)
        if other != quantity:
            raise ArgumentError(
                f'{other!r} and {quantity!r} would both be {style.prefix}_{identifier(quantity)} '
                'in C: rename a link')
    files = {f'{style.prefix}.h': _header(model, traces, style),
             f'{style.prefix}.c': _source(robot, model, quantities, traces, style)}
    if example:
        files[style.example_name] = _example(robot, traces, style)
    return files


def _header(model: Model, traces: Mapping[str, Trace], style: Style) -> str:
    joints = [
        f' *   {_plain(joint.name)} ({joint.type}): q[{joint.q[0]}..{sum(joint.q) - 1}], '
        f'v[{joint.v[0]}..{sum(joint.v) - 1}] [{joint.unit}]' for joint in model.joints]
    parameters = [
        style.fill('  ${P}_FIRST_$name = $first /* $size [$unit]$unread */',
                   name=each.name.upper(), first=each.first, unit=each.unit,
                   size=f'{each.width} for each body' if each.width else each.count,
                   unread='' if each.is_read else '; no function reads it')
        for each in model.parameters]
    return style.fill(
        HEADER, robot=_plain(model.name), writer=_plain(model.writer),
        hash=model.description_hash, nq=model.nq, nv=model.nv, joints=len(model.joints),
        bodies=len(model.bodies), parameters=len(model.values), joint_lines='\n'.join(joints),
        carrying=', '.join(
            f'{index} ({_plain(body.link)})' for index, body in enumerate(model.bodies)
            if body.takes_payload) or 'none',
        parameter_lines=',\n'.join(parameters), usual='1e-4' if style.is_float else '1e-12',
        declarations='\n'.join(_declaration(name, each, style) for name, each in traces.items()))


def _declaration(name: str, trace: Trace, style: Style) -> str:
    sentence, unit = meaning(name)
    return style.fill(
        DECLARATION, meaning=_plain(sentence), unit=unit, signature=_signature(name, trace, style),
        inputs='\n'.join(f' *   {array}: {WORDS[array]}' for array, _ in trace.inputs),
        shape=' x '.join(map(str, trace.shape)),
        returns='Returns 0; or 1, and leaves out as it was, where a quaternion is not of length '
        '1 or a\n * result is not plausible.' if trace.guards else 'Returns 0.')


def _signature(name: str, trace: Trace, style: Style) -> str:
    arrays = [
        style.fill('const $real $name[$times${P}_$size]', name=array, size=SIZES[array],
                   times='6 * ' if array == WRENCHES else '') for array, _ in trace.inputs]
    arrays.append(style.fill('$real out[$size]', size=len(trace.outputs)))
    return style.fill('int ${p}_$name(\n$arrays)', name=identifier(name), arrays=_lines(arrays))


# ---- the source ---------------------------------------------------------------------------------


def _source(
        robot: Robot, model: Model, quantities: Sequence[Quantity], traces: Mapping[str, Trace],
        style: Style) -> str:
    states = _states(robot)
    used = [array for array in INPUTS if array != PARAMETERS and any(
        array in dict(trace.inputs) for trace in traces.values())]
    tables = [_table(array, [state[array] for state in states], style) for array in used]
    calls = []
    for number, quantity in enumerate(quantities):
        trace = traces[quantity.name]
        expected = [_textbook(robot, quantity, trace, state) for state in states]
        tables.append(_table(f'expected_{number}', expected, style))
        calls.append(style.fill(
            CALL, function=identifier(quantity.name), number=number, count=len(trace.outputs),
            arguments=_arguments(trace, style, '{}[i]')))
    return style.fill(
        SOURCE, parameters=style.numbers(model.values),
        joints=',\n'.join(
            f'    {{{_text(joint.name)}, {", ".join(map(str, (*joint.q, *joint.v)))}, '
            f'{", ".join(map(style.number, joint.limits))}}}' for joint in model.joints),
        bodies=',\n'.join(f'    {_text(body.link)}' for body in model.bodies),
        functions='\n'.join(_function(name, trace, style) for name, trace in traces.items()),
        tables='\n'.join(tables), calls='\n'.join(calls),
        size=max(len(trace.outputs) for trace in traces.values()))


def _function(name: str, trace: Trace, style: Style) -> str:
    graph = trace.graph
    order = graph.scheduled((*trace.outputs, *(guard.value for guard in trace.guards)))
    read = {graph.operations[node].left for node in order if graph.operations[node].kind == INPUT}
    statements = [f'(void){array};' for array, _ in trace.inputs if array not in read]
    for node in order:
        form = FORMS.get(graph.operations[node].kind)
        if form is not None:
            operands = [_node(graph, each, style) for each in graph.operands(node)]
            statements.append(style.fill(
                'const $real n$node = $value;', node=node,
                value=form.format(*operands, f='f' if style.is_float else '')))
    for guard in trace.guards:
        statements.append(style.fill(
            'if (!(fabs$f($value) <= $bound)) return 1;' if guard.nan else
            'if (fabs$f($value) > $bound) return 1;',
            value=_expression(graph, guard.value, style), bound=style.number(guard.bound)))
    statements += [f'out[{place}] = {_expression(graph, output, style)};'
                   for place, output in enumerate(trace.outputs)]
    return style.fill(FUNCTION, signature=_signature(name, trace, style),
                      statements='\n'.join(f'  {statement}' for statement in statements))


def _expression(graph: Graph, expression: Expression, style: Style) -> str:
    if not isinstance(expression, Symbol):
        return style.number(expression)
    return f'{"-" if expression.negative else ""}{_node(graph, expression.node, style)}'


def _node(graph: Graph, node: int, style: Style) -> str:
    kind, left, right = graph.operations[node]
    if kind == CONSTANT:
        return style.number(left)
    return f'{left}[{right}]' if kind == INPUT else f'n{node}'


def _arguments(trace: Trace, style: Style, form: str) -> str:
    """Return the arguments of a call; of inputs but the parameters, in a form."""
    return ', '.join((*(
        f'{style.prefix}_{PARAMETERS}' if array == PARAMETERS else form.format(array)
        for array, _ in trace.inputs), 'out'))


def _table(name: str, rows: Sequence[Sequence[float]], style: Style) -> str:
    return style.fill(
        '  static const $real $name[$states][$size] = {\n$rows};', name=name, size=len(rows[0]),
        rows=',\n'.join(f'    {{{style.numbers(row).strip()}}}' for row in rows))


def _states(robot: Robot) -> list[dict[str, list[float]]]:
    """Return random states: all that quantities are computed from, by the names of ``INPUTS``."""
    rng = np.random.default_rng(0)
    states = []
    for _ in range(GOLDEN_STATES):
        turn, qd, qdd, tau = rng.uniform(-1.5, 1.5, (4, robot.nv))
        wrenches = rng.uniform(-5.0, 5.0, 6 * len(robot.body_names))
        arrays = {'q': robot.integrate(robot.neutral(), turn), 'qd': qd, 'qdd': qdd, 'tau': tau,
                  WRENCHES: wrenches}
        states.append({name: array.tolist() for name, array in arrays.items()})
    return states


def _textbook(
        robot: Robot, quantity: Quantity, trace: Trace, state: Mapping[str, Sequence[float]],
        ) -> list[float]:
    """Return the numbers of a quantity, by the functions that the trace was made with."""
    forces = {}
    if WRENCHES in dict(trace.inputs):
        for body, wrench in enumerate(np.reshape(state[WRENCHES], (-1, 6)).tolist()):
            forces[body] = Force(Vector(*wrench[:3]), Vector(*wrench[3:]))
    numbers = quantity.compute(robot.tree, DynamicsInputs(
        **{name: state[name] for name in quantity.inputs}, gravity=Vector(*robot.free_fall),
        f_ext=forces))
    return np.ravel(np.array(numbers, float)).tolist()


def _example(robot: Robot, traces: Mapping[str, Trace], style: Style) -> str:
    name, trace = next(iter(traces.items()))
    inputs = [
        style.fill('  const $real $name[$size] = {\n$numbers};', name=array, size=size,
                   numbers=style.numbers(robot.neutral() if array == 'q' else [0.0] * size))
        for array, size in trace.inputs if array != PARAMETERS]
    return style.fill(
        MAIN, inputs='\n'.join(inputs), size=len(trace.outputs), function=identifier(name),
        arguments=_arguments(trace, style, '{}'),
        tolerance=style.number(1e-3 if style.is_float else 1e-10))


# ---- texts --------------------------------------------------------------------------------------


def _lines(words: Iterable[str]) -> str:
    """Return words with commas between them, in lines that are not too long."""
    lines, line = [], '   '
    for word in words:
        if len(line) + len(word) > WIDTH and line.strip():
            lines.append(line)
            line = '   '
        line += f' {word},'
    return '\n'.join((*lines, line.rstrip(',')))


def _text(text: str) -> str:
    """Return a text as a constant."""
    return '"' + ''.join(
        chr(byte) if chr(byte).isalnum() and byte < 128 or chr(byte) in ' _-./:' else
        f'\\{byte:03o}' for byte in text.encode()) + '"'


def _plain(text: str) -> str:
    """Return a text without what could end a comment or mean something in it."""
    return re.sub(r'[^\w .,:;/=()\[\]+-]', '_', text, flags=re.ASCII)
