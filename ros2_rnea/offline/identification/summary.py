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
"""An identification as plain data, for ``summary.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from ros2_rnea.offline.identification.results import Identification


def summary(identification: Identification) -> dict[str, Any]:
    """
    Return what an identification says, as JSON can have it.

    Lists by joint are in the order of ``joints``; efforts are in Nm or N.  None stands where there
    is no number: a joint without measured efforts, or the standard error of a parameter that the
    data does not tell (``identifiable`` is false); its value is what the model has, no result.
    """
    payload = identification.payload
    return {
        'robot': identification.robot.name,
        'joints': list(identification.joints),
        'measured_rms': _numbers(identification.measured_rms),
        'urdf_rms': _numbers(identification.urdf_rms),
        'identified_rms': _numbers(identification.identified_rms),
        'noise_rms': _numbers(identification.noise_rms),
        'samples': [int(count) for count in identification.samples],
        'independent_samples': _numbers(identification.independent_samples),
        'physically_consistent': bool(identification.physically_consistent),
        'condition_number': _number(identification.condition_number),
        'parameters': [
            {**_plain(asdict(one)), 'identifiable': one.standard_error is not None}
            for one in identification.parameters],
        'base_parameters': [_plain(asdict(one)) for one in identification.base_parameters],
        'not_identifiable': list(identification.not_identifiable),
        'links': list(identification.links),
        'friction': {joint: _plain(asdict(one)) for joint, one in identification.friction.items()},
        'rotor_inertias': _plain(identification.rotor_inertias),
        'gravity': None if identification.gravity is None else _numbers(identification.gravity),
        'payload': None if payload is None else {
            'link': payload[0], 'mass': _number(payload[1].mass),
            'center': _numbers(payload[1].origin.xyz), 'inertia': _numbers(payload[1].inertia)},
        'gains': _plain(identification.gains),
    }


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) if isinstance(value, Mapping)
            else value if isinstance(value, str) else _number(value)
            for name, value in values.items()}


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: float | None) -> float | None:
    """Return a number, or None for what JSON has no number for."""
    return float(value) if value is not None and isfinite(value) else None
