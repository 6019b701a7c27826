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
with what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

import numpy as np
from ros2_rnea.identification.results import Identification, JointFriction
import yaml

DIGITS = 9
"""More digits of a number are not written; no identification has that many that count."""


CONTACT = 5.0
"""A contact is an effort that is so many times what the model leaves without one (RMS)."""

THRESHOLD_DIGITS = 2


def node_parameters(identification: Identification) -> str:
    """
    Return the parameters of the node that follow from an identification.

    :return: YAML, for ``params_file`` and ``ros2 param load``.
    """
    parameters = {**_friction(identification.friction), **_armature(identification),
                  **_gravity(identification), **_payload_links(identification),
                  **_thresholds(identification)}
    comments = [
        'The parameters of the node inverse_dynamics that were identified from recordings.',
        'Copy them into its file of parameters, or load them while it runs:',
        '  ros2 param load /inverse_dynamics THIS_FILE',
        *_payload_comment(identification), *_threshold_comment(parameters),
        *_gain_comment(identification)]
    text = yaml.safe_dump(
        {'/**': {'ros__parameters': parameters}}, sort_keys=False, allow_unicode=True, width=98)
    return '\n'.join([*(f'# {line}'.rstrip() for line in comments), '', text])


def _friction(joints: Mapping[str, JointFriction]) -> dict[str, dict[str, float]]:
    """Return the friction by parameter and joint; zeros where they replace those of a URDF."""
    numbers: dict[str, dict[str, float]] = {}
    for joint, friction in joints.items():
        for name, value in friction.numbers().items():
            if value or name in ('damping', 'friction'):
                numbers.setdefault(name, {})[joint] = _rounded(value)
    return numbers


def _armature(identification: Identification) -> dict[str, dict[str, float]]:
    """Return the inertias of rotors, reflected through their gears, which no URDF has."""
    numbers = {joint: _rounded(value)
               for joint, value in identification.rotor_inertias.items() if value}
    return {'armature': numbers} if numbers else {}


def _thresholds(identification: Identification) -> dict[str, dict[str, float]]:
    """
    Return above which external effort the node may take something for a contact.

    Nothing touched the robot in the recordings, so that what the model leaves of their efforts is
    what would be taken for one; at rest, so is the friction that holds the joint.  Joints whose
    drive gains are unknown have none, because the node observes only efforts in Nm or N.
    """
    tree = identification.robot.tree
    left = np.where(np.isfinite(identification.identified_rms), identification.identified_rms,
                    identification.noise_rms)
    numbers = {}
    for joint, rms in zip(identification.joints, left.tolist()):
        if joint not in tree.joints or joint in identification.gains or not 0.0 < rms < inf:
            continue
        body = tree.bodies[tree.joints[joint]]
        at_rest = float(body.friction) + float(body.breakaway_friction)
        numbers[joint] = _rounded(CONTACT * rms + at_rest, THRESHOLD_DIGITS)
    return {'external_effort_threshold': numbers} if numbers else {}


def _gravity(identification: Identification) -> dict[str, Any]:
    if identification.gravity is None:
        return {}
    return {'gravity': [_rounded(number) for number in identification.gravity]}


def _payload_links(identification: Identification) -> dict[str, Any]:
    return {'payload_links': [identification.payload[0]]} if identification.payload else {}


def _payload_comment(identification: Identification) -> Iterable[str]:
    if identification.payload is None:
        return
    link, inertial = identification.payload
    x, y, z = map(_rounded, inertial.origin.xyz)
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    moments = ', '.join(
        f'{name}: {_rounded(value)}' for name, value in zip(names, inertial.inertia))
    request = (f'{{name: identified, link: {link}, inertia: {{m: {_rounded(inertial.mass)}, '
               f'com: {{x: {x}, y: {y}, z: {z}}}, {moments}}}}}')
    yield ''
    yield 'The payload is attached by a service, since it comes and goes:'
    yield ('  ros2 service call /inverse_dynamics/set_payload ros2_rnea_interfaces/srv/SetPayload '
           '\\')
    yield f"    '{request}'"


def _threshold_comment(parameters: Mapping[str, Any]) -> Iterable[str]:
    if 'external_effort_threshold' in parameters:
        yield ''
        yield (f'A proposal: external_effort_threshold is {CONTACT:g} times the RMS of what the '
               'model leaves of the')
        yield 'recorded efforts, and the friction that can hold a joint at rest.  Watch'
        yield '~/external_effort in free motion before contact_reaction becomes hold.'


def _gain_comment(identification: Identification) -> Iterable[str]:
    if identification.gains:
        yield ''
        yield 'True effort for each unit of measured effort, by which the driver has to multiply:'
        for joint, value in identification.gains.items():
            yield f'  {joint}: {_rounded(value)}'


def _rounded(number: float, digits: int = DIGITS) -> float:
    return float(f'{number:.{digits}g}')
