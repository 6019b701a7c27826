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
"""Findings about the mass, centre of mass and inertia of single links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import hypot

from ros2_rnea.dynamics.solid import (
    least_density,
    least_density_of_a_ball,
    Moments,
    moved_to_center,
    principal_moments,
    radius_of_gyration,
)
from ros2_rnea.model.description import Inertial, LinkDescription, RobotDescription
from ros2_rnea.model.tree import link_inertia
from ros2_rnea.offline.audit.findings import Finding, Kind
from ros2_rnea.spatial import Matrix, Vector

ROUNDING = 1e-6
"""Relative tolerance for inertias that were rounded when they were written."""

POINT = 1e-6
"""A body with a smaller radius of gyration than this [m] is a point mass."""

NEGLIGIBLE = 1e-4, 1e-6
"""Placeholders have masses [1] and inertias [m^2] below these, times the robot's mass."""

LIGHTEST, DENSEST = 10.0, 22_600.0
"""Range of plausible densities [kg/m^3]: expanded foam has 15, osmium 22 600."""

SPREAD = 150.0
"""The density [kg/m^3] of a ball above which an inertia raises no suspicion of being shifted."""

REMAINDER = 0.3
"""A thin rod has 1/4 of its inertia about the end left about the centre; some more."""

INERTIA_UNITS = {1e3: 'g m^2', 1e6: 'kg mm^2', 1e7: 'g cm^2', 1e9: 'g mm^2'}
"""Units in which programs write inertias, by how many of them one kg m^2 is."""

TYPICAL, USUAL = 1000.0, (100.0, 10_000.0)
"""The density of the ellipsoid of a link's inertia, and its range for nearly all [kg/m^3]."""

LIGHTEST_LINK = 0.002
"""A lighter link, or one of three equal moments, is a placeholder: no unit explains it [kg]."""

LIGHTEST_IN_GRAMS = 20.0
"""Nobody gives the mass of a lighter part than this in grams [g]."""

HEAVIEST, FARTHEST = 1000.0, 10.0
"""A link with a larger mass [kg] or distance [m] is more likely in grams or millimetres."""


def link_findings(description: RobotDescription) -> Iterator[Finding]:
    """Yield the findings about links, in the order of the description."""
    total = sum(link.inertial.mass for link in description.links if link.inertial)
    for link in description.links:
        if link.inertial is not None:
            yield from _findings(link, link.inertial, total)


def _findings(link: LinkDescription, inertial: Inertial, total: float) -> Iterator[Finding]:
    subject = f'link {link.name!r}'
    yield from _units(subject, inertial)
    at_center = inertia_in_link_axes(inertial)
    mass, moments = inertial.mass, principal_moments(at_center)
    impossible = _impossible(subject, mass, moments)
    if impossible:
        yield impossible
    elif mass > 0.0:
        share, area = NEGLIGIBLE
        if mass > share * total or moments[2] > area * total:
            yield from _scale(subject, inertial, at_center, moments)


def inertia_in_link_axes(inertial: Inertial) -> Matrix:
    """Return the inertia about the centre of mass in the axes of the link."""
    at_origin = replace(inertial, origin=replace(inertial.origin, xyz=(0.0, 0.0, 0.0)))
    return link_inertia(at_origin).I_origin


def _units(subject: str, inertial: Inertial) -> Iterator[Finding]:
    if inertial.mass > HEAVIEST:
        yield Finding(Kind.UNITS, subject, f'its mass is {inertial.mass:g} kg: is it in grams?')
    distance = hypot(*inertial.origin.xyz)
    if distance > FARTHEST:
        yield Finding(
            Kind.UNITS, subject,
            f'its centre of mass is {distance:g} m from its origin: is it in millimetres?')


