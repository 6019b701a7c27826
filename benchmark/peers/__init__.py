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
The peers: one file for each library, with the statements of its users for each quantity.

An engine is a peer with one robot loaded.  It is made from a
:class:`~benchmark.problem.Problem`, and has a method for each quantity that its library has an
answer to, named as the quantity is, which returns a :class:`~benchmark.statement.Statement`.
Why it has no other stands in ``WITHOUT``.  Whatever cannot be done raises
:class:`~benchmark.errors.Absent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, Protocol

from benchmark.errors import Absent
from benchmark.problem import Problem
from benchmark.quantities import BY_NAME
from benchmark.statement import Statement

OURS = 'ros2_rnea'
TAPE = 'ros2_rnea tape'
TEXTBOOK = 'ros2_rnea textbook'
PINOCCHIO = 'Pinocchio'

ENGINES = {TAPE: 'tape', TEXTBOOK: 'textbook'}
"""The engines of this package that are not its usual one, by peer."""

REFUSALS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What libraries raise, each in its own way, at a robot that they cannot take."""


class Engine(Protocol):
    """A peer with one robot loaded."""

    WITHOUT: ClassVar[dict[str, str]]

    def __init__(self, problem: Problem) -> None: ...


@dataclass(frozen=True)
class Peer:
    """
    A library to compare with.

    :ivar place: its engine's class, imported on demand.
    :ivar package: its distribution, for its version.
    :ivar install: what installs it.
    """

    name: str
    place: str
    package: str
    install: str

    def load(self, problem: Problem) -> Any:
        """
        Return the engine for a robot.

        :raises Absent: where the library is missing or refuses the robot.
        """
        module, engine = self.place.split(':')
        try:
            loaded = getattr(import_module(f'{__name__}.{module}'), engine)
        except ImportError as error:
            raise Absent(f'{error}; {self.install}') from error
        try:
            return loaded(problem)
        except REFUSALS as error:
            raise Absent(f'refuses the robot: {" ".join(str(error).split())}') from error

    def version(self) -> str:
        """Return the version that is installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return 'unknown'


def statement(engine: Any, quantity: str) -> Statement:
    """
    Return how an engine is asked for a quantity.

    :raises Absent: where it is not.
    """
    way_of = BY_NAME[quantity].way_of if quantity in BY_NAME else ''
    method = getattr(engine, quantity, None) or getattr(engine, way_of, None)
    if method is None:
        raise Absent(engine.WITHOUT.get(quantity, 'has no function for it'))
    asked: Statement = method()
    return asked


PEERS = (
    Peer(OURS, 'ours:Ours', 'ros2_rnea', 'it is this repository'),
    Peer(TAPE, 'ours:Tape', 'ros2_rnea', 'it is this repository'),
    Peer(TEXTBOOK, 'ours:Textbook', 'ros2_rnea', 'it is this repository'),
    Peer(PINOCCHIO, 'pinocchio:Pinocchio', 'pin', 'pip install pin'),
    Peer('CasADi C', 'casadi:CasADi', 'casadi', 'pip install casadi'),
    Peer('adam', 'adam:Adam', 'adam-robotics', "pip install 'adam-robotics[casadi]'"),
    Peer('MuJoCo rne', 'mujoco:Rne', 'mujoco', 'pip install mujoco'),
    Peer('MuJoCo inverse', 'mujoco:Inverse', 'mujoco', 'pip install mujoco'),
    Peer('Drake', 'drake:Drake', 'drake', 'pip install drake'),
    Peer('PyKDL', 'pykdl:Kdl', 'PyKDL',
         'not on PyPI: apt install python3-pykdl, for the Python of the system'),
    Peer('PyBullet', 'pybullet:Bullet', 'pybullet', 'pip install pybullet'),
)
