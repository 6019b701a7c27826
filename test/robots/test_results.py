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
"""What type checkers see of named tuples is what the registry of terms makes."""

import ast
import inspect

import pytest
from ros2_rnea.control import decision
from ros2_rnea.model.description import JointType
from ros2_rnea.robots import results


@pytest.mark.parametrize('module, cls', [
    (results, results.EffortTerms), (decision, decision.SentTerms)])
def test_type_checkers_see_the_fields(module, cls):
    base, = cls.__bases__
    seen, = (
        node for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.ClassDef) and [*map(ast.unparse, node.bases)] == ['NamedTuple']
        and node.name.endswith('Terms' if cls is decision.SentTerms else 'TermsAndTotal'))
    assert tuple(field.target.id for field in seen.body) == cls._fields == base._fields


def test_joint_type_is_shown_by_its_name():
    assert repr(JointType.FIXED) == 'JointType.FIXED'
