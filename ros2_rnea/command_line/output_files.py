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
"""Files that commands write."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
import json
from pathlib import Path

from ros2_rnea.errors import RneaError


class OutputError(RneaError):
    """A file cannot be written."""


STANDARD_OUTPUT = Path('-')


def json_path(text: str) -> Path:
    """
    Return where JSON goes, the type of ``--json``: a file, or the standard output for ``-``.

    :raises ArgumentTypeError: where it is no name of such a file, but perhaps of one to be read.
    """
    path = Path(text)
    if path != STANDARD_OUTPUT and path.suffix != '.json':
        raise argparse.ArgumentTypeError(f'{text!r} needs to end in .json, or to be -')
    return path


def write_json(data: object, path: Path) -> None:
    """
    Write what JSON can hold.

    :param path: that :func:`json_path` has returned.
    :raises OutputError: where the file cannot be written.
    """
    text = json.dumps(data, indent=2)
    if path == STANDARD_OUTPUT:
        print(text)
        return
    with writing(path):
        path.write_text(f'{text}\n', encoding='utf-8')


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """
    Name the file, or the folder, in what goes wrong while it is written.

    :raises OutputError: where the operating system or a library refuses.
    """
    try:
        yield
    except (OSError, ValueError) as error:  # Matplotlib's ValueError: a suffix names no format
        raise OutputError(f'{path} cannot be written: {error}') from error