def _impossible(subject: str, mass: float, moments: Moments) -> Finding | None:
    small, middle, large = moments
    slack = max(ROUNDING * max(abs(small), abs(large)), POINT * POINT * mass)
    numbers = (moment if abs(moment) > slack else 0.0 for moment in moments)
    shown = f'principal moments {", ".join(f"{moment:.4g}" for moment in numbers)} kg m^2'
    if small < -slack:
        return Finding(
            Kind.INERTIA_NEGATIVE, subject,
            f'its inertia is not positive: {shown}; check the signs and the off-diagonal elements',
            large - small)
    if small + middle < large - slack:
        return Finding(
            Kind.INERTIA_TRIANGLE, subject,
            f'its inertia is physically impossible: the largest of the {shown} exceeds the sum of '
            'the other two', large - small - middle)
    if mass == 0.0 and large > 0.0:
        return Finding(
            Kind.INERTIA_WITHOUT_MASS, subject,
            f'it has a rotational inertia but no mass: {shown}', large)
    return None


def _scale(
        subject: str, inertial: Inertial, at_center: Matrix, moments: Moments,
        ) -> Iterator[Finding]:
    mass, radius = inertial.mass, radius_of_gyration(inertial.mass, moments)
    if radius < POINT:
        yield Finding(
            Kind.POINT_MASS, subject, f'its mass of {mass:.4g} kg has no rotational inertia')
        return
    has = f'{mass:.4g} kg with a radius of gyration of {1e3 * radius:.3g} mm'
    if least_density(mass, moments) < LIGHTEST:
        yield Finding(
            Kind.TOO_LIGHT, subject,
            f'{has}: with a uniform density, that is {least_density(mass, moments):.2g} kg/m^3, '
            f'less than foam; {_inertia_in(mass, moments)}', moments[2])
    elif least_density_of_a_ball(mass, moments) > DENSEST:
        yield Finding(
            Kind.TOO_DENSE, subject,
            f'{has}: even as a ball, that is {least_density_of_a_ball(mass, moments):.2g} kg/m^3, '
            f'more than any metal; {_mass_in(mass, moments)}', moments[2])
    else:
        yield from _wrong_point(subject, inertial, at_center, moments)


def _inertia_in(mass: float, moments: Moments) -> str:
    """Say what is wrong with too large an inertia: its unit, where that explains it."""
    small, middle, large = moments
    densities = {least_density(mass, (small / factor, middle / factor, large / factor)): unit
                 for factor, unit in INERTIA_UNITS.items()}
    nearest = max(densities, key=lambda density: (
        min(density / TYPICAL, TYPICAL / density) if density else 0.0))
    is_placeholder = mass < LIGHTEST_LINK or large - small <= ROUNDING * large
    if USUAL[0] < nearest < USUAL[1] and not is_placeholder:
        return f'is the inertia in {densities[nearest]}?'
    return 'the inertia is too large or the mass too small'


def _mass_in(mass: float, moments: Moments) -> str:
    """Say what is wrong with too large a mass: its unit, where that explains it."""
    small, middle, large = (1e-3 * moment for moment in moments)
    if mass > LIGHTEST_IN_GRAMS and USUAL[0] < least_density(1e-3 * mass, moments) < USUAL[1]:
        return 'is the mass in grams?'
    if mass > LIGHTEST_IN_GRAMS and (
            USUAL[0] < least_density(1e-3 * mass, (small, middle, large)) < USUAL[1]):
        return 'are the mass and the inertia in g and g m^2?'
    return 'the inertia is too small or the mass too large'


def _wrong_point(
        subject: str, inertial: Inertial, at_center: Matrix, moments: Moments,
        ) -> Iterator[Finding]:
    """
    Yield a finding where the inertia is more plausible about the link's origin.

    If it is given about the origin, the inertia about the centre of mass is a small part of it,
    and still possible.  If it is given about the centre of mass, as URDF demands, the body has
    an implausibly low density.
    """
    mass, center = inertial.mass, Vector(*inertial.origin.xyz)
    shifted = principal_moments(moved_to_center(mass, center, at_center))
    small, middle, large = shifted
    slack = ROUNDING * moments[2]
    possible = small >= -slack and small + middle >= large - slack
    if (possible and large < REMAINDER * moments[2]
            and least_density_of_a_ball(mass, moments) < SPREAD):
        yield Finding(
            Kind.WRONG_POINT, subject,
            f'its inertia (largest principal moment {moments[2]:.3g} kg m^2) fits its mass and '
            "offset better about the link's origin; about the centre of mass, to which URDF "
            f'refers it, it would be {large:.3g}: check the reference point of the CAD export',
            moments[2] - large)
