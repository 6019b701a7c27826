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
Write docs/identified-robots.rst: what identification makes of public recordings of real robots.

``./run recordings --ur10e FOLDER --figaroh FOLDER`` reads clones of two public repositories,
which are no part of this one, and identifies each robot with the command that the page shows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
import re
import shlex

import matplotlib
from matplotlib.figure import Figure
import numpy as np
from public_recordings import (
    controller_gains,
    convert_tiago,
    convert_tx40,
    JOINTS,
    OF_THE_REPOSITORY,
    published_model,
    TIAGO_JOINTS,
    TIAGO_ROWS,
    ur10e_recording,
)
from rich.console import Console
from ros2_rnea.control.inputs.momentum_observer import MomentumObserver
from ros2_rnea.model.description import Inertial
from ros2_rnea.offline.commands.identify.unknown_list import unknowns_from
from ros2_rnea.offline.commands.recordings import add_recording_options, prepared_recordings
from ros2_rnea.offline.identification.identification import HELD_BACK, identify
from ros2_rnea.offline.identification.information import chunks, Information, reduced
from ros2_rnea.offline.identification.node_parameters import CONTACT
from ros2_rnea.offline.identification.preparation import prepare
from ros2_rnea.offline.identification.recording import PreparedRecording
from ros2_rnea.offline.identification.results import Identification
from ros2_rnea.offline.identification.unknowns import Design, Unknowns
from ros2_rnea.robots.robot import Robot

DOCS = Path(__file__).parent
OUTPUT = DOCS / 'identified-robots.rst'

UR10E = 'https://github.com/shamilmamedov/dynamic_calibration'
UR10E_COMMIT = '11af40e'
FIGAROH = 'https://github.com/thanhndv212/figaroh-examples'
FIGAROH_COMMIT = 'c0b5c7f'

UR10E_URDF = 'URe/urdf/ur10e.urdf'
FREE = 'dataset_ur10e/identification_data/'
OTHER_DAY = f'{FREE}ur-20_02_12-50sec_12harm.csv'
LOAD_MASS = 2.805

OF_A_UR10 = (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)
"""Gains in main.m [Nm/A], there said to be those of a paper."""

OBSERVER_GAINS = (10.0, 5.0)
"""Gains of the momentum observer [1/s]."""

MULTIPLES = (2.0, CONTACT)
"""Of the RMS that the identified model leaves, beside Coulomb friction: thresholds of contacts."""

COMMAND_WIDTH = 84

PICTURE = {'figure.figsize': (8.0, 6.2), 'font.size': 7, 'lines.linewidth': 0.7,
           'figure.dpi': 80, 'axes.spines.top': False, 'axes.spines.right': False}


@dataclass(frozen=True)
class Case:
    """
    One identification of the page.

    :ivar name: of its picture.
    :ivar files: that are read, in the repository.
    :ivar arguments: of the command ``identify``, before --urdf.
    :ivar before: paragraphs before the results.
    :ivar after: paragraphs after them.
    :ivar places: where the files among the arguments are.
    """

    name: str
    title: str
    folder: Path
    address: str
    commit: str
    files: tuple[str, ...]
    urdf: str
    arguments: tuple[str, ...]
    before: str
    after: Callable[[Identified], str]
    places: Mapping[str, Path]
    unknown: str = 'friction,rotor,inertia'


@dataclass(frozen=True)
class Identified:
    """What came of a case, and what unconstrained least squares leaves."""

    robot: Robot
    prepared: tuple[PreparedRecording, ...]
    least_squares: np.ndarray
    fit: Identification

    @property
    def recorded(self) -> list[int]:
        """Return the coordinates whose efforts were recorded."""
        return [index for index, value in enumerate(self.fit.measured_rms) if np.isfinite(value)]


