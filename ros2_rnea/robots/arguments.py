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
"""The arguments of the library's calls: checked, split into numbers and put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from ros2_rnea.dynamics.quantity_definition import DynamicsInputs
from ros2_rnea.dynamics.wrenches import body_forces, Frame, WORLD, Wrench
from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.model.tree import Tree
from ros2_rnea.spatial import Force, Number, Vector

Array = np.ndarray

Wrenches = Mapping[str, ArrayLike | Wrench]
"""Wrenches on the robot by the name of the link they act on."""

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the world's axes [m/s^2], unless another is given."""

LARGEST = 1e100
"""A larger number in a message is refused, since its square is not finite."""

QUATERNION_TOLERANCE = 1e-3

REAL_KINDS = 'biuf'
"""The kinds of NumPy's real numbers: booleans, signed and unsigned whole numbers, floats."""


class BatchArguments:
    """
    One call's arguments: checked, as arrays, and as numbers where an algorithm wants those.

    As a context it suppresses NumPy's warnings about numbers that are not finite, because the
    result shows them.

    :param tree: of the robot that is called.
    :param gravity: acceleration of free fall; None for the standard one.
    :param vectors: ``q`` and, where they count, ``qd``, ``qdd`` and ``tau``.
    :ivar rows: the number of states in a batch; None for a single state.
    :ivar arrays: the vectors, by name.
    :raises ArgumentError: where a size or value does not fit the robot.
    """

    def __init__(self, tree: Tree, gravity: ArrayLike | None = None, **vectors: ArrayLike) -> None:
        self._tree = tree
        self.arrays = {
            name: floats(name, _in_order(tree, name, value)) for name, value in vectors.items()}
        first = next(iter(self.arrays.values()))
        self.rows = len(first) if first.ndim == 2 else None
        for name, array in self.arrays.items():
            self._check_shape(name, array)
        self.gravity = Vector(*checked_gravity(gravity))
        self._quiet = np.errstate(invalid='ignore', over='ignore', divide='ignore')

    def __enter__(self) -> BatchArguments:
        self._quiet.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._quiet.__exit__(*error)

    def check_quaternions(self) -> BatchArguments:
        """
        Check that quaternions have length 1, and return this call.

        :raises ArgumentError: naming the joint and the length.
        """
        if 'q' in self.arrays:
            _check_quaternions(self._tree, self.arrays['q'])
        return self

    def numbers(self, name: str) -> list[Number]:
        """Return a vector as floats, or as the columns of a batch; zeros where it is not given."""
        if name not in self.arrays:
            return [0.0] * (self._tree.nq if name == 'q' else self._tree.nv)
        array = self.arrays[name]
        return list(array.T) if array.ndim == 2 else array.tolist()

    @property
    def q(self) -> list[Number]:
        """Return the positions as numbers."""
        return self.numbers('q')

    @property
    def qd(self) -> list[Number]:
        """Return the velocities as numbers."""
        return self.numbers('qd')

    @property
    def qdd(self) -> list[Number]:
        """Return the accelerations as numbers."""
        return self.numbers('qdd')

    def dynamics_inputs(self, f_ext: Mapping[int, Force]) -> DynamicsInputs:
        """Return all that quantities are computed from."""
        return DynamicsInputs(self.q, self.qd, self.qdd, self.numbers('tau'), self.gravity, f_ext)

    def body_forces(self, f_ext: Wrenches | ArrayLike | None) -> dict[int, Force]:
        """
        Return the wrenches as the sum on each body, in its frame.

        :param f_ext: by link name, or the rows of an array with six numbers for each body.
        """
        if f_ext is None:
            return {}
        if isinstance(f_ext, Mapping):
            return body_forces(self._tree, self.q, self._wrenches(f_ext))
        count = len(self._tree.bodies)
        array = floats('f_ext', f_ext)
        if array.shape not in ((count, 6), (self.rows, count, 6)):
            raise ArgumentError(
                f'f_ext is a {type(f_ext).__name__} of shape {array.shape}; it needs six numbers '
                f'by link name, or a row of six for each of the {count} bodies')
        columns = np.moveaxis(array, (-2, -1), (0, 1))
        return {body: Force(Vector(*six[:3]), Vector(*six[3:])) for body, six in enumerate(
            columns if array.ndim == 3 else columns.tolist())}

    def force_rows(self, forces: Mapping[int, Force]) -> Array:
        """Return wrenches by body as an array, shape (bodies, 6) or (N, bodies, 6)."""
        lead = () if self.rows is None else (self.rows,)
        array = np.zeros((*lead, len(self._tree.bodies), 6))
        for body, force in forces.items():
            for place, number in enumerate(force):
                array[..., body, place] = number
        return array

    def output(self, shape: tuple[int, ...], out: Array | None) -> Array:
        """
        Return an array for the result, ``out`` where that fits.

        :param shape: for one state.
        :raises ArgumentError: where ``out`` does not fit.
        """
        shape = shape if self.rows is None else (self.rows, *shape)
        if out is None:
            return np.empty(shape)
        _check_out(out, shape)
        return out

    def result(
            self, numbers: Sequence[Any], *inner: int, out: Array | None = None) -> Array:
        """
        Return numbers, or lists of lists of them, as an array with a batch's rows in front.

        :param inner: the shape for one state.
        :param out: written and returned where given; it may overlap the vectors.
        :raises ArgumentError: where ``out`` does not fit.
        """
        out = self.output(inner, out)
        # Numbers of a batch may be columns of a vector, which must be read before they change.
        overlaps = any(np.may_share_memory(array, out) for array in self.arrays.values())
        result = np.empty_like(out) if overlaps else out
        for place in np.ndindex(*inner):
            value: Any = numbers
            for index in place:
                value = value[index]
            result[(..., *place)] = value
        if overlaps:
            out[...] = result
        return out

    def scalar(self, number: Number) -> Any:
        """Return one number as a float, or as an array with one for each row."""
        return float(number) if self.rows is None else np.broadcast_to(number, self.rows).copy()

    def _check_shape(self, name: str, array: Array) -> None:
        size = self._tree.nq if name == 'q' else self._tree.nv
        shape = (size,) if self.rows is None else (self.rows, size)
        if array.shape != shape:
            joints = ', '.join(self._tree.joints)
            raise ArgumentError(
                f'{name} has shape {array.shape}; {self._tree.name!r} needs {shape} '
                f'for its joints {joints}')

    def _wrenches(
            self, f_ext: Wrenches) -> dict[str, tuple[Force, str | Frame]]:
        """Return the wrenches with their names checked and their values split into numbers."""
        checked: dict[str, tuple[Force, str | Frame]] = {}
        for link, given in f_ext.items():
            wrench = given if isinstance(given, Wrench) else Wrench(given)
            frame = link if wrench.frame is None else wrench.frame
            check_link(self._tree, link)
            if frame is not WORLD:
                check_link(self._tree, frame)
            array = floats(f'the wrench on {link!r}', wrench.value)
            if array.shape not in ((6,), (self.rows, 6)):
                raise ArgumentError(
                    f'the wrench on {link!r} has shape {array.shape}; '
                    'it needs 6 numbers [moment; force], or a row of 6 for each state')
            numbers = list(array.T) if array.ndim == 2 else array.tolist()
            checked[link] = (Force(Vector(*numbers[:3]), Vector(*numbers[3:])), frame)
        return checked


