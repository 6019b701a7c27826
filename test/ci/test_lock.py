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
"""What `./run lock` wrote suits what the packages require, for every Python."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distribution, PackageNotFoundError
import re
import runpy
import sys
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest
from repository import requirements, ROOT

LOCK = ROOT / 'requirements' / 'lock'
LOCKS = sorted(path.name for path in LOCK.glob('*.txt'))
PYTHONS = ['3.10', '3.11', '3.12', '3.13', '3.14']

REMEDY = 'run ./run lock'


class Pin(NamedTuple):
    """One entry of a lock file: a package with its version, and the archives that are allowed."""

    requirement: Requirement
    hashes: list[str]


def pins(name: str) -> Iterator[Pin]:
    """Read a lock file."""
    text = (LOCK / name).read_text(encoding='utf-8')
    for entry in re.findall(r'^[A-Za-z0-9].*(?:\n[ \t]+--hash.*)*', text, re.MULTILINE):
        specification = entry.split('\\\n')[0]
        yield Pin(Requirement(specification), re.findall(r'--hash=sha256:([0-9a-f]{64})\b', entry))


def versions(name: str, python: str) -> dict[str, str]:
    """Return the versions that a lock file has for a Python on Linux, by the package's name."""
    environment = {
        'python_version': python, 'python_full_version': f'{python}.0', 'sys_platform': 'linux',
        'platform_system': 'Linux', 'platform_machine': 'x86_64', 'os_name': 'posix',
        'implementation_name': 'cpython', 'platform_python_implementation': 'CPython'}
    found = [requirement for requirement, _ in pins(name)
             if requirement.marker is None or requirement.marker.evaluate(environment)]
    names = [canonicalize_name(requirement.name) for requirement in found]
    assert len(set(names)) == len(names), f'two versions of a package for Python {python}'
    return {canonicalize_name(requirement.name): str(requirement.specifier).removeprefix('==')
            for requirement in found}


def required_by_the_package(extra: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what setup.py requires with an extra."""
    given: dict = {}
    monkeypatch.setattr('setuptools.setup', lambda **arguments: given.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py')
    return [*given['install_requires'], *given['extras_require'][extra]]


def unsatisfied(required: list[str], found: dict[str, str]) -> list[str]:
    """Return the requirements that locked versions, by the package's name, do not satisfy."""
    result = []
    for line in required:
        requirement = Requirement(line)
        version = found.get(canonicalize_name(requirement.name))
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            result.append(f'{line} (locked: {version})')
    return result


@pytest.mark.parametrize('python', PYTHONS)
@pytest.mark.parametrize('extra', ['demo', 'test'])
def test_everything_that_is_required_is_locked(
        extra: str, python: str, monkeypatch: pytest.MonkeyPatch):
    required = required_by_the_package(extra, monkeypatch)
    required += requirements('ros-wheels.txt') + requirements('build.txt')
    assert unsatisfied(required, versions(f'{extra}.txt', python)) == [], REMEDY


@pytest.mark.parametrize('python', PYTHONS)
@pytest.mark.parametrize('name', ['colcon.txt', 'pip.txt', 'uv.txt'])
def test_every_tool_is_locked(name: str, python: str):
    assert unsatisfied(requirements(name), versions(name, python)) == [], REMEDY


def test_requirement_that_is_not_locked_is_noticed():
    found = versions('test.txt', '3.12')
    assert unsatisfied(['numpy>=900'], found) == [f'numpy>=900 (locked: {found["numpy"]})']
    assert unsatisfied(['no-such-package'], found) == ['no-such-package (locked: None)']


@pytest.mark.parametrize('python', PYTHONS)
@pytest.mark.parametrize('name', ['colcon.txt', 'demo.txt', 'pip.txt'])
def test_what_is_installed_together_has_one_version(name: str, python: str):
    together = versions('test.txt', python)
    different = {package for package, version in versions(name, python).items()
                 if together.get(package, version) != version}
    assert different == set(), REMEDY


@pytest.mark.parametrize('name', LOCKS)
def test_every_version_is_exact_and_has_hashes(name: str):
    entries = list(pins(name))
    assert entries != []
    for requirement, hashes in entries:
        assert re.fullmatch(r'==[\w.!+]+', str(requirement.specifier)), requirement
        assert requirement.url is None, requirement
        assert hashes != [], requirement


@pytest.mark.parametrize('name', LOCKS)
def test_no_registry_is_named(name: str):
    text = (LOCK / name).read_text(encoding='utf-8')
    assert re.findall(r'\S*(?:://|--\S*index\S*|--find-links)\S*', text) == []


def test_what_the_folders_are_built_with_is_locked():
    needed = set()
    for path in [ROOT / 'ros2_rnea_interfaces', *(ROOT / 'test' / 'interfaces').iterdir()]:
        text = (path / 'pyproject.toml').read_text(encoding='utf-8')
        listed = re.search(r'^requires = \[(.*?)^\]', text, re.DOTALL | re.MULTILINE)
        assert listed is not None
        needed |= set(re.findall(r'"(.+?)"', listed.group(1)))
    assert needed - set(requirements('build.txt')) == set()
    text = (ROOT / 'pyproject.toml').read_text(encoding='utf-8')
    listed = re.search(r'^requires = \[(.*?)^\]', text, re.DOTALL | re.MULTILINE)
    assert listed is not None
    for python in PYTHONS:
        assert unsatisfied(re.findall(r'"(.+?)"', listed.group(1)),
                           versions('demo.txt', python)) == []


def test_what_is_locked_requires_nothing_else():
    """Check it with the packages that are installed, whose own requirements are known."""
    found = versions('test.txt', '.'.join(map(str, sys.version_info[:2])))
    missing = {}
    for name, version in found.items():
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        required = [line for line in package.requires or () if applies(line)]
        if package.version == version and unsatisfied(required, found):
            missing[name] = unsatisfied(required, found)
    assert missing == {}, REMEDY


def applies(line: str) -> bool:
    marker = Requirement(line).marker
    return marker is None or marker.evaluate({'extra': ''})
