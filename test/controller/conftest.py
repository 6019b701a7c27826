# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http:#www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The controller's core is built once for all tests of a run."""

from pathlib import Path

from control_core import loaded_library
import pytest


@pytest.fixture(scope='session')
def build_folder(tmp_path_factory):
    """Return a folder that all processes of a run share."""
    folder = tmp_path_factory.getbasetemp()
    return (folder.parent if folder.name.startswith('popen-') else folder) / 'control_core'


@pytest.fixture(scope='session')
def library(build_folder: Path):
    """Return the core as a library."""
    return loaded_library(build_folder)