def check_link(tree: Tree, name: object) -> None:
    """
    Check that a name is a link's.

    :raises ArgumentError: with the link that may have been meant.
    """
    if not isinstance(name, str) or name not in tree.links:
        hint = did_you_mean(str(name), tree.links) or f'; its links are {", ".join(tree.links)}'
        raise ArgumentError(f'{tree.name!r} has no link {name!r}{hint}')


def check_quaternion(joint: str, quaternion: ArrayLike) -> None:
    """
    Check that quaternions (x, y, z, w) have length 1; where one is not a number, nothing is.

    :param quaternion: shape (4,), or (4, N) for a batch.
    :raises ArgumentError: naming the joint and the length that is furthest from 1.
    """
    excess = np.abs(np.linalg.norm(quaternion, axis=0) - 1.0)
    if np.any(excess > QUATERNION_TOLERANCE):
        length = np.ravel(np.linalg.norm(quaternion, axis=0))[np.nanargmax(excess)]
        raise ArgumentError(
            f'the quaternion (x, y, z, w) of joint {joint!r} has length {length:.6g}; '
            'it needs length 1')


def _check_quaternions(tree: Tree, q: Array) -> None:
    for body in tree.bodies:
        if body.type.quaternion is not None:
            check_quaternion(body.joint, q[..., body.q_slice][..., body.type.quaternion].T)


