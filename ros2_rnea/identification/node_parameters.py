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
from typing import Any

from ros2_rnea.identification.results import Identification, JointFriction
import yaml

DIGITS = 9
"""More digits of a number are not written; no identification has that many that count."""


def node_parameters(identification: Identification) -> str:
    """
    Return the parameters of the node that follow from an identification.

    :return: YAML, for ``params_file`` and ``ros2 param load``.
    """
    parameters = {**_friction(identification.friction), **_gravity(identification),
                  **_payload_links(identification)}
    comments = [
        'The parameters of the node inverse_dynamics that were identified from recordings.',
        'Copy them into its file of parameters, or load them while it runs:',
        '  ros2 param load /inverse_dynamics THIS_FILE',
        *_payload_comment(identification), *_rotor_comment(identification),
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


def _rotor_comment(identification: Identification) -> Iterable[str]:
    if identification.rotor_inertias:
        yield ''
        yield ('The node has no parameter for the inertia of rotors, seen through the gear '
               '[kg m^2]:')
        for joint, value in identification.rotor_inertias.items():
            yield f'  {joint}: {_rounded(value)}'


def _gain_comment(identification: Identification) -> Iterable[str]:
    if identification.gains:
        yield ''
        yield 'True effort for each unit of measured effort, by which the driver has to multiply:'
        for joint, value in identification.gains.items():
            yield f'  {joint}: {_rounded(value)}'


def _rounded(number: float) -> float:
    return float(f'{number:.{DIGITS}g}')
