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
Sine and cosine by the same steps for every angle: one register of angles at a time.

An angle is taken to the nearest multiple of a quarter turn, whose rest is within 45 degrees, in
the manner of W. J. Cody and W. Waite, *Software Manual for the Elementary Functions* (1980); there
polynomials from FreeBSD's msun, k_sin.c and k_cos.c, give both functions.  Their absolute error
is less than 2.2e-16; in units in the last place of the result, it is up to 2.4.
"""

from __future__ import annotations

from math import pi

from ros2_rnea.kernels.text import Text

SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)

# A quarter turn in parts.  Times a whole number, each is exact in a fused operation; without one
# the first two have 33 bits, so they are exact times a number of up to 20 bits.
QUARTER_FUSED = (1.57079632679489655800e+00, 6.12323399573676603587e-17, -1.4973849048591833e-33)
QUARTER = (
    1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624871116645580e-21,
    8.47842766036889956997e-32)

ROUNDING = 6755399441055744.0
"""1.5 * 2**52: the sum of it and a number has the nearest integer in its last bits."""


def bound(fused: bool) -> float:
    """Return the largest angle [rad] for which the range reduction is accurate enough."""
    return 1e9 if fused else 1e6


def sine_and_cosine(text: Text, angle: str) -> tuple[str, str]:
    """Write the sine and the cosine of angles [rad] within the bound; NaN gives NaN."""
    turned = text.multiply_add(angle, text.constant(2.0 / pi), text.constant(ROUNDING))
    quarters = text.exactly('fsub', turned, text.constant(ROUNDING))
    rest = angle
    for part in QUARTER_FUSED if text.fused else QUARTER:
        rest = text.multiply_add(quarters, text.constant(-part), rest)
    square = text.exactly('fmul', rest, rest)

    odd = _polynomial(text, square, SINE)
    even = _polynomial(text, square, COSINE)
    sine = text.multiply_add(text.exactly('fmul', rest, square), odd, rest)
    cosine = text.multiply_add(
        text.exactly('fmul', square, square), even,
        text.multiply_add(square, text.constant(-0.5), text.constant(1.0)))

    count = text.bits(turned)  # of quarter turns, in its last bits
    swapped = text.is_not_zero(text.on_bits('and', count, 1))
    return (
        _negated_in_second_half(text, text.choose(swapped, cosine, sine), count),
        _negated_in_second_half(
            text, text.choose(swapped, sine, cosine), text.on_bits('add', count, 1)))


def _polynomial(text: Text, x: str, coefficients: tuple[float, ...]) -> str:
    """Return a polynomial by Estrin's scheme, whose halves the CPU computes at the same time."""
    terms = [text.constant(coefficient) for coefficient in coefficients]
    while len(terms) > 1:
        pairs = [text.multiply_add(high, x, low) for low, high in zip(terms[::2], terms[1::2])]
        terms = pairs + terms[len(terms) // 2 * 2:]
        x = text.exactly('fmul', x, x)
    return terms[0]


def _negated_in_second_half(text: Text, value: str, count: str) -> str:
    """Return the value with its sign changed where bit 1 of the count is set."""
    sign = text.on_bits('shl', text.on_bits('and', count, 2), 62)
    return text.from_bits(text.on_bits('xor', text.bits(value), sign))
