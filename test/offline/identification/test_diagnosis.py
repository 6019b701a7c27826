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
"""Each cause is found in recordings where it is planted, and in no others."""

from dataclasses import replace
import re
from types import SimpleNamespace

from example_robots import example_urdf
import numpy as np
import pytest
from recorded_robots import recorded, swings
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.identification import bursts
from ros2_rnea.offline.identification.cause_words import conclude
from ros2_rnea.offline.identification.comparison import compare
from ros2_rnea.offline.identification.conclusions import Estimate, Kind
from ros2_rnea.offline.identification.preparation import Preparation, prepare
from ros2_rnea.offline.identification.recording import Recording
from ros2_rnea.offline.identification.reduced_equations import without
from ros2_rnea.robots.robot import Robot
from seeds import for_seeds
from small_robots import ARM, ARM_WITH_GRIPPER
from synthetic_recordings import with_joint_numbers

diagnose = pytest.importorskip('ros2_rnea.offline.identification.diagnosis').diagnose
pytestmark = pytest.mark.slow

SERIAL = ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="1 0 0"/>', 1)
PAYLOAD = Inertial(1.3, Pose((0.02, -0.03, 0.1)), (0.003, 0.0, 0.0, 0.002, 0.0, 0.002))
ERRORS = 5.0
"""A figure that is further from the truth, in standard errors, is wrong."""


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(SERIAL)


@pytest.fixture(scope='module')
def ur5(fastest_engine):
    return Robot.from_urdf(example_urdf('ur_description/urdf/ur5_robot.urdf'))


@pytest.fixture(scope='module', params=['arm', 'ur5'])
def robot(request):
    return request.getfixturevalue(request.param)


def diagnosed(model, truth, seed, duration=20.0, still=(), mistake=None, **how):
    """Return the diagnosis of a recording of the true arm, in which a mistake was made."""
    rng = np.random.default_rng(seed)
    recording = recorded(truth, swings(truth, rng, duration, still=still), rng, **how)
    if mistake is not None:
        mistake(recording)
    return diagnose(compare([recording], model))


def without_efforts(columns):
    def mistake(recording):
        recording.tau[:, columns] = np.nan

    return mistake


def only(diagnosis, kind):
    """Return the one conclusion, which is of this kind."""
    told = [each.sentence for each in diagnosis.conclusions]
    assert [each.kind for each in diagnosis.conclusions] == [kind], told
    return diagnosis.conclusions[0]


def quantities(conclusion):
    return {each.name: each for each in conclusion.quantities}


def assert_close(quantity, value):
    assert 0.0 < quantity.standard_error < 0.2 * max(abs(value), 0.5)
    assert abs(quantity.value - value) < ERRORS * quantity.standard_error, (quantity, value)


def factors(robot, **values):
    result = np.ones(robot.nv)
    for k, value in values.items():
        result[int(k.removeprefix('j'))] = value
    return lambda tau, qd: tau * result


@for_seeds(60)
def test_nothing_is_concluded_of_a_model_that_is_right(arm, seed):
    diagnosis = diagnosed(arm, arm, seed)
    assert diagnosis.conclusions == () == diagnosis.open_questions
    assert diagnosis.noise == pytest.approx(0.1, rel=0.1)


@for_seeds(3)
def test_nothing_is_concluded_of_a_real_arm_that_is_right(ur5, seed):
    diagnosis = diagnosed(ur5, ur5, seed)
    assert diagnosis.conclusions == () == diagnosis.open_questions


def test_samples_at_rest_flagged_as_moving_are_no_error(arm):
    rng = np.random.default_rng(1)
    times, q, qd, qdd = swings(arm, rng)
    qd[::50] = 0.0
    recording = recorded(arm, (times, q, qd, qdd), rng)
    diagnosis = diagnose(compare([replace(recording, moves=np.full(qd.shape, True))], arm))
    assert np.isfinite(diagnosis.noise).all()


