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
Write docs/real-robots.rst: what becomes of real robot descriptions, one row for each.

``./run robots`` looks at the robots of the package example-robot-data, at those in the cache of
the package robot_descriptions, and at files and folders that are named, such as a share folder of
ROS.  Descriptions have to be expanded from xacro.  With --demo, the demo is played with the arms
of docs/demo_arms.yaml.
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import distribution, PackageNotFoundError
import json
from pathlib import Path
from statistics import median
import subprocess
import sys
from textwrap import wrap
from time import perf_counter_ns
from typing import Any
from xml.etree import ElementTree

from benchmark.robots import FOLDER, PACKAGE, reduce_to_dynamics
import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from ros2_rnea.errors import RneaError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.audit import examine, Severity
from ros2_rnea.robots.robot import Robot
from ros2_rnea.tools.demo.arm import arm_of
from ros2_rnea.tools.models import Model
import yaml

OUTPUT = Path(__file__).parent / 'real-robots.rst'
ARMS = Path(__file__).parent / 'demo_arms.yaml'
CACHE = Path.home() / '.cache' / 'robot_descriptions'

USUAL_FOLDERS = ('urdf', 'robots')
"""Folders of a description package, which most packages have."""

STATES = 20
CALLS = 300

HEAD = """\
.. Written by docs/make_real_robots.py; changes to this file will be overwritten.

Real robots
===========

``./run robots`` makes this table from the descriptions at hand: here the {count} different ones of
the Python package example-robot-data and of the folders that were named.  The files are unchanged.
:doc:`identified-robots` has what identification makes of recordings of real robots.

- **nv**: velocity coordinates of the independent joints, on a fixed base.
- **time**: of one call of inverse dynamics, the median of {calls} on the machine that made the
  table.
- **findings**: of ``check_model``, errors / impossible / suspicious; :doc:`check-model` says what
  to do about them.
- **Pinocchio**: the largest difference of inverse dynamics from Pinocchio's in {states} random
  states, relative to the largest effort of the state, without friction and with free mimic joints.
- **demo**: whether the demo accepts the description as an arm.

{loaded} of {count} load, and the largest difference from Pinocchio is {worst:.0e}.

.. list-table::
   :header-rows: 1
   :widths: 34 8 12 14 14 18

   * - description
     - nv
     - time
     - findings
     - Pinocchio
     - demo
"""

DEMO_HEAD = """\

Arms in the demo
----------------

``./run robots FOLDER --demo RESULTS`` plays the whole :doc:`demo` with each of these
descriptions that is in ``FOLDER``; ``RESULTS`` gets the figures and pictures.  The last two
columns say how many times smaller the tracking error is with all terms of the feedforward than
with PD alone, and than with PD and gravity (RMS over all joints).

.. list-table::
   :header-rows: 1
   :widths: 22 42 12 12 12

   * - arm
     - description
     - demo
     - PD alone
     - PD + gravity"""


@dataclass
class Row:
    """What became of one description; ``notes`` are reasons of refusals."""

    name: str
    cells: list[str] = field(default_factory=list)
    difference: float = 0.0
    notes: list[str] = field(default_factory=list)
    loads: bool = True


def main() -> None:
    """Look at all descriptions and write the page."""
    parser = argparse.ArgumentParser(prog='./run robots', description=__doc__)
    parser.add_argument('paths', nargs='*', type=Path, metavar='PATH',
                        help='more URDF files, and folders that are searched for them')
    parser.add_argument('--demo', type=Path, metavar='FOLDER',
                        help='play the demo with the arms of docs/demo_arms.yaml, two minutes '
                             'each, on an idle machine; FOLDER gets the results, and those that '
                             'are there already are not made again')
    parser.add_argument('--output', type=Path, default=OUTPUT, metavar='FILE',
                        help='of the page (default: %(default)s)')
    options = parser.parse_args()
    files = descriptions(options.paths)
    arms = arms_among(files) if options.demo else {}
    rows = []
    demo_rows = []
    columns = [TextColumn('{task.description:40}'), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn()]
    with Progress(*columns) as progress:
        task = progress.add_task('', total=len(files) + len(arms))
        for name, path in files.items():
            progress.update(task, description=name[-40:])
            rows.append(row_of(name, path))
            progress.advance(task)
        for name, arm in arms.items():
            progress.update(task, description=f'demo with {name}')
            result = demo_result(files[name], options.demo / Path(name).stem)
            demo_rows.append(demo_row(arm, result))
            progress.advance(task)
    options.output.write_text(page(rows, demo_rows), encoding='utf-8')
    progress.console.print(f'{len(rows)} descriptions: {options.output}')