def main() -> None:
    """Identify all and write the page and its pictures."""
    parser = argparse.ArgumentParser(prog='./run recordings', description=__doc__)
    parser.add_argument('--ur10e', type=Path, required=True, metavar='FOLDER',
                        help=f'clone of {UR10E} at {UR10E_COMMIT}')
    parser.add_argument('--figaroh', type=Path, required=True, metavar='FOLDER',
                        help=f'clone of {FIGAROH} at {FIGAROH_COMMIT}')
    parser.add_argument('--work', type=Path, default=Path('out', 'recordings'), metavar='FOLDER',
                        help='of converted recordings (default: %(default)s)')
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams.update(PICTURE)
    ur10e = ur10e_case(options.ur10e)
    sections = [section(ur10e), gain_section(options.ur10e),
                push_section(options.ur10e)]
    for case in (tiago_case(options.figaroh, options.work),
                 tx40_case(options.figaroh, options.work)):
        sections.append(section(case))
    OUTPUT.write_text('\n'.join([HEAD, *sections]).rstrip() + '\n', encoding='utf-8')
    Console().print(OUTPUT)


HEAD = f"""\
.. Written by docs/make_identified_robots.py; changes to this file will be overwritten.

Identification of real robots
=============================

The tests identify simulated robots, whose parameters are known.  This page shows what
:doc:`identification` makes of public recordings of real ones.  The recordings are not part of
this package.  Get them, and everything below is measured anew, pictures included, by::

   git clone {UR10E}
   git -C dynamic_calibration checkout {UR10E_COMMIT}
   git clone {FIGAROH}
   git -C figaroh-examples checkout {FIGAROH_COMMIT}
   ./run recordings --ur10e dynamic_calibration --figaroh figaroh-examples/examples

In the tables, all efforts are root mean squares over the last {100 * HELD_BACK:.0f} % of a
recording, which no fit has seen:

- **residual, URDF**: of the measured effort to the URDF of the repository, which has no friction.
- **residual, identified**: to the identified model, all bodies of which are physically consistent.
- **residual, least squares**: to a fit by least squares without any constraint, with the same
  unknowns and weights: it may choose negative masses, so that nothing that is linear in the
  parameters fits the rest of the recording better.  The residual to the identified model should be
  at most 10 % larger.
"""


# ---- one identification -------------------------------------------------------------------------


def section(case: Case) -> str:
    """Return the section of a case, and draw its picture."""
    result = identified(case)
    picture(case, result)
    rows = [
        (result.fit.joints[index], result.fit.measured_rms[index], result.fit.urdf_rms[index],
         result.fit.identified_rms[index], result.least_squares[index],
         result.fit.identified_rms[index] / result.least_squares[index])
        for index in result.recorded]
    return '\n'.join([
        heading(case.title), '', case.before.strip(), '', *sources(case), '',
        'The command, in the folder of the repository (``report`` instead of ``identify`` and',
        'without ``--unknown`` compares the URDF only)::', '',
        *command_lines(case), '',
        *table(('joint', 'measured', 'residual, URDF', 'residual, identified',
                'residual, least squares', 'ratio of the last two'),
               [(name, *map(number, values)) for name, *values in rows]), '',
        f'All bodies physically consistent: '
        f'{"yes" if result.fit.physically_consistent else "no"}.  Condition number of the scaled '
        f'regression: {result.fit.condition_number:.0f}.', '', case.after(result).strip(), '',
        f'.. image:: images/identified_{case.name}.png',
        f'   :alt: {case.title}: measured effort and model on held-back data', ''])


def identified(case: Case) -> Identified:
    """Identify as the command of a case does, and fit the same data without constraints."""
    parser = argparse.ArgumentParser()
    add_recording_options(parser)
    options = parser.parse_args(absolute(case))
    robot = Robot.from_urdf((case.folder / case.urdf).read_text(encoding='utf-8'))
    prepared = tuple(prepared_recordings(options, robot, []))
    unknowns = unknowns_from(case.unknown)
    fit = identify(prepared, robot, unknowns)
    return Identified(
        robot, prepared, least_squares(prepared, robot, unknowns, fit), fit)


def absolute(case: Case) -> list[str]:
    """Return the arguments of a case with the paths of its files."""
    return [str(case.places.get(one, one)) for one in case.arguments]


