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
"""A short run of the fuzzer; ``./run fuzz`` is the long one."""

from __future__ import annotations

from random import Random
from signal import SIGCONT, SIGSTOP
from time import sleep

from fuzz.gaps import Beat, Gaps, PERIOD
from fuzz.hostile import Hostile
from fuzz.messages import damaged, LARGE, large, messages, nearly, places
from fuzz.record import Record
from fuzz.rounds import Round, VARIANTS
from fuzz.target import Broken, Target
from hypothesis import find, given, Phase, settings
from hypothesis.errors import NoSuchExample
import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.ros

SEEDS = range(100, 100 + len(VARIANTS))
BATCHES = 4

STATE = JointState(name=['a', 'b'], position=[0.1, 0.2])

SEARCH = settings(max_examples=20_000, phases=[Phase.generate])
"""That an example exists is the question; to make it smaller would take most of the time."""


@pytest.fixture(scope='module')
def ros():
    """Start ROS once, unless tests of the node have done so in the same process."""
    is_started = rclpy.ok()
    if not is_started:
        rclpy.init()
    yield
    if not is_started:
        rclpy.try_shutdown()


@pytest.mark.slow
@pytest.mark.parametrize('seed', SEEDS)
def test_the_node_withstands_hostile_messages(ros, tmp_path, seed):
    Round(seed, tmp_path).run(BATCHES)


@pytest.mark.slow
def test_a_node_that_stood_still_is_found(ros, tmp_path):
    with Target(tmp_path, {}) as target:
        target.withstand([])
        target._process.send_signal(SIGSTOP)
        sleep(2.0)
        target._process.send_signal(SIGCONT)
        with pytest.raises(Broken, match='no effort came for'):
            target.withstand([])


@pytest.mark.slow
def test_joints_that_changed_while_nothing_was_sent_are_set_back(ros, tmp_path):
    with Target(tmp_path, {}) as target:
        value = ParameterValue(
            type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=['elbow_joint'])
        to = next(each for each in target.inputs() if each.base == 'set_parameters_atomically')
        request = to.kind(parameters=[Parameter(name='joints', value=value)])
        target._call('enable', data=False)
        target._until(lambda: target._call(
            to.base, parameters=request.parameters).result.successful, 'joints are set')
        target._call('enable', data=True)
        target._until(lambda: target._last and len(target._last[1]) == 1, 'one effort is sent')
        target.withstand([Hostile(to, request)])


@pytest.mark.parametrize('kind', [Imu, JointState, JointTrajectory, SetParameters.Request])
def test_messages_of_any_type_are_made_from_its_fields(kind):
    @given(messages(kind, ['word']))
    @settings(max_examples=20)
    def can_be_sent(message):
        assert serialize_message(message)

    can_be_sent()


FAULTS = {
    'sizes': lambda message: len(message.position) != len(message.name),
    'nan': lambda message: any(map(np.isnan, message.velocity)),
    'repeated': lambda message: len(set(message.name)) < len(message.name),
    'many': lambda message: len(message.name) >= 30_000,
    'empty': lambda message: '' in message.name,
    '2038': lambda message: message.header.stamp.sec == 2 ** 31 - 1,
    'negative': lambda message: message.header.stamp.sec < 0,
}


def test_what_is_nearly_honest_is_wrong_in_every_known_way():
    honest = JointState(name=['a', 'b'], position=[0.1, 0.2], velocity=[0.0, 0.0])
    missing = dict(FAULTS)

    def is_last(message):
        for name in [name for name, is_found in missing.items() if is_found(message)]:
            del missing[name]
        return not missing

    try:
        find(nearly(honest, ['a']).map(is_last), bool, settings=SEARCH, random=Random(1))
    except NoSuchExample:
        pytest.fail(f'never seen: {list(missing)}')


def test_all_fields_of_nested_messages_are_known():
    trajectory = JointTrajectory(points=[JointTrajectoryPoint()] * 2)
    found = {('.'.join(map(str, place.path)), place.field) for place in places(trajectory)}
    assert ('header.stamp', 'nanosec') in found
    assert ('points.1.time_from_start', 'sec') in found


