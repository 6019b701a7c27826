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
converted (:mod:`.mesh_files`).  A mesh that cannot be read, or that is not found, ends the check
with an error that names it.  A link without geometry counts as a point at its origin, which must
not come too close to the floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
import os
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from numpy.typing import ArrayLike

from ros2_rnea.errors import RneaError
from ros2_rnea.model.regular_file import read_regular_file
from ros2_rnea.model.safe_xml import read_xml
from ros2_rnea.model.urdf import with_rpy_alone
from ros2_rnea.offline.commands.excite.mesh_files import as_stl, LARGEST_MESH
from ros2_rnea.robots.arguments import Array, check_link
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.mujoco_library import mujoco

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

_FLOOR = 'the floor'

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
    :ivar has_floor: whether there is a floor.
    :ivar ignored: links whose collision geometry is not used, as was asked for.
    """

    has_geometry: bool
    points: tuple[str, ...]
    adjacent: tuple[Pair, ...]
    touching: tuple[Pair, ...]
    always: tuple[Pair, ...]
    reduced: tuple[tuple[Pair, float], ...]
    has_floor: bool
    ignored: tuple[str, ...] = ()


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
        self._has_floor = floor is not None
        self._ignored_links = tuple(ignored)
        for link in ignored:
            check_link(robot.tree, link)
        root, assets = _prepared(urdf, folders, ignored)
        try:
            spec = mujoco.MjSpec.from_string(tostring(root, encoding='unicode'), assets=assets)
            self._points = _set_up(spec, floor, up)
            self._model = spec.compile()
        except ValueError as error:
            raise CollisionError(
                f'MuJoCo cannot take the collision geometry: {error}') from error
        self._data = mujoco.MjData(self._model)
        self._groups, self._names = self._grouped()
        self._addresses, self._factors, self._offsets, self._sources = self._joints()
        self._ignored = np.zeros((len(self._names), len(self._names)), dtype=bool)
        self._allowance = np.zeros(self._ignored.shape)

    def _grouped(self) -> tuple[Array, list[str]]:
        """Return the group of each geometry, and their names: links held together are one."""
        model = self._model
        of_geom = model.body_weldid[model.geom_bodyid].copy()
        names = [_given_name(model.body(i).name) for i in range(model.nbody)]
        names[0] = self._robot.tree.root
        of_geom[model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE] = len(names)
        return of_geom, [*names, _FLOOR]

    def _joints(self) -> tuple[Array, Array, Array, Array]:
        """Return how MuJoCo's positions follow from those of the robot, mimics included."""
        rows = []
        for body in self._robot.tree.bodies:
            if body.type.nq != 1:
                raise CollisionError(
                    f'joint {body.joint!r} is {body.type.label}; collisions are only checked for '
                    'revolute, continuous and prismatic joints')
            rows.append((self._model.joint(body.joint).qposadr[0], body.multiplier, body.offset,
                         body.q_index))
        addresses, factors, offsets, sources = zip(*rows)
        return (np.array(addresses, dtype=int), np.array(factors), np.array(offsets),
                np.array(sources, dtype=int))

    def prepare(self, clearance: float, poses: Array, neutral: Array) -> Checked:
        """
        Find the pairs that are left out of :meth:`distances` from now on.

        :param clearance: that is demanded [m].
        :param poses: random ones within the limits, shape (N, nq).
        :param neutral: the pose with all joints at zero, shape (nq,).
        """
        self._model.geom_margin[:] = _FURTHER * clearance
        self._ignored[:] = False
        self._allowance[:] = 0.0
        groups = sorted(set(self._model.body_weldid.tolist()))
        adjacent = [pair for pair in combinations(groups, 2) if self._are_adjacent(*pair)]
        self._ignore(adjacent)
        touching = [pair for pair, distance in self._by_pair(neutral).items()
                    if distance <= 0.0 and self._are_neighbours(*pair)]
        self._ignore(touching)
        found = [self._by_pair(pose) for pose in poses]
        always, reduced = [], []
        far = float(self._model.geom_margin.max())
        for pair in sorted({pair for distances in found for pair in distances}):
            values = np.array([distances.get(pair, far) for distances in found])
            usual = float(np.quantile(values, _USUAL))
            if (values <= 0.0).all() and (
                    not self._is_with_floor(pair) or np.ptp(values) < _STILL * clearance):
                always.append(pair)
            elif usual < clearance:
                demanded = 0.5 * max(0.0, usual)
                reduced.append((pair, demanded))
                self._allowance[pair] = self._allowance[pair[::-1]] = clearance - demanded
        self._ignore(always)
        has_geometry = len(self._points) < len(self._robot.link_names)
        used = set(self._groups.tolist())
        return Checked(
            has_geometry, self._points,
            self._named(pair for pair in adjacent if used.issuperset(pair)),
            self._named(touching), self._named(always),
            tuple((self._named([pair])[0], demanded) for pair, demanded in reduced),
            self._has_floor, self._ignored_links)

    def distances(self, q: Array) -> Array:
        """
        Return the least distance in each configuration.

        :param q: shape (N, nq).
        :return: shape (N,) [m], negative where something intersects, and at most
            :data:`_FURTHER` times the clearance.  For a pair that has to keep less than the
            clearance, the difference is added.
        """
        return np.array([self._nearest(row) for row in q])

    def closest(self, q: Array) -> tuple[float, Pair | None]:
        """Return the least of :meth:`distances` [m], and between what it is; None: all are far."""
        best, between = np.inf, None
        for row in q:
            for pair, distance in self._by_pair(row).items():
                if distance < best:
                    best, between = distance, pair
        return best, None if between is None else self._named([between])[0]

    def _nearest(self, q: Array) -> float:
        pairs, distances = self._contacts(q)
        kept = distances[~self._ignored[pairs[:, 0], pairs[:, 1]]]
        return min(float(kept.min(initial=np.inf)), float(self._model.geom_margin.max()))

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
        data.qpos[self._addresses] = self._factors * q[self._sources] + self._offsets
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_collision(self._model, data)
        pairs = self._groups[data.contact.geom.reshape(-1, 2)]
        return pairs, data.contact.dist + self._allowance[pairs[:, 0], pairs[:, 1]]

    def _parent(self, group: int) -> int:
        """Return the group that carries a group by one joint; the root carries itself."""
        model = self._model
        return int(model.body_weldid[model.body_parentid[group]])

    def _are_adjacent(self, one: int, other: int) -> bool:
        """Return whether one joint holds two groups together."""
        return one != other and (self._parent(other) == one or self._parent(one) == other)

    def _are_neighbours(self, one: int, other: int) -> bool:
        """Return whether two groups are at most two joints apart; the floor has no neighbour."""
        if self._is_with_floor((one, other)):
            return False
        near_one, near_other = ({group, self._parent(group)} for group in (one, other))
        return (bool(near_one & near_other) or self._parent(self._parent(other)) == one
                or self._parent(self._parent(one)) == other)

    def _is_with_floor(self, pair: tuple[int, int]) -> bool:
        return len(self._names) - 1 in pair

    def _ignore(self, pairs: Iterable[tuple[int, int]]) -> None:
        for one, other in pairs:
            self._ignored[one, other] = self._ignored[other, one] = True

    def _named(self, pairs: Iterable[tuple[int, int]]) -> tuple[Pair, ...]:
        return tuple(Pair(self._names[one], self._names[other]) for one, other in pairs)


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
    for element in list(root):
        if element.tag not in ('link', 'joint'):
            root.remove(element)
    for joint in root.findall('joint'):
        _remove(joint, 'mimic', 'dynamics', 'safety_controller', 'limit')
        if joint.get('type') in ('revolute', 'prismatic'):
            # MuJoCo wants a range for these; positions are set, so its values do not matter.
            SubElement(joint, 'limit', lower='-1', upper='1', effort='1', velocity='1')
    for link in root.findall('link'):
        _remove(link, 'visual', 'inertial')
        link.append(read_xml(_INERTIAL))
        if link.get('name') in ignored:
            _remove(link, 'collision')
        for collision in link.findall('collision'):
            mesh = collision.find('geometry/mesh')
            if mesh is None:
                continue
            problem = _take_mesh(mesh, folders, assets)
            if problem:
                missing.append(f'link {link.get("name")!r}: {problem}')
    _check_missing(missing)
    for element in root.iter():
        for attribute in ('name', 'link'):
            if element.tag in ('link', 'parent', 'child') and element.get(attribute) == 'world':
                element.set(attribute, _RENAMED)
    compiler = Element('mujoco')
    SubElement(compiler, 'compiler', _COMPILER)
    root.insert(0, compiler)
    return root, assets


