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
"""The public face: shapes, names, batches, and what is said to an argument that does not fit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from ros2_rnea import (
    AdjustableRobot,
    ArgumentError,
    DescriptionError,
    EffortTerms,
    Inertial,
    Robot,
    WORLD,
    Wrench,
)
from ros2_rnea.dynamics.parameters import ParameterLayout
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot, ROVER

RNG = np.random.default_rng(3)
STATE = Q, QD, QDD = np.array([[0.3, -0.8], [1.0, -2.0], [3.0, 4.0]])
BATCH = RNG.uniform(-2.0, 2.0, (3, 5, 2))
STONE = robot(link('rock'), name='stone')

pytestmark = pytest.mark.usefixtures('engine')


@pytest.fixture(scope='module')
def arm(engine):
    return Robot.from_urdf(ARM)


@pytest.fixture(scope='module')
def flying(engine):
    """Return the arm on a floating base."""
    return Robot.from_urdf(ARM, floating_base=True, massless_links=['base'])


# ---- names and sizes --------------------------------------------------------------------------


def test_names_and_sizes():
    gripper = Robot.from_urdf(ARM_WITH_GRIPPER)
    assert gripper.name == 'arm_with_gripper'
    assert gripper.joint_names == ('shoulder', 'elbow', 'grip')
    assert gripper.link_names == ('base', 'upper', 'lower', 'finger', 'thumb')
    assert (gripper.nq, gripper.nv) == (3, 3)
    assert repr(gripper) == "<Robot 'arm_with_gripper': 3 joints, nq 3, nv 3>"
    pendulum = Robot.from_urdf(robot(link('base'), link('bob'), joint('pivot', 'base', 'bob')))
    assert repr(pendulum) == "<Robot 'small': 1 joint, nq 1, nv 1>"


def test_a_floating_base_comes_first_with_seven_positions(flying):
    assert flying.joint_names == ('floating_base', 'shoulder', 'elbow')
    assert (flying.nq, flying.nv) == (9, 8)


def test_effort_limits_are_in_velocity_order_and_read_only(arm, flying):
    assert arm.effort_limits.tolist() == [100.0, 40.0]
    assert flying.effort_limits.tolist() == [inf] * 6 + [100.0, 40.0]
    with pytest.raises(ValueError, match='read-only'):
        arm.effort_limits[0] = 1e9


def test_limits_of_positions_and_velocities_are_in_the_order_of_the_vectors(arm, flying):
    assert arm.position_limits.tolist() == [[-3.0, -3.0], [3.0, 3.0]]
    assert arm.velocity_limits.tolist() == [2.0, 2.0]
    assert flying.position_limits.tolist() == [[-inf] * 7 + [-3.0] * 2, [inf] * 7 + [3.0] * 2]
    assert flying.velocity_limits.tolist() == [inf] * 6 + [2.0, 2.0]


def test_limits_that_do_not_count_are_infinite(engine):
    """A continuous joint has no bounds, whatever its <limit> says; a mimic joint has no place."""
    wheel = Robot.from_urdf(ARM_WITH_GRIPPER.replace(
        '<joint name="elbow" type="revolute">', '<joint name="elbow" type="continuous">'))
    assert wheel.position_limits.tolist() == [[-3.0, -inf, -3.0], [3.0, inf, 3.0]]


def test_mass_is_that_of_all_that_moves(arm):
    assert arm.mass == 2.0
    assert Robot.from_urdf(ARM_WITH_GRIPPER).mass == pytest.approx(2.3)
    assert arm.with_payload('load', 'tool', Inertial(0.5)).mass == 2.5
    assert arm.with_payload('load', 'base', Inertial(0.5)).mass == 2.0
    assert Robot.from_urdf(ROVER).mass == 2.0
    assert Robot.from_urdf(ROVER, floating_base=True).mass == 3.0


@pytest.mark.parametrize('change', [
    lambda r: r.with_gravity((0.0, 0.0, -1.6)),
    lambda r: r.with_payload('load', 'tool', Inertial(0.5)),
    lambda r: r.with_payload('load', 'tool', Inertial(0.5)).without_payload('load'),
    lambda r: r.with_inertial_parameters(r.inertial_parameters)])
def test_what_is_made_of_a_subclass_is_of_that_class(change, engine):
    class Own(Robot):

        def hold(self, q):
            return self.gravity(q)

    changed = change(Own.from_urdf(ARM))
    assert type(changed) is Own
    assert np.array_equal(changed.hold(Q), changed.gravity(Q))
    assert repr(changed).startswith("<Own 'arm'")


# ---- tables -----------------------------------------------------------------------------------


class Table:
    """A stand-in for the DataFrame of pandas or polars: columns with names."""

    def __init__(self, **columns):
        self._columns = columns
        self.columns = [*columns]

    def __getitem__(self, names):
        return Table(**{name: self._columns[name] for name in names})

    def __array__(self, *arguments, **named):
        return np.array([*self._columns.values()]).T


class Row:
    """A stand-in for a Series: a row of a table, whose index are the names of the columns."""

    def __init__(self, **values):
        self._values = values
        self.index = [*values]

    def __getitem__(self, names):
        return Row(**{name: self._values[name] for name in names})

    def __array__(self, *arguments, **named):
        return np.array([*self._values.values()])


def test_columns_of_a_table_are_matched_by_name(arm):
    expected = arm.inverse_dynamics(*BATCH)
    tables = [Table(elbow=rows[:, 1], shoulder=rows[:, 0]) for rows in BATCH]
    np.testing.assert_allclose(arm.inverse_dynamics(*tables), expected, rtol=1e-12)
    np.testing.assert_allclose(arm.inverse_dynamics(*BATCH[:2], tables[2]), expected, rtol=1e-12)
    np.testing.assert_allclose(
        arm.gravity(Row(elbow=Q[1], shoulder=Q[0])), arm.gravity(Q), rtol=1e-12)


@pytest.mark.parametrize('names', [
    ('shoulder',), ('shoulder', 'wrist'), ('shoulder', 'elbow', 'time'), ('0', '1')])
@pytest.mark.parametrize('kind', [Table, Row])
def test_a_table_with_other_columns_is_refused(names, kind, arm):
    value = np.zeros(3) if kind is Table else 0.0
    with pytest.raises(ArgumentError, match='columns.*needs its joints.*shoulder.*elbow'):
        arm.gravity(kind(**dict.fromkeys(names, value)))


def test_a_table_cannot_name_the_coordinates_of_a_joint_that_has_several(flying):
    with pytest.raises(ArgumentError, match='several coordinates'):
        flying.gravity(Table(floating_base=np.zeros(3), shoulder=np.zeros(3), elbow=np.zeros(3)))


def test_a_description_makes_the_same_robot_as_its_text(arm):
    other = Robot.from_description(parse_urdf(ARM))
    assert np.array_equal(other.inverse_dynamics(*STATE), arm.inverse_dynamics(*STATE))


def test_a_bad_description_is_refused():
    with pytest.raises(DescriptionError):
        Robot.from_urdf('<robot name="r"/>')


def test_massless_links_are_allowed_by_name():
    bare = ARM.replace(link('lower'), '<link name="lower"/>')
    with pytest.raises(DescriptionError, match='massless_links'):
        Robot.from_urdf(bare)
    assert Robot.from_urdf(bare, massless_links=['lower']).gravity([0.0, 0.0])[1] == 0.0


# ---- what is computed -------------------------------------------------------------------------


def test_the_effort_of_a_pendulum_by_hand():
    """1 kg at 0.5 m, 0.2 kg m^2 about its centre, level, about −y as gravity pulls."""
    inertial = ('<inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0" ixy="0" '
                'ixz="0" iyy="0.2" iyz="0" izz="0"/></inertial>')
    pendulum = Robot.from_urdf(robot(
        '<link name="ceiling"/>', f'<link name="rod">{inertial}</link>',
        joint('pin', 'ceiling', 'rod', axis='0 -1 0', extra='<dynamics damping="0.3"/>')))
    assert pendulum.gravity([0.0]) == pytest.approx([0.5 * 9.81])
    assert pendulum.bias([0.0], [2.0]) == pytest.approx([0.5 * 9.81 + 0.3 * 2.0])
    assert pendulum.inverse_dynamics([0.0], [2.0], [10.0]) == pytest.approx(
        [0.5 * 9.81 + 0.3 * 2.0 + (0.2 + 0.25) * 10.0])
    lifted = pendulum.inverse_dynamics([0.0], [0.0], [0.0], {'rod': [0, -1.5, 0, 0, 0, 0]})
    assert lifted == pytest.approx([0.5 * 9.81 - 1.5])


@pytest.mark.parametrize('call', [
    lambda arm, g: arm.gravity(Q, g),
    lambda arm, g: arm.gravity(Q, gravity=g),
    lambda arm, g: arm.bias(Q, np.zeros(2), gravity=g),
    lambda arm, g: arm.inverse_dynamics(Q, np.zeros(2), np.zeros(2), gravity=g),
    lambda arm, g: arm.effort_terms(Q, np.zeros(2), np.zeros(2), gravity=g).total,
])
def test_gravity_is_the_standard_one_unless_another_is_given(call, arm):
    np.testing.assert_allclose(call(arm, None), call(arm, (0.0, 0.0, -9.81)), rtol=1e-14)
    np.testing.assert_allclose(call(arm, (0.0, 0.0, 9.81)), -call(arm, None), rtol=1e-14)
    assert not call(arm, (0.0, 0.0, 0.0)).any()
    # Along the axes of both joints it has no lever.
    np.testing.assert_allclose(call(arm, (0.0, 5.0, 0.0)), 0.0, atol=1e-14)


# ---- shapes -----------------------------------------------------------------------------------


@pytest.mark.parametrize('convert', [list, tuple, np.float32, lambda v: np.array([v, v]).T[:, 0]])
def test_anything_that_holds_numbers_will_do(convert, arm):
    np.testing.assert_allclose(
        arm.inverse_dynamics(*map(convert, STATE)), arm.inverse_dynamics(*STATE), rtol=1e-6)


def test_arguments_stay_as_they_are(arm):
    given = [np.array(v) for v in STATE]
    arm.inverse_dynamics(*given, {'lower': np.ones(6)}, np.array([0.0, 0.0, -9.81]))
    assert np.array_equal(given, STATE)


# ---- wrenches ---------------------------------------------------------------------------------


def test_a_wrench_may_be_six_numbers_or_name_its_frame(arm):
    plain = arm.inverse_dynamics(*STATE, {'lower': [1, 2, 3, 4, 5, 6]})
    for wrench in (Wrench([1, 2, 3, 4, 5, 6]), Wrench([1, 2, 3, 4, 5, 6], 'lower')):
        assert np.array_equal(arm.inverse_dynamics(*STATE, {'lower': wrench}), plain)
    for frame in ('upper', WORLD):
        other = arm.inverse_dynamics(*STATE, {'lower': Wrench([1, 2, 3, 4, 5, 6], frame)})
        assert not np.allclose(other, plain)


def test_a_batch_takes_one_wrench_or_one_a_row(arm):
    rows = RNG.normal(size=(5, 6))
    each = arm.inverse_dynamics(*BATCH, {'lower': rows})
    same = arm.inverse_dynamics(*BATCH, {'lower': rows[2]})
    np.testing.assert_allclose(each[2], same[2], rtol=1e-13)
    single = [arm.inverse_dynamics(*state, {'lower': row}) for *state, row in zip(*BATCH, rows)]
    np.testing.assert_allclose(each, single, rtol=1e-12, atol=1e-12)


def test_no_wrenches_are_none(arm):
    assert np.array_equal(arm.inverse_dynamics(*STATE, {}), arm.inverse_dynamics(*STATE))


# ---- terms ------------------------------------------------------------------------------------


@pytest.mark.parametrize('state', [STATE, BATCH], ids=['one state', 'batch'])
def test_each_term_is_right_and_they_sum_to_the_effort(state, arm):
    (q, qd, qdd), f_ext, none = state, {'lower': [1, 2, 3, 4, 5, 6]}, (0.0, 0.0, 0.0)
    zero, damping = np.zeros_like(q), np.array([0.5, 0.0])
    terms = arm.effort_terms(q, qd, qdd, f_ext)
    expected = EffortTerms(
        gravity=arm.gravity(q),
        coriolis=arm.bias(q, qd, none) - damping * qd,
        inertia=arm.inverse_dynamics(q, zero, qdd, gravity=none),
        friction=damping * qd,
        spring=zero,
        external=arm.inverse_dynamics(q, zero, zero, f_ext, none),
        total=arm.inverse_dynamics(q, qd, qdd, f_ext))
    for name, term in terms._asdict().items():
        np.testing.assert_allclose(
            term, getattr(expected, name), rtol=1e-12, atol=1e-12, err_msg=name)
        assert term.any() or name == 'spring', name  # see test_springs.py
    np.testing.assert_allclose(sum(terms[:-1]), terms.total, rtol=1e-12)


# ---- out --------------------------------------------------------------------------------------


@pytest.mark.parametrize('state', [STATE, BATCH], ids=['one state', 'batch'])
def test_out_is_written_and_returned(state, arm):
    expected = arm.inverse_dynamics(*state)
    out = np.full(expected.shape, nan)
    assert arm.inverse_dynamics(*state, out=out) is out
    assert np.array_equal(out, expected)


def test_out_may_be_an_argument_too(arm):
    q, qd, qdd = np.array(BATCH)
    arm.inverse_dynamics(q, qd, qdd, out=qdd)
    assert np.array_equal(qdd, arm.inverse_dynamics(*BATCH))


def read_only():
    array = np.zeros(2)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize('out, message', [
    (np.zeros(3), r'out is float64 \(3,\); it needs to be a float64 array \(2,\)'),
    (np.zeros((1, 2)), r'out is float64 \(1, 2\)'),
    (np.zeros(2, np.float32), r'out is float32 \(2,\)'),
    ([0.0, 0.0], 'out is list'),
    (read_only(), 'out is read-only'),
])
def test_an_out_that_does_not_fit_is_refused(out, message, arm):
    with pytest.raises(ArgumentError, match=message):
        arm.inverse_dynamics(*STATE, out=out)


# ---- arguments that do not fit ----------------------------------------------------------------


@pytest.mark.parametrize('arguments, message', [
    (([0.0], QD, QDD), r"q has shape \(1,\); 'arm' needs \(2,\) for its joints shoulder, elbow"),
    ((Q, [0.0] * 3, QDD), r'qd has shape \(3,\)'),
    ((Q, QD, 0.0), r'qdd has shape \(\)'),
    ((Q, BATCH[0], QDD), r'qd has shape \(5, 2\).*needs \(2,\)'),
    ((BATCH[0], QD, BATCH[0]), r'qd has shape \(2,\).*needs \(5, 2\)'),
    ((BATCH[0], BATCH[0][:4], BATCH[0]), r'qd has shape \(4, 2\).*needs \(5, 2\)'),
    ((BATCH, QD, QDD), r'q has shape \(3, 5, 2\)'),
    ((Q, ['fast', 0.0], QDD), 'qd is not an array of real numbers'),
    ((Q, [[1.0], [1.0, 2.0]], QDD), 'qd is not an array of real numbers'),
    ((None, QD, QDD), 'q has shape|q is not an array'),
])
def test_a_state_of_another_size_is_refused(arguments, message, arm):
    with pytest.raises(ArgumentError, match=message):
        arm.inverse_dynamics(*arguments)


@pytest.mark.parametrize('value, words', [
    (np.array([1j, 0.0]), 'complex numbers .complex128.'),
    ([1j, 0.0], 'complex numbers'),
    (np.array([1.0, 2.0], object), 'Python objects .object.'),
    ([Fraction(1, 3), 0.0], 'Python objects'),
    (np.array([1, 2], 'M8[s]'), r'dates .datetime64\[s\].'),
    (np.array([1, 2], 'm8[s]'), r'durations .timedelta64\[s\].'),
    (np.array([(1.0,), (2.0,)], [('x', 'f8')]), 'records'),
    (np.array([1.0, 2.0]).view('V8'), 'records'),
    (['1', '2'], 'texts .<U1.'),
    ([b'1', b'2'], 'bytes'),
], ids=str)
def test_what_is_no_real_number_is_refused_by_name(value, words, arm):
    """Each of these would be converted to float64 by NumPy, which loses part of it."""
    for options in ({}, {'out': np.empty(2)}):
        for _ in range(2):  # also where the kernel is there
            with pytest.raises(ArgumentError, match=f'qd is not .* real numbers, but of {words}'):
                arm.inverse_dynamics(Q, value, QDD, **options)
            arm.inverse_dynamics(Q, QD, QDD)
    with pytest.raises(ArgumentError, match='gravity is not an array of real numbers'):
        arm.gravity(Q, gravity=np.resize(np.asarray(value), 3))
    with pytest.raises(ArgumentError, match="the wrench on 'lower' is not an array of real"):
        arm.inverse_dynamics(Q, QD, QDD, {'lower': np.tile(np.asarray(value), 3)})


@pytest.mark.parametrize('value', [
    [True, False], [1, 0], np.array([1, 0], 'u1'), np.array([1, 0], 'i8'), np.array([1, 0], 'f2'),
    np.array([1, 0], 'f4'), np.array([1, 0], 'g'), np.array([1, 0], '>f8'), (True, 0.0)], ids=repr)
def test_whole_numbers_and_booleans_are_real_numbers(value, arm):
    np.testing.assert_allclose(
        arm.inverse_dynamics(Q, value, QDD),
        arm.inverse_dynamics(Q, np.array([1.0, 0.0]), QDD), rtol=1e-12)


@pytest.mark.parametrize('f_ext, message', [
    ({'lowr': np.zeros(6)}, "'arm' has no link 'lowr'; did you mean 'lower'"),
    ({'xyz': np.zeros(6)}, "no link 'xyz'; its links are base, upper, lower, tool"),
    ({'lower': Wrench(np.zeros(6), 'uper')}, "no link 'uper'; did you mean 'upper'"),
    ({'lower': np.zeros(3)}, r"the wrench on 'lower' has shape \(3,\); it needs 6 numbers"),
    ({'lower': np.zeros((4, 6))}, r'has shape \(4, 6\)'),
    ({'lower': 'up'}, "the wrench on 'lower' is not an array of real numbers"),
])
def test_a_wrench_that_does_not_fit_is_refused(f_ext, message, arm):
    for compute in (arm.inverse_dynamics, arm.effort_terms):
        with pytest.raises(ArgumentError, match=message):
            compute(*STATE, f_ext)


def test_a_wrench_acts_on_links_not_the_world(arm):
    with pytest.raises(ArgumentError, match='WORLD|world'):
        arm.inverse_dynamics(*STATE, {WORLD: np.zeros(6)})


@pytest.mark.parametrize('gravity', [9.81, [0.0, 0.0], np.zeros((1, 3)), [0.0, 0.0, nan],
                                     [0.0, inf, 0.0], 'down'])
def test_a_gravity_that_is_no_vector_is_refused(gravity, arm):
    with pytest.raises(ArgumentError, match='gravity is'):
        arm.gravity(Q, gravity)


def with_quaternion(flying, *rows):
    q = np.zeros((len(rows), flying.nq))
    q[:, 3:7] = rows
    return q


@pytest.mark.parametrize('quaternion, length', [
    ((0, 0, 0, 0), '0'), ((0, 0, 0, 0.998), '0.998'), ((1, 0, 0, 1), '1.41421'),
    ((0, inf, 0, 0), 'inf')])
def test_a_quaternion_that_is_not_of_unit_length_is_refused(quaternion, length, flying):
    q = with_quaternion(flying, (0, 0, 0, 1), quaternion)
    message = f"joint 'floating_base' has length {length}; it needs length 1"
    for given in (q, q[1]):
        with pytest.raises(ArgumentError, match=message):
            flying.gravity(given)


def test_a_quaternion_of_almost_unit_length_is_taken(flying):
    q = with_quaternion(flying, (0.6, 0, 0, 0.8), (0.6 * 1.0009, 0, 0, 0.8 * 1.0009))
    exact, almost = flying.gravity(q)
    np.testing.assert_allclose(almost, exact, rtol=1e-12, atol=1e-12)


def test_beside_a_nan_quaternion_the_bad_one_is_named(flying):
    with pytest.raises(ArgumentError, match='has length 2'):
        flying.gravity(with_quaternion(flying, (nan, 0, 0, 1), (0, 0, 0, 2)))


# ---- what is not a number ---------------------------------------------------------------------


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('value', [nan, inf, -inf])
@pytest.mark.parametrize('which', range(3))
def test_what_is_not_finite_harms_no_other_row(which, value, arm):
    state = np.array(BATCH)
    state[which, 1, 0] = value
    batch = arm.inverse_dynamics(*state)
    single = arm.inverse_dynamics(*state[:, 1])
    assert not np.isfinite(batch[1]).all()
    assert not np.isfinite(single).all()
    others = [0, 2, 3, 4]
    np.testing.assert_allclose(
        batch[others], arm.inverse_dynamics(*BATCH)[others], rtol=1e-13, atol=1e-13)


@pytest.mark.filterwarnings('error')
def test_turning_a_wrench_does_not_warn_either(arm):
    state = np.array(BATCH)
    state[0, 1, 0] = inf
    arm.inverse_dynamics(*state, {'lower': Wrench(np.ones(6), WORLD)})


def test_a_nan_wrench_comes_out_as_nan(arm):
    tau = arm.inverse_dynamics(*STATE, {'lower': [nan, 0, 0, 0, 0, nan]})
    assert np.isnan(tau).all()


def test_a_nan_quaternion_comes_out_as_nan(flying):
    assert np.isnan(flying.gravity(with_quaternion(flying, (nan, 0, 0, 1))[0])).any()


# ---- several at once --------------------------------------------------------------------------


def test_threads_may_call_at_once(arm):
    rover = Robot.from_urdf(ROVER)
    states = RNG.uniform(-2.0, 2.0, (40, 3, 2))
    poses = RNG.uniform(-2.0, 2.0, (40, 4))
    expected = [arm.inverse_dynamics(*state) for state in states], list(map(rover.gravity, poses))
    with ThreadPoolExecutor(8) as pool:
        ours = pool.map(lambda state: arm.inverse_dynamics(*state), states)
        others = pool.map(rover.gravity, poses)
        assert np.array_equal(list(ours), expected[0])
        assert np.array_equal(list(others), expected[1])


@pytest.mark.parametrize('f_ext', [np.zeros(6), [1.0] * 6])
def test_wrenches_without_a_link_are_refused(arm, f_ext):
    with pytest.raises(ArgumentError, match='by link name'):
        arm.inverse_dynamics(*STATE, f_ext)


# ---- what kernels read ------------------------------------------------------------------------


def test_parameters_of_the_kernels_are_told_by_a_copy(arm):
    values = arm.parameter_values
    layout = ParameterLayout(len(arm.body_names))
    assert values[layout.gravity].tolist() == [*arm.free_fall]
    before = arm.gravity([0.3, -0.4])
    values[:] = 7.0
    assert np.array_equal(arm.gravity([0.3, -0.4]), before)
    assert not np.array_equal(arm.parameter_values, values)


def test_variant_is_what_may_change(arm):
    assert arm.variant.payloads == ()
    loaded = AdjustableRobot.of(arm, [arm.link_names[-1]])
    assert loaded.variant.payloads == (len(arm.body_names) - 1,)
    assert {*loaded.variant.joint_parameters} > {*arm.variant.joint_parameters}
