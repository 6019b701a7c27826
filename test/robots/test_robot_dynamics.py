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
"""What a robot computes beyond efforts: its face, and all joint types against other engines."""

from __future__ import annotations

from dataclasses import replace
from math import nan, pi

from drawn_robots import assert_close, cases, check_drawn, descriptions, MOVING, positions
from hypothesis import note, strategies as st
import numpy as np
import pytest
from ros2_rnea import ArgumentError, Robot, WORLD, Wrench
from ros2_rnea.dynamics.friction import FRICTION_NUMBERS
from ros2_rnea.model.description import JointType
from rotations import rotation_from_rpy
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot, ROVER
from spatial_recursion import (
    ANY_AXIS,
    motion_transform,
    spatial_inertia,
    spatial_rnea,
    SpatialTree,
)

Q, QD, QDD = STATE = np.array([[0.3, -0.8], [1.0, -2.0], [3.0, 4.0]])
BATCH = np.random.default_rng(5).uniform(-2.0, 2.0, (3, 4, 2))
SCREW = 1.0 / (2.0 * pi)  # [m/rad]: the pitch that the oracle's helical joint has

pytestmark = pytest.mark.usefixtures('engine')


@pytest.fixture(scope='module')
def arm(engine):
    return Robot.from_urdf(ARM)


# ---- every joint type, against what shares no code --------------------------------------------


@st.composite
def plain_cases(draw):
    """Draw what the oracles know: one pitch, one plane, no friction, no rotors and no springs."""
    case = draw(cases())
    description = replace(case.description, joints=tuple(
        replace(j, **dict.fromkeys(FRICTION_NUMBERS, 0.0), pitch=SCREW, rotor_inertia=0.0,
                spring_stiffness=0.0,
                axis=(0.0, 0.0, 1.0) if j.type is JointType.PLANAR else j.axis)
        for j in case.description.joints))
    return replace(case, description=description,
                   robot=Robot.from_description(description, case.floating_base))


def unit(axis):
    return np.array(axis) / np.linalg.norm(axis)


def inertia_in_link_axes(inertial):
    full = np.zeros((3, 3))
    full[np.triu_indices(3)] = inertial.inertia
    full = full + np.triu(full, 1).T
    R = rotation_from_rpy(inertial.origin.rpy)
    return inertial.mass, np.array(inertial.origin.xyz), R @ full @ R.T


def oracle_tree(case):
    """Return the oracle's tree, with a name for each joint; the links come parent first."""
    tree = SpatialTree([None], [0], [None], [None], [None], [None])
    carriers = {j.child: j for j in case.description.joints}
    for body in case.description.links:
        j = carriers.get(body.name)
        tree.names.append(j.name if j else 'floating_base')
        tree.inertia.append(spatial_inertia(*inertia_in_link_axes(body.inertial)))
        if j is None:
            tree.parent.append(0)
            tree.kind.append('floating' if case.floating_base else 'fixed')
            tree.X_tree.append(np.eye(6))
            tree.axis.append(ANY_AXIS)
        else:
            tree.parent.append(1 + [b.name for b in case.description.links].index(j.parent))
            tree.kind.append(j.type.label)
            tree.X_tree.append(
                motion_transform(rotation_from_rpy(j.origin.rpy), np.array(j.origin.xyz)))
            tree.axis.append(unit(j.axis))
    return tree


def test_all_joint_types_agree_with_the_spatial_recursion(engine):
    check_drawn(compare_with_recursion, plain_cases(), engine=engine)


def compare_with_recursion(case):
    """Compare inverse dynamics with the recursion's."""
    tree = oracle_tree(case)
    nothing = np.zeros(0)

    def listed(by_joint):
        return [None, *(np.array(by_joint.get(name, nothing)) for name in tree.names[1:])]

    forces = [None, *(np.array(case.f_ext.get(body.name, np.zeros(6)))
                      for body in case.description.links)]
    tau, _ = spatial_rnea(
        tree, listed(case.robot.positions_by_joint(case.q)),
        listed(case.robot.velocities_by_joint(case.qd)),
        listed(case.robot.velocities_by_joint(case.qdd)), forces, case.gravity)
    expected = {name: effort for name, effort in zip(tree.names[1:], tau[1:]) if len(effort)}
    ours = case.robot.inverse_dynamics(*case.state, case.f_ext, case.gravity)
    assert_close(ours, case.robot.flat(expected), 100.0)


