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
"""What leaves the dynamics undefined, one fault at a time on a robot that is otherwise sound."""

from math import inf, nan

import pytest
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.checks import _find_loop, check_description, description_errors
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)

FIXED, REVOLUTE, CONTINUOUS = JointType.FIXED, JointType.REVOLUTE, JointType.CONTINUOUS
PRISMATIC, PLANAR, FLOATING = JointType.PRISMATIC, JointType.PLANAR, JointType.FLOATING
LENGTH_OF_A_LONG_CHAIN = 10_000


def joint(name, parent, child, joint_type=REVOLUTE, **values):
    return JointDescription(name, joint_type, parent, child, **values)


def robot(links, *joints):
    """Return a robot; its links are the words of a text."""
    return RobotDescription('r', tuple(LinkDescription(name) for name in links.split()), joints)


def one_joint(joint_type=REVOLUTE, **values):
    return robot('base tip', joint('hinge', 'base', 'tip', joint_type, **values))


def one_link(**values):
    inertial = Inertial(**{'mass': 1.0, **values})
    return RobotDescription('r', (LinkDescription('base', inertial),), ())


def message_of(description):
    with pytest.raises(DescriptionError) as error:
        check_description(description)
    return str(error.value)


@pytest.mark.parametrize('description', [
    robot('base'),
    one_link(mass=0.0),
    one_link(mass=0.0, inertia=(-1.0, 0.0, 0.0, 1.0, 0.0, 1.0)),
    one_link(inertia=(-1.0, 0.0, 0.0, 1.0, 0.0, 1.0)),
    one_joint(),
    one_joint(axis=(0.0, -3.0, 4.0)),
    one_joint(FIXED, axis=(0.0, 0.0, 0.0)),
    one_joint(FLOATING, axis=(0.0, 0.0, 0.0)),
    one_joint(limits=JointLimits(0.0, 0.0, 0.0, 0.0)),
    one_joint(limits=JointLimits(-inf, inf, inf, inf)),
    one_joint(limits=JointLimits(2.0, 1.0, -1.0, -1.0)),
    one_joint(CONTINUOUS, limits=JointLimits(lower=1.0, upper=-1.0)),
    robot('c b a', joint('bc', 'b', 'c'), joint('ab', 'a', 'b')),
])
def test_a_defined_robot_passes(description):
    check_description(description)


# ---- Names ----------------------------------------------------------------------------------


@pytest.mark.parametrize('description, message', [
    (robot(''), "robot 'r' has no links; one is needed"),
    (robot('base base'), "2 links have the name 'base'"),
    (robot('a b c', joint('j', 'a', 'b'), joint('j', 'a', 'c')), "2 joints have the name 'j'"),
    (robot('a b', joint('', 'a', 'b')), 'a joint has an empty name'),
    (robot('upper_arm fore', joint('elbow', 'uper_arm', 'fore')),
     "joint 'elbow' names the parent link 'uper_arm', which does not exist; "
     "did you mean 'upper_arm'?"),
    (robot('base', joint('j', 'base', 'nothing_like_it')),
     "joint 'j' names the child link 'nothing_like_it', which does not exist"),
])
def test_a_name_that_is_missing_repeated_or_unknown_is_refused(description, message):
    assert message in message_of(description)


def test_no_name_is_proposed_where_none_is_close():
    assert 'did you mean' not in message_of(robot('base', joint('j', 'base', 'xxxxx')))


# ---- Numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize('bad', [nan, inf, -inf])
@pytest.mark.parametrize('where, description', [
    ("link 'base' has the mass", lambda x: one_link(mass=x)),
    ("link 'base' has the inertia 1.0 1.0",
     lambda x: one_link(inertia=(1.0, 1.0, x, 1.0, 1.0, 1.0))),
    ("link 'base' <inertial> has the origin xyz 0.0",
     lambda x: one_link(origin=Pose(xyz=(0.0, x, 0.0)))),
    ("link 'base' <inertial> has the origin rpy 0.0",
     lambda x: one_link(origin=Pose(rpy=(0.0, x, 0.0)))),
    ("joint 'hinge' has the origin xyz", lambda x: one_joint(origin=Pose(xyz=(x, 0.0, 0.0)))),
    ("joint 'hinge' has the origin rpy", lambda x: one_joint(origin=Pose(rpy=(x, 0.0, 0.0)))),
    ("joint 'hinge' has the axis", lambda x: one_joint(axis=(x, 0.0, 1.0))),
    ("joint 'hinge' has the axis", lambda x: one_joint(FIXED, axis=(x, 0.0, 1.0))),
    ("joint 'hinge' has the damping", lambda x: one_joint(damping=x)),
    ("joint 'hinge' has the friction", lambda x: one_joint(friction=x)),
    ("joint 'hinge' has the mimic multiplier",
     lambda x: one_joint(mimic=Mimic('other', multiplier=x))),
    ("joint 'hinge' has the mimic offset", lambda x: one_joint(mimic=Mimic('other', offset=x))),
])
def test_a_number_that_is_not_finite_is_refused(where, description, bad):
    message = message_of(description(bad))
    assert f'{where} {bad}' in message
    assert message.endswith('it must be finite')


