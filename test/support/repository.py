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
"""The repository's files, for the tests that read them."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import re
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'ros2_rnea'

# Where files of the project's own stand; build/, install/ and .venv hold others' files.
FOLDERS = ['.ci', '.github', 'benchmark', 'cmake', 'config', 'docs', 'examples', 'launch',
           'ros2_rnea', 'ros2_rnea_interfaces', 'test']


def files(pattern: str) -> list[Path]:
    """Return the project's files whose names match a glob pattern."""
    found = list(ROOT.glob(pattern))
    for folder in FOLDERS:
        found += (ROOT / folder).rglob(pattern)
    return sorted(path for path in found if path.is_file() and '__pycache__' not in path.parts)


def python_folders() -> list[str]:
    """Return setup.py and the folders with Python files, for linters that take paths."""
    folders = [ROOT / name for name in FOLDERS if any((ROOT / name).rglob('*.py'))]
    return [str(path) for path in [ROOT / 'setup.py', *folders]]


def script(name: str) -> ModuleType:
    """Return a Python file that is in no package, such as ``docs/make_figures.py``."""
    spec = spec_from_file_location(Path(name).stem, ROOT / name)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def requirements(name: str) -> list[str]:
    """Return the lines of a file of requirements/, without comments."""
    lines = (ROOT / 'requirements' / name).read_text(encoding='utf-8').splitlines()
    stripped = [re.sub(r'#.*', '', line).strip() for line in lines]
    return [line for line in stripped if line]
