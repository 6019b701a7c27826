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
"""The mutants of a file: each is the file with one small mistake in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
import difflib
import re

# What an operator becomes, as it is written in the source.
COMPARISONS = {
    ast.Lt: '<=', ast.LtE: '<', ast.Gt: '>=', ast.GtE: '>', ast.Eq: '!=', ast.NotEq: '==',
    ast.Is: 'is not', ast.IsNot: 'is', ast.In: 'not in', ast.NotIn: 'in'}
ARITHMETIC = {
    ast.Add: '-', ast.Sub: '+', ast.Mult: '/', ast.Div: '*', ast.FloorDiv: '/', ast.Mod: '/',
    ast.Pow: '*', ast.BitAnd: '|', ast.BitOr: '&', ast.BitXor: '&', ast.LShift: '>>',
    ast.RShift: '<<'}
OPERATOR = re.compile(r'is\s+not|not\s+in|is|in|and|or|\*\*|//|<<|>>|[<>=!]=|[-+*/%&|^<>]')

TYPING = {'cast', 'TypeVar', 'NewType', 'namedtuple'}


@dataclass(frozen=True)
class Mutant:
    """
    A replacement in the text of a file.

    :ivar start: offset of the first character that is replaced.
    :ivar lines: first and last line of the statement, or of its head, that is changed.
    :ivar scope: name of the class and function around it.
    """

    path: str
    start: int
    end: int
    text: str
    lines: tuple[int, int]
    scope: str

    def applied(self, source: str) -> str:
        """Return the source with the mistake."""
        return source[:self.start] + self.text + source[self.end:]

    def diff(self, source: str) -> str:
        """Return the lines that differ."""
        lines = list(difflib.unified_diff(
            source.splitlines(), self.applied(source).splitlines(), n=0, lineterm=''))[2:]
        return '\n'.join(lines)

    def changed_line(self, source: str) -> str:
        """Return the first line that differs, with the mistake in it."""
        begin = source.rfind('\n', 0, self.start) + 1
        return self.applied(source)[begin:].split('\n', 1)[0].strip()


def mutants(path: str, source: str) -> list[Mutant]:
    """
    Return all mutants of a file, in the order of its text.

    Annotations, decorators, docstrings and sentences are not mutated: a text with a space in it is
    for people, and tests compare parts of it on purpose.
    """
    found = _Finder(path, source).found
    return [mutant for mutant in found if _is_python(mutant.applied(source))]


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


class _Finder:
    """Walks through a file and keeps the mutants that it meets."""

    def __init__(self, path: str, source: str) -> None:
        self.found: list[Mutant] = []
        self._path = path
        self._source = source
        self._scope: list[str] = []
        self._lines = (1, 1)
        self._line_starts = [0]
        for line in source.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._text_lines = source.splitlines()
        for statement in ast.parse(source).body:
            self._statement(statement)
        self.found.sort(key=lambda mutant: (mutant.start, mutant.text))

    # ---- places in the text -----------------------------------------------------------------

    def _offset(self, line: int, column: int) -> int:
        """Return the offset of a place that ast counts in bytes of UTF-8."""
        before = self._text_lines[line - 1].encode()[:column].decode()
        return self._line_starts[line - 1] + len(before)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return (self._offset(node.lineno, node.col_offset),
                self._offset(node.end_lineno, node.end_col_offset))

    def _replace(self, start: int, end: int, text: str) -> None:
        self.found.append(
            Mutant(self._path, start, end, text, self._lines, '.'.join(self._scope)))

    def _replace_operator(self, left: ast.expr, right: ast.expr, text: str) -> None:
        start, end = self._span(left)[1], self._span(right)[0]
        match = OPERATOR.search(self._source, start, end)
        if match:
            self._replace(match.start(), match.end(), text)

    # ---- statements ---------------------------------------------------------------------------

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == 'TYPE_CHECKING':
            return
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in (
                '__all__', '__slots__'):
            return
        bodies = [statement for field in ('body', 'orelse', 'finalbody', 'handlers')
                  for statement in getattr(node, field, [])]
        last = bodies[0].lineno - 1 if bodies else node.end_lineno
        self._lines = (node.lineno, max(node.lineno, last))
        self._whole_statement(node)
        for expression in self._expressions(node):
            self._expression(expression)
        is_scope = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if is_scope:
            self._scope.append(node.name)
        for statement in bodies:
            self._statement(statement)
        if is_scope:
            self._scope.pop()

    def _expressions(self, node: ast.stmt) -> Iterator[ast.expr]:
        """Yield what of a statement is computed, without annotations and decorators."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from node.args.defaults
            yield from (default for default in node.args.kw_defaults if default is not None)
        elif isinstance(node, ast.AnnAssign):
            yield from [node.value] if node.value else []
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from (item.context_expr for item in node.items)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        elif not isinstance(node, (ast.ClassDef, ast.Import, ast.ImportFrom)):
            yield from (child for child in ast.iter_child_nodes(node)
                        if isinstance(child, ast.expr))

    def _whole_statement(self, node: ast.stmt) -> None:
        span = self._span(node) if not isinstance(node, ast.ExceptHandler) else (0, 0)
        if isinstance(node, ast.Raise) or (
                isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)):
            self._replace(*span, 'pass')
        elif isinstance(node, (ast.Break, ast.Continue)):
            self._replace(*span, 'continue' if isinstance(node, ast.Break) else 'break')
        elif isinstance(node, (ast.Return, ast.Assign, ast.AnnAssign)):
            value = node.value
            if value is not None and not isinstance(value, ast.Constant):
                self._replace(*self._span(value), 'None')
        elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
            self._replace_operator(node.target, node.value, ARITHMETIC[type(node.op)])
        elif isinstance(node, (ast.If, ast.While)):
            self._negate(node.test)

    # ---- expressions --------------------------------------------------------------------------

    def _negate(self, test: ast.expr) -> None:
        """Turn a condition round, unless what is in it is turned round anyway."""
        if not isinstance(test, (ast.UnaryOp, ast.Compare)):
            start, end = self._span(test)
            self._replace(start, end, f'not ({self._source[start:end]})')

    def _expression(self, node: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr):
            return  # of a sentence; and Python 3.11 does not know the places in it
        if isinstance(node, ast.Constant):
            self._constant(node)
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands, node.ops, operands[1:]):
                self._replace_operator(left, right, COMPARISONS[type(operator)])
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            self._replace_operator(node.left, node.right, ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            other = 'or' if isinstance(node.op, ast.And) else 'and'
            for left, right in zip(node.values, node.values[1:]):
                self._replace_operator(left, right, other)
        elif isinstance(node, ast.UnaryOp):
            start = self._span(node)[0]
            if isinstance(node.op, ast.Not):
                self._replace(start, start + 3, '')
            elif isinstance(node.op, ast.USub):
                self._replace(start, start + 1, '+')
            elif isinstance(node.op, ast.Invert):
                self._replace(start, start + 1, '')
        elif isinstance(node, ast.IfExp):
            self._negate(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                self._negate(test)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in TYPING:
            for argument in node.args[1:]:  # the first is a type, or its name
                self._expression(argument)
            return
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == 'Literal':
            return
        for child in ast.iter_child_nodes(node):
            self._expression(child)

    def _constant(self, node: ast.Constant) -> None:
        value, span = node.value, self._span(node)
        if isinstance(value, bool):
            self._replace(*span, str(not value))
        elif isinstance(value, (int, float)):
            self._replace(*span, repr(value + 1 if value + 1 != value else 2 * value))
        elif isinstance(value, str) and ' ' not in value:
            self._replace(*span, repr(f'XX{value}'))
