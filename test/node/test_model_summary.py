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
"""What is logged about a robot that has come into use."""

from types import SimpleNamespace

import pytest
from ros2_rnea import Robot
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Settings
from ros2_rnea.node.models.model_summary import log_model_summary
from small_robots import ARM, ROVER


def summary(description=ARM, joints=('shoulder', 'elbow'), findings=(), overrides=()):
    """Return what is logged, as pairs of level and text."""
    robot = Robot.from_urdf(description)
    log = []
    logger = SimpleNamespace(
        info=lambda text: log.append(('info', text)),
        warning=lambda text: log.append(('warning', text)))
    log_model_summary(
        SimpleNamespace(robot=robot, tree=robot.tree, findings=findings),
        Policy(robot, Settings(joints=joints)), overrides, logger)
    return log


def test_where_nothing_is_missing_one_line_names_robot_and_joints():
    ((level, text),) = summary()
    assert level == 'info'
    assert "'arm'" in text and text.endswith('controlled: shoulder, elbow')


def test_without_joints_a_warning_has_an_order_to_copy():
    (_, (level, text)) = summary(joints=())
    assert level == 'warning'
    assert '~/commands' in text and text.endswith('joints: [shoulder, elbow]')


def test_findings_are_counted_and_the_first_is_quoted():
    (_, (level, text)) = summary(findings=('too heavy', 'too light'))
    assert level == 'warning'
    assert text.startswith('2 findings') and text.endswith('too heavy')


def test_joints_that_no_joint_state_can_tell_of_are_named():
    (_, (level, text)) = summary(ROVER, joints=('pan',))
    assert level == 'warning'
    assert 'drive' in text and 'assumed_positions' in text
    assert 'pan' not in text


@pytest.mark.parametrize('name, is_unknown', [
    ('damping.elbow', False), ('damping.elbw', True), ('assumed_positions.wrist', True),
    ('armature.elbow', False), ('armature.grip', True),
    ('lookahead', False), ('qos_overrides.elbw', False), ('friction.', True),
    ('effort_limits.elbw', False)])  # which is an error
def test_parameters_of_unknown_joints_are_named_and_no_others(name, is_unknown):
    lines = [text for _, text in summary(overrides=['use_sim_time', name])[1:]]
    assert [text.partition(' ')[0] for text in lines] == ([name] if is_unknown else [])
    assert name != 'damping.elbw' or "did you mean 'elbow'" in lines[0]


def test_friction_that_a_parameter_replaces_is_said():
    texts = [text for _, text in summary(overrides=['damping.shoulder', 'damping.elbow'])]
    said, = (text for text in texts if 'friction' in text)
    assert 'shoulder: that of the parameters is used' in said and 'elbow' not in said
