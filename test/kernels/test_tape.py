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
"""Tapes: they compute what the library does, in runs as long as can be."""

from __future__ import annotations

from math import inf, nan

from exported import answer, exported, exported_robot, random_inputs, ROBOTS, worst
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics.quantities import FORWARD_DYNAMICS
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import tape as tapes
from ros2_rnea.kernels.graph import Graph
from ros2_rnea.kernels.tape import evaluate, Kind, Load, Run, Tape, tape_of
from ros2_rnea.kernels.tracing import Guard, Trace
from small_robots import FREE_FLYER

TOLERANCE = 1e-12


def lists(inputs):
    return {name: array.tolist() for name, array in inputs.items()}


@pytest.mark.parametrize('name', ROBOTS)
def test_tapes_compute_what_the_library_does(name):
    robot, quantities, _, model = exported(exported_robot(name))
    rng = np.random.default_rng(1)
    for _ in range(5):
        inputs = random_inputs(robot, rng)
        for quantity, tape in zip(quantities, model.tapes):
            assert worst(evaluate(tape, lists(inputs)),
                         answer(robot, quantity, inputs)) <= TOLERANCE, quantity.name


def test_other_parameters_are_those_of_a_changed_robot():
    robot, quantities, _, model = exported(exported_robot('arm'))
    inputs = random_inputs(robot, np.random.default_rng(1))
    before = evaluate(model.tapes[0], lists(inputs))
    robot.set_gravity((1.0, 2.0, 3.0))
    robot.remove_payload('load')
    robot.set_joint_parameters('friction_offset', {'shoulder': 7.0})
    inputs['parameters'] = robot.parameter_values
    after = evaluate(model.tapes[0], lists(inputs))
    assert worst(after, answer(robot, quantities[0], inputs)) <= TOLERANCE
    assert not np.allclose(after, before)


# ---- how it is recorded -------------------------------------------------------------------------


def recorded(build, *shape, guards=()):
    """Return the tape of what a function makes of three inputs, and the symbols."""
    graph = Graph()
    x, y, z = symbols = graph.inputs('q', 3)
    outputs = tuple(build(x, y, z))
    return tape_of('it', Trace(
        graph, (('q', 3),), outputs, shape or (len(outputs),),
        tuple(guard(*symbols) for guard in guards)))


def kinds(tape):
    return [run.kind for run in tape.runs]


FUSED = {
    Kind.MULTIPLY_ADD: lambda x, y, z: [x * y + (z + x)],
    Kind.MULTIPLY_SUBTRACT: lambda x, y, z: [x * y - (z + x)],
    Kind.SUBTRACT_PRODUCT: lambda x, y, z: [(z + x) - x * y],
}


@pytest.mark.parametrize('kind', FUSED)
def test_product_that_is_needed_once_is_part_of_the_sum(kind):
    tape = recorded(FUSED[kind])
    assert kinds(tape) == [Kind.ADD, kind]
    x, y, z = 2.0, 3.0, 10.0
    assert evaluate(tape, {'q': [x, y, z]}) == FUSED[kind](x, y, z)


def test_product_that_is_needed_twice_is_computed_once():
    tape = recorded(lambda x, y, z: [x * y + z, z - x * y])
    assert sorted(kinds(tape)) == [Kind.ADD, Kind.SUBTRACT, Kind.MULTIPLY]
    tape = recorded(lambda x, y, z: [x * y + z, x * y])
    assert kinds(tape) == [Kind.MULTIPLY, Kind.ADD]
    assert evaluate(tape, {'q': [2.0, 3.0, 4.0]}) == [10.0, 6.0]


def test_sine_and_cosine_of_an_angle_are_one_operation():
    tape = recorded(lambda x, y, z: [x.sin() * y, x.cos() * z, y.cos()])
    assert tape.runs[0] == Run(Kind.SINE_COSINE, ((0,), (1,)))
    assert evaluate(tape, {'q': [0.5, 2.0, 3.0]}) == [
        np.sin(0.5) * 2.0, np.cos(0.5) * 3.0, np.cos(2.0)]


