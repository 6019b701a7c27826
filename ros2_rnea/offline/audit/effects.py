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
"""The effect of a finding on efforts: whether one has to care."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from ros2_rnea.model.tree import BASE, Body, Tree
from ros2_rnea.offline.audit.findings import Finding
from ros2_rnea.robots.robot import Robot

ACCELERATION = 10.0
"""Acceleration at which the effect of an inertia is told [rad/s^2]: a brisk motion of an arm."""


def with_effect(finding: Finding, robot: Robot) -> Finding:
    """
    Return a finding with its effect on efforts.

    An inertia about the centre of mass has none in gravity.  A joint that turns the link needs
    no more for it than its largest moment times the acceleration, whatever the pose.
    """
    if not finding.moment:
        return replace(finding, effect=finding.kind.effect)
    link = finding.subject.split("'")[1]
    weakest = (weakest_turning(robot.tree, robot.tree.links[link].body)
               if link in robot.tree.links else None)
    if weakest is None:
        return replace(finding, effect='none: no joint turns it')
    effort = ACCELERATION * finding.moment
    share = effort / weakest.limits.effort if weakest.limits.effort else 0.0
    of_limit = f', {_percent(share)} of its limit' if share else ''
    return replace(finding, effect=(
        f'none in gravity; at {ACCELERATION:g} rad/s^2, at most {effort:.2g} Nm at joint '
        f'{weakest.joint!r}{of_limit}'))


def weakest_turning(tree: Tree, index: int) -> Body | None:
    """Return the body whose joint has the least to give of those that turn a body, if any does."""
    return min(_turning(tree, index), key=lambda body: body.limits.effort or inf, default=None)


def _turning(tree: Tree, index: int) -> Iterator[Body]:
    """Yield the bodies whose joints turn a body, the nearest first."""
    while index != BASE:
        body = tree.bodies[index]
        if body.type.turns_about_axis:
            yield body
        index = body.parent


def _percent(share: float) -> str:
    return 'less than 0.1 %' if share < 1e-3 else f'{100.0 * share:.2g} %'
