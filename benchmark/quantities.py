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
"""The quantities that are measured, and the targets for their ratios to Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass

INVERSE_DYNAMICS = 'inverse_dynamics'
BOUND = 'bound'
BATCH = 'batch'

ALLOWANCE = 1.3
"""How much longer a robot may take whose parameters are read at each call."""

SMALL = ('panda', 'ur5')


@dataclass(frozen=True)
class Quantity:
    """
    Something to compute; peers have a method of its name where they can.

    :ivar name: as ``--quantities`` takes it.
    :ivar title: for people.
    :ivar targets: the largest ratio to Pinocchio that is asked of us, by robot.
    :ivar on_chains: whether chains made in code are measured, too.
    :ivar way_of: the name of the quantity of which this is another way of calling from Python;
        then only Pinocchio is compared with, in its usual way.
    :ivar slower_than: the name of another quantity of which this may take ALLOWANCE times the
        time; its targets follow from what that one took.
    """

    name: str
    title: str
    targets: dict[str, float]
    on_chains: bool = False
    way_of: str = ''
    slower_than: str = ''

    def target(self, robot: str) -> float | None:
        """Return the largest ratio to Pinocchio that is asked of us, if any is."""
        return self.targets.get(robot)


def _targets(small: float, anymal: float, talos: float) -> dict[str, float]:
    return {**dict.fromkeys(SMALL, small), 'anymal': anymal, 'talos': talos}


QUANTITIES = (
    Quantity(INVERSE_DYNAMICS, 'inverse dynamics', _targets(0.16, 0.16, 0.16), on_chains=True),
    Quantity(BOUND, 'buffers bound once', _targets(0.08, 0.10, 0.12), on_chains=True),
    Quantity('gravity', 'gravity', _targets(0.25, 0.25, 0.3)),
    Quantity('bias', 'bias', _targets(0.25, 0.25, 0.3)),
    Quantity('mass_matrix', 'mass matrix', _targets(0.25, 0.25, 0.3)),
    Quantity('f_ext', 'f_ext on all bodies', _targets(0.25, 0.25, 0.3)),
    Quantity('forward_dynamics', 'forward dynamics', _targets(0.25, 0.25, 0.3)),
    Quantity('derivatives', 'derivatives', _targets(0.3, 0.4, 0.5)),
    Quantity('new_result', 'inverse dynamics, new array', _targets(0.25, 0.25, 0.25),
             way_of=INVERSE_DYNAMICS),
    Quantity('new_gravity', 'gravity, new array', _targets(0.25, 0.25, 0.25), way_of='gravity'),
    Quantity('new_mass_matrix', 'mass matrix, new array', _targets(0.25, 0.25, 0.25),
             way_of='mass_matrix'),
    Quantity('taken_before', 'inverse dynamics, taken before', _targets(0.16, 0.16, 0.16),
             way_of=INVERSE_DYNAMICS),
    Quantity('payload', 'inverse dynamics, payload', {}, way_of=INVERSE_DYNAMICS),
    Quantity('adjustable', 'inverse dynamics, adjustable', {}, way_of=INVERSE_DYNAMICS,
             slower_than='payload'),
    Quantity('payload_gravity', 'gravity, payload', {}, way_of='gravity'),
    Quantity('adjustable_gravity', 'gravity, adjustable', {}, way_of='gravity',
             slower_than='payload_gravity'),
    Quantity('lists', 'inverse dynamics, lists', {}, way_of=INVERSE_DYNAMICS),
    Quantity('float32', 'inverse dynamics, float32', {}, way_of=INVERSE_DYNAMICS),
    Quantity(BATCH, 'batch, per row', _targets(1 / 30, 1 / 20, 1 / 14)),
)

BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}