class Pinocchio:
    """A drawn robot in Pinocchio, its velocities in our order."""

    def __init__(self, case):
        self.pin = pytest.importorskip('pinocchio')
        self.model = self.pin.Model()
        self.model.gravity.linear = np.array(case.gravity)
        carriers = {j.child: j for j in case.description.joints}
        self._kinds = {'floating_base': 'floating'}
        at = {}  # by link: Pinocchio's joint, and the link's placement in its frame
        links = {body.name: body for body in case.description.links}
        for body in map(links.get, case.robot.link_names):  # depth first, as it needs them
            j = carriers.get(body.name)
            if j is None:
                at[body.name] = (0, self.pin.SE3.Identity())
                if case.floating_base:
                    self._add('floating_base', 0, at[body.name][1],
                              self.pin.JointModelFreeFlyer(), body.name, at)
            else:
                parent, placement = at[j.parent]
                placement = placement * self.pin.SE3(
                    rotation_from_rpy(j.origin.rpy), np.array(j.origin.xyz))
                self._kinds[j.name] = j.type.label
                if j.type is JointType.FIXED:
                    at[body.name] = (parent, placement)
                else:
                    self._add(j.name, parent, placement, self._joint(j), body.name, at)
            carrier, placement = at[body.name]
            if carrier:
                self.model.appendBodyToJoint(
                    carrier, self.pin.Inertia(*inertia_in_link_axes(body.inertial)), placement)
        self._at = at
        self.data = self.model.createData()
        self.q, order = self._positions(case), []
        for name in case.robot.joint_names:
            j = self.model.joints[self.model.getJointId(name)]
            columns = np.arange(j.idx_v, j.idx_v + j.nv)
            order += list(np.roll(columns, 3) if self._kinds[name] == 'floating' else columns)
        self._order = order

    def _add(self, name, parent, placement, model, body, at):
        at[body] = (
            self.model.addJoint(parent, model, placement, name), self.pin.SE3.Identity())

    def _joint(self, j):
        axis = unit(j.axis) if any(j.axis) else None
        if j.type is JointType.CYLINDRICAL:
            composite = self.pin.JointModelComposite()
            composite.addJoint(self.pin.JointModelRevoluteUnaligned(axis))
            composite.addJoint(self.pin.JointModelPrismaticUnaligned(axis))
            return composite
        return {
            JointType.REVOLUTE: lambda: self.pin.JointModelRevoluteUnaligned(axis),
            JointType.CONTINUOUS: lambda: self.pin.JointModelRevoluteUnaligned(axis),
            JointType.PRISMATIC: lambda: self.pin.JointModelPrismaticUnaligned(axis),
            JointType.HELICAL: lambda: self.pin.JointModelHelicalUnaligned(axis, j.pitch),
            JointType.PLANAR: self.pin.JointModelPlanar,
            JointType.SPHERICAL: self.pin.JointModelSpherical,
            JointType.FLOATING: self.pin.JointModelFreeFlyer,
        }[j.type]()

    def _positions(self, case):
        q = np.zeros(self.model.nq)
        for name, own in case.robot.positions_by_joint(case.q).items():
            j = self.model.joints[self.model.getJointId(name)]
            if self._kinds[name] == 'planar':
                own = [own[0], own[1], np.cos(own[2]), np.sin(own[2])]
            q[j.idx_q:j.idx_q + j.nq] = own
        return q

    def rotation(self, link):
        """Return a link's axes in the world, after forward kinematics."""
        carrier, placement = self._at[link]
        return (self.data.oMi[carrier] * placement).rotation

    def theirs(self, vector):
        """Return a vector in Pinocchio's order."""
        result = np.zeros(self.model.nv)
        result[self._order] = vector
        return result

    def ours(self, array):
        """Return a vector or square matrix in our order."""
        return array[np.ix_(*[self._order] * array.ndim)]


def test_all_joint_types_agree_with_pinocchio(engine):
    check_drawn(compare_with_pinocchio, plain_cases(), engine=engine)


