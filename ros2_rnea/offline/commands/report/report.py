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
"""What a report is made of, and the figures that its table, JSON and page have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ros2_rnea.offline.identification.comparison import compare, Comparison
from ros2_rnea.offline.identification.conclusions import (
    Conclusion,
    Diagnosis,
    Estimate,
    Kind,
)
from ros2_rnea.offline.identification.diagnosis import diagnose
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import JointFriction
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
                    'masses of a wrong position; then identify the model.')
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
                    f'{", ".join(judged)}.')
        return NOTHING_WRONG

    @property
    def notes(self) -> tuple[str, ...]:
        """Return sentences: what the model has already, and which causes were not searched."""
        return tuple(_notes(self))

    def rows(self) -> Iterator[Row]:
        """Yield the figures of each coordinate."""
        comparison, diagnosis = self.comparison, self.diagnosis
        for j, coordinate in enumerate(comparison.coordinates):
            yield Row(
                coordinate.label, coordinate.effort_unit, float(comparison.measured_rms[j]),
                float(comparison.difference_rms[j]), float(diagnosis.unexplained[j]),
                float(diagnosis.noise[j]))


def _notes(report: Report) -> Iterator[str]:
    comparison, diagnosis = report.comparison, report.diagnosis
    robot = comparison.robot
    bodies = {name: robot.tree.bodies[index] for name, index in robot.tree.joints.items()}
    rubbing = [name for name, body in bodies.items() if any(
        getattr(body, number) for number in JointFriction().numbers()
        if number != 'stribeck_velocity')]
    if rubbing:
        yield (f'The model has friction already for {", ".join(rubbing)}, so that a conclusion '
               'about the friction of these joints is only about what differs from it.  The node '
               'sends the friction of a URDF only with friction_from: description, and that of '
               'its own parameters always.')
    rotors = [name for name, body in bodies.items() if body.armature]
    if rotors:
        yield (f'The model has the inertia of rotors already for {", ".join(rotors)} (armature), '
               'so that a conclusion about it is only about what differs.')
    carried = dict.fromkeys(
        f'{inertial.mass:.4g} kg on {link}' for run in comparison.runs
        for link, inertial in run.recording.payloads.values())
    if carried:
        yield (f'The model carries the payloads that were given ({", ".join(carried)}), each in '
               'its recordings, so that a load is only what is beside them.')
    if not any(robot.free_fall):
        yield ('The model has no gravity, so that no other direction of gravity was searched: '
               'say --gravity if there is one.')
    silent = [row.joint for row in report.rows() if row.noise > NOTHING_ELSE * row.measured]
    if silent:
        yield (f'{", ".join(silent)}: the recorded effort is nothing but noise, so that the model '
               'is not judged here.  Is it the effort of this joint, and in a unit with enough '
               'digits?')
    unjudged = [coordinate.label for coordinate, noise in zip(
        comparison.coordinates, diagnosis.noise) if not isfinite(noise)]
    if unjudged and len(unjudged) < len(comparison.coordinates):
        yield (f'{", ".join(unjudged)}: nothing is concluded of the effort here, and dashes stand '
               'for figures, for the reason given below "Not known" ("What they do not say" on '
               'the page).')


@dataclass(frozen=True)
class Row:
    """
    The figures of one coordinate [Nm or N]; NaN where one is not known.

    :ivar measured: RMS of the measured effort.
    :ivar difference: RMS of the difference to the model.
    :ivar unexplained: RMS of the residual after all conclusions have been applied.
    :ivar noise: standard deviation of what no rigid bodies explain.
    """

    joint: str
    unit: str
    measured: float
    difference: float
    unexplained: float
    noise: float

    @property
    def share(self) -> str:
        """Return the difference as a share of the measured effort."""
        share = self.difference / self.measured if self.measured else float('nan')
        return f'{100.0 * share:.0f} %' if isfinite(share) else '-'


def as_json(reports: Sequence[Report]) -> dict[str, Any]:
    """Return reports as plain data; what is not known is null."""
    return {'reports': [_report(report) for report in reports]}


def _report(report: Report) -> dict[str, Any]:
    comparison = report.comparison
    return {
        'title': report.title,
        'robot': comparison.robot.name,
        'verdict': report.verdict,
        'recordings': [recording_as_json(run.recording) for run in comparison.runs],
        'joints': [{
            'joint': row.joint, 'unit': row.unit,
            'measured_rms': _known(row.measured), 'difference_rms': _known(row.difference),
            'unexplained_rms': _known(row.unexplained), 'noise': _known(row.noise),
        } for row in report.rows()],
        'conclusions': [_conclusion(each) for each in report.diagnosis.conclusions],
        'open_questions': list(report.diagnosis.open_questions),
        'notes': list(report.notes),
        'remarks': list(report.remarks),
    }


def recording_as_json(recording: PreparedRecording) -> dict[str, Any]:
    """Return what a recording was, as plain data: delay [s] and cut-off [Hz]."""
    return {
        'name': recording.name,
        'samples': len(recording.times),
        'pieces': len(recording.pieces),
        'payloads': sorted(recording.payloads),
        'delay': recording.delay,
        'cutoff': _known(recording.cutoff),
    }


def _conclusion(conclusion: Conclusion) -> dict[str, Any]:
    return {
        'kind': conclusion.kind.value,
        'subject': conclusion.subject,
        'sentence': conclusion.sentence,
        'advice': conclusion.advice,
        'standard_errors_from_zero': _known(conclusion.significance),
        'quantities': {each.name: _quantity(each) for each in conclusion.quantities},
        'rms': {each.label: {'before': _known(each.before), 'after': _known(each.after),
                             'unit': each.unit} for each in conclusion.improvements},
    }


def _quantity(quantity: Estimate) -> dict[str, Any]:
    return {'value': quantity.value if isfinite(quantity.standard_error) else None,
            'standard_error': _known(quantity.standard_error), 'unit': quantity.unit}


def _known(value: float) -> float | None:
    return value if isfinite(value) else None
