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

MuJoCo takes a mesh as its convex hull.  It reads STL and OBJ; other formats, such as COLLADA, are
converted to STL by the library coal (by Assimp).  Like RViz, that ignores the axis that a COLLADA
file calls "up"; its unit of length counts here, as it does in RViz.  A mesh that is not found or
cannot be read ends the check with an error that names it.  A link without geometry counts as a
point at its origin, which must not come too close to the floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
import os
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.errors import RneaError
from ros2_rnea.model.regular_file import check_regular_file, MIB, read_regular_file
from ros2_rnea.model.safe_xml import read_xml
from ros2_rnea.model.urdf import with_rpy_alone
from ros2_rnea.robots.arguments import Array, check_link
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.mujoco_library import mujoco

try:
    import coal
except ImportError as _error:
    coal = None
    WHY_NOT = str(_error)

_TRIANGLE = np.dtype([('numbers', '<f4', 12), ('attribute', '<u2')])
"""A triangle in a binary STL file: its normal, which may be zero, and its corners."""

LARGEST_MESH = 1024 * MIB
"""Largest size of the file of a mesh [bytes]."""

_COMPILER = {'discardvisual': 'false', 'fusestatic': 'false', 'strippath': 'false',
             'balanceinertia': 'true'}

_MESHES = ('.stl', '.obj', '.msh')
"""Formats that MuJoCo reads."""

_INERTIAL = ('<inertial><mass value="1"/>'
             '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>')
"""The inertia that every link gets: MuJoCo insists on one, and geometry does not need it."""

_POINT = 1e-3
"""Radius of what stands for a link without geometry [m]."""

_BODY, _ONLY_FLOOR = 1, 2
"""Bits of MuJoCo by which geometries may collide."""

_MEMORY = 1 << 28
"""Memory for contacts [bytes]."""

_RENAMED = 'link named world'
"""Name of a link 'world' here, since MuJoCo has its own world."""

_FURTHER = 1.5
"""Distances are computed up to this many times the clearance that is demanded."""

_USUAL = 0.95
"""Links that are closer than the clearance in this share of random poses have to keep less."""

_STILL = 0.1
"""
Share of the clearance by which a link that always touches the floor, such as a wheel, may move
towards it; one that moves more is not left out.
"""

_MAX_NAMED = 3
"""Meshes that an error names."""


class CollisionError(RneaError):
    """The collision geometry cannot be used, for the reason that the message gives."""


class MeshError(RneaError):
    """A mesh cannot be read, for the reason that the message gives."""


class Pair(NamedTuple):
    """Two links, or a link and the floor, which is then the second."""

    link: str
    other: str

    def __str__(self) -> str:
        return f'{self.link} and {self.other}'


@dataclass(frozen=True)
class Checked:
    """
    What is checked for collisions, and what is not.

    :ivar has_geometry: whether any link has collision geometry.
    :ivar points: links that count as a point at their origin.
    :ivar adjacent: pairs of links that one joint holds together; they are left out.
    :ivar touching: pairs at most two joints apart that are left out since they touch with all
        joints at zero (or the nearest position within the limits).
    :ivar always: pairs that are left out since they touch in every random pose; with the floor,
        only what also stays at the same distance from it, such as a wheel.
    :ivar reduced: pairs that are closer than the clearance in nearly all poses, with the distance
        that they have to keep instead [m]: half of what nearly all poses are below.
    """

    has_geometry: bool
    points: tuple[str, ...]
    adjacent: tuple[Pair, ...]
    touching: tuple[Pair, ...]
    always: tuple[Pair, ...]
    reduced: tuple[tuple[Pair, float], ...]


