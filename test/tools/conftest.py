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

from ros2_rnea.tools.demo.experiment import PHASES
from ros2_rnea.tools.demo.figures import Recording, Results

JOINTS = tuple(f'joint{number}' for number in range(1, 8))

TIMING = {
    'states_published': 3500, 'states_answered': 3499, 'states_lost': 1, 'deadline_misses': 2,
    'older_than_20_ms': 0, 'latency_median_ms': 1.1, 'latency_99_percent_ms': 2.5,
    'latency_worst_ms': 9.0, 'commands_accepted': 3499, 'commands_refused': 0,
    'engine_ticks': 7000, 'engine_overruns': 5, 'engine_20_ms_late': 0,
    'engine_worst_lateness_ms': 3.0}

# RMS error of every joint by phase [degrees]: a demo that passes.
ERRORS = {'pd': 1.0, 'gravity': 0.2, 'feedforward': 0.01, 'feedforward_240': 0.02,
          'tip_force': 0.8, 'tip_force_wrench': 0.015}


def _recording(rms, timing):
    times = np.linspace(0.0, 7.0, 701)
    return Recording(times, np.ones((701, 1)) * rms, {**TIMING, **timing})


@pytest.fixture
def make_results():
    """Return a function that makes results; it takes other errors by phase, timing, gravity."""
    def make(timing=None, gravity_errors=(1e-12, 2e-12), **errors):
        recordings = {
            phase.key: _recording(
                np.broadcast_to({**ERRORS, **errors}[phase.key], len(JOINTS)), timing or {})
            for phase in PHASES}
        return Results(JOINTS, recordings, gravity_errors)
    return make
