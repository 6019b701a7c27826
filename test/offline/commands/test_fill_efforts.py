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
"""The command that fills efforts: what it prints and writes, and its exit codes."""

from dataclasses import replace
from math import inf
import os
from pathlib import Path
import re
import subprocess
import sys

import numpy as np
from paired_robots import QUICK_ENGINE
import pytest
from ros2_rnea import Inertial
from ros2_rnea.offline.commands.fill_efforts.files import read_trajectory
from ros2_rnea.offline.commands.fill_efforts.limits_file import read_limits
from ros2_rnea.offline.filling.effort_filler import fill_efforts, Plan
from ros2_rnea.offline.filling.motion_check import described_limits, Moment, MotionLimits
from ros2_rnea.offline.filling.torque_report import (
    Checked,
    JointLoad,
    LargestPayload,
    TorqueCheck,
    TorqueReport,
)
from ros2_rnea.robots.robot import Robot
from ros2_rnea.trajectories.trajectory import Waypoint
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot

main = pytest.importorskip('ros2_rnea.offline.commands.fill_efforts.__main__').main
picture = pytest.importorskip('ros2_rnea.offline.commands.fill_efforts.picture')
sentences = pytest.importorskip('ros2_rnea.offline.commands.fill_efforts.report').sentences

SWING = """\
joint_names: [shoulder, elbow]
points:
- positions: [0.0, 0.5]
  velocities: [0, 0]
  time_from_start: {sec: 0, nanosec: 0}
- positions: [1.0, -0.5]
  velocities: [0, 0]
  time_from_start: {sec: 1, nanosec: 500000000}
"""
PLAN = Plan(('shoulder', 'elbow'), [
    Waypoint(0.0, (0.0, 0.5), (0.0, 0.0)), Waypoint(1.5, (1.0, -0.5), (0.0, 0.0))])
LATER = SWING.replace('sec: 1', 'sec: 3').replace('sec: 0', 'sec: 1', 1)
WEAK = ARM.replace('effort="40.0"', 'effort="0.01"')


