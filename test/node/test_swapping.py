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
"""Models and numbers that change without end: what that costs the thread of the cycle."""

from collections import Counter
import gc
import itertools
import math
import os
import signal
import threading
import weakref

from call_count import counting_calls
from example_robots import example_urdf
from idle_worker import answers_held, nothing_is_built
import numpy as np
import pytest
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.control.decision import Instant, State
from ros2_rnea.control.inputs.joint_states import MeasuredJoints
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.errors import ArgumentError
from ros2_rnea.kernels import call, compiled, machine
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.node import parameters
from ros2_rnea.node.models import (
    build_report,
    configuration,
    model_builder,
    model_building,
    stored_parameters,
)
from ros2_rnea.node.models.model_building import Payload
from ros2_rnea.node.models.model_in_use import ModelInUse
from ros2_rnea.node.models.stored_parameters import StoredParameters
from ros2_rnea.node.worker import model_worker
from ros2_rnea.node.worker.model_worker import ModelWorker
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess
from ros2_rnea.robots.joint_index_map import single_joints
from ros2_rnea.trajectories.ros_time import RosTime
from small_robots import ARM, ARM_WITH_GRIPPER
from std_msgs.msg import String
from std_srvs.srv import SetBool

pytestmark = pytest.mark.ros

JOINTS = ['shoulder', 'elbow']
MOST_CALLS = {
    'swap': 700, 'declaration': 700, 'first swap while sending': 1400,
    'swap while sending': 800, 'update while sending': 2000}
"""How many functions of Python and C the control thread calls at most, for 32 joints; 2000 take
about a millisecond."""

OTHER_ARM = ARM.replace('mass value="1.0"', 'mass value="1.1"')
GRIPPING_ARM = ARM_WITH_GRIPPER.replace('name="arm_with_gripper"', 'name="arm"')


def is_in_use(arm, urdf):
    """Return whether the node computes with the robot of a description."""
    return np.array_equal(
        arm.node.policy.robot.gravity([0.1, 0.2]), Robot.from_urdf(urdf).gravity([0.1, 0.2]))


def set_without_waiting(arm, name, value):
    """Set a parameter while other changes are on their way."""
    assert arm.node.set_parameters([Parameter(name, value=value)])[0].successful


def box(mass=1.0, link='tool', name='box'):
    return Payload(name, link, Inertial(mass, Pose((0.1, 0.0, 0.2)), (0.01, 0, 0, 0.01, 0, 0.01)))


@pytest.fixture
def arm(bench):
    """Return an arm with a robot and no joint states."""
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    return arm


@pytest.fixture
def threads(monkeypatch):
    """Return by name of a function that takes long the threads that have called it."""
    seen = {}

    def watch(owner, name):
        function = getattr(owner, name)

        def watched(*arguments, **named):
            seen.setdefault(name, set()).add(threading.get_ident())
            return function(*arguments, **named)

        monkeypatch.setattr(owner, name, watched)

    for module, name in (
            (model_building, 'parse_urdf'), (model_building, 'build_tree'),
            (model_building, 'audit'), (machine, 'compile_object'), (machine, 'load'),
            (compiled, 'trace'), (Policy, '__init__'), (AdjustableRobot, '__init__')):
        watch(module, name)
    return seen


def test_a_swap_calls_few_functions_in_the_control_thread(
        bench, threads, monkeypatch, fastest_engine):
    talos = example_urdf('talos_data/robots/talos_full_v2.urdf')
    swaps, declarations = [], []
    for owner, name, counts in (
            (configuration.Configuration, '_swap', swaps),
            (StoredParameters, 'declare', declarations)):
        monkeypatch.setattr(owner, name, counting_calls(getattr(owner, name), counts))
    node = bench(state_timeout=9.0)
    for turn in range(4):
        if turn == 1:
            declarations.clear()  # there was no cycle yet
        node.describe(talos.replace('name="talos"', f'name="talos{turn % 3}"'))
        assert node.set_parameter('lookahead', 1e-3 * turn).successful
    ours = threading.get_ident()
    assert {name for name, callers in threads.items() if ours in callers} == set()
    assert 'load' in threads or not machine.available()
    assert len(swaps) == 4 and max(swaps) <= MOST_CALLS['swap']
    assert len(declarations) == 3 and max(declarations) <= MOST_CALLS['declaration']


