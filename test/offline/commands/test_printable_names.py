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
"""Names from outside in whatever is printed or written: nothing in them acts as a command."""

from dataclasses import replace
from io import StringIO
import shlex

from identified_robot import identified
import numpy as np
import pytest
from recorded_robots import recorded, swings
from ros2_rnea import Robot
from ros2_rnea.errors import printable, printable_lines, shortened
from ros2_rnea.offline.commands.check_model.__main__ import main as check_model
from ros2_rnea.offline.commands.fill_efforts import yaml_file
from ros2_rnea.offline.filling.effort_filler import FilledPoint
from ros2_rnea.offline.identification.node_parameters import node_parameters
from ros2_rnea.offline.identification.results import JointFriction
from ros2_rnea.trajectories.trajectory import Waypoint
from small_robots import ARM
import yaml

ACTING = '\n\r\x1b\x07\x7f\x85\x9b\u2028\u2029\u202e'
"""Line breaks of YAML and of terminals, escape characters, and one that turns the text around."""

HOSTILE = [f'j{each}gravity: [0.0, 0.0, 0.0]' for each in ACTING]
ESCAPED = r'\n\r\x1b\x07\x7f\x85\x9b\u2028\u2029\u202e'
RED = '\x1b[31m'


def test_what_acts_is_escaped_and_the_rest_stays():
    assert printable(f'größe {ACTING} 机') == f'größe {ESCAPED} 机'
    assert printable('\ud800') == r'\ud800'
    assert printable_lines('first\n[ERROR] second\x1b') == 'first\n  [ERROR] second\\x1b'
    assert shortened(RED * 5000).isprintable()


@pytest.mark.parametrize('name', HOSTILE, ids=ascii)
def test_a_joint_sets_no_parameter_by_its_name(name):
    """It stands in comments, since there is nothing that it could be written for."""
    found = identified(
        joints=(name, 'elbow'), friction={name: JointFriction()}, gains={name: 2.0}, gravity=None)
    gains = [replace(each, owner=name) for each in found.parameters if each.quantity == 'gain']
    others = [each for each in found.parameters if each.quantity != 'gain']
    text = node_parameters(replace(found, parameters=(*others, *gains)))
    assert printable(name.replace('\n', ' ')).split('j')[1][:3] in text.replace('\\n', ' ')
    assert 'gravity' not in yaml.safe_load(text)['/**']['ros__parameters']
    for line in text.splitlines():  # at each line break that Python knows
        assert line.isprintable()


@pytest.mark.parametrize('name', [*HOSTILE, "it's", 'no', '"; rm -r x', '机'], ids=ascii)
def test_the_request_with_a_payload_is_one_word_of_a_shell_with_the_name(name):
    found = identified()
    found = replace(found, payload=(name, found.payload[1]))
    line, = (line for line in node_parameters(found).splitlines() if 'name: identified' in line)
    word, = shlex.split(line.removeprefix('#'))
    assert yaml.safe_load(word)['link'] == name


def test_a_trajectory_has_the_names_that_were_given():
    names = [*HOSTILE, 'größe', '机', '\U0001f600']
    point = FilledPoint(Waypoint(0.0, tuple(0.0 for _ in names)), np.empty(0))
    text = yaml_file.formatted(names, [point])
    assert yaml.safe_load(text)['joint_names'] == names
    assert yaml_file.parse(text, 'name').plan.joint_names == names
    for line in text.split('\n'):
        assert line.isprintable()


@pytest.mark.parametrize('options', [[], ['--json', '-']])
def test_a_report_of_a_model_is_printable(tmp_path, capsys, options):
    file = tmp_path / 'arm.urdf'
    hostile = 'lower&#10;&#x85;&#x9b;31m&#x2028;'
    file.write_text(ARM.replace('"lower"', f'"{hostile}"'), encoding='utf-8')
    check_model([str(file), *options])
    out = capsys.readouterr().out
    assert '\\x9b31m' in out or '\\u009b31m' in out
    assert all(line.isprintable() for line in out.split('\n'))


def test_an_error_of_a_command_is_printable(tmp_path, capsys):
    check_model([str(tmp_path / f'no{RED}\u2028file')])
    error = capsys.readouterr().err
    assert r'no\x1b[31m\u2028file' in error
    assert error.strip().isprintable()


def test_a_table_shows_names_and_obeys_them_not():
    terminal = pytest.importorskip('ros2_rnea.command_line.terminal')
    table = terminal.figure_table('joint', 'figure')
    for name in HOSTILE:
        table.add_row(name, '1')
    console = terminal.PrintableConsole(file=StringIO(), width=100)
    console.print(table)
    console.print(f'[bold]{RED}\u2028[/]')
    terminal.say_written(console, [f'{RED}.yaml'])
    lines = console.file.getvalue().split('\n')
    assert all(line.isprintable() for line in lines)
    assert any('\\x1b' in line for line in lines)


def test_a_console_keeps_its_own_colours():
    terminal = pytest.importorskip('ros2_rnea.command_line.terminal')
    console = terminal.PrintableConsole(file=StringIO(), force_terminal=True, width=100)
    console.print('[red]x[/]')
    assert RED in console.file.getvalue()


def test_a_page_shows_names_and_obeys_them_not():
    page = pytest.importorskip('ros2_rnea.offline.commands.report.page').page
    report = pytest.importorskip('ros2_rnea.offline.commands.report.report').Report
    robot, rng = Robot.from_urdf(ARM), np.random.default_rng(3)
    recording = recorded(robot, swings(robot, rng, duration=5.0), rng, name='a\x1b\u2028\x9bb')
    text = page([report.of('model', [recording], robot)])
    assert r'a\x1b\u2028\x9bb' in text
    assert all(line.isprintable() for line in text.replace('\t', ' ').split('\n'))
