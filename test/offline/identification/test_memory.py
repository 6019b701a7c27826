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
"""What an identification allocates beside the recordings does not grow with them."""

import gc
import tracemalloc

import numpy as np
import pytest
from recorded_robots import recorded, swings
from ros2_rnea.offline.commands.report.picture import JointPictures
from ros2_rnea.offline.commands.report.report import Report
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.robots.robot import Robot
from small_robots import ARM

SAMPLES = 12_000
SIZE = SAMPLES * (8 + 2 * 33)
"""Bytes of the samples of a part; 3 and 9 parts have as many samples that a diagnosis uses."""


@pytest.fixture
def arm():
    return Robot.from_urdf(ARM)


def part_of(arm, seed):
    rng = np.random.default_rng(seed)
    return recorded(arm, swings(arm, rng, duration=SAMPLES / 100.0), rng, name=f'part {seed}')


def peak(arm, parts):
    """Return the largest memory that an identification takes in addition to the recordings."""
    kept = [part_of(arm, seed) for seed in range(parts)]
    tracemalloc.start()
    try:
        Report.of('before', kept, arm)
        gc.collect()  # or what waits for the garbage collector would count by chance
        found = identify(kept, arm)
        gc.collect()
        report = Report.of('after', kept, found.robot)
        JointPictures([report.comparison], 0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_recordings(arm, monkeypatch):
    monkeypatch.setattr('ros2_rnea.offline.identification.information.MAX_BLOCKS', 2**12)
    small, large = (peak(arm, parts) for parts in (3, 9))
    assert large - small < SIZE  # of one part, where six more are kept
