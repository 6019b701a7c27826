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
"""A robot of each engine beside the same one of the textbook, and what they are asked."""

from dataclasses import replace

import numpy as np
import pytest
from ros2_rnea import Engine, Robot
from ros2_rnea.dynamics.quantities import BY_NAME
from ros2_rnea.kernels import call, machine
from ros2_rnea.model.description import Inertial, Pose
from small_robots import ARM_WITH_GRIPPER

needs_llvmlite = pytest.mark.skipif(not machine.available(), reason='llvmlite is not installed')
needs_extension = pytest.mark.skipif(
    call.EXTENSION_ERROR != '', reason='the extension is not built here')
ENGINES = [
    pytest.param(Engine.TAPE, marks=needs_extension),
    pytest.param(Engine.COMPILED, marks=needs_llvmlite)]
QUICK_ENGINE = Engine.TEXTBOOK if call.EXTENSION_ERROR else Engine.TAPE
"""What computes many states soonest where nothing shall be compiled."""
for_each_engine = pytest.mark.parametrize('engine', ENGINES, ids=lambda engine: engine.value)

STATE = np.array([0.3, -0.4, 0.2]), np.array([0.5, 0.6, -0.7]), np.array([0.7, 0.8, 0.9])
ARGUMENTS = {'q': STATE[0], 'qd': STATE[1], 'qdd': STATE[2], 'tau': STATE[2]}


def pair(engine):
    """Return a robot of an engine with all options, and one of the textbook."""
    tree = Robot.from_urdf(ARM_WITH_GRIPPER).tree
    tree = replace(tree, bodies=tuple(
        replace(body, damping=0.5, friction=0.25, armature=0.125) for body in tree.bodies))
    return [Robot(tree, engine=e).with_payload('load', 'finger', Inertial(2.0, Pose((0.1, 0, 0))))
            for e in (engine, Engine.TEXTBOOK)]


def arguments_of(name):
    """Return the vectors that a method takes, for one state."""
    return [ARGUMENTS[name_of_vector] for name_of_vector in BY_NAME[name].inputs]