@pytest.mark.parametrize('is_found', [
    lambda payload, good: payload == good[:len(payload)] and len(payload) < len(good),
    lambda payload, good: payload.startswith(good) and payload != good,
    lambda payload, good: len(payload) == len(good) and payload != good,
], ids=['cut', 'extended', 'changed'])
def test_damaged_messages_are_cut_extended_and_changed(is_found):
    good = serialize_message(STATE)
    find(damaged(STATE).map(lambda payload: is_found(payload, good)), bool,
         settings=SEARCH, random=Random(1))


@pytest.mark.parametrize('kind', [Imu, JointState, JointTrajectory, SetParameters.Request])
def test_large_messages_have_megabytes(kind):
    find(large(kind()).map(lambda message: len(serialize_message(message)) > 0.9 * LARGE), bool,
         settings=SEARCH, random=Random(1))


def seen(states, efforts, waited=lambda at: 0.0):
    """Return what is noted of states and efforts that were sent at some times."""
    gaps = Gaps()
    gaps.hostile(1.0, 'what came first')
    gaps.hostile(2.0, 'what was just before')
    gaps.hostile(2.3, 'what came later')
    for at in states:
        gaps.state(Beat(at, waited(at)))
    for at in efforts:
        gaps.effort(at)
    return gaps


STATES = np.arange(0.0, 4.0, PERIOD)
EFFORTS = [at + 0.001 for at in STATES if not 2.0 < at < 2.4]


def test_a_gap_between_efforts_is_found_with_what_was_sent_before_it():
    gap, = seen(STATES, EFFORTS).found()
    assert gap.after == 'what was just before'
    assert gap.whole == pytest.approx(0.4, abs=PERIOD)
    assert gap.own == pytest.approx(gap.whole)


def test_what_the_machine_explains_is_no_gap_of_the_node():
    silent, = seen([at for at in STATES if not 2.0 < at < 2.3], EFFORTS).found()
    assert silent.own == pytest.approx(silent.whole - 0.3, abs=2.0 * PERIOD)
    waiting, = seen(STATES, EFFORTS, lambda at: max(0.0, min(at, 2.3) - 2.0)).found()
    assert waiting.own == pytest.approx(waiting.whole - 0.3, abs=PERIOD)


def test_no_gap_is_found_twice_or_before_it_has_ended():
    gaps = seen(STATES, EFFORTS)
    assert len(gaps.found()) == 1
    assert not gaps.found()
    assert not seen(STATES, [at for at in EFFORTS if at < 2.1]).found()


class StartedTarget(Target):
    """A target without a process, whose judgement is tested."""

    def command(self, effort, milliseconds):
        """Take a command that was published at a time, and raise what is wrong with it."""
        from std_msgs.msg import Float64MultiArray

        self._on_command(Float64MultiArray(data=list(effort)),
                         {'source_timestamp': 1_000_000 * milliseconds})
        if self._fault:
            raise Broken(self._fault)


def test_a_right_effort_is_no_fault_and_wrong_ones_are(tmp_path):
    target = StartedTarget(tmp_path, {})
    right, step = target._right, 0.01 * target._rates
    target.command(right, 10)
    target.command(right + 0.9 * step, 20)
    target.command(right - 0.9 * step, 30)
    for wrong, before, said in (
            (right + 3.0 * step, (0.03, right), 'the effort went from'),
            (right * np.nan, (0.03, right), 'an effort of'),
            (2.0 * target._limits, None, 'the limits are')):
        target._last, target._fault = before, ''
        with pytest.raises(Broken, match=said):
            target.command(wrong, 40)


def test_a_step_after_the_node_waited_for_a_processor_is_no_fault(tmp_path):
    target = StartedTarget(tmp_path, {})
    right, step = target._right, 0.04 * target._rates
    target._gaps.state(Beat(0.92, 7.0))
    target.command(right, 1000)
    target._gaps.state(Beat(1.0, 7.06))
    target.command(right + step, 1001)
    with pytest.raises(Broken, match='the effort went from'):
        target.command(right - step, 1002)


def test_a_long_gap_is_a_fault_unless_something_may_end_the_efforts(tmp_path):
    record = Record()
    target = StartedTarget(tmp_path, {}, record=record)
    target._log.touch()
    target._gaps = seen(STATES, EFFORTS)
    with pytest.raises(Broken, match='after what was just before'):
        target._judge_gaps()
    target._gaps, target._excuses = seen(STATES, EFFORTS), {'set_parameters'}
    target._judge_gaps()
    assert {'', 'set_parameters'} == set(record.gaps)
