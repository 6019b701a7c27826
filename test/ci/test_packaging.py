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
"""What is installed, by pip and by ROS, and that the lists of what it needs agree."""

from __future__ import annotations

import ast
from importlib.machinery import EXTENSION_SUFFIXES
import os
from pathlib import Path
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from repository import PACKAGE, requirements, ROOT
import ros2_rnea
from ros2_rnea.kernels import call
import yaml

INTERFACES = ROOT / 'ros2_rnea_interfaces'
CONTROLLER = ROOT / 'ros2_rnea_controller'
EXECUTABLES = [
    'check_model', 'compile', 'demo', 'export', 'inverse_dynamics_node', 'simulated_driver']

# Names of Python modules whose rosdep key is another one.
KEYS = {
    'jinja2': 'python3-jinja2',
    'llvmlite': 'python3-numba',  # no key brings it alone
    'matplotlib': 'python3-matplotlib',
    'numpy': 'python3-numpy', 'rich': 'python3-rich', 'scipy': 'python3-scipy',
    'urdf_parser_py': 'urdfdom_py', 'yaml': 'python3-yaml'}
# Only the demo and other tools need these; they come with the extra `demo`.  Identification works
# without threadpoolctl, which rosdep does not know, and `excite` without coal, which it needs for
# COLLADA meshes alone.
DEMO_MODULES = {'coal', 'mujoco', 'rosbags', 'threadpoolctl', 'toppra'}


def copy_of_the_sources(folder: Path) -> Path:
    """Copy what the package is made of, without what was compiled in place."""
    for name in ['ros2_rnea', 'resource', 'launch', 'config', 'cmake']:
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns('*.so'))
    for name in ['setup.py', 'setup.cfg', 'pyproject.toml', 'package.xml', 'LICENSE',
                 'MANIFEST.in']:
        shutil.copy(ROOT / name, folder)
    return folder


def built_wheel(folder: Path, **environment: str) -> Path:
    """Build the wheel, without the network."""
    if sys.prefix == sys.base_prefix:
        pytest.skip('pip is for virtual environments; this Python belongs to the system')
    folder.mkdir()
    source = copy_of_the_sources(folder / 'source')
    command = [sys.executable, '-m', 'pip', 'wheel', '--no-deps', '--no-index',
               '--no-build-isolation', '-w', str(folder), str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False,
                            env={**os.environ, **environment})
    if "invalid command 'bdist_wheel'" in result.stderr + result.stdout:
        pytest.skip('setuptools before 70.1 without the package wheel')
    assert result.returncode == 0, result.stdout + result.stderr
    [path] = folder.glob('*.whl')
    return path


@pytest.fixture(scope='module')
def wheel(tmp_path_factory) -> Path:
    return built_wheel(tmp_path_factory.mktemp('wheel') / 'built')


@pytest.mark.skipif(call.EXTENSION_ERROR != '', reason='there is no compiler here, it seems')
def test_wheel_carries_the_extension(wheel: Path):
    extension = ZipFile(wheel).read(f'ros2_rnea/kernels/_call{EXTENSION_SUFFIXES[0]}')
    assert b'libm.so' in extension, 'it finds sines in what the interpreter happens to need'


def test_wheel_is_built_without_a_compiler_too(tmp_path: Path):
    names = ZipFile(built_wheel(tmp_path / 'built', CC='/bin/false')).namelist()
    assert 'ros2_rnea/kernels/call.py' in names
    assert not any(name.endswith('.so') for name in names)