class Geometry:
    """
    The collision geometry of a robot, above a floor.

    :param urdf: its description.
    :param folders: where packages with meshes are searched, before the environment's and the
        folders above the URDF file.
    :param floor: its height above the root link's origin, against gravity [m]; None: no floor.
    :param up: against gravity, in the root link's axes, shape (3,).
    :param ignored: links whose collision geometry is not used.
    :raises CollisionError: where a mesh is not found or not readable, or MuJoCo cannot take the
        description.
    """

    def __init__(
            self, robot: Robot, urdf: str, folders: Sequence[Path] = (),
            floor: float | None = None, up: ArrayLike = (0.0, 0.0, 1.0),
            ignored: Sequence[str] = ()) -> None:
        self._robot = robot
        for link in ignored:
            check_link(robot.tree, link)
        root, assets = _prepared(urdf, folders, ignored)
        try:
            spec = mujoco.MjSpec.from_string(tostring(root, encoding='unicode'), assets=assets)
            self._points = _set_up(spec, floor, up)
            self._model = model = spec.compile()
        except ValueError as error:
            raise CollisionError(
                f'MuJoCo cannot take the collision geometry: {error}') from error
        self._data = mujoco.MjData(model)
        # Links that are held together are one group, and so is the floor, the last one.
        self._names = [_given_name(model.body(i).name) for i in range(model.nbody)] + ['the floor']
        self._names[0] = robot.tree.root
        self._groups = model.body_weldid[model.geom_bodyid].copy()
        self._groups[model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE] = model.nbody
        self._joints = self._mapped_joints()
        self._ignored = np.zeros((len(self._names), len(self._names)), dtype=bool)
        self._allowance = np.zeros(self._ignored.shape)

    def _mapped_joints(self) -> Array:
        """Return MuJoCo's joints, and how their positions follow from q, mimics included."""
        for body in self._robot.tree.bodies:
            if body.type.nq != 1:
                raise CollisionError(
                    f'joint {body.joint!r} is {body.type.label}; collisions are only checked for '
                    'revolute, continuous and prismatic joints')
        return np.array([
            (self._model.joint(body.joint).qposadr[0], body.q_index, body.multiplier, body.offset)
            for body in self._robot.tree.bodies]).T

    def prepare(self, clearance: float, poses: Array, neutral: Array) -> Checked:
        """
        Find the pairs that are left out of :meth:`distances` from now on.

        :param clearance: that is demanded [m].
        :param poses: random ones within the limits, shape (N, nq).
        :param neutral: the pose with all joints at zero, shape (nq,).
        """
        model, floor = self._model, len(self._names) - 1
        model.geom_margin[:] = far = _FURTHER * clearance
        self._ignored[:], self._allowance[:] = False, 0.0
        groups = sorted(set(model.body_weldid.tolist()))
        parent = {group: int(model.body_weldid[model.body_parentid[group]]) for group in groups}

        def are_neighbours(one: int, other: int) -> bool:
            """Return whether groups are at most two joints apart; the floor has no neighbour."""
            if other == floor:
                return False
            up = [(parent[group], parent[parent[group]]) for group in (one, other)]
            return other in up[0] or one in up[1] or up[0][0] == up[1][0]

        adjacent = self._left_out((one, other) for one, other in combinations(groups, 2)
                                  if parent[other] == one or parent[one] == other)
        touching = self._left_out([pair for pair, distance in self._by_pair(neutral).items()
                                   if distance <= 0.0 and are_neighbours(*pair)])
        found = [self._by_pair(pose) for pose in poses]
        always, reduced = [], []
        for pair in sorted({pair for distances in found for pair in distances}):
            values = np.array([distances.get(pair, far) for distances in found])
            usual = float(np.quantile(values, _USUAL))
            if (values <= 0.0).all() and (
                    floor not in pair or np.ptp(values) < _STILL * clearance):
                always.append(pair)
            elif usual < clearance:
                demanded = 0.5 * max(0.0, usual)
                reduced.append((self._named(pair), demanded))
                self._allowance[pair] = self._allowance[pair[::-1]] = clearance - demanded
        used = {self._names[group] for group in self._groups.tolist()}
        return Checked(
            len(self._points) < len(self._robot.link_names), self._points,
            tuple(pair for pair in adjacent if used.issuperset(pair)), touching,
            self._left_out(always), tuple(reduced))

    def distances(self, q: Array) -> Array:
        """
        Return the least distance in each configuration.

        :param q: shape (N, nq).
        :return: shape (N,) [m], negative where something intersects, and at most
            :data:`_FURTHER` times the clearance.  For a pair that has to keep less than the
            clearance, the difference is added.
        """
        far, least = float(self._model.geom_margin.max()), np.empty(len(q))
        for row, pose in enumerate(q):
            pairs, distances = self._contacts(pose)
            least[row] = distances[~self._ignored[pairs[:, 0], pairs[:, 1]]].min(initial=far)
        return least

    def closest(self, q: Array) -> tuple[float, Pair | None]:
        """Return the least of :meth:`distances` [m], and between what it is; None: all are far."""
        found = [(distance, pair) for row in q for pair, distance in self._by_pair(row).items()]
        if not found:
            return np.inf, None
        distance, pair = min(found, key=lambda each: each[0])
        return distance, self._named(pair)

    def _by_pair(self, q: Array) -> dict[tuple[int, int], float]:
        pairs, distances = self._contacts(q)
        least: dict[tuple[int, int], float] = {}
        for (one, other), distance in zip(pairs.tolist(), distances.tolist()):
            key = min(one, other), max(one, other)
            if not self._ignored[key]:
                least[key] = min(distance, least.get(key, np.inf))
        return least

    def _contacts(self, q: Array) -> tuple[Array, Array]:
        """Return the groups of what is close to each other, shape (N, 2), and their distances."""
        data = self._data
        addresses, sources, factors, offsets = self._joints
        data.qpos[addresses.astype(int)] = factors * q[sources.astype(int)] + offsets
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_collision(self._model, data)
        pairs = self._groups[data.contact.geom.reshape(-1, 2)]
        return pairs, data.contact.dist + self._allowance[pairs[:, 0], pairs[:, 1]]

    def _left_out(self, pairs: Iterable[tuple[int, int]]) -> tuple[Pair, ...]:
        """Leave pairs out from now on, and return their names."""
        pairs = list(pairs)
        for one, other in pairs:
            self._ignored[one, other] = self._ignored[other, one] = True
        return tuple(map(self._named, pairs))

    def _named(self, pair: tuple[int, int]) -> Pair:
        return Pair(self._names[pair[0]], self._names[pair[1]])


