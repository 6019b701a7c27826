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
Mesh files that MuJoCo does not read, such as COLLADA, converted to STL.

The library coal reads them (by Assimp).  Like RViz, it ignores the axis that a COLLADA file calls
"up"; its unit of length counts here, as it does in RViz.
"""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np

from ros2_rnea.errors import RneaError
from ros2_rnea.model.regular_file import check_regular_file, MIB, read_regular_file
from ros2_rnea.model.safe_xml import read_xml

try:
    import coal
except ImportError as _error:
    coal = None
    WHY_NOT = str(_error)

_TRIANGLE = np.dtype([('numbers', '<f4', 12), ('attribute', '<u2')])
"""A triangle in a binary STL file: its normal, which may be zero, and its corners."""


LARGEST_MESH = 1024 * MIB
"""Largest size of the file of a mesh [bytes]."""


class MeshError(RneaError):
    """A mesh cannot be read, for the reason that the message gives."""


def as_stl(path: Path) -> bytes:
    """
    Return a mesh as a binary STL file, in metres.

    :raises MeshError: where no library reads it.
    :raises OSError: where it is no regular file.
    """
    if coal is None:
        raise MeshError(
            f'MuJoCo does not read {path.suffix or "files without an ending"}; the library coal '
            f'converts other formats: pip install coal ({WHY_NOT})')
    check_regular_file(path)
    try:
        mesh = coal.MeshLoader().load(str(path), np.full(3, _unit(path)))
        vertices = np.array(mesh.vertices())
        corners = np.array([
            [triangle[k] for k in range(3)]
            for triangle in map(mesh.tri_indices, range(mesh.num_tris))], dtype=int)
    except (ValueError, RuntimeError) as error:
        raise MeshError(str(error)) from error
    if not len(corners) or not np.isfinite(vertices).all():
        raise MeshError('it has no triangles' if not len(corners) else 'it has NaN or infinity')
    triangles = np.zeros(len(corners), dtype=_TRIANGLE)
    triangles['numbers'][:, 3:] = vertices[corners].reshape(-1, 9)
    return bytes(80) + np.uint32(len(corners)).tobytes() + triangles.tobytes()


def _unit(path: Path) -> float:
    """Return the unit of length of a file [m]; formats other than COLLADA have none."""
    if path.suffix.lower() != '.dae':
        return 1.0
    for element in read_xml(read_regular_file(path, LARGEST_MESH).decode(errors='replace')).iter():
        if element.tag.rpartition(':')[2] == 'unit' and element.get('meter'):
            unit = float(element.get('meter', '1'))
            if not 0.0 < unit < inf:
                raise MeshError(f'its unit of length is {unit:g} m; it needs a positive number')
            return unit
    return 1.0
