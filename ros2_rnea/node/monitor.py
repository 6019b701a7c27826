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
"""Checks that run once a second, outside the cycle."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.subscription import Subscription
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.conversions import listed

PERIOD = 1.0

LONGEST_SILENCE = 1.0
"""A source without a message for longer than this [s] is reported as silent."""


def check_publishers(node: Node, states: Subscription, diagnostics: Diagnostics) -> None:
    """Report several publishers of joint states whose messages displace each other."""
    count = node.count_publishers(states.topic_name)
    diagnostics.notice('state_depth', '' if count < 2 or states.qos_profile.depth > 1 else (
        f'{count} publishers share joint_states, and at depth 1 one may displace another: '
        f'set state_depth to {2 * count} or more'))


def check_policy(policy: FeedforwardPolicy, steady: float, diagnostics: Diagnostics) -> None:
    """
    Report inputs of the policy that are stale, incomplete or contradictory.

    :param steady: the time on the steady clock [s].
    """
    stale = policy.wrenches.stale(steady)
    diagnostics.notice('old wrenches', '' if not stale else (
        f'the last wrench of {listed(stale)} is older than wrench_timeout: it is ignored, or '
        'fades out'))
    missing = policy.motion.controller.missing
    diagnostics.notice('controller_state', '' if not missing else (
        f'its reference contains no {listed(missing)}, which is then taken as zero'))
    is_silent = (policy.settings.gravity_from_imu
                 and not 0.0 <= steady - policy.measured_gravity.received <= LONGEST_SILENCE)
    diagnostics.notice('gravity_from_imu', '' if not is_silent else (
        f'no usable message on imu for {LONGEST_SILENCE:g} s: gravity stays at '
        f'{policy.gravity.round(3).tolist()} m/s^2'))
    silent = policy.states.silent_others(steady, LONGEST_SILENCE)
    diagnostics.notice('other joints', '' if not silent else (
        f'joint states contain {listed(silent)} no more: their last positions are used'))
    deviations = policy.mimic_deviations()
    diagnostics.notice('mimic joints', ', '.join(
        f'{name} deviates by {value:+.4f} from the joint that it follows'
        for name, value in deviations.items()))
