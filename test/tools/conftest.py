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
"""Results of a demo that never ran, with errors as a test wants them."""

import numpy as np
import pytest

from ros2_rnea.tools.demo.arm import arm_of
from ros2_rnea.tools.demo.experiment import PHASES
from ros2_rnea.tools.demo.figures import (
    Episode,
    LimitedCommands,
    Log,
    Recording,
    Results,
    Section,
)
from ros2_rnea.tools.models import panda

JOINTS = tuple(f'joint{number}' for number in range(1, 8))

TIMING = {
    'states_published': 3500, 'states_answered': 3499, 'states_lost': 1, 'deadline_misses': 2,
    'older_than_20_ms': 0, 'latency_median_ms': 1.1, 'latency_99_percent_ms': 2.5,
    'latency_worst_ms': 9.0, 'commands_accepted': 3499, 'commands_refused': 0,
    'engine_ticks': 7000, 'engine_overruns': 5, 'engine_20_ms_late': 0,
    'engine_worst_lateness_ms': 3.0}

COMMANDS = 10_000

# RMS error of every joint by phase [degrees]: a demo that passes.
ERRORS = {'pd': 1.0, 'gravity': 0.2, 'feedforward': 0.01, 'feedforward_240': 0.02,
          'tip_force': 0.8, 'tip_force_wrench': 0.015}


def _recording(rms, timing):
    times = np.linspace(0.0, 7.0, 701)
    return Recording(times, np.ones((701, 1)) * rms, {**TIMING, **timing})


@pytest.fixture(scope='session')
def arm():
    """Return the arm that the demo simulates by default."""
    return arm_of(panda())


@pytest.fixture
def make_results(arm):
    """
    Return a function that makes results.

    It takes other errors by phase, timing, gravity, episodes, other phases, and how many commands
    were limited in rate.
    """
    def make(timing=None, gravity_errors=(1e-12, 2e-12), episodes=None, phases=PHASES,
             rate_limited=0, **errors):
        recordings = {
            phase.key: _recording(
                np.broadcast_to({**ERRORS, **errors}[phase.key], len(JOINTS)), timing or {})
            for phase in phases}
        return Results(arm, recordings, gravity_errors, episodes or {},
                       LimitedCommands(rate_limited, COMMANDS))
    return make


@pytest.fixture
def make_episode():
    """
    Return a function that makes an episode of three sections of 2 s each, at 100 Hz.

    It takes the error of every joint by section [deg]; by how much one joint's effort steps in
    the middle of the second section [Nm]; and between which times nothing comes [s].
    """
    def make(errors=(0.01, 1.0, 0.02), step=1.0, silent=(0.0, 0.0), right_effort=None,
             title='2 kg picked up', **timing):
        times = np.linspace(0.0, 5.99, 600)
        times = times[(times < silent[0]) | (times >= silent[1])]
        sent = np.ones((len(times), 7))
        sent[times >= 3.0, 3] += step
        sections = tuple(Section(name, 2.0 * number, 2.0 * number + 2.0)
                         for number, name in enumerate(('before', 'unknown', 'known')))
        by_time = np.choose((times // 2.0).astype(int), errors)
        log = Log(times, np.zeros_like(sent), 1.1 * sent, times, sent)
        return Episode(title, sections, log, by_time[:, None] * np.ones(7),
                       {**TIMING, **timing}, right_effort)
    return make
