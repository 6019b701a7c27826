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
"""What is done in the middle of a motion is done once, in its order and not before its time."""

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('ros2_rnea_interfaces')
pytest.importorskip('mujoco')
from ros2_rnea.tools.demo.scenes import SCENES  # noqa: E402
from ros2_rnea.tools.demo.stage import TimedActions  # noqa: E402


@pytest.mark.parametrize(('times', 'done'), [
    ((), ''),
    ((-0.5, 0.99), ''),
    ((0.99, 1.0), 'a'),
    ((1.0, 1.01, 1.5), 'a'),
    ((1.5, 2.5), 'ab'),
    ((2.5, 2.6, 2.7), 'ab'),  # late: one after the other all the same
])
def test_actions_are_executed_once_and_when_they_are_due(times, done):
    seen = []
    actions = TimedActions((1.0, lambda: seen.append('a')), (2.0, lambda: seen.append('b')))
    for time in times:
        actions(time)
    assert ''.join(seen) == done


def test_the_command_line_explains_every_scene(capsys):
    from ros2_rnea.tools.demo.__main__ import main
    with pytest.raises(SystemExit):
        main(['--help'])
    explained = capsys.readouterr().out
    for scene in ('tracking', *SCENES):
        assert f'\n{scene}:' in explained
