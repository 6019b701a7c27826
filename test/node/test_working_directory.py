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
"""No program imports modules from the folder in which it was started."""

import os
import re
import signal
import subprocess
import sys

from patience import PATIENCE
import pytest
from repository import PACKAGE, ROOT

ARM = ROOT / 'ros2_rnea' / 'tools' / 'models' / 'seven_dof_arm.urdf'

PENDULUM = ROOT / 'docs' / 'listings' / 'pendulum.urdf'

# What pip installs as an executable.
EXECUTABLE = 'import sys\nfrom {} import main\nsys.exit(main())\n'

# Each module says that it was imported, then ends the program.
TRAP = 'import os\nopen({!r}, "a").write(__name__ + "\\n")\nos._exit(99)\n'


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a function that starts a program in a folder full of traps; none may be imported."""
    folder, mark, programs = (tmp_path / name for name in ('here', 'mark', 'programs'))
    folder.mkdir()
    programs.mkdir()
    for name in {*sys.stdlib_module_names, 'numpy', 'llvmlite', 'rclpy', 'yaml', 'ros2_rnea'}:
        (folder / f'{name}.py').write_text(TRAP.format(str(mark)))
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))  # so that the worker has to compile
    paths = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(ROOT), *filter(os.path.isabs, paths)]))
    processes = []

    def start(module: str, *arguments: str) -> subprocess.Popen:
        program = programs / module
        program.write_text(EXECUTABLE.format(module))
        processes.append(subprocess.Popen(
            [sys.executable, str(program), *arguments], cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        return processes[-1]

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE)
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize('module, arguments', [
    ('check_model', [str(ARM)]),
    ('compile', [str(PENDULUM)]),
    ('fill_efforts', ['--help']),
    ('excite', ['--help']),
    ('identify', ['--help']),
    ('report', ['--help']),
])
def test_tools_import_nothing_from_there(start, module, arguments):
    process = start(f'ros2_rnea.offline.commands.{module}.__main__', *arguments)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output


def test_only_mujoco_library_imports_mujoco():
    imports = [path.name for path in PACKAGE.rglob('*.py')
               if re.search(r'^\s*(import|from) mujoco\b', path.read_text(encoding='utf-8'), re.M)]
    assert imports == ['mujoco_library.py']


@pytest.mark.ros
def test_node_and_its_worker_import_nothing_from_there(start):
    process = start('ros2_rnea.node.inverse_dynamics_node', '--ros-args', '-p',
                    'robot_description:=<robot name="none"/>')
    # The worker process reads the description, and says why it cannot be used.
    output = []
    for line in process.stdout:
        output.append(line)
        if 'no links' in line:
            break
    else:
        raise AssertionError(''.join(output))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_run_starts_tools_by_their_executables_in_the_callers_folder():
    """``python -m`` would put that folder first on the search path."""
    text = (ROOT / 'run').read_text(encoding='utf-8')
    commands = [part.split(';;')[0] for part in text.split('cd -- "$caller"')[1:]]
    tools = [command for command in commands if 'PYTHONPATH' not in command]
    programs = {'ros2_rnea', 'inverse_dynamics_node'}
    assert set(re.findall(r'/bin/(\w+)', ''.join(tools))) == programs
    assert [command for command in tools if 'bin/python' in command.split('\n', 1)[1]] == []
