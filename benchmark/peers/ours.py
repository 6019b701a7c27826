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
"""This package, through its public API."""

from __future__ import annotations

from typing import ClassVar

from benchmark.problem import Problem
from benchmark.statement import Statement
import numpy as np


class Ours:
    """``Robot`` with arrays for the results given."""

    WITHOUT: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._robot = problem.robot

    def inverse_dynamics(self) -> Statement:
        return self._vector('robot.inverse_dynamics(q, qd, qdd, out=out)', 'q qd qdd')

    def bound(self) -> Statement:
        out = np.empty(self._robot.nv)
        states = self._problem.states
        # Bound to another state's arrays for each row, so that inputs rotate here, too.
        rows = [(self._robot.bind('inverse_dynamics', q, qd, qdd, out=out),)
                for q, qd, qdd in zip(states.q, states.qd, states.qdd)]
        return Statement(
            'inverse_dynamics()', '(inverse_dynamics,)', rows, {'out': out}, 'out',
            remark="inverse_dynamics = robot.bind('inverse_dynamics', q, qd, qdd, out=out)")

    def gravity(self) -> Statement:
        return self._vector('robot.gravity(q, out=out)', 'q')

    def bias(self) -> Statement:
        return self._vector('robot.bias(q, qd, out=out)', 'q qd')

    def mass_matrix(self) -> Statement:
        nv = self._robot.nv
        return self._with_out('robot.mass_matrix(q, out=out)', 'q', np.empty((nv, nv)))

    def f_ext(self) -> Statement:
        return self._vector(
            'robot.inverse_dynamics(q, qd, qdd, f_ext=f_ext, out=out)', 'q qd qdd f_ext',
            'wrenches as one array (bodies, 6)')

    def forward_dynamics(self) -> Statement:
        return self._vector('robot.forward_dynamics(q, qd, tau, out=out)', 'q qd tau')

    def derivatives(self) -> Statement:
        nv = self._robot.nv
        return self._with_out(
            'robot.inverse_dynamics_derivatives(q, qd, qdd, out=out)', 'q qd qdd',
            np.empty((3, nv, nv)))

    def batch(self) -> Statement:
        states = self._problem.batch
        return Statement(
            'robot.inverse_dynamics(q, qd, qdd, out=out)', '(q, qd, qdd)',
            [(states.q, states.qd, states.qdd)],
            {'robot': self._robot, 'out': np.empty_like(states.qd)}, 'out',
            evaluations=len(states.q))

    def _vector(self, code: str, inputs: str, remark: str = '') -> Statement:
        return self._with_out(code, inputs, np.empty(self._robot.nv), remark)

    def _with_out(self, code: str, inputs: str, out: np.ndarray, remark: str = '') -> Statement:
        """Return a statement over some of the states' vectors."""
        return Statement(
            code, f'({inputs.replace(" ", ", ")},)', self._rows(inputs),
            {'robot': self._robot, 'out': out}, 'out', remark=remark)

    def _rows(self, inputs: str) -> list[tuple[np.ndarray, ...]]:
        states = self._problem.states
        return list(zip(*(getattr(states, name) for name in inputs.split())))
