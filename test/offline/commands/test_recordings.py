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
from contextlib import suppress
import subprocess
import sys

from bytes_read import bytes_read
import numpy as np
from parts_read import kept_at_each_part
import pytest
from ros2_rnea.errors import NothingUsableError, RneaError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.commands.recordings import (
    add_recording_options,
    preparation,
    prepared_recordings,
    read_recordings,
)
from ros2_rnea.offline.identification.parts import cut
from ros2_rnea.offline.identification.preparation import VELOCITIES
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
    (_, free, _), (_, loaded, _) = read_recordings(options)
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
    (_, monday, _), (_, friday, _) = read_recordings(parsed(
        *paths, '--payload', f'{paths[1]}=tool0:1'))
    assert not monday.payloads
    assert friday.payloads == {'payload 1': ('tool0', Inertial(1.0))}
    with pytest.raises(RneaError, match='several recordings have this name.*give the whole path'):
        list(read_recordings(parsed(*paths, '--payload', 'swing.csv=tool0:1')))


def test_a_part_of_each_recording_is_read(runs):
    for _, recording, _ in read_recordings(parsed(*runs, '--from', 1, '--to', 2.5)):
        assert len(recording.times) == 150
        assert recording.times[0] == 1.0


def test_a_recording_is_prepared_in_parts(runs, robot):
    options = parsed(runs[0], '--parts-of', 2, '--from', 0.5, '--payload', 'free.csv=tool0:1')
    (path, recording, divided), = read_recordings(options)
    parts = [cut(recording, part, path) for part in divided]
    assert [part.name for part in parts] == [
        'free.csv from 0.5 s to 1.99667 s', 'free.csv from 1.99667 s to 3.49333 s',
        'free.csv from 3.49333 s on']
    (_, whole, _), = read_recordings(parsed(runs[0]))
    np.testing.assert_array_equal(
        np.concatenate([part.times for part in parts]), whole.times[50:])
    assert all(part.payloads for part in parts)
    assert len(list(prepared_recordings(options, robot, []))) == 3
    with pytest.raises(RneaError, match='parts of 0 s are asked for; they need a positive length'):
        list(read_recordings(parsed(runs[0], '--parts-of', 0)))


def test_files_that_number_their_joints_are_read(tmp_path):
    path = tmp_path / 'run.csv'
    path.write_text('t;Position1;Position2;Torque1;Torque2\n0;1;2;3;4\n1;2;3;4;5\n', 'utf-8')
    (_, recording, _), = read_recordings(parsed(
        path, '--csv-time', 't', '--csv-position', 'Position{joint}', '--csv-effort',
        'Torque{joint}', '--csv-joints', 'joint_2=2,joint_1=1'))
    assert recording.joints == ('joint_2', 'joint_1')
    np.testing.assert_array_equal(recording.positions, [[2.0, 1.0], [3.0, 2.0]])
    np.testing.assert_array_equal(recording.efforts, [[4.0, 3.0], [5.0, 4.0]])


@pytest.mark.parametrize('parts', [2, 20])
def test_a_recording_is_read_once_however_many_parts_it_has(runs, robot, parts):
    size = runs[0].stat().st_size
    options = parsed(runs[0], '--parts-of', 5.0 / parts, '--cutoff', 'inf')
    remarks = []

    def prepare_all():
        with suppress(NothingUsableError):  # of too short parts
            list(prepared_recordings(options, robot, remarks))

    assert size <= bytes_read(prepare_all) < 1.5 * size


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
    assert 'RecordingError: the memory does not suffice' in error and '--parts-of' in error


def write_parts(path, robot, *contents):
    """Write a recording with parts of two seconds, each with what its name says."""
    times = np.arange(0.0, 2.0 * len(contents), 0.01)
    places = np.minimum(times / (times[-1] / len(contents)), len(contents) - 0.5).astype(int)
    q = 0.3 * np.sin(times[:, None] * np.arange(1, robot.nv + 1))
    rows = np.full(len(times), True)
    noise = 0.01 * np.random.default_rng(0).normal(size=q.shape)
    tau = robot.gravity(q) + noise
    for place, content in enumerate(contents):
        part = np.flatnonzero(places == place)
        if content.startswith('rest'):
            q[part] = q[part[0]]
            tau[part] = robot.gravity(q[part[0]]) + noise[part]
        if content == 'rest with noise':
            q[part] += 1e-4 * noise[part]
        elif content == 'constant efforts':
            tau[part] = tau[part[0]]
        elif content == 'no rows':
            rows[part] = False
        elif content == 'few rows':
            rows[part[30:]] = False
        elif content == 'no positions':
            q[part] = np.nan
        elif content == 'wrong effort':
            tau[part[50], 2] = 1e12
    save(path, robot, [times, q, tau], rows)
    return path


