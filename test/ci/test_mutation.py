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
"""The mistakes that ./run mutate puts into files."""

import ast

from mutation.mutants import mutants

SOURCE = '''
"""Docstring."""
from typing import cast
LIMITS: tuple[float, float] = (0.5, 1e300)

class Joint:
    """Word"""

    name: str = 'elbow'

    @property
    def is_near(self, gap=2) -> bool:
        if self.gap <= gap and not self.moves:
            raise ValueError('a sentence for people')
        return cast('bool', self.speed - 3 is not None)
'''


def changes():
    """Return what each mutant replaces, and by what."""
    return [(SOURCE[m.start:m.end], m.text) for m in mutants('joint.py', SOURCE)]


def test_each_is_a_file_with_one_change():
    found = mutants('joint.py', SOURCE)
    assert len({mutant.applied(SOURCE) for mutant in found}) == len(found) > 10
    for mutant in found:
        ast.parse(mutant.applied(SOURCE))
        assert mutant.diff(SOURCE).count('\n+') == 1
        assert mutant.changed_line(SOURCE) in mutant.applied(SOURCE)
        assert mutant.lines[0] <= SOURCE[:mutant.start].count('\n') + 1 <= mutant.lines[1]


def test_operators_numbers_words_and_statements_change():
    assert {('<=', '<'), ('and', 'or'), ('not', ''), ('-', '+'), ('2', '3'), ('0.5', '1.5'),
            ('1e300', '2e+300'), ("'elbow'", "'XXelbow'"), ('is not', 'is')} <= set(changes())
    assert any(text == 'pass' and old.startswith('raise') for old, text in changes())
    assert any(text == 'None' and old.startswith('cast') for old, text in changes())


def test_what_is_for_people_or_for_types_stays():
    for old, _ in changes():
        assert old not in ('"""Docstring."""', '"""Word"""', "'bool'", "'a sentence for people'")
        assert 'tuple[float' not in old


def test_scopes_are_named():
    scopes = {mutant.scope for mutant in mutants('joint.py', SOURCE)}
    assert scopes == {'', 'Joint', 'Joint.is_near'}
