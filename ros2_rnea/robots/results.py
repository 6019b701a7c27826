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
"""What the library's calls return where an array alone does not say it."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from ros2_rnea.dynamics.terms import TERM_NAMES

Array = np.ndarray


def tuple_of_terms(*others: str) -> Any:
    """Return a class of named tuples of all terms, in their order, and of other fields."""
    return namedtuple('tuple_of_terms', (*TERM_NAMES, *others))


if TYPE_CHECKING:
    class _TermsAndTotal(NamedTuple):  # what editors and mypy see; test_results.py compares them
        gravity: Array
        coriolis: Array
        inertia: Array
        friction: Array
        spring: Array
        external: Array
        total: Array
else:
    _TermsAndTotal = tuple_of_terms('total')


class EffortTerms(_TermsAndTotal):
    """
    Where an effort comes from.

    A named tuple of the terms in :data:`ros2_rnea.dynamics.terms.TERMS` and at last ``total``,
    their sum.  Each has shape (nv,) or (N, nv).
    """

    __slots__ = ()


class LinkMotion(NamedTuple):
    """
    How a link moves, in its own frame.

    :ivar velocity: [angular; linear], shape (6,) or (N, 6).
    :ivar acceleration: spatial acceleration [angular; linear], shape (6,) or (N, 6).
    :ivar linear_acceleration: of the link's origin, gravity apart, shape (3,) or (N, 3).
    """

    velocity: Array
    acceleration: Array
    linear_acceleration: Array


class LinkPose(NamedTuple):
    """
    A frame's placement in the world.

    :ivar rotation: its axes as columns, shape (3, 3) or (N, 3, 3).
    :ivar position: of its origin [m], shape (3,) or (N, 3).
    """

    rotation: Array
    position: Array