def _in_order(tree: Tree, name: str, value: Any) -> Any:
    """
    Return a table, such as a DataFrame, with its columns in the order of the joints.

    :param value: a table or one row of it, which have names; anything else is returned as it is.
    :raises ArgumentError: where the names are not those of the joints, each once.
    """
    labels = getattr(value, 'columns', None)
    if labels is None:  # a row has its names as index; lists and tuples have a method so called
        index = getattr(value, 'index', None)
        if index is None or callable(index) or not any(isinstance(each, str) for each in index):
            return value
        labels = index
    given, joints = list(labels), list(tree.joints)
    if len(joints) != tree.nq or len(joints) != tree.nv:
        raise ArgumentError(
            f'{name} is a {type(value).__name__}, but a joint of {tree.name!r} has several '
            'coordinates, which the name of a column cannot tell; give an array')
    if sorted(map(repr, given)) != sorted(map(repr, joints)):
        raise ArgumentError(
            f'{name} is a {type(value).__name__} with the columns '
            f'{", ".join(map(repr, given))}; {tree.name!r} needs its joints '
            f'{", ".join(map(repr, joints))}, in any order')
    return value[joints]


def floats(name: str, value: ArrayLike) -> Array:
    """
    Return a value as an array of floats.

    :param value: real numbers of any type; whole numbers and booleans are real numbers too.
    :raises ArgumentError: where it is something else.  NumPy would convert complex numbers, dates,
        texts, objects and masked arrays too, but lose imaginary parts, units and masks.
    """
    # NumPy imports np.ma when it is first used, which takes longer than to read a robot.
    is_subclass = isinstance(value, np.ndarray) and type(value) is not np.ndarray
    if is_subclass and np.ma.is_masked(value):
        raise ArgumentError(
            f'{name} has {np.ma.count_masked(value)} masked values; it needs a number in each '
            'place, such as those of filled()')
    try:
        array = np.asarray(value)
        if array.dtype.kind in REAL_KINDS:
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} is not an array of real numbers: {error}') from error
    raise ArgumentError(
        f'{name} is not an array of real numbers, but of {_described(array.dtype)}')


def _described(dtype: np.dtype) -> str:
    """Return the type of an array's elements in words."""
    words = {'c': 'complex numbers', 'M': 'dates', 'm': 'durations', 'O': 'Python objects',
             'S': 'bytes', 'U': 'texts', 'V': 'records'}
    return f'{words.get(dtype.kind, "elements")} ({dtype})'


def checked_gravity(value: ArrayLike | None) -> list[float]:
    """
    Return gravity as three numbers; the standard one for None.

    :raises ArgumentError: where it is not three finite numbers.
    """
    array = floats('gravity', STANDARD_GRAVITY if value is None else value)
    if array.shape != (3,) or not all(map(isfinite, numbers := array.tolist())):
        raise ArgumentError(
            f'gravity is {value!r}; it needs 3 finite numbers [m/s^2], such as (0, 0, -9.81)')
    return numbers


def _check_out(out: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
        described = f'{getattr(out, "dtype", type(out).__name__)} {getattr(out, "shape", "")}'
        raise ArgumentError(f'out is {described}; it needs to be a float64 array {shape}')
    if not out.flags.writeable:
        raise ArgumentError('out is read-only; it needs to be writeable')
