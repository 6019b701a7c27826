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
By what an episode is judged: the motion of the true arm, and whether a fault is right.

Speed.
    No joint is faster than 1.3 times the commanded velocity plus 0.2 rad/s.  Where no motion is
    followed, an arm whose model is wrong sinks against its damping: then 1.3 times the velocity
    at which damping and friction balance the error of gravity may be added.  Both rules hold
    outside of *disturbances*: pushes, payloads that come and go, longer gaps of the joint states,
    jumps of a reference; and from :data:`AFTER_DISTURBANCE` after their end on.

    A joint that sticks slips as fast as the feedback lets it catch up the error, which friction at
    rest beyond that of the model has caused; this speed may be added, too.

Position loop.
    Where drives have a loop of their own, the arm stays near their reference, and the node
    neither brakes nor has a fault.

Energy.
    While an arm is guided, the motors put no more into it than lifts it, and what the error of
    gravity does along the way.

Faults.
    A fault needs a disturbance before it, which has led the true arm to the threshold.  A true arm
    that is beyond a threshold by a quarter, while a motion is followed, needs a fault.

Everything.
    Efforts are finite and within their limits; while the node moves the arm alone, nothing is
    sent only after it rests, or after the longest time for braking.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from closed_loop.drives import PositionDrives
from closed_loop.loop import ClosedLoop
from closed_loop.motions import QuinticFrom
from missions.setups import DAMPING_TIME, Use
import numpy as np
from ros2_rnea.control.decision import Decision

AFTER_DISTURBANCE = 1.0
"""After this time, the criteria hold again [s]."""

AFTER_COMMAND = 0.5
"""For this long after its end or replacement, a motion still counts as commanded [s]."""

FACTOR, SPEED_MARGIN = 1.3, 0.2
"""Of the commanded velocity, and what may be added [rad/s]."""

NEAR_REFERENCE = 0.15
"""Largest distance of an arm from the reference of its drives outside of disturbances [rad]."""

SINCE_CAUSE = 3.0
"""A disturbance that ended earlier than this is no cause of a fault [s]."""

LEFT = 0.05
"""A motion that leads farther than this while the arm is armed waits until it is held [rad]."""

BEYOND = 1.25
"""A threshold that is exceeded by this factor for :data:`MISSING_AFTER` needs a fault."""

MISSING_AFTER = 0.15
"""[s]."""

SOFTEST = 64.0
"""The lowest position gain that is drawn [1/s^2]."""

ENERGY_MARGIN = 0.05
"""Share of the kinetic energy at the velocity limits that may be lost count of."""

LOOK_EVERY = 0.01
"""Interval of the criteria that need the true gravity [s]."""


class Failure(Exception):
    """A criterion is not met; the text says when and which."""


@dataclass
class Command:
    """
    A motion that is commanded.

    :ivar begin: [s].
    :ivar end: [s].
    :ivar speed: the largest of any joint [rad/s].
    :ivar paths: where it may lead: it begins where the arm is, or where it was wanted before;
        empty: that is not known in advance.
    :ivar sent: when it was sent, of a motion that may wait until the arm is held [s].
    """

    begin: float
    end: float
    speed: float
    paths: tuple[QuinticFrom, ...] = ()
    sent: float | None = None


@dataclass
class Disturbance:
    """
    Something that moves the arm away, or lets it go.

    :ivar begin: [s].
    :ivar end: [s].
    """

    begin: float
    end: float
    what: str


