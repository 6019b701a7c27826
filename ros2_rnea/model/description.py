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
What a robot description says, as plain data: links, joints and nothing derived from them.

A :class:`RobotDescription` comes from URDF text (:mod:`ros2_rnea.model.urdf`) or is written in
code.  It may still be nonsense; :func:`ros2_rnea.model.checks.check_description` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import inf, isfinite, isinf
from numbers import Real
from typing import Any, NamedTuple

from ros2_rnea.errors import ArgumentError

Triple = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]

_SYMMETRY = 1e-6
"""Share of the largest moment by which products of inertia may differ: matrices are rounded."""


class _Traits(NamedTuple):
    label: str
    coordinates: tuple[str, ...] = ()
    has_axis: bool = False
    axis_is_line: bool = False
    turns_about_axis: bool = False
    slides_along_axis: bool = False
    is_bounded: bool = False
    wraps: bool = False
    quaternion: tuple[int, int] | None = None
    in_urdf: bool = True
    closes_loops: bool = True


class JointType(Enum):
    """
    The types of joint, with all that other modules need to know of them.

    What a joint of each type does is written in :mod:`ros2_rnea.dynamics.joints`.

    :ivar label: the name of the type.
    :ivar coordinates: names of its velocity coordinates; an ``angle`` is about the axis.
    :ivar nq: number of position coordinates.
    :ivar nv: number of velocity coordinates.
    :ivar has_axis: whether the direction of its axis matters.
    :ivar axis_is_line: whether nothing but that direction tells the axes of its frames apart.
    :ivar turns_about_axis: whether a rotation about the axis is all that it does.
    :ivar slides_along_axis: whether a translation along the axis is all that it does.
    :ivar is_bounded: whether lower and upper limits have a meaning.
    :ivar wraps: whether positions that differ by whole turns are the same to its controllers.
    :ivar quaternion: where a unit quaternion (x, y, z, w) is in its position coordinates, from
        and to; None where there is none.
    :ivar in_urdf: whether URDF has it.
    :ivar closes_loops: whether a loop can be closed by it.
    """

    FIXED = _Traits('fixed')
    REVOLUTE = _Traits(
        'revolute', ('angle',), has_axis=True, axis_is_line=True, turns_about_axis=True,
        is_bounded=True)
    CONTINUOUS = _Traits(
        'continuous', ('angle',), has_axis=True, axis_is_line=True, turns_about_axis=True,
        wraps=True)
    PRISMATIC = _Traits(
        'prismatic', ('distance',), has_axis=True, axis_is_line=True, slides_along_axis=True,
        is_bounded=True)
    HELICAL = _Traits(
        'helical', ('angle',), has_axis=True, axis_is_line=True, in_urdf=False,
        closes_loops=False)
    CYLINDRICAL = _Traits(
        'cylindrical', ('angle', 'distance'), has_axis=True, axis_is_line=True, in_urdf=False)
    PLANAR = _Traits('planar', ('x', 'y', 'angle'), has_axis=True)
    SPHERICAL = _Traits('spherical', ('rx', 'ry', 'rz'), quaternion=(0, 4), in_urdf=False)
    FLOATING = _Traits(
        'floating', ('rx', 'ry', 'rz', 'x', 'y', 'z'), quaternion=(3, 7), closes_loops=False)

    def __init__(
            self,
            label: str,
            coordinates: tuple[str, ...],
            has_axis: bool,
            axis_is_line: bool,
            turns_about_axis: bool,
            slides_along_axis: bool,
            is_bounded: bool,
            wraps: bool,
            quaternion: tuple[int, int] | None,
            in_urdf: bool,
            closes_loops: bool) -> None:
        self.label = label
        self.coordinates = coordinates
        self.nv = len(coordinates)
        self.nq = self.nv + (quaternion is not None)  # which has four numbers for three freedoms
        self.has_axis = has_axis
        self.axis_is_line = axis_is_line
        self.turns_about_axis = turns_about_axis
        self.slides_along_axis = slides_along_axis
        self.is_bounded = is_bounded
        self.wraps = wraps
        self.quaternion = None if quaternion is None else slice(*quaternion)
        self.in_urdf = in_urdf
        self.closes_loops = closes_loops

    def __repr__(self) -> str:
        return f'{type(self).__name__}.{self.name}'

    @property
    def moves(self) -> bool:
        """Return whether a joint of this type lets its child move."""
        return self.nv > 0


