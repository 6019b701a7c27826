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
"""Recordings from bags of both formats, written by rosbags."""

import re
import sys

import numpy as np
import pytest
from ros2_rnea.errors import RecordingError
from ros2_rnea.offline.identification.bag_recording import read_bag

rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
from rosbags.typesys import get_typestore, Stores  # noqa: E402

STATE = 'sensor_msgs/msg/JointState'
START = 1000.0  # of all stamps; messages are received at 0 and later


@pytest.fixture(scope='module')
def store():
    return get_typestore(Stores.ROS2_JAZZY)


@pytest.fixture(params=['sqlite3', 'mcap'])
def make_bag(request, store, tmp_path):
    """Return a function that writes a bag with messages, each a topic, a type and its fields."""
    plugin = {'sqlite3': rosbag2.StoragePlugin.SQLITE3, 'mcap': rosbag2.StoragePlugin.MCAP}

    def make(messages):
        path = tmp_path / 'bag'
        with rosbag2.Writer(path, version=9, storage_plugin=plugin[request.param]) as bag:
            connections = {}
            for received, topic, kind, message in messages:
                if topic not in connections:
                    connections[topic] = bag.add_connection(topic, kind, typestore=store)
                bag.write(connections[topic], round(1e9 * received),
                          store.serialize_cdr(message, kind))
        return path
    return make


@pytest.fixture(scope='module')
def types(store):
    return store.types


@pytest.fixture(scope='module')
def header(types):
    def make(time, frame=''):
        sec, nanosec = divmod(round(1e9 * time), 1_000_000_000)
        return types['std_msgs/msg/Header'](
            types['builtin_interfaces/msg/Time'](sec, nanosec), frame)
    return make


@pytest.fixture(scope='module')
def state(types, header):
    def make(received, names, position, velocity=(), effort=(), topic='/joint_states', stamp=None):
        stamp = START + received if stamp is None else stamp
        return received, topic, STATE, types[STATE](
            header(stamp), list(names),
            *(np.array(values, dtype=float) for values in (position, velocity, effort)))
    return make


def test_joint_states_are_read_by_name_at_their_stamps(make_bag, state):
    messages = [state(0.01 * k, 'ab', [k, -k], [2 * k, 3], [4 * k, 5]) for k in range(10)]
    messages[4] = state(0.04, 'ba', [-4, 4], [3, 8], [5, 16])  # in another order
    messages[5] = state(0.05, 'ab', [5, -5])  # without velocities and efforts
    recording = read_bag(make_bag(messages))
    k = np.arange(10.0)
    assert recording.joints == ('a', 'b')
    np.testing.assert_allclose(recording.times, START + 0.01 * k, rtol=0.0, atol=1e-6)
    np.testing.assert_array_equal(recording.positions, np.column_stack([k, -k]))
    gap = np.where(k == 5, np.nan, 1.0)
    np.testing.assert_array_equal(
        recording.velocities, np.column_stack([2 * k * gap, 3 * gap]))
    np.testing.assert_array_equal(recording.efforts, np.column_stack([4 * k * gap, 5 * gap]))
    assert recording.remarks == ()


def test_a_file_in_the_bag_stands_for_the_bag(make_bag, state):
    folder = make_bag([state(0.1 * k, 'a', [k], [], [k]) for k in range(3)])
    data, = (path for path in folder.iterdir() if path.suffix in ('.db3', '.mcap'))
    recording = read_bag(data)
    assert recording.positions.shape == (3, 1)
    assert recording.velocities is None


def test_a_part_is_counted_from_the_begin_of_the_bag(make_bag, state):
    gripper = [state(1.0 * k, ['grip'], [k], [], [k]) for k in range(40)]
    arm = [state(30.0 + 0.1 * k, ['a'], [k], [], [k]) for k in range(100)]
    recording = read_bag(make_bag(gripper + arm))
    assert recording.begin == pytest.approx(30.0)
    assert recording.positions[0, recording.joints.index('a')] == 0.0
    part = recording.between(32.0, 34.0)
    np.testing.assert_allclose(part.positions[:, part.joints.index('a')], np.arange(20, 40))


def test_a_part_is_counted_in_a_bag_whose_clock_began_late(make_bag, state):
    """Without a stamp, the time is that of the reception: 30 s here, and 1030 s after it."""
    path = make_bag([state(30.0 + 0.1 * k, 'a', [k], [], [k], stamp=None if k else 0.0)
                     for k in range(100)] + [state(0.0, 'b', [0], [], [0])])
    part = read_bag(path).between(32.0, 34.0)
    np.testing.assert_allclose(part.positions[:, part.joints.index('a')], np.arange(20, 40))
    assert part.begin == pytest.approx(32.0)


