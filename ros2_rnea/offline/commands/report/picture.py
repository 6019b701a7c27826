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
"""Pictures of one joint: efforts, their difference over time, and that against its causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from ros2_rnea.command_line.pictures import (
    BLUE,
    GREY,
    metadata,
    save,
    STYLE as STYLE_OF_ALL,
    VERMILION,
)
from ros2_rnea.offline.identification.comparison import Comparison, Run

STYLE: dict[Any, Any] = {
    **STYLE_OF_ALL,
    'axes.grid': True,
    'svg.fonttype': 'none',  # letters stay letters: small, and can be searched
}

MAX_POINTS = 1200
"""The most samples that are drawn: of a longer recording, every second, third ... one is."""

PAUSE = 0.02
"""Gap between two recordings, as a share of the time that is drawn."""

ROUNDING = 1e-9
"""Share of the effort of the model below which gravity on a joint is the rounding of a zero."""


class JointPictures:
    """
    The pictures of one coordinate.

    :param comparison: of the recordings with the model.
    :param j: index of the coordinate.
    :param reach: of the axes of differences, to compare pictures of several models; None for that
        of this comparison.
    """

    def __init__(
            self, comparison: Comparison, j: int, reach: tuple[float, float] | None = None,
            ) -> None:
        self._coordinate = comparison.coordinates[j]
        runs = comparison.runs
        stride = -(-comparison.samples // MAX_POINTS)
        rows = [(run, slice(piece.start, piece.stop, stride))
                for run in runs for piece in run.recording.pieces]
        self._times = self._one_after_the_other(comparison, stride)
        gap = [np.nan]
        self._measured, self._model, self._gravity, self._velocity = (
            np.concatenate([np.concatenate([column(run, part)[:, j], gap]) for run, part in rows])
            for column in (lambda run, part: run.recording.tau[part], Run.model, Run.gravity,
                           lambda run, part: run.recording.qd[part]))
        self._difference = self._measured - self._model
        self._reach = reach_of([comparison], j) if reach is None else reach

    @staticmethod
    def _one_after_the_other(comparison: Comparison, stride: int) -> np.ndarray:
        times, start, pause = [], 0.0, PAUSE * comparison.duration
        for run in comparison.runs:
            recording = run.recording
            first = recording.times[recording.pieces[0]][0]
            for piece in recording.pieces:
                times.append(start + recording.times[piece][::stride] - first)
                times.append(np.full(1, np.nan))
            start = float(times[-2][-1]) + pause
        return np.concatenate(times)

    def over_time(self, upper: Axes, lower: Axes) -> None:
        """Draw the measured effort and that of the model, and below these their difference."""
        upper.plot(self._times, self._measured, color=GREY, linewidth=1.6, label='measured')
        upper.plot(self._times, self._model, color=BLUE, linewidth=0.9, label='model')
        upper.set_title(f'effort [{self._coordinate.effort_unit}]')
        upper.legend(loc='lower right', bbox_to_anchor=(1.0, 0.97), ncols=2, borderaxespad=0.0,
                     fontsize=8)
        lower.plot(self._times, self._difference, color=VERMILION, linewidth=0.8)
        lower.set_title(f'measured − model [{self._coordinate.effort_unit}]')
        lower.set_xlabel('time [s]')
        self._scale(lower)

    def against_velocity(self, axes: Axes) -> None:
        """Draw the difference against velocity, where friction shows."""
        self._dots(axes, self._velocity, 'against velocity',
                   f'velocity [{self._coordinate.position_unit}/s]')

    def against_gravity(self, axes: Axes) -> None:
        """Draw the difference against gravity, where wrong masses and factors show."""
        largest = np.nanmax(np.abs(self._model), initial=0.0)
        is_rounding = np.abs(self._gravity) < ROUNDING * largest
        self._dots(axes, np.where(is_rounding, 0.0, self._gravity), 'against gravity',
                   f'effort of the model against gravity [{self._coordinate.effort_unit}]')

    def _dots(self, axes: Axes, values: np.ndarray, title: str, label: str) -> None:
        axes.plot(values[::2], self._difference[::2], '.', color=VERMILION, markersize=2.2,
                  alpha=0.5, markeredgewidth=0.0)
        axes.axhline(0.0, color=GREY, linewidth=0.7)
        axes.set_title(f'difference {title} [{self._coordinate.effort_unit}]')
        axes.set_xlabel(label)
        self._scale(axes)

    def _scale(self, axes: Axes) -> None:
        low, high = self._reach
        if low < high:
            margin = 0.05 * (high - low)
            axes.set_ylim(low - margin, high + margin)


def reach_of(comparisons: Sequence[Comparison], j: int) -> tuple[float, float]:
    """Return the least and largest difference of a coordinate, or 0 where that is beyond."""
    return (min(float(each.difference_range[0, j]) for each in comparisons),
            max(float(each.difference_range[1, j]) for each in comparisons))


def draw_joint(comparison: Comparison, j: int, path: Path) -> None:
    """
    Write all pictures of a coordinate as one.

    :param path: of the file, .svg.
    :raises OutputError: if it cannot be written.
    """
    pictures = JointPictures(comparison, j)
    with rc_context(STYLE):
        figure = Figure(figsize=(9.0, 4.4), layout='constrained')
        parts = figure.subplot_mosaic('EV;DG', width_ratios=(2, 1))
        parts['D'].sharex(parts['E'])
        pictures.over_time(parts['E'], parts['D'])
        pictures.against_velocity(parts['V'])
        pictures.against_gravity(parts['G'])
        figure.suptitle(comparison.coordinates[j].label, x=0.01, ha='left', fontsize=11,
                        fontweight='bold')
        save(figure, path)


def svg_parts(comparison: Comparison, j: int, reach: tuple[float, float]) -> list[str]:
    """
    Return the pictures of a coordinate as SVG elements, whose size is that of the page's style.

    The first one is over time, and wide.

    :param reach: of the axes of differences [Nm or N].
    """
    pictures = JointPictures(comparison, j, reach)
    return [
        _svg((6.0, 3.9), lambda figure: pictures.over_time(*figure.subplots(2, sharex=True))),
        _svg((3.6, 2.6), lambda figure: pictures.against_velocity(figure.subplots())),
        _svg((3.6, 2.6), lambda figure: pictures.against_gravity(figure.subplots()))]


def _svg(size: tuple[float, float], draw: Callable[[Figure], None]) -> str:
    with rc_context(STYLE):
        figure = Figure(figsize=size, layout='constrained')
        draw(figure)
        text = StringIO()
        figure.savefig(text, format='svg', metadata=metadata('.svg'), transparent=True)
    return text.getvalue()[text.getvalue().index('<svg'):]
