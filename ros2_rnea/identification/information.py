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
Recordings reduced to what a fit needs of them, in chunks.

Beside the recordings themselves, memory does not grow with their length.

Of the rows of a coordinate, with columns X, the effort b of the model before and the measured
effort y, nothing but the sums of products (X, b, y)ᵀ(X, b, y) enters a least-squares fit, whatever
weight the coordinate gets afterwards.  Sums add up, over chunks, recordings, processes and
machines.

Products square the condition number, where a QR factorization would not.  That costs nothing
here: columns are scaled before anything is factored, and the noise of a real drive makes a
direction worthless long before its singular value is 1e-7 of the largest, which is what sums of
products can resolve.  They are computed by one symmetric rank-k update of BLAS for each chunk,
at twice the speed of a QR update, and need no order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
import functools
import pickle
from typing import TypeVar

import numpy as np
from ros2_rnea.errors import ArgumentError
from ros2_rnea.identification.correlation import correlation_of
from ros2_rnea.identification.recording import PreparedRecording
from ros2_rnea.identification.unknowns import coordinate_names, Design
from ros2_rnea.model.description import Inertial
from scipy.linalg import blas

try:
    from threadpoolctl import ThreadpoolController
except ImportError:  # rosdep knows no package of it; without it, BLAS takes the threads it likes
    ThreadpoolController = None

ROWS = 2048
"""Samples of a chunk: its columns fit into the cache of a core."""

PENDING = 16
"""Chunks that wait in an executor at a time, so that they do not fill its memory."""

MOST_BLOCKS = 2**16
"""Of longer recordings, residuals are added up over blocks of consecutive samples."""


@dataclass(frozen=True)
class Information:
    """
    What rows of recordings say, by velocity coordinate.

    :ivar rows: how many there are, shape (nv,).
    :ivar products: for each coordinate (X, b, y)ᵀ(X, b, y), shape (columns + 2, columns + 2).
    """

    rows: np.ndarray
    products: tuple[np.ndarray, ...]

    def __add__(self, other: Information) -> Information:
        return Information(
            self.rows + other.rows,
            tuple(mine + theirs for mine, theirs in zip(self.products, other.products)))


@dataclass(frozen=True)
class Chunk:
    """
    Consecutive rows of one recording; arrays as those of PreparedRecording.

    :ivar begins: whether they do not follow those of the chunk before without a gap.
    """

    payloads: Mapping[str, tuple[str, Inertial]]
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    moves: np.ndarray
    begins: bool = True


def chunks(
        recording: PreparedRecording, start: int, stop: int, rows: int = ROWS,
        ) -> Iterator[Chunk]:
    """Yield the rows of a recording from start to stop, no chunk reaching over a gap."""
    for piece in recording.pieces:
        low, high = max(piece.start, start), min(piece.stop, stop)
        for first in range(low, high, rows):
            part = slice(first, min(first + rows, high))
            yield Chunk(
                dict(recording.payloads), recording.q[part], recording.qd[part],
                recording.qdd[part], recording.tau[part], recording.moves[part],
                first == low)


def reduced(design: Design, parts: Iterable[Chunk], executor: Executor | None) -> Information:
    """
    Return what chunks say together.

    :param executor: where chunks are reduced; here, one after the other, without one.
    """
    sizes = [len(columns) + 2 for columns in design.of_coordinate]
    nothing = Information(
        np.zeros(len(sizes), dtype=int), tuple(np.zeros((size, size)) for size in sizes))
    return sum(_mapped(reduce_chunk, design, (), parts, executor), nothing)


