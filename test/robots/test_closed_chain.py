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
"""Closed chains: against the four-bar's closed form, Pinocchio, and other cuts of one loop."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from comparison import relative_errors
from four_bar import FourBar, GRAVITY_ALONG_MINUS_Y
import numpy as np
import pinocchio
import pytest
from random_robots import random_joint, random_link
from robot_data import LinkData, RobotData
from ros2_rnea import ArgumentError, DescriptionError, Robot, Wrench
from ros2_rnea.model.description import (
    JointDescription,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
)
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robots.closed_chain import ClosedChain, Loop
from rotations import rotation_from_rpy, rpy_from_rotation

FOUR_BAR = FourBar()
MOTION = FOUR_BAR.motion(1.0, 2.0, 3.0)
Q, QD, QDD = STATE = MOTION.of_the_joints()
PIN = Loop('pin', 'coupler', 'rocker', JointType.REVOLUTE,
           Pose((FOUR_BAR.coupler.length, 0.0, 0.0)), Pose((FOUR_BAR.rocker.length, 0.0, 0.0)),
           axis=(0.0, 0.0, 1.0))
POINT = replace(PIN, type=JointType.SPHERICAL)
PINS = pytest.mark.parametrize('pin', [PIN, POINT], ids=['revolute', 'spherical'])
CRANKS = pytest.mark.parametrize('crank', [
    (0.0, 2.0, 1.0), (0.7, -3.0, 0.5), (2.1, 1.0, -4.0), (3.9, 5.0, 0.0), (5.5, -0.4, 2.0)])
DOWN = {'gravity': GRAVITY_ALONG_MINUS_Y}
KINDS = pytest.mark.parametrize('kind', [
    JointType.FIXED, JointType.REVOLUTE, JointType.PRISMATIC, JointType.CYLINDRICAL,
    JointType.PLANAR, JointType.SPHERICAL], ids=lambda kind: kind.label)
SEEDS = pytest.mark.parametrize('seed', range(4))


def four_bar(actuated=('drive',), pin=PIN, robot=None, **options):
    robot = robot or Robot.from_urdf(FOUR_BAR.tree().urdf())
    return ClosedChain(robot, [pin], actuated, **options)


# ---- the four-bar in closed form --------------------------------------------------------------


@PINS
@CRANKS
def test_four_bar_needs_the_efforts_of_the_closed_form(pin, crank):
    motion = FOUR_BAR.motion(*crank)
    result = four_bar(pin=pin).inverse_dynamics(*motion.of_the_joints(), **DOWN)
    np.testing.assert_allclose(result.efforts, [FOUR_BAR.crank_effort(motion)], rtol=1e-11)
    in_rocker = rotation_from_rpy([0.0, 0.0, motion.angle[2]]).T @ [*FOUR_BAR.pin_force(motion), 0]
    np.testing.assert_allclose(
        result.loop_wrenches['pin'], [0.0, 0.0, 0.0, *in_rocker], rtol=1e-10, atol=1e-10)


@CRANKS
def test_four_bar_moves_as_the_closed_form(crank):
    motion = FOUR_BAR.motion(*crank)
    q, qd, qdd = motion.of_the_joints()
    moves = four_bar().forward_dynamics(q, qd, [FOUR_BAR.crank_effort(motion)], **DOWN)
    np.testing.assert_allclose(moves.qdd, qdd, rtol=1e-10, atol=1e-10)


def test_energy_of_the_oracle_changes_by_crank_power():
    def energy(time):
        return FOUR_BAR.energy(FOUR_BAR.motion(0.7 + 2.0 * time + 1.5 * time**2,
                                               2.0 + 3.0 * time, 3.0))
    h = 1e-5
    rate = (energy(h) - energy(-h)) / (2.0 * h)
    motion = FOUR_BAR.motion(0.7, 2.0, 3.0)
    assert FOUR_BAR.crank_effort(motion) * 2.0 == pytest.approx(rate, rel=1e-8)


def test_assembly_finds_the_closed_form_from_the_crank_alone():
    q, qd, qdd = FOUR_BAR.motion(0.7, -3.0, 0.5).of_the_joints()
    guess = [np.array([0.7, 0.0, 1.0]), np.array([-3.0, 0.0, 0.0]), np.array([0.5, 0.0, 0.0])]
    found = four_bar().assemble(*guess, held=['drive'])
    for mine, expected in zip(found, (q, qd, qdd)):
        np.testing.assert_allclose(mine, expected, atol=1e-9)


# ---- Pinocchio --------------------------------------------------------------------------------


def pinocchio_motion(urdf, loop, q, qd, tau):
    """Return qdd and the wrench on link 2 in the world's axes; the loop is fixed or spherical."""
    model = pinocchio.buildModelFromXML(urdf)
    sides = []
    for link, origin in ((loop.link1, loop.origin1), (loop.link2, loop.origin2)):
        frame = model.frames[model.getFrameId(link, pinocchio.FrameType.BODY)]
        there = pinocchio.SE3(rotation_from_rpy(origin.rpy), np.array(origin.xyz))
        sides += [frame.parentJoint, frame.placement * there]
    kind = (pinocchio.ContactType.CONTACT_6D if loop.type is JointType.FIXED
            else pinocchio.ContactType.CONTACT_3D)
    constraint = pinocchio.RigidConstraintModel(
        kind, model, *sides, pinocchio.ReferenceFrame.LOCAL)
    models = pinocchio.StdVec_RigidConstraintModel()
    models.append(constraint)
    datas = pinocchio.StdVec_RigidConstraintData()
    datas.append(constraint.createData())
    data = model.createData()
    pinocchio.initConstraintDynamics(model, data, models, datas)
    settings = pinocchio.ProximalSettings(1e-15, 1e-15, 1e-8, 50)
    qdd = pinocchio.constraintDynamics(model, data, q, qd, tau, models, datas, settings)
    axes, on_1 = datas[0].oMc1.rotation, datas[0].contact_force
    return qdd, -np.array([*(axes @ on_1.angular), *(axes @ on_1.linear)])


