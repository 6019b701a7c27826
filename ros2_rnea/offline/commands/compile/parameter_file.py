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
"""The parameters of one node in a ROS parameter file, as rcl reads them, without ROS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.regular_file import read_regular_file
from ros2_rnea.node.parameter_file import by_node, is_of, PARAMETERS
import yaml


def read_parameters(path: Path, node: str) -> dict[str, Any]:
    """
    Return a node's parameters in a file; of values that are given twice, the later one.

    :param node: its full name, such as ``/inverse_dynamics``.
    :raises ArgumentError: where the file is no parameter file, or has none for this node.
    """
    try:
        content = yaml.safe_load(read_regular_file(path).decode())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ArgumentError(f'{path} cannot be read: {error}') from error
    found = dict(by_node(content))
    if not found:
        raise ArgumentError(
            f'{path} is not a parameter file: it needs a node, below that {PARAMETERS}, and '
            'below that the parameters')
    values: dict[str, Any] = {}
    matching = [pattern for pattern in found if is_of(pattern, node)]
    if not matching:
        raise ArgumentError(
            f'{path} has no parameters of the node {node!r}{did_you_mean(node, found)}; it has '
            f'those of {", ".join(found)}: name one of these with --node')
    for pattern in matching:
        values.update(found[pattern])
    return values


def names_in(parameters: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """
    Return the value of a parameter that is a list of names; empty where it is not set.

    :raises ArgumentError: where it is something else.
    """
    value = parameters.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ArgumentError(f'{name} is {value!r}; it needs a list of names')
    return tuple(value)


def is_set_for_joints(parameters: Mapping[str, Any], name: str) -> bool:
    """Return whether a parameter of joints, such as ``damping``, is not zero for one of them."""
    nested = parameters.get(name)
    return any(nested.values() if isinstance(nested, Mapping) else ()) or any(
        value for key, value in parameters.items() if key.startswith(f'{name}.'))
