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
"""Whether feedback is stable at the measured period, also while settings change."""

from dataclasses import replace
from math import inf

from ros2_rnea.control.inputs.cycle_period import CyclePeriod, CYCLES_NEEDED
from ros2_rnea.control.law.feedback_check import (
    InstabilityMemory,
    judge_again,
    lasting_instability,
    LONGEST_INSTABILITY,
    LONGEST_PERIOD,
    unstable_feedback,
)
from ros2_rnea.control.settings import Mode, Settings

JOINTS = ('shoulder', 'elbow')
SOFT = Settings(joints=JOINTS, mode=Mode.COMPUTED_TORQUE, position_gains=(100.0,),
                velocity_gains=(20.0,))
STIFF = replace(SOFT, position_gains=(40000.0,), velocity_gains=(400.0,))


def measured(length):
    """Return a known period."""
    period = CyclePeriod()
    for turn in range(CYCLES_NEEDED + 1):
        period.count(1.0 + turn * length, 0.5)
    return period


def test_a_period_too_long_for_any_gains_is_named():
    assert unstable_feedback(SOFT, JOINTS, measured(0.9 * LONGEST_PERIOD)) == ''
    reason = unstable_feedback(SOFT, JOINTS, measured(1.2 * LONGEST_PERIOD))
    assert 'joint states come every 0.03 s' in reason


def test_without_feedback_of_its_own_nothing_is_unstable():
    period = measured(0.01)
    assert 'velocity_gains' in unstable_feedback(STIFF, JOINTS, period)
    for change in ({'mode': Mode.FEEDFORWARD}, {'held_by_others': frozenset(JOINTS)}):
        assert unstable_feedback(replace(STIFF, **change), JOINTS, period) == ''


def test_only_an_instability_that_lasts_is_told():
    memory, period = InstabilityMemory(), measured(0.03)
    assert lasting_instability(memory, SOFT, JOINTS, period, 10.0) == ''
    assert lasting_instability(memory, SOFT, JOINTS, period, 10.0 + LONGEST_INSTABILITY) == ''
    assert 'every 0.03 s' in lasting_instability(
        memory, SOFT, JOINTS, period, 10.1 + LONGEST_INSTABILITY)
    assert lasting_instability(memory, SOFT, JOINTS, measured(0.004), 20.0) == ''
    assert memory.since == inf


def test_before_the_period_is_known_nothing_is_unstable():
    memory = InstabilityMemory()
    assert lasting_instability(memory, STIFF, JOINTS, CyclePeriod(value=0.03), 10.0) == ''
    assert memory == InstabilityMemory()


def test_only_softer_gains_end_an_instability():
    memory, period = InstabilityMemory(), measured(0.01)
    lasting_instability(memory, STIFF, JOINTS, period, 10.0)
    judge_again(memory, replace(STIFF, blend_time=0.3), JOINTS, period)
    assert memory.since == 10.0 and memory.reason
    judge_again(memory, SOFT, JOINTS, period)
    assert memory.since == inf and not memory.reason
    judge_again(memory, STIFF, JOINTS, period)  # these are judged when they are asked for
    assert not memory.reason


def test_after_a_jump_back_it_is_unstable_since_then():
    memory, period = InstabilityMemory(), measured(0.03)
    lasting_instability(memory, SOFT, JOINTS, period, 10.0)
    assert lasting_instability(memory, SOFT, JOINTS, period, 5.0) == ''
    assert 'every 0.03 s' in lasting_instability(
        memory, SOFT, JOINTS, period, 5.1 + LONGEST_INSTABILITY)