def compare_with_pinocchio(case):
    """Compare all quantities that both compute."""
    other = Pinocchio(case)
    pin, model, data = other.pin, other.model, other.data
    qd, qdd = other.theirs(case.qd), other.theirs(case.qdd)
    assert_close(case.robot.inverse_dynamics(*case.state, gravity=case.gravity),
                 other.ours(pin.rnea(model, data, other.q, qd, qdd)), 100.0)
    M = pin.crba(model, data, other.q)
    M = np.triu(M) + np.triu(M, 1).T
    assert_close(case.robot.mass_matrix(case.q), other.ours(M))
    effort = 3.0 * case.qdd
    ours = case.robot.forward_dynamics(case.q, case.qd, effort, gravity=case.gravity)
    assert_close(ours, other.ours(pin.aba(model, data, other.q, qd, other.theirs(effort))),
                 1000.0 / np.linalg.eigvalsh(M)[0])
    assert_close(case.robot.kinetic_energy(case.q, case.qd),
                 pin.computeKineticEnergy(model, data, other.q, qd))
    assert_close(case.robot.potential_energy(case.q, case.gravity),
                 pin.computePotentialEnergy(model, data, other.q), 10.0)
    assert_close(case.robot.center_of_mass(case.q), pin.centerOfMass(model, data, other.q), 1.0)
    pin.forwardKinematics(model, data, other.q)
    for name in case.robot.link_names:
        assert_close(case.robot.link_rotation(case.q, name), other.rotation(name))


def test_a_link_is_turned_as_its_pose_says(engine):
    check_drawn(compare_rotations, cases(), engine=engine)


def compare_rotations(case):
    """Compare the two ways to the rotation of each link."""
    for name, pose in case.robot.link_poses(case.q).items():
        assert_close(case.robot.link_rotation(case.q, name), pose.rotation)


# ---- one state or many ------------------------------------------------------------------------


@st.composite
def batches(draw):
    """Draw a robot and three states of it, as rows."""
    description = draw(descriptions(mimics=True, most_joints=4))
    robot = Robot.from_description(description, draw(st.booleans()))
    numbers = st.integers(-16, 16).map(lambda n: n / 8.0)
    rows = st.lists(st.tuples(*[numbers] * robot.nv), min_size=3, max_size=3).map(np.array)
    q = np.array([draw(positions(robot)) for _ in range(3)])
    return robot, q, draw(rows), draw(rows)


CALLS = {
    'inverse_dynamics': lambda robot, q, qd, qdd: robot.inverse_dynamics(q, qd, qdd),
    'inverse_dynamics_derivatives': lambda robot, q, qd, qdd: robot.inverse_dynamics_derivatives(
        q, qd, qdd),
    'bias': lambda robot, q, qd, qdd: robot.bias(q, qd),
    'gravity': lambda robot, q, qd, qdd: robot.gravity(q),
    'mass_matrix': lambda robot, q, qd, qdd: robot.mass_matrix(q),
    'coriolis_matrix': lambda robot, q, qd, qdd: robot.coriolis_matrix(q, qd),
    'forward_dynamics': lambda robot, q, qd, tau: robot.forward_dynamics(q, qd, tau),
    'jacobian': lambda robot, q, qd, qdd: robot.jacobian(q, robot.link_names[-1]),
    'world jacobian': lambda robot, q, qd, qdd: robot.jacobian(q, robot.link_names[-1], WORLD),
    'jacobian in axes': lambda robot, q, qd, qdd: robot.jacobian(
        q, robot.link_names[-1], robot.link_names[0]),
    'link motion': lambda robot, q, qd, qdd: np.concatenate(
        robot.link_motion(q, qd, qdd, robot.link_names[-1]), axis=-1),
    'link position': lambda robot, q, qd, qdd: robot.link_poses(q)[robot.link_names[-1]].position,
    'link rotation': lambda robot, q, qd, qdd: robot.link_poses(q)[robot.link_names[-1]].rotation,
    'link_rotation': lambda robot, q, qd, qdd: robot.link_rotation(q, robot.link_names[-1]),
    'kinetic_energy': lambda robot, q, qd, qdd: robot.kinetic_energy(q, qd),
    'potential_energy': lambda robot, q, qd, qdd: robot.potential_energy(q),
    'center_of_mass': lambda robot, q, qd, qdd: robot.center_of_mass(q),
    'momentum': lambda robot, q, qd, qdd: robot.momentum(q, qd),
    'regressor': lambda robot, q, qd, qdd: robot.regressor(q, qd, qdd),
    'friction': lambda robot, q, qd, qdd: robot.friction(qd),
    'spring': lambda robot, q, qd, qdd: robot.spring(q),
    'joint_wrenches': lambda robot, q, qd, qdd: robot.joint_wrenches(q, qd, qdd)[
        robot.joint_names[-1]],
}


