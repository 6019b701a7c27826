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
"""PyBullet, whose inverse dynamics takes and returns Python's lists; a fixed base only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from benchmark.errors import Absent
from benchmark.problem import GRAVITY, Problem
from benchmark.statement import Statement
import numpy as np


@contextmanager
def silence() -> Iterator[None]:
    """Keep what C++ prints to the terminal for itself: a build time, links without inertia."""
    kept = [os.dup(stream) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        yield
    finally:
        for stream, copy in zip((1, 2), kept):
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)


with silence():
    import pybullet


class Bullet:
    """A body in a physics server of this process."""

    WITHOUT: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        if problem.floating_base:
            raise Absent('its inverse dynamics of a floating base has other coordinates')
        self._problem = problem
        self._client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(*GRAVITY, physicsClientId=self._client)
        self._body = self._load()
        infos = [pybullet.getJointInfo(self._body, j, physicsClientId=self._client)
                 for j in range(pybullet.getNumJoints(
                     self._body, physicsClientId=self._client))]
        moving = [info[1].decode() for info in infos if info[2] != pybullet.JOINT_FIXED]
        names = [body.joint for body in problem.robot.tree.bodies]
        self._order = [names.index(name) for name in moving]
        self._back = np.argsort(self._order)
        self._names = {'pybullet': pybullet, 'body': self._body, 'client': self._client}
        with silence():  # it warns at the first call
            self.inverse_dynamics().compiled().answers()

    def __del__(self) -> None:
        if hasattr(self, '_client'):
            pybullet.disconnect(self._client)

    def inverse_dynamics(self) -> Statement:
        states = self._problem.states
        rows = [tuple(vector[self._order].tolist() for vector in state)
                for state in zip(states.q, states.qd, states.qdd)]
        return Statement(
            'tau = pybullet.calculateInverseDynamics(body, q, v, a, physicsClientId=client)',
            '(q, v, a)', rows, self._names, 'tau',
            lambda i, tau: np.array(tau)[self._back])

    def mass_matrix(self) -> Statement:
        rows = [(q[self._order].tolist(),) for q in self._problem.states.q]
        places = np.ix_(self._back, self._back)
        return Statement(
            'M = pybullet.calculateMassMatrix(body, q, physicsClientId=client)', '(q,)', rows,
            self._names, 'M', lambda i, M: np.array(M)[places])

    def _load(self) -> int:
        with TemporaryDirectory() as folder:
            path = Path(folder, 'robot.urdf')
            path.write_text(self._problem.description.text, encoding='utf-8')
            try:
                with silence():
                    body: int = pybullet.loadURDF(
                        str(path), useFixedBase=True, physicsClientId=self._client,
                        flags=pybullet.URDF_USE_INERTIA_FROM_FILE)
            except pybullet.error as error:
                raise Absent(f'refuses the robot: {error}') from error
        for joint in range(-1, pybullet.getNumJoints(body, physicsClientId=self._client)):
            pybullet.changeDynamics(
                body, joint, linearDamping=0.0, angularDamping=0.0, jointDamping=0.0,
                physicsClientId=self._client)
        return body
