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
"""Tables of figures: no name is broken, and no figure is cut off."""

from io import StringIO

import pytest

terminal = pytest.importorskip('ros2_rnea.command_line.terminal', reason='rich is not installed')

NAMES = ['left_shoulder_pan_joint', 'wrist [1]']
FIGURES = ['100', '12.34', '1.234 s', '12 %', '12.33', '10 %', '0.012', '0.1']


def printed(width: int) -> list[str]:
    table = terminal.figure_table(
        'joint', 'limit', 'peak', 'at', 'of limit', 'RMS', 'of limit', 'error', 'allowed')
    for name in NAMES:
        table.add_row(name, *FIGURES, style='bold red')
    console = terminal.PrintableConsole(width=width, highlight=False, file=StringIO())
    console.print(table)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_in_a_wide_terminal_a_row_is_a_line():
    header, *rows = printed(100)
    assert header.split()[0] == 'joint'
    assert [row.split() for row in rows] == [
        f'{name} {" ".join(FIGURES)}'.split() for name in NAMES]


def test_in_a_narrow_terminal_names_stand_above_their_figures():
    header, *lines = printed(80)
    assert header.split() == 'limit peak at of limit RMS of limit error allowed'.split()
    assert lines[::2] == NAMES
    assert [line.split() for line in lines[1::2]] == [' '.join(FIGURES).split()] * 2
    assert max(map(len, lines)) <= 80


def test_where_even_the_name_is_wider_it_is_folded():
    lines = printed(20)
    assert ''.join(lines[1:3]) == NAMES[0]