def mesh_folders(urdf_file: Path | None, named: Sequence[Path]) -> tuple[Path, ...]:
    """
    Return the folders in which packages with meshes are searched.

    :param urdf_file: the folders above it are among them; None: it is not a file.
    :param named: these come first.
    """
    from_environment = [
        Path(entry, 'share') if variable.endswith('PREFIX_PATH') else Path(entry)
        for variable in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH')
        for entry in os.environ.get(variable, '').split(os.pathsep) if entry]
    above = list(urdf_file.resolve().parents) if urdf_file else []
    return (*named, *from_environment, *above)


def _prepared(
        urdf: str, folders: Sequence[Path], ignored: Sequence[str],
        ) -> tuple[Element, dict[str, bytes]]:
    """Return the description with links, joints and geometry only, and its meshes."""
    root = read_xml(urdf)
    with_rpy_alone(root)
    assets: dict[str, bytes] = {}
    missing: list[str] = []
    root[:] = [child for child in root if child.tag in ('link', 'joint')]
    for joint in root.findall('joint'):
        _remove(joint, 'mimic', 'dynamics', 'safety_controller', 'limit')
        if joint.get('type') in ('revolute', 'prismatic'):
            # MuJoCo wants a range for these; positions are set, so its values do not matter.
            SubElement(joint, 'limit', lower='-1', upper='1', effort='1', velocity='1')
    for link in root.findall('link'):
        _remove(link, 'visual', 'inertial', *(
            ['collision'] if link.get('name') in ignored else []))
        link.append(read_xml(_INERTIAL))
        for mesh in link.findall('collision/geometry/mesh'):
            problem = _take_mesh(mesh, folders, assets)
            if problem:
                missing.append(f'link {link.get("name")!r}: {problem}')
    if missing:  # what a link would hit without its mesh is not known
        more = f'; and {len(missing) - _MAX_NAMED} more' if len(missing) > _MAX_NAMED else ''
        raise CollisionError(
            f'collision geometry cannot be used: {"; ".join(missing[:_MAX_NAMED])}{more}.  Give '
            '--meshes FOLDER, where the packages with the meshes are; --ignore-collision-of LINK '
            'for each link that cannot hit anything; or --no-collision-check to search without')
    for element in root.iter():
        for attribute in ('name', 'link'):
            if element.tag in ('link', 'parent', 'child') and element.get(attribute) == 'world':
                element.set(attribute, _RENAMED)
    compiler = Element('mujoco')
    SubElement(compiler, 'compiler', _COMPILER)
    root.insert(0, compiler)
    return root, assets


