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
"""The core of ros2_rnea_controller, built with CMake and driven over ctypes."""

from __future__ import annotations

import ctypes
from enum import IntEnum
import fcntl
import os
from pathlib import Path
import shutil
import subprocess
import sys

from exported import compiler, doubles, missing
import numpy as np
from repository import ROOT
from ros2_rnea.export.model import Model, model_of, OF_CONTROLLER, quantities_of, traces_of
from ros2_rnea.export.model_file import encoded
from ros2_rnea.robots.robot import Robot

LIBRARY = 'ros2_rnea_core_in_c'


class Mode(IntEnum):
    """The modes of the controller, in the order of settings.hpp."""

    GRAVITY_COMPENSATION = 0
    FEEDFORWARD = 1
    COMPUTED_TORQUE = 2
    EFFORT = 3


class Reason(IntEnum):
    """The reasons of the core, in the order of control_core.hpp."""

    NONE = 0
    NO_REFERENCE = 1
    FAR_REFERENCE = 2
    DOUBLED_GRAVITY = 3
    LARGE_REFERENCE = 4
    DISABLED = 5
    DEVIATION = 6
    SPEED = 7
    UNUSABLE_STATES = 8


def built(folder: Path, target: str = 'all') -> Path:
    """
    Configure and build the core with its tests, and return the folder.

    Processes of one run share it: one of them builds and the others wait.  The test is skipped
    where CMake or a compiler is missing.
    """
    if shutil.which('cmake') is None:
        missing('there is no cmake here')
    if shutil.which('c++') is None:
        missing('there is no compiler of C++ here')
    compiler()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _run('cmake', '-S', ROOT / 'ros2_rnea_controller' / 'core', '-B', folder / 'build',
             f'-Dros2_rnea_DIR={ROOT / "cmake"}', f'-DPython3_EXECUTABLE={sys.executable}',
             '-DCMAKE_BUILD_TYPE=Release')
        _run('cmake', '--build', folder / 'build', '--target', target)
    return folder / 'build'


def _run(*command: object) -> None:
    environment = {**os.environ, 'PYTHONPATH': f'{ROOT}:{os.environ.get("PYTHONPATH", "")}'}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False,
                          env=environment)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert 'warning:' not in output, output


def loaded_library(folder: Path) -> ctypes.CDLL:
    """Return the library of the core, with the types of what its functions return."""
    library = ctypes.CDLL(str(next((built(folder, LIBRARY) / 'test').glob(f'lib{LIBRARY}.*'))))
    library.core_new.restype = library.core_array.restype = ctypes.c_void_p
    library.core_place.restype = ctypes.c_size_t
    for name in ('load', 'names', 'numbers', 'number', 'build', 'state', 'refusal'):
        getattr(library, f'core_{name}').restype = ctypes.c_char_p
    return library


def model(robot: Robot) -> Model:
    """Return the model of a robot with the quantities that the core needs."""
    return model_of(
        robot, '<robot/>', traces_of(robot, quantities_of(robot, OF_CONTROLLER, ())))


def model_file(robot: Robot) -> bytes:
    """Return the model file of a robot whose hardware adds nothing by itself."""
    return encoded(model(robot))


class Core:
    """
    A ControlCore.  Its arrays are those of the core: they are read and written in place.

    :param library: of :func:`loaded_library`.
    :param content: the model file.
    :param settings: names of joints, one or several numbers each, or true or false.
    :raises ValueError: with the core's words, where the settings do not fit the model.
    """

    def __init__(self, library: ctypes.CDLL, content: bytes, **settings: object) -> None:
        self._library = library
        self._core = ctypes.c_void_p(library.core_new())
        self._check(library.core_load(self._core, content, ctypes.c_size_t(len(content))))
        for name, value in settings.items():
            self._set(name.encode(), value)
        self._check(library.core_build(self._core))
        for name in ('q', 'qd', 'measured', 'position', 'velocity', 'acceleration', 'reference',
                     'effort', 'position_sent', 'velocity_sent', 'model_effort', 'external'):
            setattr(self, name, self._array(name))

    q: np.ndarray
    qd: np.ndarray
    measured: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    reference: np.ndarray
    effort: np.ndarray
    position_sent: np.ndarray
    velocity_sent: np.ndarray
    model_effort: np.ndarray
    external: np.ndarray

    def __del__(self) -> None:
        self._library.core_delete(self._core)

    def place(self, joint: str) -> int:
        """Return the place of a joint in ``q`` and, as each has one coordinate, in ``qd``."""
        return self._library.core_place(self._core, joint.encode())

    def refer(self, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> None:
        """Want a motion, shape (joints,) each."""
        self.position[:], self.velocity[:], self.acceleration[:] = position, velocity, acceleration

    def start(self, held: np.ndarray) -> bool:
        """Begin with what the hardware holds, shape (joints,)."""
        return bool(self._library.core_start(self._core, doubles(np.array(held, dtype=float))))

    def update(self, period: float) -> bool:
        """Let a cycle pass."""
        return bool(self._library.core_update(self._core, ctypes.c_double(period)))

    def hold(self) -> bool:
        """Make the command that holds the arm."""
        return bool(self._library.core_hold(self._core))

    def enable(self, is_enabled: bool = True) -> None:
        """Enable or disable, as ~/enable does."""
        self._library.core_enable(self._core, int(is_enabled))

    def set_parameters(self, values: np.ndarray) -> None:
        """Take other parameters, without a check."""
        self._library.core_parameters(self._core, doubles(values))

    def refusal(self, values: np.ndarray) -> str:
        """Return why other parameters are refused; empty: they are not."""
        return self._library.core_refusal(
            self._core, doubles(values), ctypes.c_size_t(len(values))).decode()

    @property
    def state(self) -> str:
        """Return the state, in large letters."""
        return self._library.core_state(self._core).decode()

    @property
    def reason(self) -> Reason:
        """Return why the reference is not followed."""
        return Reason(self._library.core_reason(self._core))

    @property
    def rests(self) -> bool:
        """Return whether all joints rest."""
        return bool(self._library.core_rests(self._core))

    def _set(self, name: bytes, value: object) -> None:
        if isinstance(value, (bool, int, float)):
            error = self._library.core_number(self._core, name, ctypes.c_double(value))
        elif len(value) and isinstance(value[0], str):
            error = self._library.core_names(self._core, name, ' '.join(value).encode())
        else:
            numbers = np.array(value, dtype=float)
            error = self._library.core_numbers(
                self._core, name, doubles(numbers), ctypes.c_size_t(len(numbers)))
        self._check(error)

    def _check(self, error: bytes | None) -> None:
        if error is not None:
            raise ValueError(error.decode())

    def _array(self, name: str) -> np.ndarray:
        size = ctypes.c_size_t()
        place = self._library.core_array(self._core, name.encode(), ctypes.byref(size))
        return np.ctypeslib.as_array(
            ctypes.cast(place, ctypes.POINTER(ctypes.c_double)), (size.value,))