def in_the_world(chain, q, wrench):
    """Return a wrench of the only loop in the world's axes."""
    loop, = chain.loops
    axes = chain.robot.link_poses(q)[loop.link2].rotation @ rotation_from_rpy(loop.origin2.rpy)
    return (wrench.reshape(2, 3) @ axes.T).ravel()


@CRANKS
def test_four_bar_moves_as_in_pinocchio(crank):
    q, qd, _ = FOUR_BAR.motion(*crank).of_the_joints()
    tau = np.array([3.0, -1.0, 2.0])
    chain = four_bar(actuated=None)
    moves = chain.forward_dynamics(q, qd, tau)
    qdd, wrench = pinocchio_motion(FOUR_BAR.tree().urdf(), POINT, q, qd, tau)
    assert relative_errors(moves.qdd, qdd) < 1e-10
    mine = in_the_world(chain, q, moves.loop_wrenches['pin'])
    assert relative_errors(mine[3:5], wrench[3:5]) < 1e-10


@SEEDS
@pytest.mark.parametrize('kind', [JointType.FIXED, JointType.SPHERICAL], ids=lambda k: k.label)
def test_two_arms_that_hold_each_other_move_as_in_pinocchio(kind, seed):
    urdf = two_arms(seed).urdf()
    chain, state = holding(kind, seed)
    tau = np.random.default_rng(seed).uniform(-5.0, 5.0, chain.robot.nv)
    moves = chain.forward_dynamics(*state[:2], tau)
    qdd, wrench = pinocchio_motion(urdf, chain.loops[0], *state[:2], tau)
    assert relative_errors(moves.qdd, qdd) < 1e-12
    mine = in_the_world(chain, state[0], moves.loop_wrenches['wrist'])
    assert relative_errors(mine, wrench) < 1e-12


# ---- two arms that hold each other: any joint between them ------------------------------------


def two_arms(seed):
    """Return two random arms of six joints on one base."""
    rng = np.random.default_rng(seed)
    links, joints = [LinkData('base')], []
    for arm in 'ab':
        parent = 'base'
        for i in range(1, 7):
            links.append(random_link(rng, f'link_{arm}{i}'))
            joints.append(random_joint(rng, f'{arm}{i}', 'revolute', parent, links[-1].name))
            parent = links[-1].name
    return RobotData('two_arms', tuple(links), tuple(joints))


