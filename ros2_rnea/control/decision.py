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
"""The result of a cycle: an effort or none, the reason, and the terms of the effort."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from ros2_rnea.robots.results import tuple_of_terms
from ros2_rnea.trajectories.ros_time import RosTime


class Instant(NamedTuple):
    """One moment on both clocks of the node."""

    steady: float  # [s] for ages and timeouts; it jumps only with simulated time
    ros: RosTime   # for the stamps of trajectories


class State(Enum):
    """
    What the policy does; the table in ``supervisor.py`` says how one state leads to another.

    The text says what is sent.  What the actuator holds is the last effort that was sent.
    """

    OFF = 'nothing'
    ARMING = 'from the effort that the actuators hold to gravity and damping'
    GRAVITY = 'gravity at the measured position, and what helps to guide the arm'
    TRACKING = 'the effort of the motion'
    HOLDING = 'the effort that holds the end of the motion'
    BRAKING = 'gravity and damping until the arm rests, then on_stop; with stale states no damping'
    FAULT = 'gravity and damping, until ~/enable is called with true'

    @property
    def follows(self) -> bool:
        """Return whether a motion or its end is followed."""
        return self in (State.TRACKING, State.HOLDING)


class Status(Enum):
    """The reason why a decision sends its effort or none, for people and other programs."""

    DISABLED = 'disabled: nothing is sent'
    NOT_ALLOWED = 'no effort may be sent at present: nothing is sent'
    RELEASED = 'the dead-man switch is not pressed: nothing is sent'
    WAITING = 'no joint state yet'
    STALE = 'joint states have stopped: nothing is sent'
    UNKNOWN_POSITION = 'the position of a joint is unknown: nothing is sent'
    UNKNOWN_START = 'the effort that the controller holds is unknown: nothing is sent'
    UNKNOWN_VELOCITY = 'computed_torque needs the velocity of a joint: nothing is sent'
    TWO_SOURCES = 'two sources of joint states contradict each other: nothing is sent'
    UNSTABLE_GAINS = 'the gains are too high for the period and the delay'
    NO_EFFORT_LIMIT = 'the effort limits cannot be used: nothing is sent'
    OVERLOADED = 'gravity exceeds the effort limit of a joint at the start: nothing is sent'
    NOT_FINITE = 'the effort of the motion is not a finite number'
    NOT_COMPUTED = 'the effort cannot be computed: nothing is sent'
    FAILED = 'an unexpected error has occurred in the cycle: braked until ~/enable'
    SHUT_DOWN = 'the node ends: nothing more is sent'
    STOPPING = 'the arm is braked, and the effort fades to that of on_stop'
    STARTING = 'the effort leads from the one that the actuators hold to gravity'
    GRAVITY = 'gravity at the measured state'
    IMU_LOST = 'the imu has stopped: gravity in its last direction, at the measured state'
    NO_TRAJECTORY = 'no trajectory: gravity at the measured state'
    MOTION_TOO_FAR = 'the motion is too far from the robot: gravity at the measured state'
    FOLLOWING = 'following the trajectory'
    HOLDING_END = 'the trajectory has ended: gravity at its last point'
    FOLLOWING_CONTROLLER = "following the controller's reference"
    CONTROLLER_LOST = 'controller_state has stopped: gravity at its last reference'
    PATH_DEVIATION = 'the robot has left its path'
    GOAL_DEVIATION = 'the robot deviates from the goal'
    CONTACT = 'in contact: braked and held by gravity alone, until ~/enable is called'
    TOO_FAR_OFF = 'a joint was too far from its motion: braked until ~/enable is called'
    SATURATED = 'a joint moved away at its effort limit: braked until ~/enable is called'
    TOO_FAST = 'a joint was much faster than its limit: braked'


class Cause(NamedTuple):
    """A reason, the joints that it is about, and an explanation for people."""

    status: Status
    joints: tuple[str, ...] = ()
    detail: str = ''


class LimitFlags(NamedTuple):
    """
    Which controlled joints get another effort than the computed one; arrays of shape (joints,).

    :ivar joints: the joints' names, in the order of the arrays.
    :ivar saturated: true where the effort exceeded its limit.
    :ivar restrained: true at a bound of position or velocity, where the part of the effort that
        pushes further beyond the bound was removed.
    :ivar rate_limited: true where the rate limit holds the effort back.
    """

    joints: tuple[str, ...]
    saturated: np.ndarray
    restrained: np.ndarray
    rate_limited: np.ndarray

    def names(self, flags: np.ndarray) -> tuple[str, ...]:
        """Return the names of the joints that are flagged in one of the arrays."""
        return tuple(name for name, flag in zip(self.joints, flags.tolist()) if flag)


class Decision(NamedTuple):
    """
    What to send now.

    :ivar status: the reason.
    :ivar joints: the joints that the status is about, if it is about certain joints.
    :ivar detail: an explanation for people.
    :ivar effort: shape (controlled joints,) [Nm or N], within the limits; None: send nothing.
    :ivar limited: which joints' efforts were limited; None: no joint's.
    :ivar next_status: the reason of what follows braking; None: the arm is not braked.
    :ivar state: what the policy does.
    """

    status: Status
    joints: tuple[str, ...] = ()
    detail: str = ''
    effort: np.ndarray | None = None
    limited: LimitFlags | None = None
    next_status: Status | None = None
    state: State = State.OFF


if TYPE_CHECKING:
    class _SentTerms(NamedTuple):  # what editors and mypy see; test_results.py compares them
        gravity: np.ndarray
        coriolis: np.ndarray
        inertia: np.ndarray
        friction: np.ndarray
        spring: np.ndarray
        external: np.ndarray
        feedback: np.ndarray
        total: np.ndarray
        sent: np.ndarray
        measured: np.ndarray
        residual: np.ndarray
        saturated: np.ndarray
        rate_limited: np.ndarray
        restrained: np.ndarray
else:
    _SentTerms = tuple_of_terms(
        'feedback', 'total', 'sent', 'measured', 'residual', 'saturated', 'rate_limited',
        'restrained')


class SentTerms(_SentTerms):
    """
    The terms of a decision's effort, by controlled joint, each of shape (joints,).

    A named tuple.  It begins with the terms of :data:`ros2_rnea.dynamics.terms.TERMS`.  ``total``
    is the sum of these and of ``feedback``, including terms that the arm adds by itself; ``sent``
    is the effort after the choice of terms and all limits.  ``residual`` is the measured effort
    less ``total`` without the terms that the measured effort lacks.
    """

    __slots__ = ()
