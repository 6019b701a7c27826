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

from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from ros2_rnea.command_line.pictures import BLUE, GREY, save, VERMILION
from ros2_rnea.offline.commands.excite.plan import Plan
from ros2_rnea.offline.commands.fill_efforts.picture import STYLE
from ros2_rnea.robots.arguments import Array

_SAMPLES = 1000


def draw(plan: Plan, path: Path) -> None:
    """
    Draw one period: positions with their limits, velocities and efforts as shares of theirs.

    :param path: of the file; its suffix selects the format.
    :raises OutputError: if it cannot be written.
    """
    times = np.linspace(0.0, plan.settings.period, _SAMPLES)
    motion = plan.excitation.motion.at(times)
    efforts = plan.moving.efforts(plan.moving.states(motion))
    joints = plan.excitation.joints
    with rc_context(STYLE):
        figure = Figure(figsize=(9.0, 1.2 + 1.15 * len(joints)), layout='constrained')
        axes = figure.subplots(len(joints), 2, squeeze=False, sharex=True)
        for index, (left, right) in enumerate(axes):
            _draw_position(left, plan, index, times, motion[0, :, index])
            _draw_shares(right, plan, index, times, motion[1, :, index], efforts[:, index])
        axes[0, 0].set_title('position [rad or m]; orange: limit, dashed: with margin')
        axes[0, 1].set_title('share of the limit [%]')
        axes[0, 1].legend(loc='lower right', bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=7)
        for last in axes[-1]:
            last.set_xlabel('time [s]')
        save(figure, path)


def _draw_position(axes: Axes, plan: Plan, index: int, times: Array, positions: Array) -> None:
    limits, allowed = plan.bounds[index], plan.moving
    for bound in (limits.lower, limits.upper):
        axes.axhline(bound, color=VERMILION, linewidth=0.8)
    for side in (-1.0, 1.0):
        axes.axhline(allowed.center[index] + side * allowed.half_range[index],
                     color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.plot(times, positions, color=BLUE, linewidth=1.2)
    axes.set_ylabel(plan.excitation.joints[index], rotation=0, ha='right', va='center')


def _draw_shares(
        axes: Axes, plan: Plan, index: int, times: Array, velocities: Array, efforts: Array,
        ) -> None:
    limits = plan.bounds[index]
    for bound in (-100.0, 100.0):
        axes.axhline(bound, color=VERMILION, linewidth=0.8)
    for values, limit, allowed, colour, label in (
            (velocities, limits.velocity, plan.moving.velocity[index], BLUE, 'velocity'),
            (efforts, limits.effort, plan.moving.effort[index], GREY, 'effort')):
        for side in (-1.0, 1.0):
            axes.axhline(side * 100.0 * allowed / limit, color=colour, linewidth=0.7,
                         linestyle=(0, (4, 3)))
        axes.plot(times, 100.0 * values / limit, color=colour, linewidth=1.2, label=label)
