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
"""What the documentation shows of the states and of former parameters is what the code has."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from repository import ROOT, script
from ros2_rnea.control.decision import State
from ros2_rnea.control.supervisor import TABLE

DOCS = ROOT / 'docs'
PAGE = 'how-the-node-decides.rst'


@pytest.fixture(scope='module')
def maker():
    """Return docs/make_state_table.py as a module."""
    return script('docs/make_state_table.py')


def test_files_are_what_the_code_makes(maker):
    made = maker.files()
    assert {name: (DOCS / name).read_text(encoding='utf-8') for name in made} == made, (
        'PYTHONPATH=. python docs/make_state_table.py writes them anew')


def test_every_file_is_shown(maker):
    page = (DOCS / PAGE).read_text(encoding='utf-8')
    for name in maker.files():
        assert f':: {name}\n' in page


def test_table_has_every_row(maker):
    numbers = re.findall(r'^   \* - (\d+)$', maker.transitions(), re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(TABLE) + 1)]


def test_diagram_has_every_state_and_row(maker):
    svg = ElementTree.fromstring(maker.diagram())
    texts = [text.text for text in svg.iter('{http://www.w3.org/2000/svg}text')]
    assert {state.name for state in State} <= {*texts}
    numbers = {int(number) for text in texts for number in re.findall(r'\d+', text)}
    assert numbers == {*range(1, len(TABLE) + 1)}


def test_diagram_refuses_a_table_that_it_cannot_draw(maker, monkeypatch):
    monkeypatch.setattr(maker, 'TABLE', maker.TABLE[:-1])
    with pytest.raises(SystemExit, match='ROUTES'):
        maker.diagram()


def test_explanation_has_every_state(maker):
    page = (DOCS / PAGE).read_text(encoding='utf-8')
    for state in State:
        assert f'   * - ``{state.name}``\n' in page
