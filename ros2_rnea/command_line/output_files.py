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

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ros2_rnea.errors import RneaError


class OutputError(RneaError):
    """A file cannot be written."""


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
