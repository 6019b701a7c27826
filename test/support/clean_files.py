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
"""Files that a linter has found to be without faults, which it need not read again."""

from __future__ import annotations

from hashlib import sha256
from importlib.metadata import distributions
import sys

import pytest
from repository import files


class CleanFiles:
    """
    What a linter that looks at each file by itself has said of the Python files in earlier runs.

    A file counts as clean as long as neither it nor any installed package has changed; pytest's
    option ``--cache-clear`` forgets all.

    :param cache: of pytest, which keeps it from run to run.
    :param linter: its name.
    """

    def __init__(self, cache: pytest.Cache, linter: str) -> None:
        self._cache, self._key = cache, f'clean_files/{linter}'
        installed = sorted((each.name, each.version) for each in distributions())
        tools = repr([sys.version, installed]).encode()
        self._digests = {str(path): sha256(tools + path.read_bytes()).hexdigest()
                         for path in files('*.py')}

    def others(self) -> list[str]:
        """Return the paths of the files that have to be checked."""
        clean = self._cache.get(self._key, {})
        return [path for path, digest in self._digests.items() if clean.get(path) != digest]

    def all_are_clean(self) -> None:
        """Remember that the linter finds no fault in any file as it was read."""
        self._cache.set(self._key, self._digests)
