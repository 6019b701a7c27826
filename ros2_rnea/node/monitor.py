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

from math import inf

from rclpy.node import Node
from rclpy.subscription import Subscription
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.node.topics.publishers import publishers_of
from ros2_rnea.offline.audit.joints import LARGE_FRICTION
from ros2_rnea.robots.sent_terms import Terms

PERIOD = 1.0

HIGHEST_GAIN_IN_CONTACT = 0.5
"""A wrench_gain above this value is worth a warning: at this value, a contact force doubles."""

SHORTEST_TIME_CONSTANT = 0.02
"""A wrench_time_constant below this [s] is worth a warning: at a delay of 10 ms and half of the
wrench compensated, contact with a stiff environment is lost and comes back."""

MIN_ROTOR_ACCELERATION = 5.0
"""An armature that the effort limit accelerates less than this [rad/s^2 or m/s^2] is doubtful."""

LONGEST_SILENCE = 1.0
"""A source without a message for longer than this [s] is reported as silent."""


def check_publishers(node: Node, states: Subscription, diagnostics: Diagnostics) -> None:
    """Report several publishers of joint states whose messages displace each other."""
    count = node.count_publishers(states.topic_name)
    diagnostics.notice('state_depth', '' if count < 2 or states.qos_profile.depth > 1 else (
        f'{count} publishers share joint_states, and at depth 1 one may displace another: '
        f'set state_depth to {2 * count} or more'))


def name_publishers(node: Node, states: Subscription, policy: Policy) -> None:
    """Tell the policy the names of the nodes that publish joint states, for its reports."""
    if node.count_publishers(states.topic_name) > 1:
        for identifier, name in publishers_of(node, states.topic_name).items():
            policy.states.call_source(identifier, name)


def check_policy(policy: Policy, steady: float, diagnostics: Diagnostics) -> None:
    """
    Report inputs of the policy that are stale, incomplete or contradictory.

    :param steady: the time on the steady clock [s].
    """
    stale = policy.wrenches.stale(steady)
    diagnostics.notice('old wrenches', '' if not stale else (
        f'the last wrench of {listed(stale)} is older than wrench_timeout: it is ignored, or '
        'fades out'))
    lost_biases = policy.wrenches.lost_biases
    diagnostics.notice('wrench bias', '' if not lost_biases else (
        f'the bias of {listed(sorted(lost_biases))} was discarded, because it was taken with '
        'another wrench_tool_mass, wrench_tool_center or wrench_exerted_by: call ~/zero_wrench '
        'again'))
    _check_wrench_limits(policy, diagnostics)
    _explain_wrench_gain(policy, diagnostics)
    _check_friction(policy, diagnostics)
    _check_armatures(policy, diagnostics)
    _check_effort_limits(policy, diagnostics)
    missing = policy.motion.controller.missing
    diagnostics.notice('controller_state', '' if not missing else (
        f'its reference contains no {listed(missing)}, which is then taken as zero'))
    _check_imu(policy, steady, diagnostics)
    conflict = policy.states.conflict
    diagnostics.notice('sources of joint states', conflict and (
        f'{conflict}: each joint needs one publisher; no effort starts'), is_error=True)
    silent = policy.states.silent_others(steady, LONGEST_SILENCE)
    diagnostics.notice('other joints', '' if not silent else (
        f'joint states no longer contain {listed(silent)}: the last positions are used'))
    diagnostics.notice('ignored joints', '; '.join(policy.states.ignored.values()))
    deviations = policy.mimic_deviations()
    diagnostics.notice('mimic joints', ', '.join(
        f'{name} deviates by {value:+.4f} from the joint that it follows'
        for name, value in deviations.items()))


def _check_imu(policy: Policy, steady: float, diagnostics: Diagnostics) -> None:
    """Report gravity that the imu does not measure, an error once it has done so."""
    measured = policy.measured_gravity
    lost = '' if not policy.settings.gravity_from_imu else (
        measured.explain_loss(steady, policy.settings.imu_timeout))
    text = lost and f'{lost}: gravity stays at {policy.gravity.round(3).tolist()} m/s^2'
    if lost and measured.received == -inf:
        diagnostics.waiting('gravity_from_imu', text)
    else:
        diagnostics.notice('gravity_from_imu', text, is_error=True)


