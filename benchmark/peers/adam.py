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
adam over CasADi: its functions as they come, run by CasADi's virtual machine.

It always has a floating base; that of a robot with a fixed one stands still and is cut off.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import adam
from adam.casadi import KinDynComputations
from benchmark.coordinates import BASE, rotation, SWAP
from benchmark.problem import GRAVITY, Problem
from benchmark.statement import Statement
import casadi
import numpy as np


class Adam:
    """Functions of one robot, inputs turned into adam's coordinates beforehand."""

    WITHOUT: ClassVar[dict[str, str]] = {
        **dict.fromkeys(('inverse_dynamics', 'bound', 'batch', 'f_ext', 'derivatives'),
                        'it has no inverse dynamics with accelerations'),
        'forward_dynamics': 'its function for it neither holds a base nor pushes it',
    }

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._first = BASE if problem.floating_base else 0
        bodies = problem.robot.tree.bodies[1 if self._first else 0:]
        with TemporaryDirectory() as folder:
            path = Path(folder, 'robot.urdf')
            path.write_text(problem.description.text, encoding='utf-8')
            self._adam = KinDynComputations.from_urdf(
                str(path), [body.joint for body in bodies],
                gravity=np.array([*GRAVITY, 0.0, 0.0, 0.0]))
        self._adam.set_frame_velocity_representation(
            adam.Representations.BODY_FIXED_REPRESENTATION)

    def gravity(self) -> Statement:
        return self._statement(self._adam.gravity_term_fun(), 'H, s', '(H, s)', slice(0, 2))

    def bias(self) -> Statement:
        return self._statement(
            self._adam.bias_force_fun(), 'H, s, w, sd', '(H, s, w, sd)', slice(0, 4))

    def mass_matrix(self) -> Statement:
        return Statement(
            'M = function(H, s)', '(H, s)', [row[:2] for row in self._rows()],
            {'function': self._adam.mass_matrix_fun()}, 'M', lambda i, M: self._matrix(M))

    def _statement(self, function: Any, arguments: str, over: str, part: slice) -> Statement:
        return Statement(
            f'tau = function({arguments})', over, [row[part] for row in self._rows()],
            {'function': function}, 'tau', lambda i, tau: self._vector(tau),
            remark=f'function = {function.name()} of adam')

    def _rows(self) -> list[tuple[Any, ...]]:
        """Return the base's pose, the joints, the base's velocity and the joints' velocities."""
        states, n = self._problem.states, self._first
        return [tuple(map(casadi.DM, (
            self._pose(q), q[7 if n else 0:], qd[SWAP] if n else np.zeros(BASE), qd[n:])))
            for q, qd in zip(states.q, states.qd)]

    def _pose(self, q: np.ndarray) -> np.ndarray:
        H = np.eye(4)
        if self._first:
            H[:3, :3], H[:3, 3] = rotation(q[3:7]), q[:3]
        return H

    def _vector(self, vector: Any) -> np.ndarray:
        theirs = np.array(vector).ravel()
        return np.concatenate([theirs[:BASE][SWAP], theirs[BASE:]])[BASE - self._first:]

    def _matrix(self, matrix: Any) -> np.ndarray:
        theirs = np.array(matrix)
        order = np.concatenate([SWAP, np.arange(BASE, len(theirs))])[BASE - self._first:]
        return theirs[np.ix_(order, order)]
