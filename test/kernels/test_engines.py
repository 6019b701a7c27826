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
"""Which engine a robot has: the user's wish, or the fastest there is; what is missing is said."""

import importlib.util
import logging
import os
import subprocess
import sys
from types import ModuleType

import pytest
from repository import ROOT
from ros2_rnea import kernels, Robot
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import call, compiled, engines, machine
from ros2_rnea.kernels.cache import ObjectCache
from ros2_rnea.kernels.compiled import CompiledKernels
from ros2_rnea.kernels.engines import Engine, engine_of, kernels_of, VARIABLE
from ros2_rnea.kernels.taped import TapeKernels
from small_robots import ARM

KINDS = {Engine.COMPILED: CompiledKernels, Engine.TAPE: TapeKernels,
         Engine.TEXTBOOK: type(None)}
needs_extension = pytest.mark.skipif(
    call.EXTENSION_ERROR != '', reason='the extension is not built here')
needs_llvmlite = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')


@pytest.fixture(autouse=True)
def nothing_said_yet():
    engines.say_once.cache_clear()
    yield
    engines.say_once.cache_clear()


@pytest.fixture
def without_llvmlite(monkeypatch):
    monkeypatch.setattr(machine, 'available', lambda: False)


@pytest.fixture
def without_extension(monkeypatch):
    monkeypatch.setattr(call, 'EXTENSION_ERROR', "No module named 'ros2_rnea.kernels._call'")


