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
"""The last command, as the next process reads it: whole, or not at all."""

import os

import numpy as np
import pytest
from ros2_rnea.node.topics import command_record
from ros2_rnea.node.topics.command_record import (
    CommandRecord,
    Endpoint,
    HEADER,
    record_path,
    RecordedCommand,
    SLOTS,
)

JOINTS = ('shoulder', 'elbow')
RECEIVERS = frozenset({Endpoint('/a/controller', '01'), Endpoint('/b', '02')})


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'private' / 'record'


def written(path, *efforts):
    record = CommandRecord(path)
    record.begin(JOINTS, RECEIVERS)
    for effort in efforts:
        record.write(np.array(effort))
    assert record.error == ''
    return record


@pytest.mark.parametrize('count', [1, 2, 3, 8])
def test_last_command_is_read_again(path, count):
    efforts = [(0.1 * i, -0.2 * i) for i in range(1, count + 1)]
    written(path, *efforts)
    assert CommandRecord(path).read() == RecordedCommand(RECEIVERS, dict(zip(JOINTS, efforts[-1])))


def test_processes_that_received_earlier_commands_are_read_too(path):
    record = CommandRecord(path)
    record.begin(JOINTS, RECEIVERS, ['05', '01'])
    record.write(np.array([1.0, 2.0]))
    assert CommandRecord(path).read().earlier == {'05', '01'}


def test_command_written_in_part_is_the_one_before(path):
    written(path, (1.0, 2.0), (3.0, 4.0))
    content = bytearray(path.read_bytes())
    slots = np.frombuffer(content, offset=HEADER).reshape(SLOTS, -1)
    slots[slots[:, 0].argmax(), :2] = 0.0, 99.0
    path.write_bytes(content)
    assert CommandRecord(path).read().efforts == {'shoulder': 1.0, 'elbow': 2.0}


def test_earlier_record_stays_until_a_command_is_written(path):
    written(path, (1.0, 2.0))
    other = CommandRecord(path)
    other.begin(('wrist',), frozenset())
    assert CommandRecord(path).read().efforts == {'shoulder': 1.0, 'elbow': 2.0}
    other.write(np.array([5.0]))
    assert CommandRecord(path).read() == RecordedCommand(frozenset(), {'wrist': 5.0})


@pytest.mark.parametrize('content', [
    b'', b'nonsense', b'[]', b'null', b'{}', b'\xff\xfe',
    b'{"version": 1, "joints": 3, "receivers": []}',
    b'{"version": 1, "joints": ["a", "b"], "receivers": [["one"]]}',
    b'{"version": 0, "joints": ["shoulder", "elbow"], "receivers": []}',
    b'{"version": 1, "joints": ["shoulder"], "receivers": []}',
])
def test_damaged_or_foreign_record_is_none(path, content):
    written(path, (1.0, 2.0))
    numbers = path.read_bytes()[HEADER:]
    for file in (content, content.ljust(HEADER), content.ljust(HEADER) + numbers,
                 content.ljust(HEADER) + numbers[:-3]):
        path.write_bytes(file)
        assert CommandRecord(path).read() == RecordedCommand()


def test_a_record_that_was_read_can_be_discarded(path):
    written(path, (1.0, 2.0))
    record = CommandRecord(path)
    record.read()
    record.discard()
    assert CommandRecord(path).read() == RecordedCommand() and [*path.parent.iterdir()] == []
    record.discard()  # nothing is there any more


def test_a_record_of_a_living_process_is_not_discarded(path):
    living = written(path, (1.0, 2.0))
    record = CommandRecord(path)
    record.read()
    living.write(np.array([3.0, 4.0]))
    record.discard()
    assert CommandRecord(path).read().efforts == {'shoulder': 3.0, 'elbow': 4.0}


def test_record_in_a_folder_of_others_is_not_used(path):
    written(path, (1.0, 2.0))
    os.chmod(path.parent, 0o777)
    assert CommandRecord(path).read() == RecordedCommand()
    record = CommandRecord(path)
    record.begin(JOINTS, RECEIVERS)
    assert 'others may write to it' in record.error
    record.write(np.array([1.0, 2.0]))  # goes on without


def test_folder_is_made_private(path):
    written(path, (1.0, 2.0))
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [*path.parent.iterdir()] == [path]


def test_path_differs_by_node_and_domain_and_is_in_memory():
    paths = [record_path('/a', {'ROS_DOMAIN_ID': '1'}), record_path('/b', {'ROS_DOMAIN_ID': '1'}),
             record_path('/a', {'ROS_DOMAIN_ID': '2'})]
    assert len({*paths}) == 3
    assert {str(each.parent) for each in paths} == {f'/dev/shm/ros2_rnea-{os.geteuid()}'}


def test_previous_record_is_removed_where_none_can_be_written(path, monkeypatch):
    """It would be taken for the last command although others have followed it."""
    written(path, (1.0, 2.0))
    record = CommandRecord(path)
    with monkeypatch.context() as patch:
        patch.setattr(command_record, 'mmap', full_disk)
        record.begin(JOINTS, RECEIVERS)
    assert 'no space' in record.error
    assert CommandRecord(path).read() == RecordedCommand() and [*path.parent.iterdir()] == []

    written(path, (1.0, 2.0))
    record.begin(JOINTS, RECEIVERS)
    for unfinished in {*path.parent.iterdir()} - {path}:
        unfinished.unlink()
    record.write(np.array([3.0, 4.0]))
    assert record.error and CommandRecord(path).read() == RecordedCommand()


def full_disk(*arguments):
    raise OSError(28, 'no space')


@pytest.mark.parametrize('put', [os.mkfifo, lambda path: path.symlink_to('/dev/zero')])
def test_a_record_without_an_end_is_none(path, put):
    """It would keep the node from its start for ever, or fill the memory."""
    path.parent.mkdir(mode=0o700)
    put(path)
    record = CommandRecord(path)
    assert record.read() == RecordedCommand()
    record.discard()
    record.begin(JOINTS, RECEIVERS)
    record.write(np.array([1.0, 2.0]))
    assert CommandRecord(path).read().efforts == dict(zip(JOINTS, (1.0, 2.0)))


@pytest.mark.parametrize('put', [os.mkfifo, lambda path: path.symlink_to('/dev/zero')])
def test_nor_is_one_that_has_become_so(path, put):
    written(path, (1.0, 2.0))
    record = CommandRecord(path)
    assert record.read().efforts
    path.unlink()
    put(path)
    record.discard()
    assert path.exists()  # it is somebody else's