def _check_missing(missing: Sequence[str]) -> None:
    """Check that no mesh is missing: what a link would hit without it is not known."""
    if missing:
        more = f'; and {len(missing) - _MAX_NAMED} more' if len(missing) > _MAX_NAMED else ''
        raise CollisionError(
            f'collision geometry cannot be used: {"; ".join(missing[:_MAX_NAMED])}{more}.  Give '
            '--meshes FOLDER, where the packages with the meshes are; --ignore-collision-of LINK '
            'for each link that cannot hit anything; or --no-collision-check to search without')


def _take_mesh(mesh: Element, folders: Sequence[Path], assets: dict[str, bytes]) -> str:
    """Put a mesh into the assets and its new name into the element; return why not, or nothing."""
    name = mesh.get('filename', '')
    path = _found(name, folders)
    if path is None:
        return f'mesh {name} is not found'
    is_known = path.suffix.lower() in _MESHES
    key = f'{len(assets)}{path.suffix.lower() if is_known else ".stl"}'
    try:
        data = read_regular_file(path, LARGEST_MESH) if is_known else as_stl(path)
        _check_mesh(key, data)
    except (OSError, ValueError, RneaError) as error:
        return f'mesh {name} cannot be read: {str(error).splitlines()[0]}'
    assets[key] = data
    mesh.set('filename', key)
    return ''


def _check_mesh(key: str, data: bytes) -> None:
    """Let MuJoCo read one mesh by itself, which raises a ValueError that is about it alone."""
    spec = mujoco.MjSpec()
    spec.add_mesh(name='mesh', file=key)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname='mesh')
    spec.assets = {key: data}
    spec.compile()


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the file behind the name of a mesh; None: there is none."""
    scheme, separator, rest = name.partition('://')
    if not separator or scheme == 'file':
        candidates: Iterable[Path] = [Path(rest if separator else name)]
        if not Path(rest if separator else name).is_absolute():
            candidates = [folder / name for folder in folders]
    else:
        package, _, inside = rest.partition('/')
        candidates = [path for folder in folders for path in (
            folder / rest, *([folder / inside] if folder.name == package else []))]
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


def _remove(element: Element, *tags: str) -> None:
    for child in list(element):
        if child.tag in tags:
            element.remove(child)