@for_seeds(60)
def test_noise_that_is_correlated_in_time_is_no_evidence(arm, seed):
    rng = np.random.default_rng(seed)

    def drift(tau, qd):
        noise = rng.standard_normal(tau.shape)
        for k in range(1, len(noise)):
            noise[k] += 0.9 * noise[k - 1]
        return tau + 0.1 * noise

    assert diagnosed(arm, arm, seed + 1000, noise=0.0, alter=drift).conclusions == ()


@for_seeds(5)
def test_nothing_is_concluded_of_a_simulation_without_noise(arm, seed):
    assert diagnosed(arm, arm, seed, noise=0.0).conclusions == ()


@for_seeds(3)
def test_a_turned_sign(robot, seed):
    found = only(diagnosed(robot, robot, seed, alter=factors(robot, j1=-1.0)), Kind.SIGN)
    assert found.subject == f'joint {robot.joint_names[1]!r}'
    assert_close(quantities(found)['factor'], -1.0)
    best = found.improvements[0]
    assert best.label == robot.joint_names[1] and best.after < 0.2 < best.before


@for_seeds(3)
def test_a_gain_of_one_joint(robot, seed):
    found = only(diagnosed(robot, robot, seed, alter=factors(robot, j1=0.4)), Kind.GAIN)
    assert found.subject == f'joint {robot.joint_names[1]!r}'
    assert_close(quantities(found)['factor'], 0.4)


@for_seeds(3)
def test_a_gain_of_all_joints_is_one_conclusion(robot, seed):
    found = only(diagnosed(robot, robot, seed, alter=lambda tau, qd: 1000.0 * tau), Kind.GAIN)
    assert found.subject == 'all joints'
    assert_close(quantities(found)['factor'], 1000.0)


@for_seeds(3)
@pytest.mark.parametrize('angle', [10.0, 90.0, 180.0])
def test_gravity_that_points_elsewhere(ur5, angle, seed):
    radians = np.radians(angle)
    truth = ur5.with_gravity((9.81 * np.sin(radians), 0.0, -9.81 * np.cos(radians)))
    found = only(diagnosed(ur5, truth, seed), Kind.GRAVITY)
    assert_close(quantities(found)['angle'], angle)


@for_seeds(3)
def test_a_load_and_its_place(ur5, seed):
    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD)
    found = only(diagnosed(ur5, truth, seed), Kind.LOAD)
    assert found.subject == "link 'wrist_3_link'"
    numbers = quantities(found)
    assert_close(numbers['mass'], PAYLOAD.mass)
    for axis, value in zip('xyz', PAYLOAD.origin.xyz):
        assert_close(numbers[f'centre {axis}'], value)


def test_a_load_that_is_known_is_none(ur5):
    payloads = {'tool': ('wrist_3_link', PAYLOAD)}
    truth = ur5.with_payload('tool', *payloads['tool'])
    assert diagnosed(ur5, truth, 0, payloads=payloads).conclusions == ()


@for_seeds(3)
@pytest.mark.parametrize('share', [0.5, 3.0])
def test_a_mass_that_cannot_be_true(ur5, share, seed):
    parameters = ur5.inertial_parameters.reshape(-1, 10)
    parameters[2] *= share
    truth = ur5.with_inertial_parameters(parameters.ravel())
    found = only(diagnosed(ur5, truth, seed), Kind.LINK_MASS)
    assert found.subject == f'link {ur5.body_names[2]!r}'
    assert_close(quantities(found)['mass'], parameters[2, 0])


@for_seeds(3)
def test_friction_of_each_kind(ur5, seed):
    viscous, coulomb = np.array([0.0, 2.0, 0.0, 1.5, 0.0, 0.0]), np.zeros(6)
    coulomb[[3, 4]] = 3.0, 1.0

    def rub(tau, qd):
        return tau + viscous * qd + coulomb * qd / np.sqrt(qd**2 + 1e-4)

    diagnosis = diagnosed(ur5, ur5, seed, alter=rub)
    found = {each.subject: quantities(each) for each in diagnosis.conclusions}
    names = [f'joint {name!r}' for name in ur5.joint_names]
    assert {each.kind for each in diagnosis.conclusions} == {Kind.FRICTION}
    assert {*found} == {names[1], names[3], names[4]}
    assert [{*found[names[k]]} for k in (1, 3, 4)] == [
        {'viscous'}, {'viscous', 'coulomb'}, {'coulomb'}]
    assert_close(found[names[1]]['viscous'], 2.0)
    assert_close(found[names[3]]['coulomb'], 3.0)


