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
"""The documentation is whole: it builds, its numbers are computed, and it leaves nothing out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
import doctest
from pathlib import Path
import re
import subprocess
import sys

import pytest
from repository import PACKAGE, ROOT
from ros2_rnea.feedforward.decision import Status

DOCS = ROOT / 'docs'
PAGES = sorted(DOCS.glob('*.rst'))


def text(page: str) -> str:
    return (DOCS / f'{page}.rst').read_text(encoding='utf-8')


def test_site_builds_without_warnings(tmp_path: Path):
    pytest.importorskip('sphinx', minversion='8.1', reason='Sphinx 8.1 is not installed')
    pytest.importorskip('furo', reason='the theme furo is not installed')
    result = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-W', '--keep-going', '-q', '-b', 'html',
         '-d', str(tmp_path / 'doctrees'), str(DOCS), str(tmp_path / 'html')],
        capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    for page, name in (('api', 'ros2_rnea.Robot.inverse_dynamics'),
                       ('modules', 'ros2_rnea.dynamics.rnea.inverse_dynamics')):
        assert f'id="{name}"' in (tmp_path / 'html' / f'{page}.html').read_text(encoding='utf-8')


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_numbers_in_the_page_are_what_comes_out(page: Path):
    result = doctest.testfile(str(page), module_relative=False, encoding='utf-8')
    assert result.failed == 0, 'see what it printed'


def test_reading_the_numbers_has_numbers():
    examples = doctest.DocTestParser().get_examples(text('reading-the-numbers'))
    assert len(examples) > 10


# ---- nothing is left out --------------------------------------------------------------------


def test_errata_and_their_tests_are_the_same():
    tests = (ROOT / 'test' / 'oracles' / 'test_errata.py').read_text(encoding='utf-8')
    shown = re.findall(r'^def (test_\w+)', tests, re.MULTILINE)
    named = re.findall(r'^ +- ``(test_\w+)``$', text('errata'), re.MULTILINE)
    assert sorted(named) == sorted(shown)


ROOMS = {path.stem for path in PACKAGE.glob('[!_]*') if path.is_dir() or path.suffix == '.py'}


@pytest.mark.parametrize('room', sorted(ROOMS - {'node', 'tools'}))
def test_every_module_that_needs_no_ros_is_listed(room: str):
    assert f'.. every-module:: ros2_rnea.{room}\n' in text('api') + text('modules')


@pytest.mark.parametrize(
    'name', sorted(path.name for path in (PACKAGE / 'dynamics').glob('[!_]*.py')))
def test_theory_names_every_file_of_the_mechanics(name: str):
    assert re.search(rf'``[\w/]*\b{re.escape(name)}``', text('theory'))


def names_in_the_graph() -> Iterator[str]:
    """Yield the topics and services of the node, as its code has them."""
    makers = {'create_publisher': 1, 'create_subscription': 1, 'create_service': 1, 'Input': 0}
    for path in sorted((PACKAGE / 'node').rglob('*.py')):
        for call in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(call, ast.Call):
                place = makers.get(getattr(call.func, 'attr', getattr(call.func, 'id', '')))
                if place is not None and isinstance(call.args[place], ast.Constant):
                    yield call.args[place].value


@pytest.mark.parametrize('name', sorted(names_in_the_graph()))
def test_interface_names_every_topic_and_service(name: str):
    assert f'``{name}``' in text('interface')


@pytest.mark.parametrize('path', [
    'config/inverse_dynamics.yaml',
    *sorted(str(path.relative_to(ROOT)) for pattern in ('srv', 'msg')
            for path in (ROOT / 'ros2_rnea_interfaces' / pattern).glob(f'*.{pattern}'))])
def test_interface_shows_parameters_and_definitions_as_they_are(path: str):
    assert f'.. literalinclude:: ../{path}\n' in text('interface')


@pytest.mark.parametrize('status', Status, ids=lambda status: status.name)
def test_reading_the_numbers_explains_every_state(status: Status):
    assert f'   * - ``{status.name.lower()}``\n' in text('reading-the-numbers')


def test_architecture_names_files_that_exist():
    text = (ROOT / 'ARCHITECTURE.md').read_text(encoding='utf-8')
    named = set(re.findall(r'[\w./]+\.(?:py|c|msg|yaml)\b', text))
    paths = [path.as_posix() for path in ROOT.rglob('*')
             if not {'.venv', 'build', 'install'} & {*path.parts}]
    assert len(named) > 80
    assert [name for name in named if not any(path.endswith(f'/{name}') for path in paths)] == []
