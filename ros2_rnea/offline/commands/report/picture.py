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
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from ros2_rnea.command_line.pictures import (
    BLUE,
    GREY,
    metadata,
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
    The pictures of one coordinate, in which each model has a colour.

    :param comparisons: of the same recordings with one model, or with one before and one after; it
        is the last one whose measured efforts are drawn, and whose gravity.
    :param j: index of the coordinate.
    :param titles: of the models; without any, there is only one.
    """

    def __init__(self, comparisons: Sequence[Comparison], j: int,
                 titles: Sequence[str] = ('',)) -> None:
        last = comparisons[-1]
        self._coordinate = last.coordinates[j]
        stride = -(-last.samples // MAX_POINTS)
        pieces = [(index, slice(piece.start, piece.stop, stride))
                  for index, run in enumerate(last.runs) for piece in run.recording.pieces]

        def column(comparison: Comparison, of: Callable[[Run, slice], np.ndarray]) -> np.ndarray:
            return np.concatenate([
                np.append(of(comparison.runs[index], rows)[:, j], np.nan)
                for index, rows in pieces])

        self._measured = column(last, lambda run, rows: run.recording.tau[rows])
        self._velocity = column(last, lambda run, rows: run.recording.qd[rows])
        self._gravity = column(last, Run.gravity)
        self._models = [(title, color, column(each, Run.model)) for title, color, each in zip(
            titles, (VERMILION, BLUE)[-len(comparisons):], comparisons)]
        begins = np.cumsum([0.0, *(
            run.recording.times[run.recording.pieces[-1].stop - 1] - _first(run)
            + PAUSE * last.duration for run in last.runs)])
        self._times = np.concatenate([
            np.append(last.runs[index].recording.times[rows], np.nan)
            - _first(last.runs[index]) + begins[index] for index, rows in pieces])

    def over_time(self, upper: Axes, lower: Axes) -> None:
        """Draw the measured effort and those of the models, and below these their differences."""
        upper.plot(self._times, self._measured, color=GREY, linewidth=1.6, label='measured')
        for title, color, model in self._models:
            upper.plot(self._times, model, color=color, linewidth=0.9,
                       label=f'model {title}'.strip())
            lower.plot(self._times, self._measured - model, color=color, linewidth=0.8)
        upper.set_title(f'effort [{self._coordinate.effort_unit}]')
        upper.legend(loc='lower right', bbox_to_anchor=(1.0, 0.97), ncols=3, borderaxespad=0.0,
                     fontsize=8)
        lower.set_title(f'measured − model [{self._coordinate.effort_unit}]')
        lower.set_xlabel('time [s]')

    def against_velocity(self, axes: Axes) -> None:
        """Draw the difference against velocity, where friction shows."""
        self._dots(axes, self._velocity, 'against velocity',
                   f'velocity [{self._coordinate.position_unit}/s]')

    def against_gravity(self, axes: Axes) -> None:
        """Draw the difference against gravity, where wrong masses and factors show."""
        largest = np.nanmax(np.abs(self._models[-1][2]), initial=0.0)
        is_rounding = np.abs(self._gravity) < ROUNDING * largest
        self._dots(axes, np.where(is_rounding, 0.0, self._gravity), 'against gravity',
                   f'effort of the model against gravity [{self._coordinate.effort_unit}]')

    def _dots(self, axes: Axes, values: np.ndarray, title: str, label: str) -> None:
        for _, color, model in self._models:
            axes.plot(values[::2], (self._measured - model)[::2], '.', color=color, markersize=2.2,
                      alpha=0.5, markeredgewidth=0.0)
        axes.axhline(0.0, color=GREY, linewidth=0.7)
        axes.set_title(f'difference {title} [{self._coordinate.effort_unit}]')
        axes.set_xlabel(label)

    def as_svg(self) -> list[str]:
        """
        Return the pictures as SVG elements, whose size is that of the page's style.

        The first one is over time, and wide.
        """
        with rc_context(STYLE):
            figures = [Figure(figsize=size, layout='constrained')
                       for size in ((6.0, 3.9), (3.6, 2.6), (3.6, 2.6))]
            self.over_time(*figures[0].subplots(2, sharex=True))
            self.against_velocity(figures[1].subplots())
            self.against_gravity(figures[2].subplots())
            return [_svg(figure) for figure in figures]


def _first(run: Run) -> float:
    return float(run.recording.times[run.recording.pieces[0].start])


def _svg(figure: Figure) -> str:
    text = StringIO()
    figure.savefig(text, format='svg', metadata=metadata('.svg'), transparent=True)
    return text.getvalue()[text.getvalue().index('<svg'):]
