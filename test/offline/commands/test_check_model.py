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
"""The tool that checks a model: what it prints, in both forms, and its exit codes."""

from dataclasses import replace
import json
import os
from pathlib import Path
import subprocess
import sys

from example_robots import example_urdf
from patience import PATIENCE
import pytest
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.audit import examine, Finding, Kind
from ros2_rnea.offline.commands.check_model.__main__ import main
from ros2_rnea.offline.commands.check_model.figures import Figures
from ros2_rnea.offline.commands.check_model.report import findings_report, report, verdict
from ros2_rnea.offline.commands.check_model.table import clipped, table
from ros2_rnea.offline.commands.number_text import number
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot, ROVER

IMPOSSIBLE = ARM.replace('izz="0.02"', 'izz="0.2"')
UNDESCRIBED = robot('<link name="base"/>', '<link name="ghost"/>', link('arm'),
                    joint('first', 'base', 'ghost'), joint('second', 'ghost', 'arm'))


def figures_of(text):
    return Figures(examine(parse_urdf(text), text, samples=60))


@pytest.fixture
def check(tmp_path, capsys):
    """Return a function that checks a text and returns exit code, output and error output."""
    def run(text, *options, name='robot.urdf'):
        path = tmp_path / name
        path.write_text(text, encoding='utf-8')
        code = main([str(path), *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err
    return run


# ---- exit codes -------------------------------------------------------------------------------


@pytest.mark.parametrize('text, code', [
    (ARM, 0), (ROVER, 0), (ARM.replace('effort="40.0"', 'effort="0"'), 1), (IMPOSSIBLE, 1),
    (UNDESCRIBED, 1), ('<robot/>', 2), ('', 2), (ARM.replace('"lower"', '"upper"', 1), 2),
    (ARM.replace('lower="-3"', 'lower="4"'), 1)])
def test_the_exit_code_tells_the_worst(check, text, code):
    assert check(text)[0] == code


def test_json_goes_into_a_file_beside_the_report(check, tmp_path):
    plain = check(ARM)[1]
    assert check(ARM, '--json', str(tmp_path / 'arm.json'))[1] == plain
    assert json.loads((tmp_path / 'arm.json').read_text(encoding='utf-8'))['robot'] == 'arm'


def test_a_link_may_be_declared_massless(check):
    assert check(UNDESCRIBED, '--massless', 'ghost')[0] == 0


@pytest.mark.parametrize('text, options, said', [
    (UNDESCRIBED, ('--massless', 'gost'), "did you mean 'ghost'"),
    (ARM, ('name:=x',), 'is not a .xacro file')], ids=['massless link', 'no xacro'])
def test_an_error_is_shown_as_one_line(check, text, options, said):
    code, out, error = check(text, *options)
    assert (code, out) == (2, '')
    assert error.startswith('check_model: ') and said in error
    assert error.count('\n') == 1


BROKEN = IMPOSSIBLE.replace('parent link="base"', 'parent link="bse"').replace(
    '<dynamics damping="0.5"/>', '<dynamics damping="-1" dampng="1"/>')


def test_all_findings_are_printed_of_what_is_no_robot(check):
    code, out, error = check(BROKEN)
    assert (code, error) == (2, '')
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0] == 'not the description of one robot'
    for line in ["joint 'shoulder' has the damping -1.0; it must be zero or more",
                 "joint 'shoulder' names the parent link 'bse', which does not exist; did you "
                 "mean 'base'?", 'IMPOSSIBLE (2): no rigid body has such values',
                 "links 'upper', 'lower'", "joint 'shoulder' <dynamics>"]:
        assert line in lines
    assert lines[-1] == '2 errors, 2 impossible, 0 suspicious, 1 notes'


def test_json_of_what_is_no_robot_has_all_findings(check):
    code, out, error = check(BROKEN, '--json', '-')
    assert (code, error) == (2, '')
    data = json.loads(out)
    assert data['robot'] is None
    assert [(finding['severity'], finding['kind']) for finding in data['findings']] == [
        *2 * [('error', 'undefined')], *2 * [('impossible', 'inertia_triangle')],
        ('note', 'unread')]


@pytest.mark.parametrize('text, said', [
    ('<robot', 'the robot description is not XML'), ('<sdf/>', 'the root element is <sdf>'),
    (f'{ARM[:-8]}<xacro:arm/></robot>', 'xacro was not expanded')])
def test_what_is_no_urdf_has_one_finding(check, text, said):
    code, out, error = check(text)
    assert (code, error) == (2, '')
    assert said in out and '1 errors, 0 impossible, 0 suspicious, 0 notes' in out


@pytest.mark.parametrize('name', ['nowhere.urdf', 'nowhere.urdf.xacro'])
def test_a_missing_file_is_shown_as_one_line(name, capsys):
    assert main([name]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f'check_model: {name} cannot be read')
    assert error.count('\n') == 1


# ---- the report -------------------------------------------------------------------------------


def test_the_report_shows_tree_joints_mass_loads_and_findings(check):
    _, out, _ = check(ARM)
    for line in [
            'arm: 4 links, 2 independent joints, 0 mimic, 1 fixed',
            'base                no inertial',
            '  upper    revolute         1 kg',
            '      tool  fixed     no inertial',
            'shoulder  0 1 0     -3      3         2     100      0.5',
            '2 kg, of which joints can move 2 kg',
            'centre of mass at x 0.1000, y 0.0000, z 0.2500 m in the frame of the root link']:
        assert ' '.join(line.split()) in ' '.join(out.split())
    assert out.splitlines()[-1] == '0 errors, 0 impossible, 0 suspicious, 0 notes'


def test_the_gravity_table_shows_the_share_of_the_limit():
    text = robot('<link name="base"/>', link('arm', com='0.5 0 0'),
                 joint('hinge', 'base', 'arm', effort=9.81))
    [line] = [line for line in report(figures_of(text)).splitlines() if ' %' in line]
    name, least, most, limit, share, _ = line.split()
    assert (name, limit, share) == ('hinge', '9.81', '50')
    assert float(least) == pytest.approx(-4.905, abs=0.01)
    assert float(most) == pytest.approx(4.86, abs=0.01)


def test_what_follows_another_joint_is_said():
    assert 'thumb_joint = -1 * grip + 0.1' in report(figures_of(ARM_WITH_GRIPPER))


def test_the_centre_of_mass_is_looked_at_within_the_limits():
    text = ARM.replace('lower="-3"', 'lower="1"', 1)
    assert figures_of(text).zero_position.tolist() == [1.0, 0.0]


def test_the_center_of_mass_is_that_of_the_robot_itself():
    figures = figures_of(ROVER)
    moving = figures.examination.robot.center_of_mass(figures.zero_position)
    whole = [(2.0 * moving[i] + 1.0 * root) / 3.0 for i, root in enumerate((0.1, 0.0, -0.2))]
    assert figures.center_of_mass == pytest.approx(whole)


def test_a_robot_without_mass_or_joints_is_reported():
    text = '<robot name="r"><link name="a"/></robot>'
    assert 'r: 1 link, 0 independent joints' in report(figures_of(text))


@pytest.mark.parametrize('path', [
    'tiago_description/robots/tiago_dual.urdf', 'talos_data/robots/talos_full_v2.urdf',
    'romeo_description/urdf/romeo_laas_small.urdf', 'iris_description/robots/iris.urdf',
    'human_description/robots/human.urdf', 'allegro_hand_description/urdf/allegro_left_hand.urdf'])
def test_the_report_fits_100_columns(path):
    assert max(map(len, report(figures_of(example_urdf(path))).splitlines())) <= 100


def test_the_same_said_of_several_parts_is_said_once():
    findings = [Finding(Kind.TOO_LIGHT, f"link '{name}'", 'too light') for name in 'abc']
    findings = [replace(finding, effect='none in gravity') for finding in findings]
    findings.append(Finding(Kind.NO_GRAVITY, "joint 'j'", 'never', effect='none'))
    assert findings_report(findings) == [
        'SUSPICIOUS (3): the dynamics is defined, but the value is probably a mistake',
        "  links 'a', 'b', 'c'",
        '      too light',
        '      Effect: none in gravity.',
        'NOTE (1): for information; nothing needs to change',
        "  joint 'j'",
        '      never']
    assert verdict(findings) == '0 errors, 0 impossible, 3 suspicious, 1 notes'


def test_nothing_found_is_said_too():
    assert findings_report([]) == ['none']


# ---- for programs -----------------------------------------------------------------------------


def test_json_has_everything(check):
    code, out, _ = check(IMPOSSIBLE, '--json', '-')
    data = json.loads(out)
    assert code == 1
    assert data['robot'] == 'arm'
    assert data['mass_kg'] == 2.0
    assert data['links'][1]['inertia_kgm2']['izz'] == 0.2
    shoulder = data['joints'][0]
    assert (shoulder['name'], shoulder['lower'], shoulder['effort']) == ('shoulder', -3.0, 100.0)
    assert len(shoulder['gravity']['largest_at'][0]) == 2
    assert shoulder['gravity']['most'][0] > 0.0
    assert [(finding['severity'], finding['kind'], finding['subject'])
            for finding in data['findings']] == [
        ('impossible', 'inertia_triangle', f"link '{name}'") for name in ('upper', 'lower')]


def test_json_says_null_where_there_is_no_limit(check):
    text = ARM.replace('type="revolute"', 'type="continuous"')
    assert 'Infinity' not in check(text, '--json', '-')[1]
    assert json.loads(check(text, '--json', '-')[1])['joints'][0]['upper'] is None


def test_json_says_who_follows_whom(check):
    data = json.loads(check(ARM_WITH_GRIPPER, '--json', '-')[1])
    assert data['joints'][3]['mimic'] == {'joint': 'grip', 'multiplier': -1.0, 'offset': 0.1}


# ---- where the text comes from ----------------------------------------------------------------


def put_xacro(folder: Path, script: str, monkeypatch):
    program = folder / 'xacro'
    program.write_text(f'#!/bin/sh\n{script}\n', encoding='utf-8')
    program.chmod(0o755)
    monkeypatch.setenv('PATH', f'{folder}{os.pathsep}{os.environ["PATH"]}')


def test_xacro_is_expanded_with_its_arguments(check, tmp_path, monkeypatch):
    put_xacro(tmp_path, 'sed "s/NAME/${2#name:=}/" "$1"', monkeypatch)
    code, out, _ = check(ARM.replace('name="arm"', 'name="NAME"'), 'name:=left',
                         name='arm.urdf.xacro')
    assert code == 0
    assert out.startswith('left: 4 links')


def test_what_xacro_says_is_shown(check, tmp_path, monkeypatch):
    put_xacro(tmp_path, 'echo "undefined substitution" >&2; exit 2', monkeypatch)
    code, _, error = check(ARM, name='arm.xacro')
    assert code == 2
    assert 'xacro cannot expand' in error
    assert 'undefined substitution' in error


def test_without_xacro_it_is_said_how_to_get_it(check, tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', str(tmp_path))
    code, _, error = check(ARM, name='arm.xacro')
    assert code == 2
    assert 'needs xacro, which is not installed: source ROS, or install it' in error


def run_module(*arguments, text=''):
    return subprocess.run(
        [sys.executable, '-m', 'ros2_rnea.offline.commands.check_model', *arguments], input=text,
        capture_output=True, text=True, check=False, timeout=PATIENCE)


def test_it_reads_the_standard_input():
    result = run_module('-', text=ARM)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith('arm: 4 links')


def test_the_help_teaches():
    result = run_module('--help')
    assert result.returncode == 0
    for words in ['IMPOSSIBLE', 'exit codes', 'check_model panda.urdf', '--massless']:
        assert words in result.stdout


@pytest.mark.parametrize('arguments', [(), ('--json', '-')])
def test_without_a_file_the_usage_is_shown(arguments):
    result = run_module(*arguments)
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr.startswith('usage: ros2_rnea check_model')
    assert 'check_model panda.urdf' in result.stderr
    assert result.stderr.endswith('check_model: name the file of a robot description\n')


# ---- the plain table --------------------------------------------------------------------------


def test_numbers_stand_to_the_right_and_names_to_the_left():
    assert table(('name', 'number'), [('a', '1'), ('bcdef', '-20.5')]) == [
        'name   number',
        'a           1',
        'bcdef   -20.5']
    assert table(('name',), []) == []


@pytest.mark.parametrize('name, shown', [
    ('short', 'short'), ('exactly_te', 'exactly_te'), ('left_arm_finger_3', 'left_…er_3')])
def test_a_long_name_loses_its_middle(name, shown):
    assert clipped(name, 10) == shown
    assert len(shown) <= 10


@pytest.mark.parametrize('value, shown', [
    (None, '-'), (float('inf'), '-'), (float('-inf'), '-'), (0.0, '0'), (-0.0, '0'),
    (1.23456, '1.235'), (-120.0, '-120')])
def test_numbers_are_written_as_people_do(value, shown):
    assert number(value) == shown
