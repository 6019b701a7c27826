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
"""Trajectories in YAML, CSV and bags: what is read, what is written, what is refused."""

import sys

import numpy as np
import pytest
from ros2_rnea.errors import RneaError
from ros2_rnea.offline.commands.fill_efforts import csv_file, yaml_file
from ros2_rnea.offline.commands.fill_efforts.files import read_trajectory, write_trajectory
from ros2_rnea.offline.filling.effort_filler import FilledPoint
from ros2_rnea.trajectories.trajectory import Waypoint

NAMES = ['shoulder', 'elbow.left']

ECHOED = """\
header:
  stamp:
    sec: 0
    nanosec: 0
  frame_id: ''
joint_names:
- shoulder
- elbow.left
points:
- positions:
  - 0.0
  - -5.0e-01
  velocities: []
  accelerations: []
  effort: []
  time_from_start:
    sec: 0
    nanosec: 0
- positions: [1, 1e-3]
  velocities: [0.0, 0.25]
  effort: [3, 4]
  time_from_start: {sec: 2, nanosec: 500000000}
---
"""

TABLE = """\
time, elbow.left.position, shoulder.position, shoulder.velocity, elbow.left.velocity
0, -0.5, 0.0, ,
2.5, 1e-3, 1, 0.0, 0.25
"""


def as_lists(plan):
    return [[waypoint.time, *(list(values or ()) for values in (
        waypoint.positions, waypoint.velocities, waypoint.accelerations))]
        for waypoint in plan.waypoints]


def written(path, points):
    write_trajectory(path, NAMES, points)
    return read_trajectory(path).plan


def read(tmp_path, text, name):
    path = tmp_path / name
    path.write_text(text, encoding='utf-8')
    return read_trajectory(path)


def test_yaml_is_read_as_ros2_topic_echo_prints_it(tmp_path):
    plan, start, remarks = read(tmp_path, ECHOED, 'swing.yaml')
    assert plan.joint_names == NAMES
    assert as_lists(plan) == [
        [0.0, [0.0, -0.5], [], []], [2.5, [1.0, 0.001], [0.0, 0.25], []]]
    assert plan.efforts == [(), (3.0, 4.0)]
    assert remarks == ()
    assert start.positions == {}


INNER = '\n'.join(f'    {line}' for line in ECHOED.removesuffix('---\n').splitlines())
DISPLAYED = f"""\
model_id: arm
trajectory:
- joint_trajectory:
{INNER}
  multi_dof_joint_trajectory:
    joint_names: []
    points: []
trajectory_start:
  joint_state:
    header: {{stamp: {{sec: 3, nanosec: 0}}, frame_id: world}}
    name: [shoulder, elbow.left, grip]
    position: [0.0, -0.5, 0.25]
    velocity: [0.0, 0.0, 0.5]
    effort: []
  multi_dof_joint_state: {{joint_names: [], transforms: []}}
  attached_collision_objects: []
  is_diff: false
---
"""


def test_yaml_is_read_as_moveit_displays_it(tmp_path):
    alone = read(tmp_path, ECHOED, 'swing.yaml')
    found = read(tmp_path, DISPLAYED, 'displayed.yaml')
    assert as_lists(found.plan) == as_lists(alone.plan)
    assert (found.plan.joint_names, found.plan.efforts) == (NAMES, alone.plan.efforts)
    assert found.start.positions == {'shoulder': (0.0,), 'elbow.left': (-0.5,), 'grip': (0.25,)}
    assert found.start.velocities['grip'] == 0.5
    planned = f'joint_trajectory:\n{INNER}'
    assert as_lists(read(tmp_path, planned, 'planned.yaml').plan) == as_lists(alone.plan)


@pytest.mark.parametrize('before, after', [
    ('position: [0.0, -0.5, 0.25]', 'position: [0.0, -0.5]'),
    ('velocity: [0.0, 0.0, 0.5]', 'velocity: [0.0, 0.0]')])
def test_a_start_of_moveit_has_a_number_for_each_joint(tmp_path, before, after):
    assert before in DISPLAYED
    with pytest.raises(RneaError, match=r'is \[0.0.*; 3 numbers are needed, one for each name'):
        read(tmp_path, DISPLAYED.replace(before, after), 'displayed.yaml')


def test_a_stamp_is_remarked_on(tmp_path):
    found = read(tmp_path, ECHOED.replace('sec: 0', 'sec: 12', 1), 'swing.yml')
    assert found.remarks[0].startswith('its stamp, 12.000 s, is left out')


