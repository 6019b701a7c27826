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
"""Plain text: tables and wrapped paragraphs."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

WIDTH = 98
"""Largest width of a line [characters]."""

NAME_WIDTH = 30


def clipped(name: str, width: int = NAME_WIDTH) -> str:
    """Return a name; the middle of a long one is omitted, as its ends are more distinctive."""
    if len(name) <= width:
        return name
    half = (width - 1) // 2
    return f'{name[:width - half - 1]}…{name[-half:]}'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table; columns of text are left-aligned, of numbers right-aligned."""
    if not rows:
        return []
    columns = list(zip(header, *rows))
    widths = [max(map(len, column)) for column in columns]
    left = [not any(_is_number(cell) for cell in column[1:]) for column in columns]
    return ['  '.join(
        cell.ljust(width) if to_left else cell.rjust(width)
        for cell, width, to_left in zip(row, widths, left)).rstrip() for row in (header, *rows)]


def paragraph(text: str, indent: str) -> list[str]:
    """Return the lines of an indented text."""
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent,
                break_long_words=False, break_on_hyphens=False)


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or (cell[:1] == '-' and cell[1:2].isdigit())
