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
"""The age of a joint state, from the times that the middleware gives, with clocks of a test."""

from math import inf

import pytest
from ros2_rnea.control.inputs.joint_states import JointStates, MeasuredJoints
from ros2_rnea.control.inputs.state_ages import (
    LONGEST_DOUBT,
    LONGEST_RESENDING,
    MAX_PUBLISHERS,
    SAMPLING_PERIOD,
    SAMPLING_TIME,
    StateAges,
    WINDOW,
)
from ros2_rnea.errors import MessageError

TIMEOUT = 0.1
ARM, GRIPPER = ('shoulder', 'elbow'), ('grip',)


class Host:
    """The clocks of the node's host, and how the middleware reports messages."""

    def __init__(self, has_reception=True, has_source=True):
        self.ages = StateAges()
        self.now, self.wall = 50.0, 1.7e9
        self.publisher_is_ahead = 3.0
        self.has_reception, self.has_source = has_reception, has_source
        self.live(0.0)

    def live(self, seconds):
        """Let the node run."""
        steps = max(int(seconds / 0.02), 1)
        for _ in range(steps):
            self.stand_still(seconds / steps)
            self.ages.note_alive(self.now, TIMEOUT)

    def stand_still(self, seconds):
        """Let time pass without the node."""
        self.now += seconds
        self.wall += seconds

    def read(self, waited=0.0, transport=0.0, publisher=ARM):
        """Return the age of a message that waited for the callback, and before in transport."""
        self.ages.note_alive(self.now, TIMEOUT)
        received = self.wall - waited
        sent = received - transport + self.publisher_is_ahead
        return self.ages.age(
            round(1e9 * received) if self.has_reception else 0,
            round(1e9 * sent) if self.has_source else 0,
            self.now, round(1e9 * self.wall), publisher, TIMEOUT)

    def read_command(self, waited=0.0, since_sent=0.0):
        """Return the age of a message of another kind, by what is recorded of it."""
        self.ages.note_alive(self.now, TIMEOUT)
        sent = self.wall - since_sent + self.publisher_is_ahead
        return self.ages.age_of_command(
            round(1e9 * (self.wall - waited)) if self.has_reception else 0,
            round(1e9 * sent) if self.has_source else 0,
            self.now, round(1e9 * self.wall), TIMEOUT)


@pytest.fixture
def host():
    return Host()


@pytest.fixture(params=[True, False], ids=['reception', 'no reception'])
def either(request):
    """Return a host whose middleware does or does not say when it received a message."""
    return Host(request.param)


def test_age_is_the_time_since_reception(host):
    for waited in (0.0, 0.8, 0.002):
        host.live(0.01)
        assert host.read(waited) == pytest.approx(waited, abs=1e-6)
    assert not host.ages.uses_delays


def test_age_is_exact_also_of_the_first_message():
    """Its delay is measured too, as that of some others."""
    wall, ages = 1_700_000_000 * 10**9, StateAges()
    for now in (50.0, 50.0 + 0.5 * SAMPLING_PERIOD):
        assert ages.age(wall - 10**12, wall - 10**12, now, wall, ARM, TIMEOUT) == 1000.0
    assert StateAges().age(wall + 10**9, wall, 50.0, wall, ARM, TIMEOUT) == 0.0


def test_while_reception_is_known_some_delays_are_measured(host, monkeypatch):
    """A tenth of them is enough for what a gap may ask, and costs a tenth of the time."""
    measured = []
    delay = StateAges._delay_beyond_smallest
    monkeypatch.setattr(StateAges, '_delay_beyond_smallest', lambda *arguments: (
        measured.append(host.now), delay(*arguments))[1])
    for _ in range(1000):
        host.stand_still(0.001)
        host.read()
    first = [now for before, now in zip([0.0, *measured], measured) if now - before > 0.01]
    assert len(first) == pytest.approx(1.0 / SAMPLING_PERIOD, abs=1)
    each = SAMPLING_TIME / SAMPLING_PERIOD
    assert each < len(measured) / 1000 < 1.5 * each


def test_delays_of_a_limited_number_of_publishers_are_kept():
    host = Host(has_reception=False)
    for number in range(3 * MAX_PUBLISHERS):
        host.read(publisher=(f'joint{number}',))
        assert 0 < host.ages.publisher_count <= MAX_PUBLISHERS
    assert host.read(waited=0.3, publisher=(f'joint{number}',)) == pytest.approx(0.3, abs=1e-6)


def test_a_slow_network_does_not_count_while_reception_is_known(host):
    host.read()
    assert host.read(transport=5.0) == 0.0