def test_friction_by_direction(ur5):
    def rub(tau, qd):
        tau[:, 3] += np.where(qd[:, 3] > 0.0, 3.0, 1.0) * qd[:, 3]
        return tau

    found = only(diagnosed(ur5, ur5, 0, alter=rub), Kind.FRICTION)
    assert_close(quantities(found)['viscous by direction'], 1.0)
    forward, backward = map(float, re.search(
        r'by direction: ([\d.]+) in positive, ([\d.]+) Nm s/rad in negative direction',
        found.sentence).groups())
    assert (forward, backward) == pytest.approx((3.0, 1.0), abs=0.1)


@for_seeds(3)
def test_an_offset(ur5, seed):
    def shift(tau, qd):
        return tau + np.array([0.0, 0.0, 0.0, 0.0, 0.7, 0.0])

    found = only(diagnosed(ur5, ur5, seed, alter=shift), Kind.OFFSET)
    assert found.subject == f'joint {ur5.joint_names[4]!r}'
    assert_close(quantities(found)['offset'], 0.7)


def test_no_link_has_many_times_the_mass_of_the_robot(ur5):
    """As where something else, such as a spring, is taken for its weight."""
    parameters = ur5.inertial_parameters.reshape(-1, 10)
    parameters[2] *= 40.0
    diagnosis = diagnosed(ur5, ur5.with_inertial_parameters(parameters.ravel()), 0)
    assert not [each for each in diagnosis.conclusions
                if each.kind in (Kind.LINK_MASS, Kind.LOAD)]


def test_less_inertia_than_a_model_has_in_rotors_is_no_rotor(ur5):
    """As what friction that is late, or a slow sensor, looks like."""
    def less(recording):
        recording.tau[:, 4] -= 0.1 * recording.qdd[:, 4]

    for model, is_rotor in ((ur5, False), (with_joint_numbers(ur5, armature=0.2), True)):
        diagnosis = diagnosed(model, model, 1, mistake=less)
        assert [each.kind for each in diagnosis.conclusions] == [Kind.ROTOR][:is_rotor]
        assert ['less than no rotor' in each for each in diagnosis.open_questions] == (
            [True][is_rotor:])


@for_seeds(2)
def test_several_causes_at_once(ur5, seed):
    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD)

    def alter(tau, qd):
        tau[:, 2] *= -1.0
        return tau + qd + 2.0 * qd / np.sqrt(qd**2 + 1e-4)

    diagnosis = diagnosed(ur5, truth, seed, alter=alter)
    kinds = [each.kind for each in diagnosis.conclusions]
    assert sorted(kind.name for kind in kinds) == [
        *['FRICTION'] * ur5.nv, 'LOAD', 'SIGN']
    friction = next(each for each in diagnosis.conclusions
                    if each.subject == f'joint {ur5.joint_names[3]!r}')
    assert quantities(friction)['coulomb'].value == pytest.approx(2.0, abs=0.1)


def test_of_a_joint_that_stands_still_no_friction_is_told(ur5):
    still = ur5.joint_names[3]
    diagnosis = diagnosed(ur5, ur5, 4, still=[still], alter=lambda tau, qd: tau + 2.0 * qd)
    assert f'joint {still!r}' not in [each.subject for each in diagnosis.conclusions]
    assert any(f'Joint {still!r} moves too little' in each for each in diagnosis.open_questions)


