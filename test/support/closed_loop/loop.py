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
"""The closed loop of a policy, its drives, an arm and its sensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from closed_loop.arms import Arm, seven_joints
from closed_loop.drives import EffortDrives
from closed_loop.plant import Plant
from closed_loop.record import Record
from closed_loop.sensors import PERFECT, SensorQuality, Sensors
import numpy as np
from ros2_rnea.control.decision import Decision, Instant
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.output.start_effort import Evidence, Receiver
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings, StartFrom
from ros2_rnea.control.target.controller_state import ControllerReference
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.trajectories.ros_time import RosTime
from ros2_rnea.trajectories.trajectory import TrajectoryCommand, Waypoint

FIRST_STEADY, FIRST_ROS = 100_000.0, 5_000.0
"""Readings of the two clocks when a loop begins [s]."""

COMPUTED_TORQUE = {
    'mode': Mode.COMPUTED_TORQUE, 'position_gains': (100.0,), 'velocity_gains': (20.0,)}
"""The recommended gains."""

GUIDED = {'mode': Mode.GRAVITY_COMPENSATION}

Point = tuple[Any, ...]
"""Time [s], positions [rad], and velocities and accelerations where they are given."""


class ClosedLoop:
    """
    A policy that moves an arm.

    The policy decides for each joint state that is received, and otherwise in every cycle while
    states are stale, as the node does by its timers.

    :param plant: the true arm; None: that of the demo, with viscous friction only.
    :param settings: in place of the default ones.  The first effort is that which holds the arm.
    :param rate: of measurements and drives [Hz].
    :param states_every: the driver publishes each state, or every second, third and so on.
    :param bus_delay: from a command until it acts [s].
    :param drives: None: effort drives that hold their last command.
    :param model: of the arm; None: exact but for Coulomb friction and armature.
    :ivar states_every: as the parameter; it may be changed.
    :ivar refused: what inputs were refused, with the time [s].
    :ivar is_observing: whether the external effort is observed.
    """

    def __init__(
            self, plant: Plant | None = None, *, rate: float = 1000.0, states_every: int = 1,
            bus_delay: float = 0.0, sensors: SensorQuality = PERFECT,
            drives: EffortDrives | None = None, model: AdjustableRobot | None = None,
            seed: int = 0, **settings: Any) -> None:
        self.plant = plant or Plant(seven_joints())
        self.arm: Arm = self.plant.arm
        self.period, self.states_every = 1.0 / rate, states_every
        self.random = np.random.default_rng(seed)
        self.sensors = Sensors(self.plant, sensors, self.period * states_every, self.random)
        self.drives = drives or EffortDrives(self.plant, bus_delay)
        self.model = model or self.arm.model()
        settings.setdefault('start_from', StartFrom.GRAVITY)
        self.policy = Policy(self.model, Settings(joints=self.arm.joints, **settings))
        self.record = Record(self.arm.joints)
        self.refused: list[tuple[float, str]] = []
        self.is_observing = self.policy.settings.observe_external_effort
        self.cycle = 0
        self._steady_offset, self._ros_offset = FIRST_STEADY, FIRST_ROS
        self._commanded = self.drives.held.copy()
        self._has_commanded = False
        self._is_ending = False
        self.record.add(
            0.0, self.plant.positions, self.plant.velocities, self._commanded, None, 0.0)

    # ---- time -----------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Return the time since the beginning [s]."""
        return self.cycle * self.period

    @property
    def steady(self) -> float:
        """Return the time on the steady clock [s]."""
        return self._steady_offset + self.time

    @property
    def now(self) -> Instant:
        """Return the time on both clocks of the node."""
        return Instant(self.steady, RosTime.from_seconds(self._ros_offset + self.time))

    def step_ros_clock(self, seconds: float) -> None:
        """Let somebody set the ROS clock, as the node does when it notices."""
        self._ros_offset += seconds
        self.policy.discard_trajectory(self.now, seconds)

    def jump_back(self, seconds: float) -> None:
        """Let simulated time jump back, by which both clocks go."""
        self._steady_offset -= seconds
        self._ros_offset -= seconds
        self.drives.forget_commands()
        self.policy.reset_after_time_jump()

    # ---- commands -------------------------------------------------------------------------------

    def follow(self, points: Iterable[Point], stamp: float | None = None) -> None:
        """
        Command a trajectory of all joints.

        :param points: its waypoints.
        :param stamp: when it begins, from now on [s]; None: on reception.
        """
        start = None if stamp is None else self.now.ros + stamp
        self.policy.take_trajectory(TrajectoryCommand(
            self.arm.joints, [Waypoint(*point) for point in points], start), self.now)

    def stay(self, duration: float = 1.0) -> None:
        """Command a trajectory to where the arm is, at rest there."""
        rest = np.zeros(self.arm.size)
        here = self.plant.positions
        self.follow([(0.3 * duration, here, rest, rest), (duration, here, rest, rest)])

    def refer(self, positions: np.ndarray, velocities: np.ndarray | tuple[()] = (),
              accelerations: np.ndarray | tuple[()] = ()) -> None:
        """Receive the reference of a trajectory controller."""
        self.policy.take_controller_state(ControllerReference(
            self.arm.joints, positions, velocities, accelerations, self.steady), self.now)

    def change(self, duration: float | None = None, **settings: Any) -> None:
        """Change some of the settings."""
        self.policy.change_settings(replace(self.policy.settings, **settings), duration)

    def enable(self, is_enabled: bool = True) -> None:
        """
        Enable or disable the efforts, as ~/enable does.

        :raises RneaError: saying what is missing to leave a fault.
        """
        missing = self.policy.acknowledge(self.now) if is_enabled else ''
        if missing:
            raise ArgumentError(missing)
        self.change(enabled=is_enabled)

    def set_model_payload(self, mass: float, at: tuple[float, float, float] = (0.0, 0.0, 0.1),
                          ) -> None:
        """Tell the model of a point mass at the tip [kg, m], as ~/set_payload does."""
        self.policy.robot.set_payload('bench', self.arm.tip, Inertial(mass, Pose(at)))
        self.policy.take_snapshot()
        self.policy.hand_over()

    def push(self, efforts: np.ndarray, duration: float) -> None:
        """Let the environment push the joints, shape (joints,) [Nm], for a while [s]."""
        self.plant.push[:] = efforts
        self.run(duration)
        self.plant.push[:] = 0.0

    def end_node(self) -> None:
        """Let the node end from now on, as after SIGINT."""
        self._is_ending = True

    def restart_node(self, **settings: Any) -> None:
        """
        Let the node end without a word and start again.

        The drives hold the last command, and the new node knows that one from the record of the
        old one.
        """
        last = dict(zip(self.arm.joints, self._commanded.tolist()))
        changed = replace(self.policy.settings, start_from=StartFrom.AUTOMATIC, **settings)
        self.policy = Policy(self.model, changed)
        self.policy.evidence = Evidence(Receiver.SAME, last if self._has_commanded else {})
        self._is_ending = False

    # ---- the loop -------------------------------------------------------------------------------

    def run(self, duration: float, each: Callable[[], None] | None = None) -> ClosedLoop:
        """
        Let time pass.

        :param duration: [s].
        :param each: is called before each cycle.
        """
        for _ in range(round(duration / self.period)):
            if each is not None:
                each()
            self.step()
        return self

    def step(self) -> Decision | None:
        """Let one cycle pass, and return the decision in it; None: there was none."""
        efforts = self.drives.efforts(self.steady)
        self.plant.advance(efforts, self.period)
        self.cycle += 1
        is_due = False
        if self.cycle % self.states_every == 0:
            self.sensors.measure(self.steady, efforts)
        measured = self.sensors.received(self.steady)
        if measured is not None:
            is_due = self._take(measured)
        decision = None
        if is_due or not self.policy.states.is_fresh(self.steady):
            decision = self._decide()
        self.record.add(
            self.time, self.plant.positions, self.plant.velocities, self._commanded, decision,
            self.plant.work)
        return decision

    def receive(self, measured: MeasuredJoints) -> None:
        """Receive a joint state from somebody else between two cycles, and answer it."""
        if self._take(measured):
            decision = self._decide()
            self.record.add(
                self.time, self.plant.positions, self.plant.velocities, self._commanded, decision,
                self.plant.work)

    def _take(self, measured: MeasuredJoints) -> bool:
        """Take a joint state, and return whether an effort is due."""
        try:
            is_due = self.policy.take_joint_state(measured, self.now)
        except RneaError as error:
            self.refused.append((self.time, str(error)))
            return False
        if is_due and self.is_observing:
            self.policy.observe(self.now, self.steady)
        return is_due

    def _decide(self) -> Decision:
        decide = self.policy.decide_last if self._is_ending else self.policy.decide
        decision = decide(self.now)
        if decision.effort is not None:
            self._commanded, self._has_commanded = decision.effort.copy(), True
            self.drives.command(self.steady, decision.effort)
        return decision
