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
The robot itself: a rigid-body simulation of a URDF arm by MuJoCo.

MuJoCo reads the same description as the node and shares no code with it, so that the two can be
held against each other.  Nothing here knows ROS.
"""

from __future__ import annotations

import re

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ros2_rnea.errors import ArgumentError, DescriptionError

STEP = 0.0005
"""Time step of the integration [s]."""

GRAVITY = (0.0, 0.0, -9.81)
"""In the axes of the robot's root link [m/s^2]."""

# Take the inertias as they are written, and keep each link as a body of its own.
_COMPILER = ('<mujoco><compiler balanceinertia="false" discardvisual="true" fusestatic="false"/>'
             '</mujoco>')


class Engine:
    """
    An arm that stands on the world and moves as the efforts on its joints make it.

    Contacts are off.  The integrator is fourth-order Runge-Kutta: at this step its error is far
    below the tracking errors that the demo measures, so those are the controller's alone.

    :param urdf: robot description whose moving joints are all revolute or prismatic.
    :param step: time step of the integration [s].
    :raises DescriptionError: when MuJoCo refuses the description; the message says why.
    """

    def __init__(self, urdf: str, step: float = STEP) -> None:
        try:
            self._model = mujoco.MjModel.from_xml_string(_with_compiler_options(urdf))
        except ValueError as error:
            raise DescriptionError(f'MuJoCo refuses the robot description: {error}') from error
        self._model.opt.timestep = step
        self._model.opt.gravity = GRAVITY
        self._model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self._model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self._data = mujoco.MjData(self._model)
        self._tip_body = 0
        self._tip_wrench = np.zeros(6)
        self.step = step
        self.joint_names = tuple(self._model.joint(i).name for i in range(self._model.njnt))

    @property
    def effort_limits(self) -> NDArray[np.float64]:
        """Return what the motors can exert, as the description says, shape (n,) [Nm or N]."""
        limits = self._model.jnt_actfrcrange[:, 1].copy()
        limits[self._model.jnt_actfrclimited == 0] = np.inf
        return limits

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
        Return poses anywhere within the limits of the joints.

        :returns: shape (count, n) [rad or m].
        """
        lower, upper = self._model.jnt_range.T
        return np.random.default_rng(seed).uniform(lower, upper, (count, len(lower)))

    def push(self, link: str, wrench: ArrayLike) -> None:
        """
        Let the environment push a link from now on, until the next call.

        :param link: name of the link.
        :param wrench: [moment; force] on the robot about the origin of the link's frame, in its
            axes, shape (6,) [Nm, N].
        :raises ArgumentError: when the robot has no such link.
        """
        body = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, link)
        if body < 0:
            names = ', '.join(self._model.body(i).name for i in range(self._model.nbody))
            raise ArgumentError(f"the robot has no link '{link}'; it has {names}")
        self._tip_body = body
        self._tip_wrench[:] = wrench

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

    def _apply_tip_wrench(self) -> None:
        body = self._data.body(self._tip_body)
        to_world = body.xmat.reshape(3, 3)
        moment, force = to_world @ self._tip_wrench[:3], to_world @ self._tip_wrench[3:]
        mujoco.mj_applyFT(self._model, self._data, force, moment, body.xpos, self._tip_body,
                          self._data.qfrc_applied)


def _with_compiler_options(urdf: str) -> str:
    return re.sub(r'(<robot\b[^>]*>)', rf'\1{_COMPILER}', urdf, count=1)
