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
"""Why recordings are not identified at all, and why a result should not be used as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.commands.report.page import PAGE
from ros2_rnea.offline.identification.comparison import compare, Comparison
from ros2_rnea.offline.identification.conclusions import Conclusion, Diagnosis, Kind
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import Doubt, Identification
from ros2_rnea.offline.identification.unknowns import Names

SIZE = 0.02
"""What is less than this share of the measured effort of each joint, RMS, is no doubt."""

EXPLAINS_LITTLE = 0.7
"""A model that leaves so much of the measured RMS explains half of its power at most."""

CONTRADICTS = 2.0
"""
Recordings contradict each other where the model of all leaves so many times what a model of one of
them alone leaves of that one.
"""

MAX_CAUSES = 3
"""Maximum number of remaining causes that are named."""

LARGEST_RATIO = 3.0
"""
A mass that data does not determine is doubtful where it is so many times the URDF's, and differs
by a share of SIZE of all that moves.
"""


def wrong_efforts(
        before: Diagnosis, joints: Sequence[str], gains: Names) -> tuple[Doubt, ...]:
    """
    Return why no model should be fitted to the recorded efforts.

    A fit makes masses of a turned sign, and a model with these drops the arm.

    :param before: of the recordings with the URDF.
    :param joints: names of the coordinates.
    :param gains: joints whose drive gain is unknown: a factor on the effort is no fault there.
    """
    by_advice: dict[tuple[Kind, str], list[Conclusion]] = {}
    for each in before.wrong_efforts:
        if not _is_unknown(each, gains):
            by_advice.setdefault((each.kind, each.advice), []).append(each)
    return tuple(
        Doubt(' '.join([*(each.sentence for each in found), advice]),
              tuple(joint for joint in joints if any(each.is_about(joint) for each in found)))
        for (_, advice), found in by_advice.items())


def doubts(
        identification: Identification, before: Diagnosis, after: Diagnosis, gains: Names,
        recordings: Sequence[PreparedRecording] = ()) -> tuple[Doubt, ...]:
    """
    Return why a result should not be used as it is; nothing where it may be.

    :param before: of the recordings with the URDF.
    :param after: of the recordings with the identified model.
    :param gains: joints whose drive gain was unknown.
    :param recordings: from which it was identified, their efforts times the identified gains.
        They tell how large the effort behind a doubt is; without any, each counts as large.
    """
    found = _Result(identification, recordings)
    return (*wrong_efforts(before, identification.joints, gains),
            *found.of_the_recordings(before, gains), *found.bursts(before),
            *found.no_masses(before), *found.of_the_fit(), *found.masses(),
            *found.contradictions(), *found.not_judged(recordings),
            *found.remaining_causes(after))


def _is_unknown(conclusion: Conclusion, gains: Names) -> bool:
    return conclusion.kind is Kind.GAIN and (
        gains == 'all' or any(map(conclusion.is_about, gains)))


def _about(conclusion: Conclusion, joints: Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(conclusion.is_about, joints))


def _rms(efforts: np.ndarray) -> np.ndarray:
    """Return the RMS of efforts by joint, shape (nv,) [Nm or N]; NaN without any."""
    counts = np.isfinite(efforts).sum(axis=0)
    return np.sqrt(np.nansum(np.square(efforts), axis=0) / np.where(counts, counts, np.nan))


def _said(large: Iterable[str]) -> str:
    told = ', '.join(filter(None, large))
    return f'{told}; RMS, Nm or N' if told else ''


class _Result:
    """The doubts of each kind about a result; where it is judged on recordings, by their size."""

    def __init__(self, identification: Identification,
                 recordings: Sequence[PreparedRecording]) -> None:
        self._found, self._joints = identification, identification.joints
        self._comparison = compare(recordings, identification.robot) if recordings else None

    def _large(self, sizes: np.ndarray, of: Identification | Comparison | None = None,
               share: float = SIZE) -> dict[str, str]:
        """
        Return by joint, where an effort has some size, how large it is.

        :param of: whose measured efforts it is compared with; by default the held-back ones.
        """
        return {joint: f'{number(size, 3)} of {number(whole, 3)} for {joint}'
                for joint, size, whole in zip(self._joints, sizes.tolist(), (
                    of or self._found).measured_rms.tolist()) if size > share * whole}

    def of_the_recordings(self, before: Diagnosis, gains: Names) -> Iterator[Doubt]:
        """Yield that signs and factors are not known, or are near 1 and in the masses now."""
        unknown = tuple(
            joint for joint, noise, measured in zip(
                self._joints, before.noise, self._found.measured_rms)
            if np.isnan(noise) and measured > 0.0 and not any(
                each.kind is Kind.SATURATED and each.is_about(joint)
                for each in before.wrong_efforts))
        if unknown:
            yield Doubt(
                f'the recordings are too short to check the sign and the factor of the efforts of '
                f'{", ".join(unknown)}; record a longer motion', unknown)
        for each in before.conclusions:
            if each.kind is Kind.GAIN and each not in before.wrong_efforts and not _is_unknown(
                    each, gains):
                yield Doubt(
                    f'{each.sentence} The fit has attributed this factor to the masses, which is '
                    'right only if the factor of the measured efforts is right; attach a known '
                    'payload, or compare the mass of a link with a scale',
                    _about(each, self._joints))

    def bursts(self, before: Diagnosis) -> Iterator[Doubt]:
        """Yield parts of recordings in which the identified model leaves some effort."""
        for each in before.bursts:
            left = dict.fromkeys(each.joints, '')
            for run in self._comparison.runs if self._comparison else ():
                if run.recording.name == each.recording:
                    first = run.recording.times[run.recording.pieces[0].start]
                    rows = slice(*np.searchsorted(
                        run.recording.begin + run.recording.times - first,
                        (each.begin, np.nextafter(each.end, np.inf))))
                    left = self._large(_rms(run.difference(rows)), self._comparison)
            told = [left[joint] for joint in each.joints if joint in left]
            if told:
                more = f'  The identified model leaves there {", ".join(told)} (RMS, Nm or N).'
                yield Doubt(f'{each}{more if any(told) else ""}', each.joints)

    def of_the_fit(self) -> Iterator[Doubt]:
        """Yield for which joints the model is no good, or held back, and by how much."""
        found = self._found
        if not found.physically_consistent:
            yield Doubt('a body of the result cannot exist (it is not physically consistent); do '
                        'not use it for control')
        left, held = found.identified_rms, found.held_by_spheres
        worse = np.sqrt(np.maximum(left ** 2 - found.urdf_rms ** 2, 0.0))
        for sizes, share, text in (
                (worse, SIZE, 'on held-back data the identified model is worse than the URDF for '
                 '{joints} (by {sizes}); record a longer and richer motion'),
                (0.0 * left if held is None else held, SIZE,
                 'masses are kept near what the URDF describes, above all that of '
                 f'{found.tightest!r}, and because of that alone the fit leaves more ({{sizes}}); '
                 'if a tool or something else reaches farther there, give it a link in the URDF, '
                 'at its end, with a fixed joint'),
                (left, EXPLAINS_LITTLE, 'on held-back data the identified model leaves nearly all '
                 'of the measured effort ({sizes}); is this the effort of this joint, and is it '
                 'more than noise?  Let the joint move where gravity, acceleration or friction '
                 'take more of it')):
            large = self._large(sizes, share=share)
            if large:
                yield Doubt(text.format(joints=', '.join(large), sizes=_said(large.values())),
                            tuple(large))

    def no_masses(self, before: Diagnosis) -> Iterator[Doubt]:
        """Yield what is to be corrected first where a fit fails, since no masses stand for it."""
        if any(self.of_the_fit()):
            for each in before.conclusions:
                if each.kind is Kind.ZERO or (
                        each.kind is Kind.GRAVITY and self._found.gravity is None):
                    yield Doubt(f'{each.sentence} No masses stand for that. {each.advice}',
                                _about(each, self._joints))

    def masses(self) -> Iterator[Doubt]:
        """Yield masses far from the URDF's that nothing determines."""
        advice = ('if it cannot be true, let fewer numbers be unknown, or record a richer motion'
                  if self._found.rotor_inertias else
                  'something else is probably unknown, such as the inertia of rotors: add rotor '
                  'to --unknown')
        least = SIZE * float(self._found.robot.inertial_parameters[::10].sum())
        for one in self._found.parameters:
            before = one.urdf_value
            if one.quantity == 'm' and one.standard_error is None and before > 0.0 and abs(
                    one.value - before) > least and not (
                    before / LARGEST_RATIO < one.value < before * LARGEST_RATIO):
                yield Doubt(f'the {one.name} is {number(one.value)} kg, and {number(before)} kg '
                            f'in the URDF, although the data does not determine it; {advice}')

    def contradictions(self) -> Iterator[Doubt]:
        """Yield which recordings are not of one model."""
        if self._comparison is None or self._found.apart is None:
            return
        for run, apart in zip(self._comparison.runs, self._found.apart):
            if (apart > CONTRADICTS).any():
                left = _rms(np.where(run.recording.moves, run.difference(), np.nan))
                large = self._large(np.where(apart > CONTRADICTS, left, 0.0), self._comparison)
                if large:
                    yield Doubt(
                        f'recording {run.recording.name!r} contradicts the others: of its effort, '
                        f'the model of all leaves {", ".join(large.values())} (RMS, Nm or N), up '
                        f'to {number(float(np.nanmax(apart)))} times what a model of this '
                        'recording alone leaves; are all of one arm, with the same tool, units '
                        'and zeros?  Tell loads by --payload', tuple(large))

    def not_judged(self, recordings: Sequence[PreparedRecording]) -> Iterator[Doubt]:
        """
        Yield for which joints nothing says how good the model is.

        Joints that no recording has, such as those of a gripper that is not recorded, are left
        out.
        """
        reasons: dict[str, list[str]] = {}
        for j in np.flatnonzero(np.isnan(self._found.identified_rms)).tolist():
            if self._found.samples[j]:
                reason = ('in no held-back sample does the joint move and have an effort; let all '
                          'joints move until the end of the recording, or let a larger part be '
                          'held back (--held-back)')
            elif any(np.isfinite(each.tau[:, j]).any() for each in recordings):
                reason = 'it rests in all recordings; let it move, too'
            elif any(each.moves[:, j].any() for each in recordings):
                reason = 'its effort was not recorded, or is constant; record its effort'
            else:
                continue
            reasons.setdefault(reason, []).append(self._joints[j])
        for reason, names in reasons.items():
            yield Doubt(f'nothing says how good the identified model is for {", ".join(names)}: '
                        f'{reason}', tuple(names))

    def remaining_causes(self, after: Diagnosis) -> Iterator[Doubt]:
        """
        Yield that the recordings still show causes with the identified model, or need several.

        No cause is larger than what the model leaves.  That efforts are cut off is among those of
        the recordings before (:func:`wrong_efforts`).
        """
        left = dict.fromkeys(self._joints, '') if self._comparison is None else self._large(
            self._comparison.difference_rms, self._comparison)
        found = [each for each in after.conclusions if each.kind is not Kind.SATURATED
                 and not left.keys().isdisjoint(_about(each, self._joints) or left)]
        if not left or after.is_explained and not found:
            return
        about = tuple(joint for joint in self._joints if any(
            each.is_about(joint) for each in found))
        told = _said(left[joint] for joint in about or left if joint in left)
        causes = ('that no single cause explains: an effort or a position may not be what the '
                  'model takes it for, or more has to be among the unknowns')
        if found:
            causes = ('that still have a cause, to be corrected or to be among the unknowns: '
                      + ' '.join(each.sentence for each in found[:MAX_CAUSES]))
        if len(found) > MAX_CAUSES:
            causes += f' {len(found) - MAX_CAUSES} more are in {PAGE}.'
        yield Doubt(f'the identified model leaves differences{f" ({told})" * bool(told)} {causes}',
                    about if found else tuple(left))
