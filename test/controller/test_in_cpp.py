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
"""The tests of the controller's core that are written in C++, with GTest."""

from __future__ import annotations

import re
import shutil
import subprocess

from control_core import built, Mode, Reason
from exported import missing, TAPE_C, WARNINGS
import pytest
from repository import ROOT

CORE = ROOT / 'ros2_rnea_controller' / 'core'


def ctest(folder, *arguments):
    """Run ctest in a folder."""
    return subprocess.run(
        ['ctest', '--test-dir', str(folder), *arguments], capture_output=True, text=True,
        check=False)


@pytest.mark.parametrize(('enumeration', 'header'), [
    (Mode, 'settings.hpp'), (Reason, 'control_core.hpp')])
def test_words_of_these_tests_are_those_of_the_core(enumeration, header):
    text = (CORE / header).read_text(encoding='utf-8')
    content = re.search(rf'enum class {enumeration.__name__} {{(.*?)}};', text, re.DOTALL)[1]
    names = re.findall(r'\w+', re.sub('//.*', '', content))
    assert [each.name.lower() for each in enumeration] == names


@pytest.mark.slow
def test_tests_in_cpp_pass(build_folder):
    folder = built(build_folder)
    if 'Total Tests: 0' in ctest(folder, '--show-only').stdout:
        missing('GTest is not installed')
    done = ctest(folder, '--output-on-failure')
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'NoAllocation' in done.stdout


@pytest.mark.parametrize('compiler', ['g++', 'clang++'])
def test_core_compiles_without_a_warning(compiler):
    if shutil.which(compiler) is None:
        missing(f'there is no {compiler} here')
    done = subprocess.run(
        [compiler, '-std=c++17', '-fsyntax-only', '-O2', '-Wshadow', *WARNINGS,
         f'-I{TAPE_C.parent}', f'-I{CORE}', *sorted(CORE.glob('*.cpp'))],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