def test_a_swap_calls_few_functions_while_efforts_are_sent_too(
        bench, monkeypatch, fastest_engine):
    """
    It is then checked, too, whether the arm is held, and not driven by friction.

    Payload and gravity change while each model is being built.
    """
    talos = example_urdf('talos_data/robots/talos_full_v2.urdf')
    joints = single_joints(Robot.from_urdf(talos))
    swap, counts = configuration.Configuration._swap, {'swap': [], 'update': []}

    def counted(configured, *arguments):
        before, calls = configured.policy, []
        assert before is None or before.is_sending
        counting_calls(swap, calls)(configured, *arguments)
        counts['update' if configured.policy is before else 'swap'] += calls

    arm = bench(joints=joints, mode='gravity_compensation', state_timeout=9.0,
                payload_links=['torso_2_link'])
    monkeypatch.setattr(configuration.Configuration, '_swap', counted)
    for turn in range(4):
        described = talos.replace('damping="1.0"', f'damping="0.{9 - turn}"')
        with answers_held():
            arm.begin_to_describe(described)
            arm.changes.set_payload(box(0.1 + 0.1 * turn, 'torso_2_link'))
            assert arm.changes.set_parameter('gravity', [0.01 * turn, 0.0, -9.81]).successful
        arm.until_answered(arm.is_settled)
        arm.answer(joints, [0.1] * len(joints))
        assert carried(arm) == ['box']
        assert arm.node.policy.robot.friction([1.0] * len(joints)) == pytest.approx(
            Robot.from_urdf(described).friction([1.0] * len(joints)))
    assert len(counts['swap']) == 4 and len(counts['update']) == 3  # the first is at once
    assert counts['swap'][0] <= MOST_CALLS['first swap while sending']
    assert max(counts['swap'][1:]) <= MOST_CALLS['swap while sending']
    assert max(counts['update']) <= MOST_CALLS['update while sending']


@pytest.mark.parametrize('engine', ['compiled', 'tape', 'textbook'])
def test_an_unchanged_tree_is_not_loaded_again(
        bench, threads, monkeypatch, engine):
    if engine == 'compiled' and not machine.available():
        pytest.skip('llvmlite is not installed')
    if engine == 'tape' and call.EXTENSION_ERROR:
        pytest.skip('the extension is not built here')
    monkeypatch.setenv('ROS2_RNEA_ENGINE', engine)
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    first = arm.node.policy
    threads.clear()
    arm.describe(ARM.replace('<robot ', '<!-- the same --><robot '))
    assert arm.node.policy is not first
    assert arm.node.policy.robot.tree is first.robot.tree
    assert 'load' not in threads
    assert is_in_use(arm, ARM)
    arm.describe(OTHER_ARM)
    assert arm.node.policy.robot.tree is not first.robot.tree
    assert is_in_use(arm, OTHER_ARM)
    arm.describe(ARM)
    assert is_in_use(arm, ARM)


def test_the_same_tree_is_not_loaded_again_after_unused_models(
        arm, threads, monkeypatch, fastest_engine):
    made, check = [], Policy.check_held
    monkeypatch.setattr(
        Policy, 'check_held', lambda policy: made.append('held') or check(policy))
    threads.clear()
    with answers_held():
        for turn in range(4):
            text = ARM.replace('<robot ', f'<!-- {turn} --><robot ')
            arm.begin_to_describe(text)
            arm.until_answered(lambda turn=turn: len(made) > turn)
    arm.until_answered(arm.is_settled)
    assert 'load' not in threads
    assert arm.changes.description == text and is_in_use(arm, ARM)


# ---- what changes while a model is being built --------------------------------------------------


def test_gravity_set_during_the_first_build_applies_with_an_imu(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, mode='gravity_compensation',
                gravity_from_imu=True)
    with answers_held():
        arm.begin_to_describe(ARM)
        set_without_waiting(arm, 'gravity', [0.0, 9.81, 0.0])
    arm.until_answered(arm.is_settled)
    assert arm.node.policy.gravity.tolist() == [0.0, 9.81, 0.0]
    assert arm.node.policy.robot.gravity([0.1, 0.2]) == pytest.approx(
        Robot.from_urdf(ARM).gravity([0.1, 0.2], [0.0, 9.81, 0.0]))


@pytest.mark.parametrize('name, value', [
    ('lookahead', 0.1), ('gravity', [0.1, 0.0, -9.81]), ('hold_tolerance', 0.4)])
