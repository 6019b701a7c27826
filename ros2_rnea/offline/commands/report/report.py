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
"""What a report is made of, as a table of a terminal and as JSON; its page is :mod:`.page`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ros2_rnea.command_line.terminal import figure_table
from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.identification.comparison import compare, Comparison
from ros2_rnea.offline.identification.conclusions import Conclusion, Diagnosis, Kind
from ros2_rnea.offline.identification.diagnosis import diagnose
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import JointFriction, plain_data
from ros2_rnea.robots.robot import Robot


OF_JOINTS = frozenset({Kind.FRICTION, Kind.OFFSET, Kind.ROTOR})
"""What a description of masses cannot have: it belongs to a joint and its drive."""

NOTHING_WRONG = 'The recordings show nothing wrong with the model.'
"""The only verdict without a doubt."""

NOTHING_ELSE = 0.95
"""Noise with this share of the RMS of an effort is all that was measured."""


@dataclass(frozen=True, eq=False)
class Report:
    """
    One model compared with recordings.

    :ivar title: what tells it from other reports on the same page, such as ``before``.
    :ivar comparison: of the recordings with the model.
    :ivar diagnosis: what follows from it.
    :ivar remarks: sentences about the recordings, such as those of their preparation.
    """

    title: str
    comparison: Comparison
    diagnosis: Diagnosis
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, title: str, recordings: Sequence[PreparedRecording], robot: Robot,
           remarks: Sequence[str] = ()) -> Report:
        """Compare recordings with a model, and conclude."""
        comparison = compare(recordings, robot)
        return cls(title, comparison, diagnose(comparison), tuple(remarks))

    @property
    def scope(self) -> str:
        """Return a sentence that says what was compared."""
        comparison = self.comparison
        count = len(comparison.runs)
        return (f'{comparison.robot.name}: {count} recording{"s"[:count != 1]}, '
                f'{comparison.samples} samples, {comparison.duration:.1f} s.')

    @property
    def verdict(self) -> str:
        """Return the outcome in one line."""
        diagnosis = self.diagnosis
        judged = [row.joint for row in self.rows() if isfinite(row.noise)]
        others = [row.joint for row in self.rows() if row.measured_rms > 0.0
                  and not isfinite(row.noise)]
        beside = f'  {", ".join(others)}: not judged.' if others else ''
        wrong = [each for each in diagnosis.conclusions if each.kind not in OF_JOINTS]
        wrong += [each for each in diagnosis.wrong_efforts if each.kind is Kind.UNRELATED]
        lacking = dict.fromkeys(each.subject.removeprefix('joint ') for each in
                                diagnosis.conclusions if each.kind in OF_JOINTS)
        if not judged and not wrong:
            return 'Nothing can be concluded.'
        if wrong:
            told = dict.fromkeys(f'{each.kind.value} ({each.subject})' for each in wrong)
            return f'Something is wrong: {", ".join(told)}.'
        if not diagnosis.is_explained:
            return ('Several numbers of the model are not true, or an effort or a position is not '
                    'what the model takes it for: no single cause explains the difference.  '
                    'Check the zero and the axis of each joint first, because a fit makes wrong '
                    f'masses of a wrong position; then identify the model.{beside}')
        if diagnosis.inexplicable:
            return ('Nothing certain is wrong with the masses, but part of the effort of '
                    f'{", ".join(diagnosis.inexplicable)} follows from no model.')
        if lacking and diagnosis.open_questions:
            return (f'Friction, offset or rotor inertia of {", ".join(lacking)} is not that of '
                    'the model: whether more is wrong, the recordings do not tell.')
        if lacking:
            return ('Nothing is wrong but friction, offset or rotor inertia of '
                    f'{", ".join(lacking)}: identify them, or set them.')
        if diagnosis.open_questions:
            return ('The recordings show nothing that is certain to be wrong with '
                    f'{", ".join(judged)}.{beside}')
        return NOTHING_WRONG

    @property
    def notes(self) -> tuple[str, ...]:
        """Return sentences: what the model has already, and which causes were not searched."""
        return tuple(_notes(self))

    def conclusions(self) -> Iterator[tuple[str, str, str]]:
        """Yield the sentence of each conclusion, its evidence, and its advice where it is new."""
        told = {''}
        for each in self.diagnosis.conclusions:
            yield each.sentence, evidence(each), '' if each.advice in told else each.advice
            told.add(each.advice)

    def rows(self) -> Iterator[Row]:
        """Yield the figures of each coordinate."""
        comparison, diagnosis = self.comparison, self.diagnosis
        for coordinate, *figures in zip(
                comparison.coordinates, comparison.measured_rms.tolist(),
                comparison.difference_rms.tolist(), diagnosis.unexplained.tolist(),
                diagnosis.noise.tolist()):
            yield Row(coordinate.label, coordinate.effort_unit, *figures)


def _notes(report: Report) -> Iterator[str]:
    comparison, rows = report.comparison, [*report.rows()]
    robot = comparison.robot
    bodies = {name: robot.tree.bodies[index] for name, index in robot.tree.joints.items()}
    law = {*JointFriction().numbers()} - {'stribeck_velocity'}
    for what, names, more in (
            ('friction', [joint for joint, body in bodies.items() if any(
                getattr(body, name) for name in law)],
             '  The node sends the friction of a URDF only with friction_from: description, and '
             'that of its own parameters always.'),
            ('the inertia of rotors', [
                f'{joint} (armature)' for joint, body in bodies.items() if body.armature], '')):
        if names:
            yield (f'The model has {what} already for {", ".join(names)}, so that a conclusion '
                   f'about it is only about what differs.{more}')
    carried = dict.fromkeys(
        f'{inertial.mass:.4g} kg on {link}' for run in comparison.runs
        for link, inertial in run.recording.payloads.values())
    if carried:
        yield (f'The model carries the payloads that were given ({", ".join(carried)}), each in '
               'its recordings, so that a load is only what is beside them.')
    if not any(robot.free_fall):
        yield ('The model has no gravity, so that no other direction of gravity was searched: '
               'say --gravity if there is one.')
    silent = [row.joint for row in rows if row.noise > NOTHING_ELSE * row.measured_rms]
    if silent:
        yield (f'{", ".join(silent)}: the recorded effort is nothing but noise, so that the model '
               'is not judged here.  Is it the effort of this joint, and in a unit with enough '
               'digits?')


@dataclass(frozen=True)
class Row:
    """
    The figures of one coordinate [Nm or N]; NaN where one is not known.

    :ivar measured_rms: RMS of the measured effort.
    :ivar difference_rms: RMS of the difference to the model.
    :ivar unexplained_rms: RMS of the residual after all conclusions have been applied.
    :ivar noise: standard deviation of what no rigid bodies explain.
    """

    joint: str
    unit: str
    measured_rms: float
    difference_rms: float
    unexplained_rms: float
    noise: float

    @property
    def share(self) -> str:
        """Return the difference as a share of the measured effort."""
        share = self.difference_rms / self.measured_rms if self.measured_rms else float('nan')
        return f'{100.0 * share:.0f} %' if isfinite(share) else '-'


# ---- for programs -------------------------------------------------------------------------------


def as_json(reports: Sequence[Report]) -> Any:
    """Return reports as plain data; what is not known is null."""
    return plain_data({'reports': [{
        'title': report.title,
        'robot': report.comparison.robot.name,
        'verdict': report.verdict,
        'recordings': [recording_as_json(run.recording) for run in report.comparison.runs],
        'joints': [*report.rows()],
        'conclusions': [*map(_conclusion, report.diagnosis.conclusions)],
        'open_questions': report.diagnosis.open_questions,
        'notes': report.notes,
        'remarks': report.remarks} for report in reports]})


def _conclusion(conclusion: Conclusion) -> dict[str, Any]:
    return {
        **{name: getattr(conclusion, name) for name in ('subject', 'sentence', 'advice')},
        'kind': conclusion.kind.value,
        'standard_errors_from_zero': conclusion.significance,
        'quantities': {each.name: {
            'value': each.value if isfinite(each.standard_error) else None,
            'standard_error': each.standard_error, 'unit': each.unit}
            for each in conclusion.quantities},
        'rms': {each.label: {'before': each.before, 'after': each.after, 'unit': each.unit}
                for each in conclusion.improvements}}


def recording_as_json(recording: PreparedRecording) -> Any:
    """Return what a recording was, as plain data: delay [s] and cut-off [Hz]."""
    return plain_data({
        'name': recording.name, 'samples': len(recording.times), 'pieces': len(recording.pieces),
        'payloads': sorted(recording.payloads), 'delay': recording.delay,
        'cutoff': recording.cutoff})


# ---- for a terminal -----------------------------------------------------------------------------


def report_table(report: Report) -> RenderableType:
    """Return the figures of each joint, then what follows from them."""
    table = figure_table(
        'joint', '', 'measured', 'difference', 'share', 'unexplained', 'noise')
    for row in report.rows():
        table.add_row(Text(row.joint), row.unit, number(row.measured_rms),
                      number(row.difference_rms), row.share, number(row.unexplained_rms),
                      number(row.noise))
    return Group(
        Text(report.scope), Text(report.verdict, style='bold'),
        *(Text(remark, style='dim') for remark in report.remarks),
        table, Text(
            'RMS of the measured effort, of its difference to the model, and of the residual '
            'after all conclusions have been applied, with friction and offset of each joint '
            'removed; the noise is what no rigid bodies explain.\n',
            style='dim'), *_conclusions(report))


def _conclusions(report: Report) -> Iterator[RenderableType]:
    for count, (sentence, why, advice) in enumerate(report.conclusions(), start=1):
        yield Text(f'{count}. {sentence}', style='bold')
        yield Padding(Text(f'{why} {advice}'.strip()), (0, 0, 0, 3))
    for question in report.diagnosis.open_questions:
        yield Text(f'Not known: {question}', style='dim')
    for note in report.notes:
        yield Text(f'Note: {note}', style='dim')


def evidence(conclusion: Conclusion) -> str:
    """Return a sentence about what a conclusion rests on."""
    if conclusion.kind is Kind.SATURATED:
        return ('Evidence: the effort is the same number, to the last digit, while that of the '
                'model changes.')
    whose = '' if len(conclusion.quantities) < 2 else (
        'the clearest figure is ' if conclusion.kind is Kind.FRICTION else 'together ')
    sigma = f'{whose}{conclusion.significance:.0f} standard errors from zero'
    better = [str(each) for each in conclusion.improvements if each.after < 0.99 * each.before]
    return f'Evidence: {sigma}; RMS of the difference: {", ".join(better)}.' if better else (
        f'Evidence: {sigma}.')
