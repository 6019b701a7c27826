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
"""How commands show tables, files and progress in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from ros2_rnea.errors import printable


class PrintableConsole(Console):
    """A console that shows control characters in names, and obeys none of them."""

    def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None,
            ) -> Iterable[Segment]:
        """Return the segments of what is printed."""
        for text, style, control in super().render(renderable, options):
            if not control and not text.isprintable():
                text = '\n'.join(map(printable, text.split('\n')))
            yield Segment(text, style, control)


WIDEST = 10_000
"""Columns of a terminal that is wide enough for any table."""


PLAIN: dict[str, Any] = {
    'title_justify': 'left', 'title_style': 'bold', 'box': None, 'header_style': 'dim',
    'padding': (0, 0, 0, 1), 'pad_edge': False}
"""How tables look: without lines."""


def plain_table(title: str | None = None) -> Table:
    """Return a table without lines."""
    return Table(title=title, **PLAIN)


class FigureTable(Table):
    """
    A table of figures by name, in which each row is one line.

    Where the terminal is too narrow for that, each name has a line of its own, above its figures.
    """

    def __rich_console__(
            self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=WIDEST)
        if Measurement.get(console, unlimited, self).maximum <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        names, *others = self.columns
        figures = Table(title=self.title, **PLAIN)
        for column in others:
            figures.add_column(column.header, justify='right', no_wrap=True)
        for row, cells in zip(self.rows, zip(*(column.cells for column in others))):
            figures.add_row(*cells, style=row.style)
        lines = console.render_lines(figures, options, new_lines=True)
        above = len(lines) - len(self.rows)  # of the title and the headers
        for line in lines[:above]:
            yield Segments(line)
        for name, row, line in zip(names.cells, self.rows, lines[above:]):
            yield Text(str(name), style=row.style or '', overflow='fold')
            yield Segments(line)


def figure_table(first: str, *others: str) -> Table:
    """
    Return a table of figures by name.

    :param first: title of the column of names.
    :param others: titles of the columns of figures.
    """
    table = FigureTable(**PLAIN)
    table.add_column(first, no_wrap=True)
    for title in others:
        table.add_column(title, justify='right', no_wrap=True)
    return table


def say_written(console: Console, paths: Iterable[Path | str]) -> None:
    """Print which files were written, in lines that fit the terminal."""
    *others, last = map(str, paths)
    names = f'{", ".join(others)} and {last}' if others else last
    console.print(f'{names} written', markup=False)


def progress_bar(says_what_remains: bool = False) -> Progress:
    """
    Return a progress bar on the standard error, if that is a terminal; otherwise nothing shows.

    :param says_what_remains: show the time that remains, not the time that has passed.
    """
    terminal = PrintableConsole(stderr=True)
    return Progress(
        TextColumn('{task.description}'), BarColumn(),
        TimeRemainingColumn() if says_what_remains else TimeElapsedColumn(),
        console=terminal, transient=True, disable=not terminal.is_terminal)
