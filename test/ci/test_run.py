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
"""What `./run` says and does where it cannot, or need not, set anything up."""

from __future__ import annotations

from importlib.util import find_spec
import os
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig

from patience import PATIENCE
import pytest
from repository import ROOT

NEEDS_NO_PACKAGES = pytest.mark.skipif(
    find_spec('ensurepip') is None or shutil.which('c++') is None
    or not Path(sysconfig.get_path('include'), 'Python.h').exists(),
    reason='set-up would first need system packages here')


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder with what set-up reads, and an empty `bin` that comes first in PATH."""
    folder = tmp_path / 'clone'
    shutil.copytree(ROOT / 'requirements', folder / 'requirements')
    shutil.copytree(ROOT / 'ros2_rnea_interfaces', folder / 'ros2_rnea_interfaces')
    (folder / 'ros2_rnea' / 'kernels').mkdir(parents=True)
    for name in ['run', 'setup.py', 'pyproject.toml', 'ros2_rnea/kernels/_call.c']:
        shutil.copy(ROOT / name, folder / name)
    (folder / 'bin').mkdir()
    put_command(folder, 'apt-get', 'exit 1')  # no test touches the system
    return folder


def put_command(clone: Path, name: str, script: str) -> Path:
    path = clone / 'bin' / name
    path.write_text(f'#!/bin/sh\n{script}\n', encoding='utf-8')
    path.chmod(0o755)
    return path


def run(clone: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    path = f'{clone / "bin"}:{os.environ["PATH"]}'
    return subprocess.run(['bash', str(clone / 'run'), *arguments], cwd='/',
                          env={**os.environ, 'PATH': path, **variables}, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.mark.parametrize('arguments', [(), ('help',), ('--help',), ('-h',)])
def test_alone_it_says_what_there_is(clone: Path, arguments: tuple[str, ...]):
    result = run(clone, *arguments)
    assert result.returncode == 0
    assert './run demo' in result.stdout
    assert './run test' in result.stdout
    assert not (clone / '.venv').exists()


def test_unknown_command_is_refused_in_one_line(clone: Path):
    result = run(clone, 'dance')
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr == "run: there is no command 'dance': ./run help lists all\n"


@pytest.mark.parametrize('builds', [True, False])
def test_the_documentation_is_said_to_be_where_it_is(tmp_path: Path, builds: bool):
    """With a Python that builds nothing, or fails, and the functions of the script alone."""
    functions = (ROOT / 'run').read_text(encoding='utf-8').removesuffix('main "$@"\n')
    (tmp_path / 'run').write_text(f'{functions}build_docs\n', encoding='utf-8')
    (tmp_path / '.venv' / 'bin').mkdir(parents=True)
    python = tmp_path / '.venv' / 'bin' / 'python'
    python.symlink_to(shutil.which('true' if builds else 'false'))
    done = subprocess.run(
        ['bash', str(tmp_path / 'run')], capture_output=True, text=True, check=False)
    said = f'The documentation is in {tmp_path}/out/docs/index.html\n'
    assert (done.returncode, done.stderr) == ((0, said) if builds else (1, ''))


def test_a_parameter_file_that_is_not_there_is_refused(clone: Path):
    """The node would start with no parameters at all."""
    put_command(clone, 'uname', 'echo Darwin')  # set-up would end here
    result = run(clone, 'node', 'my_robbot.yaml')
    assert result.returncode == 1
    assert 'there is no file my_robbot.yaml' in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize('command, script, sentence', [
    ('uname', 'echo Darwin', 'Linux on x86_64 only'),
    ('uname', '[ "$1" = -m ] && echo aarch64 || echo Linux', 'Linux on x86_64 only'),
    ('getconf', 'exit 1', 'glibc 2.28'),
    ('getconf', 'echo glibc 2.17', 'glibc 2.28'),
])
def test_unsupported_machine_is_refused_in_one_sentence(
        clone: Path, command: str, script: str, sentence: str):
    put_command(clone, command, script)
    result = run(clone, 'test')
    assert result.returncode == 1
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (clone / '.venv').exists()


def test_python_that_is_too_old_is_refused_in_one_sentence(clone: Path):
    old = put_command(clone, 'old-python', 'exit 1')  # it fails the question for its version
    result = run(clone, 'test', PYTHON=str(old))
    assert result.returncode == 1
    assert '3.10 to 3.14' in result.stderr
    assert len(result.stderr.splitlines()) == 1


# A Python of the distribution without venv.  Asked whether it has one, it looks for a file that
# the fake apt-get leaves; asked to make an environment, it ends the set-up there.
PYTHON_WITHOUT_VENV = """\
case "$*" in
  *ensurepip*) [ -e "$(dirname "$0")/installed" ] ;;
  *'-m venv'*) echo 'the set-up went on'; exit 1 ;;
  *base_prefix*cache_tag* | *cache_tag*) echo cpython /usr ;;
  *base_prefix*) exit 0 ;;
  *) exec {python} "$@" ;;
