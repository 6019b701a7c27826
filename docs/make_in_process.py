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
Draws the efforts of the node and of the controller beside what each cycle needed.

``figures/in_process.csv`` is a recording: an arm with seven joints and drives that take position
and effort, in a controller manager at 1 kHz, six motions of 1.5 s, and eight busy processes on two
cores.  Each number is the largest difference, of all joints and of 10 ms, between the effort that
a drive got and the inverse dynamics of the position that it got in the same cycle.
"""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
RECORDED = HERE / 'figures' / 'in_process.csv'
PICTURE = HERE / 'images' / 'in-process.png'


def main() -> None:
    """Write the picture."""
    with RECORDED.open(encoding='utf-8') as file:
        _, *rows = csv.reader(file)
    times, node, controller = zip(*(map(float, row) for row in rows))
    mpl.use('agg')
    figure, axes = plt.subplots(figsize=(8.0, 3.4), layout='constrained')
    axes.plot(times, node, color='tab:orange', linewidth=1.0, label='node, by messages')
    axes.plot(times, controller, color='tab:blue', linewidth=1.0,
              label='controller, in the control loop')
    axes.set_xlabel('time [s]')
    axes.set_ylabel('wrong by [Nm]')
    axes.set_ylim(bottom=0.0)
    axes.set_title('Effort of the drives against the inverse dynamics of the same cycle',
                   fontsize='medium')
    axes.legend(loc='upper right')
    axes.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=120)


if __name__ == '__main__':
    main()
