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
The rules that keep the package readable, checked: who may import whom, and where mechanics stands.

A boundary that is not tested is lost.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
import re
import subprocess
import sys

import pytest
from repository import PACKAGE, ROOT

# One way: a room imports from rooms below it.  Rooms on one floor do not know each other.
FLOORS = [
    ['errors', 'offline', 'robots'],  # the latter two are empty but for their rooms
    ['spatial'],
    ['model'],
    ['dynamics'],
    ['kernels'],
    ['robots.arguments', 'robots.results', 'robots.sent_terms'],
    ['robots.coordinates', 'robots.evaluator'],
    ['robots.kernel_method', 'robots.observables'],
    ['robots.robot'],
    ['robots.adjustable_robot', 'robots.joint_index_map'],
    ['robots.closed_chain', 'trajectories'],
    ['control', 'export', 'offline.audit', 'offline.filling', 'offline.identification'],
    ['__init__'],
    ['node', 'command_line'],
    ['tools'],
    ['offline.commands'],
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

ROS = re.compile(r'(rclpy|rosidl_\w+|\w+_msgs|std_srvs|rcl_interfaces|builtin_interfaces'
                 r'|ament_\w+|launch\w*|ros2_rnea_interfaces)(\.|$)')

# What formulas of mechanics are made of.  Lengths and eigenvalues are no mechanics.
MECHANICS = re.compile(r'(?:np|numpy|math)\.(?:cross|einsum|outer|kron'
                       r'|sin|cos|tan|arcsin|asin|arccos|acos|arctan2?|atan2?'
                       r'|linalg\.(?!norm$|eigvalsh$|LinAlgError$)\w+)')

MODULES = sorted(PACKAGE.rglob('*.py'))


def name_of(path: Path) -> str:
    return '.'.join(path.relative_to(ROOT).with_suffix('').parts)


def room_of(module: str) -> str:
    """Return the room of a module: `ros2_rnea.model.tree` is in `model`."""
    _, *parts = module.split('.')
    return next((room for room in ('.'.join(parts[:2]), *parts[:1]) if room in FLOOR_OF), '')


def imports(path: Path) -> Iterator[str]:
    """Yield the full names of what a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}:{node.lineno}: relative import'
            for alias in node.names:
                # `from ros2_rnea import model` imports a room, `... import Robot` a public name
                yield f'{node.module}.{alias.name}'


def own_rooms(path: Path) -> Iterator[str]:
    """Yield the rooms that a file imports from."""
    for name in imports(path):
        if name.split('.')[0] == 'ros2_rnea':
            yield room_of(name) or '__init__'


def lends(lender: str, borrower: str) -> bool:
    return lender == borrower or FLOOR_OF[lender] < FLOOR_OF[borrower]


WITHOUT_ROS = [path for path in MODULES if room_of(name_of(path)) not in ('node', 'tools')]


def test_every_module_stands_in_a_known_room():
    assert len(MODULES) > 100
    assert [name_of(path) for path in MODULES if room_of(name_of(path)) not in FLOOR_OF] == []


def test_imports_go_one_way():
    wrong = [f'{name_of(path)} imports from {other}' for path in MODULES
             for other in own_rooms(path) if not lends(other, room_of(name_of(path)))]
    assert not wrong, 'a room imports only from those on lower floors'


def test_ros_is_imported_only_in_node_and_tools():
    wrong = [f'{name_of(path)} imports {name}' for path in WITHOUT_ROS
             for name in imports(path) if ROS.match(name)]
    assert not wrong


WITHOUT_ROS_PROGRAM = """
import importlib, re, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if re.match({pattern!r}, name):
            raise ImportError(f'{{name}} is blocked')

sys.meta_path.insert(0, Refuse())
try:
    import rclpy
    sys.exit('rclpy is not blocked')
except ImportError:
    pass
for name in {modules!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in {optional!r}:
            raise
"""
OPTIONAL = {
    'llvmlite': 'kernels.machine',
    'rosbags': 'offline.identification', 'scipy': 'offline.identification',
    'threadpoolctl': 'offline.identification', 'toppra': 'offline.filling.retiming'}
"""Libraries that not every machine has, and the one module or room, commands aside, of each."""


def test_everything_else_imports_with_ros_blocked():
    modules = [name_of(path).removesuffix('.__init__') for path in WITHOUT_ROS]
    program = WITHOUT_ROS_PROGRAM.format(
        pattern=ROS.pattern, modules=modules, optional=list(OPTIONAL))
    result = subprocess.run([sys.executable, '-c', program], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize('library', OPTIONAL)
def test_an_optional_library_is_imported_in_one_place(library):
    importing = {name_of(path).removeprefix('ros2_rnea.') for path in MODULES
                 if any(name.partition('.')[0] == library for name in imports(path))}
    owner = OPTIONAL[library]
    assert all(
        f'{module}.'.startswith((f'{owner}.', 'offline.commands.', 'tools.'))
        for module in importing), importing


def mechanics_in(path: Path) -> Iterator[str]:
    """Yield the functions of a file that formulas of mechanics are made of."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Attribute) and MECHANICS.fullmatch(ast.unparse(node)):
            yield f'{name_of(path)}, line {node.lineno}: {ast.unparse(node)}'
    for name in imports(path):
        if MECHANICS.fullmatch(name):
            yield f'{name_of(path)} imports {name}'


def test_no_mechanics_outside_spatial_and_dynamics():
    found = [function for path in MODULES
             if room_of(name_of(path)) not in (
                 'spatial', 'dynamics', 'kernels', 'tools', 'offline.commands')
             for function in mechanics_in(path)]
    assert not found, 'belongs into spatial.py or dynamics/'
    assert list(mechanics_in(PACKAGE / 'spatial.py'))


JOINT_TYPES_ARE_NAMED_IN = {
    'ros2_rnea.model.description': 'their properties',
    'ros2_rnea.dynamics.joints': 'their mechanics',
    'ros2_rnea.model.tree': 'the joint of a floating base',
    'ros2_rnea.model.loops': 'the default of a loop: held together',
}


def test_joint_types_are_told_apart_by_their_properties():
    """A new type is a row in description.py and a class in joints.py, and nothing else."""
    named = {
        name_of(path): {
            node.attr for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == 'JointType'}
        for path in MODULES}
    assert {module for module, types in named.items() if types} <= {*JOINT_TYPES_ARE_NAMED_IN}
    assert named['ros2_rnea.model.tree'] == {'FLOATING'}
    assert named['ros2_rnea.model.loops'] == {'FIXED'}


def test_mechanics_of_the_terms_is_reached_through_their_registry():
    """What lists the terms of an effort iterates over the registry, so a new one is there too."""
    of_terms = re.compile(r'ros2_rnea\.dynamics\.(springs|rotors|friction)\.\w+(effort|friction)')
    users = {name_of(path) for path in MODULES
             if any(of_terms.fullmatch(name) for name in imports(path))}
    assert users == {'ros2_rnea.dynamics.terms'}
