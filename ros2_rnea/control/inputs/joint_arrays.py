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
"""Arrays by joint: which names occur in two lists, and differences without whole turns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf, pi

import numpy as np


def same_names(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the indices of the names that occur in both lists, in the old one and the new one."""
    index = {name: i for i, name in enumerate(old)}
    pairs = [(index[name], i) for i, name in enumerate(new) if name in index]
    return [here for here, _ in pairs], [there for _, there in pairs]


def turns_of(names: Sequence[str], continuous: Collection[str]) -> np.ndarray:
    """Return a whole turn for each continuous joint [rad], and infinity for each other one."""
    return np.array([2.0 * pi if name in continuous else inf for name in names])


def whole_turns(difference: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """
    Return the whole turns in differences of positions [rad].

    :param difference: shape (..., joints) [rad or m].
    :param turn: a whole turn of each joint, infinite where there is none; shape (joints,) [rad].
    """
    turns = np.round(difference / turn)
    return np.where(turns == 0.0, 0.0, turns) * np.where(turn == inf, 0.0, turn)


def without_turns(difference: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return differences of positions less the whole turns in them; see :func:`whole_turns`."""
    return difference - whole_turns(difference, turn)
