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
"""Settings of Sphinx: ``sphinx-build docs out/docs`` makes the site; ROS is not needed."""

from __future__ import annotations

from pathlib import Path
import re
import sys
from typing import Any
from xml.etree import ElementTree

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = 'ros2_rnea'
author = 'The ros2_rnea authors'
copyright = f'2026, {author}'  # noqa: A001 (the name that Sphinx gave it)
release = version = ElementTree.parse(ROOT / 'package.xml').findtext('version', '')

extensions = ['sphinx.ext.autodoc', 'sphinx.ext.mathjax']
exclude_patterns = ['_build']
default_role = 'py:obj'

html_theme = 'furo'
html_static_path = ['_static']
html_css_files = ['site.css']
html_title = project
html_show_sourcelink = False
html_copy_source = False

autodoc_member_order = 'bysource'
autodoc_typehints_format = 'short'
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ('Array', 'ArrayLike', 'Number', 'Triple')}
python_maximum_signature_line_length = 88

# A reference to what is not there is an error, but for what other projects document.
nitpicky = True
nitpick_ignore_regex = [
    ('py:.*', r'(abc|collections|enum|np|numpy|pathlib|urdf|xml)\..*'),
    ('py:.*', r'.*\b(Array|ArrayLike|Collection|Iterable|Mapping|Number|Sequence|Triple)'),
]


def readable(
        app: Sphinx, what: str, name: str, thing: Any, options: Any,
        signature: str | None, returned: str | None) -> tuple[str | None, str | None]:
    """Show in a signature what the source says, where autodoc shows an object of its own."""
    def plain(text: str | None) -> str | None:
        if text is None:
            return None
        return re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r'\1', text).replace('<factory>', '...')
    return plain(signature), plain(returned)


def setup(app: Sphinx) -> None:
    """Connect what this file adds."""
    app.connect('autodoc-process-signature', readable)
