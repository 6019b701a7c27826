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
"""The demo as users run it, and its verdict."""

import json
import os
import subprocess
import sys

from patience import PATIENCE
import pytest
from ros2_rnea.kernels.engines import VARIABLE
from ros2_rnea.tools.demo.judge import NOT_JUDGED

DEMO = [sys.executable, '-m', 'ros2_rnea.tools.demo']


def judged(out, *options, file='summary.json'):
    """
    Return the figures of a demo that passed; skip the test where the machine is too slow.

    The demo runs without the environment variable by which the tests choose a slower engine.  With
    that one, a cycle takes milliseconds, and the efforts would be late.
    """
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    run = subprocess.run(
        [*DEMO, '--out', out, *options], capture_output=True, text=True, timeout=6.0 * PATIENCE,
        env=environment)
    if run.returncode == 3:
        assert NOT_JUDGED in run.stdout
        pytest.skip(NOT_JUDGED)
    assert run.returncode == 0, run.stdout + run.stderr + (out / 'node.log').read_text()
    figures = json.loads((out / file).read_text())
    assert figures['verdict'] == 'passed'
    assert all(check['passed'] for check in figures['checks'])
    return figures
