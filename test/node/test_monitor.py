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
"""What is looked at once a second: which conditions are noticed, and that they end."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
from ros2_rnea.control.settings import Mode
from ros2_rnea.node import monitor
from ros2_rnea.robots.sent_terms import Terms

NOW = 50.0


class Notices(dict):
    """The notices of the diagnostics, of which those that ended are gone."""

    errors = ()

    def notice(self, about, text, is_error=False):
        self.pop(about, None)
        if text:
            self[about] = text
            self.errors = (*self.errors, about) if is_error else self.errors

    def waiting(self, about, text):
        self[about] = f'waits: {text}'

    def log_once(self, text, is_warning=False):
        self.logged = (text, is_warning)


def policy(
        stale=(), limited=(), frames=(), limiting=(), gain=0.5, mode=Mode.FEEDFORWARD,
        in_gravity=False, time_constant=0.05, terms=Terms.FULL, lost=(), missing=(),
        from_imu=False, loss='', silent=(), deviations=None, friction=None,
        ignored=None, rotors=None, raised=None, conflict='', received=0.0):
    """Return a policy, as far as it is looked at, where nothing is worth a word by default."""
    return SimpleNamespace(
        wrenches=SimpleNamespace(
            stale=lambda now: stale if now == NOW else None, limited=limited, frames=frames,
            lost_biases=lost),
        joints_limiting_wrenches=lambda: limiting,
        motion=SimpleNamespace(controller=SimpleNamespace(missing=missing)),
        settings=SimpleNamespace(
            gravity_from_imu=from_imu, imu_timeout=0.25, wrench_gain=gain, mode=mode,
            wrench_in_gravity_compensation=in_gravity, wrench_time_constant=time_constant,
            sent_terms=terms),
        measured_gravity=SimpleNamespace(received=received, explain_loss=(
            lambda now, longest: loss if (now, longest) == (NOW, 0.25) else None)),
        gravity=np.array([0.0, 0.12345, -9.8]),
        states=SimpleNamespace(silent_others=lambda now, longest: silent if (
            now, longest) == (NOW, monitor.LONGEST_SILENCE) else None, ignored=ignored or {},
            conflict=conflict),
        mimic_deviations=lambda: deviations or {},
        friction_shares=lambda: friction or {},
        rotor_accelerations=lambda: rotors or {},
        raised_limits=lambda: raised or {})


def noticed(**conditions):
    """Return what is noticed, and check that it ends where the conditions do."""
    notices = Notices()
    monitor.check_policy(policy(**conditions), NOW, notices)
    found = dict(notices)
    monitor.check_policy(policy(), NOW, notices)
    assert notices == {}
    return found


def test_where_all_is_well_there_is_nothing_to_say():
    assert noticed() == {}


@pytest.mark.parametrize('conditions, about, names', [
    ({'stale': ('tool', 'wrist')}, 'old wrenches', ['tool', 'wrist', 'wrench_timeout']),
    ({'limited': ('wrist',)}, 'limited wrenches', ['wrist', 'wrench_force_limit']),
    ({'limiting': ('elbow',)}, 'limited wrenches', ['elbow', 'wrench_effort_share']),
    ({'limited': ('wrist',), 'limiting': ('elbow',)}, 'limited wrenches', ['wrist', 'elbow']),
    ({'lost': ('wrist', 'tool')}, 'wrench bias', ['tool, wrist', '~/zero_wrench']),
    ({'missing': ('velocities',)}, 'controller_state', ['velocities']),
    ({'silent': ('grip',)}, 'other joints', ['grip']),
    ({'ignored': {'grip': "joint 'grip' is at 9, far outside", 'lid': "joint 'lid' is at 8"}},
     'ignored joints', ["joint 'grip' is at 9", "joint 'lid' is at 8"]),
    ({'friction': {'elbow': 0.21, 'shoulder': 0.2}}, 'friction',
     ['21% at elbow', 'friction_from']),
    ({'rotors': {'elbow': 2.5, 'shoulder': 5.0}}, 'armature', ['2.5 rad/s^2', 'at elbow: check']),
    ({'raised': {'elbow': (60.0, 40.0)}}, 'effort limits', ['60 instead of 40 at elbow']),
    ({'deviations': {'thumb': 0.25, 'finger': -0.5}}, 'mimic joints',
     ['thumb', '+0.2500', 'finger', '-0.5000'])])
def test_a_condition_is_noticed_with_the_names_it_concerns(conditions, about, names):
    found = noticed(**conditions)
    assert list(found) == [about]
    for name in names:
        assert name in found[about]


def test_an_imu_that_has_sent_nothing_yet_is_waited_for():
    found = noticed(from_imu=True, loss='the imu has sent no reading yet', received=-inf)
    assert found['gravity_from_imu'].startswith('waits: the imu has sent no reading yet: gravity')


def test_an_imu_that_is_lost_is_an_error():
    loss = 'the imu has sent no reading for 0.3 s, and imu_timeout is 0.25 s'
    notices = Notices()
    monitor.check_policy(policy(from_imu=True, loss=loss), NOW, notices)
    assert notices == {'gravity_from_imu': f'{loss}: gravity stays at [0.0, 0.123, -9.8] m/s^2'}
    assert notices.errors == ('gravity_from_imu',)
    assert noticed(from_imu=True) == {}
    assert noticed(from_imu=False, loss=loss) == {}


def test_contradicting_sources_of_joint_states_are_an_error():
    notices = Notices()
    conflict = "joint 'elbow' is at 1 by a, and at 2 by b"
    monitor.check_policy(policy(conflict=conflict), NOW, notices)
    assert notices['sources of joint states'].startswith(conflict)
    assert notices.errors == ('sources of joint states',)


def test_sources_of_joint_states_have_their_node_names(monkeypatch):
    called = {}
    one = SimpleNamespace(states=SimpleNamespace(call_source=called.__setitem__))
    monkeypatch.setattr(monitor, 'publishers_of', lambda node, topic: {b'1': f'/a{topic}'})
    for count in (1, 2):
        node = SimpleNamespace(count_publishers=lambda _, count=count: count)
        monitor.name_publishers(node, SimpleNamespace(topic_name='/joint_states'), one)
        assert called == ({} if count == 1 else {b'1': '/a/joint_states'})


@pytest.mark.parametrize('count, depth, is_noticed', [
    (0, 1, False), (1, 1, False), (2, 1, True), (3, 1, True), (2, 2, False), (3, 10, False)])
def test_publishers_that_share_a_topic_need_a_queue(count, depth, is_noticed):
    node = SimpleNamespace(count_publishers={'/joint_states': count}.get)
    states = SimpleNamespace(
        topic_name='/joint_states', qos_profile=SimpleNamespace(depth=depth))
    notices = Notices({'state_depth': 'from before'})
    monitor.check_publishers(node, states, notices)
    assert list(notices) == (['state_depth'] if is_noticed else [])
    assert not is_noticed or f'state_depth to {2 * count}' in notices['state_depth']


@pytest.mark.parametrize('conditions, said, is_warning', [
    ({'gain': 0.5}, 'the share 0.5 of', False),
    ({'gain': 0.1}, 'the share 0.1 of', False),
    ({'gain': 0.9}, 'grows to 10 times', True),
    ({'gain': 1.0}, 'grows until a limit', True),
    ({'gain': 0.5, 'mode': Mode.GRAVITY_COMPENSATION, 'in_gravity': True}, 'share 0.5', False)])
def test_with_the_first_wrench_the_compensated_share_is_said(conditions, said, is_warning):
    notices = Notices()
    monitor.check_policy(policy(frames=('tool',), **conditions), NOW, notices)
    assert said in notices.logged[0]
    assert notices.logged[1] is is_warning


@pytest.mark.parametrize('time_constant, is_said', [(0.0, True), (0.0199, True), (0.02, False)])
def test_a_filter_with_which_contact_oscillates_is_warned_of(time_constant, is_said):
    said = []
    notices = Notices()
    notices.log_once = lambda text, is_warning=False: said.append((text, is_warning))
    monitor.check_policy(policy(frames=('tool',), time_constant=time_constant), NOW, notices)
    warnings = [text for text, is_warning in said if is_warning]
    assert len(warnings) == is_said
    assert all('wrench_time_constant' in text and 'set 0.02' in text for text in warnings)


@pytest.mark.parametrize('conditions', [
    {'frames': ()}, {'gain': 0.0}, {'mode': Mode.GRAVITY_COMPENSATION},
    {'terms': Terms.GRAVITY_ONLY}])
def test_without_compensation_nothing_is_said_about_the_gain(conditions):
    notices = Notices()
    monitor.check_policy(policy(**{'frames': ('tool',), **conditions}), NOW, notices)
    assert not hasattr(notices, 'logged')
