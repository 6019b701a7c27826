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
"""Chains of revolute joints, to measure the cost by the number of joints."""

from __future__ import annotations

import numpy as np

SEED = 20260101


def chain(joints: int) -> str:
    """
    Return the URDF of a chain of revolute joints.

    Axes, offsets and inertias are random, so that no zeros of a simple model reduce the work of
    any peer.  The first joints of a longer chain are those of a shorter one.
    """
    rng = np.random.default_rng(SEED)
    parts = ['<link name="base"/>']
    parent = 'base'
    for i in range(joints):
        link = f'link{i}'
        parts += [_link(link, rng), _joint(f'joint{i}', parent, link, rng)]
        parent = link
    return f'<robot name="chain{joints}">{"".join(parts)}</robot>'


def _link(name: str, rng: np.random.Generator) -> str:
    """Return a link whose inertia is that of a box of some size, turned by some angles."""
    size = rng.uniform(0.05, 0.2, 3)
    mass = rng.uniform(0.5, 2.0)
    x, y, z = (float(moment) for moment in mass / 12.0 * (np.sum(size ** 2) - size ** 2))
    return (
        f'<link name="{name}"><inertial>'
        f'<origin xyz="{_numbers(rng.uniform(-0.1, 0.1, 3))}" '
        f'rpy="{_numbers(rng.uniform(-1.0, 1.0, 3))}"/><mass value="{float(mass)!r}"/>'
        f'<inertia ixx="{x!r}" ixy="0" ixz="0" iyy="{y!r}" iyz="0" izz="{z!r}"/>'
        '</inertial></link>')


def _joint(name: str, parent: str, child: str, rng: np.random.Generator) -> str:
    axis = rng.normal(size=3)
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_numbers(rng.uniform(-0.2, 0.2, 3))}" '
        f'rpy="{_numbers(rng.uniform(-1.5, 1.5, 3))}"/>'
        f'<axis xyz="{_numbers(axis / np.linalg.norm(axis))}"/>'
        '<limit lower="-9" upper="9" effort="1e6" velocity="1e3"/></joint>')


def _numbers(values: np.ndarray) -> str:
    return ' '.join(repr(float(value)) for value in values)
