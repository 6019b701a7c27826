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
from rich.text import Text

from ros2_rnea.command_line.terminal import figure_table
from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.filling.densifier import FINEST
from ros2_rnea.offline.filling.effort_filler import Filled
from ros2_rnea.offline.filling.motion_check import (
    EFFORT,
    Moment,
    MotionReport,
    Peak,
    POSITION,
    ROUNDING,
)
from ros2_rnea.offline.filling.torque_report import Checked, LargestPayload, TorqueReport


def report_table(result: Checked) -> RenderableType:
    """Return the tables of each joint's efforts and motion, compared with the limits."""
    filled, report = result
    return Group(_effort_table(filled, report), _motion_table(report.motion))


def _effort_table(filled: Filled, report: TorqueReport) -> RenderableType:
    table = figure_table(
        'joint', 'limit', 'peak', 'at', 'of limit', 'RMS', 'of limit', 'error', 'allowed')
    for load, error, tolerance in zip(report.joints, filled.errors, filled.tolerances):
        is_over = abs(load.peak) > load.limit
        table.add_row(
            load.joint, number(load.limit), number(load.peak),
            f'{load.peak_time:.3f} s', _share(load.peak, load.limit), number(load.rms),
            _share(load.rms, load.limit), f'{error:.2g}', f'{tolerance:.2g}',
            style='bold red' if is_over else '')
    return Group(table, Text(
        'Efforts and limits in Nm or N; error: of the interpolation.\n', style='dim'))


def _motion_table(motion: MotionReport) -> RenderableType:
    """Return the table of the motion, with acceleration and jerk where they have limits."""
    joints, over = motion.joints, {moment.joint for moment in motion.exceeded}
    shown = ['velocity', *(
        quantity for quantity in ('acceleration', 'jerk')
        if any(isfinite(getattr(joint, quantity).limit) for joint in joints))]
    table = figure_table('joint', 'position', 'allowed', *(
        title for quantity in shown for title in (quantity, 'limit', 'of limit')))
    for joint in joints:
        low, high = joint.lowest, joint.highest
        table.add_row(
            joint.joint, _range(low.value, high.value), _range(low.limit, high.limit), *(
                cell for quantity in shown for cell in _peak_cells(getattr(joint, quantity))),
            style='bold red' if joint.joint in over else '')
    return Group(table, Text(
        'Motion in rad or m, and per s, s^2, s^3: largest magnitudes.\n', style='dim'))


def _range(low: float, high: float) -> str:
    return f'{low:.4g} to {high:.4g}' if isfinite(low) or isfinite(high) else '-'


def _peak_cells(peak: Peak) -> tuple[str, str, str]:
    limit = number(peak.limit)
    return (f'{abs(peak.value):.4g}' if isfinite(peak.value) else 'jumps', limit,
            _share(peak.value, peak.limit) if isfinite(peak.value) else '-')


def _share(effort: float, limit: float) -> str:
    return f'{100.0 * abs(effort) / limit:.0f} %' if 0.0 < limit < inf else '-'


def comparison_table(given: Checked, result: Checked) -> RenderableType:
    """Return the table of two timings: duration, and the largest share of each kind of limit."""
    table = figure_table('largest share of a limit', 'as given', 'joint', 'retimed', 'joint')
    both = [largest_shares(checked.report) for checked in (given, result)]
    for quantity in both[0]:
        table.add_row(quantity, *(cell for shares in both for cell in shares[quantity]))
    durations = [f'{checked.filled.trajectory.duration:.3f} s' for checked in (given, result)]
    table.add_row('duration', durations[0], '', durations[1], '')
    return Group(table, Text(''))


def largest_shares(report: TorqueReport) -> dict[str, tuple[str, str]]:
    """Return for each quantity the largest share of a limit, and its joint."""
    shares: dict[str, list[tuple[float, str]]] = {'effort': [
        (abs(load.peak) / load.limit, load.joint) for load in report.joints
        if 0.0 < load.limit < inf]}
    for quantity in ('velocity', 'acceleration'):
        peaks = [(getattr(motion, quantity), motion.joint) for motion in report.motion.joints]
        shares[quantity] = [(abs(peak.value) / peak.limit, joint) for peak, joint in peaks
                            if 0.0 < peak.limit < inf]
    return {quantity: _largest(found) for quantity, found in shares.items()}


