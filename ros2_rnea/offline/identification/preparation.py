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
From a recording to what a model can be compared with: one step after the other, each one told.

Each step can be switched off or given its number in :class:`Preparation`, and says in a
:class:`Step` what it has done to the recording.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf, isfinite
from types import MappingProxyType
from typing import NamedTuple, NoReturn

import numpy as np
from ros2_rnea.dynamics.friction import sign_width, smooth_sign
from ros2_rnea.errors import did_you_mean, NothingUsableError, RecordingError
from ros2_rnea.model.description import JointLimits
from ros2_rnea.offline.identification.angle_unit import DEGREES, taken_for_degrees
from ros2_rnea.offline.identification.effort_delay import Delay, effort_delay
from ros2_rnea.offline.identification.effort_saturation import saturated_efforts
from ros2_rnea.offline.identification.recording import (
    FEWEST_SAMPLES,
    PreparedRecording,
    Recording,
    slowest_speeds,
)
from ros2_rnea.offline.identification.smoothing import (
    band,
    derivative,
    low_passed,
    SETTLED,
    Spectrum,
    spectrum,
    STENCIL,
)
from ros2_rnea.offline.identification.time_base import on_uniform_base, Rows, usable_rows
from ros2_rnea.offline.identification.velocity_check import disagreements
from ros2_rnea.robots.arguments import floats
from ros2_rnea.robots.joint_index_map import joint_body, single_joints
from ros2_rnea.robots.robot import Robot
from scipy.interpolate import CubicSpline
from scipy.ndimage import minimum_filter1d

POSITIONS, VELOCITIES, AUTOMATIC = 'positions', 'velocities', 'automatic'
SOURCES = (AUTOMATIC, POSITIONS, VELOCITIES)

RATE = 20.0
"""Of the samples that are kept, as a multiple of the cut-off, at least."""

SLOW_SPEED = 0.05
"""From this speed on a joint is taken to move, if it is ever much faster [rad/s or m/s]."""

SLOW_SHARE = 0.05
"""Share of a joint's own high speed (99 % of its samples are slower) from which it moves."""

MIN_SPEED = 0.002
"""Below, nothing moves: a controller that holds a joint makes it creep [rad/s or m/s]."""

FEW_SIGMA = 4.0
"""A velocity that is so many standard deviations of its noise has a sign that is known."""

LARGEST = 1e9
"""No position, velocity, effort or wrench of a robot is larger, in SI units; its square fits."""

FAR_ABOVE = 4.0
"""No robot reaches so many times its limits: such numbers are wrong, or in another unit."""

TOO_NOISY = 0.1
"""Share of noise in the power of accelerations from which on the user is warned."""

SHORTEST, USUAL = 1.0, 20.0
"""Without so long a piece, a motion is not known [s]; and how long recordings usually are."""

NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Preparation:
    """
    What is done to a recording; None lets the recording decide.

    :ivar assumed_positions: of joints that were not recorded [rad or m]; others are at 0.
    :ivar largest_gap: samples further apart are not joined [s].
    :ivar cutoff: of the low-pass [Hz]; infinite for none.
    :ivar derivatives_of: which signal is differentiated to accelerations: 'positions',
        'velocities', or 'automatic' for the one with less noise.
    :ivar delay: of all efforts behind the state, taken out [s]; 0 for none, 'automatic' for one
        that the recording shows.
    :ivar largest_delay: magnitude up to which a delay is searched [s].
    :ivar settling: cut from both ends of each piece, where the filter is disturbed [s].
    :ivar slow: below this speed a coordinate does not move [rad/s or m/s].
    :ivar rate: of the prepared samples [Hz]; every second, third, ... sample is taken, as long as
        the rate is not below this.  By default that is RATE times the cut-off.
    :ivar trust_angles: do not refuse angles that seem to be radians taken for degrees.
    :ivar remove_wrenches: take the effort of recorded wrenches off the measured one.
    """

    assumed_positions: Mapping[str, float] = field(default_factory=dict)
    largest_gap: float | None = None
    cutoff: float | None = None
    derivatives_of: str = AUTOMATIC
    delay: float | str = AUTOMATIC
    largest_delay: float = 0.06
    settling: float | None = None
    slow: float | None = None
    rate: float | None = None
    trust_angles: bool = False
    remove_wrenches: bool = True

    def __post_init__(self) -> None:
        for name in ('largest_gap', 'cutoff', 'largest_delay', 'rate'):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise RecordingError(f'{name} is {value!r}; it needs a positive number')
        for name in ('settling', 'slow'):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < inf:
                raise RecordingError(f'{name} is {value!r}; it needs a number that is 0 or more')
        if self.delay != AUTOMATIC and (
                self.delay is None or isinstance(self.delay, str) or not isfinite(self.delay)):
            raise RecordingError(
                f'delay is {self.delay!r}; it needs {AUTOMATIC}, or a finite number of seconds')
        if self.derivatives_of not in SOURCES:
            raise RecordingError(
                f'derivatives_of is {self.derivatives_of!r}; it needs {", ".join(SOURCES)}')


