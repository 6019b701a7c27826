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
import fcntl
import importlib.util
import json
import os
from pathlib import Path
import re
import runpy
import subprocess
import sys
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
import pytest
from repository import PACKAGE, ROOT
from ros2_rnea.control.decision import Status

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DOCS = ROOT / 'docs'
PAGES = sorted(DOCS.glob('*.rst'))
OF_THE_NODE = ''.join(
    page.read_text(encoding='utf-8') for page in sorted((DOCS / 'node').glob('*.rst')))


def text(page: str) -> str:
    return (DOCS / f'{page}.rst').read_text(encoding='utf-8')


class Build(NamedTuple):
    """How the one build of the site that all tests share went."""

    folder: Path
    status: int
    messages: str


# Garbage collection takes two fifths of the time, and a build ends before it needs the memory.
SPHINX = """
import gc, sys
from sphinx.cmd.build import main
gc.disable()
sys.exit(main())
"""


@pytest.fixture(scope='session')
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build the site once, also if several processes of pytest-xdist have tests of it."""
    pytest.importorskip('sphinx', minversion='8.1', reason='Sphinx 8.1 is not installed')
    pytest.importorskip('furo', reason='the theme furo is not installed')
    base = tmp_path_factory.getbasetemp()
    if 'PYTEST_XDIST_WORKER' in os.environ:
        base = base.parent  # that of the run
    folder, report = base / 'site', base / 'site.json'
    with (base / 'site.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not report.exists():
            result = subprocess.run(
                [sys.executable, '-c', SPHINX, '-W', '--keep-going', '-q', '-b', 'html',
                 '-d', str(base / 'doctrees'), str(DOCS), str(folder)],
                capture_output=True, text=True, check=False)
            report.write_text(json.dumps([result.returncode, result.stderr]), encoding='utf-8')
    return Build(folder, *json.loads(report.read_text(encoding='utf-8')))


@pytest.mark.slow
def test_site_builds_without_warnings(build: Build):
    assert build.status == 0, build.messages
    for page, name in (('api', 'ros2_rnea.Robot.inverse_dynamics'),
                       ('modules', 'ros2_rnea.dynamics.rnea.inverse_dynamics')):
        assert f'id="{name}"' in (build.folder / f'{page}.html').read_text(encoding='utf-8')


# ---- in a browser ---------------------------------------------------------------------------


def look_at(site: Path) -> subprocess.CompletedProcess:
    """Do what `./run docs --check` does with a built site."""
    if importlib.util.find_spec('playwright') is None:
        pytest.skip('playwright is not installed')
    result = subprocess.run([sys.executable, str(DOCS / 'check_site.py'), str(site)],
                            capture_output=True, text=True, check=False)
    if 'is installed' in result.stderr:
        assert not os.environ.get('ROS2_RNEA_DEMANDS_BROWSER'), result.stderr
        pytest.skip(result.stderr.strip())
    return result


@pytest.mark.slow
def test_pages_have_no_fault_in_a_browser(build: Build):
    result = look_at(build.folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.match(r'[3-9]\d pages, 0 faults', result.stdout)


@pytest.mark.slow
def test_the_menu_leads_to_guides_and_not_into_the_package(build: Build):
    page = (build.folder / 'index.html').read_text(encoding='utf-8')
    first = re.findall(r'<li class="toctree-l1[^"]*"><a [^>]*href="([\w/-]+)\.html"', page)
    assert {'how-to/moveit', 'node/index', 'api', 'theory', 'check-model'} <= {*first}
    assert not {'modules', 'robots', 'proof', 'real-robots'} & {*first}  # they are below these


@pytest.fixture
def browser() -> Iterator[Browser]:
    """Return the system's browser."""
    playwright = pytest.importorskip('playwright.sync_api')
    path = runpy.run_path(str(DOCS / 'check_site.py'))['find_browser']()
    if path is None:
        assert not os.environ.get('ROS2_RNEA_DEMANDS_BROWSER')
        pytest.skip('no browser is installed')
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.mark.slow
@pytest.mark.parametrize('query', ['gravity', 'friction', 'payload', 'robot'])
def test_search_finds_guides_before_what_is_inside(build: Build, browser: Browser, query: str):
    tab = browser.new_page()
    tab.goto(f'{(build.folder / "search.html").as_uri()}?q={query}')
    tab.wait_for_function('Search.output && Search.status && /finished/.test('
                          'Search.status.textContent)')
    found = tab.evaluate(
        '[...document.querySelectorAll("ul.search > li > a")].map(a => a.getAttribute("href"))')
    pages = [link.partition('.html')[0] for link in found]
    assert pages[0].startswith('how-to/')
    inside = [page in ('modules', 'robots', 'proof', 'real-robots', 'errata') for page in pages]
    assert any(inside) and inside == sorted(inside)


@pytest.mark.slow
def test_a_button_copies_commands_without_prompts(build: Build, browser: Browser):
    context = browser.new_context(permissions=['clipboard-read', 'clipboard-write'])
    tab = context.new_page()
    tab.goto((build.folder / 'index.html').as_uri())
    block = tab.locator('.highlight-console', has_text='ros2 launch').first
    block.hover()
    block.get_by_role('button', name='Copy').click()
    block.get_by_text('Copied').wait_for()
    assert tab.evaluate('navigator.clipboard.readText()') == (
        'ros2 launch ros2_rnea inverse_dynamics.launch.py \\\n    params_file:=my_arm.yaml')


