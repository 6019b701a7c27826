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
"""The function for CMake: a library of a robot, generated again when the robot changes."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest
from repository import ROOT
from ros2_rnea import Robot
from small_robots import ARM

pytestmark = pytest.mark.skipif(
    shutil.which('cmake') is None or shutil.which('cc') is None,
    reason='cmake or a C compiler is not installed')

PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(example C)
set(CMAKE_C_STANDARD 99)
find_package(ros2_rnea REQUIRED)
ros2_rnea_generate(
  arm arm.urdf FLOAT PREFIX left OPTIONS --quantities gravity --parameters=numbers.yaml)
ros2_rnea_generate(other arm.urdf DEPENDS included.xacro OPTIONS --quantities friction)
add_library(plugin SHARED plugin.c)
target_link_libraries(plugin PRIVATE other)
add_executable(hold hold.c)
target_link_libraries(hold PRIVATE arm)
"""

UPRIGHT = """\
/**:
  ros__parameters:
    gravity: [0.0, 0.0, -9.81]
"""

PLUGIN = """\
#include "other.h"

const double *numbers(void) { return other_parameters; }
"""

PROGRAM = """\
#include <stdio.h>
#include "left.h"

int main(void) {
  const float q[LEFT_NQ] = {0.1f, 0.2f};
  float effort[LEFT_NV];
  if (left_gravity(q, left_parameters, effort)) return 1;
  printf("%.6f %.6f", (double)effort[0], (double)effort[1]);
  return left_self_test() < 1e-4f ? 0 : 2;
}
"""


def cmake(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ['cmake', *map(str, arguments)], capture_output=True, text=True, check=False)


def configured(folder: Path, project: str = PROJECT) -> subprocess.CompletedProcess[str]:
    """Write a project and configure it in a folder."""
    (folder / 'CMakeLists.txt').write_text(project, encoding='utf-8')
    (folder / 'hold.c').write_text(PROGRAM, encoding='utf-8')
    (folder / 'arm.urdf').write_text(ARM, encoding='utf-8')
    (folder / 'plugin.c').write_text(PLUGIN, encoding='utf-8')
    (folder / 'included.xacro').touch()
    (folder / 'numbers.yaml').write_text(UPRIGHT, encoding='utf-8')
    return cmake(
        '-S', folder, '-B', folder / 'build', f'-Dros2_rnea_DIR={ROOT / "cmake"}',
        f'-DPython3_EXECUTABLE={sys.executable}')


def held(folder: Path) -> list[float]:
    """Build the project, and return what its program prints."""
    built = cmake('--build', folder / 'build')
    assert built.returncode == 0, built.stdout + built.stderr
    done = subprocess.run([folder / 'build' / 'hold'], capture_output=True, text=True, check=True)
    return [*map(float, done.stdout.split())]


def test_a_library_is_generated_again_when_the_robot_changes(tmp_path, monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(ROOT))
    assert configured(tmp_path).returncode == 0
    assert held(tmp_path) == pytest.approx(Robot.from_urdf(ARM).gravity([0.1, 0.2]), rel=1e-5)
    heavy = ARM.replace('mass value="1.0"', 'mass value="2.0"')
    (tmp_path / 'arm.urdf').write_text(heavy, encoding='utf-8')
    assert held(tmp_path) == pytest.approx(Robot.from_urdf(heavy).gravity([0.1, 0.2]), rel=1e-5)
    (tmp_path / 'numbers.yaml').write_text(UPRIGHT.replace('-9.81', '9.81'), encoding='utf-8')
    turned = Robot.from_urdf(heavy).gravity([0.1, 0.2], gravity=[0.0, 0.0, 9.81])
    assert held(tmp_path) == pytest.approx(turned, rel=1e-5)


def test_what_nothing_has_changed_is_not_generated_again(tmp_path, monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(ROOT))
    configured(tmp_path)
    held(tmp_path)
    generating = 'Generating the dynamics'
    assert generating not in cmake('--build', tmp_path / 'build').stdout
    os.utime(tmp_path / 'included.xacro')
    assert cmake('--build', tmp_path / 'build').stdout.count(generating) == 1


def test_a_prefix_that_cannot_be_is_refused(tmp_path):
    done = configured(tmp_path, PROJECT.replace('PREFIX left', 'PREFIX my-Arm'))
    assert done.returncode != 0
    assert 'is my-Arm; it needs small letters' in ' '.join(done.stderr.split())


def test_an_option_that_is_not_known_is_named(tmp_path):
    done = configured(tmp_path, PROJECT.replace('OPTIONS --quantities', '--quantities'))
    assert done.returncode != 0
    assert 'does not know --quantities' in ' '.join(done.stderr.split())
