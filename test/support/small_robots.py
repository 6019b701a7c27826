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
"""Small robots in URDF, for tests that are not about mechanics."""

from math import atan, pi


def link(name: str, mass: float = 1.0, com: str = '0.1 0 -0.2') -> str:
    """Return a link with a plain inertia."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>'
        '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial></link>')


def joint(
        name: str, parent: str, child: str, kind: str = 'revolute', axis: str = '0 1 0',
        extra: str = '', effort: float = 100.0) -> str:
    """Return a joint 0.3 m above its parent's origin."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 0.3"/><axis xyz="{axis}"/>{extra}'
        f'<limit lower="-3" upper="3" effort="{effort}" velocity="2"/></joint>')


def robot(*parts: str, name: str = 'small') -> str:
    """Return a robot made of these elements."""
    return f'<robot name="{name}">{"".join(parts)}</robot>'


ARM = robot(
    '<link name="base"/>', link('upper'), link('lower'), '<link name="tool"/>',
    joint('shoulder', 'base', 'upper', extra='<dynamics damping="0.5"/>'),
    joint('elbow', 'upper', 'lower', effort=40.0),
    joint('flange', 'lower', 'tool', kind='fixed'), name='arm')

BALANCED = (-0.25 * pi, 0.25 * pi + atan(0.5))
"""Positions of :data:`ARM` at which gravity needs no effort."""

ARM_WITH_GRIPPER = robot(
    '<link name="base"/>', link('upper'), link('lower'), link('finger', 0.2), link('thumb', 0.1),
    joint('shoulder', 'base', 'upper'),
    joint('elbow', 'upper', 'lower'),
    joint('grip', 'lower', 'finger', kind='prismatic', axis='1 0 0'),
    joint('thumb_joint', 'lower', 'thumb', kind='prismatic', axis='1 0 0',
          extra='<mimic joint="grip" multiplier="-1" offset="0.1"/>'),
    name='arm_with_gripper')

ROVER = robot(
    link('ground'), link('chassis'), link('mast'),
    joint('drive', 'ground', 'chassis', kind='planar', axis='0 0 1'),
    joint('pan', 'chassis', 'mast'), name='rover')

FREE_FLYER = robot(
    link('hangar'), link('drone'), link('lens'),
    joint('flight', 'hangar', 'drone', kind='floating'),
    joint('camera', 'drone', 'lens'), name='free_flyer')
