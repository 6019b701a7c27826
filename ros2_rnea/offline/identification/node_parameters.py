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
"""
What was identified, as parameters of the node: the text of a YAML file.

The file holds only what was identified, so it can be copied into a file of parameters, or loaded
by ``ros2 param load`` while the node runs.  What the node has no parameter for is in comments,
with what to do instead.  So are doubts, and what was left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import json
from math import inf
from shlex import quote
from textwrap import wrap

import numpy as np
from ros2_rnea.errors import printable
from ros2_rnea.offline.identification.conclusions import Estimate
from ros2_rnea.offline.identification.results import Doubt, Identification
from ros2_rnea.offline.identification.unknowns import GAIN, PAYLOAD
from ros2_rnea.robots.adjustable_robot import ADJUSTABLE
import yaml

DIGITS = 9
"""Number of digits that are written; no identification has more that count."""

CONTACT = 3.0
"""A contact is an effort that is so many times what the model leaves without one (RMS)."""

LARGEST_SHARE = 0.3
"""Largest threshold, as a share of a joint's effort limit: beyond it, contacts do harm."""

GAIN_OF_THRESHOLDS = 50.0
"""The gain of the node's observer for which thresholds are proposed, its default [1/s]."""

THRESHOLD_DIGITS = 2

SIGNIFICANT = 3.0
"""An offset or a change of gravity is written where it has more standard errors than this."""

FRICTION = frozenset(
    {'viscous', 'viscous_forward', 'viscous_backward', 'coulomb', 'stribeck', 'offset'})
"""The quantities of a joint's friction."""

WIDTH = 96


def node_parameters(identification: Identification, doubts: Sequence[Doubt] = ()) -> str:
    """
    Return the parameters of the node that follow from an identification.

    :param doubts: why the result should not be used as it is.
    :return: YAML, for ``params_file`` and ``ros2 param load``.
    """
    errors = {(one.quantity, one.owner): inf if one.standard_error is None else one.standard_error
              for one in identification.parameters}
    sums = {name for each in identification.base_parameters for name in each.terms}
    determined = {one.owner for one in identification.parameters if one.quantity in FRICTION
                  and (one.standard_error is not None or one.name in sums)}
    laws = {joint: law for joint, law in identification.friction.items() if joint in determined}
    no_offset = [joint for joint, law in laws.items()
                 if abs(law.offset) <= SIGNIFICANT * errors.get(('offset', joint), inf)]
    friction: dict[str, dict[str, float]] = {}
    for joint, law in laws.items():  # all numbers: zeros replace those of a URDF, or of before
        for name, value in law.numbers().items():
            if joint in identification.joints or not ADJUSTABLE[name].of_one_coordinate:
                friction.setdefault(name, {})[joint] = (
                    0.0 if name == 'friction_offset' and joint in no_offset else _rounded(value))
    gravity = [] if identification.gravity is None or not any(
        abs(one.value - one.urdf_value) > SIGNIFICANT * errors[one.quantity, one.owner]
        for one in identification.parameters if one.quantity.startswith('gravity')
    ) else [*map(_rounded, identification.gravity)]
    armature = {joint: _rounded(value)
                for joint, value in identification.rotor_inertias.items() if value}
    proposed = dict(_thresholds(identification, doubts))
    thresholds = {joint: value for joint, value in proposed.items() if value is not None}
    parameters = {name: value for name, value in {
        **friction,
        'armature': armature,
        'gravity': gravity,
        'payload_links': [identification.payload[0]] if identification.payload else [],
        'external_effort_threshold': thresholds}.items() if value}
    comments = [
        'The parameters of the node inverse_dynamics that were identified from recordings.',
        *_use(doubts),
        *_paragraph([joint for joint in identification.friction if joint not in laws],
                    'Friction is left out for {}: the recordings do not determine it, because the '
                    'joint rests, or its effort was not recorded or is constant.'),
        *_paragraph([joint for joint in no_offset if laws[joint].offset],
                    f'friction_offset is 0 for {{}}: below {SIGNIFICANT:g} standard errors.'),
        *_paragraph([] if identification.gravity is None or gravity else ['gravity'],
                    f'{{}} is left out: within {SIGNIFICANT:g} standard errors of the model.'),
        *_paragraph([joint for joint in armature
                     if errors.get(('rotor_inertia', joint), inf) == inf],
                    'Nothing determines the armature of {} by itself, but only its sum with '
                    'inertias of links: use it with the identified URDF of the same run.'),
        *([] if doubts else _payload_comment(identification)),
        *_paragraph(thresholds, 'A proposal: external_effort_threshold is '
                    f'{CONTACT:g} times the RMS of what the model leaves of the recorded efforts, '
                    'and the friction that can hold a joint at rest.  Watch ~/external_effort in '
                    'free motion before contact_reaction becomes hold.  '
                    f'It is for external_effort_gain {GAIN_OF_THRESHOLDS:g}, the default.  With a '
                    'smaller gain a smaller one may do, and a contact is seen later.'),
        *_paragraph([joint for joint in proposed if joint not in thresholds],
                    'No external_effort_threshold is proposed for {}: there is a doubt about the '
                    f'joint, or it would be above {LARGEST_SHARE:.0%} of its effort limit.'),
        *_gain_comment(identification)]
    text = yaml.safe_dump(
        {'/**': {'ros__parameters': parameters}}, sort_keys=False, allow_unicode=True, width=98)
    return '\n'.join([*(f'# {printable(line)}'.rstrip() for line in comments), '', text])


