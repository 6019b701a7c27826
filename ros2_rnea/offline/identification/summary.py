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

from collections.abc import Mapping
from dataclasses import is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from ros2_rnea.offline.identification.results import Identification


def summary(identification: Identification) -> dict[str, Any]:
    """
    Return what an identification says, as JSON can have it.

    Lists by joint are in the order of ``joints``; efforts are in Nm or N.  None stands where there
    is no number: a joint without measured efforts, or the standard error of a parameter that the
    data does not tell (``identifiable`` is false); its value is what the model has, no result.
    """
    named = {name: _plain(getattr(identification, name)) for name in (
        'joints', 'measured_rms', 'urdf_rms', 'identified_rms', 'noise_rms', 'samples',
        'independent_samples', 'physically_consistent', 'condition_number', 'parameters',
        'base_parameters', 'not_identifiable', 'links', 'friction', 'rotor_inertias', 'gravity',
        'payload', 'gains')}
    for one in named['parameters']:
        one['identifiable'] = one['standard_error'] is not None
    if identification.payload:
        link, inertial = identification.payload
        named['payload'] = _plain({
            'link': link, 'mass': inertial.mass, 'center': inertial.origin.xyz,
            'inertia': inertial.inertia})
    return {'robot': identification.robot.name, **named}


def _plain(value: Any) -> Any:
    """Return a value as JSON can have it: None for a number that is not finite."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
