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
"""The terms of an effort: what lists them, lists those of the registry."""

from __future__ import annotations

import re

from drawn_robots import assert_close, cases, for_drawn
import numpy as np
import pytest
from repository import ROOT
from ros2_rnea import EffortTerms
from ros2_rnea.control.decision import SentTerms
from ros2_rnea.dynamics.terms import TERM_NAMES, TERMS
from ros2_rnea.robots.sent_terms import Terms

MESSAGE = ROOT / 'ros2_rnea_interfaces' / 'msg' / 'EffortTerms.msg'


def fields_of_the_message():
    """Return the comment of each field of the message, in their order."""
    field = re.compile(r'^\S+ +(\w+) *(?:# *(.*))?$', re.MULTILINE)
    return dict(field.findall(MESSAGE.read_text(encoding='utf-8')))


def test_results_have_a_field_for_each_term_and_their_sum():
    assert EffortTerms._fields == (*TERM_NAMES, 'total')


def test_message_has_the_fields_that_the_node_writes():
    fields = fields_of_the_message()
    assert [*fields] == ['header', 'name', *SentTerms._fields]
    assert {name: fields[name] for name in TERM_NAMES} == {
        term.name: term.meaning for term in TERMS}


def test_total_is_the_sum_of_the_fields_before_it():
    names = [*fields_of_the_message()]
    before = names[names.index(TERM_NAMES[0]):names.index('total')]
    assert before == [*TERM_NAMES, 'feedback']


@pytest.mark.parametrize('place, pattern', [
    ('docs/reading-the-numbers.rst', '\n{}\n    '), ('docs/theory.rst', '{}')])
def test_documents_explain_each_term(place, pattern):
    text = (ROOT / place).read_text(encoding='utf-8')
    assert [name for name in TERM_NAMES
            if not re.search(pattern.format(name), text, re.IGNORECASE)] == []


@for_drawn(cases(mimics=True))
def test_terms_add_up_to_inverse_dynamics(case):
    terms = case.robot.effort_terms(*case.state, case.f_ext, case.gravity)
    total = case.robot.inverse_dynamics(*case.state, case.f_ext, case.gravity)
    scale = np.max(np.abs(terms), initial=0.0)
    assert_close(terms.total, total, scale, 1e-12)
    assert_close(sum(terms[:-1]), terms.total, scale, 1e-12)


def test_what_acts_at_rest_is_what_gravity_only_sends():
    kept = [name for name in TERM_NAMES if name not in Terms.GRAVITY_ONLY.left_out]
    assert 'gravity' in kept
    assert not {'coriolis', 'inertia', 'friction', 'external'} & {*kept}