@pytest.mark.parametrize('bad', [-1.0, -1e-300])
@pytest.mark.parametrize('where, description', [
    ("link 'base' has the mass", lambda x: one_link(mass=x)),
    ("joint 'hinge' has the damping", lambda x: one_joint(damping=x)),
    ("joint 'hinge' has the friction", lambda x: one_joint(friction=x)),
])
def test_a_number_that_must_not_be_negative_is_refused(where, description, bad):
    assert f'{where} {bad}; it must be zero or more' in message_of(description(bad))


@pytest.mark.parametrize('what', ['lower', 'upper', 'velocity', 'effort'])
@pytest.mark.parametrize('joint_type', [REVOLUTE, PRISMATIC])
def test_a_limit_that_is_no_number_is_refused(joint_type, what):
    description = one_joint(joint_type, limits=JointLimits(**{what: nan}))
    assert message_of(description) == (
        f"joint 'hinge' has the {what} limit nan; it must be a number")


def test_all_errors_are_named_and_the_first_is_raised():
    description = robot(
        'a b c', joint('j', 'a', 'x', damping=-1.0), joint('j', 'a', 'b', axis=(0.0, 0.0, 0.0)),
        joint('k', 'y', 'c', mimic=Mimic('l')))
    errors = list(description_errors(description))
    assert len(errors) == 6
    for error, words in zip(errors, [
            "2 joints have the name 'j'", 'damping -1.0', 'gives no direction', "child link 'x'",
            "parent link 'y'", "mimics the joint 'l'"]):
        assert words in error
    assert message_of(description) == errors[0]


@pytest.mark.parametrize('axis', [
    (0.0, 0.0, 0.0), (0.0, -0.0, 0.0), (1e-200, 0.0, 0.0), (0.0, 1e200, 0.0)])
@pytest.mark.parametrize('joint_type', [REVOLUTE, CONTINUOUS, PRISMATIC, PLANAR])
def test_an_axis_without_direction_is_refused(joint_type, axis):
    message = message_of(one_joint(joint_type, axis=axis))
    given = ' '.join(map(str, axis))
    assert f"joint 'hinge' is {joint_type.label}, but its axis {given} gives no dir" in message


# ---- One tree -------------------------------------------------------------------------------


def test_a_link_with_two_parents_is_refused():
    twice = robot('a b c', joint('ac', 'a', 'c'), joint('ab', 'a', 'b'), joint('bc', 'b', 'c'))
    assert message_of(twice) == (
        "link 'c' is the child of two joints, 'ac' (parent 'a') and 'bc' (parent 'b'); "
        'a link has one parent')


def test_several_roots_are_named():
    assert message_of(robot('a b c', joint('ab', 'a', 'b'))) == (
        "2 links are the child of no joint: 'a', 'c'; only one may be, the root: "
        'join the others to it')


def test_of_very_many_roots_some_are_named():
    message = message_of(robot(' '.join(f'link{i}' for i in range(1000))))
    assert "'link0', 'link1'" in message
    assert "(988 more), 'link994'" in message
    assert "'link500'" not in message


