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
The options that say which recordings a command reads, what they hold and how they are prepared.

All commands that read recordings have the same ones::

    parser = argparse.ArgumentParser()
    add_recording_options(parser)
    remarks = []
    for recording in prepared_recordings(parser.parse_args(), robot, remarks):
        ...
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import NamedTuple

from ros2_rnea.errors import did_you_mean, RecordingError
from ros2_rnea.model.description import Inertial
from ros2_rnea.offline.commands.robot_options import (
    ASSUMED,
    assumed,
    finite_numbers,
    OfJoints,
    PAYLOAD,
    PAYLOAD_NUMBERS,
    payload_of,
)
from ros2_rnea.offline.identification.bag import is_bag, SUFFIXES
from ros2_rnea.offline.identification.bag_recording import read_bag
from ros2_rnea.offline.identification.csv_recording import CsvColumns, FIELDS, read_csv, UNITS
from ros2_rnea.offline.identification.preparation import Preparation, prepare
from ros2_rnea.offline.identification.recording import PreparedRecording, Recording
from ros2_rnea.robots.robot import Robot

TEXTS = ('.csv', '.txt', '.tsv')

EXAMPLES = """\
recordings:
  a bag   the folder of a rosbag2, or a .mcap or .db3 file in it; all its topics with joint states
          are read, or those of --topic
  a text  (.csv, .txt, .tsv) with the columns time, JOINT.position, JOINT.velocity and
          JOINT.effort in SI units; --csv-... tells others, by patterns or numbers from 1:
              --csv-time t --csv-position '{joint}_q' --csv-effort '{joint}_i'
              --csv-units position=deg,effort=A --current-gains shoulder=14.9,elbow=11.1
              --csv-position 'Position{joint}' --csv-effort 'Torque{joint}'
              --csv-joints joint_1=1,joint_2=2
              --csv-time 1 --csv-position 2-7 --csv-velocity 8-13 --csv-effort 14-19
              --csv-joints pan,lift,elbow,wrist1,wrist2,wrist3
payloads: --payload tool0:2.5:0,0,0.1 for all recordings, or for one of them
              --payload loaded.csv=tool0:2.5:0,0,0.1
"""


class Payload(NamedTuple):
    """
    What a robot carried.

    :ivar recording: path or name of the file; empty for all.
    :ivar has_center: whether its centre of mass is given; otherwise it is the link's origin.
    """

    recording: str
    link: str
    inertial: Inertial
    has_center: bool


def add_recording_options(parser: argparse.ArgumentParser) -> None:
    """Add the recordings and all options about them; :data:`EXAMPLES` is for the epilog."""
    parser.add_argument('recordings', nargs='+', type=Path, metavar='RECORDING',
                        help='a bag or a text file with columns; several are used together')
    parser.add_argument('--payload', action='append', default=[], type=_payload,
                        metavar=f'[RECORDING=]{PAYLOAD}',
                        help=f'what the robot carried: {PAYLOAD_NUMBERS}')
    parser.add_argument('--from', dest='begin', type=float, default=0.0, metavar='S',
                        help='leave out what is before this time of each recording, whose begin '
                             'is 0')
    parser.add_argument('--to', dest='end', type=float, default=inf, metavar='S',
                        help='leave out what is from this time on')
    _add_bag_options(parser.add_argument_group('bags'))
    _add_csv_options(parser.add_argument_group('text files with columns'))
    _add_preparation_options(parser.add_argument_group(
        'preparation (by default, the recording itself decides)'))


def prepared_recordings(
        options: argparse.Namespace, robot: Robot, remarks: list[str],
        ) -> Iterator[PreparedRecording]:
    """
    Read and prepare the recordings, one after the other: one is in memory at a time.

    :param options: that :func:`add_recording_options` has added.
    :param remarks: gets what the preparation did, a sentence for each step.
    :raises RneaError: naming the recording and what cannot be used.
    """
    settings = preparation(options)
    try:
        for recording in read_recordings(options):
            prepared, steps = prepare(recording, robot, settings)
            del recording  # before the next one is read
            remarks += [f'{"WARNING: " if step.is_warning else ""}{prepared.name}, '
                        f'{step.name}: {step.text}' for step in steps]
            yield prepared
    except MemoryError as error:
        raise RecordingError(
            'the memory does not suffice to prepare the recordings: prepare a part of them '
            '(--from and --to)') from error


def read_recordings(options: argparse.Namespace) -> Iterator[Recording]:
    """
    Read the recordings, one after the other.

    :raises RecordingError: naming the recording and what cannot be read, or a payload of none.
    """
    carried: dict[Path, list[Payload]] = {path: [] for path in options.recordings}
    for told in options.payload:
        for path in _recordings_of(told, list(carried)):
            carried[path].append(told)
    for path in options.recordings:
        yield replace(_read(path, options).between(options.begin, options.end), payloads={
            f'payload {number}': (told.link, told.inertial)
            for number, told in enumerate(carried[path], start=1)})


