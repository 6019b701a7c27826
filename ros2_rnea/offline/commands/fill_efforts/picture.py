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
"""A plot of the needed efforts, the interpolated ones, and the limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from ros2_rnea.command_line.pictures import BLUE, GREY, save, STYLE as STYLE_OF_ALL, VERMILION
from ros2_rnea.offline.filling.effort_filler import Filled
from ros2_rnea.offline.filling.torque_report import Checked, JointLoad, TorqueReport

MAX_JOINTS = 12

SMALLEST_AXIS = 0.02
"""
An axis of efforts is at least as long as this share of the joint's limit, or without one of the
largest effort of all joints: next to nothing then looks like it.
"""

STYLE: dict[Any, Any] = {**STYLE_OF_ALL, 'axes.grid': True, 'font.size': 8}


def draw(filled: Filled, report: TorqueReport, path: Path) -> None:
    """
    Draw the effort of each joint, and next to it the interpolation error.

    Of many joints, those closest to their limits are shown.

    :param path: of the file; its suffix selects the format.
    :raises OutputError: if it cannot be written.
    """
    shown = sorted(sorted(range(len(report.joints)), key=lambda i: -_load(report.joints[i]))[
        :MAX_JOINTS])
    errors = filled.line_errors()
    largest = max((abs(load.peak) for load in report.joints), default=0.0)
    with rc_context(STYLE):
        figure = Figure(figsize=(9.0, 1.0 + 1.15 * len(shown)), layout='constrained')
        axes = figure.subplots(len(shown), 2, squeeze=False, sharex=True, width_ratios=(2, 1))
        for (left, right), index in zip(axes, shown):
            _draw_effort(left, filled, report.joints[index], index, largest)
            _draw_error(right, filled, errors, index)
        axes[0, 0].set_title(_title(filled, report, len(shown)))
        axes[0, 1].set_title('interpolation error; dashed: tolerance')
        for last in axes[-1]:
            last.set_xlabel('time [s]')
        save(figure, path)


def draw_comparison(given: Checked, result: Checked, path: Path) -> None:
    """
    Draw effort and velocity of each joint with two timings, as shares of their limits.

    :param path: of the file; its suffix selects the format.
    :raises OutputError: if it cannot be written.
    """
    velocities = {motion.joint: motion.velocity.limit for motion in result.report.motion.joints}
    loads = result.report.joints[:MAX_JOINTS]
    with rc_context(STYLE):
        figure = Figure(figsize=(9.0, 1.2 + 1.15 * len(loads)), layout='constrained')
        axes = figure.subplots(len(loads), 2, squeeze=False, sharex=True)
        for (left, right), load in zip(axes, loads):
            left.set_ylabel(load.joint, rotation=0, ha='right', va='center')
            for (filled, _), colour, label in (
                    (given, GREY, 'as given'), (result, BLUE, 'retimed')):
                v_index = filled.v_index[filled.filled.index(load.joint)]
                for panel, values, limit in (
                        (left, filled.samples.effort, load.limit),
                        (right, filled.samples.qd, velocities[load.joint])):
                    _draw_share(panel, filled.samples.times, values[:, v_index], limit, colour,
                                label)
        axes[0, 0].set_title('effort: % of its limit, or Nm or N without one')
        axes[0, 1].set_title('velocity: % of its limit, or rad/s or m/s without one')
        axes[0, 1].legend(loc='upper right', fontsize=7)
        for last in axes[-1]:
            last.set_xlabel('time [s]')
        save(figure, path)


def _draw_share(
        axes: Axes, times: np.ndarray, values: np.ndarray, limit: float, colour: str, label: str,
        ) -> None:
    has_limit = 0.0 < limit < np.inf
    axes.plot(times, 100.0 * values / limit if has_limit else values, color=colour, label=label,
              linewidth=1.2)
    if has_limit:
        for bound in (-100.0, 100.0):
            axes.axhline(bound, color=VERMILION, linewidth=0.8)


def _title(filled: Filled, report: TorqueReport, shown: int) -> str:
    few = f', {shown} of {len(report.joints)} joints' if shown < len(report.joints) else ''
    return f'effort [Nm or N]; dots: the {len(filled.points)} points; orange: limit{few}'


def _load(load: JointLoad) -> float:
    """Return the share of its limit that a joint needs."""
    return abs(load.peak) / load.limit if load.limit else np.inf


def _draw_effort(
        axes: Axes, filled: Filled, load: JointLoad, index: int, largest: float) -> None:
    """Draw the effort of a joint; ``largest`` is that of all joints."""
    needed = filled.samples.sent[:, filled.v_index[index]]
    column = filled.joint_names.index(load.joint)
    axes.plot(filled.samples.times, needed, color=GREY, linewidth=1.8)
    axes.plot([point.waypoint.time for point in filled.points],
              [point.effort[column] for point in filled.points],
              '.-', color=BLUE, linewidth=0.8, markersize=4)
    least = SMALLEST_AXIS * (load.limit if 0.0 < load.limit < np.inf else largest)
    low, high = axes.get_ylim()
    if high - low < least:
        low, high = (0.5 * (low + high) + side * least for side in (-0.5, 0.5))
        axes.set_ylim(low, high)
    for limit in (-load.limit, load.limit):
        if low - (high - low) < limit < high + (high - low):
            axes.axhline(limit, color=VERMILION, linewidth=1.0)
    axes.set_ylabel(f'{load.joint}\n±{load.limit:g}' if np.isfinite(load.limit) else load.joint,
                    rotation=0, ha='right', va='center')


def _draw_error(axes: Axes, filled: Filled, errors: np.ndarray, index: int) -> None:
    axes.plot(filled.samples.times, errors[:, index], color=BLUE, linewidth=0.9)
    for bound in (-filled.tolerances[index], filled.tolerances[index]):
        axes.axhline(bound, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
