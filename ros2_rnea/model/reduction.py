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
A tree that needs the same efforts as another, of all motions, and costs less to compute.

A description leaves two things open.  *Frames*: the orientation of a body's frame changes no
effort; with each joint's axis along z, many coordinates are 0.  *Inertia*: a part of a body's
inertia that the motion of its joint does not change, and that does not affect the joint's effort,
can be moved to the parent (Khalil and Dombre, *Modeling, Identification and Control of Robots*,
2002, section 9.4: the base inertial parameters).

Quantities that are determined by efforts are those of the original tree: the mass matrix, C and
forward dynamics.  Energies, the centre of mass and the wrenches within joints differ, and the
inertias are no longer those of single bodies.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from types import MappingProxyType

from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import BASE, Body, LinkFrame, MASSLESS, Tree
from ros2_rnea.spatial import (
    IDENTITY,
    Inertia,
    Matrix,
    NO_TRANSFORM,
    Transform,
    Vector,
    ZERO,
)

AXES = X_AXIS, Y_AXIS, Z_AXIS = IDENTITY.rows

ROUNDING = 1e-14
"""Coordinates this close to 0, 1 or -1 are set to that number, to remove rounding errors."""


def reduced(tree: Tree) -> Tree:
    """Return a tree that needs the same efforts and costs less to compute."""
    return with_regrouped_inertia(with_axes_along_z(tree))


def with_axes_along_z(tree: Tree) -> Tree:
    """Return the tree with the frames of its bodies turned, so that joint axes are z."""
    turns = [_turn_to_axis(body) for body in tree.bodies]  # X from a body's old frame to its new

    def from_new_frame(X: Transform, body: int) -> Transform:
        return X if body == BASE else X @ turns[body].inverse()

    return replace(
        tree,
        bodies=tuple(
            replace(
                body,
                X_tree=_without_rounding(turn @ from_new_frame(body.X_tree, body.parent)),
                axis=Z_AXIS if body.type.axis_is_line else body.axis,
                inertia=turn.inverse().to_parent(body.inertia))
            for body, turn in zip(tree.bodies, turns)),
        links=MappingProxyType({
            name: LinkFrame(
                frame.body, _without_rounding(from_new_frame(frame.X_body_to_link, frame.body)))
            for name, frame in tree.links.items()}))


def with_regrouped_inertia(tree: Tree) -> Tree:
    """Return the tree, whose joint axes are z, with inertia moved towards the base."""
    inertias = [body.inertia for body in tree.bodies]
    for i in reversed(range(len(inertias))):
        body = tree.bodies[i]
        inertias[i], moved = _split(body.type, inertias[i])
        if body.parent != BASE:
            inertias[body.parent] = inertias[body.parent] + body.X_tree.to_parent(moved)
    return replace(tree, bodies=tuple(
        replace(body, inertia=inertia) for body, inertia in zip(tree.bodies, inertias)))


def _turn_to_axis(body: Body) -> Transform:
    """Return X into a frame whose z is the joint's axis; along a coordinate axis it is exact."""
    if not body.type.axis_is_line:
        return NO_TRANSFORM
    z = body.axis
    largest = max(range(3), key=[abs(number) for number in z].__getitem__)
    across = AXES[(largest + 1) % 3]
    x = across - z * across.dot(z)
    x = x * (1.0 / sqrt(x.dot(x)))
    return Transform(Matrix(x, z.cross(x), z), ZERO)


def _split(type_: JointType, whole: Inertia) -> tuple[Inertia, Inertia]:
    """
    Return an inertia in two parts: the one that must stay, and the one that the parent can have.

    For a rotation about z the latter is a rod on the axis, which does not resist the rotation and
    is not changed by it.  For a translation it is the part without mass, which has no position.
    """
    if type_.slides_along_axis:
        return Inertia(whole.m, whole.h, MASSLESS.I_origin), Inertia(0.0, ZERO, whole.I_origin)
    if not type_.turns_about_axis:
        return whole, MASSLESS
    x, y, z = whole.I_origin.rows
    rod = whole.second_moment.rows[2].z
    about_x, about_y = x.x - rod, y.y - rod
    staying = Matrix(
        Vector(about_x, x.y, x.z),
        Vector(y.x, about_y, y.z),
        Vector(z.x, z.y, about_x + about_y))  # no second moment along z, exactly
    moving = Matrix(X_AXIS * rod, Y_AXIS * rod, ZERO)
    return (Inertia(0.0, Vector(whole.h.x, whole.h.y, 0.0), staying),
            Inertia(whole.m, Z_AXIS * whole.h.z, moving))


def _without_rounding(X: Transform) -> Transform:
    return Transform(Matrix(*map(_rounded, X.E.rows)), _rounded(X.r))


def _rounded(v: Vector) -> Vector:
    return Vector(*(
        next((whole for whole in (0.0, 1.0, -1.0) if abs(number - whole) < ROUNDING), number)
        for number in v))
