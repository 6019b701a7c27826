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
"""
Time from description to first effort, imports excluded, with the cache folder empty and full.

Each sample is a separate process, because within one process a library may keep results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import json
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory

from benchmark.errors import BenchmarkError
from benchmark.peers import ENGINES, OURS, PINOCCHIO, TAPE, TEXTBOOK
from benchmark.robots import Description
from benchmark.summary import Spread, spread
import numpy as np

ROOT = Path(__file__).resolve().parents[1]

COLD, CACHED = 'cold', 'cached'

TARGETS = {
    (COLD, 'panda'): 0.3, (COLD, 'ur5'): 0.3, (COLD, 'talos'): 2.0,
    (CACHED, 'panda'): 0.020, (CACHED, 'ur5'): 0.020, (CACHED, 'talos'): 0.060,
}
"""The longest time that is asked of us [s]."""


@dataclass(frozen=True)
class Startup:
    """
    The time from a robot's description to its first effort.

    :ivar cache: whether the package's cache folder was empty (cold) or full (cached).
    :ivar seconds: its quartiles.
    """

    robot: str
    peer: str
    cache: str
    seconds: Spread

    @property
    def target(self) -> float | None:
        """Return the longest time that is asked of us [s], if any is."""
        return TARGETS.get((self.cache, self.robot)) if self.peer == OURS else None


def measure_startup(description: Description, repetitions: int) -> Iterator[Startup]:
    """
    Yield the times of one robot.

    :param repetitions: how many cache folders are filled, one after the other.
    :raises BenchmarkError: where a process fails, with its last words.
    """
    starts = ((OURS, COLD), (OURS, CACHED), (TAPE, 'none'), (TEXTBOOK, 'none'),
              (PINOCCHIO, 'none'))
    samples: dict[tuple[str, str], list[float]] = {start: [] for start in starts}
    for _ in range(repetitions):
        with TemporaryDirectory() as cache:
            for start in starts:
                samples[start].append(_first_effort(start[0], description, cache))
    for (peer, name), taken in samples.items():
        yield Startup(description.name, peer, name, spread(np.array(taken)))


def _first_effort(peer: str, description: Description, cache: str) -> float:
    """Return how long a fresh process takes [s]."""
    asked = {'text': description.text, 'floating_base': description.floating_base}
    engine = {'ROS2_RNEA_ENGINE': ENGINES[peer]} if peer in ENGINES else {}
    result = subprocess.run(
        [sys.executable, '-m', 'benchmark.first_effort', peer], input=json.dumps(asked),
        capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, 'XDG_CACHE_HOME': cache, **engine})
    if result.returncode != 0:
        words = (result.stderr.strip().splitlines() or ['nothing'])[-1]
        raise BenchmarkError(
            f'the first effort of {description.name!r} by {peer} failed: {words}')
    return int(result.stdout.split()[-1]) * 1e-9