def descriptions(paths: list[Path]) -> dict[str, Path]:
    """
    Return the files by name; of files with the same content, the first.

    Different files of one name are told apart by the folders that they are in.
    """
    found: dict[str, Path] = {}
    seen: set[str] = set()
    for name, path in [*_packaged(), *_in_folders([CACHE, *paths])]:
        digest = sha256(path.read_bytes()).hexdigest()
        if digest not in seen:
            seen.add(digest)
            found[_distinct(name, path, found)] = path
    return found


def _distinct(name: str, path: Path, taken: Container[str]) -> str:
    """Return a file's name, with as many of its folders as make it differ from the others."""
    parts = path.resolve().parts
    longer = ('/'.join(parts[-count:]) for count in range(2, len(parts) + 1)
              if parts[-count] not in USUAL_FOLDERS)
    return next(candidate for candidate in (name, *longer) if candidate not in taken)


def _packaged() -> Iterator[tuple[str, Path]]:
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError:
        return
    for file in sorted(map(str, package.files or ())):
        if file.endswith('.urdf'):
            yield file.split(FOLDER)[1].split('/')[-1], Path(str(package.locate_file(file)))


def _in_folders(paths: list[Path]) -> Iterator[tuple[str, Path]]:
    for path in paths:
        if path.is_file():
            yield path.name, path
        for file in sorted(path.rglob('*.urdf')) if path.is_dir() else ():
            yield str(file.relative_to(path)), file


def row_of(name: str, path: Path) -> Row:
    """Return what becomes of a description."""
    row = Row(name)
    text = path.read_text(encoding='utf-8', errors='replace')
    try:
        examination = examine(parse_urdf(text), text)
    except RneaError as error:
        return _refused(row, error)
    counts = [sum(finding.severity is severity for finding in examination.findings)
              for severity in (Severity.ERROR, Severity.IMPOSSIBLE, Severity.SUSPICIOUS)]
    findings = ' / '.join(map(str, counts))
    try:
        robot = Robot.from_urdf(text)
    except RneaError as error:
        return _refused(row, error, findings)
    try:
        row.difference = difference_from_pinocchio(text)
        compared = f'{row.difference:.0e}'
    except ElementTree.ParseError as error:
        compared = '-'
        row.notes.append(f'Not compared with Pinocchio, whose parser needs valid XML: {error}')
    row.cells = [str(robot.nv), f'{call_time(robot):.1f} µs', findings, compared,
                 _accepted_by_demo(row, text)]
    return row


def _refused(row: Row, error: RneaError, findings: str = '-') -> Row:
    row.loads = False
    row.cells = ['-', '-', findings, '-', 'refused']
    row.notes.append(str(error))
    return row


def _accepted_by_demo(row: Row, text: str) -> str:
    try:
        arm_of(Model(text))
    except RneaError as error:
        row.notes.append(f'The demo does not accept it: {error}')
        return 'not accepted'
    return 'accepted'


def call_time(robot: Robot) -> float:
    """Return the median time of a call of inverse dynamics [µs]."""
    q, qd, qdd = robot_states(robot, 1)
    out = np.empty(robot.nv)
    times = []
    for _ in range(CALLS):
        began = perf_counter_ns()
        robot.inverse_dynamics(q[0], qd[0], qdd[0], out=out)
        times.append(perf_counter_ns() - began)
    return 1e-3 * median(times)