def test_a_requested_transition_outlives_a_change_of_parameters(bench, name, value):
    arm = bench(joints=JOINTS, state_timeout=9.0, mode='gravity_compensation', blend_time=0.0)
    arm.describe(ARM)
    arm.answer(JOINTS, [0.1, 0.2])
    policy = arm.node.policy
    with answers_held():
        assert not arm.changes.set_payload(box(link='lower'), 0.05)
        for each, to in ((name, value), ('blend_time', 5.0)):
            assert arm.changes.set_parameter(each, to, 0.01).successful
        assert policy.memory.pending.hand_over == 0.01
    arm.until_answered(arm.is_settled)
    assert arm.node.policy is not policy and carried(arm) == ['box']
    assert arm.node.policy.memory.pending.hand_over == 0.05


def test_other_joints_that_are_set_meanwhile_take_one_more_policy(bench, monkeypatch):
    made = []
    init = Policy.__init__
    arm = bench(joints=JOINTS, state_timeout=9.0, payload_links=['lower'])
    arm.describe(ARM)
    monkeypatch.setattr(Policy, '__init__', lambda policy, *arguments: (
        made.append(threading.get_ident()), init(policy, *arguments))[-1])
    with answers_held():
        arm.begin_to_describe(OTHER_ARM)
        set_without_waiting(arm, 'joints', JOINTS[::-1])
        arm.changes.set_payload(box(link='lower'))
        made.clear()
    arm.until_answered(arm.is_settled)
    assert arm.node.policy.controlled == ('elbow', 'shoulder') and carried(arm) == ['box']
    assert made.count(threading.get_ident()) == 1


def test_a_payload_without_finite_effort_refuses_the_first_robot_too(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, mode='gravity_compensation',
                payload_links=['lower'])
    with answers_held():
        arm.begin_to_describe(ARM)
        arm.changes.set_payload(box(1e308, 'lower'))
    arm.until_answered(arm.is_settled)
    assert arm.node.policy is None
    assert 'no finite number' in arm.told('robot_description')


def test_a_new_model_does_not_extend_a_final_fade(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, mode='gravity_compensation', blend_time=0.5,
                position_loop='present')
    arm.describe(ARM)
    arm.answer(JOINTS, [0.1, 0.2])
    with answers_held():
        arm.begin_to_describe(OTHER_ARM)
        set_without_waiting(arm, 'blend_time', 5.0)
        set_without_waiting(arm, 'enabled', False)
        arm.answer(JOINTS, [0.1, 0.2])
        policy = arm.node.policy
        assert policy.state is State.BRAKING
        end = policy.memory.hand_over.end
    arm.until_answered(arm.is_settled)
    assert arm.node.policy is not policy
    arm.answer(JOINTS, [0.1, 0.2])
    assert arm.node.policy.state is State.BRAKING
    assert arm.node.policy.memory.hand_over.end <= end + 0.1  # not in blend_time


@pytest.mark.parametrize('error', [ArgumentError, ZeroDivisionError])
@pytest.mark.parametrize('owner, name', [(Policy, 'check_held'), (model_building.Model, 'update')])
def test_no_payload_stays_that_could_not_be_judged_or_set(
        loaded, monkeypatch, owner, name, error):
    def fail(*_, **__):
        raise error('nonsense')

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail)
        with pytest.raises(error):
            loaded.changes.set_payload(box(2.0, 'lower', 'other'))
    with pytest.raises(ArgumentError, match="no payload 'other'"):
        loaded.changes.remove_payload('other')
    assert carried(loaded) == ['box']
    assert loaded.set_parameter('damping.elbow', 0.5).successful
    assert carried(loaded) == ['box'] and loaded.is_settled()


@pytest.fixture
def declarations(monkeypatch):
    """Return how many parameters each callback declares, and whether there was no robot yet."""
    seen, declare = [], StoredParameters.declare

    def noted(stored, coming, longest):
        before = len(stored._node._parameters)
        more = declare(stored, coming, longest)
        is_first = longest == configuration.LONGEST_FIRST_DECLARATIONS
        seen.append((len(stored._node._parameters) - before, is_first))
        return more

    monkeypatch.setattr(StoredParameters, 'declare', noted)
    return seen


