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
"""A robot that has to be compiled: what is in force goes on meanwhile, and nothing waits."""

from itertools import count

import pytest
from ros2_rnea.kernels import background
from ros2_rnea.kernels.machine import CompilerError
from ros2_rnea.robot import Robot
from small_robots import joint, link, robot

pytest.importorskip('llvmlite')
pytestmark = pytest.mark.usefixtures('fastest_engine')


LENGTHS = count(211)


def rod():
    """Return the URDF of a robot that no other test has compiled."""
    return robot(
        link('wall'), link('rod', com=f'{next(LENGTHS)}e-3 0 0'), joint('pin', 'wall', 'rod'))


def weight(text):
    return Robot.from_urdf(text, engine='textbook').gravity([0.0])


@pytest.fixture
def held(monkeypatch):
    """Let the compiling process wait until the test says otherwise."""
    gate = {'open': False}
    has_ended = background.Compilation.has_ended
    monkeypatch.setattr(
        background.Compilation, 'has_ended', lambda self: gate['open'] and has_ended(self))
    return gate


def test_the_first_robot_is_compiled_without_the_node_standing_still(bench, held):
    text = rod()
    node = bench(joints=['pin'])
    node.describe(text)
    node.settle()
    assert node.node.policy is None
    held['open'] = True
    node.until(lambda: node.node.policy)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text))


def test_the_old_robot_goes_on_while_the_new_one_is_compiled(bench, held):
    old, new = rod(), rod()
    held['open'] = True
    node = bench(joints=['pin'])
    node.describe(old)
    node.until(lambda: node.node.policy)
    held['open'] = False
    node.describe(new)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(old))
    assert node.set_parameter('enabled', False).successful  # settings do not wait
    assert not node.node.policy.settings.enabled
    assert node.set_parameter('enabled', True).successful
    held['open'] = True
    first = node.node.policy
    node.until(lambda: node.node.policy is not first)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(new))


def test_of_two_robots_in_a_row_the_later_one_comes_into_force(bench, held):
    node = bench(joints=['pin'])
    later = rod()
    node.describe(rod())
    node.describe(later)
    held['open'] = True
    node.until(lambda: node.node.policy)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(later))


def test_a_robot_that_cannot_be_compiled_is_refused_with_the_reason(bench, monkeypatch):
    def fail(_):
        raise CompilerError('the compiler has had enough')
    monkeypatch.setattr(background.Compilation, 'is_done', fail)
    node = bench(joints=['pin'])
    node.describe(rod())
    node.until(lambda: node.refused('robot_description'))
    assert node.node.policy is None
