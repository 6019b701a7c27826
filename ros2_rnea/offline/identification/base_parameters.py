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
Which numbers the data determines: base parameters, and why the others are not determined.

Efforts depend on the inertial parameters of bodies only in certain sums.  Which sums there are is
seen in the data: W. Khalil and E. Dombre, "Modeling, Identification and Control of Robots", 2002,
chapters 9 and 12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from ros2_rnea.offline.identification.independent_columns import random_states, sums_of_others
from ros2_rnea.offline.identification.information import Chunk, Information, reduced
from ros2_rnea.offline.identification.results import Combination
from ros2_rnea.offline.identification.unknowns import Design, GAIN, PAYLOAD, Unknown
from scipy.linalg import cho_factor, cho_solve, eigh

DETERMINED = 0.5
"""
The largest standard error of a number that is given, relative to the size of its body or the
effort of its joint.
"""

STRUCTURAL = 1e-6
"""
A column is taken for a sum of others if what they do not explain of it is less than this share of
its norm.
"""


def base_parameters(
        unknowns: Sequence[Unknown],
        chosen: np.ndarray,
        hessian: np.ndarray,
        gradient: np.ndarray,
        slopes: Sequence[np.ndarray],
        center: np.ndarray,
        scales: np.ndarray) -> tuple[Combination, ...]:
    """
    Return sums of unknowns that the data determines.

    They have the unknowns with independent columns.  The columns of the others are sums of these,
    so each of the others has the effect of multiples of them.  Sums that noise hides are left out.

    :param chosen: which unknowns the fit could change, shape (unknowns,).
    :param hessian: of half the weighted sum of squares, shape (unknowns, unknowns).
    :param gradient: of half the weighted sum of squares, at the center.
    :param slopes: how far noise, and parts of the data, pull the unknowns, shapes (parts,
        unknowns).
    :param center: the numbers of the model before, with bodies that are consistent.
    :param scales: a large change of each unknown.
    """
    taken, others, factors = independent(chosen, hessian)
    if not len(taken):
        return ()
    inner, scaled = _scaled(hessian, taken)
    factor = cho_factor(scaled)
    changes = -inner * cho_solve(factor, inner * gradient[taken])
    errors = inner * np.sqrt(np.max([
        np.square(cho_solve(factor, inner[:, None] * one[:, taken].T)).sum(axis=1)
        for one in slopes], axis=0))
    urdf = np.array([unknown.urdf_value for unknown in unknowns])
    result = []
    for row in np.argsort(taken):
        index = taken[row]
        if errors[row] > DETERMINED * scales[index]:
            continue
        weights = np.where(
            np.abs(factors[row]) * scales[others] > 1e-5 * scales[index], factors[row], 0.0)
        terms = {unknowns[index].name: 1.0, **{
            unknowns[other].name: float(weight)
            for other, weight in zip(others, weights) if weight}}
        before = center[index] + factors[row] @ center[others]
        result.append(Combination(
            _sum(terms), terms, float(before + changes[row]), float(errors[row]),
            float(urdf[index] + factors[row] @ urdf[others])))
    return tuple(result)


def condition_number(chosen: np.ndarray, hessian: np.ndarray) -> float:
    """Return that of the weighted base regressor, its columns scaled to one norm."""
    taken, _, _ = independent(chosen, hessian)
    if not len(taken):
        return float('inf')
    values = eigh(_scaled(hessian, taken)[1], eigvals_only=True)
    return float(np.sqrt(values[-1] / max(values[0], 1e-300)))