def test_rows_are_states_one_by_one(engine):
    """Of machine code, test_evaluator.py compares rows and single states with the textbook."""
    check_drawn(compare_rows, batches(), engine=engine, share_compiled=5)


def compare_rows(batch):
    """Compare all that takes rows of states with what it is for each of them."""
    robot, *states = batch
    for name, call in CALLS.items():
        rows = call(robot, *states)
        single = [call(robot, *state) for state in zip(*states)]
        note(name)  # is printed where this fails
        assert_close(rows, single, 100.0, tolerance=1e-9)


@pytest.mark.parametrize('name, shape', [
    ('inverse_dynamics', (2,)), ('inverse_dynamics_derivatives', (3, 2, 2)), ('bias', (2,)),
    ('gravity', (2,)), ('mass_matrix', (2, 2)), ('coriolis_matrix', (2, 2)),
    ('forward_dynamics', (2,)), ('jacobian', (6, 2)), ('world jacobian', (6, 2)),
    ('jacobian in axes', (6, 2)), ('regressor', (2, 20)), ('kinetic_energy', ()),
    ('potential_energy', ()), ('center_of_mass', (3,)), ('momentum', (6,)),
    ('link motion', (15,)), ('link position', (3,)), ('link rotation', (3, 3)),
    ('link_rotation', (3, 3)), ('joint_wrenches', (6,)), ('friction', (2,)), ('spring', (2,))])
def test_shapes(name, shape, arm):
    assert np.shape(CALLS[name](arm, *STATE)) == shape
    assert shape or isinstance(CALLS[name](arm, *STATE), float)
    assert CALLS[name](arm, *BATCH).shape == (4, *shape)
    assert CALLS[name](arm, *BATCH[:, :0]).shape == (0, *shape)


# ---- what a joint passes on -------------------------------------------------------------------

SENSOR = robot(  # an arm lies along x; 2 kg at its middle, and 0.5 kg on a fixed sensor at its tip
    link('wall'), link('beam', mass=2.0, com='0.5 0 0'), link('hand', mass=0.5, com='0 0 0.1'),
    joint('pin', 'wall', 'beam'),
    '<joint name="sensor" type="fixed"><parent link="beam"/><child link="hand"/>'
    '<origin xyz="1 0 0"/></joint>')
LEVEL = [0.0], [0.0], [0.0]


@pytest.fixture
def sensing(engine):
    """Return the arm whose fixed sensor is a joint of its own."""
    return Robot.from_urdf(SENSOR, lump_fixed_joints=False)


def test_what_holds_a_beam_still_by_hand():
    wrench = Robot.from_urdf(SENSOR).joint_wrenches(*LEVEL)
    assert list(wrench) == ['pin']
    weight, lever = 2.5 * 9.81, (2.0 * 0.5 + 0.5 * 1.0) / 2.5
    assert wrench['pin'] == pytest.approx([0.0, -weight * lever, 0.0, 0.0, 0.0, weight])


def test_a_fixed_joint_is_a_force_torque_sensor(sensing):
    wrench = sensing.joint_wrenches(*LEVEL)
    assert list(wrench) == ['pin', 'sensor']
    # the hand's centre is 0.1 m above the sensor: its weight has no lever
    assert wrench['sensor'] == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 0.5 * 9.81])


def test_turned_up_the_sensor_reads_in_its_own_axes(sensing):
    """Turned by −90 degrees about y, the beam's x points up and the hand's z to −x."""
    wrench = sensing.joint_wrenches([-0.5 * pi], [0.0], [0.0])['sensor']
    weight = 0.5 * 9.81
    assert wrench == pytest.approx([0.0, 0.1 * weight, 0.0, weight, 0.0, 0.0])


