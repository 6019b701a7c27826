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
"""Recordings of robots whose true parameters are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import BASIS, pseudo_inertia
from ros2_rnea.offline.identification.recording import PreparedRecording


def changed_inertias(robot, seed, amount=0.1):
    """Return the robot with other bodies, all of which can be."""
    rng = np.random.default_rng(seed)
    solve = np.linalg.pinv(BASIS.reshape(10, 16).T)
    changed = []
    for ten in robot.inertial_parameters.reshape(-1, 10):
        turn = np.eye(4) + amount * rng.normal(size=(4, 4))
        J = turn @ np.array(pseudo_inertia(ten.tolist())) @ turn.T
        changed.append(solve @ J.ravel())
    return robot.with_inertial_parameters(np.ravel(changed))


def with_joint_numbers(robot, **numbers):
    """Return the robot with numbers of all its independent joints, such as damping."""
    bodies = tuple(
        replace(body, **numbers) if body.joint in robot.joint_names else body
        for body in robot.tree.bodies)
    return type(robot)(replace(robot.tree, bodies=bodies), gravity=robot.free_fall)


def motion(robot, count, seed, period=0.01, delay=0.0):
    """
    Return times and states on sums of sines, quaternions of length 1.

    :param delay: the states are those so long before the times [s].
    """
    rng = np.random.default_rng(seed)
    t = np.arange(count) * period
    at = t - delay
    q, qd, qdd = np.zeros((3, count, robot.nv))
    for harmonic in range(1, 6):
        w = 2.0 * np.pi * harmonic * 2.0 / (count * period)
        phase = np.multiply.outer(at, np.full(robot.nv, w)) + rng.uniform(-3.0, 3.0, robot.nv)
        size = rng.normal(size=robot.nv) / harmonic
        q += size * np.sin(phase)
        qd += size * w * np.cos(phase)
        qdd -= size * w * w * np.sin(phase)
    return t, positions(robot, q), qd, qdd


def positions(robot, q):
    """Return position vectors from nv numbers, the last ones turned into unit quaternions."""
    if robot.nq == robot.nv:
        return q
    return np.array([robot.integrate(robot.neutral(), one) for one in q])


def recording(robot, state, noise=None, name='synthetic', payloads=(), **changes):
    """Return what a perfect preparation makes of a motion of the robot."""
    t, q, qd, qdd = state
    loaded = robot
    for payload, (link, inertial) in dict(payloads).items():
        loaded = loaded.with_payload(payload, link, inertial)
    tau = loaded.inverse_dynamics(q, qd, qdd)
    tau = tau if noise is None else tau + noise
    return PreparedRecording(
        name, **{**{'times': t, 'q': q, 'qd': qd, 'qdd': qdd, 'tau': tau,
                    'moves': np.abs(qd) > 0.05, 'pieces': (slice(0, len(t)),),
                    'payloads': dict(payloads)}, **changes})


def true_values(truth, result):
    """Return the true value of each parameter of a result."""
    phi = truth.inertial_parameters.reshape(-1, 10)
    names = ('m', 'hx', 'hy', 'hz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
    values = {}
    for one in result.parameters:
        if one.quantity in names:
            body = truth.body_names.index(one.owner)
            values[one.name] = phi[body, names.index(one.quantity)]
        else:
            body = truth.tree.bodies[truth.tree.joints[one.owner]]
            values[one.name] = {
                'viscous': body.damping, 'coulomb': body.friction,
                'rotor_inertia': body.armature, 'offset': 0.0}[one.quantity]
    return values


def deviations(truth, result):
    """Return by how many standard errors each determined number is wrong."""
    values = true_values(truth, result)
    alone = [(one.value - values[one.name]) / one.standard_error
             for one in result.parameters if one.standard_error is not None]
    sums = [(one.value - sum(factor * values[name] for name, factor in one.terms.items()))
            / one.standard_error for one in result.base_parameters]
    return np.array(alone), np.array(sums)
