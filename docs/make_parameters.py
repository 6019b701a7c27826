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
"""Makes the parameter file, and the pages about parameters, from their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
import textwrap
from typing import Any

from ros2_rnea.control.parameter import Group, JointSpecification, Level, Specification
from ros2_rnea.node.parameters import OF_JOINTS, SPECIFICATIONS
import yaml

ROOT = Path(__file__).parents[1]
FILE = ROOT / 'config' / 'inverse_dynamics.yaml'
TABLE = ROOT / 'docs' / 'figures' / 'parameters.txt'

CONTROLLER = (ROOT / 'ros2_rnea_controller' / 'src'
              / 'inverse_dynamics_controller_parameters.yaml')
TABLE_OF_CONTROLLER = ROOT / 'docs' / 'figures' / 'controller_parameters.txt'

ALL = (*SPECIFICATIONS, *OF_JOINTS.values())

WIDTH = 99

HEAD = """\
# The parameters of the node inverse_dynamics, each at its default.
#
# docs/make_parameters.py writes this file.  Copy it, set `joints`, and pass the copy to launch:
#   ros2 launch ros2_rnea inverse_dynamics.launch.py params_file:=my_robot.yaml
# `ros2 param describe /inverse_dynamics NAME` shows unit and range of a parameter.  The numbers of
# a list must be of one type: write 0.0, not 0, beside -9.81.

/**:
  ros__parameters:
"""

LEVELS = {
    Level.FIRST: 'Look at these before the first effort',
    Level.ARM: 'What an arm, a controller or a task may need',
    Level.EXPERT: 'For those who have measured that a default does not fit'}


def parameter_file() -> str:
    """Return all parameters at their defaults, as YAML with comments."""
    return HEAD + '\n'.join(_part(group) for group in Group)


def table() -> str:
    """Return the parameters by who sets them, as reStructuredText."""
    return '\n'.join(_table_of(level) for level in Level)


def table_of_controller() -> str:
    """Return the parameters of the controller of ros2_control, as reStructuredText."""
    (parameters,) = yaml.safe_load(CONTROLLER.read_text(encoding='utf-8')).values()
    return _rows('Parameters of the controller', (
        (name, f'``{written(each["default_value"])}``', _escaped(each['description']))
        for name, each in parameters.items()))


def _part(group: Group) -> str:
    title = f'    # ---- {group.value} '
    return title + '-' * (WIDTH - len(title)) + '\n' + '\n'.join(
        _entry(each) for each in ALL if each.group is group)


def _entry(parameter: Specification | JointSpecification) -> str:
    comment = '\n'.join(textwrap.wrap(
        parameter.description.replace('. ', '.  '), WIDTH, initial_indent='    # ',
        subsequent_indent='    # ', break_long_words=False, break_on_hyphens=False))
    if isinstance(parameter, JointSpecification):
        return (f'{comment}\n    # {parameter.name}:\n'
                f'    #   shoulder_joint: {parameter.example}\n')
    return f'{comment}\n    {parameter.name}: {written(parameter.initial)}\n'


def written(value: Any) -> str:
    """Return a value as YAML has it."""
    return yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix(
        '\n').removesuffix('\n...')


def _table_of(level: Level) -> str:
    return _rows(LEVELS[level], (
        (f'{each.name}.JOINT', '', _rst(each)) if isinstance(each, JointSpecification)
        else (each.name, f'``{written(each.initial)}``', _rst(each))
        for each in ALL if each.level is level))


def _rows(title: str, parameters: Iterable[tuple[str, str, str]]) -> str:
    """Return a table of names, defaults and descriptions."""
    lines = [f'.. list-table:: {title}', '   :header-rows: 1', '   :widths: 25 15 60', '',
             '   * - parameter', '     - default', '     - what it is']
    for name, default, description in parameters:
        lines += [f'   * - ``{name}``', f'     - {default}'.rstrip(), f'     - {description}']
    return '\n'.join([*lines, ''])


def _rst(parameter: Specification | JointSpecification) -> str:
    """Return the text of a parameter, with its range where it is no choice of words."""
    text = parameter.description
    if isinstance(parameter, JointSpecification):
        text = f'{text}  Allowed: {parameter.needed}.'
    elif parameter.minimum is not None and not isinstance(parameter.default, Enum):
        text = f'{text}  Allowed: {parameter.wanted}.'
    return _escaped(text)


def _escaped(text: str) -> str:
    return text.replace('*', '\\*').replace('`', '\\`').replace('_ ', '\\_ ')


def main() -> None:
    """Write the files."""
    FILE.write_text(parameter_file(), encoding='utf-8')
    TABLE.write_text(table(), encoding='utf-8')
    TABLE_OF_CONTROLLER.write_text(table_of_controller(), encoding='utf-8')


if __name__ == '__main__':
    main()
