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
"""Samples on the disk are the same numbers, and take neither memory nor many open files."""

from contextlib import suppress
import gc
import os
from pathlib import Path
from tempfile import gettempdir
import tracemalloc

import numpy as np
import pytest
from recorded_robots import recorded, swings
from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.commands.report.picture import JointPictures
from ros2_rnea.offline.commands.report.report import Report
from ros2_rnea.offline.identification import sample_store
from ros2_rnea.offline.identification.identification import identify
from ros2_rnea.offline.identification.sample_store import SampleStore
from ros2_rnea.robots.robot import Robot
from small_robots import ARM

ARRAYS = ('times', 'q', 'qd', 'qdd', 'tau', 'moves')

SAMPLES = 12_000
SIZE = SAMPLES * (8 + 2 * 33)
"""Bytes of the samples of a part; 3 and 9 parts have as many samples that a diagnosis uses."""


@pytest.fixture
def arm():
    return Robot.from_urdf(ARM)


def part_of(arm, seed, samples=SAMPLES):
    rng = np.random.default_rng(seed)
    return recorded(arm, swings(arm, rng, duration=samples / 100.0), rng, name=f'part {seed}')


def test_first_recordings_stay_in_memory_others_are_on_disk(arm, tmp_path):
    first, second, third = (part_of(arm, seed, 500) for seed in range(3))
    store = SampleStore(2 * 500 * (8 + 2 * 33), tmp_path)
    assert store.kept(first) is first
    assert store.kept(second) is second
    kept = store.kept(third)
    assert [*tmp_path.iterdir()] == []  # the file has no name, so that nothing is left of it
    for name in ARRAYS:
        found, expected = getattr(kept, name), getattr(third, name)
        assert type(found) is np.ndarray and found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        with pytest.raises(ValueError, match='read-only'):
            found[0] = 0.0
    assert (kept.name, kept.pieces) == (third.name, third.pieces)


def test_a_disk_without_room_is_said(arm, tmp_path, monkeypatch):
    store = SampleStore(0)
    monkeypatch.setenv('TMPDIR', str(tmp_path / 'missing'))
    with pytest.raises(RecordingError, match=(
            rf"samples of 'part 0' take 0.037 MB, .* {tmp_path}/missing: No such file .*TMPDIR")):
        store.kept(part_of(arm, 0, 500))


@pytest.mark.skipif(not Path('/proc/self/fd').is_dir(), reason='open files are not known here')
def open_files(folder):
    """Return how many files in a folder this process has open; other tests open others."""
    count = 0
    for number in os.listdir('/proc/self/fd'):
        with suppress(FileNotFoundError):  # that of the listing itself, or of another thread
            count += os.readlink(f'/proc/self/fd/{number}').startswith(f'{folder}/')
    return count


def test_many_parts_of_a_recording_need_few_open_files(arm, tmp_path):
    part = part_of(arm, 0, 500)
    store = SampleStore(0, tmp_path)
    kept = [store.kept(part) for _ in range(50)]
    assert 1 <= open_files(tmp_path) <= 2  # 300, where each array had its own
    for one in kept:
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(one, name), getattr(part, name))
    del one, kept, store
    gc.collect()
    assert open_files(tmp_path) == 0  # with the recordings, the file goes


def test_a_file_that_is_full_is_followed_by_another(arm, tmp_path, monkeypatch):
    parts = [part_of(arm, seed, 500) for seed in range(5)]
    size = 500 * (8 + 2 * 33)
    for largest in (size // 2, 2 * size + 1000):
        monkeypatch.setattr('ros2_rnea.offline.identification.sample_store.FILE_SIZE', largest)
        store = SampleStore(0, tmp_path)
        for found, expected in zip([store.kept(part) for part in parts], parts):
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_an_empty_tmpdir_is_none(monkeypatch):
    monkeypatch.setenv('TMPDIR', '')
    assert sample_store._folder() == Path('/var/tmp')
    monkeypatch.setattr(sample_store, 'FOLDER', '/missing')  # as on Windows
    assert sample_store._folder() == Path(gettempdir())


def peak(arm, folder, parts):
    """Return the largest memory that an identification from recordings on the disk takes."""
    store = SampleStore(0, folder)
    kept = [store.kept(part_of(arm, seed)) for seed in range(parts)]
    tracemalloc.start()
    try:
        Report.of('before', kept, arm)
        gc.collect()  # or what waits for the garbage collector would count by chance
        found = identify(kept, arm)
        gc.collect()
        report = Report.of('after', kept, found.robot)
        JointPictures(report.comparison, 0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_recordings(arm, tmp_path, monkeypatch):
    monkeypatch.setattr('ros2_rnea.offline.identification.information.MAX_BLOCKS', 2**12)
    small, large = (peak(arm, tmp_path, parts) for parts in (3, 9))
    assert large - small < SIZE  # of one part, where six more are kept
