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
"""Loops from YAML: what is read, and that all else is refused with its loop, key and line."""

from __future__ import annotations

import sys

from four_bar import FourBar, GRAVITY_ALONG_MINUS_Y
import pytest
from ros2_rnea import ClosedChain, DescriptionError, Loop, RneaError, Robot
from ros2_rnea.model.description import JointType, Pose
from ros2_rnea.model.loops import LoopsDescription, parse_loops

PIN = """\
loops:
  - name: pin
    type: revolute
    link1: coupler
    link2: rocker
    origin1: {xyz: [0.8, 0, 0]}
    origin2:
      xyz: [6e-1, 0, 0]
      rpy: [0, 0., -.5]
    axis: [0, 0, 1]
"""
ACTUATED = 'actuated: [drive]\n'


def closed(text: str) -> ClosedChain:
    return ClosedChain.from_yaml(Robot.from_urdf(FourBar().tree().urdf()), text)


# ---- what is read -----------------------------------------------------------------------------


def test_everything_that_a_file_can_say_is_read():
    assert parse_loops(PIN + ACTUATED + 'tolerance: 1e-4\n') == LoopsDescription(
        (Loop('pin', 'coupler', 'rocker', JointType.REVOLUTE, Pose((0.8, 0.0, 0.0)),
              Pose((0.6, 0.0, 0.0), (0.0, 0.0, -0.5)), (0.0, 0.0, 1.0)),),
        actuated=('drive',), tolerance=1e-4)


def test_what_is_left_out_is_as_in_code():
    text = 'loops: [{name: weld, type: fixed, link1: a, link2: b}]'
    assert parse_loops(text) == LoopsDescription((Loop('weld', 'a', 'b'),))
    assert parse_loops('{loops: []}') == LoopsDescription(())


@pytest.mark.parametrize('name', ['on', 'null', '010', '1e3', '1:30', '~'])
def test_a_name_is_the_text_that_stands_there(name: str):
    loop, = parse_loops(f'loops: [{{name: a, type: fixed, link1: {name}, link2: b}}]').loops
    assert loop.link1 == name


@pytest.mark.parametrize('kind', [
    JointType.FIXED, JointType.REVOLUTE, JointType.CONTINUOUS, JointType.PRISMATIC,
    JointType.CYLINDRICAL, JointType.PLANAR, JointType.SPHERICAL], ids=lambda kind: kind.label)
def test_every_joint_that_can_close_a_loop_can_be_read(kind: JointType):
    text = PIN.replace('revolute', kind.label)
    assert parse_loops(text).loops[0].type is kind
    assert closed(text).loops[0].type is kind


def test_a_four_bar_from_yaml_has_its_known_effort():
    chain, motion = closed(PIN + ACTUATED), FourBar().motion(0.7, -3.0, 0.5)
    needs = chain.inverse_dynamics(*motion.of_the_joints(), gravity=GRAVITY_ALONG_MINUS_Y)
    assert needs.efforts == pytest.approx([FourBar().crank_effort(motion)], rel=1e-11)


