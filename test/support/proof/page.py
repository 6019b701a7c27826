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
"""The proof as a page of the documentation."""

from __future__ import annotations

import csv
from importlib.metadata import version
from io import StringIO
import platform
import re
from textwrap import indent

from proof.measure import base, MUJOCO, PINOCCHIO, ROUNDINGS, TOLERANCE
from proof.quantities import QUANTITIES
from proof.robots import PACKAGE

COMMAND = './run test --full'
PACKAGES = {PINOCCHIO: 'pin', MUJOCO: 'mujoco', PACKAGE: PACKAGE, 'NumPy': 'numpy'}


def page(proof, examples):
    """Return the whole page; ``examples`` are all robots that there are."""
    parts = [
        f'.. Written by {COMMAND}; changes to this file will be overwritten.',
        _heading('Every robot against Pinocchio and MuJoCo', '='),
        _summary(proof, examples),
        _how(proof),
        _heading('Worst relative error by quantity'),
        _table(['quantity', 'below', PINOCCHIO, 'at', MUJOCO, 'at'], worst_by_quantity(proof)),
        *_ill_conditioned(proof),
    ]
    for engine in (PINOCCHIO, MUJOCO):
        parts += [_heading(f'{engine}, by robot'), _by_robot(proof, engine)]
    parts += [
        _heading('Comparisons that are left out, and why'), _skipped(proof, examples),
        _heading('Changes that were made to descriptions'), _remarks(examples),
        _heading('Versions'), _versions(),
    ]
    return '\n\n'.join(parts) + '\n'


def verdict(proof, examples):
    """Return one sentence on the whole."""
    measured = _of(proof, PINOCCHIO)
    robots = {m.robot for m in measured}
    failures = proof.failures()
    result = (f'{len(failures)} figures are too large' if failures
              else 'all figures are within their limits')
    return (f'{len(robots)} of {len(examples)} robots, {len(measured)} with their bases, '
            f'{sum(m.states for m in measured)} states against {PINOCCHIO} and '
            f'{sum(m.states for m in _of(proof, MUJOCO))} against {MUJOCO}: {result}.')


def _of(proof, engine):
    return [m for m in proof.measurements if m.engine == engine]


def _summary(proof, examples):
    lines = [f'**{_escaped(verdict(proof, examples))}**']
    if proof.failures():
        lines += ['', *(f'* {_escaped(str(failure))}' for failure in proof.failures())]
    return '\n'.join(lines)


def _how(proof):
    states = max((m.states for m in proof.measurements), default=0)
    return f"""\
The robots are the URDF files of the Python package {PACKAGE}, each on a fixed and on a floating
base.  Each is compared at {states} random states: angles and lengths within ±3, uniformly
distributed orientations, velocities and accelerations within ±3.  A relative error is the
largest difference in a state, divided by the largest magnitude of the quantity in that state;
for quantities of links, all links are taken together.  The limit is {TOLERANCE:.0e}.

Forward dynamics is computed for the efforts that the engine finds for the random motion.  Where
a joint has large friction and moves a light link, the acceleration follows from a small
difference of large efforts, and loses digits to rounding.  There the limit is
{ROUNDINGS[PINOCCHIO]:g} times the change that one rounding of the mass matrix and of the
efforts causes (Skeel's condition number times half the distance between two doubles), and
{ROUNDINGS[MUJOCO]:g} times for MuJoCo, which first transforms all inertias to principal axes.
These robots are listed below.  The column ABA → RNEA shows that the accelerations nonetheless
need the given efforts.

``test/support/pinocchio_oracle.py`` and ``mujoco_oracle.py`` convert between the conventions of
the engines.  They add the friction of the URDF, which neither engine models in the same way.
``test/support/proof/quantities.py`` lists the quantities that are compared."""


def worst_by_quantity(proof):
    """Return for each quantity its name, its name in tables, and by engine: error, robot."""
    rows = []
    for quantity in QUANTITIES:
        row = [quantity.name, quantity.short]
        for engine in (PINOCCHIO, MUJOCO):
            known = [m for m in _of(proof, engine) if quantity.short in m.errors]
            worst = max(known, key=lambda m: m.errors[quantity.short], default=None)
            row += ['', ''] if worst is None else [
                _figure(worst.errors[quantity.short]), _title(worst)]
        rows.append(row)
    return rows


def _ill_conditioned(proof):
    rows = [[m.engine, _title(m), _figure(m.errors['ABA']), _figure(m.rounding),
             _figure(m.errors['ABA → RNEA'])]
            for m in proof.measurements if m.errors.get('ABA', 0.0) > TOLERANCE]
    if not rows:
        return []
    return [_heading('Accelerations whose rounding errors exceed the limit'),
            _table(['engine', 'robot', 'difference to ros2_rnea', 'one rounding',
                    'ABA → RNEA'], rows)]


def _by_robot(proof, engine):
    quantities = [quantity.short for quantity in QUANTITIES
                  if quantity.mujoco or engine == PINOCCHIO]
    rows = [[m.robot, base(m.floating_base), str(m.nv), str(m.states),
             *(_figure(m.errors[name]) if name in m.errors else '–' for name in quantities)]
            for m in _of(proof, engine)]
    return _table(['robot', 'base', 'nv', 'states', *quantities], rows)


def _skipped(proof, examples):
    rows = []
    for example in examples:
        by_reason = {}
        for skipped in proof.skipped:
            if skipped.robot == example.name:
                what = by_reason.setdefault(skipped.reason, {})
                what.setdefault(skipped.engine, []).append(base(skipped.floating_base))
        for reason, engines in by_reason.items():
            bases = {' and '.join(names) for names in engines.values()}
            rows.append([example.name, ' and '.join(engines), ', '.join(sorted(bases)), reason])
        for m in proof.measurements:
            if m.robot == example.name and m.massless:
                rows.append([m.robot, m.engine, base(m.floating_base),
                             'forward dynamics is left out: no mass is moved by the joints '
                             f'{", ".join(m.massless)}'])
    return _table(['robot', 'engine', 'base', 'reason'], rows, look='text')


def _remarks(examples):
    rows = [[example.name, remark] for example in examples for remark in example.remarks]
    return _table(['robot', 'change'], rows, look='text')


def _versions():
    rows = [['Python', platform.python_version()]]
    rows += [[name, version(package)] for name, package in PACKAGES.items()]
    return _table(['', 'version'], rows, look='text')


def _title(measurement):
    return f'{measurement.robot}, {base(measurement.floating_base)}'


def _figure(error):
    return f'{error:.0e}' if error else '0'


def _heading(text, underline='-'):
    return f'{text}\n{underline * len(text)}'


def _table(head, rows, look='wide'):
    """Return a table; the site's style sheet knows the look ``wide``, which is for figures."""
    if not rows:
        return 'Nothing.'
    text = StringIO()
    csv.writer(text, lineterminator='\n').writerows(
        [_escaped(cell.replace('\n', ' ')) for cell in row] for row in [head, *rows])
    options = f':header-rows: 1\n:widths: auto\n:class: {look}\n\n'
    return '.. csv-table::\n' + indent(options + text.getvalue().rstrip(), '   ')


def _escaped(text):
    """Return text in which reStructuredText sees no markup."""
    return re.sub(r'([\\*`|_])', r'\\\1', text)
