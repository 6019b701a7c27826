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
The arm of the demo, and the largest motion, force and payload that it can do.

Nothing here knows ROS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

from ros2_rnea.errors import ArgumentError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.motion import Motion, MultiSine, push_share
from ros2_rnea.tools.models import Model
from ros2_rnea.tools.simulated_driver.description import Balanced, Load, simplified
from ros2_rnea.tools.simulated_driver.engine import Engine, GRAVITY
from ros2_rnea.tools.simulated_driver.posture import bent_pose, effort_share
from ros2_rnea.tools.simulated_driver.servo import gains_in

Vector = NDArray[np.float64]

TIP_FORCE = (12.0, 8.0, -20.0)
"""Force on the robot, in the axes of the tip's frame, at its strongest [N]."""

LOAD_MASS = 2.0
"""Mass of what strong arms pick up [kg]."""

LOAD_SHARE = 0.12
"""The most that an arm picks up, as a share of its mass; a lighter one is pushed less, too."""

LOAD_CENTER = (0.02, 0.01, 0.05)
"""The load's centre of mass from the origin of the tip's frame, in its axes [m]."""

LOAD_SIZE = 0.1
"""Edge of the cube that is picked up [m]."""

TILT = 30.0
"""Angle of the tilted mount, about the y axis of the root link [degrees]."""

WHOLE_SHARE = 0.8
"""Share of a motor's effort that motion, weight, and force, load or tilt may take together."""

SPEED_SHARE = 0.9
"""Share of its highest speed that a joint moves with."""

SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05)
"""Shares of motion, force, load and tilt: the first one that the arm can do is taken."""

MAX_DEFLECTION = 0.3
"""Deflection of a joint with its PD loop alone, under a load unknown to the node [rad or m]."""

LONGEST = 10.0
SPACING = 0.02
"""Duration of the motion that is tried, and between two of its moments [s]."""

RATE_MARGIN = 1.4
"""Factor between the rate limit of the effort and the rate that motion and push need."""

PUSH_PERIOD, CYCLE = 0.01, 0.002
"""
Time between two changes of the push, and between two efforts of the node [s].

The effort for a push that has changed comes with one command.
"""


@dataclass(frozen=True)
class Arm:
    """
    A robot on a fixed base, with the motion and disturbances of the demo.

    :param name: for people.
    :param urdf: its description as simulated and as the node gets it.
    :param still: joints that are fixed in the simulation.
    :param balanced: inertias that only the simulation has, because no rigid body has the given.
    :param joint_names: in the order of all columns.
    :param slides: which of them move along their axis, shape (n,).
    :param tip: the link that is pushed and carries the load.
    :param start: where the arm waits, shape (n,) [rad or m].
    :param sizes: factor on the motion of each joint, shape (n,).
    :param tip_force: the strongest push, shape (3,) [N].
    :param load: the payload that it picks up.
    :param tilt: of its mount [degrees].
    :param rate_limit: how fast efforts may change: as all this needs, and a little faster: a step
        would be seen [Nm/s or N/s].
    """

    name: str
    urdf: str
    still: tuple[str, ...]
    balanced: tuple[Balanced, ...]
    joint_names: tuple[str, ...]
    slides: NDArray[np.bool_]
    tip: str
    start: Vector
    sizes: Vector
    tip_force: Vector
    load: Load
    tilt: float
    rate_limit: float

    def motion(self, duration: float) -> MultiSine:
        """Return the motion to follow; its duration is in [s]."""
        return MultiSine(self.start, self.sizes, duration)

    def displayed(self, distances: Vector) -> Vector:
        """Return distances of joints, shape (..., n) [rad or m], in degrees or millimetres."""
        return distances * np.where(self.slides, 1e3, np.degrees(1.0))


