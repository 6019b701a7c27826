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
"""Links on fixed joints are one body with the link that carries them: merged here by hand."""

from __future__ import annotations

from dataclasses import replace

from comparison import assert_differs, assert_same
import numpy as np
import pytest
from random_robots import random_joint, random_link, random_serial_arm, random_states
from ros2_rnea.robots.robot import Robot
from rotations import rotation_from_rpy, rpy_from_rotation
from seeds import for_seeds

SEEDS = for_seeds(10)

# where the fixed joints are: link that carries them, number of links in a row
PLACES = {
    'root': ('link_0', 1), 'middle': ('link_2', 1), 'leaf': ('link_4', 1),
    'two in a row': ('link_2', 2),
}


def with_fixed_links(robot, carrier, count, rng):
    """Return the robot with links on fixed joints between ``carrier`` and its children."""
    links, joints = list(robot.links), list(robot.joints)
    below = carrier
    for i in range(count):
        link = random_link(rng, f'extra_{i}')
        joints.append(random_joint(rng, f'fixed_{i}', 'fixed', below, link.name))
        links.append(link)
        below = link.name
    joints = [replace(joint, parent=below)
              if joint.parent == carrier and joint.kind != 'fixed' else joint for joint in joints]
    return replace(robot, links=tuple(links), joints=tuple(joints))


def merged(robot):
    """Return the robot with each fixed joint's child merged into its parent."""
    while any(joint.kind == 'fixed' for joint in robot.joints):
        robot = _merge_one(robot, next(j for j in robot.joints if j.kind == 'fixed'))
    return robot


def _merge_one(robot, fixed):
    R, p = rotation_from_rpy(fixed.rpy), fixed.xyz
    parent, child = robot.link(fixed.parent), robot.link(fixed.child)
    both = _joined(parent, child.mass, p + R @ child.com, R @ child.inertia_in_link_axes() @ R.T)
    joints = [
        replace(joint, parent=parent.name, xyz=p + R @ joint.xyz,
                rpy=rpy_from_rotation(R @ rotation_from_rpy(joint.rpy)))
        if joint.parent == child.name else joint
        for joint in robot.joints if joint is not fixed]
    links = [both if link is parent else link for link in robot.links if link is not child]
    return replace(robot, links=tuple(links), joints=tuple(joints))


def _joined(link, mass, com, inertia):
    """Return the link with another body, given in the link's axes, by the theorem of Steiner."""
    total = link.mass + mass
    center = (link.mass * link.com + mass * com) / total

    def about_center(m, c, about_com):
        r = c - center
        return about_com + m * (r @ r * np.eye(3) - np.outer(r, r))

    whole = (about_center(link.mass, link.com, link.inertia_in_link_axes())
             + about_center(mass, com, inertia))
    return replace(link, mass=total, com=center, rpy=np.zeros(3), inertia=whole)


@SEEDS
@pytest.mark.parametrize('floating_base', [False, True], ids=['fixed base', 'floating base'])
@pytest.mark.parametrize('place', PLACES)
def test_fixed_joints_equal_links_merged_by_hand(place, floating_base, seed):
    carrier, count = PLACES[place]
    arm = random_serial_arm(seed, size=4)
    data = with_fixed_links(arm, carrier, count, np.random.default_rng(seed))
    robot = Robot.from_urdf(data.urdf(), floating_base=floating_base)
    by_hand = Robot.from_urdf(merged(data).urdf(), floating_base=floating_base)
    assert robot.joint_names == by_hand.joint_names
    states = random_states(seed, data.columns(floating_base), 10)
    expected = by_hand.inverse_dynamics(*states)
    assert_same(robot.inverse_dynamics(*states), expected, f'seed {seed}')
    # The extra links matter: without them the efforts are others.
    assert_differs(
        Robot.from_urdf(arm.urdf(), floating_base).inverse_dynamics(*states), expected)


@SEEDS
def test_a_wrench_on_a_fixed_link_acts_on_its_body(seed):
    arm = random_serial_arm(seed, size=4)
    rng = np.random.default_rng(seed)
    data = with_fixed_links(arm, 'link_2', 1, rng)
    robot = Robot.from_urdf(data.urdf())
    fixed = data.joint('fixed_0')
    R = rotation_from_rpy(fixed.rpy)
    wrench = rng.normal(size=6) * 20.0
    force = R @ wrench[3:]
    on_carrier = np.concatenate([R @ wrench[:3] + np.cross(fixed.xyz, force), force])
    state = random_states(seed, data.columns())
    assert_same(robot.inverse_dynamics(*state, f_ext={'extra_0': wrench}),
                robot.inverse_dynamics(*state, f_ext={'link_2': on_carrier}), f'seed {seed}')
