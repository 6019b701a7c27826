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
"""Reading and writing files with trajectories; their suffix selects the format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ros2_rnea.command_line.output_files import writing
from ros2_rnea.model.regular_file import read_regular_file
from ros2_rnea.offline.commands.fill_efforts import bag_file, csv_file, yaml_file
from ros2_rnea.offline.commands.fill_efforts.found import FileError, Found
from ros2_rnea.offline.filling.effort_filler import FilledPoint
from ros2_rnea.offline.identification.bag import is_bag, SUFFIXES

_TEXT = {'.csv': csv_file, '.yaml': yaml_file, '.yml': yaml_file}


def read_trajectory(path: Path, topic: str | None = None, number: int | None = None) -> Found:
    """
    Read the trajectory in a file or bag.

    :param topic: of a bag; None if only one topic has trajectories.
    :param number: of the message there, from 1; None for the first.
    :raises RneaError: if it is not a trajectory; the error names the place.
    """
    if is_bag(path):
        return bag_file.read(path, topic, number or 1)
    if topic is not None or number is not None:
        raise FileError(f'{path} is not a bag, so it has neither topics nor message numbers')
    if path.suffix not in _TEXT:
        bags = ', '.join(SUFFIXES)
        raise FileError(_unknown_kind(path, f', {bags} or the folder of a bag'))
    try:
        text = read_regular_file(path).decode('utf-8-sig')
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f'{path} cannot be read: {error}') from error
    return _TEXT[path.suffix].parse(text, path.name)


def write_trajectory(
        path: Path, joint_names: Sequence[str], points: Sequence[FilledPoint]) -> None:
    """
    Write a filled trajectory.

    :raises RneaError: if the suffix is another one, or the file cannot be written.
    """
    if path.suffix not in _TEXT:
        raise FileError(_unknown_kind(path))
    text = _TEXT[path.suffix].formatted(joint_names, points)
    with writing(path):
        path.write_text(text, encoding='utf-8')


def _unknown_kind(path: Path, others: str = '') -> str:
    return f'{path} ends in {path.suffix or "nothing"!r}; it needs {", ".join(_TEXT)}{others}'