def test_parameters_of_the_first_robot_wait_for_no_cycle(bench, monkeypatch, declarations):
    """Nothing is sent before it; each of them takes 0.1 ms here."""
    now = itertools.count(step=0.0001)
    monkeypatch.setattr(stored_parameters, 'thread_time', lambda: next(now))
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    assert [is_first for _, is_first in declarations] == [True]
    arm.describe(ARM_WITH_GRIPPER)
    assert len(declarations) > 5


def test_no_callback_declares_parameters_for_long_before_the_first_robot(
        bench, monkeypatch, declarations):
    """Each of them takes 4 ms here."""
    now = itertools.count(step=0.004)
    monkeypatch.setattr(stored_parameters, 'thread_time', lambda: next(now))
    bench(joints=JOINTS, state_timeout=9.0).describe(ARM)
    assert len(declarations) > 5 and max(declarations)[0] <= 3


def test_one_description_makes_one_policy_and_two_robots(bench, monkeypatch):
    made = Counter()
    for kind in (Robot, Policy):
        init = kind.__init__

        def counted(self, *arguments, init=init, **named):
            made[type(self).__name__] += 1
            init(self, *arguments, **named)

        monkeypatch.setattr(kind, '__init__', counted)
    read = parameters.read
    monkeypatch.setattr(
        parameters, 'read', lambda values: made.update(['checks']) or read(values))
    arm = bench(joints=JOINTS, state_timeout=9.0, robot_description=ARM)
    assert made == {'AdjustableRobot': 2, 'Policy': 1, 'checks': 1}
    made.clear()
    arm.describe(ARM_WITH_GRIPPER.replace('name="arm_with_gripper"', 'name="arm"'))
    assert made == {'AdjustableRobot': 2, 'Policy': 1}


NUMBERS = [
    ('gravity', [0.0, 9.81, 0.0]), ('lookahead', 0.1), ('hold_tolerance', 0.3),
    ('damping.elbow', 0.4), ('friction.shoulder', 0.4), ('blend_time', 0.1),
    ('spring_stiffness.elbow', 4.0), ('spring_reference.shoulder', 0.4),
    ('effort_limit_factor', 0.5), ('effort_rate_limit', 100.0), ('state_timeout', 0.3),
    ('on_stop', 'zero'), ('wrench_timeout', 0.3), ('wrench_tool_mass', 0.3),
    ('mode', 'gravity_compensation'), ('terms', 'no_gravity'), ('beyond_limits', 'scale'),
    ('allow_partial_joints_goal', False), ('gravity_from_imu', True), ('enabled', False),
]


def test_parameters_that_change_numbers_build_nothing(arm, threads):
    policy, settings = arm.node.policy, arm.node.policy.settings
    threads.clear()
    with nothing_is_built():
        for name, value in NUMBERS:
            before = arm.node.get_parameter(name).value
            assert before != value
            assert arm.set_parameter(name, value).successful
            if hasattr(settings, name):
                new = getattr(arm.node.policy.settings, name)
                assert new != getattr(settings, name), name
            if before is not None:
                assert arm.set_parameter(name, before).successful
    assert arm.node.policy is policy
    assert policy.settings == settings
    assert threads == {}


def test_only_the_first_friction_of_a_kind_needs_a_model(arm):
    at_rest = arm.answer(JOINTS, [0.1, 0.2])
    first = arm.node.policy
    assert arm.set_parameter('friction_offset.elbow', 0.5).successful
    assert arm.node.policy is not first
    assert arm.answer(JOINTS, [0.1, 0.2]) == pytest.approx([at_rest[0], at_rest[1] + 0.5])
    with nothing_is_built():
        for offset in (-0.25, 0.0):
            assert arm.set_parameter('friction_offset.elbow', offset).successful
            assert arm.answer(JOINTS, [0.1, 0.2]) == pytest.approx(
                [at_rest[0], at_rest[1] + offset])
    refused = arm.set_parameter('breakaway_friction.elbow', -1.0)
    assert not refused.successful and 'breakaway_friction.elbow is -1.0' in refused.reason


