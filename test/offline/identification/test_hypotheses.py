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
"""Each hypothesis is told where it is true, alone and with others, and no false one beside it."""

from itertools import combinations

import numpy as np
import pytest
from recorded_robots import recorded, swings
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.identification.causes import are_compatible, Cause, What
from ros2_rnea.offline.identification.comparison import compare
from ros2_rnea.offline.identification.conclusions import Kind
from ros2_rnea.robots.robot import Robot
from seeds import for_seeds
from small_robots import ARM, joint, link, robot
from synthetic_recordings import with_joint_numbers

diagnose = pytest.importorskip('ros2_rnea.offline.identification.diagnosis').diagnose

URDF = robot(
    '<link name="base"/>', link('l1', 4.0, '0 0 0.1'), link('l2', 3.0, '0 0 0.2'),
    link('l3', 2.0, '0.01 0 0.15'), link('l4', 0.8, '0.02 0.01 0.05'),
    joint('waist', 'base', 'l1', axis='0 0 1'), joint('shoulder', 'l1', 'l2'),
    joint('elbow', 'l2', 'l3'), joint('roll', 'l3', 'l4', axis='0 0 1'), name='four')
JOINTS = ('waist', 'shoulder', 'elbow', 'roll')
LOAD = Inertial(1.0, Pose((0.12, 0.05, 0.1)), (0.004, 0.0, 0.0, 0.003, 0.0, 0.003))
VISCOUS, COULOMB = np.array([2.0, 2.0, 1.0, 0.3]), np.array([1.5, 1.5, 0.8, 0.2])
TILT = (9.81 * np.sin(0.35), 0.0, -9.81 * np.cos(0.35))
CEILING = (0.0, 0.0, 9.81)
OF_JOINTS = frozenset({Kind.FRICTION, Kind.OFFSET})
OF_BODIES = frozenset({Kind.LOAD, Kind.LINK_MASS, Kind.MASS_DISTRIBUTION, Kind.ROTOR})


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(URDF)


def rubbing(tau, qd):
    return tau + VISCOUS * qd + COULOMB * np.sign(qd)


def diagnosed(arm, truth, seed=0, alter=rubbing, noise=0.05, mistake=None):
    """Return the diagnosis of a recording of the true arm, before which a mistake was made."""
    rng = np.random.default_rng(seed)
    recording = recorded(truth, swings(arm, rng, duration=25.0), rng, noise=noise, alter=alter)
    if mistake is not None:
        mistake(recording)
    return diagnose(compare([recording], arm))


def beside_friction(diagnosis):
    """Return the conclusions that are not about friction, by kind."""
    return {each.kind: each for each in diagnosis.conclusions if each.kind not in OF_JOINTS}


def figures(conclusion):
    return {each.name: each.value for each in conclusion.quantities}


@for_seeds(20)
def test_nothing_but_friction_is_told_of_a_right_model(arm, seed):
    diagnosis = diagnosed(arm, arm, seed)
    assert {each.kind for each in diagnosis.conclusions} == {Kind.FRICTION}
    assert diagnosis.open_questions == () == diagnosis.wrong_efforts


# ---- rotors, gains, tilts and loads -------------------------------------------------------------

FAULTS = ('rotors', 'gain', 'tilt', 'load')


def with_faults(arm, names):
    """Return the true arm, and what alters its efforts."""
    truth = with_joint_numbers(arm, armature=0.3) if 'rotors' in names else arm
    if 'tilt' in names:
        truth = truth.with_gravity(TILT)
    if 'load' in names:
        truth = truth.with_payload('tool', 'l4', LOAD)
    gain = np.where([name == 'elbow' and 'gain' in names for name in JOINTS], 0.6, 1.0)
    return truth, lambda tau, qd: gain * rubbing(tau, qd)


@pytest.mark.parametrize('names', [
    *((name,) for name in FAULTS), *combinations(FAULTS, 2)], ids='+'.join)
def test_faults_alone_and_in_pairs(arm, names):
    truth, alter = with_faults(arm, names)
    diagnosis = diagnosed(arm, truth, alter=alter)
    found = beside_friction(diagnosis)
    told = [each.sentence for each in diagnosis.conclusions], diagnosis.open_questions
    kinds = {'rotors': Kind.ROTOR, 'gain': Kind.GAIN, 'tilt': Kind.GRAVITY, 'load': Kind.LOAD}
    assert {*found} == {kinds[name] for name in names}, told
    if 'rotors' in names:
        assert figures(found[Kind.ROTOR])['inertia'] == pytest.approx(0.3, abs=0.03)
    if 'gain' in names:
        assert found[Kind.GAIN].subject == "joint 'elbow'"
        assert figures(found[Kind.GAIN])['factor'] == pytest.approx(0.6, rel=0.03)
    if 'tilt' in names:
        assert figures(found[Kind.GRAVITY])['angle'] == pytest.approx(np.degrees(0.35), abs=0.3)
    if 'load' in names:
        numbers = figures(found[Kind.LOAD])
        assert numbers['mass'] == pytest.approx(LOAD.mass, rel=0.03)
        for axis, value in zip('xyz', LOAD.origin.xyz):
            assert numbers[f'centre {axis}'] == pytest.approx(value, abs=0.01)


