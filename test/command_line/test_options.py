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
"""An option that several commands have is said in one way in all of them."""

from argparse import ArgumentTypeError, SUPPRESS
from importlib import import_module
from math import nan
from pathlib import Path

import pytest
from ros2_rnea.command_line.output_files import json_path, OutputError, write_json
from ros2_rnea.offline.commands.robot_options import assumed, names

COMMANDS = ('check_model', 'compile', 'excite', 'export', 'fill_efforts', 'identify', 'report')
FORMS = {  # but for what stands in front, as RECORDING= of a payload
    '--assume': 'JOINT=POSITION,...', '--gravity': ('X', 'Y', 'Z'), '--joints': 'JOINT,...',
    '--json': 'FILE', '--massless': 'LINK', '--node': 'NAME', '--parameters': 'FILE',
    '--payload': 'LINK:KG[:X,Y,Z[:IXX,IXY,IXZ,IYY,IYZ,IZZ]]'}


def options_of(command):
    """Return the options that the help of a command shows, by name."""
    module = pytest.importorskip(f'ros2_rnea.offline.commands.{command}.__main__')
    return {name: action for action in module._parser()._actions
            for name in action.option_strings if action.help != SUPPRESS}


@pytest.mark.parametrize('command', COMMANDS)
def test_options_of_the_same_name_have_the_same_form(command):
    for name, action in options_of(command).items():
        if name in FORMS:
            shown = action.metavar
            assert (shown.removeprefix('[RECORDING=]') if isinstance(shown, str) else shown) == (
                FORMS[name]), name
        if name == '--json':
            assert action.type is json_path
        if name == '--out':
            assert action.metavar in ('FILE', 'FOLDER')
        # Where a list ends with a blank, it takes the words that follow.
        assert action.nargs != '+', name
    assert not {'--output', '--start', '--params-file', '--payload-at'} & {*options_of(command)}


def test_each_form_is_that_of_several_commands():
    used = [name for command in COMMANDS for name in options_of(command)]
    assert all(used.count(name) > 1 for name in (*FORMS, '--out'))


def test_a_joint_may_have_several_positions():
    assert assumed('base=1,2,-0.5, elbow=0.1') == {'base': (1.0, 2.0, -0.5), 'elbow': (0.1,)}
    for text in ('', 'elbow', '1,elbow=2', 'elbow=', 'elbow=a', 'elbow=1,,2', f'elbow={nan}'):
        with pytest.raises(ArgumentTypeError, match='JOINT=POSITION'):
            assumed(text)


@pytest.mark.parametrize('command', ['excite', 'fill_efforts', 'identify', 'report'])
def test_positions_are_added_up_and_none_is_given_twice(command, capsys):
    module = pytest.importorskip(f'ros2_rnea.offline.commands.{command}.__main__')
    needed = ['--urdf', 'a.urdf', *([] if command == 'excite' else ['swing.csv'])]

    def parse(*options):
        return module._parser().parse_intermixed_args([*needed, *options]).assume

    assert [*parse('--assume', 'a=1', '--assume', 'b=2,c=3')] == ['a', 'b', 'c']
    assert not parse()
    for options in (['a=1,a=2'], ['a=1', '--assume', 'a=2']):
        with pytest.raises(SystemExit):
            parse('--assume', *options)
        assert 'twice' in capsys.readouterr().err


def test_names_stand_between_commas():
    assert names('shoulder, elbow') == ('shoulder', 'elbow')
    for text in ('', 'shoulder,,elbow', ','):
        with pytest.raises(ArgumentTypeError, match='as in shoulder,elbow'):
            names(text)


def test_json_does_not_overwrite_what_is_to_be_read(tmp_path, capsys):
    for text in ('robot.urdf', 'robot', 'robot.xacro'):
        with pytest.raises(ArgumentTypeError, match='needs to end in .json'):
            json_path(text)
    write_json({'a': [1]}, json_path(str(tmp_path / 'a.json')))
    assert (tmp_path / 'a.json').read_text() == '{\n  "a": [\n    1\n  ]\n}\n'
    write_json([1], json_path('-'))
    assert capsys.readouterr().out == '[\n  1\n]\n'
    with pytest.raises(OutputError, match='absent'):
        write_json([], Path(tmp_path / 'absent' / 'a.json'))


def test_every_command_is_looked_at():
    commands = import_module('ros2_rnea.command_line.main')
    assert {*COMMANDS} == {*commands.COMMANDS} - {*commands.PACKAGES}
