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
"""Robots whose numbers change in place: as if they had been built with the new numbers."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import replace
import gc
from math import inf, nan
import pickle
import weakref

from drawn_robots import assert_close, cases, eighths, for_drawn, inertials, SETTINGS, vectors
from example_robots import example_urdf
from hypothesis import given, settings, strategies as st
import numpy as np
from paired_robots import needs_extension, needs_llvmlite, QUICK_ENGINE
import pytest
from ros2_rnea import AdjustableRobot, ArgumentError, Engine, RneaError, Robot
from ros2_rnea.dynamics.quantities import METHODS
from ros2_rnea.kernels import compiled, taped
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.robots.adjustable_robot import ADJUSTABLE, OPTIONAL
from small_robots import ARM, ARM_WITH_GRIPPER

STATE = np.array([0.3, -0.8, 0.1]), np.array([1.0, -2.0, 0.5]), np.array([3.0, 4.0, -1.0])
STONE = Inertial(2.0, Pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.5)), (0.3, 0.01, 0.02, 0.4, 0, 0.5))
TABLE = [*ADJUSTABLE]


# --- any sequence of changes

@st.composite
def changed_robots(draw):
    """Draw a case and the changes that are made to its robot."""
    case = draw(cases(most_joints=4, mimics=True))
    moving = {**case.tree.joints, **case.tree.mimics}
    single = [joint for joint, index in moving.items() if case.tree.bodies[index].type.nv == 1]
    link, name = st.sampled_from(case.robot.link_names), st.sampled_from(['stone', 'tool'])
    change = st.one_of(
        st.tuples(st.just('set_gravity'), vectors(10)),
        st.tuples(st.just('set_payload'), name, link, inertials()),
        st.tuples(st.just('remove_payload'), name),
        *(st.tuples(st.just('set_joint_parameters'), st.just(name), st.dictionaries(
            st.sampled_from([*joints]), eighths(2) if parameter.is_signed else eighths(2).map(abs),
            max_size=3)) for name, parameter in ADJUSTABLE.items()
          if (joints := single if parameter.of_one_coordinate else moving)))
    return case, draw(st.lists(change, min_size=1, max_size=6))


def adjusted(case, changes, engine):
    """Return an adjustable robot after all changes, and a robot that is built like that."""
    start = Robot(case.tree, engine=engine)
    robot = AdjustableRobot.of(start, case.robot.link_names, OPTIONAL)
    for method in (robot.inverse_dynamics, robot.effort_terms):
        method(*case.state)  # what is computed before must not count later
    payloads, gravity, tree = {}, None, case.tree
    for method, *arguments in changes:
        if method == 'set_gravity':
            gravity, = arguments
        elif method == 'set_payload':
            name, *payloads[name] = arguments
        elif method == 'remove_payload':
            name, = arguments
            if name not in payloads:
                continue
            del payloads[name]
        else:
            name, values = arguments
            tree = replace(tree, bodies=tuple(
                replace(body, **{name: values[body.joint]}) if body.joint in values else body
                for body in tree.bodies))
        getattr(robot, method)(*arguments)
    payloads = {name: tuple(payload) for name, payload in payloads.items()}
    return robot, Robot(tree, payloads, gravity, Engine.TEXTBOOK)


def compare(case, robot, expected):
    """Assert that robots give the same answers, to rounding."""
    vectors_by_name = {'q': case.q, 'qd': case.qd, 'qdd': case.qdd, 'tau': case.qdd}
    scale = np.max(np.abs(expected.effort_terms(*case.state)), initial=1.0)
    for name, quantity in METHODS.items():
        if name == 'forward_dynamics':
            continue
        inputs = [vectors_by_name[vector] for vector in quantity.inputs]
        answer = getattr(expected, name)(*inputs)
        assert_close(getattr(robot, name)(*inputs), answer, scale, 1e-12)
        assert_close(getattr(robot, name)(*(np.tile(v, (9, 1)) for v in inputs))[4], answer,
                     scale, 1e-12)
    for one, other in zip(robot.effort_terms(*case.state), expected.effort_terms(*case.state)):
        assert_close(one, other, scale, 1e-12)
    accelerations = expected.forward_dynamics(case.q, case.qd, case.qdd)
    assert_close(robot.forward_dynamics(case.q, case.qd, case.qdd), accelerations,
                 np.linalg.cond(expected.mass_matrix(case.q)) * np.max(np.abs(accelerations)))
    assert robot.potential_energy(case.q) == expected.potential_energy(case.q)
    assert np.array_equal(robot.inertial_parameters, expected.inertial_parameters)
    assert robot.payloads == expected.payloads


@for_drawn(changed_robots())
@pytest.mark.parametrize('engine', [
    Engine.TEXTBOOK, pytest.param(Engine.TAPE, marks=needs_extension)], ids=lambda e: e.value)
def test_changes_make_the_robot_built_with_those_numbers(engine, drawn):
    case, changes = drawn
    compare(case, *adjusted(case, changes, engine))


@pytest.mark.slow
@needs_llvmlite
@settings(SETTINGS, max_examples=SETTINGS.max_examples // 10)  # each takes seconds
@given(changed_robots())
def test_any_changes_do_so_in_machine_code(drawn):
    case, changes = drawn
    compare(case, *adjusted(case, changes, Engine.COMPILED))


def test_a_real_robot_after_changes_has_pinocchios_efforts():
    pinocchio_oracle = pytest.importorskip('pinocchio_oracle')
    text = example_urdf('panda_description/urdf/panda.urdf')
    stone = (
        '<link name="stone"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>'
        '<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="0" izz="0.5"/></inertial></link>'
        '<joint name="weld" type="fixed"><parent link="panda_hand"/><child link="stone"/></joint>')
    changed = text.replace('damping="0.003"', 'damping="0.5"').replace(
        '</robot>', stone + '</robot>')
    oracle = pinocchio_oracle.PinocchioOracle(changed)
    robot = AdjustableRobot.of(Robot.from_urdf(text, engine=QUICK_ENGINE), ['panda_hand'])
    robot.set_joint_parameters('damping', {f'panda_joint{n}': 0.5 for n in range(1, 8)})
    robot.set_payload('stone', 'panda_hand', replace(STONE, origin=Pose((0.1, 0.2, 0.3))))
    robot.set_gravity((1.0, -2.0, 9.0))
    state = np.random.default_rng(0).uniform(-1.0, 1.0, (3, robot.nv))
    expected = oracle.inverse_dynamics(*state, gravity=np.array([1.0, -2.0, 9.0]))
    assert_close(robot.inverse_dynamics(*state), expected, tolerance=1e-12)


# --- what a change costs

@pytest.fixture
def robot(engine):
    """Return an adjustable robot, with a payload on the lower arm."""
    start = Robot.from_urdf(ARM_WITH_GRIPPER, engine=engine)
    return AdjustableRobot.of(
        start.with_payload('stone', 'lower', STONE), ['finger'], OPTIONAL)


def change_all(robot, value):
    robot.set_gravity((value, 0.0, -9.81))
    robot.set_payload('tool', 'finger', replace(STONE, mass=value))
    robot.set_payload('stone', 'lower', replace(STONE, mass=value))
    for name in TABLE:
        robot.set_joint_parameters(name, {'elbow': value, 'thumb_joint': value})


def test_a_change_traces_and_compiles_nothing(robot, monkeypatch):
    before = robot.inverse_dynamics(*STATE)
    for module in (compiled, taped):
        monkeypatch.setattr(module, 'trace', None)
    change_all(robot, 3.0)
    assert np.min(np.abs(robot.inverse_dynamics(*STATE) - before)) > 1e-3


def test_methods_taken_before_a_change_use_the_new_numbers(robot):
    out = np.empty(3)
    bound = robot.bind('inverse_dynamics', *STATE, out=out)
    methods = [robot.inverse_dynamics]
    for value in (2.0, 3.0):
        change_all(robot, value)
        methods.append(robot.inverse_dynamics)
        expected = deepcopy(robot).inverse_dynamics(*STATE)
        assert np.array_equal(bound(), expected)
        for method in methods:
            assert np.array_equal(method(*STATE), expected)
            assert np.array_equal(method(*STATE, out=out), expected)


def test_nothing_remains_of_the_trees_of_before(robot):
    robot.inverse_dynamics(*STATE)
    gc.disable()
    try:
        for value in range(1, 20):
            tree = weakref.ref(robot.tree)
            change_all(robot, float(value))
            assert tree() is None  # without the garbage collector
    finally:
        gc.enable()


# --- what may change

def test_it_has_the_numbers_of_the_original_robot(robot):
    assert robot.payloads == {'stone': ('lower', STONE)}
    assert robot.payload_links == ('finger', 'lower')
    assert [*map(robot.takes_payload, ('base', 'upper', 'lower', 'finger', 'thumb'))] == [
        True, False, True, True, False]


def test_a_link_of_the_same_body_will_do():
    arm = AdjustableRobot.of(Robot.from_urdf(ARM), ['lower'])
    arm.set_payload('stone', 'tool', STONE)
    expected = Robot.from_urdf(ARM).with_payload('stone', 'tool', STONE)
    assert np.array_equal(arm.gravity([0.1, 0.2]), expected.gravity([0.1, 0.2]))


def test_a_payload_on_the_base_changes_no_effort(robot):
    before = robot.gravity(STATE[0])
    robot.set_payload('box', 'base', STONE)
    assert np.array_equal(robot.gravity(STATE[0]), before)
    robot.remove_payload('box')
    assert [*robot.payloads] == ['stone']


@pytest.mark.parametrize('change, said', [
    (lambda robot: robot.set_gravity((0.0, 0.0)), r'\(0.0, 0.0\).*3 finite numbers'),
    (lambda robot: robot.set_gravity((0.0, 0.0, nan)), 'nan.*3 finite numbers'),
    (lambda robot: robot.set_gravity(np.ma.array([0.0, 0.0, 1.0], mask=[1, 0, 0])),
     'gravity has 1 masked values'),
    (lambda robot: robot.set_payload('x', 'lower', Inertial(1e308, Pose((1e308, 0.0, 0.0)))),
     "payload 'x' of mass 1e.308.*'lower'"),
    (lambda robot: robot.set_payload('x', 'lower', None), "payload 'x' is None"),
    (lambda robot: robot.set_payload(['x'], 'lower', STONE), r"\['x'\].*string"),
    (lambda robot: robot.set_payload('x', 'upper', STONE),
     "'upper' of 'arm_with_gripper'.*'finger', 'lower'.*payload_links"),
    (lambda robot: robot.set_payload('x', 'uper', STONE), "did you mean 'upper'"),
    (lambda robot: robot.set_payload('x', 'lower', Inertial(-1.0)), 'mass -1.0'),
    (lambda robot: robot.remove_payload('apple'), "no payload 'apple'; there is stone"),
    (lambda robot: robot.set_joint_parameters('damping', {'elbow': 1.0, 'grip': -1.0}),
     "joint 'grip' cannot have the damping -1.0.*from 0 on"),
    (lambda robot: robot.set_joint_parameters('friction', {'elbow': inf}), "'elbow'.*inf"),
    (lambda robot: robot.set_joint_parameters('friction', {'elbw': 1.0}), "did you mean 'elbow'"),
    *((lambda robot, value=value: robot.set_joint_parameters(
        'spring_reference', {'elbow': 1.0, 'grip': value}), "'grip' cannot have the spring_refer")
      for value in ('a', None, 1j, 10**400, [1.0], np.ones(1))),
    (lambda robot: robot.set_joint_parameters('damping', [1.0]), 'mapping from joints'),
    (lambda robot: robot.set_joint_parameters('dampin', {}), "did you mean 'damping'"),
    (lambda robot: AdjustableRobot.of(robot, ['uper']), "did you mean 'upper'"),
    (lambda robot: AdjustableRobot.of(robot, [], ['friction_ofset']),
     "did you mean 'friction_offset'"),
    (lambda robot: robot.set_joint_parameters('breakaway_friction', {'elbow': -1.0}),
     "'elbow' cannot have the breakaway_friction -1.0.*from 0 on"),
    *((lambda robot, value=value: robot.set_joint_parameters('armature', {'elbow': value}),
       f"'elbow' cannot have the armature {value}.*from 0 on")
      for value in (-0.1, np.nan, np.inf, 1e12)),
])
def test_what_is_not_possible_is_refused_and_changes_nothing(robot, change, said):
    before = robot.inverse_dynamics(*STATE), robot.tree, robot.payloads
    with pytest.raises(RneaError, match=said):
        change(robot)
    assert np.array_equal(robot.inverse_dynamics(*STATE), before[0])
    assert (robot.tree, robot.payloads) == before[1:]


@needs_extension
def test_unprepared_friction_is_refused_and_costs_nothing():
    start = Robot.from_urdf(ARM, engine='tape')
    arm, prepared = AdjustableRobot.of(start), AdjustableRobot.of(start, (), ['friction_offset'])
    assert arm.optional_parameters == () and prepared.optional_parameters == ('friction_offset',)
    with pytest.raises(ArgumentError, match="not prepared for.*'friction_offset'.*none.*optional"):
        arm.set_joint_parameters('friction_offset', {'elbow': 0.5})
    prepared.set_joint_parameters('friction_offset', {'elbow': 0.5})
    assert prepared.friction([0.0, 0.0]) == pytest.approx([0.0, 0.5])
    # a joint has it
    assert AdjustableRobot.of(prepared).optional_parameters == ('friction_offset',)
    sizes = [sum(map(len, each.machine_code('inverse_dynamics'))) for each in (arm, prepared)]
    assert sizes[0] < sizes[1]


def test_an_unprepared_rotor_is_refused_and_costs_nothing():
    start = Robot.from_urdf(ARM)
    arm, prepared = AdjustableRobot.of(start), AdjustableRobot.of(start, (), ['armature'])
    with pytest.raises(ArgumentError, match="not prepared for.*'armature'"):
        arm.set_joint_parameters('armature', {'elbow': 0.5})
    q, qd, qdd = STATE[0][:2], STATE[1][:2], STATE[2][:2]
    without = arm.inverse_dynamics(q, qd, qdd)
    assert np.array_equal(without, start.inverse_dynamics(q, qd, qdd))
    prepared.set_joint_parameters('armature', {'elbow': 0.5})
    assert prepared.inverse_dynamics(q, qd, qdd) == pytest.approx(
        without + [0.0, 0.5 * qdd[1]], rel=1e-13)
    assert prepared.bias(q, qd) == pytest.approx(arm.bias(q, qd), rel=1e-13)


def test_robots_made_from_it_do_not_change(robot):
    fixed = robot.with_gravity((0.0, 0.0, -1.6))
    assert type(fixed) is Robot
    before = fixed.inverse_dynamics(*STATE)
    other = AdjustableRobot.of(robot)
    same = other.inverse_dynamics(*STATE)
    change_all(robot, 4.0)
    assert np.array_equal(fixed.inverse_dynamics(*STATE), before)
    assert np.array_equal(other.inverse_dynamics(*STATE), same)
    assert np.array_equal(robot.with_gravity((4.0, 0.0, -9.81)).gravity(STATE[0]),
                          robot.gravity(STATE[0]))


@pytest.mark.parametrize('copied', [
    lambda thing: pickle.loads(pickle.dumps(thing)), copy, deepcopy],
    ids=['pickle', 'copy', 'deepcopy'])
def test_a_copy_has_present_numbers_and_changes_by_itself(robot, copied):
    change_all(robot, 2.0)
    other = copied(robot)
    before = robot.inverse_dynamics(*STATE)
    assert np.array_equal(other.inverse_dynamics(*STATE), before)
    assert other.payload_links == robot.payload_links
    assert other.optional_parameters == robot.optional_parameters
    change_all(other, 3.0)
    assert np.array_equal(robot.inverse_dynamics(*STATE), before)
    assert not np.array_equal(other.inverse_dynamics(*STATE), before)
    with pytest.raises(ArgumentError, match="'upper'"):
        other.set_payload('x', 'upper', STONE)


@needs_llvmlite
@pytest.mark.parametrize('taken', [
    lambda robot: robot.gravity, lambda robot: copy(robot.gravity),
    lambda robot: copy(copy(robot.gravity))], ids=['itself', 'copy', 'copy of a copy'])
def test_method_taken_before_a_change_copies_new_numbers(taken):
    robot = AdjustableRobot.of(Robot.from_urdf(ARM, engine='compiled'), ['tool'])
    gravity = taken(robot)
    gravity([0.1, 0.2])
    robot.set_payload('stone', 'tool', STONE)
    assert np.array_equal(pickle.loads(pickle.dumps(gravity))([0.1, 0.2]), gravity([0.1, 0.2]))
