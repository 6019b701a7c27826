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
"""Findings about the axis, limits and origin of single joints, and about mimic joints."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, inf, isfinite, isinf, pi

from ros2_rnea.model.description import JointDescription, RobotDescription
from ros2_rnea.offline.audit.findings import Finding, Kind

LENGTH_SLACK = 1e-3
"""Accepted deviation of an axis from unit length, for axes rounded to three digits."""

TILTED = 1e-5, 1e-2
"""Suspicious angles to the nearest coordinate axis [rad]: above rounding, below designs."""

MAX_TURNS, LIKE_NONE = 8.0 * pi, 1000.0
"""Revolute limits between these [rad] are likely degrees; the latter is taken as no limit."""

LARGE_FRICTION = 0.2
"""Suspicious share of friction in the effort limit; gear units of arms lose less."""

FARTHEST = 10.0
"""Distance [m] beyond which millimetres are more likely."""


def joint_findings(description: RobotDescription) -> Iterator[Finding]:
    """Yield the findings about joints, in the order of the description."""
    followers: dict[str, list[str]] = {}
    for joint in description.joints:
        if joint.mimic is not None and joint.type.moves:
            followers.setdefault(joint.mimic.joint, []).append(joint.name)
    for joint in description.joints:
        subject = f'joint {joint.name!r}'
        yield from _origin(subject, joint)
        if not joint.type.moves:
            continue
        yield from _axis(subject, joint)
        yield from _effort_and_velocity(subject, joint)
        yield from _friction(subject, joint)
        if joint.type.is_bounded:
            yield from _positions(subject, joint)
        if joint.name in followers:
            names = ', '.join(map(repr, followers[joint.name]))
            yield Finding(
                Kind.MIMIC, subject,
                f'it is followed by {names}, whose efforts are added to its own')


def _origin(subject: str, joint: JointDescription) -> Iterator[Finding]:
    distance = hypot(*joint.origin.xyz)
    if distance > FARTHEST:
        yield Finding(
            Kind.UNITS, subject,
            f'its origin is {distance:g} m from that of its parent link: is it in millimetres?')
    angle = max(joint.origin.rpy, key=abs)
    if abs(angle) > 2.01 * pi:
        yield Finding(
            Kind.UNITS, subject, f'its origin is rotated by {angle:g} rad: is it in degrees?')


def _axis(subject: str, joint: JointDescription) -> Iterator[Finding]:
    if not joint.type.has_axis:
        return
    axis = ' '.join(f'{number:g}' for number in joint.axis)
    length = hypot(*joint.axis)
    if not length:  # an error, which is found elsewhere
        return
    if abs(length - 1.0) > LENGTH_SLACK:
        yield Finding(
            Kind.AXIS, subject, f'its axis {axis} has length {length:.6g}; only its direction '
            'is used: give it length 1')
    tilt = hypot(*sorted(map(abs, joint.axis))[:2]) / length
    if TILTED[0] < tilt < TILTED[1]:
        yield Finding(
            Kind.AXIS, subject, f'its axis {axis} deviates by {tilt:.2g} rad from a coordinate '
            'axis: is that intended, or a rounded rotation?')


def _effort_and_velocity(subject: str, joint: JointDescription) -> Iterator[Finding]:
    if joint.mimic is not None or joint.type.nv != 1:
        return
    effort, velocity = joint.limits.effort, joint.limits.velocity
    if isinf(effort) or effort < 0.0:
        has = 'no effort limit' if isinf(effort) else f'the effort limit {effort:g}, which is none'
        yield Finding(
            Kind.NO_EFFORT_LIMIT, subject, f'it has {has}, so that its efforts cannot be clamped')
    elif effort == 0.0:
        yield Finding(
            Kind.ZERO_EFFORT_LIMIT, subject,
            'its effort limit is 0, which would clamp every effort to 0')
    elif joint.limits.effort_defect(joint.type):
        yield Finding(
            Kind.HUGE_EFFORT_LIMIT, subject,
            f'its effort limit is {joint.limits.effort_defect(joint.type)}, which is more likely '
            'a placeholder than that of a motor, so that its efforts would not be clamped')
    for what, size in joint.limits.sizes.items():
        if size < 0.0 and what != 'effort':
            yield Finding(
                Kind.UNUSABLE, subject,
                f'its {what} limit is {size:g}, which counts as none: write a number above 0')
    if velocity == 0.0:
        yield Finding(
            Kind.ZERO_VELOCITY_LIMIT, subject,
            'its velocity limit is 0: planners and controllers that obey it never move the joint')


def _friction(subject: str, joint: JointDescription) -> Iterator[Finding]:
    limits = joint.limits.usable
    if joint.mimic is not None or joint.type.nv != 1 or limits.effort_defect(joint.type):
        return
    speed = 0.5 * limits.velocity if isfinite(limits.velocity) else 0.0
    friction = joint.friction + joint.damping * speed
    if friction > LARGE_FRICTION * limits.effort:
        unit = 'N' if joint.type.slides_along_axis else 'Nm'
        yield Finding(
            Kind.LARGE_FRICTION, subject,
            f'its friction at half its velocity limit is {friction:.4g} {unit}, '
            f'{friction / limits.effort:.0%} of its effort limit: is it that of the motor, or one '
            'that makes a simulation stable?')


def _positions(subject: str, joint: JointDescription) -> Iterator[Finding]:
    lower, upper = joint.limits.lower, joint.limits.upper
    if not joint.limits.are_positions:
        yield Finding(
            Kind.UNUSABLE, subject,
            f'its lower limit is {lower:g} and its upper one {upper:g}, so that no position is '
            'between them, and both count as none: '
            + ('swap them' if lower > upper else 'write numbers'))
        return
    if isinf(lower) or isinf(upper):
        yield Finding(
            Kind.NO_POSITION_LIMITS, subject,
            f'it is {joint.type.label} and has no {_missing(lower, upper)}: other ROS parsers '
            'take a missing limit as 0; add it'
            + (', or make the joint continuous' if joint.type.turns_about_axis else ''))
        return
    if lower == upper and joint.mimic is None:
        yield Finding(
            Kind.LOCKED, subject,
            f'its lower and upper limit are both {lower:g}: a controller that obeys them never '
            'moves the joint')
    largest = max(abs(lower), abs(upper))
    if joint.type.turns_about_axis and MAX_TURNS < largest < LIKE_NONE:
        yield Finding(
            Kind.UNITS, subject, f'its limits are {lower:g} and {upper:g} rad, '
            f'{largest / (2 * pi):.1f} turns: are they in degrees?')


def _missing(lower: float, upper: float) -> str:
    if lower == -inf and upper == inf:
        return 'position limits'
    return 'lower limit' if lower == -inf else 'upper limit'
