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
How often the intervals of an identification hold the true numbers of a simulated arm.

Of a right standard error, ±1.96 of it hold the true number in 95 % of all recordings.  Each case
has something that the model lacks.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
import json
from multiprocessing import get_context
import sys

from benchmark.report.tables import WIDTH
from benchmark.robots import describe
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from ros2_rnea import Inertial, Robot
from ros2_rnea.dynamics.regressor import PARAMETERS
from ros2_rnea.model.description import Pose
from ros2_rnea.offline.identification.identification import HELD_BACK, identify
from ros2_rnea.offline.identification.preparation import prepare
from ros2_rnea.offline.identification.recording import PreparedRecording, Recording
from ros2_rnea.offline.identification.smoothing import low_passed
from ros2_rnea.offline.identification.unknowns import PAYLOAD, Unknowns

RATES = (100, 500, 1000)
DRAWS = 20
DURATION = 60.0
"""Of a recording, in which a motion is repeated once [s]."""

WANTED = 0.90
"""Share of the intervals of ±1.96 standard errors that are to hold the true number."""

LOAD = Inertial(2.0, Pose((0.02, -0.03, 0.08)), (4e-3, 0.0, 0.0, 5e-3, 0.0, 3e-3))

BODIES, SUMS, FRICTION = 'bodies', 'sums', 'friction'
KINDS = (BODIES, SUMS, FRICTION)

HELP = f"""\
Identify a simulated UR5 {DRAWS} times in each case and at each rate, and count which share of the
intervals of ±1.96 standard errors holds the true number.  There are three kinds: numbers of bodies
and rotors that are determined one by one, sums of such (base parameters), and friction.  Where the
arm has another law of friction than the model, the true numbers of friction are those with which
the model is nearest to it.  Each draw has other masses, another motion of {DURATION:g} s and other
noise.  The preparation and the unknown numbers are the defaults; in the case of the load, the load
and friction are unknown.  The exit code is 1 where a share is below {WANTED:g}.
"""


@dataclass(frozen=True)
class Case:
    """
    What the arm has and the model lacks.

    :ivar breakaway: friction more at rest than in motion, as a share of Coulomb friction.
    :ivar presliding: over which Coulomb friction builds up after a reversal [rad].
    :ivar ripple: amplitude of an effort with a hundred periods in a turn, as a share of Coulomb
        friction.
    :ivar drift: what friction has lost at the end, as a share.
    :ivar encoder: resolution of the positions, of which velocities are differences [rad].
    :ivar is_load: whether an unknown load is identified, and nothing else but friction.
    """

    breakaway: float = 0.0
    presliding: float = 0.0
    ripple: float = 0.0
    drift: float = 0.0
    encoder: float = 0.0
    is_load: bool = False