esac"""


@pytest.fixture
def python_without_venv(clone: Path) -> str:
    script = PYTHON_WITHOUT_VENV.format(python=sys.executable)
    return str(put_command(clone, 'distribution-python', script))


@NEEDS_NO_PACKAGES
def test_missing_system_packages_are_installed_with_yes(clone: Path, python_without_venv: str):
    put_command(clone, 'apt-get', 'cd "$(dirname "$0")" && echo "$*" >>apt && touch installed')
    put_command(clone, 'sudo', 'exec "$@"')
    result = run(clone, 'test', '--yes', PYTHON=python_without_venv)
    calls = (clone / 'bin' / 'apt').read_text(encoding='utf-8').splitlines()
    assert calls[0] == 'update'
    assert calls[1].startswith('install -y python3')
    assert '-venv' in calls[1]
    assert f'apt-get {calls[1]}' in result.stderr  # the very line is shown
    assert 'failed at: virtual environment' in result.stderr


def test_packages_that_apt_does_not_bring_end_the_set_up(clone: Path, python_without_venv: str):
    put_command(clone, 'apt-get', 'exit 0')
    put_command(clone, 'sudo', 'exec "$@"')
    result = run(clone, 'test', '--yes', PYTHON=python_without_venv)
    assert result.returncode == 1
    assert 'still missing: python3' in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason='root is not asked')
def test_without_a_yes_it_stops_with_the_line(clone: Path, python_without_venv: str):
    put_command(clone, 'apt-get', 'touch "$(dirname "$0")/apt"')
    result = run(clone, 'test', PYTHON=python_without_venv)
    assert result.returncode == 1
    assert 'sudo apt-get install -y python3' in result.stderr
    assert not (clone / 'bin' / 'apt').exists()
    assert not (clone / '.venv').exists()


def test_foreign_virtual_environment_is_left_alone(clone: Path):
    (clone / '.venv').mkdir()
    (clone / '.venv' / 'precious').touch()
    result = run(clone, 'test')
    assert result.returncode == 1
    assert 'was not made by ./run' in result.stderr
    assert (clone / '.venv' / 'precious').exists()


@NEEDS_NO_PACKAGES
def test_offline_it_says_why_and_keeps_what_is_good(clone: Path):
    nowhere = 'http://127.0.0.1:9/simple'
    offline = {'PIP_CONFIG_FILE': '/dev/null', 'PIP_INDEX_URL': nowhere, 'PIP_RETRIES': '1',
               'PIP_NO_CACHE_DIR': '1', 'PIP_EXTRA_INDEX_URL': '', 'PIP_FIND_LINKS': '',
               'PYTHON': sys.executable}
    result = run(clone, 'demo', **offline)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        'run: the network is needed for this step and cannot be reached '
        '(details: .venv/setup.log).')
    stamps = {path.name for path in (clone / '.venv' / '.stamps').iterdir()}
    assert stamps == {'python', 'venv'}
    again = run(clone, 'demo', **offline)
    assert 'virtual environment' not in again.stderr


@NEEDS_NO_PACKAGES
def test_environment_of_a_killed_set_up_is_made_anew(clone: Path):
    stamps = clone / '.venv' / '.stamps'
    stamps.mkdir(parents=True)
    for name in ['unfinished', 'demo', 'interfaces', 'venv']:
        (stamps / name).touch()
    (clone / '.venv' / 'half-installed').touch()
    run(clone, 'demo', PYTHON=sys.executable, PIP_CONFIG_FILE='/dev/null', PIP_RETRIES='0',
        PIP_INDEX_URL='http://127.0.0.1:9/simple')
    assert not (clone / '.venv' / 'half-installed').exists()


def test_sourced_ros_installation_is_left_aside(clone: Path):
    recorder = 'env >"$(dirname "$0")/environment"; exit 1'
    put_command(clone, 'python-recorder', recorder)
    result = run(clone, 'demo', PYTHON=str(clone / 'bin' / 'python-recorder'),
                 AMENT_PREFIX_PATH='/opt/ros/humble', ROS_DISTRO='humble',
                 PYTHONPATH='/opt/ros/humble/lib', LD_LIBRARY_PATH='/opt/ros/humble/lib')
    environment = (clone / 'bin' / 'environment').read_text(encoding='utf-8')
    assert 'leaving the sourced ROS humble aside' in result.stderr
    assert '/opt/ros' not in environment


@NEEDS_NO_PACKAGES
def test_set_up_depends_on_what_is_installed_and_compiled(clone: Path, python_without_venv: str):
    (clone / 'bin' / 'installed').touch()
    put_command(clone, 'sha256sum', f'tee -a "{clone}/hashed" | /usr/bin/sha256sum "$@"')
    result = run(clone, 'demo', PYTHON=python_without_venv)
    assert 'failed at: virtual environment' in result.stderr  # as that Python does
    hashed = (clone / 'hashed').read_text(encoding='utf-8')
    for name in ['setup.py', 'pyproject.toml', 'requirements/lock/pip.txt',
                 'requirements/lock/demo.txt', 'requirements/build.txt',
                 'ros2_rnea/kernels/_call.c']:
        assert (clone / name).read_text(encoding='utf-8') in hashed


# A Python that makes environments in which it stands itself, and records its arguments there.
RECORDER = """\
case "$*" in
  '-m venv '*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/ros2_rnea" ;;
  -I*) exec {python} "$@" ;;
  *) echo "$*" >>{clone}/calls ;;
