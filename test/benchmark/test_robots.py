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
"""Descriptions lose what peers disagree about, and nothing else."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from xml.etree import ElementTree

from benchmark.chains import chain
from benchmark.errors import BenchmarkError
from benchmark.robots import describe, describe_file, reduce_to_dynamics
import numpy as np
import pytest
from ros2_rnea import Robot
from small_robots import ARM, ARM_WITH_GRIPPER


def test_friction_is_taken_out_and_the_rest_stays():
    reduced, whole = Robot.from_urdf(reduce_to_dynamics(ARM)), Robot.from_urdf(ARM)
    q, qd, qdd = np.array([[0.3, -0.7], [1.0, 2.0], [3.0, 4.0]])
    friction = whole.friction(qd)
    assert friction.any()
    np.testing.assert_allclose(
        reduced.inverse_dynamics(q, qd, qdd), whole.inverse_dynamics(q, qd, qdd) - friction)


def test_mimicking_joint_moves_freely():
    assert Robot.from_urdf(ARM_WITH_GRIPPER).nv == 3
    assert Robot.from_urdf(reduce_to_dynamics(ARM_WITH_GRIPPER)).nv == 4


def test_locked_joint_is_fixed():
    robot = Robot.from_urdf(reduce_to_dynamics(ARM_WITH_GRIPPER, ['grip', 'thumb_joint']))
    assert robot.joint_names == ('shoulder', 'elbow')


def test_placeholder_inertia_becomes_one_and_a_real_one_stays():
    text = ('<robot name="r"><link name="a"><inertial><mass value="1"/>'
            '<inertia ixx="1e-6" ixy="1e-6" ixz="1e-6" iyy="1e-6" iyz="1e-6" izz="1e-6"/>'
            '</inertial></link><link name="b"><inertial><mass value="1"/>'
            '<inertia ixx="2" ixy="0.1" ixz="0" iyy="2" iyz="0" izz="2"/>'
            '</inertial></link></robot>')
    placeholder, real = ElementTree.fromstring(reduce_to_dynamics(text)).iter('inertia')
    assert (placeholder.get('ixx'), placeholder.get('ixy')) == ('1e-6', '0')
    assert real.get('ixy') == '0.1'


def test_longer_chain_begins_with_the_shorter():
    short, longer = Robot.from_urdf(chain(3)), Robot.from_urdf(chain(5))
    assert (short.nv, longer.nv) == (3, 5)
    for own, other in zip(short.tree.bodies, longer.tree.bodies):
        assert list(own.inertia.h) == list(other.inertia.h)
        assert list(own.axis) == list(other.axis)


def test_unknown_robot_is_refused_with_those_that_there_are():
    with pytest.raises(BenchmarkError, match="no robot 'pandda'; there are panda, ur5"):
        describe('pandda')


def test_a_robot_of_a_missing_package_says_what_to_install(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr('benchmark.robots.distribution', missing)
    with pytest.raises(BenchmarkError, match='example-robot-data, which is not installed; pip'):
        describe('panda')


@pytest.mark.parametrize('content', [None, '<robot'])
def test_file_that_is_no_robot_is_refused_by_name(tmp_path, content):
    path = tmp_path / 'robot.urdf'
    if content is not None:
        path.write_text(content)
    with pytest.raises(BenchmarkError, match='robot.urdf cannot be read'):
        describe_file(path, floating_base=False)
