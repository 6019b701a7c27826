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
"""Recordings of robots that do not exist: motions, the efforts of a true robot, and noise."""

import numpy as np
from ros2_rnea.offline.identification.recording import PreparedRecording

MOVES = 0.03
"""The speed above which the direction of friction is told [rad/s or m/s]."""


def swings(robot, rng, duration=20.0, rate=100.0, amplitude=0.7, still=()):
    """
    Return times, q, qd and qdd of sums of sines, within the joints' limits.

    :param still: joints that do not move, at a position that is drawn.
    """
    times = np.arange(0.0, duration, 1.0 / rate)
    q, qd, qdd = (np.zeros((len(times), robot.nv)) for _ in range(3))
    for name, index in robot.tree.joints.items():
        body = robot.tree.bodies[index]
        assert body.type.nv == 1, 'positions of other joints are no sums of sines'
        lower, upper = (np.clip(each, -2.0, 2.0) for each in (
            body.limits.lower, body.limits.upper))
        middle = 0.5 * (lower + upper) + 0.15 * (upper - lower) * rng.uniform(-1.0, 1.0)
        swing = amplitude * min(1.0, upper - lower)
        column = body.v_index
        q[:, column] = middle
        if name in still:
            continue
        for k in range(1, 6):
            omega = 2.0 * np.pi * k / 10.0 * rng.uniform(0.9, 1.1)
            phase, size = rng.uniform(0.0, 2.0 * np.pi), swing * rng.uniform(0.3, 1.0) / k
            q[:, column] += 0.5 * size * np.sin(omega * times + phase)
            qd[:, column] += 0.5 * size * omega * np.cos(omega * times + phase)
            qdd[:, column] -= 0.5 * size * omega**2 * np.sin(omega * times + phase)
    return times, q, qd, qdd


def recorded(robot, motion, rng, noise=0.1, delay=0.0, alter=None, name='drawn', payloads=None):
    """
    Return the recording of a robot that really is the given one.

    :param noise: standard deviation of the efforts [Nm or N].
    :param delay: of the efforts [s].
    :param alter: a function that changes the efforts, from these and the velocities.
    """
    times, q, qd, qdd = motion
    tau = robot.inverse_dynamics(q, qd, qdd)
    if alter is not None:
        tau = alter(tau, qd)
    if delay:
        tau = np.stack([np.interp(times - delay, times, each) for each in tau.T], axis=1)
    tau = tau + noise * rng.standard_normal(tau.shape)
    return PreparedRecording(
        name=name, times=times, q=q, qd=qd, qdd=qdd, tau=tau, moves=np.abs(qd) > MOVES,
        pieces=(slice(0, len(times)),), payloads=payloads or {})