@pytest.mark.parametrize('wrong', ['load', 'gain', 'offset'])
def test_one_pose_tells_nothing(ur5, wrong):
    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD) if wrong == 'load' else ur5
    alter = {'gain': lambda tau, qd: 0.5 * tau, 'offset': lambda tau, qd: tau + 3.0,
             'load': None}[wrong]
    diagnosis = diagnosed(ur5, truth, 5, still=ur5.joint_names, alter=alter)
    assert diagnosis.conclusions == ()
    assert any('masses or gravity' in each for each in diagnosis.open_questions)


def test_links_that_move_as_one_are_not_told_apart(ur5):
    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD)
    diagnosis = diagnosed(  # the effort of the last joint would tell that it bears the load
        ur5, truth, 6, still=ur5.joint_names[-1:], mistake=without_efforts(-1))
    assert diagnosis.conclusions == ()
    question = next(each for each in diagnosis.open_questions if 'which' in each)
    assert "'wrist_2_link'" in question and "'wrist_3_link'" in question


def test_a_few_samples_tell_nothing(arm):
    diagnosis = diagnosed(arm, arm, 7, duration=0.4, alter=lambda tau, qd: -tau)
    assert diagnosis.conclusions == ()
    assert 'too few samples' in diagnosis.open_questions[0]


@for_seeds(2)
def test_nothing_is_concluded_that_a_joint_contradicts_which_is_too_short_to_be_judged(ur5, seed):
    """The other joints say that the forearm is lighter; the shoulder carries all of it."""
    rng = np.random.default_rng(seed)
    phi = ur5.inertial_parameters.copy().reshape(-1, 10)
    phi[2] *= 0.5
    motion = swings(ur5, rng)
    light, whole = (recorded(robot, motion, rng) for robot in (
        ur5.with_inertial_parameters(phi.ravel()), ur5))
    assert diagnose(compare([light], ur5)).conclusions[0].kind is Kind.LINK_MASS
    for shoulder in (whole, light):
        few = light.tau.copy()
        few[:, 1] = np.nan
        few[::13, 1] = shoulder.tau[::13, 1]
        diagnosis = diagnose(compare([replace(light, tau=few)], ur5))
        assert any('too short to judge' in each for each in diagnosis.open_questions)
        assert np.isnan(diagnosis.noise[1])
        told = [each.kind for each in diagnosis.conclusions]
        assert told == [Kind.LINK_MASS][:shoulder is light]
        assert diagnosis.is_explained == (shoulder is light)


def test_too_short_a_recording_is_told_the_length_it_needs(ur5):
    rng = np.random.default_rng(7)
    long, short = (
        replace(recorded(ur5, swings(ur5, rng, duration=duration), rng), cutoff=5.0)
        for duration in (50.0, 8.0))
    assert diagnose(compare([long], ur5)).open_questions == ()
    diagnosis = diagnose(compare([short], ur5))
    question = next(each for each in diagnosis.open_questions if 'shoulder_pan' in each)
    assert int(re.search(r'record about (\d+) times as long', question)[1]) in (2, 3)
    assert np.isnan(diagnosis.noise[0])


@for_seeds(3)
def test_errors_allow_for_what_no_cause_explains(ur5, seed):
    def cog(tau, qd):  # depends on the direction, and on the speed in a way no friction does
        tau[:, 1] += 2.0 * np.sin(6.0 * qd[:, 1])
        return tau

    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD)
    found = [each for each in diagnosed(ur5, truth, seed, alter=cog).conclusions
             if each.kind is Kind.LOAD]
    for each in found:
        assert_close(quantities(each)['mass'], PAYLOAD.mass)


def test_no_mass_is_stated_without_a_joint_of_long_lever(ur5):
    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD)
    found = only(diagnosed(ur5, truth, 11, mistake=without_efforts(slice(3))),
                 Kind.MASS_DISTRIBUTION)
    assert found.subject == "link 'wrist_3_link'"
    assert f'not stated, since joint {ur5.joint_names[1]!r}' in found.sentence
    assert_close(quantities(found)['moment z'], PAYLOAD.mass * PAYLOAD.origin.xyz[2])


