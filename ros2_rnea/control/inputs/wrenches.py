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
"""The external wrenches that act on the robot, the newest one of each frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot, inf

import numpy as np

from ros2_rnea.control.inputs.wrench_signal import WrenchMemory, WrenchSignal
from ros2_rnea.control.settings import ExertedBy, WrenchSettings
from ros2_rnea.control.signals import remaining_weight
from ros2_rnea.dynamics.wrenches import weight, wrench_matrix_to_body
from ros2_rnea.errors import did_you_mean, MessageError
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Vector

SETTLING = 7.0
"""Number of time constants after which a low-pass filter is within 0.1 % of a constant signal."""

LARGEST_WRENCH = 1e9
"""Bound of the norms of accepted wrenches [N, Nm]: no sum of them overflows."""


@dataclass
class WrenchesMemory:
    """
    What is known of the wrenches of all frames.

    :ivar frames: that of each frame, in the order in which they were received first.
    :ivar lost_biases: frames whose bias was discarded, because another tool weight is subtracted.
    :ivar settings: those with which they were received; None: there were none.
    """

    frames: dict[str, WrenchMemory] = field(default_factory=dict)
    lost_biases: frozenset[str] = frozenset()
    settings: WrenchSettings | None = None

    @property
    def acting(self) -> tuple[str, ...]:
        """
        Return the frames whose wrenches act, or have not faded out since the newest message.

        They are in the order in which the settings name them, or else in that of their messages.
        """
        if self.settings is None:
            return ()
        longest = self.settings.timeout + self.settings.fade_time
        newest = max((one.filtered.received for one in self.frames.values()), default=-inf)
        acting = [frame for frame, one in self.frames.items()
                  if newest - one.filtered.received < longest]  # false for −inf − −inf
        named = self.settings.frames
        return tuple(sorted(acting, key=named.index) if named else acting)


class ExternalWrenches:
    """
    Measured wrenches by the link in whose frame they are given; their sum acts on the robot.

    The wrenches of two frames act at the same time only where the settings name both.  If two
    sensors measured the same contact, or one sensor published it in two frames, it would be
    compensated twice, and the loop with twice the gain may be unstable.

    A wrench in a message passes through these steps:

    1. *Sign*: afterwards it is the wrench that the environment applies to the robot.
    2. *Tool weight*: a force-torque sensor also measures the weight of the tool behind it,
       [c × m g; m g], which changes with the orientation.  Where the description contains the
       tool, the robot model accounts for that weight already, so it is subtracted here
       (``tool_mass``, ``tool_center``).  Inertial forces of an accelerated tool are not
       subtracted.  A tool that the description lacks needs ``tool_mass`` 0: its measured weight
       is then balanced like any other load.
    3. *Bias*: the sensor offset found by :meth:`zero` is subtracted.
    4. *Clamp*: a sample that alone would lead beyond the limits (step 8) is reduced to them: a
       wrong one has little weight in the filter.
    5. *Low-pass filter*, which starts from zero, or from what is left of a wrench fading out.
    6. *Deadbands* of the moment and of the force: the part beyond them is used.
    7. *Gain*: the share of the wrench that is compensated.  The effort against the force of a
       contact presses harder, which increases the force: a loop of positive feedback with this
       gain, whose steady force is that of the arm without compensation, divided by 1 − gain.
    8. *Limits* of the norms of moment and force, which reduce both by one common factor.

    :param tree: of the robot.
    :param settings: of all frames.
    :param memory: the newest wrench, bias and filter state of each frame, which go on as far as
        tree and settings allow; None: there are none.
    """

    def __init__(
            self, tree: Tree, settings: WrenchSettings,
            memory: WrenchesMemory | None = None) -> None:
        self.memory = memory or WrenchesMemory()
        self._settings = settings
        self._sign = -1.0 if settings.exerted_by is ExertedBy.ROBOT else 1.0
        self._tool_mass = float(settings.tool_mass)
        self._tool_center = Vector(*map(float, settings.tool_center))
        self._tree = tree
        self._moving_links = frozenset(
            name for name, frame in tree.links.items() if frame.body != BASE)
        self._body_wrenches = np.zeros((len(tree.bodies), 6))
        self._signals: dict[str, WrenchSignal] = {}
        self._bodies: dict[str, tuple[int, np.ndarray]] = {}  # by frame: body, matrix to it
        self._take_up()

    @property
    def lost_biases(self) -> frozenset[str]:
        """Return the frames whose bias was discarded, because another tool is subtracted."""
        return self.memory.lost_biases

    def update(
            self,
            frame: str,
            moment_force: Sequence[float],
            now: float,
            free_fall: Sequence[float] | np.ndarray | None = None,
            age: float = 0.0) -> None:
        """
        Accept a wrench [moment; force] about the origin of a link's frame, in the frame's axes.

        :param frame: a link that joints move.
        :param now: on the steady clock [s].
        :param free_fall: acceleration of free fall in the frame's axes [m/s^2]; needed to compute
            the tool's weight.
        :param age: time since the reception [s].
        :raises MessageError: where no moving link has the frame's name, the frame is not admitted
            now, the value is not six finite numbers, or the tool's weight is needed and
            ``free_fall`` is None.
        """
        self._check_frame(frame, now)
        wrench = np.array(moment_force, dtype=float)
        if wrench.shape != (6,) or not _is_valid(wrench):
            raise MessageError(
                f'the wrench in frame {frame!r} is {wrench.tolist()}; it needs 6 finite numbers '
                f'with a norm below {LARGEST_WRENCH:g}')
        if self._sign < 0.0:
            wrench = -wrench
        if self._tool_mass:
            wrench = self._without_tool(frame, wrench, free_fall)
        signal = self._signals.get(frame)
        if signal is None:
            signal = self._add_signal(frame)
        received = now - age
        if signal.received <= now:  # else time has jumped back
            received = max(received, signal.received)  # an age may be measured a little too large
        signal.update(wrench, received, self._weight(signal, received))

    def zero(self, now: float) -> tuple[str, ...]:
        """
        Take the present filtered wrenches as sensor bias and return their frames.

        The weight of a known tool is not part of the bias.  Nothing may touch the tool during this
        call.

        :raises MessageError: where no frame has a fresh wrench, or the filter of one has not had
            the time to settle; then no bias changes.
        """
        old = self.stale(now)
        fresh = tuple(frame for frame, signal in self._signals.items()
                      if self._is_fresh(signal, now))
        if not fresh:
            seen = f'; the newest one in {", ".join(old)} is older' if old else ''
            raise MessageError(
                'no wrench can be set to zero: none was received within the last '
                f'{self._settings.timeout:g} s{seen}')
        settling = SETTLING * self._settings.time_constant
        for frame in fresh:
            received = now - self._signals[frame].began
            if received < settling:
                raise MessageError(
                    f'the wrench in {frame!r} cannot be set to zero yet: it has been received for '
                    f'{received:.3f} s without a gap or a jump, and the low-pass filter settles '
                    f'within {settling:.3g} s ({SETTLING:g} times wrench_time_constant)')
        for frame in fresh:
            self._signals[frame].zero()
        self.memory.lost_biases -= set(fresh)
        return fresh

    def forget(self) -> None:
        """Discard all wrenches, because their times are invalid; biases stay."""
        for signal in self._signals.values():
            signal.forget()

    def _take_up(self) -> None:
        """
        Continue from the memory as far as the links and the settings allow.

        Nothing goes on where the subtracted tool differs, or where the sign has changed with a
        tool in place: bias and filter state contain the tool's weight.  The biases are then lost.

        Of a frame that is no longer admitted only the bias stays, for the case that it is named
        again.  If no frames are named any more while several act, the first one of those that
        were named goes on: otherwise each would be refused because of the others, until all have
        faded out.
        """
        memory, former = self.memory, self.memory.settings
        former_acting, memory.settings = memory.acting, self._settings
        memory.lost_biases &= self._moving_links
        memory.frames = {
            frame: one for frame, one in memory.frames.items() if frame in self._moving_links}
        if former is None:
            return
        turned = former.exerted_by is not self._settings.exerted_by
        tool, former_tool = (
            (settings.tool_mass, *settings.tool_center) if settings.tool_mass else None
            for settings in (self._settings, former))
        if tool != former_tool or (tool and turned):
            memory.lost_biases |= {
                frame for frame, one in memory.frames.items() if one.bias is not None}
            memory.frames = {}
            return
        acting = [frame for frame in former_acting if frame in self._moving_links]
        superfluous = () if self._settings.frames else acting[1:]
        for frame, one in memory.frames.items():
            if turned:
                one.negate()
            signal = self._add_signal(frame)
            if frame in superfluous or not self._is_admitted(frame):
                signal.forget()

    def active(self, now: float) -> dict[str, np.ndarray]:
        """Return the wrenches [moment; force] applied to the robot now, by link."""
        active = {}
        for frame, signal in self._signals.items():
            weight_now = self._weight(signal, now)
            if weight_now > 0.0:
                active[frame] = weight_now * signal.value
        return active

    def on_bodies(self, now: float) -> np.ndarray | None:
        """
        Return the sum of the active wrenches on each body, in the body's frame.

        :return: shape (bodies, 6), an array that the next call overwrites; None where no wrench
            is active.
        """
        active = self.active(now)
        if not active:
            return None
        self._body_wrenches[:] = 0.0
        for frame, wrench in active.items():
            body, to_body = self._bodies[frame]
            self._body_wrenches[body] += to_body.dot(wrench)
        return self._body_wrenches

    @property
    def frames(self) -> tuple[str, ...]:
        """Return the frames of all wrenches received so far."""
        return tuple(self._signals)

    @property
    def limited(self) -> tuple[str, ...]:
        """Return the frames whose newest wrench exceeds the limit of its force or moment."""
        return tuple(frame for frame, signal in self._signals.items() if signal.is_limited)

    def stale(self, now: float) -> tuple[str, ...]:
        """Return the frames whose newest wrench is older than the timeout."""
        return tuple(
            frame for frame, signal in self._signals.items()
            if signal.received > -inf and not self._is_fresh(signal, now))

    def _is_admitted(self, frame: str) -> bool:
        return not self._settings.frames or frame in self._settings.frames

    def _check_frame(self, frame: str, now: float) -> None:
        if frame not in self._moving_links:
            hint = did_you_mean(frame, self._moving_links)
            raise MessageError(
                f'the wrench frame {frame!r} is not a link that joints move, so that the wrench '
                f'would change no effort{hint}')
        if not self._is_admitted(frame):
            raise MessageError(
                f'the wrench frame {frame!r} is not in wrench_frames, which are '
                f'{", ".join(self._settings.frames)}')
        if self._settings.frames:
            return
        for other, signal in self._signals.items():
            if other != frame and self._weight(signal, now) > 0.0:
                raise MessageError(
                    f'the wrench in frame {frame!r} is refused while that in {other!r} acts: if '
                    'both contain the same contact, it would be compensated twice. If they are '
                    f'two contacts, set   wrench_frames: [{other}, {frame}]')

    def _add_signal(self, frame: str) -> WrenchSignal:
        link = self._tree.links[frame]
        self._bodies[frame] = link.body, np.array(wrench_matrix_to_body(link), dtype=float)
        memory = self.memory.frames.setdefault(frame, WrenchMemory())
        signal = self._signals[frame] = WrenchSignal(self._settings, memory)
        return signal

    def _is_fresh(self, signal: WrenchSignal, now: float) -> bool:
        return 0.0 <= now - signal.received <= self._settings.timeout

    def _weight(self, signal: WrenchSignal, now: float) -> float:
        """Return 1 while a frame's wrench is fresh; then it falls to 0 over the fade time."""
        age = now - signal.received
        if age < 0.0:
            return 0.0
        late = age - self._settings.timeout
        return remaining_weight(late, self._settings.fade_time) if late > 0.0 else 1.0

    def _without_tool(
            self, frame: str, wrench: np.ndarray,
            free_fall: Sequence[float] | np.ndarray | None) -> np.ndarray:
        """Return a measured wrench less the weight of the tool."""
        mass = self._tool_mass
        if free_fall is None:
            raise MessageError(
                f'the wrench in frame {frame!r} contains the weight of a tool of {mass:g} kg, and '
                'the direction of gravity in that frame is unknown')
        tool_weight = weight(mass, self._tool_center, Vector(*map(float, free_fall)))
        rest = wrench - [*tool_weight]
        if not _is_valid(rest):
            raise MessageError(
                f'the wrench in frame {frame!r} without the weight of a tool of {mass:g} kg, '
                f'which falls with {[*free_fall]} m/s^2, is {rest.tolist()}; it needs 6 finite '
                f'numbers with a norm below {LARGEST_WRENCH:g}')
        return rest


def _is_valid(wrench: np.ndarray) -> bool:
    """Return whether all numbers are finite and not too large."""
    return hypot(*wrench.tolist()) < LARGEST_WRENCH  # false for NaN; NumPy would warn
