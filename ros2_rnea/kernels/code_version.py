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
Which version of the package's code a process runs.

An upgrade, or an edit of sources that are installed as links, changes the package's files while a
node runs.  The node goes on with the code that it has imported; what it then gets from another
process or from a cache must have been made by the same code.  Therefore a version has to be
computed when the code is imported, not when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
import hashlib
from importlib.machinery import BYTECODE_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from uuid import uuid4


def code_version(package: Path, names: Collection[str] | None = None) -> str:
    """
    Return a hash of the modules in the folder of a package.

    It is made of what Python loads them from: their source, or their bytecode where the package
    was installed without source.

    Where files cannot be read, as in a zip, it is a text that equals no other.

    :param names: of modules and packages directly in that folder; None: all.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(package.iterdir()):
            if names is None or path.stem in names:
                for content in _modules(path):
                    digest.update(content)
    except OSError:
        return f'unknown {uuid4().hex}'
    return digest.hexdigest()


def _modules(path: Path) -> Iterator[bytes]:
    """Yield the content of a module, or of all modules in a folder and in the folders below it."""
    if not path.name.partition('.')[0].isidentifier():
        return  # it is no module: an editor's lock file
    if path.is_dir() and path.name != '__pycache__':
        for entry in sorted(path.iterdir()):
            yield from _modules(entry)
    elif path.is_file() and (path.suffix in SOURCE_SUFFIXES or (
            path.suffix in BYTECODE_SUFFIXES and not path.with_suffix('.py').exists())):
        yield path.read_bytes()
