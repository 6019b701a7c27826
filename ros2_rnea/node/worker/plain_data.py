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
Conversion of the package's data to values that JSON can represent, and back.

Only the listed types can be written or read, and reading one executes nothing but its constructor;
pickle would execute any code that the data names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.model.description import Inertial, JointLimits, JointType, Pose
from ros2_rnea.model.tree import Body, LinkFrame, Tree
from ros2_rnea.node.models.model_building import Source
from ros2_rnea.offline.audit.findings import Finding, Kind
from ros2_rnea.robots.sent_terms import Terms
from ros2_rnea.spatial import Inertia, Matrix, Transform, Vector

ENUMS = {kind.__name__: kind for kind in (Engine, JointType, Kind, Terms)}

RECORDS: dict[str, type] = {kind.__name__: kind for kind in (
    Body, Finding, Inertia, Inertial, JointLimits, LinkFrame, Matrix, Pose, Source,
    Transform, Tree, Vector)}


def _field_names(kind: Any) -> tuple[str, ...]:
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return getattr(kind, '_fields', None) or kind.__slots__


FIELDS = {name: _field_names(kind) for name, kind in RECORDS.items()}

SLOTTED = {name for name, kind in RECORDS.items()
           if hasattr(kind, '__slots__') and not hasattr(kind, '_fields')}
"""The types of spatial.py, whose constructors do not take all that they consist of."""


def to_plain(value: Any) -> Any:
    """
    Return a value as None, numbers, strings, lists and dictionaries.

    :raises TypeError: for a type that is not listed.
    """
    kind = type(value)
    if isinstance(value, Enum) and kind.__name__ in ENUMS:
        return {'enum': kind.__name__, 'name': value.name}
    if kind.__name__ in RECORDS:
        return {'record': kind.__name__,
                'values': [to_plain(getattr(value, name)) for name in FIELDS[kind.__name__]]}
    if isinstance(value, np.ndarray):
        return {'array': value.tolist()}
    if isinstance(value, Mapping):
        return {'mapping': [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f'a {kind.__name__} cannot be sent to another process')


def from_plain(plain: Any) -> Any:
    """Return the value that :func:`to_plain` converted; lists are returned as tuples."""
    if isinstance(plain, list):
        return tuple(map(from_plain, plain))
    if not isinstance(plain, dict):
        return plain
    if 'enum' in plain:
        return ENUMS[plain['enum']][plain['name']]
    if 'array' in plain:
        return np.array(plain['array'])
    if 'mapping' in plain:
        return {from_plain(key): from_plain(item) for key, item in plain['mapping']}
    name, values = plain['record'], map(from_plain, plain['values'])
    if name in SLOTTED:
        record: Any = object.__new__(RECORDS[name])
        for field, value in zip(FIELDS[name], values):
            setattr(record, field, value)
        return record
    return RECORDS[name](*values)