def test_a_ceiling_and_a_tool_are_no_factor(arm):
    truth = arm.with_gravity(CEILING).with_payload('tool', 'l4', LOAD)
    found = beside_friction(diagnosed(arm, truth))
    assert {*found} == {Kind.GRAVITY, Kind.LOAD}
    gravity, load = (figures(found[kind]) for kind in (Kind.GRAVITY, Kind.LOAD))
    assert [gravity[f'gravity {axis}'] for axis in 'xyz'] == pytest.approx(CEILING, abs=0.05)
    assert load['mass'] == pytest.approx(LOAD.mass, rel=0.02)


def test_a_ceiling_and_a_turned_sign(arm):
    found = beside_friction(diagnosed(
        arm, arm.with_gravity(CEILING), alter=lambda tau, qd: tau * [1.0, 1.0, -1.0, 1.0]))
    assert {*found} == {Kind.GRAVITY, Kind.SIGN}
    assert found[Kind.SIGN].subject == "joint 'elbow'"


# ---- what the efforts are -----------------------------------------------------------------------


def test_efforts_that_lack_gravity_are_no_turned_gravity(arm):
    diagnosis = diagnosed(arm, arm.with_gravity((0.0, 0.0, 0.0)))
    found = beside_friction(diagnosis)
    assert {*found} == {Kind.LACKS}
    assert found[Kind.LACKS].sentence.startswith('The measured efforts lack gravity')
    assert [each.kind for each in diagnosis.wrong_efforts] == [Kind.LACKS]


def test_external_efforts_are_not_those_of_the_arm(arm):
    loaded = arm.with_payload('tool', 'l4', LOAD)

    def external(recording):
        state = recording.q, recording.qd, recording.qdd
        recording.tau[:] = (loaded.inverse_dynamics(*state) - arm.inverse_dynamics(*state)
                            + 0.03 * np.random.default_rng(1).standard_normal(recording.q.shape))

    diagnosis = diagnosed(arm, arm, mistake=external)
    found = beside_friction(diagnosis)
    assert 'contain nothing of the model' in found[Kind.LACKS].sentence
    assert [each.kind for each in diagnosis.wrong_efforts] == [Kind.LACKS]
    load = found[Kind.LOAD]
    assert figures(load)['mass'] == pytest.approx(LOAD.mass, rel=0.02)


def test_external_efforts_are_no_factor_beside_any_load(arm):
    """A load on the axis of the roll may be on two links; zero times any one fits as well."""
    on_axis = Inertial(1.0, Pose((0.0, 0.0, 0.1)), (0.004, 0.0, 0.0, 0.004, 0.0, 0.004))
    loaded = arm.with_payload('tool', 'l4', on_axis)

    def external(recording):
        state = recording.q, recording.qd, recording.qdd
        recording.tau[:] = (loaded.inverse_dynamics(*state) - arm.inverse_dynamics(*state)
                            + 0.03 * np.random.default_rng(1).standard_normal(recording.q.shape))

    diagnosis = diagnosed(arm, arm, 1, mistake=external)
    assert [each.kind for each in diagnosis.wrong_efforts] == [Kind.LACKS]
    assert not any('factor' in each for each in diagnosis.open_questions)


def test_the_gain_of_one_joint_among_currents_is_an_absolute_number(arm):
    by_joint = np.array([14.0, 14.0, 11.0, 14.0])
    diagnosis = diagnosed(arm, arm, alter=lambda tau, qd: rubbing(tau, qd) / by_joint, noise=0.004)
    factors = {each.subject: figures(each)['factor'] for each in diagnosis.conclusions
               if each.kind is Kind.GAIN}
    assert factors["joint 'elbow'"] == pytest.approx(1.0 / 11.0, rel=0.02)
    assert factors.get("joint 'shoulder'", factors.get('all joints')) == pytest.approx(
        1.0 / 14.0, rel=0.02)
    assert not OF_BODIES & {*beside_friction(diagnosis)}


def test_a_factor_is_that_of_all_joints_or_of_each():
    one, all_joints = Cause(What.FACTOR, 1), Cause(What.FACTOR)
    assert are_compatible([one, Cause(What.FACTOR, 2)]) and are_compatible([all_joints])
    assert not are_compatible([all_joints, one])


