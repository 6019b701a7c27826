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
"""`./run excite`: files that the controller takes, collisions that are avoided, clear refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from ros2_rnea import Robot
from ros2_rnea.trajectories.trajectory import Trajectory
from scipy.optimize import lsq_linear
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot

excite_command = pytest.importorskip('ros2_rnea.offline.commands.excite.__main__')
main = excite_command.main
collision = pytest.importorskip('ros2_rnea.offline.commands.excite.collision')
pytest.importorskip('matplotlib')

from matplotlib.legend import Legend  # noqa: E402, I100
from matplotlib.text import Text  # noqa: E402
from ros2_rnea.offline.commands.excite import picture  # noqa: E402
from ros2_rnea.offline.commands.excite.plan import hand_joints  # noqa: E402, I100
from ros2_rnea.offline.commands.fill_efforts.files import read_trajectory  # noqa: E402

QUICK = ('--period', '4', '--harmonics', '3', '--starts', '1', '--iterations', '9',
         '--clearance', '0.05')

BOX = '<collision><origin xyz="0 0 {z}"/><geometry><box size="0.06 0.06 {length}"/></geometry>' \
      '</collision></link>'


def with_box(text: str, length: float) -> str:
    """Return a link with a box from its origin upwards."""
    return text.replace('</link>', BOX.format(z=0.5 * length, length=length))


def two_links(height: float = 0.3) -> str:
    """Return an arm of two boxes of 0.25 m above a column, in a vertical plane."""
    return robot(
        with_box('<link name="base"></link>', height - 0.08),
        with_box(link('upper', com='0 0 0.1'), 0.25), with_box(link('lower', com='0 0 0.1'), 0.25),
        joint('shoulder', 'base', 'upper').replace('0 0 0.3', f'0 0 {height}'),
        joint('elbow', 'upper', 'lower').replace('0 0 0.3', '0 0 0.29'), name='two_links')


def geometry_of(urdf, places=(), still=(0.0, 0.0), **options):
    """Return the geometry of a robot, prepared for a clearance of 0.1 m."""
    geometry = collision.Geometry(Robot.from_urdf(urdf), urdf, places, **options)
    geometry.prepare(0.1, np.zeros((0, len(still))), np.array(still))
    return geometry


@pytest.fixture
def excite(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a folder and returns code, output and error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('COLUMNS', '200')

    def run(*options, urdf=ARM):
        Path('arm.urdf').write_text(urdf, encoding='utf-8')
        code = main(['--urdf', 'arm.urdf', *QUICK, *options])
        captured = capsys.readouterr()
        return code, ' '.join(captured.out.split()), ' '.join(captured.err.split())
    return run


def test_the_file_comes_back_through_the_reader_of_fill_efforts(excite):
    code, out, err = excite()
    assert (code, err) == (0, '')
    assert 'excite.yaml, excite.png and excite.json written' in out
    assert Path('excite.png').stat().st_size > 10_000
    plan = read_trajectory(Path('excite.yaml')).plan
    assert plan.joint_names == ['shoulder', 'elbow']
    assert not plan.efforts
    trajectory = Trajectory(plan.joint_names, plan.waypoints)
    assert trajectory.duration == pytest.approx(12.0)
    figures = json.loads(Path('excite.json').read_text(encoding='utf-8'))
    start = [one['start'] for one in figures['joints']]
    for time in (0.0, 4.0, 8.0, 12.0):
        assert np.allclose(trajectory.at(time), [start, [0.0] * 2, [0.0] * 2], rtol=0.0,
                           atol=1e-12)
    # As the controller interpolates it, the motion is within the margins.
    q, qd, qdd = np.transpose(
        [trajectory.at(time) for time in np.linspace(0.0, 12.0, 3001)], (1, 0, 2))
    tau = np.abs(Robot.from_urdf(ARM).inverse_dynamics(q, qd, qdd)).max(axis=0)
    assert np.abs(q).max() <= 2.7 * 1.001
    assert np.abs(qd).max() <= 1.8 * 1.001
    assert (tau <= np.array([70.0, 28.0]) * 1.001).all()
    for i, one in enumerate(figures['joints']):
        assert one['velocity'] == pytest.approx(np.abs(qd[:, i]).max(), rel=1e-3)
        assert one['effort'] == pytest.approx(tau[i], rel=1e-3)
    assert figures['seed'] == 1
    assert figures['errors_smaller_than_random_by'] > 1.0


def test_the_legend_of_the_picture_touches_no_title(excite, monkeypatch):
    drawn = []
    monkeypatch.setattr(picture, 'save', lambda figure, *_: drawn.append(figure))
    excite()
    figure, = drawn
    figure.draw_without_rendering()
    legend, = figure.findobj(Legend)
    titles = [text for text in figure.findobj(Text) if '[' in text.get_text()]
    assert len(titles) == 4  # of two columns, and of their axes of time
    assert not any(legend.get_window_extent().overlaps(title.get_window_extent())
                   for title in titles)


def test_without_geometry_it_is_said_that_collisions_are_not_checked(excite):
    _, out, _ = excite('--floor', 'none')
    assert 'no collision geometry' in out
    assert 'There is no floor' in out and 'Of the floor' not in out
    collisions = json.loads(Path('excite.json').read_text(encoding='utf-8'))['collisions']
    assert collisions['has_geometry'] is False
    _, out, _ = excite('--no-collision-check', '--dry-run')
    assert 'Collisions were not checked' in out


def test_motors_too_weak_at_the_start_are_named(excite):
    code, out, err = excite(
        '--payload', 'tool:30:0,0,0', '--assume', 'shoulder=1.5,elbow=0')
    assert (code, out) == (2, '')
    assert 'the pose to start from is not possible: gravity takes 17' in err
    assert "'shoulder' (limit 100 Nm, of which the margin leaves 70 Nm) and gravity" in err
    assert "'elbow' (limit 40 Nm, of which the margin leaves 28 Nm). The motors cannot" in err
    assert '(--limits)' in err and 'lighter payload, or start where gravity takes less' in err


def test_a_lift_too_heavy_for_its_motor_is_named(excite):
    lift = robot('<link name="base"/>', link('plate', mass=5.0), joint(
        'lift', 'base', 'plate', kind='prismatic', axis='0 0 1', effort=40.0), name='column')
    code, out, err = excite(urdf=lift)
    assert (code, out) == (2, '')
    assert 'do not carry the arm in any of 200 poses' in err
    assert ("gravity takes 49.05 N of joint 'lift' (limit 40 N, of which the margin leaves 28 N). "
            'The motors cannot hold it there') in err
    _, _, err = excite(urdf=lift.replace('effort="40.0"', 'effort="60"'))
    assert 'A smaller margin of effort allows it (--effort-margin)' in err


def positions() -> np.ndarray:
    """Return the positions of the first period, as the controller interpolates them."""
    plan = read_trajectory(Path('excite.yaml')).plan
    trajectory = Trajectory(plan.joint_names, plan.waypoints)
    return np.array([trajectory.at(time)[0] for time in np.linspace(0.0, 4.0, 997)])


def tips(q: np.ndarray, height: float) -> np.ndarray:
    """Return the heights of the elbow and the tip of :func:`two_links`."""
    elbow = height + 0.29 * np.cos(q[:, 0])
    return np.stack((elbow, elbow + 0.25 * np.cos(q[:, 0] + q[:, 1])))


def test_the_floor_is_kept_clear_of(excite):
    urdf = two_links()
    Path('low.yaml').write_text(
        'joint_limits:\n  shoulder: {min_position: 1.2, max_position: 2.6}\n'
        '  elbow: {min_position: -1.5, max_position: 1.5}\n', encoding='utf-8')
    low = ('--limits', 'low.yaml')
    code, out, err = excite('--floor', 'none', *low, urdf=urdf)
    assert code == 0, err
    assert tips(positions(), 0.3).min() < 0.05, 'the floor is in the way'
    code, out, err = excite(*low, urdf=urdf)
    assert code == 0, err
    assert tips(positions(), 0.3).min() >= 0.05
    collisions = json.loads(Path('excite.json').read_text(encoding='utf-8'))['collisions']
    assert collisions['has_geometry'] is True
    assert collisions['least_m'] >= 0.05
    assert collisions['left_out']['adjacent'] == ['base and upper', 'upper and lower']


def test_the_floor_is_kept_clear_of_by_links_without_geometry(excite):
    code, out, _ = excite('--floor', '0.1', urdf=ARM)
    assert code == 0
    assert 'Of the floor, only the origins of the links were kept clear' in out
    q = positions()
    poses = Robot.from_urdf(ARM).link_poses(q)
    heights = [poses[name].position[:, 2].min() for name in ('lower', 'tool')]
    assert min(heights) >= 0.15


def test_the_robot_is_kept_clear_of_itself(excite):
    """The lower link meets the column where both joints bend far to one side."""
    urdf = two_links(height=0.5)
    geometry = collision.Geometry(Robot.from_urdf(urdf), urdf)
    checked = geometry.prepare(0.05, np.random.default_rng(1).uniform(-2.7, 2.7, (100, 2)),
                               np.zeros(2))
    assert not checked.left_out['touching with all joints at zero']
    assert geometry.distances(np.array([[2.2, 2.0]]))[0] < 0.0
    assert geometry.closest(np.array([[2.2, 2.0]]))[1] == 'base and lower'
    code, _, err = excite('--floor', 'none', urdf=urdf)
    assert code == 0, err
    assert geometry.distances(positions()).min() >= 0.05 * 0.99


def test_distances_are_those_of_the_boxes():
    straight = geometry_of(two_links(), floor=-0.5).distances(
        np.array([[0.0, 0.0], [np.pi / 2, np.pi / 2]]))
    assert straight[0] == pytest.approx(0.15), 'nothing is near: 1.5 times the clearance'
    # The lower box hangs beside the column: 0.29 m away from its middle, 0.06 m less in all.
    assert straight[1] == pytest.approx(0.15)
    # The lower box then ends at 0.3 - 0.25 m.
    near = geometry_of(two_links(), floor=0.0).distances(np.array([[np.pi / 2, np.pi / 2]]))
    assert near[0] == pytest.approx(0.05, abs=1e-6)


SHAPES = {
    'box': ('<box size="0.08 0.1 0.12"/>', (0.04, 0.05, 0.06), 0.0),
    'capsule': ('<capsule radius="0.03" length="0.14"/>', (1e-9, 1e-9, 0.07), 0.03)}
"""The geometry, and of which box (half sizes) and ball (radius) it is the sum."""


@pytest.mark.parametrize('first, second', [
    ('box', 'box'), ('capsule', 'box'), ('capsule', 'capsule')])
def test_turned_shapes_that_are_near_are_all_found(first, second):
    """Two boxes have edges that contacts of MuJoCo miss, although they are near each other."""
    shapes = SHAPES[first], SHAPES[second]
    geometry = [f'<collision><geometry>{shape[0]}</geometry></collision>' for shape in shapes]
    axes = ('1 0 0', '0 1 0', '0 0 1')
    names = ['base', *(f'l{i}' for i in range(6))]
    urdf = robot(
        f'<link name="base">{geometry[0]}</link>', *(link(name) for name in names[1:-1]),
        link(names[-1]).replace('</link>', f'{geometry[1]}</link>'),
        *(joint(f'j{i}', names[i], names[i + 1], 'prismatic' if i < 3 else 'revolute', axes[i % 3])
          for i in range(6))).replace('<origin xyz="0 0 0.3"/>', '')
    arm = Robot.from_urdf(urdf)
    rng = np.random.default_rng(0)
    q = np.hstack((rng.uniform(-0.2, 0.2, (300, 3)), rng.uniform(-3.0, 3.0, (300, 3))))
    checked = collision.Geometry(arm, urdf)
    checked.prepare(0.04, np.full((1, 6), 1.0), np.full(6, 1.0))
    sizes, radius = np.hstack([shape[1] for shape in shapes]), sum(shape[2] for shape in shapes)
    places = arm.link_poses(q, [names[-1]])[names[-1]]
    true = np.array([np.sqrt(2.0 * lsq_linear(
        np.hstack((np.eye(3), -rotation)), position, (-sizes, sizes), tol=1e-12).cost) - radius
        for position, rotation in zip(places.position, places.rotation)])
    clear = true > 1e-3
    assert np.count_nonzero(clear & (true < 0.05)) > 20
    np.testing.assert_allclose(
        checked.distances(q)[clear], np.minimum(true, 0.06)[clear], rtol=0.0, atol=2e-4)


@pytest.mark.parametrize('part', ['<collision>', '<joint name="elbow"'])
def test_what_a_quaternion_turns_is_where_the_robot_has_it(part):
    """Rotations of URDF 1.1 are none for MuJoCo, which reads the geometry."""
    before, part, after = two_links().rpartition(part)
    pose = np.array([[np.pi / 2, np.pi / 2 + 0.5]])
    straight, turned, same = (
        geometry_of(before + part + after.replace('<origin', f'<origin {rotation}', 1), floor=0.0)
        .distances(pose)[0] for rotation in (
            '', f'quat_xyzw="0 {np.sin(0.15)} 0 {np.cos(0.15)}"', 'rpy="0 0.3 0"'))
    assert turned == pytest.approx(same, abs=1e-9)
    assert abs(turned - straight) > 0.005


def test_neighbours_touching_at_zero_are_left_out():
    urdf = two_links().replace('box size="0.06 0.06 0.25"', 'box size="0.06 0.06 1.05"')
    geometry = collision.Geometry(Robot.from_urdf(urdf), urdf, floor=0.25)
    checked = geometry.prepare(
        0.05, np.random.default_rng(1).uniform(-1.0, 1.0, (50, 2)), np.zeros(2))
    assert checked.left_out['touching with all joints at zero'] == ['base and lower']
    assert geometry.distances(np.array([[2.0, 0.0]]))[0] < 0.0


def test_a_mesh_is_found_beside_the_urdf_or_named(excite, tmp_path):
    cube = """\
