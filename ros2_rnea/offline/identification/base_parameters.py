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
from ros2_rnea.offline.identification.information import Chunk, Information, reduced
from ros2_rnea.offline.identification.results import Combination
from ros2_rnea.offline.identification.unknowns import Design, GAIN, PAYLOAD, Unknown
from scipy.linalg import cho_factor, cho_solve, eigh, qr, solve_triangular

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

    A QR factorization with column pivoting takes one unknown after the other whose column no sum
    of those taken before gives.  The columns of the others are such sums, so each of these
    unknowns has the effect of multiples of those taken.  Sums that noise hides are left out.

    :param chosen: which unknowns the fit could change, shape (unknowns,).
    :param hessian: of half the weighted sum of squares, shape (unknowns, unknowns).
    :param gradient: of half the weighted sum of squares, at the center.
    :param slopes: how far noise, and parts of the data, pull the unknowns, shapes (parts,
        unknowns).
    :param center: the numbers of the model before, with bodies that are consistent.
    :param scales: a large change of each unknown.
    """
    taken, others, factors = _independent(chosen, hessian)
    if not len(taken):
        return ()
    inner, factor = _factored(hessian, taken)
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
    taken, _, _ = _independent(chosen, hessian)
    if not len(taken):
        return float('inf')
    inner = 1.0 / np.sqrt(np.diag(hessian)[taken])
    values = eigh(
        inner[:, None] * hessian[np.ix_(taken, taken)] * inner[None, :], eigvals_only=True)
    return float(np.sqrt(values[-1] / max(values[0], 1e-300)))


def _independent(
        chosen: np.ndarray, hessian: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return unknowns with independent columns, the others, and the sums that these are of those.

    Columns are scaled to norm 1.  Those of no effect at all are with neither.
    """
    norms = np.sqrt(np.diag(hessian))
    indices = np.flatnonzero(chosen & (norms > 0.0))
    if not len(indices):
        return indices, indices, np.zeros((0, 0))
    scale = 1.0 / norms[indices]
    values, vectors = eigh(scale[:, None] * hessian[np.ix_(indices, indices)] * scale[None, :])
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    R, order = qr(root, mode='r', pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > STRUCTURAL))
    factors = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    taken, others = indices[order[:rank]], indices[order[rank:]]
    return taken, others, factors * norms[others][None, :] / norms[taken][:, None]


def _factored(hessian: np.ndarray, taken: np.ndarray) -> tuple[np.ndarray, tuple]:
    inner = 1.0 / np.sqrt(np.diag(hessian)[taken])
    return inner, cho_factor(
        inner[:, None] * hessian[np.ix_(taken, taken)] * inner[None, :])


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
    by_owner: dict[tuple[str, str], list[int]] = {}
    for index in np.flatnonzero(missing):
        unknown = design.unknowns[index]
        by_owner.setdefault((unknown.owner, _kind(unknown)), []).append(int(index))
    sentences = []
    for (owner, kind), indices in by_owner.items():
        if kind == 'inertial':
            sentences += _of_a_body(design, owner, indices, hidden)
        elif kind == 'joint':
            sentences += _of_a_joint(design, seen, owner, indices, hidden)
        elif kind == GAIN:
            sentences.append(
                f'The drive gain of {owner} is not determined: the known payload hardly loads '
                'this joint; record poses in which the payload pulls at it, with and without it.')
        else:
            sentences.append(
                'The direction of gravity is not determined: hold the arm in poses that load '
                'joints with axes in different directions.')
    return tuple(sentences)


def _kind(unknown: Unknown) -> str:
    if unknown.is_inertial:
        return 'inertial'
    if unknown.quantity == GAIN:
        return GAIN
    return 'joint' if unknown.owner else 'gravity'


