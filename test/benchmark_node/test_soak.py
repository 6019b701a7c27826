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
"""The judgement of a long run, its table and its picture."""

from dataclasses import replace
import os
from pathlib import Path

from benchmark.node.soak import _children, _memory, judge, Sample, Totals
from benchmark.node.soak_report import draw, table
import pytest
from rich.console import Console

MIB = 2 ** 20
GOOD = Totals(sent=1000, late=3, delivered=990, refused=0, answered=980, merged=10, too_old=0)
SAMPLES = [
    Sample(time=60.0 * minute, memory=100 * MIB, workers_memory=80 * MIB, threads=22,
           descriptors=21, processor=0.13, answers=60_000, latencies=(2e-4, 4e-4, 5e-3), load=0.5)
    for minute in range(60)]


def test_what_stays_the_same_passes():
    assert judge(SAMPLES, GOOD) == []


def test_a_warm_up_may_grow():
    assert judge([replace(SAMPLES[0], memory=50 * MIB, threads=9), *SAMPLES[1:]], GOOD) == []


@pytest.mark.parametrize('change, said', [
    ({'memory': 102 * MIB}, 'the memory has grown by 2.0 MiB'),
    ({'threads': 23}, 'the number of threads was between 22 and 23'),
    ({'descriptors': 40}, 'the number of descriptors was between 21 and 40'),
])
def test_what_grows_is_found(change, said):
    fault, = judge([*SAMPLES[:-1], replace(SAMPLES[-1], **change)], GOOD)
    assert said in fault


@pytest.mark.parametrize('change, said', [
    ({'refused': 2}, '2 states were refused'),
    ({'too_old': 1}, '1 efforts came more than state_timeout'),
])
def test_states_without_a_timely_answer_are_found(change, said):
    fault, = judge(SAMPLES, replace(GOOD, **change))
    assert said in fault


def test_the_table_has_the_first_and_the_last_sample():
    console = Console(width=100, record=True, file=open(os.devnull, 'w'))  # noqa: SIM115
    console.print(table(SAMPLES, GOOD, 1000.0))
    text = console.export_text()
    assert '0.0 ' in text and '59.0 ' in text
    assert '990 delivered' in ' '.join(text.split())


def test_the_picture_is_drawn_twice(tmp_path):
    png, svg = draw(SAMPLES, tmp_path / 'soak')
    assert png.read_bytes().startswith(b'\x89PNG')
    assert '<svg' in svg.read_text()


def test_the_memory_of_a_process_is_read_while_it_lives():
    assert _memory(Path('/proc', str(os.getpid()))) > MIB
    assert _memory(Path('/proc/no_such_process')) == 0
    assert all(child.parent == Path('/proc') for child in _children(os.getpid()))
