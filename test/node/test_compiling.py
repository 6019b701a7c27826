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
"""A robot that has to be compiled: what is in use goes on meanwhile, and nothing waits."""

from itertools import count
import re
from secrets import randbits

from geometry_msgs.msg import Inertia
import pytest
from rclpy.parameter import Parameter
from ros2_rnea.errors import CompilerError
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node.models import build_report
from ros2_rnea.node.worker.model_worker import ModelWorker
from ros2_rnea.node.worker.worker_process import WorkerProcess
from ros2_rnea.robots.robot import Robot
from small_robots import joint, link, robot

pytest.importorskip('llvmlite')
pytestmark = pytest.mark.usefixtures('fastest_engine')


LENGTHS = count(211)


def rod():
    """Return the URDF of a robot that no other test has compiled."""
    return robot(
        link('wall'), link('rod', com=f'{next(LENGTHS)}e-3 0 0'), joint('pin', 'wall', 'rod'))


def set_parameter(node, name, value):
    """Set a parameter without waiting for what is on its way."""
    return node.node.set_parameters([Parameter(name, value=value)])[0]


def weight(text):
    return Robot.from_urdf(text, engine='textbook').gravity([0.0])


def wait_for_robot(node):
    node.until(lambda: node.node.policy)


@pytest.fixture
def held(monkeypatch):
    """Hold answers of the worker back until the test says otherwise."""
    gate = {'open': False}
    take = ModelWorker.take
    monkeypatch.setattr(ModelWorker, 'take', lambda self: take(self) if gate['open'] else None)
    return gate


def test_the_first_robot_is_compiled_without_the_node_standing_still(bench, held):
    text = rod()
    node = bench(joints=['pin'])
    node.begin_to_describe(text)
    node.settle()
    assert node.node.policy is None
    held['open'] = True
    wait_for_robot(node)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text))


def test_the_old_robot_goes_on_while_another_is_compiled(bench, held):
    old, new = rod(), rod()
    held['open'] = True
    node = bench(joints=['pin'], state_timeout=9.0)
    node.begin_to_describe(old)
    wait_for_robot(node)
    held['open'] = False
    node.begin_to_describe(new)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(old))
    assert set_parameter(node, 'enabled', False).successful  # settings do not wait
    assert not node.node.policy.settings.enabled
    assert set_parameter(node, 'enabled', True).successful
    held['open'] = True
    first = node.node.policy
    node.until(lambda: node.node.policy is not first)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(new))


def test_of_two_robots_in_a_row_the_later_is_used(bench, held):
    node = bench(joints=['pin'])
    later = rod()
    node.begin_to_describe(rod())
    node.begin_to_describe(later)
    held['open'] = True
    wait_for_robot(node)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(later))


@pytest.fixture
def fail_to_compile(monkeypatch):
    """Return a function after which no robot can be compiled any more."""
    def fail(*_):
        raise CompilerError('the compiler has had enough')

    return lambda: monkeypatch.setattr(WorkerProcess, 'ask', fail)


def test_where_compilation_fails_the_robot_is_refused_with_the_reason(bench, fail_to_compile):
    fail_to_compile()
    node = bench(joints=['pin'])
    node.begin_to_describe(rod())
    node.until(lambda: 'the compiler has had enough' in node.told('robot_description'))
    assert node.node.policy is None


# ---- what is said meanwhile ---------------------------------------------------------------------


def new_rod():
    """Return the URDF of a robot that not even an earlier run of the tests has compiled."""
    return robot(link('wall'), link('rod', com=f'0.{randbits(50)} 0 0'),
                 joint('pin', 'wall', 'rod'))


def begins_and_ends(capfd):
    """Return how many lines of the log begin and end a compilation."""
    log = capfd.readouterr().err
    return log.count('compiling 9 kernels'), log.count('compiled 9 kernels in ')


def compilation(status):
    """Return what a message in the diagnostics says about a compilation."""
    return {value.key: value.value for value in status.values}.get('compilation', '')


def test_diagnostics_show_the_progress_and_the_log_both_ends(
        bench, held, capfd):
    node = bench(joints=['pin'])
    node.begin_to_describe(new_rod())
    node.until(lambda: any(map(compilation, node.diagnostics)))
    first = next(status for status in node.diagnostics if compilation(status))
    assert re.fullmatch(
        r'compiling kernel \d of 9 \(\w+\), \d+\.\d s so far', compilation(first))
    assert first.message.endswith(compilation(first))
    node.until(lambda: 'kernel 9 of 9' in compilation(node.diagnostics[-1]))
    assert node.node.policy is None
    assert begins_and_ends(capfd) == (1, 0)
    held['open'] = True
    wait_for_robot(node)
    assert begins_and_ends(capfd) == (0, 1)
    node.until(lambda: not compilation(node.diagnostics[-1]))


