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
"""The shares and the worst figures of many episodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from missions.episode import LENGTH, Outcome
from missions.setups import Use
from rich.table import Table

MAXIMA = {'with a fault': 0.25, 'with a refusal': 0.4, 'never started': 0.02}
"""Largest shares of the episodes: more of them would hide that nothing happens."""


@dataclass
class Summary:
    """
    What became of some episodes.

    :param seed: of all of them.
    """

    seed: int
    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Add an episode."""
        self.outcomes.append(outcome)

    @property
    def failures(self) -> list[Outcome]:
        """Return the episodes that failed, in their order."""
        return sorted((outcome for outcome in self.outcomes if outcome.failure),
                      key=lambda outcome: outcome.number)

    def shares(self, outcomes: list[Outcome] | None = None) -> dict[str, float]:
        """Return which shares of some episodes, or of all, have had what."""
        chosen = self.outcomes if outcomes is None else outcomes
        count = max(len(chosen), 1)
        return {
            'with a fault': sum(one.has_fault for one in chosen) / count,
            'with a refusal': sum(bool(one.refused) for one in chosen) / count,
            'never started': sum(not one.has_started for one in chosen) / count}

    def excesses(self) -> list[str]:
        """Return the shares that are too large, for people."""
        return [f'{share:.0%} of the episodes are {what}, at most {MAXIMA[what]:.0%} may be'
                for what, share in self.shares().items() if share > MAXIMA[what]]

    def table(self) -> Table:
        """Return a table that fits a terminal."""
        table = Table(title=(
            f'{len(self.outcomes)} episodes of {LENGTH:g} s, seed {self.seed}: '
            f'{len(self.failures)} failed'))
        for heading in ('use', 'all', 'failed', 'fault', 'refusal', 'no start',
                        'speed [rad/s]', 'off [rad]'):
            table.add_column(heading, justify='left' if heading == 'use' else 'right',
                             no_wrap=True)
        for use in Use:
            chosen = [outcome for outcome in self.outcomes if outcome.setup.use is use]
            self._add(table, use.name.lower().replace('_', ' '), chosen)
        self._add(table, 'all', self.outcomes)
        table.caption = (
            'speed: the largest one less 1.3 times the commanded, at most 0.2 may be left; '
            'off: from the reference of drives, at most 0.15')
        return table

    def _add(self, table: Table, name: str, outcomes: list[Outcome]) -> None:
        shares = self.shares(outcomes)
        worst = [max((one.worst[index] for one in outcomes), default=0.0) for index in (0, 1)]
        table.add_row(
            name, str(len(outcomes)), str(sum(bool(one.failure) for one in outcomes)),
            *(f'{share:.0%}' for share in shares.values()),
            *(f'{value:.2f}' for value in worst))
