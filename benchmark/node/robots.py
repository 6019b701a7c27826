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
"""The robots whose node is measured: by name from the package example-robot-data, or a file."""

from __future__ import annotations

from importlib.metadata import distribution, PackageNotFoundError
from pathlib import Path
from typing import NamedTuple

from benchmark.errors import BenchmarkError
from benchmark.robots import EXAMPLES, FOLDER, PACKAGE
from ros2_rnea import Robot
from ros2_rnea.feedforward.whole_state import single_joints


class BenchmarkRobot(NamedTuple):
    """A robot's name, its description as the node gets it, and the joints that are controlled."""

    name: str
    urdf: str
    joints: tuple[str, ...]


def find_robot(name: str) -> BenchmarkRobot:
    """
    Return a robot by its name in :data:`EXAMPLES`, or from the URDF file of that path.

    It stands on the ground, as the node takes every robot, and is the whole of its description.

    :raises BenchmarkError: where there is neither.
    """
    path = _example(EXAMPLES[name].path) if name in EXAMPLES else Path(name)
    if not path.is_file():
        raise BenchmarkError(
            f'{name!r} is neither a URDF file nor one of {", ".join(EXAMPLES)}')
    urdf = path.read_text(encoding='utf-8')
    return BenchmarkRobot(path.stem if path == Path(name) else name, urdf,
                          single_joints(Robot.from_urdf(urdf)))


def _example(file: str) -> Path:
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise BenchmarkError(
            f'robots by name need the package {PACKAGE}: pip install it, or name a URDF '
            'file') from error
    found = next(path for path in package.files or () if str(path).endswith(FOLDER + file))
    return Path(str(package.locate_file(found)))