class Step(NamedTuple):
    """
    What one step of the preparation has done.

    :ivar name: short, and equal for all recordings.
    :ivar text: sentences for the user.
    :ivar figures: numbers of the step, by name with unit.
    :ivar is_warning: whether the recording may not be what it should be.
    """

    name: str
    text: str
    figures: Mapping[str, float] = NOTHING
    is_warning: bool = False


class Result(NamedTuple):
    """A prepared recording, and what each step of its preparation has done."""

    prepared: PreparedRecording
    steps: tuple[Step, ...]


class _Joints(NamedTuple):
    """
    The joints that are taken from a recording.

    :ivar columns: of the recording.
    :ivar q: the places of their positions.
    :ivar v: those of their velocities and efforts.
    :ivar measured: whether the effort of each was measured.
    """

    names: list[str]
    columns: list[int]
    q: list[int]
    v: list[int]
    measured: np.ndarray


class _Field(NamedTuple):
    """Columns of one array of a recording that are taken, and the names of what they hold."""

    array: np.ndarray
    columns: list[int]
    names: list[str]


class _Signals(NamedTuple):
    """
    Signals of the joints at one period, piece after piece, in the order of the joints.

    :ivar efforts: of the measured joints alone.
    """

    pieces: list[slice]
    times: np.ndarray
    by_name: dict[str, np.ndarray]


def prepare(
        recording: Recording, robot: Robot, settings: Preparation | None = None) -> Result:
    """
    Prepare a recording for a robot.

    :param robot: whose coordinates the result has.
    :param settings: by default, all steps as the recording needs them.
    :raises RneaError: naming what cannot be used; no numbers come of it then.  NothingUsableError,
        where it has no motion, no efforts or too few samples, as a part of it may.
    """
    return _Preparing(recording, robot, settings or Preparation()).result()


