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

import pytest
from repository import PACKAGE, python_folders

main = pytest.importorskip('ament_flake8.main', reason='ament_flake8 is not installed')


@pytest.mark.flake8
@pytest.mark.linter
def test_flake8(monkeypatch):
    monkeypatch.chdir(PACKAGE)  # it searches the whole working folder for folders to leave out
    rc, errors = main.main_with_errors(argv=python_folders())
    assert rc == 0, '\n'.join(errors)