def test_all_operations_that_are_ready_are_one_run():
    tape = recorded(lambda x, y, z: [x + y, y + z, (x + y) + (y + z), (x + z) * y])
    assert [(run.kind, len(run.operands)) for run in tape.runs] == [
        (Kind.ADD, 4), (Kind.MULTIPLY, 1)]
    assert evaluate(tape, {'q': [1.0, 2.0, 4.0]}) == [3.0, 6.0, 9.0, 10.0]


def test_runs_of_a_robot_are_long():
    tape = exported(exported_robot('panda')).model.tapes[0]
    assert tape.operations > 5 * len(tape.runs)


def test_results_may_be_inputs_constants_and_negatives():
    tape = recorded(lambda x, y, z: [x, 0.0, -2.5, -y, -y, -(x + z)], 2, 3)
    assert tape.shape == (2, 3)
    assert evaluate(tape, {'q': [1.0, 2.0, 4.0]}) == [1.0, 0.0, -2.5, -2.0, -2.0, -5.0]


def test_roots_and_quotients():
    tape = recorded(lambda x, y, z: [(x + y).sqrt(), 1.0 / z, x / y])
    assert evaluate(tape, {'q': [4.0, 5.0, 2.0]}) == [3.0, 0.5, 0.8]


def test_what_no_output_needs_is_left_out():
    tape = recorded(lambda x, y, z: [x * y])
    assert tape == Tape('it', (1, 1), (Load('q', 0), Load('q', 1)), (), (),
                        (Run(Kind.MULTIPLY, ((0, 1),)),), (2,))
    assert tape.inputs == ('q',)
    assert (tape.operations, tape.registers) == (1, 3)


@pytest.mark.parametrize('checks_nan', [False, True])
def test_guard_refuses_what_is_beyond_its_bound(checks_nan):
    tape = recorded(lambda x, y, z: [z], guards=[lambda x, y, z: Guard(-x, 2.0, checks_nan)])
    assert [guard.bound for guard in tape.guards] == [2.0]
    for value, passes in [(2.0, True), (-2.0, True), (2.1, False), (-2.1, False), (inf, False),
                          (nan, not checks_nan)]:
        assert evaluate(tape, {'q': [value, 0.0, 7.0]}) == ([7.0] if passes else None), value


def test_quaternion_that_is_not_of_length_1_is_refused():
    robot, _, _, model = exported(exported_robot('free flyer'), ['gravity'])
    inputs = lists(random_inputs(robot, np.random.default_rng(0)))
    assert evaluate(model.tapes[0], inputs) is not None
    inputs['q'][3:7] = [1.01 * number for number in inputs['q'][3:7]]
    assert evaluate(model.tapes[0], inputs) is None


def test_implausible_acceleration_is_refused():
    robot = Robot.from_urdf(FREE_FLYER)
    _, _, _, model = exported(robot, ['forward_dynamics'])
    tape = model.tapes[0]
    assert {guard.bound for guard in tape.guards} >= {FORWARD_DYNAMICS.largest_plausible}
    inputs = lists(random_inputs(robot, np.random.default_rng(0)))
    assert evaluate(tape, inputs) is not None
    inputs['tau'] = [1e15] * robot.nv
    assert evaluate(tape, inputs) is None


def test_tape_with_too_many_registers_is_refused(monkeypatch):
    monkeypatch.setattr(tapes, 'MOST_REGISTERS', 4)
    recorded(lambda x, y, z: [x + y * z])  # x, y, z and the sum
    with pytest.raises(ArgumentError, match='it takes 5 registers; a tape has 4 at most'):
        recorded(lambda x, y, z: [(x + y) * z])


@pytest.mark.parametrize('place', [65_535, 65_536])
def test_a_place_of_an_input_is_named_by_16_bits(place):
    graph = Graph()
    number = graph.inputs('parameters', place + 1)[place]
    trace = Trace(graph, (('parameters', place + 1),), (number + 1.0,), (1,), ())
    if place == 65_535:
        tape = tape_of('it', trace)
        assert tape.loads == (Load('parameters', place),)
        assert tapes.tape_data(tape)
        return
    with pytest.raises(ArgumentError, match='it reads number 65536 of an input; .* first 65536'):
        tape_of('it', trace)
