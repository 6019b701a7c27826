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

from collections.abc import Iterator, Sequence

import numpy as np

from ros2_rnea.offline.commands.number_text import number
from ros2_rnea.offline.commands.report.files import PAGE
from ros2_rnea.offline.identification.conclusions import Conclusion, Diagnosis, Kind
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import Doubt, Identification
from ros2_rnea.offline.identification.unknowns import Names

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
"""A mass that data does not determine is doubtful where it is so many times the URDF's."""


def wrong_efforts(
        before: Diagnosis, joints: Sequence[str], gains: Names) -> tuple[Doubt, ...]:
    """
    Return why no model should be fitted to the recorded efforts.

    A fit makes masses of a turned sign, and a model with these drops the arm.

    :param before: of the recordings with the URDF.
    :param joints: names of the coordinates.
    :param gains: joints whose drive gain is unknown: a factor on the effort is no fault there.
    """
    return tuple(
        Doubt(f'{each.sentence} {each.advice}', _about(each, joints))
        for each in before.wrong_efforts if not _is_unknown(each, gains))


def doubts(
        identification: Identification, before: Diagnosis, after: Diagnosis, gains: Names,
        recordings: Sequence[PreparedRecording] = ()) -> tuple[Doubt, ...]:
    """
    Return why a result should not be used as it is; nothing where it may be.

    :param before: of the recordings with the URDF.
    :param after: of the recordings with the identified model.
    :param gains: joints whose drive gain was unknown.
    :param recordings: from which it was identified.
    """
    joints = identification.joints
    return (*wrong_efforts(before, joints, gains), *_unjudged(identification, before),
            *_bursts(before), *_gains(before, joints, gains), *_of_the_fit(identification),
            *_explains_little(identification), *_contradictions(identification, recordings),
            *_not_judged(identification, recordings),
            *remaining_causes(after, joints))


def _is_unknown(conclusion: Conclusion, gains: Names) -> bool:
    return conclusion.kind is Kind.GAIN and (
        gains == 'all' or any(map(conclusion.is_about, gains)))


def _about(conclusion: Conclusion, joints: Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(conclusion.is_about, joints))


def _unjudged(identification: Identification, before: Diagnosis) -> Iterator[Doubt]:
    """Yield that signs and factors of efforts could not be checked."""
    unknown = tuple(
        joint for joint, noise, measured in zip(
            identification.joints, before.noise.tolist(), identification.measured_rms.tolist())
        if np.isnan(noise) and measured > 0.0 and not any(
            each.kind is Kind.SATURATED and each.is_about(joint) for each in before.wrong_efforts))
    if unknown:
        yield Doubt(
            f'the recordings are too short to check the sign and the factor of the efforts of '
            f'{", ".join(unknown)}; record a longer motion', unknown)


def _gains(before: Diagnosis, joints: Sequence[str], gains: Names) -> Iterator[Doubt]:
    """Yield factors on the effort that the fit has attributed to the masses."""
    for each in before.conclusions:
        if each.kind is Kind.GAIN and each not in before.wrong_efforts and not _is_unknown(
                each, gains):
            yield Doubt(
                f'{each.sentence} The fit has attributed this factor to the masses, which is '
                'right only if the factor of the measured efforts is right; attach a known '
                'payload, or compare the mass of a link with a scale', _about(each, joints))


def _bursts(before: Diagnosis) -> Iterator[Doubt]:
    for each in before.bursts:
        yield Doubt(str(each), each.joints)


def _of_the_fit(identification: Identification) -> Iterator[Doubt]:
    if not identification.physically_consistent:
        yield Doubt('a body of the result cannot exist (it is not physically consistent); do not '
                    'use it for control')
    worse = tuple(joint for joint, before, after in zip(
        identification.joints, identification.urdf_rms, identification.identified_rms)
        if after > before)
    if worse:
        yield Doubt(
            f'on held-back data the identified model is worse than the URDF for '
            f'{", ".join(worse)}; record a longer and richer motion', worse)
    advice = (
        'if it cannot be true, let fewer numbers be unknown, or record a richer motion'
        if identification.rotor_inertias else
        'something else is probably unknown, such as the inertia of rotors: add rotor to '
        '--unknown')
    for one in identification.parameters:
        if one.quantity == 'm' and one.standard_error is None and one.urdf_value > 0.0 and not (
                one.urdf_value / LARGEST_RATIO < one.value < one.urdf_value * LARGEST_RATIO):
            yield Doubt(
                f'the {one.name} is {number(one.value)} kg, and {number(one.urdf_value)} kg in '
                f'the URDF, although the data does not determine it; {advice}')


