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

from typing import Any, ClassVar

from benchmark.problem import Problem
from benchmark.statement import Rows, Statement
import numpy as np
from ros2_rnea import AdjustableRobot, Engine, Robot
from ros2_rnea.model.description import Inertial, Pose

PAYLOAD = Inertial(1e-13, Pose((0.01, 0.02, 0.03)), (1e-15, 2e-16, 3e-16, 1e-15, 4e-16, 1e-15))


class Ours:
    """``Robot`` with arrays for the results given."""

    ENGINE: ClassVar[Engine | None] = None

    WITHOUT: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._robot = Robot(problem.robot.tree, engine=self.ENGINE)

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

    # ---- other ways of calling ----------------------------------------------------------------

    def new_result(self) -> Statement:
        return self._with_new_result('robot.inverse_dynamics(q, qd, qdd)', 'q qd qdd')

    def new_gravity(self) -> Statement:
        return self._with_new_result('robot.gravity(q)', 'q')

    def new_mass_matrix(self) -> Statement:
        return self._with_new_result('robot.mass_matrix(q)', 'q')

    def taken_before(self) -> Statement:
        description = self._problem.description
        robot = Robot.from_urdf(description.text, floating_base=description.floating_base)
        return Statement(
            'inverse_dynamics(q, qd, qdd, out=out)', '(q, qd, qdd)', self._rows('q qd qdd'),
            {'inverse_dynamics': robot.inverse_dynamics, 'out': np.empty(robot.nv)}, 'out',
            remark='inverse_dynamics = robot.inverse_dynamics, before its first call')

    def payload(self) -> Statement:
        return self._of_loaded('robot.inverse_dynamics(q, qd, qdd, out=out)', 'q qd qdd')

    def payload_gravity(self) -> Statement:
        return self._of_loaded('robot.gravity(q, out=out)', 'q')

    def adjustable(self) -> Statement:
        return self._of_adjustable('robot.inverse_dynamics(q, qd, qdd, out=out)', 'q qd qdd')

    def adjustable_gravity(self) -> Statement:
        return self._of_adjustable('robot.gravity(q, out=out)', 'q')

    def lists(self) -> Statement:
        rows = [tuple(vector.tolist() for vector in row) for row in self._rows('q qd qdd')]
        return self._with_new_result(
            'robot.inverse_dynamics(q, qd, qdd)', 'q qd qdd', rows, 'lists of floats')

    def float32(self) -> Statement:
        # Quaternions are not exact in float32.
        q_type = np.float64 if self._problem.floating_base else np.float32
        rows = [(q.astype(q_type), qd.astype(np.float32), qdd.astype(np.float32))
                for q, qd, qdd in self._rows('q qd qdd')]
        return self._with_new_result(
            'robot.inverse_dynamics(q, qd, qdd)', 'q qd qdd', rows, 'arrays of float32')

    def batch(self) -> Statement:
        states = self._problem.batch
        return Statement(
            'robot.inverse_dynamics(q, qd, qdd, out=out)', '(q, qd, qdd)',
            [(states.q, states.qd, states.qdd)],
            {'robot': self._robot, 'out': np.empty_like(states.qd)}, 'out',
            evaluations=len(states.q))

    def _vector(self, code: str, inputs: str, remark: str = '') -> Statement:
        return self._with_out(code, inputs, np.empty(self._robot.nv), remark)

    def _of_loaded(self, code: str, inputs: str) -> Statement:
        """
        Return a statement of a robot that never changes, with a payload on its last link.

        The payload weighs next to nothing, so that the efforts stay Pinocchio's; its kernels
        compute all that a payload needs.
        """
        link = self._robot.body_names[-1]
        robot = self._robot.with_payload('payload', link, PAYLOAD)
        return self._of(robot, code, inputs, f'robot = robot.with_payload(..., {link!r}, ...)')

    def _of_adjustable(self, code: str, inputs: str) -> Statement:
        """Return a statement of the robot that the node has, with a payload on its last link."""
        link = self._robot.body_names[-1]
        robot = AdjustableRobot.of(self._robot, [link])
        robot.set_payload('payload', link, PAYLOAD)
        return self._of(robot, code, inputs, f'robot = AdjustableRobot.of(robot, [{link!r}])')

    def _of(self, robot: Any, code: str, inputs: str, remark: str) -> Statement:
        return Statement(
            code, f'({inputs.replace(" ", ", ")},)', self._rows(inputs),
            {'robot': robot, 'out': np.empty(robot.nv)}, 'out', remark=remark)

    def _with_out(self, code: str, inputs: str, out: np.ndarray, remark: str = '') -> Statement:
        """Return a statement over some of the states' vectors."""
        return Statement(
            code, f'({inputs.replace(" ", ", ")},)', self._rows(inputs),
            {'robot': self._robot, 'out': out}, 'out', remark=remark)

    def _with_new_result(
            self, code: str, inputs: str, rows: Rows | None = None, remark: str = '',
            ) -> Statement:
        return Statement(
            f'result = {code}', f'({inputs.replace(" ", ", ")},)', rows or self._rows(inputs),
            {'robot': self._robot}, 'result', remark=remark)

    def _rows(self, inputs: str) -> list[tuple[np.ndarray, ...]]:
        states = self._problem.states
        return list(zip(*(getattr(states, name) for name in inputs.split())))


class Tape(Ours):
    """The same without machine code."""

    ENGINE = Engine.TAPE


class Textbook(Ours):
    """The same without kernels."""

    ENGINE = Engine.TEXTBOOK

    WITHOUT: ClassVar[dict[str, str]] = {'batch': 'a round would take minutes'}

    batch = None  # type: ignore[assignment]
