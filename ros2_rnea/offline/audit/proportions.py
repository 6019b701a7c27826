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
"""Findings about links and rails that do not fit the links beside them, or their own length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass
from math import hypot, inf, isfinite, pi, sqrt

from ros2_rnea.dynamics.solid import least_density, Moments, principal_moments
from ros2_rnea.model.description import Inertial, RobotDescription
from ros2_rnea.model.tree import BASE, Body, Tree
from ros2_rnea.offline.audit.effects import ACCELERATION, weakest_turning
from ros2_rnea.offline.audit.findings import Finding, Kind
from ros2_rnea.offline.audit.links import DENSEST, inertia_in_link_axes, TYPICAL
from ros2_rnea.robots.arguments import STANDARD_GRAVITY

HEAVIER = 8.0
"""A link between two others is suspicious from this ratio of its mass to that of those beside."""

HEAVIER_LOADED, LARGE_LOAD = 4.0, 0.5
"""So it is from this ratio, if its weight needs more than that share of the effort limit."""

HEAVIER_DENSE = 2.0
"""So it is from this ratio, if the ellipsoid of its inertia is denser than any metal."""

PLACEHOLDER = 1e-3
"""Links beside with less than this share of the mass are passed over."""

HOLLOW = 300.0
"""Density [kg/m^3] of a ball that is as wide as a link may be besides its length."""

ALONG = 0.5
"""Radius of gyration of two masses, by their distance; that of a uniform rod is 0.29."""

NEEDLESS = 0.01
"""A share of the effort limit below which nobody has to care about an inertia."""

FARTHEST, BY_LENGTH = 2.0, 5.0
"""A centre of mass farther away than this [m], and this many lengths, may be in millimetres."""

LONGEST, SMALLEST = 200.0, 0.1
"""A rail longer than this, times the size of what moves [m, at least], may be in millimetres."""

LIKE_NONE = 1000.0
"""A position limit of at least this is taken as no limit [m]."""


def proportion_findings(
        description: RobotDescription, tree: Tree, doubted: Container[str]) -> Iterator[Finding]:
    """
    Yield the findings about what does not fit together, links before rails.

    :param tree: of the description; it is made with any link allowed to be massless.
    :param doubted: subjects about whose mass and inertia there is a finding already.
    """
    beside = _masses_beside(tree)
    ends = defaultdict(list)
    for joint in description.joints:
        ends[joint.parent].append(hypot(*joint.origin.xyz))
        ends[joint.child].append(hypot(*joint.origin.xyz))
    for link in description.links:
        subject, inertial = f'link {link.name!r}', link.inertial
        index = tree.links[link.name].body
        if index == BASE or inertial is None or not inertial.mass > 0.0 or subject in doubted:
            continue
        moments = principal_moments(inertia_in_link_axes(inertial))
        if not moments[0] >= 0.0 or not moments[2] > 0.0:
            continue
        part = _Part(
            link.name, inertial, moments, max(ends[link.name], default=0.0), tree, index,
            beside[index])
        finding = part.too_far() or part.too_heavy() or part.too_wide()
        if finding:
            yield finding
    yield from _rails(tree)


@dataclass
class _Neighbours:
    """The bodies beside one: whether there is one below, how many above, and the heaviest."""

    below: bool
    above: int
    heaviest: Body | None


def _masses_beside(tree: Tree) -> list[_Neighbours]:
    """Return what each body is compared with: two bodies before it, and two generations behind."""
    children: dict[int, list[int]] = defaultdict(list)
    for index, body in enumerate(tree.bodies):
        children[body.parent].append(index)
    found = []
    for index, body in enumerate(tree.bodies):
        below: list[int] = []
        parent = body.parent
        while parent != BASE and len(below) < 2:
            if tree.bodies[parent].inertia.m > PLACEHOLDER * body.inertia.m:
                below.append(parent)
            parent = tree.bodies[parent].parent
        above = children[index]
        near = [tree.bodies[i] for i in (
            *below, *above, *(i for child in above for i in children[child]))]
        heaviest = max(near, key=lambda one: one.inertia.m, default=None)
        found.append(_Neighbours(bool(below), len(above), heaviest))
    return found


@dataclass
class _Part:
    """One link with its mass, its principal moments and the length between its joints [m]."""

    link: str
    inertial: Inertial
    moments: Moments
    length: float
    tree: Tree
    index: int
    beside: _Neighbours

    def too_far(self) -> Finding | None:
        distance = hypot(*self.inertial.origin.xyz)
        reach = max(self.length, 3.0 * sqrt(self.moments[2] / self.inertial.mass))
        if not FARTHEST < distance > BY_LENGTH * reach:
            return None
        return Finding(
            Kind.UNITS, self.subject,
            f'its centre of mass is {distance:.3g} m from its origin, and its joints are '
            f'{self.length:.3g} m apart: is the centre in millimetres?')

    def too_heavy(self) -> Finding | None:
        mass, heaviest, body = self.inertial.mass, self.beside.heaviest, self._body
        if heaviest is None or not mass > HEAVIER_DENSE * heaviest.inertia.m:
            return None
        ratio = mass / heaviest.inertia.m if heaviest.inertia.m else inf
        density = least_density(mass, self.moments)
        lever = hypot(*self.inertial.origin.xyz)
        load = -STANDARD_GRAVITY[2] * mass * lever
        limit = body.limits.effort if body.type.turns_about_axis else inf
        is_dense = DENSEST < density < inf
        is_serial = self.beside.below and self.beside.above == 1 and body.type.turns_about_axis
        is_loaded = self.beside.above <= 1 and load > LARGE_LOAD * limit > 0.0
        if not (is_dense or ratio > HEAVIER and is_serial
                or ratio > HEAVIER_LOADED and is_loaded):
            return None
        total = sum(one.inertia.m for one in self.tree.bodies)
        text = (f'its {mass:.4g} kg are {mass / total:.0%} of the moving mass and {ratio:.3g} '
                f'times those that joint {heaviest.joint!r} carries beside it '
                f'({heaviest.inertia.m:.4g} kg)')
        if isfinite(limit) and limit > 0.0:
            text += (f', and on their lever of {lever:.3g} m need {load:.3g} Nm, '
                     f'{load / limit:.0%} of the limit of joint {body.joint!r}')
        if is_dense:
            text += f'; its inertia fits {mass * (TYPICAL / density) ** 0.4:.2g} kg better'
        return Finding(
            Kind.TOO_HEAVY, self.subject,
            f'{text}: weigh the part, or look its mass up in the data sheet')

    def too_wide(self) -> Finding | None:
        mass, largest = self.inertial.mass, self.moments[2]
        length = max(self.length, hypot(*self.inertial.origin.xyz))
        most = ALONG * length + (mass / (4.0 / 3.0 * pi * HOLLOW)) ** (1.0 / 3.0)
        radius = sqrt(largest / mass)
        if not self.beside.above or radius < most:
            return None
        weakest = weakest_turning(self.tree, self.index)
        if weakest is None or (
                ACCELERATION * self._turned_moment < NEEDLESS * weakest.limits.effort < inf):
            return None
        return Finding(
            Kind.TOO_WIDE, self.subject,
            f'its inertia of {largest:.3g} kg m^2 is that of {mass:.4g} kg at a radius of '
            f'gyration of {radius:.2g} m, but its length is {length:.2g} m: with this mass, at '
            f'most {mass * most * most:.2g} kg m^2 are plausible', largest)

    @property
    def subject(self) -> str:
        """Return how findings call it."""
        return f'link {self.link!r}'

    @property
    def _body(self) -> Body:
        return self.tree.bodies[self.index]

    @property
    def _turned_moment(self) -> float:
        """Return the largest moment about an axis that the link is turned about [kg m^2]."""
        if self._body.parent != BASE or not self._body.type.turns_about_axis:
            return self.moments[2]  # about any axis, in some position
        axis = self.tree.links[self.link].X_body_to_link.E @ self._body.axis
        return axis.dot(inertia_in_link_axes(self.inertial) @ axis)


def _rails(tree: Tree) -> Iterator[Finding]:
    sizes = [0.0] * len(tree.bodies)
    for index in reversed(range(len(sizes))):
        body = tree.bodies[index]
        rows = body.inertia.I_origin.rows
        trace = rows[0].x + rows[1].y + rows[2].z
        own = sqrt(max(0.5 * trace / body.inertia.m, 0.0)) if body.inertia.m else 0.0
        size = sizes[index] = max(sizes[index], own)
        if body.parent != BASE:
            offset = sqrt(body.X_tree.r.dot(body.X_tree.r))
            sizes[body.parent] = max(sizes[body.parent], offset + size)
        lower, upper = body.limits.lower, body.limits.upper
        largest = max(abs(lower), abs(upper))
        if body.type.slides_along_axis and (
                LONGEST * max(size, SMALLEST) < largest < LIKE_NONE):
            yield Finding(
                Kind.UNITS, f'joint {body.joint!r}',
                f'its limits are {lower:g} and {upper:g} m, and what it moves reaches {size:.2g} '
                'm: are they in millimetres?')