def test_only_the_first_rotor_needs_a_model(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, robot_description=ARM,
                observe_external_effort=True)
    q, qd, qdd = [0.1, 0.2], [1.0, -1.0], [2.0, 4.0]
    policy = arm.node.policy
    before = policy.robot.effort_terms(q, qd, qdd)
    momentum = policy.robot.joint_momentum(q, qd)
    assert arm.set_parameter('armature.elbow', 0.25).successful
    assert arm.node.policy is not policy
    with nothing_is_built():
        for armature in (0.25, 1.5, 0.0):
            assert arm.set_parameter('armature.elbow', armature).successful
            robot, more = arm.node.policy.robot, [0.0, 4.0 * armature]
            terms = robot.effort_terms(q, qd, qdd)
            assert terms.inertia == pytest.approx(before.inertia + more, abs=1e-12)
            assert robot.inverse_dynamics(q, qd, qdd) == pytest.approx(
                before.total + more, abs=1e-12)
            assert robot.joint_momentum(q, qd) == pytest.approx(
                momentum + [[0.0, -armature], [0.0, 0.0]], abs=1e-12)
    for value in (-0.1, math.inf, 'much', 1e6):
        refused = arm.set_parameter('armature.elbow', value)
        assert not refused.successful and f'armature.elbow is {value!r}' in refused.reason
        assert 'from 0 on, up to 100000' in refused.reason


def test_friction_of_a_parameter_file_is_in_the_first_model(bench):
    arm = bench(joints=JOINTS, state_timeout=9.0, robot_description=ARM,
                friction_offset__elbow=0.5, friction_positive__shoulder=1.0)
    assert arm.node.policy.robot.friction([1.0, 0.0]) == pytest.approx([1.5, 0.5], rel=1e-4)


@pytest.mark.parametrize('before', [
    {}, {'gravity_from_imu': True, 'blend_time': 5.0},
    {'effort_limits': {'elbow': 10.0}, 'mode': Mode.COMPUTED_TORQUE, 'position_gains': (9.0,),
     'velocity_gains': (6.0,)}])
def test_settings_changed_in_place_equal_those_of_a_new_policy(before):
    given = {
        'mode': 'computed_torque', 'terms': 'no_gravity', 'position_gains': [9.0],
        'velocity_gains': [6.0], 'gravity': [0.0, 9.81, 0.0], 'state_timeout': 0.3,
        'lookahead': 0.1, 'hold_tolerance': 0.3, 'controller_state_timeout': 0.4,
        'wrench_timeout': 0.6, 'wrench_tool_mass': 0.3, 'wrench_exerted_by': 'robot',
        'effort_limit_factor': 0.5, 'effort_rate_limit': 100.0, 'beyond_limits': 'scale',
        'position_limit_margin': 0.1, 'wrench_in_gravity_compensation': True,
        'allow_partial_joints_goal': False, 'gravity_time_constant': 0.7}
    values = {spec.name: spec.default for spec in parameters.SPECIFICATIONS}
    settings = parameters.read({**values, **given}).settings
    arm = Robot.from_urdf(ARM)
    changed, made = Policy(arm, Settings(**before)), Policy(arm, settings)
    changed.change_settings(settings)
    assert contents(changed.stages) == contents(made.stages)
    assert changed.gravity.tolist() == [0.0, 9.81, 0.0]
    assert changed.robot.gravity([0.1, 0.2]) == pytest.approx(made.robot.gravity([0.1, 0.2]))


def contents(value, depth=0, hidden=(
        '_asked', '_asks_for_model', 'memory', '_memory', 'judgement', 'joints', 'robot')):
    """Return what an object consists of, as far as it is this package's, in a form to compare."""
    if isinstance(value, np.ndarray):
        return str(value.tolist())  # where NaN is like NaN
    if isinstance(value, (list, tuple)):
        return [contents(item, depth + 1, hidden) for item in value]
    if type(value).__module__.startswith('ros2_rnea.control') and depth < 4 and hasattr(
            value, '__dict__'):
        return {name: contents(item, depth + 1, hidden) for name, item in vars(value).items()
                if name not in hidden}
    return repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value)


# ---- when parameters take effect ----------------------------------------------------------------


@pytest.fixture(params=['as in Jazzy', 'as in Humble'])
def release(request, monkeypatch):
    """Give rclpy's node the callbacks that a release of ROS has."""
    if request.param == 'as in Humble':
        monkeypatch.delattr(Node, 'add_post_set_parameters_callback', raising=False)
    elif not hasattr(Node, 'add_post_set_parameters_callback'):
        pytest.skip('this is Humble')