def _check_wrench_limits(policy: Policy, diagnostics: Diagnostics) -> None:
    """Report where limits reduce the wrenches that are compensated."""
    frames, joints = policy.wrenches.limited, policy.joints_limiting_wrenches()
    reasons = []
    if frames:
        reasons.append(
            f'that of {listed(frames)} exceeds wrench_force_limit or wrench_moment_limit')
    if joints:
        reasons.append(f'their effort exceeds wrench_effort_share at {listed(joints)}')
    diagnostics.notice(
        'limited wrenches', 'reduced, because ' + ' and '.join(reasons) if reasons else '')


def _check_friction(policy: Policy, diagnostics: Diagnostics) -> None:
    """Report friction that is sent and is a large share of the effort limit."""
    large = ', '.join(
        f'{share:.0%} at {name}' for name, share in policy.friction_shares().items()
        if share > LARGE_FRICTION)
    diagnostics.notice('friction', large and (
        'up to half the velocity limit, the friction that is sent is a large share of the effort '
        f'limit: {large}. Too much friction drives a joint in the direction of its motion: check '
        'damping, friction, friction_offset and the other friction parameters, or '
        'friction_from'))


def _check_armatures(policy: Policy, diagnostics: Diagnostics) -> None:
    """Report rotors that are too heavy for their motors, as by a slip of the decimal point."""
    heavy = ', '.join(
        f'{value:.3g} rad/s^2 or m/s^2 at {name}'
        for name, value in policy.rotor_accelerations().items()
        if value < MIN_ROTOR_ACCELERATION)
    diagnostics.notice('armature', heavy and (
        f'the effort limit accelerates the rotor alone by no more than {heavy}: check armature, '
        'whose unit is kg m^2 (kg for a prismatic joint) at the joint, behind the gear'))


def _check_effort_limits(policy: Policy, diagnostics: Diagnostics) -> None:
    """Report effort limits of the parameters that are above those of the description."""
    raised = ', '.join(
        f'{limit:g} instead of {described:g} at {name}'
        for name, (limit, described) in policy.raised_limits().items())
    diagnostics.notice('effort limits', raised and (
        f'those of the parameters are above those of the description, and are used: {raised} '
        '[Nm or N]. Check that the motors, gears and brakes of these joints bear them, or lower '
        'effort_limits'))


def _explain_wrench_gain(policy: Policy, diagnostics: Diagnostics) -> None:
    """Log once, at the first wrench, which share is compensated and when another one is right."""
    settings = policy.settings
    gain = settings.wrench_gain
    is_compensated = settings.sent_terms is not Terms.GRAVITY_ONLY and (
        settings.mode is not Mode.GRAVITY_COMPENSATION or settings.wrench_in_gravity_compensation)
    if not gain or not is_compensated or not policy.wrenches.frames:
        return
    if settings.wrench_time_constant < SHORTEST_TIME_CONSTANT:
        diagnostics.log_once(
            f'wrench_time_constant is {settings.wrench_time_constant:g} s. In contact with a '
            'stiff environment, the compensation oscillates: set '
            f'{SHORTEST_TIME_CONSTANT:g} or more, unless the wrench does not depend on the effort',
            is_warning=True)
    if gain > HIGHEST_GAIN_IN_CONTACT:
        growth = (
            'until a limit is reached' if gain == 1.0
            else f'to {1.0 / (1.0 - gain):.3g} times its value without compensation')
        diagnostics.log_once(
            f'wrench_gain is {gain:g}. This is right only for a wrench that is known and does not '
            'depend on the effort, such as that of a hose or of a planned process force: in '
            f'contact with a stiff environment, the force grows {growth}. Otherwise set '
            f'{HIGHEST_GAIN_IN_CONTACT:g} or less', is_warning=True)
    else:
        diagnostics.log_once(
            f'the share {gain:g} of the measured wrench is compensated (wrench_gain). Set 1 for a '
            'wrench that is known and does not depend on the effort, such as that of a hose or of '
            'a planned process force, and 0 for no compensation')
