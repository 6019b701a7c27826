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

from enum import Enum
from pathlib import Path
import re
import sys
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import ros2_rnea  # noqa: E402, I100, I202

project = 'ros2_rnea'
author = 'The ros2_rnea authors'
copyright = f'2026, {author}'  # noqa: A001 (the name that Sphinx gave it)
release = version = ElementTree.parse(ROOT / 'package.xml').findtext('version', '')

extensions = ['sphinx.ext.autodoc']
default_role = 'py:obj'
highlight_language = 'shell'  # of the blocks that do not say theirs

html_math_renderer = 'mathml'
html_theme = 'furo'
html_title = project
html_static_path = ['_static']
html_css_files = ['site.css']
html_js_files = ['copy.js']
html_search_scorer = str(ROOT / 'docs' / 'search_scores.js')
html_show_sourcelink = False
html_copy_source = False

ALIASES = (
    'Action', 'AnyFunction', 'Array', 'ArrayLike', 'Expression', 'Floats', 'Function', 'Guard',
    'Number', 'Numbers', 'Triple', 'Wrenches')
autodoc_type_aliases = {name: name for name in ALIASES}
autodoc_typehints_format = 'short'
autodoc_member_order = 'bysource'
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88

# A reference to what is not there is an error, but for what other projects document.
nitpicky = True
nitpick_ignore_regex = [
    ('py:.*', r'(abc|collections|concurrent|contextlib|ctypes|enum|os|pathlib|xml)\..*'),
    ('py:.*', r'(llvmlite|np|numpy|urdf)\..*'),
    ('py:.*', r'(.*\.)?(Collection|Iterable|Iterator|Mapping|Sequence)'),
    ('py:.*', rf'(.*\.)?({"|".join(ALIASES)}|TypeAliasForwardRef)'),
]


class EveryModule(SphinxDirective):
    """Documents a module, and each one in it if it is a package, under headings of their own."""

    required_arguments = 1
    elsewhere = (*ros2_rnea.__all__, *ALIASES)  # on the page of the public names, or nowhere

    def run(self) -> list[nodes.Node]:
        """Return what autodoc makes of them."""
        name = self.arguments[0]
        paths = sorted(ROOT.joinpath(*name.split('.')).rglob('*.py'))
        names = ['.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
                 for path in paths] or [name]
        text = ''.join(
            f'{module}\n{"-" * len(module)}\n\n.. automodule:: {module}\n   :members:\n'
            '   :ignore-module-all:\n'
            f'   :exclude-members: {", ".join(self.elsewhere)}\n\n' for module in names)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def readable(
        app: Sphinx, what: str, name: str, thing: Any, options: Any,
        signature: str | None, returned: str | None) -> tuple[str | None, str | None]:
    """Show in a signature what the source says, where autodoc shows an object of its own."""
    def plain(text: str | None) -> str | None:
        if text is None:
            return None
        text = re.sub(r"TypeAliasForwardRef\('(\w+)'\)|<class '(\w+)'>", r'\1\2', text)
        return text.replace('<factory>', '...')
    if isinstance(thing, type) and issubclass(thing, Enum):
        return '', None
    return plain(signature), plain(returned)


def skipped(
        app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Show the members of an Enum, which need no docstring, and no NamedTuple's field numbers."""
    if what == 'class' and isinstance(thing, Enum):
        return False
    return True if str(thing.__doc__).startswith('Alias for field number') else None


def public(
        app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement,
        ) -> nodes.reference | None:
    """Find a public name from any module, as each of them writes it: Robot.gravity."""
    name = re.sub(r'^ros2_rnea\.(\w+\.)*(?=[A-Z])', '', node['reftarget'])
    if node.get('refdomain') != 'py' or name.split('.')[0] not in ros2_rnea.__all__:
        return None
    return env.get_domain('py').resolve_xref(
        env, node['refdoc'], app.builder, node['reftype'], f'ros2_rnea.{name}', node, shown)


def exact(app: Sphinx, doctree: nodes.document) -> None:
    """Let a short name in a signature mean what it means in its module, where two have it."""
    for node in doctree.findall(pending_xref):
        module = sys.modules.get(node.get('py:module') or '')
        meant = getattr(module, node['reftarget'], None)
        if isinstance(meant, type) and meant.__module__.startswith('ros2_rnea.'):
            node['reftarget'] = f'{meant.__module__}.{meant.__qualname__}'


def write_inline_formula(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers show without a script from the network."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_block_formula(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; where it is too wide, it scrolls by itself."""
    formula = tex2mathml(node.astext()).replace('<math ', '<math display="block" ', 1)
    writer.body.append(writer.starttag(node, 'div', CLASS='math') + formula + '</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Connect what this file adds."""
    app.add_directive('every-module', EveryModule)
    app.add_html_math_renderer(
        'mathml', (write_inline_formula, None), (write_block_formula, None))
    app.connect('autodoc-skip-member', skipped)
    app.connect('doctree-read', exact)
    app.connect('missing-reference', public)
    app.connect('autodoc-process-signature', readable)
