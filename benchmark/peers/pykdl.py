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
"""PyKDL of Orocos: its recursive Newton-Euler solver, for chains only."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmark.kdl import Segment, segments
from benchmark.problem import GRAVITY, Problem
from benchmark.statement import Statement
import numpy as np
import PyKDL


class Kdl:
    """A chain and its solver, inputs turned into KDL's arrays beforehand."""

    WITHOUT: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._chain = PyKDL.Chain()
        for segment in segments(problem):
            self._chain.addSegment(_segment(segment))
        self._gravity = PyKDL.Vector(*GRAVITY)
        self._tau = PyKDL.JntArray(problem.robot.nv)

    def inverse_dynamics(self) -> Statement:
        no_wrenches = [PyKDL.Wrench() for _ in range(self._chain.getNrOfSegments())]
        return self._rne([no_wrenches] * len(self._problem.states.q))

    def f_ext(self) -> Statement:
        return self._rne([
            [PyKDL.Wrench(PyKDL.Vector(*row[3:]), PyKDL.Vector(*row[:3])) for row in wrenches]
            for wrenches in self._problem.states.f_ext.tolist()])

    def gravity(self) -> Statement:
        rows = [(_array(q),) for q in self._problem.states.q]
        names = {'solver': PyKDL.ChainDynParam(self._chain, self._gravity), 'tau': self._tau}
        return Statement(
            'solver.JntToGravity(q, tau)', '(q,)', rows, names, 'tau', self._vector_to_ours)

    def mass_matrix(self) -> Statement:
        n = self._problem.robot.nv
        rows = [(_array(q),) for q in self._problem.states.q]
        names = {'solver': PyKDL.ChainDynParam(self._chain, self._gravity),
                 'M': PyKDL.JntSpaceInertiaMatrix(n)}
        return Statement(
            'solver.JntToMass(q, M)', '(q,)', rows, names, 'M',
            lambda i, M: np.array([[M[row, column] for column in range(n)] for row in range(n)]))

    def _rne(self, wrenches: list[list[Any]]) -> Statement:
        states = self._problem.states
        rows = [(_array(q), _array(qd), _array(qdd), f_ext)
                for q, qd, qdd, f_ext in zip(states.q, states.qd, states.qdd, wrenches)]
        solver = PyKDL.ChainIdSolver_RNE(self._chain, self._gravity)
        return Statement(
            'solver.CartToJnt(q, v, a, f_ext, tau)', '(q, v, a, f_ext)', rows,
            {'solver': solver, 'tau': self._tau}, 'tau', self._vector_to_ours)

    @staticmethod
    def _vector_to_ours(i: int, tau: Any) -> np.ndarray:
        return np.array([tau[k] for k in range(tau.rows())])


def _array(vector: np.ndarray) -> Any:
    array = PyKDL.JntArray(len(vector))
    for i, number in enumerate(vector.tolist()):
        array[i] = number
    return array


def _segment(segment: Segment) -> Any:
    """Return a segment as PyKDL has it: its joint is given in the axes of its parent."""
    placement = PyKDL.Frame(PyKDL.Rotation(*segment.rotation), PyKDL.Vector(*segment.position))
    kind = PyKDL.Joint.TransAxis if segment.prismatic else PyKDL.Joint.RotAxis
    joint = PyKDL.Joint(
        segment.joint, placement.p, placement.M * PyKDL.Vector(*segment.axis), kind)
    return PyKDL.Segment(segment.link, joint, placement, PyKDL.RigidBodyInertia(
        segment.mass, PyKDL.Vector(*segment.center), PyKDL.RotationalInertia(*segment.inertia)))
