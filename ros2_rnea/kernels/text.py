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
"""LLVM's language, instruction by instruction, on numbers or on vectors of them."""

from __future__ import annotations

from collections.abc import Sequence
import struct

from ros2_rnea.kernels.machine import pointer

DOUBLES = pointer('double')
"""The type of pointers to doubles."""


class Text:
    """
    The instructions of one basic block after another.

    Values are written as LLVM has them: the name of a register, or a constant.

    :param width: how many doubles a value holds; each instruction works on all of them.
    :param fused: whether the CPU multiplies and adds in one step.
    """

    def __init__(self, width: int, fused: bool, whole: Text | None = None) -> None:
        self.width = width
        self.fused = fused
        self.lines: list[str] = whole.lines if whole else []
        self.declarations: set[str] = whole.declarations if whole else set()
        self.type = self._vector('double')  # noqa: A003
        self._integers, self._booleans = self._vector('i64'), self._vector('i1')
        self._suffix = 'f64' if width == 1 else f'v{width}f64'

    def on(self, width: int) -> Text:
        """Return a writer of the same text on values of another width."""
        return Text(width, self.fused, self)

    def write(self, instruction: str) -> str:
        """Write an instruction, and return the register that holds its result."""
        register = f'%r{len(self.lines)}'
        self.lines.append(f'  {register} = {instruction}')
        return register

    def constant(self, value: float) -> str:
        """Return a constant, the same in all places of a vector."""
        bits = f'0x{struct.unpack("<Q", struct.pack("<d", value))[0]:016X}'
        return self._splat(f'double {bits}') if self.width > 1 else bits

    # ---- arithmetic ---------------------------------------------------------------------------

    def arithmetic(self, operation: str, left: str, right: str) -> str:
        """Return fadd, fsub, fmul or fdiv; a product and a sum may become one instruction."""
        return self.write(f'{operation} contract {self.type} {left}, {right}')

    def exactly(self, operation: str, left: str, right: str) -> str:
        """Return fadd, fsub, fmul or fdiv, never contracted into another operation."""
        return self.write(f'{operation} {self.type} {left}, {right}')

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """Return a b + c, in one rounding where the CPU can."""
        if self.fused:
            return self.call('fma', a, b, c)
        return self.exactly('fadd', self.exactly('fmul', a, b), c)

    def call(self, function: str, *arguments: str) -> str:
        """Return what an intrinsic function of LLVM gives for values of this width."""
        return self.write(self._call(
            self.type, f'llvm.{function}.{self._suffix}',
            [(self.type, argument) for argument in arguments]))

    def negative(self, value: str) -> str:
        """Return -value."""
        return self.write(f'fneg {self.type} {value}')

    # ---- bits and decisions -------------------------------------------------------------------

    def bits(self, value: str) -> str:
        """Return the bits of these doubles as integers."""
        return self.write(f'bitcast {self.type} {value} to {self._integers}')

    def from_bits(self, integers: str) -> str:
        """Return these integers as the bits of doubles."""
        return self.write(f'bitcast {self._integers} {integers} to {self.type}')

    def on_bits(self, operation: str, left: str, right: str | int) -> str:
        """Return add, and, xor or shl of integers."""
        if isinstance(right, int):
            right = self._splat(f'i64 {right}') if self.width > 1 else str(right)
        return self.write(f'{operation} {self._integers} {left}, {right}')

    def is_not_zero(self, integers: str) -> str:
        """Return which integers are not zero."""
        return self.write(f'icmp ne {self._integers} {integers}, '
                          f'{"0" if self.width == 1 else "zeroinitializer"}')

    def is_beyond(self, value: str, bound: float, nan: bool = False) -> str:
        """Return which numbers are larger than a bound or less than its negative; or are NaN."""
        size = self.call('fabs', value)
        larger = 'ugt' if nan else 'ogt'
        return self.write(f'fcmp {larger} {self.type} {size}, {self.constant(bound)}')

    def choose(self, condition: str, yes: str, no: str) -> str:
        """Return one value or the other, place by place."""
        return self.write(
            f'select {self._booleans} {condition}, {self.type} {yes}, {self.type} {no}')

    def any(self, conditions: str) -> str:  # noqa: A003
        """Return whether a condition holds in any place, as one i1."""
        if self.width == 1:
            return conditions
        mask = self.write(f'bitcast {self._booleans} {conditions} to i{self.width}')
        return self.write(f'icmp ne i{self.width} {mask}, 0')

    # ---- vectors and memory -------------------------------------------------------------------

    def pack(self, numbers: Sequence[str]) -> str:
        """Return a vector of these single doubles, and zeros where there are too few."""
        vector = self.constant(0.0)
        for place, number in enumerate(numbers):
            vector = self.write(
                f'insertelement {self.type} {vector}, double {number}, i32 {place}')
        return vector

    def place(self, vector: str, place: int) -> str:
        """Return one double of a vector."""
        return self.write(f'extractelement {self.type} {vector}, i32 {place}')

    def spread(self, number: str) -> str:
        """Return a vector with a single double in all places."""
        if self.width == 1:
            return number
        first = self.write(f'insertelement {self.type} undef, double {number}, i32 0')
        return self.write(f'shufflevector {self.type} {first}, {self.type} undef, '
                          f'<{self.width} x i32> zeroinitializer')

    def address(self, doubles: str, offset: int | str) -> str:
        """Return the address of a double by its index from the start of an array."""
        return self.write(f'getelementptr double, {DOUBLES} {doubles}, i64 {offset}')

    def load(self, doubles: str, offset: int, count: int | None = None) -> str:
        """Read a value, or only the first ``count`` doubles of it."""
        address, type_ = self._typed(self.address(doubles, offset))
        if count is None or count >= self.width:
            return self.write(f'load {self.type}, {type_} {address}, align 8')
        return self.write(self._call(self.type, self._masked('load', type_), [
            (type_, address), ('i32', '8'), (self._booleans, self._first(count)),
            (self.type, 'zeroinitializer')]))

    def store(self, value: str, doubles: str, offset: int, count: int | None = None) -> None:
        """Write a value, or only the first ``count`` doubles of it."""
        address, type_ = self._typed(self.address(doubles, offset))
        if count is None or count >= self.width:
            self.lines.append(f'  store {self.type} {value}, {type_} {address}, align 8')
        else:
            self.lines.append('  ' + self._call('void', self._masked('store', type_), [
                (self.type, value), (type_, address), ('i32', '8'),
                (self._booleans, self._first(count))]))

    def transposed(self, vectors: Sequence[str]) -> list[str]:
        """
        Return the columns of a square matrix from its rows.

        Each step exchanges the blocks of doubled size that lie across the diagonal.
        """
        vectors, step = list(vectors), 1
        lanes = range(self.width)
        while step < self.width:
            upper = [lane if not lane & step else self.width + lane - step for lane in lanes]
            lower = [lane + step if not lane & step else self.width + lane for lane in lanes]
            for i in lanes:
                if not i & step:
                    above, below = vectors[i], vectors[i + step]
                    vectors[i] = self._shuffle(above, below, upper)
                    vectors[i + step] = self._shuffle(above, below, lower)
            step *= 2
        return vectors

    def _call(self, result: str, name: str, arguments: Sequence[tuple[str, str]]) -> str:
        types = ', '.join(type_ for type_, _ in arguments)
        self.declarations.add(f'declare {result} @{name}({types})')
        given = ', '.join(' '.join(argument) for argument in arguments)
        return f'call {result} @{name}({given})'

    def _shuffle(self, one: str, other: str, places: Sequence[int]) -> str:
        mask = ', '.join(f'i32 {place}' for place in places)
        return self.write(f'shufflevector {self.type} {one}, {self.type} {other}, '
                          f'<{self.width} x i32> <{mask}>')

    def _typed(self, address: str) -> tuple[str, str]:
        """Return an address as one of a value of this width, and its type."""
        type_ = pointer(self.type)
        if type_ in (DOUBLES, 'ptr'):
            return address, type_
        return self.write(f'bitcast {DOUBLES} {address} to {type_}'), type_

    def _masked(self, what: str, type_: str) -> str:
        return f'llvm.masked.{what}.{self._suffix}.' + (
            'p0' if type_ == 'ptr' else f'p0{self._suffix}')

    def _first(self, count: int) -> str:
        return '<' + ', '.join(f'i1 {int(place < count)}' for place in range(self.width)) + '>'

    def _splat(self, constant: str) -> str:
        return '<' + ', '.join([constant] * self.width) + '>'

    def _vector(self, number: str) -> str:
        return number if self.width == 1 else f'<{self.width} x {number}>'