def _largest(shares: Sequence[tuple[float, str]]) -> tuple[str, str]:
    if not shares:
        return 'no limit', ''
    share, joint = max(shares)
    return (f'{share:.1%}' if isfinite(share) else 'jumps'), joint


def sentences(result: Checked, given_points: int) -> Iterator[str]:
    """
    Yield the sentences of the report; the most important one is last.

    :param given_points: of the trajectory before.
    """
    filled, report = result
    yield (f'{given_points} points were read; the filled trajectory has {len(filled.points)}, '
           f'over {filled.points[-1].waypoint.time:.3f} s.')
    others = [name for name in filled.joint_names if name not in filled.filled]
    if others:
        yield f'Not changed: {", ".join(others)}.'
    if report.motion.velocity_jumps:
        yield (f'Warning: the velocity jumps {_times(report.motion.velocity_jumps)}: '
               'joint_trajectory_controller joins points without velocities by straight lines. '
               'No effort makes a velocity jump, and no limit of effort or acceleration can be '
               'checked there. Give all points velocities and accelerations, and let the first '
               'one have the velocity of the robot, which is 0 at rest.')
    elif filled.jumps:
        yield (f'The effort jumps {_times(filled.jumps)}, because the acceleration jumps '
               f'there; interpolated, this takes {1e3 * FINEST:g} ms. To avoid it, give all '
               'points velocities and accelerations, and let the last point be at rest.')
    if report.payload is not None:
        yield _payload(report.payload)
    untold = _untold(report)
    if untold:
        yield untold
    yield _scaling(report.time_scaling, report.scaling_decided_by)
    if report.first_break is not None:
        yield (f'Limits are exceeded, first at {report.first_break.time:.3f} s: '
               f'{"; ".join(map(_moment, report.exceeded))}.')
    elif report.motion.velocity_jumps:
        yield 'Between the jumps of velocity, the motion is within all limits.'
    else:
        yield 'The motion is within all limits.'


def _times(times: Sequence[float], most: int = 4) -> str:
    shown = ', '.join(f'{time:.3f} s' for time in times[:most])
    return f'at {shown}' + (f' and {len(times) - most} more times' if len(times) > most else '')


def _moment(moment: Moment) -> str:
    """Return the value of a quantity, and its limit."""
    limit = moment.limit if moment.quantity == POSITION else abs(moment.limit)
    value = f'{moment.value:.4g}' if isfinite(moment.value) else 'unbounded'
    return (f'the {moment.quantity} of {moment.joint} is {value} at {moment.time:.3f} s, its '
            f'limit is {limit:.4g}')


def _decided(moment: Moment) -> str:
    return f'decided by the {moment.quantity} of {moment.joint} at {moment.time:.3f} s'


def _scaling(scaling: float, moment: Moment | None) -> str:
    if moment is None:
        return 'At any speed, the motion is within all limits.'
    if scaling == inf:
        cause = 'for gravity and Coulomb friction alone, ' if moment.quantity == EFFORT else ''
        return f'At any speed, a limit is exceeded: {cause}{_moment(moment)}.'
    if scaling > 1.0 + ROUNDING:
        return (f'The motion needs {scaling:.4g} times its duration to stay within all limits '
                f'({_decided(moment)}).')
    return (f'The motion is within all limits down to {scaling:.4g} times its duration '
            f'({_decided(moment)}).')


def _untold(report: TorqueReport) -> str:
    """Return which limits are not known: "all limits" means only the others."""
    known = {quantity for joint in report.motion.joints
             for quantity in ('velocity', 'acceleration', 'jerk')
             if isfinite(getattr(joint, quantity).limit)}
    if any(isfinite(load.limit) for load in report.joints):
        known.add(EFFORT)
    missing = [quantity for quantity in ('effort', 'velocity', 'acceleration', 'jerk')
               if quantity not in known]
    return f'No limits of {" and ".join(missing)} are known (--limits).' if missing else ''


def _payload(payload: LargestPayload) -> str:
    place = f'{payload.link} at {", ".join(f"{x:g}" for x in payload.position)} m'
    if payload.decided_by is None:
        return f'With any payload on {place}, the motion is within all limits.'
    if not payload.mass:
        return f'No payload on {place} is possible: a limit is exceeded without one.'
    return (f'The largest payload on {place} is {payload.mass:.4g} kg '
            f'({_decided(payload.decided_by)}).')