def arm_of(model: Model, tip: str = '') -> Arm:
    """
    Find out how large a motion, force and payload an arm can do.

    :param tip: the link to push; empty: that of the model.
    :raises RneaError: if the description is not of an arm that can be simulated and held.
    """
    urdf, still = simplified(model.urdf)
    robot = Robot.from_urdf(urdf, engine='textbook')
    engine = Engine(urdf)
    tip = tip or model.tip
    if tip and tip not in robot.link_names:
        raise ArgumentError(f'the robot has no link {tip!r}; it has {", ".join(robot.link_names)}')
    start = np.array(model.start) if model.start else bent_pose(engine)
    holding = engine.holding_effort(start)
    if effort_share(engine, holding) > WHOLE_SHARE:
        raise ArgumentError(
            f'the motors of {robot.name!r} cannot hold it at its start with '
            f'{WHOLE_SHARE:.0%} of their effort limits: {_too_weak(engine, holding)}')
    ability = _Ability(robot, engine, start)
    return ability.asked(urdf, still, tip or ability.tip(_links_from_tip(urdf)))


def _too_weak(engine: Engine, efforts: Vector) -> str:
    """
    Return which joints cannot exert the efforts, and what to change.

    :param efforts: shape (..., n) [Nm or N].
    """
    needed = np.abs(efforts).reshape(-1, len(engine.joint_names)).max(axis=0)
    weak = [f'{joint} needs {effort:.4g} of {WHOLE_SHARE * limit:.4g}' for joint, effort, limit
            in zip(engine.joint_names, needed, engine.effort_limits)
            if effort > WHOLE_SHARE * limit]
    return (f'{", ".join(weak)} [Nm or N]. Correct the '
            'effort limits in the description; where a spring or a counterweight holds the joint, '
            'which URDF does not describe, make the joint fixed')


class _Ability:
    """Tries with inverse dynamics how large a motion an arm can do."""

    def __init__(self, robot: Robot, engine: Engine, start: Vector) -> None:
        self._robot, self._engine, self._start = robot, engine, start
        self._places = [engine.joint_names.index(name) for name in robot.joint_names]
        self._back = [robot.joint_names.index(name) for name in engine.joint_names]

    @property
    def _lightness(self) -> float:
        """Return which share of force and load suits the mass of the arm."""
        return min(LOAD_SHARE * self._engine.moving_mass / LOAD_MASS, 1.0)

    def tip(self, links: Sequence[str]) -> str:
        """
        Return the first link whose load the gains alone hold: the arm does not fall over.

        The drive of a gripper, for example, has too small an inertia for that.

        :param links: from the end of the arm on; the first one if none is held.
        """
        stiffness, _ = gains_in(self._start, self._engine)
        times = np.arange(0.0, LONGEST, SPACING)
        motion = MultiSine(self._start, self._within_ranges(times), LONGEST).at(times)
        unloaded = self._effort(self._robot, motion)
        for link in links:
            load = _cube(link, self._lightness * LOAD_MASS)
            weight = self._effort(carrying(self._robot, load), motion) - unloaded
            if np.all(np.abs(weight) <= MAX_DEFLECTION * stiffness):
                return link
        return links[0]

    def asked(self, urdf: str, still: tuple[str, ...], tip: str) -> Arm:
        """
        Return the arm with the largest share of motion, force, load and tilt it can do.

        :raises ArgumentError: if its motors cannot do the smallest.
        """
        times = np.arange(0.0, LONGEST, SPACING)
        largest = self._within_ranges(times)
        for share in SHARES:
            sizes, force = share * largest, share * self._lightness * np.array(TIP_FORCE)
            load = _cube(tip, share * self._lightness * LOAD_MASS)
            tilt = share * TILT
            motion = MultiSine(self._start, sizes, LONGEST).at(times)
            pushed = self._pushed(motion, tip, push_share(times, LONGEST)[:, None] * force)
            efforts = np.stack((
                pushed,
                self._effort(carrying(self._robot, load), motion),
                self._effort(self._robot.with_gravity(gravity_when_tilted(tilt)), motion)))
            if effort_share(self._engine, efforts) <= WHOLE_SHARE:
                break
        else:
            raise ArgumentError(
                f'the motors of {self._robot.name!r} cannot do {SHARES[-1]:.0%} of the motion of '
                f'the demo with {WHOLE_SHARE:.0%} of their effort limits: '
                f'{_too_weak(self._engine, efforts)}')
        by_push = pushed - self._effort(self._robot, motion)
        rate = max(_fastest(efforts), _fastest(by_push) * PUSH_PERIOD / CYCLE)
        return Arm(
            self._robot.name, urdf, still, self._engine.balanced, self._engine.joint_names,
            self._engine.slides, tip, self._start, sizes, force, load, tilt,
            RATE_MARGIN * rate)

    def _within_ranges(self, times: Vector) -> Vector:
        """Return the sizes that the joints' ranges and speeds leave, up to 1, shape (n,)."""
        unit = MultiSine(self._start, np.ones(len(self._start)), LONGEST).at(times)
        reach = np.max(np.abs(unit.positions - self._start), axis=0)
        speed = np.max(np.abs(unit.velocities), axis=0)
        lower, upper = self._engine.position_limits
        room = 0.95 * np.minimum(self._start - lower, upper - self._start)
        joints = parse_urdf(self._engine.urdf).joints
        limits = {joint.name: joint.limits.usable for joint in joints}
        fastest = np.array([limits[name].velocity or np.inf for name in self._engine.joint_names])
        return np.clip(np.minimum(room / reach, SPEED_SHARE * fastest / speed), 0.0, 1.0)

    def _effort(self, robot: Robot, motion: Motion) -> Vector:
        """Return the effort that a motion needs, in the order of the engine, shape (N, n)."""
        q, qd, qdd = (part[:, self._places] for part in motion)
        return robot.inverse_dynamics(q, qd, qdd)[:, self._back]

    def _pushed(self, motion: Motion, link: str, force: Vector) -> Vector:
        """Return the effort while a force acts on a link, shape (N, 3) [N], in the link's axes."""
        q, qd, qdd = (part[:, self._places] for part in motion)
        push = np.hstack((np.zeros_like(force), force))
        return self._robot.inverse_dynamics(q, qd, qdd, f_ext={link: push})[:, self._back]


