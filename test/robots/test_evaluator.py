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
"""Robots answer the same by kernels and by the textbook, whatever they are made of and asked."""

from dataclasses import replace

from drawn_robots import assert_close, cases, for_drawn, SETTINGS, vectors
from hypothesis import given, settings, strategies as st
import numpy as np
from paired_robots import (
    arguments_of,
    ENGINES,
    for_each_engine,
    needs_extension,
    needs_llvmlite,
    pair,
    STATE,
)
import pytest
from ros2_rnea import Engine, Robot
from ros2_rnea.dynamics import quantities
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS, RobotParameters
from ros2_rnea.dynamics.quantities import BY_NAME
from ros2_rnea.dynamics.regression import regression
from ros2_rnea.errors import ArgumentError, CompilerError
from ros2_rnea.kernels import compiled, taped
from ros2_rnea.kernels.engines import kernels_of
from ros2_rnea.kernels.tracing import Variant
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from ros2_rnea.model.tree import attach, payload_inertia
from ros2_rnea.robots.evaluator import Evaluator
from small_robots import ARM, FREE_FLYER, joint, link, robot

# --- every quantity, on robots of every kind

ROWS = 9
GRAVITY = (0.5, -1.0, -9.75)


class Answering:
    """Kernels that must answer: there is no way back to the textbook."""

    def __init__(self, kernels):
        self._kernels = kernels

    def one(self, *asked):
        return self._sure(self._kernels.one(*asked))

    def rows(self, *asked):
        return self._sure(self._kernels.rows(*asked))

    def _sure(self, function):
        def call(*arrays):
            assert function(*arrays) is True
            return True
        return call


@st.composite
def asked(draw):
    """Draw a robot with options and payloads, and rows of all that quantities depend on."""
    case = draw(cases(most_joints=4, mimics=True))
    options = draw(st.tuples(*[st.booleans()] * len(JOINT_PARAMETERS)))
    bare = replace(case.tree, bodies=tuple(
        replace(body, **{name: 0.0 for name, on in zip(JOINT_PARAMETERS, options) if not on})
        for body in case.tree.bodies))
    payloads = []
    if draw(st.booleans()):
        links = draw(st.lists(st.sampled_from([*bare.links]), min_size=1, max_size=2))
        loads = st.builds(Inertial, st.integers(1, 8).map(lambda eighths: eighths / 4.0),
                          inertia=st.just((0.25, 0.0, 0.125, 0.5, 0.0, 0.375)))
        payloads = [(name, draw(loads)) for name in links]
    near = rows_near(bare, case.q, case.qd, case.qdd, draw(st.integers(0, 100)))
    wrenches = np.array(draw(vectors(2, 6))) * np.arange(ROWS * len(bare.bodies)).reshape(
        ROWS, -1, 1)
    return bare, payloads, near, draw(st.sampled_from([None, wrenches]))


def rows_near(tree, q, qd, qdd, seed):
    """Return rows of q, qd, qdd and tau; the quaternions are the same in all of them."""
    rng = np.random.default_rng(seed)
    near = {name: vector + rng.uniform(-1.0, 1.0, (ROWS, len(vector)))
            for name, vector in (('q', q), ('qd', qd), ('qdd', qdd), ('tau', qdd))}
    for body in tree.bodies:
        if body.type in (JointType.SPHERICAL, JointType.FLOATING):
            near['q'][:, body.q_slice][:, -4:] = q[body.q_slice][-4:]
    return near


def size_of_terms(tree, near, wrenches):
    """Return the size of what efforts are made of, and of the inertias that joints feel."""
    whole = Robot(tree)
    phi = np.abs(whole.inertial_parameters)
    state = [np.abs(whole.regressor(*motion, gravity=GRAVITY)) @ phi for motion in (
        [near[name] for name in ('q', 'qd', 'qdd')],
        [near['q'][:1], 0.0 * near['qd'][:1], 1.0 + 0.0 * near['qdd'][:1]])]
    pushed = sum((np.max(np.abs(whole.jacobian(near['q'], body.link))) for body in tree.bodies),
                 start=0.0) * (0.0 if wrenches is None else np.max(np.abs(wrenches), initial=0.0))
    return max(*(np.max(terms, initial=1.0) for terms in state), pushed)


