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
"""How busy the machine was: what is counted, and when figures are not judged."""

from __future__ import annotations

import os

from benchmark import disturbance
from benchmark.disturbance import Disturbance, Watch
import pytest

QUIET = Disturbance(cores=4, load_before=0.3, others=0.02, spread=0.03)

TICK = os.sysconf('SC_CLK_TCK')


class Machine:
    """A clock, and a file of statistics like that of the kernel."""

    def __init__(self, path, monkeypatch):
        self.now, self.own, self.load = 100.0, 0.0, 0.2
        self._path = path
        monkeypatch.setattr(disturbance, 'STATISTICS', path)
        monkeypatch.setattr(disturbance.time, 'monotonic', lambda: self.now)
        monkeypatch.setattr(disturbance.os, 'getloadavg', lambda: (self.load, 9.0, 9.0))
        monkeypatch.setattr(disturbance.os, 'times', lambda: os.times_result(
            (self.own / 4, self.own / 4, self.own / 4, self.own / 4, 0.0)))

    def used(self, user=0.0, system=0.0, idle=0.0, waiting=0.0, stolen=0.0):
        """Write the seconds that the processors have spent so far."""
        seconds = (user, 0.0, system, idle, waiting, 0.0, 0.0, stolen, 77.0, 77.0)
        ticks = ' '.join(str(round(value * TICK)) for value in seconds)
        self._path.write_text(f'cpu  {ticks}\ncpu0 1 1 1 1\n', encoding='utf-8')


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path / 'stat', monkeypatch)


def test_only_what_others_use_is_counted(machine):
    machine.used(user=1000.0, idle=1000.0)
    watch = Watch()
    machine.now += 20.0
    machine.own += 16.0  # of this process and its children
    machine.used(user=1012.0, system=9.0, idle=1010.0, waiting=5.0, stolen=3.0)
    assert watch.disturbance(0.01).others == pytest.approx((12.0 + 9.0 + 3.0 - 16.0) / 20.0)


def test_load_is_that_before_the_run(machine):
    machine.used()
    machine.load = 1.5
    watch = Watch()
    machine.load = 3.0
    assert watch.disturbance(0.01).load_before == 1.5


def test_unknown_use_of_others_is_said_and_not_judged(machine, monkeypatch, tmp_path):
    monkeypatch.setattr(disturbance, 'STATISTICS', tmp_path / 'absent')
    found = Watch().disturbance(0.01)
    assert found.others is None
    assert 'unknown' in str(found)
    assert found.is_small


def test_statistics_of_this_machine_are_readable():
    assert Watch().disturbance(0.0).others >= 0.0


def test_quiet_machine_has_no_reasons():
    assert QUIET.is_small
    assert list(QUIET.reasons()) == []


@pytest.mark.parametrize('name, value, words', [
    ('load_before', 2.1, 'load before the run was 2.1 (at most 2.0)'),
    ('others', 0.3, 'other processes used 0.30 processors during the run (at most 0.25)'),
    ('spread', 0.2, 'typically 20 % apart (at most 15 %)'),
])
def test_each_figure_alone_makes_a_machine_busy(name, value, words):
    busy = Disturbance(**{**vars(QUIET), name: value})
    assert not busy.is_small
    (reason,) = busy.reasons()
    assert words in reason
