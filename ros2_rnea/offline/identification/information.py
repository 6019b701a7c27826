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

Of the rows of a coordinate, with columns X, the effort b of the model before and the measured
effort y, nothing but the sums of products (X, b, y)ᵀ(X, b, y) enters a least-squares fit, whatever
weight the coordinate gets afterwards.  Sums add up, over chunks, recordings, processes and
machines, and do not grow with the recordings.  Products are computed of independent columns only,
and then expanded to all: the dependencies hold exactly.  ``docs/identification.rst`` says why
products do for all this, although they square the condition number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
import functools
import pickle
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial
from ros2_rnea.offline.identification.correlation import correlation_of
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.time_blocks import SampleBlocks
from ros2_rnea.offline.identification.unknowns import coordinate_names, Design

try:
    from threadpoolctl import ThreadpoolController
except ImportError:  # rosdep knows no package of it; without it, BLAS takes the threads it likes
    ThreadpoolController = None

ROWS = 8192
"""Samples of a chunk, which is what a process reduces at a time."""

IN_CACHE = 2**18
"""Numbers that a chunk is evaluated to at a time: they stay in the cache of a core."""

PENDING = 16
"""Maximum number of chunks that wait in an executor, to bound its memory."""

MAX_BLOCKS = 2**16
"""The most blocks: residuals of a longer recording are added up over consecutive samples."""


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

    :ivar begins: whether they are the first of a piece: after a gap, or of a recording.
    :ivar blocks: the block of time that each row belongs to, see :mod:`.time_blocks`; None: they
        all belong to the first.
    """

    payloads: Mapping[str, tuple[str, Inertial]]
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    moves: np.ndarray
    begins: bool = True
    blocks: np.ndarray | None = None
    direction: np.ndarray | None = None


def chunks(
        recording: PreparedRecording, start: int, stop: int, rows: int = ROWS,
        blocks: SampleBlocks | None = None) -> Iterator[Chunk]:
    """
    Yield the rows of a recording from start to stop, no chunk reaching over a gap.

    :param blocks: the blocks of time that the rows of the recording belong to.
    """
    for piece in recording.pieces:
        low, high = max(piece.start, start), min(piece.stop, stop)
        for first in range(low, high, rows):
            part = slice(first, min(first + rows, high))
            yield Chunk(
                dict(recording.payloads), recording.q[part], recording.qd[part],
                recording.qdd[part], recording.tau[part], recording.moves[part],
                first == low, None if blocks is None else blocks(recording.times[part]),
                None if recording.direction is None else recording.direction[part])


def reduced(design: Design, parts: Iterable[Chunk], executor: Executor | None) -> Information:
    """
    Return what chunks say together.

    :param executor: where chunks are reduced; here, one after the other, without one.
    """
    sizes = [len(columns) + 2 for columns in design.of_coordinate]
    nothing = Information(
        np.zeros(len(sizes), dtype=int), tuple(np.zeros((size, size)) for size in sizes))
    return sum(_mapped(reduce_chunk, design, (), parts, executor), nothing)


@dataclass(frozen=True)
class Residuals:
    """
    What the residuals of a fit say about its errors.

    :ivar correlation: how many samples of the residual of each coordinate count as one, shape
        (nv,).
    :ivar scores: for each coordinate (X, b, y)ᵀ times its residual, by block of time, shape
        (blocks, columns + 2).
    """

    correlation: np.ndarray
    scores: tuple[np.ndarray, ...]


def residuals(
        design: Design,
        solution: Sequence[np.ndarray],
        parts: Iterable[Chunk],
        rows: np.ndarray,
        fitted: np.ndarray,
        time_blocks: int,
        executor: Executor | None) -> Residuals:
    """
    Return what the residuals of a fit say about its errors.

    Sums over blocks of consecutive samples have the power of the residual at low frequencies, on
    which the correlation depends.

    :param solution: for each coordinate, what (X, b, y) is multiplied by to give the residual.
    :param rows: how many samples count, shape (nv,).
    :param fitted: how many parameters each coordinate determines, shape (nv,).
    :param time_blocks: how many blocks of time there are.
    """
    block = -(-int(rows.max()) // MAX_BLOCKS)
    squares, pieces = np.zeros(len(rows)), list[list[np.ndarray]]()
    scores = [np.zeros((time_blocks, len(columns) + 2)) for columns in design.of_coordinate]
    of_chunks = _mapped(
        chunk_residuals, design, (solution, block, time_blocks), parts, executor)
    for begins, sums, added, of_chunk in of_chunks:
        squares += added
        if begins:
            pieces.append([])
        pieces[-1].append(sums)
        for own, more in zip(scores, of_chunk):
            own += more
    series = [np.concatenate(sums) for sums in pieces]
    times = []
    for coordinate, count in enumerate(rows):
        found = correlation_of(
            [sums[:, coordinate] for sums in series], count / block, fitted[coordinate])
        power = sum(float(sums[:, coordinate] @ sums[:, coordinate]) for sums in series)
        share = power / squares[coordinate] if squares[coordinate] > 0.0 else 1.0
        times.append(max(found.time * share, 1.0))
    return Residuals(np.array(times), tuple(scores))


def reduce_chunk(design: Design, chunk: Chunk) -> Information:
    """Return what the rows of one chunk say."""
    rows = np.zeros(len(design.parts), dtype=int)
    products = [np.zeros((len(one), len(one))) for one in design.expansions]
    with one_thread():
        for _, counts, numbers in _evaluated(design, chunk):
            rows += len(counts) if counts.all() else np.count_nonzero(counts, axis=0)
            for total, part in zip(products, design.parts):
                own = numbers[:, part]
                total += own.T @ own  # NumPy calls BLAS for symmetric products
    return Information(rows, tuple(
        one.T @ total @ one for one, total in zip(design.expansions, products)))


_LOCK = Lock()
_INSIDE: list[Any] = []
"""The limit to one thread, once for each block that is being executed."""


@contextmanager
def one_thread() -> Iterator[None]:
    """
    Let BLAS use one thread in a ``with`` block: with small matrices, more only wait.

    The limit is of the process.  Where several threads are in such a block, as in the workers of a
    ThreadPoolExecutor, the last one that leaves it lifts the limit.
    """
    with _LOCK:
        _INSIDE.append(_INSIDE[0] if _INSIDE else _limited())
    try:
        yield
    finally:
        with _LOCK:
            limit = _INSIDE.pop()
            if not _INSIDE and limit is not None:
                limit.restore_original_limits()


def _limited() -> Any:
    return None if ThreadpoolController is None else _controller().limit(
        limits=1, user_api='blas')


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def chunk_residuals(
        design: Design, chunk: Chunk, solution: Sequence[np.ndarray], block: int,
        time_blocks: int) -> tuple[bool, np.ndarray, np.ndarray, list[np.ndarray]]:
    """
    Return what the residuals of one chunk say.

    :param solution: that of :func:`residuals`.
    :param block: how many consecutive rows are added up.
    :param time_blocks: how many blocks of time there are.
    :return: whether the chunk begins a piece, sums over consecutive rows, shape (blocks, nv), the
        sum of squares, shape (nv,), and scores as those of :class:`Residuals`.
    """
    left = np.empty(chunk.qd.shape)
    weights = [one @ own for one, own in zip(design.expansions, solution)]
    scores = [np.zeros((time_blocks, len(one))) for one in design.expansions]
    with one_thread():
        for part, _, numbers in _evaluated(design, chunk):
            blocks = np.zeros(len(numbers), int) if chunk.blocks is None else chunk.blocks[part]
            firsts = np.flatnonzero(np.diff(blocks, prepend=-1))
            for coordinate, columns in enumerate(design.parts):
                own = numbers[:, columns]
                left[part, coordinate] = own @ weights[coordinate]
                np.add.at(scores[coordinate], blocks[firsts], np.add.reduceat(
                    own * left[part, coordinate, None], firsts))
    return (chunk.begins, np.add.reduceat(left, np.arange(0, len(left), block)),
            np.square(left).sum(axis=0),
            [own @ one for own, one in zip(scores, design.expansions)])


def check_finite(recordings: Sequence[PreparedRecording], design: Design) -> None:
    """
    Check that there is a number wherever one is needed.

    :raises ArgumentError: naming the recording, the joint and the time of the first that is none.
    """
    joints = coordinate_names(design.robot.tree)
    for recording in recordings:
        unrecorded = _unrecorded(recording)
        for first in range(0, len(recording.times), ROWS):
            part = slice(first, first + ROWS)
            for name in ('q', 'qd', 'qdd', 'tau'):
                values = getattr(recording, name)[part]
                bad = ~np.isfinite(values)
                if name == 'tau':
                    bad &= ~unrecorded
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


def _evaluated(
        design: Design, chunk: Chunk) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """
    Yield parts of a chunk's rows, which coordinates count in them, and their numbers.

    :return: for each part a slice, an array of truth values of shape (rows, nv), and what
        :meth:`.Design.evaluate` gives of them, zero where a coordinate does not count; the next
        part overwrites it.
    """
    counts = np.isfinite(chunk.tau) & (chunk.moves | ~design.is_dry)
    size = min(max(IN_CACHE // max(design.parts[-1].stop, 1), 1), len(counts))
    memory = np.empty((size, design.parts[-1].stop))
    for first in range(0, len(counts), size):
        part = slice(first, min(first + size, len(counts)))
        numbers = design.evaluate(
            chunk.payloads, chunk.q[part], chunk.qd[part], chunk.qdd[part], chunk.tau[part],
            memory[:part.stop - first],
            None if chunk.direction is None else chunk.direction[part])
        if not counts[part].all():
            for coordinate, own in enumerate(counts[part].T):
                numbers[~own, design.parts[coordinate]] = 0.0
        yield part, counts[part], numbers


Result = TypeVar('Result')


def _mapped(
        function: Callable[..., Result],
        design: Design,
        arguments: tuple[object, ...],
        parts: Iterable[Chunk],
        executor: Executor | None) -> Iterator[Result]:
    """Yield the result of each chunk, in order: sums do not depend on the executor."""
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