def test_source_archive_carries_what_is_compiled(tmp_path: Path):
    source = copy_of_the_sources(tmp_path / 'source')
    program = "import sys; sys.modules['numpy'] = None; import runpy; runpy.run_path('setup.py')"
    subprocess.run([sys.executable, '-c', program, 'sdist', '-d', str(tmp_path)], cwd=source,
                   check=True, capture_output=True)
    with tarfile.open(tmp_path / 'ros2_rnea-0.1.0.tar.gz') as archive:
        names = {name.partition('/')[2] for name in archive.getnames()}
    assert {'ros2_rnea/kernels/_call.c', 'ros2_rnea/kernels/_call.pyi', 'ros2_rnea/kernels/tape.c',
            'ros2_rnea/kernels/tape.h', 'setup.py', 'package.xml',
            'pyproject.toml', 'ros2_rnea/robots/robot.py', 'config/inverse_dynamics.yaml'} <= names


def test_wheel_carries_everything(wheel: Path):
    data = 'ros2_rnea-0.1.0.data/data'
    expected = {str(path.relative_to(ROOT))
                for pattern in ['*.py', '*.pyi', '*.urdf', 'py.typed', 'tape.[ch]']
                for path in PACKAGE.rglob(pattern)}
    expected |= {f'{data}/share/ros2_rnea/{path.relative_to(ROOT)}'
                 for path in [*ROOT.glob('launch/*.launch.py'), *ROOT.glob('config/*.*'),
                              *ROOT.glob('cmake/*.cmake')]}
    expected |= {f'{data}/share/ros2_rnea/tape/tape.{suffix}' for suffix in 'ch'}
    expected |= {f'{data}/lib/ros2_rnea/{name}' for name in EXECUTABLES}
    expected |= {f'{data}/share/ros2_rnea/package.xml',
                 f'{data}/share/ament_index/resource_index/packages/ros2_rnea'}
    assert expected - set(ZipFile(wheel).namelist()) == set()


