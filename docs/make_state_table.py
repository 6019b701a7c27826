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
"""
Write what docs/how-the-node-decides.rst shows of the code: the table of states and its diagram.

Run it after a change to the states, their table or former parameters:
``PYTHONPATH=. python docs/make_state_table.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from ros2_rnea.control.decision import State
from ros2_rnea.control.supervisor import SENDING, TABLE, table, USUAL
from ros2_rnea.node import migration

DOCS = Path(__file__).parent
WRITTEN = '.. Written by docs/make_state_table.py; changes to this file will be overwritten.\n\n'


def main() -> None:
    """Write the files."""
    for name, text in files().items():
        (DOCS / name).write_text(text, encoding='utf-8')


def files() -> dict[str, str]:
    """Return what each file holds, by its path in docs."""
    return {
        'figures/transitions.txt': transitions(),
        'figures/former_parameters.txt': former_parameters(),
        'images/states.svg': diagram(),
    }


# ---- tables -------------------------------------------------------------------------------------


def transitions() -> str:
    """Return the table by which the node decides."""
    return WRITTEN + list_table(
        'The rows, in the order of their priority', (6, 17, 36, 14, 27),
        ('row', 'from', 'when', 'to', 'the effort goes there'),
        ((str(number), sources(names.split()), when + noted(action), f'``{to}``',
          sentence(hand_over))
         for number, (names, when, to, hand_over, action) in enumerate(table(), start=1)))


def former_parameters() -> str:
    """Return which parameters and values of earlier versions are gone."""
    return WRITTEN + list_table(
        'Parameters and values that are gone', (30, 40, 30),
        ('gone', 'write', 'otherwise'),
        ((f'``{what}``', f'``{instead}``'.replace(', or ', '``, or ``'), sentence(otherwise))
         for what, instead, otherwise in migration.table()))


def list_table(
        title: str, widths: Iterable[int], head: Iterable[str],
        rows: Iterable[Iterable[str]]) -> str:
    """Return a table of reStructuredText."""
    lines = [f'.. list-table:: {title}', '   :header-rows: 1',
             f'   :widths: {" ".join(map(str, widths))}', '']
    for row in (head, *rows):
        for place, cell in enumerate(row):
            lines.append(f'     - {cell}' if place else f'   * - {cell}')
    return '\n'.join([*(line.rstrip() for line in lines), ''])


def sources(names: Sequence[str]) -> str:
    """Return the states from which a row leads, in words."""
    if list(names) == [state.name for state in SENDING]:
        return 'each state but ``OFF``'
    return ', '.join(f'``{name}``' for name in names)


def noted(action: str) -> str:
    """Return what a row notes, as a sentence after its guard."""
    return action and action.replace('Note ', '  The node notes ', 1)


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop."""
    return f'{text[0].upper()}{text[1:].rstrip(".")}.'


# ---- the diagram --------------------------------------------------------------------------------


class Box(NamedTuple):
    """A rectangle: its centre and its size [px]."""

    x: float
    y: float
    width: float
    height: float


FOLLOWING = State.TRACKING, State.HOLDING

BOXES: dict[tuple[State, ...], Box] = {
    SENDING: Box(427, 233, 545, 434),
    USUAL: Box(445, 116, 480, 170),
    FOLLOWING: Box(620, 116, 116, 146),
    (State.OFF,): Box(62, 116, 84, 44),
    (State.ARMING,): Box(264, 116, 92, 44),
    (State.GRAVITY,): Box(438, 116, 92, 44),
    (State.TRACKING,): Box(620, 76, 96, 44),
    (State.HOLDING,): Box(620, 156, 96, 44),
    (State.BRAKING,): Box(264, 326, 104, 44),
    (State.FAULT,): Box(500, 326, 92, 44),
}
"""Where states, and groups of states that rows begin from, are drawn."""

ROUTES: dict[tuple[tuple[State, ...], State], tuple[tuple[float, float], ...]] = {
    (SENDING, State.OFF): ((154, 200), (62, 200), (62, 139)),
    ((State.OFF,), State.ARMING): ((105, 116), (217, 116)),
    (USUAL, State.BRAKING): ((236, 202), (236, 303)),
    ((State.ARMING,), State.BRAKING): ((278, 139), (278, 303)),
    ((State.ARMING,), State.FAULT): ((300, 139), (472, 303)),
    ((State.ARMING,), State.GRAVITY): ((311, 116), (391, 116)),
    ((State.GRAVITY,), State.BRAKING): ((410, 139), (300, 303)),
    ((State.GRAVITY,), State.TRACKING): ((485, 104), (571, 74)),
    ((State.HOLDING,), State.TRACKING): ((634, 133), (634, 99)),
    ((State.GRAVITY,), State.HOLDING): ((485, 128), (571, 158)),
    ((State.TRACKING,), State.HOLDING): ((606, 99), (606, 133)),
    (FOLLOWING, State.BRAKING): ((620, 190), (620, 406), (250, 406), (250, 349)),
    (FOLLOWING, State.GRAVITY): ((561, 116), (485, 116)),
    ((State.BRAKING,), State.BRAKING): ((290, 349), (290, 378), (308, 378), (308, 349)),
    ((State.BRAKING,), State.OFF): ((211, 326), (36, 326), (36, 139)),
    ((State.BRAKING,), State.FAULT): ((317, 318), (453, 318)),
    ((State.BRAKING,), State.GRAVITY): ((314, 303), (430, 139)),
    ((State.FAULT,), State.BRAKING): ((453, 336), (317, 336)),
    ((State.FAULT,), State.GRAVITY): ((496, 303), (450, 139)),
}
"""The way of each arrow, from its first to its last point [px]."""

