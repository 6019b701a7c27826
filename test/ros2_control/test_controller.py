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
"""
The controller of this repository in the real controller manager, with its ready configurations.

The tests are skipped where it is not installed, unless ROS2_RNEA_DEMANDS_ROS2_CONTROL is set.
"""

from array import array
import itertools
import os
import signal

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Inertia, Vector3
import numpy as np
import pytest
from rclpy.duration import Duration
from repository import ROOT
import ros2_control_rig
from ros2_control_rig import description, JOINTS, JTC, REST, Rig, START, STATES, trajectory
from ros2_rnea import Robot
from ros2_rnea.export.model_file import checksum_of, decoded
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.node.topics.qos import LATCHED
from ros2_rnea.offline.commands.export.__main__ import main as export
from ros2_rnea.tools.models import seven_dof_arm
from ros2_rnea_interfaces.msg import Model, ModelParameters
from ros2_rnea_interfaces.srv import SetPayload
from std_srvs.srv import SetBool
import yaml

CONTROLLER = 'inverse_dynamics_controller'
MOVING_ARM = 'sim_arm_hw'  # hardware that moves by its efforts, which mock hardware does not

pytestmark = [pytest.mark.ros, pytest.mark.slow]
REASON = ros2_control_rig.REASON or (
    '' if ros2_control_rig.has_plugin('ros2_rnea_controller', 'controller_interface')
    else 'ros2_rnea_controller is not installed')
if REASON and not os.environ.get('ROS2_RNEA_DEMANDS_ROS2_CONTROL'):
    pytest.skip(REASON, allow_module_level=True)

