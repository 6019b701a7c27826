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
"""
The collision geometry of a robot, in MuJoCo.

Where the bodies are is told by the robot, and how far they are apart by MuJoCo, which takes a mesh
as its convex hull.  It reads STL and OBJ; the library coal (Assimp) reads other formats, such as
COLLADA.  Like RViz, it ignores the axis that a COLLADA file calls "up"; the unit of length counts
here, as it does in RViz.  A mesh that is not found or cannot be read ends the check with an error
that names it.  A link without geometry counts as a point at its origin, which must not come too
close to the floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
import os
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.errors import RneaError
from ros2_rnea.model.description import Pose
from ros2_rnea.model.regular_file import check_regular_file, MIB, read_regular_file
from ros2_rnea.model.safe_xml import read_xml
from ros2_rnea.model.tree import placement
from ros2_rnea.model.urdf import with_rpy_alone
from ros2_rnea.robots.arguments import Array
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.mujoco_library import mujoco
from scipy.spatial.transform import Rotation

try:
    import coal
except ImportError as _error:
    coal = None
    WHY_NOT = str(_error)

LARGEST_MESH = 1024 * MIB
"""Largest size of the file of a mesh [bytes]."""

_MESHES = ('.stl', '.obj', '.msh')
"""Formats that MuJoCo reads."""

_SIZES: dict[str, Callable[[Element], ArrayLike]] = {
    'box': lambda shape: (0.0, 0.0, 0.0),
    'sphere': lambda shape: (_numbers(shape, 'radius', 1)[0], 0.0, 0.0),
    **dict.fromkeys(('cylinder', 'capsule'), lambda shape: (
        _numbers(shape, 'radius', 1)[0], 0.5 * _numbers(shape, 'length', 1)[0], 0.0)),
    'mesh': lambda shape: (0.0, 0.0, 0.0)}
"""The sizes of MuJoCo's geometries, by their names in a URDF; a box is a mesh, too."""

_PARTS = {
    **dict.fromkeys(('box', 'mesh'), [(mujoco.mjtGeom.mjGEOM_MESH, 0.0)]),
    'sphere': [(mujoco.mjtGeom.mjGEOM_SPHERE, 0.0)],
    'cylinder': [(mujoco.mjtGeom.mjGEOM_CYLINDER, 0.0)],
    'capsule': [(mujoco.mjtGeom.mjGEOM_CYLINDER, 0.0),
                *((mujoco.mjtGeom.mjGEOM_SPHERE, end) for end in (-1.0, 1.0))]}
"""
What stands for them, each with its place along the axis, by half the length.  MuJoCo's contacts of
boxes with boxes, and of capsules with meshes and cylinders, miss some that are near.
"""

_POINT = 1e-3
"""Radius of what stands for a link without geometry [m]."""

_BODY, _ONLY_FLOOR = 1, 2
"""Bits of MuJoCo by which geometries may collide."""

_MEMORY = 1 << 28
"""Memory for contacts [bytes]."""

_FURTHER = 1.5
"""Distances are computed up to this many times the clearance that is demanded."""

_USUAL = 0.95
"""Links that are closer than the clearance in this share of random poses have to keep less."""

_STILL = 0.1
"""
Share of the clearance by which a link that always touches the floor, such as a wheel, may move
towards it; one that moves more is not left out.
"""


class CollisionError(RneaError):
    """The collision geometry cannot be used, for the reason that the message gives."""


@dataclass(frozen=True)
class Checked:
    """
    What is checked for collisions, and what is not.

    Pairs are of two links, or of a link and the floor.

    :ivar has_geometry: whether any link has collision geometry.
    :ivar points: links that count as a point at their origin.
    :ivar left_out: pairs that are left out, by the reason: adjacent ones, which one joint holds
        together; those at most two joints apart that touch with all joints at zero (or the nearest
        position within the limits); and those that touch in every random pose; with the floor,
        only what also stays at the same distance from it, such as a wheel.
    :ivar reduced: pairs that are closer than the clearance in nearly all poses, with the distance
        that they have to keep instead [m]: half of what nearly all poses are below.
    """

    has_geometry: bool
    points: tuple[str, ...]
    left_out: dict[str, list[str]]
    reduced: dict[str, float]


