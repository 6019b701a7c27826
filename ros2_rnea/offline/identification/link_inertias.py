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
"""
The inertias of links, of which the identified inertia of a body is the sum.

A body may be several links that fixed joints hold together.  The difference to the file goes to
one of them, and the others keep what the file says:

1. to the link that the moving joint carries, if it has an ``<inertial>``, or no link of the body
   has one;
2. if it has none, or would then have an inertia that no body has, to the heaviest link for which
   this is not so;
3. if there is no such link, the heaviest one takes the difference, and the masses and inertias of
   the others are multiplied by one factor: half of the largest one that leaves to the heaviest an
   inertia that a body can have.  Their centres of mass stay.

In all cases the inertia of the body, which is all that efforts depend on, is the identified one.
Where a link could not take the difference, a remark says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import inertial_of, pseudo_inertia
from ros2_rnea.dynamics.regressor import parameters_of
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.description import Inertial, LinkDescription
from ros2_rnea.model.tree import Body, link_inertia, MASSLESS, Tree
from ros2_rnea.spatial import Inertia
import scipy.linalg

SAME = 1e-13
"""Numbers whose relative difference is less than this are equal, except for rounding."""


def links_of_body(
        tree: Tree, index: int, links: Mapping[str, LinkDescription],
        ) -> tuple[dict[str, Inertial], list[str]]:
    """
    Return the inertials of a body's links that change, by name, and remarks about them.

    :param tree: with the identified inertias.
    :param index: of the body.
    :param links: of the file, by name.
    :raises DescriptionError: where a link would have no mass, or less.
    """
    body = tree.bodies[index]
    inertials = {
        name: inertial for name, frame in tree.links.items() if frame.body == index
        for inertial in (links[name].inertial,) if inertial is not None}
    in_body = {name: tree.links[name].X_body_to_link.to_parent(link_inertia(inertial))
               for name, inertial in inertials.items()}
    if _same(body.inertia, _total(in_body.values())):
        return {}, []
    heaviest_first = sorted(in_body, key=lambda name: -in_body[name].m)
    own_first = sorted(heaviest_first, key=lambda name: name != body.link) or [body.link]
    others = {name: _total(inertia for link, inertia in in_body.items() if link != name)
              for name in own_first}
    try:
        shares = {name: _largest_share(others[name], body.inertia) for name in own_first}
    except scipy.linalg.LinAlgError:  # no part of a body that is impossible tells anything
        name = own_first[0]
        return {name: _rest(tree, body, name, others[name])}, [
            f'the inertia of what joint {body.joint!r} moves is one that no body has']
    able = next((name for name in own_first if shares[name] < 1.0), None)
    if able is not None:
        return {able: _rest(tree, body, able, others[able])}, [
            f'link {own_first[0]!r} could not take the change without an inertia that no body '
            f'has, so link {able!r}, which is fixed to it, has taken it'][:able != own_first[0]]
    heaviest, *reduced = heaviest_first
    factor = 0.5 / shares[heaviest]
    changed = {name: _scaled(inertials[name], factor) for name in reduced}
    changed[heaviest] = _rest(tree, body, heaviest, others[heaviest] * factor)
    return changed, [
        f'no link of what joint {body.joint!r} moves could take the change alone, so the masses '
        f'and inertias of {", ".join(map(repr, reduced))} are {factor:.3g} times those of the '
        f'file, and link {heaviest!r} has the rest']


def _total(inertias: Iterable[Inertia]) -> Inertia:
    return sum(inertias, start=MASSLESS)


def _same(one: Inertia, other: Inertia) -> bool:
    a, b = np.array(parameters_of(one)), np.array(parameters_of(other))
    return all(np.abs(a[part] - b[part]).max() <= SAME * np.abs(b[part]).max()
               for part in (slice(0, 1), slice(1, 4), slice(4, 10)))


def _largest_share(part: Inertia, whole: Inertia) -> float:
    """
    Return the least s for which s times the whole can have the part in it; below 1 it fits.

    It is the largest generalized eigenvalue of the pseudo-inertias.

    :raises scipy.linalg.LinAlgError: where the whole is an inertia that no body has.
    """
    J_part = pseudo_inertia(parameters_of(part))
    J_whole = pseudo_inertia(parameters_of(whole))
    return float(scipy.linalg.eigh(J_part, J_whole, eigvals_only=True)[-1])


def _rest(tree: Tree, body: Body, link: str, others: Inertia) -> Inertial:
    """Return the inertial of a link, in its axes, that makes the inertia of its body complete."""
    rest = tree.links[link].X_body_to_link.inverse().to_parent(body.inertia - others)
    if rest.m <= 0.0:
        raise DescriptionError(
            f'link {link!r} would have the mass {rest.m:.6g} kg, which no URDF can say: what '
            f'joint {body.joint!r} moves has {body.inertia.m:.6g} kg, and the links fixed to this '
            f'one have {others.m:.6g} kg; make the parameters physically consistent')
    return inertial_of(parameters_of(rest))


def _scaled(inertial: Inertial, factor: float) -> Inertial:
    ixx, ixy, ixz, iyy, iyz, izz = (factor * number for number in inertial.inertia)
    return replace(
        inertial, mass=factor * inertial.mass, inertia=(ixx, ixy, ixz, iyy, iyz, izz))
