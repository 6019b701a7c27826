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
"""What is timed: the regressor of all rows, and its reduction to what a fit needs of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from benchmark.agreement import agree, relative_error
from benchmark.errors import Absent, BenchmarkError
from benchmark.peers import OURS, PINOCCHIO
from benchmark.problem import GRAVITY, Problem
from benchmark.statement import Compiled, Statement
import numpy as np
import pinocchio as pin
from ros2_rnea.offline.identification.information import chunks, reduced
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.unknowns import Design, Unknowns

FIGAROH = 'FIGAROH'
REGRESSOR, REDUCTION = 'regressor', 'regressor and reduction'
PRODUCTS = 'BLAS alone'
"""The products of our reduction, of rows that were computed before: a bound for it."""

FROM_PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
"""Where our ten inertial parameters stand in Pinocchio's: it has Iyy before Ixz."""


@dataclass(frozen=True)
class Rows:
    """Samples of a motion in our coordinates, shapes (n, nv); all joints have one coordinate."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Rows:
        """Return random samples, with efforts that no model explains completely."""
        states = problem.batch
        noise = np.random.default_rng(1).normal(size=states.tau.shape)
        return cls(states.q, states.qd, states.qdd, states.tau + noise)

    def recording(self) -> PreparedRecording:
        """Return the samples as a recording that is ready for an identification."""
        count = len(self.q)
        return PreparedRecording(
            'benchmark', np.arange(count) * 1e-3, self.q, self.qd, self.qdd, self.tau,
            np.ones(self.qd.shape, dtype=bool), (slice(0, count),))


def ours(problem: Problem, rows: Rows) -> dict[str, Statement]:
    """Return the statements of this package."""
    design = _design(problem, rows)
    recording = rows.recording()
    return {
        REGRESSOR: Statement(
            'W = robot.regressor(q, qd, qdd)', '(q, qd, qdd)', [(rows.q, rows.qd, rows.qdd)],
            {'robot': problem.robot}, 'W', evaluations=len(rows.q)),
        REDUCTION: Statement(
            'information = reduced(design, chunks(recording, 0, stop), None)', 'recording',
            [recording],
            {'reduced': reduced, 'design': design, 'chunks': chunks, 'stop': len(rows.q)},
            'information', evaluations=len(rows.q),
            remark='friction with offset, independent columns, a matrix for each joint')}


def products_alone(problem: Problem, rows: Rows) -> dict[str, Statement]:
    """Return the symmetric products that BLAS computes for our reduction, without all else."""
    design = _design(problem, rows)
    numbers = design.evaluate({}, rows.q, rows.qd, rows.qdd, rows.tau)
    return {REDUCTION: Statement(
        'products = [numbers[:, part].T @ numbers[:, part] for part in parts]', 'numbers',
        [numbers], {'parts': design.parts}, 'products', evaluations=len(numbers),
        remark='of rows that were computed before: a bound for the reduction')}


def pinocchio_loop(problem: Problem, rows: Rows) -> dict[str, Statement]:
    """Return the statements of a loop over Pinocchio's function."""
    model, order = _pinocchio(problem)
    count, nv = rows.qd.shape
    W = np.zeros((count, nv, 13 * nv))
    y = np.ascontiguousarray(rows.tau[:, order]).reshape(-1)
    samples = tuple(np.ascontiguousarray(one[:, order]) for one in (rows.q, rows.qd, rows.qdd))
    back = np.argsort(order)
    data = model.createData()

    def fill(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        for i in range(count):
            W[i, :, :10 * nv] = pin.computeJointTorqueRegressor(model, data, q[i], v[i], a[i])

    def in_our_order(_: int, filled: np.ndarray) -> np.ndarray:
        return _ours_of(filled[:, :, :10 * nv], back)

    names = {'fill': fill, 'add_friction': _add_friction, 'W': W, 'nv': nv, 'y': y}
    return {
        REGRESSOR: Statement(
            'fill(q, v, a)', '(q, v, a)', [samples], names, 'W', in_our_order, evaluations=count,
            remark='fill: W[i] = pin.computeJointTorqueRegressor(model, data, q[i], v[i], a[i])'),
        REDUCTION: Statement(
            'fill(q, v, a); add_friction(W, v); X = W.reshape(-1, 13 * nv); '
            'information = X.T @ X, X.T @ y, y @ y',
            '(q, v, a)', [samples], names, 'information', evaluations=count,
            remark='the normal equations of all joints')}


def figaroh(problem: Problem, rows: Rows) -> dict[str, Statement]:
    """
    Return the statements of FIGAROH.

    :raises Absent: where it is not installed.
    """
    try:
        from figaroh.tools.qrdecomposition import QRDecomposer
        from figaroh.tools.regressor import build_regressor_basic
    except ImportError as error:
        raise Absent(f'{error}; pip install figaroh') from error
    model, order = _pinocchio(problem)
    count, nv = rows.qd.shape
    robot = SimpleNamespace(model=model, data=model.createData())
    config = {'has_friction': True, 'has_joint_offset': True, 'is_joint_torques': True,
              'act_idxv': list(range(nv))}
    samples = tuple(np.ascontiguousarray(one[:, order]) for one in (rows.q, rows.qd, rows.qdd))
    W = build_regressor_basic(robot, *samples, config)
    kept = np.flatnonzero(np.square(W).sum(axis=0) >= 1e-6)  # FIGAROH's eliminate_non_dynaffect
    names = {
        'build_regressor_basic': build_regressor_basic, 'robot': robot, 'config': config,
        'QRDecomposer': QRDecomposer, 'tau': rows.tau[:, order].T.reshape(-1), 'kept': kept,
        'params': [f'p{index:03d}' for index in kept]}
    build = 'W = build_regressor_basic(robot, q, v, a, config)'
    back = np.argsort(order)

    def in_our_order(_: int, built: np.ndarray) -> np.ndarray:
        by_sample = built.reshape(nv, count, -1).transpose(1, 0, 2)
        return _ours_of(by_sample[:, :, :10 * nv], back)

    return {
        REGRESSOR: Statement(
            build, '(q, v, a)', [samples], names, 'W', in_our_order, evaluations=count),
        REDUCTION: Statement(
            f'{build}; base = QRDecomposer().double_decomposition(tau, W[:, kept], params)',
            '(q, v, a)', [samples], names, 'base', evaluations=count,
            remark='with the base parameters, which its QR gives')}


CONTENDERS: Mapping[str, Callable[[Problem, Rows], dict[str, Statement]]] = {
    OURS: ours, PRODUCTS: products_alone, PINOCCHIO: pinocchio_loop, FIGAROH: figaroh}


def compiled(problem: Problem, rows: Rows) -> tuple[dict[str, dict[str, Compiled]], list[str]]:
    """
    Return what is timed, by quantity and contender, and why somebody is missing.

    :raises BenchmarkError: where the regressors are not those of Pinocchio.
    """
    found: dict[str, dict[str, Compiled]] = {REGRESSOR: {}, REDUCTION: {}}
    missing = []
    for name, statements in CONTENDERS.items():
        try:
            made = statements(problem, rows)
        except Absent as reason:
            missing.append(f'{name} is left out: {reason}')
            continue
        for quantity, statement in made.items():
            found[quantity][name] = statement.compiled()
    expected = _answer(found[REGRESSOR][PINOCCHIO])
    for name, one in found[REGRESSOR].items():
        error = relative_error(_answer(one), expected)
        if not agree(error):
            raise BenchmarkError(
                f'the regressor of {name} differs from that of Pinocchio by {error:.1e}')
    return found, missing


def _design(problem: Problem, rows: Rows) -> Design:
    return Design(problem.robot, Unknowns(friction='all', links='all'),
                  np.abs(rows.qd).max(axis=0))


def _answer(one: Compiled) -> np.ndarray:
    return np.asarray(one.statement.to_ours(0, one.answer(one.statement.rows[0])))


def _add_friction(W: np.ndarray, v: np.ndarray) -> None:
    """Fill the last columns with viscous friction, Coulomb friction and an offset."""
    nv = v.shape[1]
    joints = np.arange(nv)
    for place, values in enumerate((v, np.sign(v), 1.0), start=10):
        W[:, joints, place * nv + joints] = values


def _pinocchio(problem: Problem) -> tuple[Any, list[int]]:
    """Return Pinocchio's model, and which of our coordinates stand where its do."""
    model = pin.buildModelFromXML(problem.description.text)
    model.gravity.linear = np.array(GRAVITY)
    order = [0] * model.nv
    for body in problem.robot.tree.bodies:
        joint = model.joints[model.getJointId(body.joint)]
        if joint.nq != 1:
            raise BenchmarkError(
                f'joint {body.joint!r} of {problem.description.name!r} has {joint.nq} coordinates '
                'in Pinocchio; name a robot on a fixed base without continuous joints')
        order[joint.idx_v] = body.v_slice.start
    return model, order


def _ours_of(regressor: np.ndarray, back: np.ndarray) -> np.ndarray:
    """Return a regressor of Pinocchio, shape (n, nv, 10 nv), in our coordinates."""
    count, nv, _ = regressor.shape
    by_body = regressor[:, back].reshape(count, nv, nv, 10)[:, :, back][..., FROM_PINOCCHIO]
    return by_body.reshape(count, nv, 10 * nv)
