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
The kernels of one robot as tapes, which the extension runs: no compiler is needed for them.

A tape is made in the time that its trace takes.  The code of a kernel is its tape with the sizes
of its arrays.  It is checked when it is loaded, so that the interpreter needs no check.
"""

from __future__ import annotations

import logging
from math import nan, prod

import numpy as np
from ros2_rnea.dynamics.quantity_definition import Quantity
from ros2_rnea.errors import ArgumentError, CompilerError
from ros2_rnea.kernels.call import EXTENSION, EXTENSION_ERROR, Kernel
from ros2_rnea.kernels.robot_kernels import Kernels
from ros2_rnea.kernels.tape import (
    bits_of,
    INPUTS,
    Tape,
    tape_data,
    TAPE_FIELDS,
    tape_of,
    tape_record,
    TapeGuard,
)
from ros2_rnea.kernels.tracing import arrays, input_size, KernelSpec, trace, Variant

LOGGER = logging.getLogger('ros2_rnea')

REFUSING = Tape('', (0, 0), (), (nan,), (TapeGuard(0, 0.0, True),), (), ())
"""A tape that leaves every state to the textbook."""

HEADER = np.dtype(('<u4', len(INPUTS) + len(TAPE_FIELDS)))
"""What comes before the data: how many numbers each of ``INPUTS`` has, and the tape's record."""


class LoadedTape:
    """
    A tape in memory.

    :ivar context: the address of its bytes, valid while this object exists.
    :raises CompilerError: where the bytes are no tape.
    """

    def __init__(self, code: bytes) -> None:
        if EXTENSION is None:
            raise CompilerError(f'there is nothing that runs tapes: {EXTENSION_ERROR}')
        self._code = code
        try:
            self.context: int = EXTENSION.tape_address(code)
        except ValueError as error:
            raise CompilerError(f'{len(code)} bytes are no tape: {error}') from error

    def address(self, name: str) -> int:
        """Return where the interpreter starts, for ``one`` state or for ``rows`` of them."""
        return EXTENSION.TAPE_FUNCTIONS[name]


class TapeKernels(Kernels):
    """The kernels of one robot as tapes."""

    CODE = 'tape'

    def kernel(self, function: str, quantity: Quantity, variant: Variant) -> Kernel:
        """Return the tape, which serves for one state and for rows."""
        return super().kernel('one', quantity, variant)

    def cached(self, spec: KernelSpec) -> bytes:
        """Return the tape: nothing is compiled for it."""
        return self.code(spec)

    def code(self, spec: KernelSpec) -> bytes:
        """Return a tape with the sizes of its arrays, and what identifies it at the end."""
        traced = trace(self._tree, spec.quantity, spec.variant)
        try:
            tape = tape_of(spec.quantity.name, traced)
        except ArgumentError as error:
            LOGGER.info(f'{error}: {self._tree.name!r} computes it without one, slower')
            tape = REFUSING
        sizes, inputs = self._inputs(spec)
        header = np.zeros((), HEADER)
        header[:len(INPUTS)] = sizes
        header[len(INPUTS):] = tape_record(0, tape, header.nbytes)
        header[len(INPUTS) + TAPE_FIELDS.index('inputs')] = inputs
        return header.tobytes() + tape_data(tape) + self._symbol(spec).encode()

    def _load(self, spec: KernelSpec, code: bytes) -> LoadedTape:
        loaded = LoadedTape(code)
        header = np.frombuffer(code, HEADER, 1)[0].tolist()
        tape = dict(zip(TAPE_FIELDS, header[len(INPUTS):]))
        outputs = prod(spec.quantity.shape(self._tree))
        if ((header[:len(INPUTS)], tape['inputs']) != self._inputs(spec)
                or tape['rows'] * tape['columns'] not in (outputs, prod(REFUSING.shape))):
            raise CompilerError(f'{len(code)} bytes are no tape: its arrays are not those of '
                                f'{spec.quantity.name} of {self._tree.name!r}')
        return loaded

    def _inputs(self, spec: KernelSpec) -> tuple[list[int], int]:
        """Return how many numbers each of ``INPUTS`` has in a call, and a bit for each of them."""
        names = arrays(spec.quantity, spec.variant)
        return ([input_size(self._tree, name) if name in names else 0 for name in INPUTS],
                bits_of(names))