class Geometry:
    """
    The collision geometry of a robot, above a floor.

    :param urdf: its description.
    :param folders: where meshes, or packages with them, are searched.
    :param floor: its height above the root link's origin, against gravity [m]; None: no floor.
    :param up: against gravity, in the root link's axes, shape (3,).
    :raises CollisionError: where a mesh is not found or not readable, or MuJoCo cannot take the
        description.
    """

    def __init__(
            self, robot: Robot, urdf: str, folders: Sequence[Path] = (),
            floor: float | None = None, up: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self._robot, bodies = robot, robot.tree.bodies
        # By number, as MuJoCo counts: the base, the bodies, and the floor, the last one.
        self._names = [robot.tree.root, *(body.link for body in bodies), 'the floor']
        self._parents = [0, *(body.parent + 1 for body in bodies)]
        spec = mujoco.MjSpec()
        spec.memory = _MEMORY
        for index, parent in enumerate(self._parents[1:], start=1):
            spec.worldbody.add_body(name=f'{index}', mass=1.0, inertia=np.ones(3),
                                    explicitinertial=True).add_freejoint()
            if parent:  # not the base, which has the same body as the floor
                spec.add_exclude(bodyname1=f'{index}', bodyname2=f'{parent}')
        try:
            self._points = _add_links(spec, robot, urdf, folders)
            if floor is not None:
                _add_floor(spec, floor, np.asarray(up, dtype=float))
            self._model = model = spec.compile()
        except (OSError, ValueError) as error:
            raise CollisionError(
                f'the collision geometry cannot be used: {error}\nName folders of packages with '
                'meshes in ROS_PACKAGE_PATH, remove <collision> of links that cannot hit '
                'anything, or search without: --no-collision-check') from error
        self._data = mujoco.MjData(model)
        self._groups = model.geom_bodyid.copy()
        self._groups[model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE] = len(bodies) + 1
        # What is added to the distance of a pair that has to keep less; infinite: it is left out.
        self._allowance = np.zeros((len(self._names), len(self._names)))

    def prepare(self, clearance: float, poses: Array, neutral: Array) -> Checked:
        """
        Find the pairs that are left out of :meth:`distances` from now on.

        :param clearance: that is demanded [m].
        :param poses: random ones within the limits, shape (N, nq).
        :param neutral: the pose with all joints at zero, shape (nq,).
        """
        far = _FURTHER * clearance
        self._model.geom_margin[:] = self._model.body_margin[:] = far
        self._allowance[:] = 0.0
        floor, parents = len(self._names) - 1, self._parents
        held_by_base = [body for body, parent in enumerate(parents) if not parent]
        self._allowance[0, held_by_base] = self._allowance[held_by_base, 0] = inf

        def are_neighbours(one: int, other: int) -> bool:
            """Return whether they are at most two joints apart; the floor has no neighbour."""
            return other != floor and (
                one in (parents[other], parents[parents[other]]) or parents[one] == parents[other])

        used = {*self._groups[self._model.geom_contype == _BODY].tolist()}
        adjacent = [(parent, body) for body, parent in enumerate(parents)
                    if body and used.issuperset((parent, body))]
        touching = [pair for pair, distance in self._by_pair(neutral[np.newaxis])[0].items()
                    if distance <= 0.0 and are_neighbours(*pair)]
        found, always, reduced = self._by_pair(poses), [], {}
        for pair in sorted({pair for distances in found for pair in distances}):
            values = np.array([distances.get(pair, far) for distances in found])
            usual = float(np.quantile(values, _USUAL))
            if pair in touching:
                continue
            if (values <= 0.0).all() and (
                    floor not in pair or np.ptp(values) < _STILL * clearance):
                always.append(pair)
            elif usual < clearance:
                demanded = reduced[self._named(pair)] = 0.5 * max(0.0, usual)
                self._allowance[pair] = self._allowance[pair[::-1]] = clearance - demanded
        for pair in (*touching, *always):
            self._allowance[pair] = self._allowance[pair[::-1]] = inf
        return Checked(bool(used), self._points, {
            why: [*map(self._named, pairs)] for why, pairs in (
                ('adjacent', adjacent), ('touching with all joints at zero', touching),
                ('touching in every pose', always))}, reduced)

    def distances(self, q: Array) -> Array:
        """
        Return the least distance in each configuration.

        :param q: shape (N, nq).
        :return: shape (N,) [m], negative where something intersects, and at most
            :data:`_FURTHER` times the clearance.  For a pair that has to keep less than the
            clearance, the difference is added.
        """
        far = self._model.geom_margin.max()
        return np.array([distances.min(initial=far) for _, distances in self._contacts(q)])

    def closest(self, q: Array) -> tuple[float, str]:
        """Return the least of :meth:`distances` [m], and between what; empty: all are far."""
        found = [(distance, self._named(pair)) for each in self._by_pair(q)
                 for pair, distance in each.items()]
        return min(found, default=(inf, ''))

    def _by_pair(self, q: Array) -> list[dict[tuple[int, int], float]]:
        """Return for each configuration the distance of each pair that is near."""
        result: list[dict[tuple[int, int], float]] = []
        for pairs, distances in self._contacts(q):
            result.append({})
            for place in np.argsort(-distances):  # the least is written last
                if distances[place] < inf:
                    result[-1][tuple(sorted(pairs[place].tolist()))] = float(distances[place])
        return result

    def _contacts(self, q: Array) -> Iterator[tuple[Array, Array]]:
        """Yield for each configuration which pairs are near, shape (N, 2), and how near."""
        model, data = self._model, self._data
        poses = self._robot.link_poses(q, self._names[1:-1]).values()
        places = np.concatenate((
            np.stack([pose.position for pose in poses], axis=1),
            _quaternions(np.stack([pose.rotation for pose in poses], axis=1))), axis=2)
        for place in places.reshape(len(q), model.nq):
            data.qpos[:] = place
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            pairs = self._groups[data.contact.geom.reshape(-1, 2)]
            yield pairs, data.contact.dist + self._allowance[pairs[:, 0], pairs[:, 1]]

    def _named(self, pair: tuple[int, int]) -> str:
        return ' and '.join(self._names[one] for one in pair)


def mesh_folders(urdf_file: str) -> tuple[Path, ...]:
    """Return where packages with meshes are searched: in the environment, and above the URDF."""
    from_environment = [
        Path(entry, 'share') if variable.endswith('PREFIX_PATH') else Path(entry)
        for variable in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH')
        for entry in os.environ.get(variable, '').split(os.pathsep) if entry]
    return (*from_environment, *Path(urdf_file).resolve().parents)


def _add_links(
        spec: mujoco.MjSpec, robot: Robot, urdf: str, folders: Sequence[Path]) -> tuple[str, ...]:
    """Add the geometry of all links, or a point; return the links that became points."""
    root = read_xml(urdf)
    with_rpy_alone(root)
    points: list[str] = []
    assets: dict[str, bytes] = {}
    for link in root.findall('link'):
        name = link.get('name', '')
        frame = robot.tree.links[name]
        body = spec.bodies[frame.body + 1]
        for collision in link.findall('collision'):
            shape = collision.find('geometry/*')
            if shape is None or shape.tag not in _SIZES:
                raise ValueError(f'that of link {name!r} needs to be one of {", ".join(_SIZES)}')
            mesh = (_add_mesh(spec, shape, folders, assets) if shape.tag == 'mesh' else
                    _add_box(spec, shape) if shape.tag == 'box' else '')
            origin = collision.find('origin')
            place = frame.X_body_to_link if origin is None else placement(Pose(
                *(tuple(_numbers(origin, name, 3, '0 0 0')) for name in ('xyz', 'rpy')))
                ) @ frame.X_body_to_link
            size = np.asarray(_SIZES[shape.tag](shape), dtype=float)
            for kind, along in _PARTS[shape.tag]:
                body.add_geom(
                    type=kind, meshname=mesh, contype=_BODY, conaffinity=_BODY, size=size,
                    pos=np.array([*place.r]) + along * size[1] * np.array([*place.E.rows[2]]),
                    quat=_quaternions([[*row] for row in place.E.T.rows]))
        if link.find('collision') is None:
            points.append(name)
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[_POINT, 0.0, 0.0],
                          pos=[*frame.X_body_to_link.r], contype=_ONLY_FLOOR, conaffinity=0)
    spec.assets = assets
    return tuple(points)


