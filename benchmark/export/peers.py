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
Others' inverse dynamics in C and C++: C that is generated from Pinocchio's, and KDL's.

PyPI's Pinocchio comes without ``pinocchio.casadi`` and without its code generator, but with the
headers of both.  So programs in C++ (``generate.cpp``) are compiled once, and write the C of each
robot; this C is compiled as ours is, with the same flags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import ctypes
from functools import cache
from hashlib import sha256
from importlib.metadata import distribution, PackageNotFoundError
from pathlib import Path

from benchmark.errors import Absent
from benchmark.export.loops import (
    compiler,
    FLAGS,
    loop_statement,
    rows_of,
    run,
    sizes,
    SOURCES,
)
from benchmark.kdl import segments
from benchmark.peers import REFUSALS
from benchmark.peers.pinocchio import Pinocchio
from benchmark.problem import Problem
from benchmark.statement import Statement
import numpy as np

CACHE = Path('out', 'benchmark', 'generators')
"""The compiled generators stay here, by their content, for the next run."""

PINOCCHIO_NEEDS = (
    '-DBOOST_MPL_LIMIT_LIST_SIZE=30', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30',
    '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', '-DBOOST_FUSION_INVOKE_MAX_ARITY=12',
    '-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION', '-DPINOCCHIO_WITH_URDFDOM')
"""What the targets of its CMake configuration define."""

PREFIX = 'cmeel.prefix'


def casadi(problem: Problem, folder: Path) -> Statement:
    """Return the C that CasADi generates from Pinocchio's algorithm."""
    return _generated(problem, folder, _generator('casadi', 'casadi', '-DCASADI', '-lcasadi'))


def cppadcodegen(problem: Problem, folder: Path) -> Statement:
    """Return the C that Pinocchio's code generation writes, which is CppADCodeGen."""
    return _generated(
        problem, folder, _generator('cmeel-cppadcodegen', PREFIX, '-lcppad_lib', '-ldl'))


def _generated(problem: Problem, folder: Path, generator: Path | Absent) -> Statement:
    """Return what a generator writes, compiled."""
    if isinstance(generator, Absent):
        raise generator
    floating = ['floating'] if problem.floating_base else []
    text = run(generator, *floating, input=problem.description.text)
    source = folder / f'{generator.name}.c'
    source.write_text(f'{text}\n#include "loop.h"\n'
                      'void loop(const double *inputs, double *outputs) {\n'
                      '  LOOP(generated(q, qd, qdd, out))\n}\n', encoding='utf-8')
    target = source.with_suffix('.so')
    pinocchio = Pinocchio(problem)
    nq, nv = pinocchio.model.nq, pinocchio.model.nv
    run(compiler('CC', 'cc', 'C'), '-std=c99', *FLAGS, *sizes(nq, nv), source, '-lm',
        '-o', target)
    asked = pinocchio.inverse_dynamics()
    inputs = np.array([np.concatenate(row) for row in asked.rows])
    return loop_statement(ctypes.CDLL(str(target)).loop, inputs, nv, to_ours=asked.to_ours)


@cache  # of reasons, too: a compilation takes minutes
def _generator(package: str, place: str, *own_flags: str) -> Path | Absent:
    """
    Return the program that writes C, or why there is none.

    It is compiled where it is not in the cache.

    :param place: where headers and libraries are inside of the package.
    """
    places = {package: place, 'cmeel-eigen': PREFIX, 'libpinocchio': PREFIX}
    try:
        found = [distribution(name) for name in places]
    except PackageNotFoundError as error:
        return Absent(f'{error}; pip install {" ".join(places)}')
    folders = [str(each.locate_file(place)) for each, place in zip(found, places.values())]
    flags = [
        '-std=c++17', '-w', *PINOCCHIO_NEEDS,
        *(f'-isystem{folder}/include{eigen}' for folder in folders for eigen in ('', '/eigen3')),
        *(f'-L{folder}{lib}' for folder in folders for lib in ('', '/lib')),
        *(f'-Wl,-rpath,{folder}{lib}' for folder in folders for lib in ('', '/lib')),
        '-lpinocchio_parsers', '-lpinocchio_default', *own_flags]
    source = SOURCES / 'generate.cpp'
    key = '\n'.join([source.read_text(encoding='utf-8'), *flags,
                     *(each.version for each in found)])
    program = CACHE.resolve() / sha256(key.encode()).hexdigest()[:16]
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_suffix('.unfinished')
        try:
            run(compiler('CXX', 'c++', 'C++'), source, *flags, '-o', unfinished)
        except Absent as reason:
            return reason
        unfinished.replace(program)
    return program


def kdl(problem: Problem, folder: Path) -> Statement:
    """Return KDL's recursive Newton-Euler solver, of chains only."""
    (folder / 'segments.h').write_text(''.join(
        f'{{{", ".join(repr(float(number)) for number in np.hstack(segment[2:]))}}},\n'
        for segment in segments(problem)), encoding='utf-8')
    target = folder / 'kdl.so'
    try:
        run(compiler('CXX', 'c++', 'C++'), '-std=c++17', *FLAGS,
            *sizes(problem.robot.nq, problem.robot.nv), f'-I{folder}', '-I/usr/include/eigen3',
            SOURCES / 'kdl.cpp', '-lorocos-kdl', '-o', target)
    except Absent as reason:
        raise Absent(f'{reason}; apt install liborocos-kdl-dev') from reason
    return loop_statement(
        ctypes.CDLL(str(target)).loop, rows_of(problem), problem.robot.nv)


PEERS: Mapping[str, Callable[[Problem, Path], Statement]] = {
    'Pinocchio, CasADi C': casadi,
    'Pinocchio, CppAD C': cppadcodegen,
    'KDL': kdl,
}


def statements(problem: Problem, folder: Path) -> dict[str, Statement | Absent]:
    """Return what is timed, or why nothing is, by peer."""
    made: dict[str, Statement | Absent] = {}
    for name, make in PEERS.items():
        try:
            made[name] = make(problem, folder)
        except Absent as reason:
            made[name] = reason
        except REFUSALS as error:
            made[name] = Absent(f'refuses the robot: {error}')
    return made
