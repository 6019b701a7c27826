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
"""What a run says: tables that fit a terminal, a picture, JSON that says everything again."""

from __future__ import annotations

from io import StringIO
import json

from benchmark.campaign import Result
from benchmark.disturbance import Disturbance
from benchmark.measure import Settings
from benchmark.peers import OURS, PEERS, PINOCCHIO, TEXTBOOK
from benchmark.robots import Description
from benchmark.startup import CACHED, COLD, Startup
from benchmark.summary import Spread
import pytest

pytest.importorskip('rich', reason='rich is not installed')
from benchmark.report import tables  # noqa: E402, I100 (needs rich)
from rich.console import Console  # noqa: E402

ROBOT = Description('panda', 'Panda', '')
CHAINS = [Description(f'chain{n}', '', '', chain_joints=n) for n in (7, 14)]


def timed(robot, peer, nanoseconds, of_pinocchio=1.0, quantity='inverse_dynamics'):
    return Result(
        robot, quantity, peer, code='call(q)', error=1e-15,
        nanoseconds=Spread(nanoseconds, nanoseconds, nanoseconds),
        of_pinocchio=Spread(0.9 * of_pinocchio, of_pinocchio, 1.1 * of_pinocchio))


RESULTS = [
    timed('panda', OURS, 100.0, 0.1),
    timed('panda', PINOCCHIO, 1000.0),
    timed('panda', OURS, 400.0, 0.5, quantity='gravity'),
    timed('panda', OURS, 110.0, 0.11, quantity='payload'),  # other ways are not in pictures
    timed('panda', OURS, 120.0, 0.12, quantity='adjustable'),
    timed('panda', OURS, 40.0, 0.1, quantity='payload_gravity'),
    timed('panda', OURS, 60.0, 0.14, quantity='adjustable_gravity'),
    Result('panda', 'gravity', 'PyKDL', reason='not on PyPI [really]'),
    *(timed(chain.name, OURS, chain.chain_joints * cost)
      for chain, cost in zip(CHAINS, (10.0, 20.0))),
]
STARTUPS = [Startup('panda', OURS, COLD, Spread(0.1, 0.2, 0.25)),
            Startup('panda', OURS, CACHED, Spread(0.02, 0.03, 0.04))]


def lines(table):
    console = Console(width=tables.WIDTH, file=StringIO())
    console.print(table)
    return console.file.getvalue().splitlines()


def line_with(table, *words):
    return next(line for line in lines(table) if all(word in line for word in words))


def test_robot_table_has_figures_ratio_quartiles_and_what_is_asked():
    table = tables.robot_table(ROBOT, RESULTS)
    line = line_with(table, 'inverse dynamics', OURS)
    assert line.split()[3:] == ['100', '0.1', '0.09–0.11', '≤', '0.16', '✓']
    assert line_with(table, 'gravity', OURS).endswith('≤ 0.25 ✗ ')
    assert '≤' not in line_with(table, PINOCCHIO, '1 000')


def test_chain_table_tells_growth_of_the_cost_per_joint():
    line = line_with(tables.chain_table(CHAINS, RESULTS), OURS)
    assert line.split()[3:] == ['10', '20', '×2.00', '✗']


def test_startup_table_holds_times_to_what_is_asked():
    table = tables.startup_table(STARTUPS)
    assert line_with(table, COLD).endswith('≤ 300 ✓ ')
    assert line_with(table, CACHED).endswith('≤ 20 ✗ ')


@pytest.mark.parametrize('judged', [
    tables.robot_table(ROBOT, RESULTS), tables.chain_table(CHAINS, RESULTS),
    tables.startup_table(STARTUPS)])
def test_tables_have_marks_on_a_quiet_machine(judged):
    assert set('✓✗') & set('\n'.join(lines(judged)))


@pytest.mark.parametrize('unjudged', [
    tables.robot_table(ROBOT, RESULTS, judged=False),
    tables.chain_table(CHAINS, RESULTS, judged=False),
    tables.startup_table(STARTUPS, judged=False)])
def test_tables_of_a_busy_machine_have_no_marks(unjudged):
    assert not set('✓✗') & set('\n'.join(lines(unjudged)))


def test_what_is_asked_is_shown_on_a_busy_machine_too():
    table = tables.robot_table(ROBOT, RESULTS, judged=False)
    assert line_with(table, 'inverse dynamics', OURS).split()[3:] == [
        '100', '0.1', '0.09–0.11', '≤', '0.16']


def test_the_reason_for_a_left_out_peer_is_not_altered():
    assert '[really]' in '\n'.join(lines(tables.left_out_table(RESULTS)))


@pytest.mark.parametrize('table', [
    tables.robot_table(ROBOT, RESULTS), tables.chain_table(CHAINS, RESULTS),
    tables.startup_table(STARTUPS), tables.left_out_table(RESULTS),
    tables.statement_table(RESULTS)])
def test_tables_fit_a_terminal(table):
    assert max(map(len, lines(table))) <= tables.WIDTH


def test_missed_figures_are_named():
    assert list(tables.missed(RESULTS)) == [
        'panda, gravity: 0.5, asked 0.25', 'panda, gravity, adjustable: 0.14, asked 0.13']


def test_noise_is_the_typical_distance_of_quartiles():
    assert tables.noise(RESULTS) == pytest.approx(0.2)


def test_every_peer_has_a_place_in_the_picture():
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    from benchmark.report.picture import _styles
    assert set(_styles()) == {peer.name for peer in PEERS} - {TEXTBOOK}


def test_json_and_picture_are_written(tmp_path):
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    from benchmark.report.picture import draw
    from benchmark.report.record import record
    for path in draw([ROBOT, *CHAINS], RESULTS, tmp_path / 'benchmark'):
        assert path.stat().st_size > 1000
    record(tmp_path / 'benchmark.json', Settings(3, 5), [ROBOT], RESULTS, STARTUPS,
           Disturbance(cores=2, load_before=3.0, others=0.1, spread=0.05))
    content = json.loads((tmp_path / 'benchmark.json').read_text())
    assert content['results'][0]['nanoseconds']['median'] == 100.0
    assert content['startup'][1]['seconds'] == {'low': 0.02, 'median': 0.03, 'high': 0.04}
    assert content['disturbance'] == {
        'cores': 2, 'load_before': 3.0, 'others': 0.1, 'spread': 0.05,
        'reasons': ['the load before the run was 3.0 (at most 1.0)']}
    assert content['versions']['numpy'] and content['machine']['cpu']