FAULTS = {
    'the page scrolls sideways at 1200 px: <p> wide':
        '<p style="width: 1300px">wide</p>',
    'the page scrolls sideways at 400 px: <p> middling':
        '<p style="width: 700px">middling</p>',
    'a command is too long for a line: ros2 run':
        '<div class="highlight-shell"><pre style="white-space: pre-wrap; width: 300px">ros2 run'
        f'{" option" * 30}\ncd</pre></div>',
    'a link leads to absent.html, which does not exist': '<a href="absent.html">link</a>',
    'a link leads to index.html#absent, which does not exist': '<a href="#absent">link</a>',
    'an image is not shown: absent.png': '<img src="absent.png">',
    'a drawing is shown too small to read: wide.svg, 300 of 800 px':
        '<img src="wide.svg" style="width: 300px">',
    'the page needs the network: https://example.com/a.js':
        '<script src="https://example.com/a.js"></script>',
    'the console has an error: reason': '<script>console.error("reason")</script>',
    'a script fails: reason': '<script>throw new Error("reason")</script>',
}


def test_each_kind_of_fault_is_found_on_its_page(tmp_path: Path):
    for number, body in enumerate(['', *FAULTS.values()]):
        links = ' '.join(f'<a href="{n}.html#top">page</a>' for n in range(1, len(FAULTS) + 1))
        name = 'index' if number == 0 else str(number)
        (tmp_path / f'{name}.html').write_text(
            f'<!doctype html><body id="top">{links if number == 0 else ""} '
            f'{body}<a href="https://example.com">other site</a>')
    (tmp_path / 'wide.svg').write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="9"></svg>')
    result = look_at(tmp_path)
    assert result.returncode == 1, result.stderr
    for number, fault in enumerate(FAULTS, 1):
        expected = fault.replace('index.html', f'{number}.html')
        assert f'{number}.html: {expected}' in result.stdout
    assert 'index.html: ' not in result.stdout
    assert f'{len(FAULTS) + 1} pages' in result.stdout


def test_a_page_without_faults_has_none(tmp_path: Path):
    """What scrolls by itself is not the page's width, and links to existing headings are alive."""
    (tmp_path / 'index.html').write_text(
        '<!doctype html><div style="overflow-x: auto"><p style="width: 3000px">table</p></div>'
        '<h1 id="here">heading</h1><a href="#here">link</a><a href="https://example.com/#x">x</a>')
    result = look_at(tmp_path)
    assert (result.returncode, result.stdout) == (0, '1 pages, 0 faults\n')


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_numbers_in_the_page_are_what_comes_out(page: Path):
    result = doctest.testfile(str(page), module_relative=False, encoding='utf-8')
    assert result.failed == 0, 'see what it printed'


def test_reading_the_numbers_has_numbers():
    examples = doctest.DocTestParser().get_examples(text('reading-the-numbers'))
    assert len(examples) > 10


# ---- nothing is left out --------------------------------------------------------------------


def test_the_controller_page_has_the_figures_that_were_recorded():
    recorded = np.loadtxt(DOCS / 'figures' / 'in_process.csv', delimiter=',', skiprows=1)
    told = ' '.join(text('controller').split())
    node, controller = (np.quantile(recorded[:, k], (0.5, 0.99, 1.0)) for k in (1, 2))
    assert (f'wrong by {node[0]:.2g} Nm in the median, by {node[1]:.2g} Nm at 99 % and by '
            f'{node[2]:.2g} Nm at most') in told
    assert 'by {:.1g}, {:.2g} and {:.2g} Nm'.format(*controller) in told


def test_errata_and_their_tests_are_the_same():
    tests = (ROOT / 'test' / 'oracles' / 'test_errata.py').read_text(encoding='utf-8')
    shown = re.findall(r'^def (test_\w+)', tests, re.MULTILINE)
    named = re.findall(r'^ +- ``(test_\w+)``$', text('errata'), re.MULTILINE)
    assert sorted(named) == sorted(shown)


ROOMS = {path.stem for path in PACKAGE.glob('[!_]*') if path.is_dir() or path.suffix == '.py'}
LIBRARY = ROOMS - {'node', 'tools', 'command_line', 'offline', 'robots'} | {
    f'offline.{room}' for room in ('audit', 'filling', 'identification')} | {
    f'robots.{path.stem}' for path in PACKAGE.glob('robots/[!_]*.py')}


@pytest.mark.parametrize('room', sorted(LIBRARY))
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
    assert f'``{name}``' in OF_THE_NODE


@pytest.mark.parametrize('path', sorted(
    str(path.relative_to(ROOT)) for pattern in ('srv', 'msg')
    for path in (ROOT / 'ros2_rnea_interfaces' / pattern).glob(f'*.{pattern}')))
def test_interface_shows_definitions_as_they_are(path: str):
    assert f'.. literalinclude:: ../../{path}\n' in OF_THE_NODE


@pytest.mark.parametrize('status', Status, ids=lambda status: status.name)
def test_reading_the_numbers_explains_every_state(status: Status):
    assert f'   * - ``{status.name.lower()}``\n' in text('reading-the-numbers')


def test_architecture_names_files_that_exist():
    text = (ROOT / 'ARCHITECTURE.md').read_text(encoding='utf-8')
    named = set(re.findall(r'[\w./]+\.(?:py|c|msg|yaml)\b', text))
    paths = [path.as_posix() for path in ROOT.rglob('*')
             if not {'.venv', 'build', 'install'} & {*path.parts}]
    assert {'control/supervisor.py', 'kernels/_call.c', 'ros2_rnea_interfaces/msg/EffortTerms.msg',
            'config/inverse_dynamics.yaml'} <= named  # else the pattern finds them no more
    assert [name for name in named if not any(path.endswith(f'/{name}') for path in paths)] == []
