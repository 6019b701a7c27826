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
"""Robot models of the package, for its demo and its tests."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from ros2_rnea.model.urdf import parse_urdf

MOCK_HARDWARE = 'mock_components/GenericSystem'
"""The plugin of ros2_control that reaches each command at once, without any physics."""


class Model(NamedTuple):
    """
    A robot of the demo.

    :param urdf: its description.
    :param start: positions of its joints where it waits [rad]; empty: anywhere.
    :param tip: the link that meets the world; empty: the one at the end of the longest chain.
    """

    urdf: str
    start: tuple[float, ...] = ()
    tip: str = ''


def seven_dof_arm() -> str:
    """
    Return the URDF of the demo's robot, a 7-joint arm with published inertial figures.

    :returns: URDF text; the file itself names its sources.
    """
    return _text('seven_dof_arm.urdf')


def panda() -> Model:
    """Return the arm of :func:`seven_dof_arm`, ready to be simulated."""
    return Model(seven_dof_arm(), (0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.6), 'tool')


def ur5() -> Model:
    """Return a 6-joint arm with the lengths of a UR5, ready to be simulated."""
    return Model(_text('ur5.urdf'), (0.0, -1.2, 1.5, -1.9, -1.5, 0.0), 'tool')


MODELS: dict[str, Callable[[], Model]] = {'panda': panda, 'ur5': ur5}
"""The models, by their names on the command line."""


def with_ros2_control(
        model: Model, plugin: str = MOCK_HARDWARE,
        parameters: Mapping[str, object] = MappingProxyType({})) -> str:
    """
    Return a description with drives for ros2_control that accept positions and efforts.

    :param plugin: the hardware component.
    :param parameters: of the plugin, by name.
    :returns: URDF text; the joints start at ``model.start``.
    """
    joints = [joint.name for joint in parse_urdf(model.urdf).joints if joint.type.nv]
    hardware = ''.join(
        f'      <param name={quoteattr(name)}>{value}</param>\n'
        for name, value in parameters.items())
    drives = ''.join(_DRIVE.format(name=quoteattr(name), start=start)
                     for name, start in zip(joints, model.start))
    section = _ROS2_CONTROL.format(plugin=plugin, hardware=hardware, drives=drives)
    return model.urdf.replace('</robot>', f'{section}</robot>')


_ROS2_CONTROL = """
  <ros2_control name="arm" type="system">
    <hardware>
      <plugin>{plugin}</plugin>
{hardware}    </hardware>
{drives}  </ros2_control>
"""

_DRIVE = """\
    <joint name={name}>
      <command_interface name="position"/>
      <command_interface name="effort"/>
      <state_interface name="position">
        <param name="initial_value">{start}</param>
      </state_interface>
      <state_interface name="velocity"/>
      <state_interface name="effort"/>
    </joint>
"""


def _text(name: str) -> str:
    return (files(__name__) / name).read_text(encoding='utf-8')


def add_model_options(parser: ArgumentParser) -> None:
    """Add the options ``--robot``, a name of :data:`MODELS`, and ``--urdf``, a file's path."""
    model = parser.add_mutually_exclusive_group()
    model.add_argument('--robot', choices=tuple(MODELS), default='panda',
                       help='arm to simulate (default: %(default)s)')
    model.add_argument('--urdf', type=Path, metavar='FILE',
                       help='any other arm on a fixed base: its description, xacro expanded; '
                            'meshes are not needed, mimic joints and what they follow stand still')
