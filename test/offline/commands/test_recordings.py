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
"""The options about recordings that several commands share."""

import argparse
import subprocess
import sys

import numpy as np
import pytest
from ros2_rnea.errors import RneaError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.commands.recordings import (
    add_recording_options,
    preparation,
    prepared_recordings,
    read_recordings,
)
from ros2_rnea.offline.identification.preparation import Preparation
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.models import MODELS


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    add_recording_options(parser)
    return parser.parse_args(list(map(str, arguments)))


def save(path, robot, columns, rows=...):
    titles = ['time', *(f'{name}.{what}' for what in ('position', 'effort')
                        for name in robot.joint_names)]
    np.savetxt(path, np.column_stack(columns)[rows], delimiter=',', header=','.join(titles),
               comments='')


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(MODELS['ur5']().urdf)


@pytest.fixture
def runs(tmp_path, robot):
    """Return two files with a motion of the robot."""
    times = np.arange(0.0, 5.0, 0.01)
    q = 0.3 * np.sin(times[:, None] * np.arange(1, robot.nv + 1))
    paths = [tmp_path / name for name in ('free.csv', 'loaded.csv')]
    for path in paths:
        save(path, robot, [times, q, robot.gravity(q)])
    return paths


def test_several_recordings_each_have_their_payload(runs, robot):
    options = parsed(*runs, '--payload', 'loaded.csv=tool0:2.5:0,0,0.1:1,0,0,2,0,3',
                     '--payload', 'tool0:0.5', '--delay', 0)
    free, loaded = read_recordings(options)
    assert free.payloads == {'payload 1': ('tool0', Inertial(0.5))}
    assert loaded.payloads == {
        'payload 1': ('tool0', Inertial(2.5, Pose((0.0, 0.0, 0.1)), (1, 0, 0, 2, 0, 3))),
        'payload 2': ('tool0', Inertial(0.5))}
    prepared = list(prepared_recordings(options, robot, []))
    assert [each.name for each in prepared] == ['free.csv', 'loaded.csv']
    assert prepared[1].payloads == loaded.payloads


def test_recordings_of_one_name_are_told_apart_by_paths(tmp_path, runs):
    paths = [tmp_path / day / 'swing.csv' for day in ('monday', 'friday')]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(runs[0].read_bytes())
    monday, friday = read_recordings(parsed(
        *paths, '--payload', f'{paths[1]}=tool0:1'))
    assert not monday.payloads
    assert friday.payloads == {'payload 1': ('tool0', Inertial(1.0))}
    with pytest.raises(RneaError, match='several recordings have this name.*give the whole path'):
        list(read_recordings(parsed(*paths, '--payload', 'swing.csv=tool0:1')))


def test_a_part_of_each_recording_is_read(runs):
    for recording in read_recordings(parsed(*runs, '--from', 1, '--to', 2.5)):
        assert recording.name.endswith('.csv from 1 s to 2.5 s')
        assert len(recording.times) == 150
        assert recording.times[0] == recording.begin == 1.0
    for recording in read_recordings(parsed(*runs, '--from', 1)):
        assert recording.name.endswith('.csv from 1 s on')
        assert recording.times[-1] == 4.99
    with pytest.raises(RneaError, match="'free.csv from 20 s to 30 s' has 0 samples"):
        list(read_recordings(parsed(runs[0], '--from', 20, '--to', 30)))
    with pytest.raises(RneaError, match='from 4 s to 2 s of a recording is given; it needs'):
        list(read_recordings(parsed(runs[0], '--from', 4, '--to', 2)))


def test_files_that_number_their_joints_are_read(tmp_path):
    path = tmp_path / 'run.csv'
    path.write_text('t;Position1;Position2;Torque1;Torque2\n0;1;2;3;4\n1;2;3;4;5\n', 'utf-8')
    recording, = read_recordings(parsed(
        path, '--csv-time', 't', '--csv-position', 'Position{joint}', '--csv-effort',
        'Torque{joint}', '--csv-joints', 'joint_2=2,joint_1=1'))
    assert recording.joints == ('joint_2', 'joint_1')
    np.testing.assert_array_equal(recording.positions, [[2.0, 1.0], [3.0, 2.0]])
    np.testing.assert_array_equal(recording.efforts, [[4.0, 3.0], [5.0, 4.0]])


