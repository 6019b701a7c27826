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
The simulated robot: a rigid-body simulation of a URDF arm by MuJoCo.

MuJoCo reads the same description as the node and shares no code with it, so the two can be
compared.  Nothing here knows ROS.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ros2_rnea.errors import ArgumentError, DescriptionError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.tools.mujoco_library import mujoco
from ros2_rnea.tools.simulated_driver.description import balanced, for_mujoco, Load

STEP = 0.0005
"""Time step of the integration [s]."""

MAX_DECAY = 1.0
"""Share of its speed by which damping may slow a joint down in a time step."""

GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the axes of the robot's root link [m/s^2]."""


class Engine:
    """
    An arm that stands on the world and moves as the efforts on its joints make it.

    Contacts are off.  The integrator is fourth-order Runge-Kutta: at this step its error is far
    below the tracking errors that the demo measures, so those are the controller's alone.  Only
    where a joint is damped too strongly for it, the integrator is MuJoCo's implicit one.

    :param urdf: robot description whose moving joints are all revolute or prismatic.
    :param step: time step of the integration [s].
    :ivar balanced: the inertias that were changed, because no rigid body has them.
    :raises DescriptionError: when the description cannot be simulated; the message says why.
    """

    def __init__(self, urdf: str, step: float = STEP) -> None:
        self.step = step
        self.urdf = urdf
        self._balanced_urdf, self.balanced = balanced(urdf)
        self._model = self._loaded(None, GRAVITY)
        if not self._model.njnt:
            raise DescriptionError('the robot description has no moving joint')
        self._data = mujoco.MjData(self._model)
        self._tip_body = 0
        self._tip_wrench = np.zeros(6)
        self.joint_names = tuple(self._model.joint(i).name for i in range(self._model.njnt))

    @property
    def effort_limits(self) -> NDArray[np.float64]:
        """Return what the motors can exert, as the description says, shape (n,) [Nm or N]."""
        limits = self._model.jnt_actfrcrange[:, 1].copy()
        limits[self._model.jnt_actfrclimited == 0] = np.inf
        return limits

    @property
    def position_limits(self) -> NDArray[np.float64]:
        """Return where the joints end, lower and upper, infinite without, shape (2, n)."""
        unlimited = np.outer((-np.inf, np.inf), np.ones(self._model.njnt))
        return np.where(self._model.jnt_limited, self._model.jnt_range.T, unlimited)

    @property
    def slides(self) -> NDArray[np.bool_]:
        """Return which joints move along their axis rather than about it, shape (n,)."""
        return self._model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE

    @property
    def damping(self) -> NDArray[np.float64]:
        """Return the joints' own damping, shape (n,) [Nm s/rad or N s/m]."""
        return self._model.dof_damping.copy()

    @property
    def dry_friction(self) -> NDArray[np.float64]:
        """Return the joints' Coulomb friction, shape (n,) [Nm or N]."""
        return self._model.dof_frictionloss.copy()

    @property
    def moving_mass(self) -> float:
        """Return the mass of all links that the joints move [kg]."""
        return float(self._model.body_mass[self._model.body_weldid != 0].sum())

    @property
    def positions(self) -> NDArray[np.float64]:
        """Return the joint positions now, shape (n,) [rad or m]."""
        return self._data.qpos.copy()

    @property
    def velocities(self) -> NDArray[np.float64]:
        """Return the joint velocities now, shape (n,) [rad/s or m/s]."""
        return self._data.qvel.copy()

    def place(self, positions: ArrayLike) -> None:
        """
        Put the arm at rest in a pose.

        :param positions: joint positions, shape (n,) [rad or m].
        """
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:] = positions
        mujoco.mj_forward(self._model, self._data)

    def random_poses(self, count: int, seed: int) -> NDArray[np.float64]:
        """
        Return poses anywhere within the limits of the joints, or else within half a turn.

        :returns: shape (count, n) [rad or m].
        """
        lower, upper = np.clip(self.position_limits, -np.pi, np.pi)
        return np.random.default_rng(seed).uniform(lower, upper, (count, len(lower)))

    def push(self, link: str, wrench: ArrayLike) -> None:
        """
        Let the environment push a link from now on, until the next call.

        :param link: name of the link.
        :param wrench: [moment; force] on the robot about the origin of the link's frame, in its
            axes, shape (6,) [Nm, N].
        :raises ArgumentError: when the robot has no such link.
        """
        self._tip_body = self._body(link)
        self._tip_wrench[:] = wrench

    def carry(self, load: Load) -> None:
        """
        Let a link carry a load from now on, in place of the one before; the motion goes on.

        :raises ArgumentError: when the robot has no such link, or no body is like that.
        """
        self._body(load.link)
        friction = self.dry_friction
        try:
            self._model = self._loaded(load, self._model.opt.gravity)
        except DescriptionError as error:
            raise ArgumentError(f'a load of {load.mass} kg is refused: {error}') from error
        self.set_dry_friction(friction)
        before, self._data = self._data, mujoco.MjData(self._model)
        self._data.qpos[:], self._data.qvel[:] = before.qpos, before.qvel
        mujoco.mj_forward(self._model, self._data)

    def set_gravity(self, gravity: ArrayLike) -> None:
        """
        Let gravity have another direction, as it has for a mount that is tilted.

        :param gravity: acceleration of free fall in the axes of the root link, shape (3,) [m/s^2].
        """
        self._model.opt.gravity[:] = gravity

    def set_dry_friction(self, friction: ArrayLike) -> None:
        """
        Let the joints have another Coulomb friction from now on.

        :param friction: shape (n,), not negative [Nm or N].
        """
        self._model.dof_frictionloss[:] = friction

    def advance(self, effort: ArrayLike, steps: int) -> None:
        """
        Let time pass while the joints' motors exert a constant effort.

        :param effort: effort of the motors, shape (n,) [Nm or N].
        :param steps: number of time steps.
        """
        self._data.qfrc_applied[:] = effort
        self._apply_tip_wrench()
        mujoco.mj_step(self._model, self._data, nstep=steps)

    def holding_effort(self, positions: ArrayLike) -> NDArray[np.float64]:
        """
        Return the effort that holds the arm still against gravity, and put it in that pose.

        :param positions: joint positions, shape (n,) [rad or m].
        :returns: effort, shape (n,) [Nm or N].
        """
        self.place(positions)
        return self._data.qfrc_bias.copy()

    def mass_matrix(self, positions: ArrayLike) -> NDArray[np.float64]:
        """
        Return the mass matrix in a pose, and put the arm there.

        :param positions: joint positions, shape (n,) [rad or m].
        :returns: shape (n, n) [kg m^2 and kg].
        """
        self.place(positions)
        columns = np.zeros((self._model.nv, self._model.nv))
        for unit, column in zip(np.eye(self._model.nv), columns):
            mujoco.mj_mulM(self._model, self._data, column, unit)
        return columns

    def _loaded(self, load: Load | None, gravity: ArrayLike) -> mujoco.MjModel:
        text = for_mujoco(self._balanced_urdf, load)
        try:
            model = mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            raise DescriptionError(_refusal(str(error), self.urdf)) from error
        model.opt.timestep = self.step
        model.opt.gravity[:] = gravity
        model.opt.integrator = _integrator(model)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        return model

    def _body(self, link: str) -> int:
        body = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, link)
        if body < 0:
            names = ', '.join(self._model.body(i).name for i in range(self._model.nbody))
            raise ArgumentError(f"the robot has no link '{link}'; it has {names}")
        return body

    def _apply_tip_wrench(self) -> None:
        body = self._data.body(self._tip_body)
        to_world = body.xmat.reshape(3, 3)
        moment, force = to_world @ self._tip_wrench[:3], to_world @ self._tip_wrench[3:]
        mujoco.mj_applyFT(self._model, self._data, force, moment, body.xpos, self._tip_body,
                          self._data.qfrc_applied)


def _refusal(said: str, urdf: str) -> str:
    """Return why MuJoCo refuses a description, with the values of the link that it names."""
    said = ' '.join(said.split())
    named = [link for link in parse_urdf(urdf).links if f"name '{link.name}'" in said]
    if not named or 'mass and inertia' not in said:
        return f'MuJoCo refuses the robot description: {said}'
    inertial = named[0].inertial
    numbers = ', '.join(f'{number:g}' for number in inertial.inertia) if inertial else ''
    has = ('no <inertial>' if inertial is None else
           f'mass {inertial.mass:g} kg and inertia {numbers} kg m^2')
    return (f'link {named[0].name!r} has {has}, and the physics engine needs mass and inertia of '
            'a body that a joint moves: give the link both, or make that joint fixed')


def _integrator(model: mujoco.MjModel) -> mujoco.mjtIntegrator:
    fastest_decay = np.max(model.dof_damping * model.dof_invweight0, initial=0.0)
    if fastest_decay * model.opt.timestep > MAX_DECAY:
        return mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return mujoco.mjtIntegrator.mjINT_RK4