def test_a_unit_of_each_joint_is_no_mass(arm):
    rated = np.array([80.0, 120.0, 40.0, 10.0])
    diagnosis = diagnosed(
        arm, arm, alter=lambda tau, qd: 1000.0 * rubbing(tau, qd) / rated, noise=0.5)
    assert {*beside_friction(diagnosis)} == {Kind.GAIN}
    assert diagnosis.wrong_efforts


def test_the_sign_of_an_effort_that_is_nearly_nothing_is_not_judged():
    urdf = URDF.replace(link('l4', 0.8, '0.02 0.01 0.05'), link('l4', 0.1, '0.01 0 0.05').replace(
        '0.02', '1e-3').replace('0.03', '1e-3'))
    slim = Robot.from_urdf(urdf)

    def turned(tau, qd):  # 0.01 Nm beside 0.25 Nm of friction: something small acts like it
        return rubbing(tau * [1.0, 1.0, 1.0, -5.0], qd)

    for seed in range(5):
        diagnosis = diagnosed(slim, slim, seed, alter=turned)
        assert not {Kind.SIGN, Kind.GAIN, Kind.UNRELATED} & {
            each.kind for each in (*diagnosis.conclusions, *diagnosis.wrong_efforts)}


# ---- friction and offsets, where a factor or a cause is open ------------------------------------


def friction_of(diagnosis, name):
    return next(figures(each) for each in diagnosis.conclusions
                if each.kind is Kind.FRICTION and each.subject == f'joint {name!r}')


def test_the_friction_of_an_effort_without_the_model_is_not_multiplied(arm):
    diagnosis = diagnosed(arm, arm, alter=lambda tau, qd: rubbing(tau * [1.0, 0.0, 1.0, 1.0], qd))
    assert Kind.UNRELATED in {each.kind for each in diagnosis.wrong_efforts}
    assert friction_of(diagnosis, 'shoulder')['coulomb'] == pytest.approx(1.5, rel=0.05)


def test_a_gain_is_told_beside_an_effort_without_the_model(arm):
    diagnosis = diagnosed(arm, arm, alter=lambda tau, qd: rubbing(tau * [1.0, 0.0, 0.4, 1.0], qd))
    gain, = (each for each in diagnosis.conclusions if each.kind is Kind.GAIN)
    assert gain.subject == "joint 'elbow'"
    assert figures(gain)['factor'] == pytest.approx(0.4, rel=0.03)
    assert 'in the measured effort' not in ' '.join(
        each.sentence for each in diagnosis.conclusions if each.is_about('elbow'))


def test_a_constant_effort_is_an_offset_of_its_size(arm):
    def hold(recording):
        recording.tau[:, 1] = 3.3

    offset, = (each for each in diagnosed(arm, arm, mistake=hold).conclusions
               if each.kind is Kind.OFFSET)
    assert figures(offset)['offset'] == pytest.approx(3.3, abs=1e-3)


def test_friction_is_that_of_the_measured_effort_where_a_factor_may_be_masses(arm):
    heavy = arm.with_inertial_parameters(1.3 * arm.inertial_parameters)
    diagnosis = diagnosed(arm, heavy)
    assert friction_of(diagnosis, 'shoulder')['coulomb'] == pytest.approx(1.5, rel=0.03)
    assert all('in the measured effort' in each.sentence for each in diagnosis.conclusions)


def test_masses_beside_an_open_factor_are_told_for_both_cases(arm):
    factors = np.repeat([1.25, 1.25, 0.8, 0.8], 10)
    truth = arm.with_inertial_parameters(arm.inertial_parameters * factors)
    diagnosis = diagnosed(arm, truth)
    assert OF_BODIES.isdisjoint(beside_friction(diagnosis))
    text = next(each for each in diagnosis.open_questions if 'only a known payload' in each)
    both, first, second = (text.index(part) for part in (
        'or all masses differ', 'In the first case: ', 'In the second case, all these masses'))
    assert both < first < text.index("link 'l2'") < second


