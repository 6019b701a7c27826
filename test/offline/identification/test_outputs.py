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
"""What was identified as parameters of the node, and as plain data."""

from __future__ import annotations

from dataclasses import replace
import json
import re

from identified_robot import EXPECTED, identified, URDF
import numpy as np
import pytest
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.offline.identification.node_parameters import node_parameters
from ros2_rnea.offline.identification.results import (
    Combination,
    Doubt,
    JointFriction,
    Parameter,
    summary,
)
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
import yaml

# ---- the node's YAML ----------------------------------------------------------------------------


def parameters_in(text):
    return yaml.safe_load(text)['/**']['ros__parameters']


def words_of(text):
    """Return the comments in one line."""
    return ' '.join(text.replace('#', '').split())


def test_the_yaml_has_what_was_identified_and_no_more():
    assert yaml.safe_load(node_parameters(identified())) == {'/**': {'ros__parameters': EXPECTED}}
    nothing = identified(
        friction={}, gravity=None, payload=None, rotor_inertias={}, gains={},
        identified_rms=np.full(2, np.nan), noise_rms=np.full(2, np.nan))
    assert yaml.safe_load(node_parameters(nothing)) == {'/**': {'ros__parameters': {}}}


def test_the_node_has_all_these_parameters():
    described = (ROOT / 'config' / 'inverse_dynamics.yaml').read_text(encoding='utf-8')
    for name in EXPECTED:
        assert re.search(rf'^ +(# )?{name}:', described, re.MULTILINE), name


def test_friction_that_is_zero_replaces_that_of_the_file():
    found = parameters_in(node_parameters(identified(friction={'elbow': JointFriction()})))
    assert found['damping'] == found['friction'] == {'elbow': 0.0}
    # so do the zeros of what an earlier identification may have set
    assert all(found[name] == {'elbow': 0.0} for name in JointFriction().numbers())


def test_a_joint_of_several_coordinates_has_only_possible_friction():
    found = parameters_in(node_parameters(identified(
        joints=('elbow/x', 'elbow/y'), friction={'elbow': JointFriction(viscous=0.25)})))
    assert (found['damping'], found['friction']) == ({'elbow': 0.25}, {'elbow': 0.0})
    assert not found.keys() & (JointFriction().numbers().keys() - {'damping', 'friction'})


def named(name, terms):
    """Return a sum that the data determines."""
    return Combination(name, terms, 1.0, 0.1, 0.0)


@pytest.mark.parametrize('sums, is_written', [
    ((), False), ((named('hx of fore', {'hx of fore': 1.0}),), False),
    ((named('hx + Coulomb', {'hx of fore': 1.0, 'Coulomb friction of shoulder': 0.5}),), True)])
def test_friction_is_written_only_where_data_holds_some(sums, is_written):
    text = node_parameters(replace(with_errors(coulomb=None, offset=None), base_parameters=sums))
    found = parameters_in(text)
    for name in JointFriction().numbers():
        assert ('shoulder' in found[name]) == is_written and 'elbow' in found[name]
    said = 'Friction is left out for shoulder: the recordings do not determine it'
    assert (said in words_of(text)) != is_written


def test_a_stribeck_velocity_without_breakaway_friction_is_zero():
    friction = {'elbow': JointFriction(coulomb=1.0, stribeck=0.0, stribeck_velocity=0.1)}
    found = parameters_in(node_parameters(identified(friction=friction)))
    assert found['stribeck_velocity'] == found['breakaway_friction'] == {'elbow': 0.0}


def test_a_contact_exceeds_residual_and_friction_at_rest():
    robot = AdjustableRobot.of(
        Robot.from_urdf(URDF), optional_parameters=['breakaway_friction', 'stribeck_velocity'])
    robot.set_joint_parameters('friction', {'shoulder': 1.25})
    robot.set_joint_parameters('stribeck_velocity', {'shoulder': 0.1})
    robot.set_joint_parameters('breakaway_friction', {'shoulder': 0.44})

    def thresholds(**other):
        found = parameters_in(node_parameters(identified(robot=robot, **other)))
        return found.get('external_effort_threshold', {})

    assert thresholds() == {'shoulder': 3.2}
    # without held-back data, what the fit leaves counts
    nothing = np.full(2, np.nan)
    assert thresholds(identified_rms=nothing) == {'shoulder': 2.9}
    # of currents the node observes no external effort
    assert thresholds(gains={'shoulder': 11.0}) == {}


def test_the_thresholds_are_those_of_the_node_s_gain():
    text = words_of(node_parameters(identified()))
    described = parameters_in((ROOT / 'config' / 'inverse_dynamics.yaml').read_text('utf-8'))
    gain = described['external_effort_gain']
    assert f'It is for external_effort_gain {gain:g}, the default' in text
    assert 'external_effort_gain' not in node_parameters(
        identified(identified_rms=np.full(2, np.nan), noise_rms=np.full(2, np.nan)))


