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
"""Robot descriptions from a URDF file, a xacro file or the standard input."""

from __future__ import annotations

from collections.abc import Sequence
import shutil
import subprocess
import sys

from ros2_rnea.errors import RneaError
from ros2_rnea.model.regular_file import LARGEST_TEXT, open_pipe, read_pipe, read_regular_file


class SourceError(RneaError):
    """A file cannot be read or expanded."""


MOST_LINKS = 5000
"""Largest number of links of a robot: to examine one takes some 2 ms."""


def read_source(name: str, mappings: Sequence[str] = ()) -> str:
    """
    Return the URDF text of a file.

    :param name: as :func:`read_document` has it.
    :param mappings: as :func:`read_document` has them.
    :raises SourceError: if the file cannot be read or expanded, is no regular file or too large.
    """
    try:
        return read_document(name, mappings).decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise SourceError(f'{name} cannot be read: {error}') from error


def read_document(name: str, mappings: Sequence[str] = ()) -> bytes:
    """
    Return the content of a URDF file as it is, or of a xacro file once it is expanded.

    :param name: a file; ``-`` is the standard input, and ``/dev/fd/63`` a pipe of a shell; one
        that ends in ``.xacro`` is expanded.
    :param mappings: arguments for xacro, as ``name:=value``.
    :raises SourceError: if the file cannot be read or expanded.
    """
    is_xacro = name.endswith('.xacro')
    if mappings and not is_xacro:
        raise SourceError(f'{name} is not a .xacro file, so it accepts no argument {mappings[0]}')
    try:
        content = _content(name)
    except OSError as error:
        raise SourceError(f'{name} cannot be read: {error}') from error
    document = _expand(name, mappings).encode() if is_xacro else content
    links = document.count(b'<link')
    if links > MOST_LINKS:
        raise SourceError(f'{name} has {links} links; at most {MOST_LINKS} are read')
    return document


def _content(name: str) -> bytes:
    if name == '-':
        return read_pipe(sys.stdin.buffer, LARGEST_TEXT)
    pipe = open_pipe(name)
    if pipe is None:
        return read_regular_file(name)
    with open(pipe, 'rb', closefd=False) as file:
        return read_pipe(file, LARGEST_TEXT)


def _expand(name: str, mappings: Sequence[str]) -> str:
    program = shutil.which('xacro')
    if program is None:
        raise SourceError(
            f'{name} needs xacro, which is not installed: source ROS, or install it (apt: '
            'ros-<distro>-xacro, pip: xacro); or expand it elsewhere and check the URDF')
    result = subprocess.run(
        [program, name, *mappings], capture_output=True, text=True, check=False)
    if result.returncode:
        said = result.stderr.strip() or f'its exit code is {result.returncode}'
        raise SourceError(f'xacro cannot expand {name}: {said}')
    return result.stdout