def with_hand(kind, seed):
    """Return the arms with a massless hand on the first, at a random place, and its position."""
    description = parse_urdf(two_arms(seed).urdf())
    hand = JointDescription('wrist', kind, 'link_a6', 'hand', Pose((0.1, -0.2, 0.3), (1, 2, 3)),
                            axis=(0.48, 0.6, 0.64))
    description = replace(description, links=(*description.links, LinkDescription('hand')),
                          joints=(*description.joints, hand))
    robot = Robot.from_description(description, massless_links=['hand'])
    step = np.random.default_rng(seed).uniform(-1.5, 1.5, robot.nv)
    return robot, hand, robot.integrate(robot.neutral(), step)


def closed_both_ways(kind, seed):
    """Return the same mechanism cut at the wrist and cut behind it, with a state of each."""
    uncut, hand, q = with_hand(kind, seed)
    poses = uncut.link_poses(q)
    one, two = poses['hand'], poses['link_b6']
    there = Pose(tuple(two.rotation.T @ (one.position - two.position)),
                 rpy_from_rotation(two.rotation.T @ one.rotation))
    cut = Robot.from_urdf(two_arms(seed).urdf())
    at_wrist = ClosedChain(cut, [Loop(
        'wrist', 'link_a6', 'link_b6', kind, hand.origin, there, hand.axis)])
    behind = ClosedChain(uncut, [Loop('wrist', 'hand', 'link_b6', origin2=there)],
                         actuated=cut.joint_names)
    rng = np.random.default_rng(seed)
    state = behind.assemble(q, *rng.uniform(-2.0, 2.0, (2, uncut.nv)))
    without = [uncut.positions_by_joint(state[0]), uncut.velocities_by_joint(state[1]),
               uncut.velocities_by_joint(state[2])]
    return (at_wrist, [cut.flat({name: by_joint[name] for name in cut.joint_names})
                       for by_joint in without], behind, state)


def holding(kind, seed):
    """Return the two arms closed by a joint of this type, and a state."""
    return closed_both_ways(kind, seed)[:2]


@KINDS
@SEEDS
def test_efforts_do_not_depend_on_where_the_loop_is_cut(kind, seed):
    at_wrist, state, behind, other_state = closed_both_ways(kind, seed)
    one = at_wrist.inverse_dynamics(*state)
    two = behind.inverse_dynamics(*other_state)
    assert relative_errors(one.efforts, two.efforts) < 1e-9
    assert relative_errors(one.loop_wrenches['wrist'], two.loop_wrenches['wrist']) < 1e-9
    assert one.mobility.freedoms == two.mobility.freedoms == 6 + kind.nv
    assert one.mobility.redundant == two.mobility.redundant == 0
    assert one.mobility.preload.shape == (12, 6 - kind.nv)


@KINDS
@SEEDS
def test_forward_inverts_inverse(kind, seed):
    chain, state = holding(kind, seed)
    outside = {'link_b3': np.arange(6.0)}
    needs = chain.inverse_dynamics(*state, outside)
    moves = chain.forward_dynamics(*state[:2], needs.efforts, outside)
    np.testing.assert_allclose(moves.qdd, state[2], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        moves.loop_wrenches['wrist'], needs.loop_wrenches['wrist'], rtol=1e-7, atol=1e-7)


@KINDS
def test_actuators_bring_the_power_that_the_open_tree_takes(kind):
    chain, (q, qd, qdd) = holding(kind, 0)
    needs = chain.inverse_dynamics(q, qd, qdd)
    assert needs.efforts @ qd == pytest.approx(chain.robot.inverse_dynamics(q, qd, qdd) @ qd)


