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
        self._has_reception, self._has_source = has_reception, has_source
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
            round(1e9 * received) if self._has_reception else 0,
            round(1e9 * sent) if self._has_source else 0,
            self.now, round(1e9 * self.wall), publisher, TIMEOUT)

    def read_command(self, waited=0.0, since_sent=0.0):
        """Return the age of a message of another kind, by what is recorded of it."""
        self.ages.note_alive(self.now, TIMEOUT)
        sent = self.wall - since_sent + self.publisher_is_ahead
        return self.ages.age_of_command(
            round(1e9 * (self.wall - waited)) if self._has_reception else 0,
            round(1e9 * sent) if self._has_source else 0,
            self.now, round(1e9 * self.wall), TIMEOUT)


def test_age_is_the_time_since_reception():
    host = Host()
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


def test_while_reception_is_known_the_delays_of_some_messages_are_measured(monkeypatch):
    """A tenth of them is enough for what a gap may ask, and costs a tenth of the time."""
    host, measured = Host(), []
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
        assert 0 < len(host.ages._delays) <= MAX_PUBLISHERS
    assert host.read(waited=0.3, publisher=(f'joint{number}',)) == pytest.approx(0.3, abs=1e-6)


def test_a_slow_network_does_not_count_while_reception_is_known():
    host = Host()
    host.read()
    assert host.read(transport=5.0) == 0.0


@pytest.mark.parametrize('jump', [-3600.0, -0.5, 0.5, 3600.0])
def test_a_clock_that_is_set_changes_no_age_of_later_messages(jump):
    host = Host()
    host.read()
    host.wall += jump
    host.live(0.01)
    assert host.read(waited=0.003) == pytest.approx(0.003, abs=1e-6)


def test_a_clock_that_is_set_back_while_a_message_waits_gives_no_negative_age():
    host = Host()
    assert host.read(waited=-0.5) == 0.0


def test_without_reception_the_age_is_the_delay_beyond_the_smallest():
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
def test_without_reception_a_clock_that_is_set_counts_for_one_message_at_most(jump):
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


@pytest.mark.parametrize('has_reception', [True, False])
def test_after_a_gap_only_a_message_that_did_not_wait_counts(has_reception):
    """The thread that notes the reception stood still too, so that this time is a new one."""
    host = Host(has_reception)
    host.read()
    host.stand_still(3.0)
    for transport in (3.0, 2.0, 0.5, 0.11):
        assert host.read(transport=transport) == float('inf')
        host.live(0.0001)
    assert host.read(transport=0.01) < TIMEOUT
    if has_reception:  # the doubt is over
        assert host.read(transport=0.5) == 0.0


def test_after_a_gap_without_any_time_what_was_queued_does_not_count():
    host = Host(has_reception=False, has_source=False)
    host.read()
    host.stand_still(3.0)
    assert [host.read() for _ in range(3)] == 3 * [float('inf')]
    host.live(0.001)
    assert host.read() == float('inf')  # the queue may still be read
    host.live(TIMEOUT)
    assert host.read() == 0.0


@pytest.mark.parametrize('has_reception', [True, False])
@pytest.mark.parametrize('step', [0.0, 0.005, 0.02, -0.02, 1.0, -31.0, -3600.0, 3600.0])
def test_what_waited_during_a_gap_does_not_count_however_the_clock_is_set_in_it(
        has_reception, step):
    host = Host(has_reception)
    for _ in range(3):
        host.live(0.01)
        host.read()
    host.stand_still(30.0)
    host.wall += step
    host.publisher_is_ahead -= step  # what waits was sent before the clock was set
    for newer in (0.0, 0.002, 0.004):
        assert host.read(transport=30.0 - newer) == float('inf')
    for number in range(20):  # the middleware reads on while messages are handled
        host.live(0.001)
        assert host.read(transport=20.0 - number) == float('inf')
    if step < 0.0:
        host.publisher_is_ahead += step  # the clock of the same host
    ages = []
    for _ in range(40):
        host.live(0.01)
        ages.append(host.read())
    assert ages[-1] < 0.01  # a smaller step is not told from drift
    assert {age for age in ages if age >= 0.01} <= {float('inf')}


@pytest.mark.parametrize('has_reception', [True, False])
def test_what_a_new_publisher_sent_during_a_gap_does_not_count(has_reception):
    host = Host(has_reception)
    host.read()
    host.stand_still(30.0)
    assert [host.read(transport=29.0 - 0.002 * number, publisher=GRIPPER)
            for number in range(3)] == 3 * [float('inf')]


@pytest.mark.parametrize('has_reception', [True, False])
def test_after_a_gap_the_message_of_one_publisher_does_not_vouch_for_another(has_reception):
    host = Host(has_reception)
    host.read()
    host.read(publisher=GRIPPER)
    host.stand_still(30.0)
    assert host.read() < TIMEOUT
    assert host.read(transport=29.0, publisher=GRIPPER) == float('inf')
    assert host.read(publisher=GRIPPER) < TIMEOUT


