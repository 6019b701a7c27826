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
"""Which code a process runs: files that are no modules do not count, nor need there be any."""

import shutil
import subprocess
import sys

import pytest
from repository import ROOT
from ros2_rnea.kernels.code_version import code_version
from small_robots import ARM


@pytest.fixture
def package(tmp_path):
    shutil.copytree(ROOT / 'ros2_rnea' / 'model', tmp_path / 'package' / 'model',
                    ignore=shutil.ignore_patterns('__pycache__'))
    (tmp_path / 'package' / 'errors.py').write_text('# errors', encoding='utf-8')
    return tmp_path / 'package'


def test_each_module_counts_and_no_other_file(package):
    whole, part = code_version(package), code_version(package, ['model'])
    (package / 'model' / 'notes.txt').write_text('something', encoding='utf-8')
    (package / 'model' / '.#tree.py').symlink_to('user@host.1234')  # the lock file of an editor
    (package / '.#errors.py').symlink_to('user@host.1234')
    (package / 'model' / 'deleted.py').symlink_to(package / 'nowhere.py')  # of a symlink install
    assert (code_version(package), code_version(package, ['model'])) == (whole, part)
    (package / 'errors.py').write_text('# other errors', encoding='utf-8')
    assert code_version(package, ['model']) == part
    assert code_version(package) not in (whole, part)


def test_what_cannot_be_read_has_a_version_like_no_other(package):
    versions = [code_version(package / 'a.zip') for _ in range(2)]
    assert len({*versions, code_version(package)}) == 3


PROGRAM = """
import sys
sys.path.insert(0, {archive!r})
import ros2_rnea
assert {archive!r} in ros2_rnea.__file__
from ros2_rnea import Robot
print(Robot.from_urdf({arm!r}, engine='textbook').gravity([0.1, 0.2]).tolist())
"""


def test_from_a_zip_robots_compute(tmp_path):
    shutil.copytree(ROOT / 'ros2_rnea', tmp_path / 'all' / 'ros2_rnea',
                    ignore=shutil.ignore_patterns('__pycache__', '*.so'))
    archive = shutil.make_archive(str(tmp_path / 'library'), 'zip', tmp_path / 'all')
    result = subprocess.run(
        [sys.executable, '-c', PROGRAM.format(archive=archive, arm=ARM)], cwd=tmp_path,
        capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith('[')