def test_a_parameter_has_effect_only_if_every_callback_accepts_it(arm, release):
    refusals = []

    def refuse(changed):
        refusals.append(changed)
        return SetParametersResult(successful=False, reason='not today')

    timers = len([*arm.node.timers])
    assert arm.set_parameter('lookahead', 0.2).successful
    assert arm.node.policy.settings.lookahead == 0.2
    assert len([*arm.node.timers]) == timers  # none is left that only waited
    arm.node.add_on_set_parameters_callback(refuse)
    for name, value in (('lookahead', 0.3), ('gravity', [0.0, 9.0, 0.0]),
                        ('damping.elbow', 3.0), ('robot_description', ARM_WITH_GRIPPER)):
        assert arm.set_parameter(name, value).reason == 'not today'
    arm.settle()
    assert len(refusals) == 4
    assert arm.node.policy.settings.lookahead == 0.2
    assert arm.node.policy.gravity.tolist() == [0.0, 0.0, -9.81]
    assert arm.node.policy.robot.friction([0.0, 1.0])[1] == 0.0
    assert arm.node.policy.robot.name == 'arm'
    arm.node.remove_on_set_parameters_callback(refuse)
    assert arm.changes.set_parameter('gravity', [0.0, 9.0, 0.0]).successful
    assert arm.node.policy.gravity.tolist() == [0.0, 9.0, 0.0]  # at once, for ~/set_gravity


def test_parameters_set_before_others_have_come_into_force_all_do(arm, release):
    assert arm.set_parameter('lookahead', 0.1).successful
    for name, value in (
            ('lookahead', 0.2), ('gravity', [0.0, 9.0, 0.0]), ('enabled', False),
            ('blend_time', 0.7), ('damping.elbow', 3.0), ('hold_tolerance', 0.3)):
        set_without_waiting(arm, name, value)
    arm.until(arm.is_settled)
    settings = arm.node.policy.settings
    assert (settings.lookahead, settings.blend_time, settings.hold_tolerance) == (0.2, 0.7, 0.3)
    assert settings.gravity == (0.0, 9.0, 0.0) and not settings.enabled
    assert arm.node.policy.robot.friction([0.0, 1.0])[1] == pytest.approx(3.0)


# ---- payloads while a description is coming -----------------------------------------------------


@pytest.fixture
def loaded(arm):
    """Return an arm that carries a box."""
    arm.changes.set_payload(box(link='lower'))
    arm.until(arm.is_settled)
    assert carried(arm) == ['box']
    return arm


def carried(arm):
    return [*arm.node.policy.robot.payloads]


@pytest.fixture
def after_swaps(monkeypatch):
    """Return what the robot carries after each swap."""
    seen = []

    def watched(model, policy, applied):
        seen.append([*policy.robot.payloads])
        return ModelInUse(model, policy, applied)

    monkeypatch.setattr(configuration, 'ModelInUse', watched)
    return seen


def test_a_payload_stays_where_the_description_changes_and_changes_back(loaded, after_swaps):
    for description in (ARM_WITH_GRIPPER, ARM):
        loaded.changes.set_description(description)
    loaded.until(loaded.is_settled)
    loaded.describe(ARM_WITH_GRIPPER)
    loaded.describe(ARM)
    assert carried(loaded) == ['box']
    assert after_swaps == [['box'], ['box']]  # the first pair builds nothing


def test_a_new_description_keeps_the_links_that_accept_payloads(loaded):
    loaded.changes.remove_payload('box')
    loaded.describe(OTHER_ARM)
    with nothing_is_built():
        assert loaded.changes.set_payload(box(link='lower'))
    assert carried(loaded) == ['box']


@pytest.fixture
def payload_links(monkeypatch):
    """Return the links that accept payloads in each model that is requested."""
    seen, request = [], ModelWorker.request
    monkeypatch.setattr(ModelWorker, 'request', lambda worker, asked: (
        seen.append(asked.source.payload_links), request(worker, asked)))
    return seen


def test_a_link_of_one_robot_accepts_no_payloads_in_another(loaded, payload_links):
    loaded.changes.remove_payload('box')
    loaded.describe(ARM_WITH_GRIPPER)
    assert payload_links == [()]


def test_a_link_that_no_robot_has_is_not_remembered(bench, payload_links):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    with answers_held():
        arm.begin_to_describe(OTHER_ARM)
        arm.changes.set_payload(box(link='nowhere'))
        arm.changes.remove_payload('box')
    arm.until(arm.is_settled)
    assert payload_links[-1] == ('nowhere',)
    arm.describe(ARM)
    assert payload_links[-1] == ()