def check_all_quantities(drawn, engine):
    bare, payloads, near, wrenches = drawn
    inertias = payload_inertia(bare, {f'payload {i}': each for i, each in enumerate(payloads)})
    tree = attach(bare, inertias)
    made = tree, RobotParameters(bare, GRAVITY, inertias), Variant.of(bare, inertias)
    ours = Evaluator(*made, Answering(kernels_of(bare, engine)))
    textbook = Evaluator(*made, None)
    scale = size_of_terms(tree, near, wrenches)
    first, *_, last = bare.links
    for quantity in (*BY_NAME.values(), quantities.link_jacobian(last),
                     quantities.world_jacobian(last), quantities.jacobian_in_axes(last, first)):
        inputs = {name: near[name] for name in quantity.inputs}
        expected = textbook.compute(quantity, wrenches, **inputs)
        size = scale
        if quantity is quantities.FORWARD_DYNAMICS and tree.nv:
            M = textbook.compute(quantities.MASS_MATRIX, q=near['q'])
            size *= np.max(np.abs(np.linalg.inv(M)))
            size = max(size, np.max(np.linalg.cond(M)) * np.max(np.abs(expected)))
        assert_close(ours.compute(quantity, wrenches, **inputs), expected, size)
        one = {name: value[1] for name, value in inputs.items()}
        wrench = None if wrenches is None else wrenches[1]
        assert_close(ours.compute(quantity, wrench, **one), expected[1], size)


def chain(*kinds, floating_base=False):
    """Return a serial robot with all options; a pair of a kind and a number mimics that joint."""
    body = Inertial(2.0, Pose((0.1, -0.2, 0.3)), (0.31, 0.01, -0.02, 0.32, 0.03, 0.33))
    joints = []
    for number, kind in enumerate(kinds):
        kind, leader = kind if isinstance(kind, tuple) else (kind, None)
        joints.append(JointDescription(
            f'joint{number}', kind, parent=f'link{number}', child=f'link{number + 1}',
            origin=Pose((0.3, 0.2, 0.1), (0.5, -0.4, 0.3)), axis=(0.0, 0.6, 0.8),
            damping=0.5, friction=0.25, rotor_inertia=0.125, pitch=0.1 * (kind.name == 'HELICAL'),
            mimic=None if leader is None else Mimic(f'joint{leader}', -1.5, 0.25)))
    links = [LinkDescription(f'link{number}', body) for number in range(len(kinds) + 1)]
    tree = Robot.from_description(
        RobotDescription('chain', tuple(links), tuple(joints)), floating_base).tree
    q, v = np.full(tree.nq, 0.5), np.full(tree.nv, 0.75)  # quaternions are of length 1
    wrenches = np.linspace(-2.0, 2.0, ROWS * len(tree.bodies) * 6).reshape(ROWS, -1, 6)
    return tree, [('link2', body), ('link0', body)], rows_near(tree, q, v, v, 0), wrenches


CHAINS = {
    'of one axis': chain(JointType.REVOLUTE, JointType.PRISMATIC, JointType.CONTINUOUS,
                         JointType.HELICAL),
    'with mimics': chain(JointType.REVOLUTE, (JointType.REVOLUTE, 0), JointType.HELICAL,
                         (JointType.PRISMATIC, 2), (JointType.HELICAL, 0)),
    'of many axes': chain(JointType.PLANAR, JointType.CYLINDRICAL, JointType.SPHERICAL),
    'that float': chain(JointType.CONTINUOUS, (JointType.PRISMATIC, 0), floating_base=True),
}


@for_each_engine
@pytest.mark.parametrize('name', CHAINS)
def test_every_quantity_of_a_chain_is_the_textbooks(name, engine):
    check_all_quantities(CHAINS[name], engine)


@needs_extension
@for_drawn(asked())
def test_tapes_compute_every_quantity_as_the_textbook_does(drawn):
    check_all_quantities(drawn, Engine.TAPE)