esac"""


@NEEDS_NO_PACKAGES
@pytest.mark.parametrize('command', ['demo', 'test'])
def test_only_what_is_locked_is_installed(clone: Path, command: str):
    shutil.copytree(ROOT / 'test' / 'interfaces', clone / 'test' / 'interfaces')
    script = RECORDER.format(python=sys.executable, clone=clone)
    result = run(clone, command, PYTHON=str(put_command(clone, 'recorder', script)))
    assert result.returncode == 0, result.stderr
    calls = (clone / 'calls').read_text(encoding='utf-8').splitlines()
    installations = [call for call in calls if call.startswith('-m pip install ')]
    assert [call.split(' -r ')[1] for call in installations if ' -r ' in call] == [
        'requirements/lock/pip.txt', f'requirements/lock/{command}.txt']
    for call in installations:
        assert '--no-deps --no-build-isolation' in call
        if '--require-hashes' not in call:
            folders = call.split('--no-build-isolation ')[1].split()
            assert [folder for folder in folders if folder != '.' and not folder.startswith('./')
                    and folder not in ('--editable', '--force-reinstall')] == []


@pytest.mark.parametrize('command, program, passed_on', [
    *((command, 'ros2_rnea', f'{command} ') for command in (
        'demo', 'check-model', 'fill-efforts', 'compile', 'excite', 'report', 'identify',
        'export')),
    ('node', 'inverse_dynamics_node', '')])
def test_files_are_found_from_the_folder_of_the_caller(
        clone: Path, tmp_path: Path, command: str, program: str, passed_on: str):
    script = (clone / 'run').read_text(encoding='utf-8')
    (clone / 'run').write_text(
        script.replace('\nset_up() {', '\nset_up() { :; }\nnot_called() {'), encoding='utf-8')
    installed = clone / '.venv' / 'bin' / program
    installed.parent.mkdir(parents=True)
    installed.write_text('#!/bin/sh\necho "$PWD" "$@"\n', encoding='utf-8')
    installed.chmod(0o755)
    here = tmp_path / 'here'
    here.mkdir()
    result = subprocess.run(
        ['bash', str(clone / 'run'), command, '--urdf', 'robots/x.urdf', '--out', 'results'],
        cwd=here, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.stdout == (
        f'{here} {passed_on}--urdf robots/x.urdf --out results\n'), result.stderr