def least_squares(
        prepared: Sequence[PreparedRecording], robot: Robot, unknowns: Unknowns,
        fit: Identification) -> np.ndarray:
    """Return what unconstrained least squares leaves on held-back data, shape (nv,)."""
    fastest = np.max([np.abs(one.qd).max(axis=0) for one in prepared], axis=0)
    design = Design(robot, unknowns, fastest)
    splits = [round(len(one.times) * (1.0 - HELD_BACK)) for one in prepared]
    seen = reduced(design, (part for one, split in zip(prepared, splits)
                            for part in chunks(one, 0, split)), None)
    unseen = reduced(design, (part for one, split in zip(prepared, splits)
                              for part in chunks(one, split, len(one.times))), None)
    H, g = np.zeros((design.columns, design.columns)), np.zeros(design.columns)
    for columns, products, noise in zip(design.of_coordinate, seen.products, fit.noise_rms):
        if np.isfinite(noise):
            before = np.array([design.unknowns[column].urdf_value for column in columns])
            fixed = products[:-2, -2] - products[:-2, :-2] @ before  # what no unknown explains
            target = products[:-2, -1] - fixed
            H[np.ix_(columns, columns)] += products[:-2, :-2] / noise**2
            g[columns] += target / noise**2
    scale = np.sqrt(np.where(np.diag(H) > 0.0, np.diag(H), 1.0))
    solution = np.linalg.lstsq(H / np.outer(scale, scale), g / scale, rcond=1e-11)[0] / scale
    return np.array([left(unseen, coordinate, solution[columns], design)
                     for coordinate, columns in enumerate(design.of_coordinate)])


def left(
        information: Information, coordinate: int, x: np.ndarray, design: Design) -> float:
    """Return the RMS of a coordinate's residual."""
    count = information.rows[coordinate]
    if not count:
        return np.nan
    before = np.array([design.unknowns[column].urdf_value
                       for column in design.of_coordinate[coordinate]])
    weights = np.array([*(before - x), -1.0, 1.0])
    return float(np.sqrt(weights @ information.products[coordinate] @ weights / count))