def test_csv_is_read_by_its_columns(tmp_path):
    plan = read(tmp_path, TABLE, 'swing.csv').plan
    assert plan.joint_names == ['elbow.left', 'shoulder']
    assert as_lists(plan) == [
        [0.0, [-0.5, 0.0], [], []], [2.5, [0.001, 1.0], [0.25, 0.0], []]]
    assert plan.efforts == ()


POINTS = [
    FilledPoint(Waypoint(0.0, (0.1, 1e-5)), np.array([1.0, 1e-20])),
    FilledPoint(Waypoint(1.999999999, np.array([1 / 3, 2.0]), (0.0, 1.0), (3e22, -1.5e-7)),
                np.array([-2.5, 0.0]))]


@pytest.mark.parametrize('name', ['out.yaml', 'out.yml', 'out.csv'])
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path, name):
    plan = written(tmp_path / name, POINTS)
    assert plan.joint_names == NAMES
    assert as_lists(plan) == [
        [0.0, [0.1, 1e-5], [], []],
        [1.999999999, [1 / 3, 2.0], [0.0, 1.0], [3e22, -1.5e-7]]]
    assert plan.efforts == [(1.0, 1e-20), (-2.5, 0.0)]


def test_the_yaml_is_what_pyyaml_takes_for_numbers():
    yaml = pytest.importorskip('yaml')
    message = yaml.safe_load(yaml_file.formatted(['on', 'a: b'], POINTS))
    assert message['joint_names'] == ['on', 'a: b']
    assert message['points'][0] == {
        'positions': [0.1, 1e-5], 'effort': [1.0, 1e-20],
        'time_from_start': {'sec': 0, 'nanosec': 0}}
    assert message['points'][1]['time_from_start'] == {'sec': 1, 'nanosec': 999999999}
    assert message['points'][1]['accelerations'] == [3e22, -1.5e-7]


def test_csv_leaves_out_what_no_point_has():
    text = csv_file.formatted(['a'], [FilledPoint(Waypoint(0.5, (1.0,)), np.array([2.0]))])
    assert text == 'time,a.position,a.effort\n0.5,1.0,2.0\n'


@pytest.mark.parametrize('name, text, message', [
    ('a.txt', '', "a.txt ends in '.txt'; it needs .csv, .yaml, .yml, .db3, .mcap or the folder"),
    ('a.csv', '', 'a.csv is empty'),
    ('a.csv', 'shoulder.position', "first column of a.csv is 'shoulder.position'"),
    ('a.csv', 'time,shoulder', "column 'shoulder' of a.csv is not one of JOINT.position"),
    ('a.csv', 'time,s.velocty', "did you mean 'velocity'"),
    ('a.csv', 'time,s.effort,s.effort', "has column 's.effort' twice"),
    ('a.csv', 'time,a.position,b.position,b.velocity', 'a column b.velocity and none for a.vel'),
    ('a.csv', 'time,a.position\n0,1,2', 'line 2 of a.csv has 3 values for 2 columns'),
    ('a.csv', 'time,a.position\n\n0,x', "line 3 of a.csv has 'x' in column 'a.position'"),
    ('a.csv', 'time,a.position\n0,nan', "has 'nan' in column 'a.position'"),
    ('a.csv', 'time,a.position,b.position\n0,1,', "has '' in column 'b.position'"),
    ('a.yaml', 'joint_names: [a]', "has no key 'points'"),
    ('a.yaml', 'joint_names: [a]\npoints: [{position: [1]}]', "did you mean 'positions'"),
    ('a.yaml', ECHOED.replace('1e-3', 'x'), "point 1 of a.yaml key 'positions' is x"),
    ('a.yaml', 'trajectory: []', 'a.yaml has 0 trajectories; it needs one'),
    ('a.yaml', DISPLAYED.replace('joint_names:', 'joints:'), "has the unknown key 'joints'"),
    ('a.yaml', DISPLAYED.replace('model_id', 'model'), "has the unknown key 'model'"),
    ('a.yaml', ECHOED.replace('sec: 2', 'sec: two'), 'time_from_start sec'),
])
def test_what_is_no_trajectory_is_refused_with_its_place(tmp_path, name, text, message):
    with pytest.raises(RneaError, match=message):
        read(tmp_path, text, name)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(RneaError, match='cannot be read'):
        read_trajectory(tmp_path / 'a.csv')


