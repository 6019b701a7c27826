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
from ros2_rnea.control.inputs.wrench_signal import WrenchSignal
from ros2_rnea.control.settings import WrenchSettings
from ros2_rnea.control.signals import deadband_factor

PUSH = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])


def filtered(time_constant=1.0):
    """Return a signal that has settled at a push."""
    signal = WrenchSignal(WrenchSettings(1e6, time_constant=time_constant))
    for time in (0.0, 1e5):
        signal.update(PUSH, time)
    return signal


def test_a_faded_wrench_counts_for_the_filter_by_its_share():
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


def signal_of(**settings):
    """Return the value of a signal without a filter that has received a push."""
    signal = WrenchSignal(WrenchSettings(1e6, **settings))
    signal.update(PUSH, 0.0)
    return signal


@pytest.mark.parametrize('gain', [0.0, 0.5, 1.0])
def test_the_gain_is_the_share_that_is_compensated(gain):
    assert signal_of(gain=gain).value.tolist() == (gain * PUSH).tolist()


MOMENT, FORCE = np.linalg.norm(PUSH[:3]), np.linalg.norm(PUSH[3:])


@pytest.mark.parametrize('limits, factor', [
    ({'force_limit': 0.5 * FORCE}, 0.5),
    ({'moment_limit': 0.25 * MOMENT}, 0.25),
    ({'force_limit': 0.5 * FORCE, 'moment_limit': 0.25 * MOMENT}, 0.25),
    ({'force_limit': 0.5 * FORCE, 'gain': 0.8}, 0.5),
    ({'force_limit': 0.5 * FORCE, 'gain': 0.4}, 0.4),
    ({'force_limit': 1.01 * FORCE, 'moment_limit': 1.01 * MOMENT}, 1.0),
    ({'force_limit': 0.0}, 0.0)])
def test_a_limit_reduces_force_and_moment_by_one_factor(limits, factor):
    signal = signal_of(**limits)
    np.testing.assert_allclose(signal.value, factor * PUSH, rtol=1e-12)
    assert signal.is_limited is (factor < limits.get('gain', 1.0))


def test_the_deadband_is_applied_before_gain_and_limit():
    signal = signal_of(force_deadband=0.5 * FORCE, gain=0.5, force_limit=0.2 * FORCE)
    np.testing.assert_allclose(signal.value[3:], 0.2 * PUSH[3:], rtol=1e-12)
    # Before the filter, to the deadband and what leads to the limit: 0.5 + 0.2 / 0.5.
    np.testing.assert_allclose(signal.value[:3], 0.5 * 0.9 * PUSH[:3], rtol=1e-12)


def test_smaller_limits_limit_what_was_filtered_before():
    larger = WrenchSignal(WrenchSettings(1e6))
    larger.update(PUSH, 0.0)
    smaller = WrenchSignal(WrenchSettings(1e6, force_limit=0.5 * FORCE), larger.memory)
    np.testing.assert_allclose(smaller.value, 0.5 * PUSH, rtol=1e-12)
    assert smaller.is_limited and smaller.received == 0.0


@pytest.mark.parametrize('end', ['zero', 'forget'])
def test_a_wrench_that_is_discarded_is_not_limited(end):
    signal = signal_of(force_limit=0.5 * FORCE)
    getattr(signal, end)()
    assert not signal.is_limited
