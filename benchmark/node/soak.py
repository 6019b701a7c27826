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
Measure whether the node stays as it is for an hour: ``python -m benchmark.node.soak --help``.

What grows by little in each cycle shows only after many.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
import json
import os
from pathlib import Path
import re
import sys
import time

from benchmark.errors import BenchmarkError
from benchmark.machine import machine, versions
from benchmark.node.bench import Bench, Subject
from benchmark.node.processes import Process
from benchmark.node.robots import find_robot
from benchmark.node.soak_report import draw, table
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import RneaError
from ros2_rnea.node.transports import stay_on_this_machine
from ros2_rnea.tools.ros_domain import reserve_domain

NAMESPACE = '/node'

SAMPLES = 360
"""How many samples are taken at most; no more than one a second."""

WARM_UP = 0.1
"""Share of the time after which nothing may grow any more."""

LARGEST_GROWTH = 2 ** 20
"""By how much the memory may grow after that [bytes]."""

DIAGNOSIS = 2.5
"""Within this time the node has published diagnostics [s]."""


@dataclass(frozen=True)
class Sample:
    """
    The process of the node at one time, and its answers since the sample before.

    :ivar time: since the start [s].
    :ivar memory: resident [bytes]; likewise that of its worker processes.
    :ivar processor: share of one core since the sample before.
    :ivar latencies: from a state's stamp to the arrival of its effort: median, 99 %, worst [s].
    :ivar load: of the machine, averaged over a minute.
    """

    time: float
    memory: int
    workers_memory: int
    threads: int
    descriptors: int
    processor: float
    answers: int
    latencies: tuple[float, float, float]
    load: float


