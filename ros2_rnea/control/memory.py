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
Everything that survives a change of settings or of the model, in one record.

Each stage of the cycle is made anew from constants then, and goes on with its part of the record.
Joints are found again by their names, in :meth:`Memory.for_joints` alone.
"""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass, field
from math import exp, inf

import numpy as np

from ros2_rnea.control.decision import Cause
from ros2_rnea.control.inputs.cycle_period import CyclePeriod
from ros2_rnea.control.inputs.dead_man_switch import DeadManMemory
from ros2_rnea.control.inputs.external_effort import ExternalMemory
from ros2_rnea.control.inputs.joint_states import JointMemory
from ros2_rnea.control.inputs.measured_gravity import GravityMemory
from ros2_rnea.control.inputs.plausibility import PlausibilityMemory
from ros2_rnea.control.inputs.snapshot import AT_REST
from ros2_rnea.control.inputs.wrenches import WrenchesMemory
from ros2_rnea.control.law.feedback_check import InstabilityMemory
from ros2_rnea.control.law.state_feedback import GainMemory
from ros2_rnea.control.law.wrench_compensation import WrenchFadeMemory
from ros2_rnea.control.output.hand_over import HandOverMemory
from ros2_rnea.control.output.output import SentMemory
from ros2_rnea.control.output.start_effort import Evidence
from ros2_rnea.control.robot_joints import RobotJoints
from ros2_rnea.control.settings import Settings
from ros2_rnea.control.supervisor import SupervisorMemory
from ros2_rnea.control.target.motion import MotionMemory
from ros2_rnea.control.trips import TripMemory

BRAKED = 0.02
"""Largest velocity of an arm that has been braked [rad/s or m/s]."""

REST_TIME_CONSTANT = 0.05
"""Time constant of the filter of the velocities by which rest is judged [s]."""


@dataclass
class Pending:
    """
    What has happened between two cycles, and takes effect in the next one.

    :ivar hand_over: the duration of a hand-over [s]; None: none begins.
    :ivar of_model: whether it begins because of another model alone.
    :ivar changes_model: whether it begins because of another model, too.
    :ivar changes_law: whether feedback or guiding has become another one.
    :ivar trip: why the arm has to be braked; None: there is no reason.
    """

    hand_over: float | None = None
    of_model: bool = True
    changes_model: bool = False
    changes_law: bool = False
    trip: Cause | None = None


@dataclass
class Rest:
    """
    How far the arm is from rest.

    :ivar velocities: of the controlled joints, low-pass filtered, shape (joints,).
    :ivar at: of which time [s].
    """

    velocities: np.ndarray
    at: float = -inf

    def update(self, velocities: np.ndarray, now: float) -> None:
        """
        Take velocities.

        :param velocities: of the controlled joints, shape (joints,) [rad/s or m/s].
        :param now: when they were measured [s].
        """
        weight = exp(-max(now - self.at, 0.0) / REST_TIME_CONSTANT)
        self.velocities = weight * self.velocities + (1.0 - weight) * velocities
        self.at = now

    def is_reached(self, joints: np.ndarray) -> bool:
        """Return whether those joints rest that are true in an array of shape (joints,)."""
        return bool((np.abs(self.velocities[joints]) < BRAKED).all())

    def moving_joint(self) -> int | None:
        """Return the fastest joint where one moves; None: all of them rest."""
        speeds = np.abs(self.velocities)
        joint = int(speeds.argmax()) if len(speeds) else 0
        return joint if len(speeds) and speeds[joint] > AT_REST else None


@dataclass
class Memory:
    """
    What a policy remembers, by stage.

    :ivar supervisor: the state and its cause.
    :ivar joints: what was measured of them.
    :ivar plausibility: positions that are not believed yet.
    :ivar gravity: from the imu; of a robot with the root link ``root`` alone.
    :ivar root: the name of that link.
    :ivar wrenches: by the frame of the sensor.
    :ivar dead_man: the last press of the switch.
    :ivar motion: the motion in progress.
    :ivar wrench_fade: how far wrenches are compensated.
    :ivar gains: those of feedback that were used last.
    :ivar external: the effort of the environment.
    :ivar trips: what exceeds a limit that stops the motion.
    :ivar instability: why the feedback is unstable at the measured period.
    :ivar settings: those of the last cycle's stages; None: there were none.
    :ivar sent: the last effort.
    :ivar hand_over: what is left of the effort before.
    :ivar ramp_since: when feedback began to follow a motion that had not begun at the arm [s].
    :ivar period: of the cycle.
    :ivar rest: how far the arm is from rest.
    :ivar behind_since: when the arm was farther from its motion than feedback corrects at once
        [s]; infinite: it has been near it since.
    :ivar behind_by: how far each joint was then, shape (joints,) [rad or m]; None: not known yet.
    :ivar releases: whether braking goes on to no effort at all (``on_stop`` is zero).
    :ivar has_sent_stop_effort: whether the effort of ``on_stop`` was sent after braking.
    :ivar evidence: what is known outside about the effort that the actuators hold.
    :ivar starts_anew: whether another effort than the last command may be held.
    :ivar start_reason: for people: from which effort the first command started, and why.
    :ivar cut_short: for people: what the last final effort did not reach; empty: nothing.
    :ivar has_driven: whether somebody has received an effort for this robot.
    :ivar lacked_at: when efforts last lacked a part of another model [s].
    :ivar pending: what takes effect in the next cycle.
    """

    sent: SentMemory
    hand_over: HandOverMemory
    rest: Rest
    period: CyclePeriod = field(default_factory=CyclePeriod)
    settings: Settings | None = None
    supervisor: SupervisorMemory = field(default_factory=SupervisorMemory)
    joints: JointMemory | None = None
    plausibility: PlausibilityMemory | None = None
    gravity: GravityMemory | None = None
    root: str = ''
    wrenches: WrenchesMemory | None = None
    dead_man: DeadManMemory | None = None
    motion: MotionMemory = field(default_factory=MotionMemory)
    wrench_fade: WrenchFadeMemory = field(default_factory=WrenchFadeMemory)
    gains: GainMemory = field(default_factory=GainMemory)
    external: ExternalMemory | None = None
    trips: TripMemory = field(default_factory=TripMemory)
    instability: InstabilityMemory = field(default_factory=InstabilityMemory)
    ramp_since: float = -inf
    behind_since: float = inf
    behind_by: np.ndarray | None = None
    releases: bool = False
    has_sent_stop_effort: bool = False
    evidence: Evidence = Evidence()
    starts_anew: bool = False
    start_reason: str = ''
    cut_short: str = ''
    has_driven: bool = False
    lacked_at: float = -inf
    pending: Pending = field(default_factory=Pending)

    @classmethod
    def of(cls, joints: RobotJoints) -> Memory:
        """Return the memory of a policy that knows nothing of its joints yet."""
        zero = np.zeros(len(joints.controlled))
        return cls(
            SentMemory.of(joints.controlled), HandOverMemory(zero), Rest(zero),
            motion=MotionMemory(joints.controlled), root=joints.robot.tree.root)

    def for_joints(self, joints: RobotJoints) -> Memory:
        """
        Return what is remembered, for a robot and its joints.

        The motion is kept only for the same joints, and the measured gravity for the same root.
        """
        memory, names, tree = copy(self), joints.measured, joints.robot.tree
        memory.root = tree.root
        memory.sent = self.sent.for_joints(joints.controlled)
        if self.sent.joints != joints.controlled:
            zero = np.zeros(len(joints.controlled))
            memory.hand_over, memory.rest = HandOverMemory(zero), Rest(zero)
            memory.trips, memory.behind_by, memory.gains = TripMemory(), None, GainMemory()
        if self.joints is not None and self.joints.names != names:
            memory.joints = self.joints.for_joints(names)
        if self.plausibility is not None and self.plausibility.names != names:
            memory.plausibility = self.plausibility.for_joints(names)
        memory.motion = self.motion.for_joints(joints.controlled)
        if self.external is not None:  # of the same joints, but of another model
            memory.external = self.external.for_joints(joints.controlled)
        # The other policy may go on after all, and these are changed before that is known.
        memory.dead_man, memory.instability = copy(self.dead_man), copy(self.instability)
        memory.gravity = copy(self.gravity) if self.root == tree.root else None
        if memory.gravity is not None:
            memory.gravity.filtered = copy(memory.gravity.filtered)
        if self.wrenches is not None:
            memory.wrenches = copy(self.wrenches)
            memory.wrenches.frames = deepcopy(self.wrenches.frames)
        return memory