def test_a_moment_that_is_not_excited_has_no_number(ur5):
    truth = ur5.with_payload('tool', 'wrist_2_link', PAYLOAD)
    diagnosis = diagnosed(ur5, truth, 1, still=ur5.joint_names[:4], noise=0.05)
    found = next(
        each for each in diagnosis.conclusions if each.kind is Kind.MASS_DISTRIBUTION)
    assert 'along z is not identifiable from these recordings' in found.sentence
    assert 'z -' not in found.sentence and '± 1' not in found.sentence
    moments = quantities(found)
    assert np.isnan(moments['moment z'].value) and str(moments['moment z']) == 'unknown kg m'
    assert_close(moments['moment y'], -0.039)


@for_seeds(3)
def test_a_push_is_told_with_its_joints_and_time(ur5, seed):
    def push(recording):
        during = (recording.times > 20.0) & (recording.times < 21.0)
        recording.tau[during, :3] += [10.0, 15.0, 8.0]

    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD)  # a wrong model is no push
    diagnosis = diagnosed(ur5, truth, seed, duration=40.0, mistake=push)
    assert diagnosis.bursts, diagnosis.open_questions
    begin = min(each.begin for each in diagnosis.bursts)
    end = max(each.end for each in diagnosis.bursts)
    assert 19.8 < begin < 20.9 and 20.1 < end < 21.2
    joints = {joint for each in diagnosis.bursts for joint in each.joints}
    assert joints and joints <= {*ur5.joint_names[:3]}
    assert str(diagnosis.bursts[0]) in diagnosis.open_questions
    assert '--to ' in str(diagnosis.bursts[0]) and '--from ' in str(diagnosis.bursts[0])


def test_a_push_is_told_in_times_of_the_whole_recording(arm):
    rng = np.random.default_rng(1)
    recording = recorded(arm, swings(arm, rng, duration=40.0), rng)
    recording.tau[(recording.times > 20.2) & (recording.times < 20.8)] += 20.0
    for begin, advice in (
            (0.0, '--to 19 keeps what is before, --from 23 keeps what is after ('),
            (100.0, '--to 119 keeps what is before, --from 123 keeps what is after (')):
        burst, = diagnose(compare([replace(recording, begin=begin)], arm)).bursts
        assert advice in str(burst)
        assert begin + 20.1 < burst.begin < begin + 20.4
    assert 'may have touched or pushed the robot, or samples are wrong.' in str(burst)
    early = replace(burst, begin=0.3, end=0.9)  # nothing of the recording is before it
    assert 'leave this part out: --from 3 keeps what is after (' in str(early)
    assert burst.last == pytest.approx(begin + recording.times[-1], abs=0.1)
    late = replace(burst, end=burst.last - 2.5)  # nothing worth keeping is after it
    assert '--to 119 keeps what is before (in seconds' in str(late) and '--from' not in str(late)
    assert str(replace(early, last=3.5)).endswith('If so, record the motion again.')


def test_a_short_recording_of_another_temperature_is_no_push(arm):
    cold, warm = (with_joint_numbers(arm, damping=damping, friction=friction)
                  for damping, friction in ((2.0, 1.5), (1.2, 1.0)))
    rng = np.random.default_rng(1)
    recordings = [
        recorded(robot, swings(arm, rng, duration), rng, noise=0.05, name=name)
        for robot, duration, name in ((cold, 160.0, 'cold'), (warm, 12.0, 'warm'))]
    assert diagnose(compare(recordings, arm)).bursts == ()


def test_noise_at_a_lower_rate_is_no_push(monkeypatch):
    steps = np.repeat([0.03, 0.002], [6000, 60000])
    columns = SimpleNamespace(
        times=np.cumsum(steps), pieces=[slice(0, 6000), slice(6000, 66000)],
        moves=np.ones((66000, 1), dtype=bool), measured=np.ones((66000, 1)))
    noise = np.random.default_rng(1).standard_normal(66000)
    monkeypatch.setattr(bursts, '_beside_any_friction', lambda *_: noise)
    assert not bursts._marked(columns, SimpleNamespace(moves=True), 0).any()
    noise[3000:3030] += 10.0
    noise[20000:20500] += 10.0
    at = np.flatnonzero(bursts._marked(columns, SimpleNamespace(moves=True), 0))
    assert {*np.round(columns.times[at]).tolist()} <= {90.0, 91.0, 208.0, 209.0}
    assert at[0] < 6000 < at[-1]


