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
"""Numbers as the tables of all commands show them."""

from __future__ import annotations

from math import isfinite

DIGITS = 4
"""Significant digits."""


def number(value: float | None, digits: int = DIGITS) -> str:
    """Return a number as text, and a dash for one that is not known or not bounded."""
    if value is None or not isfinite(value):
        return '-'
    return f'{value:.{digits}g}' if value else '0'
