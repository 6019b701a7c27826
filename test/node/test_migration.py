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
"""Parameters of earlier versions: what the node does where it finds one in a file."""

from types import SimpleNamespace

import pytest
from ros2_rnea.node import parameters
from ros2_rnea.node.migration import FORMER, former_value, Migration, table
from ros2_rnea.node.parameters import BY_NAME
from small_robots import ARM

JOINTS = ['shoulder', 'elbow']
STATE = JOINTS, [0.3, -0.8]


def migration(**values):
    return Migration({name: SimpleNamespace(value=value) for name, value in values.items()})


@pytest.mark.parametrize('values, texts', [
    ({'on_stop': 'none'}, ['no on_stop: none any more', 'write   on_stop: gravity']),
    ({'on_shutdown': 'zero'}, ['no on_shutdown any more', 'write   on_stop: gravity']),
    ({'on_stale_state': 'decay', 'on_shutdown': 'zero'}, ['on_stale_state', 'on_shutdown']),
    ({'on_stop': 'none', 'on_shutdown': 'zero'}, ['no on_stop: none any more']),
])
def test_changes_that_reduce_safety_keep_the_node_from_sending(values, texts):
    found = migration(**values)
    assert all(text in found.error for text in texts)
    assert found.error.endswith('until they are corrected and the node is started again')


@pytest.mark.parametrize('values, texts', [
    ({'on_shutdown': 'zero', 'on_stop': 'zero'}, ['no on_shutdown any more']),
    ({'friction_assistance': 0.85}, ['no friction_assistance: above 0.7, up to 0.9 any more',
                                     'write   friction_assistance: 0.7']),
])
def test_changes_that_do_not_reduce_safety_are_a_warning(values, texts):
    found = migration(**values)
    assert found.error == '' and len(found.warnings) == 1
    assert all(text in found.warnings[0] for text in texts)


@pytest.mark.parametrize('values', [
    {}, {'on_stop': 'zero'}, {'on_stop': 'nothing'}, {'friction_assistance': 0.7},
    {'friction_assistance': 2.0}, {'friction_assistance': 'much'}, {'friction_assistance': True}])
def test_there_is_nothing_to_say_about_others(values):
    found = migration(**values)
    assert (found.error, found.warnings) == ('', [])
    assert all(former_value(name, value) is None for name, value in values.items())


def test_the_table_names_what_is_gone_and_what_replaces_it():
    rows = table()
    assert len(rows) == len(FORMER)
    for former, (gone, instead, consequence) in zip(FORMER, rows):
        assert gone.startswith(former.name) and former.replaced_by in instead
        assert former.replaced_by in BY_NAME
        assert (former.name in BY_NAME) is bool(former.values)
        assert consequence == (
            'the node sends nothing' if former.matters else 'the node warns')


@pytest.mark.ros
@pytest.mark.parametrize('name, value', [('on_stop', 'none'), ('on_shutdown', 'zero')])
def test_a_node_with_such_a_file_runs_and_sends_nothing(bench, name, value):
    arm = bench(joints=JOINTS, state_timeout=9.0, **{name: value})
    arm.describe(ARM)
    assert not arm.sends(*STATE)
    assert f'there is no {name}' in arm.told('former parameters')
    arm.until(lambda: arm.diagnostics and 'on_stop: gravity' in arm.diagnostics[-1].message)
    assert arm.diagnostics[-1].level == b'\x02'
    assert arm.set_parameter('on_stop', 'zero').successful  # the file has to be corrected
    assert not arm.sends(*STATE)
    assert not arm.set_parameter('on_stop', 'none').successful


@pytest.mark.ros
def test_too_much_assistance_is_reduced_with_a_warning(bench, capfd):
    arm = bench(joints=JOINTS, state_timeout=9.0, friction_assistance=0.9,
                mode='gravity_compensation')
    arm.describe(ARM)
    assert arm.sends(*STATE)
    assert arm.node.policy.settings.friction_assistance == 0.7
    assert parameters.values_of(arm.node)['friction_assistance'] == 0.7
    assert 'there is no friction_assistance: above 0.7' in capfd.readouterr().err