def _explains_little(identification: Identification) -> Iterator[Doubt]:
    """Yield for which joints the identified model is hardly better than none."""
    poor = {joint: (left, whole) for joint, left, whole in zip(
        identification.joints, identification.identified_rms.tolist(),
        identification.measured_rms.tolist()) if left > EXPLAINS_LITTLE * whole}
    if poor:
        figures = ', '.join(f'{number(left)} of {number(whole)} for {joint}'
                            for joint, (left, whole) in poor.items())
        yield Doubt(
            'on held-back data the identified model leaves nearly all of the measured effort '
            f'(RMS, Nm or N): {figures}; is this the effort of this joint, and is it more than '
            'noise?  Let the joint move where gravity, acceleration or friction take more of it',
            tuple(poor))


def _contradictions(
        identification: Identification, recordings: Sequence[PreparedRecording],
        ) -> Iterator[Doubt]:
    """Yield which recordings are not of one model."""
    if identification.apart is None or len(identification.apart) != len(recordings):
        return
    for one, apart in zip(recordings, identification.apart):
        joints = tuple(joint for joint, ratio in zip(identification.joints, apart.tolist())
                       if ratio > CONTRADICTS)
        if joints:
            yield Doubt(
                f'recording {one.name!r} contradicts the others: of the effort of '
                f'{", ".join(joints)}, the model of all leaves up to '
                f'{number(float(np.nanmax(apart)))} times what a model of this recording alone '
                'leaves; are all of one arm, with the same tool, units and zeros?  Tell loads by '
                '--payload', joints)


def _not_judged(
        identification: Identification, recordings: Sequence[PreparedRecording],
        ) -> Iterator[Doubt]:
    """
    Yield for which joints nothing says how good the model is.

    Joints that no recording has, such as those of a gripper that is not recorded, are left out.
    """
    joints, samples = identification.joints, identification.samples
    late, silent, resting = [], [], []
    for j in np.flatnonzero(np.isnan(identification.identified_rms)).tolist():
        if samples[j]:
            late.append(joints[j])
        elif any(np.isfinite(each.tau[:, j]).any() for each in recordings):
            resting.append(joints[j])
        elif any(each.moves[:, j].any() for each in recordings):
            silent.append(joints[j])
    for names, why, remedy in (
            (late, 'in no held-back sample does the joint move and have an effort',
             'let all joints move until the end of the recording, or let a larger part be held '
             'back (--held-back)'),
            (silent, 'its effort was not recorded', 'record its effort'),
            (resting, 'it rests in all recordings', 'let it move, too')):
        if names:
            yield Doubt(
                f'nothing says how good the identified model is for {", ".join(names)}: {why}; '
                f'{remedy}', tuple(names))


def remaining_causes(after: Diagnosis, joints: Sequence[str]) -> Iterator[Doubt]:
    """
    Yield that the recordings still show causes with the identified model.

    That efforts are cut off is among those of the recordings before (:func:`wrong_efforts`).
    """
    found = [each for each in after.conclusions if each.kind is not Kind.SATURATED]
    if found:
        more = (f' {len(found) - MAX_CAUSES} more are in {PAGE}.'
                if len(found) > MAX_CAUSES else '')
        yield Doubt(
            'the identified model leaves differences that still have a cause, to be corrected or '
            'to be among the unknowns: '
            f'{" ".join(each.sentence for each in found[:MAX_CAUSES])}{more}',
            tuple(joint for joint in joints if any(each.is_about(joint) for each in found)))