@pytest.mark.parametrize('description, loop, joints', [
    (robot('a', joint('aa', 'a', 'a')), "'a' -> 'a'", "'aa'"),
    (robot('a b', joint('ab', 'a', 'b'), joint('ba', 'b', 'a')),
     "'a' -> 'b' -> 'a'", "'ab', 'ba'"),
    (robot('d a b c',  # d hangs on the loop and is no part of it
           joint('cd', 'c', 'd'), joint('ab', 'a', 'b'), joint('bc', 'b', 'c'),
           joint('ca', 'c', 'a')),
     "'c' -> 'a' -> 'b' -> 'c'", "'ca', 'ab', 'bc'"),
    (robot('root a b',  # beside a sound root
           joint('ab', 'a', 'b'), joint('ba', 'b', 'a')),
     "'a' -> 'b' -> 'a'", "'ab', 'ba'"),
])
def test_a_loop_is_named_from_parent_to_child(description, loop, joints):
    message = message_of(description)
    assert f'the links {loop} form a loop, through the joints {joints};' in message


def long_chain(*more):
    count = LENGTH_OF_A_LONG_CHAIN
    links = ' '.join(f'l{i}' for i in reversed(range(count)))
    return robot(links, *(joint(f'j{i}', f'l{i}', f'l{i + 1}') for i in range(count - 1)), *more)


def test_depth_does_not_matter():
    check_description(long_chain())


def test_the_search_for_loops_visits_every_name_once():
    class CountingDict(dict):
        visits = 0

        def __getitem__(self, name):
            self.visits += 1
            return super().__getitem__(name)

    chain = CountingDict({f'l{i}': f'l{i + 1}' for i in reversed(range(100))})
    assert _find_loop(chain) == []
    assert chain.visits == 100


def test_a_long_loop_is_named_shortly():
    message = message_of(long_chain(joint('back', f'l{LENGTH_OF_A_LONG_CHAIN - 1}', 'l0')))
    assert 'form a loop' in message
    assert len(message) < 500


# ---- Mimics ---------------------------------------------------------------------------------


def fingers(*mimics, types=(REVOLUTE, REVOLUTE, REVOLUTE)):
    """Return three joints a, b, c on one palm, which mimic the joints that are given, or None."""
    return robot('palm la lb lc', *(
        joint(name, 'palm', f'l{name}', joint_type, mimic=leader and Mimic(leader))
        for name, leader, joint_type in zip('abc', mimics, types)))


@pytest.mark.parametrize('description', [
    fingers(None, 'a', 'a'),
    fingers('b', 'c', None),
    fingers(None, 'a', None, types=(PRISMATIC, CONTINUOUS, FIXED)),
    fingers('nothing', 'c', None, types=(FIXED, REVOLUTE, REVOLUTE)),
    robot('base tip end', joint('hinge', 'base', 'tip'),
          joint('held', 'tip', 'end', mimic=Mimic('hinge', multiplier=0.0, offset=0.5))),
])
def test_a_mimic_that_can_be_followed_passes(description):
    check_description(description)


@pytest.mark.parametrize('description, message', [
    (fingers(None, 'aa', None), "joint 'b' mimics the joint 'aa', which does not exist"),
    (fingers(None, None, 'a', types=(FIXED, REVOLUTE, REVOLUTE)),
     "joint 'c' mimics the joint 'a', but 'a' is fixed; both must have one degree of freedom"),
    (fingers(None, None, 'a', types=(FLOATING, REVOLUTE, REVOLUTE)), "but 'a' is floating"),
    (fingers(None, None, 'a', types=(PLANAR, REVOLUTE, REVOLUTE)), "but 'a' is planar"),
    (fingers(None, None, 'a', types=(REVOLUTE, REVOLUTE, PLANAR)), "but 'c' is planar"),
    (fingers(None, None, 'a', types=(REVOLUTE, REVOLUTE, FLOATING)), "but 'c' is floating"),
    (fingers('a', None, None), "the joints 'a' -> 'a' mimic each other in a ring"),
    (fingers('b', 'c', 'a'), "the joints 'a' -> 'b' -> 'c' -> 'a' mimic each other in a ring"),
    (fingers('b', 'c', 'b'), "the joints 'b' -> 'c' -> 'b' mimic each other in a ring"),
])
def test_a_mimic_that_cannot_be_followed_is_refused(description, message):
    assert message in message_of(description)


def test_the_joint_that_a_mimic_may_have_meant_is_proposed():
    description = robot(
        'base tip end', joint('finger_1', 'base', 'tip'),
        joint('finger_2', 'tip', 'end', mimic=Mimic('finger1')))
    assert message_of(description).endswith("did you mean 'finger_1'?")
