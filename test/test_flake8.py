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
"""Style of all Python files, as ROS packages check it."""

import subprocess
import sys

from clean_files import CleanFiles
import pytest
from repository import PACKAGE

pytest.importorskip('ament_flake8.main', reason='ament_flake8 is not installed')

# Its garbage is not worth a search, which takes a sixth of its time.
FLAKE8 = """
import gc, sys
from ament_flake8.main import main
gc.disable()
sys.exit(main())
"""


@pytest.mark.flake8
@pytest.mark.linter
@pytest.mark.slow
def test_flake8(cache: pytest.Cache):
    """It forks, which a process with the threads of other tests may not survive."""
    files = CleanFiles(cache, 'flake8')
    if others := files.others():
        result = subprocess.run(
            [sys.executable, '-c', FLAKE8, *others],
            cwd=PACKAGE,  # it searches the whole working folder for folders to leave out
            capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
        files.all_are_clean()
