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
"""One picture of all scenes: the effort of the most loaded motor, and the error, over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import MultipleLocator
import numpy as np

from ros2_rnea.command_line.pictures import BLUE, GREY, save, VERMILION
from ros2_rnea.tools.demo.figures import Episode, Results
from ros2_rnea.tools.demo.picture import degree_scale, FINE, STYLE, UNJUDGED

SILENCE = 0.05
"""A longer pause between two efforts is drawn as one [s]."""

LONG = 12.0
"""An episode of at least this duration has half as many numbers at its axis [s]."""

LETTER = 0.0074
"""Width of a letter of a title as a share of all episodes together."""

SMALLEST = 3e-4
"""Error that is still drawn, as a share of the largest."""

GOOD, BAD = '#EAF2F8', '#FBECE4'
"""Background colours of sections in which the node knows the change, and in which not."""

_KNOWN = ('before', 'known', 'follows', 'back', 'holds', 'held')

ROWS = 2
"""Rows of the titles of sections, which stand above each other where one row is too narrow."""

APART = 4.0
"""Least distance between two titles in a row [points]."""


def draw_timeline(results: Results, path: Path, judged: bool = True) -> None:
    """
    Draw the scenes.

    :param results: of the demo, with one scene at least.
    :param path: of the file; its suffix says which kind.
    :param judged: whether the machine was fast enough for the figures to mean anything.
    """
    episodes = list(results.episodes.values())
    joint = _heaviest(episodes)
    with rc_context(STYLE):
        figure = Figure(figsize=(11.5, 6.9), layout=ConstrainedLayoutEngine(
            hspace=0.03, wspace=0.01, w_pad=0.02))
        axes = figure.subplots(
            3, len(episodes), sharex='col', sharey='row', squeeze=False,
            width_ratios=widths(episodes),
            height_ratios=(1.5, 1.2, 1.2))
        title = 'Efforts and errors at disturbances' if judged else UNJUDGED
        figure.suptitle(title, x=0.012, ha='left', fontsize=12,
                        fontweight='bold')
        name = results.arm.joint_names[joint]
        figure.legend(
            [Line2D([], [], color=GREY, linewidth=2.4, alpha=0.5), Line2D([], [], color=BLUE)],
            [f'the motor of {name}, its own feedback included', 'what the node sent'],
            loc='upper right', ncols=2, frameon=False)
        titles = [_draw_sections(column, episode) for column, episode in zip(axes.T, episodes)]
        for column, episode in zip(axes.T, episodes):
            _draw_motor(column[0], episode, joint)
            _draw_sent(column[1], episode)
            _draw_error(column[2], episode)
            column[0].set_title(episode.title, pad=25)
            column[2].set_xlim(0.0, _duration(episode))
            column[2].xaxis.set_major_locator(
                MultipleLocator(2.0 if _duration(episode) < LONG else 4.0))
        first = axes[:, 0]
        first[0].set_ylabel(f'{name} [Nm]')
        first[1].set_ylabel('sent to all joints [Nm]')
        first[2].set_ylabel('tracking error [°]')
        first[2].set_xlabel('time [s]')
        degree_scale(first[2], *_error_range(episodes))
        for plot in axes.flat:
            plot.grid(axis='y')
        figure.draw_without_rendering()  # which gives the axes their places, and they keep them
        figure.set_layout_engine('none')
        for plot, texts in zip(axes[0], titles):
            arrange(texts, plot)
        save(figure, path, FINE)


def widths(episodes: Sequence[Episode]) -> list[float]:
    """Return the shares of the width: by duration, but as much as the title of each needs."""
    durations = np.array([_duration(episode) for episode in episodes])
    needed = LETTER * np.array([len(episode.title) + 1 for episode in episodes])
    shares, is_short = durations / durations.sum(), np.zeros(len(episodes), bool)
    while (shares < needed).any() and not is_short.all():
        is_short |= shares < needed
        left = 1.0 - needed[is_short].sum()
        shares = np.where(is_short, needed, left * durations / durations[~is_short].sum())
    return list(map(float, shares))


def _heaviest(episodes: list[Episode]) -> int:
    """Return the joint with the largest effort."""
    return int(np.argmax(np.max(
        [np.abs(e.log.sent).max(axis=0, initial=0.0) for e in episodes], axis=0)))


def _duration(episode: Episode) -> float:
    return episode.sections[-1].end


def _draw_sections(column: np.ndarray, episode: Episode) -> list[Annotation]:
    """Colour the sections, and return their titles, which :func:`arrange` puts in their places."""
    titles = []
    for section in episode.sections:
        known = section.title in _KNOWN or len(episode.sections) == 1
        for axes in column:
            axes.axvspan(section.start, section.end, color=GOOD if known else BAD, linewidth=0,
                         zorder=-2)
        titles.append(column[0].annotate(
            section.title, (section.start, 1.0), (2.0, 3.0), fontsize=7.5,
            xycoords=('data', 'axes fraction'), textcoords='offset points',
            color=BLUE if known else VERMILION, annotation_clip=False))
    return titles


def arrange(titles: Sequence[Annotation], axes: Axes) -> None:
    """Keep titles above their axes, at the begin of their sections, where they do not touch."""
    pixels = axes.figure.dpi / 72.0
    frame = axes.get_window_extent()
    ends = [-np.inf] * ROWS
    for title in titles:
        box = title.get_window_extent()
        left = max(min(box.x0, frame.x1 - box.width), frame.x0)
        free = [row for row in range(ROWS) if ends[row] + APART * pixels <= left]
        row = free[0] if free else int(np.argmin(ends))
        ends[row] = left + box.width
        title.xyann = (title.xyann[0] + (left - box.x0) / pixels, 3.0 + 9.0 * row)


def _draw_motor(axes: Axes, episode: Episode, joint: int) -> None:
    log = episode.log
    axes.plot(*with_gaps(log.times, log.motors[:, joint]), color=GREY, linewidth=2.4, alpha=0.5)
    axes.plot(*with_gaps(log.sent_times, log.sent[:, joint]), color=BLUE, linewidth=1.1)


def _draw_sent(axes: Axes, episode: Episode) -> None:
    axes.plot(*with_gaps(episode.log.sent_times, episode.log.sent), color=BLUE, linewidth=0.7)


def _draw_error(axes: Axes, episode: Episode) -> None:
    errors = np.linalg.norm(episode.errors, axis=1)
    axes.plot(*with_gaps(episode.log.times, errors), color=VERMILION, linewidth=1.0)


def with_gaps(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve that is interrupted where no effort was received for long."""
    places = np.flatnonzero(np.diff(times) > SILENCE) + 1
    return np.insert(times, places, np.nan), np.insert(values, places, np.nan, axis=0)


def _error_range(episodes: list[Episode]) -> tuple[float, float]:
    """Return where the axis of errors begins and ends."""
    high = max(np.nanmax(np.linalg.norm(episode.errors, axis=1)) for episode in episodes)
    return high * SMALLEST, 1.5 * high
