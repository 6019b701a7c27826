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
"""The page of identified robots: what its figures are, of data that are made here."""

import runpy

import numpy as np
import pytest
from repository import ROOT
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.offline.identification.unknowns import Unknowns
from ros2_rnea.robots.robot import Robot
from small_robots import ARM
from synthetic_recordings import changed_inertias, motion, recording

pytest.importorskip('rich')


@pytest.fixture(scope='module')
def program():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / 'docs'))  # as for a program that is there
        programs = [runpy.run_path(str(ROOT / 'docs' / f'{name}.py'))
                    for name in ('public_recordings', 'make_identified_robots')]
    return {**programs[0], **programs[1]}


def test_least_squares_leaves_the_noise_of_unseen_data(program):
    robot = Robot.from_urdf(ARM)
    real = changed_inertias(robot, seed=1)
    noise = 0.05 * np.random.default_rng(2).normal(size=(4000, robot.nv))
    one = recording(real, motion(real, 4000, seed=3), noise)
    unknowns = Unknowns()
    fit = identify([one], robot, unknowns)
    left = program['least_squares']([one], robot, unknowns, fit)
    assert left == pytest.approx([0.05, 0.05], rel=0.1)
    assert left == pytest.approx(fit.identified_rms, rel=0.02)
    assert (fit.urdf_rms > 5.0 * left).any()


def test_contacts_end_after_a_pause(program):
    times = np.arange(0.0, 3.0, 0.01)
    residual = np.zeros((len(times), 2))
    residual[(times > 0.5) & (times < 0.7), 0] = 3.0
    residual[(times > 0.8) & (times < 0.9), 1] = -9.0  # within 0.3 s: the same contact
    residual[(times > 2.0) & (times < 2.1), 0] = -3.0
    observed = program['Observed']('push', times, residual, np.inf)
    (begin, end), (second, _) = observed.contacts(np.array([2.0, 8.0]))
    assert (begin, end, second) == pytest.approx((0.51, 0.89, 2.01), abs=0.011)
    assert observed.contacts(np.array([4.0, 10.0])) == []


def test_gains_of_a_controller_are_those_of_joints_at_rest(program, tmp_path):
    folder = tmp_path / 'dataset_ur10e' / 'jointwise_motion'
    folder.mkdir(parents=True)
    rng = np.random.default_rng(4)
    gains = np.array([12.0, 11.0, 10.0, 9.0, 8.0, 7.0])
    for moving in (0, 1):
        rows = np.zeros((50, 31))
        rows[:, 19:25] = rng.normal(size=(50, 6))
        rows[:, 25:31] = rows[:, 19:25] * gains
        rows[:, 7 + moving] = 1.0
        rows[:, 25 + moving] *= 0.5  # whose target torque lacks friction
        np.savetxt(folder / f'joint_{moving}.csv', rows, delimiter=',')
    assert program['controller_gains'](tmp_path) == pytest.approx(gains)


def test_lines_of_garbage_are_left_out(program, tmp_path):
    (tmp_path / 'a.csv').write_text('1,2\n3\n1e200,4\nnan,5\n6,7\n', encoding='utf-8')
    assert program['raw'](tmp_path, 'a.csv').tolist() == [[1.0, 2.0], [6.0, 7.0]]


@pytest.mark.parametrize('value, text', [
    (93.58, '93.6'), (187.4, '187'), (0.1297, '0.130'), (2.0, '2.00'), (np.nan, '-')])
def test_numbers_have_three_digits(program, value, text):
    assert program['number'](value) == text


@pytest.mark.parametrize('word', ['--csv-joints', ','.join(f'joint_{n}' for n in range(40))])
def test_commands_are_broken_where_the_shell_joins_them(program, word):
    pieces = program['pieces'](word)
    assert ''.join(pieces) == word
    assert max(map(len, pieces)) <= program['COMMAND_WIDTH']