ROBOT = Robot.from_description(parse_urdf(seven_dof_arm()).without_friction())
OTHER = np.array(START) + (0.6, 0.5, -0.4, 0.7, 0.5, -0.4, 0.6)
THERE = trajectory((0.0, START, REST, REST), (2.0, OTHER, REST, REST))
LOADED = ROBOT.with_payload('load', 'hand', Inertial(1.0, Pose((0.0, 0.0, 0.1))))
MODEL = 'inverse_dynamics/model'
BY_EFFORTS = ['jtc_computed_torque', 'jtc_effort']


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the controller manager with a configuration and a model."""
    rigs = []

    def begin(configuration, model=True, **parameters):
        described = description(tmp_path, configuration in BY_EFFORTS)
        if model:
            (tmp_path / 'described.urdf').write_text(described, encoding='utf-8')
            parameters['model_file'] = str(tmp_path / 'model.rnea')
            assert not export([  # the simulated joints have the friction that is described
                str(tmp_path / 'described.urdf'), '--out', parameters['model_file'],
                '--friction-from', 'description'])
        file = ROOT / 'ros2_rnea_controller' / 'config' / f'{configuration}.yaml'
        rigs.append(Rig(tmp_path, file, {CONTROLLER: parameters}, described))
        return rigs[-1]
    yield begin
    for rig in rigs:
        rig.close()


def gravity(state, robot=ROBOT):
    """Return the effort that holds the positions of a joint state, in the order of JOINTS."""
    return robot.gravity(position(state))


def position(state):
    return np.array([state.position[state.name.index(joint)] for joint in JOINTS])


def effort(state):
    return np.array([state.effort[state.name.index(joint)] for joint in JOINTS])


def is_held(states, robot=ROBOT, tolerance=1e-6):
    """Return whether the newest states have the effort of gravity; an effort follows its state."""
    return len(states) > 1 and np.abs(
        effort(states[-1]) - gravity(states[-2], robot)).max() < tolerance


def add_load(rig, remove=False):
    """Give the node a payload, with which the robot is LOADED; return whether it has taken it."""
    load = Inertia(m=1.0, com=Vector3(z=0.1), ixx=0.01, iyy=0.01, izz=0.01)
    return rig.call(SetPayload, 'inverse_dynamics/set_payload', name='load', link='hand',
                    inertia=load, remove=remove).success


def diagnostics(rig):
    """Return a list that grows with what the controller says in /diagnostics."""
    told = []
    rig.peer.create_subscription(
        DiagnosticArray, '/diagnostics', lambda message: told.extend(
            each for each in message.status if each.name.startswith(CONTROLLER)), 100)
    return told


def is_held_back(told):
    """Return whether the controller says that it does not take parameters, and what to do."""
    values = {each.key: each.value for each in told[-1].values} if told else {}
    text = values.get('parameters held back', 'none')
    assert text == 'none' or ('is followed again' in text and told[-1].level != told[-1].OK)
    return text != 'none'


def test_the_controller_is_installed():
    assert not REASON


def test_gravity_is_commanded_at_the_measured_state(start):
    rig = start('gravity_compensation', effort_limit_factor=1.0)
    rig.spawn(STATES, CONTROLLER)
    states = rig.joint_states()
    rig.until(lambda: is_held(states, tolerance=0.01))


@pytest.mark.parametrize('configuration', ['jtc_feedforward', *BY_EFFORTS])
def test_a_goal_of_the_trajectory_controller_is_followed(start, configuration):
    if configuration in BY_EFFORTS and not ros2_control_rig.has_plugin(MOVING_ARM):
        pytest.skip('the arm of mock hardware does not move by efforts')
    rig = start(configuration)
    rig.spawn(STATES)
    rig.spawn(CONTROLLER, JTC)
    rig.follow()
    assert rig.succeeds(rig.send(THERE))
    rig.until(lambda: list(rig.states[-1].reference.positions) == pytest.approx(OTHER))
    error = max(np.abs(state.error.positions).max() for state in rig.states)
    assert error < 0.05


@pytest.mark.parametrize('configuration, controllers', [
    ('gravity_compensation', [CONTROLLER]), ('jtc_feedforward', [CONTROLLER, JTC])])
def test_a_configuration_has_all_that_the_spawner_needs(tmp_path, configuration, controllers):
    described = tmp_path / 'described.urdf'
    described.write_text(description(tmp_path), encoding='utf-8')
    assert not export([str(described), '--out', str(tmp_path / 'model.rnea')])
    file = ROOT / 'ros2_rnea_controller' / 'config' / f'{configuration}.yaml'
    of_mine = yaml.safe_load(file.read_text(encoding='utf-8'))
    manager = of_mine.pop('controller_manager')['ros__parameters']
    of_mine[CONTROLLER]['ros__parameters']['model_file'] = str(tmp_path / 'model.rnea')
    (tmp_path / 'of_mine.yaml').write_text(yaml.safe_dump(of_mine), encoding='utf-8')
    (tmp_path / 'manager.yaml').write_text(yaml.safe_dump({'controller_manager': {
        'ros__parameters': {name: manager[name] for name in ('update_rate', STATES)}}}))
    rig = Rig(tmp_path, tmp_path / 'manager.yaml', described=described.read_text(encoding='utf-8'))
    try:
        rig.spawn(STATES)
        spawner = rig.run([
            ros2_control_rig.program('spawner'), *controllers,
            '--param-file', str(tmp_path / 'of_mine.yaml'), '--activate-as-group'], 'spawner')
        rig.until(lambda: spawner.poll() is not None)
        assert not spawner.returncode, (tmp_path / 'spawner.log').read_text(encoding='utf-8')
    finally:
        rig.close()


def test_a_model_of_another_description_is_refused(start, tmp_path):
    rig = start('gravity_compensation')
    (tmp_path / 'other.urdf').write_text(seven_dof_arm(), encoding='utf-8')
    export([str(tmp_path / 'other.urdf'), '--out', str(tmp_path / 'model.rnea')])
    assert not rig.can_configure(CONTROLLER)
    assert 'robot_description' in (tmp_path / 'manager.log').read_text(encoding='utf-8')


def test_the_node_gives_model_and_payload_and_sends_nothing(start):
    rig = start('gravity_compensation', model=False, model_timeout=60.0, effort_limit_factor=1.0)
    rig.start_node('forward_command', mode='gravity_compensation', payload_links=['hand'])
    commands = rig.commands()
    rig.spawn(STATES, CONTROLLER)
    states = rig.joint_states()
    rig.until(lambda: is_held(states, tolerance=0.01))
    assert add_load(rig)
    rig.until(lambda: is_held(states, LOADED, tolerance=0.01))
    assert not commands


def test_a_payload_that_came_after_the_model_is_in_the_first_effort(start):
    rig = start('gravity_compensation', model=False, model_timeout=60.0, effort_limit_factor=1.0)
    rig.start_node('forward_command', mode='gravity_compensation', payload_links=['hand'])
    heard = []
    rig.peer.create_subscription(Model, MODEL, heard.append, LATCHED)
    rig.peer.create_subscription(ModelParameters, f'{MODEL}_parameters', heard.append, LATCHED)
    rig.until(lambda: len(heard) == 2)  # without the payload
    assert add_load(rig)
    rig.until(lambda: len(heard) == 3)
    rig.spawn(STATES, CONTROLLER)
    states = rig.joint_states()
    rig.until(lambda: is_held(states, LOADED, tolerance=0.01))


def test_parameters_may_come_before_their_model(start):
    rig = start('gravity_compensation', model=False, model_timeout=60.0, effort_limit_factor=1.0)
    node = rig.start_node('forward_command', mode='gravity_compensation', payload_links=['hand'])
    heard = []
    rig.peer.create_subscription(Model, MODEL, heard.append, LATCHED)
    rig.peer.create_subscription(ModelParameters, f'{MODEL}_parameters', heard.append, LATCHED)
    rig.until(lambda: len(heard) == 2)
    assert add_load(rig)
    rig.until(lambda: len(heard) == 3)
    rig.end(node)
    model = next(each for each in heard if isinstance(each, Model) and each.file)
    parameters = heard[2]
    first = rig.peer.create_publisher(ModelParameters, f'{MODEL}_parameters', LATCHED)
    second = rig.peer.create_publisher(Model, MODEL, LATCHED)
    first.publish(parameters)
    configured = rig.begin_to_configure(CONTROLLER)
    rig.until(lambda: first.get_subscription_count() > 1)
    assert first.wait_for_all_acked(Duration(seconds=60))
    second.publish(model)
    rig.until(configured.done)
    assert configured.result().ok
    rig.spawn(STATES)
    rig.switch(on=[CONTROLLER])
    states = rig.joint_states()
    rig.until(lambda: is_held(states, LOADED, tolerance=0.01))


def test_messages_that_come_while_it_is_configured_again_do_no_harm(start, tmp_path):
    rig = start('gravity_compensation', model=False, model_timeout=60.0)
    (tmp_path / 'described.urdf').write_text(description(tmp_path), encoding='utf-8')
    models = []
    for options in [], ['--friction-from', 'description']:  # the same model with other numbers
        assert not export([str(tmp_path / 'described.urdf'),
                           '--out', str(tmp_path / 'model.rnea'), *options])
        models.append(Model(file=array('B', (tmp_path / 'model.rnea').read_bytes())))
    publisher = rig.peer.create_publisher(Model, MODEL, LATCHED)
    publisher.publish(models[0])
    assert rig.can_configure(CONTROLLER)
    coming = itertools.cycle(models)
    rig.peer.create_timer(1e-4, lambda: publisher.publish(next(coming)))
    for _ in range(300):
        assert rig.configure(CONTROLLER)


def test_parameters_refused_at_one_position_are_taken_at_another(start, tmp_path):
    rig = start('jtc_feedforward', model=False, model_timeout=60.0,
                effort_limits=[80.0, 80.0, 80.0, 50.0, 80.0, 80.0, 80.0])
    (tmp_path / 'described.urdf').write_text(description(tmp_path), encoding='utf-8')
    assert not export([str(tmp_path / 'described.urdf'), '--out', str(tmp_path / 'model.rnea')])
    file = (tmp_path / 'model.rnea').read_bytes()
    models = rig.peer.create_publisher(Model, MODEL, LATCHED)
    models.publish(Model(file=array('B', file)))
    parameters = rig.peer.create_publisher(ModelParameters, f'{MODEL}_parameters', LATCHED)
    told = []
    rig.peer.create_subscription(
        DiagnosticArray, '/diagnostics', lambda message: told.extend(
            each.message for each in message.status if each.name.startswith(CONTROLLER)), 100)

    def give(factor):  # gravity is the first of the parameters
        values = np.array(decoded(file).values)
        values[:3] *= factor
        parameters.publish(ModelParameters(model=checksum_of(file), values=values))

    rig.spawn(STATES)
    rig.spawn(CONTROLLER, JTC)
    states = rig.joint_states()
    give(2.5)
    rig.until(lambda: told and "joint 'joint4' would need" in told[-1])
    give(1.0)
    rig.until(lambda: told[-1] == 'TRACKING')
    give(2.5)
    rig.until(lambda: "joint 'joint4' would need" in told[-1])
    rig.until(lambda: effort(states[-1]) == pytest.approx(ROBOT.gravity(START), abs=0.1))
    easier = np.array(START) + (0.0, 0.3, 0.0, -0.8, 0.0, 0.0, 0.0)
    rig.send(trajectory((0.0, START, REST, REST), (1.0, easier, REST, REST)))
    rig.until(lambda: told[-1] == 'TRACKING')
    heavier = ROBOT.with_gravity([0.0, 0.0, -2.5 * 9.81])
    rig.until(lambda: effort(states[-1]) == pytest.approx(heavier.gravity(easier), abs=0.1))


def test_efforts_go_on_when_the_node_is_killed(start):
    rig = start('gravity_compensation', model=False, model_timeout=60.0, effort_limit_factor=1.0)
    node = rig.start_node('forward_command', mode='gravity_compensation')
    rig.spawn(STATES, CONTROLLER)
    states = rig.joint_states()
    rig.until(lambda: is_held(states, tolerance=0.01))
    rig.end(node, signal.SIGKILL)
    count = len(states)
    rig.until(lambda: len(states) > count + 500)
    wrong = [np.abs(effort(after) - gravity(before)).max()
             for before, after in zip(states[count:], states[count + 1:])]
    assert max(wrong) < 0.01


def test_a_node_that_is_started_again_does_not_take_a_payload_away(start, tmp_path):
    rig = start('gravity_compensation', model=False, model_timeout=60.0, effort_limit_factor=1.0)
    options = {'mode': 'gravity_compensation', 'payload_links': ['hand']}
    node = rig.start_node('forward_command', **options)
    rig.spawn(STATES, CONTROLLER)
    states, told = rig.joint_states(), diagnostics(rig)
    assert add_load(rig)
    rig.until(lambda: is_held(states, LOADED, tolerance=0.01))
    rig.end(node, signal.SIGKILL)
    count = len(states)
    rig.start_node('forward_command', **options)
    rig.until(lambda: is_held_back(told))
    told_at = len(states)
    rig.until(lambda: len(states) > told_at + 500)
    wrong = [np.abs(effort(after) - gravity(before, LOADED)).max()
             for before, after in zip(states[count:], states[count + 1:])]
    assert max(wrong) < 0.01
    assert (tmp_path / 'manager.log').read_text(encoding='utf-8').count('another publisher') == 1
    assert add_load(rig)
    rig.until(lambda: not is_held_back(told))
    assert is_held(states, LOADED, tolerance=0.01)
    assert add_load(rig, remove=True)  # of a node that is followed again
    rig.until(lambda: is_held(states, tolerance=0.01))


def test_parameters_held_back_are_taken_after_a_deactivation_but_not_by_a_restart(start, tmp_path):
    rig = start('gravity_compensation', model=False, model_timeout=60.0, effort_limit_factor=1.0)
    (tmp_path / 'described.urdf').write_text(description(tmp_path), encoding='utf-8')
    assert not export([str(tmp_path / 'described.urdf'), '--out', str(tmp_path / 'model.rnea')])
    file = (tmp_path / 'model.rnea').read_bytes()
    models = rig.peer.create_publisher(Model, MODEL, LATCHED)
    models.publish(Model(file=array('B', file)))
    first, second, third = (rig.peer.create_publisher(
        ModelParameters, f'{MODEL}_parameters', LATCHED) for _ in range(3))

    def give(publisher, factor):  # gravity is the first of the parameters
        values = np.array(decoded(file).values)
        values[:3] *= factor
        publisher.publish(ModelParameters(model=checksum_of(file), values=values))

    def restart():
        rig.switch(on=[CONTROLLER], off=[CONTROLLER])
        count = len(states)
        rig.until(lambda: len(states) > count + 200)

    lighter = ROBOT.with_gravity([0.0, 0.0, -0.5 * 9.81])
    rig.spawn(STATES, CONTROLLER)
    states, told = rig.joint_states(), diagnostics(rig)
    give(first, 0.5)
    rig.until(lambda: is_held(states, lighter, tolerance=0.01))
    give(first, 1.0)  # the same publisher is followed
    rig.until(lambda: is_held(states, tolerance=0.01))
    give(second, 0.5)
    rig.until(lambda: is_held_back(told))
    for _ in range(5):
        restart()
        assert is_held(states, tolerance=0.01) and is_held_back(told)
    rig.switch(off=[CONTROLLER])
    rig.until(lambda: not is_held_back(told))
    rig.switch(on=[CONTROLLER])
    rig.until(lambda: is_held(states, lighter, tolerance=0.01))
    give(third, 1.0)
    rig.until(lambda: is_held_back(told))
    give(third, 0.5 * (1.0 + 1e-9))  # those in use, but for rounding: it is followed
    rig.until(lambda: not is_held_back(told))
    give(third, 1.0)
    rig.until(lambda: is_held(states, tolerance=0.01))
    models.publish(Model())  # its node has lost its robot, and with it the payloads
    factors = itertools.cycle((0.6, 0.7))
    rig.until(lambda: is_held_back(told) or give(third, next(factors)))


def test_an_arm_that_needs_more_than_its_limits_is_not_activated(start, tmp_path):
    rig = start('gravity_compensation', effort_limit_factor=0.01)
    assert rig.can_configure(CONTROLLER)
    assert not rig.can_switch(on=[CONTROLLER])
    said = (tmp_path / 'manager.log').read_text(encoding='utf-8')
    needed = abs(ROBOT.gravity(START)[1])
    assert f"joint 'joint2' needs -{needed:.6g} Nm to hold the measured position" in said
    assert 'and its limit is 0.87 Nm' in said


def test_an_arm_that_is_disabled_rests_and_follows_again_when_it_is_enabled(start):
    rig = start('jtc_feedforward')
    rig.spawn(STATES)
    rig.spawn(CONTROLLER, JTC)
    states = rig.joint_states()
    rig.follow()
    rig.send(trajectory((9.0, OTHER, REST, REST)))
    rig.until(lambda: abs(rig.states[-1].reference.positions[1] - START[1]) > 0.2)
    assert rig.call(SetBool, f'{CONTROLLER}/enable', data=False).success
    count = len(states)
    rig.until(lambda: len(states) > count + 1000)
    assert states[-1].position == pytest.approx(states[-100].position, abs=0.01)
    assert rig.call(SetBool, f'{CONTROLLER}/enable', data=True).success
    rig.send(trajectory((2.0, OTHER, REST, REST)))
    rig.until(lambda: position(states[-1]) == pytest.approx(OTHER, abs=0.05))


def deactivate_in_motion(rig):
    """Return the joint states until some time after a deactivation of an arm in motion."""
    rig.spawn(STATES)
    rig.spawn(CONTROLLER, JTC)
    states = rig.joint_states()
    rig.send(trajectory((2.0, OTHER, REST, REST)))
    rig.until(lambda: abs(position(states[-1])[1] - START[1]) > 0.2)
    assert not is_held(states, tolerance=0.2)
    rig.switch(off=[JTC, CONTROLLER])
    count = len(states)
    rig.until(lambda: len(states) > count + 100)
    return states


def test_a_deactivation_in_motion_leaves_gravity(start):
    states = deactivate_in_motion(start('jtc_feedforward'))
    efforts = np.array([effort(state) for state in states])
    last = np.flatnonzero((efforts != efforts[-1]).any(axis=1))[-1]  # of the controller in motion
    assert efforts[-1] == pytest.approx(gravity(states[last]), abs=0.1)


@pytest.mark.skipif(not ros2_control_rig.has_plugin(MOVING_ARM),
                    reason='mock hardware has no velocities')
def test_a_deactivation_in_motion_is_reported(start, tmp_path):
    deactivate_in_motion(start('jtc_computed_torque'))
    assert 'deactivated while a joint moves' in (tmp_path / 'manager.log').read_text(
        encoding='utf-8')
