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
"""The CI workflow is valid, and what it runs is what people are told to run."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from repository import ROOT
import yaml

WORKFLOW = ROOT / '.github' / 'workflows' / 'ci.yml'
FORMS = ROOT / '.github' / 'ISSUE_TEMPLATE'
BOTH = '--base-paths src src/ros2_rnea/ros2_rnea_interfaces'
LINES = [
    'rosdep install --from-paths src src/ros2_rnea/ros2_rnea_interfaces --ignore-src',
    f'colcon build {BOTH}',
    f'colcon test {BOTH}',
]


def run(program: str, *arguments: str) -> subprocess.CompletedProcess:
    path = shutil.which(program, path=f'{sys.prefix}/bin') or shutil.which(program)
    if path is None:
        pytest.skip(f'{program} is not installed')
    return subprocess.run([path, *arguments], cwd=ROOT, capture_output=True, text=True,
                          check=False)


def test_workflow_fits_its_schema():
    result = run('check-jsonschema', '--builtin-schema', 'vendor.github-workflows', str(WORKFLOW))
    assert result.returncode == 0, result.stdout + result.stderr


def test_citation_fits_its_schema():
    result = run('check-jsonschema', '--builtin-schema', 'vendor.citation-file-format',
                 str(ROOT / 'CITATION.cff'))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize('form', sorted(FORMS.glob('*.yml')), ids=lambda form: form.stem)
def test_forms_for_issues_fit_their_schema(form):
    result = run('check-jsonschema', '--builtin-schema', 'vendor.github-issue-forms', str(form))
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_bug_comes_with_what_repeats_it():
    form = yaml.safe_load((FORMS / 'bug_report.yml').read_text(encoding='utf-8'))
    required = {field.get('id') for field in form['body']
                if field.get('validations', {}).get('required')}
    assert required == {'what', 'urdf', 'versions'}
    assert 'states' in {field.get('id') for field in form['body']}


def test_the_container_is_set_up_for_the_two_commands():
    container = json.loads(
        (ROOT / '.devcontainer' / 'devcontainer.json').read_text(encoding='utf-8'))
    command = container['postCreateCommand']
    assert command in commands('hosts')  # a set-up that CI makes
    python = container['image'].split(':')[1].split('-')[0]
    job = yaml.safe_load(WORKFLOW.read_text(encoding='utf-8'))['jobs']['python']
    assert python in job['strategy']['matrix']['python']


def test_workflow_is_safe():
    result = run('zizmor', '--offline', '--no-progress', str(WORKFLOW))
    assert result.returncode == 0, result.stdout + result.stderr


def commands(job: str) -> str:
    """Return all that a job's steps run."""
    steps = yaml.safe_load(WORKFLOW.read_text(encoding='utf-8'))['jobs'][job]['steps']
    return '\n'.join(step.get('run', '') for step in steps)


@pytest.mark.parametrize('line', LINES)
@pytest.mark.parametrize('place', ['README.md', 'CONTRIBUTING.md', 'workflow'])
def test_colcon_lines_are_the_same_everywhere(line: str, place: str):
    is_workflow = place == 'workflow'
    text = commands('colcon') if is_workflow else (ROOT / place).read_text(encoding='utf-8')
    assert line in text


def test_rosdep_resolves_the_keys_of_every_package_in_every_distribution():
    """An install ends with an error where a key has no rule; -r would go on without it."""
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding='utf-8'))['jobs']
    distributions = {job: set(jobs[job]['strategy']['matrix']['distribution'])
                     for job in ('colcon', 'ros2_control')}
    said = (ROOT / 'README.md').read_text(encoding='utf-8').split('Written for ')[1].split(';')[0]
    assert distributions['colcon'] == set(re.sub(r',|\band\b', ' ', said).lower().split())
    assert distributions['colcon'] - distributions['ros2_control'] == {'humble'}
    resolved = {job: [line.split() for line in commands(job).splitlines()
                      if line.startswith('rosdep install ')] for job in distributions}
    assert not any('-r' in words for words in sum(resolved.values(), []))
    assert {'src', 'src/ros2_rnea/ros2_rnea_interfaces'} <= {*sum(resolved['colcon'], [])}
    assert 'src/ros2_rnea/ros2_rnea_controller' in sum(resolved['ros2_control'], [])


def test_the_real_controllers_are_demanded_where_they_are_installed():
    text = commands('ros2_control')
    for package in ('controller-manager', 'joint-trajectory-controller',
                    'forward-command-controller', 'joint-state-broadcaster'):
        assert f'ros-$ROS_DISTRO-{package}' in text
    assert 'pytest test/ros2_control' in text
    assert 'ROS2_RNEA_DEMANDS_ROS2_CONTROL: 1' in WORKFLOW.read_text(encoding='utf-8')


def test_security_is_demanded_where_the_middleware_has_it():
    text = commands('security')
    assert 'ros-$ROS_DISTRO-sros2' in text
    assert 'pytest test/node/test_security.py' in text
    assert 'ROS2_RNEA_DEMANDS_SECURITY: 1' in WORKFLOW.read_text(encoding='utf-8')


def test_two_hosts_are_demanded_where_there_is_root():
    assert 'sudo ROS2_RNEA_DEMANDS_HOSTS=1 .venv/bin/python -m pytest -s test/hosts' in (
        commands('hosts'))


def test_compilers_and_the_emulator_are_demanded_where_they_are_installed():
    text = commands('export')
    for package in ('clang', 'gcc-arm-none-eabi', 'libnewlib-arm-none-eabi', 'qemu-system-arm'):
        assert f' {package}' in text
    assert './run test --yes test/export' in text
    assert 'ROS2_RNEA_DEMANDS_COMPILERS: 1' in WORKFLOW.read_text(encoding='utf-8')


def test_the_extension_is_tested_without_gil_and_under_sanitizers():
    job = yaml.safe_load(WORKFLOW.read_text(encoding='utf-8'))['jobs']['library']
    tested = {each['python']: each['numpy'] for each in job['strategy']['matrix']['include']}
    assert tested == {'3.14t': 'numpy', '3.10': 'numpy==1.21.6'}
    assert 'import ros2_rnea.kernels._call' in commands('library')
    sanitizers, = (step for step in job['steps'] if '.ci/sanitize' in step.get('run', ''))
    assert 'endsWith' in sanitizers['if']  # PYTHONMALLOC=malloc ends a free-threaded Python


def test_plain_python_job_runs_the_project_s_own_entry():
    assert commands('python').strip().splitlines()[0] == 'bash .ci/run'


def test_the_interfaces_are_offered_as_wheels():
    assert './ros2_rnea_interfaces' in commands('python')
    assert 'path: out/wheels/*.whl' in WORKFLOW.read_text(encoding='utf-8')


def test_a_browser_is_demanded_where_one_is_installed():
    assert 'ROS2_RNEA_DEMANDS_BROWSER: 1' in WORKFLOW.read_text(encoding='utf-8')


def test_colcon_over_the_wheels_uses_the_same_base_paths():
    text = (ROOT / '.ci' / 'colcon').read_text(encoding='utf-8')
    assert f'({BOTH})' in text
    assert 'colcon build "${both[@]}"' in text
    assert 'colcon test "${both[@]}"' in text


def test_workspace_defaults_name_both_packages():
    defaults = yaml.safe_load((ROOT / 'colcon_defaults.yaml').read_text(encoding='utf-8'))
    for verb in ['build', 'test', 'list']:
        assert defaults[verb]['base-paths'] == ['.', 'ros2_rnea_interfaces']
