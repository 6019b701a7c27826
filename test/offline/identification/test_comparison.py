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
"""The measured efforts beside those of the model."""

from dataclasses import replace

import numpy as np
import pytest
from recorded_robots import recorded, swings
from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.identification.comparison import compare, coordinates_of
from ros2_rnea.robots.robot import Robot
from small_robots import ARM, ARM_WITH_GRIPPER, FREE_FLYER

PAYLOADS = {'box': ('tool', Inertial(2.0, Pose((0.1, 0.0, 0.0)), (0.0,) * 6))}


@pytest.fixture
def arm():
    return Robot.from_urdf(ARM)


@pytest.fixture
def recording(arm):
    rng = np.random.default_rng(1)
    return recorded(arm, swings(arm, rng, duration=2.0), rng, noise=0.0,
                    alter=lambda tau, qd: tau + np.array([3.0, -4.0]))


def test_the_difference_is_what_the_model_lacks(arm, recording):
    comparison = compare([recording, recording], arm)
    for run in comparison.runs:
        assert run.difference() == pytest.approx(np.tile([3.0, -4.0], (200, 1)), abs=1e-12)
        assert run.gravity() == pytest.approx(arm.gravity(recording.q))
    assert comparison.difference_rms == pytest.approx([3.0, 4.0])
    assert comparison.measured_rms == pytest.approx(
        np.sqrt(np.mean(recording.tau**2, axis=0)))
    assert comparison.samples == 400
    assert comparison.duration == pytest.approx(2 * 1.99)


def test_each_recording_is_compared_with_its_own_payload(arm, recording):
    loaded = arm.with_payload('box', *PAYLOADS['box'])
    with_box = replace(recording, payloads=PAYLOADS, tau=loaded.inverse_dynamics(
        recording.q, recording.qd, recording.qdd))
    empty, full = compare([recording, with_box], arm).runs
    assert full.difference() == pytest.approx(np.zeros((200, 2)), abs=1e-12)
    assert np.abs(empty.difference()).min() > 1.0


def test_an_effort_that_was_not_recorded_has_no_rms(arm, recording):
    tau = recording.tau.copy()
    tau[:, 1] = np.nan
    comparison = compare([replace(recording, tau=tau)], arm)
    assert np.isnan(comparison.difference_rms).tolist() == [False, True]


def test_an_effort_is_compared_in_recordings_that_have_it(arm, recording):
    tau = recording.tau.copy()
    tau[:, 1] = np.nan
    both = compare([recording, replace(recording, tau=tau)], arm)
    alone = compare([recording], arm)
    assert both.difference_rms == pytest.approx(alone.difference_rms)
    assert both.measured_rms == pytest.approx(alone.measured_rms)


def test_coordinates_have_units():
    gripper = coordinates_of(Robot.from_urdf(ARM_WITH_GRIPPER))
    assert [(each.label, each.effort_unit, each.position_unit) for each in gripper] == [
        ('shoulder', 'Nm', 'rad'), ('elbow', 'Nm', 'rad'), ('grip', 'N', 'm')]
    flyer = coordinates_of(Robot.from_urdf(FREE_FLYER))
    assert [(each.label, each.effort_unit) for each in flyer][2:5] == [
        ('flight/rz', 'Nm'), ('flight/x', 'N'), ('flight/y', 'N')]


def test_bad_input_is_named(arm, recording):
    with pytest.raises(ArgumentError, match='there is no recording'):
        compare([], arm)
    with pytest.raises(ArgumentError, match="'drawn' has no uninterrupted piece"):
        compare([replace(recording, pieces=())], arm)
    with pytest.raises(ArgumentError, match='2 positions and 2 efforts an instant'):
        compare([recording], Robot.from_urdf(ARM_WITH_GRIPPER))