@dataclass(frozen=True)
class Pose:
    """A frame's placement: origin [m] and fixed-axis roll, pitch, yaw [rad], as URDF has it."""

    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True, init=False)
class Inertial:
    """
    The mass properties of one link, or of a payload.

    ``origin`` places the inertial frame in the link frame.  Its origin is the centre of mass;
    ``inertia`` is (ixx, ixy, ixz, iyy, iyz, izz) [kg m^2] about that point, in its axes.

    :param mass: [kg].
    :param origin: of the inertial frame, for axes that are not those of the link.
    :param inertia: the six numbers, or a symmetric matrix, shape (3, 3).
    :param com: the centre of mass from the link's origin, shape (3,) [m], in place of ``origin``.
    :raises ArgumentError: where the matrix is not symmetric, a number is missing or not real, or
        com and origin are given.
    """

    mass: float
    origin: Pose
    inertia: Six

    def __init__(
            self,
            mass: float,
            origin: Pose = Pose(),
            inertia: Six | Sequence[Sequence[float]] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
            *,
            com: Sequence[float] | None = None) -> None:
        if com is not None and origin != Pose():
            raise ArgumentError(
                f'the centre of mass is given by com, {com!r}, and by origin, {origin}; give one')
        if not isinstance(origin, Pose):
            raise ArgumentError(
                f'the origin is {origin!r}; it needs a Pose; com may be three numbers')
        placed = origin if com is None else Pose(_three(com))
        object.__setattr__(self, 'mass', mass)
        object.__setattr__(self, 'origin', placed)
        _real('mass', [mass])
        _real('centre of mass', placed.xyz)
        _real('rotation of the origin', placed.rpy)
        object.__setattr__(self, 'inertia', _six(inertia))

    @property
    def com(self) -> Triple:
        """Return the centre of mass from the link's origin, in the link's axes [m]."""
        return self.origin.xyz


def _three(com: Sequence[float]) -> Triple:
    try:
        x, y, z = com
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'com is {com!r}; it needs three numbers [m]') from error
    return x, y, z


def _real(what: str, numbers: Any) -> Any:
    for number in numbers:
        if not isinstance(number, Real):
            raise ArgumentError(f'the {what} has {number!r}; it needs real numbers')
    return numbers


def _six(inertia: Any) -> Six:
    """Return the numbers of an inertia that may be a matrix."""
    try:
        if len(inertia) == 6:
            ixx, ixy, ixz, iyy, iyz, izz = _real('inertia', inertia)
            return ixx, ixy, ixz, iyy, iyz, izz
        (ixx, ixy, ixz), (iyx, iyy, iyz), (izx, izy, izz) = (
            _real('inertia', row) for row in inertia)
    except ArgumentError:
        raise
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f'the inertia is {inertia!r}; it needs ixx, ixy, ixz, iyy, iyz, izz, or a matrix of '
            'shape (3, 3)') from error
    largest = max(abs(ixx), abs(iyy), abs(izz))
    if any(abs(one - other) > _SYMMETRY * largest
           for one, other in ((ixy, iyx), (ixz, izx), (iyz, izy))):
        raise ArgumentError(
            f'the inertia has ixy {ixy}, iyx {iyx}, ixz {ixz}, izx {izx}, iyz {iyz}, izy {izy}; '
            'the matrix needs to be symmetric')
    return ixx, ixy, ixz, iyy, iyz, izz


@dataclass(frozen=True)
class LinkDescription:
    """A link; ``inertial`` is None where the description does not say."""

    name: str
    inertial: Inertial | None = None


LARGEST_PLAUSIBLE_TORQUE, LARGEST_PLAUSIBLE_FORCE = 1e4, 1e6
"""
A larger effort limit is more likely a placeholder, such as 1e30, than a motor's [Nm, N].

Joints that turn have less: those of the humanoid Talos 300, of a UR10 330, of ANYmal's arm 2000.
A hydraulic cylinder of 200 mm bore at 300 bar, as in large excavators, pushes with 9.4e5 N.
"""


def largest_plausible_effort(kind: JointType) -> float:
    """Return the largest effort limit that a motor of a joint of this type may have [Nm or N]."""
    return LARGEST_PLAUSIBLE_FORCE if kind.slides_along_axis else LARGEST_PLAUSIBLE_TORQUE


