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
"""The mount is tilted; later ``~/set_gravity`` sets the direction of gravity in the node."""

from __future__ import annotations

from functools import partial

from ros2_rnea.tools.demo.arm import gravity_when_tilted
from ros2_rnea.tools.demo.commander import DRIVER
from ros2_rnea.tools.demo.figures import Episode
from ros2_rnea.tools.demo.scenes.change import play_change
from ros2_rnea.tools.demo.stage import Stage
from ros2_rnea.tools.simulated_driver.engine import GRAVITY


def play(stage: Stage) -> Episode:
    """Tilt the mount during the motion, and set it upright at the end."""
    commander, tilt = stage.commander, stage.arm.tilt
    tilted = gravity_when_tilted(tilt)
    episode = play_change(
        stage, f'mount tilted by {tilt:.0f}°',
        partial(commander.set_parameter, DRIVER, 'gravity', tilted),
        partial(commander.tell_gravity, tilted))
    commander.set_parameter(DRIVER, 'gravity', list(GRAVITY))
    commander.tell_gravity(GRAVITY)
    return episode