@KINDS
def test_loop_wrench_on_both_links_replaces_the_loop(kind):
    chain, (q, qd, qdd) = holding(kind, 1)
    loop, robot = chain.loops[0], chain.robot
    outside = {'link_a3': np.arange(6.0)}
    needs = chain.inverse_dynamics(q, qd, qdd, outside)
    R = rotation_from_rpy(loop.origin2.rpy)
    moment, force = needs.loop_wrenches['wrist'].reshape(2, 3) @ R.T
    on_2 = np.array([*(moment + np.cross(loop.origin2.xyz, force)), *force])
    wrenches = {**outside, 'link_b6': on_2, 'link_a6': Wrench(-on_2, 'link_b6')}
    tau = robot.inverse_dynamics(q, qd, qdd, wrenches)
    np.testing.assert_allclose(tau, needs.efforts, rtol=1e-8, atol=1e-8)


# ---- errors are derivatives of each other -----------------------------------------------------


@KINDS
@SEEDS
def test_velocity_error_is_the_rate_of_position_error(kind, seed):
    chain, (q, _, _) = holding(kind, seed)
    v = np.random.default_rng(seed).uniform(-1.0, 1.0, chain.robot.nv)
    h = 1e-6
    ahead, behind = (chain.position_error(chain.robot.integrate(q, step * v))['wrist']
                     for step in (h, -h))
    np.testing.assert_allclose(
        chain.velocity_error(q, v)['wrist'], (ahead - behind) / (2.0 * h), atol=1e-7)


@KINDS
@SEEDS
def test_acceleration_error_is_the_rate_of_velocity_error(kind, seed):
    chain, (q, qd, _) = holding(kind, seed)
    qdd = np.random.default_rng(seed).uniform(-1.0, 1.0, chain.robot.nv)
    h = 1e-6
    ahead, behind = (
        chain.velocity_error(chain.robot.integrate(q, step * qd), qd + step * qdd)['wrist']
        for step in (h, -h))
    np.testing.assert_allclose(
        chain.acceleration_error(q, qd, qdd)['wrist'], (ahead - behind) / (2.0 * h), atol=1e-6)


def test_position_error_is_the_gap_in_metres_and_radians():
    chain = four_bar(pin=replace(PIN, type=JointType.FIXED, origin2=Pose((0.6, 0.0, 0.0))))
    turn = Q[2] - Q[0] - Q[1]
    np.testing.assert_allclose(
        chain.position_error(Q)['pin'], [0, 0, turn, 0, 0, 0], atol=1e-12)
    longer = replace(PIN, origin2=Pose((0.61, 0.0, 0.0)))
    np.testing.assert_allclose(
        four_bar(pin=longer).position_error(Q)['pin'], [0, 0, 0, 0.01, 0, 0], atol=1e-12)


@pytest.mark.parametrize('rpy, turn', [
    ((3.0, 0.0, 0.0), (3.0, 0.0, 0.0)), ((0.0, 3.0, 0.0), (0.0, 3.0, 0.0)),
    ((0.0, 0.0, 0.1), (0.0, 0.0, 0.1)), ((0.4, 0.0, 0.0), (0.4, 0.0, 0.0)),
    ((np.pi, 0.5, 0.0), (np.pi * np.cos(0.25), 0.0, np.pi * np.sin(0.25)))])