def test_times_of_a_part_count_from_the_recording_s_begin(arm):
    times = np.arange(0.0, 20.0, 0.01) + 1e9
    motion = [swings(arm, np.random.default_rng(1))[k] for k in (1, 2)]
    one = Recording('part', times, arm.joint_names, motion[0], motion[0], motion[1], begin=100.0)
    prepared = prepare(one, arm, Preparation(delay=0.0, cutoff=6.0)).prepared
    assert prepared.begin == pytest.approx(100.5, abs=1e-3)


def test_pushes_are_searched_once_however_many_pieces_there_are(arm, monkeypatch):
    of_joints = []
    marked = bursts._marked
    monkeypatch.setattr(bursts, '_marked', lambda *of: of_joints.append(of) or marked(*of))
    rng = np.random.default_rng(1)
    many = [recorded(arm, swings(arm, rng, duration=3.0), rng, name=str(k)) for k in range(20)]
    diagnose(compare(many, arm))
    assert len(of_joints) == 2  # joints


def steps(rng, slow=10, fast=2):
    """Return the motion of two joints that go to and fro slowly, and sometimes fast."""
    accelerations = []
    for _ in range(2):
        phases, direction = [], 1.0
        for k in range(slow + fast):
            is_fast = k % ((slow + fast) // fast) == slow // fast
            speed, rate = (2.5, 6.0) if is_fast else (rng.uniform(0.2, 0.4), 0.5)
            phases += [np.full(round(100 * speed / rate), direction * rate),
                       np.zeros(50 if is_fast else rng.integers(200, 300)),
                       np.full(round(100 * speed / rate), -direction * rate), np.zeros(50)]
            direction = -direction
        accelerations.append(np.concatenate(phases))
    qdd = np.stack([each[:min(map(len, accelerations))] for each in accelerations], axis=1)
    qd = 0.01 * np.cumsum(qdd, axis=0)
    return 0.01 * np.arange(len(qdd)), 0.01 * np.cumsum(qd, axis=0), qd, qdd


@for_seeds(6)
def test_friction_with_another_law_is_no_push(arm, seed):
    """That of gears grows less and less with the speed, and with the load."""
    for law in (lambda speed, tau: 2.0 + 1.5 * np.tanh(speed),
                lambda speed, tau: 2.0 + 2.0 * np.sqrt(speed),
                lambda speed, tau: 2.0 + 0.5 * speed + 0.15 * np.abs(tau)):
        rng = np.random.default_rng(seed)
        recording = recorded(arm, steps(rng), rng, noise=0.05, alter=lambda tau, qd, law=law: (
            tau + np.sign(qd) * law(np.abs(qd), tau)))
        assert diagnose(compare([recording], arm)).bursts == ()


@for_seeds(10)
def test_a_motion_without_a_push_has_none(arm, ur5, seed):
    for model in (arm, ur5):
        truth = model.with_payload('tool', model.body_names[-1], PAYLOAD)
        assert diagnosed(model, truth, seed, alter=lambda tau, qd: (
            tau + 2.0 * qd + 3.0 * np.sign(qd) + 0.5 * np.sin(6.0 * qd))).bursts == ()


def test_no_sign_is_judged_where_the_model_s_effort_is_small(ur5):
    """Of the last joint, gravity and inertia take less than its friction and ripple."""
    rng, j = np.random.default_rng(21), ur5.nv - 1
    light = swings(ur5, rng)

    def alter(tau, qd):
        tau = tau + 0.3 * qd + 1.0 * np.sign(qd)
        tau[:, j] -= 4.0 * (ur5.inverse_dynamics(*light[1:]) - ur5.friction(light[2]))[:, j]
        return tau + 0.15 * np.sin(3.0 * light[1])

    one = recorded(ur5, light, rng, noise=0.02, alter=alter)
    diagnosis = diagnose(compare([one], ur5))
    joint = ur5.joint_names[j]
    assert not [each for each in diagnosis.wrong_efforts if each.is_about(joint)]
    assert not [each for each in diagnosis.conclusions
                if each.is_about(joint) and each.kind in (Kind.SIGN, Kind.GAIN)]


def test_little_friction_with_the_wrong_sign_is_no_turned_sign(ur5):
    """A sensor behind the gear sees no friction, and its hysteresis has either sign."""
    rubbing = with_joint_numbers(ur5, friction=10.0)
    found = diagnosed(
        rubbing, ur5, 22, alter=lambda tau, qd: tau - 0.3 * np.sign(qd)).wrong_efforts
    assert not [each for each in found if each.kind is Kind.FRICTION and each.is_about(
        ur5.joint_names[1])]


@pytest.mark.parametrize('friction', [0.0, 3.0])
def test_efforts_without_gravity_are_no_other_gravity(ur5, friction):
    diagnosis = diagnosed(ur5, ur5.with_gravity((0.0, 0.0, 0.0)), 23, alter=lambda tau, qd: (
        tau + friction * np.sign(qd)))
    found = [each for each in diagnosis.conclusions if each.kind is not Kind.FRICTION]
    assert [each.kind for each in found] == [Kind.LACKS]
    assert_close(quantities(found[0])['share'], 100.0)
    assert found[0] in diagnosis.wrong_efforts and 'lack gravity' in found[0].sentence


def test_an_effort_unrelated_to_the_model_is_no_gain(ur5):
    rng = np.random.default_rng(13)
    recording = recorded(ur5, swings(ur5, rng), rng)
    recording.tau[:, 1] = rng.standard_normal(len(recording.times))
    diagnosis = diagnose(compare([recording], ur5))
    assert {each.kind for each in diagnosis.conclusions} <= {Kind.FRICTION}
    assert any('has little to do with that of the model' in each and ur5.joint_names[1] in each
               for each in diagnosis.open_questions)


@for_seeds(2)
def test_two_turned_signs_and_loads_are_found_in_few_samples(ur5, seed):
    truth = ur5.with_payload('tool', 'wrist_3_link', PAYLOAD)
    found = diagnosed(ur5, truth, seed, duration=12.0,
                      alter=factors(ur5, j1=-1.0, j3=-1.0)).conclusions
    assert sorted(each.subject for each in found if each.kind is Kind.SIGN) == sorted(
        f'joint {ur5.joint_names[k]!r}' for k in (1, 3))
    assert not [each for each in found if each.kind is Kind.GAIN]


def test_the_options_that_give_a_factor_are_named():
    conclusion = conclude(Kind.GAIN, 'all joints', [Estimate('factor', 0.1, 0.01)], 9.0)
    for option in ('--csv-units effort=A', '--current-gains JOINT=NM_PER_A', '--unknown', 'gains'):
        assert option in conclusion.advice


def test_joints_without_an_effort_are_named():
    model = Robot.from_urdf(ARM_WITH_GRIPPER)
    diagnosis = diagnosed(model, model, 8, mistake=without_efforts(2))
    assert diagnosis.conclusions == ()
    assert "The effort of joint 'grip' was not recorded, or is constant." in (
        diagnosis.open_questions)
    assert np.isnan(diagnosis.noise[2]) and np.isfinite(diagnosis.noise[:2]).all()


def test_a_column_of_rounding_explains_nothing():
    one, other = np.eye(4, 2).T[..., np.newaxis]
    rounding = np.full((4, 1), 1e-15)
    assert without(one, np.hstack([other, rounding])) == pytest.approx(one)


def test_efforts_that_are_always_zero_are_named(arm):
    questions = diagnosed(arm, arm, 9, alter=lambda tau, qd: tau * [1.0, 0.0], noise=[
        0.1, 0.0]).open_questions
    assert "The recorded effort of joint 'elbow' is always zero." in questions
