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
Files with parameters: what is wrong with one that rcl refuses, and whether it is for this node.

rcl parses them, reports a line at most, and ignores those of other nodes without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import re
from typing import Any

from ros2_rnea.errors import did_you_mean
from ros2_rnea.model.regular_file import read_regular_file
import yaml

PARAMETERS = 'ros__parameters'
"""The key below a node's name whose value are its parameters."""

FORM = f'write the name of the node, below it {PARAMETERS}, and below that the parameters'

_REFUSED = re.compile(
    r"Couldn't parse params file: '--params-file (.*?)'\. Error: (.*)", re.DOTALL)
_PLACE_IN_RCL = re.compile(r'\s*,? at \S+\.c:\d+')
_LINE = re.compile(r'line(?:_num)? ([1-9][0-9]*)')

_ADVICE = {
    'opening': 'it cannot be opened: name a file that is there',
    'parsing': 'it is not YAML: close all quotes and brackets, and indent with spaces, not tabs',
    'same type': 'the values of a list have several types: write all as [1.0, 2.5], or in quotes',
    'No value': 'there is no value: write one, or remove the line for the default',
    'alias': 'aliases (&, *) are not read: write the value out',
    'cannot be key': 'a list holds lists or mappings: write a list of numbers or of texts',
    'only be values': f'these are parameters without a node: {FORM}',
    'before ros__parameters': f'these are parameters without a node: {FORM}',
    'No key': 'a name is missing: write one before the colon',
}
"""What to write, by words of rcl's messages."""


def start_error(error: Exception) -> str:
    """
    Return in words why the arguments of ROS are refused.

    :param error: that rclpy has raised.
    """
    said = _PLACE_IN_RCL.sub('', str(error)).strip()
    refused = _REFUSED.search(said)
    if refused is None:
        return f'the arguments of ROS are refused: {said}'
    name, words = refused.groups()
    found = _LINE.search(words)
    line = found.group(1) if found else ''
    advice = next((advice for key, advice in _ADVICE.items() if key in words), words)
    try:
        yaml.safe_load(read_regular_file(name).decode())
    except yaml.MarkedYAMLError as syntax:  # which knows better than rcl where and what
        if syntax.problem_mark is not None:
            line = str(syntax.problem_mark.line + 1)
        advice = f'{syntax.problem}: {advice}'
    except (OSError, ValueError, yaml.YAMLError) as unread:
        advice = f'{advice} ({" ".join(str(unread).split())})'
    return f'{name}{line and f", line {line}"}: {advice}'


def files_in(arguments: Sequence[str]) -> list[str]:
    """Return the files with parameters that a command line names."""
    return [value for option, value in zip(arguments, arguments[1:])
            if option == '--params-file']


def files_of_others(node: str, files: Sequence[str]) -> Iterator[str]:
    """
    Yield a warning for each file that has no parameters of a node.

    :param node: its full name, such as ``/inverse_dynamics``.
    """
    for name in files:
        try:
            content = yaml.safe_load(read_regular_file(name))
        except (OSError, ValueError, yaml.YAMLError):  # rcl has read it, such as from a pipe
            continue
        found = [pattern for pattern, _ in by_node(content)]
        if not any(is_of(pattern, node) for pattern in found):
            has = f'those of {", ".join(found)}' if found else 'no parameters at all'
            yield (f'{name} has no parameters of this node, {node}{did_you_mean(node, found)} '
                   f'(it has {has}): {FORM}')


def by_node(content: Any, name: str = '') -> Iterator[tuple[str, Mapping[str, Any]]]:
    """
    Yield the names of nodes, which may be patterns, and their parameters.

    :param content: of a file.
    :param name: that leads to it.
    """
    if not isinstance(content, Mapping):
        return
    for key, value in content.items():
        if key == PARAMETERS and isinstance(value, Mapping):
            yield name, value
        else:
            yield from by_node(value, f'{name}/{str(key).strip("/")}')


def is_of(pattern: str, node: str) -> bool:
    """Return whether a name is that of a node; ``*`` is one part, ``**`` any number of them."""
    parts = [{'*': '/[^/]+', '**': '(/[^/]+)*'}.get(part, '/' + re.escape(part))
             for part in pattern.strip('/').split('/')]
    return re.fullmatch(''.join(parts), node) is not None
