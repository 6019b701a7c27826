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
"""A picture of the motion: each joint over time, and its shares of the limits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from ros2_rnea.command_line.pictures import BLUE, GREY, save, VERMILION
from ros2_rnea.offline.commands.excite.plan import Plan
from ros2_rnea.offline.commands.fill_efforts.picture import STYLE

_SAMPLES = 1000


def draw(plan: Plan, path: Path) -> None:
    """
    Draw one period: positions with their limits, velocities and efforts as shares of theirs.

    :param path: of the file, .png.
    :raises OutputError: if it cannot be written.
    """
    moving, times = plan.moving, np.linspace(0.0, plan.settings.period, _SAMPLES)
    motion = plan.excitation.motion.at(times)
    efforts = moving.efforts(motion)
    with rc_context(STYLE):
        figure = Figure(figsize=(9.0, 1.2 + 1.15 * len(moving.joints)), layout='constrained')
        axes = figure.subplots(len(moving.joints), 2, squeeze=False, sharex=True)
        for i, ((left, right), joint, limits) in enumerate(zip(axes, moving.joints, plan.bounds)):
            _lines(left, (limits.lower, limits.upper))
            _lines(left, moving.center[i] + np.array((-1.0, 1.0)) * moving.half_range[i], GREY)
            left.plot(times, motion[0, :, i], color=BLUE, linewidth=1.2)
            left.set_ylabel(joint, rotation=0, ha='right', va='center')
            _lines(right, (-100.0, 100.0))
            for values, limit, allowed, colour, label in (
                    (motion[1, :, i], limits.velocity, moving.velocity[i], BLUE, 'velocity'),
                    (efforts[:, i], limits.effort, moving.effort[i], GREY, 'effort')):
                share = 100.0 * allowed / limit
                _lines(right, (-share, share), colour, 0.7)
                right.plot(times, 100.0 * values / limit, color=colour, linewidth=1.2, label=label)
        axes[0, 0].set_title('position [rad or m]; orange: limit, dashed: with margin')
        axes[0, 1].set_title('share of the limit [%]')
        axes[0, 1].legend(loc='lower right', bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=7)
        for last in axes[-1]:
            last.set_xlabel('time [s]')
        save(figure, path)


def _lines(axes: Axes, bounds: Iterable[float], margin: str = '', width: float = 0.8) -> None:
    """Draw bounds as lines: limits, or dashed, in the colour of what has them with margins."""
    for bound in bounds:
        axes.axhline(bound, color=margin or VERMILION, linewidth=width,
                     linestyle=(0, (4, 3)) if margin else '-')
