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
"""No file can make the interpreter read or write outside: damaged ones, under sanitizers."""

from __future__ import annotations

import re
import subprocess

from exported import compiled, exported, exported_robot, missing, TAPE_C
import pytest
from repository import ROOT
from ros2_rnea.export.model_file import encoded

ROUNDS = 20_000
SEED = 1

FUZZER = ROOT / 'test' / 'support' / 'fuzz_tape.c'


@pytest.fixture(scope='module')
def fuzzer(tmp_path_factory):
    """Return the program that damages files, or skip where sanitizers are missing."""
    folder = tmp_path_factory.mktemp('fuzz')
    sanitizers = ('-fsanitize=address,undefined', '-fno-sanitize-recover=all')
    (folder / 'empty.c').write_text('int main(void) { return 0; }\n', encoding='utf-8')
    try:
        subprocess.run([compiled(folder / 'empty', folder / 'empty.c', *sanitizers)], check=True)
    except (AssertionError, subprocess.CalledProcessError):
        missing('the sanitizers for addresses and undefined behaviour are not installed')
    return compiled(folder / 'fuzz', '-std=c99', '-O1', '-g', *sanitizers, f'-I{TAPE_C.parent}',
                    FUZZER, TAPE_C)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['arm', 'free flyer'])
def test_damaged_files_are_refused_or_stay_inside(name, fuzzer, tmp_path):
    """
    Damage a file in all ways; a failure is repeated with the seed that it says.

    Each byte, each truncation, and random changes with a checksum that fits them.
    """
    quantities = ['inverse_dynamics', 'forward_dynamics', 'gravity']
    path = tmp_path / 'robot.rnea'
    path.write_bytes(encoded(exported(exported_robot(name), quantities, jacobians=[]).model))
    result = subprocess.run([fuzzer, path, str(SEED), str(ROUNDS)], capture_output=True,
                            text=True, check=False)
    assert result.returncode == 0, f'seed {SEED}: {result.returncode}\n{result.stderr}'
    accepted, refused = map(int, re.match(r'accepted (\d+) refused (\d+)', result.stdout).groups())
    assert min(accepted, refused) > ROUNDS // 10
