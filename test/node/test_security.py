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
"""The policy for SROS 2 allows what the node has and nothing else, also where it is enforced."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
import os
from pathlib import Path
import shutil
import subprocess
import sys
from typing import NamedTuple

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from patience import PATIENCE, until
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node, NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, QoSProfile
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.node.controllers.controller_manager import ControllerManagerActivity
from ros2_rnea.node.topics.controller_messages import FollowJointTrajectory
from sensor_msgs.msg import JointState
from small_robots import ARM
from std_msgs.msg import Float64MultiArray, String

etree = pytest.importorskip('lxml.etree')
pytestmark = pytest.mark.ros

POLICY = ROOT / 'config' / 'security' / 'policy.xml'
COMMANDS = 'effort_controller/commands'
JOINTS, POSITIONS = ['shoulder', 'elbow'], [0.3, -0.8]

MODULES = {
    '/inverse_dynamics': 'ros2_rnea.node.inverse_dynamics_node',
    '/managed_inverse_dynamics': 'ros2_rnea.node.managed_node'}
"""What runs in each enclave of the policy."""

ALL_INPUTS = {
    'joints': '[shoulder, elbow]', 'start_from': 'zero', 'robot_description': repr(ARM),
    'use_sim_time': 'true', 'gravity_from_imu': 'true', 'dead_man_button': '0',
    'effort_controller': 'effort_controller',
    'trajectory_controller': 'joint_trajectory_controller'}
"""Parameters with which the node has all topics and services that it may have."""

DIRECTIONS = {
    'topics': {'publish', 'subscribe'}, 'services': {'reply', 'request'}, 'actions': {'call'}}
"""The elements of a profile, each with the directions that this package needs."""


class Rule(NamedTuple):
    """
    What a node has or may have.

    :ivar direction: publish, subscribe, reply (offer a service) or request (call one).
    :ivar name: of the topic or service, in full.
    """

    node: str
    direction: str
    name: str


DEMANDED = 'ROS2_RNEA_DEMANDS_SECURITY' in os.environ


# ---- what the policy says -------------------------------------------------------------------


def read_policy() -> etree._ElementTree:
    """Return the policy with the files that it includes, as ``ros2 security`` reads it."""
    policy = etree.parse(str(POLICY))
    policy.xinclude()
    return policy


def allowed(enclave: str) -> set[Rule]:
    """Return what the nodes in an enclave may do."""
    result = set()
    for profile in read_policy().findall(f"enclaves/enclave[@path='{enclave}']/profiles/profile"):
        space, node = profile.get('ns').rstrip('/'), profile.get('node')
        for rules in profile:
            for expression in rules:
                name = expression.text
                full = (f'{space}/{node}{name[1:]}' if name.startswith('~')
                        else name if name.startswith('/') else f'{space}/{name}')
                for direction in DIRECTIONS[rules.tag].intersection(rules.keys()):
                    result |= {Rule(node, *part) for part in parts_of(direction, full)}
    return result


def parts_of(direction: str, name: str) -> set[tuple[str, str]]:
    """Return the topics and services of which an action consists; others as they are."""
    if direction != 'call':
        return {(direction, name)}
    return {
        *(('request', f'{name}/_action/{part}')
          for part in ('send_goal', 'cancel_goal', 'get_result')),
        *(('subscribe', f'{name}/_action/{part}') for part in ('feedback', 'status'))}


def is_possible(node: str, name: str) -> bool:
    """Return whether a node can have a topic or service with the packages that are installed."""
    base = name.rsplit('/', 1)[-1]
    if node == '_inverse_dynamics_holding' or '/_action/' in name:
        return FollowJointTrajectory is not None
    # since Jazzy
    return base != 'activity' or ControllerManagerActivity is not None


@pytest.mark.parametrize('enclave', MODULES)
def test_policy_has_the_structure_that_sros2_reads(enclave):
    root = read_policy().getroot()
    assert (root.tag, dict(root.attrib)) == ('policy', {'version': '0.2.0'})
    profiles = root.findall(f"enclaves/enclave[@path='{enclave}']/profiles/profile")
    assert len({(each.get('ns'), each.get('node')) for each in profiles}) == len(profiles) > 0
    for rules in (rules for profile in profiles for rules in profile):
        given = {key: value for key, value in rules.attrib.items() if not key.startswith('{')}
        assert given and given.keys() <= DIRECTIONS[rules.tag], etree.tostring(rules)
        assert {*given.values()} == {'ALLOW'}
        assert {each.tag for each in rules} == {rules.tag[:-1]}
        assert not [each.text for each in rules if '*' in each.text]  # each name is spelt out


@pytest.mark.skipif(find_spec('sros2') is None and not DEMANDED, reason='sros2 is not installed')
def test_policy_fits_the_schema_of_sros2():
    from sros2.policy import load_policy

    load_policy(POLICY)  # which raises an error where it does not


def test_policy_is_installed():
    assert "glob('config/security/*.xml')" in (ROOT / 'setup.py').read_text(encoding='utf-8')


# ---- what the node has ----------------------------------------------------------------------


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a program with some environment; it is gone after the test."""
    processes = []

    def start(module: str, *arguments: str, **environment: str) -> subprocess.Popen:
        with Path(tmp_path, f'{len(processes)}.log').open('wb') as log:
            processes.append(subprocess.Popen(
                [sys.executable, '-m', module, '--ros-args', *arguments],
                stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **environment}))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


def log_of_first(folder: Path) -> str:
    """Return what the first program that a test has started has written."""
    return Path(folder, '0.log').read_text(errors='replace')


@pytest.fixture
def peer():
    """Return a node that looks at the other ones; its executor is spun by the test."""
    node = Node('peer')
    yield node
    node.destroy_node()