def test_a_sensor_feels_what_turns_the_hand(sensing):
    rate = 3.0
    wrench = sensing.joint_wrenches([0.0], [rate], [0.0], gravity=(0.0, 0.0, 0.0))['sensor']
    pull = 0.5 * rate**2 * np.array([-1.0, 0.0, -0.1])  # to the pin, from the hand's centre
    assert wrench == pytest.approx([*np.cross([0.0, 0.0, 0.1], pull), *pull], abs=1e-13)


def test_what_pushes_the_hand_is_taken_off(sensing):
    push = np.arange(1.0, 7.0)
    free, pushed = (sensing.joint_wrenches(*LEVEL, f_ext)['sensor'] for f_ext in (
        None, {'hand': push}))
    assert free - pushed == pytest.approx(push)
    # in the world's frame it is moved to the hand: 1 m along x and 0.3 m up
    in_world = sensing.joint_wrenches(*LEVEL, {'hand': Wrench(push, WORLD)})['sensor']
    moment = push[:3] - np.cross([1.0, 0.0, 0.3], push[3:])
    assert free - in_world == pytest.approx([*moment, *push[3:]])


def test_a_mimicking_joint_passes_on_a_wrench_too():
    robot = Robot.from_urdf(ARM_WITH_GRIPPER)
    state = np.zeros((3, 3))
    wrench = robot.joint_wrenches(*state)
    assert set(wrench) == {*robot.joint_names, 'thumb_joint'}
    assert wrench['thumb_joint'][3:] == pytest.approx([0.0, 0.0, 0.1 * 9.81])


def test_a_joint_s_effort_is_its_wrench_s_moving_part(engine):
    check_drawn(compare_efforts_with_wrenches, cases(kinds=MOVING), engine=engine)


def compare_efforts_with_wrenches(case):
    """Compare efforts with the wrenches along the joints' own axes."""
    plain = Robot.from_description(replace(case.description, joints=tuple(
        replace(j, **dict.fromkeys(FRICTION_NUMBERS, 0.0), rotor_inertia=0.0,
                spring_stiffness=0.0)
        for j in case.description.joints)), case.floating_base)
    wrenches = plain.joint_wrenches(*case.state, case.f_ext, case.gravity)
    J_own = {body.joint: plain.jacobian(case.q, body.link)[:, body.v_slice]
             for body in plain.tree.bodies}
    efforts = plain.flat({name: J_own[name].T @ wrenches[name] for name in plain.joint_names})
    assert_close(efforts, plain.inverse_dynamics(*case.state, case.f_ext, case.gravity), 100.0)


# ---- forward dynamics -------------------------------------------------------------------------


def test_mimics_are_tied_in_forward_dynamics():
    gripper = Robot.from_urdf(ARM_WITH_GRIPPER)
    state = np.random.default_rng(1).normal(size=(3, 3))
    q, qd, qdd = state
    f_ext = {'thumb': np.arange(6.0)}
    effort = gripper.inverse_dynamics(*state, f_ext)
    assert gripper.forward_dynamics(q, qd, effort, f_ext) == pytest.approx(qdd)


def test_a_held_joint_moves_others_as_a_fixed_one(arm):
    elbow = 'name="elbow" type="revolute"'
    assert elbow in ARM
    turned = ARM.replace(elbow, 'name="elbow" type="fixed"').replace(
        '<child link="lower"/><origin xyz="0 0 0.3"/>',
        f'<child link="lower"/><origin xyz="0 0 0.3" rpy="0 {Q[1]} 0"/>')
    fixed = Robot.from_urdf(turned)
    f_ext, gravity, qd = {'tool': np.arange(6.0)}, (1.0, 2.0, -9.0), [QD[0], 0.0]
    accelerations = arm.forward_dynamics_with_locked_joints(
        Q, qd, [5.0, 1e3], ['elbow'], f_ext, gravity)
    expected = fixed.forward_dynamics(Q[:1], qd[:1], [5.0], f_ext, gravity)
    np.testing.assert_allclose(accelerations, [*expected, 0.0], rtol=1e-12)


