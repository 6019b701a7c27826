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
PyKDL of Orocos: its recursive Newton-Euler solver, for chains only.

The chain is put together from our tree, whose fixed joints are lumped already: its solver is
spared them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchmark.errors import Absent
from benchmark.problem import GRAVITY, Problem
from benchmark.statement import Statement
import numpy as np
import PyKDL
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import Body


class Kdl:
    """A chain and its solver, inputs turned into KDL's arrays beforehand."""

    WITHOUT: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        bodies = problem.robot.tree.bodies
        if problem.floating_base or any(
                body.parent != i - 1 for i, body in enumerate(bodies)):
            raise Absent('its inverse dynamics is of chains on a fixed base only')
        self._problem = problem
        self._chain = PyKDL.Chain()
        for body in bodies:
            self._chain.addSegment(_segment(body))
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


def _segment(body: Body) -> Any:
    """Return a body as KDL has it: with its joint, given in the axes of its parent."""
    X, inertia = body.X_tree, body.inertia
    placement = PyKDL.Frame(
        PyKDL.Rotation(*(number for row in X.E.T.rows for number in row)), PyKDL.Vector(*X.r))
    kind = (PyKDL.Joint.TransAxis if body.type is JointType.PRISMATIC else PyKDL.Joint.RotAxis)
    joint = PyKDL.Joint(
        body.joint, placement.p, placement.M * PyKDL.Vector(*body.axis), kind)
    center = PyKDL.Vector(*(number / inertia.m for number in inertia.h))
    return PyKDL.Segment(body.link, joint, placement, PyKDL.RigidBodyInertia(
        inertia.m, center, PyKDL.RotationalInertia(*_about_center(body))))


def _about_center(body: Body) -> tuple[float, ...]:
    """Return a body's inertia (xx, yy, zz, xy, xz, yz) about its centre of mass."""
    inertia = body.inertia
    h = np.array(list(inertia.h))
    origin = np.array([list(row) for row in inertia.I_origin.rows])
    I = origin - (h @ h * np.eye(3) - np.outer(h, h)) / inertia.m  # noqa: E741
    return I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
