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
"""What is traced: how much it costs, what enters as an input, and what is looked into."""

from dataclasses import replace

from example_robots import example_urdf
import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.dynamics import quantities
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS, RobotParameters
from ros2_rnea.dynamics.quantities import BY_NAME
from ros2_rnea.dynamics.quantity_definition import INERTIA, WRENCHES
from ros2_rnea.kernels.graph import Symbol
from ros2_rnea.kernels.tracing import (
    arrays,
    input_size,
    PARAMETERS,
    QUATERNION_BOUND,
    trace,
    Variant,
)
from ros2_rnea.model.description import JointType
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER, FREE_FLYER

ARITHMETIC = ('add', 'subtract', 'multiply', 'divide')
FULL = Variant(JOINT_PARAMETERS, payloads=(0, 1), wrenches=True)
for_each_quantity = pytest.mark.parametrize('quantity', BY_NAME.values(), ids=BY_NAME)


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM).tree


# --- what it costs

def example_tree(path, held=''):
    """Return the tree of a real robot; joints with a name like ``held`` are fixed."""
    description = parse_urdf(example_urdf(path))
    joints = tuple(
        replace(joint, type=JointType.FIXED, mimic=None) if held and held in joint.name else joint
        for joint in description.joints)
    return build_tree(
        replace(description, joints=joints), massless_links=[x.name for x in description.links])


@pytest.mark.parametrize('path, held, joints, most, today', [
    ('panda_description/urdf/panda.urdf', 'finger', 7, 830, 641),
    ('ur_description/urdf/ur5_robot.urdf', '', 6, 400, 330),
])
def test_inverse_dynamics_costs_few_operations(path, held, joints, most, today, record_property):
    """``today`` is what the documentation says; an operation more or less is to be said there."""
    tree = example_tree(path, held)
    assert tree.nv == joints
    traced = trace(tree, quantities.INVERSE_DYNAMICS, Variant())
    count = traced.graph.count(traced.outputs)
    record_property('operations', dict(count))
    assert sum(count[kind] for kind in ARITHMETIC) == today <= most
    assert count['sine'] == count['cosine'] == joints
    assert count['divide'] == count['square root'] == 0


@for_each_quantity
def test_option_that_a_robot_does_not_have_costs_nothing(arm, quantity):
    def cost(variant):
        traced = trace(arm, quantity, variant)
        return len(traced.graph.needed(traced.outputs))  # an offset alone is no operation

    options = {name: Variant((name,)) for name in JOINT_PARAMETERS}
    options[INERTIA] = Variant(payloads=(1,))
    del options['spring_reference']  # which costs only where there is a stiffness
    del options['stribeck_velocity']  # likewise, where there is breakaway friction
    for name, variant in options.items():
        assert (cost(variant) > cost(Variant())) == (name in quantity.depends_on)


@for_each_quantity
def test_every_input_is_of_use(arm, quantity):
    traced = trace(arm, quantity, FULL)
    used = {traced.graph.operations[node].left
            for node in traced.graph.needed(traced.outputs)
            if traced.graph.operations[node].kind == 'input'}
    has_parameters = {*quantity.depends_on} - {WRENCHES}
    of_no_use = set() if has_parameters else {PARAMETERS}
    assert used == {name for name, _ in traced.inputs} - of_no_use


# --- inputs

@for_each_quantity
@pytest.mark.parametrize('variant', [Variant(), FULL], ids=['plain', 'full'])
def test_inputs_have_the_sizes_that_callers_are_told(arm, quantity, variant):
    traced = trace(arm, quantity, variant)
    assert [name for name, _ in traced.inputs] == [*arrays(quantity, variant)]
    for name, size in traced.inputs:
        assert size == input_size(arm, name)
    assert dict(traced.inputs)[PARAMETERS] == RobotParameters(arm, [0.0] * 3, {}).values.size
    assert len(traced.outputs) == np.prod(traced.shape) == np.prod(quantity.shape(arm))


@for_each_quantity
def test_options_that_do_not_enter_make_no_other_variant(quantity):
    relevant = FULL.relevant_to(quantity)
    assert relevant.joint_parameters == tuple(
        name for name in JOINT_PARAMETERS if name in quantity.depends_on)
    assert bool(relevant.payloads) == (INERTIA in quantity.depends_on)
    assert relevant.wrenches == (WRENCHES in quantity.depends_on)


@pytest.mark.parametrize('name', JOINT_PARAMETERS)
def test_values_of_options_are_not_in_the_graph(arm, name):
    other = replace(arm, bodies=tuple(replace(body, **{name: 0.7}) for body in arm.bodies))
    ours, theirs = (trace(tree, quantities.INVERSE_DYNAMICS, FULL) for tree in (arm, other))
    assert ours.graph.operations == theirs.graph.operations


# --- guards

def test_robot_of_turning_joints_has_no_guards(arm):
    assert trace(arm, quantities.INVERSE_DYNAMICS, FULL).guards == ()


def test_quaternions_are_looked_at():
    tree = Robot.from_urdf(FREE_FLYER, floating_base=True).tree
    for quantity in BY_NAME.values():
        guards = [guard for guard in trace(tree, quantity, Variant()).guards
                  if guard.bound == QUATERNION_BOUND]
        assert len(guards) == (2 if 'q' in quantity.inputs else 0)


def test_accelerations_are_looked_at():
    tree = Robot.from_urdf(ARM_WITH_GRIPPER).tree
    traced = trace(tree, quantities.FORWARD_DYNAMICS, Variant())
    assert [(guard.value, guard.bound, guard.nan) for guard in traced.guards] == [
        (output, quantities.IMPLAUSIBLE_ACCELERATION, True) for output in traced.outputs]


def test_outputs_are_symbols_or_floats():
    tree = Robot.from_urdf(ARM_WITH_GRIPPER).tree
    for quantity in (*BY_NAME.values(), quantities.link_jacobian('base')):
        for output in trace(tree, quantity, FULL).outputs:
            assert type(output) in (Symbol, float)
