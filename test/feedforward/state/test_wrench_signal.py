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
"""The wrenches of one frame, from reading to reading."""

import numpy as np
import pytest
from ros2_rnea.feedforward.settings import WrenchSettings
from ros2_rnea.feedforward.signals import deadband_factor
from ros2_rnea.feedforward.state.wrench_signal import WrenchSignal

PUSH = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])


def filtered(time_constant=1.0):
    """Return a signal that has settled at a push."""
    signal = WrenchSignal(WrenchSettings(1e6, time_constant=time_constant))
    for time in (0.0, 1e5):
        signal.update(PUSH, time)
    return signal


def test_what_has_not_faded_counts_for_the_filter_in_full_unless_it_is_said():
    for share in (1.0, 0.5, 0.0):
        whole, part = filtered(), filtered()
        whole.update(0.0 * PUSH, 1e5 + 0.5)
        part.update(0.0 * PUSH, 1e5 + 0.5, share)
        assert np.abs(whole.value).max() > 1.0
        np.testing.assert_allclose(part.value, share * whole.value, rtol=1e-12)


@pytest.mark.parametrize('size, deadband', [(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)])
def test_nothing_is_beyond_what_it_does_not_exceed(size, deadband):
    assert deadband_factor(size, deadband) == 0.0


@pytest.mark.parametrize('size', [1.0 + 1e-9, 2.0, 1e9])
def test_what_is_beyond_is_what_exceeds(size):
    assert size * deadband_factor(size, 1.0) == pytest.approx(size - 1.0, abs=1e-12, rel=1e-6)