LABELS: dict[tuple[tuple[State, ...], State], tuple[float, float]] = {
    (SENDING, State.OFF): (108, 200),
    ((State.OFF,), State.ARMING): (184, 116),
    (USUAL, State.BRAKING): (236, 252),
    ((State.ARMING,), State.BRAKING): (278, 226),
    ((State.ARMING,), State.FAULT): (420, 253),
    ((State.GRAVITY,), State.BRAKING): (378, 187),
    (FOLLOWING, State.BRAKING): (435, 406),
    ((State.BRAKING,), State.BRAKING): (299, 378),
    ((State.BRAKING,), State.OFF): (108, 326),
    ((State.BRAKING,), State.GRAVITY): (336, 272),
}
"""Where the numbers of rows are drawn; for other arrows in the middle of their way."""

TITLES = {
    SENDING: 'an effort is sent',
    FOLLOWING: '',
    USUAL: '',
}

STYLE = """
  text { font: 13px sans-serif; fill: #1a1a1a; text-anchor: middle; dominant-baseline: central }
  .state { fill: #eaf2f8; stroke: #1f5f8b; stroke-width: 1.5 }
  .stop { fill: #fbece4; stroke: #a5461a; stroke-width: 1.5 }
  .nothing { fill: #ffffff; stroke: #555555; stroke-width: 1.5 }
  .group { fill: none; stroke: #999999; stroke-dasharray: 5 4 }
  .way { fill: none; stroke: #444444; stroke-width: 1.2; marker-end: url(#head) }
  .number { fill: #ffffff; stroke: none }
  .title { fill: #666666; text-anchor: start }
"""

SIZE = 715, 462
"""Of the drawing [px]: no wider than a page."""


def diagram() -> str:
    """Return the states and the rows that lead from one to another, as SVG."""
    rows: dict[tuple[tuple[State, ...], State], list[int]] = {}
    for number, row in enumerate(TABLE, start=1):
        for group in groups(row.states):
            rows.setdefault((group, row.to), []).append(number)
    if rows.keys() != ROUTES.keys():
        raise SystemExit(f'ROUTES lacks or has too much: {rows.keys() ^ ROUTES.keys()}')
    width, height = SIZE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f'<style>{STYLE}</style>',
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#444444"/></marker>'
        '</defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for states_of_box, box in BOXES.items():
        if len(states_of_box) > 1:
            lines += group_lines(TITLES[states_of_box], box)
    lines += [way(ROUTES[arrow]) for arrow in rows]
    for states_of_box, box in BOXES.items():
        if len(states_of_box) == 1:
            lines += state_lines(states_of_box[0], box)
    for arrow, numbers in rows.items():
        lines += label_lines(', '.join(map(str, numbers)), LABELS.get(arrow) or middle(
            ROUTES[arrow]))
    return '\n'.join([*lines, '</svg>', ''])


def groups(states_of_row: tuple[State, ...]) -> list[tuple[State, ...]]:
    """Return the groups that are drawn for the states of a row: as few as cover them."""
    left, found = set(states_of_row), []
    for group in BOXES:
        if left.issuperset(group):
            found.append(group)
            left -= {*group}
    return found


def group_lines(title: str, box: Box) -> list[str]:
    """Return a group of states."""
    left, top = box.x - box.width / 2, box.y - box.height / 2
    lines = [f'<rect class="group" x="{left:g}" y="{top:g}" width="{box.width:g}" '
             f'height="{box.height:g}" rx="8"/>']
    if title:
        lines.append(f'<text class="title" x="{left + 12:g}" y="{top + box.height - 14:g}">'
                     f'{escape(title)}</text>')
    return lines


def state_lines(state: State, box: Box) -> list[str]:
    """Return a state."""
    kind = {State.OFF: 'nothing', State.BRAKING: 'stop', State.FAULT: 'stop'}.get(state, 'state')
    return [
        f'<rect class="{kind}" x="{box.x - box.width / 2:g}" y="{box.y - box.height / 2:g}" '
        f'width="{box.width:g}" height="{box.height:g}" rx="6"/>',
        f'<text x="{box.x:g}" y="{box.y:g}">{state.name}</text>']


def way(points: Sequence[tuple[float, float]]) -> str:
    """Return an arrow."""
    return f'<path class="way" d="M{" L".join(f"{x:g} {y:g}" for x, y in points)}"/>'


def middle(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the middle of the first part of a way."""
    (x1, y1), (x2, y2) = points[:2]
    return (x1 + x2) / 2, (y1 + y2) / 2


def label_lines(text: str, place: tuple[float, float]) -> list[str]:
    """Return the numbers of rows at a place."""
    x, y = place
    width = 7.0 * len(text) + 6.0
    return [f'<rect class="number" x="{x - width / 2:g}" y="{y - 8:g}" width="{width:g}" '
            'height="16"/>', f'<text x="{x:g}" y="{y:g}">{escape(text)}</text>']


if __name__ == '__main__':
    main()
