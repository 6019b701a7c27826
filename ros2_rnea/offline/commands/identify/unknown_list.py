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
"""What ``--unknown`` says, such as ``friction,payload:tool0,inertia:forearm:wrist``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ros2_rnea.errors import ArgumentError, did_you_mean
from ros2_rnea.offline.identification.unknowns import Unknowns

NOTHING = Unknowns(friction=(), links=())

HELP = """\
  friction[:JOINTS]  viscous and Coulomb friction and an offset of the joints that move
  direction          their friction differs by direction; with friction
  stribeck           breakaway friction too, where the data shows it; with friction
  inertia[:LINKS]    mass, centre of mass and inertia of the bodies with these links, or of all
  payload:LINK       what this link carries in all recordings, and the URDF does not have
  rotor[:JOINTS]     inertia of the rotors, seen through their gears
  gains[:JOINTS]     true effort for each unit of measured effort, such as Nm for each A; at least
                     one recording has to be of a known payload
  gravity            the direction of gravity, for a tilted mount; not with inertia or payload
Names follow each other after colons: inertia:upper_arm:forearm."""

_SETTERS: dict[str, tuple[str, Any]] = {
    'friction': ('friction', 'all'), 'direction': ('by_direction', None),
    'stribeck': ('stribeck', None), 'inertia': ('links', 'all'), 'payload': ('payload', ''),
    'rotor': ('rotor_inertia', 'all'), 'gains': ('gains', 'all'), 'gravity': ('gravity', None)}
"""By kind, what it sets, and what it means without names; None: it takes none."""


def unknowns_from(text: str) -> Unknowns:
    """
    Return what is unknown.

    :param text: kinds separated by commas, each with its names after colons.
    :raises ArgumentError: naming the kind that is unknown, twice, or without the names it needs.
    """
    found, kinds = NOTHING, set()
    for item in text.split(','):
        kind, *names = (part.strip() for part in item.split(':'))
        if kind not in _SETTERS:
            raise ArgumentError(
                f'--unknown has {kind!r}{did_you_mean(kind, _SETTERS)}; there are '
                f'{", ".join(_SETTERS)}')
        field, without = _SETTERS[kind]
        if kind in kinds:
            raise ArgumentError(f'--unknown has {kind!r} twice; give all names at once')
        if not all(names):
            raise ArgumentError(f'--unknown has {item.strip()!r}, in which a name is empty')
        if kind == 'payload' and len(names) != 1:
            raise ArgumentError(
                f'--unknown has {item.strip()!r}; a payload is on one link, as in payload:tool0')
        if names and without is None:
            raise ArgumentError(f'--unknown has {item.strip()!r}; {kind} takes no names')
        kinds.add(kind)
        value: Any = without is None or (names[0] if kind == 'payload' else names or without)
        found = replace(found, **{field: value})
    for kind in kinds.intersection(('direction', 'stribeck')):
        if 'friction' not in kinds:
            raise ArgumentError(f'--unknown has {kind!r} without friction, which it is about')
    return found
