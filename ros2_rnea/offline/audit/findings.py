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
"""The data of a finding, and the list of all kinds of findings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from ros2_rnea.model.description import OPEN_LOOP_EFFECT


class Severity(IntEnum):
    """Severity of a finding; the largest is the worst."""

    NOTE = 1
    SUSPICIOUS = 2
    IMPOSSIBLE = 3
    ERROR = 4

    @property
    def meaning(self) -> str:
        """Return the meaning for the model."""
        return _MEANINGS[self]


_MEANINGS = {
    Severity.NOTE: 'for information; nothing needs to change',
    Severity.SUSPICIOUS: 'the dynamics is defined, but the value is probably a mistake',
    Severity.IMPOSSIBLE: 'no rigid body has such values',
    Severity.ERROR: 'the dynamics is undefined',
}


_LIMIT_EFFECT = (
    'none on computed efforts; while the joint is controlled, the node sends no efforts until '
    'effort_limits.<joint> is set')


class Kind(Enum):
    """The kinds of findings, each with its severity, a title and its effect on efforts."""

    UNDEFINED = (Severity.ERROR, 'not the description of one robot', 'no effort is computed')
    NO_INERTIAL = (Severity.ERROR, 'a moving part without <inertial>', 'no effort is computed')

    INERTIA_NEGATIVE = (Severity.IMPOSSIBLE, 'inertia not positive')
    INERTIA_TRIANGLE = (Severity.IMPOSSIBLE, 'inertia violates the triangle inequality')
    INERTIA_WITHOUT_MASS = (Severity.IMPOSSIBLE, 'inertia without mass')

    WRONG_POINT = (Severity.SUSPICIOUS, 'inertia probably about the link origin')
    TOO_LIGHT = (Severity.SUSPICIOUS, 'too little mass for the inertia')
    TOO_DENSE = (Severity.SUSPICIOUS, 'too much mass for the inertia')
    TOO_HEAVY = (Severity.SUSPICIOUS, 'much more mass than the links beside it',
                 'where the mass is wrong, gravity and inertia are wrong by the excess')
    TOO_WIDE = (Severity.SUSPICIOUS, 'an inertia that the length of the link does not explain')
    UNITS = (Severity.SUSPICIOUS, 'other units than kg, m and rad',
             'if the unit is wrong, gravity and inertia are wrong by the conversion factor')
    AXIS = (Severity.SUSPICIOUS, 'axis not of unit length, or slightly tilted',
            'the length has no effect; a tilt changes all terms, gravity included, in proportion')
    NOTHING_MOVED = (Severity.SUSPICIOUS, 'a joint that moves no mass at all',
                     'its effort is 0; none at other joints')
    NO_EFFORT_LIMIT = (Severity.SUSPICIOUS, 'no effort limit', _LIMIT_EFFECT)
    HUGE_EFFORT_LIMIT = (Severity.SUSPICIOUS, 'effort limit that is a placeholder', _LIMIT_EFFECT)
    ZERO_EFFORT_LIMIT = (Severity.SUSPICIOUS, 'effort limit 0', _LIMIT_EFFECT)
    LARGE_FRICTION = (Severity.SUSPICIOUS, 'large friction for the effort limit',
                      'none in gravity, and none without friction_from: description')
    NO_POSITION_LIMITS = (Severity.SUSPICIOUS, 'position limits missing',
                          'none on efforts; no position is out of range')
    UNUSABLE = (Severity.SUSPICIOUS, 'a limit or an axis that cannot be used',
                'none on efforts; it counts as missing')
    LOCKED = (Severity.SUSPICIOUS, 'lower limit equals upper', 'none on efforts')
    OVERLOADED = (Severity.SUSPICIOUS, 'gravity exceeds the effort limit',
                  'none on computed efforts; the effort that is sent is clamped to the limit')
    OPEN_LOOP = (Severity.SUSPICIOUS, 'a loop that is left open', OPEN_LOOP_EFFECT)
    MISSPELT = (Severity.SUSPICIOUS, 'a name that is probably misspelt',
                'the intended value is missing, and the default is used')

    POINT_MASS = (Severity.NOTE, 'mass without inertia',
                  'none in gravity; the effort of turning the part is missing')
    MASSLESS_BODY = (Severity.NOTE, 'a massless part between two joints')
    ROOT_INERTIA = (Severity.NOTE, 'mass on the root link', 'none on a fixed base')
    NO_GRAVITY = (Severity.NOTE, 'a joint without gravity load')
    ZERO_VELOCITY_LIMIT = (Severity.NOTE, 'velocity limit 0', 'none on efforts')
    MIMIC = (Severity.NOTE, 'mimic joints')
    UNREAD = (Severity.NOTE, 'attributes that are not read')

    def __init__(self, severity: Severity, title: str, effect: str = 'none') -> None:
        self.severity = severity
        self.title = title
        self.effect = effect


@dataclass(frozen=True)
class Finding:
    """
    One result of the audit.

    :ivar kind: the kind, which determines the severity.
    :ivar subject: the link or joint that it is about.
    :ivar text: the finding with its values, and what to do about it.
    :ivar moment: the moment of inertia that is in doubt [kg m^2]; 0: none.
    :ivar effect: on efforts, at most.
    """

    kind: Kind
    subject: str
    text: str
    moment: float = 0.0
    effect: str = ''

    @property
    def severity(self) -> Severity:
        """Return the severity of its kind."""
        return self.kind.severity

    @property
    def impossible(self) -> bool:
        """Return whether no rigid body has such values."""
        return self.severity is Severity.IMPOSSIBLE

    def __str__(self) -> str:
        effect = f' (effect: {self.effect})' if self.effect not in ('', 'none') else ''
        return f'{self.subject}: {self.text}{effect}'