@dataclass
class Judge:
    """
    The criteria, and what they need to know of the past.

    :ivar sinking: largest speed at which the arm sinks at present by the error of its model
        [rad/s].
    :ivar faults: how often the state became FAULT.
    :ivar holds_other_load: whether the drives hold an effort from before the load changed, from
        which the next one starts.
    :ivar worst: the largest speed beside the allowed one outside of disturbances, and how far the
        arm was from the reference of its drives [rad/s, rad].
    """

    loop: ClosedLoop
    use: Use
    commands: list[Command] = field(default_factory=list)
    disturbances: list[Disturbance] = field(default_factory=list)
    sinking: float = 0.0
    faults: int = 0
    has_sent: bool = False
    holds_other_load: bool = False
    worst: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        plant = self.loop.plant
        mass = np.diagonal(plant.mass_matrix())
        self._damping = mass / DAMPING_TIME + plant.arm.viscous
        self._limits = plant.velocity_limits
        self._inertia = float(mass @ self._limits ** 2) / 2.0
        self._slip = plant.slip(SOFTEST) if self.use is Use.COMPUTED_TORQUE else 0.0
        self._not_followed_at = 0.0
        self._armed_since = 0.0
        self._beyond_since = inf
        self._last_name = 'OFF'
        self._sent_at = -inf
        self._work, self._budget = 0.0, 0.0
        self._last_positions = plant.positions
        self._last_gravity = plant.holding_effort()
        self._last_work = 0.0

    # ---- what is known --------------------------------------------------------------------------

    def allowed_speed(self, time: float) -> float:
        """Return how fast a joint may be at a time, outside of disturbances [rad/s]."""
        commanded = max(
            (each.speed for each in self.commands
             if each.begin <= time <= each.end + AFTER_COMMAND), default=0.0)
        sinking = self.sinking if time - self._not_followed_at < AFTER_COMMAND else 0.0
        return FACTOR * (commanded + sinking) + SPEED_MARGIN + self._slip

    def is_disturbed(self, time: float, after: float = AFTER_DISTURBANCE) -> bool:
        """Return whether something moves the arm, or has until a while ago [s]."""
        return any(each.begin <= time <= each.end + after for each in self.disturbances)

    # ---- each cycle -----------------------------------------------------------------------------

    def look(self, decision: Decision | None) -> None:
        """
        Judge the last cycle.

        :raises Failure: where a criterion is not met.
        """
        time, plant = self.loop.time, self.loop.plant
        if round(time / self.loop.period) % max(1, round(LOOK_EVERY / self.loop.period)) == 0:
            self._look_at_gravity()
        if decision is not None:
            self._look_at(decision, time)
        speed = float(np.abs(plant.velocities).max())
        if not self.is_disturbed(time):
            allowed = self.allowed_speed(time)
            self.worst = max(self.worst[0], speed - allowed + SPEED_MARGIN), self.worst[1]
            if speed > allowed:
                joint = int(np.abs(plant.velocities).argmax())
                raise Failure(
                    f'{plant.arm.joints[joint]} moves with {speed:.2f} rad/s; allowed are '
                    f'{allowed:.2f} rad/s')
            drives = self.loop.drives
            if isinstance(drives, PositionDrives):
                reference, _ = drives.reference(self.loop.steady)
                reference = np.clip(reference, *plant.position_limits)  # where joints end
                off = float(np.abs(plant.positions - reference).max())
                self.worst = self.worst[0], max(self.worst[1], off)
                if off > NEAR_REFERENCE:
                    raise Failure(f'the arm is {off:.2f} rad from the reference of its drives')

    def _look_at(self, decision: Decision, time: float) -> None:
        if self.holds_other_load and decision.effort is not None:
            self.holds_other_load = False
            self.disturbances.append(Disturbance(time, time + 0.5, 'another load'))
        name, before = decision.state.name, self._last_name
        self._last_name = name
        if name not in ('TRACKING', 'HOLDING'):
            self._not_followed_at = time
        if name == 'ARMING':
            self._armed_since = time if before != 'ARMING' else self._armed_since
            self._let_wait(time)
        effort = decision.effort
        if effort is not None:
            self._sent_at, self.has_sent = time, True
            limits = self.loop.plant.effort_limits
            if not (np.abs(effort) <= limits * (1.0 + 1e-9)).all():
                raise Failure(f'an effort of {effort} Nm is sent, the limits are {limits} Nm')
        if decision.status.name in ('FAILED', 'NOT_COMPUTED', 'NOT_FINITE', 'UNSTABLE_GAINS'):
            raise Failure(f'the status is {decision.status.name}: {decision.detail}')
        if name == 'FAULT' != before:
            self.faults += 1
        if name in ('FAULT', 'BRAKING') and before != name:
            self._check_cause(decision, time)
        if name == 'OFF' and before not in ('OFF', 'ARMING') and self.use is not Use.FEEDFORWARD:
            self._check_rest(decision, time)
        self._check_missing(decision, time)

    def _let_wait(self, time: float) -> None:
        """Let a motion that was sent since ARMING begin not before now, if it leaves the arm."""
        last = self.commands[-1] if self.commands else None
        if last is None or last.sent is None or last.sent < self._armed_since - self.loop.period:
            return
        sent = last.sent
        if any(np.abs(path.at(time - sent)[0] - path.at(0.0)[0]).max() > LEFT
               for path in last.paths):
            last.begin, last.end = time, last.end + time - last.begin

    def _check_cause(self, decision: Decision, time: float) -> None:
        """Check that a trip has a cause outside of the node."""
        status = decision.status.name
        if status not in TRIPS:
            return
        if self.use is Use.FEEDFORWARD:
            raise Failure(f'a position loop holds the arm, and the node has a fault: {status}')
        if not self.is_disturbed(time, SINCE_CAUSE):
            raise Failure(
                f'{status} without a cause: {", ".join(decision.joints)} {decision.detail}')

    def _check_rest(self, decision: Decision, time: float) -> None:
        """Check that the arm rests when nothing is sent any more, with fresh states."""
        if not self.loop.policy.states.is_fresh(self.loop.steady) or self.is_disturbed(time):
            return
        speed = float(np.abs(self.loop.plant.velocities).max())
        if speed > SPEED_MARGIN + FACTOR * self.sinking:
            raise Failure(
                f'nothing is sent any more ({decision.status.name}) at {speed:.2f} rad/s')

    def _check_missing(self, decision: Decision, time: float) -> None:
        """Check that a motion is not followed by an arm that is far away or much too fast."""
        is_beyond = False
        if self.use is Use.COMPUTED_TORQUE and decision.state.name in ('TRACKING', 'HOLDING'):
            settings = self.loop.policy.settings
            factor = getattr(settings, 'trip_deviation', 2.0)
            tolerance = BEYOND * factor * settings.path_tolerance
            command = self.commands[-1] if self.commands else None
            if command is not None and command.paths:
                is_beyond = all(
                    np.abs(self.loop.plant.positions - path.at(time - command.begin)[0]).max()
                    > tolerance for path in command.paths)
            speed = np.abs(self.loop.plant.velocities) / self._limits
            is_beyond = is_beyond or bool(speed.max() > BEYOND * 1.5)
        if not is_beyond:
            self._beyond_since = inf
            return
        self._beyond_since = min(self._beyond_since, time)
        if time - self._beyond_since > MISSING_AFTER:
            raise Failure('a threshold is exceeded by a quarter, and the motion goes on')

    def _look_at_gravity(self) -> None:
        """Compare gravity of the model with the true one, and add up energies."""
        plant, policy = self.loop.plant, self.loop.policy
        true = plant.holding_effort()
        of_model = policy.robot.gravity(plant.positions)
        error = np.abs(of_model - true)
        braked = DAMPING_TIME * np.abs(np.linalg.solve(plant.mass_matrix(), of_model - true))
        self.sinking = float(max((error / self._damping).max(), braked.max()))
        moved = plant.positions - self._last_positions
        lifted = float(0.5 * (true + self._last_gravity) @ moved)
        worked = plant.work - self._last_work
        self._last_positions, self._last_gravity = plant.positions, true
        self._last_work = plant.work
        if self.use is not Use.GUIDED:
            return
        if self.is_disturbed(self.loop.time, 0.5) or self._last_name not in ('GRAVITY', 'BRAKING'):
            self._work = self._budget = 0.0  # a hand-over, or gravity that is not known
            return
        self._work += worked - lifted
        self._budget += float(error @ np.abs(moved))
        largest = FACTOR * self._budget + ENERGY_MARGIN * self._inertia
        if self._work > largest:
            raise Failure(
                f'the motors have put {self._work:.2f} J into the arm, allowed are '
                f'{largest:.2f} J')


TRIPS = (
    'TOO_FAR_OFF', 'SATURATED', 'TOO_FAST', 'CONTACT', 'PATH_DEVIATION', 'GOAL_DEVIATION',
    'MOTION_TOO_FAR')
"""Reasons to brake that need a cause outside of the node."""
