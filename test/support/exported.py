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
"""For the tests of exports: compilers, the interpreter behind ctypes, robots and states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import ctypes
import os
from pathlib import Path
import shutil
import subprocess
from typing import NamedTuple

from example_robots import example_urdf
import numpy as np
import pytest
from random_robots import random_tree
from repository import PACKAGE
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.dynamics.quantities import LINK_JACOBIAN
from ros2_rnea.dynamics.quantity_definition import Quantity, WRENCHES
from ros2_rnea.export.model import Model, model_of, quantities_of, traces_of
from ros2_rnea.kernels.tape import INPUTS
from ros2_rnea.kernels.tracing import Trace
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robots.adjustable_robot import ADJUSTABLE, OPTIONAL
from small_robots import ARM, ARM_WITH_GRIPPER, FREE_FLYER, ROVER

Array = np.ndarray

TAPE_C = PACKAGE / 'kernels' / 'tape.c'

COMPILERS = ('gcc', 'clang')
WARNINGS = ('-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wdouble-promotion', '-Werror')
LANGUAGES = {'C99': ('-std=c99',), 'C++': ('-x', 'c++', '-std=c++11')}

Doubles = ctypes.POINTER(ctypes.c_double)


def missing(what: str) -> None:
    """Skip a test, for want of a program; where those are demanded, the test fails."""
    assert 'ROS2_RNEA_DEMANDS_COMPILERS' not in os.environ, what
    pytest.skip(what)


def compiler(name: str = '') -> str:
    """Return a compiler, by default any; skip the test where there is none."""
    found = next(filter(None, map(shutil.which, [name] if name else ['cc', *COMPILERS])), None)
    if found is None:
        missing(f'there is no compiler {name or "cc, gcc or clang"} here')
    return str(found)


def compiled(output: Path, *arguments: str | Path, using: str = '') -> Path:
    """Compile to an output file; what the compiler says, a warning too, fails the test."""
    libm = [] if '-c' in arguments else ['-lm']
    command = [compiler(using), *WARNINGS, *map(str, arguments), '-o', str(output), *libm]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return output


def symbols(objects: Path) -> dict[str, str]:
    """Return the symbols of an object file, by name the letter that nm has for each."""
    if shutil.which('nm') is None:
        missing('there is no nm here')
    listing = subprocess.run(['nm', str(objects)], capture_output=True, text=True, check=True)
    return {line.split()[-1]: line.split()[-2] for line in listing.stdout.splitlines()}


LIBM = {'sin', 'cos', 'sincos', 'sqrt', 'fabs'}
"""What compilers make of the functions of libm that are called."""


def shared_library(folder: Path, source: Path, *options: str) -> ctypes.CDLL:
    """Return C as a library of this process; its products and sums are rounded one by one."""
    path = compiled(folder / f'{source.stem}.so', '-std=c99', '-O2', '-fPIC', '-shared',
                    '-ffp-contract=off', *options, source)
    return ctypes.CDLL(str(path))


class _Model(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in (
            'bytes', 'header', 'joints', 'bodies', 'parameters', 'values', 'tapes', 'text')),
        ('registers', ctypes.c_uint32)]


class _Inputs(ctypes.Structure):
    _fields_ = [(name, Doubles) for name in INPUTS]


class Interpreter:
    """``tape.c`` with one model file loaded."""

    def __init__(self, library: ctypes.CDLL, content: bytes, shift: int = 0) -> None:
        """
        Load a file, and keep what is wrong with it as ``error``, or None.

        :param shift: how far from an aligned address.
        """
        library.rnea_load.restype = ctypes.c_char_p
        library.rnea_find.restype = ctypes.c_void_p
        self._library = library
        self._content = np.zeros(len(content) // 8 + 2)  # aligned, and kept
        whole = self._content.view(np.uint8)[shift:]
        whole[:len(content)] = np.frombuffer(content, np.uint8)
        self.model = _Model()
        error = library.rnea_load(
            ctypes.c_void_p(whole.ctypes.data), ctypes.c_size_t(len(content)),
            ctypes.byref(self.model))
        self.error = error and error.decode()

    @property
    def registers(self) -> int:
        """Return how many registers the largest tape needs."""
        return self.model.registers

    def run(
            self, quantity: str, inputs: Mapping[str, Array], size: int,
            output: Array | None = None) -> Array | None:
        """Return the numbers of a quantity, or None where a guard's bound is exceeded."""
        tape = self._library.rnea_find(ctypes.byref(self.model), quantity.encode())
        if tape is None:
            raise LookupError(quantity)
        output = np.full(size, np.nan) if output is None else output
        registers = np.full(self.registers, np.nan)
        given = _Inputs(**{name: doubles(array) for name, array in inputs.items()})
        status = self._library.rnea_run(
            ctypes.byref(self.model), ctypes.c_void_p(tape), ctypes.byref(given),
            doubles(registers), doubles(output))
        assert status in (0, 1)
        if status:
            assert np.isnan(output).all(), 'it is as it was'
        return None if status else output