@pytest.mark.slow
@needs_llvmlite
@settings(SETTINGS, max_examples=SETTINGS.max_examples // 5)  # each takes seconds
@given(asked())
def test_machine_code_computes_every_quantity_as_the_textbook_does(drawn):
    check_all_quantities(drawn, Engine.COMPILED)


@pytest.mark.parametrize('engine', [Engine.TEXTBOOK, *ENGINES])
def test_output_of_a_regression_may_overlap_every_input(engine):
    tree = Robot.from_urdf(ARM).tree
    rows = regression([((0, 11), ('viscous', 'rotor_inertia'))] * 2)
    width, *_ = rows.shape(tree)
    robot = Robot(tree, engine=engine)
    vectors = dict(zip(('q', 'qd', 'qdd', 'tau'), np.linspace(-1.0, 2.0, 4 * ROWS * 2).reshape(
        4, ROWS, 2)))
    expected = robot.regression(rows, **vectors)
    for name, vector in vectors.items():
        for first in (0, 1, width - 2):
            out = np.zeros((ROWS, width))
            overlapping = out[:, first:first + 2]
            overlapping[...] = vector
            result = robot.regression(rows, **{**vectors, name: overlapping}, out=out)
            assert result is out
            np.testing.assert_array_equal(out, expected)


# --- kernels from another process

NAMES = ('inverse_dynamics', 'gravity', 'effort_terms')


@for_each_engine
def test_code_of_another_process_is_loaded_and_not_made_again(engine, monkeypatch):
    ours, textbook = pair(engine)
    code = ours.machine_code(*NAMES)
    assert all(code) and all(isinstance(kernel, bytes) for kernel in code)
    other = pair(engine)[0]
    other.load_machine_code(NAMES, code)
    for module in (compiled, taped):
        monkeypatch.setattr(module, 'trace', refuse)
    monkeypatch.setattr(compiled, 'cache', refuse)
    for wrenches in (None, np.full((len(other.tree.bodies), 6), 0.3)):
        assert_close(other.inverse_dynamics(*STATE, f_ext=wrenches),
                     textbook.inverse_dynamics(*STATE, f_ext=wrenches))
    assert_close(other.gravity(STATE[0]), textbook.gravity(STATE[0]))


@for_each_engine
@pytest.mark.parametrize('code, said', [
    (b'', '0 bytes are no'), (b'neither one nor the other', '25 bytes are no'),
    (b'N', '1 bytes are no'), (None, 'code of friction is a NoneType'),
    (3, 'code of friction is a int'), ('text', 'code of friction is a str'),
    ([b''], 'code of friction is a list'), (bytearray(3), 'code of friction is a bytearray')])
def test_code_that_is_none_is_refused(engine, code, said):
    robot = pair(engine)[0]
    with pytest.raises(CompilerError, match=said):
        robot.load_machine_code(['friction'], [code])


@pytest.mark.parametrize('engine', [Engine.TEXTBOOK, *ENGINES])
def test_another_number_of_kernels_is_refused(engine):
    robot = pair(engine)[0]
    code = robot.machine_code(*NAMES)
    other = pair(engine)[0]
    for wrong in ((*code, b''), code[:-1], code + code):
        if wrong != code:
            message = f'{len(wrong)} kernels is given to {len(code)}'
            with pytest.raises(CompilerError, match=message):
                other.load_machine_code(NAMES, wrong)
    other.load_machine_code(NAMES, code)


@for_each_engine
def test_code_of_another_kernel_is_refused(engine):
    robot = pair(engine)[0]
    code = robot.machine_code('gravity', 'bias')
    no_wrenches, wrenches = robot.machine_code('inverse_dynamics')
    heavier = robot.with_inertial_parameters(2.0 * robot.inertial_parameters)
    other = pair(engine)[0]
    for names, wrong in (
            (('gravity', 'bias'), code[::-1]),
            (('inverse_dynamics',), (wrenches, no_wrenches)),
            (('gravity', 'bias'), heavier.machine_code('gravity', 'bias')),
            (('gravity', 'bias'), robot.without_payload('load').machine_code('gravity', 'bias'))):
        with pytest.raises(CompilerError, match=f'are no (tape|object file) of {names[0]} of'):
            other.load_machine_code(names, wrong)
    other.load_machine_code(('bias', 'gravity'), code[::-1])
    assert_close(other.gravity(STATE[0]), robot.gravity(STATE[0]))


def test_textbook_has_no_code():
    assert Robot.from_urdf(ARM, engine='textbook').machine_code(*NAMES) == ()


def refuse(*arguments):
    """Stand in for what must not be called."""
    raise AssertionError('a kernel was made')


# --- what a kernel refuses

BEYOND = [1e15, -1e300, np.inf, np.nan]
OF_MOTION = [name for name in BY_NAME if hasattr(Robot, name) and 'q' in BY_NAME[name].inputs]


@for_each_engine
@pytest.mark.parametrize('name', OF_MOTION)
def test_angle_beyond_the_bound_has_the_textbooks_answer(engine, name):
    ours, textbook = pair(engine)
    for angle in BEYOND:
        arguments = [vector.copy() for vector in arguments_of(name)]
        arguments[0][1] = angle
        batch = [np.tile(vector, (20, 1)) for vector in arguments_of(name)]
        batch[0][7, 1] = angle
        for state in (arguments, batch, [array[6:9] for array in batch]):
            expected = getattr(textbook, name)(*state)
            # The textbook's NaN comes to numbers too that do not depend on the angle.
            number = np.isfinite(expected) | np.isfinite(angle)
            for _ in range(2):  # in Python, then as machine code
                np.testing.assert_allclose(
                    getattr(ours, name)(*state)[number], expected[number], rtol=1e-12, atol=1e-12)


@needs_llvmlite
@pytest.mark.parametrize('rows', [None, 2, 50])
@pytest.mark.parametrize('shared', range(3))
def test_output_that_is_an_input_may_be_refused_too(shared, rows):
    ours, textbook = pair(Engine.COMPILED)
    for angle in (0.3, 1e15):
        for _ in range(2):
            state = [vector.copy() if rows is None else np.tile(vector, (rows, 1))
                     for vector in STATE]
            state[0][..., 0] = angle
            expected = textbook.inverse_dynamics(*state)
            assert ours.inverse_dynamics(*state, out=state[shared]) is state[shared]
            np.testing.assert_allclose(state[shared], expected, rtol=1e-12)


@needs_llvmlite
def test_bound_function_refuses_likewise():
    ours, textbook = pair(Engine.COMPILED)
    state, out = [vector.copy() for vector in STATE], np.empty(3)
    bound = ours.bind('inverse_dynamics', *state, out=out)
    for angle in (0.3, *BEYOND, 0.4):
        state[0][0] = angle
        assert bound() is out
        np.testing.assert_allclose(out, textbook.inverse_dynamics(*state), rtol=1e-12)


@for_each_engine
@pytest.mark.parametrize('name', OF_MOTION)
def test_nan_reaches_every_number_that_depends_on_it(engine, name):
    ours, _ = pair(engine)
    method = getattr(ours, name)
    arguments = arguments_of(name)
    plain = method(*arguments)
    for which, place in np.ndindex(len(arguments), 3):
        other, without = ([array.copy() for array in arguments] for _ in range(2))
        other[which][place] += 0.5
        without[which][place] = np.nan
        depends = np.abs(method(*other) - plain) > 1e-12
        for answer in (method(*without), method(*(np.tile(v, (9, 1)) for v in without))[8]):
            assert np.isnan(answer[depends]).all()


@for_each_engine
@pytest.mark.parametrize('length', [1.1, 0.0, 1.002, 0.998, np.inf])
def test_quaternion_that_is_no_rotation_is_refused_each_time(engine, length):
    flyer = Robot.from_urdf(FREE_FLYER, engine=engine)
    q, v = np.zeros(flyer.nq), np.zeros(flyer.nv)
    for scale in (1.0, length, 1.0009, length, 0.9991):
        right = scale != length
        q[6] = scale
        for state in ((q, v, v), (q[np.newaxis], v[np.newaxis], v[np.newaxis])):
            for options in ({}, {'out': np.empty_like(state[1])}):
                if right:
                    flyer.inverse_dynamics(*state, **options)
                else:
                    with pytest.raises(ArgumentError, match='quaternion'):
                        flyer.inverse_dynamics(*state, **options)


@for_each_engine
def test_accelerations_that_are_undefined_are_refused_each_time(engine):
    text = robot(link('base'), link('arm', 0.0).replace('0.02', '0').replace('0.03', '0'),
                 joint('idle', 'base', 'arm'))
    idle = Robot.from_urdf(text, engine=engine)
    for _ in range(3):
        with pytest.raises(ArgumentError, match="'idle' moves an inertia of 0"):
            idle.forward_dynamics(np.zeros(1), np.zeros(1), np.ones(1))