def test_no_threshold_is_proposed_that_is_large_or_doubtful():
    limited = Robot.from_urdf(URDF.replace(
        'type="continuous"><parent link="base"/>',
        'type="continuous"><limit effort="4" velocity="1"/><parent link="base"/>'))
    for text in (node_parameters(identified(robot=limited)),
                 node_parameters(identified(), [Doubt('It is worse.', ('shoulder',))])):
        assert 'external_effort_threshold' not in parameters_in(text)
        assert 'No external_effort_threshold is proposed for shoulder' in text
    assert 'proposed for' not in node_parameters(identified())


def test_doubts_stand_where_the_way_to_load_the_file_stood():
    text = node_parameters(identified(), [Doubt('The sign is turned.')])
    assert 'param load' not in text and 'set_payload' not in text
    assert '# - The sign is turned.' in text.splitlines()[2]
    assert 'param load' in node_parameters(identified())


def with_errors(**errors):
    """Return an identification with other standard errors of some quantities."""
    return identified(parameters=tuple(
        replace(one, standard_error=errors.get(one.quantity, one.standard_error))
        for one in identified().parameters))


@pytest.mark.parametrize('error', [0.05, None])
def test_an_offset_that_noise_may_make_is_zero(error):
    text = node_parameters(with_errors(offset=error))
    assert parameters_in(text)['friction_offset']['shoulder'] == 0.0
    assert 'friction_offset is 0 for shoulder' in words_of(text)


def test_gravity_that_noise_may_have_turned_is_left_out():
    text = node_parameters(with_errors(gravity_y=0.5))
    assert 'gravity' not in parameters_in(text)
    assert 'gravity is left out' in text


def test_an_armature_known_only_in_a_sum_needs_its_urdf():
    text = node_parameters(with_errors(rotor_inertia=None))
    assert 'armature of elbow by itself' in text
    assert 'by itself' not in node_parameters(identified())


def test_a_gain_has_its_error_or_is_not_told():
    assert 'elbow: 1.750 ± 0.062' in node_parameters(identified())
    text = node_parameters(with_errors(gain=None))
    assert '1.75' not in text and 'multiply' not in text
    assert 'does not determine the gain of elbow' in text


def test_what_the_node_has_no_parameter_for_is_said():
    text = node_parameters(identified())
    assert '/inverse_dynamics/set_payload' in text and 'm: 1.5' in text and 'z: 0.25' in text
    request = next(line for line in text.splitlines() if '{name: identified' in line)
    assert yaml.safe_load(request.strip("# '"))['inertia'] == {
        'm': 1.5, 'com': {'x': 0.0, 'y': 0.0, 'z': 0.25}, 'ixx': 0.1, 'ixy': 0.0, 'ixz': 0.0,
        'iyy': 0.1, 'iyz': 0.0, 'izz': 0.2}


def test_undetermined_numbers_of_a_payload_are_named():
    known = Parameter('m of payload', 'm', 'payload', 'kg', 1.5, 0.01, 0.0)
    moment = Parameter('hx of payload', 'hx', 'payload', 'kg m', 0.0, None, 0.0)
    text = words_of(node_parameters(identified(parameters=(known, moment))))
    assert "Of the payload, hx (about the origin of link 'fore') are not identifiable" in text
    assert 'not identifiable' not in node_parameters(identified(parameters=(known,)))


def test_a_robot_takes_identified_friction_and_rotors_as_parameters():
    law = tuple({*JointFriction().numbers()} - {'damping', 'friction'})
    robot = AdjustableRobot.of(Robot.from_urdf(URDF), optional_parameters=(*law, 'armature'))
    for name, values in EXPECTED.items():
        if name in ('damping', 'friction', 'armature', *law):
            robot.set_joint_parameters(name, values)
    assert robot.tree.bodies[robot.tree.joints['elbow']].armature == 0.02
    forward, backward = robot.friction([10.0, 10.0]), robot.friction([-10.0, -10.0])
    np.testing.assert_allclose(forward, [6.125, 2.5], rtol=1e-4)
    np.testing.assert_allclose(backward, [-6.375, -7.5], rtol=1e-4)


# ---- summary.json -------------------------------------------------------------------------------


def test_the_summary_is_json_with_none_for_no_number():
    found = json.loads(json.dumps(summary(identified()), allow_nan=False))
    assert found['joints'] == ['shoulder', 'elbow']
    assert found['measured_rms'] == [5.0, None]
    assert found['urdf_rms'] == [2.0, None]
    assert found['identified_rms'] == [0.5, None]
    assert found['physically_consistent'] is True
    assert found['condition_number'] is None
    assert found['parameters'][0] == {
        'name': 'viscous friction of elbow', 'quantity': 'viscous', 'owner': 'elbow',
        'unit': 'Nm s/rad', 'value': 0.5, 'standard_error': 0.01, 'urdf_value': 0.0,
        'identifiable': True}
    assert found['parameters'][1]['standard_error'] is None
    assert found['parameters'][1]['identifiable'] is False
    assert found['payload']['mass'] == 1.5
    assert found['friction']['shoulder']['viscous_backward'] is None


def test_the_summary_of_little_is_json_too():
    found = summary(identified(payload=None, gravity=None))
    assert found['payload'] is None and found['gravity'] is None