def parameters(values: dict[str, str]) -> list[str]:
    """Return parameters as words of a command line, with ~/commands mapped as by launch."""
    return ['-r', f'~/commands:={COMMANDS}',
            *(word for name, value in values.items() for word in ('-p', f'{name}:={value}'))]


def present(observer: Node, node: str) -> set[Rule]:
    """Return what a node has."""
    asked = {
        'publish': observer.get_publisher_names_and_types_by_node,
        'subscribe': observer.get_subscriber_names_and_types_by_node,
        'reply': observer.get_service_names_and_types_by_node,
        'request': observer.get_client_names_and_types_by_node}
    try:
        return {Rule(node, direction, name)
                for direction, ask in asked.items() for name, _ in ask(node, '/')}
    except NodeNameNonExistentError:  # it is being discovered
        return set()


def change(executor: SingleThreadedExecutor, peer: Node, transition: int) -> None:
    """Let the managed node make a transition."""
    client = peer.create_client(ChangeState, '/inverse_dynamics/change_state')
    until(client.service_is_ready)
    future = client.call_async(ChangeState.Request(transition=Transition(id=transition)))
    executor.spin_until_future_complete(future, PATIENCE)
    assert future.result().success


@pytest.mark.parametrize('enclave', MODULES)
def test_node_has_what_the_policy_allows_and_nothing_else(start, peer, enclave):
    executor = SingleThreadedExecutor()
    executor.add_node(peer)
    peer.create_publisher(Float64MultiArray, f'/{COMMANDS}', 1)  # the node listens to others
    start(MODULES[enclave], *parameters(ALL_INPUTS))
    if enclave.startswith('/managed'):
        change(executor, peer, Transition.TRANSITION_CONFIGURE)
    expected = {rule for rule in allowed(enclave) if is_possible(rule.node, rule.name)}

    def found() -> set[Rule]:
        return {rule for name in peer.get_node_names() if name != peer.get_name()
                for rule in present(peer, name)}

    with suppress(AssertionError):  # the comparison below shows what is missing
        until(lambda: expected <= found(), lambda: executor.spin_once(0.05))
    executor.shutdown()
    assert sorted(found() - expected) == []
    assert sorted(expected - found()) == []


# ---- where security works -------------------------------------------------------------------

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def keystore(tmp_path, monkeypatch):
    """Return a keystore with the enclaves of the policy, and one of a peer that may do all."""
    folder = tmp_path / 'keystore'
    security('create_keystore', folder)
    for enclave in (*MODULES, '/peer'):
        security('create_enclave', folder, enclave)
    for enclave in MODULES:
        security('create_permission', folder, enclave, POLICY)
    for name, value in (('KEYSTORE', str(folder)), ('ENABLE', 'true'), ('STRATEGY', 'Enforce')):
        monkeypatch.setenv(f'ROS_SECURITY_{name}', value)
    return folder


def security(*words: object) -> None:
    """Call ``ros2 security``."""
    ros2 = shutil.which('ros2')
    assert ros2, 'ros2cli is not installed'
    subprocess.run([ros2, 'security', *map(str, words)], check=True)


@pytest.fixture
def secured_peer(keystore):
    """Return a node in the enclave of the peer, and its executor."""
    context = rclpy.Context()
    rclpy.init(args=['--ros-args', '--enclave', '/peer'], context=context)
    node = Node('peer', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield node, executor
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


needs_security = pytest.mark.skipif(
    not DEMANDED, reason='needs sros2 and a middleware with security, as in CI on an image of ROS')


@needs_security
@pytest.mark.parametrize('enclave', MODULES)
def test_node_sends_efforts_where_security_is_enforced(start, secured_peer, enclave):
    peer, executor = secured_peer
    received = []
    peer.create_subscription(
        Float64MultiArray, f'/{COMMANDS}', lambda message: received.append(list(message.data)), 10)
    description = peer.create_publisher(String, 'robot_description', LATCHED)
    description.publish(String(data=ARM))
    states = peer.create_publisher(JointState, 'joint_states', 10)
    start(MODULES[enclave], '--enclave', enclave,
          *parameters({'joints': '[shoulder, elbow]', 'start_from': 'zero'}))
    if enclave.startswith('/managed'):
        for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
            change(executor, peer, transition)
    right = Robot.from_urdf(ARM).gravity(POSITIONS)

    def turn() -> None:
        states.publish(JointState(name=JOINTS, position=POSITIONS, velocity=[0.0, 0.0]))
        executor.spin_once(0.01)

    until(lambda: received and np.allclose(received[-1], right, rtol=0.0, atol=1e-9), turn)


@needs_security
def test_node_may_not_publish_what_the_policy_does_not_allow(start, keystore, tmp_path):
    process = start(MODULES['/inverse_dynamics'], '--enclave', '/inverse_dynamics',
                    '-r', '~/commands:=of_another/commands')
    assert process.wait(PATIENCE) != 0
    assert 'of_another/commands topic not found in allow rule' in log_of_first(tmp_path)


WITHOUT_SECURITY = (
    "This Fast DDS version doesn't have the security libraries",  # that of the wheels
    "couldn't find all security files")  # one that has them, as the enclave here is empty


def test_the_node_ends_where_demanded_security_is_missing(start, tmp_path):
    Path(tmp_path, 'enclaves').mkdir()
    process = start(
        MODULES['/inverse_dynamics'], ROS_SECURITY_KEYSTORE=str(tmp_path),
        ROS_SECURITY_ENABLE='true', ROS_SECURITY_STRATEGY='Enforce')
    assert process.wait(PATIENCE) != 0
    log = log_of_first(tmp_path)
    assert any(reason in log for reason in WITHOUT_SECURITY), log
