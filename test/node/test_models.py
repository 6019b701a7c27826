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
"""A model takes other numbers in place, and says whether any is another one."""

from dataclasses import replace

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node.models.model_building import (
    adjustable,
    Model,
    ModelParameters,
    needed_optional_parameters,
    Payload,
    Source,
)
from small_robots import ARM

BOX = Payload('box', 'tool', Inertial(1.0, Pose((0.1, 0.0, 0.2)), (0.01, 0, 0, 0.01, 0, 0.01)))
HEAVY = BOX._replace(inertial=replace(BOX.inertial, mass=2.0))
Q, QD = [0.3, -0.8], [1.0, 1.0]


@pytest.fixture
def model():
    source = Source(ARM, (), strict=False, payload_links=('tool', 'nowhere'))
    tree = Robot.from_urdf(ARM).tree
    return Model(source, tree, adjustable(tree, source, Engine.TEXTBOOK), ())


def test_only_another_number_is_a_change(model):
    plain = Robot.from_urdf(ARM)
    assert not model.update(ModelParameters())
    for parameters, friction, gravity in [
            (ModelParameters({'damping': {'elbow': 0.25}}), [0.5, 0.25], plain),
            (ModelParameters({'damping': {'elbow': 0.5}}), [0.5, 0.5], plain),
            (ModelParameters(payloads=(BOX,)), [0.5, 0.0],
             plain.with_payload('box', 'tool', BOX.inertial)),
            (ModelParameters(payloads=(HEAVY,)), [0.5, 0.0],
             plain.with_payload('box', 'tool', HEAVY.inertial)),
            (ModelParameters(), [0.5, 0.0], plain)]:
        assert model.update(parameters)
        assert not model.update(parameters)
        assert model.robot.friction(QD) == pytest.approx(friction)
        assert model.robot.gravity(Q) == pytest.approx(gravity.gravity(Q))


def test_joints_and_links_that_there_are_not_are_ignored(model):
    elsewhere = BOX._replace(link='nowhere')
    assert not model.accepts_payload(elsewhere)
    assert not model.accepts_payload(BOX._replace(link='upper'))  # which it is not built for
    assert not model.update(ModelParameters({'damping': {'wrist': 0.25}}, (elsewhere,)))
    assert model.degrees_of_freedom == {'shoulder': 1, 'elbow': 1}


def test_a_number_that_cannot_be_is_refused(model):
    with pytest.raises(ArgumentError, match='elbow'):
        model.update(ModelParameters({'damping': {'elbow': -0.25}}))
    assert model.robot.friction(QD) == pytest.approx([0.5, 0.0])


def test_friction_waits_for_a_model_that_is_prepared_for_it(model):
    parameters = ModelParameters({'friction_offset': {'elbow': 0.25, 'wrist': 1.0},
                                  'breakaway_friction': {'elbow': 0.0}})
    assert not model.update(parameters)
    source = model.source._replace(
        optional_parameters=needed_optional_parameters(parameters.joint_parameters))
    assert source.optional_parameters == ('friction_offset',)
    prepared = model._replace(
        source=source, robot=adjustable(model.tree, source, Engine.TEXTBOOK))
    assert prepared.update(parameters)
    assert prepared.robot.friction([0.0, 0.0]) == pytest.approx([0.0, 0.25])


def test_a_model_prepared_for_a_rotor_has_it(model):
    parameters = ModelParameters({'armature': {'elbow': 0.25}})
    assert needed_optional_parameters(parameters.joint_parameters) == ('armature',)
    source = model.source._replace(optional_parameters=('armature',))
    prepared = model._replace(
        source=source, robot=adjustable(model.tree, source, Engine.TEXTBOOK))
    before = prepared.robot.mass_matrix([0.0, 0.0])
    assert prepared.update(parameters)
    assert prepared.robot.mass_matrix([0.0, 0.0]) - before == pytest.approx(
        np.diag([0.0, 0.25]), abs=1e-14)
