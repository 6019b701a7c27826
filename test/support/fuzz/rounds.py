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
Rounds of hostile messages: one node each, and batches that hypothesis draws from a seed.

A batch that breaks the node is sent again to a fresh one, and hypothesis reduces it to the few
messages that are needed.  Where a fresh node withstands it, what was sent before it counted, too;
then the seed of the round repeats all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from signal import Signals
from typing import NamedTuple

from fuzz.hostile import Hostile, hostile_messages
from fuzz.record import Record
from fuzz.target import Broken, Target
import hypothesis
from hypothesis import given, HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

LARGEST_BATCH = 12


class Variant(NamedTuple):
    """A configuration of the node, by a name, as the arguments of a :class:`Target`."""

    name: str
    parameters: dict[str, str]
    omitted: tuple[str, ...] = ('controller_state',)
    awaited: tuple[str, ...] = ()
    program: str = 'inverse_dynamics_node'


VARIANTS = (
    Variant('automatic', {'executor': 'automatic'}),
    Variant('single_threaded', {'executor': 'single_threaded', 'position_loop': 'none'}),
    Variant('imu_and_button',
            {'position_loop': 'none', 'dead_man_button': '0', 'gravity_from_imu': 'true',
             'gravity_time_constant': '0.01'},
            omitted=(), awaited=('imu', 'joy')),
    Variant('simulated_time', {'use_sim_time': 'true', 'executor': 'single_threaded'},
            awaited=('clock',)),
    Variant('managed', {}, awaited=('change_state', 'get_state'), program='managed_node'),
)
"""
A round takes that whose number is its seed's remainder.

A node that has heard ``controller_state`` follows no trajectory: only one of them does.
"""


ENGINES = ('textbook', '')
"""Of the kernels: a round takes that of the remainder of how often its variant came before."""

ENDS = (Signals.SIGINT, Signals.SIGTERM, Signals.SIGHUP, Signals.SIGQUIT, Signals.SIGUSR1,
        Signals.SIGUSR2, Signals.SIGALRM)
"""The signals that end the node of a round."""


class RoundError(Exception):
    """A node was broken; the message has the reduced batch and what it broke."""


class Round:
    """
    A node, and the batches that it has to withstand.

    :param seed: of everything that is drawn.
    :param folder: for the node's log.
    :param record: what is counted.
    :param on_batch: called after each batch that was withstood.
    """

    def __init__(
            self, seed: int, folder: Path, record: Record | None = None,
            on_batch: Callable[[], object] = lambda: None) -> None:
        self._seed = seed
        self._folder = folder
        self._record = record or Record()
        self._on_batch = on_batch
        self._target: Target | None = None
        self._first_failure = ''

    def run(self, batches: int) -> None:
        """
        Send so many batches.

        :raises RoundError: where the node was broken.
        """
        try:
            self._run(batches)
        except Flaky as error:
            raise RoundError(
                'A batch broke a node that others were sent to before, and no fresh one:\n'
                f'{self._first_failure}') from error

    def _run(self, batches: int) -> None:
        target = self._start()
        inputs, honest = target.inputs(), target.honest

        @hypothesis.seed(self._seed)
        @settings(max_examples=batches, deadline=None, database=None, report_multiple_bugs=False,
                  phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck))
        @given(st.lists(hostile_messages(inputs, honest), min_size=1, max_size=LARGEST_BATCH))
        def withstand(batch: Sequence[Hostile]) -> None:
            self._withstand(batch)

        try:
            withstand()
        except BaseException as error:
            self._end(error)
            raise
        self._end(None)

    def _withstand(self, batch: Sequence[Hostile]) -> None:
        target = self._target or self._start()
        try:
            target.withstand(batch)
        except Broken as error:
            self._end(error)
            sent = '\n'.join(f'  {each}' for each in batch)
            text = f'{error}\n\nThe batch was:\n{sent}'
            self._first_failure = self._first_failure or text
            raise RoundError(text) from error
        except BaseException as error:
            self._end(error)
            raise
        self._record.batches += 1
        self._record.messages += sum(each.times for each in batch)
        self._record.requests += sum(each.times for each in batch if each.to.is_service)
        self._on_batch()
        if target.is_finalized:
            self._end(None)

    def _start(self) -> Target:
        before, number = divmod(self._seed, len(VARIANTS))
        self._target = Target(
            self._folder, *VARIANTS[number][1:], engine=ENGINES[before % len(ENGINES)],
            end=ENDS[self._seed % len(ENDS)], record=self._record).__enter__()
        return self._target

    def _end(self, error: BaseException | None) -> None:
        target, self._target = self._target, None
        if target is not None:
            target.__exit__(type(error) if error else None, error, None)
