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
"""Ruff, mypy and shellcheck over everything that they can read."""

import shutil
import subprocess
import sys

import pytest
from repository import files, ROOT

SCRIPTS = [
    str(path) for pattern in ['run', 'colcon', 'sanitize', '*.sh'] for path in files(pattern)]


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_ruff():
    pytest.importorskip('ruff', reason='ruff is not installed')
    result = run(sys.executable, '-m', 'ruff', 'check', '--output-format', 'concise', '.')
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 11), reason='the last NumPy for 3.10 has other types')
def test_mypy():
    pytest.importorskip('mypy', reason='mypy is not installed')
    result = run(sys.executable, '-m', 'mypy')
    assert result.returncode == 0, result.stdout + result.stderr


def test_shellcheck():
    beside_python = shutil.which('shellcheck', path=f'{sys.prefix}/bin')
    shellcheck = beside_python or shutil.which('shellcheck')
    if shellcheck is None:
        pytest.skip('shellcheck is not installed')
    result = run(shellcheck, *SCRIPTS)
    assert result.returncode == 0, result.stdout + result.stderr
