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
"""Compiling in another process, while this one could go on."""

from patience import until
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.terms import GRAVITY
from ros2_rnea.errors import RneaError
from ros2_rnea.kernels import machine
from ros2_rnea.kernels.background import Compilation
from ros2_rnea.kernels.compiled import KernelSpec
from ros2_rnea.kernels.tracing import Variant
from small_robots import joint, link, robot

pytest.importorskip('llvmlite')


def rod(length):
    """Return a robot that no other test has compiled."""
    return Robot.from_urdf(robot(
        link('wall'), link('rod', com=f'0 0 {length}'), joint('pin', 'wall', 'rod')),
        engine='compiled')


def finish(compilation):
    """Wait until all is compiled."""
    until(compilation.is_done)


def test_what_it_made_need_not_be_compiled_here(monkeypatch):
    pendulum = rod(0.123)
    finish(pendulum.compile_in_background('inverse_dynamics', 'effort_terms'))
    monkeypatch.setattr(machine, 'compile_object', None)
    expected = rod(0.123).effort_terms([0.3], [1.0], [2.0])
    assert expected.total == pytest.approx(pendulum.inverse_dynamics([0.3], [1.0], [2.0]))
    wrench = {'rod': [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    pendulum.inverse_dynamics([0.3], [1.0], [2.0], wrench)


def test_nothing_is_started_where_nothing_lacks():
    pendulum = rod(0.234)
    pendulum.compile('gravity')
    assert pendulum.compile_in_background('gravity') is None
    assert rod(0.234).compile_in_background('gravity') is None  # the cache has it


def test_only_what_lacks_is_compiled():
    pendulum = rod(0.345)
    pendulum.compile('gravity')
    finish(pendulum.compile_in_background('gravity', 'bias'))
    assert pendulum.compile_in_background('bias') is None


def test_robots_that_are_not_compiled_need_nothing():
    text = robot(link('wall'), link('rod'), joint('pin', 'wall', 'rod'))
    assert Robot.from_urdf(text, engine='textbook').compile_in_background('gravity') is None


def test_a_failure_is_told():
    spec = KernelSpec('nonsense', GRAVITY, Variant())
    compilation = Compilation(rod(0.456).tree, [spec])
    with pytest.raises(RneaError, match="status 1, .*'nonsense'.* describes no kernel"):
        finish(compilation)


def test_it_can_be_given_up():
    compilation = rod(0.567).compile_in_background('gravity')
    compilation.close()
    compilation.close()
