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
"""The results as tables for a terminal and as a JSON file."""

from __future__ import annotations

from collections.abc import Sequence
import json
from math import isfinite
import os
from pathlib import Path
import platform
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ros2_rnea.command_line.terminal import plain_table
from ros2_rnea.tools.demo.experiment import Phase, PHASES
from ros2_rnea.tools.demo.figures import Episode, Results
from ros2_rnea.tools.demo.judge import Check

WIDTH = 80

MAX_JOINTS = 7
"""Maximum number of joints that a table has room for."""


def tables(results: Results, checks: Sequence[Check]) -> RenderableType:
    """
    Return all that a terminal shows; it fits 80 columns.

    :param results: of the demo.
    :param checks: its verdict; none when the machine was too slow.
    """
    parts = _tracking_tables(results) if results.recordings else []
    if results.episodes:
        parts += [_episode_table(results), Text(
            'error: RMS of the arm after settling.\n'
            'step: largest change from one effort of the node to the next, of any joint.\n',
            style='dim')]
    if checks:
        parts.append(check_table(checks))
    return Group(*parts)


def _tracking_tables(results: Results) -> list[RenderableType]:
    return [
        _joint_table('RMS error in degrees, by joint', results, 'rms'),
        '',
        _joint_table('Largest error in degrees, by joint', results, 'maximum'),
        Text('Measured minus desired position at the stamp of each joint state, from the\n'
             'first to the last moment of the motion (without the lead-in before it).\n'
             f'arm: root of the sum of squares of all joints.{_units(results)}\n', style='dim'),
        _timing_table(results),
        Text('Latency: from the stamp of a joint state to the arrival of its effort.\n'
             'missed: arrived after the next joint state.  lost: not answered.\n',
             style='dim'),
    ]


def show(
        results: Results, checks: Sequence[Check], console: Console,
        not_judged: str | None = None) -> None:
    """
    Print the tables.

    :param not_judged: why no threshold was applied; it stands above the tables.
    """
    console.print()
    if not_judged:
        console.print(f'{not_judged}; the figures below say nothing about the node\n',
                      style='bold yellow')
    console.print(tables(results, checks), width=min(WIDTH, console.width))


def summary(results: Results, checks: Sequence[Check], verdict: str) -> dict[str, Any]:
    """
    Return all figures as plain data.

    :param verdict: ``passed``, ``failed`` or :data:`.NOT_JUDGED`.
    """
    return {
        'verdict': verdict,
        'machine': {'system': platform.platform(), 'python': platform.python_version(),
                    'processors': os.cpu_count()},
        'inertias_changed_for_the_engine': [
            {'link': change.link, 'given_kgm2': list(change.given), 'used_kgm2': list(change.used)}
            for change in results.arm.balanced],
        'joint_names': list(results.joint_names),
        'phases': {phase.key: _phase_summary(results, phase)
                   for phase in PHASES if results.recordings},
        'tip_force_added_error_deg': {key: results.added_error(key)
                                      for key in ('tip_force', 'tip_force_wrench')
                                      if results.recordings},
        'scenes': {name: _episode_summary(episode) for name, episode in results.episodes.items()},
        'gravity_service_errors_nm': list(results.gravity_errors),
        'played_again': list(results.repeated),
        'share_of_commands_limited_in_rate': number_or_none(results.rate_limited.share),
        'share_of_states_without_command_for_20_ms': results.share_late(),
        'share_of_engine_ticks_20_ms_late': results.share_slow(),
        'checks': checks_as_data(checks),
    }


