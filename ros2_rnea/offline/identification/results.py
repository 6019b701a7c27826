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
What an identification gives: parameters with their standard errors, and how well they fit.

The efforts of the model are judged on held-back data: samples that the fit did not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from ros2_rnea.model.description import Inertial
from ros2_rnea.robots.robot import Robot


@dataclass(frozen=True)
class Parameter:
    """
    One number of the model that was unknown.

    :ivar name: what it is, then of which joint or link, such as ``'viscous friction of elbow'``.
    :ivar quantity: what it is alone, such as ``'viscous'``, ``'m'`` or ``'Ixx'``.
    :ivar owner: the joint or link that it belongs to; empty for gravity.
    :ivar unit: such as ``'Nm s/rad'``; empty for a factor.
    :ivar value: of the identified model.
    :ivar standard_error: of the value, in its unit, by noise and by what the model lacks in some
        parts of the motion more than in others; None where the data does not determine this
        number by itself.  The value is then the URDF's, or, where the number is part of
        combinations that the data does determine, the one nearest to the URDF's that agrees with
        them.
    :ivar urdf_value: that of the model before; 0 where a URDF says nothing of it.
    """

    name: str
    quantity: str
    owner: str
    unit: str
    value: float
    standard_error: float | None
    urdf_value: float


@dataclass(frozen=True)
class Combination:
    """
    A base parameter: a sum of inertial and joint parameters that the data determines.

    :ivar name: the sum, such as ``'Izz of elbow + 0.5 m of wrist'``.
    :ivar terms: factors of the sum by the names of parameters.
    :ivar value: of the sum, as the data alone says it.
    :ivar standard_error: of the value.
    :ivar urdf_value: of the model before.
    """

    name: str
    terms: Mapping[str, float]
    value: float
    standard_error: float
    urdf_value: float


@dataclass(frozen=True)
class Doubt:
    """
    Why a result should not be used as it is.

    :ivar sentence: the reason, and what to do.
    :ivar joints: those that it is about, if it is about some more than about others.
    """

    sentence: str
    joints: tuple[str, ...] = ()