def test_tolerance_and_actuated_joints_reach_the_chain():
    q = FourBar().motion(1.0, 0.0, 0.0).of_the_joints()[0] + [0.0, 0.0, 0.01]
    closed(PIN + 'tolerance: 0.1').check_consistent(q)
    with pytest.raises(RneaError, match='at most 1e-06 would do'):
        closed(PIN).check_consistent(q)
    assert closed(PIN).actuated == ('drive', 'knee', 'pivot')


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize('old, new, said', [
    ('axis:', 'axs:', r"loop 'pin' has the unknown key 'axs' \(line 10\); did you mean 'axis'\?"),
    ('axis:', 'colour:', "loop 'pin' has the unknown key 'colour'.*keys are name, type, link1"),
    ('xyz: [0.8', 'xzy: [0.8', "'pin' key 'origin1' has the unknown key 'xzy'.*mean 'xyz'"),
    ('loops:', 'loop:', "description of loops has the unknown key 'loop'.*mean 'loops'"),
    ('    axis', '    link1: crank\n    axis', r"'pin' has the key 'link1' twice \(line 10\)"),
    ('name: pin\n    ', '', "loop number 1 has no key 'name'"),
    ('name: pin', 'name:', "loop number 1 key 'name' is nothing"),
    ('    link2: rocker\n', '', r"'pin' has no key 'link2' \(line 2\); one is needed"),
    ('    type: revolute\n', '', "'pin' has no key 'type'"),
    ('revolute', 'rigid', "'pin' key 'type' is rigid .*one of fixed, revolute, .*rigidly"),
    ('revolute', 'helical', "'pin' key 'type' is helical"),
    ('revolute', 'floating', "'pin' key 'type' is floating"),
    ('revolute', '[revolute]', r"'pin' key 'type' is \[revolute\]"),
    ('coupler', '{a: b}', "'pin' key 'link1' is {a: b} .*a name of 1 to 200 characters"),
    ('[0.8, 0, 0]', '[0.8, 0]', r"'pin' key 'origin1 xyz' is \[0.8, 0\] \(line 6\); three finite"),
    ('[0.8, 0, 0]', '[0.8, 0, 0, 0]', "'pin' key 'origin1 xyz' is .*three finite"),
    ('[0.8, 0, 0]', '0.8', "'pin' key 'origin1 xyz' is 0.8 .*three finite"),
    ('[0.8, 0, 0]', '', "'pin' key 'origin1 xyz' is nothing"),
    ('{xyz: [0.8, 0, 0]}', '[0.8, 0, 0]', "'origin1' is .*mapping with the keys xyz, rpy"),
    ('-.5', 'much', "'pin' key 'origin2 rpy' is .*much"),
    ('-.5', 'nan', "'pin' key 'origin2 rpy' is .*finite"),
    ('-.5', '.inf', "'pin' key 'origin2 rpy' is .*finite"),
    ('-.5', '1_0', "'pin' key 'origin2 rpy' is .*1_0"),
    ('-.5', '!degrees 90', "'pin' key 'origin2 rpy' is .*!degrees 90"),
    ('-.5', '[1]', r"'pin' key 'origin2 rpy' is .*\[1\]"),
    ('axis: [0, 0, 1]', 'axis: [0, 0, 0]', "loop 'pin'.*axis 0.0 0.0 0.0 gives no direction"),
    ('coupler', 'cupler', "loop 'pin' has the link1 'cupler'.*did you mean 'coupler'"),
    ('rocker', 'roker', "loop 'pin' has the link2 'roker'.*did you mean 'rocker'"),
])
def test_a_loop_that_is_wrong_is_refused_with_its_key(old: str, new: str, said: str):
    assert old in PIN
    with pytest.raises(RneaError, match=said):
        closed(PIN.replace(old, new, 1))


@pytest.mark.parametrize('text, said', [
    ('', 'the description of loops is empty'),
    ('# nothing\n', 'is empty'),
    ('- a', 'description of loops is - a .*mapping with the keys loops, actuated, tolerance'),
    ('loops: pin', "key 'loops' is pin .*a list is needed"),
    ('loops: {pin: {}}', 'a list is needed'),
    ('loops: [pin]', 'loop number 1 is pin .*mapping with the keys name'),
    ('actuated: []', "description of loops has no key 'loops'"),
    ('? [a]\n: b', "has the unknown key ''"),
    ('loops: [', 'the description of loops is not YAML: .*line 1'),
    ('a: 1\n--- \nb: 2', 'is not YAML: .*single document'),
    ('a: \x00', 'is not YAML'),
    (PIN + PIN[7:], "two loops are called 'pin'"),
    (PIN + 'actuated: drive', r"key 'actuated' is drive \(line 11\); a list"),
    (PIN + 'actuated: [[]]', r"key 'actuated' is \[\]"),
    (PIN + 'actuated: [drives]', "actuated names 'drives'.*did you mean 'drive'"),
    (PIN + 'tolerance: small', "key 'tolerance' is small .*finite decimal number"),
    (PIN + 'tolerance: 2', 'tolerance is 2.0; it needs to be between 0 and 1'),
    (PIN + ACTUATED + ACTUATED, r"has the key 'actuated' twice \(line 12\)"),
])
def test_a_file_that_is_wrong_is_refused(text: str, said: str):
    with pytest.raises(RneaError, match='(?s)' + said):
        closed(text)


def test_a_file_that_is_nested_beyond_reason_is_refused():
    with pytest.raises(DescriptionError, match='nested too deeply'):
        parse_loops('[' * 5000 + ']' * 5000)


def test_bytes_are_refused():
    with pytest.raises(DescriptionError, match=r'must be text \(str\), not bytes'):
        parse_loops(PIN.encode())  # type: ignore[arg-type]


def test_a_long_value_is_shown_in_part():
    with pytest.raises(DescriptionError) as raised:
        parse_loops(PIN.replace('[0, 0, 1]', str([0] * 1000)))
    assert len(str(raised.value)) < 250


def test_an_alias_of_itself_ends():
    with pytest.raises(DescriptionError, match="'origin1 xyz' is"):
        parse_loops(PIN.replace('{xyz: [0.8, 0, 0]}', '&a {xyz: *a}'))


def test_without_pyyaml_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, 'yaml', None)
    with pytest.raises(DescriptionError, match='PyYAML .*python3-yaml.*pip install pyyaml'):
        parse_loops(PIN)
