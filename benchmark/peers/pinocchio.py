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
"""Pinocchio: the reference with which the results of all others have to agree."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmark.coordinates import BASE, SWAP
from benchmark.problem import GRAVITY, Problem, States
from benchmark.statement import Statement
import numpy as np
import pinocchio as pin
from ros2_rnea.model.description import JointType


class Pinocchio:
    """A model and its data, inputs turned into Pinocchio's coordinates beforehand."""

    WITHOUT: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        text = problem.description.text
        self.model = (
            pin.buildModelFromXML(text, pin.JointModelFreeFlyer(), 'floating_base')
            if problem.floating_base else pin.buildModelFromXML(text))
        self.model.gravity.linear = np.array(GRAVITY)
        self._problem = problem
        self._names = {'pin': pin, 'model': self.model, 'data': self.model.createData()}
        self._order = self._find_order()
        self._back = np.argsort(self._order)

    def inverse_dynamics(self) -> Statement:
        return self._vector('pin.rnea(model, data, q, v, a)', '(q, v, a)', 'q qd qdd', 'data.tau')

    def bound(self) -> Statement:
        return self.inverse_dynamics()

    def gravity(self) -> Statement:
        return self._vector(
            'pin.computeGeneralizedGravity(model, data, q)', '(q,)', 'q', 'data.g')

    def bias(self) -> Statement:
        return self._vector(
            'pin.nonLinearEffects(model, data, q, v)', '(q, v)', 'q qd', 'data.nle')

    def mass_matrix(self) -> Statement:
        return Statement(
            'pin.crba(model, data, q)', '(q,)', self._rows('q'), self._names, 'data.M',
            lambda i, M: self._matrix_to_ours(_symmetric(M)), remark='its upper triangle')

    def f_ext(self) -> Statement:
        rows = list(zip(*self._columns('q qd qdd'), map(self._forces, self._problem.states.f_ext)))
        return Statement(
            'pin.rnea(model, data, q, v, a, f_ext)', '(q, v, a, f_ext)', rows, self._names,
            'data.tau', self._vector_to_ours, remark='wrenches as a StdVec_Force made beforehand')

    def forward_dynamics(self) -> Statement:
        return self._vector(
            'pin.aba(model, data, q, v, tau)', '(q, v, tau)', 'q qd tau', 'data.ddq')

    def derivatives(self) -> Statement:
        return Statement(
            'pin.computeRNEADerivatives(model, data, q, v, a)', '(q, v, a)',
            self._rows('q qd qdd'), self._names, '(data.dtau_dq, data.dtau_dv, data.M)',
            lambda i, d: np.stack(
                [self._matrix_to_ours(part) for part in (d[0], d[1], _symmetric(d[2]))]))

    def batch(self) -> Statement:
        # Pinocchio keeps states in columns, each of them contiguous.
        q, v, a = (np.asfortranarray(rows.T)
                   for rows in self._columns('q qd qdd', self._problem.batch))
        names = {'pin': pin, 'pool': pin.ModelPool(self.model, 1), 'tau': np.empty_like(v)}
        return Statement(
            'pin.rneaInParallel(1, pool, q, v, a, tau)', '(q, v, a)', [(q, v, a)], names, 'tau',
            lambda i, tau: tau.T[:, self._back], evaluations=q.shape[1], remark='one thread')

    def _vector(self, code: str, over: str, inputs: str, result: str) -> Statement:
        return Statement(
            code, over, self._rows(inputs), self._names, result, self._vector_to_ours)

    # ---- coordinates ------------------------------------------------------------------------

    def _find_order(self) -> list[int]:
        """Return which of our velocities stand where Pinocchio's do."""
        order = [0] * self.model.nv
        for body in self._problem.robot.tree.bodies:
            joint = self.model.joints[self.model.getJointId(body.joint)]
            ours = np.arange(body.v_slice.start, body.v_slice.stop)
            order[joint.idx_v:joint.idx_v + joint.nv] = ours[SWAP] if joint.nv == BASE else ours
        return order

    def _rows(self, inputs: str) -> list[tuple[np.ndarray, ...]]:
        return list(zip(*self._columns(inputs)))

    def _columns(self, inputs: str, states: States | None = None) -> list[np.ndarray]:
        states = self._problem.states if states is None else states
        return [self._positions(states.q) if name == 'q'
                else np.ascontiguousarray(getattr(states, name)[:, self._order])
                for name in inputs.split()]

    def _positions(self, q: np.ndarray) -> np.ndarray:
        theirs = np.empty((len(q), self.model.nq))
        for body in self._problem.robot.tree.bodies:
            joint = self.model.joints[self.model.getJointId(body.joint)]
            own = q[:, body.q_slice]
            if body.type is JointType.CONTINUOUS:
                own = np.hstack([np.cos(own), np.sin(own)])
            theirs[:, joint.idx_q:joint.idx_q + joint.nq] = own
        return theirs

    def _forces(self, wrenches: np.ndarray) -> Any:
        """Return wrenches on our bodies, whose frames are those of Pinocchio's joints."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for body, wrench in zip(self._problem.robot.tree.bodies, wrenches):
            forces[self.model.getJointId(body.joint)] = pin.Force(wrench[SWAP])
        vector = pin.StdVec_Force()
        vector.extend(forces)
        return vector

    def _vector_to_ours(self, i: int, vector: np.ndarray) -> np.ndarray:
        return vector[self._back]

    def _matrix_to_ours(self, matrix: np.ndarray) -> np.ndarray:
        return matrix[np.ix_(self._back, self._back)]


def _symmetric(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T
