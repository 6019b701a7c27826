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

import numpy as np
import pytest
from ros2_rnea.errors import RneaError
from ros2_rnea.identification.preparation import VELOCITIES
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robot import Robot
from ros2_rnea.tools.models import MODELS
from ros2_rnea.tools.recordings import (
    add_recording_options,
    preparation,
    prepared_recordings,
    read_recordings,
)


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    add_recording_options(parser)
    return parser.parse_args(list(map(str, arguments)))


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(MODELS['ur5']().urdf)


@pytest.fixture
def runs(tmp_path, robot):
    """Return two files with a motion of the robot."""
    times = np.arange(0.0, 5.0, 0.01)
    q = 0.3 * np.sin(times[:, None] * np.arange(1, robot.nv + 1))
    tau = robot.gravity(q)
    titles = ['time', *(f'{name}.{what}' for what in ('position', 'effort')
                        for name in robot.joint_names)]
    paths = [tmp_path / name for name in ('free.csv', 'loaded.csv')]
    for path in paths:
        np.savetxt(path, np.column_stack([times, q, tau]), delimiter=',',
                   header=','.join(titles), comments='')
    return paths


def test_several_recordings_each_have_their_payload(runs, robot):
    options = parsed(*runs, '--payload', 'loaded.csv=tool0:2.5:0,0,0.1:1,0,0,2,0,3',
                     '--payload', 'tool0:0.5', '--delay', 0)
    free, loaded = read_recordings(options)
    assert free.payloads == {'payload 1': ('tool0', Inertial(0.5))}
    assert loaded.payloads == {
        'payload 1': ('tool0', Inertial(2.5, Pose((0.0, 0.0, 0.1)), (1, 0, 0, 2, 0, 3))),
        'payload 2': ('tool0', Inertial(0.5))}
    results = list(prepared_recordings(options, robot))
    assert [result.prepared.name for result in results] == ['free.csv', 'loaded.csv']
    assert results[1].prepared.payloads == loaded.payloads


def test_recordings_of_the_same_name_are_told_apart_by_their_paths(tmp_path, runs):
    paths = [tmp_path / day / 'swing.csv' for day in ('monday', 'friday')]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(runs[0].read_bytes())
    monday, friday = read_recordings(parsed(*paths, '--payload', f'{paths[1]}=tool0:1'))
    assert not monday.payloads
    assert friday.payloads == {'payload 1': ('tool0', Inertial(1.0))}
    with pytest.raises(RneaError, match='several recordings have this name.*give the whole path'):
        list(read_recordings(parsed(*paths, '--payload', 'swing.csv=tool0:1')))


def test_a_part_of_each_recording_is_read(runs):
    for recording in read_recordings(parsed(*runs, '--from', 1, '--to', 2.5)):
        assert len(recording.times) == 150
        assert recording.times[0] == 1.0


def test_a_recording_is_prepared_in_parts(runs, robot):
    options = parsed(runs[0], '--parts-of', 2, '--from', 0.5, '--payload', 'free.csv=tool0:1')
    parts = list(read_recordings(options))
    assert [part.name for part in parts] == [
        'free.csv from 0.5 s to 1.99667 s', 'free.csv from 1.99667 s to 3.49333 s',
        'free.csv from 3.49333 s on']
    whole, = read_recordings(parsed(runs[0]))
    np.testing.assert_array_equal(
        np.concatenate([part.times for part in parts]), whole.times[50:])
    assert all(part.payloads for part in parts)
    results = list(prepared_recordings(options, robot))
    assert len(results) == 3
    with pytest.raises(RneaError, match='parts of 0 s are asked for; they need a positive length'):
        list(read_recordings(parsed(runs[0], '--parts-of', 0)))


@pytest.mark.parametrize(('text', 'delay'), [('common', 'common'), ('joint', 'joint'), ('0', 0.0)])
def test_how_delays_are_taken_out_is_told(text, delay):
    assert preparation(parsed('a.csv', '--delay', text)).delay == delay


def test_columns_units_and_gains_are_told(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('0,1,2,3,4\n100,2,3,4,5\n', encoding='utf-8')
    recording, = read_recordings(parsed(
        path, '--csv-time', 1, '--csv-position', '2-3', '--csv-velocity', '', '--csv-effort',
        '4-5', '--csv-command', '', '--csv-joints', 'a,b', '--csv-units', 'time=ms,effort=A',
        '--current-gains', 'a=2,b=-3'))
    assert recording.joints == ('a', 'b')
    np.testing.assert_allclose(recording.times, [0.0, 0.1])
    np.testing.assert_array_equal(recording.efforts, [[6, -12], [8, -15]])


def test_the_preparation_is_told(runs):
    settings = preparation(parsed(
        runs[0], '--assume', 'gripper=0.04', '--cutoff', 'inf', '--delay', '0.002',
        '--derivatives-of', 'velocities', '--largest-gap', 0.5, '--slow', 0.1, '--rate', 50,
        '--settling', 1, '--keep-wrenches'))
    assert settings.assumed_positions == {'gripper': 0.04}
    assert (settings.cutoff, settings.delay, settings.derivatives_of) == (
        np.inf, 0.002, VELOCITIES)
    assert (settings.largest_gap, settings.slow, settings.rate, settings.settling) == (
        0.5, 0.1, 50.0, 1.0)
    assert not settings.remove_wrenches


@pytest.mark.parametrize(('option', 'value'), [
    ('--payload', 'tool0'), ('--payload', 'tool0:-1'), ('--payload', 'tool0:1:0,0'),
    ('--payload', ':1'), ('--payload', 'tool0:1:0,0,0:1,1,1,1,1,1:2'), ('--payload', 'tool0:nan'),
    ('--csv-units', 'deg'), ('--current-gains', 'a=x'), ('--assume', 'a=inf'),
    ('--assume', '=1'), ('--delay', 'joints'), ('--delay', 'nan')])
def test_options_that_mean_nothing_are_refused(option, value, capsys):
    with pytest.raises(SystemExit):
        parsed('a.csv', option, value)
    assert f'{value!r} needs to be' in capsys.readouterr().err


def test_other_files_links_and_recordings_are_named(runs, robot):
    with pytest.raises(RneaError, match="a.json ends in '.json'; a recording is"):
        list(read_recordings(parsed('a.json')))
    with pytest.raises(RneaError, match=r'names load.csv, which.*did you mean .loaded.csv'):
        list(read_recordings(parsed(*runs, '--payload', 'load.csv=tool0:1')))
    with pytest.raises(RneaError, match="no link 'tool_0'; did you mean 'tool0'"):
        list(prepared_recordings(parsed(*runs, '--payload', 'tool_0:1'), robot))
