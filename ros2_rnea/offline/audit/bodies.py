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
"""Findings about rigid bodies: without mass or inertia, or with mass on the root link."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ros2_rnea.model.description import RobotDescription
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.offline.audit.findings import Finding, Kind


def body_findings(
        description: RobotDescription,
        tree: Tree,
        massless_links: Collection[str] = ()) -> Iterator[Finding]:
    """
    Yield the findings about bodies, the base first.

    :param tree: of the description; it is made with any link allowed to be massless.
    :param massless_links: links that the user allows to move without an ``<inertial>``.
    """
    if tree.bodies and not massless_links and all(
            link.inertial is None for link in description.links):
        yield Finding(
            Kind.NO_INERTIAL, f'robot {description.name!r}',
            'no link has an <inertial>: the description is one of shapes, without the masses that '
            'efforts follow from; use one with masses')
        return
    yield from _root(description, tree)
    for closing in description.open_loops:
        yield Finding(
            Kind.OPEN_LOOP, f'robot {description.name!r}',
            f"{closing}: a tree of joints has no loops; the library's ClosedChain closes it")
    described = {tree.links[link.name].body for link in description.links
                 if link.inertial is not None or link.name in massless_links}
    links_of: dict[int, list[str]] = {}
    for name, frame in tree.links.items():
        links_of.setdefault(frame.body, []).append(repr(name))
    moved = moved_masses(tree)
    for index, body in enumerate(tree.bodies):
        subject = f'joint {body.joint!r}'
        if index not in described:
            links = ', '.join(links_of[index])
            yield Finding(
                Kind.NO_INERTIAL, subject,
                f'it moves link {links} without <inertial>, so that its effort cannot be '
                'computed; give the link an <inertial>, or name it in massless_links')
        elif moved[index] == 0.0 and body.joint in tree.joints:
            yield Finding(
                Kind.NOTHING_MOVED, subject,
                'all links that it moves are massless: its effort is always 0, and its '
                'acceleration is undefined')
        elif body.inertia.m == 0.0 and moved[index] > 0.0:
            yield Finding(
                Kind.MASSLESS_BODY, subject,
                f'its child link {body.link!r} is massless; the mass that it moves is on links '
                'behind further joints')


def _root(description: RobotDescription, tree: Tree) -> Iterator[Finding]:
    for link in description.links:
        if link.name == tree.root and link.inertial is not None and link.inertial.mass > 0.0:
            yield Finding(
                Kind.ROOT_INERTIA, f'link {link.name!r}',
                f'the root link has a mass of {link.inertial.mass:.4g} kg: on a fixed base it '
                'loads no joint; KDL ignores it even on a floating base, unless a link without '
                'inertia is added above it')


def moved_masses(tree: Tree) -> list[float]:
    """Return the mass that each joint moves: its body and all descendants [kg]."""
    moved = [body.inertia.m for body in tree.bodies]
    for index in reversed(range(len(moved))):
        parent = tree.bodies[index].parent
        if parent != BASE:
            moved[parent] += moved[index]
    return moved