def independent(
        chosen: np.ndarray, hessian: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return unknowns with independent columns, the others, and the sums that these are of those.

    Columns are scaled to norm 1.  Those of no effect at all are with neither.

    :param chosen: which unknowns count, shape (unknowns,).
    :param hessian: the products of their columns, shape (unknowns, unknowns).
    """
    norms = np.sqrt(np.diag(hessian))
    indices = np.flatnonzero(chosen & (norms > 0.0))
    if not len(indices):
        return indices, indices, np.zeros((0, 0))
    values, vectors = eigh(_scaled(hessian, indices)[1])
    taken, others, factors = sums_of_others(
        np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T, STRUCTURAL)
    taken, others = indices[taken], indices[others]
    return taken, others, factors * norms[others] / norms[taken][:, None]


def _scaled(hessian: np.ndarray, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return factors of unknowns, and the matrix of their columns scaled to norm 1."""
    inner = 1.0 / np.sqrt(np.diag(hessian)[taken])
    return inner, inner[:, None] * hessian[np.ix_(taken, taken)] * inner


def _sum(terms: Mapping[str, float]) -> str:
    """Return a sum in words, such as 'Izz of elbow + 0.5 m of wrist'."""
    text = ''
    for name, factor in terms.items():
        size = '' if abs(abs(factor) - 1.0) < 1e-9 else f'{abs(factor):.4g} '
        sign = ' − ' if factor < 0.0 else ' + ' if text else ''
        text += f'{sign}{size}{name}'
    return text


def why_not_identifiable(
        design: Design, seen: Information, missing: np.ndarray) -> tuple[str, ...]:
    """
    Return sentences: which numbers are not determined, why, and which motion would do so.

    :param missing: whether each unknown is chosen and not determined, shape (unknowns,).
    """
    hidden = _without_effect(design)
    reasons: dict[str, dict[str, list[str]]] = {}
    for index in np.flatnonzero(missing).tolist():
        one = design.unknowns[index]
        reasons.setdefault(_reason(design, seen, one, hidden[index]), {}).setdefault(
            'the payload' if one.owner == PAYLOAD else one.owner, []).append(
                one.name.split(' of ')[0])
    return tuple(f'Not determined: {_listed(names_of)}: {reason}.'
                 for reason, names_of in reasons.items())


def _listed(names_of: Mapping[str, Sequence[str]]) -> str:
    """Return names by owner in words; owners of the same names are told together."""
    owners: dict[str, list[str]] = {}
    for owner, names in names_of.items():
        owners.setdefault(', '.join(names), []).append(owner)
    return '; '.join(f'{names} of {", ".join(each)}' if all(each) else names
                     for names, each in owners.items())


def _reason(design: Design, seen: Information, unknown: Unknown, is_hidden: bool) -> str:
    """Return why a number is not determined, and what would do so."""
    if unknown.quantity == GAIN:
        return ('the known payload hardly loads this joint; record poses in which the payload '
                'pulls at it, with and without it')
    if not unknown.owner:
        return 'hold the arm in poses that load joints with axes in different directions'
    joint = design.robot.tree.bodies[unknown.body].v_slice
    if not unknown.is_inertial and not seen.rows[joint].any():
        return ('the joint never moves fast enough, or its effort was not recorded or is '
                'constant; move it in both directions at several speeds')
    if is_hidden:
        return ('no motion tells these one by one, since the efforts depend only on sums of them '
                'and of other numbers; the sums that the data holds are among the base '
                'parameters, and efforts need no more')
    if not unknown.is_inertial:
        return ('this motion does not tell them apart, or the efforts hardly depend on them; move '
                'each joint in both directions, slowly and near its largest speed, with strong '
                'accelerations in between')
    way = ('accelerate each body faster, about all axes that it can turn about'
           if unknown.quantity.startswith('I') else
           'hold each body in more orientations to gravity')
    return (f'this motion hardly makes efforts depend on them; {way}, by moving all joints that '
            'carry it')


def _without_effect(design: Design) -> np.ndarray:
    """Return which unknowns no motion of this robot determines one by one, shape (unknowns,)."""
    robot = design.robot
    q, qd, qdd = random_states(robot, max(30, 3 * len(design.unknowns) // max(robot.nv, 1)))
    information = reduced(design, [Chunk({}, q, qd, qdd, 0.0 * qd, qd == qd)], None)
    total = np.zeros((design.columns, design.columns))
    for columns, products in zip(design.of_coordinate, information.products):
        total[np.ix_(columns, columns)] += products[:-2, :-2]
    hidden = np.arange(len(design.unknowns)) < design.columns
    seen = np.flatnonzero(np.diag(total))
    if len(seen):
        values, vectors = eigh(_scaled(total, seen)[1])
        unseen = vectors[:, values < 1e-10 * values[-1]]
        hidden[seen] = np.linalg.norm(unseen, axis=1) > 1e-3
    return hidden
