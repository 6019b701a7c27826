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
"""What is said of a parameter file that rcl refuses, or that is not for this node."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

from patience import PATIENCE
import pytest

rclpy = pytest.importorskip('rclpy')
from ros2_rnea.node.parameter_file import (  # noqa: E402
    files_in,
    files_of_others,
    FORM,
    start_error,
)

HEAD = 'inverse_dynamics:\n  ros__parameters:\n'


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path."""
    def written(content: str | bytes) -> Path:
        path = tmp_path / 'my arm.yaml'
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def refused(*arguments: object) -> str:
    """Return what is said of arguments with which no context of ROS can be made."""
    context = rclpy.Context()
    with pytest.raises(RuntimeError) as error:
        context.init(['node', '--ros-args', *map(str, arguments)])
    return start_error(error.value)


@pytest.mark.ros
@pytest.mark.parametrize('content, line, words', [
    (f'{HEAD}    joints: [a, b\n    mode: x\n', 4, 'close all quotes and brackets'),
    (f'{HEAD}\tjoints: [a]\n', 3, "character '\\t' that cannot start any token"),
    (f'{HEAD}    joints: ["a]\n', 4, 'it is not YAML'),
    (f'{HEAD}    gravity: [0.0, 0, -9.81]\n', 3, 'write all as [1.0, 2.5]'),
    (f'{HEAD}    gravity: [[0.0], [0.0]]\n', 3, 'write a list of numbers or of texts'),
    (f'{HEAD}    rate:\n', 3, 'write one, or remove the line for the default'),
    (f'{HEAD}    joints: &all [a]\n    controlled: *all\n', 4, 'write the value out'),
    ('inverse_dynamics:\n  joints: [a]\n', 2, FORM),
    ('inverse_dynamics:\n  rate: 5.0\n', 2, FORM),
    ('rate: 5.0\n', 1, FORM),
    (b'\xf7\x00\xff', None, 'it is not YAML'),
])
def test_a_file_that_rcl_refuses_is_named_with_the_line_and_what_to_write(
        write, content, line, words):
    path = write(content)
    said = refused('--params-file', path)
    assert said.startswith(f'{path}, line {line}: ' if line else f'{path}')
    assert words in said
    assert '.c:' not in said and len(said.splitlines()) == 1


@pytest.mark.ros
def test_a_file_that_is_not_there_is_named():
    assert refused('--params-file', '/no/where.yaml').startswith(
        '/no/where.yaml: it cannot be opened: name a file that is there')


@pytest.mark.ros
@pytest.mark.parametrize('arguments, words', [
    (['-r', 'foo'], '-r foo'), (['--foo'], '--foo'), (['-p', 'joints:=[a'], 'joints:=[a')])
def test_other_arguments_are_named(arguments, words):
    said = refused(*arguments)
    assert said.startswith('the arguments of ROS are refused: ') and words in said
    assert '.c:' not in said


@pytest.mark.ros
@pytest.mark.parametrize('module', ['inverse_dynamics_node', 'managed_node'])
def test_the_node_says_so_in_one_line_and_ends(write, module):
    path = write(f'{HEAD}    rate:\n')
    done = subprocess.run(
        [sys.executable, '-m', f'ros2_rnea.node.{module}', '--ros-args', '--params-file',
         str(path)], capture_output=True, text=True, check=False, timeout=PATIENCE,
        env={**os.environ, 'RCUTILS_LOGGING_SEVERITY': 'FATAL'})
    assert done.returncode == 1
    assert f'inverse_dynamics: {path}, line 3: there is no value' in done.stderr
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize('content, node, known', [
    ('inverse_dynamics: {ros__parameters: {}}', '/inverse_dynamics', True),
    ('/inverse_dynamics: {ros__parameters: {}}', '/inverse_dynamics', True),
    ('/**: {ros__parameters: {}}', '/left/inverse_dynamics', True),
    ('left: {inverse_dynamics: {ros__parameters: {}}}', '/left/inverse_dynamics', True),
    ('inverse_dynamics: {ros__parameters: {}}', '/left/inverse_dynamics', False),
    ('inverse_dynamic: {ros__parameters: {}}', '/inverse_dynamics', False),
    ('a: {ros__parameters: {}}\ninverse_dynamics: {ros__parameters: {}}', '/inverse_dynamics',
     True),
    ('', '/inverse_dynamics', False),
    ('[]', '/inverse_dynamics', False),
])
def test_a_file_for_other_nodes_is_warned_about(write, content, node, known):
    path = write(content)
    warnings = list(files_of_others(node, [str(path)]))
    assert len(warnings) == (not known)
    for warning in warnings:
        assert warning.startswith(f'{path} has no parameters of this node, {node}')
        assert warning.endswith(FORM)


def test_the_name_that_was_meant_is_proposed(write):
    path = write('inverse_dynamic: {ros__parameters: {}}\nplanner: {ros__parameters: {}}')
    [warning] = files_of_others('/inverse_dynamics', [str(path)])
    assert "; did you mean '/inverse_dynamic'?" in warning
    assert '(it has those of /inverse_dynamic, /planner)' in warning


def test_of_a_file_that_cannot_be_read_again_nothing_is_said(tmp_path):
    """As of a pipe, which rcl has read to its end."""
    assert not list(files_of_others('/inverse_dynamics', [str(tmp_path)]))


def test_files_are_found_on_the_command_line():
    assert files_in(['--ros-args', '--params-file', 'a', '-p', 'b:=1', '--params-file', 'c']) == [
        'a', 'c']
    assert files_in(['--ros-args', '--params-file']) == []


@pytest.mark.ros
def test_the_node_warns_at_its_start(write):
    path = write('inverse_dynamic: {ros__parameters: {rate: 5.0}}')
    node = subprocess.Popen(
        [sys.executable, '-m', 'ros2_rnea.node.inverse_dynamics_node', '--ros-args',
         '--params-file', str(path)], stderr=subprocess.PIPE, text=True)
    try:
        for line in node.stderr:
            if 'has no parameters of this node, /inverse_dynamics' in line:
                assert line.startswith('[WARN]')
                break
        else:
            pytest.fail('no warning came')
    finally:
        node.terminate()
        node.communicate(timeout=PATIENCE)
