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
"""The settings of the policy, by the node's parameters and by all else that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ros2_rnea.control.robot_joints import controlled_joints
from ros2_rnea.control.settings import OnStop, Settings
from ros2_rnea.node.parameters import NodeParameters, PositionLoop
from ros2_rnea.robots.robot import Robot


class WantedSettings:
    """
    Settings from parameters.

    :param reason_to_send_nothing: returns, for values of the node's parameters, why no effort may
        be sent; empty where efforts may be sent.  It raises an RneaError where one has no valid
        value.
    :param may_reach_other_joints: returns, for values of the node's parameters, whether efforts
        could reach other joints than they are meant for.  Then not even a last effort may be sent.
        It raises an RneaError where one has no valid value.
    :param held_joints: returns the joints whose position or velocity other controllers command,
        and a text that says how they are known.
    :param compensated_joints: returns the joints to which controllers add the model by themselves.
    """

    def __init__(
            self, reason_to_send_nothing: Callable[[Mapping[str, Any]], str],
            may_reach_other_joints: Callable[[Mapping[str, Any]], bool],
            held_joints: Callable[[], tuple[frozenset[str], str]],
            compensated_joints: Callable[[], frozenset[str]]) -> None:
        self.reason_to_send_nothing = reason_to_send_nothing
        self._may_reach_other_joints = may_reach_other_joints
        self._held_joints = held_joints
        self._compensated_joints = compensated_joints

    def of(
            self, parameters: NodeParameters, robot: Robot | None, is_active: bool,
            is_undecided: bool) -> Settings:
        """
        Return the settings to be used.

        :param robot: for which; None: there is none.
        :param is_active: whether the node may send efforts, as a managed node may while it is.
        :param is_undecided: whether nothing tells which of two robots is driven.
        """
        settings = self.with_held_joints(parameters, robot)
        if settings.enabled and (
                not is_active or is_undecided or self.reason_to_send_nothing(parameters.own)):
            settings = replace(settings, enabled=False, may_be_enabled=False)
        settings = self._giving_way(settings)
        if is_undecided or self._may_reach_other_joints(parameters.own):
            settings = replace(settings, enabled=False, may_send_last=False)
        return settings

    def _giving_way(self, settings: Settings) -> Settings:
        """
        Return settings with which an effort ends for controllers that add the model.

        They hold their joints: nothing is braked there, and what this node leaves behind is zero,
        since gravity would act twice for ever.  A joint that none of them holds is not dropped.
        """
        joints = frozenset(settings.joints)
        compensated = joints & self._compensated_joints()
        if not compensated:
            return settings
        return replace(
            settings, held_by_others=settings.held_by_others | compensated,
            on_stop=OnStop.ZERO if compensated == joints else settings.on_stop)

    def with_held_joints(self, parameters: NodeParameters, robot: Robot | None) -> Settings:
        """Return the settings of parameters, with the joints that others hold."""
        settings, loop = parameters.settings, parameters.own['position_loop']
        held = self._held_joints()[0] if loop is PositionLoop.AUTOMATIC else frozenset()
        if not held and loop is not PositionLoop.PRESENT:
            return settings
        joints = frozenset(settings.joints)
        if not joints and robot is not None:
            joints = frozenset(controlled_joints(robot, settings))
        return replace(settings, held_by_others=joints & held if held else joints)

    def why_alone(self, parameters: NodeParameters) -> str:
        """Return a sentence on how it is known which joints the node moves alone."""
        loop = parameters.own['position_loop']
        how = f' ({self._held_joints()[1]})' if loop is PositionLoop.AUTOMATIC else ''
        others = ' or '.join(other.value for other in PositionLoop if other is not loop)
        return (f'This follows from position_loop: {loop.value}{how}; set it to {others} where it '
                'is wrong')
