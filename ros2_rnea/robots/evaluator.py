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
"""One robot's answers: by a kernel where there is one that can give it, else by the textbook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from ros2_rnea.dynamics import quantities
from ros2_rnea.dynamics.parameters import RobotParameters
from ros2_rnea.dynamics.quantity_definition import GRAVITY_FIELD, Quantity, WRENCHES
from ros2_rnea.dynamics.regressor import inertial_parameters
from ros2_rnea.dynamics.terms import TERMS
from ros2_rnea.errors import ArgumentError, CompilerError, did_you_mean
from ros2_rnea.kernels.call import check_array, Target
from ros2_rnea.kernels.engines import Compilation, Kernels
from ros2_rnea.kernels.tracing import KernelSpec, Variant
from ros2_rnea.model.tree import Tree
from ros2_rnea.robots.arguments import Array, BatchArguments, Wrenches

Function = Callable[..., Any]

ROUNDING = 1e-15
"""Inertia below this share of the largest in the robot is numerically zero."""


class Evaluator:
    """
    Computes quantities of one robot.

    :param parameters: what kernels read at each call; gravity among them, unless another is given
        with the call.
    :param kernels: of the tree without payloads, shared by robots with other payloads; None: the
        textbook.
    :ivar variant: which of the parameters kernels read.
    :ivar tree: of the robot with its payloads; where the parameters are changed, replace it by one
        with the same numbers.
    """

    def __init__(
            self,
            tree: Tree,
            parameters: RobotParameters,
            variant: Variant,
            kernels: Kernels | None) -> None:
        self.tree = tree
        self._parameters = parameters
        self.variant = variant
        self._kernels = kernels
        self._functions: dict[tuple[str, Variant, bool], Callable[..., bool]] = {}

    def compute(
            self,
            quantity: Quantity,
            f_ext: Wrenches | ArrayLike | None = None,
            gravity: ArrayLike | None = None,
            out: Array | None = None,
            **vectors: ArrayLike) -> Array:
        """
        Return a quantity for one state or for a batch of them.

        :param vectors: its inputs by name.
        :raises ArgumentError: where an argument does not fit the robot.
        """
        shape = quantity.shape(self.tree)
        gravity_of_call = self._parameters.gravity if gravity is None else gravity
        with BatchArguments(self.tree, gravity_of_call, **vectors) as call:
            forces = call.body_forces(f_ext)
            result = call.output(shape, out)
            if self._kernels is not None:
                rows = None if f_ext is None else call.force_rows(forces)
                if self._run(self._kernels, quantity, call, rows, gravity is not None, result):
                    return result
            call.check_quaternions()
            numbers = quantity.compute(self.tree, call.dynamics_inputs(forces))
            return call.result(numbers, *shape, out=result)

    def call(self, quantity: Quantity, general: Function) -> Function | None:
        """
        Return what computes a quantity for one state by its kernel; None for the textbook.

        :param general: called where a kernel cannot compute; see :class:`.PythonKernelCall`.
        """
        if self._kernels is None:
            return None
        return self._kernels.call(
            quantity, functools.partial(self._target, self._kernels, quantity), general)

    def bound(self, quantity: Quantity, arrays: Sequence[Array], general: Function) -> Function:
        """
        Return a function without arguments that reads and writes these arrays.

        :param arrays: the inputs, the wrenches if there are any, and the output; see
            :meth:`check_arrays`.
        """
        if self._kernels is None:
            return general
        return self._kernels.bound(
            quantity, arrays, functools.partial(self._target, self._kernels, quantity), general)

    def check_arrays(self, quantity: Quantity, arrays: Mapping[str, Array]) -> None:
        """
        Check arrays that a method is to be bound to.

        :param arrays: by the names of the arguments.
        :raises ArgumentError: naming the first that does not suit, and what it needs to be.
        """
        tree = self.tree
        if 'f_ext' in arrays and WRENCHES not in quantity.depends_on:
            raise ArgumentError(f'{quantity.name!r} is bound to f_ext; it takes no wrenches')
        for name, array in arrays.items():
            is_output = name == 'out'
            shape = (quantity.shape(tree) if is_output else
                     (len(tree.bodies), 6) if name == 'f_ext' else
                     (tree.nq,) if name == 'q' else (tree.nv,))
            check_array(name, array, shape, is_output)

    def _target(self, kernels: Kernels, quantity: Quantity, wrenches: bool) -> Target:
        variant = self.variant._replace(wrenches=wrenches)
        return kernels.target(quantity, variant, self._parameters.values)

    def prepare(self, quantity: Quantity, wrenches: bool = False, rows: bool = False) -> None:
        """Make a kernel now instead of in the first call."""
        if self._kernels is not None:
            self._function(
                self._kernels, quantity, self.variant._replace(wrenches=wrenches), rows)

    def code(
            self, asked: Iterable[Quantity], on_compile: Callable[[Compilation], None],
            ) -> tuple[bytes, ...]:
        """
        Return the kernels for single states, with wrenches and without; see load().

        :param on_compile: called before each compilation.
        """
        if self._kernels is None:
            return ()
        found = {spec: self._kernels.cached(spec) for spec in self._specs(asked)}
        missing = [spec for spec, code in found.items() if code is None]
        for number, spec in enumerate(missing, start=1):
            on_compile(Compilation(spec.quantity.name, number, len(missing)))
            found[spec] = self._kernels.code(spec)
        return tuple(code for code in found.values() if code is not None)

    def load(self, asked: Iterable[Quantity], code: Iterable[bytes]) -> None:
        """
        Load what :meth:`code` of the same robot returned in another process.

        :raises CompilerError: where it is not the code of these kernels.
        """
        specs = [] if self._kernels is None else self._specs(asked)
        kernels = [*code]
        if len(kernels) != len(specs):
            raise CompilerError(f'the code of {len(kernels)} kernels is given to {len(specs)}')
        for spec, kernel in zip(specs, kernels):
            if not isinstance(kernel, bytes):
                raise CompilerError(
                    f'the code of {spec.quantity.name} is a {type(kernel).__name__}; it needs to '
                    'be bytes')
            if self._kernels is not None:
                self._kernels.load(spec, kernel)

    def _specs(self, asked: Iterable[Quantity]) -> list[KernelSpec]:
        variants = [self.variant._replace(wrenches=wrenches) for wrenches in (False, True)]
        return list(dict.fromkeys(
            KernelSpec('one', quantity, variant.relevant_to(quantity))
            for quantity in asked for variant in variants))

    def _run(
            self,
            kernels: Kernels,
            quantity: Quantity,
            call: BatchArguments,
            wrenches: Array | None,
            other_gravity: bool,
            result: Array) -> bool:
        """Compute by a kernel, and return whether it could."""
        variant = self.variant._replace(wrenches=wrenches is not None)
        inputs = [call.arrays[name] for name in quantity.inputs]
        if wrenches is not None and variant.relevant_to(quantity).wrenches:
            inputs.append(wrenches)
        rows = call.rows is not None
        if other_gravity and GRAVITY_FIELD in quantity.depends_on:
            values = self._parameters.with_gravity([*call.gravity])
            function = (kernels.rows if rows else kernels.one)(quantity, variant, values)
        else:
            function = self._function(kernels, quantity, variant, rows)
        target = np.require(np.asarray(result), requirements=['C', 'A', 'W'])
        done = function(*(np.require(array, requirements=['C', 'A']) for array in inputs), target)
        if done and target is not result:
            result[...] = target
        return done

    def _function(
            self, kernels: Kernels, quantity: Quantity, variant: Variant, rows: bool,
            ) -> Callable[..., bool]:
        key = (quantity.name, variant, rows)
        if key not in self._functions:
            make = kernels.rows if rows else kernels.one
            self._functions[key] = make(quantity, variant, self._parameters.values)
        return self._functions[key]


def quantities_behind(name: str) -> tuple[Quantity, ...]:
    """
    Return what a method of a robot computes by kernels.

    :raises ArgumentError: where it is none of those methods.
    """
    if name == 'effort_terms':
        return tuple(term.quantity for term in TERMS)
    if name not in quantities.METHODS:
        raise ArgumentError(
            f'{name!r} has no kernel{did_you_mean(name, quantities.METHODS)}; there are '
            f'effort_terms, {", ".join(quantities.METHODS)}')
    return (quantities.METHODS[name],)


def check_mass_matrix(tree: Tree, M: Array) -> None:  # noqa: N803
    """
    Check that the mass matrix M can be inverted; an M that is not finite is not checked.

    :param M: shape (nv, nv) or (N, nv, nv).
    :raises ArgumentError: naming a joint that moves nothing that has inertia.
    """
    nothing = ROUNDING * np.abs(inertial_parameters(tree)).max(initial=0.0)
    for one in M.reshape(-1, tree.nv, tree.nv):
        diagonal = np.diag(one)
        if not np.isfinite(one).all() or np.linalg.eigvalsh(one)[0] > nothing:
            continue
        idle = int(np.argmin(diagonal))
        joint = next(name for name, index in tree.joints.items()
                     if idle in range(*tree.bodies[index].v_slice.indices(tree.nv)))
        raise ArgumentError(
            f'the accelerations of {tree.name!r} are undefined: joint {joint!r} moves an '
            f'inertia of {diagonal[idle]:.3g}; give its link an inertia, or the joint a rotor')
