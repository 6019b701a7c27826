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
"""A change of the arm during a motion that the node learns about only later."""

from __future__ import annotations

from collections.abc import Callable

from ros2_rnea.tools.demo.figures import Episode, Section
from ros2_rnea.tools.demo.stage import Stage, TimedActions

HAPPENS, TOLD, OVER = 2.8, 5.6, 9.9
"""Times since the start of the motion [s]."""

COMING_INTO_FORCE = 2.4
"""
Time after the change is reported to the node [s].

It may compile the robot with its load first, and then blends the effort within ``blend_time``.
"""


def play_change(stage: Stage, title: str, happen: Callable[[], None],
                tell: Callable[[], None]) -> Episode:
    """
    Let the arm follow a motion: before the change, with the change unknown, and with it known.

    :param happen: changes the simulated world.
    :param tell: reports the change to the node.
    """
    motion = stage.arm.motion(OVER)
    stage.settle()
    log = stage.follow(motion, TimedActions((HAPPENS, happen), (TOLD, tell)))
    errors = stage.arm.displayed(log.positions - motion.at(log.times).positions)
    sections = (Section('before', 0.0, HAPPENS),
                Section('unknown', HAPPENS, TOLD),
                Section('known', TOLD, OVER, COMING_INTO_FORCE))
    return Episode(title, sections, log, errors, stage.commander.driver_report())