def test_installed_wheel_has_what_ros2_run_looks_for(wheel: Path, tmp_path: Path):
    subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--no-index',
                    '--no-compile', '--ignore-installed', '--prefix', str(tmp_path), str(wheel)],
                   check=True)
    for name in EXECUTABLES:
        assert os.access(tmp_path / 'lib' / 'ros2_rnea' / name, os.X_OK)
    [packages] = tmp_path.glob('l*/python3*/site-packages')
    result = subprocess.run([str(tmp_path / 'lib' / 'ros2_rnea' / 'demo'), '--help'],
                            env={**os.environ, 'PYTHONPATH': str(packages)}, cwd=tmp_path,
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert 'usage' in result.stdout


def package_xml(folder: Path) -> ElementTree.Element:
    return ElementTree.parse(folder / 'package.xml').getroot()


def test_versions_agree():
    pattern = re.compile(r"""^\s*version *[=:] ?['"]?([\d.]+)\b""", re.MULTILINE)
    versions = [package_xml(folder).findtext('version')
                for folder in [ROOT, INTERFACES, CONTROLLER]]
    for path in [ROOT / 'setup.py', INTERFACES / 'pyproject.toml', ROOT / 'CITATION.cff']:
        versions += pattern.findall(path.read_text(encoding='utf-8'))
    versions.append(ros2_rnea.__version__)
    assert len(versions) == 7
    assert len(set(versions)) == 1, versions


def test_maintainers_and_addresses_agree():
    """The package.xml of ros2_rnea is the place to fill them in; setup.py reads it."""
    def said(folder: Path) -> list[str]:
        return [ElementTree.tostring(element, encoding='unicode').strip()
                for tag in ('maintainer', 'url') for element in package_xml(folder).iter(tag)]

    expected = said(ROOT)
    assert len(expected) == 3
    for folder in (INTERFACES, ROOT / 'ros2_rnea_controller'):
        assert said(folder) == expected
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    addresses = {url.get('type'): url.text for url in package_xml(ROOT).iter('url')}
    assert citation['repository-code'] == addresses['repository']
    assert addresses['bugtracker'].startswith(addresses['repository'])
    assert citation['authors'] == [{'name': package_xml(ROOT).findtext('author')}]


def test_hooks_call_programs_that_the_tests_install(monkeypatch: pytest.MonkeyPatch):
    given: dict = {}
    monkeypatch.setattr('setuptools.setup', lambda **arguments: given.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py')
    installed = {re.split(r'[\[=<>]', line)[0] for line in given['extras_require']['test']}
    hooks = yaml.safe_load((ROOT / '.pre-commit-config.yaml').read_text(encoding='utf-8'))
    entries = [hook['entry'] for repository in hooks['repos'] for hook in repository['hooks']]
    assert {re.fullmatch(r'\.venv/bin/(\w+)( check)?', entry)[1] for entry in entries} <= installed


def imported_modules(paths: list[Path]) -> set[str]:
    """Return the first part of the names of all modules that files import."""
    nodes = [node for path in paths
             for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or '' for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split('.')[0] for name in names} - set(sys.stdlib_module_names)


def test_package_xml_names_everything_that_is_imported():
    imported = imported_modules([*PACKAGE.rglob('*.py'), *ROOT.glob('launch/*.py')])
    needed = {KEYS.get(name, name) for name in imported - DEMO_MODULES - {'ros2_rnea'}}
    needed -= {'lxml', 'ament_index_python'}  # lxml comes with urdf_parser_py
    declared = {element.text for element in package_xml(ROOT).iter('exec_depend')}
    assert needed - declared == set()


def test_package_xml_of_the_controller_names_what_its_launch_file_imports_and_starts():
    files = [*CONTROLLER.glob('launch/*.py')]
    started = {name for file in files for name in re.findall(
        r"(?:package=|FindPackageShare\()'(\w+)'", file.read_text(encoding='utf-8'))}
    assert {'controller_manager', 'ros2_rnea'} <= started
    declared = {element.text for folder in [ROOT, CONTROLLER]  # the second depends on the first
                for kind in ['depend', 'exec_depend']
                for element in package_xml(folder).iter(kind)}
    assert (imported_modules(files) | started) - declared == set()


def test_the_extra_for_identification_brings_what_its_commands_import(
        monkeypatch: pytest.MonkeyPatch):
    given: dict = {}
    monkeypatch.setattr('setuptools.setup', lambda **arguments: given.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py')
    required = [*given['install_requires'], *given['extras_require']['identify']]
    brought = {re.split(r'[>=<]', line)[0] for line in required}
    offline = PACKAGE / 'offline'
    imported = imported_modules([
        *offline.glob('identification/*.py'), *offline.glob('commands/identify/*.py'),
        *offline.glob('commands/report/*.py'), *offline.glob('commands/*.py'),
        *PACKAGE.glob('command_line/*.py')])
    ros = {'launch', 'launch_ros', 'lifecycle_msgs', 'rclpy'}  # of launch files and the demo
    needed = {{'yaml': 'pyyaml'}.get(name, name) for name in imported - {'ros2_rnea', 'mujoco'}}
    assert needed - ros - brought == set()


def test_what_reads_collada_meshes_is_in_an_extra(monkeypatch):
    given = {}
    monkeypatch.setattr('setuptools.setup', lambda **arguments: given.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py')
    assert [re.split(r'[>=<]', one)[0] for one in given['extras_require']['meshes']] == ['coal']


def test_ros_wheels_bring_every_message_package():
    names = {re.split(r'[\[=]', line)[0] for line in requirements('ros-wheels.txt')}
    # These come as dependencies of rclpy.
    names |= {'ros-rcl-interfaces', 'ros-builtin-interfaces', 'ros-action-msgs',
              'ros-lifecycle-msgs', 'ros-unique-identifier-msgs'}
    imported = imported_modules(list(PACKAGE.rglob('*.py')))
    messages = {name for name in imported if re.search(r'_(msgs|srvs|interfaces)$', name)}
    messages -= {'ros2_rnea_interfaces', 'control_msgs', 'controller_manager_msgs'}
    assert {'ros-' + name.replace('_', '-') for name in messages} - names == set()


def test_ros_wheels_are_pinned_exactly():
    assert [line for line in requirements('ros-wheels.txt') if '==' not in line] == []