@pytest.mark.parametrize('jump', [-3600.0, -0.5, 0.5, 3600.0])
def test_a_set_clock_changes_no_age_of_later_messages(host, jump):
    host.read()
    host.wall += jump
    host.live(0.01)
    assert host.read(waited=0.003) == pytest.approx(0.003, abs=1e-6)


def test_a_clock_that_is_set_back_gives_no_negative_age(host):
    assert host.read(waited=-0.5) == 0.0


def test_without_reception_age_is_the_delay_beyond_the_smallest():
    host = Host(has_reception=False)
    assert host.read(transport=0.02) == 0.0
    assert host.read(transport=0.01) == 0.0
    assert host.read(transport=0.01, waited=0.8) == pytest.approx(0.8, abs=1e-6)
    assert host.ages.uses_delays


def test_without_reception_each_publisher_has_its_own_clock():
    host = Host(has_reception=False)
    host.read()
    host.publisher_is_ahead = -40.0
    assert host.read(publisher=GRIPPER) == 0.0
    host.publisher_is_ahead = 3.0
    assert host.read(waited=0.3) == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize('jump', [-3600.0, -0.5, 0.02, 0.5, 3600.0])
def test_without_reception_a_set_clock_counts_once_at_most(jump):
    host = Host(has_reception=False)
    host.read()
    host.wall += jump
    host.publisher_is_ahead -= jump  # another host, whose clock was not set
    host.live(0.01)
    host.read()
    assert host.read(waited=0.4) == pytest.approx(0.4, abs=1e-6)


def test_without_reception_a_clock_that_drifts_is_followed():
    host = Host(has_reception=False)
    for _ in range(100):
        host.publisher_is_ahead -= 1e-3  # 10 s at 1e-3: far worse than a real clock
        host.live(1.0)
        assert host.read() <= (2.0 * WINDOW + 2.0) * 1e-3


def test_without_any_time_a_message_has_no_age():
    assert Host(has_reception=False, has_source=False).read(waited=5.0) == 0.0


def test_after_a_gap_only_a_prompt_message_counts(either):
    """The thread that notes the reception stood still too, so that this time is a new one."""
    either.read()
    either.stand_still(3.0)
    for transport in (3.0, 2.0, 0.5, 0.11):
        assert either.read(transport=transport) == float('inf')
        either.live(0.0001)
    assert either.read(transport=0.01) < TIMEOUT
    if either.has_reception:  # the doubt is over
        assert either.read(transport=0.5) == 0.0


def test_without_any_time_nothing_queued_in_a_gap_counts():
    host = Host(has_reception=False, has_source=False)
    host.read()
    host.stand_still(3.0)
    assert [host.read() for _ in range(3)] == 3 * [float('inf')]
    host.live(0.001)
    assert host.read() == float('inf')  # the queue may still be read
    host.live(TIMEOUT)
    assert host.read() == 0.0


@pytest.mark.parametrize('step', [0.0, 0.005, 0.02, -0.02, 1.0, -31.0, -3600.0, 3600.0])
def test_what_waited_in_a_gap_is_void_with_any_clock(either, step):
    for _ in range(3):
        either.live(0.01)
        either.read()
    either.stand_still(30.0)
    either.wall += step
    either.publisher_is_ahead -= step  # what waits was sent before the clock was set
    for newer in (0.0, 0.002, 0.004):
        assert either.read(transport=30.0 - newer) == float('inf')
    for number in range(20):  # the middleware reads on while messages are handled
        either.live(0.001)
        assert either.read(transport=20.0 - number) == float('inf')
    if step < 0.0:
        either.publisher_is_ahead += step  # the clock of the same either
    ages = []
    for _ in range(40):
        either.live(0.01)
        ages.append(either.read())
    assert ages[-1] < 0.01  # a smaller step is not told from drift
    assert {age for age in ages if age >= 0.01} <= {float('inf')}


def test_what_a_new_publisher_sent_in_a_gap_is_void(either):
    either.read()
    either.stand_still(30.0)
    assert [either.read(transport=29.0 - 0.002 * number, publisher=GRIPPER)
            for number in range(3)] == 3 * [float('inf')]


def test_after_a_gap_no_publisher_vouches_for_another(either):
    either.read()
    either.read(publisher=GRIPPER)
    either.stand_still(30.0)
    assert either.read() < TIMEOUT
    assert either.read(transport=29.0, publisher=GRIPPER) == float('inf')
    assert either.read(publisher=GRIPPER) < TIMEOUT


