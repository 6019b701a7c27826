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
"""The spatial oracle knows the seven joint types of its document; Pinocchio agrees on each."""

from __future__ import annotations

from comparison import assert_same
import numpy as np
import pytest
from random_robots import random_axis, random_link
from rotations import rotation_from_rpy
from spatial_recursion import (
    GRAVITY,
    motion_transform,
    spatial_inertia,
    spatial_rnea,
    SpatialTree,
)

pinocchio = pytest.importorskip('pinocchio')

# kind: nq, nv
JOINTS = {
    'revolute': (1, 1), 'prismatic': (1, 1), 'helical': (1, 1), 'cylindrical': (2, 2),
    'planar': (3, 3), 'spherical': (4, 3), 'floating': (7, 6),
}


def pinocchio_joint(kind, axis):
    """Return Pinocchio's model of a joint."""
    composite = pinocchio.JointModelComposite()
    if kind == 'cylindrical':
        composite.addJoint(pinocchio.JointModelRevoluteUnaligned(axis))
        composite.addJoint(pinocchio.JointModelPrismaticUnaligned(axis))
    return {
        'revolute': lambda: pinocchio.JointModelRevoluteUnaligned(axis),
        'prismatic': lambda: pinocchio.JointModelPrismaticUnaligned(axis),
        'helical': lambda: pinocchio.JointModelHelicalUnaligned(axis, 1.0 / (2.0 * np.pi)),
        'cylindrical': lambda: composite,
        'planar': pinocchio.JointModelPlanar,
        'spherical': pinocchio.JointModelSpherical,
        'floating': pinocchio.JointModelFreeFlyer,
    }[kind]()


def pinocchio_position(kind, q):
    """Return a joint's position as Pinocchio has it."""
    if kind == 'planar':
        return np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])])
    return q


def pinocchio_order(kind, vector):
    """Swap [angular; linear] and [linear; angular] where a joint has both."""
    return vector[[3, 4, 5, 0, 1, 2]] if kind == 'floating' else vector


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('kind', JOINTS)
def test_joint_type_agrees_with_pinocchio(kind, seed):
    """A revolute joint, the joint in question, a revolute joint: nothing is aligned or still."""
    rng = np.random.default_rng(seed)
    kinds = ['revolute', kind, 'revolute']
    tree = SpatialTree([None], [0], [None], [None], [None], [None])
    model = pinocchio.Model()
    q, qd, qdd, f_ext = [None], [np.zeros(0)], [np.zeros(0)], [None]
    for i, name in enumerate(kinds):
        link, axis, xyz = random_link(rng, f'link_{i}'), random_axis(rng), rng.normal(size=3)
        R = rotation_from_rpy(rng.uniform(-3.0, 3.0, 3))
        tree.parent.append(i)
        tree.kind.append(name)
        tree.X_tree.append(motion_transform(R, xyz))
        tree.axis.append(axis)
        inertia = link.inertia_in_link_axes()
        tree.inertia.append(spatial_inertia(link.mass, link.com, inertia))
        joint = model.addJoint(i, pinocchio_joint(name, axis), pinocchio.SE3(R, xyz), f'j{i}')
        model.appendBodyToJoint(
            joint, pinocchio.Inertia(link.mass, link.com, inertia), pinocchio.SE3.Identity())
        nq, nv = JOINTS[name]
        position = rng.uniform(-3.0, 3.0, nq)
        if nq > nv:
            position[-4:] /= np.linalg.norm(position[-4:])
        q.append(position)
        qd.append(rng.uniform(-3.0, 3.0, nv))
        qdd.append(rng.uniform(-3.0, 3.0, nv))
        f_ext.append(np.zeros(6))

    tau, _ = spatial_rnea(tree, q, qd, qdd, f_ext, GRAVITY)

    expected = pinocchio.rnea(
        model, model.createData(),
        np.concatenate([pinocchio_position(*pair) for pair in zip(kinds, q[1:])]),
        *(np.concatenate([pinocchio_order(*pair) for pair in zip(kinds, rates[1:])])
          for rates in (qd, qdd)))
    assert_same(np.concatenate([pinocchio_order(*pair) for pair in zip(kinds, tau[1:])]),
                expected)
