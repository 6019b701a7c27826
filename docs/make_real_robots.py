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
ROS.  Descriptions have to be expanded from xacro.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import distribution, PackageNotFoundError
from pathlib import Path
from statistics import median
import subprocess
import sys
from tempfile import TemporaryDirectory
from textwrap import wrap
from time import perf_counter_ns
from xml.etree import ElementTree

from benchmark.robots import FOLDER, PACKAGE, reduce_to_dynamics
import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from ros2_rnea.audit import examine, Severity
from ros2_rnea.errors import RneaError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.robot import Robot
from ros2_rnea.tools.demo.arm import arm_of
from ros2_rnea.tools.models import Model

OUTPUT = Path(__file__).parent / 'real-robots.rst'
CACHE = Path.home() / '.cache' / 'robot_descriptions'

USUAL_FOLDERS = ('urdf', 'robots')
"""Folders of a description package, which most packages have."""

STATES = 20
CALLS = 300
DEMO_RESULTS = {0: 'passed', 1: 'failed', 2: 'could not run', 3: 'not judged'}

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
- **demo**: whether the demo takes the description as an arm; with ``--demo``, its result.

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
    parser.add_argument('--demo', action='store_true',
                        help='play the tracking scene with every arm: a minute each')
    parser.add_argument('--output', type=Path, default=OUTPUT, metavar='FILE',
                        help='of the page (default: %(default)s)')
    options = parser.parse_args()
    files = descriptions(options.paths)
    rows = []
    columns = [TextColumn('{task.description:40}'), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn()]
    with Progress(*columns) as progress:
        task = progress.add_task('', total=len(files))
        for name, path in files.items():
            progress.update(task, description=name[-40:])
            rows.append(row_of(name, path, options.demo))
            progress.advance(task)
    options.output.write_text(page(rows), encoding='utf-8')
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


def row_of(name: str, path: Path, plays_demo: bool) -> Row:
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
                 _or_reason(row, lambda: demo_result(text, path, plays_demo))]
    return row


def _refused(row: Row, error: RneaError, findings: str = '-') -> Row:
    row.loads = False
    row.cells = ['-', '-', findings, '-', 'refused']
    row.notes.append(str(error))
    return row


def _or_reason(row: Row, result: Callable[[], str]) -> str:
    try:
        return result()
    except RneaError as error:
        row.notes.append(f'The demo does not take it: {error}')
        return 'not taken'


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


def demo_result(text: str, path: Path, plays: bool) -> str:
    """Return whether the demo takes a description, or its result."""
    arm_of(Model(text))
    if not plays:
        return 'taken'
    with TemporaryDirectory() as folder:
        code = subprocess.run(
            [sys.executable, '-m', 'ros2_rnea.tools.demo', '--scene', 'tracking', '--out', folder,
             '--urdf', str(path.resolve())], cwd=folder, capture_output=True, check=False,
        ).returncode
    return DEMO_RESULTS.get(code, f'exit code {code}')


def page(rows: list[Row]) -> str:
    """Return the page."""
    loaded = [row for row in rows if row.loads]
    lines = [HEAD.format(
        count=len(rows), calls=CALLS, states=STATES, loaded=len(loaded),
        worst=max((row.difference for row in loaded), default=0.0))]
    for row in rows:
        lines += [f'   * - {_literal(row.name)}', *(f'     - {cell}' for cell in row.cells)]
    lines += ['', 'Reasons of refusals', '-------------------', '']
    for row in rows:
        for note in row.notes:
            lines += wrap(f'* **{_literal(row.name)}**: {_literal(note)}', 110,
                          subsequent_indent='  ', break_long_words=False, break_on_hyphens=False)
    return '\n'.join(lines) + '\n'


def _literal(text: str) -> str:
    """Return text without characters that reStructuredText takes as markup."""
    for character in ('\\', '*', '`', '|', '_'):
        text = text.replace(character, '\\' + character)
    return text


if __name__ == '__main__':
    main()
