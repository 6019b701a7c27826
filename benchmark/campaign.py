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
"""All measurements of one run: every robot, every quantity, every peer that agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark.agreement import agree, relative_error, TOLERANCE
from benchmark.errors import Absent, BenchmarkError
from benchmark.measure import measure, Settings
from benchmark.peers import OURS, Peer, PEERS, PINOCCHIO, statement
from benchmark.problem import pose_problem
from benchmark.quantities import BY_NAME
from benchmark.robots import Description
from benchmark.statement import Compiled
from benchmark.summary import ratio, Spread, spread
import numpy as np
Engines = Mapping[str, Any]
"""What peers made of a robot, by name: an engine, or Absent."""


@dataclass(frozen=True)
class Result:
    """
    The result of a peer: figures, or the reason why there are none.

    :ivar error: relative difference to Pinocchio's answers.
    :ivar nanoseconds: of one evaluation.
    :ivar of_pinocchio: the ratio to Pinocchio's time in the same round.
    :ivar reason: why it was not timed; empty where it was.
    """

    robot: str
    quantity: str
    peer: str
    code: str = ''
    remark: str = ''
    error: float | None = None
    nanoseconds: Spread | None = None
    of_pinocchio: Spread | None = None
    reason: str = ''


class Campaign:
    """
    Measures one robot after another, and keeps what came out.

    :param settings: how long to measure.
    :param batch_rows: how many states a batch has.
    :param peers: which take part; Pinocchio has to.
    """

    def __init__(
            self, settings: Settings, batch_rows: int, peers: Sequence[Peer] = PEERS) -> None:
        self._settings = settings
        self._batch_rows = batch_rows
        self._peers = peers
        self.results: list[Result] = []

    def load(self, description: Description) -> Engines:
        """
        Return each peer's engine for a robot, or the reason why there is none.

        :raises BenchmarkError: where the robot is not one that all peers can be asked about.
        :raises RneaError: where it is no robot at all.
        """
        problem = pose_problem(description, self._batch_rows)
        engines: dict[str, Any] = {}
        for peer in self._peers:
            try:
                engines[peer.name] = peer.load(problem)
            except Absent as reason:
                engines[peer.name] = reason
        if isinstance(engines[PINOCCHIO], Absent):
            raise BenchmarkError(f'Pinocchio, the yardstick, is missing: {engines[PINOCCHIO]}')
        return engines

    def compare(self, robot: str, quantity: str, engines: Engines) -> None:
        """Measure one quantity with all peers that give Pinocchio's answer."""
        among = engines if not BY_NAME[quantity].way_of else (OURS, PINOCCHIO)
        asked = {name: _ask(engine, quantity) for name, engine in engines.items()
                 if name in among}
        able = {name: compiled for name, compiled in asked.items()
                if isinstance(compiled, Compiled)}
        answers = {name: compiled.answers() for name, compiled in able.items()}
        errors = {name: relative_error(own, answers[PINOCCHIO]) for name, own in answers.items()}
        samples = measure(
            {name: able[name] for name, error in errors.items() if agree(error)},
            self._settings)
        self.results += [
            _result(Result(robot, quantity, name), compiled, errors.get(name), samples)
            for name, compiled in asked.items()]


def _ask(engine: Any, quantity: str) -> Compiled | Absent:
    """Return how an engine is asked for a quantity, or why it is not."""
    if isinstance(engine, Absent):
        return engine
    try:
        return statement(engine, quantity).compiled()
    except Absent as reason:
        return reason


def _result(
        blank: Result, asked: Compiled | Absent, error: float | None,
        samples: dict[str, np.ndarray]) -> Result:
    """Fill in what is known of one peer."""
    if isinstance(asked, Absent):
        return replace(blank, reason=str(asked))
    shown = replace(blank, code=asked.statement.code, remark=asked.statement.remark, error=error)
    if blank.peer not in samples:
        return replace(shown, reason=f'its answer differs by {error:.1e}, more than {TOLERANCE}')
    own = samples[blank.peer]
    return replace(
        shown, nanoseconds=spread(own), of_pinocchio=ratio(own, samples[PINOCCHIO]))