def test_parts_without_usable_data_are_left_out_and_named(tmp_path, robot, runs):
    path = write_parts(
        tmp_path / 'day.csv', robot, 'motion', 'rest', 'motion', 'no rows', 'few rows',
        'constant efforts', 'no positions', 'rest with noise', 'motion')
    remarks = []
    prepared = list(prepared_recordings(parsed(path, runs[0], '--parts-of', 2), robot, remarks))
    edges = [f'{edge:g} s' for edge in np.arange(9) * (17.99 / 9)]
    parts = [f'from {begin} to {end}' for begin, end in zip(edges, edges[1:])]
    assert [each.name for each in prepared if each.part_of == str(path)] == [
        f'day.csv {parts[0]}', f'day.csv {parts[2]}', f'day.csv {parts[7]}',
        f'day.csv from {edges[8]} on']
    assert sum(each.part_of == str(runs[0]) for each in prepared) == 3
    left_out = [remark for remark in remarks if 'left out' in remark]
    for remark, place, reason in zip(left_out, (1, 3, 4, 5, 6), (
            'has constant positions of all joints', 'has 0 samples',
            'has at most 0.3 s without a gap', 'has no efforts of', 'has no position of'),
            strict=True):
        assert remark.startswith('WARNING: this part is left out: ')
        assert parts[place] in remark and reason in remark


def test_no_recording_and_no_reason_against_one_is_kept(tmp_path, robot, monkeypatch):
    path = write_parts(
        tmp_path / 'day.csv', robot, 'motion', 'rest', 'motion', 'few rows', 'no positions',
        'motion')

    def prepare_all():
        remarks = []
        options = parsed(path, path, '--parts-of', 2)
        prepared = list(prepared_recordings(options, robot, remarks))
        assert len(prepared) == 6
        assert sum('left out' in remark for remark in remarks) == 6

    # the one that is divided, and the part
    assert kept_at_each_part(monkeypatch, prepare_all) == [2] * 12


@pytest.mark.parametrize(('contents', 'reason'), [
    (['rest', 'few rows', 'rest'], 'day.csv from 0 s to .* has constant positions of all joints'),
    (['few rows', 'rest'], 'has at most 0.3 s without a gap')])
def test_a_recording_without_a_usable_part_is_refused(
        tmp_path, robot, runs, contents, reason):
    path = write_parts(tmp_path / 'day.csv', robot, *contents)
    with pytest.raises(NothingUsableError, match=reason):
        list(prepared_recordings(parsed(runs[0], path, '--parts-of', 2), robot, []))


def test_a_single_part_without_usable_data_is_refused(tmp_path, robot):
    path = write_parts(tmp_path / 'day.csv', robot, 'motion', 'rest', 'motion')
    for options in (['--from', 2.2, '--to', 3.8], ['--from', 2.2, '--to', 3.8, '--parts-of', 9]):
        with pytest.raises(NothingUsableError, match='from 2.2 s to 3.8 s.* constant positions'):
            list(prepared_recordings(parsed(path, *options), robot, []))


def test_other_errors_in_one_part_refuse_all(tmp_path, robot):
    path = write_parts(tmp_path / 'day.csv', robot, 'motion', 'wrong effort', 'motion')
    with pytest.raises(RneaError, match=r'1e\+12 among the efforts of .*: take this row out'):
        list(prepared_recordings(parsed(path, '--parts-of', 2), robot, []))


@pytest.mark.parametrize(('text', 'delay'), [
    ('automatic', 'automatic'), ('0', 0.0), ('-0.004', -0.004)])
def test_how_delays_are_taken_out_is_told(text, delay):
    assert preparation(parsed('a.csv', f'--delay={text}')).delay == delay


def test_columns_units_and_gains_are_told(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('0,1,2,3,4\n100,2,3,4,5\n', encoding='utf-8')
    (_, recording, _), = read_recordings(parsed(
        path, '--csv-time', 1, '--csv-position', '2-3', '--csv-velocity', '', '--csv-effort',
        '4-5', '--csv-joints', 'a,b', '--csv-units', 'time=ms,effort=A',
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
