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
A statement that a user of a peer would write, and its compilation into a loop over states.

As in the standard library's ``timeit``, the statement is text inside a loop.  So no wrapper adds
to the time of the call, and the tables can show the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Rows = Sequence[Any]

TEMPLATE = """\
def make({names}):
    def block(rows):
        for {over} in rows:
            {code}

    def nothing(rows):
        for {over} in rows:
            pass

    def answer(row):
        {over} = row
        {code}
        return {result}

    return block, nothing, answer
"""


@dataclass(frozen=True, eq=False)
class Statement:
    """
    What is timed.

    :ivar code: simple Python statements, in one line.
    :ivar over: the names that the code takes from each row, such as ``'(q, v)'``.
    :ivar rows: a row of inputs for each state, ready as the peer wants them.
    :ivar names: whatever else the code names.
    :ivar result: an expression for the answer once the code has run.
    :ivar to_ours: the answer to row i in our coordinates, as an array of its own.
    :ivar evaluations: how many states one run of the code computes.
    :ivar remark: what the code alone does not say about the comparison.
    """

    code: str
    over: str
    rows: Rows
    names: Mapping[str, Any]
    result: str
    to_ours: Callable[[int, Any], np.ndarray] = field(default=lambda i, answer: np.array(answer))
    evaluations: int = 1
    remark: str = ''

    def compiled(self) -> Compiled:
        """Return the statement as functions."""
        source = TEMPLATE.format(
            names=', '.join(self.names), over=self.over, code=self.code, result=self.result)
        scope: dict[str, Any] = {}
        exec(compile(source, f'<{self.code}>', 'exec'), scope)
        return Compiled(self, *scope['make'](**self.names))


@dataclass(frozen=True, eq=False)
class Compiled:
    """
    A statement as functions.

    :ivar block: runs it for each of some rows.
    :ivar nothing: the same loop without it, for what the loop itself costs.
    :ivar answer: runs it for one row and returns what it computed.
    """

    statement: Statement
    block: Callable[[Rows], None]
    nothing: Callable[[Rows], None]
    answer: Callable[[Any], Any]

    def answers(self) -> np.ndarray:
        """Return the answers for all rows, in our coordinates."""
        to_ours = self.statement.to_ours
        return np.stack([np.asarray(to_ours(i, self.answer(row)), dtype=float)
                         for i, row in enumerate(self.statement.rows)])
