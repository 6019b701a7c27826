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
"""Which terms of an effort are sent to an arm, and which it adds by itself."""

from __future__ import annotations

from enum import Enum

from ros2_rnea.dynamics.terms import TERMS


class Terms(Enum):
    """The terms of an effort that are sent; the arm adds the others by itself."""

    AUTOMATIC = 'automatic'
    """All terms that :class:`Arm` does not add."""

    FULL = 'full'
    NO_GRAVITY = 'no_gravity'
    NO_GRAVITY_NO_FRICTION = 'no_gravity_no_friction'
    NO_GRAVITY_NO_CORIOLIS = 'no_gravity_no_coriolis'
    GRAVITY_ONLY = 'gravity_only'

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the names of the terms of :class:`.EffortTerms` that are not sent."""
        return {
            Terms.NO_GRAVITY: ('gravity',),
            Terms.NO_GRAVITY_NO_FRICTION: ('gravity', 'friction'),
            Terms.NO_GRAVITY_NO_CORIOLIS: ('gravity', 'coriolis'),
            Terms.GRAVITY_ONLY: tuple(term.name for term in TERMS if not term.acts_at_rest),
        }.get(self, ())


class Arm(Enum):
    """Known arms, by the terms that they add to a commanded effort by themselves."""

    GENERIC = 'generic'
    """No term.  The measured effort is that of the motors, with all terms."""

    FRANKA = 'franka'
    """
    Gravity and the friction of the motors, but not the Coriolis term.

    libfranka, docs/overview.rst: the torque of a joint is the commanded one plus those that
    compensate friction and gravity; the examples of libfranka add the Coriolis term themselves.
    The measured torque is that of sensors on the links' side of the gears (RobotState::tau_J): it
    has gravity but not the friction of the motors.
    """

    UR = 'ur'
    """
    Gravity, by ``direct_torque`` of URScript.

    The measured effort is a motor current [A] up to ur_robot_driver 7.0.0, and later a torque.
    """

    @property
    def terms_to_send(self) -> Terms:
        """Return the terms that the arm does not add."""
        return {
            Arm.FRANKA: Terms.NO_GRAVITY_NO_FRICTION,
            Arm.UR: Terms.NO_GRAVITY,
        }.get(self, Terms.FULL)

    @property
    def compensates_upright(self) -> bool:
        """Return whether the arm compensates gravity as if it stood upright, however it stands."""
        return self is Arm.FRANKA

    @property
    def measured_lacks(self) -> tuple[str, ...] | None:
        """Return the terms that the measured effort lacks; None: it may be no effort at all."""
        return {Arm.FRANKA: ('friction',), Arm.UR: None}.get(self, ())