def picture(case: Case, result: Identified) -> None:
    """Draw the efforts on held-back data by joint."""
    shown = result.recorded
    figure = Figure()
    axes = figure.subplots((len(shown) + 1) // 2, 2, squeeze=False, sharex=True)
    one = result.prepared[0]
    part = slice(round(len(one.times) * (1.0 - HELD_BACK)), None, max(1, len(one.times) // 5000))
    states = one.q[part], one.qd[part], one.qdd[part]
    times = one.times[part] - one.times[0]
    before = result.robot.inverse_dynamics(*states)
    after = result.fit.robot.inverse_dynamics(*states)
    for index, axis in zip(shown, axes.flat):
        axis.plot(times, one.tau[part, index], color='0.2', label='measured')
        axis.plot(times, before[:, index], color='tab:orange', label='URDF')
        axis.plot(times, after[:, index], color='tab:blue', label='identified')
        axis.set_title(result.fit.joints[index], loc='left')
        axis.set_ylabel('Nm or N')
    axes.flat[0].legend(ncols=3, frameon=False, loc='upper left')
    for axis in axes[-1]:
        axis.set_xlabel('time [s], the last 30 %')
    save(figure, case.name)


def save(figure: Figure, name: str) -> None:
    """Write a picture of the page."""
    figure.tight_layout()
    figure.savefig(DOCS / 'images' / f'identified_{name}.png', metadata={'Software': None},
                   pil_kwargs={'optimize': True})


# ---- UR10e --------------------------------------------------------------------------------------


def ur10e_arguments(file: str, gains: Sequence[float]) -> tuple[str, ...]:
    """Return the arguments that read a recording of the UR10e."""
    return (file, '--csv-time', '1', '--csv-position', '2-7', '--csv-velocity', '8-13',
            '--csv-effort', '14-19', '--csv-joints', ','.join(JOINTS),
            '--csv-units', 'effort=A', '--current-gains',
            ','.join(f'{name}={gain:g}' for name, gain in zip(JOINTS, gains)))


def published_error(folder: Path, one: PreparedRecording, robot: Robot) -> np.ndarray:
    """
    Return what the repository's own parameters leave of a recording [% of the measured effort].

    They were identified in the torque of its own gains, so that only the share can be compared.
    """
    bodies, rotors, friction = published_model(folder)
    model = robot.regressor(one.q, one.qd, one.qdd) @ bodies.reshape(-1) + rotors * one.qdd \
        + friction[:, 0] * one.qd + friction[:, 1] * np.sign(one.qd) + friction[:, 2]
    measured = one.tau * (np.array(OF_THE_REPOSITORY) / controller_gains(folder))
    return 100.0 * rms(measured - model) / rms(measured)


def ur10e_case(folder: Path) -> Case:
    """Return the arm without load."""
    file = f'{FREE}ur-20_02_19_14harm50sec.csv'
    gains = controller_gains(folder)

    def after(result: Identified) -> str:
        other = prepare(ur10e_recording(folder, OTHER_DAY, gains), result.robot).prepared
        model = result.fit.robot.inverse_dynamics(other.q, other.qd, other.qdd)
        own = 100.0 * rms(other.tau - model) / rms(other.tau)
        theirs = published_error(folder, other, result.robot)
        return f"""\
The repository gives no errors, but the parameters that it found (``UR10E_parameters.txt``,
evaluated here with its regressor's order, friction and gains).  On a recording of another day
that this fit has not seen (``{Path(OTHER_DAY).name}``), they leave {percents(theirs)} % of the
measured effort, joint by joint, and those found here {percents(own)} %."""

    return Case(
        'ur10e', 'UR10e', folder, UR10E, UR10E_COMMIT, (file,), UR10E_URDF,
        ur10e_arguments(file, gains), """\
50 s of a trajectory with 14 harmonics, 100 samples a second, with measured currents.  The gains
[Nm/A] are those of the arm's own controller, as `the next section <gains of the UR10e_>`_
explains.""", after, {file: folder / file})


def gain_section(folder: Path) -> str:
    """Return the section about the gains, with and without a known load."""
    controller = controller_gains(folder)
    robot = Robot.from_urdf((folder / UR10E_URDF).read_text(encoding='utf-8'))
    pairs = (('ur-20_02_19_14harm50sec.csv', 'ur-20_02_19_14harm50secLoad.csv'),
             ('ur-20_02_19_15harm50sec.csv', 'ur-20_02_19_15harm50secLoad.csv'),
             ('ur-20_01_31-unload.csv', 'ur-20_01_31-load.csv'))
    masses, farthest = [], 0.0
    groups = [(loaded, ((free, loaded),)) for free, loaded in pairs]
    for name, group in (*groups, ('the three together', pairs)):
        row = [name]
        for gains in (np.array(OF_A_UR10), np.array(OF_THE_REPOSITORY), controller):
            mass, error = load_mass(folder, robot, group, gains)
            row.append(f'{mass:.2f} ± {error:.2f} ({100 * (mass / LOAD_MASS - 1):+.1f} %)')
        farthest = max(farthest, abs(100 * (mass / LOAD_MASS - 1)))  # with the last gains
        masses.append(row)
    found = [identified_gains(folder, robot, *pairs[0], start)
             for start in (np.array(OF_A_UR10), controller)]
    rows = [(name, f'{ur10:.2f}', f'{own:.2f}', f'{true:.2f}', *(
        f'{result[name][0]:.2f} ± {result[name][1]:.2f}' for result in found))
        for name, ur10, own, true in zip(
            JOINTS, OF_A_UR10, OF_THE_REPOSITORY, controller)]
    files = tuple(FREE + name for pair in pairs for name in pair)
    return '\n'.join([
        heading('Gains of the UR10e'), '', GAINS_WORDS, '', *hashes(folder, files), '',
        *table(('joint', 'main.m', 'UR10E_parameters.txt', 'controller',
                'identified from main.m', 'identified from controller'), rows), '',
        LOAD_WORDS, '', *table(('recording with the load', 'main.m', 'UR10E_parameters.txt',
                                'controller'), masses), '',
        LESSON.format(farthest=f'{farthest:.1f}'), ''])


GAINS_WORDS = """\
How many Nm is an ampere?  The repository has two answers.  ``main.m`` names gains "found in the
paper by De Luca", without the arm that they belong to.  ``UR10E_parameters.txt`` has those that
the authors identified with a load.  They differ by 13 to 49 %.

The recordings hold a third answer.  Columns 20 to 25 are the controller's target currents, and 26
to 31 its target torques.  In a joint at rest, their ratio is constant to four digits: it is the
gain that the controller itself uses (column *controller*, from ``jointwise_motion``).

A recording under a known load tells who is right, because a wrong gain makes a wrong load.  The
last two columns are identified from a recording without and one with the load (``--unknown
friction,rotor,inertia,gains`` with ``--payload``), once beginning with the gains of ``main.m``
and once with those of the controller [Nm/A].  The result hardly depends on
where it begins, and is that of the controller within 7 %.  Of
the load, the repository gives only the mass; its centre is the one that was identified with the
same gains, which enters these gains too."""

LOAD_WORDS = f"""\
The other way round, the mass of the load is identified with each set of gains: first the arm from
the recording without load, then what its wrist carries in the recording with it (``--unknown
friction,payload:wrist_3_link``).  The load has {LOAD_MASS} kg."""

LESSON = """\
So the gains of ``main.m`` make loads too heavy, and those of ``UR10E_parameters.txt`` too light.
With those of the controller, the mass is {farthest} % off at most.  The standard errors of single
recordings cover noise and what differs within a recording.  The three recordings differ by more,
for instance by the temperature of the gears, which no single recording shows.  Identified
together, three recordings show it: the standard error then covers their differences.

What to learn from it: where efforts are currents, look for the gain of *your* type of arm, in
the controller first.  Without a load, nothing shows a wrong gain: masses, friction and gain are
multiplied by each other, so the free arm fits almost equally well with each of the three.
Record once with a known mass, identify it as if it were unknown, and compare."""


def load_mass(
        folder: Path, robot: Robot, pairs: Sequence[tuple[str, str]], gains: np.ndarray,
        ) -> tuple[float, float]:
    """Return the identified mass of the load and its standard error [kg]."""
    result = identified_load(folder, robot, pairs, gains)
    mass = next(one for one in result.parameters
                if one.owner == 'payload' and one.quantity == 'm')
    return mass.value, mass.standard_error or np.nan


def identified_load(
        folder: Path, robot: Robot, pairs: Sequence[tuple[str, str]], gains: np.ndarray,
        ) -> Identification:
    """
    Identify the arm, and then what its last link carries.

    :param pairs: files of recordings without and with the load.
    """
    without = [prepare(ur10e_recording(folder, FREE + free, gains), robot).prepared
               for free, _ in pairs]
    arm = identify(without, robot, Unknowns(rotor_inertia='all')).robot
    carries = [prepare(ur10e_recording(folder, FREE + loaded, gains), arm).prepared
               for _, loaded in pairs]
    return identify(carries, arm, Unknowns(links=(), payload='wrist_3_link'))


def identified_gains(
        folder: Path, robot: Robot, free: str, loaded: str, start: np.ndarray,
        ) -> dict[str, tuple[float, float]]:
    """Return the gains [Nm/A] with their standard errors, found with the known load."""
    link, found = identified_load(folder, robot, [(free, loaded)], start).payload
    share = LOAD_MASS / found.mass
    known = Inertial(LOAD_MASS, found.origin, tuple(share * one for one in found.inertia))
    without = prepare(ur10e_recording(folder, FREE + free, start), robot).prepared
    carries = replace(prepare(ur10e_recording(folder, FREE + loaded, start), robot).prepared,
                      payloads={'load': (link, known)})
    result = identify([without, carries], robot, Unknowns(rotor_inertia='all', gains='all'))
    gains = dict(zip(JOINTS, start))
    return {one.owner: (gains[one.owner] * one.value,
                        gains[one.owner] * (one.standard_error or np.nan))
            for one in result.parameters if one.quantity == 'gain'}


# ---- pushes -------------------------------------------------------------------------------------


PUSHES = {'ur-20_01_22-push_pose_1.csv': 4, 'ur-20_01_22-push_pose_2.csv': 6}
"""How many pushes the measured currents show, beside the constant target currents."""


@dataclass(frozen=True)
class Observed:
    """The residual of the momentum observer over a recording [Nm]."""

    name: str
    times: np.ndarray
    residual: np.ndarray
    stops: float

    def contacts(self, thresholds: np.ndarray) -> list[tuple[float, float]]:
        """Return when the residual of any joint is above its threshold; pauses of 0.3 s join."""
        above = np.flatnonzero((np.abs(self.residual) > thresholds).any(axis=1))
        if not len(above):
            return []
        groups = np.split(above, np.flatnonzero(np.diff(self.times[above]) > 0.3) + 1)
        return [(self.times[group[0]], self.times[group[-1]]) for group in groups]


def observe(
        folder: Path, file: str, robot: Robot, gains: np.ndarray, observer_gain: float,
        ) -> Observed:
    """Run the observer of the node over a recording."""
    one = ur10e_recording(folder, file, gains)
    observer = MomentumObserver(
        robot, observer_gain, 0.1, np.full(6, np.inf), np.arange(6))
    residual = np.zeros((len(one.times), 6))
    for index, (time, q, qd, effort) in enumerate(
            zip(one.times, one.positions, one.velocities, one.efforts)):
        observer.update(q, qd, effort, time)
        residual[index] = observer.estimate
    moving = np.flatnonzero(np.abs(one.velocities).max(axis=1) > 0.05)
    stops = one.times[moving[-1]] if len(moving) else np.inf
    begun = slice(50, None)  # the filter has settled
    return Observed(Path(file).name, one.times[begun] - one.times[0], residual[begun],
                    stops - one.times[0])


def push_section(folder: Path) -> str:
    """Return the section about contacts, and draw the picture."""
    gains = controller_gains(folder)
    robot = Robot.from_urdf((folder / UR10E_URDF).read_text(encoding='utf-8'))
    arms = [f'{FREE}ur-20_02_19_14harm50sec.csv', f'{FREE}ur-20_02_19_15harm50sec.csv']
    fit = identify([prepare(ur10e_recording(folder, file, gains), robot).prepared
                    for file in arms], robot, Unknowns(rotor_inertia='all'))
    coulomb = np.array([fit.friction[name].coulomb for name in JOINTS])
    data = folder / 'dataset_ur10e'
    pushes = [f'dataset_ur10e/collision/{name}' for name in PUSHES]
    free = [*arms, *sorted(
        str(one.relative_to(folder)) for pattern in (
            'identification_data/ur-20_02_0*.csv', 'identification_data/ur-20_02_1[02]*.csv',
            'identification_data/*unload.csv', 'jointwise_motion/*.csv', 'validation_data/*.csv')
        for one in data.glob(pattern))]
    rows = []
    for observer_gain in OBSERVER_GAINS:
        pushed, calm = ([observe(folder, file, fit.robot, gains, observer_gain) for file in files]
                        for files in (pushes, free))
        for multiple in MULTIPLES:
            thresholds = coulomb + multiple * fit.identified_rms
            stopping = [begin >= one.stops - 0.1 for one in calm
                        for begin, _ in one.contacts(thresholds)]
            rows.append((
                f'{observer_gain:.0f}', f'{multiple:.0f}',
                ', '.join(f'{value:.1f}' for value in thresholds),
                ', '.join(f'{len(one.contacts(thresholds))} of {PUSHES[one.name]}'
                          for one in pushed),
                str(stopping.count(False)), str(stopping.count(True))))
    draw_pushes(pushed, coulomb + MULTIPLES[0] * fit.identified_rms)
    minutes = sum(float(one.times[-1] - one.times[0]) for one in calm) / 60.0
    return '\n'.join([
        heading('Pushes on the UR10e'), '',
        PUSH_WORDS.format(count=len(calm), minutes=minutes, contact=CONTACT), '',
        *hashes(folder, pushes), '',
        *table(('gain [1/s]', 'multiple', 'thresholds [Nm]', 'pushes seen in the two recordings',
                'false alarms in motion and at rest', 'false alarms at a stop'), rows), '',
        PUSH_LESSON, '',
        '.. image:: images/identified_pushes.png',
        '   :alt: Residual of the momentum observer while a person pushes the arm', ''])


PUSH_WORDS = """\
Two recordings are of an arm that holds a pose while a person pushes it, 4 and 6 times.  The
:ref:`momentum observer <momentum-observer>`, the same code as in the node, runs over them sample
by sample, and over {count} recordings of {minutes:.0f} minutes without a contact: trajectories,
motions of single joints and poses, of five weeks.  It has the model identified from two of
these.  The pushes are counted by hand: the measured currents depart from the target currents,
which stay constant.

At rest, Coulomb friction may hide an external effort, or look like one, up to its own magnitude.
So the threshold of each joint is its identified Coulomb friction and a multiple of the RMS of
the residual to the identified model on held-back data; ``identify`` proposes a multiple of
{contact:.0f} in its ``parameters.yaml``.  The gain is ``external_effort_gain``."""

PUSH_LESSON = """\
In motion and at rest, there is no false alarm.  At the end of some trajectories, the program is
stopped at once: the currents of shoulder and elbow jump by 5 to 15 A for one sample, and samples
that are 10 ms apart do not tell how the velocity fell.  An observer with a time constant of 200
ms does not take that for a contact, and sees all pushes with the smaller multiple.  The weakest
one, 24 Nm about the vertical axis of a joint with 18 Nm of Coulomb friction, is below the larger
thresholds.  A robot with more than 100 states a second can have a larger gain.

The gain of 5 1/s and the multiple of 2 were chosen by a scan (gains of 3 to 10 1/s, multiples of
2 to 6) over these same recordings, so their figures are what a choice after the fact achieves.

In the picture, the gain is 5, and thresholds have the smaller multiple."""


def draw_pushes(pushed: Sequence[Observed], thresholds: np.ndarray) -> None:
    """Draw residuals relative to the thresholds."""
    figure = Figure(figsize=(8.0, 5.0))
    axes = figure.subplots(len(pushed), 1)
    for one, axis in zip(pushed, axes):
        for joint, name in enumerate(JOINTS):
            axis.plot(one.times, one.residual[:, joint] / thresholds[joint], label=name)
        for begin, end in one.contacts(thresholds):
            axis.axvspan(begin, end, color='0.9')
        axis.axhline(1.0, color='0.2', linestyle=':')
        axis.axhline(-1.0, color='0.2', linestyle=':')
        axis.set_title(one.name, loc='left')
        axis.set_ylabel('residual / threshold')
    axes[0].legend(ncols=3, frameon=False)
    axes[-1].set_xlabel('time [s]; grey: contact')
    save(figure, 'pushes')


# ---- FIGAROH's examples -------------------------------------------------------------------------


TIAGO_BASE = 'tiago/data/identification/dynamic/tiago_bp_19_Oct_2024_2320.csv'
TIAGO_URDF = 'tiago/urdf/tiago_48_schunk.urdf'


def tiago_case(folder: Path, work: Path) -> Case:
    """Return TIAGo, whose recording is joined from three files."""
    data = 'tiago/data/identification/dynamic/tiago_'
    files = tuple(f'{data}{name}.csv' for name in ('position', 'velocity', 'effort'))
    robot = Robot.from_urdf((folder / TIAGO_URDF).read_text(encoding='utf-8'))
    weight = robot.gravity(np.zeros(robot.nq))[robot.joint_names.index(TIAGO_JOINTS[0])]
    convert_tiago([folder / file for file in files], weight, work / 'tiago.csv')
    recorded = ':'.join(TIAGO_JOINTS)
    return Case(
        'tiago', 'TIAGo', folder, FIGAROH, FIGAROH_COMMIT, files, TIAGO_URDF,
        ('tiago.csv',), f"""\
59 s of torso and arm, 100 samples a second, rows {TIAGO_ROWS.start} to {TIAGO_ROWS.stop} as in
FIGAROH's own script.  ``./run recordings`` joins the three files, multiplies the currents by
gear ratio and motor constant, and adds the weight of the arm ({weight:.0f} N) to the effort of
the torso, all as that script does.  The command is for its
``tiago.csv``.""",
        lambda result: tiago_words(folder, result), {'tiago.csv': work / 'tiago.csv'},
        f'friction:{recorded}')


def tiago_words(folder: Path, result: Identified) -> str:
    """Return what there is to compare."""
    deviations = np.array([float(line.rsplit(',', 1)[1]) for line in (
        folder / TIAGO_BASE).read_text(encoding='utf-8').splitlines()])
    unknowns = Unknowns(friction=TIAGO_JOINTS, rotor_inertia=TIAGO_JOINTS)
    more = identify(result.prepared, result.robot, unknowns)
    unconstrained = least_squares(result.prepared, result.robot, unknowns, more)
    shown = result.recorded[:5]
    return f"""\
The motion is slow, friction is most of the effort, and the last 30 % go where the rest has not
been. So only friction is identified.  With all inertias and rotors unknown, the first five
joints are left with {', '.join(number(more.identified_rms[index]) for index in shown)}, and by
unconstrained least squares with {', '.join(number(unconstrained[index]) for index in shown)}: a
motion that says so little of inertias is better not asked for them, and ``identify`` warns where
its result is worse than the URDF.
The last three motors report hardly any current, so that their rows say nothing of a model.

The repository gives no errors of efforts, but the base parameters that FIGAROH found from this
recording in October 2024 (``{Path(TIAGO_BASE).name}``): of {len(deviations)} parameters,
{np.count_nonzero(deviations < 10.0)} has a standard deviation below 10 %, and
{np.count_nonzero(deviations > 1000.0)} have one above 1000 %."""


def tx40_case(folder: Path, work: Path) -> Case:
    """Return the TX40, whose recording is converted from the motors to the joints."""
    files = ('staubli_TX40/data/pos_read_data.csv', 'staubli_TX40/data/curr_data.csv')
    convert_tx40([folder / file for file in files], work / 'tx40.csv')
    return Case(
        'tx40', 'Stäubli TX40', folder, FIGAROH, FIGAROH_COMMIT, files,
        'staubli_TX40/urdf/tx40_mdh_modified.urdf',
        ('tx40.csv', '--csv-velocity='), """\
9 s, 5000 samples a second, positions and torques of the motors.  ``./run recordings`` converts
them to the joints with FIGAROH's gear ratios, offsets, and the coupling of the wrist: motor 6
turns with joint 5, too.  The command is for its ``tx40.csv``.""", tx40_words,
        {'tx40.csv': work / 'tx40.csv'})


def tx40_words(_: Identified) -> str:
    """Return what there is to compare."""
    return """\
The repository gives no errors for this robot.  FIGAROH's model of it has three parameters more
than a URDF can have: inertia and friction of motor 6, which act on joint 5, too.  Without them,
neither least squares nor the identified model holds for joint 5 beyond the motion of the fit.
The command warns of this joint, and ends with exit code 1.  The other joints do not need these
parameters."""


# ---- reStructuredText ---------------------------------------------------------------------------


def heading(title: str) -> str:
    """Return a heading of a section."""
    return f'{title}\n{"-" * len(title)}'


def sources(case: Case) -> list[str]:
    """Return where the files of a case come from."""
    return [f'{case.address}, commit {case.commit}:', '', *hashes(case.folder, case.files)]


def hashes(folder: Path, files: Iterable[str]) -> list[str]:
    """Return a list of files with the beginning of their SHA-256."""
    return [f'- ``{file}``, SHA-256 ``{sha256((folder / file).read_bytes()).hexdigest()[:16]}…``'
            for file in files]


def command_lines(case: Case) -> list[str]:
    """Return the command of a case, broken into lines."""
    words = ['./run', 'identify', *map(shlex.quote, case.arguments),
             '--urdf', case.urdf, '--unknown', case.unknown]
    lines, line = [], '  '
    for word in words:
        first, *others = pieces(word)
        if len(line) + len(first) > COMMAND_WIDTH and line.strip():
            lines.append(f'{line} \\')
            line = '      '
        line += f' {first}'
        for other in others:  # the shell joins what begins its line
            lines.append(f'{line}\\')
            line = f'   {other}'
    return [*lines, line]


def pieces(word: str) -> list[str]:
    """Return a word of a command in pieces that fit into a line."""
    found = ['']
    for part in re.split('(?<=[,:])', word):
        if found[-1] and len(found[-1]) + len(part) > COMMAND_WIDTH - 10:
            found.append('')
        found[-1] += part
    return found


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (titles, *rows):
        lines += [f'   {"*" if place == 0 else " "} - {cell}' for place, cell in enumerate(row)]
    return lines


def number(value: float) -> str:
    """Return a number with three digits."""
    return '-' if not np.isfinite(value) else f'{value:#.3g}'.rstrip('.')


def percents(values: np.ndarray) -> str:
    """Return shares in percent."""
    return ', '.join(f'{value:.1f}' for value in values)


def rms(values: np.ndarray) -> np.ndarray:
    """Return the root mean square of each column."""
    return np.sqrt(np.mean(np.square(values), axis=0))


if __name__ == '__main__':
    main()