@dataclass(frozen=True)
class JointLimits:
    """
    Bounds of one joint, in rad or m, rad/s or m/s, Nm or N; infinite where not given.

    Acceleration and deceleration are per s^2, and jerk per s^3; URDF has them since 1.2.
    They are as they stand in the description, and may be none that a joint can have.
    """

    lower: float = -inf
    upper: float = inf
    velocity: float = inf
    effort: float = inf
    acceleration: float = inf
    deceleration: float = inf
    jerk: float = inf

    @property
    def are_positions(self) -> bool:
        """Return whether there are positions between the lower and the upper one."""
        return self.lower <= self.upper and self.lower < inf and self.upper > -inf

    @property
    def usable(self) -> JointLimits:
        """Return the same limits, infinite where they leave no position or are negative."""
        return JointLimits(
            self.lower if self.are_positions else -inf,
            self.upper if self.are_positions else inf,
            **{name: size if size >= 0.0 else inf for name, size in self.sizes.items()})

    @property
    def bounds(self) -> tuple[float, float, float]:
        """Return the range and the velocity limit; infinite for an empty range and for 0."""
        lower, upper = (self.lower, self.upper) if self.lower < self.upper else (-inf, inf)
        return lower, upper, self.velocity if self.velocity > 0.0 else inf

    @property
    def unusable(self) -> tuple[str, ...]:
        """Return the names of what is given and not usable: of sizes, or ``position``."""
        return (*(() if self.are_positions else ('position',)),
                *(name for name, size in self.sizes.items() if size < 0.0))

    @property
    def sizes(self) -> dict[str, float]:
        """Return all limits but those of the position, by name."""
        return {name: getattr(self, name) for name in (
            'velocity', 'effort', 'acceleration', 'deceleration', 'jerk')}

    def effort_defect(self, kind: JointType) -> str:
        """Return why the effort limit is not that of a joint's motor; empty: it may be."""
        if isinf(self.effort):
            return 'missing'
        if self.effort <= 0.0:
            return f'{self.effort:g}'
        largest = largest_plausible_effort(kind)
        if self.effort > largest:
            return f'{self.effort:g}, more than {largest:g}'
        return ''


@dataclass(frozen=True)
class Mimic:
    """Position = multiplier * (position of ``joint``) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class JointDescription:
    """
    A joint between two links.

    ``origin`` places the joint frame in the parent link's frame; ``axis`` is in the joint frame
    and need not be of unit length.  ``damping`` [Nm s/rad or N s/m] and ``friction`` [Nm or N]
    are those of URDF's ``<dynamics>``.  URDF knows nothing of the rest: ``pitch`` [m/rad] of a
    helical joint, ``rotor_inertia`` [kg m^2] of a motor and its ``gear_ratio``.  A spring of
    ``spring_stiffness`` [Nm/rad or N/m] draws a joint of one coordinate to the position
    ``spring_reference`` [rad or m]; SDFormat has them, and URDF for Gazebo.  What follows these
    refines the friction of a joint of one coordinate, see :mod:`ros2_rnea.dynamics.friction`.
    """

    name: str
    type: JointType  # noqa: A003 (the name that URDF gave it)
    parent: str
    child: str
    origin: Pose = Pose()
    axis: Triple = (1.0, 0.0, 0.0)
    limits: JointLimits = JointLimits()
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    pitch: float = 0.0
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    spring_stiffness: float = 0.0
    spring_reference: float = 0.0
    friction_offset: float = 0.0
    damping_positive: float = 0.0
    damping_negative: float = 0.0
    friction_positive: float = 0.0
    friction_negative: float = 0.0
    breakaway_friction: float = 0.0
    stribeck_velocity: float = 0.0

    @property
    def armature(self) -> float:
        """Return the inertia of the rotor as it acts on the joint [kg m^2 or kg]."""
        return float(self.rotor_inertia) * float(self.gear_ratio) * float(self.gear_ratio)


class DynamicsParameter(NamedTuple):
    """
    A number of a joint that may be given otherwise than by the description, and may change.

    :ivar name: of the field in :class:`JointDescription`, and of the node's parameters.
    :ivar unit: for joints that turn, and for joints that slide.
    :ivar is_signed: whether it may be negative.
    :ivar of_one_coordinate: whether only joints of one coordinate have it.
    :ivar largest: which no joint of a robot exceeds.
    """

    name: str
    meaning: str
    unit: str
    is_signed: bool = False
    of_one_coordinate: bool = False
    largest: float = inf

    def accepts(self, value: object) -> bool:
        """Return whether a joint can have a value; what is not a real number it cannot have."""
        try:
            return (isinstance(value, Real) and isfinite(value)
                    and (self.is_signed or float(value) >= 0.0)
                    and abs(float(value)) <= self.largest)
        except OverflowError:  # a whole number that no float is as large as
            return False

    @property
    def needed(self) -> str:
        """Return in words what it accepts."""
        if isfinite(self.largest) and self.is_signed:
            return f'a number from {-self.largest:g} to {self.largest:g}'
        if isfinite(self.largest):
            return f'a finite number from 0 on, up to {self.largest:g}'
        return 'a finite number' if self.is_signed else 'a finite number from 0 on'


LARGEST_FRICTION = 1e6
"""A bound above the friction of any joint of a robot [Nm or N, and Nm s/rad or N s/m]."""

JOINT_DYNAMICS = (
    DynamicsParameter(
        'damping', 'Viscous friction', 'Nm s/rad or N s/m', largest=LARGEST_FRICTION),
    DynamicsParameter('friction', 'Coulomb friction', 'Nm or N', largest=LARGEST_FRICTION),
    DynamicsParameter(
        'spring_stiffness', 'Stiffness of the spring', 'Nm/rad or N/m', of_one_coordinate=True),
    DynamicsParameter(
        'spring_reference', 'Position at which the spring is relaxed', 'rad or m', is_signed=True,
        of_one_coordinate=True),
)
"""Joint parameters of SDFormat's element ``<dynamics>``."""

