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
"""One picture of the identification: tracking before and after, and a push and its estimate."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from ros2_rnea.command_line.pictures import BLUE, GREY, ORANGE, save, VERMILION
from ros2_rnea.tools.demo.figures import Recording
from ros2_rnea.tools.demo.identify.machine import MASS_ERROR
from ros2_rnea.tools.demo.identify.outcome import Outcome
from ros2_rnea.tools.demo.picture import degree_scale, dots, FINE, joint_axis, STYLE

AROUND = 0.3
"""Time that is drawn before and after the push [s]."""


def draw_identification(outcome: Outcome, path: Path, judged: bool = True) -> None:
    """
    Draw the results.

    :param path: of the file; its suffix says which kind.
    :param judged: whether the machine was fast enough for the figures to mean anything.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(8.0, 5.4),
                        layout=ConstrainedLayoutEngine(hspace=0.06, wspace=0.04))
        (errors, joints), (push, setting) = figure.subplots(
            2, 2, width_ratios=(2.1, 1), height_ratios=(1.4, 1))
        figure.suptitle(
            f'The same motion with the identified model: {outcome.improvement:.0f}× closer'
            if judged else 'Not judged: the machine was too slow',
            x=0.012, ha='left', fontsize=12, fontweight='bold')
        _draw_errors(errors, outcome)
        _draw_joints(joints, outcome)
        joints.set_yscale('log')
        joints.sharey(errors)
        joints.tick_params(labelleft=False)
        _draw_push(push, outcome)
        _draw_setting(setting, outcome)
        save(figure, path, FINE)


def _draw_errors(axes: Axes, outcome: Outcome) -> None:
    axes.set_title('Tracking error, root of the summed squares of all joints [°]')
    for recording, color, title in _recordings(outcome):
        axes.plot(recording.times, recording.arm_errors, color=color, linewidth=1.1,
                  label=f'{title}: RMS {recording.arm_rms:.2g}°')
    degree_scale(axes, 0.3 * outcome.after.rms.min(), 6.0 * outcome.before.arm_errors.max())
    axes.set_xlim(0.0, float(outcome.before.times[-1]))
    axes.set_xlabel('time [s]')
    axes.legend(loc='upper left', frameon=False, ncols=2, fontsize=8)


def _recordings(outcome: Outcome) -> tuple[tuple[Recording, str, str], ...]:
    return ((outcome.before, VERMILION, 'with the description'),
            (outcome.after, BLUE, 'identified'))


def _draw_joints(axes: Axes, outcome: Outcome) -> None:
    axes.set_title('RMS by joint [°]')
    for recording, color, _ in _recordings(outcome):
        dots(axes, recording, color, color, None)
    joint_axis(axes, len(outcome.arm.joint_names))
    axes.set_xlabel('joint')


def _draw_push(axes: Axes, outcome: Outcome) -> None:
    push = outcome.push
    axes.set_title('A push at the tip [N]')
    shown = (push.times > push.begin - AROUND) & (push.times < push.end + AROUND)
    times = push.times[shown] - push.begin
    acting = (push.times[shown] >= push.begin) & (push.times[shown] < push.end)
    actual = axes.plot(times, acting[:, None] * push.force, color=GREY, linewidth=2.6, alpha=0.5)
    estimated = [
        axes.plot(times, column, color=color, linewidth=1.1)[0]
        for column, color in zip(push.estimates[shown].T, (ORANGE, VERMILION, BLUE))]
    axes.set_xlim(-AROUND, push.end - push.begin + AROUND)
    axes.set_xlabel('time since the push began [s]')
    axes.grid(axis='y')
    axes.legend([actual[0], *estimated], ['the push', 'estimate of x', 'y', 'z'],
                loc='lower right', bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0, ncols=4,
                fontsize=8, handlelength=1.2, columnspacing=1.0, frameon=False)


def _draw_setting(axes: Axes, outcome: Outcome) -> None:
    axes.axis('off')
    axes.text(
        0.0, 0.98, 'The arm is unlike its description:\n'
        f'each mass and inertia off by {MASS_ERROR:.0%},\n'
        f'friction, and {outcome.machine.load.mass:.2g} kg at the tip.\n'
        f'push seen after {1e3 * outcome.push.seen_after:.0f} ms,\n'
        f'force right to {outcome.push.relative_error:.1%}',
        va='top', linespacing=1.5, transform=axes.transAxes, color='#555555')
