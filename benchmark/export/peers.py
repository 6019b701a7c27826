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
Others' inverse dynamics in C and C++: Pinocchio's, C that is generated from it, and KDL's.

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

CACHE = Path('out', 'benchmark', 'pinocchio')
"""What is compiled with Pinocchio's headers stays here, by its content, for the next run."""

PINOCCHIO_NEEDS = (
    '-DBOOST_MPL_LIMIT_LIST_SIZE=30', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30',
    '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', '-DBOOST_FUSION_INVOKE_MAX_ARITY=12',
    '-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION', '-DPINOCCHIO_WITH_URDFDOM')
"""What the targets of its CMake configuration define."""

PREFIX = 'cmeel.prefix'

Packages = tuple[tuple[str, str], ...]
"""Names of Python packages, and where headers and libraries are inside of each."""

IN_CPP = 'Pinocchio, C++'


def pinocchio_in_cpp(problem: Problem, folder: Path) -> Statement:
    """Return Pinocchio's function, called from C++."""
    library = ctypes.CDLL(str(_built('pinocchio.cpp', (), FLAGS)))
    library.made.restype = ctypes.c_void_p
    urdf = problem.description.text.encode()
    robot = ctypes.c_void_p(library.made(urdf, problem.floating_base))
    return _in_pinocchios_order(problem, library.loop, robot)


def casadi(problem: Problem, folder: Path) -> Statement:
    """Return the C that CasADi generates from Pinocchio's algorithm."""
    return _generated(problem, folder, _built(
        'generate.cpp', (('casadi', 'casadi'),), ('-DCASADI', '-lcasadi')))


def cppadcodegen(problem: Problem, folder: Path) -> Statement:
    """Return the C that Pinocchio's code generation writes, which is CppADCodeGen."""
    return _generated(problem, folder, _built(
        'generate.cpp', (('cmeel-cppadcodegen', PREFIX),), ('-lcppad_lib', '-ldl')))


def _generated(problem: Problem, folder: Path, generator: Path) -> Statement:
    """Return what a generator writes, compiled."""
    floating = ['floating'] if problem.floating_base else []
    text = run(generator, *floating, input=problem.description.text)
    source = folder / f'{generator.name}.c'
    source.write_text(f'{text}\n#include "loop.h"\n'
                      'void loop(const double *inputs, double *outputs) {\n'
                      '  LOOP(generated(q, qd, qdd, out))\n}\n', encoding='utf-8')
    target = source.with_suffix('.so')
    model = Pinocchio(problem).model
    run(compiler('CC', 'cc', 'C'), '-std=c99', *FLAGS, *sizes(model.nq, model.nv), source, '-lm',
        '-o', target)
    return _in_pinocchios_order(problem, ctypes.CDLL(str(target)).loop)


def _in_pinocchios_order(
        problem: Problem, loop: Callable[..., object], *arguments: object) -> Statement:
    """Return the statement of a loop over Pinocchio's coordinates."""
    asked = Pinocchio(problem).inverse_dynamics()
    inputs = np.array([np.concatenate(row) for row in asked.rows])
    return loop_statement(loop, inputs, problem.robot.nv, *arguments, to_ours=asked.to_ours)


def _built(source: str, packages: Packages, flags: tuple[str, ...]) -> Path:
    """
    Return what is compiled with Pinocchio's headers and linked with its libraries.

    :param packages: whose headers and libraries are needed besides.
    :raises Absent: where that fails, or a package is missing.
    """
    built = _built_once(source, packages, flags)
    if isinstance(built, Absent):
        raise built
    return built


@cache  # of reasons, too: a compilation takes minutes
def _built_once(source: str, packages: Packages, flags: tuple[str, ...]) -> Path | Absent:
    """Return what ``_built`` returns or raises; it is compiled where it is not in the cache."""
    places = dict((*packages, ('cmeel-eigen', PREFIX), ('libpinocchio', PREFIX)))
    try:
        found = [distribution(name) for name in places]
    except PackageNotFoundError as error:
        return Absent(f'{error}; pip install {" ".join(places)}')
    folders = [str(each.locate_file(place)) for each, place in zip(found, places.values())]
    command = [
        '-std=c++17', '-w', *PINOCCHIO_NEEDS,
        *(f'-isystem{folder}/include{eigen}' for folder in folders for eigen in ('', '/eigen3')),
        *(f'-L{folder}{lib}' for folder in folders for lib in ('', '/lib')),
        *(f'-Wl,-rpath,{folder}{lib}' for folder in folders for lib in ('', '/lib')),
        '-lpinocchio_parsers', '-lpinocchio_default', *flags]
    texts = [(SOURCES / name).read_text(encoding='utf-8') for name in (source, 'model.hpp')]
    key = '\n'.join([*texts, *command, *(each.version for each in found)])
    target = CACHE.resolve() / sha256(key.encode()).hexdigest()[:16]
    if not target.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix('.unfinished')
        try:
            run(compiler('CXX', 'c++', 'C++'), SOURCES / source, *command, '-o', unfinished)
        except Absent as reason:
            return reason
        unfinished.replace(target)
    return target


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
    IN_CPP: pinocchio_in_cpp,
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