def _add_floor(spec: mujoco.MjSpec, height: float, up: Array) -> None:
    normal = up / np.linalg.norm(up)
    quaternion = np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, normal)
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], pos=height * normal,
        quat=quaternion, contype=0, conaffinity=_BODY | _ONLY_FLOOR)


def _quaternions(rotations: ArrayLike) -> Array:
    """Return rotations, shape (..., 3, 3), as MuJoCo has them: the real part first."""
    rotations = np.asarray(rotations)
    found = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat()
    return np.roll(found, 1, axis=-1).reshape(*rotations.shape[:-2], 4)


def _numbers(element: Element, attribute: str, count: int, default: str = '') -> Array:
    values = np.array(element.get(attribute, default).split(), dtype=float)
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError(f'{attribute} of <{element.tag}> needs finite numbers, {count} of them')
    return values


def _add_mesh(
        spec: mujoco.MjSpec, shape: Element, folders: Sequence[Path],
        assets: dict[str, bytes]) -> str:
    """
    Add a mesh, and return its name.

    :param assets: to which the file of the mesh is added, if MuJoCo reads it.
    """
    filename, number = shape.get('filename', ''), len(spec.meshes)
    path = _found(filename, folders)
    if path is None:
        raise FileNotFoundError(f'mesh {filename} is not found')
    mesh = spec.add_mesh(name=f'{number}: {filename}', scale=_numbers(shape, 'scale', 3, '1 1 1'))
    if path.suffix.lower() in _MESHES:
        mesh.file = f'{number}{path.suffix.lower()}'
        assets[mesh.file] = read_regular_file(path, LARGEST_MESH)
    else:
        mesh.uservert = vertices(path).ravel()
    return str(mesh.name)