def test_a_payload_after_a_description_is_part_of_its_robot(bench, after_swaps):
    arm = bench(joints=JOINTS, state_timeout=9.0, payload_links=['lower'])
    arm.describe(ARM)
    assert arm.set_parameter('payload_links', []).successful
    arm.changes.set_description(ARM_WITH_GRIPPER)
    assert arm.changes.set_payload(box(link='lower'))
    arm.until(arm.is_settled)
    assert after_swaps == [[], ['box']]
    arm.until(lambda: arm.diagnostics and 'payload box' in [
        value.key for value in arm.diagnostics[-1].values])


def test_a_payload_is_used_although_the_new_description_is_refused(arm):
    arm.changes.set_description('<robot name="broken"/>')
    assert not arm.changes.set_payload(box(link='lower'))
    arm.until(arm.is_settled)
    assert carried(arm) == ['box']
    assert 'no links' in arm.told('robot_description')


@pytest.mark.parametrize('first, second', [(2.0, 30.0), (30.0, 2.0)])
def test_the_longer_of_two_transitions_counts(arm, first, second):
    arm.answer(JOINTS, [0.1, 0.2])
    arm.changes.set_payload(box(link='lower', name='first'), first)
    arm.changes.set_payload(box(link='lower', name='second'), second)
    arm.until(arm.is_settled)
    assert arm.node.policy.memory.pending.hand_over == 30.0
    assert carried(arm) == ['first', 'second']


# ---- without a worker ---------------------------------------------------------------------------


def test_nothing_keeps_the_node_from_being_disabled(arm, monkeypatch, release):
    def fail(*_):
        raise WorkerError('it does not start')

    monkeypatch.setattr(WorkerProcess, 'ask', fail)
    arm.node.set_parameters([Parameter('massless_links', value=['tool'])])  # it would build
    arm.begin_to_describe(ARM_WITH_GRIPPER)
    arm.node.set_parameters([Parameter('joints', value=['grip'])])  # of the one that comes
    reply = arm.call(SetBool, 'enable', data=False)
    assert reply.success, reply.message
    arm.until(lambda: not arm.node.policy.settings.enabled)
    arm.until(arm.is_settled)
    assert 'it does not start' in arm.told('robot_description')
    assert arm.node.policy.robot.name == 'arm'
    assert arm.call(SetBool, 'enable', data=True).success is False  # of joints that it has not
    assert arm.set_parameter('joints', JOINTS).successful
    assert arm.call(SetBool, 'enable', data=True).success
    arm.answer(JOINTS, [0.1, 0.2])


def test_a_model_whose_worker_has_failed_is_requested_again(bench, monkeypatch):
    """It may have been killed because memory was scarce when the node started."""
    asked = []
    ask = WorkerProcess.ask

    def fail_twice(process, *request):
        asked.append(request)
        if len(asked) <= 2:
            raise WorkerError('2 worker processes have exited')
        return ask(process, *request)

    monkeypatch.setattr(model_builder, 'FIRST_REBUILD_PERIOD', 0.01)
    monkeypatch.setattr(WorkerProcess, 'ask', fail_twice)
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.description.publish(String(data=ARM))
    arm.until(lambda: '2 worker processes have exited' in arm.told('robot_description'))
    arm.until(lambda: arm.node.policy is not None)
    assert len(asked) == 3
    assert not arm.told('robot_description')
    arm.answer(JOINTS, [0.1, 0.2])


def test_a_worker_that_dies_is_said_and_replaced_meanwhile(bench, monkeypatch):
    killed, keep_alive = [], WorkerProcess.keep_alive

    def keep_alive_once_killed(process):
        if process.pid and not killed:
            killed.append(os.kill(process.pid, signal.SIGKILL))
        keep_alive(process)

    monkeypatch.setattr(model_worker, 'CHECK_PERIOD', 0.05)
    monkeypatch.setattr(WorkerProcess, 'keep_alive', keep_alive_once_killed)
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(ARM)
    arm.answer(JOINTS, [0.1, 0.2])
    arm.until(lambda: 'SIGKILL' in arm.told('worker process'))
    arm.until(lambda: any(
        value.key == 'worker process' for status in arm.diagnostics for value in status.values))
    arm.describe(OTHER_ARM)
    assert is_in_use(arm, OTHER_ARM)


