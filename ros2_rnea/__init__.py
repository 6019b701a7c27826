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
Inverse dynamics for torque-controlled robots, with and without ROS 2.

A robot goes through this package from right to left::

    node → control, offline → trajectories, robots → kernels → dynamics → model → spatial

``model`` turns URDF text into a tree of rigid bodies.  ``dynamics`` has the algorithms, which with
``spatial`` is the only place of mechanics.  ``kernels`` makes machine code for one robot from
them.  ``robots`` is the public face of all that on NumPy arrays.  ``control`` decides what to send
when messages are late, short or missing, and ``node`` carries messages between that and ROS 2.
``offline`` computes what no motor waits for: audits of models, efforts of whole trajectories, the
identification of robots, and the commands for these.  ``tools`` has a simulated arm to try all
that on, with the demo.  Each uses only what stands to its right.
"""

from ros2_rnea.dynamics.wrenches import WORLD, Wrench
from ros2_rnea.errors import ArgumentError, DescriptionError, RneaError, TrajectoryError
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.model.description import Inertial
from ros2_rnea.model.loops import Loop
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.closed_chain import ClosedChain
from ros2_rnea.robots.results import EffortTerms
from ros2_rnea.robots.robot import Robot

__all__ = [
    'AdjustableRobot',
    'ArgumentError',
    'ClosedChain',
    'DescriptionError',
    'EffortTerms',
    'Engine',
    'Inertial',
    'Loop',
    'RneaError',
    'Robot',
    'TrajectoryError',
    'WORLD',
    'Wrench',
    '__version__',
]

__version__ = '0.1.0'