@pytest.fixture
def fill(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a folder and returns code, output and error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('COLUMNS', '200')

    def run(*options, trajectory=SWING, urdf=ARM, name='swing.yaml'):
        Path(name).write_text(trajectory, encoding='utf-8')
        Path('arm.urdf').write_text(urdf, encoding='utf-8')
        code = main([name, '--urdf', 'arm.urdf', *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err
    return run


def written(name='swing.filled.yaml'):
    """Return the plan in a file that the command has written."""
    return read_trajectory(Path(name)).plan


def test_it_writes_the_filled_trajectory_and_the_plot(fill):
    code, out, error = fill()
    assert (code, error) == (0, '')
    assert 'swing.filled.yaml and swing.efforts.png written' in out
    plan = written()
    expected = fill_efforts(Robot.from_urdf(ARM), PLAN.joint_names, PLAN)
    assert np.array(plan.efforts) == pytest.approx(np.array([p.effort for p in expected.points]))
    assert (f'2 points were read; the filled trajectory has {len(plan.waypoints)}, '
            'over 1.500 s.') in out
    assert Path('swing.efforts.png').read_bytes().startswith(b'\x89PNG')


def test_the_table_has_each_joint_against_its_limit(fill):
    _, out, _ = fill()
    model = Robot.from_urdf(ARM)
    load = TorqueCheck(model, fill_efforts(model, PLAN.joint_names, PLAN)).report().joints[0]
    line = next(line for line in out.splitlines() if line.startswith('shoulder'))
    assert line.split()[:8] == [
        'shoulder', '100', f'{load.peak:.4g}', f'{load.peak_time:.3f}', 's',
        f'{abs(load.peak):.0f}', '%', f'{load.rms:.4g}']
    assert out.splitlines()[-1] == 'The motion is within all limits.'


@pytest.mark.parametrize('plot, beginning', [('p.svg', b'<?xml'), ('p.pdf', b'%PDF')])
def test_files_go_where_they_are_told(fill, plot, beginning):
    code, _, _ = fill('--out', 'filled.csv', '--plot', plot)
    assert code == 0
    assert sorted(os.listdir()) == sorted(['arm.urdf', 'swing.yaml', 'filled.csv', plot])
    assert Path(plot).read_bytes().startswith(beginning)
    assert Path('filled.csv').read_text(encoding='utf-8').startswith('time,shoulder.position,')


ELBOW = SWING.replace('[shoulder, elbow]', '[elbow]').replace('0.0, 0.5', '0.5').replace(
    '1.0, -0.5', '-0.5').replace('[0, 0]', '[0]')


def test_joints_of_the_controller_that_the_trajectory_omits_are_added(fill):
    code, _, error = fill('--controller-joints', 'shoulder,elbow', '--assume', 'shoulder=0.3',
                          trajectory=ELBOW)
    assert (code, error) == (0, '')
    plan = written()
    assert list(plan.joint_names) == ['elbow', 'shoulder']
    assert plan.waypoints[-1].positions == pytest.approx([-0.5, 0.3])
    assert plan.efforts[-1] == pytest.approx(Robot.from_urdf(ARM).gravity([0.3, -0.5])[::-1])


def test_an_omitted_joint_is_told_and_its_position_demanded(fill):
    code, out, _ = fill('--assume', 'shoulder=0.3', trajectory=ELBOW)
    assert code == 0 and 'omits shoulder, to which the controller commands no effort' in out
    code, _, error = fill('--controller-joints', 'shoulder,elbow', trajectory=ELBOW)
    assert code == 2 and '--assume shoulder=POSITION' in error
    assert 'omits' not in fill()[1]


def test_a_dry_run_writes_nothing(fill):
    assert fill('--dry-run')[0] == 0
    assert sorted(os.listdir()) == ['arm.urdf', 'swing.yaml']


def test_csv_comes_back_as_csv(fill):
    table = 'time,shoulder.position,elbow.position\n0,0,0.5\n1,1,0\n'
    code, out, _ = fill(name='swing.csv', trajectory=table)
    assert code == 0 and 'swing.filled.csv' in out


def test_a_broken_limit_sets_exit_code_and_last_line(fill):
    code, out, _ = fill('--dry-run', '--largest-payload', 'tool', urdf=WEAK)
    assert code == 1
    assert re.fullmatch(
        r'Limits are exceeded, first at \S+ s: the effort of elbow is \S+ at \S+ s, '
        r'its limit is 0.01.',
        out.splitlines()[-1])
    assert 'At any speed, a limit is exceeded: for gravity and Coulomb friction alone' in out
    assert 'No payload on tool at 0, 0, 0 m is possible' in out


FAST = SWING.replace('sec: 1, nanosec: 500000000', 'sec: 0, nanosec: 300000000')
FAR = SWING.replace('[1.0, -0.5]', '[9.0, -0.5]').replace('sec: 1', 'sec: 20')
STRAIGHT = SWING.replace('  velocities: [0, 0]\n', '')


def test_velocities_over_their_limits_are_reported(fill):
    code, out, _ = fill('--dry-run', trajectory=FAST)
    assert code == 1
    # A cubic over 1 rad in 0.3 s is at most 1.5 / 0.3 = 5 rad/s fast; 2 are allowed.
    assert 'The motion needs 2.5 times its duration to stay within all limits (decided by the ' \
           'velocity of' in out
    assert re.search(r'the velocity of elbow is -5 at 0.150 s, its limit is 2', out)
    assert 'is within all limits' not in out
    line = [line for line in out.splitlines() if line.startswith('elbow')][1]
    assert line.split()[-4:] == ['5', '2', '250', '%']


def test_positions_over_their_limits_count_and_no_speed_helps(fill):
    code, out, _ = fill('--dry-run', trajectory=FAR)
    assert code == 1
    assert ('At any speed, a limit is exceeded: the position of shoulder is 9 at 20.500 s, its '
            'limit is 3.') in out


def test_points_without_velocities_are_always_warned_about(fill):
    code, out, _ = fill('--dry-run', '--tolerance', '100', trajectory=STRAIGHT)
    assert code == 0
    assert 'Warning: the velocity jumps at 0.000 s, 1.500 s: ' in out
    assert out.splitlines()[-1] == (
        'Between the jumps of velocity, the motion is within all limits.')
    assert 'Warning' not in fill('--dry-run')[1]


LIMITS = """\
default_velocity_scaling_factor: 0.1
joint_limits:
  elbow:
    has_velocity_limits: true
    max_velocity: 0.5
    has_acceleration_limits: true
    max_acceleration: 1.0
  shoulder: {has_velocity_limits: false, max_velocity: 0.1}
"""


def test_limits_of_acceleration_and_jerk_are_those_of_moveit(fill):
    Path('joint_limits.yaml').write_text(LIMITS, encoding='utf-8')
    code, out, _ = fill('--dry-run', '--limits', 'joint_limits.yaml')
    assert code == 1
    # 1 rad in 1.5 s: at most 1 rad/s and 6 / 1.5² rad/s².
    assert 'the velocity of elbow is -1 at 0.750 s, its limit is 0.5' in out
    assert re.search(r'the acceleration of elbow is -?2.667 at \S+ s, its limit is 1', out)
    assert 'The motion needs 2 times its duration' in out
    assert 'No limits of jerk are known (--limits).' in out
    assert 'No limits of acceleration and jerk are known (--limits).' in fill('--dry-run')[1]


def test_limits_of_acceleration_and_jerk_may_be_in_the_description(fill):
    urdf = ARM.replace('effort="40.0"', 'effort="40.0" acceleration="9" deceleration="1" jerk="5"')
    code, out, _ = fill('--dry-run', urdf=urdf)
    assert code == 1
    assert re.search(r'the acceleration of elbow is -?2.667 at \S+ s, its limit is 1', out)
    assert re.search(r'the jerk of elbow is \S+ at \S+ s, its limit is 5', out)
    assert 'are known (--limits)' not in out


@pytest.mark.parametrize('change, message', [
    (('elbow:', 'elbo:'), "unknown key 'elbo' (line 3); did you mean 'elbow'"),
    (('max_velocity: 0.5', 'max_velocity: -1'), '0 or more is needed'),
    (('max_velocity: 0.5', 'max_velocity: fast'), "elbow max_velocity' is fast (line 5)"),
    (('    max_velocity: 0.5\n', ''), 'then max_velocity is needed, too'),
    (('limits: true', 'limits: yes'), 'true or false is needed'),
    (('max_velocity: 0.1', 'max_position: 0.5'), 'with it, min_position is needed, too'),
    (('joint_limits:', 'limits:'), "unknown key 'limits'"),
])
def test_a_wrong_file_of_limits_is_refused_by_line(fill, change, message):
    Path('joint_limits.yaml').write_text(LIMITS.replace(*change), encoding='utf-8')
    code, _, error = fill('--limits', 'joint_limits.yaml')
    assert code == 2 and message in error, error


def test_effort_and_position_limits_can_be_told_too(fill):
    Path('l.yaml').write_text(
        'joint_limits: {elbow: {min_position: -0.2, max_position: 1.0, max_effort: 0.1, '
        'has_jerk_limits: true, max_jerk: 1}}', encoding='utf-8')
    code, out, _ = fill('--dry-run', '--limits', 'l.yaml')
    out = ' '.join(out.split())
    assert code == 1
    assert 'the position of elbow is -0.5 at 1.500 s, its limit is -0.2' in out
    assert 'the jerk of elbow is unbounded at 0.000 s, its limit is 1' in out
    assert re.search(r'the effort of elbow is \S+ at \S+ s, its limit is 0.1', out)


def test_limits_that_are_said_to_be_missing_are_taken_away(tmp_path):
    model, path = Robot.from_urdf(ARM), tmp_path / 'l.yaml'
    path.write_text('joint_limits: {elbow: {has_position_limits: false, has_effort_limits: false, '
                    'has_velocity_limits: false}}', encoding='utf-8')
    limits = read_limits(path, model)
    assert limits.motion['elbow'] == MotionLimits()
    assert limits.efforts.tolist() == [model.effort_limits[0], inf]
    assert limits.motion['shoulder'] == described_limits(model)['shoulder']


# ---- the fastest timing -----------------------------------------------------------------------


def test_the_fastest_timing_is_compared_with_the_given_one(fill):
    pytest.importorskip('toppra')
    code, out, error = fill('--retime', '--plot', 'plot.svg')
    assert (code, error) == (0, '')
    assert 'swing.filled.yaml, plot.svg and plot.retimed.svg written' in out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    before, after = rows['duration'][0], rows['duration'][2]
    assert before == '1.500' and float(after) < 0.8
    assert rows['velocity'][2:] == ['100.0%', rows['velocity'][3]]
    plan = written()
    assert f'{plan.waypoints[-1].time:.3f}' == after
    assert plan.waypoints[-1].positions == pytest.approx((1.0, -0.5))
    assert out.splitlines()[-1] == 'The motion is within all limits.'
    text = Path('plot.retimed.svg').read_text(encoding='utf-8')
    for word in ('as given', 'retimed', 'shoulder', 'elbow'):
        assert f'<!-- {word} -->' in text


def test_the_fastest_timing_keeps_given_limits_of_acceleration(fill):
    pytest.importorskip('toppra')
    Path('l.yaml').write_text(
        'joint_limits: {elbow: {has_acceleration_limits: true, max_acceleration: 5.0}}',
        encoding='utf-8')
    code, out, _ = fill('--retime', '--dry-run', '--limits', 'l.yaml')
    assert code == 0
    line = [line for line in out.splitlines() if line.startswith('elbow')][1]
    assert line.split()[-4:] == ['5', '5', '100', '%']


def test_the_fastest_timing_keeps_the_limit_of_deceleration_in_the_description(fill):
    pytest.importorskip('toppra')
    urdf = ARM.replace('effort="40.0"', 'effort="40.0" acceleration="9" deceleration="5"')
    code, out, _ = fill('--retime', '--dry-run', urdf=urdf)
    assert code == 0
    line = [line for line in out.splitlines() if line.startswith('elbow')][1]
    assert line.split()[-4:] == ['5', '5', '100', '%']


def test_without_the_library_the_error_says_what_to_install(fill, monkeypatch):
    monkeypatch.delitem(sys.modules, 'ros2_rnea.offline.filling.retiming', raising=False)
    for name in ['toppra', *(name for name in sys.modules if name.startswith('toppra.'))]:
        monkeypatch.setitem(sys.modules, name, None)
    code, _, error = fill('--retime')
    assert code == 2 and '--retime needs the library toppra: pip install toppra' in error


def test_the_largest_payload_is_told(fill):
    _, out, _ = fill('--dry-run', '--largest-payload', 'tool:0,0,0.1')
    assert re.search(r'on tool at 0, 0, 0.1 m is \S+ kg \(decided by the effort of '
                     r'(shoulder|elbow) at', out)


def test_the_largest_payload_is_in_addition_to_the_one_it_carries(fill):
    def largest(*options):
        _, out, _ = fill('--dry-run', '--largest-payload', 'tool', *options)
        return float(re.search(r'on tool at 0, 0, 0 m is (\S+) kg', out)[1])

    assert largest('--payload', 'tool:0.5') == pytest.approx(largest() - 0.5, abs=1e-3)
    assert largest('--largest-payload', 'tool:0,0,0') == largest()


def test_a_payload_is_carried_along_the_trajectory(fill):
    """It has the form that it has in all commands."""
    fill('--payload', 'tool:0.5:0,0,0.1', '--payload', 'lower:0.25')
    robot = Robot.from_urdf(ARM).with_payload('a', 'tool', Inertial(0.5, com=(0.0, 0.0, 0.1)))
    robot = robot.with_payload('b', 'lower', Inertial(0.25))
    assert written().efforts[-1] == pytest.approx(robot.gravity([1.0, -0.5]))


@pytest.mark.parametrize('option, value, form', [
    ('--payload', 'tool', 'LINK:KG'), ('--payload', 'tool:0.5:0,0', 'LINK:KG'),
    ('--largest-payload', ':0,0,0', 'LINK[:X,Y,Z]'), ('--largest-payload', 'tool:', 'LINK['),
    ('--largest-payload', 'tool:0,0', 'LINK['), ('--joints', 'shoulder,', 'shoulder,elbow')])
def test_an_option_in_another_form_is_refused(fill, option, value, form, capsys):
    with pytest.raises(SystemExit) as left:
        fill(option, value)
    assert left.value.code == 2
    assert f"'{value}' needs to be" in (error := capsys.readouterr().err) and form in error


def test_a_later_first_point_needs_the_start(fill):
    code, _, error = fill(trajectory=LATER)
    assert code == 2
    assert error.startswith('fill_efforts: The first point is at 1.0 s')
    assert error.count('\n') == 1
    code, out, _ = fill('--assume', 'shoulder=0.1,elbow=-0.1', trajectory=LATER)
    assert code == 0
    plan = written()
    assert plan.waypoints[0].positions == (0.1, -0.1)


def test_joints_that_are_not_asked_for_are_left_alone(fill):
    trajectory = SWING.replace('[shoulder, elbow]', '[shoulder, grip]').replace(
        '-0.5', '0.0')
    code, out, _ = fill('--joints', 'shoulder', '--assume', 'elbow=0.2', urdf=ARM_WITH_GRIPPER,
                        trajectory=trajectory)
    assert code == 0
    assert 'Not changed: grip.' in out
    plan = written()
    assert {effort[1] for effort in plan.efforts} == {0.0}


def test_gravity_may_be_tilted(fill):
    fill('--gravity', '0', '0', '0', '--out', 'free.yaml')
    last = written('free.yaml').efforts[-1]
    assert last == pytest.approx((0.0, 0.0), abs=1e-12)


def test_what_the_arm_adds_by_itself_is_left_out(fill):
    last = {}
    for arm in ('generic', 'ur'):
        fill('--arm', arm, '--out', 'filled.yaml')
        last[arm] = written('filled.yaml').efforts[-1]
    assert max(map(abs, last['generic'])) > 1.0
    assert last['ur'] == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_tilted_arm_gets_the_gravity_it_lacks(fill):
    fill('--out', 'upright.yaml')
    fill('--gravity', '0', '0', '9.81', '--arm', 'franka', '--arm-gravity', '0', '0', '-9.81',
         '--out', 'ceiling.yaml')
    upright, ceiling = (
        np.array(written(name).efforts[-1]) for name in ('upright.yaml', 'ceiling.yaml'))
    np.testing.assert_allclose(ceiling, -2.0 * upright, rtol=1e-9)


def test_the_tolerance_is_in_percent(fill):
    counts = []
    for tolerance in ('1', '0.01'):
        fill('--tolerance', tolerance)
        counts.append(len(written().waypoints))
    assert counts[1] > 3 * counts[0]


def test_limits_that_count_as_none_are_said(fill):
    """Else a motion would be called within all limits, though nobody knows these."""
    for given, other, said in (('lower="-3" upper="3"', 'lower="3" upper="-3"', 'position'),
                               ('velocity="2"', 'velocity="-2"', 'velocity')):
        assert given in ARM
        _, _, error = fill(urdf=ARM.replace(given, other, 1))
        assert error == (f"warning: the {said} limit of joint 'shoulder' cannot be one and counts "
                         'as none: check_model says why\n')
    assert not fill()[2]


@pytest.mark.parametrize('options, trajectory, message', [
    (['--tolerance', '0'], SWING, 'tolerance is 0.0'),
    (['--tolerance', '1e-4', '--max-points', '9'], SWING, 'More than'),
    (['--payload', 'tol:1'], SWING, "did you mean 'tool'"),
    (['--largest-payload', 'tol'], SWING, "did you mean 'tool'"),
    (['--out', 'filled.json'], SWING, "ends in '.json'"),
    (['--plot', 'plot.xyz'], SWING, 'plot.xyz cannot be written'),
    (['name:=x'], SWING, 'is not a .xacro file'),
    (['--arm-gravity', '0', '0', '-9'], SWING, 'the whole gravity is sent'),
    (['--arm', 'franka', '--gravity', '0', '0', '9.81'], SWING, 'it needs arm_gravity'),
    ([], SWING + 'more: 1\n', "unknown key 'more'"),
    ([], SWING.replace('elbow', 'elbo'),
     "the trajectory names 'elbo', which 'arm' does not have; did you mean 'elbow'?"),
    ([], SWING.replace('elbow', 'wrist'), "position of joint 'elbow' is not known"),
    ([], SWING.replace('elbow', 'wrist'), "; the trajectory names 'wrist', which 'arm' does not"),
    (['--assume', 'elbo=1'], SWING, "--assume names 'elbo', which 'arm' does not have; did you"),
    (['--assume', 'wrist=1'], SWING, "--assume names 'wrist', which 'arm' does not have"),
    (['--controller-joints', 'shoulder,elbo'], SWING, "--controller-joints names 'elbo'"),
], ids=lambda value: '' if value.__class__ is list or '\n' in value else value)
def test_what_cannot_be_done_is_one_line(fill, options, trajectory, message):
    code, _, error = fill(*options, trajectory=trajectory)
    assert code == 2
    assert message in error
    assert error.startswith('fill_efforts: ')
    assert error.count('\n') == 1


@pytest.mark.parametrize('start', ['shoulder', 'shoulder=', '=1', 'shoulder=x', 'shoulder=nan'])
def test_a_start_that_is_none_is_refused(fill, start, capsys):
    with pytest.raises(SystemExit) as left:
        fill('--assume', start)
    assert left.value.code == 2
    assert 'needs to be JOINT=POSITION' in capsys.readouterr().err


def test_help_teaches_every_option_and_exit_code(capsys):
    with pytest.raises(SystemExit) as left:
        main(['--help'])
    text = capsys.readouterr().out
    assert left.value.code == 0
    for taught in ('time, shoulder.position', 'time_from_start', 'pip install rosbags',
                   'exit codes:  0 filled', '--largest-payload', '--gravity', 'NAME:=VALUE'):
        assert taught in text


def test_it_runs_as_a_module(tmp_path):
    (tmp_path / 'swing.yaml').write_text(SWING, encoding='utf-8')
    result = subprocess.run(
        [sys.executable, '-m', 'ros2_rnea.offline.commands.fill_efforts',
         str(tmp_path / 'swing.yaml'),
         '--urdf', '-', '--dry-run'],
        input=ARM, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert 'The motion is within all limits.' in result.stdout


# ---- sentences and picture ------------------------------------------------------------------


FILLED = fill_efforts(Robot.from_urdf(ARM), ['shoulder', 'elbow'], Plan(
    ('shoulder', 'elbow'), [Waypoint(0.0, (0.0, 0.5), (0.0, 0.0)),
                            Waypoint(0.2, (1.0, 0.0), (0.0, 0.0))]))
MOMENT = Moment('elbow', 0.5, -12.0, 10.0)


def carrying(mass, moment):
    return 0.0, None, LargestPayload('tool', (0.0, 0.0, 0.0), mass, moment)


@pytest.mark.parametrize('found, sentence', [
    ((0.0, None), 'At any speed, the motion is within all limits.'),
    ((0.25, MOMENT), 'The motion is within all limits down to 0.25 times its duration '
                     '(decided by the effort of elbow at 0.500 s).'),
    ((1.5, MOMENT), 'The motion needs 1.5 times its duration to stay within all limits '
                    '(decided by the effort of elbow at 0.500 s).'),
    ((inf, MOMENT), 'At any speed, a limit is exceeded: for gravity and Coulomb friction alone, '
                    'the effort of elbow is -12 at 0.500 s, its limit is 10.'),
    (carrying(inf, None),
     'With any payload on tool at 0, 0, 0 m, the motion is within all limits.'),
    (carrying(0.0, MOMENT),
     'No payload on tool at 0, 0, 0 m is possible: a limit is exceeded without one.'),
    (carrying(1.25, MOMENT), 'The largest payload on tool at 0, 0, 0 m is 1.25 kg '
                             '(decided by the effort of elbow at 0.500 s).'),
])
def test_time_scaling_and_payload_are_said_in_words(found, sentence):
    assert sentence in sentences(Checked(FILLED, TorqueReport((), None, *found)), 2)


def test_jumps_are_said_with_their_times():
    report = TorqueReport((), None, 0.0, None)
    [said] = [s for s in sentences(Checked(FILLED, report), 2) if 'jumps' in s]
    assert said.startswith('The effort jumps at 0.200 s, because')


@pytest.mark.parametrize('limit, least', [(100.0, 2.0), (inf, 0.02 * 30.0)])
def test_next_to_no_effort_does_not_fill_its_axis(limit, least):
    axes = picture.Figure().subplots()
    index = FILLED.filled.index('elbow')
    small = FILLED.samples._replace(sent=1e-5 * FILLED.samples.sent)
    points = tuple(point._replace(effort=1e-5 * point.effort) for point in FILLED.points)
    load = JointLoad('elbow', limit, 1e-4, 0.0, 1e-4)
    picture._draw_effort(
        axes, replace(FILLED, samples=small, points=points), load, index, largest=30.0)
    low, high = axes.get_ylim()
    assert high - low == pytest.approx(least)
    assert low < small.sent[:, index].min() and small.sent[:, index].max() < high


def test_of_many_joints_the_picture_shows_the_most_loaded(tmp_path):
    count = picture.MAX_JOINTS + 3
    model = Robot.from_urdf(robot(
        '<link name="l0"/>', *(link(f'l{i + 1}', 0.1) for i in range(count)),
        *(joint(f'j{i}', f'l{i}', f'l{i + 1}') for i in range(count))), engine=QUICK_ENGINE)
    rest = (0.0,) * count
    filled = fill_efforts(model, model.joint_names, Plan(
        model.joint_names, [Waypoint(0.0, rest), Waypoint(1.0, (0.1,) * count)]))
    picture.draw(filled, TorqueCheck(model, filled).report(), tmp_path / 'p.svg')
    text = (tmp_path / 'p.svg').read_text(encoding='utf-8')
    assert f'{picture.MAX_JOINTS} of {count} joints' in text
    assert '<!-- j0 -->' in text
    assert f'<!-- j{count - 1} -->' not in text