def _add_box(spec: mujoco.MjSpec, shape: Element) -> str:
    """Add a mesh with the corners of a box, and return its name."""
    mesh = spec.add_mesh(name=f'{len(spec.meshes)}: box')
    mesh.uservert = (0.5 * _numbers(shape, 'size', 3) * [*product((-1.0, 1.0), repeat=3)]).ravel()
    return str(mesh.name)


def vertices(path: Path) -> Array:
    """
    Return the corners of a mesh in a format that MuJoCo does not read, shape (N, 3) [m].

    :raises OSError: where it is no regular file.
    :raises ValueError: where no library reads it.
    """
    if coal is None:
        raise ValueError(
            f'MuJoCo does not read {path}; the library coal does: pip install coal ({WHY_NOT})')
    check_regular_file(path)
    try:
        mesh = coal.MeshLoader().load(str(path), np.full(3, _unit(path)))
    except (ValueError, RuntimeError) as error:
        raise ValueError(f'{path} cannot be read: {error}') from error
    return np.array(mesh.vertices())


def _unit(path: Path) -> float:
    """Return the unit of length of a file [m]; formats other than COLLADA have none."""
    if path.suffix.lower() != '.dae':
        return 1.0
    for element in read_xml(read_regular_file(path, LARGEST_MESH).decode(errors='replace')).iter():
        if element.tag.rpartition(':')[2] == 'unit' and element.get('meter'):
            unit = float(element.get('meter', '1'))
            if not 0.0 < unit < inf:
                raise ValueError(f'its unit of length is {unit:g} m; it needs a positive number')
            return unit
    return 1.0


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the file behind the name of a mesh; None: there is none."""
    scheme, separator, rest = name.partition('://')
    if separator and scheme != 'file':
        package, _, inside = rest.partition('/')
        candidates = [path for folder in folders for path in (
            folder / rest, *([folder / inside] if folder.name == package else []))]
    else:  # an absolute one stays as it is
        candidates = [folder / (rest if separator else name) for folder in folders]
    return next((path for path in candidates if path.is_file()), None)