@pytest.mark.parametrize('held, free', [
    ((), [0, 1, 2]), (('grip',), [0, 1]), (('elbow',), [0, 2])])
def test_beside_held_joints_forward_dynamics_inverts_inverse_dynamics(held, free):
    gripper = Robot.from_urdf(ARM_WITH_GRIPPER)
    q, qd, tau = np.random.default_rng(1).normal(size=(3, 4, 3))
    accelerations = gripper.forward_dynamics_with_locked_joints(q, qd, tau, held)
    assert not np.delete(accelerations, free, axis=1).any()
    needed = gripper.inverse_dynamics(q, qd, accelerations)
    np.testing.assert_allclose(needed[:, free], tau[:, free], rtol=1e-11, atol=1e-12)


def test_all_joints_may_be_held(arm):
    none_moves = arm.forward_dynamics_with_locked_joints(Q, QD, QDD, arm.joint_names)
    assert none_moves.tolist() == [0.0, 0.0]


MASSLESS_TIP = robot(
    '<link name="base"/>', link('upper'), '<link name="tip"/>',
    joint('shoulder', 'base', 'upper'), joint('wrist', 'upper', 'tip'), name='arm')


@pytest.mark.parametrize('q', [Q, BATCH[0]], ids=['one state', 'rows'])
def test_a_joint_that_moves_nothing_is_named(q):
    arm = Robot.from_urdf(MASSLESS_TIP, massless_links=['tip'])
    with pytest.raises(ArgumentError, match="'arm' are undefined: joint 'wrist' moves"):
        arm.forward_dynamics(q, 0.0 * q, 0.0 * q)


def test_a_massless_link_that_carries_something_is_not_blamed():
    arm = Robot.from_urdf(robot(
        '<link name="base"/>', '<link name="gimbal"/>', link('upper'), '<link name="tip"/>',
        joint('pan', 'base', 'gimbal'), joint('tilt', 'gimbal', 'upper', axis='1 0 0'),
        joint('wrist', 'upper', 'tip')), massless_links=['gimbal', 'tip'])
    with pytest.raises(ArgumentError, match="joint 'wrist' moves"):
        arm.forward_dynamics(*np.zeros((3, 3)))


