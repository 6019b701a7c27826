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
"""What is said about a robot when it comes into force, and what the user may want to add."""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.impl.rcutils_logger import RcutilsLogger
from ros2_rnea.errors import did_you_mean
from ros2_rnea.feedforward.policy import FeedforwardPolicy
from ros2_rnea.feedforward.state.joint_index_map import joint_body
from ros2_rnea.node import parameters
from ros2_rnea.node.models.models import Model
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.robot import Robot

NO_ROBOT = 'there is no robot yet: nothing usable has come on robot_description'
"""What is answered while there is none to introduce."""


def introduce(
        model: Model, policy: FeedforwardPolicy, given: Iterable[str], logger: RcutilsLogger,
        ) -> None:
    """
    Log what there is and what lacks.

    :param given: names of the parameters in a file or on the command line.
    """
    robot, findings = model.robot, model.findings
    logger.info(f'{robot!r}; controlled: {listed(policy.controlled)}')
    _warn_of_unknown_joints(robot, given, logger)
    if findings:
        logger.warning(
            f'{len(findings)} findings about the model, all in /diagnostics; first: '
            f'{findings[0]}')
    if not policy.settings.joints:
        names = ', '.join(policy.controlled)
        logger.warning(
            'the parameter joints is empty, so ~/commands stays silent; for the order of '
            f'the description, set   joints: [{names}]')
    held = [name for name in robot.joint_names if joint_body(robot, name).type.nv > 1]
    if held:
        logger.warning(
            f'joint states cannot hold {listed(held)}: the position in assumed_positions '
            'counts, at rest')


def _warn_of_unknown_joints(robot: Robot, given: Iterable[str], logger: RcutilsLogger) -> None:
    """Warn of parameters of joints that there are not."""
    for name in given:
        family, _, joint = name.partition('.')
        if f'{family}.' in parameters.PER_JOINT and joint not in robot.joint_names:
            logger.warning(
                f'{name} is of no independent moving joint of '
                f'{robot.name!r}{did_you_mean(joint, robot.joint_names)}')
