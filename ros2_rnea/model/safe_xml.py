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
Untrusted XML text → elements.

A robot description arrives over a topic, from anybody.  Document types, and with them entities,
are refused where they are declared, before anything is expanded; size and depth are bounded.
Namespaces are not resolved: a tag is what stands in the text, as it is for urdfdom in C++, so
neither a default namespace nor an undeclared prefix changes what a robot is.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ros2_rnea.errors import DescriptionError

# The largest robots that we know of have 200 thousand characters, 4000 elements, depth 7.
MAX_CHARACTERS = 20_000_000
MAX_ELEMENTS = 200_000
MAX_DEPTH = 100

BEFORE_XML = '\ufeff \t\r\n'
"""Text that may stand before ``<?xml``."""

LONGEST_PATH = 4096
"""A text with fewer characters and without a tag may be the path of a file."""

MAX_BEFORE_ROOT = 1_000_000
"""The first tag is sought in so many characters; a licence may stand in a comment before it."""


def read_xml(text: str) -> Element:
    """
    Read a whole XML document.

    :param text: the document.  An encoding that it declares does not matter, since text has none
        any more; blank lines before ``<?xml`` are allowed, as urdfdom allows them.
    :return: the root element.
    :raises DescriptionError: where the text is not XML, with the line and column, or is hostile.
    """
    if not isinstance(text, str):
        raise DescriptionError(
            f'a robot description must be text (str), not {type(text).__name__}')
    if len(text) > MAX_CHARACTERS:
        raise DescriptionError(
            f'the robot description has {len(text)} characters; '
            f'{MAX_CHARACTERS} are the most that is read')
    document = text.lstrip(BEFORE_XML)
    if not document:
        raise DescriptionError('the robot description is empty')
    if '<' not in document and len(document) < LONGEST_PATH:
        raise DescriptionError(
            f'{document!r} is not XML; if it is the path of a file, its text is needed: '
            'pathlib.Path(path).read_text()')
    builder = _BoundedBuilder()
    parser = expat.ParserCreate(encoding='utf-8')
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(document.encode('utf-8'), True)
    except UnicodeEncodeError as error:
        raise DescriptionError(
            f'the robot description is not text: {error.reason} at character '
            f'{error.start} ({document[error.start]!a})') from error
    except expat.ExpatError as error:
        raise DescriptionError(_syntax_error(error, text, document)) from error
    return builder.close()


def read_root(text: str) -> tuple[str, Mapping[str, str]]:
    """
    Read only the first tag of a document, which takes little time however long the document is.

    :return: the tag and its attributes, as :func:`read_xml` would return them; empty where the
        beginning is not XML, or is hostile.
    """
    found: list[tuple[str, Mapping[str, str]]] = []
    parser = expat.ParserCreate(encoding='utf-8')
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda tag, attributes: found.append((tag, attributes))
    document = text[:MAX_BEFORE_ROOT].lstrip(BEFORE_XML)
    begin, end = 0, 4096
    with suppress(DescriptionError, UnicodeEncodeError, expat.ExpatError):  # perhaps behind it
        while not found and begin < len(document):
            parser.Parse(document[begin:end].encode('utf-8'), False)
            begin, end = end, 4 * end  # few pieces: a tag may be read again from its beginning
        if not found:
            parser.Parse(b'', True)  # for newer versions of expat, which delay long tokens
    return found[0] if found else ('', {})


class _BoundedBuilder:
    """Builds the elements from the parser's events, up to the limits."""

    def __init__(self) -> None:
        self._tree = TreeBuilder()
        self._depth = 0
        self._count = 0
        self.data = self._tree.data
        self.close = self._tree.close

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > MAX_DEPTH:
            raise DescriptionError(
                f'the robot description nests elements more than {MAX_DEPTH} deep')
        if self._count > MAX_ELEMENTS:
            raise DescriptionError(
                f'the robot description has more than {MAX_ELEMENTS} elements')
        self._tree.start(tag, attributes)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._tree.end(tag)


def _refuse_doctype(name: str, *_: object) -> None:
    raise DescriptionError(
        f'the robot description declares a document type (<!DOCTYPE {name[:40]} ...>), '
        'which could define entities; a URDF needs none: remove it')


def _syntax_error(error: expat.ExpatError, text: str, document: str) -> str:
    """Say what is wrong where, counting lines in the text as it was given."""
    lines = document.replace('\r\n', '\n').replace('\r', '\n').split('\n')
    line = lines[error.lineno - 1]
    excerpt = line[max(0, error.offset - 30):error.offset + 30].strip()
    skipped = text[:len(text) - len(document)].count('\n')
    return (
        f'the robot description is not XML: {expat.ErrorString(error.code)} at line '
        f'{skipped + error.lineno}, column {error.offset + 1}, near {excerpt!r}')
