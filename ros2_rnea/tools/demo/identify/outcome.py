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
"""What the identification of the demo has brought, and the thresholds for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ros2_rnea.offline.identification.results import Identification, plain_data
from ros2_rnea.tools.demo.arm import Arm
from ros2_rnea.tools.demo.figures import FULL_RATE, Recording, Timing
from ros2_rnea.tools.demo.identify.machine import Machine
from ros2_rnea.tools.demo.judge import Check, is_disturbed, ratio_at
from ros2_rnea.tools.demo.report import checks_as_data

Array = NDArray[np.float64]

MIN_IMPROVEMENT = 10.0
"""Ratio of the tracking errors with the description and with the identified model, at 500 Hz."""

LONGEST_UNSEEN = 0.02
"""Time from the start of a push until the estimated wrench exceeds that without one [s]."""

LONGEST_STEP = 0.01
"""A step of the effort may be as large as its rate limit allows in this time [s]."""

FORCE_ERROR = 0.1
"""Largest error of the estimated force, relative to the push."""

SETTLING = 0.3
"""Time from the start of the push until the estimate is to be right [s]."""

MARGIN = 1.5
"""Factor over the largest estimate without a push, above which a push is seen."""


@dataclass(frozen=True)
class Push:
    """
    A push at the tip of the resting arm, and what the node's observer estimated of it.

    :param force: at the origin of the tip's frame, in its axes, shape (3,) [N].
    :param begin: of the push [s].
    :param end: of the push [s].
    :param times: of the joint states that the estimates are for, increasing, shape (N,) [s].
    :param estimates: of the force, in the same axes, shape (N, 3) [N].
    :param timing: the driver's figures on messages, by name.
    """

    force: Array
    begin: float
    end: float
    times: Array
    estimates: Array
    timing: Timing

    @property
    def threshold(self) -> float:
        """Return the size of an estimate that is too large for an arm that nobody pushes [N]."""
        free = self.estimates[self.times < self.begin]
        return MARGIN * float(np.linalg.norm(free, axis=1).max()) if len(free) else inf

    @property
    def seen_after(self) -> float:
        """Return from when on the estimates are above the threshold, after the begin [s]."""
        during = (self.times >= self.begin) & (self.times < self.end)
        sizes = np.linalg.norm(self.estimates[during], axis=1)
        seen = np.flatnonzero(sizes > self.threshold)
        return float(self.times[during][seen[0]] - self.begin) if len(seen) else inf

    @property
    def relative_error(self) -> float:
        """Return the size of the error of the mean estimate, once settled, of that of the push."""
        settled = (self.times >= self.begin + SETTLING) & (self.times < self.end)
        if not settled.any():
            return inf
        error = self.estimates[settled].mean(axis=0) - self.force
        return float(np.linalg.norm(error) / np.linalg.norm(self.force))


@dataclass(frozen=True)
class Outcome:
    """
    All measurements of the identification.

    :param arm: as it is described.
    :param machine: as it is simulated.
    :param before: the tracking error with the description.
    :param after: the same motion with the identified model.
    :param largest_step: of an effort to the next while the identified model is blended in,
        arm at rest [Nm or N].
    :param push: at the end.
    :param identification: what was identified.
    :param repeated: titles of what was played again because this machine had paused.
    :param rate: of the joint states [Hz].
    """

    arm: Arm
    machine: Machine
    before: Recording
    after: Recording
    largest_step: float
    push: Push
    identification: Identification
    repeated: tuple[str, ...] = ()
    rate: float = FULL_RATE

    @property
    def improvement(self) -> float:
        """Return how many times smaller the tracking error is."""
        return self.before.arm_rms / self.after.arm_rms

    @property
    def is_disturbed(self) -> bool:
        """Return whether the machine paused so long that the errors do not count."""
        return any(is_disturbed(played.timing)
                   for played in (self.before, self.after, self.push))


def judge(outcome: Outcome) -> list[Check]:
    """Compare the results with the thresholds."""
    return [
        Check('tracking error: with the description / identified', outcome.improvement,
              ratio_at(outcome.rate, MIN_IMPROVEMENT), '', at_least=True),
        Check('largest step while the new model is blended in', outcome.largest_step,
              outcome.arm.rate_limit * LONGEST_STEP + 1e-6, 'Nm', at_least=False),
        Check('time until the push is seen', 1e3 * outcome.push.seen_after,
              1e3 * LONGEST_UNSEEN, 'ms', at_least=False),
        Check('error of the estimated force', 100.0 * outcome.push.relative_error,
              100.0 * FORCE_ERROR, '%', at_least=False)]


def summary(outcome: Outcome, checks: Sequence[Check], verdict: str) -> Any:
    """
    Return all figures as plain data.

    :param verdict: ``passed``, ``failed`` or :data:`.NOT_JUDGED`.
    """
    found, names, push = outcome.identification, outcome.arm.joint_names, outcome.push
    played = {'description': outcome.before, 'identified': outcome.after}
    return plain_data({
        'verdict': verdict,
        'joint_names': names,
        'payload_kg': outcome.machine.load.mass,
        'rms_deg': {name: dict(zip(names, each.rms.tolist())) for name, each in played.items()},
        'arm_rms_deg': {name: each.arm_rms for name, each in played.items()},
        'held_back_efforts_nm': {
            'joints': found.joints, 'measured_rms': found.measured_rms,
            'description_rms': found.urdf_rms, 'identified_rms': found.identified_rms},
        'physically_consistent': found.physically_consistent,
        'push': {'force_n': push.force, 'seen_after_s': push.seen_after,
                 'relative_error': push.relative_error},
        'rate_hz': outcome.rate,
        'played_again': outcome.repeated,
        'checks': checks_as_data(checks)})
