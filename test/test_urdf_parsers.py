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
Every urdf_parser_py there is reads the same robots: PyPI's 0.0.4, and the one that ROS ships.

``test/model`` runs with the one that is installed, which in a ROS installation is ROS's, and in
``.venv`` PyPI's.  Here it runs with ROS's where PyPI's is installed.
"""

from __future__ import annotations

from importlib.metadata import packages_distributions, version
import os
import subprocess
import sys

from patience import PATIENCE
import pytest
from repository import ROOT

PLACE = 'URDF_PARSER_OF_ROS'
"""The environment variable with the folder of ROS's, from the root of the repository."""

PROGRAM = """
import os, sys
import pytest
from urdf_parser_py import urdf
if not os.path.abspath(urdf.__file__).startswith(os.path.abspath(sys.argv[1]) + os.sep):
    sys.exit(f'another one comes first: {urdf.__file__}')
sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', 'test/model']))
"""


def test_models_are_read_with_the_parser_that_ros_ships():
    if 'urdfdom_py' in packages_distributions().get('urdf_parser_py', ()):
        pytest.skip(f'it is installed, {version("urdfdom_py")}: test/model runs with it anyway')
    if PLACE not in os.environ:
        pytest.skip(f'it is on no package index; {PLACE}=FOLDER/src takes a clone of '
                    'https://github.com/ros/urdf_parser_py, as CI does')
    folder = str(ROOT / os.environ[PLACE])
    path = os.pathsep.join(filter(None, [folder, str(ROOT), os.environ.get('PYTHONPATH')]))
    result = subprocess.run(
        [sys.executable, '-c', PROGRAM, folder], cwd=ROOT, env={**os.environ, 'PYTHONPATH': path},
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
