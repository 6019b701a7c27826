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
"""The robots of the package are the ones that they claim to be."""

import numpy as np
import pytest

from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.models import MODELS, ur5

# As in the manufacturer's table: a [m], d [m], alpha [rad].
UR5_TABLE = ((0.0, 0.089159, np.pi / 2), (-0.425, 0.0, 0.0), (-0.39225, 0.0, 0.0),
             (0.0, 0.10915, np.pi / 2), (0.0, 0.09465, -np.pi / 2), (0.0, 0.0823, 0.0))


def denavit_hartenberg(theta, a, d, alpha):
    """Return the transform of one row of the table."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s],
                     [0.0, sa, ca, d], [0.0, 0.0, 0.0, 1.0]])


@pytest.mark.parametrize('q', [np.zeros(6), np.array([0.3, -1.2, 1.5, -0.7, 0.9, 2.0])])
def test_the_flange_of_the_ur5_is_where_expected(q):
    pose = np.eye(4)
    for theta, row in zip(q, UR5_TABLE):
        pose = pose @ denavit_hartenberg(theta, *row)
    flange = Robot.from_urdf(ur5().urdf).link_poses(q)['tool0']
    assert flange.position == pytest.approx(pose[:3, 3], abs=1e-12)
    assert flange.rotation == pytest.approx(pose[:3, :3], abs=1e-12)


@pytest.mark.parametrize('name', MODELS)
def test_a_model_names_its_own_link_and_pose(name):
    model = MODELS[name]()
    robot = Robot.from_urdf(model.urdf)
    assert model.tip in robot.link_names
    assert len(model.start) == len(robot.joint_names)