def _read(path: Path, options: argparse.Namespace) -> Recording:
    if is_bag(path):
        return read_bag(path, options.topic, options.receive_times)
    if path.suffix in TEXTS:
        return read_csv(path, CsvColumns(
            options.csv_time, options.csv_position, options.csv_velocity, options.csv_effort,
            options.csv_joints, options.csv_units, options.current_gains))
    what = (f'ends in {path.suffix!r}' if path.suffix else
            'has no ending' if path.exists() else 'does not exist')
    raise RecordingError(
        f'{path} {what}; a recording is the folder of a bag or ends in '
        f'{", ".join([*SUFFIXES, *TEXTS])}')


def preparation(options: argparse.Namespace) -> Preparation:
    """Return how recordings are prepared."""
    return Preparation(
        assumed_positions=options.assume, largest_gap=options.largest_gap, cutoff=options.cutoff,
        ignores_velocities=options.ignore_velocities, delay=options.delay)


def _recordings_of(told: Payload, paths: Sequence[Path]) -> Sequence[Path]:
    """
    Return the recordings of a payload: all, that with its path, or the only one with its name.

    :raises RecordingError: where there is none, or several have that name.
    """
    if not told.recording:
        return paths
    found = [path for path in paths if path == Path(told.recording)] or [
        path for path in paths if path.name == told.recording]
    if len(found) > 1:
        raise RecordingError(
            f'--payload names {told.recording}, and several recordings have this name: '
            f'{", ".join(map(str, found))}; give the whole path')
    if not found:
        names = [path.name for path in paths]
        hint = did_you_mean(told.recording, names) or f'; there are {", ".join(names)}'
        raise RecordingError(
            f'--payload names {told.recording}, which is not among the recordings{hint}')
    return found


def _add_bag_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--topic', action='append', default=[],
                       help='with joint states; may be repeated, for several publishers '
                            '(default: all such topics, whose joints have to differ)')
    group.add_argument('--receive-times', action='store_true',
                       help='use the times at which messages were recorded, not their stamps')


def _add_csv_options(group: argparse._ArgumentGroup) -> None:
    columns = CsvColumns()
    group.add_argument('--csv-time', default=columns.time, metavar='COLUMN',
                       help='title of the time, or its number from 1 (default: %(default)s)')
    for name in FIELDS:
        group.add_argument(
            f'--csv-{name}', default=getattr(columns, name), metavar='COLUMNS',
            help=f'pattern of the titles of each {name}, or numbers such as 2-7'
                 f'{"; empty where there is none" if name == "velocity" else ""} '
                 '(default: %(default)s)')
    group.add_argument('--csv-joints', default={}, type=_joints, metavar='JOINT[=TEXT],...',
                       help='joints in the order of the numbers; with patterns, those to read, '
                            'and the text that the file has in place of {joint}, if another')
    group.add_argument('--csv-units', default={}, type=_by_name, metavar='WHAT=UNIT,...',
                       help='; '.join(f'{name}: {", ".join(units)}'
                                      for name, units in UNITS.items()))
    group.add_argument('--current-gains', action=OfJoints, default={}, type=_gains,
                       metavar='JOINT=NM_PER_A,...',
                       help='gain [Nm/A], where efforts are currents (effort=A)')


def _add_preparation_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--assume', action=OfJoints, default={}, type=assumed, metavar=ASSUMED,
                       help='positions of joints that were not recorded (default: 0)')
    group.add_argument('--cutoff', type=float, metavar='HZ',
                       help='of the zero-phase low-pass of motion and efforts; inf for none')
    group.add_argument('--delay', type=float, metavar='S',
                       help='of all efforts behind positions, to be taken out [s]; 0 for none '
                            '(default: one that the recording shows)')
    group.add_argument('--largest-gap', type=float, metavar='S',
                       help='samples further apart are not joined (default: 2.5 periods, but '
                            'at least 0.05)')
    group.add_argument('--ignore-velocities', action='store_true',
                       help='differentiate positions, even where recorded velocities have less '
                            'noise')


def _payload(text: str) -> Payload:
    recording, _, rest = text.rpartition('=')
    return Payload(recording, *payload_of(rest), has_center=rest.count(':') > 1)


def _joints(text: str) -> dict[str, str]:
    pairs = ([part.strip() for part in joint.split('=', 1)] for joint in text.split(','))
    return {name: other[0] if other else name for name, *other in pairs}


def _gains(text: str) -> dict[str, float]:
    needed = 'JOINT=NUMBER, as in shoulder=14.9,elbow=-11.1'
    found = {name: finite_numbers(number) for name, number in _by_name(text, needed).items()}
    if not all(found.values()):
        raise argparse.ArgumentTypeError(f'{text!r} needs to be {needed}')
    return {name: number for name, (number,) in found.items()}


def _by_name(
        text: str, needed: str = 'WHAT=UNIT, as in position=deg,velocity=deg/s') -> dict[str, str]:
    parts = [part.partition('=') for part in text.split(',')]
    found = {name.strip(): value.strip() for name, _, value in parts}
    if len(found) != len(parts):
        raise argparse.ArgumentTypeError(f'{text!r} names one twice')
    if not all(name and value for name, value in found.items()):
        raise argparse.ArgumentTypeError(f'{text!r} needs to be {needed}')
    return found