def _remove(element: Element, *tags: str) -> None:
    element[:] = [child for child in element if child.tag not in tags]


def _take_mesh(mesh: Element, folders: Sequence[Path], assets: dict[str, bytes]) -> str:
    """Put a mesh into the assets and its new name into the element; return why not, or nothing."""
    name = mesh.get('filename', '')
    path = _found(name, folders)
    if path is None:
        return f'mesh {name} is not found'
    is_known = path.suffix.lower() in _MESHES
    key = f'{len(assets)}{path.suffix.lower() if is_known else ".stl"}'
    try:
        assets[key] = read_regular_file(path, LARGEST_MESH) if is_known else as_stl(path)
        # Read by itself, it raises a ValueError that is about it alone.
        spec = mujoco.MjSpec()
        spec.add_mesh(name='mesh', file=key)
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname='mesh')
        spec.assets = {key: assets[key]}
        spec.compile()
    except (OSError, ValueError, RneaError) as error:
        return f'mesh {name} cannot be read: {str(error).splitlines()[0]}'
    mesh.set('filename', key)
    return ''


def as_stl(path: Path) -> bytes:
    """
    Return a mesh as a binary STL file, in metres.

    :raises MeshError: where no library reads it.
    :raises OSError: where it is no regular file.
    """
    if coal is None:
        raise MeshError(
            f'MuJoCo does not read {path.suffix or "files without an ending"}; the library coal '
            f'converts other formats: pip install coal ({WHY_NOT})')
    check_regular_file(path)
    try:
        mesh = coal.MeshLoader().load(str(path), np.full(3, _unit(path)))
        vertices = np.array(mesh.vertices())
        corners = np.array([
            [triangle[k] for k in range(3)]
            for triangle in map(mesh.tri_indices, range(mesh.num_tris))], dtype=int)
    except (ValueError, RuntimeError) as error:
        raise MeshError(str(error)) from error
    if not len(corners) or not np.isfinite(vertices).all():
        raise MeshError('it has no triangles' if not len(corners) else 'it has NaN or infinity')
    triangles = np.zeros(len(corners), dtype=_TRIANGLE)
    triangles['numbers'][:, 3:] = vertices[corners].reshape(-1, 9)
    return bytes(80) + np.uint32(len(corners)).tobytes() + triangles.tobytes()


def _unit(path: Path) -> float:
    """Return the unit of length of a file [m]; formats other than COLLADA have none."""
    if path.suffix.lower() != '.dae':
        return 1.0
    for element in read_xml(read_regular_file(path, LARGEST_MESH).decode(errors='replace')).iter():
        if element.tag.rpartition(':')[2] == 'unit' and element.get('meter'):
            unit = float(element.get('meter', '1'))
            if not 0.0 < unit < inf:
                raise MeshError(f'its unit of length is {unit:g} m; it needs a positive number')
            return unit
    return 1.0


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the file behind the name of a mesh; None: there is none."""
    scheme, separator, rest = name.partition('://')
    if separator and scheme != 'file':
        package, _, inside = rest.partition('/')
        candidates = [path for folder in folders for path in (
            folder / rest, *([folder / inside] if folder.name == package else []))]
    else:
        path = Path(rest if separator else name)
        candidates = [path] if path.is_absolute() else [folder / path for folder in folders]
    return next((path for path in candidates if path.is_file()), None)


def _set_up(
        spec: mujoco.MjSpec, floor: float | None, up: ArrayLike) -> tuple[str, ...]:
    """Add points and the floor, and let all collide; return the links that became points."""
    spec.memory = _MEMORY
    points = []
    for body in spec.bodies:
        for geom in body.geoms:
            geom.contype = geom.conaffinity = _BODY
        if not body.geoms and body.name != spec.worldbody.name:
            points.append(_given_name(body.name))
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[_POINT, 0.0, 0.0],
                          contype=_ONLY_FLOOR, conaffinity=0)
    if floor is not None:
        normal = np.array(up, dtype=float)
        normal /= np.linalg.norm(normal)
        quaternion = np.zeros(4)
        mujoco.mju_quatZ2Vec(quaternion, normal)
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], pos=floor * normal,
            quat=quaternion, contype=0, conaffinity=_BODY | _ONLY_FLOOR)
    return tuple(points)


def _given_name(name: str) -> str:
    return 'world' if name == _RENAMED else name
