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
"""Real robots from the package example-robot-data, where that is installed."""

from __future__ import annotations

from importlib.metadata import distribution, PackageNotFoundError
from pathlib import Path

import pytest

FOLDER = 'share/example-robot-data/robots/'


def example_urdf(path):
    """Return the URDF text of one of the robots; skip the test where there are none."""
    installed = _installed()
    file = next(file for file in installed.files if str(file).endswith(FOLDER + path))
    return installed.locate_file(file).read_text(encoding='utf-8')


def example_urdf_files():
    """Return the paths of all URDFs of these robots; skip the test where there are none."""
    return [Path(file.locate()) for file in _installed().files if file.suffix == '.urdf']


def _installed():
    try:
        return distribution('example-robot-data')
    except PackageNotFoundError:
        pytest.skip('example-robot-data is not installed')