def doubles(array: Array) -> ctypes.POINTER(ctypes.c_double):
    """Return a pointer to the numbers of an array."""
    return array.ctypes.data_as(Doubles)


# ---- robots -------------------------------------------------------------------------------------

EXAMPLES = {
    'ur5': ('ur_description/urdf/ur5_robot.urdf', False),
    'panda': ('panda_description/urdf/panda.urdf', False),
    'anymal': ('anymal_b_simple_description/robots/anymal.urdf', True),
    'talos': ('talos_data/robots/talos_reduced.urdf', True),
}
"""Real robots: a path in example-robot-data, and whether the base floats."""

SMALL = {'arm': ARM, 'gripper': ARM_WITH_GRIPPER, 'rover': ROVER, 'free flyer': FREE_FLYER}

TREES = {f'tree {seed}': seed for seed in range(12)}
"""Random trees of all types of joint that URDF has, some of them mimic joints."""

ROBOTS = (*EXAMPLES, *SMALL, *TREES)
"""Twenty names for :func:`exported_robot`."""

KINDS = ('revolute', 'continuous', 'prismatic', 'planar', 'floating', 'fixed')

TILTED = (3.0, -2.0, -9.0)


def exported_robot(name: str) -> AdjustableRobot:
    """Return one of the robots, :func:`equipped`; it computes by the textbook, not by kernels."""
    if name in EXAMPLES:
        path, floats = EXAMPLES[name]
        robot = Robot.from_urdf(example_urdf(path), floating_base=floats, engine='textbook')
    else:
        text = SMALL[name] if name in SMALL else random_tree(
            TREES[name], kinds=KINDS, damping=True, mimics=2).urdf()
        robot = Robot.from_urdf(text, engine='textbook')
    return equipped(robot)


def equipped(robot: Robot) -> AdjustableRobot:
    """Return a robot under a tilt, with a payload, friction of all kinds, springs and rotors."""
    link = robot.body_names[-1]
    loaded = AdjustableRobot.of(robot, [link], sorted(OPTIONAL))
    loaded.set_gravity(TILTED)
    loaded.set_payload('load', link, Inertial(
        1.5, Pose((0.1, -0.2, 0.3), (0.4, 0.5, 0.6)), (0.02, 0.001, -0.002, 0.03, 0.003, 0.04)))
    joints = {joint: loaded.tree.bodies[index].type.nv
              for joint, index in {**loaded.tree.joints, **loaded.tree.mimics}.items()}
    for number, (parameter, kind) in enumerate(ADJUSTABLE.items(), start=1):
        loaded.set_joint_parameters(parameter, {
            joint: 0.1 * number for joint, nv in joints.items()
            if nv == 1 or not kind.of_one_coordinate})
    return loaded


QUANTITIES = ('inverse_dynamics', 'gravity', 'mass_matrix', 'joint_momentum')


class Exported(NamedTuple):
    """A robot with all that can be made of it."""

    robot: AdjustableRobot
    quantities: list[Quantity]
    traces: dict[str, Trace]
    model: Model


def exported(
        robot: AdjustableRobot, names: Sequence[str] = QUANTITIES,
        jacobians: Sequence[str] | None = None, wrenches: bool = True) -> Exported:
    """
    Return a robot with tapes of quantities.

    :param jacobians: links; by default the last one.
    """
    quantities = quantities_of(
        robot, names, robot.link_names[-1:] if jacobians is None else jacobians)
    traces = traces_of(robot, quantities, wrenches)
    return Exported(robot, quantities, traces, model_of(robot, '<robot/>', traces))


def answer(robot: AdjustableRobot, quantity: Quantity, inputs: Mapping[str, Array]) -> Array:
    """Return what the library says of a quantity, row by row."""
    vectors = [inputs[name] for name in quantity.inputs]
    if not quantity.name.startswith(LINK_JACOBIAN):
        given = {'f_ext': inputs['f_ext'].reshape(-1, 6)} if (
            WRENCHES in quantity.depends_on) else {}
        return getattr(robot, quantity.name)(*vectors, **given).ravel()
    return robot.jacobian(*vectors, quantity.name.removeprefix(LINK_JACOBIAN)).ravel()


def random_inputs(robot: AdjustableRobot, rng: np.random.Generator) -> dict[str, Array]:
    """Return all that tapes read, for a random state: arrays by the names of ``INPUTS``."""
    return {
        'q': robot.integrate(robot.neutral(), rng.uniform(-3.0, 3.0, robot.nv)),
        'qd': rng.uniform(-3.0, 3.0, robot.nv), 'qdd': rng.uniform(-3.0, 3.0, robot.nv),
        'tau': rng.uniform(-3.0, 3.0, robot.nv),
        'f_ext': rng.uniform(-10.0, 10.0, 6 * len(robot.body_names)),
        'parameters': robot.parameter_values}


def worst(ours: Array, expected: Array) -> float:
    """Return the largest deviation, relative to the largest number that is expected."""
    return np.abs(ours - expected).max() / max(np.abs(expected).max(), 1e-3)
