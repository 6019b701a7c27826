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
"""Demos with other arms and scenes than that of ``./run demo``."""

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('ros2_rnea_interfaces')
pytest.importorskip('mujoco')

from judged_demo import judged  # noqa: E402, I100
from ros2_rnea.robots.robot import Robot  # noqa: E402
from ros2_rnea.tools.models import ur5  # noqa: E402


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.ros
def test_another_arm_passes_two_scenes(tmp_path):
    urdf = tmp_path / 'my_arm.urdf'
    urdf.write_text(ur5().urdf)
    figures = judged(tmp_path, '--urdf', urdf, '--scene', 'payload', '--scene', 'stop')
    assert list(figures['scenes']) == ['payload', 'stop']
    assert not (tmp_path / 'tracking.png').exists()


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.ros
def test_an_arm_that_is_unlike_its_description_is_identified(tmp_path):
    figures = judged(tmp_path, '--identify', '--robot', 'ur5', file='identification.json')
    assert figures['physically_consistent']
    assert len(figures['checks']) == 4
    assert (tmp_path / 'recording' / 'metadata.yaml').exists()
    identified = Robot.from_urdf((tmp_path / 'identified.urdf').read_text())
    assert identified.joint_names == Robot.from_urdf(ur5().urdf).joint_names
