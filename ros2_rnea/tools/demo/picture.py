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
"""The results as one picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, NullLocator
import numpy as np

from ros2_rnea.command_line.pictures import (
    BLUE,
    GREY,
    ORANGE,
    save,
    STYLE as STYLE_OF_ALL,
    VERMILION,
)
from ros2_rnea.tools.demo.figures import Recording, Results, Timing
from ros2_rnea.tools.demo.motion import push_share

STYLE: dict[Any, Any] = {
    **STYLE_OF_ALL,
    'axes.titlesize': 9.5,
    'axes.titleweight': 'bold',
    'xtick.major.width': 0.7,
    'ytick.major.width': 0.7,
}
FINE = 200
"""Resolution of the pictures [dots per inch]."""


def draw(results: Results, path: Path, limit: float = inf, judged: bool = True) -> None:
    """
    Draw the results.

    :param results: of the demo.
    :param path: of the file; its suffix says which kind.
    :param limit: to which every joint is held [deg]; infinite: there is none.
    :param judged: whether the machine was fast enough for the figures to mean anything.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(8.0, 6.6),
                        layout=ConstrainedLayoutEngine(hspace=0.06, wspace=0.04))
        axes = figure.subplots(3, 2, width_ratios=(2.1, 1), height_ratios=(0.75, 2.3, 1.7))
        title = _headline(results) if judged else UNJUDGED
        figure.suptitle(title, x=0.012, ha='left', fontsize=12, fontweight='bold')
        duration = float(round(results.recordings['feedforward'].times[-1]))
        _draw_motion(axes[0, 0], results, duration)
        _draw_setting(axes[0, 1], results)
        _draw_errors(axes[1, 0], results)
        _draw_joints(axes[1, 1], results, limit)
        _draw_tip_force(axes[2, 0], results, duration)
        _draw_tip_force_joints(axes[2, 1], results)
        for left, right in axes[1:]:
            right.set_yscale('log')
            right.sharey(left)
            right.tick_params(labelleft=False)
        for plot in axes[:, 0]:
            plot.set_xlim(0.0, duration)
        save(figure, path, FINE)


UNJUDGED = 'Not judged: the machine was too slow.\nThese figures say nothing about the node.'


def _headline(results: Results) -> str:
    alone, gravity, full = (results.recordings[key].arm_rms
                            for key in ('pd', 'gravity', 'feedforward'))
    return (f'Same arm, same gains: full feedforward tracks {alone / full:.0f}× closer than PD '
            f'alone,\n{gravity / full:.0f}× closer than PD + gravity')


def _draw_motion(axes: Axes, results: Results, duration: float) -> None:
    arm, times = results.arm, np.linspace(0.0, duration, 500)
    swings = arm.displayed(arm.motion(duration).at(times).positions - arm.start)
    axes.plot(times, swings, color=GREY, linewidth=0.8, alpha=0.75)
    axes.set_title('Motion to follow: all joints at once [°]')
    axes.tick_params(labelbottom=False)
    axes.grid(axis='y')


def _draw_setting(axes: Axes, results: Results) -> None:
    timing = results.recordings['feedforward'].timing
    axes.axis('off')
    axes.text(0.0, 0.98, 'Three processes over DDS\n'
              'arm: MuJoCo, joint PD at 1 kHz\n'
              f'node: {results.rate:g} Hz, median latency {_milliseconds(timing)}',
              va='top', linespacing=1.5, transform=axes.transAxes, color='#555555')


def _draw_errors(axes: Axes, results: Results) -> None:
    axes.set_title('Tracking error, root of the summed squares of all joints [°]')
    labels = [
        _draw_curve(axes, results.recordings[key], title, color, label_below=key == 'gravity')
        for key, title, color in (('pd', 'PD alone', GREY), ('gravity', 'PD + gravity', ORANGE),
                                  ('feedforward', 'PD + full feedforward', BLUE))]
    axes.tick_params(labelbottom=False)
    _log_scale(axes, results.recordings['feedforward'])
    spread(axes, labels)


