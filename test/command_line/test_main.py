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
"""The command ros2_rnea: one name for all programs."""

import re
import subprocess
import sys

import pytest
from repository import ROOT
from ros2_rnea.command_line import main as program
from ros2_rnea.command_line.main import by_its_name, COMMANDS, main
from small_robots import ARM


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM, encoding='utf-8')
    return str(path)


def test_it_lists_every_command_that_is_installed(capsys):
    assert main(['--help']) == 0
    listed = set(re.findall(r'^  ([a-z_]+) ', capsys.readouterr().out, re.MULTILINE))
    setup = (ROOT / 'setup.py').read_text(encoding='utf-8')
    [installed] = re.findall(r'\nCOMMANDS = \[([^]]*)\]', setup)
    assert listed == set(COMMANDS) == set(re.findall("'([a-z_]+)'", installed))


@pytest.mark.parametrize('name', COMMANDS)
def test_each_command_is_one(name, capsys):
    pytest.importorskip('rich')
    if name == 'demo':
        pytest.importorskip('rclpy')
    with pytest.raises(SystemExit) as ending:
        main([name, '--help'])
    assert ending.value.code == 0
    assert capsys.readouterr().out.startswith(f'usage: ros2_rnea {name} ')


@pytest.mark.parametrize('installed, said', [
    ('1.2.3', 'ros2_rnea 1.2.3\n'), (None, 'ros2_rnea of unknown version: it is not installed\n')])
def test_it_tells_its_version(installed, said, monkeypatch, capsys):
    def version(name):
        assert name == 'ros2_rnea'
        if installed is None:
            raise program.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(program, 'version', version)
    assert main(['--version']) == 0
    assert capsys.readouterr().out == said


def test_an_interruption_while_a_command_is_imported_is_one_line(monkeypatch, capsys):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(program, 'import_module', interrupt)
    assert main(['report']) == 130
    assert capsys.readouterr().err == '\nreport: interrupted\n'


@pytest.mark.parametrize('name', ['check_model', 'check-model'])
def test_it_runs_a_command_with_its_arguments(name, arm, capsys):
    assert main([name, arm]) == 0
    assert 'shoulder' in capsys.readouterr().out


@pytest.mark.parametrize('words, said', [
    ([], 'usage: ros2_rnea COMMAND'),
    (['reprot'], "there is no command 'reprot': did you mean 'report'?"),
    (['walk'], "there is no command 'walk': ros2_rnea --help lists all")])
def test_what_is_no_command_is_said_in_one_line(words, said, capsys):
    assert main(words) == 2
    out, error = capsys.readouterr()
    assert out == '' and said in error


@pytest.mark.parametrize('missing, remedy', [
    ('rich', "pip install '.[identify]'"), ('rosbags', "pip install '.[bag]'"),
    ('rclpy', 'source an installation of ROS 2'), ('std_msgs.msg', './run')])
def test_a_package_that_is_missing_is_named_with_the_remedy(missing, remedy, monkeypatch, capsys):
    def fail(_):
        raise ModuleNotFoundError(f'No module named {missing!r}', name=missing)

    monkeypatch.setattr(program, 'import_module', fail)
    assert main(['report']) == 2
    error = capsys.readouterr().err
    assert f'report: the Python package {missing.partition(".")[0]} is not installed' in error
    assert remedy in error and error.count('\n') == 1


def test_a_mistake_of_ours_is_no_missing_package(monkeypatch):
    def fail(_):
        raise ModuleNotFoundError('No module named ros2_rnea.reprt', name='ros2_rnea.reprt')

    monkeypatch.setattr(program, 'import_module', fail)
    with pytest.raises(ModuleNotFoundError):
        main(['report'])


@pytest.mark.parametrize('folder, warns', [('bin', True), ('ros2_rnea', False)])
def test_a_general_name_in_the_path_is_warned_about(folder, warns, arm, monkeypatch, capsys):
    monkeypatch.setattr(sys, 'argv', [f'/opt/{folder}/check_model', arm])
    assert by_its_name() == 0
    out, error = capsys.readouterr()
    assert 'shoulder' in out
    assert ("'ros2_rnea check_model'" in error) is warns


def test_without_rich_it_is_one_sentence(arm):
    """As after pip install '.[fast]'."""
    program = ("import sys; sys.modules['rich'] = None\n"
               'from ros2_rnea.command_line.main import main; sys.exit(main())')
    done = subprocess.run(
        [sys.executable, '-c', program, 'export', arm],
        capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith('export: the Python package rich is not installed: pip install')
