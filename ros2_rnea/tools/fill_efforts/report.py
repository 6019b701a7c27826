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
"""The report of fill_efforts, as a table and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isfinite

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ros2_rnea.filling.densifier import FINEST
from ros2_rnea.filling.effort_filler import Filled
from ros2_rnea.filling.torque_report import LargestPayload, Moment, TorqueReport


def report_table(filled: Filled, report: TorqueReport) -> RenderableType:
    """Return the table of the efforts and limits of each joint."""
    table = Table(box=None, header_style='dim', padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column('joint', overflow='fold')
    for title in ('limit', 'peak', 'at', 'of limit', 'RMS', 'of limit', 'error', 'allowed'):
        table.add_column(title, justify='right', no_wrap=True)
    for load, error, tolerance in zip(report.joints, filled.errors, filled.tolerances):
        is_over = abs(load.peak) > load.limit
        table.add_row(
            load.joint, f'{load.limit:.4g}' if isfinite(load.limit) else '-', f'{load.peak:.4g}',
            f'{load.peak_time:.3f} s', _share(load.peak, load.limit), f'{load.rms:.4g}',
            _share(load.rms, load.limit), f'{error:.2g}', f'{tolerance:.2g}',
            style='bold red' if is_over else '')
    return Group(table, Text(
        'Efforts and limits in Nm or N; error: of the interpolation.\n', style='dim'))


def _share(effort: float, limit: float) -> str:
    return f'{100.0 * abs(effort) / limit:.0f} %' if 0.0 < limit < inf else '-'


def sentences(filled: Filled, given_points: int, report: TorqueReport) -> Iterator[str]:
    """Yield the sentences of the report; the most important one is last."""
    yield (f'{given_points} points were read; the filled trajectory has {len(filled.points)}, '
           f'over {filled.points[-1].waypoint.time:.3f} s.')
    others = [name for name in filled.joint_names if name not in filled.filled]
    if others:
        yield f'Not changed: {", ".join(others)}.'
    if filled.jumps:
        yield (f'The effort jumps {_times(filled.jumps)}, because the velocity or acceleration '
               f'jumps there; interpolated, this takes {1e3 * FINEST:g} ms. To avoid it, give all '
               'points velocities and accelerations, and let the last point be at rest.')
    if report.payload is not None:
        yield _payload(report.payload)
    yield _scaling(report.time_scaling, report.scaling_decided_by)
    if report.first_break is None:
        yield 'The motion is within all effort limits.'
    else:
        yield f'An effort limit is exceeded: {_moment(report.first_break)}.'


def _times(times: Sequence[float], most: int = 4) -> str:
    shown = ', '.join(f'{time:.3f} s' for time in times[:most])
    return f'at {shown}' + (f' and {len(times) - most} more times' if len(times) > most else '')


def _moment(moment: Moment) -> str:
    return (f'{moment.joint} needs {moment.effort:.4g} at {moment.time:.3f} s, its limit is '
            f'{moment.limit:.4g}')


def _decided(moment: Moment) -> str:
    return f'decided by {moment.joint} at {moment.time:.3f} s'


def _scaling(scaling: float, moment: Moment | None) -> str:
    if moment is None:
        return 'At any speed, the motion is within all limits.'
    if scaling == inf:
        return (f'At any speed, a limit is exceeded: for gravity and Coulomb friction alone, '
                f'{_moment(moment)}.')
    if scaling > 1.0:
        return (f'The motion needs {scaling:.4g} times its duration to stay within all limits '
                f'({_decided(moment)}).')
    return (f'The motion is within all limits down to {scaling:.4g} times its duration '
            f'({_decided(moment)}).')


def _payload(payload: LargestPayload) -> str:
    place = f'{payload.link} at {", ".join(f"{x:g}" for x in payload.position)} m'
    if payload.decided_by is None:
        return f'With any payload on {place}, the motion is within all limits.'
    if not payload.mass:
        return f'No payload on {place} is possible: a limit is exceeded without one.'
    return (f'The largest payload on {place} is {payload.mass:.4g} kg '
            f'({_decided(payload.decided_by)}).')