def _fastest(efforts: Vector) -> float:
    """Return the largest rate of change of efforts, shape (..., N, n) [Nm/s or N/s]."""
    return float(np.abs(np.diff(efforts, axis=-2)).max()) / SPACING


def gravity_when_tilted(degrees: float) -> list[float]:
    """Return the acceleration of free fall in the axes of a root link that is tilted about y."""
    angle, down = radians(degrees), -GRAVITY[2]
    return [down * sin(angle), 0.0, -down * cos(angle)]


def carrying(robot: Robot, load: Load) -> Robot:
    """Return a robot with a payload."""
    x, y, z = load.center
    ixx, ixy, ixz, iyy, iyz, izz = load.inertia
    return robot.with_payload('load', load.link, Inertial(
        load.mass, Pose((x, y, z)), (ixx, ixy, ixz, iyy, iyz, izz)))


def _cube(link: str, mass: float) -> Load:
    moment = mass * LOAD_SIZE**2 / 6.0
    return Load(link, mass, LOAD_CENTER, (moment, 0.0, 0.0, moment, 0.0, moment))


def _links_from_tip(urdf: str) -> list[str]:
    """Return the links of the longest (of several, the last) chain of moving joints, end first."""
    description = parse_urdf(urdf)
    above = {joint.child: joint for joint in description.joints}

    def joints_up_from(link: str) -> int:
        count = 0
        while link in above:
            count += above[link].type.moves
            link = above[link].parent
        return count

    link = max(reversed([link.name for link in description.links]), key=joints_up_from)
    links = [link]
    while joints_up_from(links[-1]) > 1:
        links.append(above[links[-1]].parent)
    return links
