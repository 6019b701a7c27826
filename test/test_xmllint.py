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
"""Shipped XML: as ROS packages check it, and plainly where that tool is not installed."""

from pathlib import Path
import shutil
from xml.etree import ElementTree

import pytest
from repository import files, PACKAGE, ROOT

PACKAGE_FILES = files('package.xml')
# Of the test folder's URDFs some are broken on purpose; these are the shipped ones.
SHIPPED = [path for pattern in ['*.xml', '*.urdf'] for path in sorted(PACKAGE.rglob(pattern))]


@pytest.mark.linter
@pytest.mark.xmllint
def test_xmllint():
    main = pytest.importorskip('ament_xmllint.main', reason='ament_xmllint is not installed')
    if shutil.which('xmllint') is None:
        pytest.skip('the command xmllint is not installed')
    assert main.main(argv=[str(path) for path in PACKAGE_FILES]) == 0


@pytest.mark.parametrize('path', PACKAGE_FILES + SHIPPED, ids=lambda p: str(p.relative_to(ROOT)))
def test_file_is_well_formed(path: Path):
    ElementTree.parse(path)
