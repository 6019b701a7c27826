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
"""What the documentation shows of a kernel's way to machine code is what the code makes."""

from __future__ import annotations

import pytest
from repository import ROOT, script
from ros2_rnea.kernels import machine

FOLDER = ROOT / 'docs' / 'listings'
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != '.urdf')


@pytest.fixture(scope='module')
def maker():
    """Return docs/make_listings.py as a module."""
    pytest.importorskip('llvmlite', reason='llvmlite is not installed')
    return script('docs/make_listings.py')


@pytest.fixture(scope='module')
def made(maker):
    return maker.listings()


def test_no_file_is_left_over(made):
    assert NAMES == sorted(made)


@pytest.mark.parametrize('name', NAMES)
def test_listing_is_what_the_code_makes(name, maker, made):
    text = (FOLDER / name).read_text(encoding='utf-8')
    if name.endswith('.ll') and machine.pointer('double') != 'ptr':
        pytest.skip('this LLVM writes the types of pointers')
    if name.endswith('.s') and maker.llvm_version() not in text.splitlines()[0]:
        pytest.skip(f'LLVM {maker.llvm_version()} is not the one that made it')
    assert made[name] == text, 'PYTHONPATH=. python docs/make_listings.py writes it anew'