EVERYTHING = Case(0.4, 5e-4, 0.2, 0.2, 2e-5)
CASES: Mapping[str, Case] = {
    'noise alone': Case(),
    'breakaway friction': Case(breakaway=0.4),
    'presliding': Case(presliding=5e-4),
    'ripple': Case(ripple=0.2),
    'drift of friction': Case(drift=0.2),
    'encoders': Case(encoder=2e-5),
    'load': Case(is_load=True),
    'all of these': EVERYTHING,
    'load and all of these': replace(EVERYTHING, is_load=True),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the benchmark and print its table.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code: 1 where a share is below the wanted one.
    """
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    jobs = [(name, rate, draw) for draw in range(options.draws) for rate in options.rates
            for name in options.cases]
    found: dict[tuple[str, int], list[Mapping[str, list[float]]]] = {}
    columns = [TextColumn('{task.description}'), BarColumn(20), MofNCompleteColumn(),
               TimeElapsedColumn()]
    with Progress(*columns, console=console, transient=True) as progress, ProcessPoolExecutor(
            options.workers, mp_context=get_context('spawn')) as executor:
        task = progress.add_task('identifying', total=len(jobs))
        waiting = {executor.submit(deviations, *job): job for job in jobs}
        for done in as_completed(waiting):
            name, rate, _ = waiting[done]
            found.setdefault((name, rate), []).append(done.result())
            progress.advance(task)
    rows = [Row.of(name, rate, found[name, rate])
            for name in options.cases for rate in options.rates]
    console.print(_table(rows))
    if options.json:
        options.json.write(json.dumps([asdict(row) for row in rows], indent=1) + '\n')
    return int(any(share < WANTED for row in rows for share in row.shares.values()))


def deviations(name: str, rate: int, draw: int) -> dict[str, list[float]]:
    """Return for each kind by how many standard errors its numbers are wrong in one draw."""
    case, rng = CASES[name], np.random.default_rng([draw, rate])
    urdf = Robot.from_urdf(describe('ur5').text)
    arm, loaded, coulomb = _arm(urdf, case, rng)
    recording, friction = _recorded(loaded, coulomb, case, rate, rng)
    link = arm.body_names[-1]
    unknowns = Unknowns(links=(), payload=link) if case.is_load else Unknowns(rotor_inertia='all')
    model = arm if case.is_load else urdf
    prepared = prepare(recording, model).prepared
    fit = identify([prepared], model, unknowns)
    true = _true_values(arm, loaded, _nearest(recording, friction, prepared))
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for one in fit.parameters:
        if one.standard_error is not None:
            is_body = one.quantity in PARAMETERS or one.quantity == 'rotor_inertia'
            found[BODIES if is_body else FRICTION].append(
                (one.value - true[one.name]) / one.standard_error)
    for combination in fit.base_parameters:
        if len(combination.terms) > 1:
            value = sum(factor * true[term] for term, factor in combination.terms.items())
            found[SUMS].append((combination.value - value) / combination.standard_error)
    return found


def _arm(urdf: Robot, case: Case, rng: np.random.Generator) -> tuple[Robot, Robot, np.ndarray]:
    """Return the true arm without friction, the same with its load, and Coulomb friction."""
    coulomb = np.array([5.0, 7.0, 4.0, 1.0, 1.0, 0.8]) * rng.uniform(0.7, 1.3, urdf.nv)
    if case.is_load:
        return urdf, urdf.with_payload(PAYLOAD, urdf.body_names[-1], LOAD), coulomb
    factors = np.repeat(rng.uniform(0.8, 1.2, len(urdf.body_names)), 10)  # of whole bodies
    arm = urdf.with_inertial_parameters(urdf.inertial_parameters * factors)
    bodies = tuple(replace(body, armature=float(rotor))
                   for body, rotor in zip(arm.tree.bodies, 0.2 * coulomb))
    arm = Robot(replace(arm.tree, bodies=bodies), gravity=arm.free_fall)
    return arm, arm, coulomb


def _recorded(
        arm: Robot, coulomb: np.ndarray, case: Case, rate: int, rng: np.random.Generator,
        ) -> tuple[Recording, np.ndarray]:
    """
    Return a recording of the arm at a rate [Hz].

    :return: also the true friction, shape (n, nv).
    """
    times = np.arange(0.0, DURATION, 1.0 / rate)
    q, qd, qdd = np.zeros((3, len(times), arm.nv))
    for harmonic in range(1, 6):
        w = 4.0 * np.pi * harmonic / DURATION
        phase = np.multiply.outer(w * times, np.ones(arm.nv)) + rng.uniform(-3.0, 3.0, arm.nv)
        size = rng.normal(size=arm.nv) * (0.8 / harmonic**0.5)
        q += size * np.sin(phase)
        qd += size * w * np.cos(phase)
        qdd -= size * w * w * np.sin(phase)
    dry = _presliding(q, case.presliding) if case.presliding else np.sign(qd)
    more = 1.0 + case.breakaway * np.exp(-(qd / 0.1)**2)
    warm = 1.0 - case.drift * (1.0 - np.exp(-times / (0.3 * DURATION)))[:, None]
    lost = warm * coulomb * (0.8 * qd + more * dry)
    ripple = case.ripple * coulomb * np.sin(100.0 * q + rng.uniform(-3.0, 3.0, arm.nv))
    tau = arm.inverse_dynamics(q, qd, qdd) + lost + ripple
    tau += 0.1 * coulomb * rng.standard_normal(tau.shape)
    if case.encoder:
        q = case.encoder * np.round(q / case.encoder)
        qd = np.gradient(q, times, axis=0)
    return Recording('simulated', times, arm.joint_names, q, tau, qd), lost


def _nearest(
        recording: Recording, friction: np.ndarray, prepared: PreparedRecording) -> np.ndarray:
    """
    Return the friction numbers of each joint that a right fit finds in infinitely long data.

    Where the arm has another law than the model, that is the law of the model that is nearest in
    the samples of the fit: H. White, "Maximum Likelihood Estimation of Misspecified Models",
    Econometrica 50(1), 1982.

    :return: viscous and Coulomb friction and offset, shape (3, nv).
    """
    period = float(recording.times[1] - recording.times[0])
    filtered = low_passed(friction, period, prepared.cutoff)
    used = slice(0, round(len(prepared.times) * (1.0 - HELD_BACK)))
    result = []
    for joint in range(friction.shape[1]):
        moves = prepared.moves[used, joint]
        speed, sign = prepared.qd[used, joint][moves], prepared.signs[used, joint][moves]
        effort = np.interp(prepared.times[used][moves], recording.times, filtered[:, joint])
        columns = np.column_stack([speed, sign, np.ones(len(speed))])
        result.append(np.linalg.lstsq(columns, effort)[0])
    return np.array(result).T


def _presliding(q: np.ndarray, length: float) -> np.ndarray:
    """Return the state of Dahl's model, from -1 to 1, shape of q (P. Dahl, 1968)."""
    state, result = np.zeros(q.shape[1]), np.zeros_like(q)
    for row, step in enumerate(np.diff(q, axis=0, prepend=q[:1]) / length):
        towards = np.sign(step)
        state = towards + (state - towards) * np.exp(-np.abs(step))
        result[row] = state
    return result


def _true_values(arm: Robot, loaded: Robot, friction: np.ndarray) -> dict[str, float]:
    """Return the true numbers by their names in results."""
    bodies = dict(zip(arm.body_names, arm.inertial_parameters.reshape(-1, 10)))
    bodies[PAYLOAD] = loaded.inertial_parameters[-10:] - arm.inertial_parameters[-10:]
    true = {f'{name} of {owner}': float(value) for owner, ten in bodies.items()
            for name, value in zip(PARAMETERS, ten)}
    for joint, index in arm.tree.joints.items():
        body = arm.tree.bodies[index]
        viscous, coulomb, offset = friction[:, body.v_index].tolist()
        true.update({f'viscous friction of {joint}': viscous,
                     f'Coulomb friction of {joint}': coulomb,
                     f'offset of the friction of {joint}': offset,
                     f'rotor inertia of {joint}': body.armature})
    return true


@dataclass(frozen=True)
class Row:
    """
    The result of one case at one rate.

    :ivar shares: by kind, of the intervals that hold the true number.
    :ivar counts: by kind, how many intervals there are.
    """

    case: str
    rate: int
    draws: int
    shares: Mapping[str, float]
    counts: Mapping[str, int]

    @classmethod
    def of(cls, case: str, rate: int, draws: Sequence[Mapping[str, list[float]]]) -> Row:
        """Return what deviations by draw come to."""
        together = {kind: np.concatenate([draw[kind] for draw in draws]) for kind in KINDS}
        return cls(case, rate, len(draws),
                   {kind: float(np.mean(np.abs(own) < 1.96))
                    for kind, own in together.items() if len(own)},
                   {kind: len(own) for kind, own in together.items()})


def _table(rows: Sequence[Row]) -> Table:
    table = Table('case', 'Hz', *(column for kind in KINDS for column in (kind, 'of')),
                  title='Share of ±1.96 standard errors that hold the true number')
    for row in rows:
        cells = [cell for kind in KINDS for cell in (
            f'{row.shares[kind]:.2f}' if kind in row.shares else '–', str(row.counts[kind]))]
        table.add_row(row.case, str(row.rate), *cells)
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='benchmark coverage', description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--draws', type=int, default=DRAWS, help='of each case and rate')
    parser.add_argument('--rates', type=_integers, default=RATES, metavar='HZ,HZ',
                        help='samples a second')
    parser.add_argument('--cases', type=_names, default=tuple(CASES), metavar='CASE,CASE',
                        help=f'some of {", ".join(CASES)}')
    parser.add_argument('--workers', type=int, default=None, help='processes')
    parser.add_argument('--json', type=argparse.FileType('w'), help='also write the shares here')
    return parser


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(','))


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(','))
    for name in names:
        if name not in CASES:
            raise argparse.ArgumentTypeError(
                f'there is no case {name!r}; there are {", ".join(CASES)}')
    return names


if __name__ == '__main__':
    sys.exit(main())
