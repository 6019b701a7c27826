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
"""What is worth a look once a second, and no cycle's time."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.subscription import Subscription
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.conversions import listed

PERIOD = 1.0

LONGEST_SILENCE = 1.0
"""What tells nothing for longer than this [s] is said to be silent."""


def check_publishers(node: Node, states: Subscription, diagnostics: Diagnostics) -> None:
    """Notice publishers of joint states that displace each other."""
    count = node.count_publishers(states.topic_name)
    diagnostics.notice('state_depth', '' if count < 2 or states.qos_profile.depth > 1 else (
        f'{count} publishers share joint_states, and at depth 1 one may displace another: '
        f'set state_depth to {2 * count} or more'))


def check_policy(policy: FeedforwardPolicy, steady: float, diagnostics: Diagnostics) -> None:
    """
    Notice what has become of what the policy was told.

    :param steady: the time that ages go by [s].
    """
    old = policy.wrenches.stale(steady)
    diagnostics.notice('old wrenches', '' if not old else (
        f'{listed(old)} came longer ago than wrench_timeout and counts no more, or fades'))
    missing = policy.motion.controller.missing
    diagnostics.notice('controller_state', '' if not missing else (
        f'its reference has no {listed(missing)}, which then counts as zero'))
    is_silent = (policy.settings.gravity_from_imu
                 and not 0.0 <= steady - policy.measured_gravity.received <= LONGEST_SILENCE)
    diagnostics.notice('gravity_from_imu', '' if not is_silent else (
        f'imu has told nothing usable for {LONGEST_SILENCE:g} s: gravity stays '
        f'{policy.gravity.round(3).tolist()} m/s^2'))
    silent = policy.states.silent_others(steady, LONGEST_SILENCE)
    diagnostics.notice('other joints', '' if not silent else (
        f'nothing tells of {listed(silent)} any more: they count where they were last'))
    off = policy.mimic_deviations()
    diagnostics.notice('mimic joints', ', '.join(
        f'{name} is {value:+.4f} off what it should follow' for name, value in off.items()))
