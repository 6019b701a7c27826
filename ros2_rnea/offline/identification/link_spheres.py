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
Where the mass of a body can be: a sphere that encloses what the description says of it.

A body fits into a sphere where a sum of its ten parameters is positive, whose factors depend on
the sphere only (:func:`.about_sphere`): P. M. Wensing, S. Kim and J.-J. E. Slotine, "Linear Matrix
Inequalities for Physically Consistent Inertial Parameter Identification: A Statistical Perspective
on the Mass Distribution", IEEE Robotics and Automation Letters 3(1), 2018.  This bounds the centre
of mass and the inertia for each kilogram, but not the mass.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, sqrt

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import about_sphere
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Vector

MARGIN, AT_AN_END = 0.1, 0.3
"""
Shares of the length of the robot by which radii are larger: for housings, and at the last body of
a chain for a tool that is not described.
"""


def ends_of_bodies(tree: Tree) -> tuple[list[np.ndarray], np.ndarray]:
    """
    Return points of each body, and the margin around them.

    The points are the origins of its joints and links, rails over their whole length, and the end
    of a body that reaches as far beyond its centre of mass as its joint is on this side.

    :return: points in the axes of each body, shapes (points, 3) [m]; and the margin of each
        body, shape (bodies,) [m], 0 where the description has no lengths.
    """
    ends: list[list[Vector]] = [[] for _ in tree.bodies]
    before = [0.0] * len(tree.bodies)  # how far the joint of a body is from the first one
    for index, body in enumerate(tree.bodies):
        limits = (body.limits.lower, body.limits.upper)
        travel = [0.0, *(filter(isfinite, limits) if body.type.slides_along_axis else ())]
        ends[index] += [body.axis * -distance for distance in travel]
        if body.inertia.m > 0.0:
            ends[index].append(body.inertia.h * (2.0 / body.inertia.m))
        if body.parent != BASE:
            along = body.X_tree.E.transpose_times(body.axis)
            joint = [body.X_tree.r + along * distance for distance in travel]
            ends[body.parent] += joint
            before[index] = before[body.parent] + _farthest(joint)
    for frame in tree.links.values():
        if frame.body != BASE:
            ends[frame.body].append(frame.X_body_to_link.r)
    length = max((first + _farthest(own) for first, own in zip(before, ends)), default=0.0)
    parents = {body.parent for body in tree.bodies}
    shares = [MARGIN if index in parents else AT_AN_END for index in range(len(tree.bodies))]
    return [np.array([[*end] for end in own]) for own in ends], length * np.array(shares)


def sphere_around(ends: np.ndarray, margin: float, reference: np.ndarray) -> np.ndarray:
    """
    Return ten factors of the parameters of a body, whose sum is positive if it fits into a sphere.

    The sphere is around the middle of the two ends that are farthest apart.  It encloses all ends
    with a margin, and the reference so that the sum is at least half of that of its mass alone in
    the middle.

    :param ends: of the body, shape (points, 3) [m].
    :param margin: around them [m].
    :param reference: the ten parameters that the description says, consistent.
    """
    apart = np.linalg.norm(ends[:, np.newaxis] - ends, axis=2)
    center = ends[[*np.unravel_index(apart.argmax(), apart.shape)]].mean(axis=0)
    radius = np.linalg.norm(ends - center, axis=1).max() + margin
    mean_square = -float(about_sphere(center, 0.0) @ reference) / reference[0]  # of distances
    return about_sphere(center, max(radius, sqrt(max(2.0 * mean_square, 0.0))))


def _farthest(points: Iterable[Vector]) -> float:
    return max(float(np.linalg.norm([*point])) for point in points)
