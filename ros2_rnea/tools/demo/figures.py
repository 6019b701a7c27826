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
"""What comes out of the experiment, as numbers: computed from the recorded errors alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Timing = Mapping[str, 'float | int | None']


@dataclass(frozen=True)
class Recording:
    """
    The tracking error during one motion, from its first moment to its last.

    The lead-in before the motion and the rest after it are not part of it.

    :param times: of the joint states since the start of the motion, increasing, shape (N,) [s].
    :param errors: measured minus desired position at these times, shape (N, n) [degrees].
    :param timing: the driver's figures on messages, by name.
    """

    times: Array
    errors: Array
    timing: Timing

    @property
    def rms(self) -> Array:
        """Return the root of the mean squared error of each joint, shape (n,) [degrees]."""
        return np.sqrt(np.mean(self.errors**2, axis=0))

    @property
    def maximum(self) -> Array:
        """Return the largest error of each joint, shape (n,) [degrees]."""
        return np.max(np.abs(self.errors), axis=0)

    @property
    def arm_rms(self) -> float:
        """Return the root of the joints' summed squared RMS [degrees]."""
        return float(np.linalg.norm(self.rms))

    @property
    def arm_errors(self) -> Array:
        """Return the root of the joints' summed squared errors at each time, shape (N,)."""
        return np.linalg.norm(self.errors, axis=1)

    def minus(self, other: Recording) -> Recording:
        """
        Return what this recording has more than another one of the same motion.

        :param other: whose errors, interpolated to the times of this one, are subtracted.
        """
        others = [np.interp(self.times, other.times, column) for column in other.errors.T]
        return Recording(self.times, self.errors - np.stack(others, axis=1), self.timing)


@dataclass(frozen=True)
class Results:
    """
    All that the demo measured.

    :param joint_names: in the order of all columns.
    :param recordings: by the key of the phase.
    :param gravity_errors: of the gravity service against the engine, largest over the joints for
        each pose asked [Nm].
    """

    joint_names: tuple[str, ...]
    recordings: Mapping[str, Recording]
    gravity_errors: tuple[float, ...]

    def added_error(self, phase: str) -> float:
        """
        Return by how much a force at the tip makes full feedforward worse [degrees].

        The errors of the full feedforward without force are subtracted, time by time and joint
        by joint; the root of the summed mean squares is taken of what is left.

        :param phase: key of the phase with the force.
        """
        return self.recordings[phase].minus(self.recordings['feedforward']).arm_rms

    def share_late(self) -> float:
        """
        Return the share of the joint states after which the arm waited over 20 ms for a command.

        Phases in which the node sends nothing at all do not count.
        """
        return self._share('older_than_20_ms', 'states_published', where='states_answered')

    def share_slow(self) -> float:
        """Return the share of the simulated milliseconds that came more than 20 ms late."""
        return self._share('engine_20_ms_late', 'engine_ticks', where='engine_ticks')

    def _share(self, part: str, whole: str, where: str) -> float:
        timings = [recording.timing for recording in self.recordings.values()
                   if recording.timing[where]]
        parts, wholes = (sum(timing[name] or 0 for timing in timings) for name in (part, whole))
        return parts / wholes if wholes else 0.0
