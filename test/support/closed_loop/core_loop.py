# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http:#www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The closed loop of the controller's core, its drives and an arm."""

from __future__ import annotations

from collections.abc import Callable
import ctypes

from closed_loop.drives import EffortDrives, PositionDrives
from closed_loop.plant import Plant
from closed_loop.record import Record
from control_core import Core, Mode, model_file, Reason
import numpy as np
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robots.adjustable_robot import AdjustableRobot

GAINS = {'position_gains': [100.0], 'velocity_gains': [20.0]}
"""The recommended ones."""

Motion = Callable[[float], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Returns positions, velocities and accelerations for a time [s], shape (joints,) each."""


class CoreLoop:
    """
    A core that moves an arm, in each cycle, as a controller manager runs it.

    A command acts one cycle after the state that it is the answer to.  In feedforward, the drives
    have a position loop, which gets the positions and velocities that the core passes on.

    :param library: see :class:`.Core`.
    :param plant: the true arm.
    :param rate: of the cycle [Hz].
    :param model: None: exact.
    :param held: what the drives hold at the beginning, shape (joints,) [Nm]; None: what holds
        the arm.
    :param told: what the core is told of that; None: the truth.
    :ivar spoil: changes the measured positions and velocities in place, where it is not None.
    :ivar motion: what another controller wants, of the time; None: nothing.
    :ivar efforts: likewise in mode effort, of the time.
    :ivar reasons: in each cycle; likewise ``states``.
    :ivar period: what the core is told; None: the truth [s].
    """

    def __init__(
            self, library: ctypes.CDLL, plant: Plant, mode: Mode, *, rate: float = 1000.0,
            model: AdjustableRobot | None = None, held: np.ndarray | None = None,
            told: np.ndarray | None = None, **settings: object) -> None:
        self.plant, self.mode, self.cycle_time = plant, mode, 1.0 / rate
        self.model = model or plant.arm.model()
        self.core = Core(
            library, model_file(self.model), mode=mode, joints=plant.arm.joints,
            period=self.cycle_time, passes_position=mode is Mode.FEEDFORWARD,
            **{**(GAINS if mode is Mode.COMPUTED_TORQUE else {}), **settings})
        self.drives = self._drives()
        if held is not None:
            self.drives.held = np.array(held)
        self.record = Record(plant.arm.joints)
        self.states: list[str] = []
        self.reasons: list[Reason] = []
        self.usable: list[bool] = []
        self.model_efforts: list[np.ndarray] = []
        self.spoil: Callable[[np.ndarray, np.ndarray], None] | None = None
        self.motion: Motion | None = None
        self.efforts: Callable[[float], np.ndarray] | None = None
        self.period: float | None = None
        self.cycle = 0
        self.core.refer(*np.full((3, plant.arm.size), np.nan))
        self._measure()
        assert self.core.start(self.drives.held if told is None else told)

    def _drives(self) -> EffortDrives:
        if self.mode is Mode.FEEDFORWARD:
            return PositionDrives(
                self.plant, lambda _: (self.core.position_sent, self.core.velocity_sent),
                self.cycle_time)
        return EffortDrives(self.plant, self.cycle_time)

    @property
    def time(self) -> float:
        """Return the time since the beginning [s]."""
        return self.cycle * self.cycle_time

    def run(self, duration: float, each: Callable[[], None] | None = None) -> CoreLoop:
        """Let time pass [s]; a function is called before each cycle."""
        for _ in range(round(duration / self.cycle_time)):
            if each is not None:
                each()
            self.step()
        return self

    def step(self) -> bool:
        """Let one cycle pass, and return whether the core could use the states."""
        self.plant.advance(self.drives.efforts(self.time), self.cycle_time)
        self.cycle += 1
        self._measure()
        core = self.core
        if self.motion is not None:
            core.refer(*self.motion(self.time))
        if self.efforts is not None:
            core.reference[:] = self.efforts(self.time)
        is_usable = core.update(self.cycle_time if self.period is None else self.period)
        self.drives.command(self.time, core.effort)
        self.states.append(core.state)
        self.reasons.append(core.reason)
        self.usable.append(is_usable)
        self.model_efforts.append(core.model_effort.copy())
        self.record.add(self.time, self.plant.positions, self.plant.velocities,
                        core.effort.copy(), None, self.plant.work)
        return is_usable

    def follow(self, positions: np.ndarray) -> None:
        """Want a pose, at rest, from now on."""
        rest = np.zeros(len(positions))
        self.motion = lambda _: (positions, rest, rest)

    def carry(self, mass: float) -> None:
        """Tell the model of a point mass at the tip [kg]; 0: there is none."""
        self.model.set_payload('bench', self.plant.arm.tip, Inertial(mass, Pose((0.0, 0.0, 0.1))))
        assert self.core.refusal(self.model.parameter_values) == ''
        self.core.set_parameters(self.model.parameter_values)

    def largest_step_of_model(self) -> np.ndarray:
        """Return the largest change of the model's part in a cycle, shape (joints,) [Nm]."""
        return np.abs(np.diff(self.model_efforts, axis=0)).max(axis=0)

    def _measure(self) -> None:
        self.core.q[:], self.core.qd[:] = self.plant.positions, self.plant.velocities
        if self.spoil is not None:
            self.spoil(self.core.q, self.core.qd)