def checks_as_data(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """Return thresholds and how they were met as plain data."""
    return [{'name': check.name, 'value': check.value, 'unit': check.unit,
             'at_least' if check.at_least else 'at_most': check.limit,
             'passed': check.passed} for check in checks]


def write_summary(path: Path, figures: dict[str, Any]) -> None:
    """Write plain data as a JSON file that people can read too."""
    path.write_text(json.dumps(figures, indent=2) + '\n', encoding='utf-8')


def _phase_summary(results: Results, phase: Phase) -> dict[str, Any]:
    recording = results.recordings[phase.key]
    return {
        'title': phase.title,
        'rate_hz': min(phase.rate, results.rate),
        'samples': len(recording.times),
        'rms_deg': dict(zip(results.joint_names, recording.rms.tolist())),
        'maximum_deg': dict(zip(results.joint_names, recording.maximum.tolist())),
        'arm_rms_deg': recording.arm_rms,
        'timing': dict(recording.timing),
    }


def _episode_summary(episode: Episode) -> dict[str, Any]:
    return {
        'title': episode.title,
        'sections': [{**section._asdict(), 'arm_rms_deg': number_or_none(episode.rms(section)),
                      'largest_step_nm': episode.largest_step(section)}
                     for section in episode.sections],
    }


def number_or_none(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return value if isfinite(value) else None


def _episode_table(results: Results) -> Table:
    table = plain_table('Disturbances: tracking errors and steps of the effort')
    table.add_column('', no_wrap=True)
    table.add_column('', no_wrap=True)
    table.add_column('error', justify='right', min_width=11)
    table.add_column('step', justify='right', min_width=11)
    for episode in results.episodes.values():
        title = episode.title
        for section in episode.sections:
            error = episode.rms(section)
            table.add_row(title, section.title,
                          f'{_degrees(error)} deg' if isfinite(error) else '-',
                          f'{episode.largest_step(section):.2f} Nm')
            title = ''
    return table


def _joint_table(title: str, results: Results, quantity: str) -> Table:
    with_arm = quantity == 'rms'
    shown = _shown_joints(results)
    table = plain_table(
        title if len(shown) == len(results.joint_names)
        else f'{title}: the {len(shown)} with the largest errors')
    table.add_column('', no_wrap=True)
    for joint in shown:
        table.add_column(str(joint + 1), justify='right')
    if with_arm:
        table.add_column('arm', justify='right', style='bold')
    for phase in PHASES:
        recording = results.recordings[phase.key]
        values = [*getattr(recording, quantity)[shown],
                  *([recording.arm_rms] if with_arm else [])]
        table.add_row(phase.title, *map(_degrees, values))
    return table


def _shown_joints(results: Results) -> list[int]:
    """Return the joints that have room in a table, in their order."""
    worst_first = np.argsort(-results.recordings['pd'].rms, kind='stable')
    return sorted(worst_first[:MAX_JOINTS].tolist())


def _units(results: Results) -> str:
    return '  Prismatic joints: mm.' if results.arm.slides.any() else ''


def _timing_table(results: Results) -> Table:
    table = plain_table('Joint state to command')
    table.add_column('', no_wrap=True)
    for column in (
            'states', 'median', '99th percentile', 'worst', 'missed', 'lost'):
        table.add_column(column, justify='right', min_width=8)
    for phase in PHASES:
        timing = results.recordings[phase.key].timing
        if not timing['states_answered']:
            table.add_row(phase.title, str(timing['states_published']), *'-----')
            continue
        table.add_row(
            phase.title, str(timing['states_published']),
            *(f'{timing[name]:.2f} ms' for name in
              ('latency_median_ms', 'latency_99_percent_ms', 'latency_worst_ms')),
            *(str(timing[name]) for name in ('deadline_misses', 'states_lost')))
    return table


def check_table(checks: Sequence[Check]) -> Table:
    """Return the thresholds as a table of a terminal."""
    table = plain_table('Thresholds')
    table.add_column('')
    table.add_column('measured', justify='right', no_wrap=True)
    table.add_column('allowed', justify='right', no_wrap=True)
    table.add_column('', no_wrap=True)
    for check in checks:
        bound = '>=' if check.at_least else '<='
        table.add_row(check.name, _with_unit(check.value, check.unit),
                      f'{bound} {_with_unit(check.limit, check.unit)}',
                      '[green]passed[/]' if check.passed else '[bold red]FAILED[/]')
    return table


def _degrees(value: float) -> str:
    return f'{value:.4f}' if value < 9.99995 else f'{value:.2f}'


def _with_unit(value: float, unit: str) -> str:
    return f'{value:.3g} {unit}' if value < 1000 else f'{value:.0f} {unit}'
