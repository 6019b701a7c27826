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
"""Exports on microcontrollers that QEMU emulates: generated C, and the interpreter with a file."""

from __future__ import annotations

import shutil
import subprocess

from exported import (
    exported,
    exported_robot,
    missing,
    random_inputs,
    TAPE_C,
    WARNINGS,
    worst,
)
import numpy as np
import pytest
from repository import ROOT
from ros2_rnea.export.c_code import c_files, Style
from ros2_rnea.export.model_file import encoded
from ros2_rnea.kernels.tape import evaluate, INPUTS

SUPPORT = ROOT / 'test' / 'support' / 'cortex_m'
COMPILER, EMULATOR = 'arm-none-eabi-gcc', 'qemu-system-arm'
PACKAGES = 'gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-system-arm'

BOARDS = {
    'Cortex-M4': ('mps2-an386', ['-mcpu=cortex-m4', '-mfpu=fpv4-sp-d16']),
    'Cortex-M7': ('mps2-an500', ['-mcpu=cortex-m7', '-mfpu=fpv5-d16']),
}
"""The emulated board of each processor, and what the compiler has to know of it."""

SECONDS = 120
"""An emulated program that takes longer hangs."""


@pytest.fixture(params=BOARDS)
def run_on(request, tmp_path):
    """Return a function that compiles sources for a processor, and returns what they print."""
    board, processor = BOARDS[request.param]
    if not shutil.which(COMPILER) or not shutil.which(EMULATOR):
        missing(f'{PACKAGES} are not installed')
    newlib = subprocess.run([COMPILER, '-print-file-name=rdimon.specs'], capture_output=True,
                            text=True, check=True)
    if newlib.stdout.strip() == 'rdimon.specs':  # it is where it was found
        missing(f'{PACKAGES} are not installed: there is no newlib')

    def run(*sources, options=()):
        program = tmp_path / 'program.elf'
        result = subprocess.run(
            [COMPILER, '-std=c99', '-O2', *processor, '-mthumb', '-mfloat-abi=hard',
             '--specs=rdimon.specs', '-T', SUPPORT / 'mps2.ld', *options, SUPPORT / 'start.c',
             *sources, '-lm', '-o', program], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        result = subprocess.run(
            [EMULATOR, '-M', board, '-nographic', '-semihosting-config',
             'enable=on,target=native', '-kernel', program],
            capture_output=True, text=True, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run


@pytest.mark.parametrize('is_float', [False, True], ids=['double', 'float'])
@pytest.mark.parametrize('name', ['ur5', 'free flyer'])
def test_generated_code_passes_its_test(name, is_float, run_on, tmp_path):
    robot, quantities, traces, model = exported(
        exported_robot(name), ['inverse_dynamics', 'gravity', 'mass_matrix'])
    files = c_files(robot, model, quantities, traces, Style('r', is_float), example=True)
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding='utf-8')
    printed = run_on(tmp_path / 'r_example.c', tmp_path / 'r.c', options=WARNINGS)
    deviation = float(printed.splitlines()[0].removeprefix('self-test: largest deviation '))
    assert 0.0 < deviation < (1e-4 if is_float else 1e-12)


MAIN = """
#include "tape.h"
#include <stdio.h>

static const union {{ unsigned char bytes[{size}]; double aligned; }} file = {{{{{bytes}}}}};
static const double values[] = {{{values}}};
static double registers[{registers}], output[{largest}];

int main(void) {{
  rnea_model model;
  rnea_inputs inputs = {{0}};
  uint32_t t, i;
  const char *error = rnea_load(file.bytes, sizeof file.bytes, &model);
  if (error) {{
    printf("%s\\n", error);
    return 1;
  }}
  {inputs}
  for (t = 0; t < model.header->tapes.count; ++t) {{
    const rnea_tape *tape = &model.tapes[t];
    if (rnea_run(&model, tape, &inputs, registers, output)) return 2;
    for (i = 0; i < tape->rows * tape->columns; ++i) printf("%.17g ", output[i]);
    printf("\\n");
  }}
  return 0;
}}
"""


@pytest.mark.parametrize('name', ['ur5', 'free flyer'])
def test_interpreter_computes_what_the_reference_does(name, run_on, tmp_path):
    robot, _, _, model = exported(exported_robot(name))
    content = encoded(model)
    inputs = {array: values.tolist() for array, values in random_inputs(
        robot, np.random.default_rng(7)).items()}
    starts = np.cumsum([0, *(len(inputs[array]) for array in INPUTS)])
    (tmp_path / 'main.c').write_text(MAIN.format(
        size=len(content), bytes=', '.join(map(str, content)),
        values=', '.join(repr(number) for array in INPUTS for number in inputs[array]),
        registers=max(tape.registers for tape in model.tapes),
        largest=max(len(tape.outputs) for tape in model.tapes),
        inputs='\n  '.join(f'inputs.{array} = values + {start};'
                           for array, start in zip(INPUTS, starts))), encoding='utf-8')
    printed = run_on(tmp_path / 'main.c', TAPE_C, options=[*WARNINGS, f'-I{TAPE_C.parent}'])
    lines = printed.splitlines()
    assert len(lines) == len(model.tapes)
    for tape, line in zip(model.tapes, lines):
        assert worst(np.array(line.split(), float), np.array(evaluate(tape, inputs))) <= 1e-14
