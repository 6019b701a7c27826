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
"""The numbers that a fit has found, as what they change in the model, and the model with them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from ros2_rnea.dynamics.pseudo_inertia import inertial_of
from ros2_rnea.dynamics.regressor import inertia_from, PARAMETERS
from ros2_rnea.offline.identification.results import JointFriction, ModelChanges
from ros2_rnea.offline.identification.unknowns import Design, GAIN, PAYLOAD
from ros2_rnea.robots.robot import Robot


def changes_of(design: Design, x: np.ndarray, chosen: np.ndarray) -> ModelChanges:
    """
    Return what has changed, by joint, link or payload.

    :param x: the numbers that were found, shape (unknowns,).
    :param chosen: which of them the fit could change, shape (unknowns,).
    """
    values: dict[str, dict[str, float]] = {}
    for index in np.flatnonzero(chosen):
        unknown = design.unknowns[index]
        own = values.setdefault(unknown.owner, {})
        own['viscous' if unknown.quantity == 'viscous_forward' else unknown.quantity] = (
            float(x[index]))
        if unknown.quantity == 'stribeck':
            own['stribeck_velocity'] = unknown.knee
    law = {field.name for field in fields(JointFriction)}
    friction = {
        joint: JointFriction(**{name: numbers[name] for name in law.intersection(numbers)})
        for joint, numbers in values.items() if 'coulomb' in numbers}
    payload = None
    if design.payload_link is not None:
        ten = [values[PAYLOAD][name] for name in PARAMETERS]
        payload = (design.payload_link, inertial_of(ten))
    return ModelChanges(
        friction=friction,
        rotor_inertias={joint: numbers['rotor_inertia'] for joint, numbers in values.items()
                        if 'rotor_inertia' in numbers},
        gravity=x[list(design.gravity)] if design.gravity else None,
        payload=payload,
        gains={joint: 1.0 / numbers[GAIN] for joint, numbers in values.items()
               if GAIN in numbers},
        links=tuple(design.unknowns[first].owner for first in design.bodies
                    if design.unknowns[first].owner != PAYLOAD))


def changed_robot(design: Design, x: np.ndarray, changes: ModelChanges) -> Robot:
    """Return the robot with what has changed; numbers as in :func:`changes_of`."""
    robot = design.robot
    bodies = list(robot.tree.bodies)

    def change(index: int, **numbers: Any) -> None:
        bodies[index] = replace(bodies[index], **numbers)

    for first in design.bodies:
        unknown = design.unknowns[first]
        if unknown.owner != PAYLOAD:
            change(unknown.body, inertia=inertia_from(x[first:first + 10].tolist()))
    for joint, friction in changes.friction.items():
        change(robot.tree.joints[joint], **friction.numbers())
    for joint, inertia in changes.rotor_inertias.items():
        change(robot.tree.joints[joint], armature=inertia)
    gravity = changes.gravity if changes.gravity is not None else robot.free_fall
    result = Robot(
        replace(robot.tree, bodies=tuple(bodies)), gravity=gravity, engine=robot.engine)
    if changes.payload is not None:
        result = result.with_payload(PAYLOAD, *changes.payload)
    return result
