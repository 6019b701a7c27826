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
The public recordings of docs/identified-robots.rst, as they are read and converted.

Of the UR10e, https://github.com/shamilmamedov/dynamic_calibration; of TIAGo and TX40,
https://github.com/thanhndv212/figaroh-examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import warnings

import numpy as np
from ros2_rnea.offline.identification.recording import Recording

JOINTS = ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
          'wrist_2_joint', 'wrist_3_joint')

OF_THE_REPOSITORY = (10.0, 10.6956, 8.4566, 9.0029, 9.48, 10.1232)
"""Gains in UR10E_parameters.txt [Nm/A]."""

AT_REST = 0.003
"""The largest speed of a joint in a recording in which it is at rest [rad/s]."""

TIAGO_JOINTS = ('torso_lift_joint', *(f'arm_{number}_joint' for number in range(1, 8)))
TIAGO_GAINS = (1.0, 13.6, 13.6, -8.7, -8.7, -20.5968, -20.5968, -20.5968)
TIAGO_ROWS = slice(921, 6791)

TX40_RATIOS = (32.0, 32.0, 45.0, -48.0, 45.0, 32.0)
TX40_PERIOD = 2e-4


# ---- UR10e --------------------------------------------------------------------------------------


def raw(folder: Path, file: str) -> np.ndarray:
    """Return the rows of a file that has lines of garbage, which are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # about lines with another number of columns
        rows = np.genfromtxt(folder / file, delimiter=',', invalid_raise=False)
    return rows[np.isfinite(rows).all(axis=1) & (np.abs(rows) < 1e5).all(axis=1)]


def controller_gains(folder: Path) -> np.ndarray:
    """
    Return the torque for each ampere [Nm/A] that the controller of the recorded arm uses.

    The recordings have the controller's target torques and target currents.  In a joint that is at
    rest, and does not have to accelerate, their ratio is constant to four digits.
    """
    currents, torques = np.zeros(6), np.zeros(6)
    for file in sorted((folder / 'dataset_ur10e/jointwise_motion').glob('*.csv')):
        rows = raw(folder, str(file.relative_to(folder)))
        rests = np.abs(rows[:, 7:13]).max(axis=0) < AT_REST
        current, torque = rows[:, 19:25] * rests, rows[:, 25:31]
        currents += np.square(current).sum(axis=0)
        torques += (current * torque).sum(axis=0)
    return np.round(torques / currents, 2)


def ur10e_recording(folder: Path, file: str, gains: np.ndarray) -> Recording:
    """Return a recording of the UR10e."""
    rows = raw(folder, file)
    return Recording(Path(file).name, rows[:, 0], JOINTS, rows[:, 1:7], rows[:, 13:19] * gains,
                     rows[:, 7:13])


def published_model(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ten parameters of each body in our order, rotors, and friction by joint."""
    text = (folder / 'UR10E_parameters.txt').read_text(encoding='utf-8')
    lists = {part.partition('=')[0].split()[-1]: np.array(
        part.partition('=')[2].strip().strip('[]').split(), dtype=float)
        for part in text.split('\n') if '= [' in part}
    bodies = lists['pi_rgd'].reshape(6, 10)[:, [9, 6, 7, 8, 0, 1, 2, 3, 4, 5]]
    return bodies, lists['pi_drvs'], lists['pi_frcn'].reshape(6, 3)


# ---- FIGAROH's examples -------------------------------------------------------------------------


def csv(path: Path) -> np.ndarray:
    """Return the numbers of a file with one line of titles."""
    return np.loadtxt(path, delimiter=',', skiprows=1)


def write_csv(path: Path, joints: Sequence[str], times: np.ndarray, **columns: np.ndarray) -> None:
    """Write a recording as ``identify`` reads it without options."""
    titles = ['time', *(f'{joint}.{name}' for name in columns for joint in joints)]
    np.savetxt(path, np.column_stack([times, *columns.values()]), fmt='%.9g', delimiter=',',
               header=','.join(titles), comments='')


def convert_tiago(files: Sequence[Path], weight: float, out: Path) -> None:
    """
    Join the recording of TIAGo, and write it with efforts of the joints.

    :param files: of positions, velocities and currents.
    :param weight: of the arm on the torso [N].
    """
    position, velocity, current = (csv(file)[TIAGO_ROWS] for file in files)
    efforts = current[:, 1:] * TIAGO_GAINS
    efforts[:, 0] += weight
    write_csv(out, TIAGO_JOINTS, position[:, 0], position=position[:, 1:],
              velocity=velocity[:, 1:], effort=efforts)


def convert_tx40(files: Sequence[Path], out: Path) -> None:
    """
    Convert the recording of the TX40 from its motors to its joints.

    :param files: of positions and torques of the motors.
    """
    motors, efforts = map(csv, files)
    to_motors, to_joints = np.diag(TX40_RATIOS), np.diag(TX40_RATIOS)
    to_motors[5, 4] = to_joints[4, 5] = TX40_RATIOS[5]  # motor 6 turns with joint 5
    q = np.linalg.solve(to_motors, motors.T).T + [0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]
    joints = tuple(f'joint_{number}' for number in range(1, 7))
    write_csv(out, joints, np.arange(len(q)) * TX40_PERIOD, position=q,
              effort=efforts @ to_joints.T)
