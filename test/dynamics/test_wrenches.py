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
"""External wrenches: whatever frame they are given in, on the right body and in its frame."""

from __future__ import annotations

import numpy as np
import pytest
from ros2_rnea.dynamics.wrenches import body_forces, weight, WORLD
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.spatial import Force, Vector
from small_robots import joint, link, robot

# Two turning links and a camera that is fixed 0.3 m above the second, all along z; a fixed foot.
TREE_TEXT = robot(
    link('floor'), link('foot'), link('lower'), link('upper'), link('camera'),
    joint('mount', 'floor', 'foot', kind='fixed'), joint('knee', 'foot', 'lower', axis='0 0 1'),
    joint('hip', 'lower', 'upper', axis='1 0 0'), joint('screws', 'upper', 'camera', kind='fixed'))
TREE = build_tree(parse_urdf(TREE_TEXT))
FLOATING = build_tree(parse_urdf(TREE_TEXT), floating_base=True)
LOWER, UPPER = TREE.joints['knee'], TREE.joints['hip']
STRAIGHT = [0.0, 0.0]
QUARTER = np.pi / 2


def force(moment, push):
    return Force(Vector(*moment), Vector(*push))


def forces(q, tree=TREE, **wrenches):
    """Return [moment; force] by body for wrenches given by link as (moment, force, frame)."""
    given = {link: (force(m, f), frame) for link, (m, f, frame) in wrenches.items()}
    return {body: np.array([*f.moment, *f.force])
            for body, f in body_forces(tree, q, given).items()}


def near(actual, *expected):
    np.testing.assert_allclose(actual, np.concatenate(expected), atol=1e-14)


def test_in_its_own_frame_a_wrench_stays():
    (upper,) = forces(STRAIGHT, upper=((1, 2, 3), (4, 5, 6), 'upper')).values()
    assert upper.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_wrench_on_a_fixed_link_has_its_lever():
    by_body = forces([1.0, 2.0], camera=((0, 0, 0), (10, 0, 0), 'camera'))
    assert list(by_body) == [UPPER]
    near(by_body[UPPER], (0, 3, 0), (10, 0, 0))


def test_the_frame_says_where_and_the_link_says_on_what():
    """A push at the camera's origin, in its axes, that acts on the lower link."""
    by_body = forces(STRAIGHT, lower=((0, 0, 0), (10, 0, 0), 'camera'))
    assert list(by_body) == [LOWER]
    near(by_body[LOWER], (0, 6, 0), (10, 0, 0))


def test_another_link_s_frame_turns_with_that_link():
    """The hip turns the upper link by a quarter about x: its y is the lower link's z."""
    near(forces([0.0, QUARTER], lower=((0, 0, 0), (0, 10, 0), 'upper'))[LOWER],
         (0, 0, 0), (0, 0, 10))


def test_in_the_world_s_frame_moments_are_about_its_origin():
    """The lower link is 0.6 m above the ground and turned left: the world's x is its −y."""
    near(forces([QUARTER, 0.0], lower=((0, 0, 0), (10, 0, 0), WORLD))[LOWER],
         (-6, 0, 0), (0, -10, 0))


def test_the_frame_of_a_ground_link_may_be_used():
    near(forces(STRAIGHT, lower=((0, 0, 0), (10, 0, 0), 'foot'))[LOWER], (0, -3, 0), (10, 0, 0))


def test_wrenches_on_links_of_one_body_add():
    by_body = forces(
        STRAIGHT, upper=((1, 0, 0), (0, 0, 7), 'upper'), camera=((0, 0, 2), (0, 0, 3), 'camera'))
    assert list(by_body) == [UPPER]
    near(by_body[UPPER], (1, 0, 2), (0, 0, 10))


def test_wrenches_on_several_bodies_stay_apart():
    by_body = forces(
        STRAIGHT, upper=((1, 0, 0), (0, 0, 0), 'upper'), lower=((2, 0, 0), (0, 0, 0), 'lower'))
    assert {body: f[0] for body, f in by_body.items()} == {UPPER: 1, LOWER: 2}


@pytest.mark.parametrize('link_name', ['floor', 'foot'])
@pytest.mark.parametrize('frame', [WORLD, 'camera'])
def test_what_acts_on_the_ground_acts_on_no_body(link_name, frame):
    assert forces(STRAIGHT, **{link_name: ((1, 2, 3), (4, 5, 6), frame)}) == {}


def test_a_floating_base_feels_a_wrench_on_its_root():
    """A base that is turned left and 2 m ahead: the world's y is its x."""
    half = np.sqrt(0.5)
    q = [2.0, 0.0, 0.0, 0.0, 0.0, half, half, 0.0, 0.0]
    near(forces(q, FLOATING, foot=((0, 0, 0), (0, 10, 0), WORLD))[0], (0, 0, -20), (10, 0, 0))


def test_a_weight_s_lever_is_that_of_its_centre():
    assert [*weight(2.0, Vector(0.5, 0.0, 7.0), Vector(0.0, 0.0, -10.0))] == [
        0.0, 10.0, 0.0, 0.0, 0.0, -20.0]
