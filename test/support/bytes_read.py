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
"""How much this process reads from files, by any library and in any language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def bytes_read(call: Callable[[], object]) -> int:
    """Return how many bytes are read in a call; the test is skipped where Linux does not tell."""
    before = _all_bytes()
    call()
    return _all_bytes() - before


def _all_bytes() -> int:
    try:
        lines = Path('/proc/self/io').read_text(encoding='ascii').splitlines()
    except OSError:
        pytest.skip('the kernel does not tell how much a process reads')
    return next(int(line.split()[1]) for line in lines if line.startswith('rchar:'))