@dataclass(frozen=True)
class Totals:
    """
    What became of all states.

    :ivar late: states that the publisher sent more than a period late.
    :ivar delivered: states that DDS delivered to the node, the refused ones included.
    :ivar answered: states that an effort with their stamp answered.
    :ivar merged: delivered states that were used together with a newer one that was answered.
    :ivar too_old: efforts that arrived more than ``state_timeout`` after the stamp of their state.
    """

    sent: int
    late: int
    delivered: int
    refused: int
    answered: int
    merged: int
    too_old: int


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the node for some time, print a table and draw a picture.

    :param arguments: of the command line, without the program's name; None takes sys.argv.
    :returns: exit code; 1 where something has grown, or a state was not answered.
    """
    options = _parser().parse_args(arguments)
    if not os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE'):
        stay_on_this_machine()
    if 'ROS_DOMAIN_ID' not in os.environ:
        os.environ['ROS_DOMAIN_ID'] = str(reserve_domain())
    console = Console()
    try:
        samples, totals = soak(options, console)
    except (BenchmarkError, RneaError) as error:
        console.print(f'soak: {error}', style='red', markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        return 130
    faults = judge(samples, totals)
    options.out.mkdir(parents=True, exist_ok=True)
    console.print(table(samples, totals, options.rate))
    (options.out / 'soak.json').write_text(json.dumps({
        'machine': machine(), 'versions': versions(), 'robot': options.robot,
        'rate': options.rate, 'totals': asdict(totals), 'faults': faults,
        'samples': [asdict(sample) for sample in samples]}, indent=2) + '\n', encoding='utf-8')
    for path in (options.out / 'soak.json', *draw(samples, options.out / 'soak')):
        console.print(path, markup=False)
    for fault in faults:
        console.print(fault, style='red', markup=False, highlight=False)
    return 1 if faults else 0


def soak(options: argparse.Namespace, console: Console) -> tuple[list[Sample], Totals]:
    """Return samples of the node, and what became of the states."""
    seconds = 60.0 * options.minutes
    period = max(1.0, seconds / SAMPLES)
    with Progress(TextColumn('{task.description}'), BarColumn(), TimeRemainingColumn(),
                  console=console, transient=True) as progress, Bench(
                      find_robot(options.robot)) as bench:
        task = progress.add_task('start', total=seconds)
        subject = bench.nodes([NAMESPACE], options.parameter)
        before = _counts(bench)
        sampler = _Sampler(bench, subject)
        samples: list[Sample] = []
        sending = bench.begin_to_send(subject, options.rate, seconds)
        while not sending.done():
            time.sleep(max(0.0, period * (len(samples) + 1) - sampler.elapsed()))
            samples.append(sampler.sample())
            progress.update(task, completed=sampler.elapsed(), description=(
                f'{options.robot}, {options.rate:.0f} Hz: {samples[-1].memory / 2 ** 20:.1f} MiB'))
        sampler.sample()  # the answers to the last states
        accepted, refused = (end - start for start, end in zip(before, _counts(bench)))
    answered = sampler.answers
    delivered = accepted + refused
    return samples, Totals(**sending.result(), delivered=delivered, refused=refused,
                           answered=answered, merged=accepted - answered,
                           too_old=sampler.too_old)


def judge(samples: Sequence[Sample], totals: Totals) -> list[str]:
    """Return what is not as it should be, as sentences."""
    steady = [sample for sample in samples if sample.time >= WARM_UP * samples[-1].time]
    faults = []
    growth = max(sample.memory for sample in steady) - steady[0].memory
    if growth > LARGEST_GROWTH:
        faults.append(f'the memory has grown by {growth / 2 ** 20:.1f} MiB after the warm-up')
    for name in ('threads', 'descriptors'):
        numbers = {getattr(sample, name) for sample in steady}
        if len(numbers) > 1:
            faults.append(f'the number of {name} was between {min(numbers)} and {max(numbers)}')
    if totals.refused:
        faults.append(f'{totals.refused} states were refused')
    if totals.too_old:
        faults.append(f'{totals.too_old} efforts came more than state_timeout after the stamp of '
                      'their state')
    return faults


class _Sampler:
    """
    Takes samples of the node's process.

    :ivar answers: all that have come so far.
    :ivar too_old: of those, the ones that came later than ``state_timeout``.
    """

    def __init__(self, bench: Bench, subject: Subject) -> None:
        self._bench = bench
        self._process: Process = subject.processes[0]
        self._started = time.monotonic()
        self._last = (0.0, self._process.processor_time())
        self.answers = self.too_old = 0

    def elapsed(self) -> float:
        """Return the time since the start [s]."""
        return time.monotonic() - self._started

    def sample(self) -> Sample:
        """Return the present state of the process, and what it has answered."""
        folder = Path('/proc', str(self._process.pid))
        latencies = self._bench.take_latencies()
        self.answers += len(latencies)
        self.too_old += int((latencies > Settings().state_timeout).sum())
        (before, used_before), now = self._last, self.elapsed()
        self._last = now, self._process.processor_time()
        return Sample(
            time=now, memory=_memory(folder),
            workers_memory=sum(map(_memory, _children(self._process.pid))),
            threads=len(list((folder / 'task').iterdir())),
            descriptors=len(list((folder / 'fd').iterdir())),
            processor=(self._last[1] - used_before) / (now - before),
            answers=len(latencies),
            latencies=tuple(np.percentile(latencies, (50.0, 99.0, 100.0)).tolist())
            if len(latencies) else (0.0, 0.0, 0.0),
            load=os.getloadavg()[0])


def _counts(bench: Bench) -> tuple[int, int]:
    """Return how many states the node has accepted and refused so far, while none arrive."""
    time.sleep(DIAGNOSIS)
    text = bench.diagnosis(NAMESPACE).get('messages on joint_states', '')
    found = re.fullmatch(r'accepted (\d+), refused (\d+)', text)
    if found is None:
        raise BenchmarkError(f'/diagnostics have {text!r} for messages on joint_states')
    return int(found[1]), int(found[2])


def _memory(folder: Path) -> int:
    """Return the resident memory of a process [bytes]; 0 where it has ended."""
    try:
        pages = (folder / 'statm').read_text().split()[1]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(pages) * os.sysconf('SC_PAGE_SIZE')


def _children(pid: int) -> list[Path]:
    """Return the folders in /proc of the processes that a process has started."""
    children = Path('/proc', str(pid), 'task').glob('*/children')
    return [Path('/proc', child) for file in children for child in file.read_text().split()]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='./run soak',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
The node at a constant rate for a long time, over real DDS: does it stay as it is?

A publisher plays the robot and a receiver its controller, as in ./run benchmark node.  The node
follows a trajectory.  Its memory, threads and file descriptors are sampled, and have to stay the
same after a tenth of the time (the memory within 1 MiB).  Every state that DDS delivers has to be
answered: by an effort with its stamp, or together with a newer state that waited in the queue.
The figures count on an idle machine; the load is in the table.""")
    parser.add_argument('robot', nargs='?', default='panda',
                        help='name as in ./run benchmark node, or URDF file (default: panda)')
    parser.add_argument('--minutes', type=float, default=60.0, help='how long (default: 60)')
    parser.add_argument('--rate', type=float, default=1000.0, metavar='HZ',
                        help='states per second (default: 1000)')
    parser.add_argument('-p', '--parameter', action='append', default=[], metavar='NAME:=VALUE',
                        help='parameter of the node, such as executor:=single_threaded')
    parser.add_argument('--out', type=Path, default=Path('out/soak'),
                        help='folder for figures and picture (default: out/soak)')
    return parser


if __name__ == '__main__':
    sys.exit(main())
