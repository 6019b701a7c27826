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
YAML text → values that know where they stand.

A scalar is the text that stands there, as in URDF, and read as what its place asks for.  YAML's
own guesses have no say: to PyYAML ``1e-3`` is no number, ``010`` is eight, a link called ``on`` is
true, and of two equal keys the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ros2_rnea.errors import DescriptionError, did_you_mean
from ros2_rnea.model.description import Triple
from ros2_rnea.model.urdf import NAME, NUMBER

_TAGS = {'scalar': 'tag:yaml.org,2002:str',
         'sequence': 'tag:yaml.org,2002:seq',
         'mapping': 'tag:yaml.org,2002:map'}


@dataclass(frozen=True)
class Value:
    """
    A value in a text, and what messages call it.

    :ivar node: PyYAML's node, which is imported late.
    :ivar owner: the element that it belongs to, such as "loop 'pin'".
    :ivar key: the keys that lead to it from there; none for the element itself.
    """

    node: Any
    owner: str
    key: str = ''

    def of(self, owner: str) -> Value:
        """Return the value as an element of its own."""
        return Value(self.node, owner)

    def by_key(
            self, needed: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Value]:
        """
        Return the values of a mapping, whose keys are all of ``needed`` and any of ``optional``.

        :raises DescriptionError: for what is no mapping; a key that is unknown, missing or twice.
        """
        known, needed = [*needed, *optional], list(needed)
        if not self._is('mapping'):
            raise self.refused(f'a mapping with the keys {", ".join(known)} is needed')
        found: dict[str, Value] = {}
        for key_node, node in self.node.value:
            key = Value(key_node, self.owner).text()
            if key not in known:
                hint = did_you_mean(key, known) or f'; its keys are {", ".join(known)}'
                raise self._wrong(f'has the unknown key {key!r}', key_node, hint)
            if key in found:
                raise self._wrong(f'has the key {key!r} twice', key_node, '; one is allowed')
            found[key] = Value(node, self.owner, f'{self.key} {key}'.strip())
        for key in needed:
            if key not in found:
                raise self._wrong(f'has no key {key!r}', self.node, '; one is needed')
        return found

    def peek(self, key: str) -> str | None:
        """Return the text at a key, if that is what stands there, without any check."""
        pairs = self.node.value if self._is('mapping') else []
        return next((node.value for key_node, node in pairs
                     if (key_node.value, node.id) == (key, 'scalar')), None)

    def has(self, key: str) -> bool:
        """Return whether the value is a mapping with a key."""
        return self._is('mapping') and any(
            key_node.value == key for key_node, _ in self.node.value)

    def items(self) -> list[Value]:
        """Return the values of a list."""
        if not self._is('sequence'):
            raise self.refused('a list is needed')
        return [Value(node, self.owner, self.key) for node in self.node.value]

    def text(self) -> str:
        """Return the text of a scalar, whatever it is."""
        return str(self.node.value) if self._is('scalar') else ''

    def name(self) -> str:
        """Return a name, by the rules of URDF."""
        if not NAME.accepts(self.text()):
            raise self.refused(NAME.needed)
        return self.text()

    def number(self) -> float:
        """Return a number, by the rules of URDF."""
        if not NUMBER.accepts(self.text()):
            raise self.refused(NUMBER.needed)
        return float(self.text())

    def triple(self) -> Triple:
        """Return three numbers."""
        texts = [value.text() for value in self.items()] if self._is('sequence') else []
        if len(texts) != 3 or not all(map(NUMBER.accepts, texts)):
            raise self.refused('three finite decimal numbers are needed, such as [0, 0.5, -1e-3]')
        x, y, z = map(float, texts)
        return x, y, z

    def refused(self, needed: str) -> DescriptionError:
        """Return the error that says what stands here and what would do."""
        start, end = self.node.start_mark, self.node.end_mark
        shown = ' '.join(start.buffer[start.pointer:end.pointer].split()) or 'nothing'
        shown = shown if len(shown) <= 80 else f'{shown[:80]}...'
        return self._wrong(f'is {shown}', self.node, f'; {needed}')

    def _is(self, kind: str) -> bool:
        """Return whether the value is of that kind, and not changed by a tag such as !degrees."""
        return bool(self.node.id == kind and self.node.tag == _TAGS[kind])

    def _wrong(self, what: str, node: Any, rest: str) -> DescriptionError:
        place = f'{self.owner} key {self.key!r}' if self.key else self.owner
        return DescriptionError(f'{place} {what} (line {node.start_mark.line + 1}){rest}')


def read_yaml(text: str, owner: str) -> Value:
    """
    Read a YAML document.

    :param text: the document, not its path.
    :param owner: what messages call the whole of it.
    :raises DescriptionError: where it is not one YAML document, with the line; where PyYAML is
        not installed, with what to install.
    """
    try:
        import yaml
    except ImportError as error:
        raise DescriptionError(
            f'to read {owner}, PyYAML is needed, which is not installed: it is python3-yaml of '
            'the system, or pip install pyyaml') from error
    if not isinstance(text, str):
        raise DescriptionError(f'{owner} must be text (str), not {type(text).__name__}')
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise DescriptionError(f'{owner} is not YAML: {error}') from error
    except RecursionError as error:
        raise DescriptionError(f'{owner} is nested too deeply') from error
    if node is None:
        raise DescriptionError(f'{owner} is empty')
    return Value(node, owner)