def test_position_error_of_a_rigid_constraint_knows_any_turn(rpy, turn):
    R = rotation_from_rpy([0.0, 0.0, Q[0] + Q[1] - Q[2]]) @ rotation_from_rpy(rpy)
    origin = replace(PIN.origin2, rpy=rpy_from_rotation(R))
    weld = replace(PIN, type=JointType.FIXED, origin2=origin)
    error = four_bar(pin=weld).position_error(Q)['pin']
    np.testing.assert_allclose(np.abs(error), [*turn, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize('angle', [0.0, 3.0, np.pi, -np.pi, 3.2])
def test_a_loop_joint_may_stand_at_any_angle(angle):
    turned = replace(PIN, origin1=replace(PIN.origin1, rpy=(0.3, 0.2, 0.1)),
                     origin2=replace(PIN.origin2, rpy=(0.3, 0.2, 0.1)), axis=(
                         tuple(rotation_from_rpy([0.3, 0.2, 0.1]).T @ [0.0, 0.0, 1.0])))
    turn = Q[2] - Q[0] - Q[1] - angle
    R = rotation_from_rpy([0.0, 0.0, -turn]) @ rotation_from_rpy([0.3, 0.2, 0.1])
    turned = replace(turned, origin2=replace(turned.origin2, rpy=rpy_from_rotation(R)))
    four_bar(pin=turned).check_consistent(Q)


# ---- redundant constraints --------------------------------------------------------------------


@pytest.mark.parametrize('pin, redundant', [(PIN, 3), (POINT, 1)], ids=['revolute', 'spherical'])
def test_a_planar_four_bar_has_one_freedom(pin, redundant):
    mobility = four_bar(pin=pin).mobility(Q)
    assert (mobility.freedoms, mobility.redundant) == (1, redundant)
    assert four_bar(pin=pin).freedoms(Q) == 1
    assert mobility.unactuated == ()
    assert mobility.preload.shape == (1, 0)


def test_two_pins_in_one_place_share_the_force():
    chain = ClosedChain(four_bar().robot, [PIN, replace(POINT, name='ball')], ['drive'])
    needs = chain.inverse_dynamics(*STATE, **DOWN)
    alone = four_bar().inverse_dynamics(*STATE, **DOWN)
    np.testing.assert_allclose(needs.efforts, alone.efforts, rtol=1e-12)
    for name in ('pin', 'ball'):
        np.testing.assert_allclose(
            needs.loop_wrenches[name], 0.5 * alone.loop_wrenches['pin'], atol=1e-12)
    assert (needs.mobility.freedoms, needs.mobility.redundant) == (1, 6)


def test_axes_unparallel_by_rounding_do_not_lock_the_four_bar():
    chain = four_bar(robot=Robot.from_urdf(FOUR_BAR.tree(tilt=1e-7).urdf()))
    assert chain.freedoms(Q) == 1
    np.testing.assert_allclose(chain.inverse_dynamics(*STATE, **DOWN).efforts,
                               [FOUR_BAR.crank_effort(MOTION)], rtol=1e-6)


def test_the_tolerance_says_how_unparallel_axes_may_be():
    robot = Robot.from_urdf(FOUR_BAR.tree(tilt=1e-4).urdf())
    with pytest.raises(ArgumentError, match='is open by'):
        four_bar(robot=robot).freedoms(Q)
    assert four_bar(robot=robot, tolerance=1e-3).freedoms(Q) == 1


def test_a_four_bar_with_a_welded_pin_is_a_structure():
    weld = replace(PIN, type=JointType.FIXED,
                   origin2=replace(PIN.origin2, rpy=(0.0, 0.0, Q[0] + Q[1] - Q[2])))
    chain, still = four_bar(pin=weld), np.zeros(3)
    mobility = chain.mobility(Q)
    assert (mobility.freedoms, mobility.redundant, mobility.unactuated) == (0, 3, ())
    np.testing.assert_array_equal(np.abs(mobility.preload), [[1.0]])
    np.testing.assert_array_equal(chain.inverse_dynamics(Q, still, still).efforts, [0.0])
    np.testing.assert_allclose(
        chain.forward_dynamics(Q, still, [10.0], **DOWN).qdd, still, atol=1e-12)


def test_a_loop_that_mimics_close_already_forbids_nothing():
    side, top = 0.3, 0.8
    bars = replace(FOUR_BAR, crank=replace(FOUR_BAR.crank, length=side), ground=top)
    description = parse_urdf(bars.tree().urdf())
    follow = {'knee': Mimic('drive', -1.0), 'pivot': Mimic('drive')}
    robot = Robot.from_description(replace(description, joints=tuple(
        replace(joint, mimic=follow.get(joint.name)) for joint in description.joints)))
    chain = four_bar(robot=robot, pin=replace(PIN, origin2=Pose((side, 0.0, 0.0))))
    mobility = chain.mobility([0.7])
    assert (mobility.freedoms, mobility.redundant) == (1, 5)
    np.testing.assert_allclose(
        chain.inverse_dynamics([0.7], [1.0], [2.0]).efforts,
        robot.inverse_dynamics([0.7], [1.0], [2.0]), rtol=1e-12)


def test_without_loops_it_is_the_robot():
    robot = Robot.from_urdf(two_arms(0).urdf())
    chain = ClosedChain(robot, [])
    state = np.random.default_rng(0).uniform(-1.0, 1.0, (3, robot.nv))
    needs = chain.inverse_dynamics(*state)
    np.testing.assert_allclose(needs.efforts, robot.inverse_dynamics(*state), rtol=1e-9)
    assert needs.loop_wrenches == {} and needs.mobility.freedoms == robot.nv


# ---- too few and too many actuators -----------------------------------------------------------


def test_a_motion_that_lacks_an_actuator_is_refused():
    with pytest.raises(ArgumentError, match=(
            "needs .* at 'drive'.* beyond what the actuated joints can do "
            r'\(none\): drive, knee, pivot can move')):
        four_bar(actuated=()).inverse_dynamics(*STATE)


def test_a_loose_arm_is_named_and_may_move():
    chain, (q, qd, _) = holding(JointType.FIXED, 3)
    names = chain.robot.joint_names
    weak = ClosedChain(chain.robot, chain.loops, actuated=names[:4])
    with pytest.raises(ArgumentError, match='can move without them'):
        weak.inverse_dynamics(q, qd, chain.assemble(q, qd)[2])
    moves = weak.forward_dynamics(q, qd, [1.0, 2.0, 3.0, 4.0])
    found = weak.inverse_dynamics(q, qd, moves.qdd)
    np.testing.assert_allclose(found.efforts, [1.0, 2.0, 3.0, 4.0], rtol=1e-6)
    assert len(found.mobility.unactuated) > 0


def test_only_the_joints_that_no_actuator_holds_are_called_unactuated():
    description = parse_urdf(FOUR_BAR.tree().urdf())
    bell = JointDescription('bell_joint', JointType.REVOLUTE, 'rocker', 'bell')
    robot = Robot.from_description(
        replace(description, links=(*description.links, LinkDescription('bell')),
                joints=(*description.joints, bell)), massless_links=['bell'])
    chain = ClosedChain(robot, [PIN], actuated=['drive'])
    q = [*Q, 0.0]
    assert chain.mobility(q).unactuated == ('bell_joint',)
    assert chain.freedoms(q) == 2


@CRANKS
def test_redundant_actuators_share_the_load_by_least_squares(crank):
    motion = FOUR_BAR.motion(*crank)
    state = motion.of_the_joints()
    needs = four_bar(actuated=['pivot', 'drive']).inverse_dynamics(*state, **DOWN)
    # each gives power; the smallest efforts are in proportion to the speeds
    speeds = motion.rate[[2, 0]]
    power = FOUR_BAR.crank_effort(motion) * motion.rate[0]
    np.testing.assert_allclose(needs.efforts, power * speeds / (speeds @ speeds), rtol=1e-10)
    assert needs.mobility.preload.shape == (2, 1)


def test_preload_strains_the_loop_and_moves_nothing():
    chain = four_bar(actuated=['pivot', 'drive'])
    needs = chain.inverse_dynamics(*STATE)
    strained = chain.forward_dynamics(
        *STATE[:2], needs.efforts + 50.0 * needs.mobility.preload[:, 0])
    np.testing.assert_allclose(strained.qdd, STATE[2], rtol=1e-9)
    assert np.linalg.norm(strained.loop_wrenches['pin'] - needs.loop_wrenches['pin']) > 10.0


def test_efforts_come_in_the_order_of_the_actuated_joints():
    one = four_bar(actuated=['drive', 'pivot']).inverse_dynamics(*STATE).efforts
    two = four_bar(actuated=['pivot', 'drive']).inverse_dynamics(*STATE).efforts
    np.testing.assert_allclose(one, two[::-1], rtol=1e-12)


# ---- what is refused --------------------------------------------------------------------------


def test_an_open_loop_is_refused_with_its_name_and_gap():
    chain = four_bar(pin=replace(PIN, origin2=Pose((0.61, 0.0, 0.0))))
    said = (r"loop 'pin' between 'coupler' and 'rocker' is open by .* rad and 0\.01 m; "
            'at most 1e-06 would do')
    for call in (lambda: chain.check_consistent(Q), lambda: chain.freedoms(Q),
                 lambda: chain.inverse_dynamics(Q, QD, QDD),
                 lambda: chain.forward_dynamics(Q, QD, [0.0])):
        with pytest.raises(ArgumentError, match=said):
            call()
    chain.check_consistent(Q, tolerance=0.011)
    with pytest.raises(ArgumentError, match='at most 0.009 would do'):
        chain.check_consistent(Q, tolerance=0.009)


def test_velocities_and_accelerations_that_open_the_loop_are_refused():
    chain, more = four_bar(), np.array([0.0, 0.1, 0.0])
    chain.check_consistent(Q, QD, QDD)
    with pytest.raises(ArgumentError, match=r"loop 'pin' .* opens at 0 rad/s and 0\.08 m/s"):
        chain.check_consistent(Q, QD + more)
    with pytest.raises(ArgumentError, match=r"'pin' .* would open with .* and 0\.08 m/s\^2"):
        chain.inverse_dynamics(Q, QD, QDD + more)
    with pytest.raises(ArgumentError, match='opens at'):
        chain.forward_dynamics(Q, QD + more, [0.0])


def test_a_crank_that_the_bars_cannot_follow_is_not_assembled():
    short = replace(PIN, origin2=Pose((0.1, 0.0, 0.0)))
    with pytest.raises(ArgumentError, match='is open by'):
        four_bar(pin=short).assemble([3.0, 0.0, 1.0], held=['drive'])


@pytest.mark.parametrize('change, said', [
    ({'link1': 'cupler'}, "no link 'cupler'; did you mean 'coupler'"),
    ({'link2': 'coupler'}, "loop 'pin' joins 'coupler' and 'coupler', which are one rigid body"),
    ({'type': JointType.HELICAL}, "loop 'pin' is helical; a loop can be closed by any other"),
    ({'type': JointType.FLOATING}, "loop 'pin' is floating"),
    ({'axis': (0.0, 0.0, 0.0)}, "joint 'pin' .*axis"),
    ({'origin1': Pose((nan, 0.0, 0.0))}, "joint 'pin' .*origin xyz nan"),
    ({'origin2': Pose((nan, 0.0, 0.0))}, "loop 'pin' .*origin2.*finite"),
])
def test_a_loop_that_fits_no_robot_is_refused(change, said):
    with pytest.raises((ArgumentError, DescriptionError), match=said):
        four_bar(pin=replace(PIN, **change))


@pytest.mark.parametrize('options, said', [
    ({'actuated': ['drives']}, "actuated names 'drives'.*did you mean 'drive'"),
    ({'actuated': ['drive', 'drive']}, 'actuated names a joint twice'),
    ({'tolerance': 0.0}, 'tolerance is 0.0'),
    ({'tolerance': nan}, 'tolerance is nan'),
])
def test_arguments_of_a_chain_that_do_not_fit_are_refused(options, said):
    with pytest.raises(ArgumentError, match=said):
        four_bar(**options)


def test_two_loops_of_one_name_are_refused():
    with pytest.raises(DescriptionError, match="two loops are called 'pin'"):
        ClosedChain(four_bar().robot, [PIN, PIN])


def test_states_that_are_no_single_finite_state_are_refused():
    chain = four_bar()
    with pytest.raises(ArgumentError, match='one state at a time'):
        chain.position_error([Q, Q])
    with pytest.raises(ArgumentError, match='needs finite numbers'):
        chain.freedoms([nan, 0.0, 0.0])
    with pytest.raises(ArgumentError, match=r'efforts are .*\(drive\) need 1 finite'):
        chain.forward_dynamics(Q, QD, [1.0, 2.0])
    with pytest.raises(ArgumentError, match='efforts is not an array of real numbers'):
        chain.forward_dynamics(Q, QD, ['strong'])
    with pytest.raises(ArgumentError, match='qd is not an array of real numbers'):
        chain.check_consistent(Q, 'fast')


def test_a_freedom_without_inertia_is_refused():
    description = parse_urdf(FOUR_BAR.tree().urdf())
    names = [link.name for link in description.links]
    robot = Robot.from_description(
        replace(description, links=tuple(LinkDescription(name) for name in names)),
        massless_links=names)
    with pytest.raises(ArgumentError, match='moves nothing that has inertia'):
        four_bar(robot=robot).forward_dynamics(Q, QD, [1.0])
