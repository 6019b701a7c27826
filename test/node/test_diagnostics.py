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
"""What is logged and what /diagnostics says, by a clock that the test sets."""

from types import SimpleNamespace

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
import pytest
from ros2_rnea.control.decision import Decision, LimitFlags, State, Status
from ros2_rnea.node import diagnostics
from ros2_rnea.node.diagnostics import Diagnostics, LATENCY_WINDOW, LEVELS, PERIOD, START_UP
from ros2_rnea.node.state_gaps import QUIET_PERIOD

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE)
EFFORT = np.zeros(2)
JOINTS = ('shoulder', 'elbow')


class World:
    """Diagnostics of a node that is none, what they log and publish, and the time."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        self.log, self.published = [], []
        monkeypatch.setattr(diagnostics, 'monotonic', lambda: self.now)
        logger = SimpleNamespace(**{
            level: lambda text, level=level: self.log.append((level, text))
            for level in ('info', 'warning', 'error')})
        node = SimpleNamespace(
            create_publisher=lambda *_: SimpleNamespace(publish=self.published.append),
            create_timer=self._keep_timer, get_logger=lambda: logger,
            get_clock=lambda: SimpleNamespace(now=lambda: SimpleNamespace(to_msg=Time)),
            get_fully_qualified_name=lambda: '/robot/inverse_dynamics')
        self.under_test = Diagnostics(node)

    def _keep_timer(self, period, callback, clock):
        self.period, self._tick = period, callback

    def tick(self, after=PERIOD):
        """Let time pass, and the timer run."""
        self.now += after
        self._tick()

    @property
    def levels(self):
        return [level for level, _ in self.log]

    @property
    def status(self):
        """Return the newest status."""
        return self.published[-1].status[0]

    @property
    def values(self):
        return {value.key: value.value for value in self.status.values}


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


# ---- decisions ----------------------------------------------------------------------------------


def test_before_the_first_decision_it_waits_for_a_robot(world):
    world.tick()
    assert world.period == PERIOD
    assert (world.status.name, world.status.hardware_id, world.status.level) == (
        'robot/inverse_dynamics: inverse dynamics', 'none', WARN)
    assert world.values == {
        'robot': 'none', 'state': 'off', 'reason': 'waiting', 'commands': '0',
        'commands limited in rate': '0 (0.00%)',
        'gaps of joint states': '0, the longest 0.000 s beyond state_timeout'}
    assert world.log == []


@pytest.mark.parametrize('state', State)
def test_the_state_stands_beside_the_reason(world, state):
    world.under_test.decided(Decision(Status.GRAVITY, state=state))
    world.tick()
    assert (world.values['state'], world.values['reason']) == (state.name.lower(), 'gravity')


@pytest.mark.parametrize('status', Status)
def test_each_reason_is_logged_as_what_it_is(world, status):
    world.tick(START_UP + 1.0)
    world.under_test.decided(Decision(status, ('shoulder',)))
    expected = {OK: 'info', WARN: 'warning', ERROR: 'error', STALE: 'error'}[LEVELS[status]]
    assert world.levels == [expected]
    assert world.log[0][1] == world.status.message == f'{status.value} (shoulder)'
    assert world.status.level == LEVELS[status]
    assert world.values['reason'] == status.name.lower()


@pytest.mark.parametrize('detail', ['', 'at point 3'])
def test_a_state_of_all_joints_names_none(world, detail):
    world.under_test.decided(Decision(Status.FOLLOWING, detail=detail))
    assert world.log == [
        ('info', f'{Status.FOLLOWING.value}; {detail}' if detail else Status.FOLLOWING.value)]


def test_the_first_state_is_logged_just_after_boot(world):
    world.now = 0.0
    world.under_test.decided(Decision(Status.GRAVITY))
    assert len(world.log) == 1


def test_a_state_that_stays_is_logged_once_and_published_on(world):
    for _ in range(5):
        world.under_test.decided(Decision(Status.GRAVITY, effort=EFFORT))
        world.tick()
    assert len(world.log) == 1
    assert len(world.published) == 6
    assert world.values['commands'] == '5'


def test_the_same_state_of_another_joint_is_another(world):
    for joint in JOINTS:
        world.under_test.decided(Decision(Status.UNKNOWN_POSITION, (joint,)))
        world.tick()
    assert [joint in text for joint, (_, text) in zip(JOINTS, world.log)] == [True, True]


def test_changing_states_are_logged_once_a_period_with_the_last(world):
    for turn in range(10):
        world.under_test.decided(Decision((Status.GRAVITY, Status.FOLLOWING)[turn % 2]))
        world.now += 0.01 * PERIOD
    assert len(world.log) == 1
    world.tick()
    assert len(world.log) == 2
    assert Status.FOLLOWING.value in world.log[-1][1]


# ---- the start, and gaps of joint states --------------------------------------------------------


def test_waiting_for_other_nodes_becomes_a_warning_later(world):
    world.under_test.robot = 'arm'
    world.under_test.waiting('effort_controller', "'arm' is not available")
    world.under_test.waiting('robot', 'waiting for a robot_description')
    world.under_test.decided(Decision(Status.NOT_ALLOWED))
    world.under_test.waiting('robot', '')
    assert set(world.levels) == {'info'}
    world.log.clear()
    world.tick(START_UP + 0.1)
    assert world.log == [
        ('warning', "effort_controller: 'arm' is not available"),
        ('warning', Status.NOT_ALLOWED.value)]
    for _ in range(3):
        world.tick()
    assert len(world.log) == 2


def test_an_error_is_one_while_other_nodes_start_too(world):
    world.under_test.waiting('effort_controller', "'arm' is not available")
    world.under_test.notice('effort_controller', 'other joints', is_error=True)
    world.under_test.notice('model', 'slow')
    assert world.levels == ['info', 'error', 'warning']


STOPPING = Decision(Status.STOPPING, effort=EFFORT, next_status=Status.STALE)
STOPPED = Decision(Status.STALE)
WITH_STATES = Decision(Status.GRAVITY, effort=EFFORT)


def gap(world, length):
    """Let joint states stop for a while, and come back."""
    world.under_test.decided(STOPPING)
    world.now += length
    world.under_test.decided(WITH_STATES)
    world.tick()


@pytest.mark.parametrize('number, told', [(1, 'once more'), (3, '3 more times')])
def test_endless_gaps_are_counted_after_the_first_one(world, number, told):
    world.under_test.decided(WITH_STATES)
    world.tick()
    gap(world, 0.3)
    assert world.levels == ['info', 'warning', 'info']
    world.log.clear()
    for _ in range(number):
        gap(world, 0.5)
    assert world.log == []
    while not world.log:
        world.tick()
    assert world.log == [('warning', (
        f'joint states have stopped {told}, for up to 0.5 s beyond state_timeout'))]
    assert world.values['gaps of joint states'] == (
        f'{1 + number}, the longest 0.500 s beyond state_timeout')


def test_a_gap_that_lasts_is_logged_however_many_were_before(world):
    world.under_test.decided(WITH_STATES)
    gap(world, 0.1)
    world.log.clear()
    world.under_test.decided(STOPPED)
    for _ in range(4):
        world.tick()
        world.under_test.decided(STOPPED)
    assert world.levels == ['error']


def test_each_gap_is_logged_where_they_are_rare(world):
    world.under_test.decided(WITH_STATES)
    for _ in range(3):
        world.tick(QUIET_PERIOD)
        world.log.clear()
        gap(world, 0.1)
        assert 'warning' in world.levels


def test_another_decision_after_a_gap_that_is_not_logged_is(world):
    world.under_test.decided(WITH_STATES)
    gap(world, 0.1)
    world.under_test.decided(STOPPED)
    world.tick()
    world.log.clear()
    world.under_test.decided(Decision(Status.DISABLED))
    world.tick()
    assert world.levels == ['warning']


def test_limited_efforts_are_noticed_by_joint_for_a_period(world):
    flags = LimitFlags(
        JOINTS, np.array([True, False]), np.array([False, True]), np.array([False, False]))
    world.under_test.decided(Decision(Status.GRAVITY, effort=EFFORT, limited=flags))
    by_flag = dict(zip(LimitFlags._fields[1:], flags[1:]))
    told = {key: world.values[key] for key in ('effort', 'joint limits')}
    assert 'effort rate' not in world.values
    for which in by_flag.values():
        for joint, flag in zip(JOINTS, which):
            assert not flag or any(joint in text for text in told.values())
    world.tick(0.5 * PERIOD)
    assert told.items() <= world.values.items()
    world.tick(0.5 * PERIOD)
    assert not told.keys() & world.values.keys()


def test_commands_limited_in_rate_are_counted_with_their_share(world):
    none = np.array([False, False])
    late = LimitFlags(JOINTS, none, none, np.array([False, True]))
    other = LimitFlags(JOINTS, np.array([False, True]), none, none)
    for flags in (late, None, other, None):
        world.under_test.decided(Decision(Status.GRAVITY, effort=EFFORT, limited=flags))
    assert world.values['effort rate'].endswith(JOINTS[1])
    world.tick()
    assert world.values['commands limited in rate'] == '1 (25.00%)'


# ---- notices ------------------------------------------------------------------------------------


def test_a_notice_is_logged_at_its_beginning_and_end(world):
    world.under_test.decided(Decision(Status.GRAVITY))
    world.log.clear()
    for text in ('too hot', 'too hot', '', ''):
        world.under_test.notice('motor', text)
    assert world.levels == ['warning', 'info']
    assert all('motor' in text and 'too hot' in text for _, text in world.log)


def test_a_notice_turns_ok_into_a_warning(world):
    world.under_test.decided(Decision(Status.GRAVITY))
    world.under_test.notice('motor', 'too hot')
    assert world.status.level == WARN
    assert world.values['motor'] == 'too hot'
    assert 'too hot' not in world.status.message
    world.under_test.notice('motor', '')
    assert world.status.level == OK
    assert 'motor' not in world.values


def test_an_error_notice_sets_level_and_message(world):
    world.under_test.notice('motor', 'burnt', is_error=True)
    assert world.levels == ['error']
    assert world.status.level == ERROR
    assert world.status.message.endswith('; burnt')
    world.under_test.notice('motor', '', is_error=True)
    assert world.levels == ['error', 'info']
    assert world.status.level == WARN


def test_findings_about_the_model_are_a_warning_and_numbered(world):
    world.under_test.decided(Decision(Status.GRAVITY))
    world.under_test.findings = ('first finding', 'second finding')
    world.tick()
    assert world.status.level == WARN
    assert (world.values['model finding 1'], world.values['model finding 2']) == (
        'first finding', 'second finding')


@pytest.mark.parametrize('topic', [
    'imu', 'robot_description', 'model', 'parameters', 'joint_trajectory', 'effort_controller',
    'trajectory_controller'])
def test_refusals_are_counted_and_only_rare_ones_are_repeated(world, topic):
    for reason in ('one', 'another', 'another'):
        world.under_test.refused(topic, ValueError(reason))
    stays = topic != 'imu'
    assert len(world.log) == (2 if stays else 1)
    world.under_test.accepted(topic)
    world.tick(0.5 * PERIOD)
    assert world.values[f'messages on {topic}'] == 'accepted 1, refused 3'
    assert (topic in world.values) is not stays
    world.tick()
    assert topic not in world.values


def test_a_worker_exit_is_reported_on_the_next_turn(world):
    world.under_test.worker_exited('builds models', 'signal 9')
    assert world.log == []
    world.tick()
    assert 'builds models' in world.log[0][1] and 'signal 9' in world.log[0][1]


# ---- times --------------------------------------------------------------------------------------


def figures(world, name):
    """Return median, 99th percentile and greatest of some times [ms]."""
    world.under_test.publish()
    text = next(value for key, value in world.values.items() if key.startswith(name))
    return [float(part.split()[-1]) for part in text.split(',')]


def test_times_are_spread_as_they_were(monkeypatch):
    for count in (1, 2, 3, 100, 101, LATENCY_WINDOW):
        world = World(monkeypatch)
        for time in np.random.default_rng(count).permutation(count):
            world.under_test.timed(None, 1e-3 * time)
        median, most, worst = figures(world, 'cycle')
        assert (median, most, worst) == ((count - 1) // 2, 99 * (count - 1) // 100, count - 1)


def test_only_the_latest_times_count(world):
    for time in [9.0] + [1e-3] * LATENCY_WINDOW:
        world.under_test.timed(2.0 * time, time)
    assert figures(world, 'cycle') == [1.0, 1.0, 1.0]
    assert figures(world, 'latency') == [2.0, 2.0, 2.0]


def test_of_an_unknown_age_there_is_no_latency(world):
    world.under_test.timed(None, 1e-3)
    assert figures(world, 'cycle') == [1.0, 1.0, 1.0]
    assert not any(key.startswith('latency') for key in world.values)