def robot_states(robot: Robot, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random states of a robot whose joints have one coordinate each."""
    random = np.random.default_rng(1)
    return (random.uniform(-1.0, 1.0, (count, robot.nq)),
            *random.normal(size=(2, count, robot.nv)))


def difference_from_pinocchio(text: str) -> float:
    """Return the largest relative difference of inverse dynamics, of the tree without friction."""
    import pinocchio
    reduced = reduce_to_dynamics(text)
    robot = Robot.from_urdf(reduced, engine='textbook')
    model = pinocchio.buildModelFromXML(reduced)
    data = model.createData()
    order = [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
    worst = 0.0
    for q, qd, qdd in zip(*robot_states(robot, STATES)):
        place = pinocchio.neutral(model)
        for name, angle in zip(robot.joint_names, q):
            joint = model.joints[model.getJointId(name)]
            place[joint.idx_q:joint.idx_q + joint.nq] = (
                [np.cos(angle), np.sin(angle)] if joint.nq == 2 else angle)
        theirs = pinocchio.rnea(model, data, place, *(
            _placed(values, order, model.nv) for values in (qd, qdd)))[order]
        ours = robot.inverse_dynamics(q, qd, qdd)
        largest = float(np.abs(theirs).max(initial=0.0))
        if largest:
            worst = max(worst, float(np.abs(ours - theirs).max()) / largest)
    return worst


def _placed(values: np.ndarray, order: list[int], size: int) -> np.ndarray:
    placed = np.zeros(size)
    placed[order] = values
    return placed


def arms_among(files: dict[str, Path]) -> dict[str, dict[str, str]]:
    """Return what docs/demo_arms.yaml says about its arms that are at hand, by file name."""
    arms = yaml.safe_load(ARMS.read_text(encoding='utf-8'))
    return {name: arm for name, arm in arms.items() if name in files}


def demo_result(path: Path, folder: Path) -> dict[str, Any]:
    """
    Play the demo with a description, unless its result is there already; return its summary.json.

    :raises SystemExit: the demo could not run.
    """
    summary = folder / 'summary.json'
    if not summary.exists():
        demo = subprocess.run(
            [sys.executable, '-m', 'ros2_rnea.tools.demo', '--out', str(folder.resolve()),
             '--urdf', str(path.resolve())], capture_output=True, text=True, check=False)
        if not summary.exists():
            sys.exit(f'The demo could not run with {path}: {demo.stderr or demo.stdout}')
    result: dict[str, Any] = json.loads(summary.read_text(encoding='utf-8'))
    return result


def demo_row(arm: dict[str, str], result: dict[str, Any]) -> list[str]:
    """Return the cells of an arm that the demo was played with."""
    errors = {name: phase['arm_rms_deg'] for name, phase in result['phases'].items()}
    source = ' '.join(filter(None, (arm['source'], arm.get('arguments'))))
    return [_literal(arm['arm']),
            _literal(f"{arm['repository']} {arm['commit']}, {source}"),
            result['verdict'],
            *(f"{errors[name] / errors['feedforward']:.0f} times" for name in ('pd', 'gravity'))]


def page(rows: list[Row], demo_rows: list[list[str]]) -> str:
    """Return the page; ``demo_rows`` may be empty."""
    loaded = [row for row in rows if row.loads]
    lines = [HEAD.format(
        count=len(rows), calls=CALLS, states=STATES, loaded=len(loaded),
        worst=max((row.difference for row in loaded), default=0.0))]
    for row in rows:
        lines += _table_row([_literal(row.name), *row.cells])
    if demo_rows:
        lines.append(DEMO_HEAD)
        for cells in demo_rows:
            lines += _table_row(cells)
    lines += ['', 'Reasons of refusals', '-------------------', '']
    for row in rows:
        for note in row.notes:
            lines += wrap(f'* **{_literal(row.name)}**: {_literal(note)}', 110,
                          subsequent_indent='  ', break_long_words=False, break_on_hyphens=False)
    return '\n'.join(lines) + '\n'


def _table_row(cells: list[str]) -> list[str]:
    first, *others = cells
    return [f'   * - {first}', *(f'     - {cell}' for cell in others)]


def _literal(text: str) -> str:
    """Return text without characters that reStructuredText takes as markup."""
    for character in ('\\', '*', '`', '|', '_'):
        text = text.replace(character, '\\' + character)
    return text


if __name__ == '__main__':
    main()
