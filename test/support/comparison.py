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
"""Equality of efforts, and clear difference, relative to the largest effort of each state."""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-12
CLEARLY = 1e-3


def relative_errors(tau, expected):
    """Return for each state the largest difference over the largest effort of that state."""
    tau, expected = np.atleast_2d(tau), np.atleast_2d(expected)
    scale = np.max(np.abs(expected), axis=1)
    return np.max(np.abs(tau - expected), axis=1) / np.where(scale > 0.0, scale, 1.0)


def assert_same(tau, expected, what=''):
    """Assert that the efforts of every state are the same to rounding."""
    assert np.shape(tau) == np.shape(expected)
    errors = relative_errors(tau, expected)
    worst = int(np.argmax(errors))
    # "not <=" so that NaN fails too
    assert np.all(errors <= TOLERANCE), f'{what} state {worst}: relative error {errors[worst]:.2e}'


def assert_differs(tau, expected):
    """Assert that efforts are clearly wrong, so that a test with ``expected`` sees it."""
    assert np.shape(tau) == np.shape(expected)
    error = np.max(relative_errors(tau, expected))
    assert error > CLEARLY, f'the mistake changes the efforts by {error:.2e} only'