def _draw_joints(axes: Axes, results: Results, limit: float) -> None:
    axes.set_title('RMS by joint [°]')
    if limit < inf:
        axes.axhline(limit, color=BLUE, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.text(0.55, 1.08 * limit, f'limit {limit:g}°', color=BLUE, fontsize=8, va='bottom')
    for key, color, fill, label in (('pd', GREY, GREY, None), ('gravity', ORANGE, ORANGE, None),
                                    ('feedforward_240', BLUE, 'white', 'blue at 240 Hz'),
                                    ('feedforward', BLUE, BLUE, f'at {results.rate:g} Hz')):
        dots(axes, results.recordings[key], color, fill, label)
    axes.legend(loc='upper left', frameon=False, fontsize=8, handletextpad=0.1, borderpad=0.0,
                ncols=2, columnspacing=0.8)
    axes.tick_params(labelbottom=False)
    joint_axis(axes, len(results.joint_names))


def _draw_tip_force(axes: Axes, results: Results, duration: float) -> None:
    unknown, known = _added(results, 'tip_force'), _added(results, 'tip_force_wrench')
    axes.set_title('Error that a push at the tip adds to full feedforward [°]')
    axes.set_xlabel('time [s]')
    labels = [
        _draw_curve(axes, unknown, 'unknown to the node', VERMILION, label_below=True),
        _draw_curve(axes, known, 'known from the wrench topic', BLUE)]
    _log_scale(axes, known)
    spread(axes, labels, top=0.84)  # above, the push has its label
    _draw_force(axes, results, duration)


def _draw_force(axes: Axes, results: Results, duration: float) -> None:
    """Shade the time of the push, the deeper the stronger it is."""
    times = np.linspace(0.0, duration, 200)
    force = np.linalg.norm(results.arm.tip_force) * push_share(times, duration)
    shade = axes.inset_axes((0, 0, 1, 1), zorder=-1)
    shade.fill_between(times, force, color='#F3EDE6', linewidth=0)
    shade.set(xlim=(0.0, duration), ylim=(0.0, force.max()))
    shade.axis('off')
    axes.patch.set_visible(False)
    axes.text(0.5 * duration, 0.97, f'push, up to {force.max():.0f} N', fontsize=8,
              color='#7A6A56', ha='center', va='top', transform=axes.get_xaxis_transform())


def _draw_tip_force_joints(axes: Axes, results: Results) -> None:
    axes.set_title('RMS by joint [°]')
    axes.set_xlabel('joint')
    dots(axes, _added(results, 'tip_force'), VERMILION, VERMILION, None)
    dots(axes, _added(results, 'tip_force_wrench'), BLUE, BLUE, None)
    joint_axis(axes, len(results.joint_names))


def _added(results: Results, key: str) -> Recording:
    return results.recordings[key].minus(results.recordings['feedforward'])


def dots(axes: Axes, recording: Recording, color: str, fill: str, label: str | None) -> None:
    """Draw the RMS of each joint."""
    axes.plot(np.arange(1, len(recording.rms) + 1), recording.rms, 'o', color=color,
              markerfacecolor=fill, markersize=5, markeredgewidth=1.0, label=label,
              clip_on=False)


def joint_axis(axes: Axes, count: int) -> None:
    """Write the numbers of the joints below an axis."""
    axes.set_xticks(range(1, count + 1))
    axes.set_xlim(0.4, count + 0.6)
    axes.grid(axis='y')


def _draw_curve(axes: Axes, recording: Recording, title: str, color: str,
                label_below: bool = False) -> Text:
    """Draw the error of the arm and return the label next to it, where it leaves room."""
    errors, duration = recording.arm_errors, recording.times[-1]
    axes.plot(recording.times, errors, color=color, linewidth=1.2)
    middle = errors[np.abs(recording.times - 0.5 * duration) < 0.25 * duration]
    return axes.text(
        0.5 * duration, 0.7 * middle.min() if label_below else 1.4 * middle.max(),
        f'{title}   RMS {_short(recording.arm_rms)}°', color=color, fontweight='bold',
        ha='center', va='center', bbox={'facecolor': 'white', 'alpha': 0.7, 'linewidth': 0,
                                        'pad': 0.5})


def spread(axes: Axes, labels: Sequence[Text], top: float = 0.95) -> None:
    """
    Move labels of curves up or down, to be inside the axes and off each other.

    :param top: share of the axes' height that the highest label reaches at most.
    """
    to_share = axes.transScale + axes.transLimits
    ordered = sorted(labels, key=lambda label: float(label.get_position()[1]))
    shares = [float(to_share.transform(label.get_position())[1]) for label in ordered]
    lowest = LABEL_HEIGHT / 2.0
    for index, share in enumerate(shares):
        shares[index] = lowest = max(share, lowest)
        lowest += LABEL_HEIGHT
    highest = top
    for index in reversed(range(len(shares))):
        shares[index] = highest = min(shares[index], highest)
        highest -= LABEL_HEIGHT
    for label, share in zip(ordered, shares):
        x, _ = label.get_position()
        label.set_position((x, float(to_share.inverted().transform((0.5, share))[1])))


LABEL_HEIGHT = 0.11
"""Share of the axes' height that a label needs."""


def _log_scale(axes: Axes, best: Recording) -> None:
    """Let the axis reach down to where the best curve stays most of the time."""
    degree_scale(axes, min(np.percentile(best.arm_errors, 15), 0.65 * best.rms.min()), 20.0)


def degree_scale(axes: Axes, low: float, high: float) -> None:
    """Give an axis a logarithmic scale with plain numbers."""
    axes.set_yscale('log')
    axes.set_ylim(low, high)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:g}'))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(axis='y')


def _milliseconds(timing: Timing) -> str:
    median = timing['latency_median_ms']
    return '-' if median is None else f'{median:.1f} ms'


def _short(value: float) -> str:
    """Return a number with two significant digits."""
    return np.format_float_positional(value, precision=2, unique=False, fractional=False,
                                      trim='k')