# ---- what makes it slow -------------------------------------------------------------------------


def test_a_slow_engine_is_said(bench, monkeypatch, fastest_engine):
    if machine.available() and not call.EXTENSION_ERROR:
        assert bench().told('engine') == ''
    monkeypatch.setattr(call, 'EXTENSION_ERROR', 'no module named _call')
    assert 'extension in C' in bench().told('engine')
    monkeypatch.setattr(machine, 'llvm', None)
    arm = bench()
    assert 'llvmlite is not installed' in arm.told('engine')
    arm.until(lambda: any(value.key == 'engine' and status.level == b'\x01'
                          for status in arm.diagnostics for value in status.values))
    monkeypatch.setenv('ROS2_RNEA_ENGINE', 'textbook')  # as it was asked for
    assert bench().told('engine') == ''


# ---- nothing is left over -----------------------------------------------------------------------


def alive(kind):
    return sum(isinstance(thing, kind) for thing in gc.get_objects())


def resident():
    """Return the memory of this process [bytes]."""
    with open('/proc/self/statm', encoding='ascii') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


@pytest.mark.parametrize('of', ['robot', 'policy'])
def test_robots_and_policies_are_freed_without_the_garbage_collector(fastest_engine, of):
    robot = AdjustableRobot.of(Robot.from_urdf(ARM), ['tool'])
    policy = Policy(robot, Settings(state_timeout=9.0, mode=Mode.FEEDFORWARD))
    policy.take_joint_state(MeasuredJoints(JOINTS, [0.1, 0.2]), Instant(1.0, RosTime(1)))
    decision = policy.decide(Instant(1.0, RosTime(1)))
    assert decision.effort is not None
    policy.terms(decision)
    robot.inverse_dynamics(*np.zeros((3, 2)), f_ext=np.zeros((2, 6)))
    robot.set_payload('box', *box()[1:])
    reference = weakref.ref({'robot': robot, 'policy': policy}[of])
    gc.disable()
    try:
        del robot, policy, decision
        assert reference() is None
    finally:
        gc.enable()


def test_of_replaced_robots_and_policies_none_is_left(bench, fastest_engine):
    arm = bench(joints=JOINTS, state_timeout=9.0, assumed_positions__grip=[0.0])
    gc.collect()
    gc.disable()  # as in the executable
    first, sizes = [], []
    for turn in range(60):
        arm.describe((ARM, GRIPPING_ARM)[turn % 2])
        arm.answer(['grip', *JOINTS], [0.0, 0.1, 0.2])
        first.append(weakref.ref(arm.node.policy.robot))
        for step in range(17):
            arm.changes.set_payload(box(1.0 + step, 'lower'))
            arm.changes.set_parameter('gravity', [0.0, 0.1 * step, -9.81])
        arm.until(arm.is_settled)
        arm.answer(['grip', *JOINTS], [0.0, 0.1, 0.2])
        if turn == 0:
            before = alive((Robot, Policy))
        if turn in (20, 59):
            sizes.append(resident())
    arm.settle()  # the last one is freed by the worker
    gc.enable()
    assert sum(robot() is not None for robot in first) == 1
    assert alive((Robot, Policy)) <= before
    assert sizes[1] - sizes[0] < 8e6


# ---- while a model is being built ---------------------------------------------------------------


def test_a_long_build_is_said_until_its_model_is_used(bench, monkeypatch):
    arm = bench(joints=JOINTS, state_timeout=9.0)
    arm.describe(OTHER_ARM)  # so that nothing of it is left to compile, which is said instead
    arm.describe(ARM)
    timers = len([*arm.node.timers])
    monkeypatch.setattr(build_report, 'LONG_BUILD', math.inf)  # on a busy machine, too
    with answers_held():
        arm.begin_to_describe(OTHER_ARM)
        assert not arm.told('model')
        monkeypatch.setattr(build_report, 'LONG_BUILD', 0.05)
        arm.until(lambda: 'is being built' in arm.told('model'))
        arm.answer(JOINTS, [0.1, 0.2])
        assert is_in_use(arm, ARM)
    arm.until(arm.is_settled)
    assert is_in_use(arm, OTHER_ARM)
    assert not arm.told('model')
    assert len([*arm.node.timers]) == timers  # none is left that only waited