class _Preparing:
    """The preparation of one recording."""

    def __init__(self, recording: Recording, robot: Robot, settings: Preparation) -> None:
        self._recording = recording
        self._robot = robot
        self._loaded = _with_payloads(robot, recording)
        self._settings = settings
        self._steps = [Step('reading', f'{_sentence(remark)}') for remark in recording.remarks]

    def result(self) -> Result:
        """Take all steps, one after the other."""
        joints = self._matched_joints()
        fields = self._fields(joints)
        self._check_sizes(fields)
        self._check_efforts(fields['efforts'])
        rows = self._rows(fields)
        period = rows.period
        raw = self._on_uniform_base(fields, rows, self._turning(joints))
        self._check_motion(joints, raw, period)
        spectra = self._spectra(raw, period)
        cutoff = self._cutoff(spectra, period)
        smooth = self._smoothed(raw, period, cutoff)
        uses_velocities = self._sources(joints, raw, smooth, period, cutoff)
        q, qd, qdd = self._motion(joints, smooth, uses_velocities, period)
        self._tell_wrenches(smooth, q)
        measured = {name: v for name, v, is_measured in zip(
            joints.names, joints.v, joints.measured) if is_measured}
        moves = self._moves(joints, smooth, qd, spectra, period, cutoff)
        prepared = PreparedRecording(
            self._recording.name, smooth.times, q, qd, qdd, self._efforts(smooth, q, measured),
            moves, tuple(smooth.pieces), dict(self._recording.payloads), cutoff,
            part_of=self._recording.part_of)
        prepared = replace(prepared, direction=_direction(prepared, period))
        self._check_angles(prepared, joints, measured)
        prepared = self._with_saturations(prepared, measured)
        delay = self._delay(prepared, measured, period)
        if delay.seconds:
            prepared = replace(prepared, direction=_direction(prepared, period, delay.seconds))
        for v, column in delay.friction.items():
            prepared.signs[:, v] = column
        return Result(self._trimmed(prepared, delay, period), tuple(self._steps))

    def _tell(
            self, name: str, text: str, figures: Mapping[str, float] = NOTHING,
            is_warning: bool = False) -> None:
        self._steps.append(Step(name, text, figures, is_warning))

    # ---- names ----------------------------------------------------------------------------------

    def _matched_joints(self) -> _Joints:
        """Return the joints of the robot that were recorded, in its order."""
        recording, robot = self._recording, self._robot
        single = single_joints(robot)
        dead = {joint for column, joint in enumerate(recording.joints)
                if not np.isfinite(recording.positions[:, column]).any()}
        names = [name for name in single if name in recording.joints and name not in dead]
        if not names:
            self._refuse_joints(dead, single)
        columns = [recording.joints.index(name) for name in names]
        bodies = [joint_body(robot, name) for name in names]
        joints = _Joints(
            names, columns, [body.q_index for body in bodies], [body.v_index for body in bodies],
            np.array([self._is_measured(name, column) for name, column in zip(names, columns)]))
        if not joints.measured.any():
            raise NothingUsableError(
                f'recording {recording.name!r} has no efforts of {", ".join(names)}: they are '
                'missing or constant')
        mimics = [name for name in recording.joints if name in robot.tree.mimics]
        foreign = [name for name in recording.joints
                   if name not in robot.joint_names and name not in mimics]
        text = f'{len(names)} joints in the order of {robot.name!r}: {", ".join(names)}.'
        if mimics:
            text += f' Not used, since they follow other joints: {", ".join(mimics)}.'
        if foreign:
            text += f' Not used, since the robot has no such joint: {", ".join(foreign)}.'
        self._tell('joints', text, {'joints': len(names)})
        self._tell_unrecorded(names)
        return joints

    def _refuse_joints(self, dead: Collection[str], single: Sequence[str]) -> NoReturn:
        """Say why none of the recorded joints can be used."""
        name, recorded = self._recording.name, self._recording.joints
        silent = [joint for joint in single if joint in dead]
        if silent:
            raise NothingUsableError(
                f'recording {name!r} has no position of {", ".join(silent)} that is a finite '
                'number')
        hint = did_you_mean(recorded[0], single)
        raise RecordingError(
            f'recording {name!r} has positions of '
            f'{", ".join(j for j in recorded if j not in dead) or "no joint"}, and none of the '
            f'joints of {self._robot.name!r}, which are {", ".join(single)}{hint}')

    def _is_measured(self, joint: str, column: int) -> bool:
        efforts = self._recording.efforts[:, column]
        finite = efforts[np.isfinite(efforts)]
        if len(finite) and finite.min() < finite.max():
            return True
        what = f'are {finite[0]:g} throughout' if len(finite) else 'were not recorded'
        self._tell('joints', f'Efforts of joint {joint!r} {what}: nothing is concluded from them.',
                   is_warning=True)
        return False

    def _tell_unrecorded(self, names: list[str]) -> None:
        for name in self._settings.assumed_positions:
            if name not in self._robot.joint_names:
                hint = did_you_mean(name, self._robot.joint_names)
                raise RecordingError(
                    f'a position is assumed for {name!r}, which is no joint of '
                    f'{self._robot.name!r}{hint}')
        missing = [name for name in self._robot.joint_names if name not in names]
        if missing:
            assumed = ', '.join(
                f'{name} at {self._settings.assumed_positions.get(name, 0.0):g}'
                for name in missing)
            self._tell(
                'joints', f'Not recorded and assumed to be at rest: {assumed}.',
                is_warning=True)

    # ---- times ----------------------------------------------------------------------------------

    def _fields(self, joints: _Joints) -> dict[str, _Field]:
        """Return what is taken from the recording, by name."""
        recording = self._recording
        measured = [column for column, is_measured in zip(joints.columns, joints.measured)
                    if is_measured]
        fields = {'positions': _Field(recording.positions, joints.columns, joints.names),
                  'efforts': _Field(recording.efforts, measured,
                                    [recording.joints[column] for column in measured])}
        velocities = recording.velocities
        if velocities is not None and np.isfinite(velocities).any(axis=0)[joints.columns].all():
            fields['velocities'] = _Field(velocities, joints.columns, joints.names)
        if self._settings.remove_wrenches and recording.wrenches is not None:
            fields['wrenches'] = _Field(
                recording.wrenches, list(range(6)), ['mx', 'my', 'mz', 'fx', 'fy', 'fz'])
        return fields

    def _rows(self, fields: Mapping[str, _Field]) -> Rows:
        recording = self._recording
        rows = usable_rows(
            recording, [array[:, columns] for array, columns, _ in fields.values()],
            self._settings.largest_gap)
        cut = []
        if rows.not_finite:
            cut.append(f'{_counted(rows.not_finite, "row")} with a number that is not finite '
                       f'(first {_first_not_finite(recording.times, fields)})')
        if rows.not_later:
            cut.append(f'{_counted(rows.not_later, "row")} whose time is not later than those '
                       'before')
        if rows.gaps:
            cut.append(f'{_counted(len(rows.gaps), "gap")} longer than {rows.largest_gap:.3g} s '
                       f'(first from {rows.gaps[0][0]:.3f} s to {rows.gaps[0][1]:.3f} s)')
        if rows.held > 1:
            self._tell(
                'stamps', f'Each sample is repeated in {rows.held} rows, of which the first is '
                f'used: the state was published faster than it was measured.',
                {'held': rows.held})
        if rows.shared:
            self._tell(
                'stamps', f'{_counted(rows.shared, "stamp")} of two rows: one of both is taken '
                'to be where a sample is missing next to them.', {'shared': rows.shared})
        self._tell(
            'gaps', f'Cut out: {"; ".join(cut)}.' if cut else 'No gaps and no duplicate times.',
            {'not_finite': rows.not_finite, 'not_later': rows.not_later, 'gaps': len(rows.gaps)})
        return rows

    def _turning(self, joints: _Joints) -> list[int]:
        """Return which joints have angles that may have been recorded within one turn."""
        return [place for place, name in enumerate(joints.names)
                if joint_body(self._robot, name).type.wraps]

    def _on_uniform_base(
            self, fields: Mapping[str, _Field], rows: Rows, turning: list[int]) -> _Signals:
        recording = self._recording
        wrapped: dict[str, None] = {}
        parts, short = [], 0
        for piece in rows.pieces:
            if len(piece) < STENCIL:
                short += 1
                continue
            signals = {name: array[piece][:, columns]
                       for name, (array, columns, _) in fields.items()}
            for place in turning:
                angles = signals['positions'][:, place]
                whole = np.unwrap(angles)
                if (whole != angles).any():
                    wrapped[fields['positions'].names[place]] = None
                    signals['positions'][:, place] = whole
            times, signals = on_uniform_base(
                rows.times[piece], signals, rows.period, ('efforts', 'wrenches'))
            if len(times) < STENCIL:  # its samples are closer together than the others
                short += 1
                continue
            parts.append((times, signals))
        if not parts:
            raise NothingUsableError(
                f'recording {recording.name!r} has no {STENCIL} samples without a gap')
        longest = rows.period * max(len(times) for times, _ in parts)
        if longest < SHORTEST:
            raise NothingUsableError(
                f'recording {recording.name!r} has at most {longest:.3g} s without a gap; it '
                f'needs {SHORTEST:g} s, and better {USUAL:g} s')
        if wrapped:
            self._tell('turns', f'Angles that jump by a turn are joined: {", ".join(wrapped)}.')
        ends = np.cumsum([0, *(len(times) for times, _ in parts)])
        text = (f'{ends[-1]} samples at {1.0 / rows.period:.4g} Hz in '
                f'{_counted(len(parts), "piece")}.')
        if short:
            text += f' Cut out: {_counted(short, "piece")} of fewer than {STENCIL} samples.'
        self._tell('time base', text, {
            'samples': int(ends[-1]), 'rate': 1.0 / rows.period, 'pieces': len(parts)})
        return _Signals(
            [slice(int(start), int(stop)) for start, stop in zip(ends, ends[1:])],
            np.concatenate([times for times, _ in parts]),
            {name: np.concatenate([signals[name] for _, signals in parts]) for name in fields})

    # ---- plausibility ---------------------------------------------------------------------------

    def _check_sizes(self, fields: Mapping[str, _Field]) -> None:
        for field_name, (array, columns, names) in fields.items():
            numbers = array[:, columns]
            too_large = np.isfinite(numbers) & (np.abs(numbers) > LARGEST)
            if too_large.any():
                row, column = np.argwhere(too_large)[0]
                raise RecordingError(
                    f'recording {self._recording.name!r} has {numbers[row, column]:g} among the '
                    f'{field_name} of {names[column]!r}, {self._place(row)}; it needs SI units, '
                    f'of magnitude {LARGEST:g} at most: take this row out')

    def _check_efforts(self, efforts: _Field) -> None:
        """Warn of efforts that no drive exerts: a single one spoils what is concluded."""
        for name, column in zip(efforts.names, efforts.columns):
            body = joint_body(self._robot, name)
            limit = body.limits.effort
            if body.limits.effort_defect(body.type):
                continue
            sizes = np.nan_to_num(np.abs(efforts.array[:, column]), posinf=0.0)  # are cut out
            above = np.flatnonzero(sizes > FAR_ABOVE * limit)
            if len(above):
                largest = int(np.argmax(sizes))
                self._tell(
                    'efforts', f'{_counted(len(above), "effort")} of joint {name!r} '
                    f'{"is" if len(above) == 1 else "are"} more than {FAR_ABOVE:g} times its '
                    f'limit of {limit:g}; the largest is {efforts.array[largest, column]:.4g}, '
                    f'{self._place(largest)}.  Take such rows out if they are few; if they are '
                    'many, is this effort in Nm or N?', is_warning=True)

    def _place(self, row: int) -> str:
        return f'in row {row + 1} at {self._recording.times[row]:.6g} s'

    def _check_motion(self, joints: _Joints, signals: _Signals, period: float) -> None:
        positions = signals.by_name['positions']
        lowest, highest = positions.min(axis=0), positions.max(axis=0)
        still = [name for name, low, high in zip(joints.names, lowest, highest) if low == high]
        if len(still) == len(joints.names):
            raise NothingUsableError(
                f'recording {self._recording.name!r} has constant positions of all joints: '
                'nothing moves, or its source had stopped')
        if still:
            self._tell('motion', f'These joints do not move at all: {", ".join(still)}.',
                       is_warning=True)
        speeds = np.percentile(
            np.abs(self._by_piece(signals, 'positions', period)), 99.0, axis=0)
        for name, low, high, speed in zip(joints.names, lowest, highest, speeds):
            body = joint_body(self._robot, name)
            if body.type.is_bounded:
                self._check_range(name, low, high, speed, body.limits)

    def _check_range(
            self, name: str, low: float, high: float, speed: float, limits: JointLimits,
            ) -> None:
        lower, upper = limits.lower, limits.upper
        largest, allowed = max(-low, high), max(-lower, upper)
        text = (f'positions of joint {name!r} of recording {self._recording.name!r} are '
                f'{low:.4g} to {high:.4g}, its limits {lower:.4g} to {upper:.4g}')
        slack = 0.05 * (upper - lower)
        if not (low < lower - slack or high > upper + slack):
            return
        is_fast = speed > FAR_ABOVE * limits.velocity > 0.0
        if isfinite(allowed) and (is_fast or largest > FAR_ABOVE * max(allowed, upper - lower)):
            fast = (f', and it moves at {speed:.4g} a second, its limit {limits.velocity:.4g}'
                    if is_fast else '')
            raise RecordingError(
                f'{text}{fast}: are they in rad or m?  Tell their unit, such as --csv-units '
                'position=deg,velocity=deg/s, or correct it where they are recorded')
        self._tell('motion', f'{_sentence(text)} Is it this robot, and the zero the same?',
                   is_warning=True)

    # ---- filter ---------------------------------------------------------------------------------

    def _spectra(self, signals: _Signals, period: float) -> dict[str, list[Spectrum]]:
        """Return the spectra of positions and velocities in the longest piece, by joint."""
        piece = max(signals.pieces, key=lambda piece: piece.stop - piece.start)
        found = {}
        for name, derivatives in (('positions', 1), ('velocities', 0)):
            if name in signals.by_name:
                array = signals.by_name[name][piece]
                found[name] = [spectrum(column, period, derivatives) for column in array.T]
        return found

    def _cutoff(self, spectra: dict[str, list[Spectrum]], period: float) -> float:
        found = band(list(zip(*spectra.values())), period)
        highest = 0.5 / period
        cutoff = self._settings.cutoff
        if cutoff is not None and isfinite(cutoff) and cutoff >= highest:
            raise RecordingError(
                f'the cut-off is {cutoff:g} Hz; for recording {self._recording.name!r}, which has '
                f'{1.0 / period:.4g} samples a second, it needs less than {highest:.4g} Hz, or '
                'infinity for no low-pass')
        chosen = found.cutoff if cutoff is None else cutoff
        done = (f'Motion and efforts, forward and backward, at {chosen:.3g} Hz'
                if isfinite(chosen) else 'None')
        motion = (f'the motion has nearly all its speed below {found.bandwidth:.2g} Hz'
                  if found.bandwidth else 'no motion stands out from the noise')
        noise = max(found.noise, default=0.0)
        is_noisy = cutoff is None and noise > TOO_NOISY
        self._tell('low-pass', f'{done}; {motion}.' + (
            f'  {noise:.0%} of the power of an acceleration is noise, which makes inertias too '
            'small: record a faster motion.' if is_noisy else ''),
            {'cutoff': chosen, 'bandwidth': found.bandwidth}, is_noisy)
        return chosen

    def _smoothed(self, signals: _Signals, period: float, cutoff: float) -> _Signals:
        return signals._replace(by_name={
            name: np.concatenate([low_passed(array[piece], period, cutoff)
                                  for piece in signals.pieces])
            for name, array in signals.by_name.items()})

    # ---- motion ---------------------------------------------------------------------------------

    def _sources(
            self, joints: _Joints, raw: _Signals, smooth: _Signals, period: float, cutoff: float,
            ) -> np.ndarray:
        """Return for each joint whether its recorded velocities are used."""
        wanted = self._settings.derivatives_of
        uses = np.full(len(joints.names), False)
        if 'velocities' not in smooth.by_name:
            if wanted == VELOCITIES:
                raise RecordingError(
                    f'recording {self._recording.name!r} has no velocities to differentiate; '
                    f'differentiate {POSITIONS}')
            self._tell('velocities', 'They are the derivatives of positions, since not those of '
                       'all joints were recorded.')
            return uses
        derivatives = self._by_piece(smooth, 'positions', period)
        wrong = disagreements(joints.names, smooth.by_name['velocities'], derivatives)
        for why in wrong.values():
            if why.is_unit and wanted != POSITIONS:
                raise RecordingError(
                    f'recording {self._recording.name!r}: {why.sentence} Give the right units '
                    '(--csv-units), or correct them where they are recorded. Where the positions '
                    'are known to be right, differentiate them (--derivatives-of positions)')
            self._tell('velocities', f'{_sentence(why.sentence)} The derivatives are used '
                       'instead.', is_warning=True)
        if wanted == VELOCITIES:
            uses[:] = True
        elif wanted == AUTOMATIC:
            spectra, highest = self._spectra(raw, period), min(cutoff, 0.5 / period)
            uses[:] = [
                velocity.acceleration_noise(highest) < position.acceleration_noise(highest)
                for position, velocity in zip(spectra['positions'], spectra['velocities'])]
        uses &= [name not in wrong for name in joints.names]
        by_velocity = [name for name, used in zip(joints.names, uses) if used]
        by_position = [name for name, used in zip(joints.names, uses) if not used]
        self._tell('velocities', ' '.join(
            f'{what} of {", ".join(names)}.' for what, names in (
                ('Recorded velocities are used', by_velocity),
                ('Derivatives of positions are used', by_position)) if names))
        return uses

    @staticmethod
    def _by_piece(signals: _Signals, name: str, period: float, order: int = 1) -> np.ndarray:
        return np.concatenate([derivative(signals.by_name[name][piece], period, order)
                               for piece in signals.pieces])

    def _motion(
            self, joints: _Joints, smooth: _Signals, uses_velocities: np.ndarray, period: float,
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        robot, rows = self._robot, len(smooth.times)
        q = np.tile(self._resting(), (rows, 1))
        q[:, joints.q] = smooth.by_name['positions']
        qd, qdd = np.zeros((rows, robot.nv)), np.zeros((rows, robot.nv))
        qd[:, joints.v] = self._by_piece(smooth, 'positions', period)
        qdd[:, joints.v] = self._by_piece(smooth, 'positions', period, 2)
        if uses_velocities.any():
            used = np.flatnonzero(uses_velocities)
            places = [joints.v[k] for k in used]
            qd[:, places] = smooth.by_name['velocities'][:, used]
            qdd[:, places] = self._by_piece(smooth, 'velocities', period)[:, used]
        return q, qd, qdd

    def _resting(self) -> np.ndarray:
        """Return the positions of joints that were not recorded, and the origin of the others."""
        q = self._robot.neutral()
        for name, position in self._settings.assumed_positions.items():
            body = joint_body(self._robot, name)
            values = floats(f'the assumed position of {name!r}', position)
            if values.size != body.type.nq or not np.isfinite(values).all():
                raise RecordingError(
                    f'the assumed position of {name!r} is {position!r}; it needs '
                    f'{_counted(body.type.nq, "finite number")}')
            q[body.q_slice] = values
        return q

    def _moves(
            self, joints: _Joints, signals: _Signals, qd: np.ndarray,
            spectra: dict[str, list[Spectrum]], period: float, cutoff: float) -> np.ndarray:
        """
        Return whether each coordinate moves fast enough, and long enough for the filter.

        Near to where its direction turns, a joint may stick, which the filter hides.  A joint that
        turns back between two samples was slow in none of them.
        """
        moves = np.zeros(qd.shape, dtype=bool)
        reach = 2 * int(ceil(0.5 / (cutoff * period))) + 1 if isfinite(cutoff) else 1
        limits = []
        for k, v in enumerate(joints.v):
            slow = self._settings.slow
            if slow is None:
                noise = spectra['positions'][k].velocity_noise(min(cutoff, 0.5 / period))
                usual = SLOW_SHARE * float(np.percentile(np.abs(qd[:, v]), 99.0))
                slow = max(min(SLOW_SPEED, usual), MIN_SPEED, FEW_SIGMA * noise)
            limits.append(slow)
            for piece in signals.pieces:
                velocity = qd[piece, v]
                is_fast = np.abs(velocity) > slow
                turns = velocity[1:] * velocity[:-1] < 0.0
                is_fast[1:] &= ~turns
                is_fast[:-1] &= ~turns
                moves[piece, v] = minimum_filter1d(is_fast.astype(np.uint8), reach)
        shares = moves[:, joints.v].mean(axis=0)
        each = ', '.join(f'{name} {share:.0%} (faster than {limit:.2g})'
                         for name, share, limit in zip(joints.names, shares, limits))
        self._tell(
            'standstill', 'Kept for gravity, cut for the direction of friction.  Share of the '
            f'samples in which a joint moves: {each}.',
            {name: float(share) for name, share in zip(joints.names, shares)})
        return moves

    # ---- efforts --------------------------------------------------------------------------------

    def _efforts(
            self, signals: _Signals, q: np.ndarray, measured: Mapping[str, int]) -> np.ndarray:
        """
        Return the efforts of all coordinates, NaN where they were not recorded, shape (n, nv).

        The effort with which the drives answer to recorded wrenches is taken off.
        """
        efforts = np.full((len(signals.times), self._robot.nv), np.nan)
        efforts[:, list(measured.values())] = signals.by_name['efforts']
        if 'wrenches' in signals.by_name:
            efforts -= self._of_wrenches(signals, q)
        return efforts

    def _of_wrenches(self, signals: _Signals, q: np.ndarray) -> np.ndarray:
        """Return the effort with which the drives answer to recorded wrenches, shape (n, nv)."""
        still = np.zeros((len(q), self._robot.nv))
        wrenches = {self._recording.wrench_link: signals.by_name['wrenches']}
        return self._robot.inverse_dynamics(q, still, still, f_ext=wrenches) - (
            self._robot.inverse_dynamics(q, still, still))

    def _tell_wrenches(self, signals: _Signals, q: np.ndarray) -> None:
        link = self._recording.wrench_link
        if 'wrenches' in signals.by_name:
            largest = float(np.abs(self._of_wrenches(signals, q)).max())
            self._tell('wrenches', f'The effort of the wrenches on {link!r}, up to {largest:.3g} '
                       'Nm or N, is taken off the measured one.', {'largest': largest})
        elif self._recording.wrenches is not None:
            self._tell('wrenches', f'The effort of the wrenches on {link!r} stays in the measured '
                       'one, as requested.')

    def _check_angles(
            self, prepared: PreparedRecording, joints: _Joints, measured: dict[str, int]) -> None:
        """Refuse angles in radians that were taken for degrees."""
        if self._settings.trust_angles:
            return
        turning = [(q, v) for name, q, v in zip(joints.names, joints.q, joints.v)
                   if not joint_body(self._robot, name).type.slides_along_axis]
        found = taken_for_degrees(self._loaded, prepared, measured, turning)
        if found is not None:
            raise RecordingError(
                f'recording {self._recording.name!r}: besides friction, the model leaves '
                f'{found.left:.3g} Nm or N (RMS) of the effort of joint {found.joint!r}, and '
                f'{found.left_with_radians:.3g} if all angles are {DEGREES:.3g} times as large: '
                'were radians taken for degrees?  Give the right units, such as --csv-units '
                'position=rad,velocity=rad/s, or correct them where they are recorded.  If the '
                'angles are right, give --trust-angles (trust_angles in Python)')

    def _with_saturations(
            self, prepared: PreparedRecording, measured: dict[str, int]) -> PreparedRecording:
        """Return the recording with which of its efforts are cut off, and warn of them."""
        found = saturated_efforts(self._recording, prepared, self._loaded, measured)
        for joint, (bounds, share, _) in found.items():
            self._tell('efforts', f'The effort of joint {joint!r} is cut off at '
                       f'{" and ".join(f"{bound:.6g}" for bound in bounds)}, in '
                       f'{100.0 * share:.2g} % of the samples in which it moves.',
                       is_warning=True)
        return replace(prepared, saturations=found)

    def _delay(
            self, prepared: PreparedRecording, measured: dict[str, int], period: float) -> Delay:
        given = self._settings.delay
        if not isinstance(given, str):
            self._tell('delay', (
                f'The given delay of the efforts ({_late(given)}) is compensated.' if given else
                'The delay was not estimated, because it was given as 0.'), {'delay': given})
            return Delay(given)
        found = effort_delay(
            self._loaded, prepared, measured, period, self._settings.largest_delay)
        self._tell('delay', (
            f'No delay was found: {found.reason}.' if not found.seconds else
            f'All efforts are {_late(found.seconds)}, which is taken out.'),
            {'delay': found.seconds, 'likelihood': found.gain})
        late, sharper = ([name for name, v in measured.items() if v in chosen] for chosen in (
            found.late, found.friction.keys() - found.late))
        for names, how in ((late, 'slides only after a way where a joint turns back'),
                           (sharper, 'turns more sharply than that of the model')):
            if names:
                self._tell('friction', f'Coulomb friction {how}, which is taken into account: '
                           f'{", ".join(names)}.')
        return found

    def _trimmed(
            self, prepared: PreparedRecording, found: Delay, period: float) -> PreparedRecording:
        """Shift efforts, cut where the filter is disturbed, and take every so many samples."""
        settling = self._settings.settling
        if settling is None:
            settling = SETTLED / prepared.cutoff  # 0 without a filter
        margin = int(ceil(settling / period - 1e-6))
        # efforts at the ends would be later or earlier than the last or first that is known
        delay = found.seconds
        before = margin + max(0, int(ceil(-delay / period)))
        after = margin + max(0, int(ceil(delay / period)))
        every = self._every(prepared.cutoff, period)
        tau, kept, pieces, count = prepared.tau, [], [], 0
        if delay:
            tau = np.concatenate([_shifted(prepared.times[piece], tau[piece], delay)
                                  for piece in prepared.pieces])
        for piece in prepared.pieces:
            rows = np.arange(piece.start + before, piece.stop - after, every)
            if len(rows):
                kept.append(rows)
                pieces.append(slice(count, count + len(rows)))
                count += len(rows)
        if count < FEWEST_SAMPLES:
            raise NothingUsableError(
                f'recording {self._recording.name!r} has no piece longer than '
                f'{(before + after + every) * period:.3g} s, which the filter needs to settle')
        rows = np.concatenate(kept)
        self._tell(
            'ends', f'{(before + after) * period:.3g} s of each piece are cut, where the filter '
            f'settles; {count} samples are left, in {_counted(len(pieces), "piece")}, '
            f'{1.0 / (every * period):.4g} a second.',
            {'samples': count, 'rate': 1.0 / (every * period)})
        return replace(
            prepared, times=prepared.times[rows], q=prepared.q[rows], qd=prepared.qd[rows],
            qdd=prepared.qdd[rows], tau=tau[rows], moves=prepared.moves[rows],
            pieces=tuple(pieces), delay=delay,
            direction=None if prepared.direction is None else prepared.direction[rows],
            begin=self._recording.begin + float(prepared.times[rows[0]] - self._first_time()))

    def _first_time(self) -> float:
        times = self._recording.times
        return float(times[np.isfinite(times)][0])

    def _every(self, cutoff: float, period: float) -> int:
        rate = self._settings.rate
        if rate is None:
            return max(1, int(1.0 / (RATE * cutoff * period) + 1e-6)) if isfinite(cutoff) else 1
        if not np.isfinite(cutoff):
            raise RecordingError(
                f'the rate is {rate:g} Hz, but the cut-off is {cutoff:g} Hz; a lower rate needs a '
                'low-pass')
        if rate > (1.0 + 1e-6) / period or rate < 2.0 * cutoff:
            raise RecordingError(
                f'the rate is {rate:g} Hz; recording {self._recording.name!r} needs from '
                f'{2.0 * cutoff:.4g} Hz, twice the cut-off, to {1.0 / period:.4g} Hz, at which '
                'it was recorded')
        return max(1, int(1.0 / (rate * period) + 1e-6))


def _with_payloads(robot: Robot, recording: Recording) -> Robot:
    """Return the robot with what it carried; an error names the link that it does not have."""
    for name, (link, inertial) in recording.payloads.items():
        robot = robot.with_payload(name, link, inertial)
    return robot


def _first_not_finite(times: np.ndarray, fields: Mapping[str, _Field]) -> str:
    """Return where and of what the first number is that is not finite."""
    found = [(int(row), 'time') for row in np.flatnonzero(~np.isfinite(times))[:1]]
    for field_name, (array, columns, names) in fields.items():
        places = np.argwhere(~np.isfinite(array[:, columns]))[:1]
        found += [(int(row), f'{field_name} of {names[column]}') for row, column in places]
    row, what = min(found)
    return f'{what}, row {row + 1}, at {times[row]:.6g} s'


def _shifted(times: np.ndarray, efforts: np.ndarray, delay: float) -> np.ndarray:
    """Return efforts a delay later; those of joints without measurement stay as they are."""
    shifted, measured = efforts.copy(), np.isfinite(efforts).all(axis=0)
    shifted[:, measured] = CubicSpline(times, efforts[:, measured])(times + delay)
    return shifted


def _direction(
        prepared: PreparedRecording, period: float, delay: float = 0.0) -> np.ndarray:
    """
    Return the signs of velocities, as they are in the model, through the low-pass, shape (n, nv).

    Samples do not tell where between two of them friction turns.  So the signs are those at the
    instants of which the efforts are, and are then shifted as these.
    """
    widths = [sign_width(slowest) for slowest in slowest_speeds(
        [(prepared.qd, prepared.moves)]).tolist()]
    result = []
    for piece in prepared.pieces:
        times, rates = prepared.times[piece], prepared.qd[piece]
        rates = _shifted(times, rates, -delay) if delay else rates
        signs = low_passed(np.stack([
            smooth_sign(rate, width) for rate, width in zip(rates.T, widths)], axis=1),
            period, prepared.cutoff)
        result.append(_shifted(times, signs, delay) if delay else signs)
    return np.concatenate(result)


def _late(delay: float) -> str:
    return f'{1e3 * abs(delay):.2f} ms {"late" if delay > 0.0 else "early"}'


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ('' if text.endswith(('.', '?')) else '.')


def _counted(count: int, name: str) -> str:
    return f'{count} {name}{"" if count == 1 else "s"}'