@pytest.mark.parametrize('options', [('/topic', None), (None, 2)])
def test_a_file_has_no_topics(tmp_path, options):
    with pytest.raises(RneaError, match='is not a bag'):
        read_trajectory(tmp_path / 'a.csv', *options)


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(RneaError, match='cannot be written'):
        write_trajectory(tmp_path / 'nowhere' / 'a.csv', NAMES, POINTS)
    with pytest.raises(RneaError, match="ends in '.json'; it needs .csv, .yaml, .yml$"):
        write_trajectory(tmp_path / 'a.json', NAMES, POINTS)


# ---- bags -----------------------------------------------------------------------------------


@pytest.fixture
def make_bag(tmp_path):
    """Return a function that writes a bag with a trajectory on each of some topics."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    from rosbags.typesys import get_typestore, Stores
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {name: store.types[name] for name in (
        'builtin_interfaces/msg/Duration', 'builtin_interfaces/msg/Time', 'std_msgs/msg/Header',
        'sensor_msgs/msg/JointState', 'trajectory_msgs/msg/JointTrajectory',
        'trajectory_msgs/msg/JointTrajectoryPoint')}
    duration, time, header, state, trajectory, point = types.values()
    none = np.array([])

    def header_at(sec):
        return header(time(sec, 0), '')

    def make(topics, stamp=0):
        with rosbag2.Writer(tmp_path / 'bag', version=9) as bag:
            def write(topic, kind, message, at):
                connection = connections.setdefault(topic, None) or bag.add_connection(
                    topic, kind, typestore=store)
                connections[topic] = connection
                bag.write(connection, at, store.serialize_cdr(message, kind))

            connections = {}
            for at, (name, q) in enumerate([('a', 0.25), ('b', 0.5), ('a', 0.75)]):
                write('/joint_states', 'sensor_msgs/msg/JointState',
                      state(header_at(0), [name], np.array([q]), np.array([q / 5]), none), at)
            for at, topic in enumerate(topics, start=10):
                message = trajectory(header_at(stamp), ['a', 'b'], [point(
                    np.array([1.0, float(at)]), none, none, none, duration(1, 500_000_000))])
                write(topic, 'trajectory_msgs/msg/JointTrajectory', message, at)
            write('/joint_states', 'sensor_msgs/msg/JointState',
                  state(header_at(0), ['a'], np.array([9.0]), none, none), 90)
        return tmp_path / 'bag'
    return make


def test_a_bag_has_the_trajectory_and_where_the_robot_was(make_bag):
    plan, start, remarks = read_trajectory(make_bag(['/goal']))
    assert plan.joint_names == ('a', 'b')
    assert as_lists(plan) == [[1.5, [1.0, 10.0], [], []]]
    assert plan.efforts == ()
    assert start.positions == {'a': (0.75,), 'b': (0.5,)}
    assert start.velocities == {'a': 0.15, 'b': 0.1}
    assert remarks == ()


def test_a_file_in_the_bag_stands_for_it(make_bag):
    [storage] = make_bag(['/goal']).glob('*.db3')
    assert read_trajectory(storage).plan.joint_names == ('a', 'b')


def test_a_topic_and_a_number_choose_the_trajectory(make_bag):
    bag = make_bag(['/one', '/two', '/one'], stamp=7)
    found = read_trajectory(bag, '/one', 2)
    assert found.plan.waypoints[0].positions == (1.0, 12.0)
    assert found.remarks[0].startswith('its stamp, 7.000 s, is left out')


@pytest.mark.parametrize('topics, options, message', [
    ([], (), 'no topic of type trajectory_msgs/msg/JointTrajectory'),
    (['/one', '/two'], (), 'trajectories on /one, /two: select one with --topic'),
    (['/one'], ('/three',), 'JointTrajectory on /three; it has on /one'),
    (['/one'], (None, 2), 'has 1 trajectories on that topic, but number 2 is requested')])
def test_what_a_bag_does_not_have_is_refused(make_bag, topics, options, message):
    with pytest.raises(RneaError, match=message):
        read_trajectory(make_bag(topics), *options)


def test_a_folder_that_is_no_bag_is_refused(tmp_path):
    pytest.importorskip('rosbags')
    with pytest.raises(RneaError, match='cannot be read as a bag'):
        read_trajectory(tmp_path)


def test_without_rosbags_a_bag_is_refused_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'rosbags.highlevel', None)
    with pytest.raises(RneaError, match='pip install rosbags'):
        read_trajectory(tmp_path)