FRICTION_LAW = (
    DynamicsParameter(
        'friction_offset', 'Effort of the friction that is the same at all velocities', 'Nm or N',
        is_signed=True, of_one_coordinate=True, largest=LARGEST_FRICTION),
    DynamicsParameter(
        'damping_positive', 'Viscous friction, besides damping, in the positive direction',
        'Nm s/rad or N s/m', of_one_coordinate=True, largest=LARGEST_FRICTION),
    DynamicsParameter(
        'damping_negative', 'Viscous friction, besides damping, in the negative direction',
        'Nm s/rad or N s/m', of_one_coordinate=True, largest=LARGEST_FRICTION),
    DynamicsParameter(
        'friction_positive', 'Coulomb friction, besides friction, in the positive direction',
        'Nm or N', of_one_coordinate=True, largest=LARGEST_FRICTION),
    DynamicsParameter(
        'friction_negative', 'Coulomb friction, besides friction, in the negative direction',
        'Nm or N', of_one_coordinate=True, largest=LARGEST_FRICTION),
    DynamicsParameter(
        'breakaway_friction', 'Breakaway friction, besides Coulomb friction', 'Nm or N',
        of_one_coordinate=True, largest=LARGEST_FRICTION),
    DynamicsParameter(
        'stribeck_velocity', 'Velocity at which about half of breakaway_friction is left',
        'rad/s or m/s', of_one_coordinate=True),
)
"""Refinements of the friction of a joint.  No description has them: they must be identified."""

REFLECTED_INERTIA = DynamicsParameter(
    'armature', 'Reflected rotor inertia (that of the rotor times the gear ratio squared)',
    'kg m^2 or kg', largest=1e5)

OPTIONAL_PARAMETERS = (*FRICTION_LAW, REFLECTED_INERTIA)
"""The numbers of a joint that no URDF has; a robot must be prepared to take them."""

JOINT_NUMBERS = (*JOINT_DYNAMICS, *OPTIONAL_PARAMETERS)
"""All numbers of a joint that may come from elsewhere than the description, and may change."""


OPEN_LOOP_EFFECT = 'efforts of its joints may be several times too large or too small'
"""What follows from a loop that is left open, in words for people."""


@dataclass(frozen=True)
class RobotDescription:
    """
    Everything that dynamics needs to know of a robot, in the order of the file.

    :ivar open_loops: what closes loops in the file, a sentence each.  The robot is the tree
        without it, since a tree of joints has no loops.
    """

    name: str
    links: tuple[LinkDescription, ...]
    joints: tuple[JointDescription, ...]
    open_loops: tuple[str, ...] = ()

    def without_friction(self) -> RobotDescription:
        """Return a description whose joints, mimic joints included, have no friction."""
        return replace(self, joints=tuple(
            replace(joint, damping=0.0, friction=0.0) for joint in self.joints))
