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
The friction and the rotor inertia of one joint as a linear function of their numbers.

These are the terms of :mod:`ros2_rnea.dynamics.friction` and :mod:`ros2_rnea.dynamics.rotors`,
each for a number of 1.
"""

from __future__ import annotations

from collections.abc import Callable

from ros2_rnea.dynamics.friction import SIGN_WIDTH, smooth_sign, stribeck_share
from ros2_rnea.spatial import Number

JointColumn = Callable[[Number, Number, float], Number]
"""
A function from velocity [rad/s or m/s], acceleration and a speed that belongs to the number, to
the effort of a coordinate for a number of 1 [Nm or N].

The speed is the Stribeck velocity, or else that at which the sign of the velocity is rounded off;
0 is SIGN_WIDTH.
"""


JOINT_COLUMNS: dict[str, JointColumn] = {
    'viscous': lambda rate, acceleration, knee: rate,
    'viscous_forward': lambda rate, acceleration, knee: (
        0.5 + 0.5 * smooth_sign(rate, knee or SIGN_WIDTH)) * rate,
    'viscous_backward': lambda rate, acceleration, knee: (
        0.5 - 0.5 * smooth_sign(rate, knee or SIGN_WIDTH)) * rate,
    'coulomb': lambda rate, acceleration, knee: smooth_sign(rate, knee or SIGN_WIDTH),
    'stribeck': lambda rate, acceleration, knee: smooth_sign(rate) * stribeck_share(rate, knee),
    'offset': lambda rate, acceleration, knee: 0.0 * rate + 1.0,
    'rotor_inertia': lambda rate, acceleration, knee: acceleration,
}
"""The effort of a coordinate for each number of 1, by the number's name."""