def test_friction_that_only_one_of_several_explanations_needs_is_not_told():
    hanging = Robot.from_urdf(ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="1 0 0"/>', 1))
    diagnosis = diagnosed(hanging, hanging.with_gravity(CEILING), alter=None)
    assert not (OF_JOINTS | OF_BODIES) & {each.kind for each in diagnosis.conclusions}


def test_efforts_do_not_lack_less_than_no_gravity():
    light, heavy = (Robot.from_urdf(robot(
        '<link name="base"/>', link('arm', mass), joint('only', 'base', 'arm')))
        for mass in (2.0, 3.0))
    questions = ' '.join(diagnosed(light, heavy, alter=None).open_questions)
    assert 'times that of the model' in questions and 'gravity' not in questions


# ---- mistakes of the kinematics, and of the order -----------------------------------------------


@pytest.mark.parametrize(('first', 'second'), [(0, 1), (1, 2), (2, 3)])
def test_exchanged_efforts(arm, first, second):
    def exchange(recording):
        recording.tau[:, [first, second]] = recording.tau[:, [second, first]]

    assert not OF_BODIES & {*beside_friction(diagnosed(arm, arm, mistake=exchange))}


def test_angles_that_were_taken_for_degrees_are_no_friction(arm):
    def scale(recording):
        for each in (recording.q, recording.qd, recording.qdd):
            each *= np.pi / 180.0

    diagnosis = diagnosed(arm, arm, mistake=scale)
    assert all(abs(each.value) < 1e3 for conclusion in diagnosis.conclusions
               for each in conclusion.quantities), diagnosis.conclusions
    assert any('or its unit' in each for each in diagnosis.open_questions)


def test_the_absolute_angle_of_a_parallelogram(arm):
    def add(recording):
        for each in (recording.q, recording.qd, recording.qdd):
            each[:, 2] += each[:, 1]

    diagnosis = diagnosed(arm, arm, mistake=add)
    assert not beside_friction(diagnosis) and diagnosis.inexplicable == ('elbow',)


@pytest.mark.parametrize('zero', [0.3, -0.3, 1.0, 0.5 * np.pi, -0.5 * np.pi, 3.1])
def test_another_zero_of_an_encoder(arm, zero):
    def shift(recording):
        recording.q[:, 2] -= zero

    found = beside_friction(diagnosed(arm, arm, mistake=shift))
    assert {*found} == {Kind.ZERO}
    assert found[Kind.ZERO].subject == "joint 'elbow'"
    assert figures(found[Kind.ZERO])['zero'] == pytest.approx(np.degrees(zero), abs=0.3)


def test_another_zero_of_a_level_first_joint_may_be_gravity():
    level = Robot.from_urdf(ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="1 0 0"/>', 1))

    def shift(recording):
        recording.q[:, 0] -= 1.0

    diagnosis = diagnosed(level, level, mistake=shift, alter=None)
    assert diagnosis.conclusions == ()
    assert any('another zero' in each and 'direction of gravity' in each
               for each in diagnosis.open_questions)


def test_what_discarded_causes_explain_is_no_offset(arm):
    def turn(recording):  # 0.16 kg cm beyond the axis change the side
        recording.q[:, 3] -= np.pi

    assert Kind.OFFSET not in {each.kind for each in diagnosed(arm, arm, mistake=turn).conclusions}


def test_a_mass_of_a_gantry_may_be_rotors():
    def gantry(mass):
        return Robot.from_urdf(robot(
            '<link name="base"/>', link('x', 5.0), link('y', mass),
            joint('along', 'base', 'x', kind='prismatic', axis='1 0 0'),
            joint('across', 'x', 'y', kind='prismatic', axis='0 1 0')))

    found = [each for each in diagnosed(
        gantry(3.0), gantry(5.0), alter=None).conclusions if each.kind is Kind.ROTOR]
    assert [figures(each)['inertia'] for each in found] == pytest.approx([2.0, 2.0], abs=0.1)
    assert all('or as masses beyond it that are too small in the model: the recordings do not '
               'tell which' in each.sentence for each in found)


def test_a_slide_without_inertia_is_not_told():
    lift = Robot.from_urdf(robot(
        '<link name="base"/>', link('x', 2.0), link('z', 1.0),
        joint('along', 'base', 'x', kind='prismatic', axis='1 0 0'),
        joint('up', 'x', 'z', kind='prismatic', axis='0 0 1')))
    diagnosis = diagnosed(lift, lift, alter=lambda tau, qd: tau * [1.0, -1.0])
    assert Kind.ROTOR not in {each.kind for each in diagnosis.conclusions}


# ---- sizes --------------------------------------------------------------------------------------


def test_what_is_significant_and_small_is_not_told(arm):
    parameters = arm.inertial_parameters
    parameters[13] += 0.02  # 20 g m, 0.2 Nm at a joint that bears 20 Nm
    diagnosis = diagnosed(arm, arm.with_inertial_parameters(parameters), noise=0.001)
    assert not beside_friction(diagnosis)


def test_efforts_without_any_bound_end_in_a_diagnosis(arm):
    def drift(recording):
        recording.tau[:, 1] += np.geomspace(1e-3, 1e13, len(recording.times))

    assert diagnosed(arm, arm, mistake=drift).open_questions
