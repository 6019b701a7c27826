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
"""The true arm, which MuJoCo simulates.  It shares no code with the model of the policy."""

from __future__ import annotations

from xml.etree import ElementTree

from closed_loop.arms import Arm
import numpy as np
from numpy.typing import ArrayLike
from ros2_rnea.tools.mujoco_library import mujoco

STEP = 5e-4
"""Time step of the integration [s]."""

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the axes of the base [m/s^2]."""


class Plant:
    """
    An arm that moves as its motors, its friction, gravity and the environment make it.

    :param arm: its description.
    :param positions: where it begins, shape (joints,) [rad]; None: at ``arm.start``.
    :param mass_factor: of all masses and inertias, in place of those of the description.
    :param viscous: factor of the arm's viscous friction.
    :param coulomb: factor of the arm's Coulomb friction; 0: it has none.
    :param breakaway: by how much friction at rest exceeds Coulomb friction, as a share of it.  It
        falls with the velocity, as Stribeck found.
    :param armature: factor of the arm's armature; 0: it has none.
    :param has_stops: whether joints end at their position limits.
    :param step: of the integration [s].
    :ivar push: effort of the environment on the joints, shape (joints,) [Nm].
    :ivar tip_wrench: of the environment on the tip, [force; moment] about its centre of mass in
        world axes, shape (6,) [N, Nm].
    :ivar work: what the motors have put into the arm so far [J].
    """

    def __init__(
            self, arm: Arm, positions: ArrayLike | None = None, *, mass_factor: float = 1.0,
            viscous: float = 1.0, coulomb: float = 0.0, breakaway: float = 0.0,
            armature: float = 0.0, has_stops: bool = False, step: float = STEP) -> None:
        self.arm = arm
        self._model = _loaded(arm, step, has_stops)
        self._model.body_mass[:] *= mass_factor
        self._model.body_inertia[:] *= mass_factor
        self._model.dof_damping[:] = viscous * arm.viscous
        self._model.dof_armature[:] = armature * arm.armature
        self._coulomb, self._breakaway = coulomb * arm.coulomb, breakaway
        self._model.dof_frictionloss[:] = self._coulomb
        self._brakes = np.zeros(arm.size)
        self._tip = self._model.body(arm.tip).id
        self._tip_alone = (float(self._model.body_mass[self._tip]),
                           self._model.body_ipos[self._tip].copy())
        self._data, self._at_rest = mujoco.MjData(self._model), mujoco.MjData(self._model)
        # The stiffness of dry friction is computed from the inertia: from that with the armature.
        mujoco.mj_setConst(self._model, self._at_rest)
        self.push, self.tip_wrench, self.work = np.zeros(arm.size), np.zeros(6), 0.0
        self.place(arm.start if positions is None else positions)

    def place(self, positions: ArrayLike, velocities: ArrayLike = 0.0) -> None:
        """
        Put the arm somewhere.

        :param positions: shape (joints,) [rad].
        :param velocities: shape (joints,) [rad/s].
        """
        self._data.qpos[:] = positions
        self.set_velocities(velocities)

    def set_velocities(self, velocities: ArrayLike) -> None:
        """Let the arm move from now on with velocities of shape (joints,) [rad/s]."""
        self._data.qvel[:] = velocities
        mujoco.mj_forward(self._model, self._data)

    @property
    def positions(self) -> np.ndarray:
        """Return the joint positions, shape (joints,) [rad]."""
        return self._data.qpos.copy()

    @property
    def velocities(self) -> np.ndarray:
        """Return the joint velocities, shape (joints,) [rad/s]."""
        return self._data.qvel.copy()

    @property
    def effort_limits(self) -> np.ndarray:
        """Return what the motors can exert, shape (joints,) [Nm]."""
        return self._model.jnt_actfrcrange[:, 1].copy()

    @property
    def velocity_limits(self) -> np.ndarray:
        """Return the velocity limits of the description, shape (joints,) [rad/s]."""
        joints = {joint.get('name'): joint.find('limit')
                  for joint in ElementTree.fromstring(self.arm.urdf).findall('joint')}
        return np.array([float(joints[name].get('velocity')) for name in self.arm.joints])

    @property
    def position_limits(self) -> np.ndarray:
        """Return the lower and upper position limits, shape (2, joints) [rad]."""
        return self._model.jnt_range.T.copy()

    def holding_effort(self) -> np.ndarray:
        """Return the effort that holds the true arm where it is, shape (joints,) [Nm]."""
        self._at_rest.qpos[:] = self._data.qpos
        mujoco.mj_kinematics(self._model, self._at_rest)
        mujoco.mj_comPos(self._model, self._at_rest)
        mujoco.mj_comVel(self._model, self._at_rest)
        effort = np.zeros(self.arm.size)
        mujoco.mj_rne(self._model, self._at_rest, 0, effort)
        return effort

    def mass_matrix(self) -> np.ndarray:
        """Return the true mass matrix, armature included, shape (joints, joints) [kg m^2]."""
        full = np.zeros((self.arm.size, self.arm.size))
        for unit, column in zip(np.eye(self.arm.size), full):
            mujoco.mj_mulM(self._model, self._data, column, unit)
        return full

    @property
    def kinetic_energy(self) -> float:
        """Return the kinetic energy [J]."""
        velocities = self._data.qvel
        return 0.5 * float(velocities @ self.mass_matrix() @ velocities)

    def slip(self, gain: float) -> float:
        """
        Return how fast a joint moves that breaks away under computed torque [rad/s].

        Friction at rest beyond that of the model is overcome by an error, which is caught up with
        a critically damped feedback.

        :param gain: of positions [1/s^2].
        """
        sticking = self._coulomb * (1.0 + self._breakaway) - self.arm.coulomb
        inertia = 1.0 / np.diagonal(np.linalg.inv(self.mass_matrix()))
        error = np.maximum(sticking, 0.0) / (inertia * gain)
        return float((error * np.sqrt(gain) / np.e).max())

    def set_payload(self, mass: float, at: ArrayLike = (0.0, 0.0, 0.1)) -> None:
        """
        Let the tip carry a point mass from now on, in place of the one before.

        :param mass: [kg]; 0: none.
        :param at: where it is in the frame of the tip, shape (3,) [m].
        """
        alone, center = self._tip_alone
        self._model.body_mass[self._tip] = alone + mass
        self._model.body_ipos[self._tip] = (
            (alone * center + mass * np.array(at)) / (alone + mass))
        mujoco.mj_forward(self._model, self._data)

    def close_brakes(self, are_closed: bool = True) -> None:
        """Let brakes hold the joints, or release them."""
        self._brakes = 10.0 * self.effort_limits * are_closed
        self._model.dof_frictionloss[:] = self._coulomb + self._brakes

    def set_gravity(self, gravity: ArrayLike = STANDARD_GRAVITY) -> None:
        """Let the base be tilted, so that gravity has these axes, shape (3,) [m/s^2]."""
        self._model.opt.gravity[:] = gravity

    def advance(self, efforts: np.ndarray, duration: float) -> None:
        """
        Let time pass while the motors exert constant efforts.

        :param efforts: shape (joints,) [Nm].
        :param duration: a multiple of the time step [s].
        """
        data = self._data
        data.qfrc_applied[:] = efforts + self.push
        data.xfrc_applied[self._tip] = self.tip_wrench
        if self._breakaway:
            share = np.exp(-(data.qvel / STRIBECK_VELOCITY) ** 2)
            self._model.dof_frictionloss[:] = (
                self._coulomb * (1.0 + self._breakaway * share) + self._brakes)
        before = data.qpos.copy()
        mujoco.mj_step(self._model, data, nstep=max(1, round(duration / self._model.opt.timestep)))
        self.work += float(efforts @ (data.qpos - before))


STRIBECK_VELOCITY = 0.05
"""At which about a third of the breakaway friction is left [rad/s]."""


def _loaded(arm: Arm, step: float, has_stops: bool) -> mujoco.MjModel:
    """Return MuJoCo's model of the masses, joints and limits of an arm, and of nothing else."""
    robot = ElementTree.fromstring(arm.urdf)
    for element in robot.iter():  # MuJoCo has a world of its own
        for attribute in ('name', 'link'):
            if element.tag in ('link', 'parent', 'child') and element.get(attribute) == 'world':
                element.set(attribute, 'link named world')
    for link in robot.findall('link'):
        for shape in link.findall('visual') + link.findall('collision'):
            link.remove(shape)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding='unicode'))
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = True
    model = spec.compile()
    joints = tuple(model.joint(index).name for index in range(model.njnt))
    assert joints == arm.joints, f'the description has the joints {joints}'
    model.opt.timestep = step
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    if not has_stops:
        model.jnt_limited[:] = 0
    return model