@pytest.fixture
def no_wish(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def said(caplog):
    assert all(record.name == 'ros2_rnea' and record.levelno == logging.WARNING
               for record in caplog.records)
    return [record.getMessage() for record in caplog.records]


# --- wishes

@needs_llvmlite
@needs_extension
@pytest.mark.parametrize('engine', Engine)
def test_wish_is_an_engine_its_name_or_the_environments(engine, monkeypatch):
    assert engine_of(engine) is engine_of(engine.value) is engine
    monkeypatch.setenv(VARIABLE, engine.value)
    assert engine_of(None) is Robot.from_urdf(ARM).engine is engine


@needs_llvmlite
def test_argument_counts_more_than_the_environment(monkeypatch):
    monkeypatch.setenv(VARIABLE, 'textbook')
    assert Robot.from_urdf(ARM, engine='compiled').engine is Engine.COMPILED


@needs_llvmlite
@pytest.mark.parametrize('value', ['', None])
def test_without_a_wish_robots_are_compiled(no_wish, monkeypatch, value, caplog):
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    assert engine_of(None) is engine_of('') is Engine.COMPILED
    assert said(caplog) == []


@pytest.mark.parametrize('wish', ['fast', 'Compiled', 'python', 3])
def test_unknown_engine_is_refused_with_those_that_there_are(wish, monkeypatch):
    with pytest.raises(ArgumentError, match=f"{wish!r}; there are 'compiled', 'tape', 'textb"):
        engine_of(wish)
    if isinstance(wish, str):
        monkeypatch.setenv(VARIABLE, wish)
        with pytest.raises(ArgumentError, match=wish):
            Robot.from_urdf(ARM)


@needs_llvmlite
@pytest.mark.parametrize('engine, kind', KINDS.items())
def test_engine_has_its_kernels(engine, kind):
    assert type(kernels_of(Robot.from_urdf(ARM).tree, engine)) is kind


# --- without the extension

@needs_llvmlite
def test_that_calls_are_made_from_python_is_said_once(no_wish, without_extension, caplog):
    for _ in range(3):
        Robot.from_urdf(ARM, engine='compiled')
    message, = said(caplog)
    assert 'C compiler' in message and "No module named 'ros2_rnea.kernels._call'" in message


@pytest.mark.parametrize('found', [None, call.CONVENTION - 1])
def test_extension_of_another_version_is_not_used(monkeypatch, found):
    older = ModuleType('ros2_rnea.kernels._call')
    older.KernelCall = object
    if found is not None:
        older.CONVENTION = found
    monkeypatch.setitem(sys.modules, older.__name__, older)
    monkeypatch.setattr(kernels, '_call', older, raising=False)
    spec = importlib.util.spec_from_file_location('call_again', call.__file__)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert again.KernelCall is again.PythonKernelCall and again.EXTENSION is None
    assert f'convention {found}' in again.EXTENSION_ERROR


# --- without llvmlite

@needs_extension
def test_without_llvmlite_tapes_compute_and_it_is_said_once(no_wish, without_llvmlite, caplog):
    for _ in range(3):
        assert Robot.from_urdf(ARM).engine is Engine.TAPE
    message, = said(caplog)
    assert 'llvmlite is not installed: ' in message and 'pip' in message
    assert 'tapes' in message and message == engines.reason_for_slow_calls()


def test_with_neither_the_textbook_computes_and_it_is_said_once(
        no_wish, without_llvmlite, without_extension, caplog):
    for _ in range(3):
        assert Robot.from_urdf(ARM).engine is Engine.TEXTBOOK
    message, = said(caplog)
    assert 'llvmlite is not installed, nor ' in message and 'pip' in message
    assert 'C compiler' in message and "No module named 'ros2_rnea.kernels._call'" in message
    assert message == engines.reason_for_slow_calls()


def test_tapes_without_the_extension_are_refused(without_extension, caplog):
    with pytest.raises(ArgumentError, match="'tape' needs the extension in C.*kernels._call'"):
        engine_of('tape')
    assert engine_of('textbook') is Engine.TEXTBOOK
    assert said(caplog) == []


def test_compiled_without_llvmlite_is_refused(without_llvmlite, caplog):
    with pytest.raises(ArgumentError, match="'compiled' needs llvmlite"):
        engine_of('compiled')
    assert engine_of('textbook') is Engine.TEXTBOOK
    assert said(caplog) == []


PROGRAM = """
import sys
sys.modules['llvmlite'] = None
sys.path.insert(0, 'test/support')
from ros2_rnea import Robot
from small_robots import ARM
state = [0.3, -0.4], [0.5, 0.6], [0.7, 0.8]
for engine in (None, None, 'textbook'):
    print(*Robot.from_urdf(ARM, engine=engine).inverse_dynamics(*state).round(10))
"""


def test_process_without_llvmlite_computes_the_same():
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    result = subprocess.run(
        [sys.executable, '-c', PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True,
        check=True)
    ours, again, textbook = result.stdout.splitlines()
    assert ours == again == textbook
    assert result.stderr.count('llvmlite is not installed') == 1


# --- without a cache

@needs_llvmlite
def test_without_a_private_folder_memory_only_is_said_once(monkeypatch, caplog):
    memory = ObjectCache(None, 'no folder is private')
    monkeypatch.setattr(engines, 'cache', lambda: memory)
    for _ in range(3):
        assert isinstance(kernels_of(Robot.from_urdf(ARM).tree, Engine.COMPILED), CompiledKernels)
    assert said(caplog) == ['compiled robots are kept in memory only: no folder is private']


@pytest.fixture
def spoiled(tmp_path, request):
    """Return a cache whose folder is found to be unusable when it is read or written."""
    if request.param == 'symbolic link':
        (tmp_path / 'real').mkdir()
        (tmp_path / 'folder').symlink_to(tmp_path / 'real')
    else:
        (tmp_path / 'file').touch()
    return ObjectCache(tmp_path / 'folder' if request.param == 'symbolic link' else
                       tmp_path / 'file' / 'folder')


@needs_llvmlite
@pytest.mark.parametrize(
    'spoiled, reason', [('symbolic link', 'symbolic link'), ('file above', 'Not a directory')],
    indirect=['spoiled'])
@pytest.mark.parametrize('use', [
    lambda robot: robot.compile('gravity', 'friction'),
    lambda robot: robot.machine_code('gravity', 'friction'),
    lambda robot: robot.gravity([0.1, 0.2])], ids=['compile', 'machine_code', 'call'])
def test_memory_only_is_said_once_by_whoever_finds_it(
        monkeypatch, caplog, spoiled, reason, use):
    for module in (engines, compiled):
        monkeypatch.setattr(module, 'cache', lambda: spoiled)
    robot = Robot.from_urdf(ARM, engine='compiled')
    assert said(caplog) == []
    use(robot)
    (line,) = said(caplog)
    assert line.startswith('compiled robots are kept in memory only: ') and reason in line
    use(Robot.from_urdf(ARM, engine='compiled'))
    assert said(caplog) == [line]


@needs_llvmlite
def test_a_given_store_is_not_called_the_cache(caplog, tmp_path):
    (tmp_path / 'file').touch()
    tree, store = Robot.from_urdf(ARM).tree, ObjectCache(tmp_path / 'file' / 'folder')
    Robot(tree, engine='compiled', kernels=CompiledKernels(tree, store)).compile('gravity')
    assert 'Not a directory' in store.reason and said(caplog) == []


@needs_llvmlite
def test_an_unusable_folder_of_shipped_kernels_is_said_once(
        monkeypatch, caplog, tmp_path):
    missing = ObjectCache(tmp_path, shipped=[tmp_path / 'missing'])
    monkeypatch.setattr(engines, 'cache', lambda: missing)
    for _ in range(3):
        kernels_of(Robot.from_urdf(ARM).tree, Engine.COMPILED)
    (line,) = said(caplog)
    assert f'{tmp_path}/missing, which is not used' in line and 'No such file' in line