def test_a_bag_that_is_damaged_is_named_by_its_file(make_bag, state):
    path = make_bag([state(0.01 * k, 'abc', [k] * 3, [], [k] * 3) for k in range(20_000)])
    data, = (file for file in path.iterdir() if file.suffix in ('.db3', '.mcap'))
    whole = data.read_bytes()
    with data.open('r+b') as file:
        file.seek(len(whole) // 2)
        file.write(b'\xee' * 20_000)
    with pytest.raises(RecordingError, match=f'{data} cannot be read as a bag: .'):
        read_bag(path)
    data.write_bytes(whole[len(whole) // 2:])
    with pytest.raises(RecordingError, match=f'{data} cannot be read as a bag: .'):
        read_bag(path)


def test_a_message_that_is_cut_off_is_named(make_bag, state, store, monkeypatch):
    whole = store.serialize_cdr
    monkeypatch.setattr(store, 'serialize_cdr', lambda message, kind: (
        whole(message, kind)[:40 if message.position[0] == 7 else None]))
    path = make_bag([state(0.1 * k, 'a', [k], [], [k]) for k in range(10)])
    with pytest.raises(RecordingError, match=f'{path}/bag.* cannot be read as a bag: .'):
        read_bag(path)


def test_wrong_metadata_of_the_begin_hide_no_message(make_bag, state):
    path = make_bag([state(100.0 + 0.1 * k, 'a', [k], [], [k]) for k in range(10)])
    metadata = path / 'metadata.yaml'
    text, count = re.subn(r'(nanoseconds_since_epoch: )\d+', r'\g<1>100500000000',
                          metadata.read_text(encoding='utf-8'))
    assert count
    metadata.write_text(text, encoding='utf-8')
    assert len(read_bag(path).times) == 10


def test_several_publishers_are_merged_and_their_gaps_stay(make_bag, state):
    fast = [state(0.01 * k, 'ab', [k, -k], [], [k, k], '/arm/joint_states') for k in range(100)]
    slow = [state(0.02 * k + 0.005, 'c', [2 * k + 0.5], [], [7.0], '/hand/joint_states')
            for k in range(45) if not 20 <= k < 30]
    path = make_bag(sorted(fast + slow, key=lambda message: message[0]))
    recording = read_bag(path)
    assert recording.joints == ('a', 'b', 'c')
    k = np.arange(100.0)
    known = (k >= 1) & ((k <= 38) | (k >= 61)) & (k <= 88)
    np.testing.assert_allclose(recording.positions[known, 2], k[known], rtol=0.0, atol=1e-5)
    assert np.isnan(recording.positions[~known, 2]).all()
    assert any('2 publishers are merged' in remark for remark in recording.remarks)
    one = read_bag(path, ['/hand/joint_states'])
    assert one.joints == ('c',)
    assert len(one.times) == 35


def test_the_same_joint_on_two_topics_is_refused(make_bag, state):
    path = make_bag([state(0.1 * k, 'ab', [k, k], [], [k, k], topic)
                     for k in range(3) for topic in ('/joint_states', '/raw')])
    with pytest.raises(RecordingError, match="joint 'a' in several streams"):
        read_bag(path)
    assert read_bag(path, ['/raw']).joints == ('a', 'b')


def test_without_stamps_the_times_of_reception_are_used(make_bag, state):
    path = make_bag([state(0.1 * k, 'a', [k], [], [k], stamp=0.0) for k in range(5)])
    recording = read_bag(path)
    np.testing.assert_allclose(recording.times, 0.1 * np.arange(5), rtol=0.0, atol=1e-9)
    assert 'on /joint_states have no stamp' in recording.remarks[0]


def test_the_times_of_reception_can_be_asked_for(make_bag, state):
    path = make_bag([state(0.1 * k, 'a', [k], [], [k]) for k in range(5)])
    recording = read_bag(path, received=True)
    assert recording.remarks == ()
    np.testing.assert_allclose(recording.times, 0.1 * np.arange(5), rtol=0.0, atol=1e-9)


def test_what_does_not_fit_is_named(make_bag, state):
    path = make_bag([state(0.0, 'ab', [0, 0]), state(0.1, 'ab', [1])])
    with pytest.raises(
            RecordingError,
            match=r'message 1 of .*bag, on /joint_states at 1000.100 s, has 1 positions for 2'):
        read_bag(path)
    with pytest.raises(RecordingError, match='no sensor_msgs/msg/JointState on /joint_state; did'):
        read_bag(path, ['/joint_state'])


def test_a_joint_that_a_message_names_twice_is_named(make_bag, state):
    with pytest.raises(RecordingError, match="message 0 .* has joint 'a' twice"):
        read_bag(make_bag([state(0.0, 'aa', [0, 0])]))


def test_what_is_no_bag_is_named(tmp_path, monkeypatch):
    with pytest.raises(RecordingError, match='has no metadata.yaml.*ros2 bag reindex'):
        read_bag(tmp_path)
    with pytest.raises(RecordingError, match='cannot be read as a bag'):
        read_bag(tmp_path / 'nowhere' / 'a.mcap')
    (tmp_path / 'metadata.yaml').write_text('nothing', encoding='utf-8')
    with pytest.raises(RecordingError, match='cannot be read as a bag'):
        read_bag(tmp_path)
    monkeypatch.setitem(sys.modules, 'rosbags.highlevel', None)
    with pytest.raises(RecordingError, match='pip install rosbags'):
        read_bag(tmp_path)
