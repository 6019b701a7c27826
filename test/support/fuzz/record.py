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
"""What a run of the fuzzer has counted and measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from fuzz.gaps import Gap
from rich.table import Table


@dataclass
class Record:
    """
    What was sent to nodes, and what they did.

    :ivar requests: how many of the messages were requests to services.
    :ivar judged: how many batches had no input that may end the efforts.
    :ivar listeners: how many processes have listened to the commands for a while.
    :ivar ends: how often each signal has ended a node.
    :ivar growth: largest growth of the memory of one node [bytes].
    :ivar logged: length of all logs [bytes].
    :ivar gaps: the longest gap by the input that may have ended the efforts; '': none may.
    """

    messages: int = 0
    requests: int = 0
    batches: int = 0
    judged: int = 0
    listeners: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    growth: int = 0
    logged: int = 0
    gaps: dict[str, Gap] = field(default_factory=dict)

    def note(self, gap: Gap, excuses: Collection[str]) -> None:
        """Keep a gap if it is longer than those before it."""
        excuse = 'several of these' if len(excuses) > 1 else ''.join(excuses)
        self.gaps[excuse] = max(gap, self.gaps.get(excuse, gap))

    def table(self) -> Table:
        """Return the table that ends a run."""
        table = Table(show_header=False)
        for name, value in (
                ('messages', f'{self.messages}, of which {self.requests} requests to services'),
                ('batches', f'{self.batches}; in {self.judged} nothing may end the efforts'),
                ('receivers that came and went', str(self.listeners)),
                ('signals', ', '.join(f'{name} {n}' for name, n in sorted(self.ends.items()))),
                ('largest growth of memory', f'{self.growth / 2 ** 20:.0f} MiB'),
                ('logged', f'{self.logged / 1e6:.2f} MB'),
                *((f'longest gap between efforts{excuse and f", with {excuse}"}',
                   f'{1e3 * gap.own:.0f} ms (and {1e3 * (gap.whole - gap.own):.0f} ms by the '
                   f'machine), after {gap.after}') for excuse, gap in sorted(self.gaps.items()))):
            table.add_row(name, value)
        return table