v -0.1 -0.1 0\nv 0.1 -0.1 0\nv 0.1 0.1 0\nv -0.1 0.1 0
v -0.1 -0.1 0.2\nv 0.1 -0.1 0.2\nv 0.1 0.1 0.2\nv -0.1 0.1 0.2
f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7
f 4 1 5\nf 4 5 8
"""
    mesh = '<collision><geometry><mesh filename="package://parts/cube.{}"/></geometry></collision>'
    urdf = two_links().replace('</link>', mesh.format('obj') + '</link>', 1)
    code, _, err = excite(urdf=urdf)
    assert code == 2 and not Path('excite.yaml').exists()
    assert 'mesh package://parts/cube.obj is not found' in err
    assert 'ROS_PACKAGE_PATH' in err and '--no-collision-check' in err
    assert excite('--no-collision-check', '--dry-run', urdf=urdf)[0] == 0
    (tmp_path / 'parts').mkdir()
    (tmp_path / 'parts' / 'cube.obj').write_text(cube, encoding='utf-8')
    code, out, _ = excite(urdf=urdf)
    assert code == 0 and 'no collision geometry' not in out
    (tmp_path / 'parts' / 'cube.dae').write_text('<COLLADA/>', encoding='utf-8')
    code, _, err = excite(urdf=urdf.replace('.obj', '.dae'))
    assert code == 2 and 'cube.dae cannot be read' in err and 'remove <collision>' in err
    (tmp_path / 'parts' / 'cube.stl').write_bytes(b'no mesh')
    code, _, err = excite(urdf=urdf.replace('.obj', '.stl'))
    assert code == 2 and 'invalid header' in err and 'package://parts/cube.stl' in err


COLLADA = """\
<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01</created><modified>2026-01-01</modified>
<unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="tip"><mesh><source id="places">
<float_array id="numbers" count="12">0 0 0  10 0 0  0 20 0  0 0 30</float_array>
<technique_common><accessor source="#numbers" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#corners" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="scene"><node id="node">
<translate>0 0 5</translate><instance_geometry url="#tip"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene></COLLADA>
"""


def test_collada_is_converted_in_its_unit_and_axes(tmp_path, monkeypatch):
    pytest.importorskip('coal')
    path = tmp_path / 'tip.dae'
    path.write_text(COLLADA, encoding='utf-8')
    corners = collision.vertices(path)
    assert corners.min(axis=0) == pytest.approx([0.0, 0.0, 0.05])
    assert corners.max(axis=0) == pytest.approx([0.1, 0.2, 0.35])
    monkeypatch.setattr(collision, 'coal', None)
    monkeypatch.setattr(collision, 'WHY_NOT', 'no module', raising=False)
    with pytest.raises(ValueError, match='pip install coal'):
        collision.vertices(path)


@pytest.mark.parametrize('unit', ['0', '-1', 'nan', 'inf'])
def test_a_collada_mesh_of_an_impossible_unit_is_not_read(tmp_path, unit):
    pytest.importorskip('coal')
    path = tmp_path / 'tip.dae'
    path.write_text(COLLADA.replace('"0.01"', f'"{unit}"'), encoding='utf-8')
    with pytest.raises(ValueError, match=f'unit of length is {unit} m; it needs a'):
        collision.vertices(path)


def test_a_collada_mesh_keeps_its_distance(tmp_path):
    pytest.importorskip('coal')
    (tmp_path / 'tip.dae').write_text(COLLADA, encoding='utf-8')
    corners = collision.vertices(tmp_path / 'tip.dae')
    (tmp_path / 'tip.obj').write_text(''.join(
        f'v {x!r} {y!r} {z!r}\n' for x, y, z in corners.tolist())
        + 'f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n', encoding='utf-8')
    before, _, after = two_links().rpartition('</link>')
    mesh = '<collision><geometry><mesh filename="tip.{}" scale="3 1 1"/></geometry></collision>'
    poses = np.random.default_rng(0).uniform(-2.0, 2.0, (50, 2))
    found = []
    for part in (mesh.format('dae'), mesh.format('obj'), ''):
        geometry = geometry_of(f'{before}{part}</link>{after}', [tmp_path], floor=0.0)
        found.append(geometry.distances(poses))
    assert np.allclose(found[0], found[1], rtol=0.0, atol=1e-12)
    assert (found[0] < found[2] - 0.01).any()


def test_each_shape_of_a_link_keeps_its_clearance():
    """The margin of a body counts, too, before MuJoCo compares its shapes one by one."""
    shape = ('<collision><origin xyz="{} 0 0"/><geometry><sphere radius="0.01"/></geometry>'
             '</collision>')
    urdf = robot('<link name="base"/>', link('plate').replace(
        '</link>', shape.format(0) + shape.format(0.3) + '</link>'), joint(
        'lift', 'base', 'plate', kind='prismatic', axis='0 0 1').replace('0 0 0.3', '0 0 0'))
    distances = geometry_of(urdf, still=(1.0,), floor=0.0).distances(
        np.array([[0.005], [0.02], [0.05], [0.1], [0.3]]))
    assert distances == pytest.approx([-0.005, 0.01, 0.04, 0.09, 0.15])


@pytest.mark.parametrize('shape, words', [
    ('<cone/>', 'needs to be one of box, sphere'), ('<sphere radius="wide"/>', "'wide'"),
    ('<box size="1 1"/>', 'needs finite numbers, 3'), ('<sphere radius="nan"/>', 'finite'),
    ('<sphere radius="-1"/>', 'must be positive')])
def test_geometry_that_is_none_is_refused(shape, words):
    urdf = two_links().replace('<box size="0.06 0.06 0.25"/>', shape, 1)
    with pytest.raises(collision.CollisionError, match=words):
        geometry_of(urdf)


def test_mimic_joints_move_with_what_they_follow():
    urdf = ARM_WITH_GRIPPER
    for name, mass in (('finger', 0.2), ('thumb', 0.1)):
        urdf = urdf.replace(link(name, mass), with_box(link(name, mass), 0.1))
    # finger at grip, thumb at 0.1 - grip: apart by |2 grip - 0.1|, less the width of a box
    q = np.array([[0.0, 0.0, grip] for grip in (0.0, 0.05, 0.1)])
    assert geometry_of(urdf, still=(0.0, 0.0, 0.5)).distances(q) == pytest.approx(
        [0.04, -0.06, 0.04], abs=1e-6)


def test_a_payload_needs_the_heaviest_that_it_may_be(excite):
    code, _, err = excite('--unknown', 'payload:tool')
    assert code == 2
    assert '--payload tool:KG:X,Y,Z' in err
    code, out, err = excite('--unknown', 'payload:tool', '--payload', 'tool:1.5:0,0,0.1')
    assert code == 0, err
    assert 'The centre of the payload will be known to' in out or (
        'identifiable only in combinations' in out)


def test_a_smaller_path_and_a_repeatable_one(excite):
    excite('--out', 'whole.yaml')
    excite('--out', 'again.yaml')
    assert Path('whole.yaml').read_text() == Path('again.yaml').read_text()
    _, out, _ = excite('--scale', '0.3', '--out', 'small.yaml')
    assert 'The path is 0.3 of what the limits allow' in out
    whole, small = (np.array([
        waypoint.positions for waypoint in read_trajectory(Path(f'{name}.yaml')).plan.waypoints])
        for name in ('whole', 'small'))
    assert np.allclose(small - small[0], 0.3 * (whole - whole[0]), rtol=0.0, atol=1e-9)


def test_a_gripper_is_left_at_rest_unless_it_is_named(excite):
    limit = '<limit lower="0.01" upper="0.05" effort="100" velocity="2"/>'
    urdf = ARM_WITH_GRIPPER.replace('<axis xyz="1 0 0"/><limit lower="-3" upper="3" '
                                    'effort="100.0" velocity="2"/>', f'<axis xyz="1 0 0"/>{limit}')
    assert limit in urdf
    code, out, err = excite(urdf=urdf)
    assert code == 0, err
    assert 'a hand or gripper do not move, and are assumed at grip=0.01: --assume says' in out
    assert read_trajectory(Path('excite.yaml')).plan.joint_names == ['shoulder', 'elbow']
    code, out, _ = excite('--assume', 'grip=0.04', urdf=urdf)
    assert code == 0 and 'gripper' not in out
    code, _, _ = excite('--joints', 'shoulder,elbow,grip', urdf=urdf)
    assert code == 0
    assert read_trajectory(Path('excite.yaml')).plan.joint_names == ['shoulder', 'elbow', 'grip']


def test_all_positions_that_are_missing_are_asked_for_at_once(excite):
    code, _, err = excite('--joints', 'elbow', urdf=ARM_WITH_GRIPPER)
    assert code == 2
    assert ('the positions of joints that do not move are not known: --assume '
            'shoulder=POSITION,grip=POSITION') in err


def chain(*names: str, base: str = 'base') -> list[str]:
    """Return links and joints one after the other, from a link on."""
    links = [base, *(f'{name}_link' for name in names)]
    return [part for name, parent, child in zip(names, links, links[1:])
            for part in (link(child), joint(name, parent, child))]


@pytest.mark.parametrize('parts, hand', [
    (chain('pan', 'lift', 'wrist'), ()),
    ([*chain('pan', 'lift'), *chain('left', base='lift_link'),
      *chain('right', base='lift_link')], ('left', 'right')),
    (chain('pan', 'lift', 'my_Gripper'), ('my_Gripper',)),
    (chain('pan', 'gripper_turn', 'wrist'), ()),
    # two arms on a torso, and a head
    ([*chain('torso'), *chain('l1', 'l2', 'l3', base='torso_link'),
      *chain('r1', 'r2', 'r3', base='torso_link'), *chain('head', base='torso_link')], ()),
    # fingers of two joints
    ([*chain('a', 'b', 'c'), *chain('t1', 't2', base='c_link'),
      *chain('f1', 'f2', base='c_link')], ('t1', 't2', 'f1', 'f2')),
    # legs
    ([*chain('a1', 'a2'), *chain('b1', 'b2')], ())])
def test_hands_are_what_several_joints_move_at_the_end_of_an_arm(parts, hand):
    found = hand_joints(Robot.from_urdf(robot('<link name="base"/>', *parts)))
    assert sorted(found) == sorted(hand)


def test_what_a_small_motion_does_not_tell_is_not_among_what_is_identified(excite):
    _, out, _ = excite('--scale', '0.05')
    before, _, after = out.partition('Not identifiable by this motion')
    figures = json.loads(Path('excite.json').read_text(encoding='utf-8'))
    errors = figures['expected_errors']
    large = [one['name'] for one in errors
             if one['standard_error'] is not None and not one['identifiable']]
    assert large and all(name in after.partition('.')[0] for name in large)
    assert not any(f'{name} ' in before for name in large)
    assert all(one['name'] in before for one in errors if one['identifiable'])
    gain = figures['errors_smaller_than_random_by']
    assert gain < 1.0
    assert f'standard errors are {1.0 / gain:.2g} times larger' in out


@pytest.mark.parametrize('options, words', [
    (('--joints', 'elbwo'), "did you mean 'elbow'"),
    (('--joints', 'elbow'), 'not known: --assume shoulder=POSITION'),
    (('--assume', 'elbow=0.1'), 'but not shoulder'),
    (('--assume', 'shoulder=0,1,elbow=0'), "gives 'shoulder' 2 positions"),
    (('--noise', 'wrist=1'), 'none of the joints that move'),
    (('--unknown', 'everything'), "--unknown has 'everything'"),
    (('--unknown', 'friction,gains'), 'no motion is searched'),
    (('--unknown', 'friction,stribeck'), 'no motion is searched'),
    (('--unknown', 'payload:hand', '--payload', 'tool:1'), "payload on 'hand'"),
    (('--unknown', 'payload:base', '--payload', 'base:1'), 'which nothing moves'),
    (('--noise', 'elbow=-1'), "noise of joint 'elbow' is -1"),
    (('--scale', '1.5'), 'above 0 up to 1'), (('--period', '0'), 'period is 0'),
    (('--clearance', '0'), 'clearance is 0'), (('--rate', 'nan'), 'rate is nan'),
    (('--harmonics', '1'), 'harmonics is 1'),
    (('--period', '1e-3'), 'the period needs at least 0.06 s'),
    (('--gravity', '0', '0', '1e300'), '--gravity has 1e+300; it needs m/s^2'),
    (('--margin', '100'), 'margin of motion is 1.0'),
    (('--floor', '2'), 'clearance is'),
    (('--gravity', '0', '0', '0'), '--floor none'),
    (('--out', 'excite.csv'), "excite.csv ends in '.csv'"),
])
def test_what_is_impossible_is_refused_with_a_sentence(excite, options, words):
    code, out, err = excite(*options)
    assert code == 2
    assert words in err
    assert not Path('excite.json').exists()


@pytest.mark.parametrize('out, words', [
    ('excite.csv', "ends in '.csv'"), ('nowhere/excite.yaml', 'there is no folder nowhere')])
def test_no_motion_is_searched_that_cannot_be_written(excite, monkeypatch, out, words):
    monkeypatch.setattr(excite_command, 'planned', None)
    code, _, err = excite('--out', out)
    assert code == 2
    assert words in err


def test_missing_limits_are_refused_unless_a_file_gives_them(excite):
    urdf = ARM.replace('name="elbow" type="revolute"', 'name="elbow" type="continuous"')
    code, _, err = excite(urdf=urdf)
    assert code == 2
    assert "joint 'elbow' has no usable limit of position" in err
    Path('limits.yaml').write_text(
        'joint_limits:\n  elbow: {min_position: -1.0, max_position: 1.0}\n', encoding='utf-8')
    code, _, err = excite('--limits', 'limits.yaml', urdf=urdf)
    assert code == 0, err
    assert np.abs(positions()[:, 1]).max() <= 0.9 * 1.001


NO_PAYLOAD = 'has 1e+300; it needs kg, m and kg m^2'


@pytest.mark.parametrize('options, words', [
    (('--assume', 'elbow'), 'needs to be'), (('--noise', '-1'), 'needs to be JOINT=NUMBER'),
    (('--payload', 'tool'), 'needs to be'), (('--floor', 'low'), 'needs to be'),
    (('--payload', 'tool:1e300'), NO_PAYLOAD),
    (('--payload', 'tool:1:1e300,0,0'), NO_PAYLOAD),
    (('--payload', 'tool:1:0,0,0:1e300,0,0,1,0,1'), NO_PAYLOAD)])
def test_options_of_another_form_are_refused(excite, options, words, capsys):
    with pytest.raises(SystemExit):
        excite(*options)
    assert words in ' '.join(capsys.readouterr().err.split())


def test_lists_stand_between_commas(excite):
    code, _, err = excite('--unknown', 'inertia,friction', '--joints', 'shoulder,elbow',
                          '--noise', 'shoulder=0.3,elbow=0.2', '--dry-run')
    assert code == 0, err
    code, _, err = excite('--assume', 'elbow=0.1')
    assert code == 2 and '--assume names some of the joints' in err


def test_json_goes_to_the_standard_output_alone(excite):
    code, out, err = excite('--json', '-')
    assert (code, err) == (0, '')
    assert json.loads(out)['robot'] == 'arm'
    assert Path('excite.yaml').exists() and not Path('-').exists()
