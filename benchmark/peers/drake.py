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
Drake: ``MultibodyPlant`` in double precision.

Its floating base has the quaternion first, w first, and velocities [angular; linear] in the axes
of the world.  It returns new arrays; there is no way to give it some.
"""

from __future__ import annotations

import logging
from typing import ClassVar

from benchmark.coordinates import BASE, in_world_axes, rotation
from benchmark.errors import Absent
from benchmark.problem import GRAVITY, Problem
from benchmark.statement import Statement
import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces

logging.getLogger('drake').setLevel(logging.ERROR)  # it warns of links nearly without inertia

SET_STATE = 'plant.SetPositionsAndVelocities(context, qv)'


class Drake:
    """A plant and its context."""

    WITHOUT: ClassVar[dict[str, str]] = {
        'forward_dynamics': 'takes efforts through ports of a system, not as an argument',
    }

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.plant = _load(problem)
        self._names = {'plant': self.plant, 'context': self.plant.CreateDefaultContext(),
                       'forces': MultibodyForces(self.plant)}
        self._first = BASE if problem.floating_base else 0
        joints = [self.plant.GetJointByName(body.joint)
                  for body in problem.robot.tree.bodies[1 if problem.floating_base else 0:]]
        self._q_places = [joint.position_start() for joint in joints]
        self._v_places = [joint.velocity_start() for joint in joints]

    def inverse_dynamics(self) -> Statement:
        return Statement(
            f'{SET_STATE}; plant.CalcForceElementsContribution(context, forces); '
            'tau = plant.CalcInverseDynamics(context, a, forces)', '(qv, a)', self._rows(),
            self._names, 'tau', self._to_ours)

    def gravity(self) -> Statement:
        rows = [(qv[:self.plant.num_positions()].copy(),) for qv, _ in self._rows()]
        return Statement(
            'plant.SetPositions(context, q); '
            'tau = plant.CalcGravityGeneralizedForces(context)', '(q,)', rows, self._names,
            'tau', lambda i, tau: self._to_ours(i, -tau), remark='with the opposite sign')

    def mass_matrix(self) -> Statement:
        if self._first:
            raise Absent('its floating base has other coordinates, in which M is another matrix')
        rows = [(qv[:self.plant.num_positions()].copy(),) for qv, _ in self._rows()]
        places = np.ix_(self._v_places, self._v_places)
        return Statement(
            'plant.SetPositions(context, q); M = plant.CalcMassMatrix(context)', '(q,)', rows,
            self._names, 'M', lambda i, M: M[places])

    def _rows(self) -> list[tuple[np.ndarray, np.ndarray]]:
        states = self._problem.states
        return [self._state(*state) for state in zip(states.q, states.qd, states.qdd)]

    def _state(
            self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray,
            ) -> tuple[np.ndarray, np.ndarray]:
        """Return one state in Drake's coordinates: positions with velocities, accelerations."""
        positions = np.zeros(self.plant.num_positions())
        v, a = np.zeros((2, self.plant.num_velocities()))
        positions[self._q_places] = q[7:] if self._first else q
        v[self._v_places], a[self._v_places] = qd[self._first:], qdd[self._first:]
        if self._first:
            R = rotation(q[3:7])
            positions[:7] = q[[6, 3, 4, 5, 0, 1, 2]]
            v[0:3], a[0:3] = R @ qd[0:3], R @ qdd[0:3]
            v[3:6], a[3:6] = in_world_axes(q, qd, qdd)
        return np.concatenate([positions, v]), a

    def _to_ours(self, i: int, effort: np.ndarray) -> np.ndarray:
        tau = np.empty(self._problem.robot.nv)
        tau[self._first:] = effort[self._v_places]
        if self._first:
            R = rotation(self._problem.states.q[i, 3:7])
            tau[0:3], tau[3:6] = R.T @ effort[0:3], R.T @ effort[3:6]
        return tau


def _load(problem: Problem) -> MultibodyPlant:
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    Parser(plant).AddModelsFromString(problem.description.text, 'urdf')
    if not problem.floating_base:
        root = problem.robot.link_names[0]
        if root != 'world':  # which in a URDF Drake takes for its own
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
    plant.Finalize()
    return plant