@pytest.mark.parametrize('period, lines', [(0.0, True), (3600.0, False)])
def test_the_log_says_repeatedly_how_far_a_compilation_is(
        bench, held, capfd, monkeypatch, period, lines):
    monkeypatch.setattr(build_report, 'PROGRESS_PERIOD', period)
    node = bench(joints=['pin'])
    node.begin_to_describe(new_rod())
    node.until(lambda: node.diagnostics
               and 'kernel 9 of 9' in compilation(node.diagnostics[-1]))
    node.settle()
    log = capfd.readouterr().err
    pattern = r'compiling kernel 9 of 9 \(\w+\), \d+\.\d s so far'
    assert (re.search(pattern, log) is not None) is lines
    assert log.count('compiling 9 kernels') == 1


def test_of_a_robot_that_is_compiled_nothing_is_said(bench, held, capfd):
    held['open'] = True
    text = new_rod()
    for begins_and_ends_once in ((1, 1), (0, 0)):
        node = bench(joints=['pin'])
        node.describe(text)
        wait_for_robot(node)
        assert begins_and_ends(capfd) == begins_and_ends_once
        assert not any(map(compilation, node.diagnostics)) or begins_and_ends_once == (1, 1)


def test_a_replaced_request_is_no_longer_reported_as_being_compiled(bench, held):
    node = bench(joints=['pin'])
    compiled = rod()
    held['open'] = True
    node.describe(compiled)
    held['open'] = False
    node.begin_to_describe(new_rod())
    node.until(lambda: node.diagnostics and compilation(node.diagnostics[-1]))
    node.begin_to_describe(compiled)  # in use: nothing is built
    node.settle()
    node.diagnostics.clear()
    node.until(lambda: node.diagnostics)
    assert not compilation(node.diagnostics[-1])


# ---- payloads -----------------------------------------------------------------------------------


BOX = Inertial(1.5, Pose((0.1, 0.0, 0.2)), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01))


def carry(node, name='box', **more):
    """Ask the node to let the rod carry something, and return the reply."""
    interfaces = pytest.importorskip('ros2_rnea_interfaces.srv')
    inertia = Inertia(m=BOX.mass, ixx=0.01, iyy=0.01, izz=0.01)
    inertia.com.x, inertia.com.y, inertia.com.z = BOX.origin.xyz
    return node.call(
        interfaces.SetPayload, 'set_payload', name=name, link='rod', inertia=inertia, **more)


def weight_with_box(text):
    return Robot.from_urdf(text, engine='textbook').with_payload('box', 'rod', BOX).gravity([0.0])


@pytest.fixture
def rod_at_work(bench, held):
    """Return a node whose rod is compiled, while what comes next waits, and the rod's URDF."""
    text = rod()
    held['open'] = True
    node = bench(joints=['pin'], state_timeout=9.0)
    node.begin_to_describe(text)
    wait_for_robot(node)
    held['open'] = False
    return node, text


def test_until_a_payload_is_compiled_the_robot_goes_on_without(rod_at_work, held):
    node, text = rod_at_work
    reply = carry(node)
    assert reply.success and reply.message == 'will be used once it is compiled'
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text))
    assert set_parameter(node, 'lookahead', 0.01).successful  # settings do not wait
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text))
    assert node.node.policy.settings.lookahead == 0.01
    held['open'] = True
    node.until(node.is_settled)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight_with_box(text))
    held['open'] = False
    assert carry(node, name='second', remove=False).message == 'in use'  # the same link


def test_a_payload_removed_before_it_is_compiled_never_counts(rod_at_work, held):
    node, text = rod_at_work
    assert carry(node).success
    reply = carry(node, remove=True)
    assert reply.success and reply.message == 'in use'
    held['open'] = True
    node.until(node.is_settled)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text))


def test_the_transition_of_a_payload_counts_once_it_is_compiled(rod_at_work, held):
    node, text = rod_at_work
    node.answer(['pin'], [0.0])
    assert carry(node, transition_time=60.0).success
    assert set_parameter(node, 'lookahead', 0.01).successful  # within blend_time, which is zero
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text))
    held['open'] = True
    node.until(lambda: node.node.policy.robot.payloads)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text), rel=0.1)
    assert set_parameter(node, 'lookahead', 0.0).successful  # goes on through other changes
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text), rel=0.1)


def test_a_failed_compilation_of_a_payload_is_reported(rod_at_work, held, fail_to_compile):
    node, text = rod_at_work
    fail_to_compile()
    assert carry(node).success
    held['open'] = True
    node.until(lambda: 'the compiler has had enough' in node.told('model'))
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight(text))
    assert not node.node.policy.robot.payloads


def test_a_description_that_comes_meanwhile_carries_the_payload_too(rod_at_work, held):
    node, _ = rod_at_work
    assert carry(node).success
    other = rod()
    node.begin_to_describe(other)
    held['open'] = True
    node.until(lambda: node.node.policy.robot.payloads)
    assert node.answer(['pin'], [0.0]) == pytest.approx(weight_with_box(other))