@dataclass(frozen=True)
class JointFriction:
    """
    The friction of one joint of one coordinate, all terms together.

    At velocity v it takes viscous v + sign(v) (coulomb + stribeck / (1 + (v/v_s)²)) + offset, the
    sign being smooth around rest: see :mod:`ros2_rnea.dynamics.friction`.  The Coulomb friction of
    one direction is coulomb + offset, that of the other coulomb − offset.

    :ivar viscous: for positive velocities [Nm s/rad or N s/m].
    :ivar coulomb: [Nm or N].
    :ivar offset: of the effort, at any velocity [Nm or N].
    :ivar viscous_backward: for negative velocities; None where it is ``viscous``.
    :ivar stribeck: breakaway friction, in addition to Coulomb friction, at rest [Nm or N].
    :ivar stribeck_velocity: v_s, at which half of that is left [rad/s or m/s]; 0 without any.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    viscous_backward: float | None = None
    stribeck: float = 0.0
    stribeck_velocity: float = 0.0

    def numbers(self) -> dict[str, float]:
        """Return this friction as joint numbers, by the names that bodies and the node have."""
        backward = self.viscous if self.viscous_backward is None else self.viscous_backward
        damping = min(self.viscous, backward)
        return {
            'damping': damping,
            'friction': self.coulomb,
            'friction_offset': self.offset,
            'damping_positive': self.viscous - damping,
            'damping_negative': backward - damping,
            'friction_positive': 0.0,
            'friction_negative': 0.0,
            'breakaway_friction': self.stribeck,
            # without breakaway friction it means nothing
            'stribeck_velocity': self.stribeck_velocity if self.stribeck else 0.0}


@dataclass(frozen=True)
class ModelChanges:
    """
    What an identification changes in a model.

    :ivar friction: of each joint whose friction was unknown.
    :ivar rotor_inertias: of each joint whose rotor inertia was unknown [kg m^2 or kg].
    :ivar gravity: acceleration of free fall in the base's axes, shape (3,) [m/s^2]; None unless it
        was unknown.
    :ivar payload: the link and what is attached to it, in the link's frame; None unless unknown.
    :ivar gains: by joint, the true effort for each unit of measured effort.
    :ivar links: the links whose bodies' inertial parameters were identified.
    """

    friction: Mapping[str, JointFriction]
    rotor_inertias: Mapping[str, float]
    gravity: np.ndarray | None
    payload: tuple[str, Inertial] | None
    gains: Mapping[str, float]
    links: tuple[str, ...]


@dataclass(frozen=True)
class Identification(ModelChanges):
    """
    The result of an identification: what it changes in the model, and how good it is.

    Arrays by joint have one number for each velocity coordinate of the robot [Nm or N].  The
    measured effort of a joint whose drive gain was unknown is multiplied by its gain.  Samples
    at which a joint rests are left out if its Coulomb friction was unknown, in held-back data too.

    :ivar robot: the model with these changes.
    :ivar parameters: all that were unknown.
    :ivar base_parameters: the combinations that the data determines.
    :ivar joints: names of the velocity coordinates: that of the joint, and for a joint of several
        coordinates ``joint/coordinate``.
    :ivar measured_rms: root of the mean square of the measured efforts, on held-back data; NaN
        for a joint without any.
    :ivar urdf_rms: of their difference from the model before.
    :ivar identified_rms: of their difference from the identified model.
    :ivar noise_rms: root of the mean square of the residual on the data of the fit.
    :ivar physically_consistent: whether every identified body has a density that is nowhere
        negative.
    :ivar condition_number: of the weighted base regressor with columns of equal norm.
    :ivar recordings: how many the fit used; parts of one count as one.  If there are three or
        more, the standard errors also cover what differs from recording to recording.
    :ivar samples: how many rows of each joint the fit used; ``independent_samples``, as how many
        they count, since residuals are correlated.
    :ivar not_identifiable: sentences: what, and which motion would make it so.
    :ivar apart: for each recording and joint, the RMS that the identified model leaves of what the
        fit has seen, as a multiple of what a model of this recording alone would leave, shape
        (recordings, nv); NaN where that is not known.  None for a single recording, and for very
        many.
    :ivar slow_joints: the joints with samples in motion that are so slow that the robot still
        rounds Coulomb friction off there, while the fit took the whole of it.
    :ivar tightest: the link whose mass is nearest to what its sphere allows
        (:mod:`.link_spheres`).
    :ivar held_by_spheres: RMS of what the fit leaves more than one without spheres would, on the
        data of the fit; 0 where that is little, and None where no body has a sphere.
    """

    robot: Robot
    parameters: tuple[Parameter, ...]
    base_parameters: tuple[Combination, ...]
    joints: tuple[str, ...]
    measured_rms: np.ndarray
    urdf_rms: np.ndarray
    identified_rms: np.ndarray
    noise_rms: np.ndarray
    physically_consistent: bool
    condition_number: float
    recordings: int
    samples: np.ndarray
    independent_samples: np.ndarray
    not_identifiable: tuple[str, ...]
    slow_joints: tuple[str, ...] = ()
    apart: np.ndarray | None = None
    tightest: str = ''
    held_by_spheres: np.ndarray | None = None


def summary(identification: Identification) -> dict[str, Any]:
    """
    Return what an identification says, as JSON can have it.

    Lists by joint are in the order of ``joints``; efforts are in Nm or N.  None stands where there
    is no number: a joint without measured efforts, or the standard error of a parameter that the
    data does not tell (``identifiable`` is false); its value is what the model has, no result.
    """
    found = plain_data({name: getattr(identification, name) for name in (
        'joints', 'measured_rms', 'urdf_rms', 'identified_rms', 'noise_rms', 'samples',
        'independent_samples', 'physically_consistent', 'condition_number', 'parameters',
        'base_parameters', 'not_identifiable', 'links', 'friction', 'rotor_inertias', 'gravity',
        'gains')})
    for one in found['parameters']:
        one['identifiable'] = one['standard_error'] is not None
    link, inertial = identification.payload or ('', None)
    payload = inertial and {'link': link, 'mass': inertial.mass, 'center': inertial.origin.xyz,
                            'inertia': inertial.inertia}
    return {'robot': identification.robot.name, **found, 'payload': plain_data(payload)}


def plain_data(value: Any) -> Any:
    """Return a value as JSON can have it: None for a number that is not finite."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: plain_data(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain_data(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
