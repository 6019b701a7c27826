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
"""Derivatives of efforts, against complex steps and the derivative of the graph itself."""

from __future__ import annotations

from dataclasses import replace
from math import sin, sqrt

from drawn_robots import assert_close, cases, for_drawn, slopes
from graph_derivatives import derivatives_of
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.friction import FRICTION_NUMBERS, friction_slope, joint_friction
from ros2_rnea.dynamics.quantities import INVERSE_DYNAMICS
from ros2_rnea.dynamics.quantity_definition import DynamicsInputs
from ros2_rnea.kernels.tracing import trace, Variant
from ros2_rnea.spatial import Force, Vector
from small_robots import joint, link, robot

ANY = cases(mimics=True)


def dynamics_inputs(case, q, qd, qdd):
    """Return what quantities are computed from, with a wrench on every body."""
    forces = {index: Force(Vector(1.0, -2.0, 0.5), Vector(0.25, 3.0, -index))
              for index in range(len(case.tree.bodies))}
    return DynamicsInputs(q, qd, qdd, gravity=Vector(*case.gravity), f_ext=forces)


def by_complex_steps(case):
    """Return the three derivatives of the effort, a column for each direction."""
    def effort(q, qd, qdd):
        return np.array(INVERSE_DYNAMICS.compute(case.tree, dynamics_inputs(case, q, qd, qdd)))

    def columns(function):
        step = 1e-30
        return [function(1j * step * unit).imag / step for unit in np.eye(case.robot.nv)]

    by_q = slopes(lambda q: effort(q, case.qd, case.qdd), case.tree, case.q)
    by_qd = columns(lambda step: effort(case.q, case.qd + step, case.qdd))
    by_qdd = columns(lambda step: effort(case.q, case.qd, case.qdd + step))
    return [np.array(by_column).reshape(case.robot.nv, -1).T
            for by_column in (by_q, by_qd, by_qdd)]


@for_drawn(ANY)
def test_they_are_what_complex_steps_give(case):
    forces = np.array([[*force] for force in dynamics_inputs(case, 0, 0, 0).f_ext.values()])
    ours = case.robot.inverse_dynamics_derivatives(
        *case.state, forces.reshape(-1, 6), case.gravity)
    for mine, expected in zip(ours, by_complex_steps(case)):
        assert_close(mine, expected, np.max(np.abs(ours), initial=0.0))


@for_drawn(cases(bases=(False,), mimics=True))
def test_velocities_and_accelerations_differentiate_the_graph_alike(case):
    rigid = replace(case.tree, bodies=tuple(
        replace(body, **dict.fromkeys(FRICTION_NUMBERS, 0.0), armature=0.0)
        for body in case.tree.bodies))
    traced = trace(rigid, INVERSE_DYNAMICS, Variant())
    values = {'q': case.q, 'qd': case.qd, 'qdd': case.qdd, 'parameters': np.array(case.gravity)}
    ours = Robot(rigid).inverse_dynamics_derivatives(*case.state, None, case.gravity)
    for name, mine in (('qd', ours[1]), ('qdd', ours[2])):
        assert_close(mine, derivatives_of(traced, name, values), np.max(np.abs(ours)))


def test_a_pendulum_by_hand():
    rod = Robot.from_urdf(robot(
        link('wall'), link('rod', mass=2.0, com='0 0 -0.5'),
        joint('pin', 'wall', 'rod', axis='0 1 0')))
    by_q, by_qd, by_qdd = rod.inverse_dynamics_derivatives([0.3], [1.5], [2.0])
    assert by_q[0, 0] == pytest.approx(2.0 * 9.81 * 0.5 * sqrt(1.0 - sin(0.3) ** 2))
    assert by_qd[0, 0] == pytest.approx(0.0, abs=1e-15)
    assert by_qdd[0, 0] == pytest.approx(rod.mass_matrix([0.3])[0, 0])


@for_drawn(ANY)
def test_the_slope_of_friction_is_the_slope_of_friction(case):
    step = 1e-30
    slope = [np.imag(joint_friction(case.tree, case.qd + 1j * step * unit)[k]) / step
             for k, unit in enumerate(np.eye(case.robot.nv))]
    assert_close(friction_slope(case.tree, list(case.qd)), slope)