def test_a_recording_that_memory_does_not_hold_is_refused_with_the_remedy(runs, robot):
    program = f"""\
import argparse, resource
from ros2_rnea.offline.commands.recordings import add_recording_options, prepared_recordings
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.models import MODELS
robot = Robot.from_urdf(MODELS['ur5']().urdf)
parser = argparse.ArgumentParser()
add_recording_options(parser)
taken = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, 2 * (taken + 10_000_000,))
list(prepared_recordings(parser.parse_args([{str(runs[0])!r}]), robot, []))
"""
    with runs[0].open('r+b') as file:
        rows = file.read()
        file.write(rows[rows.index(b'\n') + 1:] * 200)
    found = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    error = found.stderr.splitlines()[-1]
    assert 'RecordingError: the memory does not suffice' in error and '--from' in error


def test_columns_units_and_gains_are_told(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('0,1,2,3,4\n100,2,3,4,5\n', encoding='utf-8')
    recording, = read_recordings(parsed(
        path, '--csv-time', 1, '--csv-position', '2-3', '--csv-velocity', '', '--csv-effort',
        '4-5', '--csv-joints', 'a,b', '--csv-units', 'time=ms,effort=A',
        '--current-gains', 'a=2,b=-3'))
    assert recording.joints == ('a', 'b')
    np.testing.assert_allclose(recording.times, [0.0, 0.1])
    np.testing.assert_array_equal(recording.efforts, [[6, -12], [8, -15]])


def test_the_preparation_is_told(runs):
    settings = preparation(parsed(
        runs[0], '--assume', 'gripper=0.04,wheels=1,0', '--cutoff', 'inf', '--delay', '0.002',
        '--ignore-velocities', '--largest-gap', 0.5))
    assert settings.assumed_positions == {'gripper': (0.04,), 'wheels': (1.0, 0.0)}
    assert (settings.cutoff, settings.delay, settings.ignores_velocities) == (
        np.inf, 0.002, True)
    assert settings.largest_gap == 0.5
    assert preparation(parsed(runs[0])) == Preparation()
    assert preparation(parsed(runs[0], '--delay=-0.004')).delay == -0.004
    with pytest.raises(RneaError, match='delay is nan; it needs a finite number'):
        preparation(parsed(runs[0], '--delay', 'nan'))
    with pytest.raises(SystemExit):
        parsed(runs[0], '--delay', 'joints')


@pytest.mark.parametrize(('option', 'value'), [
    ('--payload', 'tool0'), ('--payload', 'tool0:-1'), ('--payload', 'tool0:1:0,0'),
    ('--payload', ':1'), ('--payload', 'tool0:1:0,0,0:1,1,1,1,1,1:2'), ('--payload', 'tool0:nan'),
    ('--csv-units', 'deg'), ('--current-gains', 'a=x'), ('--assume', 'a=inf'),
    ('--assume', '=1')])
def test_options_that_mean_nothing_are_refused(option, value, capsys):
    with pytest.raises(SystemExit):
        parsed('a.csv', option, value)
    assert f'{value!r} needs to be' in capsys.readouterr().err


def test_other_files_links_and_recordings_are_named(runs, robot):
    with pytest.raises(RneaError, match="a.json ends in '.json'; a recording is"):
        list(read_recordings(parsed('a.json')))
    with pytest.raises(RneaError, match='nowhere does not exist; a recording is'):
        list(read_recordings(parsed('nowhere')))
    for name in ('nowhere.csv', 'nowhere.mcap'):
        with pytest.raises(RneaError, match=f'{name} cannot be read'):
            list(read_recordings(parsed(name)))
    plain = runs[0].rename(runs[0].with_suffix(''))
    with pytest.raises(RneaError, match='free has no ending; a recording is'):
        list(read_recordings(parsed(plain)))
    plain.rename(runs[0])
    with pytest.raises(RneaError, match=r'names load.csv, which.*did you mean .loaded.csv'):
        list(read_recordings(parsed(*runs, '--payload', 'load.csv=tool0:1')))
    with pytest.raises(RneaError, match="no link 'tool_0'; did you mean 'tool0'"):
        list(prepared_recordings(parsed(*runs, '--payload', 'tool_0:1'), robot, []))
