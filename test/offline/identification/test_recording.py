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
"""What a recording has to be made of, and what is said where it is not."""

from dataclasses import replace

import numpy as np
import pytest
from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.recording import Recording

GOOD = Recording('run', [0, 1, 2], ['a', 'b'], np.zeros((3, 2)), [[1, 2], [3, 4], [5, 6]])


def test_lists_become_arrays_and_arrays_are_not_copied():
    assert GOOD.efforts.dtype == np.float64
    assert GOOD.joints == ('a', 'b')
    efforts = np.ones((3, 2))
    assert replace(GOOD, efforts=efforts).efforts is efforts


def test_what_is_not_finite_is_left_to_the_preparation():
    positions = np.full((3, 2), np.nan)
    assert np.isnan(replace(GOOD, positions=positions, times=[0.0, 0.0, np.inf]).positions).all()


@pytest.mark.parametrize(('fields', 'message'), [
    ({'joints': []}, "recording 'run' has no joints"),
    ({'joints': ['a', 'a']}, "recording 'run' has joint 'a' twice"),
    ({'joints': ['a', 3]}, "joint 1 of recording 'run' is 3; it needs a name"),
    ({'times': [0.0]}, "recording 'run' has 1 samples; it needs at least 2"),
    ({'times': [[0.0, 1.0]]}, r"times of recording 'run' have shape \(1, 2\); they need \(2,\)"),
    ({'positions': np.zeros((3, 3))},
     r"positions of recording 'run' have shape \(3, 3\); they need \(3, 2\) for the joints a, b"),
    ({'velocities': np.zeros((2, 2))}, r'velocities of .* they need \(3, 2\)'),
    ({'efforts': None}, "recording 'run': efforts is not an array of real numbers"),
    ({'efforts': [['x', 'y']] * 3}, 'efforts is not an array of real numbers, but of texts'),
    ({'wrenches': np.zeros((3, 3)), 'wrench_link': 'tool'},
     r'wrenches of .* they need \(3, 6\) for \[moment; force\]'),
    ({'wrenches': np.zeros((3, 6))}, 'has wrenches and no wrench_link')])
def test_wrong_shapes_and_names_are_named(fields, message):
    with pytest.raises(RecordingError, match=message):
        replace(GOOD, **fields)
