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
"""The measurements and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmark.node.bench import Bench, Block, Respawn
from benchmark.node.figures import climb, Figures, STEP, summarize
from benchmark.node.robots import BenchmarkRobot
from rich.progress import Progress
from ros2_rnea import Robot

CLIMB_START = 1000.0
CLIMB_END = 40000.0
CLIMB_SECONDS = 0.5


class Effort(NamedTuple):
    """How many blocks are measured of each subject at each rate, and how long they are [s]."""

    blocks: int
    seconds: float


def measure_cycle(
        robot: BenchmarkRobot,
        rates: Sequence[float],
        parameters: Sequence[str],
        effort: Effort,
        progress: Progress) -> list[dict[str, Figures]]:
    """Return, for each rate, the figures of relay and node."""
    task = progress.add_task(f'{robot.name}: start', total=2 * effort.blocks * len(rates))
    results = []
    with Bench(robot) as bench:
        subjects = [bench.relays(['/relay']), bench.nodes(['/node'], parameters)]
        for rate in rates:
            blocks: dict[str, list[Block]] = {subject.name: [] for subject in subjects}
            progress.update(task, description=f'{robot.name}: {rate:.0f} Hz')
            for _ in range(effort.blocks):
                for subject in subjects:
                    blocks[subject.name].append(bench.measure(subject, rate, effort.seconds))
                    progress.advance(task)
            results.append({name: summarize(done) for name, done in blocks.items()})
    progress.remove_task(task)
    return results


def measure_highest_rate(
        robot: BenchmarkRobot, parameters: Sequence[str], effort: Effort, progress: Progress,
        ) -> dict[str, float]:
    """Return the highest rate that relay and node sustain [Hz]."""
    task = progress.add_task(f'{robot.name}: start', total=None)
    highest: dict[str, float] = {}
    with Bench(robot) as bench:
        subjects = {'relay': bench.relays(['/relay']), 'node': bench.nodes(['/node'], parameters)}
        seconds = min(effort.seconds, CLIMB_SECONDS)
        for highest in climb(
                lambda name, rate: bench.measure(subjects[name], rate, seconds),
                list(subjects), CLIMB_START, CLIMB_END):
            reached = max(highest.values())
            progress.update(task, description=f'{robot.name}: up to {STEP * reached:.0f} Hz')
    progress.remove_task(task)
    return highest


def measure_fleet(
        robot: BenchmarkRobot, most: int, rate: float, effort: Effort, progress: Progress,
        ) -> dict[int, dict[str, Figures]]:
    """Return, by number of robots, the figures of each way to run their nodes."""
    ways = {
        'nodes, one process': Bench.fleet,
        'nodes, a process each': Bench.nodes,
        'relays, a process each': Bench.relays,
    }
    counts = sorted({1, min(2, most), max(1, most // 2), most})
    task = progress.add_task('', total=len(counts) * len(ways) * effort.blocks)
    rows: dict[int, dict[str, Figures]] = {}
    for count in counts:
        rows[count] = {}
        for way, start in ways.items():
            progress.update(task, description=f'{count} robots: {way}')
            with Bench(robot) as bench:
                subject = start(bench, [f'/robot{i}' for i in range(count)])
                blocks = []
                for _ in range(effort.blocks):
                    blocks.append(bench.measure(subject, rate, effort.seconds))
                    progress.advance(task)
            rows[count][way] = summarize(blocks)
    progress.remove_task(task)
    return rows


def measure_gaps(
        robot: BenchmarkRobot, rate: float, parameters: Sequence[str], effort: Effort,
        progress: Progress) -> dict[str, list[float]]:
    """
    Return the longest gap between two answers in each block [s]: of the relay, and of the node.

    The node is measured without changes, and while descriptions, payloads and gravity change
    without end; a worker process computes beside it then, so that a machine with one processor
    shows more.  The relay shows what the machine itself does.
    """
    task = progress.add_task(f'{robot.name}: changes', total=3 * effort.blocks)
    with Bench(robot) as bench:
        relay, node = bench.relays(['/relay']), bench.nodes(['/node'], parameters)
        ways = {'relay': lambda: bench.measure(relay, rate, effort.seconds),
                'node': lambda: bench.measure(node, rate, effort.seconds),
                'node, with changes': lambda: bench.measure_changes(node, rate, effort.seconds)}
        gaps: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(effort.blocks):
            for way, measure in ways.items():
                gaps[way].append(measure().longest_gap)
                progress.advance(task)
    progress.remove_task(task)
    return gaps


def measure_imu(
        robot: BenchmarkRobot, rate: float, parameters: Sequence[str], effort: Effort,
        progress: Progress) -> dict[str, Figures]:
    """Return the figures of the relay, and of the node without and with an IMU at the rate."""
    task = progress.add_task(f'{robot.name}: IMU', total=3 * effort.blocks)
    blocks: dict[str, list[Block]] = {'relay': [], 'node': [], 'node, with an IMU': []}
    root = Robot.from_urdf(robot.urdf).tree.root
    with Bench(robot) as bench:
        relay = bench.relays(['/relay'])
        node = bench.nodes(['/node'], [*parameters, 'gravity_from_imu:=true'])
        for _ in range(effort.blocks):
            for name, subject, imu in (
                    ('relay', relay, ''), ('node', node, ''), ('node, with an IMU', node, root)):
                blocks[name].append(bench.measure(subject, rate, effort.seconds, imu))
                progress.advance(task)
    progress.remove_task(task)
    return {name: summarize(done) for name, done in blocks.items()}


def measure_respawns(
        robot: BenchmarkRobot, rate: float, parameters: Sequence[str], effort: Effort,
        progress: Progress) -> dict[str, list[Respawn]]:
    """
    Return what it took until relay and node answered again, once in each block.

    The relay shows what Python, rclpy and the discovery of DDS take.
    """
    task = progress.add_task(f'{robot.name}: kill -9', total=2 * effort.blocks)
    respawns: dict[str, list[Respawn]] = {'relay': [], 'node': []}
    with Bench(robot) as bench:
        subjects = [bench.relays(['/relay']), bench.nodes(['/node'], parameters)]
        for _ in range(effort.blocks):
            for subject in subjects:
                respawns[subject.name].append(bench.measure_respawn(subject, rate))
                progress.advance(task)
    progress.remove_task(task)
    return respawns
