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
"""What is compared, and how close it has to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from ros2_rnea.dynamics.wrenches import WORLD

WRENCHES = 4  # so many links are pushed at a time
NOTHING = 1e-12  # [SI] what is smaller everywhere is zero but for rounding


class States(NamedTuple):
    """Random states as rows, efforts that go with them, and wrenches on some links."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    f_ext: dict


def random_states(oracle, seed, count):
    """
    Return states with |v|, |v̇| up to 3; the efforts are those of the oracle for the motion.

    With them forward dynamics has to find accelerations of a size that robots have.  Efforts
    drawn at random would throw the lightest finger about and hide errors in all else.
    """
    rng = np.random.default_rng(seed)
    links = rng.choice(oracle.link_names, size=min(WRENCHES, len(oracle.link_names)),
                       replace=False)
    f_ext = {str(link): rng.normal(size=6) * 100.0 for link in links}
    motion = oracle.random_states(seed, count)
    return States(*motion, oracle.inverse_dynamics(*motion), f_ext)


@dataclass(frozen=True)
class Quantity:
    """
    Something that the package and an oracle both know.

    :ivar ours: of a robot and N states, N rows of any shape.
    :ivar theirs: of an oracle and the same states, the same.
    :ivar mujoco: whether the oracle of MuJoCo has it too.
    :ivar needs_inertia: whether it is undefined where the mass matrix is singular.
    """

    name: str
    short: str
    ours: Callable
    theirs: Callable
    mujoco: bool = False
    needs_inertia: bool = False


QUANTITIES = (
    Quantity('inverse dynamics', 'RNEA',
             lambda robot, s: robot.inverse_dynamics(s.q, s.qd, s.qdd),
             lambda oracle, s: oracle.inverse_dynamics(s.q, s.qd, s.qdd), mujoco=True),
    Quantity(f'inverse dynamics under wrenches on {WRENCHES} links', 'RNEA, wrenches',
             lambda robot, s: robot.inverse_dynamics(s.q, s.qd, s.qdd, f_ext=s.f_ext),
             lambda oracle, s: oracle.inverse_dynamics(s.q, s.qd, s.qdd, s.f_ext)),
    Quantity('gravity', 'gravity',
             lambda robot, s: robot.gravity(s.q),
             lambda oracle, s: oracle.gravity(s.q), mujoco=True),
    Quantity('bias: Coriolis, gravity, friction', 'bias',
             lambda robot, s: robot.bias(s.q, s.qd),
             lambda oracle, s: oracle.bias(s.q, s.qd), mujoco=True),
    Quantity('mass matrix', 'M',
             lambda robot, s: robot.mass_matrix(s.q),
             lambda oracle, s: oracle.mass_matrix(s.q), mujoco=True),
    Quantity('forward dynamics', 'ABA',
             lambda robot, s: robot.forward_dynamics(s.q, s.qd, s.tau),
             lambda oracle, s: oracle.forward_dynamics(s.q, s.qd, s.tau),
             mujoco=True, needs_inertia=True),
    Quantity('effort that the accelerations of forward dynamics need', 'ABA → RNEA',
             lambda robot, s: robot.inverse_dynamics(
                 s.q, s.qd, robot.forward_dynamics(s.q, s.qd, s.tau)),
             lambda oracle, s: s.tau, mujoco=True, needs_inertia=True),
    Quantity('Jacobians of all links in their own frames', 'J link',
             lambda robot, s: of_links(robot, lambda link: robot.jacobian(s.q, link)),
             lambda oracle, s: oracle.link_jacobians(s.q, oracle.link_names)),
    Quantity('Jacobians of all links in the world', 'J world',
             lambda robot, s: of_links(robot, lambda link: robot.jacobian(s.q, link, WORLD)),
             lambda oracle, s: oracle.link_jacobians(s.q, oracle.link_names, True)),
    Quantity('J̇ q̇ of all links', 'J̇q̇',
             lambda robot, s: of_links(robot, lambda link: robot.link_motion(
                 s.q, s.qd, np.zeros_like(s.qd), link).acceleration),
             lambda oracle, s: oracle.link_drifts(s.q, s.qd, oracle.link_names)),
    Quantity('poses of all links', 'poses',
             lambda robot, s: our_poses(robot, s.q),
             lambda oracle, s: oracle.link_poses(s.q, oracle.link_names)),
    Quantity('kinetic energy', 'T',
             lambda robot, s: robot.kinetic_energy(s.q, s.qd),
             lambda oracle, s: oracle.kinetic_energy(s.q, s.qd), mujoco=True),
    Quantity('potential energy, gravity along x, y and z', 'V',
             lambda robot, s: in_each_gravity(robot, s.q),
             lambda oracle, s: in_each_gravity(oracle, s.q)),
    Quantity('centre of mass', 'CoM',
             lambda robot, s: robot.center_of_mass(s.q),
             lambda oracle, s: oracle.center_of_mass(s.q)),
    Quantity('momentum', 'momentum',
             lambda robot, s: robot.momentum(s.q, s.qd),
             lambda oracle, s: oracle.momentum(s.q, s.qd)),
    Quantity('regressor', 'Y',
             lambda robot, s: robot.regressor(s.q, s.qd, s.qdd),
             lambda oracle, s: oracle.regressor(s.q, s.qd, s.qdd)),
    Quantity('inertial parameters', 'φ',
             lambda robot, s: robot.inertial_parameters[None],
             lambda oracle, s: oracle.inertial_parameters[None]),
)


def of_links(robot, quantity):
    """Return a quantity of every link, shape (N, links, …)."""
    return np.stack([quantity(link) for link in robot.link_names], axis=1)


def our_poses(robot, q):
    """Return [R p] of every link, shape (N, links, 3, 4)."""
    return np.stack([np.concatenate([pose.rotation, pose.position[..., None]], axis=-1)
                     for pose in robot.link_poses(q).values()], axis=1)


def in_each_gravity(robot, q):
    """Return three potential energies, shape (N, 3); one alone may be close to zero by chance."""
    return np.stack([robot.potential_energy(q, g) for g in -9.81 * np.eye(3)], axis=1)


def relative_errors(ours, theirs):
    """Return for each row the largest difference over the largest magnitude in theirs."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise ValueError(f'shape {ours.shape} is not {theirs.shape}')
    others = tuple(range(1, theirs.ndim))
    scale = np.max(np.abs(theirs), axis=others)
    return np.max(np.abs(ours - theirs), axis=others) / np.maximum(scale, NOTHING)
