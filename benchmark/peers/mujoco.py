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
MuJoCo: its recursion alone, and ``mj_inverse``, which engines of its kind are asked for.

Constraints, damping and friction are off.  A state is written into MuJoCo's data first, as it has
no other way in.  Its free joint has the quaternion's w first and the linear velocity in the axes
of the world.
"""

from __future__ import annotations

from typing import ClassVar
from xml.etree import ElementTree

from benchmark.coordinates import BASE, in_world_axes, rotation
from benchmark.errors import Absent
from benchmark.problem import Problem
from benchmark.statement import Statement
import mujoco
import numpy as np

FLOATING_BASE = 'floating_base'

OTHER_COORDINATES = 'its floating base has other coordinates, in which this is another quantity'


class _MuJoCo:
    """A model and its data."""

    WITHOUT: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.model = _load(problem)
        self.data = mujoco.MjData(self.model)
        self._names = {
            'mj': mujoco, 'model': self.model, 'data': self.data, 'qpos': self.data.qpos,
            'qvel': self.data.qvel, 'qacc': self.data.qacc, 'tau': np.empty(self.model.nv)}
        joints = [self.model.joint(body.joint) for body in self._moved_by_one_number()]
        self._q_places = [joint.qposadr[0] for joint in joints]
        self._v_places = [joint.dofadr[0] for joint in joints]
        self._first = BASE if problem.floating_base else 0

    def _statement(self, code: str, result: str) -> Statement:
        """Return the statement of an inverse dynamics."""
        states = self._problem.states
        rows = [self._state(*state) for state in zip(states.q, states.qd, states.qdd)]
        return Statement(
            f'qpos[:] = q; qvel[:] = v; qacc[:] = a; {code}', '(q, v, a)', rows, self._names,
            result, self._to_ours)

    def _moved_by_one_number(self) -> list:
        return list(self._problem.robot.tree.bodies[1 if self._problem.floating_base else 0:])

    def _state(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return one state in MuJoCo's coordinates."""
        qpos, qvel = np.zeros(self.model.nq), np.zeros(self.model.nv)
        qacc = np.zeros(self.model.nv)
        qpos[self._q_places] = q[7:] if self._first else q
        qvel[self._v_places], qacc[self._v_places] = qd[self._first:], qdd[self._first:]
        if self._first:
            qpos[:7] = q[[0, 1, 2, 6, 3, 4, 5]]
            qvel[3:6], qacc[3:6] = qd[0:3], qdd[0:3]
            qvel[0:3], qacc[0:3] = in_world_axes(q, qd, qdd)
        return qpos, qvel, qacc

    def _to_ours(self, i: int, effort: np.ndarray) -> np.ndarray:
        tau = np.empty(self._problem.robot.nv)
        tau[self._first:] = effort[self._v_places]
        if self._first:
            tau[0:3] = effort[3:6]
            tau[3:6] = rotation(self._problem.states.q[i, 3:7]).T @ effort[0:3]
        return tau


KINEMATICS = 'mj.mj_kinematics(model, data); mj.mj_comPos(model, data)'
RNE = f'{KINEMATICS}; mj.mj_comVel(model, data); mj.mj_rne(model, data, %d, tau)'


class Rne(_MuJoCo):
    """The recursion with the kinematics that it builds upon."""

    def inverse_dynamics(self) -> Statement:
        return self._statement(RNE % 1, 'tau')

    def bias(self) -> Statement:
        self._need_fixed_base()
        states = self._problem.states
        rows = [self._state(q, qd, qd)[:2] for q, qd in zip(states.q, states.qd)]
        return Statement(
            f'qpos[:] = q; qvel[:] = v; {RNE % 0}', '(q, v)', rows, self._names, 'tau',
            self._to_ours)

    def mass_matrix(self) -> Statement:
        self._need_fixed_base()
        M = np.empty((self.model.nv, self.model.nv))
        rows = [(self._state(q, q, q)[0],) for q in self._problem.states.q]
        places = np.ix_(self._v_places, self._v_places)
        return Statement(
            f'qpos[:] = q; {KINEMATICS}; mj.mj_crb(model, data); mj.mj_fullM(model, data, M)',
            '(q,)', rows, {**self._names, 'M': M}, 'M', lambda i, answer: answer[places])

    def _need_fixed_base(self) -> None:
        if self._problem.floating_base:
            raise Absent(OTHER_COORDINATES)


class Inverse(_MuJoCo):
    """All that MuJoCo does for an inverse dynamics, sensors and constraints included."""

    def inverse_dynamics(self) -> Statement:
        return self._statement('mj.mj_inverse(model, data)', 'data.qfrc_inverse')


def _load(problem: Problem) -> mujoco.MjModel:
    robot = ElementTree.fromstring(problem.description.text)
    for element in robot.iter():  # MuJoCo takes a link 'world' for its own world
        for attribute in ('name', 'link'):
            if element.tag in ('link', 'parent', 'child') and element.get(attribute) == 'world':
                element.set(attribute, 'link named world')
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding='unicode'))
    spec.compiler.fusestatic = True
    if problem.floating_base:
        spec.worldbody.first_body().add_freejoint(name=FLOATING_BASE)
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return model
