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
"""The style that all pictures have, and how they become files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ros2_rnea.command_line.output_files import writing

# From the palette of Okabe and Ito, which people with any colour vision can tell apart.
GREY, ORANGE, BLUE, VERMILION = '#5A5A5A', '#E69F00', '#0072B2', '#D55E00'

STYLE: dict[Any, Any] = {
    'axes.axisbelow': True,
    'axes.edgecolor': '#888888',
    'axes.labelcolor': '#333333',
    'axes.linewidth': 0.7,
    'axes.spines.right': False,
    'axes.spines.top': False,
    'axes.titlelocation': 'left',
    'axes.titlesize': 9,
    'font.size': 9,
    'grid.color': '#E4E4E4',
    'grid.linewidth': 0.7,
    'legend.frameon': False,
    'svg.hashsalt': 'ros2_rnea',
    'text.color': '#222222',
    'xtick.color': '#555555',
    'ytick.color': '#555555',
}


def metadata(suffix: str) -> dict[str, Any]:
    """Return metadata without a date: equal pictures are equal files."""
    return {'Date': None} if suffix == '.svg' else {}


def save(figure: Figure, path: Path, resolution: int = 160) -> None:
    """
    Write a picture.

    :param path: of the file; its suffix selects the format.
    :param resolution: of a format of pixels [dots per inch].
    :raises OutputError: if it cannot be written, or the suffix names no format.
    """
    with writing(path):
        figure.savefig(path, dpi=resolution, facecolor='white', metadata=metadata(path.suffix))
