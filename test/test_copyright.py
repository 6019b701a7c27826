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
"""Licence headers: as ROS packages check them, and plainly where that tool is not installed."""

from pathlib import Path

import pytest
from repository import files, python_folders, ROOT

HEADER = [
    '# Copyright 2026 The ros2_rnea authors',
    '#',
    '# Licensed under the Apache License, Version 2.0 (the "License");',
]
SOURCES = [path for pattern in ['*.py', '*.sh', '*.cmake', 'run', 'colcon']
           for path in files(pattern)]


@pytest.mark.copyright
@pytest.mark.linter
def test_copyright(monkeypatch):
    main = pytest.importorskip('ament_copyright.main', reason='ament_copyright is not installed')
    monkeypatch.chdir(ROOT)
    assert main.main(argv=['LICENSE', 'CONTRIBUTING.md', *python_folders()]) == 0


def begins_with_the_header(path: Path) -> bool:
    """Return whether a file has the header; an empty one needs none."""
    lines = path.read_text(encoding='utf-8').splitlines()
    if lines and lines[0].startswith('#!'):
        del lines[0]
    return not lines or lines[:3] == HEADER


def test_every_source_begins_with_the_licence_header(tmp_path: Path):
    assert len(SOURCES) > 100
    assert [str(path) for path in SOURCES if not begins_with_the_header(path)] == []
    headless = tmp_path / 'headless.py'
    headless.write_text('import os\n', encoding='utf-8')
    assert not begins_with_the_header(headless)


def test_contributions_are_under_the_licence():
    text = ' '.join((ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8').split())
    assert 'will be under the Apache 2 License' in text
    assert '5. Submission of Contributions. Unless You explicitly state otherwise' in text


def test_both_packages_carry_the_same_licence_text():
    texts = {path.read_text(encoding='utf-8') for path in files('LICENSE')}
    assert len(files('LICENSE')) >= 2
    assert len(texts) == 1
    assert 'Apache License' in texts.pop()