def _paragraph(names: Iterable[str], text: str, *more: str) -> list[str]:
    """Return a paragraph about names, or nothing where there are none."""
    told = ', '.join(names)
    return ['', *wrap(text.format(told, *more), WIDTH)] if told else []


def _use(doubts: Sequence[Doubt]) -> Iterable[str]:
    """Yield how the parameters are loaded, or why they should not be."""
    if not doubts:
        yield 'Copy them into its file of parameters, or load them while it runs:'
        yield '  ros2 param load /inverse_dynamics THIS_FILE'
        return
    yield 'WARNING: do not use them as they are, for these reasons:'
    for doubt in doubts:
        yield from wrap(doubt.sentence, WIDTH, initial_indent='- ', subsequent_indent='  ')


def _thresholds(
        identification: Identification, doubts: Sequence[Doubt],
        ) -> Iterator[tuple[str, float | None]]:
    """
    Yield above which external effort the node may take something for a contact, by joint.

    Nothing touched the robot in the recordings, so what the model leaves of their efforts is what
    would be taken for a contact; at rest, so is the friction that holds the joint.  Joints whose
    drive gains are unknown have none, because the node observes only efforts in Nm or N.  It is
    None where the result is not good enough for one.
    """
    tree = identification.robot.tree
    left = np.where(np.isfinite(identification.identified_rms), identification.identified_rms,
                    identification.noise_rms)
    doubtful = {joint for doubt in doubts for joint in doubt.joints}
    for joint, rms in zip(identification.joints, left.tolist()):
        if joint in tree.joints and joint not in identification.gains and 0.0 < rms < inf:
            body = tree.bodies[tree.joints[joint]]
            threshold = _rounded(CONTACT * rms + float(body.friction) + float(
                body.breakaway_friction), THRESHOLD_DIGITS)
            is_good = joint not in doubtful and threshold <= LARGEST_SHARE * (
                body.limits.effort or inf)
            yield joint, threshold if is_good else None


def _payload_comment(identification: Identification) -> Iterable[str]:
    if identification.payload is None:
        return
    link, inertial = identification.payload
    com, moments = (
        ', '.join(f'{name}: {_rounded(value)}' for name, value in zip(names, values))
        for names, values in (('xyz', inertial.origin.xyz), (
            ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), inertial.inertia)))
    name = printable(json.dumps(link, ensure_ascii=False))  # any JSON is YAML
    request = (f'{{name: identified, link: {name}, inertia: {{m: {_rounded(inertial.mass)}, '
               f'com: {{{com}}}, {moments}}}}}')
    yield ''
    yield 'The payload is attached by a service, since it comes and goes:'
    yield ('  ros2 service call /inverse_dynamics/set_payload ros2_rnea_interfaces/srv/SetPayload '
           '\\')
    yield f'    {quote(request)}'
    yield from _paragraph(
        [one.quantity for one in identification.parameters
         if one.owner == PAYLOAD and one.standard_error is None],
        'Of the payload, {} (about the origin of link {!r}) are not identifiable one by one: the '
        'request agrees with the efforts, and is no measurement of them.', link)


def _gain_comment(identification: Identification) -> Iterable[str]:
    gains = [one for one in identification.parameters if one.quantity == GAIN]
    told = {one.owner: f'  {one.owner}: {Estimate(one.name, one.value, one.standard_error)}'
            for one in gains if one.standard_error is not None}
    yield from _paragraph(told, 'True effort for each unit of measured effort, with its standard '
                          'error.  The driver has to multiply by it:')
    yield from told.values()
    yield from _paragraph([one.owner for one in gains if one.owner not in told],
                          'The data does not determine the gain of {}: record poses in which the '
                          'known payload loads them.')


def _rounded(number: float, digits: int = DIGITS) -> float:
    return float(f'{number:.{digits}g}')