def test_delays_of_a_queue_are_no_later_measure(host):
    host.read()
    host.stand_still(30.0)
    host.wall += 1.0
    assert host.read(transport=30.0) == float('inf')
    host.stand_still(1.0)
    assert host.read(transport=30.0) == float('inf')


def test_publishers_without_known_delays_are_limited_in_number(either):
    either.stand_still(30.0)
    for number in range(3 * MAX_PUBLISHERS):
        assert either.read(publisher=(f'joint{number}',)) == float('inf')
        assert 0 < either.ages.publisher_count <= MAX_PUBLISHERS
    either.live(LONGEST_DOUBT + 0.1)
    assert either.read() == 0.0


def test_a_clock_set_in_a_gap_is_believed_later(host):
    host.read()
    host.stand_still(3.0)
    host.publisher_is_ahead -= 3600.0
    assert host.read() == float('inf')
    host.live(LONGEST_DOUBT + 0.1)
    assert host.read() == 0.0


def test_a_state_that_waited_too_long_refreshes_nothing():
    states = JointStates(ARM, (), TIMEOUT)
    states.update(MeasuredJoints(ARM, [0.1, 0.2]), 10.0)
    for age, words in ((0.11, 'waited for 0.110 s'), (float('inf'), 'did not run')):
        with pytest.raises(MessageError, match=words):
            states.update(MeasuredJoints(ARM, [0.5, 0.6], age=age), 10.05)
    assert states.age(10.05) == pytest.approx(0.05)
    assert states.positions.tolist() == [0.1, 0.2]


def test_a_state_is_as_old_as_its_reception():
    states = JointStates(ARM, (), TIMEOUT)
    states.update(MeasuredJoints(ARM, [0.1, 0.2], age=0.08), 10.0)
    assert states.is_fresh(10.0) and states.age(10.0) == pytest.approx(0.08)
    assert not states.is_fresh(10.03)


# ---- messages that come once --------------------------------------------------------------------


def test_a_command_is_as_old_as_its_reception(host):
    for waited in (0.0, 0.03, 5.0):
        host.live(0.02)
        assert host.read_command(waited, since_sent=9.0) == pytest.approx(waited, abs=1e-6)
    assert Host(has_reception=False).read_command(since_sent=9.0) == 0.0


@pytest.mark.parametrize('ahead, since_sent, age', [
    (0.0, 1.5, 1.5), (0.02, 1.52, 1.5), (0.0, 0.001, 0.001),
    (3.0, 1.5, inf), (-3.0, 1.5, inf),  # its clock is not that of this either
    (0.0, 2.5, inf)])                   # it would have been received before the gap
def test_a_command_in_a_gap_has_its_senders_age(either, ahead, since_sent, age):
    either.publisher_is_ahead = ahead
    either.stand_still(2.0)
    assert either.read_command(0.0, since_sent) == pytest.approx(age, abs=1e-6)


def test_a_command_in_a_gap_without_stamp_has_any_age():
    host = Host(has_source=False)
    host.stand_still(2.0)
    assert host.read_command() == inf


def test_outside_a_gap_the_time_of_reception_counts(host):
    host.stand_still(2.0)
    assert host.read_command(waited=2.5) == pytest.approx(2.5, abs=1e-6)
    assert host.read_command() == inf
    host.live(1.1 * TIMEOUT)
    assert host.read_command() == 0.0
    assert host.read_command(waited=0.05) == inf  # so soon after the gap it may have waited


def test_a_command_lost_in_a_gap_was_sent_then(host):
    """The middleware of its publisher sends it again; rmw_fastrtps does so after 3 s."""
    host.publisher_is_ahead = 0.0
    host.stand_still(2.0)
    host.live(4.0)
    assert host.read_command(since_sent=5.0) == pytest.approx(5.0, abs=1e-6)
    assert host.read_command(since_sent=3.9) == 0.0  # it was sent after the gap
    assert host.read_command(since_sent=6.5) == 0.0  # or by a host with another clock
    host.live(LONGEST_RESENDING)
    assert host.read_command(since_sent=15.0) == 0.0


def test_commands_of_another_clock_are_not_taken_for_lost(host):
    host.publisher_is_ahead = -2.0
    host.read_command()
    host.stand_still(0.3)
    host.live(1.75)
    for _ in range(4):
        host.live(0.1)
        assert host.read_command() == 0.0


def test_of_two_gaps_the_last_one_counts(host):
    host.publisher_is_ahead = 0.0
    host.stand_still(2.0)
    host.live(1.0)
    host.stand_still(0.5)
    assert host.read_command(since_sent=0.4) == pytest.approx(0.4, abs=1e-6)
    assert host.read_command(since_sent=2.0) == inf