@pytest.mark.parametrize('axis', ['0 1 0', '0.3 1 0.2'])
def test_a_point_mass_on_the_axis_is_nothing_to_turn(axis):
    """On a skew axis rounding leaves a little of nothing, and accelerations beyond reason."""
    center = ' '.join(str(0.5 * float(word)) for word in axis.split())
    point = (f'<link name="bob"><inertial><origin xyz="{center}"/><mass value="1"/>'
             '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>')
    top = Robot.from_urdf(robot(link('wall'), point, joint('pin', 'wall', 'bob', axis=axis)))
    with pytest.raises(ArgumentError, match="joint 'pin' moves"):
        top.forward_dynamics([0.0], [0.0], [1.0])


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('which', range(3))
def test_what_is_not_a_number_comes_out_as_nan(which, arm):
    state = np.array(BATCH)
    state[which, 1, 0] = nan
    batch = arm.forward_dynamics(*state)
    assert np.isnan(batch[1]).any()
    others = [0, 2, 3]
    np.testing.assert_allclose(
        batch[others], arm.forward_dynamics(*BATCH)[others], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize('frame', [None, WORLD])
def test_nor_does_a_nan_wrench_blame_the_joints(frame, arm):
    push = Wrench([nan] * 6, frame)
    assert np.isnan(arm.forward_dynamics(Q, QD, QDD, {'lower': push})).any()


def test_nor_do_numbers_that_overflow(arm):
    assert not np.isfinite(arm.forward_dynamics(Q, [1e200, 1e200], QDD)).all()


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('name', CALLS)
def test_nothing_warns_of_what_is_not_finite(name, arm):
    state = np.array(BATCH)
    state[:, 1, 0] = np.inf
    CALLS[name](arm, *state)


@pytest.mark.filterwarnings('error')
def test_nor_does_friction():
    rough = Robot.from_urdf(ARM.replace('damping="0.5"', 'friction="0.5"'))
    rough.friction([[np.inf, 0.0]])


# ---- arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize('call', [
    lambda arm: arm.mass_matrix([0.0]),
    lambda arm: arm.coriolis_matrix(Q, [0.0]),
    lambda arm: arm.forward_dynamics(Q, QD, [0.0]),
    lambda arm: arm.forward_dynamics(Q, BATCH[1], QDD),
    lambda arm: arm.forward_dynamics(Q, QD, QDD, {'nothing': np.zeros(6)}),
    lambda arm: arm.joint_wrenches(Q, QD, QDD, gravity=9.81),
    lambda arm: arm.jacobian(Q, 'nothing'),
    lambda arm: arm.jacobian([0.0], 'tool'),
    lambda arm: arm.link_rotation(Q, 'nothing'),
    lambda arm: arm.link_rotation([0.0], 'tool'),
    lambda arm: arm.link_motion(Q, QD, QDD, 'nothing'),
    lambda arm: arm.link_poses([0.0]),
    lambda arm: arm.kinetic_energy(Q, [0.0]),
    lambda arm: arm.potential_energy(Q, 'down'),
    lambda arm: arm.center_of_mass('here'),
    lambda arm: arm.momentum(Q, [0.0]),
    lambda arm: arm.regressor(Q, QD, [0.0]),
    lambda arm: arm.friction([0.0]),
    lambda arm: arm.integrate(Q, [0.0]),
    lambda arm: arm.integrate(*BATCH[:2]),
    lambda arm: arm.difference(Q, [0.0]),
    lambda arm: arm.positions_by_joint(BATCH[0]),
    lambda arm: arm.velocities_by_joint([0.0]),
    lambda arm: arm.flat({'shoulder': [1.0]}),
    lambda arm: arm.flat({'shoulder': [1.0], 'elbow': [1.0], 'wrist': [1.0]}),
    lambda arm: arm.flat({'shoulder': [1.0, 2.0, 3.0], 'elbow': [1.0]}),
    lambda arm: arm.flat({'shoulder': 'far', 'elbow': [1.0]}),
    lambda arm: arm.jacobian(Q, 'tool', 'nowhere'),
    lambda arm: arm.jacobian(Q, 'tool', 1),
    lambda arm: arm.forward_dynamics_with_locked_joints(Q, QD, QDD, ['wrist']),
])
def test_what_does_not_fit_is_refused(call, arm):
    with pytest.raises(ArgumentError):
        call(arm)


def test_a_number_stands_for_a_joint_of_one(arm):
    assert arm.flat({'elbow': 2.0, 'shoulder': 1.0}).tolist() == [1.0, 2.0]


def test_integrating_what_is_not_finite_stays_not_finite():
    drone = Robot.from_urdf(STONE, floating_base=True)
    assert not np.isfinite(drone.integrate(drone.neutral(), [np.inf] * 6)).all()


def test_a_joint_that_is_not_known_or_missing_is_named(arm):
    with pytest.raises(ArgumentError, match="'elbow' is missing or unknown.*shoulder, elbow"):
        arm.flat({'shoulder': 1.0})


def test_the_neutral_position_has_unit_quaternions():
    rover = Robot.from_urdf(ROVER, floating_base=True)
    assert rover.neutral().tolist() == [0.0] * 6 + [1.0] + [0.0] * 4


# ---- a robot without joints -------------------------------------------------------------------

STONE = robot(link('rock'), name='stone')
NOTHING = {
    'inverse_dynamics': (0,), 'gravity': (0,),
    'mass_matrix': (0, 0), 'coriolis_matrix': (0, 0), 'forward_dynamics': (0,),
    'jacobian': (6, 0), 'link_rotation': (3, 3), 'regressor': (0, 0), 'momentum': (6,),
    'kinetic_energy': (), 'potential_energy': (), 'center_of_mass': (3,),
}


@pytest.mark.parametrize('name', NOTHING)
def test_a_robot_without_joints_has_shapes_too(name):
    stone = Robot.from_urdf(STONE)
    assert np.shape(CALLS[name](stone, [], [], [])) == NOTHING[name]
    assert np.shape(CALLS[name](stone, *np.zeros((3, 4, 0)))) == (4, *NOTHING[name])