def test_delays_of_a_queue_after_a_gap_are_no_measure_after_the_next_gap():
    host = Host()
    host.read()
    host.stand_still(30.0)
    host.wall += 1.0
    assert host.read(transport=30.0) == float('inf')
    host.stand_still(1.0)
    assert host.read(transport=30.0) == float('inf')


@pytest.mark.parametrize('has_reception', [True, False])
def test_publishers_without_known_delays_after_a_gap_are_limited_in_number(has_reception):
    host = Host(has_reception)
    host.stand_still(30.0)
    for number in range(3 * MAX_PUBLISHERS):
        assert host.read(publisher=(f'joint{number}',)) == float('inf')
        assert len(host.ages._paces) <= MAX_PUBLISHERS
    host.live(LONGEST_DOUBT + 0.1)
    assert host.read() == 0.0


def test_publishers_whose_clock_was_set_during_a_gap_are_believed_in_the_end():
    host = Host()
    host.read()
    host.stand_still(3.0)
    host.publisher_is_ahead -= 3600.0
    assert host.read() == float('inf')
    host.live(LONGEST_DOUBT + 0.1)
    assert host.read() == 0.0


def test_a_state_that_waited_longer_than_the_timeout_is_refused_and_refreshes_nothing():
    states = JointStates(ARM, (), TIMEOUT)
    states.update(MeasuredJoints(ARM, [0.1, 0.2]), 10.0)
    for age, words in ((0.11, 'waited for 0.110 s'), (float('inf'), 'did not run')):
        with pytest.raises(MessageError, match=words):
            states.update(MeasuredJoints(ARM, [0.5, 0.6], age=age), 10.05)
    assert states.age(10.05) == pytest.approx(0.05)
    assert states.positions.tolist() == [0.1, 0.2]


def test_a_state_is_as_old_as_its_reception_not_as_its_callback():
    states = JointStates(ARM, (), TIMEOUT)
    states.update(MeasuredJoints(ARM, [0.1, 0.2], age=0.08), 10.0)
    assert states.is_fresh(10.0) and states.age(10.0) == pytest.approx(0.08)
    assert not states.is_fresh(10.03)


# ---- messages that come once --------------------------------------------------------------------


def test_the_age_of_a_command_is_the_time_since_its_reception():
    host = Host()
    for waited in (0.0, 0.03, 5.0):
        host.live(0.02)
        assert host.read_command(waited, since_sent=9.0) == pytest.approx(waited, abs=1e-6)
    assert Host(has_reception=False).read_command(since_sent=9.0) == 0.0


@pytest.mark.parametrize('has_reception', [True, False])
@pytest.mark.parametrize('ahead, since_sent, age', [
    (0.0, 1.5, 1.5), (0.02, 1.52, 1.5), (0.0, 0.001, 0.001),
    (3.0, 1.5, inf), (-3.0, 1.5, inf),  # its clock is not that of this host
    (0.0, 2.5, inf)])                   # it would have been received before the gap
def test_a_command_that_arrived_in_a_gap_is_as_old_as_its_sender_says(
        has_reception, ahead, since_sent, age):
    host = Host(has_reception)
    host.publisher_is_ahead = ahead
    host.stand_still(2.0)
    assert host.read_command(0.0, since_sent) == pytest.approx(age, abs=1e-6)


def test_a_command_that_arrived_in_a_gap_may_be_of_any_age_where_nobody_says_when_it_was_sent():
    host = Host(has_source=False)
    host.stand_still(2.0)
    assert host.read_command() == inf


def test_what_was_received_before_a_gap_or_is_sent_after_it_has_its_time_of_reception():
    host = Host()
    host.stand_still(2.0)
    assert host.read_command(waited=2.5) == pytest.approx(2.5, abs=1e-6)
    assert host.read_command() == inf
    host.live(1.1 * TIMEOUT)
    assert host.read_command() == 0.0
    assert host.read_command(waited=0.05) == inf  # so soon after the gap it may have waited


def test_a_command_that_was_lost_in_a_gap_is_as_old_as_when_it_was_sent_first():
    """The middleware of its publisher sends it again; rmw_fastrtps does so after 3 s."""
    host = Host()
    host.publisher_is_ahead = 0.0
    host.stand_still(2.0)
    host.live(4.0)
    assert host.read_command(since_sent=5.0) == pytest.approx(5.0, abs=1e-6)
    assert host.read_command(since_sent=3.9) == 0.0  # it was sent after the gap
    assert host.read_command(since_sent=6.5) == 0.0  # or by a host with another clock
    host.live(LONGEST_RESENDING)
    assert host.read_command(since_sent=15.0) == 0.0


def test_the_commands_of_a_host_with_another_clock_are_not_taken_for_lost_ones():
    host = Host()
    host.publisher_is_ahead = -2.0
    host.read_command()
    host.stand_still(0.3)
    host.live(1.75)
    for _ in range(4):
        host.live(0.1)
        assert host.read_command() == 0.0


def test_of_two_gaps_the_last_one_counts():
    host = Host()
    host.publisher_is_ahead = 0.0
    host.stand_still(2.0)
    host.live(1.0)
    host.stand_still(0.5)
    assert host.read_command(since_sent=0.4) == pytest.approx(0.4, abs=1e-6)
    assert host.read_command(since_sent=2.0) == inf
