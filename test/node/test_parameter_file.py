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
"""Files of parameters: the one that is shipped, and one that ``ros2 param dump`` has written."""

from collections.abc import Callable
from enum import Enum
import os
import re

import pytest
from rclpy.node import Node
from repository import ROOT, script
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError
from ros2_rnea.node.parameters import (
    BY_NAME,
    declare,
    declare_for_joints,
    descriptor_of,
    OF_JOINTS,
    read,
    SPECIFICATIONS,
    values_of,
    with_changes,
)
import yaml

FILE = ROOT / 'config' / 'inverse_dynamics.yaml'


@pytest.fixture(scope='module')
def values():
    """Return the parameters in the file."""
    return yaml.safe_load(FILE.read_text())['/**']['ros__parameters']


def test_the_file_has_every_parameter_and_no_other(values):
    assert values.keys() == BY_NAME.keys()


def test_the_file_has_the_defaults(values):
    assert read(values).own == {name: spec.default for name, spec in BY_NAME.items()}
    assert read(values).settings == Settings()


def test_file_and_table_are_what_the_declarations_make():
    maker = script('docs/make_parameters.py')
    assert FILE.read_text(encoding='utf-8') == maker.parameter_file()
    assert maker.TABLE.read_text(encoding='utf-8') == maker.table()
    table_of_controller = maker.TABLE_OF_CONTROLLER.read_text(encoding='utf-8')
    assert table_of_controller == maker.table_of_controller()


# ---- descriptors --------------------------------------------------------------------------------


def test_a_descriptor_has_range_type_and_read_only_flag():
    shown = descriptor_of(BY_NAME['wrench_gain'])
    assert (shown.name, shown.read_only) == ('wrench_gain', False)
    assert shown.description.startswith('Share of a measured wrench')
    assert shown.additional_constraints == 'a number from 0 to 1'
    (span,) = shown.floating_point_range
    assert (span.from_value, span.to_value) == (0.0, 1.0)
    assert not shown.integer_range
    shown = descriptor_of(BY_NAME['state_depth'])
    (span,) = shown.integer_range
    assert (span.from_value, span.to_value, span.step) == (1, 1000, 1)
    assert not shown.floating_point_range
    shown = descriptor_of(BY_NAME['executor'])
    assert shown.read_only
    assert not shown.floating_point_range and not shown.integer_range
    for name in ('rate', 'effort_rate_limit'):  # 0 has a meaning of its own
        assert descriptor_of(BY_NAME[name]).floating_point_range[0].from_value == 0.0
    # So that a whole number does for a float:
    assert all(descriptor_of(each).dynamic_typing for each in SPECIFICATIONS)


def test_a_priority_is_one_that_linux_has():
    assert BY_NAME['thread_priority'].maximum == os.sched_get_priority_max(os.SCHED_FIFO)


# ---- what ros2 param dump has written -----------------------------------------------------------

JOINTS = {'shoulder': 1, 'elbow': 1}


@pytest.fixture
def declared(tmp_path) -> Callable[[dict], tuple[dict, dict]]:
    """
    Return a function that starts a node with a file, as ``ros2 param dump`` writes it.

    It returns the values of all parameters, and which are refused.
    """
    nodes = []

    def declare_from(values: dict) -> tuple[dict, dict]:
        nested: dict = {}
        for name, value in values.items():
            *families, last = name.split('.')
            inner = nested
            for family in families:
                inner = inner.setdefault(family, {})
            inner[last] = value
        file = tmp_path / 'dumped.yaml'
        file.write_text(yaml.dump({'/inverse_dynamics': {'ros__parameters': nested}}))
        nodes.append(Node('inverse_dynamics', cli_args=['--ros-args', '--params-file', str(file)]))
        refused = declare(nodes[-1])
        for _ in declare_for_joints(nodes[-1], JOINTS):
            pass
        return plain(values_of(nodes[-1])), refused

    yield declare_from
    for node in nodes:
        node.destroy_node()


def plain(values: dict) -> dict:
    return {name: list(value) if hasattr(value, '__len__') and not isinstance(value, str)
            else value for name, value in values.items()}


def another(name: str):
    """Return a value of a parameter that is not its default."""
    specification = BY_NAME[name]
    default = specification.default
    if isinstance(default, Enum):
        return next(choice.value for choice in type(default) if choice is not default)
    if specification.choices:
        return next(choice for choice in specification.choices if choice != default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, tuple):
        is_text = specification.size is None and specification.items is str
        return ['one', '2'] if is_text else [1.0, 2.5, 3.0][:specification.size]
    if isinstance(default, str):
        return 'null'  # a text that YAML has to quote
    lowest, highest = specification.minimum, min(specification.maximum, 1e6)
    return type(default)(lowest + (highest - lowest) / 4)


@pytest.mark.parametrize('name', BY_NAME)
def test_one_value_that_changes_is_read_as_all_values_are(name):
    values = {'damping.elbow': 0.5, 'effort_limits.elbow': 40.0, 'lookahead': 0.3}
    known, changed = read(values), {name: another(name), 'not_of_this_node': 3}
    try:
        expected = read({**values, **changed})
    except ArgumentError as error:  # as of a contact_reaction without a threshold
        with pytest.raises(ArgumentError, match=re.escape(str(error))):
            with_changes(known, changed)
        return
    assert with_changes(known, changed) == expected != known
    assert with_changes(expected, {name: values.get(name)}) == known


def test_a_value_of_a_joint_needs_all_values():
    assert with_changes(read({}), {'damping.elbow': 0.5, 'lookahead': 0.3}) is None


@pytest.mark.ros
def test_a_saved_configuration_that_nobody_changed_comes_back(declared):
    saved, refused = declared({})
    assert not refused and saved['joints'] == [] and 'damping.elbow' not in saved
    assert declared(saved) == (saved, {})


@pytest.mark.ros
def test_a_saved_value_of_every_parameter_comes_back(declared):
    saved = {**{name: another(name) for name in BY_NAME},
             **{f'{family}.{joint}': 0.5 for family in OF_JOINTS for joint in JOINTS}}
    assert all(BY_NAME[name].check(saved[name]) != BY_NAME[name].default for name in BY_NAME)
    assert declared(saved) == (saved, {})


@pytest.mark.ros
@pytest.mark.parametrize('family', OF_JOINTS)
def test_a_value_for_no_joint_is_no_parameter(declared, family):
    values, refused = declared({family: [87.0, 87.0]})
    assert family not in values and not refused
    assert read(values) == read(values | {family: [87.0, 87.0]})


@pytest.mark.ros
def test_a_parameter_without_a_value_is_refused_by_name(declared):
    values, refused = declared({'gravity': [], 'payload_links': []})
    assert values['gravity'] == [0.0, 0.0, -9.81]
    assert {name: str(error) for name, error in refused.items()} == {
        'gravity': 'gravity has no value; it needs 3 finite numbers. Remove the line for the '
                   'default'}
