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
"""What one parameter may be, and how that is said."""

from array import array

import pytest
from ros2_rnea.control.parameter import declared_in, Group, Level, Specification
from ros2_rnea.control.settings import Mode, Settings
from ros2_rnea.errors import ArgumentError

SPECIFICATIONS = [each for each in declared_in(Settings) if isinstance(each, Specification)]
BY_NAME = {each.name: each for each in SPECIFICATIONS}


def parameter(name, default, description, *bounds, **more):
    return Specification(name, default, description, Group.TIME, Level.ARM, *bounds, **more)


FACTOR = parameter('factor', 0.5, 'A factor.', 0.0, 2.0)
DEPTH = parameter('depth', 1, 'A depth.', 1, 10)
MODE = parameter('mode', Mode.FEEDFORWARD, 'A mode.')
NAMES = parameter('joints', (), 'Names.')
GAINS = parameter('gains', (), 'Gains.', items=float)
GRAVITY = parameter('gravity', (0.0, 0.0, -9.81), 'Gravity.', size=3, items=float)
KIND = parameter('kind', 'plain', 'A kind.', choices=('plain', 'fancy'), read_only=True)


@pytest.mark.parametrize('specification, value, expected', [
    (FACTOR, 2, 2.0), (FACTOR, 0.0, 0.0), (FACTOR, None, 0.5),
    (DEPTH, 10, 10), (MODE, 'gravity_compensation', Mode.GRAVITY_COMPENSATION),
    (NAMES, ['a', 'b'], ('a', 'b')), (NAMES, [], ()),
    (GAINS, array('d', [1.0, 2.0]), (1.0, 2.0)), (GRAVITY, [0, 0, -9], (0.0, 0.0, -9.0)),
    (KIND, 'fancy', 'fancy'), (parameter('on', True, 'A switch.'), False, False)])
def test_what_fits_comes_back_in_the_type_of_the_default(specification, value, expected):
    checked = specification.check(value)
    assert checked == expected
    assert type(checked) is type(expected)


@pytest.mark.parametrize('specification, value, said', [
    (FACTOR, 2.5, 'factor is 2.5; it needs a number from 0 to 2'),
    (FACTOR, -0.5, 'factor is -0.5; it needs a number from 0 to 2'),
    (FACTOR, True, 'factor is True; it needs a number from 0 to 2'),
    (FACTOR, float('nan'), 'factor is nan'),
    (FACTOR, array('d', [1.0]), r'factor is \[1.0\]; it needs a number'),
    (DEPTH, 0, 'depth is 0; it needs a whole number from 1 to 10'),
    (DEPTH, 2.0, 'depth is 2.0; it needs a whole number'),
    (DEPTH, False, 'depth is False'),
    (MODE, 'fast', "mode is 'fast'; it needs feedforward or gravity_compensation or"),
    (MODE, array('d', [2.0]), r'mode is \[2.0\]'),
    (NAMES, 'elbow', "joints is 'elbow'; it needs a list of names"),
    (NAMES, ['elbow', 1], r"joints is \['elbow', 1\]; it needs a list of names"),
    (NAMES, 3, 'joints is 3; it needs a list of names'),
    (GRAVITY, '[0, 0, 9.81]',  # as ros2 param set sends it
     'it needs 3 finite numbers. In a list, write all numbers with a point: 0.0 for 0$'),
    (BY_NAME['gravity'], '[0, 0, 9.81]', r"gravity is '\[0, 0, 9.81\]'; .* write .* 0.0 for 0$"),
    (NAMES, '[elbow, 1]', r"joints is '\[elbow, 1\]'; it needs a list of names$"),
    (GAINS, ['high'], r"gains is \['high'\]; it needs a list of numbers"),
    (GAINS, b'12', 'it needs a list of numbers'),
    (GAINS, [True], r'gains is \[True\]; it needs a list of numbers'),
    (GRAVITY, array('d', [0.0, 9.8]), r'gravity is \[0.0, 9.8\]; it needs 3 finite numbers'),
    (GRAVITY, [0.0, 0.0, float('inf')], 'it needs 3 finite numbers'),
    (KIND, 'odd', "kind is 'odd'; it needs plain or fancy"),
    (KIND, 1, 'kind is 1; it needs plain or fancy'),
    (parameter('on', True, 'A switch.'), 1, 'on is 1; it needs true or false'),
    (parameter('text', '', 'A text.'), 1, 'text is 1; it needs a text')])
def test_what_does_not_fit_is_refused_with_what_would(specification, value, said):
    with pytest.raises(ArgumentError, match=said):
        specification.check(value)


@pytest.mark.parametrize('specification', SPECIFICATIONS, ids=lambda each: each.name)
def test_a_default_fits_itself_and_is_what_ros_can_store(specification):
    initial = specification.initial
    assert isinstance(initial, (bool, int, float, str, list))
    assert specification.check(initial) == specification.default
    assert (specification.minimum is None) is (specification.maximum is None)


def test_shares_end_at_one():
    shares = [each for each in SPECIFICATIONS if '0 to 1.' in each.description]
    assert len(shares) >= 2
    for share in (*shares, BY_NAME['wrench_gain']):
        assert (share.minimum, share.maximum) == (0.0, 1.0), share.name
