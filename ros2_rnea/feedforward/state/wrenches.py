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
"""The wrenches that are known to act on the robot, the newest of each frame."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf

import numpy as np

from ros2_rnea.dynamics.wrenches import weight
from ros2_rnea.errors import did_you_mean, MessageError
from ros2_rnea.feedforward.effort.crossfade import remaining_weight
from ros2_rnea.feedforward.state.wrench_signal import Smoothing, WrenchSignal
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Force, Vector

BEYOND_REASON = 1e9
"""Wrenches are smaller than this [N, Nm], so that no sum of them overflows."""


class ExternalWrenches:
    """
    Wrenches by the link in whose frame they are given; several links' wrenches add up.

    What a message tells goes through these steps:

    1. *sign*: it becomes what is done to the robot.
    2. *tool*: a sensor feels all that hangs on it, also the weight of a tool, which is in the
       robot's model already where the description has the tool.  At rest such a sensor reads that
       weight, [c × m g; m g], as done to the robot, in every posture another; it is taken out.
       A tool that the description lacks is left in, and then balanced as any other load.  What
       accelerates the tool is felt too and left in.
    3. *bias*: what :meth:`zero` found.
    4. *low-pass*, from zero, or from what has not faded yet.
    5. *deadbands*: of the moment and of the force, what exceeds them counts.

    :param tree: of the robot.
    :param timeout: a wrench counts for this long after it came [s].
    :param fade_time: and then fades for this long, so that no effort makes a step [s].
    :param exerted_by_robot: whether messages tell what the robot does to the environment.
    :param time_constant: of the low-pass [s]; 0: none.
    :param force_deadband: as a norm [N]; likewise ``moment_deadband`` [Nm].
    :param tool_mass: of what is fastened beyond the sensor and in the robot's model [kg]; the same
        for every frame, so that it suits a robot with one sensor only.
    :param tool_center: its centre of mass in the frame of the wrenches [m].
    """

    def __init__(
            self,
            tree: Tree,
            timeout: float,
            fade_time: float = 0.0,
            exerted_by_robot: bool = False,
            *,
            time_constant: float = 0.0,
            force_deadband: float = 0.0,
            moment_deadband: float = 0.0,
            tool_mass: float = 0.0,
            tool_center: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        self.timeout = timeout
        self.fade_time = fade_time
        self.sign = -1.0 if exerted_by_robot else 1.0
        self._smoothing = Smoothing(time_constant, timeout, moment_deadband, force_deadband)
        self._tool_mass = float(tool_mass)
        self._tool_center = Vector(*map(float, tool_center))
        self._tree = tree
        self._links = frozenset(
            name for name, frame in tree.links.items() if frame.body != BASE)
        self._rows = np.zeros((len(tree.bodies), 6))
        self._signals: dict[str, WrenchSignal] = {}

    def update(
            self,
            frame: str,
            moment_force: Sequence[float],
            now: float,
            free_fall: Sequence[float] | np.ndarray | None = None) -> None:
        """
        Take over a wrench [moment; force] about the origin of a link's frame, in its axes.

        :param free_fall: its acceleration in the frame's axes [m/s^2]; a tool's weight needs it.
        :raises MessageError: where no moving link has the frame's name, the value is not six
            finite numbers, or nothing tells which way a tool's weight points.
        """
        if frame not in self._links:
            hint = did_you_mean(frame, self._links)
            raise MessageError(
                f'the wrench frame {frame!r} is not a link that joints move, so that the wrench '
                f'would change no effort{hint}')
        wrench = np.array(moment_force, dtype=float)
        if wrench.shape != (6,) or not _is_reasonable(wrench):
            raise MessageError(
                f'the wrench in frame {frame!r} is {wrench.tolist()}; it needs 6 finite numbers '
                f'with a norm below {BEYOND_REASON:g}')
        if self.sign < 0.0:
            wrench = -wrench
        if self._tool_mass:
            wrench = self._without_tool(frame, wrench, free_fall)
        signal = self._signals.get(frame)
        if signal is None:
            signal = self._signals[frame] = WrenchSignal(self._smoothing)
        signal.update(wrench, now, self._share(signal, now))

    def zero(self, now: float) -> tuple[str, ...]:
        """
        Let what counts now be nothing from now on, and return the frames of which this is so.

        It is what the filter says, the tool's weight apart, and is taken for a bias of the sensor;
        so nothing may touch the tool.

        :raises MessageError: where no frame has a fresh wrench.
        """
        old = self.stale(now)
        fresh = tuple(frame for frame, signal in self._signals.items()
                      if 0.0 <= now - signal.received <= self.timeout)
        if not fresh:
            seen = f'; what came in {", ".join(old)} is older' if old else ''
            raise MessageError(
                'there is no wrench that could be set to zero: none came within the last '
                f'{self.timeout:g} s{seen}')
        for frame in fresh:
            self._signals[frame].zero()
        return fresh

    def forget(self) -> None:
        """Forget all wrenches, for their times mean nothing any more; biases stay."""
        for signal in self._signals.values():
            signal.forget()

    def adopt(self, older: ExternalWrenches) -> None:
        """
        Take over what an earlier object has of the same frames: the newest wrench, bias, filter.

        Where another tool is taken out now, or has another sign, all these are of no more use.
        """
        sign = self.sign * older.sign
        tool, its_tool = (
            (wrenches._tool_mass, *wrenches._tool_center) if wrenches._tool_mass else None
            for wrenches in (self, older))
        if tool != its_tool or (tool and sign < 0.0):
            return
        for frame, signal in older._signals.items():
            if frame in self._links:
                self._signals[frame] = WrenchSignal(self._smoothing)
                self._signals[frame].adopt(signal, sign)

    def active(self, now: float) -> dict[str, np.ndarray]:
        """Return what the environment does to the robot now: [moment; force] by link."""
        active = {}
        for frame, signal in self._signals.items():
            share = self._share(signal, now)
            if share > 0.0:
                active[frame] = share * signal.value
        return active

    def _share(self, signal: WrenchSignal, now: float) -> float:
        """Return how much of the newest wrench of a frame counts now."""
        age = now - signal.received
        if age < 0.0:
            return 0.0
        return remaining_weight(age - self.timeout, self.fade_time) if age > self.timeout else 1.0

    def rows(self, now: float) -> np.ndarray | None:
        """Return the same as the sum on each body, shape (bodies, 6); None where there is none."""
        active = self.active(now)
        if not active:
            return None
        self._rows[:] = 0.0
        for frame, value in active.items():
            place = self._tree.links[frame]
            numbers = value.tolist()
            force = Force(Vector(*numbers[:3]), Vector(*numbers[3:]))
            self._rows[place.body] += [*place.X_body_to_link.to_parent(force)]
        return self._rows

    def stale(self, now: float) -> tuple[str, ...]:
        """Return the frames whose newest wrench counts no longer, or not in full."""
        return tuple(
            frame for frame, signal in self._signals.items()
            if signal.received > -inf and not 0.0 <= now - signal.received <= self.timeout)

    def _without_tool(
            self, frame: str, wrench: np.ndarray,
            free_fall: Sequence[float] | np.ndarray | None) -> np.ndarray:
        """Return a wrench on the robot without the part that is the tool's weight."""
        if free_fall is None:
            raise MessageError(
                f'the wrench in frame {frame!r} contains the weight of a tool of '
                f'{self._tool_mass:g} kg, and nothing tells which way is down there')
        felt = weight(self._tool_mass, self._tool_center, Vector(*map(float, free_fall)))
        rest = wrench - [*felt]
        if not _is_reasonable(rest):
            raise MessageError(
                f'the wrench in frame {frame!r} without the weight of a tool of '
                f'{self._tool_mass:g} kg, which falls with {[*free_fall]} m/s^2, is '
                f'{rest.tolist()}; it needs 6 finite numbers with a norm below {BEYOND_REASON:g}')
        return rest


def _is_reasonable(wrench: np.ndarray) -> bool:
    """Tell whether all numbers are finite and not too large."""
    return hypot(*wrench.tolist()) < BEYOND_REASON  # false for NaN; NumPy would warn
