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
"""One picture: what a call costs, by robot, quantity and peer, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.campaign import Result
from benchmark.peers import OURS, PEERS, PINOCCHIO, TEXTBOOK
from benchmark.quantities import BY_NAME
from benchmark.robots import Description
import matplotlib
import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator, StrMethodFormatter

matplotlib.use('Agg')

OTHERS = ('#4477aa', '#66ccee', '#228833', '#ccbb44', '#aa3377', '#bb5566', '#997700', '#bbbbbb')
"""Colours that those tell apart who see few (Paul Tol, bright)."""

MARKERS = 'sD^v<>Ph'

COLUMNS = 2
"""Panels side by side."""

WIDTH = 7.6
"""Of the picture [in]: that of a page of the documentation, so that text is shown at its size."""


def draw(
        descriptions: Sequence[Description], results: Sequence[Result], stem: Path) -> list[Path]:
    """
    Draw the picture as PNG and SVG.

    :param stem: the files' path without what they end with.
    :returns: their paths.
    """
    robots = [d for d in descriptions if d.chain_joints is None]
    chains = [d for d in descriptions if d.chain_joints is not None]
    styles = _styles()
    panels = max(1, len(robots)) + bool(chains)
    columns = min(panels, COLUMNS)
    lines = -(-panels // columns)
    timed = {r.quantity for r in results
             if r.nanoseconds is not None and r.robot in {d.name for d in robots}}
    names = [name for name, known in BY_NAME.items() if name in timed and not known.way_of]
    height = 0.7 + lines * (1.0 + 0.24 * len(names))
    figure, grid = plt.subplots(
        lines, columns, figsize=(WIDTH, height), squeeze=False, layout='constrained')
    axes = list(grid.flat)
    for i, (panel, robot) in enumerate(zip(axes, robots)):
        _draw_robot(panel, [r for r in results if r.robot == robot.name], names, styles)
        panel.set_title(robot.title)
        titles = [BY_NAME[name].title if i % columns == 0 else '' for name in names]
        panel.set_yticks(range(len(names)), titles)
    ends = [panel.get_xlim() for panel, _ in zip(axes, robots)]
    for panel, _ in zip(axes, robots):  # one scale for all robots
        panel.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
    if chains:
        _draw_chains(axes[panels - 1], chains, results, styles)
    for unused in axes[panels:]:
        unused.set_visible(False)
    handles = {label: handle for panel in axes
               for handle, label in zip(*panel.get_legend_handles_labels())}
    known = [name for name in styles if name in handles]
    figure.legend([handles[name] for name in known], known, loc='outside lower center',
                  ncols=min(len(known), int(WIDTH / 1.5)), frameon=False)
    paths = [stem.with_suffix(suffix) for suffix in ('.png', '.svg')]
    for path in paths:
        figure.savefig(path, dpi=150)
    plt.close(figure)
    return paths


def _styles() -> dict[str, dict[str, Any]]:
    """Return how each peer is drawn, the same in every run; the textbook would be far off."""
    others = [peer.name for peer in PEERS if peer.name not in (OURS, PINOCCHIO, TEXTBOOK)]
    return {
        OURS: {'color': '#ee6677', 'marker': 'o', 'markersize': 9, 'zorder': 4},
        PINOCCHIO: {'color': 'black', 'marker': '|', 'markersize': 14, 'markeredgewidth': 2.5,
                    'zorder': 3},
        **{name: {'color': color, 'marker': marker, 'markersize': 6}
           for name, color, marker in zip(others, OTHERS, MARKERS)},
    }


def _draw_robot(
        panel: Any, results: Sequence[Result], names: Sequence[str],
        styles: dict[str, dict[str, Any]]) -> None:
    """Draw one robot: a row for each quantity, a mark for each peer."""
    for peer, style in styles.items():
        own = [r for r in results
               if r.peer == peer and r.nanoseconds is not None and r.quantity in names]
        if not own:
            continue
        panel.plot([r.nanoseconds.median for r in own if r.nanoseconds],
                   [names.index(r.quantity) for r in own], linestyle='', label=peer, **style)
    panel.set_xscale('log')
    panel.set_xlabel('ns per call')
    panel.set_ylim(max(len(names), 1) - 0.5, -0.5)
    panel.grid(axis='x', which='major', alpha=0.4)
    panel.grid(axis='y', alpha=0.15)
    panel.spines[['top', 'right', 'left']].set_visible(False)
    panel.tick_params(axis='y', length=0)


def _draw_chains(
        panel: Any, chains: Sequence[Description], results: Sequence[Result],
        styles: dict[str, dict[str, Any]]) -> None:
    """Draw how the cost of a joint changes with the length of a chain."""
    joints = {chain.name: chain.chain_joints for chain in chains}
    for peer, style in styles.items():
        points = sorted((joints[r.robot] or 1, r.nanoseconds.median) for r in results
                        if r.peer == peer and r.robot in joints and r.nanoseconds is not None
                        and r.quantity == 'inverse_dynamics')
        if points:
            panel.plot([count for count, _ in points], [cost / count for count, cost in points],
                       linewidth=1, label=peer, **style)
    panel.set_xscale('log', base=2)
    panel.set_xticks([count or 1 for count in joints.values()],
                     [str(count) for count in joints.values()])
    panel.set_yscale('log')
    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(StrMethodFormatter('{x:g}'))
    panel.minorticks_off()
    panel.set_xlabel('joints')
    panel.set_title('Chains, inverse dynamics:\nns per call and joint')
    panel.grid(alpha=0.3)
    panel.spines[['top', 'right']].set_visible(False)
