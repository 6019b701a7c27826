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
"""The log lines about a robot that is used from now on, and hints about missing settings."""

from __future__ import annotations

from collections.abc import Collection

from rclpy.impl.rcutils_logger import RcutilsLogger
from ros2_rnea.control.policy import Policy
from ros2_rnea.errors import did_you_mean
from ros2_rnea.node import parameters
from ros2_rnea.node.models.model_building import Model
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.robots.joint_index_map import joint_body
from ros2_rnea.robots.robot import Robot

NO_ROBOT = 'there is no robot yet: no usable description was received on robot_description'
"""The answer of services while the node has no robot."""


def log_model_summary(
        model: Model, policy: Policy, overrides: Collection[str], logger: RcutilsLogger,
        ) -> None:
    """
    Log the robot with its controlled joints, and warn of findings and of missing settings.

    :param overrides: names of the parameters that a file or the command line sets.
    """
    robot, findings = model.robot, model.findings
    logger.info(f'{robot!r}; controlled: {listed(policy.controlled)}')
    _warn_of_unknown_joints(robot, overrides, logger)
    _log_replaced_friction(model, overrides, logger)
    if findings:
        count = '1 finding' if len(findings) == 1 else f'{len(findings)} findings'
        logger.warning(
            f'{count} about the model, listed in /diagnostics; the first: {findings[0]}')
    if not policy.settings.joints:
        names = ', '.join(policy.controlled)
        logger.warning(
            'the parameter joints is empty, so nothing is published on ~/commands; for the order '
            f'of the description, set   joints: [{names}]')
    unmeasured = [name for name in robot.joint_names if joint_body(robot, name).type.nv > 1]
    if unmeasured:
        logger.warning(
            f'joint states cannot contain {listed(unmeasured)}: the node uses the position in '
            'assumed_positions, at rest')


def _warn_of_unknown_joints(
        robot: Robot, overrides: Collection[str], logger: RcutilsLogger) -> None:
    """Warn of unknown joints in parameters; in ``effort_limits`` they are also an error."""
    for name in overrides:
        family, _, joint = name.partition('.')
        if family != 'effort_limits' and family in parameters.OF_JOINTS and (
                joint not in robot.joint_names):
            logger.warning(
                f'{name} names no independent moving joint of '
                f'{robot.name!r}{did_you_mean(joint, robot.joint_names)}')


def _log_replaced_friction(
        model: Model, overrides: Collection[str], logger: RcutilsLogger) -> None:
    """Log for which joints a parameter replaces the friction in the description."""
    both = [joint for joint, index in model.tree.joints.items() if any(
        getattr(model.tree.bodies[index], kind) and f'{kind}.{joint}' in overrides
        for kind in ('damping', 'friction'))]
    if both:
        logger.info(
            'the description and the parameters both have the friction of '
            f'{listed(both)}: that of the parameters is used')
