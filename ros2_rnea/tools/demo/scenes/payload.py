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
"""The arm picks up a payload; later ``~/set_payload`` sets it in the node."""

from __future__ import annotations

from functools import partial

from ros2_rnea.tools.demo.figures import Episode
from ros2_rnea.tools.demo.scenes.change import play_change
from ros2_rnea.tools.demo.stage import Stage


def play(stage: Stage) -> Episode:
    """Pick up the payload during the motion, and put it down at the end."""
    commander, load = stage.commander, stage.arm.load
    nothing = load._replace(mass=0.0)
    episode = play_change(
        stage, f'{load.mass:.2g} kg picked up',
        partial(commander.load, load), partial(commander.tell_payload, load))
    commander.load(nothing)
    commander.tell_payload(nothing)
    return episode