def _of_a_body(
        design: Design, owner: str, indices: Sequence[int], hidden: np.ndarray) -> list[str]:
    of = f'the {owner}' if owner == PAYLOAD else f'the body of link {owner!r}'
    never = [design.unknowns[index].quantity for index in indices if hidden[index]]
    more = [design.unknowns[index].quantity for index in indices if not hidden[index]]
    result = []
    if never:
        result.append(
            f'{", ".join(never)} of {of}: no motion tells them one by one, since the efforts '
            'depend only on sums of them and of numbers of other bodies; the sums that the data '
            'holds are among the base parameters, and efforts need no more.')
    if more:
        path = _moving(design, design.unknowns[indices[0]].body)
        static = any(name == 'm' or name.startswith('h') for name in more)
        dynamic = any(name.startswith('I') for name in more)
        ways = [*(['hold it in more orientations to gravity'] if static else []),
                *(['accelerate it faster, about all axes that it can turn about']
                  if dynamic else [])]
        result.append(
            f'{", ".join(more)} of {of}: this motion hardly makes efforts depend on them; '
            f'{" and ".join(ways)}, by {path}.')
    return result


def _moving(design: Design, body: int) -> str:
    """Return the joints that move a body, in words."""
    tree = design.robot.tree
    names: list[str] = []
    while body >= 0:
        names.insert(0, tree.bodies[body].joint)
        body = tree.bodies[body].parent
    return f'moving {", ".join(names)}'


def _of_a_joint(
        design: Design, seen: Information, owner: str, indices: Sequence[int],
        hidden: np.ndarray) -> list[str]:
    first = design.unknowns[indices[0]]
    coordinates = design.robot.tree.bodies[first.body].v_slice

    def named(chosen: Sequence[int]) -> str:
        return ', '.join(design.unknowns[index].name.split(' of ')[0] for index in chosen)

    if not seen.rows[coordinates].any():
        return [f'{named(indices)} of {owner}: the joint never moves fast enough, or its effort '
                'was not recorded or is constant; move it in both directions at several speeds.']
    never = [index for index in indices if hidden[index]]
    more = [index for index in indices if not hidden[index]]
    result = []
    if never:
        result.append(
            f'{named(never)} of {owner}: no motion tells it by itself, since the efforts depend '
            'only on sums of it and of numbers of bodies; the sums that the data holds are among '
            'the base parameters, and efforts need no more.')
    if more:
        result.append(
            f'{named(more)} of {owner}: this motion does not tell them apart, or the efforts '
            'hardly depend on them; move the joint in both directions, slowly and near its '
            'largest speed, with strong accelerations in between.')
    return result


def _without_effect(design: Design) -> np.ndarray:
    """Return which unknowns no motion of this robot determines one by one, shape (unknowns,)."""
    robot, rng = design.robot, np.random.default_rng(0)
    count = max(30, 3 * len(design.unknowns) // max(robot.nv, 1))
    q = np.array([robot.integrate(robot.neutral(), one)
                  for one in rng.uniform(-1.5, 1.5, (count, robot.nv))])
    qd, qdd = rng.normal(size=(2, count, robot.nv))
    moves = np.ones((count, robot.nv), dtype=bool)
    information = reduced(
        design, [Chunk({}, q, qd, qdd, np.zeros((count, robot.nv)), moves)], None)
    total = np.zeros((design.columns, design.columns))
    for columns, products in zip(design.of_coordinate, information.products):
        total[np.ix_(columns, columns)] += products[:-2, :-2]
    norms = np.sqrt(np.diag(total))
    inner = np.where(norms > 0.0, 1.0 / np.where(norms > 0.0, norms, 1.0), 1.0)
    values, vectors = eigh(inner[:, None] * total * inner[None, :])
    unseen = vectors[:, values < 1e-10 * values[-1]]
    hidden = np.zeros(len(design.unknowns), dtype=bool)
    hidden[:design.columns] = np.sqrt(np.sum(unseen**2, axis=1)) > 1e-3
    return hidden
