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
"""What recordings say about a model, in words, each sentence with its figures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import ceil, floor, inf, isfinite, log10
from typing import NamedTuple

import numpy as np

BEFORE, AFTER = 1.0, 2.0
"""Time that is left out before and after a push [s], which begins and ends weakly."""

REST = 2.0
"""What is after a push and shorter than this [s] is not worth keeping."""


class Kind(Enum):
    """What may be wrong."""

    SIGN = 'sign'
    GAIN = 'gain'
    UNRELATED = 'effort without relation'
    SATURATED = 'effort that is cut off'
    OFFSET = 'offset'
    GRAVITY = 'direction of gravity'
    ZERO = 'zero of a position'
    LOAD = 'load'
    LINK_MASS = 'mass of a link'
    MASS_DISTRIBUTION = 'distribution of mass'
    ROTOR = 'rotor inertia'
    LACKS = 'missing term'
    FRICTION = 'friction'


@dataclass(frozen=True)
class Estimate:
    """
    A number with its standard error.

    :ivar name: what it is.
    :ivar value: in this unit.
    :ivar standard_error: in this unit; infinite if the recordings do not hold the number.
    :ivar unit: empty for a pure number.
    """

    name: str
    value: float
    standard_error: float
    unit: str = ''

    def __str__(self) -> str:
        unit = f' {self.unit}' if self.unit else ''
        if not isfinite(self.standard_error):
            return f'unknown{unit}'
        digits = 3
        if self.standard_error > 0.0:
            digits = max(0, min(8, 1 - floor(log10(self.standard_error))))
        error = f'{self.standard_error:.{digits}f}' if digits < 8 else (
            f'{self.standard_error:.1g}')
        return f'{round(self.value, digits) + 0.0:.{digits}f} ± {error}{unit}'  # no -0.0


class Improvement(NamedTuple):
    """By how much a conclusion lowers the RMS of the difference of one coordinate [Nm or N]."""

    label: str
    before: float
    after: float
    unit: str

    def __str__(self) -> str:
        return f'{self.label} {self.before:.3g} → {self.after:.3g} {self.unit}'


@dataclass(frozen=True)
class Conclusion:
    """
    One cause that the recordings speak for.

    :ivar kind: of the cause.
    :ivar subject: the joint or link, or what it is about.
    :ivar sentence: the cause in words, with its figures.
    :ivar advice: what to do about it.
    :ivar quantities: the figures.
    :ivar significance: the cause's estimate over its standard error: for several figures √χ² of
        all together, but for friction that of the clearest one.  Infinite for efforts that are cut
        off, which are counted.
    :ivar improvements: of the joints whose difference falls most; none for friction.
    """

    kind: Kind
    subject: str
    sentence: str
    advice: str
    quantities: tuple[Estimate, ...]
    significance: float
    improvements: tuple[Improvement, ...] = ()

    def is_about(self, joint: str) -> bool:
        """Return whether it is about a joint: this one, or all."""
        return self.subject in ('all joints', f'joint {joint!r}')


@dataclass(frozen=True)
class Burst:
    """
    A part of a motion in which efforts differ as no masses and no friction law make them.

    :ivar recording: the name of its recording.
    :ivar begin: since the begin of the whole recording, as for end [s].
    :ivar joints: of which the efforts differ.
    :ivar last: the time of the last sample of its recording [s].
    """

    recording: str
    begin: float
    end: float
    joints: tuple[str, ...]
    last: float = inf

    def __str__(self) -> str:
        before, after = floor(self.begin - BEFORE), ceil(self.end + AFTER)
        kept = ', '.join([f'--to {before} keeps what is before'] * (before > 0)
                         + [f'--from {after} keeps what is after'] * (after + REST <= self.last))
        return (f'Between {self.begin:.1f} and {self.end:.1f} s of {self.recording!r}, the '
                f'efforts of {", ".join(self.joints)} differ as no masses and no friction that '
                'depends on the velocity can make them: something may have touched or pushed the '
                'robot, or samples are wrong.  If so, ' + (
                    f'leave this part out: {kept} (in seconds of the whole recording; options '
                    'hold for all recordings of a command).' if kept else
                    'record the motion again.'))


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """
    What recordings say about a model.

    :ivar conclusions: those that concern most of the differences first.
    :ivar open_questions: what the recordings do not tell, and why.
    :ivar noise: standard deviation of the efforts that no model of rigid bodies with friction
        explains, shape (nv,) [Nm or N]; NaN where it is not known.
    :ivar unexplained: RMS of the difference after all conclusions, shape (nv,) [Nm or N]; NaN
        where it is not known.
    :ivar wrong_efforts: why no model is to be fitted to these efforts: a sign that is turned, a
        factor far from 1, efforts without relation to the model, efforts that are cut off.  They
        are among the conclusions or the open questions, too.
    :ivar is_explained: whether the conclusions explain most of what a model could explain.
    :ivar bursts: parts in which something may have touched the robot; they are among the open
        questions, too.
    :ivar inexplicable: coordinates of whose efforts no model explains a large part.
    """

    conclusions: tuple[Conclusion, ...]
    open_questions: tuple[str, ...]
    noise: np.ndarray
    unexplained: np.ndarray
    wrong_efforts: tuple[Conclusion, ...] = ()
    is_explained: bool = True
    bursts: tuple[Burst, ...] = ()
    inexplicable: tuple[str, ...] = ()
