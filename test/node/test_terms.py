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
"""The topic ~/terms: only for those who listen, and what it tells them."""

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.control.policy import Policy
from ros2_rnea.node.topics import terms_publisher
from small_robots import ARM

EffortTerms = pytest.importorskip('ros2_rnea_interfaces.msg').EffortTerms
pytestmark = pytest.mark.ros

JOINTS = ['elbow', 'shoulder']  # not the order of the description
STATE = ['shoulder', 'elbow'], [0.3, -0.8]
GRAVITY = Robot.from_urdf(ARM).gravity(STATE[1])[::-1]


@pytest.fixture
def arm(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    return arm


def listened_to(arm):
    """Return the list of what comes on ~/terms, to which a subscription is made."""
    heard = []
    subscription = arm.peer.create_subscription(
        EffortTerms, 'inverse_dynamics/terms', heard.append, 10)

    def comes() -> bool:
        arm.answer(*STATE)
        return bool(heard)

    arm.until(comes)
    arm.settle()
    heard.clear()
    return heard, subscription


def test_nothing_is_computed_while_nobody_listens(arm, monkeypatch):
    monkeypatch.setattr(Policy, 'terms', lambda *_: pytest.fail('nobody listens'))
    arm.answer(*STATE)
    arm.settle()
    arm.answer(*STATE)
    assert arm.peer.count_publishers('inverse_dynamics/terms') == 1


def test_an_error_in_them_stops_neither_efforts_nor_motion(arm, monkeypatch, capfd):
    heard, _ = listened_to(arm)
    monkeypatch.setattr(Policy, 'terms', lambda *_: {}['nothing'])
    before = arm.node.unexpected_errors
    for _ in range(3):
        np.testing.assert_allclose(arm.answer(*STATE), GRAVITY, rtol=1e-12)
    arm.settle()
    assert heard == [] and arm.node.unexpected_errors == before + 3
    assert arm.diagnostics[-1].message.startswith('no trajectory')
    assert capfd.readouterr().err.count('unexpected error in ') == 1


def test_the_terms_are_those_of_the_state_with_their_stamp(arm):
    heard, _ = listened_to(arm)
    sent = arm.answer(*STATE, stamp=12.25, efforts=[1.0, 2.0])
    arm.until(lambda: heard)
    message = heard[-1]
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 250000000)
    assert list(message.name) == JOINTS
    np.testing.assert_allclose(message.gravity, GRAVITY, rtol=1e-12)
    np.testing.assert_allclose(message.total, GRAVITY, rtol=1e-12)
    assert list(message.sent) == sent
    assert list(message.measured) == [2.0, 1.0]
    np.testing.assert_allclose(message.residual, [2.0, 1.0] - GRAVITY, rtol=1e-12)
    for name in ('saturated', 'rate_limited', 'restrained'):
        assert list(getattr(message, name)) == [False, False]


def test_unclear_measured_efforts_give_no_residual(arm):
    assert arm.set_parameter('arm', 'ur').successful
    heard, _ = listened_to(arm)
    arm.answer(*STATE, efforts=[1.0, 2.0])
    arm.until(lambda: heard)
    assert list(heard[-1].measured) == [2.0, 1.0]
    assert np.isnan(heard[-1].residual).all()
    assert arm.set_parameter('measured_lacks', ['gravity']).successful
    heard.clear()
    arm.answer(*STATE, efforts=[1.0, 2.0])
    arm.until(lambda: heard)
    np.testing.assert_allclose(heard[-1].residual, [2.0, 1.0], rtol=1e-12)


def test_an_effort_that_is_cut_is_flagged(arm):
    heard, _ = listened_to(arm)
    arm.answer(['shoulder', 'elbow'], [2.35, 1.25])  # hangs: nothing is needed to hold it
    assert arm.set_parameter('effort_limit_factor', 0.01).successful
    arm.settle()
    heard.clear()
    arm.answer(['shoulder', 'elbow'], [2.5, 0.0])
    arm.until(lambda: heard)
    assert list(heard[-1].saturated) == [True, True]
    assert np.abs(heard[-1].total[1]) > np.abs(heard[-1].sent[1])


def test_an_effort_limited_in_rate_is_flagged_at_its_joints(arm):
    assert arm.set_parameter('effort_rate_limit', 1e-3).successful
    heard, _ = listened_to(arm)
    arm.answer(['shoulder', 'elbow'], [2.5, 0.0])
    arm.until(lambda: heard)
    assert list(heard[-1].rate_limited) == [True, True]
    assert list(heard[-1].saturated) == list(heard[-1].restrained) == [False, False]


def test_an_effort_against_the_end_of_a_joint_is_flagged(arm):
    heard, _ = listened_to(arm)
    end = ['shoulder', 'elbow'], [0.0, 3.0], [0.0, 0.0]

    def is_restrained() -> bool:
        arm.push('tool', moment=(0.0, -30.0, 0.0))
        arm.answer(*end)
        return any(any(message.restrained) for message in heard)

    arm.until(is_restrained)
    flagged = next(message for message in heard if any(message.restrained))
    assert list(flagged.restrained) == [name == 'elbow' for name in flagged.name]


def test_efforts_that_are_not_measured_are_none(arm):
    heard, _ = listened_to(arm)
    arm.answer(*STATE)
    arm.until(lambda: heard)
    assert np.isnan(heard[-1].measured).all() and np.isnan(heard[-1].residual).all()


def test_it_ends_with_the_last_listener(arm, monkeypatch):
    heard, subscription = listened_to(arm)
    computed, terms = [], Policy.terms
    monkeypatch.setattr(Policy, 'terms', lambda *about: computed.append(0) or terms(*about))
    arm.answer(*STATE)
    assert computed
    arm.peer.destroy_subscription(subscription)
    arm.until(lambda: computed.clear() or arm.answer(*STATE) and not computed)


def test_without_the_interfaces_all_but_the_topic_works(bench, monkeypatch):
    monkeypatch.setattr(terms_publisher, 'EffortTerms', None)
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    np.testing.assert_allclose(arm.answer(*STATE), GRAVITY, rtol=1e-12)
    arm.settle()
    assert arm.peer.count_publishers('inverse_dynamics/terms') == 0