def correlation_times(
        design: Design,
        solution: Sequence[np.ndarray],
        parts: Iterable[Chunk],
        rows: np.ndarray,
        fitted: np.ndarray,
        executor: Executor | None) -> np.ndarray:
    """
    Return how many samples of the residual of each coordinate count as one, shape (nv,).

    Sums over blocks have the power of the residual at low frequencies, on which the time depends.

    :param solution: for each coordinate, what (X, b, y) is multiplied by to give the residual.
    :param rows: how many samples count, shape (nv,).
    :param fitted: how many parameters each coordinate determines, shape (nv,).
    """
    block = -(-int(rows.max()) // MOST_BLOCKS)
    squares, pieces = np.zeros(len(rows)), list[list[np.ndarray]]()
    for begins, sums, own in _mapped(residual_blocks, design, (solution, block), parts, executor):
        squares += own
        if begins:
            pieces.append([])
        pieces[-1].append(sums)
    series = [np.concatenate(sums) for sums in pieces]
    times = []
    for coordinate, count in enumerate(rows):
        found = correlation_of(
            [sums[:, coordinate] for sums in series], count / block, fitted[coordinate])
        power = sum(float(sums[:, coordinate] @ sums[:, coordinate]) for sums in series)
        share = power / squares[coordinate] if squares[coordinate] > 0.0 else 1.0
        times.append(max(found.time * share, 1.0))
    return np.array(times)


def reduce_chunk(design: Design, chunk: Chunk) -> Information:
    """Return what the rows of one chunk say."""
    rows, products = [], []
    with one_thread():
        for kept, X in _rows(design, chunk):
            rows.append(int(np.count_nonzero(kept)))
            upper = blas.dsyrk(1.0, X.T)  # X.T is in Fortran's order as it stands
            products.append(np.triu(upper) + np.triu(upper, 1).T)
    return Information(np.array(rows), tuple(products))


def one_thread() -> AbstractContextManager[object]:
    """Let BLAS use one thread in a ``with`` block: with small matrices, more only wait."""
    if ThreadpoolController is None:
        return nullcontext()
    return _blas().limit(limits=1, user_api='blas')


@functools.lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def residual_blocks(
        design: Design, chunk: Chunk, solution: Sequence[np.ndarray], block: int,
        ) -> tuple[bool, np.ndarray, np.ndarray]:
    """
    Return the residuals of one chunk, added up over blocks of rows.

    :return: whether the chunk begins a piece, the sums, shape (blocks, nv), and the sums of the
        squares, shape (nv,).
    """
    residuals = np.stack([X @ weights for (_, X), weights in zip(_rows(design, chunk), solution)],
                         axis=1)
    sums = np.add.reduceat(residuals, np.arange(0, len(residuals), block))
    return chunk.begins, sums, np.square(residuals).sum(axis=0)


def check_finite(recordings: Sequence[PreparedRecording], design: Design) -> None:
    """
    Check that there is a number wherever one is needed.

    :raises ArgumentError: naming the recording, the joint and the time of the first that is none.
    """
    joints = coordinate_names(design.robot.tree)
    for recording in recordings:
        for first in range(0, len(recording.times), ROWS):
            part = slice(first, first + ROWS)
            for name in ('q', 'qd', 'qdd', 'tau'):
                values = getattr(recording, name)[part]
                bad = ~np.isfinite(values)
                if name == 'tau':
                    bad &= ~_unrecorded(recording)
                if bad.any():
                    row, column = np.argwhere(bad)[0].tolist()
                    joint = f'coordinate {column}' if name == 'q' else repr(joints[column])
                    raise ArgumentError(
                        f'recording {recording.name!r}: {name} of {joint} is '
                        f'{values[row, column]} at {recording.times[first + row]:.6g} s; it needs '
                        'a finite number, or for the effort NaN throughout: prepare the recording '
                        'anew, or cut these samples out')


def _unrecorded(recording: PreparedRecording) -> np.ndarray:
    """Return for each coordinate whether its effort was not recorded: it is NaN throughout."""
    return np.array([np.isnan(column).all() for column in recording.tau.T], dtype=bool)


def _rows(design: Design, chunk: Chunk) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each coordinate which rows count, and (X, b, y), zero in the others."""
    counts = np.isfinite(chunk.tau) & (chunk.moves | ~design.is_dry)
    y = chunk.tau
    for kept, X in zip(counts.T, design.evaluate(chunk.payloads, chunk.q, chunk.qd, chunk.qdd, y)):
        X[~kept] = 0.0
        yield kept, X


Result = TypeVar('Result')


def _mapped(
        function: Callable[..., Result],
        design: Design,
        arguments: tuple[object, ...],
        parts: Iterable[Chunk],
        executor: Executor | None) -> Iterator[Result]:
    """Yield the result of each chunk, in order, so that sums do not depend on the executor."""
    if executor is None:
        for part in parts:
            yield function(design, part, *arguments)
        return
    text = pickle.dumps(design)
    waiting: deque = deque()
    for part in parts:
        waiting.append(executor.submit(_called, function, text, part, arguments))
        if len(waiting) >= PENDING:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _called(
        function: Callable[..., Result], text: bytes, part: Chunk, arguments: tuple[object, ...],
        ) -> Result:
    """Call a function in a worker, which keeps the design for the next chunk."""
    return function(_design(text), part, *arguments)


@functools.lru_cache(maxsize=2)
def _design(text: bytes) -> Design:
    return pickle.loads(text)  # noqa: S301 (it comes from the process that shares the work)
